/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by doubling; shapes are found by a key of their dimensions' numbers, as expressions are. */
#include "model/stg/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const op_words[STG_OP_COUNT] = {
#define STG_OP(id, word) word,
    STG_OPS(STG_OP)
#undef STG_OP
};

const char *stg_op_word(enum stg_op op)
{
    return op_words[op];
}

void stg_space_init(struct stg_space *space, struct mem *mem)
{
    *space = (struct stg_space){.mem = mem};
    stg_exprs_init(&space->exprs, mem);
    intern_init(&space->texts, mem);
    intern_init(&space->shape_keys, mem);
}

void stg_space_free(struct stg_space *space)
{
    mem_free(space->mem, space->shapes, space->shape_capacity * sizeof *space->shapes);
    mem_free(space->mem, space->dims, space->dim_capacity * sizeof *space->dims);
    stg_exprs_free(&space->exprs);
    intern_free(&space->texts);
    intern_free(&space->shape_keys);
}

enum orr_status stg_space_error(const struct stg_space *space, struct orr_error *err)
{
    return mem_error(space->mem, "a symbolic tensor graph", err);
}

uint32_t stg_space_text(struct stg_space *space, const char *text, size_t length)
{
    uint32_t number = 0;
    return intern_add(&space->texts, text, length, &number) ? number : STG_NONE;
}

const char *stg_space_name(const struct stg_space *space, uint32_t text)
{
    return intern_text(&space->texts, text);
}

uint32_t stg_space_shape(struct stg_space *space, const uint32_t *dims, uint32_t count)
{
    char key[STG_DIMS_MAX * 12];
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (dims[i] == STG_NO_EXPR) {
            return STG_NONE;
        }
        used += (size_t)snprintf(key + used, sizeof key - used, ",%" PRIu32, dims[i]);
    }
    uint32_t known = intern_count(&space->shape_keys);
    uint32_t number = 0;
    if (!intern_add(&space->shape_keys, key, used, &number)) {
        return STG_NONE;
    }
    if (number < known && number < space->shape_capacity) {
        return number; /* the empty shape is number 0 and known before it is kept: it is kept again, to no harm */
    }
    uint32_t capacity = space->shape_capacity;
    if (!MEM_GROW(space->mem, space->shapes, space->shape_capacity, number) ||
        !MEM_RESERVE(space->mem, space->dims, space->dim_capacity, (uint64_t)space->dim_count + count + 1)) {
        return STG_NONE;
    }
    memset(space->shapes + capacity, 0, (space->shape_capacity - capacity) * sizeof *space->shapes);
    space->shapes[number] = (struct stg_shape){space->dim_count, count};
    if (count > 0) {
        memcpy(space->dims + space->dim_count, dims, count * sizeof *dims);
    }
    space->dim_count += count;
    return number;
}

uint32_t stg_shape_size(struct stg_space *space, uint32_t shape)
{
    uint32_t size = stg_expr_number(&space->exprs, 1, 1);
    for (uint32_t i = 0; i < space->shapes[shape].count; i++) {
        size = stg_expr_mul(&space->exprs, size, space->dims[space->shapes[shape].first + i]);
    }
    return size;
}

uint32_t stg_shape_substitute(struct stg_space *space, uint32_t shape, const uint32_t to[STG_SYMBOL_COUNT])
{
    uint32_t dims[STG_DIMS_MAX];
    if (shape == STG_NONE) {
        return STG_NONE;
    }
    uint32_t count = space->shapes[shape].count;
    for (uint32_t i = 0; i < count; i++) {
        dims[i] = stg_expr_substitute(&space->exprs, space->dims[space->shapes[shape].first + i], to);
    }
    return stg_space_shape(space, dims, count);
}

void stg_graph_init(struct stg_graph *graph, struct stg_space *space)
{
    *graph = (struct stg_graph){.space = space};
}

void stg_graph_free(struct stg_graph *graph)
{
    struct mem *mem = graph->space->mem;
    mem_free(mem, graph->tensors, graph->capacity * sizeof *graph->tensors);
    mem_free(mem, graph->deps, graph->dep_capacity * sizeof *graph->deps);
    mem_free(mem, graph->by_name, graph->by_name_capacity * sizeof *graph->by_name);
    stg_graph_init(graph, graph->space);
}

struct stg_tensor *stg_graph_add(struct stg_graph *graph, uint32_t name, uint32_t *index)
{
    struct mem *mem = graph->space->mem;
    uint32_t names = graph->by_name_capacity;
    if (name == STG_NONE || !MEM_GROW(mem, graph->tensors, graph->capacity, graph->count) ||
        !MEM_GROW(mem, graph->by_name, graph->by_name_capacity, name)) {
        return NULL;
    }
    for (uint32_t i = names; i < graph->by_name_capacity; i++) {
        graph->by_name[i] = STG_NONE;
    }
    if (graph->by_name[name] == STG_NONE) {
        graph->by_name[name] = graph->count;
    }
    struct stg_tensor *tensor = &graph->tensors[graph->count];
    *tensor = (struct stg_tensor){.name = name,
                                  .amount = STG_NO_EXPR,
                                  .x = {STG_NONE, STG_NONE},
                                  .shape = {STG_NONE, STG_NONE},
                                  .hidden = {STG_NONE, STG_NONE},
                                  .grad_of = STG_NONE,
                                  .first_dep = graph->dep_count,
                                  .y_shape = STG_NONE,
                                  .y_hidden = STG_NONE,
                                  .ops = STG_NO_EXPR};
    *index = graph->count++;
    return tensor;
}

