/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Found when the run is over, from the times that nodes had: nothing of it can change the run, and a run that does not
 * ask pays nothing. A rank at a time: its nodes in the order in which they ended, which is the order in which ASTRA-sim
 * takes note of reads and writes, become spans in which a tensor is held, and the spans a curve. What comes and goes at
 * one time is one step, so that a tensor freed when another is made does not add to a peak.
 */
#include "sim/usage.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "trace/tensors.h"

/* A tensor's present value. */
struct value {
    uint64_t since_ns;
    uint64_t bytes;
    uint64_t last_read_ns;
    uint32_t node;
    bool there, read;
};

struct change {
    uint64_t time_ns;
    uint64_t bytes; /* modulo 2^64: what leaves is negative */
};

/* Of one rank; the arrays are used again for the next. */
struct work {
    struct sim *sim;
    const struct trace_tensors *tensors;
    struct value *values; /* by tensor */
    uint32_t value_capacity;
    struct sim_usage_rank *row;
    struct change *changes;
    uint32_t change_count, change_capacity;
};

static bool add_span(const struct work *work, const struct value *value, uint32_t tensor, uint64_t until_ns)
{
    struct sim_usage_rank *row = work->row;
    if (!mem_reserve(work->sim->mem, (void **)&row->spans, &row->span_capacity, (uint64_t)row->span_count + 1,
                     sizeof *row->spans)) {
        return false;
    }
    row->spans[row->span_count++] = (struct sim_usage_span){.since_ns = value->since_ns,
                                                            .until_ns = until_ns,
                                                            .bytes = value->bytes,
                                                            .name = intern_text(&work->tensors->names, tensor),
                                                            .tensor = tensor,
                                                            .node = value->node};
    return true;
}

static void read_tensor(struct value *value, uint64_t bytes, uint64_t end_ns)
{
    if (!value->there) {
        *value = (struct value){.bytes = bytes, .node = SIM_NONE, .there = true};
    }
    value->read = true;
    value->last_read_ns = end_ns;
}

/* A value that was read to its end before the node began is gone; else the new one takes its place. */
static bool write_tensor(struct work *work, const struct trace_tensor_use *use, uint32_t node, uint64_t start_ns)
{
    struct value *value = &work->values[use->tensor];
    if (value->there && value->read && value->last_read_ns <= start_ns) {
        if (!add_span(work, value, use->tensor, value->last_read_ns)) {
            return false;
        }
        value->there = false;
    }
    if (!value->there) {
        *value = (struct value){.since_ns = start_ns, .bytes = use->bytes, .node = node, .there = true};
    }
    value->read = false;
    return true;
}

static bool follow_node(struct work *work, const struct trace_tensor_node *uses, const struct sim_interval *interval)
{
    const struct trace_tensor_use *use = &work->tensors->uses[uses->first];
    for (uint32_t i = 0; i < uses->inputs; i++) {
        read_tensor(&work->values[use[i].tensor], use[i].bytes, interval->end_ns);
    }
    for (uint32_t i = uses->inputs; i < uses->inputs + uses->outputs; i++) {
        if (!write_tensor(work, &use[i], interval->node, interval->start_ns)) {
            return false;
        }
    }
    return true;
}

static bool find_spans(struct work *work, const struct sim_usage *usage, uint32_t rank)
{
    const struct sim_result *result = &work->sim->result;
    const struct trace_rank *trace = &work->sim->config->traces->ranks[rank];
    uint32_t names = intern_count(&work->tensors->names);
    if (!mem_reserve(work->sim->mem, (void **)&work->values, &work->value_capacity, names, sizeof *work->values)) {
        return false;
    }
    memset(work->values, 0, names * sizeof *work->values);
    for (uint32_t i = usage->interval_start[rank]; i < usage->interval_start[rank + 1]; i++) {
        const struct sim_interval *interval = &result->intervals[usage->intervals[i]];
        const struct trace_tensor_node *uses =
            trace_tensors_find(work->tensors, trace_rank_node_id(trace, interval->node));
        if (uses != NULL && !follow_node(work, uses, interval)) {
            return false;
        }
    }
    for (uint32_t tensor = 0; tensor < names; tensor++) {
        const struct value *value = &work->values[tensor];
        if (value->there && !add_span(work, value, tensor, value->read ? value->last_read_ns : UINT64_MAX)) {
            return false;
        }
    }
    return true;
}

static int sim_usage_compare_changes(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* The spans as a curve. */
static bool sim_usage_find_steps(struct work *work)
{
    struct sim_usage_rank *row = work->row;
    struct mem *mem = work->sim->mem;
    work->change_count = 0;
    if (row->span_count == 0) {
        return true;
    }
    if (!mem_reserve(mem, (void **)&work->changes, &work->change_capacity, 2 * (uint64_t)row->span_count,
                     sizeof *work->changes)) {
        return false;
    }
    for (uint32_t i = 0; i < row->span_count; i++) {
        const struct sim_usage_span *span = &row->spans[i];
        work->changes[work->change_count++] = (struct change){.time_ns = span->since_ns, .bytes = span->bytes};
        if (span->until_ns != UINT64_MAX) {
            work->changes[work->change_count++] = (struct change){.time_ns = span->until_ns, .bytes = 0 - span->bytes};
        }
    }
    qsort(work->changes, work->change_count, sizeof *work->changes, sim_usage_compare_changes);
    uint32_t times = 0;
    for (uint32_t i = 0; i < work->change_count; i++) {
        times += i == 0 || work->changes[i].time_ns != work->changes[i - 1].time_ns;
    }
    if (!mem_reserve(mem, (void **)&row->steps, &row->step_capacity, times, sizeof *row->steps)) {
        return false;
    }
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < work->change_count; i++) {
        bytes += work->changes[i].bytes;
        if (i + 1 == work->change_count || work->changes[i + 1].time_ns != work->changes[i].time_ns) {
            row->steps[row->step_count++] =
                (struct sim_usage_step){.time_ns = work->changes[i].time_ns, .bytes = bytes};
        }
    }
    return true;
}

