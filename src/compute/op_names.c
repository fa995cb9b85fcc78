/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operators, types of numbers and stacks, from the rows of orrery/op.h; and the library's finders. */
#include <string.h>
#include <strings.h>

#include "base/words.h"
#include "compute/op_base.h"
#include "io/value.h"
#include "orrery/op.h"

static const struct {
    const char *name, *dims, *synonyms;
    enum op_family family;
    uint32_t count;
} kinds[] = {
#define OP_X(symbol, name, family, count, dims, synonyms) {name, dims, synonyms, OP_FAMILY_##family, count},
    ORR_OPS(OP_X)
#undef OP_X
};
static const char *const kind_names[] = {
#define OP_X(symbol, name, ...) name,
    ORR_OPS(OP_X)
#undef OP_X
        NULL};
static const char *const kind_synonyms[] = {
#define OP_X(symbol, name, family, count, dims, synonyms) synonyms,
    ORR_OPS(OP_X)
#undef OP_X
};
static const char *const dtype_names[] = {
#define OP_X(symbol, name, ...) name,
    ORR_OP_DTYPES(OP_X)
#undef OP_X
        NULL};
static const char *const dtype_synonyms[] = {
#define OP_X(symbol, name, bytes, peak, synonyms) synonyms,
    ORR_OP_DTYPES(OP_X)
#undef OP_X
};
static const char *const stack_names[] = {
#define OP_X(symbol, name, ...) name,
    ORR_OP_STACKS(OP_X)
#undef OP_X
        NULL};

enum op_family op_family_of(enum orr_op_kind kind)
{
    return kinds[kind].family;
}

enum orr_op_kind op_kind_of(const struct orr_op *op)
{
    return op->kind == ORR_OP_ATTENTION && op->full            ? ORR_OP_ATTENTION_FULL
           : op->kind == ORR_OP_ATTENTION_BACKWARD && op->full ? ORR_OP_ATTENTION_FULL_BACKWARD
                                                               : op->kind;
}

const char *op_kind_name(enum orr_op_kind kind)
{
    return kinds[kind].name;
}

const char *op_dtype_name(enum orr_op_dtype dtype)
{
    return dtype_names[dtype];
}

const char *op_stack_name(enum orr_op_stack stack)
{
    return stack_names[stack];
}

uint32_t op_dim_count(enum orr_op_kind kind)
{
    return kinds[kind].count;
}

const char *op_dim_name(enum orr_op_kind kind, uint32_t index, size_t *length)
{
    const char *at = kinds[kind].dims;
    for (; index > 0; index--) {
        at += strcspn(at, " ") + 1;
    }
    *length = strcspn(at, " ");
    return at;
}

/* `synonyms` may be NULL. */
static enum orr_status compute_op_names_find(const char *what, const char *name, const char *const *known,
                                             const char *const *synonyms, uint32_t *index, struct orr_error *err)
{
    for (uint32_t i = 0; known[i] != NULL; i++) {
        if (strcasecmp(known[i], name) == 0 ||
            (synonyms != NULL && words_have(synonyms[i], name, strlen(name), true))) {
            *index = i;
            return ORR_OK;
        }
    }
    char all[200] = "orrery op list prints all";
    size_t size = 0;
    for (uint32_t i = 0; known != kind_names && known[i] != NULL && size < sizeof all - 64; i++) {
        size += (size_t)snprintf(all + size, sizeof all - size, "%s%s", i > 0 ? ", " : "accepted: ", known[i]);
    }
    const char *near = error_nearest(name, known);
    char shown[64];
    return error_set(err, ORR_EINVAL, "unknown %s \"%s\"%s%s%s; %s", what, io_text_printable(name, shown, sizeof shown),
                     near != NULL ? " (did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?)" : "",
                     all);
}

enum orr_status orr_op_kind_find(const char *name, enum orr_op_kind *kind, struct orr_error *err)
{
    uint32_t index = 0;
    enum orr_status status = compute_op_names_find("operator", name, kind_names, kind_synonyms, &index, err);
    *kind = status == ORR_OK ? (enum orr_op_kind)index : *kind;
    return status;
}

enum orr_status orr_op_dtype_find(const char *name, enum orr_op_dtype *dtype, struct orr_error *err)
{
    uint32_t index = 0;
    enum orr_status status = compute_op_names_find("type of number", name, dtype_names, dtype_synonyms, &index, err);
    *dtype = status == ORR_OK ? (enum orr_op_dtype)index : *dtype;
    return status;
}

enum orr_status orr_op_stack_find(const char *name, enum orr_op_stack *stack, struct orr_error *err)
{
    uint32_t index = 0;
    enum orr_status status = compute_op_names_find("stack", name, stack_names, NULL, &index, err);
    *stack = status == ORR_OK ? (enum orr_op_stack)index : *stack;
    return status;
}