uint32_t stg_graph_find(const struct stg_graph *graph, const char *name, size_t length)
{
    uint32_t text = intern_find(&graph->space->texts, name, length);
    return text < graph->by_name_capacity ? graph->by_name[text] : STG_NONE;
}

bool stg_graph_add_dep(struct stg_graph *graph, uint32_t tensor, uint32_t dep)
{
    if (!MEM_GROW(graph->space->mem, graph->deps, graph->dep_capacity, graph->dep_count)) {
        return false;
    }
    struct stg_tensor *own = &graph->tensors[tensor];
    if (own->dep_count == 0) {
        own->first_dep = graph->dep_count;
    }
    graph->deps[graph->dep_count++] = dep;
    own->dep_count++;
    return true;
}

static uint32_t moved(uint32_t tensor, uint32_t by)
{
    return tensor == STG_NONE ? STG_NONE : tensor + by;
}

static uint32_t prefixed(struct stg_space *space, const char *prefix, uint32_t name)
{
    char whole[512];
    int length = snprintf(whole, sizeof whole, "%s%s", prefix, stg_space_name(space, name));
    if (length < 0 || (size_t)length >= sizeof whole) {
        return STG_NONE;
    }
    return stg_space_text(space, whole, (size_t)length);
}

static bool append_one(struct stg_graph *graph, const struct stg_graph *part, uint32_t at, const char *prefix,
                       const uint32_t to[STG_SYMBOL_COUNT], uint32_t by)
{
    struct stg_space *space = graph->space;
    struct stg_tensor copy = part->tensors[at];
    uint32_t index = 0;
    copy.name = prefixed(space, prefix, copy.name);
    struct stg_tensor *made = stg_graph_add(graph, copy.name, &index);
    if (made == NULL) {
        return false;
    }
    bool fine = true;
    if (copy.amount != STG_NO_EXPR) {
        copy.amount = stg_expr_substitute(&space->exprs, copy.amount, to);
        fine = copy.amount != STG_NO_EXPR;
    }
    for (int i = 0; i < 2; i++) {
        uint32_t shape = stg_shape_substitute(space, copy.shape[i], to);
        uint32_t hidden = stg_shape_substitute(space, copy.hidden[i], to);
        fine = fine && (shape == STG_NONE) == (copy.shape[i] == STG_NONE) &&
               (hidden == STG_NONE) == (copy.hidden[i] == STG_NONE);
        copy.shape[i] = shape;
        copy.hidden[i] = hidden;
        copy.x[i] = moved(copy.x[i], by);
    }
    copy.grad_of = moved(copy.grad_of, by);
    uint32_t first = copy.first_dep;
    uint32_t count = copy.dep_count;
    copy.first_dep = graph->dep_count;
    copy.dep_count = 0;
    *made = copy;
    for (uint32_t i = 0; i < count && fine; i++) {
        fine = stg_graph_add_dep(graph, index, part->deps[first + i] + by);
    }
    return fine;
}

enum orr_status stg_graph_append(struct stg_graph *graph, const struct stg_graph *part, const char *prefix,
                                 const uint32_t to[STG_SYMBOL_COUNT], struct orr_error *err)
{
    uint32_t by = graph->count;
    for (uint32_t i = 0; i < part->count; i++) {
        if (!append_one(graph, part, i, prefix, to, by)) {
            if (graph->space->exprs.fault != STG_FAULT_NONE) {
                return stg_exprs_error(&graph->space->exprs, stg_space_name(graph->space, part->tensors[i].place), err);
            }
            return graph->space->mem->refused != 0
                       ? stg_space_error(graph->space, err)
                       : error_set(err, ORR_ERANGE, "%s: the name is too long with \"%s\" before it",
                                   stg_space_name(graph->space, part->tensors[i].place), prefix);
        }
    }
    return ORR_OK;
}

enum orr_status stg_graph_join(struct stg_graph *graph, const char *from, const char *to, bool shared,
                               struct orr_error *err)
{
    uint32_t source = stg_graph_find(graph, from, strlen(from));
    uint32_t target = stg_graph_find(graph, to, strlen(to));
    if (source == STG_NONE || !graph->tensors[source].is_output) {
        return error_set(err, ORR_EINVAL, "the sheets have no output \"%s\", which \"%s\" is made from", from, to);
    }
    if (target == STG_NONE || !graph->tensors[target].is_input) {
        return error_set(err, ORR_EINVAL, "the sheets have no input \"%s\", which takes \"%s\"", to, from);
    }
    struct stg_tensor *made = &graph->tensors[target];
    made->op = STG_OP_IDENTITY;
    made->x[0] = source;
    made->is_input = false;
    graph->tensors[source].is_output = shared;
    return ORR_OK;
}

bool stg_tensor_is_backward(const struct stg_space *space, const struct stg_tensor *tensor)
{
    const char *name = stg_space_name(space, tensor->name);
    const char *dot = strrchr(name, '.');
    return (dot == NULL ? name : dot + 1)[0] == 'd';
}
