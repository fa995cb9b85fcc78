/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events go out in the order the engine kept them (by end); only the receives are sorted, by start, to give each the
 * first thread that is free. Groups are looked up by the id a node names, in the ascending list of the configuration.
 */
#include "report/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_write.h"
#include "report/rows.h"
#include "report/simai_run.h"

/* Threads and streams that a trace names come behind the slots and the receives. */
enum { RECEIVE_LANES = 32, FIRST_NAMED = SIM_SLOT_NONE + RECEIVE_LANES };

static const char *const slot_names[SIM_SLOTS] = {
    [SIM_SLOT_CPU] = "CPU",
    [SIM_SLOT_COMP] = "compute",
    [SIM_SLOT_COMM] = "communication",
    [SIM_SLOT_NONE] = "receive",
};

/* Which thread each interval goes to, and which threads each rank has. */
struct lanes {
    struct arena arena; /* owns the arrays; on the account of the traces, which is the run's and has its limit */
    uint8_t *lane;      /* per interval: 0 except for receives */
    uint32_t *order;    /* indices of the receives, by rank, start, index */
    uint32_t receives;
    uint32_t *used; /* per rank: receive threads in use */
    uint8_t *slots; /* per rank: bit s = slot s has an interval */
    bool named;     /* there are intervals on threads and streams that the trace names */
};

static int by_rank_and_start(const void *a, const void *b, void *context)
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

static void assign_receives(const struct sim_result *result, struct lanes *lanes)
{
    uint64_t free_at[RECEIVE_LANES] = {0};
    uint32_t rank = UINT32_MAX;
    for (uint32_t i = 0; i < lanes->receives; i++) {
        const struct sim_interval *interval = &result->intervals[lanes->order[i]];
        if (interval->rank != rank) {
            rank = interval->rank;
            memset(free_at, 0, sizeof free_at);
        }
        uint32_t lane = 0;
        while (lane + 1 < RECEIVE_LANES && free_at[lane] > interval->start_ns) {
            lane++;
        }
        free_at[lane] = interval->end_ns > free_at[lane] ? interval->end_ns : free_at[lane];
        lanes->lane[lanes->order[i]] = (uint8_t)lane;
        lanes->used[rank] = lane + 1 > lanes->used[rank] ? lane + 1 : lanes->used[rank];
    }
}

static enum orr_status lanes_make(const struct sim_result *result, struct lanes *lanes, struct orr_error *err)
{
    *lanes = (struct lanes){.receives = 0};
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
    qsort_r(lanes->order, lanes->receives, sizeof *lanes->order, by_rank_and_start, result->intervals);
    assign_receives(result, lanes);
    return ORR_OK;
}

/* A Chrome metadata event up to its arguments. */
static void begin_metadata(struct json_writer *json, const char *name, uint32_t rank, uint32_t thread)
{
    json_write_object(json, true);
    json_write_member_string(json, "ph", "M");
    json_write_member_string(json, "name", name);
    json_write_member_u64(json, "pid", rank);
    json_write_member_u64(json, "tid", thread);
    json_write_key(json, "args");
    json_write_object(json, true);
}

static void end_metadata(struct json_writer *json)
{
    json_write_object_end(json);
    json_write_object_end(json);
}

static void write_thread(struct json_writer *json, uint32_t rank, uint32_t thread, const char *name, uint32_t number)
{
    char numbered[64];
    if (number == 0) {
        (void)snprintf(numbered, sizeof numbered, "%s", name);
    } else {
        (void)snprintf(numbered, sizeof numbered, "%s %u", name, number + 1);
    }
    begin_metadata(json, "thread_name", rank, thread);
    json_write_member_string(json, "name", numbered);
    end_metadata(json);
    begin_metadata(json, "thread_sort_index", rank, thread);
    json_write_member_u64(json, "sort_index", thread);
    end_metadata(json);
}

static void write_named(struct json_writer *json, uint32_t rank, const struct trace_graph *graph, bool of_rows)
{
    static const char *const row_lanes[SIMAI_LANES] = {"compute", "forward and input gradient", "weight gradient"};
    for (uint32_t i = 0; i < graph->lane_count; i++) {
        if (of_rows) {
            write_thread(json, rank, FIRST_NAMED + i, row_lanes[i], 0);
            continue;
        }
        const struct trace_lane *lane = &graph->lanes[i];
        char name[64];
        (void)snprintf(name, sizeof name, "%s %" PRId64, lane->is_stream ? "stream" : "thread", lane->number);
        write_thread(json, rank, FIRST_NAMED + i, name, lane->part > 0 ? (uint32_t)lane->part : 0);
    }
}

static void report_timeline_write_rank(struct json_writer *json, uint32_t rank, const struct lanes *lanes,
                                       const struct sim_result *result)
{
    char name[32];
    (void)snprintf(name, sizeof name, "rank %u", rank);
    begin_metadata(json, "process_name", rank, 0);
    json_write_member_string(json, "name", name);
    end_metadata(json);
    begin_metadata(json, "process_sort_index", rank, 0);
    json_write_member_u64(json, "sort_index", rank);
    end_metadata(json);
    for (uint32_t slot = 0; slot < SIM_SLOT_NONE; slot++) {
        if ((lanes->slots[rank] >> slot & 1) != 0) {
            write_thread(json, rank, slot, slot_names[slot], 0);
        }
    }
    for (uint32_t lane = 0; lane < lanes->used[rank]; lane++) {
        write_thread(json, rank, SIM_SLOT_NONE + lane, slot_names[SIM_SLOT_NONE], lane);
    }
    if (lanes->named) {
        write_named(json, rank, result->config->traces->ranks[rank].graph, result->simai != NULL);
    }
}

