/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only nodes and strings differ from the source's graph, so only they are copied; edges, orders and counts are
 * borrowed. Nodes carry what rounding of durations left over to the next one, as trace/scale.h does and for the same
 * reason: a kernel of 2 us at an eighth would otherwise vanish, and so would a thousand of them.
 */
#include "trace/replicate_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Chakra's numbers of the collectives whose size depends on the number of ranks, or that a factor applies to. */
enum { ALL_REDUCE = 0, ALL_GATHER = 2, ALL_TO_ALL = 6, REDUCE_SCATTER = 7 };

struct making {
    const struct replica_view *view;
    struct trace_graph *graph;
    const char *name;
    uint32_t string_capacity;
    __uint128_t carried; /* of durations, in 1 / compute.under us */
    struct mem *mem;
    struct orr_error *err;
};

static bool replicate_graph_is_one(struct scale_factor factor)
{
    return factor.over == factor.under;
}

bool replica_graph_names_ranks(const struct trace_graph *graph)
{
    for (uint32_t i = 0; i < graph->other_count; i++) {
        const struct trace_node *node = &graph->nodes[graph->others[i]];
        if (node->type == TRACE_SEND || node->type == TRACE_RECV || (node->has & TRACE_HAS_ROOT) != 0) {
            return true;
        }
    }
    return false;
}

/* The group a node names; NULL when it names none that is known, and `*whole` says whether it means all ranks. */
static const struct replica_group *replicate_graph_group_of(const struct replica_view *view,
                                                            const struct trace_graph *graph,
                                                            const struct trace_node *node, bool *whole)
{
    const char *text = graph->strings + node->group;
    char *end = NULL;
    long id = strtol(text, &end, 10);
    *whole = node->group == 0 || (end != text && *end == '\0' && id == 0);
    if (node->group == 0 || end == text || *end != '\0') {
        return NULL;
    }
    uint32_t low = 0;
    uint32_t high = view->group_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->groups[middle].from < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < view->group_count && view->groups[low].from == id ? &view->groups[low] : NULL;
}

bool replica_graph_changes(const struct trace_graph *graph, const struct replica_view *view)
{
    if (!replicate_graph_is_one(view->comm) || !replicate_graph_is_one(view->inner) ||
        !replicate_graph_is_one(view->compute)) {
        return true;
    }
    for (uint32_t i = 0; i < graph->other_count; i++) {
        const struct trace_node *node = &graph->nodes[graph->others[i]];
        bool whole = false;
        if (node->type == TRACE_SEND || node->type == TRACE_RECV || (node->has & TRACE_HAS_ROOT) != 0) {
            return true;
        }
        if (node->type == TRACE_COLL) {
            const struct replica_group *group = replicate_graph_group_of(view, graph, node, &whole);
            if ((group != NULL && group->from != group->to) ||
                (node->comm_type == ALL_GATHER && (whole || (group != NULL && group->grows)))) {
                return true;
            }
        }
    }
    return false;
}

static enum orr_status replicate_graph_too_large(const struct making *making, const struct trace_node *node)
{
    return error_set(making->err, ORR_ERANGE, "%s: node %" PRIu64 " \"%.80s\": scaled, it does not fit 64 bits",
                     making->name, node->id, making->graph->strings + node->name);
}

/* To the nearest, halves up; something never becomes nothing. */
static bool replicate_graph_multiply(uint64_t *value, struct scale_factor factor)
{
    if (replicate_graph_is_one(factor) || *value == 0) {
        return true;
    }
    __uint128_t product = (__uint128_t)*value * factor.over + factor.under / 2;
    __uint128_t scaled = product / factor.under;
    if (scaled > UINT64_MAX) {
        return false;
    }
    *value = scaled == 0 ? 1 : (uint64_t)scaled;
    return true;
}

