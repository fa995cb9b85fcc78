/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events go out in the order the engine kept them (by end). Groups are looked up by the id a node names, in the
 * ascending list of the configuration.
 */
#include "report/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_write.h"
#include "report/lanes.h"
#include "report/rows.h"
#include "report/simai_run.h"

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

static void write_thread(struct json_writer *json, const struct sim_result *result, uint32_t rank, uint32_t thread)
{
    char name[REPORT_LANE_NAME];
    report_lanes_name(result, rank, thread, name);
    begin_metadata(json, "thread_name", rank, thread);
    json_write_member_string(json, "name", name);
    end_metadata(json);
    begin_metadata(json, "thread_sort_index", rank, thread);
    json_write_member_u64(json, "sort_index", thread);
    end_metadata(json);
}

static void report_timeline_write_rank(struct json_writer *json, uint32_t rank, const struct report_lanes *lanes,
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
            write_thread(json, result, rank, slot);
        }
    }
    for (uint32_t lane = 0; lane < lanes->used[rank]; lane++) {
        write_thread(json, result, rank, SIM_SLOT_NONE + lane);
    }
    for (uint32_t i = 0; lanes->named && i < result->config->traces->ranks[rank].graph->lane_count; i++) {
        write_thread(json, result, rank, REPORT_FIRST_NAMED + i);
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
                           const struct sim_interval *interval, uint32_t thread)
{
    const struct trace_rank *rank = &result->config->traces->ranks[interval->rank];
    const struct trace_node *node = &rank->graph->nodes[interval->node];
    const char *name = trace_graph_name(rank->graph, interval->node);
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
    struct report_lanes lanes;
    enum orr_status status = report_lanes_make(result, &lanes, err);
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
        write_interval(&json, result, &result->intervals[i], report_lanes_thread(result, &lanes, i));
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_end(&json);
    arena_free(&lanes.arena);
    return ORR_OK;
}
