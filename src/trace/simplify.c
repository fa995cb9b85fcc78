/* SPDX-License-Identifier: Apache-2.0 */
/* Levels comm and merge are the contraction and the merging of rows, each on a graph read once. */
#include "trace/simplify.h"

#include <stdlib.h>

#include "trace/chains.h"
#include "trace/contract.h"

struct simplifying {
    enum simplify_level level;
    struct chains chains;
    uint64_t deps_in;
};

static enum orr_status simplify_visit(void *context, uint32_t node, const struct record_facts *facts,
                                      struct orr_error *err)
{
    struct simplifying *simplifying = context;
    (void)node;
    simplifying->deps_in += (uint64_t)facts->data.count + facts->ctrl.count;
    return simplifying->level == SIMPLIFY_MERGE ? chains_add(&simplifying->chains, facts, chains_key(facts), err)
                                                : ORR_OK;
}

static enum orr_status simplify_change(void *context, uint32_t node, const struct record *record,
                                       struct record_change *wanted, struct orr_error *err)
{
    const struct simplifying *simplifying = context;
    (void)record;
    (void)err;
    chains_change(&simplifying->chains, node, wanted);
    return ORR_OK;
}

static void simplify_count(const struct simplifying *simplifying, const struct edit_graph *graph, uint64_t joints,
                           struct simplify_counts *counts)
{
    counts->nodes_in += graph->node_count;
    counts->deps_in += simplifying->deps_in;
    counts->joints += joints;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->fate[node] != EDIT_REMOVE && graph->fate[node] != EDIT_DROP) {
            counts->nodes_out++;
            counts->deps_out += graph->dep_start[node + 1] - graph->dep_start[node];
        }
    }
}

static enum orr_status simplify_graph(struct simplifying *simplifying, struct edit_graph *graph,
                                      struct record_reader *reader, FILE *stream, struct simplify_counts *counts,
                                      struct orr_error *err)
{
    struct contract_counts done = {0};
    enum orr_status status = ORR_OK;
    if (simplifying->level == SIMPLIFY_MERGE) {
        status = chains_merge(&simplifying->chains, graph, reader->path, err);
    } else {
        for (uint32_t node = 0; node < graph->node_count; node++) {
            graph->fate[node] = record_is_comm(graph->type[node]) ? EDIT_KEEP : EDIT_REMOVE;
        }
        status = contract(graph, reader->path, &done, err);
    }
    if (status == ORR_OK && stream != NULL) {
        struct edit_write write = {
            .reader = reader, .graph = graph, .stream = stream, .change = simplify_change, .context = simplifying};
        status = edit_write_nodes(&write, err);
    }
    if (status == ORR_OK) {
        simplify_count(simplifying, graph, done.joints, counts);
    }
    return status;
}

enum orr_status simplify_trace(struct record_reader *reader, enum simplify_level level, FILE *stream,
                               struct notes *notes, struct simplify_counts *counts, struct mem *mem,
                               struct orr_error *err)
{
    if (level == SIMPLIFY_STEP) {
        return simplify_steps(reader, stream, notes, counts, mem, err);
    }
    struct simplifying simplifying = {.level = level};
    struct edit_graph graph;
    chains_init(&simplifying.chains, mem);
    enum orr_status status = edit_graph_open(&graph, reader, simplify_visit, &simplifying, mem, err);
    if (status == ORR_OK) {
        status = simplify_graph(&simplifying, &graph, reader, stream, counts, err);
        edit_graph_close(&graph);
    }
    chains_free(&simplifying.chains);
    return status;
}
