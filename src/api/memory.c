/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks held in memory, behind the orr_run_memory* functions of orrery.h. */
#include "orrery.h"
#include "run/session.h"

static const struct sim_usage_rank *api_memory_row_of(const struct orr_run *run, uint32_t rank)
{
    const struct sim_usage *usage = &session_result(run)->usage;
    return usage->tracked && usage->told && rank < usage->rank_count ? &usage->ranks[rank] : NULL;
}

bool orr_run_memory(const struct orr_run *run, uint32_t rank, struct orr_memory_result *result)
{
    const struct sim_usage_rank *row = api_memory_row_of(run, rank);
    *result = (struct orr_memory_result){0};
    if (row == NULL) {
        return false;
    }
    *result = (struct orr_memory_result){
        .capacity_bytes = session_result(run)->config->system.capacity.local,
        .peak_bytes = row->peak_bytes,
        .peak_ns = row->peak_ns,
        .initial_bytes = row->initial_bytes,
        .over_bytes = row->over_bytes,
        .over_since_ns = row->over_since_ns,
        .over_ns = row->over_ns,
        .tensors = row->tensors,
        .held = row->held,
        .largest = row->holder_count,
        .steps = row->step_count,
    };
    return true;
}

bool orr_run_memory_tensor(const struct orr_run *run, uint32_t rank, uint32_t index, struct orr_memory_tensor *tensor)
{
    const struct sim_usage_rank *row = api_memory_row_of(run, rank);
    *tensor = (struct orr_memory_tensor){0};
    if (row == NULL || index >= row->holder_count) {
        return false;
    }
    const struct sim_usage_span *span = &row->spans[row->holders[index]];
    bool initial = span->node == UINT32_MAX;
    const struct trace_rank *trace = &session_result(run)->config->traces->ranks[rank];
    *tensor = (struct orr_memory_tensor){.name = span->name,
                                         .bytes = span->bytes,
                                         .since_ns = span->since_ns,
                                         .from_beginning = initial,
                                         .node = initial ? 0 : trace_rank_node_id(trace, span->node)};
    return true;
}

bool orr_run_memory_step(const struct orr_run *run, uint32_t rank, uint32_t index, uint64_t *time_ns, uint64_t *bytes)
{
    const struct sim_usage_rank *row = api_memory_row_of(run, rank);
    *time_ns = *bytes = 0;
    if (row == NULL || index >= row->step_count) {
        return false;
    }
    *time_ns = row->steps[index].time_ns;
    *bytes = row->steps[index].bytes;
    return true;
}

bool orr_run_memory_spill(const struct orr_run *run, struct orr_memory_spill *spill)
{
    const struct sim_spill *found = &session_result(run)->usage.spill;
    *spill = (struct orr_memory_spill){0};
    if (api_memory_row_of(run, 0) == NULL) {
        return false;
    }
    if (found->ranks > 0) {
        *spill = (struct orr_memory_spill){.ranks = found->ranks,
                                           .worst_rank = found->worst_rank,
                                           .since_ns = found->since_ns,
                                           .bytes = found->total_bytes,
                                           .host_bytes = found->host_bytes,
                                           .pool_bytes = found->pool_bytes,
                                           .nowhere_bytes = found->nowhere_bytes,
                                           .nowhere_since_ns = found->nowhere_bytes > 0 ? found->nowhere_since_ns : 0};
    }
    return true;
}
