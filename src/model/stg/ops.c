/* SPDX-License-Identifier: Apache-2.0 */
/* What each operation gives, from what its row says it takes: shape, partial sums and number of operations (spec simai
 * §12.1). One function an operation; a row that makes no sense is an error that names its place. */
#include <string.h>

#include "model/stg/graph.h"

struct result {
    uint32_t shape, hidden, ops; /* left at none by an operation that fails for want of memory or size */
};

static enum orr_status stg_ops_refuse(const struct stg_space *space, const struct stg_tensor *tensor, const char *why,
                                      struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s: \"%s\" (%s): %s", stg_space_name(space, tensor->place),
                     stg_space_name(space, tensor->name), stg_op_word(tensor->op), why);
}

static enum orr_status solve_same(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                                  struct orr_error *err)
{
    (void)err;
    *result = (struct result){tensor->shape[0], tensor->hidden[0], stg_expr_number(&space->exprs, 0, 1)};
    return ORR_OK;
}

static bool same_size(struct stg_space *space, uint32_t a, uint32_t b)
{
    return a != STG_NONE && b != STG_NONE && stg_shape_size(space, a) == stg_shape_size(space, b);
}

static enum orr_status solve_add(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                                 struct orr_error *err)
{
    if (tensor->shape[0] != tensor->shape[1] || !same_size(space, tensor->hidden[0], tensor->hidden[1])) {
        return stg_ops_refuse(space, tensor, "x1_shape and x2_shape, x1_hidden and x2_hidden must be the same", err);
    }
    *result = (struct result){tensor->shape[0], tensor->hidden[0], stg_shape_size(space, tensor->shape[0])};
    return ORR_OK;
}

static enum orr_status solve_element(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                                     struct orr_error *err)
{
    bool two = tensor->op == STG_OP_ELEMENT2;
    if (two != (tensor->shape[1] != STG_NONE)) {
        return stg_ops_refuse(space, tensor, two ? "x2_shape is missing" : "x2_shape must be empty", err);
    }
    if (two && (tensor->shape[0] != tensor->shape[1] || !same_size(space, tensor->hidden[0], tensor->hidden[1]))) {
        return stg_ops_refuse(space, tensor, "x1_shape and x2_shape, x1_hidden and x2_hidden must be the same", err);
    }
    uint32_t size = stg_shape_size(space, tensor->shape[0]);
    *result = (struct result){tensor->shape[0], tensor->hidden[0], stg_expr_mul(&space->exprs, size, tensor->amount)};
    return ORR_OK;
}

/* ---- einsum ---- */

struct letters {
    const char *part[3]; /* x1, x2, y */
    uint32_t length[3];
    uint32_t dim[26]; /* by letter; STG_NONE where it does not stand */
};

static bool split_letters(const char *text, struct letters *letters)
{
    for (int i = 0; i < 3; i++) {
        letters->part[i] = text;
        while (*text >= 'a' && *text <= 'z') {
            text++;
        }
        letters->length[i] = (uint32_t)(text - letters->part[i]);
        const char *between = i == 0 ? "," : i == 1 ? "->" : "";
        size_t length = strlen(between);
        if (strncmp(text, between, length) != 0 || (i == 2 && *text != '\0')) {
            return false;
        }
        text += length;
    }
    return true;
}

static const char *bind_letters(struct stg_space *space, const struct stg_tensor *tensor, struct letters *letters)
{
    for (int i = 0; i < 26; i++) {
        letters->dim[i] = STG_NONE;
    }
    for (int i = 0; i < 2; i++) {
        uint32_t count = 0;
        const uint32_t *dims = stg_shape_dims(space, tensor->shape[i], &count);
        if (count != letters->length[i]) {
            return "there must be a letter for each dimension of x1_shape and x2_shape";
        }
        for (uint32_t at = 0; at < count; at++) {
            uint32_t *dim = &letters->dim[letters->part[i][at] - 'a'];
            if (*dim != STG_NONE && *dim != dims[at]) {
                return "a letter stands for two different dimensions";
            }
            *dim = dims[at];
        }
    }
    return NULL;
}

static enum orr_status solve_einsum(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                                    struct orr_error *err)
{
    struct letters letters;
    uint32_t one = stg_expr_number(&space->exprs, 1, 1);
    uint32_t whole = stg_space_shape(space, &one, 1);
    if (tensor->shape[1] == STG_NONE) {
        return stg_ops_refuse(space, tensor, "x2_shape is missing", err);
    }
    if (tensor->hidden[0] != whole || tensor->hidden[1] != whole) {
        return stg_ops_refuse(space, tensor, "partial sums cannot be multiplied: x1_hidden and x2_hidden must be 1",
                              err);
    }
    if (!split_letters(stg_space_name(space, tensor->letters), &letters)) {
        return stg_ops_refuse(space, tensor, "op_attr must be letters such as \"ab,bc->ac\"", err);
    }
    const char *why = bind_letters(space, tensor, &letters);
    if (why != NULL) {
        return stg_ops_refuse(space, tensor, why, err);
    }
    uint32_t kept[STG_DIMS_MAX];
    uint32_t summed[STG_DIMS_MAX];
    uint32_t summed_count = 0;
    uint32_t ops = one;
    if (letters.length[2] > STG_DIMS_MAX) {
        return stg_ops_refuse(space, tensor, "the result has too many dimensions", err);
    }
    for (uint32_t i = 0; i < letters.length[2]; i++) {
        kept[i] = letters.dim[letters.part[2][i] - 'a'];
        if (kept[i] == STG_NONE) {
            return stg_ops_refuse(space, tensor, "the result has a letter that neither operand has", err);
        }
        ops = stg_expr_mul(&space->exprs, ops, kept[i]);
    }
    for (uint32_t i = 0; i < letters.length[0]; i++) {
        char letter = letters.part[0][i];
        if (memchr(letters.part[2], letter, letters.length[2]) != NULL) {
            continue;
        }
        if (memchr(letters.part[1], letter, letters.length[1]) == NULL) {
            return stg_ops_refuse(space, tensor, "a letter that is summed over must stand in both operands", err);
        }
        summed[summed_count++] = letters.dim[letter - 'a'];
        ops = stg_expr_mul(&space->exprs, ops, letters.dim[letter - 'a']);
    }
    result->shape = stg_space_shape(space, kept, letters.length[2]);
    result->hidden = stg_space_shape(space, summed, summed_count);
    result->ops = ops;
    return ORR_OK;
}

