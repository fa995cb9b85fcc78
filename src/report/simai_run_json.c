/* SPDX-License-Identifier: Apache-2.0 */
/* Times are rank 0's, as in SimAI's own table. */
#include "report/simai_run.h"

static const char *const phase_keys[SIMAI_PHASES] = {"forward", "input_gradient", "weight_gradient"};

static void put_phase(struct json_writer *json, const struct simai_result *result, uint32_t row, unsigned phase)
{
    const struct simai_cell *cell = &result->program->rows[row].cells[phase];
    const struct simai_phase_result *times = &result->rows[row][phase];
    json_write_member_object(json, phase_keys[phase], true);
    json_write_member_u64(json, "compute_ns", times->compute_ns);
    json_write_member_u64(json, "exposed_ns", times->exposed_ns);
    json_write_member_u64(json, "comm_ns", times->comm_ns);
    if (cell->type != SIMAI_NO_COMM) {
        json_write_member_string(json, "collective", coll_type_name(cell->type));
        json_write_member_string(json, "group", nccl_group_names[cell->group]);
        json_write_member_u64(json, "bytes", cell->bytes);
    }
    json_write_object_end(json);
}

static void put_rows(struct json_writer *json, const struct simai_result *result)
{
    json_write_member_array(json, "rows", false);
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

static void put_exposed(struct json_writer *json, const struct simai_result *result)
{
    json_write_member_object(json, "exposed_ns", true);
    for (unsigned group = 0; group < NCCL_GROUP_TYPES; group++) {
        json_write_member_u64(json, nccl_group_names[group],
                              report_simai_run_exposed(result, (enum nccl_group_type)group));
    }
    json_write_member_u64(json, "pipeline_messages", result->stage_transfer_ns);
    json_write_member_u64(json, "pipeline_bubble", result->stage_wait_ns - result->stage_transfer_ns);
    json_write_object_end(json);
}

void report_simai_run_json(const struct sim_result *result, struct json_writer *json)
{
    const struct simai_result *rows = result->simai;
    if (rows == NULL) {
        return;
    }
    json_write_member_object(json, "simai", false);
    json_write_member_u64(json, "gpus_per_server", rows->job.gpus_per_server);
    json_write_member_u64(json, "tp", rows->job.tp);
    json_write_member_u64(json, "ep", rows->job.ep);
    json_write_member_u64(json, "cp", rows->job.cp > 1 ? rows->job.cp : 1);
    json_write_member_u64(json, "pp", rows->program->stages);
    json_write_member_u64(json, "collectives", rows->collectives);
    json_write_member_u64(json, "message_bytes", rows->flow_bytes);
    json_write_member_u64(json, "last_message_end_ns", rows->last_flow_ns);
    json_write_member_u64(json, "compute_ns", report_simai_run_compute(rows));
    put_exposed(json, rows);
    put_rows(json, rows);
    json_write_object_end(json);
}
