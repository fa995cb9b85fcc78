/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of communication are few beside communications: a row of each, found by a hash of what makes it one. */
#include "sim/tally.h"

#include <stdlib.h>

void sim_clock_close(struct sim_clock *clock, struct sim_rank_result *result, bool other, uint64_t now_ns)
{
    sim_clock_settle(clock, result, other, now_ns);
    for (uint32_t kind = 0; kind < SIM_OP_KINDS; kind++) {
        if (clock->active[kind] > 0) {
            result->union_ns[kind] += now_ns - clock->active_since[kind];
            clock->active_since[kind] = now_ns;
        }
    }
}

static struct sim_collective_result *tally_row(struct sim_tally *tally, struct sim_result *result, struct mem *mem,
                                               int32_t type, uint32_t group_size, uint64_t bytes)
{
    uint64_t mixed =
        (bytes ^ ((uint64_t)group_size << 34) ^ ((uint64_t)(uint32_t)type << 50)) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t *bucket = &tally->buckets[(mixed >> 40) % SIM_TALLY_BUCKETS];
    for (uint32_t i = *bucket; i != 0; i = result->collectives[i - 1].chain) {
        struct sim_collective_result *row = &result->collectives[i - 1];
        if (row->type == type && row->group_size == group_size && row->bytes == bytes) {
            return row;
        }
    }
    if (!mem_reserve(mem, (void **)&result->collectives, &tally->collective_capacity,
                     (uint64_t)result->collective_count + 1, sizeof *result->collectives)) {
        return NULL;
    }
    struct sim_collective_result *row = &result->collectives[result->collective_count++];
    *row = (struct sim_collective_result){.type = type,
                                          .group_size = group_size,
                                          .bytes = bytes,
                                          .min_ns = UINT64_MAX,
                                          .first_start_ns = UINT64_MAX,
                                          .chain = *bucket};
    *bucket = result->collective_count;
    return row;
}

bool sim_tally_communication(struct sim_tally *tally, struct sim_result *result, struct mem *mem, int32_t type,
                             uint32_t group_size, uint64_t bytes, uint64_t start_ns, uint64_t end_ns)
{
    struct sim_collective_result *row = tally_row(tally, result, mem, type, group_size, bytes);
    if (row == NULL) {
        return false;
    }
    uint64_t duration = end_ns - start_ns;
    row->count++;
    row->total_ns += duration;
    row->min_ns = duration < row->min_ns ? duration : row->min_ns;
    row->max_ns = duration > row->max_ns ? duration : row->max_ns;
    row->first_start_ns = start_ns < row->first_start_ns ? start_ns : row->first_start_ns;
    row->last_end_ns = end_ns;
    return true;
}

bool sim_tally_interval(struct sim_tally *tally, struct sim_result *result, struct mem *mem,
                        struct sim_interval interval)
{
    if (!mem_reserve(mem, (void **)&result->intervals, &tally->interval_capacity, (uint64_t)result->interval_count + 1,
                     sizeof *result->intervals)) {
        return false;
    }
    result->intervals[result->interval_count++] = interval;
    return true;
}

static int by_kind(const void *left, const void *right)
{
    const struct sim_collective_result *a = left;
    const struct sim_collective_result *b = right;
    if (a->type != b->type) {
        return a->type < b->type ? -1 : 1;
    }
    if (a->group_size != b->group_size) {
        return a->group_size < b->group_size ? -1 : 1;
    }
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

void sim_tally_close(struct sim_result *result)
{
    if (result->collective_count > 0) {
        qsort(result->collectives, result->collective_count, sizeof *result->collectives, by_kind);
    }
}

void sim_tally_free(struct sim_tally *tally, struct sim_result *result, struct mem *mem)
{
    mem_free(mem, result->collectives, (size_t)tally->collective_capacity * sizeof *result->collectives);
    mem_free(mem, result->intervals, (size_t)tally->interval_capacity * sizeof *result->intervals);
}