/* ---- shapes changed on one axis, or altogether ---- */

static enum orr_status solve_axis(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                                  struct orr_error *err)
{
    uint32_t dims[STG_DIMS_MAX];
    uint32_t count = space->shapes[tensor->shape[0]].count;
    if (tensor->axis >= count) {
        return stg_ops_refuse(space, tensor, "the axis in op_attr is beyond x1_shape", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        dims[i] = space->dims[space->shapes[tensor->shape[0]].first + i];
    }
    if (tensor->op == STG_OP_CONCAT) {
        if (tensor->shape[1] == STG_NONE || space->shapes[tensor->shape[1]].count != count ||
            tensor->hidden[0] != tensor->hidden[1]) {
            return stg_ops_refuse(space, tensor, "x1 and x2 must have as many dimensions and the same partial sums",
                                  err);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t other = space->dims[space->shapes[tensor->shape[1]].first + i];
            if (i != tensor->axis && other != dims[i]) {
                return stg_ops_refuse(space, tensor, "x1_shape and x2_shape may only differ on the axis in op_attr",
                                      err);
            }
            dims[i] = i == tensor->axis ? stg_expr_add(&space->exprs, dims[i], other) : dims[i];
        }
    } else if (tensor->op == STG_OP_BROADCAST) {
        dims[tensor->axis] = stg_expr_mul(&space->exprs, dims[tensor->axis], tensor->amount);
    } else {
        dims[tensor->axis] = tensor->amount;
    }
    result->shape = stg_space_shape(space, dims, count);
    result->hidden = tensor->hidden[0];
    result->ops = result->shape == STG_NONE ? STG_NO_EXPR : stg_shape_size(space, result->shape);
    return ORR_OK;
}

static enum orr_status solve_whole(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                                   struct orr_error *err)
{
    if (tensor->shape[1] == STG_NONE || tensor->hidden[1] == STG_NONE) {
        return stg_ops_refuse(space, tensor, "x2_shape and x2_hidden say the shape of the result; they are missing",
                              err);
    }
    if (tensor->op == STG_OP_RESHAPE && (!same_size(space, tensor->shape[0], tensor->shape[1]) ||
                                         !same_size(space, tensor->hidden[0], tensor->hidden[1]))) {
        return stg_ops_refuse(space, tensor, "x1_shape and x2_shape do not have the same number of elements", err);
    }
    *result = (struct result){tensor->shape[1], tensor->hidden[1],
                              tensor->op == STG_OP_CUSTOM ? tensor->amount : stg_shape_size(space, tensor->shape[1])};
    return ORR_OK;
}

static enum orr_status solve(struct stg_space *space, const struct stg_tensor *tensor, struct result *result,
                             struct orr_error *err)
{
    switch (tensor->op) {
    case STG_OP_ADD:
        return solve_add(space, tensor, result, err);
    case STG_OP_EINSUM:
        return solve_einsum(space, tensor, result, err);
    case STG_OP_ELEMENT:
    case STG_OP_ELEMENT2:
        return solve_element(space, tensor, result, err);
    case STG_OP_RESHAPE:
    case STG_OP_CUSTOM:
        return solve_whole(space, tensor, result, err);
    case STG_OP_BROADCAST:
    case STG_OP_SLICE:
    case STG_OP_CONCAT:
        return solve_axis(space, tensor, result, err);
    case STG_OP_PLACEHOLDER:
    case STG_OP_IDENTITY:
    case STG_OP_SHADOW:
    case STG_OP_COUNT:
    default:
        return solve_same(space, tensor, result, err);
    }
}

enum orr_status stg_tensor_solve(struct stg_space *space, struct stg_tensor *tensor, struct orr_error *err)
{
    struct result result = {STG_NONE, STG_NONE, STG_NO_EXPR};
    if (tensor->shape[0] == STG_NONE || tensor->hidden[0] == STG_NONE) {
        return stg_ops_refuse(space, tensor, "x1_shape or x1_hidden is missing", err);
    }
    enum orr_status status = solve(space, tensor, &result, err);
    if (status != ORR_OK) {
        return status;
    }
    if (result.shape == STG_NONE || result.hidden == STG_NONE || result.ops == STG_NO_EXPR) {
        return space->exprs.fault != STG_FAULT_NONE
                   ? stg_exprs_error(&space->exprs, stg_space_name(space, tensor->place), err)
                   : stg_space_error(space, err);
    }
    tensor->y_shape = result.shape;
    tensor->y_hidden = result.hidden;
    tensor->ops = result.ops;
    return ORR_OK;
}
