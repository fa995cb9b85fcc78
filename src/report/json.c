/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed (io/json_write.h): tens of thousands of ranks need no tree in memory, and the order of keys is the order of
 * the calls below. Every array of records has one record a line, so that documents can be compared with diff. */
#include "report/json.h"

#include "io/json_write.h"
#include "report/bound.h"
#include "report/memory.h"
#include "report/network.h"
#include "report/optimum.h"
#include "report/rows.h"
#include "report/simai_run.h"
#include "report/summary.h"

enum { SHARE_DECIMALS = 6, TIME_DECIMALS = 3 };

static void report_json_write_head(struct json_writer *json, const struct sim_result *result)
{
    json_write_member_string(json, "kind", "run");
    json_write_member_u64(json, "schema_version", REPORT_JSON_SCHEMA_VERSION);
    json_write_member_string(json, "generator", "orrery " ORR_VERSION);
    json_write_member_string(json, "state", report_state_name(report_state_of(result)));
    json_write_member_u64(json, "time_ns", result->end_ns);
    json_write_member_u64(json, "steps", result->config->steps);
    json_write_member_u64(json, "ranks", result->rank_count);
    json_write_member_u64(json, "ranks_finished", result->ranks_finished);
    json_write_member_u64(json, "nodes", result->nodes);
    json_write_member_u64(json, "nodes_done", result->nodes_done);
    if (result->untimed > 0) {
        json_write_member_u64(json, "compute_nodes_without_time", result->untimed);
    }
    json_write_member_u64(json, "messages", result->messages);
    json_write_member_u64(json, "events", result->events);
    if (result->config->explain_symmetry) {
        json_write_member_u64(json, "ranks_carried_out", result->ranks_played);
        json_write_member_string(json, "every_rank_because", result->plain_because);
        json_write_member_bool(json, "rings_at_once", result->rings_at_once);
    }
}

static void report_json_write_settings(struct json_writer *json, const struct sim_result *result)
{
    const struct sim_config *config = result->config;
    json_write_member_object(json, "settings", false);
    json_write_member_string(json, "workload", config->traces != NULL ? config->traces->prefix : NULL);
    if (config->machine != NULL) {
        json_write_member_string(json, "machine", config->machine);
    }
    json_write_member_string(json, "backend", report_backend_name(config->backend));
    if (result->simai != NULL) { /* rows have an order of their own, and none of what follows */
        json_write_object_end(json);
        return;
    }
    json_write_member_string(json, "policy", report_policy_name(config->policy));
    json_write_member_string(json, "broadcast", config->broadcast == ORR_BROADCAST_SIMULATE ? "simulate" : "replay");
    json_write_member_u64(json, "queues_per_dim", config->queues_per_dim);
    json_write_member_bool(json, "rendezvous", config->rendezvous);
    json_write_member_fixed(json, "jitter", config->jitter, SHARE_DECIMALS);
    json_write_member_u64(json, "seed", config->seed);
    if (config->devices.text != NULL) {
        json_write_member_string(json, "devices", config->devices.text);
    }
    json_write_object_end(json);
}

static void write_bound(struct json_writer *json, const struct sim_result *result)
{
    struct report_bound bound = report_bound_of(result);
    char name[32];
    json_write_member_object(json, "bound", false);
    json_write_member_string(json, "by", report_bound_name(bound.kind));
    json_write_member_fixed(json, "share_of_step", bound.share, SHARE_DECIMALS);
    json_write_member_string(json, "collective",
                             bound.collective != INT32_MIN ? report_kind_name(bound.collective, name) : NULL);
    json_write_key(json, "dimension");
    if (bound.dimension != UINT32_MAX) {
        json_write_u64(json, bound.dimension);
    } else {
        json_write_null(json);
    }
    json_write_key(json, "rank");
    if (bound.rank != UINT32_MAX) {
        json_write_u64(json, bound.rank);
    } else {
        json_write_null(json);
    }
    json_write_member_string(json, "text", bound.sentence);
    json_write_object_end(json);
}

static void write_parts(struct json_writer *json, const struct sim_result *result)
{
    static const char *const keys[REPORT_PARTS_COUNT] = {
#define REPORT_X(name, member, words) #member,
        REPORT_PARTS(REPORT_X)
#undef REPORT_X
    };
    json_write_member_object(json, "rank_time", false);
    for (int part = 0; part < REPORT_PARTS_COUNT; part++) {
        struct report_spread spread = report_spread_of(result, (enum report_part)part);
        json_write_member_object(json, keys[part], true);
        json_write_member_u64(json, "min", spread.min_ns);
        json_write_member_fixed(json, "mean", spread.mean_ns, TIME_DECIMALS);
        json_write_member_u64(json, "max", spread.max_ns);
        json_write_member_u64(json, "min_rank", spread.min_rank);
        json_write_member_u64(json, "max_rank", spread.max_rank);
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

/* An array of rows: `fill` fills one and tells whether it is there. */
#define WRITE_ROWS(json, key, result, type, fill, columns)                                                             \
    do {                                                                                                               \
        type row;                                                                                                      \
        json_write_key(json, key);                                                                                     \
        json_write_array(json, false);                                                                                 \
        for (uint32_t i = 0; fill(result, i, &row); i++) {                                                             \
            report_row_json(columns, &row, json);                                                                      \
        }                                                                                                              \
        json_write_array_end(json);                                                                                    \
    } while (0)

static void report_json_write_finding(struct json_writer *json, const struct sim_stall_finding *finding)
{
    json_write_object(json, false);
    json_write_member_string(json, "kind", sim_stall_kind_name(finding->kind));
    json_write_member_string(json, "text", finding->text);
    json_write_member_string(json, "fix", finding->fix);
    json_write_member_array(json, "ranks", true);
    for (uint32_t i = 0; i < finding->rank_count; i++) {
        json_write_u64(json, finding->ranks[i]);
    }
    json_write_array_end(json);
    json_write_member_array(json, "nodes", true);
    for (uint32_t i = 0; i < finding->node_count; i++) {
        json_write_u64(json, finding->nodes[i]);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

static void write_stall(struct json_writer *json, const struct sim_result *result)
{
    const struct sim_stall *stall = &result->stall;
    json_write_key(json, "stall");
    if (stall->kind == SIM_STALL_NONE) {
        json_write_null(json);
        return;
    }
    json_write_object(json, false);
    json_write_member_string(json, "kind", sim_stall_kind_name(stall->kind));
    json_write_member_array(json, "findings", false);
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        report_json_write_finding(json, &stall->findings[i]);
    }
    json_write_array_end(json);
    json_write_member_u64(json, "waits_in_all", stall->wait_total);
    WRITE_ROWS(json, "waits", result, struct orr_wait, report_wait_row, report_wait_columns);
    json_write_object_end(json);
}

void report_json_write(const struct sim_result *result, FILE *stream)
{
    struct json_writer json;
    json_write_document(&json, stream);
    report_json_write_head(&json, result);
    report_json_write_settings(&json, result);
    write_bound(&json, result);
    report_optimum_json(result, &json);
    write_parts(&json, result);
    WRITE_ROWS(&json, "collectives", result, struct orr_collective_result, report_collective_row,
               report_collective_columns);
    WRITE_ROWS(&json, "dimensions", result, struct orr_dimension_result, report_dimension_row,
               report_dimension_columns);
    report_network_json(&json, result);
    report_memory_json(result, &json);
    write_stall(&json, result);
    report_simai_run_json(result, &json);
    WRITE_ROWS(&json, "per_rank", result, struct orr_rank_result, report_rank_row, report_rank_columns);
    json_write_document_end(&json);
}
