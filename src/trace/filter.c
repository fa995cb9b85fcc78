/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For every node that goes, the nearest ones before it that stay are known once its parents' are: one pass in the order
 * of dependencies. Such a set is shared where a single parent has it; a union is cut to the latest MOST_NEAREST, since
 * on a thread that waits for hundreds of kernels one after the other it would grow with every wait.
 */
#include "trace/filter.h"

#include <string.h>

#include "trace/document_graph.h"
#include "trace/graph.h"
#include "trace/pattern.h"

enum { MOST_NEAREST = 32 };

/* Node indices, ascending, in the work's arena or shared. */
struct nearest {
    const uint32_t *nodes;
    uint32_t count;
};

struct filtering {
    struct trace_document *document;
    struct document_graph graph;
    struct arena arena;
    uint8_t *stays;          /* by node */
    struct nearest *nearest; /* by node: of those that go */
    uint64_t lost_edges;
    bool refused;
};

static enum trace_kind trace_filter_kind_of(const Chakra__Node *node)
{
    switch ((uint32_t)node->type) {
    case TRACE_COMP:
        return trace_document_is_host(node) ? TRACE_KIND_CPU : TRACE_KIND_GPU;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return TRACE_KIND_MEMORY;
    case TRACE_COLL:
        return TRACE_KIND_COLLECTIVE;
    case TRACE_SEND:
        return TRACE_KIND_SEND;
    case TRACE_RECV:
        return TRACE_KIND_RECV;
    default:
        return TRACE_KIND_OTHER;
    }
}

static bool kind_matches(const struct trace_filter *filter, const Chakra__Node *node)
{
    if (filter->kinds == 0 && filter->collectives == 0) {
        return true;
    }
    enum trace_kind kind = trace_filter_kind_of(node);
    if ((filter->kinds >> kind & 1) != 0) {
        return true;
    }
    uint64_t type = 0;
    bool negative = false;
    const Chakra__Attribute *attr = trace_document_attribute(node, TRACE_ATTR_COMM_TYPE);
    return kind == TRACE_KIND_COLLECTIVE && attr != NULL && trace_document_integer(attr, &type, &negative) &&
           type < 32 && (filter->collectives >> type & 1) != 0;
}

static uint64_t first_start(const struct trace_document *document)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < document->node_count; i++) {
        uint64_t start = document->nodes[i]->start_time_micros;
        first = start < first ? start : first;
    }
    return first;
}

static enum orr_status trace_filter_choose(struct filtering *f, const struct trace_filter *filter, uint32_t *kept,
                                           struct orr_error *err)
{
    struct pattern pattern;
    enum orr_status status = pattern_open(&pattern, "name", filter->name, err);
    if (status != ORR_OK) {
        return status;
    }
    uint64_t first = first_start(f->document);
    *kept = 0;
    for (uint32_t i = 0; i < f->document->node_count; i++) {
        const Chakra__Node *node = f->document->nodes[i];
        uint64_t start = node->start_time_micros - first;
        struct record_text name = {node->name, strlen(node->name)};
        f->stays[i] = start >= filter->from_us && start < filter->to_us && kind_matches(filter, node) &&
                      pattern_matches(&pattern, name);
        *kept += f->stays[i];
    }
    pattern_close(&pattern);
    return ORR_OK;
}

/* Adds to an ascending list without what is there already; the lowest go where it is full. */
static void trace_filter_insert(uint32_t *list, uint32_t *count, uint32_t node, uint64_t *lost)
{
    uint32_t at = *count;
    while (at > 0 && list[at - 1] > node) {
        at--;
    }
    if (at > 0 && list[at - 1] == node) {
        return;
    }
    if (*count == MOST_NEAREST) {
        (*lost)++;
        if (at == 0) {
            return;
        }
        memmove(list, list + 1, (at - 1) * sizeof *list);
        list[at - 1] = node;
        return;
    }
    memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
    list[at] = node;
    (*count)++;
}

