/* SPDX-License-Identifier: Apache-2.0 */
/* What is written down of a lab run: the settings with their units, the command that repeats it, the manifest. The
 * inputs' hashes are read back from the store, which made them, so that the two never disagree. */
#include "lab/lab_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "io/json_write.h"
#include "io/outfile.h"
#include "param/param.h"
#include "report/summary.h"
#include "run/network_choice.h"

/* ---- settings ---- */

static void lab_record_set(struct lab_plan *plan, const char *key, const char *value)
{
    if (value != NULL && plan->setting_count < LAB_SETTINGS_MOST) {
        plan->settings[plan->setting_count++] = (struct lab_setting){key, value};
    }
}

bool lab_parameter_text(struct arena *arena, const struct param *row, const void *from, size_t index, const char **text)
{
    char *made = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&made, &size);
    bool there = stream != NULL && param_write(row, from, index, stream);
    bool failed = stream == NULL || fclose(stream) != 0;
    *text = failed || !there ? NULL : arena_strndup(arena, made, size);
    failed = failed || (there && *text == NULL);
    free(made);
    return !failed;
}

/* The parameters of the run that are not as they would be by themselves, by their names. */
static enum orr_status set_parameters(struct lab_plan *plan, struct orr_error *err)
{
    struct orr_run_options run;
    struct orr_run_options initial;
    orr_run_options_init(&initial);
    lab_plan_run_options(plan, &run);
    for (const struct param *row = param_run; row->name != NULL; row++) {
        bool text = row->kind != PARAM_PATH && row->kind != PARAM_READ && row->kind != PARAM_FLAG;
        bool shown = row->group >= PARAM_GROWTH && row->group <= PARAM_COMPUTE && !param_same(row, &run, &initial);
        const char *value = "true";
        if (!shown || strcmp(row->name, "backend") == 0 || strcmp(row->name, "policy") == 0) {
            continue;
        }
        if (text && !lab_parameter_text(&plan->arena, row, &run, 0, &value)) {
            return mem_error(&plan->mem, "the settings of a run", err);
        }
        lab_record_set(plan, row->name, value);
    }
    return ORR_OK;
}

enum orr_status lab_plan_settings(struct lab_plan *plan, struct orr_error *err)
{
    const struct orr_lab_options *options = plan->options;
    struct arena *arena = &plan->arena;
    const char *world = arena_printf(arena, "%" PRIu32 " ranks", plan->world);
    const char *traces = arena_printf(arena, "%" PRIu32 " ranks", plan->workload.ranks);
    if (world == NULL || traces == NULL) {
        return mem_error(&plan->mem, "the settings of a run", err);
    }
    plan->setting_count = 0;
    lab_record_set(plan, "topology", plan->name);
    lab_record_set(plan, "logical-dims", plan->dims);
    if (plan->machine.kind != RUN_MACHINE_FILE) {
        lab_record_set(plan, "bandwidth", plan->rates.list);
        lab_record_set(plan, "latency", plan->times.list);
    }
    lab_record_set(plan, "backend", run_backend_word(plan->backend));
    lab_record_set(plan, "policy", report_policy_name(plan->policy));
    lab_record_set(plan, "system", options->run.system != NULL ? "given" : "made for the topology");
    lab_record_set(plan, "traces", traces);
    lab_record_set(plan, "world-size", world);
    if (plan->grows) {
        lab_record_set(plan, "scaling", options->run.growth.strong ? "strong" : "weak");
    }
    return set_parameters(plan, err);
}

/* ---- the run ---- */

void lab_plan_run_options(struct lab_plan *plan, struct orr_run_options *run)
{
    const struct orr_lab_options *options = plan->options;
    *run = options->run;
    run->workload = plan->workload.prefix;
    run->machine = run->bandwidth = run->latency = NULL; /* the files say it */
    run->groups = plan->workload.groups;
    run->system = plan->files.system;
    run->network = plan->files.network;
    run->logical = plan->files.logical;
    run->backend = plan->backend;
    run->backend_open = false;
    run->policy = plan->policy;
    run->strict = run->strict || (plan->notices != NULL && plan->notices->strict);
    run->keep_intervals = options->timeline || options->report != NULL;
    run->keep_issue_order = true; /* for stdout.log */
    run->grow = plan->grows;
    if (plan->files.topology != NULL) { /* a file of that name in the current folder is another machine's */
        plan->override = (struct orr_override){
            .file = "network", .key = "TOPOLOGY_FILE", .value = plan->files.topology, .origin = "lab run", .line = 1};
        run->overrides = &plan->override;
        run->override_count = 1;
    }
}

/* What was written to a stream into memory, in the arena; NULL when there was no memory for it. */
static const char *lab_record_written(struct arena *arena, FILE *stream, char **text, const size_t *size, bool failed)
{
    failed = stream == NULL || fclose(stream) != 0 || failed;
    const char *kept = failed ? NULL : arena_strndup(arena, *text, *size);
    free(*text);
    return kept;
}

