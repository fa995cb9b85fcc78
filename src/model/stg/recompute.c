/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full recomputation of a block: every forward tensor that a backward one looks at is made a second time, under the
 * name it had with "re." before its last part, from the block's input alone. A copy that has no other copy before it
 * waits for the gradient that arrives at the block, so that it is not made while the forward pass still runs. Weights
 * and placeholders are not copied; collectives of the forward pass happen again, as they do in the real thing.
 */
#include <stdio.h>
#include <string.h>

#include "model/stg/model.h"

struct recompute {
    struct stg_graph *graph;
    uint32_t begin, end;
    uint32_t *copy; /* by tensor - begin: its copy, STG_NONE */
};

static bool is_forward(const struct recompute *work, uint32_t i)
{
    const struct stg_tensor *tensor = &work->graph->tensors[i];
    return tensor->op != STG_OP_PLACEHOLDER && !stg_tensor_is_backward(work->graph->space, tensor);
}

static uint32_t copy_of(const struct recompute *work, uint32_t tensor)
{
    bool inside = tensor != STG_NONE && tensor >= work->begin && tensor < work->end;
    uint32_t copy = inside ? work->copy[tensor - work->begin] : STG_NONE;
    return copy == STG_NONE ? tensor : copy;
}

static uint32_t copy_name(struct stg_space *space, uint32_t name)
{
    char whole[560];
    const char *text = stg_space_name(space, name);
    const char *dot = strrchr(text, '.');
    int before = dot == NULL ? 0 : (int)(dot + 1 - text);
    int length = snprintf(whole, sizeof whole, "%.*sre.%s", before, text, text + before);
    return length < 0 || (size_t)length >= sizeof whole ? STG_NONE : stg_space_text(space, whole, (size_t)length);
}

static bool add_copies(struct recompute *work)
{
    for (uint32_t i = work->begin; i < work->end; i++) {
        uint32_t index = 0;
        if (!is_forward(work, i)) {
            continue;
        }
        struct stg_tensor original = work->graph->tensors[i];
        original.name = copy_name(work->graph->space, original.name);
        struct stg_tensor *made = stg_graph_add(work->graph, original.name, &index);
        if (made == NULL) {
            return false;
        }
        original.first_dep = made->first_dep;
        original.dep_count = 0;
        original.is_output = false;
        *made = original;
        work->copy[i - work->begin] = index;
    }
    return true;
}

/* Copies are made from copies; one that is made from none waits for `arrives`. */
static bool join_copies(struct recompute *work, uint32_t arrives)
{
    struct stg_graph *graph = work->graph;
    for (uint32_t i = work->begin; i < work->end; i++) {
        uint32_t copy = work->copy[i - work->begin];
        const struct stg_tensor original = graph->tensors[i];
        bool starts = true;
        if (copy == STG_NONE) {
            continue;
        }
        for (int x = 0; x < 2; x++) {
            uint32_t from = copy_of(work, original.x[x]);
            starts = starts && from == original.x[x];
            graph->tensors[copy].x[x] = from;
        }
        for (uint32_t d = 0; d < original.dep_count; d++) {
            uint32_t dep = graph->deps[original.first_dep + d];
            starts = starts && copy_of(work, dep) == dep;
            if (!stg_graph_add_dep(graph, copy, copy_of(work, dep))) {
                return false;
            }
        }
        if (starts && !stg_graph_add_dep(graph, copy, arrives)) {
            return false;
        }
    }
    return true;
}

static void use_copies(struct recompute *work)
{
    struct stg_graph *graph = work->graph;
    for (uint32_t i = work->begin; i < work->end; i++) {
        struct stg_tensor *tensor = &graph->tensors[i];
        if (!stg_tensor_is_backward(graph->space, tensor)) {
            continue;
        }
        for (int x = 0; x < 2; x++) {
            tensor->x[x] = copy_of(work, tensor->x[x]);
        }
        for (uint32_t d = 0; d < tensor->dep_count; d++) {
            graph->deps[tensor->first_dep + d] = copy_of(work, graph->deps[tensor->first_dep + d]);
        }
    }
}

enum orr_status stg_recompute(struct stg_graph *graph, uint32_t begin, uint32_t arrives, struct orr_error *err)
{
    struct mem *mem = graph->space->mem;
    struct recompute work = {.graph = graph, .begin = begin, .end = graph->count};
    size_t bytes = (work.end - begin) * sizeof *work.copy;
    work.copy = mem_alloc(mem, bytes);
    if (work.copy == NULL) {
        return stg_space_error(graph->space, err);
    }
    for (uint32_t i = begin; i < work.end; i++) {
        work.copy[i - begin] = STG_NONE;
    }
    bool fine = add_copies(&work) && join_copies(&work, arrives);
    if (fine) {
        use_copies(&work);
    }
    mem_free(mem, work.copy, bytes);
    return fine ? ORR_OK : stg_space_error(graph->space, err);
}
