/* SPDX-License-Identifier: Apache-2.0 */
/* A file names few threads and streams, each many times: they are kept once, in order of first appearance, and found by
 * hash. */
#include <string.h>

#include "trace/et_read.h"

static uint32_t hash_of(const struct trace_lane *lane)
{
    uint64_t mixed = (uint64_t)lane->number * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)lane->part << 1 ^
                     (lane->is_stream ? UINT64_C(0x5851f42d4c957f2d) : 0);
    return (uint32_t)((mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32);
}

static uint32_t et_lane_hash_of(const struct et_lanes *lanes, const uint32_t *number)
{
    return hash_of(&lanes->at[*number - 1]);
}

static bool et_lane_is(const struct et_lanes *lanes, const uint32_t *number, const struct trace_lane *lane)
{
    const struct trace_lane *at = &lanes->at[*number - 1];
    return at->number == lane->number && at->part == lane->part && at->is_stream == lane->is_stream;
}

MAP_DEFINE(et_lane_table, uint32_t, const struct trace_lane *, const struct et_lanes *, et_lane_hash_of, et_lane_is,
           MAP_NO_NUMBER);

bool et_lane_settle(struct et_read *read, struct trace_node *node)
{
    struct et_lanes *lanes = &read->lanes;
    if (!lanes->told) {
        lanes->said = (struct trace_lane){0};
        return true;
    }
    if (!et_lane_table_room(lanes, &lanes->table, read->mem)) {
        return et_fail_memory(read, "the threads and streams");
    }
    uint32_t *slot = et_lane_table_place(lanes, &lanes->table, hash_of(&lanes->said), &lanes->said);
    if (*slot == 0) {
        if (!MEM_GROW(read->mem, lanes->at, lanes->capacity, lanes->count)) {
            return et_fail_memory(read, "the threads and streams");
        }
        lanes->at[lanes->count++] = lanes->said;
        *slot = lanes->count;
        lanes->table.count++;
    }
    node->lane = *slot;
    lanes->said = (struct trace_lane){0};
    lanes->told = false;
    return true;
}

void et_lanes_free(struct et_read *read)
{
    mem_free(read->mem, read->lanes.at, (size_t)read->lanes.capacity * sizeof *read->lanes.at);
    et_lane_table_free(&read->lanes.table, read->mem);
}