const char *lab_shell_word(struct arena *arena, const char *word)
{
    char *made = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&made, &size);
    if (stream != NULL) {
        param_write_word(word, stream);
    }
    return lab_record_written(arena, stream, &made, &size, false);
}

/* Every parameter of the run that is not as it would be by itself; the network and the policy always. */
const char *lab_plan_repeat(struct lab_plan *plan)
{
    char *made = NULL;
    size_t size = 0;
    struct orr_error unsaid = {0};
    struct orr_run_options run;
    struct orr_run_options initial;
    orr_run_options_init(&initial);
    initial.backend = (enum orr_backend)(-1);
    initial.policy = (enum orr_policy)(-1);
    lab_plan_run_options(plan, &run);
    FILE *stream = text_stream_open(&made, &size);
    bool failed = stream == NULL || fputs("orrery run", stream) < 0 ||
                  param_write_command(param_run, 0, &run, &initial, stream, &unsaid) != ORR_OK;
    return lab_record_written(&plan->arena, stream, &made, &size, failed);
}

/* ---- the manifest ---- */

static enum orr_status put_inputs(struct json_writer *writer, struct lab_store *store, int64_t run,
                                  struct orr_error *err)
{
    static const char sql[] = "SELECT role, path, hash, bytes FROM input WHERE run = ?1 ORDER BY rowid";
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status = io_statement_prepare(lab_store_database(store), sql, &statement, err);
    if (status == ORR_OK) {
        io_bind_int(statement, 1, run);
        status = io_statement_step(statement, &row, err);
    }
    json_write_member_array(writer, "inputs", false);
    for (; status == ORR_OK && row; status = io_statement_step(statement, &row, err)) {
        json_write_object(writer, true);
        json_write_member_string(writer, "role", io_column_text(statement, 0));
        json_write_member_string(writer, "path", io_column_text(statement, 1));
        json_write_member_string(writer, "xxh3-128", io_column_text(statement, 2));
        json_write_member_i64(writer, "bytes", io_column_int(statement, 3));
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
    io_statement_free(statement);
    return status;
}

static void put_result(struct json_writer *writer, const struct lab_plan *plan, const struct lab_outcome *outcome,
                       const char *error)
{
    json_write_member_object(writer, "result", false);
    json_write_member_string(writer, "state", lab_run_state_word(outcome->state));
    if (error != NULL) {
        json_write_member_string(writer, "error", error);
    }
    json_write_member_u64(writer, "total_ns", outcome->total_ns);
    if (plan->steps != 0) {
        json_write_member_u64(writer, "steps", plan->steps);
        json_write_member_u64(writer, "step_ns", outcome->total_ns / plan->steps);
    }
    json_write_member_u64(writer, "comm_ns", outcome->comm_ns);
    json_write_member_u64(writer, "compute_ns", outcome->compute_ns);
    json_write_member_u64(writer, "exposed_comm_ns", outcome->exposed_comm_ns);
    json_write_object_end(writer);
}

static enum orr_status put_manifest(struct lab_plan *plan, struct lab_store *store, const struct lab_outcome *outcome,
                                    const char *error, FILE *stream, struct orr_error *err)
{
    struct json_writer writer;
    const char *repeat = lab_plan_repeat(plan);
    if (repeat == NULL) {
        return mem_error(&plan->mem, "a manifest", err);
    }
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "version", orr_version());
    json_write_member_i64(&writer, "run", outcome->run);
    json_write_member_string(&writer, "store", plan->store);
    json_write_member_string(&writer, "tag", plan->options->tag);
    json_write_member_string(&writer, "command", plan->options->command);
    json_write_member_string(&writer, "repeat", repeat);
    json_write_member_string(&writer, "workload", plan->options->run.workload);
    json_write_member_object(&writer, "settings", false);
    for (uint32_t i = 0; i < plan->setting_count; i++) {
        json_write_member_string(&writer, plan->settings[i].key, plan->settings[i].value);
    }
    json_write_object_end(&writer);
    enum orr_status status = put_inputs(&writer, store, outcome->run, err);
    put_result(&writer, plan, outcome, error);
    json_write_document_end(&writer);
    return status;
}

enum orr_status lab_plan_manifest(struct lab_plan *plan, struct lab_store *store, const struct lab_outcome *outcome,
                                  const char *error, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    const char *path = arena_printf(&plan->arena, "%s/manifest.json", plan->folder);
    enum orr_status status =
        path == NULL ? mem_error(&plan->mem, "a manifest", err) : io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = put_manifest(plan, store, outcome, error, io_outfile_stream(file), err);
    return io_outfile_end(file, status, err);
}