static bool replicate_graph_add_string(struct making *making, const char *text, uint32_t *offset)
{
    struct trace_graph *graph = making->graph;
    uint32_t bytes = (uint32_t)strlen(text) + 1;
    void *strings = graph->strings;
    if (!mem_reserve(making->mem, &strings, &making->string_capacity, (uint64_t)graph->string_bytes + bytes, 1)) {
        return false;
    }
    graph->strings = strings;
    memcpy(graph->strings + graph->string_bytes, text, bytes);
    *offset = graph->string_bytes;
    graph->string_bytes += bytes;
    return true;
}

/* Strings are few (one for each group used), so the one before is looked for among those added. */
static enum orr_status replicate_graph_set_group(struct making *making, struct trace_node *node, int32_t id,
                                                 uint32_t first_added)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%" PRId32, id);
    const struct trace_graph *graph = making->graph;
    for (uint32_t at = first_added; at < graph->string_bytes; at += (uint32_t)strlen(graph->strings + at) + 1) {
        if (strcmp(graph->strings + at, text) == 0) {
            node->group = at;
            return ORR_OK;
        }
    }
    return replicate_graph_add_string(making, text, &node->group)
               ? ORR_OK
               : mem_error(making->mem, "the names of groups", making->err);
}

static bool takes_factor(int32_t type)
{
    return type == ALL_REDUCE || type == ALL_GATHER || type == ALL_TO_ALL || type == REDUCE_SCATTER;
}

static enum orr_status change_peer(const struct making *making, struct trace_node *node, int32_t *peer)
{
    uint32_t mapped = *peer < 0 ? UINT32_MAX : making->view->peer(making->view->context, (uint32_t)*peer);
    if (mapped > INT32_MAX) {
        return error_set(making->err, ORR_EINVAL,
                         "%s: node %" PRIu64 " \"%.80s\": names rank %" PRId32
                         ", which is not in the same replica; a job that sends between replicas cannot be made larger",
                         making->name, node->id, making->graph->strings + node->name, *peer);
    }
    *peer = (int32_t)mapped;
    return ORR_OK;
}

static enum orr_status replicate_graph_change_collective(struct making *making, struct trace_node *node,
                                                         uint32_t first_added)
{
    const struct replica_view *view = making->view;
    bool whole = false;
    const struct replica_group *group = replicate_graph_group_of(view, making->graph, node, &whole);
    bool grows = whole || (group != NULL && group->grows);
    if (node->comm_type == ALL_GATHER && grows &&
        !replicate_graph_multiply(&node->comm_bytes, whole ? view->whole_share : group->share)) {
        return replicate_graph_too_large(making, node);
    }
    if ((takes_factor(node->comm_type) && !replicate_graph_multiply(&node->comm_bytes, view->comm)) ||
        (!grows && !replicate_graph_multiply(&node->comm_bytes, view->inner))) {
        return replicate_graph_too_large(making, node);
    }
    enum orr_status status = ORR_OK;
    if ((node->has & TRACE_HAS_ROOT) != 0 && view->root != NULL && node->root >= 0) {
        node->root = (int32_t)view->root(view->context, group == NULL ? 0 : group->from, (uint32_t)node->root);
    } else if ((node->has & TRACE_HAS_ROOT) != 0) {
        status = change_peer(making, node, &node->root);
    }
    int32_t to = group != NULL && group->from != group->to ? group->to : whole && group == NULL ? view->whole_to : 0;
    if (status == ORR_OK && to != 0) {
        status = replicate_graph_set_group(making, node, to, first_added);
    }
    return status;
}

static enum orr_status replicate_graph_change_compute(struct making *making, struct trace_node *node)
{
    struct scale_factor factor = making->view->compute;
    if (node->is_cpu_op != 0 || replicate_graph_is_one(factor)) {
        return ORR_OK;
    }
    making->carried += (__uint128_t)node->duration_us * factor.over;
    if (making->carried / factor.under > UINT64_MAX || !replicate_graph_multiply(&node->num_ops, factor) ||
        ((node->has & TRACE_HAS_CYCLES) != 0 && !replicate_graph_multiply(&node->cycles, factor))) {
        return replicate_graph_too_large(making, node);
    }
    node->duration_us = (uint64_t)(making->carried / factor.under);
    making->carried %= factor.under;
    return ORR_OK;
}