/* Members of the group a node names; the name is the id as text, all of it, and "" and "0" are all ranks (spec
 * analytical §13). A run refuses names that are neither, so none gets here. */
static uint32_t group_size(const struct sim_result *result, uint32_t node, const char *name)
{
    const struct sim_config *config = result->config;
    if (result->simai != NULL) {
        uint32_t cell = node / 2;
        return report_simai_run_ranks(result->simai, cell / SIMAI_PHASES, (enum simai_phase)(cell % SIMAI_PHASES));
    }
    char *end = NULL;
    errno = 0;
    long id = strtol(name, &end, 10);
    bool whole = errno == 0 && end != name && *end == '\0' && id != 0;
    for (uint32_t i = 0; whole && i < config->group_count; i++) {
        if (config->groups[i].id == id) {
            return config->groups[i].count;
        }
    }
    return config->dims.ranks;
}

/* Kineto's categories. */
static const char *category(const struct trace_node *node)
{
    if (node->is_cpu_op) {
        return "cpu_op";
    }
    return node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE ? "gpu_memcpy" : "kernel";
}

static void write_arguments(struct json_writer *json, const struct sim_result *result, const struct trace_graph *graph,
                            uint32_t index)
{
    const struct trace_node *node = &graph->nodes[index];
    const char *group = graph->strings + node->group;
    switch (node->type) {
    case TRACE_COLL:
        json_write_member_string(json, "Collective name", report_node_word(node));
        json_write_member_u64(json, "bytes", node->comm_bytes);
        json_write_member_string(json, "Process Group Name", group[0] != '\0' ? group : "0");
        json_write_member_u64(json, "Group size", group_size(result, index, group));
        break;
    case TRACE_SEND:
    case TRACE_RECV:
        json_write_member_string(json, "Collective name", report_node_word(node));
        json_write_member_u64(json, "bytes", node->comm_bytes);
        json_write_member_i64(json, node->type == TRACE_SEND ? "dst" : "src",
                              node->type == TRACE_SEND ? node->comm_dst : node->comm_src);
        json_write_member_i64(json, "tag", node->comm_tag);
        break;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        json_write_member_u64(json, "bytes", node->tensor_bytes);
        break;
    default:
        break;
    }
}

static void write_interval(struct json_writer *json, const struct sim_result *result,
                           const struct sim_interval *interval, uint32_t lane)
{
    const struct trace_rank *rank = &result->config->traces->ranks[interval->rank];
    const struct trace_node *node = &rank->graph->nodes[interval->node];
    const char *name = trace_graph_name(rank->graph, interval->node);
    uint32_t thread = interval->lane != 0 ? FIRST_NAMED + interval->lane - 1 : interval->slot + lane;
    json_write_object(json, true);
    json_write_member_string(json, "ph", "X");
    json_write_member_string(json, "cat", category(node));
    json_write_member_string(json, "name", name[0] != '\0' ? name : report_node_word(node));
    json_write_member_u64(json, "pid", interval->rank);
    json_write_member_u64(json, "tid", thread);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, interval->start_ns);
    json_write_key(json, "dur");
    json_write_ns_as_us(json, interval->end_ns - interval->start_ns);
    json_write_key(json, "args");
    json_write_object(json, true);
    json_write_member_u64(json, "node_id", trace_rank_node_id(rank, interval->node));
    json_write_member_u64(json, "stream", thread);
    write_arguments(json, result, rank->graph, interval->node);
    json_write_object_end(json);
    json_write_object_end(json);
}

enum orr_status report_timeline_write(const struct sim_result *result, FILE *stream, struct orr_error *err)
{
    if (!result->config->keep_intervals) {
        return error_set(err, ORR_EINVAL,
                         "a timeline needs a run that keeps its intervals (keep_intervals); this one "
                         "did not");
    }
    struct lanes lanes;
    enum orr_status status = lanes_make(result, &lanes, err);
    if (status != ORR_OK) {
        return status;
    }
    struct json_writer json;
    json_write_begin(&json, stream);
    json_write_object(&json, false);
    json_write_member_u64(&json, "schemaVersion", 1);
    json_write_member_string(&json, "displayTimeUnit", "ns");
    json_write_key(&json, "distributedInfo");
    json_write_object(&json, true);
    json_write_member_string(&json, "backend", "orrery");
    json_write_member_u64(&json, "world_size", result->rank_count);
    json_write_object_end(&json);
    json_write_key(&json, "traceEvents");
    json_write_array(&json, false);
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        report_timeline_write_rank(&json, rank, &lanes, result);
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        write_interval(&json, result, &result->intervals[i], lanes.lane[i]);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_end(&json);
    arena_free(&lanes.arena);
    return ORR_OK;
}