/* The larger first; of equal ones that which was there first. */
static bool comes_before(const struct sim_usage_span *span, const struct sim_usage_span *other)
{
    return span->bytes > other->bytes || (span->bytes == other->bytes && span->since_ns < other->since_ns);
}

static void keep_holder(struct sim_usage_rank *row, uint32_t span)
{
    uint32_t place = row->holder_count;
    while (place > 0 && comes_before(&row->spans[span], &row->spans[row->holders[place - 1]])) {
        place--;
    }
    if (place == SIM_USAGE_HOLDERS) {
        return;
    }
    row->holder_count += row->holder_count < SIM_USAGE_HOLDERS ? 1 : 0;
    memmove(&row->holders[place + 1], &row->holders[place], (row->holder_count - place - 1) * sizeof row->holders[0]);
    row->holders[place] = span;
}

static void find_peak(struct sim_usage_rank *row)
{
    for (uint32_t i = 0; i < row->step_count; i++) {
        if (row->steps[i].bytes > row->peak_bytes) {
            row->peak_bytes = row->steps[i].bytes;
            row->peak_ns = row->steps[i].time_ns;
        }
    }
    for (uint32_t i = 0; i < row->span_count && row->peak_bytes > 0; i++) {
        const struct sim_usage_span *span = &row->spans[i];
        if (span->since_ns <= row->peak_ns && span->until_ns > row->peak_ns) {
            row->held++;
            row->initial_bytes += span->node == SIM_NONE ? span->bytes : 0;
            keep_holder(row, i);
        }
    }
}

static void find_excess(struct sim_usage_rank *row, uint64_t capacity, uint64_t end_ns)
{
    if (capacity == 0 || row->peak_bytes <= capacity) {
        return;
    }
    row->over_bytes = row->peak_bytes - capacity;
    row->over_since_ns = UINT64_MAX;
    for (uint32_t i = 0; i < row->step_count; i++) {
        if (row->steps[i].bytes > capacity) {
            uint64_t until = i + 1 < row->step_count ? row->steps[i + 1].time_ns : end_ns;
            row->over_ns += until - row->steps[i].time_ns;
            row->over_since_ns = row->over_since_ns == UINT64_MAX ? row->steps[i].time_ns : row->over_since_ns;
        }
    }
}

/* Which intervals are whose. */
static bool divide_intervals(struct sim *sim, struct sim_usage *usage)
{
    const struct sim_result *result = &sim->result;
    uint32_t *start = mem_zalloc(sim->mem, ((size_t)sim->rank_count + 1) * sizeof *start);
    usage->interval_start = start;
    usage->interval_count = result->interval_count;
    usage->intervals = mem_alloc(sim->mem, (size_t)result->interval_count * sizeof *usage->intervals);
    if (start == NULL || (usage->intervals == NULL && result->interval_count > 0)) {
        return false;
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        start[result->intervals[i].rank + 1]++;
    }
    for (uint32_t rank = 0; rank < sim->rank_count; rank++) {
        start[rank + 1] += start[rank];
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        usage->intervals[start[result->intervals[i].rank]++] = i;
    }
    memmove(start + 1, start, sim->rank_count * sizeof *start); /* each has become the next one's */
    start[0] = 0;
    return true;
}

static uint32_t count_met(const struct work *work)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < intern_count(&work->tensors->names); i++) {
        count += work->values[i].there;
    }
    return count;
}

bool sim_usage_find(struct sim *sim, struct sim_usage *usage)
{
    struct work work = {.sim = sim};
    *usage = (struct sim_usage){.tracked = true, .rank_count = sim->rank_count};
    usage->ranks = mem_zalloc(sim->mem, (size_t)sim->rank_count * sizeof *usage->ranks);
    bool fine = divide_intervals(sim, usage) && usage->ranks != NULL;
    for (uint32_t rank = 0; rank < sim->rank_count && fine; rank++) {
        struct sim_usage_rank *row = &usage->ranks[rank];
        work.tensors = sim->config->tensors[rank];
        usage->told = usage->told || work.tensors->use_count > 0;
        work.row = row;
        fine = find_spans(&work, usage, rank) && sim_usage_find_steps(&work);
        if (fine) {
            row->tensors = count_met(&work);
            find_peak(row);
            find_excess(row, sim->config->system.capacity.local, sim->result.end_ns);
        }
    }
    mem_free(sim->mem, work.values, work.value_capacity * sizeof *work.values);
    mem_free(sim->mem, work.changes, work.change_capacity * sizeof *work.changes);
    return fine && sim_spill_find(sim, usage, &usage->spill);
}

void sim_usage_free(struct sim *sim, struct sim_usage *usage)
{
    for (uint32_t rank = 0; rank < usage->rank_count && usage->ranks != NULL; rank++) {
        struct sim_usage_rank *row = &usage->ranks[rank];
        mem_free(sim->mem, row->steps, row->step_capacity * sizeof *row->steps);
        mem_free(sim->mem, row->spans, row->span_capacity * sizeof *row->spans);
    }
    mem_free(sim->mem, usage->ranks, usage->rank_count * sizeof *usage->ranks);
    mem_free(sim->mem, usage->intervals, (size_t)usage->interval_count * sizeof *usage->intervals);
    mem_free(sim->mem, usage->interval_start, ((size_t)usage->rank_count + 1) * sizeof *usage->interval_start);
    *usage = (struct sim_usage){0};
}