/* Both ends: a trace may name its own rank too. */
static enum orr_status replicate_graph_change_message(struct making *making, struct trace_node *node)
{
    if (!replicate_graph_multiply(&node->comm_bytes, making->view->inner)) {
        return replicate_graph_too_large(making, node);
    }
    enum orr_status status = ORR_OK;
    if ((node->has & TRACE_HAS_COMM_SRC) != 0) {
        status = change_peer(making, node, &node->comm_src);
    }
    if (status == ORR_OK && (node->has & TRACE_HAS_COMM_DST) != 0) {
        status = change_peer(making, node, &node->comm_dst);
    }
    return status;
}

static enum orr_status replicate_graph_change(struct making *making, struct trace_node *node, uint32_t first_added)
{
    switch (node->type) {
    case TRACE_COLL:
        return replicate_graph_change_collective(making, node, first_added);
    case TRACE_COMP:
        return replicate_graph_change_compute(making, node);
    case TRACE_SEND:
    case TRACE_RECV:
        return replicate_graph_change_message(making, node);
    default:
        return ORR_OK;
    }
}

static enum orr_status copy_parts(struct making *making, const struct trace_graph *source)
{
    struct trace_graph *graph = making->graph;
    size_t nodes = (size_t)source->node_count * sizeof *graph->nodes;
    size_t written = (size_t)source->node_count * sizeof *graph->parent_written;
    graph->nodes = mem_alloc(making->mem, nodes);
    graph->parent_written = mem_alloc(making->mem, written);
    graph->strings = mem_alloc(making->mem, source->string_bytes);
    if (graph->nodes == NULL || graph->parent_written == NULL || graph->strings == NULL) {
        return mem_error(making->mem, "a replica's nodes", making->err);
    }
    memcpy(graph->nodes, source->nodes, nodes);
    memcpy(graph->parent_written, source->parent_written, written);
    memcpy(graph->strings, source->strings, source->string_bytes);
    making->string_capacity = source->string_bytes;
    return ORR_OK;
}

/* trace_graph_free gives back exactly string_bytes. */
static enum orr_status trim_strings(struct making *making)
{
    struct trace_graph *graph = making->graph;
    char *strings = mem_resize(making->mem, graph->strings, making->string_capacity, graph->string_bytes);
    if (strings == NULL) {
        return mem_error(making->mem, "the names of groups", making->err);
    }
    graph->strings = strings;
    making->string_capacity = graph->string_bytes;
    return ORR_OK;
}

enum orr_status replica_graph_make(const struct trace_graph *source, const struct replica_view *view, const char *name,
                                   struct mem *mem, struct trace_graph **graph, struct orr_error *err)
{
    struct arena arena;
    arena_init(&arena, mem);
    struct trace_graph *made = arena_alloc(&arena, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "a replica", err);
    }
    *made = *source;
    made->arena = arena;
    made->nodes = NULL;
    made->parent_written = NULL;
    made->strings = NULL;
    struct making making = {.view = view, .graph = made, .name = name, .mem = mem, .err = err};
    enum orr_status status = copy_parts(&making, source);
    made->longest_us = 0;
    for (uint32_t i = 0; status == ORR_OK && i < made->node_count; i++) {
        status = replicate_graph_change(&making, &made->nodes[i], source->string_bytes);
        if (made->nodes[i].duration_us > made->longest_us) {
            made->longest_us = made->nodes[i].duration_us;
        }
    }
    if (status == ORR_OK) {
        status = trim_strings(&making);
    }
    if (status != ORR_OK) {
        made->string_bytes = making.string_capacity;
        trace_graph_free(made);
        return status;
    }
    *graph = made;
    return ORR_OK;
}