/* The nearest nodes that stay before `index`: its own parents, or those of parents that go. */
static uint32_t trace_filter_collect(struct filtering *f, uint32_t index, uint32_t list[MOST_NEAREST])
{
    uint32_t count = 0;
    for (uint32_t p = f->graph.parent_start[index]; p < f->graph.parent_start[index + 1]; p++) {
        uint32_t parent = f->graph.parents[p];
        if (f->stays[parent]) {
            trace_filter_insert(list, &count, parent, &f->lost_edges);
            continue;
        }
        for (uint32_t i = 0; i < f->nearest[parent].count; i++) {
            trace_filter_insert(list, &count, f->nearest[parent].nodes[i], &f->lost_edges);
        }
    }
    return count;
}

static void trace_filter_find_nearest(struct filtering *f)
{
    uint32_t list[MOST_NEAREST];
    for (uint32_t o = 0; o < f->graph.ordered_count && !f->refused; o++) {
        uint32_t index = f->graph.order[o];
        uint32_t parents = f->graph.parent_start[index + 1] - f->graph.parent_start[index];
        if (f->stays[index]) {
            continue;
        }
        uint32_t only = parents == 1 ? f->graph.parents[f->graph.parent_start[index]] : UINT32_MAX;
        if (parents == 1 && !f->stays[only]) {
            f->nearest[index] = f->nearest[only];
            continue;
        }
        uint32_t count = trace_filter_collect(f, index, list);
        uint32_t *kept = arena_alloc(&f->arena, (size_t)count * sizeof *kept + 1);
        f->refused = kept == NULL;
        if (kept != NULL) {
            memcpy(kept, list, count * sizeof *kept);
            f->nearest[index] = (struct nearest){kept, count};
        }
    }
}

/* All dependencies of a node that has lost one become data dependencies on what is nearest; others stay as written. */
static void rewrite(struct filtering *f, uint32_t index)
{
    uint32_t list[MOST_NEAREST];
    Chakra__Node *node = f->document->nodes[index];
    bool whole = true;
    for (uint32_t p = f->graph.parent_start[index]; p < f->graph.parent_start[index + 1]; p++) {
        whole = whole && f->stays[f->graph.parents[p]];
    }
    if (whole) {
        return;
    }
    uint32_t count = trace_filter_collect(f, index, list);
    uint64_t *ids = arena_alloc(&f->document->arena, (size_t)count * sizeof *ids + 1);
    f->refused = f->refused || ids == NULL;
    for (uint32_t i = 0; ids != NULL && i < count; i++) {
        ids[i] = f->document->nodes[list[i]]->id;
    }
    if (ids != NULL) {
        node->data_deps = ids;
        node->n_data_deps = count;
        node->n_ctrl_deps = 0;
    }
}

static bool trace_filter_begin(struct filtering *f, struct trace_document *document, struct mem *mem)
{
    size_t count = document->node_count;
    f->document = document;
    arena_init(&f->arena, mem);
    f->stays = arena_zalloc(&f->arena, count + 1);
    f->nearest = arena_zalloc(&f->arena, count * sizeof *f->nearest + 1);
    return f->stays != NULL && f->nearest != NULL;
}

static void cut_down(struct filtering *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->document->node_count; i++) {
        if (f->stays[i]) {
            f->document->nodes[kept++] = f->document->nodes[i];
        }
    }
    f->document->node_count = kept;
}

enum orr_status trace_filter(struct trace_document *document, const struct trace_filter *filter, struct mem *mem,
                             struct trace_filtered *filtered, struct orr_error *err)
{
    struct filtering f = {0};
    uint32_t kept = 0;
    uint32_t of = document->node_count;
    enum orr_status status = document_graph_open(&f.graph, document, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    status = trace_filter_begin(&f, document, mem) ? trace_filter_choose(&f, filter, &kept, err)
                                                   : mem_error(mem, "a choice of nodes", err);
    if (status == ORR_OK && kept < of) {
        trace_filter_find_nearest(&f);
        for (uint32_t i = 0; i < of && !f.refused; i++) {
            if (f.stays[i]) {
                rewrite(&f, i);
            }
        }
        status = f.refused ? mem_error(mem, "a choice of nodes", err) : ORR_OK;
    }
    if (status == ORR_OK) {
        cut_down(&f);
        *filtered = (struct trace_filtered){.kept = kept, .of = of, .lost_edges = f.lost_edges};
    }
    arena_free(&f.arena);
    document_graph_close(&f.graph);
    return status;
}
