/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed (io/json_write.h): tens of thousands of ranks need no tree in memory, and the order of keys is the order of
 * the calls below. Every array of records has one record a line, so that documents can be compared with diff. */
#include "report/json.h"

#include "io/json_write.h"
#include "report/bound.h"
#include "report/memory.h"
#include "report/network.h"
#include "report/optimum.h"
#include "report/simai_run.h"
#include "report/summary.h"

enum { SHARE_DECIMALS = 6, TIME_DECIMALS = 3 };

static void write_head(struct json_writer *json, const struct sim_result *result)
{
    json_write_member_u64(json, "schema_version", REPORT_JSON_SCHEMA_VERSION);
    json_write_member_string(json, "generator", "orrery " ORR_VERSION);
    json_write_member_string(json, "state", report_state_name(report_state_of(result)));
    json_write_member_u64(json, "time_ns", result->end_ns);
    json_write_member_u64(json, "ranks", result->rank_count);
    json_write_member_u64(json, "ranks_finished", result->ranks_finished);
    json_write_member_u64(json, "nodes", result->nodes);
    json_write_member_u64(json, "nodes_done", result->nodes_done);
    json_write_member_u64(json, "messages", result->messages);
    json_write_member_u64(json, "events", result->events);
}

static void write_settings(struct json_writer *json, const struct sim_result *result)
{
    const struct sim_config *config = result->config;
    json_write_key(json, "settings");
    json_write_object(json, false);
    json_write_member_string(json, "workload", config->traces != NULL ? config->traces->prefix : NULL);
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
    json_write_key(json, "bound");
    json_write_object(json, false);
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
    json_write_key(json, "rank_time");
    json_write_object(json, false);
    for (int part = 0; part < REPORT_PARTS_COUNT; part++) {
        struct report_spread spread = report_spread_of(result, (enum report_part)part);
        json_write_key(json, keys[part]);
        json_write_object(json, true);
        json_write_member_u64(json, "min", spread.min_ns);
        json_write_member_fixed(json, "mean", spread.mean_ns, TIME_DECIMALS);
        json_write_member_u64(json, "max", spread.max_ns);
        json_write_member_u64(json, "min_rank", spread.min_rank);
        json_write_member_u64(json, "max_rank", spread.max_rank);
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

static void put_bandwidth(struct json_writer *json, const char *key, const struct report_kind *kind, double gbps)
{
    json_write_key(json, key);
    if (kind->has_bandwidth) {
        json_write_fixed(json, gbps, SHARE_DECIMALS);
    } else {
        json_write_null(json);
    }
}

static void write_collectives(struct json_writer *json, const struct sim_result *result)
{
    json_write_key(json, "collectives");
    json_write_array(json, false);
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const struct sim_collective_result *row = &result->collectives[i];
        struct report_kind kind = report_kind_of_row(result, i);
        char name[32];
        json_write_object(json, true);
        json_write_member_string(json, "type", report_kind_name(row->type, name));
        json_write_member_u64(json, "group_size", row->group_size);
        json_write_member_u64(json, "bytes", row->bytes);
        json_write_member_u64(json, "participations", row->count);
        json_write_member_fixed(json, "operations", kind.operations, TIME_DECIMALS);
        json_write_member_u64(json, "total_ns", report_kind_total_ns(&kind));
        json_write_member_fixed(json, "mean_ns", kind.mean_ns, TIME_DECIMALS);
        json_write_member_u64(json, "min_ns", kind.min_ns);
        json_write_member_u64(json, "max_ns", kind.max_ns);
        json_write_member_u64(json, "first_start_ns", row->first_start_ns);
        json_write_member_u64(json, "last_end_ns", row->last_end_ns);
        put_bandwidth(json, "algorithm_bandwidth_gbytes_per_s", &kind, kind.algorithm_gbps);
        put_bandwidth(json, "bus_bandwidth_gbytes_per_s", &kind, kind.bus_gbps);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_dimensions(struct json_writer *json, const struct sim_result *result)
{
    json_write_key(json, "dimensions");
    json_write_array(json, false);
    for (uint32_t d = 0; d < result->config->dims.count; d++) {
        const struct topo_dim *dim = &result->config->dims.dim[d];
        const struct sim_dim_result *row = &result->dims[d];
        json_write_object(json, true);
        json_write_member_string(json, "kind", topo_kind_name(dim->kind));
        json_write_member_u64(json, "size", dim->size);
        json_write_member_fixed(json, "bandwidth_gibytes_per_s", dim->bandwidth_gibps, SHARE_DECIMALS);
        json_write_member_fixed(json, "latency_ns", dim->latency_ns, SHARE_DECIMALS);
        json_write_member_u64(json, "links", row->links);
        json_write_member_u64(json, "messages", row->messages);
        json_write_member_u64(json, "bytes", row->bytes);
        json_write_member_u64(json, "busy_ns", row->busy_ns);
        json_write_member_fixed(json, "utilisation", report_utilisation(result, d), SHARE_DECIMALS);
        json_write_member_u64(json, "queued_messages", row->queued);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_finding(struct json_writer *json, const struct sim_stall_finding *finding)
{
    json_write_object(json, false);
    json_write_member_string(json, "kind", sim_stall_kind_name(finding->kind));
    json_write_member_string(json, "text", finding->text);
    json_write_member_string(json, "fix", finding->fix);
    json_write_key(json, "ranks");
    json_write_array(json, true);
    for (uint32_t i = 0; i < finding->rank_count; i++) {
        json_write_u64(json, finding->ranks[i]);
    }
    json_write_array_end(json);
    json_write_key(json, "nodes");
    json_write_array(json, true);
    for (uint32_t i = 0; i < finding->node_count; i++) {
        json_write_u64(json, finding->nodes[i]);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

static void write_stall(struct json_writer *json, const struct sim_stall *stall)
{
    json_write_key(json, "stall");
    if (stall->kind == SIM_STALL_NONE) {
        json_write_null(json);
        return;
    }
    json_write_object(json, false);
    json_write_member_string(json, "kind", sim_stall_kind_name(stall->kind));
    json_write_key(json, "findings");
    json_write_array(json, false);
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        write_finding(json, &stall->findings[i]);
    }
    json_write_array_end(json);
    json_write_member_u64(json, "waits_in_all", stall->wait_total);
    json_write_key(json, "waits");
    json_write_array(json, false);
    for (uint32_t i = 0; i < stall->wait_count; i++) {
        json_write_object(json, true);
        json_write_member_u64(json, "rank", stall->waits[i].rank);
        json_write_member_u64(json, "node", stall->waits[i].node);
        json_write_member_string(json, "text", stall->waits[i].text);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

static void write_ranks(struct json_writer *json, const struct sim_result *result)
{
    json_write_key(json, "per_rank");
    json_write_array(json, false);
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        const struct sim_rank_result *row = &result->ranks[rank];
        json_write_object(json, true);
        json_write_member_u64(json, "rank", rank);
        if (result->config->devices.text != NULL) {
            json_write_member_string(json, "device", sim_device_of(result->config, rank)->name);
        }
        json_write_member_bool(json, "finished", row->finished);
        json_write_member_u64(json, "finish_ns", row->finish_ns);
        json_write_member_u64(json, "compute_ns", row->compute_ns);
        json_write_member_u64(json, "exposed_comm_ns", row->exposed_comm_ns);
        json_write_member_u64(json, "exposed_other_ns", row->exposed_other_ns);
        json_write_member_u64(json, "idle_ns", row->idle_ns);
        json_write_member_u64(json, "gpu_busy_ns", row->gpu_busy_ns);
        /* Signed, though ASTRA-sim prints it modulo 2^64: overlapping compute can make it negative. */
        json_write_key(json, "astra_exposed_comm_ns");
        json_write_i64(json, row->finished ? (int64_t)(row->finish_ns - row->gpu_busy_ns) : 0);
        json_write_member_u64(json, "nodes_done", row->nodes_done);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void report_json_write(const struct sim_result *result, FILE *stream)
{
    struct json_writer json;
    json_write_begin(&json, stream);
    json_write_object(&json, false);
    write_head(&json, result);
    write_settings(&json, result);
    write_bound(&json, result);
    report_optimum_json(result, &json);
    write_parts(&json, result);
    write_collectives(&json, result);
    write_dimensions(&json, result);
    report_network_json(&json, result);
    report_memory_json(result, &json);
    write_stall(&json, &result->stall);
    report_simai_run_json(result, &json);
    write_ranks(&json, result);
    json_write_object_end(&json);
    json_write_end(&json);
}
