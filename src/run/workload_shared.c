/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run for fewer ranks than there are traces must not see the graphs of the others, since the engine looks at all
 * graphs of a set. Graphs lie in the order in which the ranks first have them, so that those of the first ranks are the
 * first of the list.
 */
#include "run/workload_shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/unmarked.h"

struct orr_workload {
    struct mem mem;
    struct notes notes; /* of the reading */
    struct trace_set *traces;
    bool missing_is_cpu;
    struct arena arena; /* groups */
    struct sim_group *groups;
    uint32_t group_count;
};

enum orr_status workload_read(const char *prefix, uint32_t ranks, bool as_many_as_exist, bool missing_is_cpu,
                              struct mem *mem, struct notes *notes, struct trace_set **set, struct orr_error *err)
{
    uint64_t changed = 1;
    struct trace_set *read = NULL;
    enum orr_status status = trace_set_load(prefix, ranks, as_many_as_exist, mem, notes, &read, err);
    if (status == ORR_OK && missing_is_cpu) {
        status = trace_set_unmarked_to_cpu(read, &changed, err);
    }
    if (status == ORR_OK && changed == 0) {
        status = notes_add(notes, err, "%s: every node has is_cpu_op, so that none is taken for a CPU op", prefix);
    }
    if (status != ORR_OK) {
        trace_set_free(read);
        return status;
    }
    *set = read;
    return ORR_OK;
}

static struct orr_workload *run_workload_shared_new(uint64_t memory_limit, struct orr_error *err)
{
    struct orr_workload *made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)error_set(err, ORR_ENOMEM, "out of memory: a workload needs %zu bytes", sizeof *made);
        return NULL;
    }
    made->mem.limit = memory_limit;
    notes_init(&made->notes, &made->mem, false);
    arena_init(&made->arena, &made->mem);
    return made;
}

enum orr_status orr_workload_open(const char *prefix, bool missing_is_cpu, uint64_t memory_limit,
                                  struct orr_workload **workload, struct orr_error *err)
{
    struct orr_workload *opened = run_workload_shared_new(memory_limit, err);
    if (opened == NULL) {
        return ORR_ENOMEM;
    }
    opened->missing_is_cpu = missing_is_cpu;
    enum orr_status status =
        workload_read(prefix, UINT32_MAX, true, missing_is_cpu, &opened->mem, &opened->notes, &opened->traces, err);
    if (status != ORR_OK) {
        orr_workload_close(opened);
        return status;
    }
    *workload = opened;
    return ORR_OK;
}

void orr_workload_close(struct orr_workload *workload)
{
    if (workload != NULL) {
        trace_set_free(workload->traces);
        notes_free(&workload->notes);
        arena_free(&workload->arena);
        free(workload);
    }
}

uint32_t orr_workload_ranks(const struct orr_workload *workload)
{
    return workload->traces->rank_count;
}

uint64_t orr_workload_bytes(const struct orr_workload *workload)
{
    return workload->mem.used;
}

uint64_t workload_shared_peak(const struct orr_workload *workload)
{
    return workload->mem.peak;
}

static uint32_t graphs_of(const struct trace_set *set, uint32_t ranks)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < ranks && count < set->graph_count; rank++) {
        count += set->ranks[rank].graph == set->graphs[count] ? 1 : 0;
    }
    return count;
}

/* The same words as a run's own reading has for it. */
static enum orr_status run_workload_shared_check_ranks(const struct trace_set *set, uint32_t ranks, struct notes *notes,
                                                       struct orr_error *err)
{
    if (ranks > set->rank_count) {
        return error_set(err, ORR_EIO,
                         "%s.%" PRIu32 ".et: cannot be opened: No such file or directory (%" PRIu32
                         " ranks are expected)",
                         set->prefix, set->rank_count, ranks);
    }
    return ranks == set->rank_count
               ? ORR_OK
               : notes_add(notes, err,
                           "%s.%" PRIu32 ".et exists, but the network has %" PRIu32 " rank%s: it is not read",
                           set->prefix, ranks, ranks, ranks == 1 ? "" : "s");
}

enum orr_status workload_shared_view(const struct orr_workload *workload, const struct orr_run_options *options,
                                     uint32_t ranks, struct notes *notes, struct trace_set *view, struct orr_error *err)
{
    const struct trace_set *set = workload->traces;
    if (strcmp(options->workload, set->prefix) != 0 || options->missing_is_cpu != workload->missing_is_cpu) {
        return error_set(err, ORR_EINVAL, "%s: the workload that was opened for it is of %s%s", options->workload,
                         set->prefix, workload->missing_is_cpu ? ", with missing-cpu-op=cpu" : "");
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < workload->notes.count; i++) {
        status = notes_add(notes, err, "%s", workload->notes.lines[i]);
    }
    if (status == ORR_OK && ranks != UINT32_MAX) {
        status = run_workload_shared_check_ranks(set, ranks, notes, err);
    }
    if (status == ORR_OK) {
        *view = *set;
        view->rank_count = ranks == UINT32_MAX ? set->rank_count : ranks;
        view->graph_count = graphs_of(set, view->rank_count);
    }
    return status;
}

/* ---- made, not read ---- */

enum orr_status workload_make(const char *name, uint32_t ranks, uint32_t graphs, uint64_t memory_limit,
                              struct orr_workload **workload, struct orr_error *err)
{
    struct orr_workload *made = run_workload_shared_new(memory_limit, err);
    if (made == NULL) {
        return ORR_ENOMEM;
    }
    made->traces = trace_set_new(name, ranks, graphs, &made->mem);
    if (made->traces == NULL) {
        enum orr_status status = mem_error(&made->mem, "a workload", err);
        orr_workload_close(made);
        return status;
    }
    *workload = made;
    return ORR_OK;
}

struct mem *workload_mem(struct orr_workload *workload)
{
    return &workload->mem;
}

void workload_give(struct orr_workload *workload, uint32_t rank, struct trace_graph *graph)
{
    struct trace_set *set = workload->traces;
    set->graphs[rank] = graph; /* graphs are in the order of the ranks that have them, whoever is given first */
    set->ranks[rank] = (struct trace_rank){.graph = graph, .file = rank};
}

void workload_same(struct orr_workload *workload, uint32_t rank, uint32_t as)
{
    workload->traces->ranks[rank] = (struct trace_rank){.graph = workload->traces->ranks[as].graph, .file = rank};
}

struct sim_group *workload_groups_make(struct orr_workload *workload, uint32_t count, uint64_t members,
                                       uint32_t **ranks)
{
    workload->groups = arena_alloc(&workload->arena, ((size_t)count + 1) * sizeof *workload->groups);
    *ranks = arena_alloc(&workload->arena, ((size_t)members + 1) * sizeof **ranks);
    workload->group_count = count;
    return *ranks != NULL ? workload->groups : NULL;
}

const struct sim_group *workload_groups(const struct orr_workload *workload, uint32_t *count)
{
    *count = workload->group_count;
    return workload->groups;
}
