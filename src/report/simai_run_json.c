/* SPDX-License-Identifier: Apache-2.0 */
/* Two documents: the result with all of its numbers, and what each rank did when, for Chrome's and Perfetto's viewers.
 */
#include "io/json_write.h"
#include "report/network.h"
#include "report/simai_run.h"

static const char *const phase_keys[SIMAI_PHASES] = {"forward", "input_gradient", "weight_gradient"};
static const char *const group_keys[NCCL_GROUP_TYPES] = {"tp", "dp", "ep", "dp_ep", "cp"};

/* ---- the result ---- */

static void put_phase(struct json_writer *json, const struct simai_result *result, uint32_t row, unsigned phase)
{
    const struct simai_cell *cell = &result->program->rows[row].cells[phase];
    const struct simai_phase_result *times = &result->rows[row][phase];
    json_write_key(json, phase_keys[phase]);
    json_write_object(json, true);
    json_write_member_u64(json, "compute_ns", times->compute_ns);
    json_write_member_u64(json, "exposed_ns", times->exposed_ns);
    json_write_member_u64(json, "comm_ns", times->comm_ns);
    if (cell->type != SIMAI_NO_COMM) {
        json_write_member_string(json, "collective", coll_type_name(cell->type));
        json_write_member_string(json, "group", group_keys[cell->group]);
        json_write_member_u64(json, "bytes", cell->bytes);
    }
    json_write_object_end(json);
}

