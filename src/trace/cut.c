/* SPDX-License-Identifier: Apache-2.0 */
/* The reading collects steps and start times, the contraction does the work, the writing moves the start times. */
#include "trace/cut.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/contract.h"
#include "trace/steps.h"

struct cut {
    const struct record_reader *reader;
    const struct cut_options *options;
    struct mem *mem;
    struct steps steps;
    uint8_t *describes; /* by node: a metadata node that describes a process group */
    uint32_t describes_capacity;
    uint64_t base_us; /* start of the earliest node left */
};

static enum orr_status trace_cut_visit(void *context, uint32_t node, const struct record_facts *facts,
                                       struct orr_error *err)
{
    struct cut *cut = context;
    if (!mem_reserve(cut->mem, (void **)&cut->describes, &cut->describes_capacity, (uint64_t)node + 1, 1)) {
        return mem_error(cut->mem, "the steps of a trace", err);
    }
    cut->describes[node] = facts->type == TRACE_METADATA && facts->has_group_attributes;
    return steps_add(&cut->steps, facts, err);
}

static enum orr_status fail_steps(const struct cut *cut, bool any, struct orr_error *err)
{
    if (!any) {
        return error_set(err, ORR_EINVAL,
                         "%s: no node has the attribute \"step\" and none is named ProfilerStep#N: there are no steps "
                         "to cut",
                         cut->reader->path);
    }
    int64_t least = INT64_MAX;
    int64_t most = STEPS_NONE;
    for (uint32_t i = 0; i < cut->steps.node_count; i++) {
        int64_t step = cut->steps.step[i];
        least = step != STEPS_NONE && step < least ? step : least;
        most = step > most ? step : most;
    }
    return error_set(err, ORR_EINVAL,
                     "%s: no node belongs to step %" PRId64 " to %" PRId64 "; the trace has steps from %" PRId64
                     " to %" PRId64,
                     cut->reader->path, cut->options->first, cut->options->last, least, most);
}

static enum orr_status trace_cut_choose(struct cut *cut, struct edit_graph *graph, struct orr_error *err)
{
    bool any = steps_settle(&cut->steps);
    uint64_t chosen = 0;
    cut->base_us = UINT64_MAX;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        int64_t step = cut->steps.step[node];
        bool inside = step != STEPS_NONE && step >= cut->options->first && step <= cut->options->last;
        graph->fate[node] = inside ? EDIT_KEEP : cut->describes[node] ? EDIT_PASS : EDIT_REMOVE;
        chosen += inside;
        if (inside && cut->steps.start_us[node] < cut->base_us) {
            cut->base_us = cut->steps.start_us[node];
        }
    }
    return chosen > 0 ? ORR_OK : fail_steps(cut, any, err);
}

static enum orr_status trace_cut_change(void *context, uint32_t node, const struct record *record,
                                        struct record_change *wanted, struct orr_error *err)
{
    const struct cut *cut = context;
    (void)record;
    (void)err;
    uint64_t start = cut->steps.start_us[node];
    if (cut->base_us != 0 && start != 0) {
        wanted->fields |= 1u << RECORD_START;
        wanted->start_us = start > cut->base_us ? start - cut->base_us : 0;
    }
    return ORR_OK;
}

static enum orr_status cut_graph(struct cut *cut, struct edit_graph *graph, struct record_reader *reader, FILE *stream,
                                 struct cut_counts *counts, struct orr_error *err)
{
    struct contract_counts done;
    enum orr_status status = trace_cut_choose(cut, graph, err);
    status = status != ORR_OK ? status : contract(graph, reader->path, &done, err);
    if (status == ORR_OK && stream != NULL) {
        struct edit_write write = {
            .reader = reader, .graph = graph, .stream = stream, .change = trace_cut_change, .context = cut};
        status = edit_write_nodes(&write, err);
    }
    if (status == ORR_OK) {
        counts->nodes_in += graph->node_count;
        counts->nodes_out += graph->node_count - done.removed;
        counts->joints += done.joints;
    }
    return status;
}

enum orr_status cut_trace(struct record_reader *reader, const struct cut_options *options, FILE *stream,
                          struct cut_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct cut cut = {.reader = reader, .options = options, .mem = mem};
    struct edit_graph graph;
    steps_init(&cut.steps, mem);
    enum orr_status status = edit_graph_open(&graph, reader, trace_cut_visit, &cut, mem, err);
    if (status == ORR_OK) {
        status = cut_graph(&cut, &graph, reader, stream, counts, err);
        edit_graph_close(&graph);
    }
    steps_free(&cut.steps);
    mem_free(mem, cut.describes, cut.describes_capacity);
    return status;
}
