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

static bool same(const struct trace_lane *a, const struct trace_lane *b)
{
    return a->number == b->number && a->part == b->part && a->is_stream == b->is_stream;
}

static uint32_t *slot_of(const struct et_lanes *lanes, const struct trace_lane *lane)
{
    uint32_t at = hash_of(lane) & (lanes->slot_count - 1);
    while (lanes->slots[at] != 0 && !same(&lanes->at[lanes->slots[at] - 1], lane)) {
        at = (at + 1) & (lanes->slot_count - 1);
    }
    return &lanes->slots[at];
}

static bool grow(struct et_read *read)
{
    struct et_lanes *lanes = &read->lanes;
    uint32_t had = lanes->slot_count;
    uint32_t *old = lanes->slots;
    uint32_t wanted = had == 0 ? 64 : had * 2;
    uint32_t *slots = mem_zalloc(read->mem, wanted * sizeof *slots);
    if (slots == NULL) {
        return et_fail_memory(read, "the threads and streams");
    }
    lanes->slots = slots;
    lanes->slot_count = wanted;
    for (uint32_t i = 0; i < lanes->count; i++) {
        *slot_of(lanes, &lanes->at[i]) = i + 1;
    }
    mem_free(read->mem, old, had * sizeof *old);
    return true;
}

bool et_lane_settle(struct et_read *read, struct trace_node *node)
{
    struct et_lanes *lanes = &read->lanes;
    if (!lanes->told) {
        lanes->said = (struct trace_lane){0};
        return true;
    }
    if (lanes->count * 2 >= lanes->slot_count && !grow(read)) {
        return false;
    }
    uint32_t *slot = slot_of(lanes, &lanes->said);
    if (*slot == 0) {
        if (!mem_reserve(read->mem, (void **)&lanes->at, &lanes->capacity, (uint64_t)lanes->count + 1,
                         sizeof *lanes->at)) {
            return et_fail_memory(read, "the threads and streams");
        }
        lanes->at[lanes->count++] = lanes->said;
        *slot = lanes->count;
    }
    node->lane = *slot;
    lanes->said = (struct trace_lane){0};
    lanes->told = false;
    return true;
}

void et_lanes_free(struct et_read *read)
{
    mem_free(read->mem, read->lanes.at, (size_t)read->lanes.capacity * sizeof *read->lanes.at);
    mem_free(read->mem, read->lanes.slots, (size_t)read->lanes.slot_count * sizeof *read->lanes.slots);
}
