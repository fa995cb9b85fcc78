/* SPDX-License-Identifier: Apache-2.0 */
/* The original works in doubles and prints them as Python does; for the sizes that occur both are exact, so the only
 * thing to imitate is the form. */
#include "model/stg/facts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/json_stream.h"
#include "model/stg/expr_text.h"

struct working {
    const struct stg_config *config;
    struct stg_model *model;
    struct stg_facts *facts;
    struct orr_error *err;
};

static const char *stg_facts_place_of(const struct working *work, const struct stg_tensor *tensor)
{
    return stg_space_name(&work->model->space, tensor->place);
}

static enum orr_status stg_facts_too_large(const struct working *work, const struct stg_tensor *tensor)
{
    return error_set(work->err, ORR_ERANGE, "%s: \"%s\" does not fit 63 bits", stg_facts_place_of(work, tensor),
                     stg_space_name(&work->model->space, tensor->name));
}

static enum orr_status stg_facts_value_of(const struct working *work, const struct stg_tensor *tensor, uint32_t expr,
                                          struct stg_value *value)
{
    return expr != STG_NO_EXPR && stg_expr_value(&work->model->space.exprs, expr, work->config->values, value) &&
                   value->numerator >= 0
               ? ORR_OK
               : stg_facts_too_large(work, tensor);
}

/* Says which symbols make a dimension a fraction. */
static enum orr_status not_whole(const struct working *work, const struct stg_tensor *tensor, uint32_t dim,
                                 struct stg_value value)
{
    const struct stg_exprs *exprs = &work->model->space.exprs;
    struct stg_text text;
    stg_text_init(&text, work->facts->mem);
    stg_expr_print(exprs, dim, &text);
    stg_text_add(&text, " with");
    for (unsigned i = 0; i < STG_SYMBOL_COUNT; i++) {
        if ((stg_expr_symbols(exprs, dim) >> i & 1) != 0) {
            stg_text_add(&text, " ");
            stg_text_add(&text, stg_symbol_name((enum stg_symbol)i));
            stg_text_add(&text, " ");
            stg_text_number(&text, work->config->values[i]);
        }
    }
    enum orr_status status = error_set(
        work->err, ORR_EINVAL, "%s: \"%s\": the dimension %.*s is %" PRId64 "/%" PRId64 ", not a whole number",
        stg_facts_place_of(work, tensor), stg_space_name(&work->model->space, tensor->name),
        (int)(text.size < 300 ? text.size : 300), text.size == 0 ? "" : text.bytes, value.numerator, value.denominator);
    stg_text_free(&text);
    return status;
}

