/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fused weight is why an FSDP block has one all-gather a pass and one reduce-scatter: all weights of a block become
 * views of `_assembled_weight`, which gathers `_sharded_weight`; backward tensors get views of a second assembly, since
 * the first has been thrown away by then. The gradients meet in `_assembled_grad`, and `_sharded_grad` is what the
 * sharded weight is updated by; where gradients are summed over micro-batches first there is only the former. Names and
 * order of the tensors made here are the original's.
 */
#include <stdio.h>
#include <string.h>

#include "model/stg/model.h"

enum { GROUPS_MAX = 4 };

struct fusing {
    struct stg_graph *graph;
    struct stg_space *space;
    uint32_t begin, end; /* tensors there were before */
    bool compat;
    bool each_batch; /* gradients are scattered in every micro-batch, not after they have been summed */
    unsigned group_count;
    uint32_t partial[GROUPS_MAX]; /* symbols, by group */
    struct orr_error *err;
    const char *part; /* begins the names of what is made */
    unsigned group;
    uint32_t sharded, assembled, assembled_backward;
};

/* The parallel symbols over which a tensor's result is a partial sum. */
static uint32_t stg_partial_over(const struct stg_space *space, const struct stg_tensor *tensor)
{
    uint32_t parallel = UINT32_C(1) << STG_DP | UINT32_C(1) << STG_TP | UINT32_C(1) << STG_CP | UINT32_C(1) << STG_EP;
    uint32_t symbols = 0;
    uint32_t count = 0;
    const uint32_t *dims = stg_shape_dims(space, tensor->y_hidden, &count);
    for (uint32_t i = 0; i < count; i++) {
        symbols |= stg_expr_symbols(&space->exprs, dims[i]);
    }
    return symbols & parallel;
}

static uint32_t gradient_of(const struct fusing *fusing, uint32_t weight)
{
    for (uint32_t i = fusing->begin; i < fusing->end; i++) {
        if (fusing->graph->tensors[i].grad_of == weight) {
            return i;
        }
    }
    return STG_NONE;
}

static bool is_weight(const struct stg_tensor *tensor)
{
    return tensor->op == STG_OP_PLACEHOLDER && tensor->require_grads;
}

/* Whether tensor `i` is a weight of the group; `*grad` is its gradient. */
static bool stg_fuse_in_group(const struct fusing *fusing, unsigned group, uint32_t i, uint32_t *grad)
{
    if (!is_weight(&fusing->graph->tensors[i])) {
        return false;
    }
    *grad = gradient_of(fusing, i);
    return fusing->compat || stg_partial_over(fusing->space, &fusing->graph->tensors[*grad]) == fusing->partial[group];
}

static struct stg_tensor *stg_fuse_make(struct fusing *fusing, const char *name, uint32_t *index)
{
    char whole[600];
    int length = fusing->group == 0 ? snprintf(whole, sizeof whole, "%s%s", fusing->part, name)
                                    : snprintf(whole, sizeof whole, "%s_%u%s", fusing->part, fusing->group, name);
    struct stg_tensor *made = stg_graph_add(fusing->graph, stg_space_text(fusing->space, whole, (size_t)length), index);
    if (made == NULL) {
        (void)stg_space_error(fusing->space, fusing->err);
        return NULL;
    }
    made->place = made->name;
    return made;
}

static enum orr_status failed(struct fusing *fusing)
{
    return fusing->space->exprs.fault != STG_FAULT_NONE
               ? stg_exprs_error(&fusing->space->exprs, "the weights of a block", fusing->err)
               : stg_space_error(fusing->space, fusing->err);
}

/* Looks at all weights: each needs a gradient, and the sets of partial sums are listed. */
static enum orr_status find_groups(struct fusing *fusing)
{
    for (uint32_t i = fusing->begin; i < fusing->end; i++) {
        const struct stg_tensor *tensor = &fusing->graph->tensors[i];
        if (!is_weight(tensor)) {
            continue;
        }
        uint32_t grad = gradient_of(fusing, i);
        if (grad == STG_NONE) {
            return error_set(fusing->err, ORR_EINVAL,
                             "%s: the weight \"%s\" (require_grads Y) has no gradient (grad_of)",
                             stg_space_name(fusing->space, tensor->place), stg_space_name(fusing->space, tensor->name));
        }
        uint32_t partial = stg_partial_over(fusing->space, &fusing->graph->tensors[grad]);
        unsigned group = 0;
        while (group < fusing->group_count && fusing->partial[group] != partial && !fusing->compat) {
            group++;
        }
        if (group == GROUPS_MAX) {
            return error_set(fusing->err, ORR_EINVAL, "%s: the weights' gradients are partial in more than %d ways",
                             stg_space_name(fusing->space, tensor->place), GROUPS_MAX);
        }
        if (group == fusing->group_count) {
            fusing->partial[fusing->group_count++] = partial;
        }
    }
    return ORR_OK;
}

