/* SPDX-License-Identifier: Apache-2.0 */
/* Only the receives are sorted, by start, to give each the first thread that is free. */
#include "report/lanes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/simai_run.h"

static const char *const lane_slot_names[SIM_SLOTS] = {
    [SIM_SLOT_CPU] = "CPU",
    [SIM_SLOT_COMP] = "compute",
    [SIM_SLOT_COMM] = "communication",
    [SIM_SLOT_NONE] = "receive",
};

static int lanes_by_rank_and_start(const void *a, const void *b, void *context)
{
    const struct sim_interval *intervals = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct sim_interval *x = &intervals[i], *y = &intervals[j];
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return i < j ? -1 : i > j;
}

static void lanes_assign_receives(const struct sim_result *result, struct report_lanes *lanes)
{
    uint64_t free_at[REPORT_RECEIVE_LANES] = {0};
    uint32_t rank = UINT32_MAX;
    for (uint32_t i = 0; i < lanes->receives; i++) {
        const struct sim_interval *interval = &result->intervals[lanes->order[i]];
        if (interval->rank != rank) {
            rank = interval->rank;
            memset(free_at, 0, sizeof free_at);
        }
        uint32_t lane = 0;
        while (lane + 1 < REPORT_RECEIVE_LANES && free_at[lane] > interval->start_ns) {
            lane++;
        }
        free_at[lane] = interval->end_ns > free_at[lane] ? interval->end_ns : free_at[lane];
        lanes->lane[lanes->order[i]] = (uint8_t)lane;
        lanes->used[rank] = lane + 1 > lanes->used[rank] ? lane + 1 : lanes->used[rank];
    }
}

enum orr_status report_lanes_make(const struct sim_result *result, struct report_lanes *lanes, struct orr_error *err)
{
    *lanes = (struct report_lanes){.receives = 0};
    arena_init(&lanes->arena, result->config->traces->mem);
    lanes->lane = arena_zalloc(&lanes->arena, result->interval_count * sizeof *lanes->lane);
    lanes->order = arena_zalloc(&lanes->arena, result->interval_count * sizeof *lanes->order);
    lanes->used = arena_zalloc(&lanes->arena, result->rank_count * sizeof *lanes->used);
    lanes->slots = arena_zalloc(&lanes->arena, result->rank_count * sizeof *lanes->slots);
    if (lanes->lane == NULL || lanes->order == NULL || lanes->used == NULL || lanes->slots == NULL) {
        enum orr_status status = mem_error(lanes->arena.mem, "ordering the intervals of the timeline", err);
        arena_free(&lanes->arena);
        return status;
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        const struct sim_interval *interval = &result->intervals[i];
        if (interval->lane != 0) {
            lanes->named = true;
            continue;
        }
        lanes->slots[interval->rank] |= (uint8_t)(1u << interval->slot);
        if (interval->slot == SIM_SLOT_NONE) {
            lanes->order[lanes->receives++] = i;
        }
    }
    qsort_r(lanes->order, lanes->receives, sizeof *lanes->order, lanes_by_rank_and_start, result->intervals);
    lanes_assign_receives(result, lanes);
    return ORR_OK;
}

uint32_t report_lanes_thread(const struct sim_result *result, const struct report_lanes *lanes, uint32_t interval)
{
    const struct sim_interval *one = &result->intervals[interval];
    return one->lane != 0 ? REPORT_FIRST_NAMED + one->lane - 1 : one->slot + lanes->lane[interval];
}

/* "receive", "receive 2" … */
static void name_numbered(const char *name, uint32_t number, char text[REPORT_LANE_NAME])
{
    if (number == 0) {
        (void)snprintf(text, REPORT_LANE_NAME, "%s", name);
    } else {
        (void)snprintf(text, REPORT_LANE_NAME, "%s %u", name, number + 1);
    }
}

void report_lanes_name(const struct sim_result *result, uint32_t rank, uint32_t thread, char text[REPORT_LANE_NAME])
{
    static const char *const row_lanes[SIMAI_LANES] = {"compute", "forward and input gradient", "weight gradient"};
    if (thread < SIM_SLOT_NONE) {
        name_numbered(lane_slot_names[thread], 0, text);
    } else if (thread < REPORT_FIRST_NAMED) {
        name_numbered(lane_slot_names[SIM_SLOT_NONE], thread - SIM_SLOT_NONE, text);
    } else if (result->simai != NULL) {
        name_numbered(row_lanes[thread - REPORT_FIRST_NAMED], 0, text);
    } else {
        const struct trace_lane *lane = &result->config->traces->ranks[rank].graph->lanes[thread - REPORT_FIRST_NAMED];
        char name[48];
        (void)snprintf(name, sizeof name, "%s %" PRId64, lane->is_stream ? "stream" : "thread", lane->number);
        name_numbered(name, lane->part > 0 ? (uint32_t)lane->part : 0, text);
    }
}
