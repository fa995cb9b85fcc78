/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the store has them (nanoseconds, bytes), null where nothing is known. */
#include "report/store_text.h"

static void text(struct json_writer *json, const char *key, const char *value)
{
    json_write_member_string(json, key, value[0] == '\0' ? NULL : value);
}

static void figure(struct json_writer *json, const char *key, bool known, uint64_t value)
{
    if (known) {
        json_write_member_u64(json, key, value);
    } else {
        json_write_key(json, key);
        json_write_null(json);
    }
}

static void run_members(struct json_writer *json, const struct store_run *run)
{
    json_write_member_i64(json, "run", run->id);
    text(json, "state", run->state);
    text(json, "kind", run->kind);
    text(json, "started", run->started);
    text(json, "ended", run->ended);
    text(json, "version", run->version);
    text(json, "command", run->command);
    text(json, "folder", run->folder);
    text(json, "tag", run->tag);
    text(json, "backend", run->backend);
    text(json, "topology", run->topology);
    text(json, "logical_dims", run->dims);
    text(json, "comm_scale", run->comm_scale);
    text(json, "fingerprint", run->fingerprint);
    json_write_member_u64(json, "seed", run->seed);
    json_write_member_u64(json, "world", run->world);
    json_write_member_u64(json, "source_world", run->source_world);
    text(json, "error", run->error);
    figure(json, "total_ns", run->has_results, run->total_ns);
    figure(json, "steps", run->has_results && run->steps > 0, run->steps);
    figure(json, "comm_ns", run->has_results, run->comm_ns);
    figure(json, "compute_ns", run->has_results, run->compute_ns);
    figure(json, "wall_ms", run->has_results, run->wall_ms);
    figure(json, "events", run->has_results, run->events);
    figure(json, "messages", run->has_results, run->messages);
    figure(json, "peak_bytes", run->has_results, run->peak_bytes);
}

void store_json_list(const struct store_run *runs, uint32_t count, FILE *stream)
{
    struct json_writer json;
    json_write_begin(&json, stream);
    json_write_array(&json, false);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object(&json, true);
        run_members(&json, &runs[i]);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_end(&json);
}

void store_json_calibration(struct json_writer *json, const struct store_calibration *row)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"alpha_us", row->alpha_us},
                   {"alpha_comm_us", row->alpha_comm_us},
                   {"alpha_gpu_us", row->alpha_gpu_us},
                   {"real_step_ms", row->real_step_ms},
                   {"real_comm_ms", row->real_comm_ms},
                   {"real_kernel_ms", row->real_kernel_ms},
                   {"sim_step_ms", row->sim_step_ms},
                   {"sim_comm_ms", row->sim_comm_ms},
                   {"sim_gpu_ms", row->sim_gpu_ms},
                   {"lower_bound_ms", row->lower_bound_ms},
                   {"iqr", row->iqr}};
    json_write_object(json, true);
    json_write_member_i64(json, "calibration", row->id);
    figure(json, "run", row->run > 0, (uint64_t)row->run);
    text(json, "made", row->made);
    text(json, "version", row->version);
    text(json, "tag", row->tag);
    text(json, "topology", row->topology);
    text(json, "source", row->source);
    text(json, "flags", row->flags);
    text(json, "notes", row->notes);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        json_write_member_fixed(json, numbers[i].key, numbers[i].value, 9);
    }
    json_write_member_u64(json, "samples", row->samples);
    json_write_member_u64(json, "steps", row->steps);
    json_write_member_u64(json, "world", row->world);
    json_write_member_bool(json, "accepted", row->accepted);
    json_write_object_end(json);
}

static void report_store_json_write_inputs(struct json_writer *json, const struct store_view *view)
{
    json_write_member_array(json, "inputs", false);
    for (uint32_t i = 0; i < view->input_count; i++) {
        const struct store_input *input = &view->inputs[i];
        json_write_object(json, true);
        json_write_member_string(json, "role", input->role);
        json_write_member_string(json, "path", input->path);
        json_write_member_string(json, "hash", input->hash);
        json_write_member_u64(json, "bytes", input->bytes);
        if (input->now != STORE_INPUT_UNSEEN) {
            json_write_member_string(json, "now", store_input_word(input->now));
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void report_store_json_write_settings(struct json_writer *json, const struct store_view *view)
{
    json_write_member_array(json, "settings", false);
    for (uint32_t i = 0; i < view->setting_count; i++) {
        json_write_object(json, true);
        json_write_member_string(json, "key", view->settings[i].key);
        json_write_member_string(json, "value", view->settings[i].value);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void report_store_json_write_ranks(struct json_writer *json, const struct store_view *view)
{
    json_write_member_object(json, "ranks", false);
    json_write_member_u64(json, "count", view->rank_count);
    json_write_member_u64(json, "finished", view->finished_count);
    for (uint32_t i = 0; view->rank_count > 0 && i < STORE_SPREADS; i++) {
        json_write_member_object(json, view->spreads[i].name, true);
        json_write_member_u64(json, "min_ns", view->spreads[i].min_ns);
        json_write_member_u64(json, "median_ns", view->spreads[i].median_ns);
        json_write_member_u64(json, "max_ns", view->spreads[i].max_ns);
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

static void report_store_json_write_collectives(struct json_writer *json, const struct store_view *view)
{
    json_write_member_array(json, "collectives", false);
    for (uint32_t i = 0; i < view->collective_count; i++) {
        const struct store_collective *row = &view->collectives[i];
        json_write_object(json, true);
        json_write_member_string(json, "type", row->type);
        json_write_member_u64(json, "group_size", row->group_size);
        json_write_member_u64(json, "bytes", row->bytes);
        json_write_member_u64(json, "count", row->count);
        json_write_member_u64(json, "total_ns", row->total_ns);
        json_write_member_u64(json, "min_ns", row->min_ns);
        json_write_member_u64(json, "max_ns", row->max_ns);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void view_object(struct json_writer *json, const struct store_view *view)
{
    json_write_object(json, false);
    run_members(json, &view->run);
    report_store_json_write_inputs(json, view);
    report_store_json_write_settings(json, view);
    report_store_json_write_ranks(json, view);
    report_store_json_write_collectives(json, view);
    json_write_member_array(json, "calibrations", false);
    for (uint32_t i = 0; i < view->calibration_count; i++) {
        store_json_calibration(json, &view->calibrations[i]);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

void store_json_show(const struct store_view *view, FILE *stream)
{
    struct json_writer json;
    json_write_begin(&json, stream);
    view_object(&json, view);
    json_write_end(&json);
}

/* ---- everything ---- */

void store_json_all_begin(struct store_json *json, FILE *stream)
{
    json->calibrating = false;
    json_write_document(&json->writer, stream);
    json_write_member_array(&json->writer, "runs", false);
}

void store_json_all_run(struct store_json *json, const struct store_view *view)
{
    view_object(&json->writer, view);
}

static void begin_calibrations(struct store_json *json)
{
    if (!json->calibrating) {
        json->calibrating = true;
        json_write_array_end(&json->writer);
        json_write_member_array(&json->writer, "calibrations", false);
    }
}

void store_json_all_calibration(struct store_json *json, const struct store_calibration *calibration)
{
    begin_calibrations(json);
    store_json_calibration(&json->writer, calibration);
}

void store_json_all_end(struct store_json *json)
{
    begin_calibrations(json);
    json_write_array_end(&json->writer);
    json_write_document_end(&json->writer);
}