/* [total / fsdp] and [total]. */
static bool group_shapes(struct fusing *fusing, unsigned group, uint32_t *sharded, uint32_t *whole)
{
    struct stg_exprs *exprs = &fusing->space->exprs;
    uint32_t total = stg_expr_number(exprs, 0, 1);
    uint32_t grad = STG_NONE;
    for (uint32_t i = fusing->begin; i < fusing->end; i++) {
        if (stg_fuse_in_group(fusing, group, i, &grad)) {
            total = stg_expr_add(exprs, total, stg_shape_size(fusing->space, fusing->graph->tensors[i].y_shape));
        }
    }
    uint32_t part = stg_expr_div(exprs, total, stg_expr_symbol(exprs, STG_FSDP));
    *sharded = stg_space_shape(fusing->space, &part, 1);
    *whole = stg_space_shape(fusing->space, &total, 1);
    return *sharded != STG_NONE && *whole != STG_NONE;
}

static enum orr_status make_weight(struct fusing *fusing, uint32_t sharded, uint32_t whole, uint32_t one)
{
    struct stg_tensor *weight = stg_fuse_make(fusing, "_sharded_weight", &fusing->sharded);
    if (weight == NULL) {
        return ORR_ENOMEM;
    }
    weight->require_grads = true;
    weight->op = STG_OP_PLACEHOLDER;
    weight->shape[0] = sharded;
    weight->hidden[0] = one;
    struct stg_tensor *assembled = stg_fuse_make(fusing, "_assembled_weight", &fusing->assembled);
    if (assembled == NULL) {
        return ORR_ENOMEM;
    }
    assembled->op = STG_OP_IDENTITY;
    assembled->x[0] = fusing->sharded;
    assembled->shape[0] = whole;
    assembled->hidden[0] = one;
    return ORR_OK;
}

static enum orr_status make_gradient(struct fusing *fusing, unsigned group, uint32_t sharded, uint32_t whole,
                                     uint32_t one)
{
    struct stg_graph *graph = fusing->graph;
    uint32_t scattered = STG_NONE;
    uint32_t gathered = 0;
    if (fusing->each_batch) {
        struct stg_tensor *part = stg_fuse_make(fusing, "_sharded_grad", &scattered);
        if (part == NULL) {
            return ORR_ENOMEM;
        }
        part->op = STG_OP_IDENTITY;
        part->shape[0] = sharded;
        part->hidden[0] = one;
        part->grad_of = fusing->sharded;
    }
    struct stg_tensor *made = stg_fuse_make(fusing, "_assembled_grad", &gathered);
    if (made == NULL) {
        return ORR_ENOMEM;
    }
    if (fusing->each_batch) {
        graph->tensors[scattered].x[0] = gathered;
    } else {
        made->grad_of = fusing->sharded;
    }
    made->op = STG_OP_CUSTOM;
    made->amount = stg_expr_number(&fusing->space->exprs, 0, 1);
    made->shape[1] = whole;
    uint32_t grad = STG_NONE;
    for (uint32_t i = fusing->begin; i < fusing->end; i++) {
        if (!stg_fuse_in_group(fusing, group, i, &grad)) {
            continue;
        }
        struct stg_tensor *all = &graph->tensors[gathered];
        if (all->x[0] == STG_NONE) {
            all->x[0] = grad;
            all->shape[0] = graph->tensors[grad].y_shape;
            all->hidden[0] = graph->tensors[grad].y_hidden;
            all->hidden[1] = graph->tensors[grad].y_hidden;
        } else if (!stg_graph_add_dep(graph, gathered, grad)) {
            return failed(fusing);
        }
    }
    return ORR_OK;
}

/* Backward tensors take their weights from views of the second assembly. */
static enum orr_status make_backward(struct fusing *fusing, uint32_t weight, uint32_t whole, uint32_t one)
{
    struct stg_graph *graph = fusing->graph;
    char name[540];
    uint32_t view = 0;
    int length =
        snprintf(name, sizeof name, "_%s_backward", stg_space_name(fusing->space, graph->tensors[weight].name));
    if (length < 0 || (size_t)length >= sizeof name) {
        return error_set(fusing->err, ORR_ERANGE, "the name of a weight is too long");
    }
    struct stg_tensor *made = stg_fuse_make(fusing, name, &view);
    if (made == NULL) {
        return ORR_ENOMEM;
    }
    made->op = STG_OP_CUSTOM;
    made->amount = stg_expr_number(&fusing->space->exprs, 0, 1);
    made->shape[0] = whole;
    made->hidden[0] = one;
    made->shape[1] = graph->tensors[weight].y_shape;
    made->hidden[1] = graph->tensors[weight].y_hidden;
    made->x[0] = STG_NONE; /* the second assembly, which is made after its views */
    for (uint32_t i = fusing->begin; i < fusing->end; i++) {
        struct stg_tensor *tensor = &graph->tensors[i];
        if (!stg_tensor_is_backward(fusing->space, tensor)) {
            continue;
        }
        for (int x = 0; x < 2; x++) {
            tensor->x[x] = tensor->x[x] == weight ? view : tensor->x[x];
        }
        for (uint32_t d = 0; d < tensor->dep_count; d++) {
            uint32_t *dep = &graph->deps[tensor->first_dep + d];
            *dep = *dep == weight ? view : *dep;
        }
    }
    return ORR_OK;
}