/* Tokens an expert gets are an average and need not be whole. */
static enum orr_status stg_facts_check_dims(const struct working *work, const struct stg_tensor *tensor)
{
    const struct stg_space *space = &work->model->space;
    uint32_t count = 0;
    const uint32_t *dims = stg_shape_dims(space, tensor->y_shape, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct stg_value value = {0, 1};
        enum orr_status status = stg_facts_value_of(work, tensor, dims[i], &value);
        bool average = (stg_expr_symbols(&space->exprs, dims[i]) >> STG_EXPERTS & 1) != 0;
        if (status == ORR_OK && value.denominator != 1 && !average) {
            status = not_whole(work, tensor, dims[i], value);
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status stg_facts_bytes_of(const struct working *work, const struct stg_tensor *tensor, uint32_t shape,
                                          uint64_t *bytes)
{
    struct stg_value value = {0, 1};
    enum orr_status status = stg_facts_value_of(work, tensor, stg_shape_size(&work->model->space, shape), &value);
    if (status != ORR_OK) {
        return status;
    }
    uint64_t product = 0;
    if (__builtin_mul_overflow((uint64_t)(value.numerator / value.denominator), work->config->element_bytes,
                               &product) ||
        product > INT64_MAX) {
        return stg_facts_too_large(work, tensor);
    }
    *bytes = product;
    return ORR_OK;
}

/* ---- our own way ---- */

static enum orr_status find_exact(const struct working *work, const struct stg_tensor *tensor, struct stg_fact *fact)
{
    struct stg_value ops = {0, 1};
    uint64_t more = 0;
    enum orr_status status = stg_facts_check_dims(work, tensor);
    status = status == ORR_OK ? stg_facts_value_of(work, tensor, tensor->ops, &ops) : status;
    status = status == ORR_OK ? stg_facts_bytes_of(work, tensor, tensor->y_shape, &fact->size) : status;
    if (status != ORR_OK) {
        return status;
    }
    fact->ops = (uint64_t)(ops.numerator / ops.denominator) * (tensor->op == STG_OP_EINSUM ? 2 : 1);
    fact->moved = fact->size;
    status = stg_facts_bytes_of(work, tensor, tensor->shape[0], &more);
    fact->moved += more;
    if (status == ORR_OK && tensor->x[1] != STG_NONE) {
        status = stg_facts_bytes_of(work, tensor, tensor->shape[1], &more);
        fact->moved += more;
    }
    if (status == ORR_OK && (fact->ops > INT64_MAX || fact->moved > INT64_MAX)) {
        status = stg_facts_too_large(work, tensor);
    }
    return status;
}

/* ---- the original's ---- */

static double as_double(struct stg_value value)
{
    return (double)value.numerator / (double)value.denominator;
}

static enum orr_status stg_facts_find_compat(const struct working *work, const struct stg_tensor *tensor,
                                             struct stg_fact *fact, double *elements)
{
    struct stg_value ops = {0, 1};
    struct stg_value size = {0, 1};
    enum orr_status status = stg_facts_value_of(work, tensor, tensor->ops, &ops);
    status = status == ORR_OK
                 ? stg_facts_value_of(work, tensor, stg_shape_size(&work->model->space, tensor->y_shape), &size)
                 : status;
    if (status != ORR_OK) {
        return status;
    }
    if (as_double(ops) >= 0x1p63 || as_double(size) >= 0x1p63) {
        return stg_facts_too_large(work, tensor);
    }
    *elements = as_double(size);
    fact->ops = (uint64_t)as_double(ops);
    fact->size = (uint64_t)*elements;
    fact->moved = fact->size;
    return ORR_OK;
}

/* As Python prints a float. */
static void add_python(struct stg_text *text, double value)
{
    char digits[JSON_REAL_ROOM];
    stg_text_bytes(text, digits, json_real_repr(value, digits));
}

/* With FSDP the original counts nothing for what the backward pass makes. */
static bool is_transient(const struct stg_space *space, const struct stg_tensor *tensor)
{
    const char *name = stg_space_name(space, tensor->name);
    return stg_tensor_is_backward(space, tensor) || strstr(name, "_backward") != NULL ||
           strstr(name, "_assembled_grad") != NULL;
}

/* Weights count five times, two and a half times as much with mixed precision: master copy and optimizer go along. */
static void add_compat_size(const struct working *work, const struct stg_tensor *tensor, double elements)
{
    struct stg_text *text = &work->facts->texts;
    bool mixed = work->config->mixed_precision;
    bool sharded = work->config->weight_sharded && stg_degree(work->config, STG_DP) > 1;
    if (tensor->require_grads) {
        add_python(text, mixed ? floor(elements * 1.5) * 4 + elements * 4 : elements * 5);
    } else if (sharded && is_transient(&work->model->space, tensor)) {
        stg_text_add(text, "0");
    } else if (mixed) {
        stg_text_number(text, (uint64_t)(elements * 2));
    } else {
        add_python(text, elements);
    }
}

/* ---- all tensors ---- */

static void add_shape(const struct working *work, const struct stg_tensor *tensor)
{
    const struct stg_space *space = &work->model->space;
    uint32_t count = 0;
    const uint32_t *dims = stg_shape_dims(space, tensor->y_shape, &count);
    for (uint32_t i = 0; i < count; i++) {
        stg_text_add(&work->facts->texts, i == 0 ? "" : ",");
        stg_expr_print(&space->exprs, dims[i], &work->facts->texts);
    }
    if (count == 0) {
        stg_text_add(&work->facts->texts, "1");
    }
}

static enum orr_status stg_facts_find(const struct working *work, uint32_t index)
{
    const struct stg_tensor *tensor = &work->model->graph.tensors[index];
    struct stg_fact *fact = &work->facts->list[index];
    struct stg_text *texts = &work->facts->texts;
    double elements = 0;
    enum orr_status status =
        work->config->compat ? stg_facts_find_compat(work, tensor, fact, &elements) : find_exact(work, tensor, fact);
    if (status != ORR_OK) {
        return status;
    }
    fact->shape = (uint32_t)texts->size;
    add_shape(work, tensor);
    fact->shape_length = (uint32_t)texts->size - fact->shape;
    fact->io_size = (uint32_t)texts->size;
    if (work->config->compat) {
        add_compat_size(work, tensor, elements);
    } else {
        stg_text_number(texts, fact->size);
    }
    fact->io_size_length = (uint32_t)texts->size - fact->io_size;
    return texts->refused ? mem_error(work->facts->mem, "the texts of a model", work->err) : ORR_OK;
}

enum orr_status stg_facts_build(const struct stg_config *config, struct stg_model *model, struct mem *mem,
                                struct stg_facts *facts, struct orr_error *err)
{
    struct working work = {config, model, facts, err};
    *facts = (struct stg_facts){.mem = mem, .count = model->graph.count};
    stg_text_init(&facts->texts, mem);
    facts->list = mem_zalloc(mem, facts->count * sizeof *facts->list);
    if (facts->list == NULL) {
        return mem_error(mem, "the tensors of a model", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < facts->count && status == ORR_OK; i++) {
        status = stg_facts_find(&work, i);
    }
    if (status != ORR_OK) {
        stg_facts_free(facts);
    }
    return status;
}

void stg_facts_free(struct stg_facts *facts)
{
    mem_free(facts->mem, facts->list, facts->count * sizeof *facts->list);
    stg_text_free(&facts->texts);
    facts->list = NULL;
    facts->count = 0;
}