static void put_rows(struct json_writer *json, const struct simai_result *result)
{
    json_write_key(json, "rows");
    json_write_array(json, false);
    for (uint32_t row = 0; row < result->program->row_count; row++) {
        json_write_object(json, true);
        json_write_member_string(json, "name", result->program->rows[row].name);
        for (unsigned phase = 0; phase < SIMAI_PHASES; phase++) {
            put_phase(json, result, row, phase);
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void put_ranks(struct json_writer *json, const struct simai_result *result)
{
    json_write_key(json, "rank_end_ns");
    json_write_array(json, true);
    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        if (result->finish_ns[rank] == UINT64_MAX) {
            json_write_null(json);
        } else {
            json_write_u64(json, result->finish_ns[rank]);
        }
    }
    json_write_array_end(json);
}

static void put_exposed(struct json_writer *json, const struct simai_result *result)
{
    json_write_key(json, "exposed_ns");
    json_write_object(json, true);
    for (unsigned group = 0; group < NCCL_GROUP_TYPES; group++) {
        json_write_member_u64(json, group_keys[group], report_simai_run_exposed(result, (enum nccl_group_type)group));
    }
    json_write_member_u64(json, "pipeline_messages", result->stage_transfer_ns);
    json_write_member_u64(json, "pipeline_bubble", result->stage_wait_ns - result->stage_transfer_ns);
    json_write_object_end(json);
}

static void put_stall(struct json_writer *json, const struct simai_result *result)
{
    if (result->stall.kind == SIM_STALL_NONE) {
        return;
    }
    json_write_key(json, "stall");
    json_write_array(json, false);
    for (uint32_t i = 0; i < result->stall.finding_count; i++) {
        json_write_object(json, true);
        json_write_member_string(json, "kind", sim_stall_kind_name(result->stall.findings[i].kind));
        json_write_member_string(json, "text", result->stall.findings[i].text);
        json_write_member_string(json, "fix", result->stall.findings[i].fix);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void report_simai_run_json(const struct report_simai_run *report, FILE *stream)
{
    const struct simai_result *result = report->result;
    const struct nccl_job *job = &result->job;
    const struct sim_result network = {.end_ns = result->end_ns, .network = result->network};
    struct json_writer json;
    json_write_begin(&json, stream);
    json_write_object(&json, false);
    json_write_member_string(&json, "workload", report->workload);
    json_write_member_string(&json, "backend", report->network);
    json_write_member_bool(&json, "finished", result->ranks_finished == result->ranks);
    json_write_member_u64(&json, "time_ns", result->end_ns);
    json_write_member_u64(&json, "last_flow_end_ns", result->last_flow_ns);
    json_write_member_u64(&json, "ranks", result->ranks);
    json_write_member_u64(&json, "gpus_per_server", job->gpus_per_server);
    json_write_member_u64(&json, "tp", job->tp);
    json_write_member_u64(&json, "ep", job->ep);
    json_write_member_u64(&json, "pp", result->program->stages);
    json_write_member_u64(&json, "collectives", result->collectives);
    json_write_member_u64(&json, "flows", result->flows);
    json_write_member_u64(&json, "bytes", result->flow_bytes);
    json_write_member_u64(&json, "events", result->events);
    json_write_member_u64(&json, "compute_ns", report_simai_run_compute(result));
    put_exposed(&json, result);
    put_ranks(&json, result);
    put_rows(&json, result);
    report_network_json(&json, &network);
    put_stall(&json, result);
    json_write_object_end(&json);
    json_write_end(&json);
}

/* ---- the timeline ---- */

enum timeline_thread { THREAD_COMPUTE, THREAD_MODEL, THREAD_DATA, THREADS };

static const char *const thread_names[THREADS] = {"compute", "forward and input gradient", "weight gradient"};

static void put_name(struct json_writer *json, const char *what, uint32_t rank, uint32_t thread, const char *name)
{
    json_write_object(json, true);
    json_write_member_string(json, "ph", "M");
    json_write_member_string(json, "name", what);
    json_write_member_u64(json, "pid", rank);
    json_write_member_u64(json, "tid", thread);
    json_write_key(json, "args");
    json_write_object(json, true);
    json_write_member_string(json, "name", name);
    json_write_object_end(json);
    json_write_object_end(json);
}

static void put_interval(struct json_writer *json, const struct simai_result *result,
                         const struct simai_interval *interval)
{
    const struct simai_row *row = &result->program->rows[interval->row];
    const struct simai_cell *cell = &row->cells[interval->phase];
    bool is_comm = interval->kind == SIMAI_INTERVAL_COMM;
    bool is_stage = interval->kind == SIMAI_INTERVAL_STAGE;
    enum timeline_thread thread = !is_comm ? THREAD_COMPUTE : interval->phase == SIMAI_WG ? THREAD_DATA : THREAD_MODEL;
    json_write_object(json, true);
    json_write_member_string(json, "ph", "X");
    json_write_member_string(json, "name", is_stage ? "wait for another stage" : row->name);
    json_write_member_string(json, "cat", is_comm ? "communication" : is_stage ? "pipeline" : "compute");
    json_write_member_u64(json, "pid", interval->rank);
    json_write_member_u64(json, "tid", thread);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, interval->start_ns);
    json_write_key(json, "dur");
    json_write_ns_as_us(json, interval->end_ns - interval->start_ns);
    json_write_key(json, "args");
    json_write_object(json, true);
    if (!is_stage) {
        json_write_member_string(json, "phase", simai_phase_names[interval->phase]);
    }
    if (is_comm) {
        json_write_member_string(json, "Collective name", coll_type_name(cell->type));
        json_write_member_string(json, "group", group_keys[cell->group]);
        json_write_member_u64(json, "bytes", cell->bytes);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

void report_simai_run_timeline(const struct report_simai_run *report, FILE *stream)
{
    const struct simai_result *result = report->result;
    struct json_writer json;
    json_write_begin(&json, stream);
    json_write_object(&json, false);
    json_write_member_string(&json, "displayTimeUnit", "ns");
    json_write_key(&json, "traceEvents");
    json_write_array(&json, false);
    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        char name[32];
        (void)snprintf(name, sizeof name, "rank %u", rank);
        put_name(&json, "process_name", rank, 0, name);
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            put_name(&json, "thread_name", rank, thread, thread_names[thread]);
        }
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        put_interval(&json, result, &result->intervals[i]);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_end(&json);
}