/* The weight itself becomes a view of the first assembly. */
static void make_view(struct fusing *fusing, uint32_t weight, uint32_t whole, uint32_t one)
{
    struct stg_tensor *tensor = &fusing->graph->tensors[weight];
    tensor->op = STG_OP_CUSTOM;
    tensor->amount = stg_expr_number(&fusing->space->exprs, 0, 1);
    tensor->require_grads = false;
    tensor->is_input = false;
    tensor->x[0] = fusing->assembled;
    tensor->shape[1] = tensor->shape[0];
    tensor->hidden[1] = tensor->hidden[0];
    tensor->shape[0] = whole;
    tensor->hidden[0] = one;
}

/* Whether the backward pass looks at any weight of the group; the original does not ask. */
static bool is_needed_again(const struct fusing *fusing, unsigned group)
{
    const struct stg_graph *graph = fusing->graph;
    uint32_t grad = STG_NONE;
    bool needed = fusing->compat;
    for (uint32_t i = fusing->begin; i < fusing->end && !needed; i++) {
        const struct stg_tensor *tensor = &graph->tensors[i];
        bool backward = stg_tensor_is_backward(fusing->space, tensor);
        for (int x = 0; x < 2 && backward && !needed; x++) {
            needed = tensor->x[x] != STG_NONE && stg_fuse_in_group(fusing, group, tensor->x[x], &grad);
        }
        for (uint32_t d = 0; d < tensor->dep_count && backward && !needed; d++) {
            needed = stg_fuse_in_group(fusing, group, graph->deps[tensor->first_dep + d], &grad);
        }
    }
    return needed;
}

/* The second assembly, which the views made from `first_view` on are of. */
static enum orr_status assemble_again(struct fusing *fusing, uint32_t first_view, uint32_t whole, uint32_t one)
{
    struct stg_tensor *again = stg_fuse_make(fusing, "_assembled_weight_backward", &fusing->assembled_backward);
    if (again == NULL) {
        return ORR_ENOMEM;
    }
    again->op = STG_OP_IDENTITY;
    again->x[0] = fusing->sharded;
    again->shape[0] = whole;
    again->hidden[0] = one;
    for (uint32_t i = first_view; i < fusing->assembled_backward; i++) {
        fusing->graph->tensors[i].x[0] = fusing->assembled_backward;
    }
    return ORR_OK;
}

static enum orr_status fuse_group(struct fusing *fusing, unsigned group)
{
    struct stg_graph *graph = fusing->graph;
    uint32_t number = stg_expr_number(&fusing->space->exprs, 1, 1);
    uint32_t one = stg_space_shape(fusing->space, &number, 1);
    uint32_t sharded = STG_NONE;
    uint32_t whole = STG_NONE;
    uint32_t grad = STG_NONE;
    fusing->group = group;
    if (one == STG_NONE || !group_shapes(fusing, group, &sharded, &whole)) {
        return failed(fusing);
    }
    enum orr_status status = make_weight(fusing, sharded, whole, one);
    status = status == ORR_OK ? make_gradient(fusing, group, sharded, whole, one) : status;
    uint32_t first_view = graph->count;
    bool again = is_needed_again(fusing, group);
    for (uint32_t i = fusing->begin; i < fusing->end && status == ORR_OK; i++) {
        if (stg_fuse_in_group(fusing, group, i, &grad)) {
            status = again ? make_backward(fusing, i, whole, one) : ORR_OK;
            make_view(fusing, i, whole, one);
        }
    }
    return status == ORR_OK && again ? assemble_again(fusing, first_view, whole, one) : status;
}

enum orr_status stg_fuse_weights(struct stg_graph *graph, uint32_t begin, const char *part, bool compat,
                                 bool each_batch, struct orr_error *err)
{
    struct fusing fusing = {.graph = graph,
                            .space = graph->space,
                            .begin = begin,
                            .end = graph->count,
                            .part = part,
                            .compat = compat,
                            .each_batch = each_batch,
                            .err = err};
    enum orr_status status = find_groups(&fusing);
    for (unsigned group = 0; group < fusing.group_count && status == ORR_OK; group++) {
        status = fuse_group(&fusing, group);
    }
    for (uint32_t i = begin; i < graph->count && status == ORR_OK; i++) {
        struct stg_tensor *tensor = &graph->tensors[i];
        bool gathered = i < fusing.end && tensor->grad_of != STG_NONE &&
                        graph->tensors[tensor->grad_of].x[0] != STG_NONE; /* of a weight that is now a view */
        if (gathered && graph->tensors[tensor->grad_of].op == STG_OP_CUSTOM) {
            tensor->grad_of = STG_NONE;
        }
        status = stg_tensor_solve(graph->space, tensor, err);
    }
    return status;
}
