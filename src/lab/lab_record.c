/* What is written down of a lab run: the settings with their units, the command that repeats it, the manifest. The
 * inputs' hashes are read back from the store, which made them, so that the two never disagree. */
#include "lab/lab_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "io/json_write.h"
#include "io/outfile.h"
#include "report/summary.h"

/* The shortest text that reads back as the same number. */
static const char *spell_real(struct arena *arena, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)plain_snprintf(text, sizeof text, "%.*g", digits, value);
        if (plain_strtod(text, NULL) == value) {
            break;
        }
    }
    return arena_strndup(arena, text, strlen(text));
}

/* ---- settings ---- */

static void set(struct lab_plan *plan, const char *key, const char *value)
{
    if (value != NULL && plan->setting_count < LAB_SETTINGS_MOST) {
        plan->settings[plan->setting_count++] = (struct lab_setting){key, value};
    }
}

static void set_growth(struct lab_plan *plan)
{
    const struct orr_growth *growth = &plan->options->growth;
    set(plan, "parallel", growth->parallel != NULL ? growth->parallel : "dp");
    set(plan, "grow-role", growth->role != NULL ? growth->role : "dp");
    set(plan, "comm-scale", growth->comm_scale != NULL ? growth->comm_scale : "1");
    set(plan, "scaling", growth->strong ? "strong" : "weak");
}

static const char *const source_words[] = {"auto", "duration", "cycles", "roofline", "forced"};

/* Where compute times come from and what a calibration changed; without memory the caller's next text fails too. */
static void set_tuning(struct lab_plan *plan)
{
    const struct orr_tuning *tuning = &plan->options->tuning;
    if (tuning->source != ORR_COMPUTE_AUTO) {
        set(plan, "comp-source", source_words[tuning->source]);
    }
    if (tuning->source == ORR_COMPUTE_FORCED) {
        set(plan, "force-avg-kernel-ns", arena_printf(&plan->arena, "%" PRIu64 "ns", tuning->forced_ns));
    }
    if (tuning->source == ORR_COMPUTE_CYCLES) {
        const char *mhz = spell_real(&plan->arena, tuning->gpu_mhz);
        set(plan, "default-gpu-freq", mhz == NULL ? NULL : arena_printf(&plan->arena, "%s MHz", mhz));
    }
    if (tuning->compute_scale > 0) {
        set(plan, "compute-factor", spell_real(&plan->arena, tuning->compute_scale));
    }
    if (tuning->host_scale > 0) {
        set(plan, "host-factor", spell_real(&plan->arena, tuning->host_scale));
    }
    if (tuning->launch_ns > 0) {
        set(plan, "launch-overhead", arena_printf(&plan->arena, "%" PRIu64 "ns", tuning->launch_ns));
    }
}

enum orr_status lab_plan_settings(struct lab_plan *plan, struct orr_error *err)
{
    const struct orr_lab_options *options = plan->options;
    struct arena *arena = &plan->arena;
    const char *world = arena_printf(arena, "%" PRIu32 " ranks", plan->world);
    const char *traces = arena_printf(arena, "%" PRIu32 " ranks", plan->workload.ranks);
    const char *seed = arena_printf(arena, "%" PRIu64, options->seed);
    const char *jitter = spell_real(arena, options->jitter);
    if (world == NULL || traces == NULL || seed == NULL || jitter == NULL) {
        return mem_error(&plan->mem, "the settings of a run", err);
    }
    plan->setting_count = 0;
    set(plan, "topology", plan->name);
    set(plan, "logical-dims", plan->dims);
    if (plan->machine.kind != LAB_MACHINE_FILE) {
        set(plan, "bandwidth", plan->rates.list);
        set(plan, "latency", plan->times.list);
    }
    set(plan, "backend", lab_backend_word(plan->backend));
    set(plan, "policy", report_policy_name(plan->policy));
    set(plan, "system", options->system != NULL ? "given" : "made for the topology");
    set(plan, "traces", traces);
    set(plan, "world-size", world);
    if (plan->grows) {
        set_growth(plan);
    }
    set_tuning(plan);
    set(plan, "devices", options->devices);
    if (options->jitter > 0) {
        set(plan, "jitter", jitter);
        set(plan, "seed", seed);
    }
    return ORR_OK;
}

/* ---- the run ---- */

void lab_plan_run_options(struct lab_plan *plan, struct orr_run_options *run)
{
    const struct orr_lab_options *options = plan->options;
    *run = (struct orr_run_options)ORR_RUN_OPTIONS_DEFAULT;
    run->workload = plan->workload.prefix;
    run->groups = plan->workload.groups;
    run->system = plan->files.system;
    run->network = plan->files.network;
    run->logical = plan->files.logical;
    run->backend = plan->backend;
    run->policy = plan->policy;
    run->jitter = options->jitter;
    run->seed = options->seed;
    run->memory_limit = options->memory_limit;
    run->strict = plan->notices != NULL && plan->notices->strict;
    run->keep_intervals = options->timeline;
    run->keep_issue_order = true; /* for stdout.log */
    run->growth = plan->grows ? &options->growth : NULL;
    run->tuning = options->tuning;
    run->devices = options->devices;
    if (plan->files.topology != NULL) { /* a file of that name in the current folder is another machine's */
        plan->override = (struct orr_override){
            .file = "network", .key = "TOPOLOGY_FILE", .value = plan->files.topology, .origin = "lab run", .line = 1};
        run->overrides = &plan->override;
        run->override_count = 1;
    }
    run->progress = options->progress;
    run->progress_context = options->progress_context;
}

const char *lab_shell_word(struct arena *arena, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
    size_t length = strlen(word);
    if (length > 0 && strspn(word, plain) == length) {
        return word;
    }
    char *made = arena_alloc(arena, 4 * length + 3);
    char *at = made;
    if (made == NULL) {
        return NULL;
    }
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    *at++ = '\'';
    *at = '\0';
    return made;
}

/* Adds " OPTION VALUE", or nothing without a value. */
static const char *add(struct arena *arena, const char *command, const char *option, const char *value)
{
    const char *word = value == NULL || command == NULL ? NULL : lab_shell_word(arena, value);
    return value == NULL || command == NULL ? command
           : word == NULL                   ? NULL
                                            : arena_printf(arena, "%s %s%s", command, option, word);
}

const char *lab_plan_repeat(struct lab_plan *plan)
{
    const struct orr_growth *growth = &plan->options->growth;
    struct arena *arena = &plan->arena;
    const char *line = add(arena, "orrery run", "--workload ", plan->workload.prefix);
    line = add(arena, line, "--groups ", plan->workload.groups);
    line = add(arena, line, "--system ", plan->files.system);
    line = add(arena, line, "--network ", plan->files.network);
    line = add(arena, line, "--logical ", plan->files.logical);
    line = add(arena, line, "--backend ", lab_backend_word(plan->backend));
    line = add(arena, line, "--policy ", report_policy_name(plan->policy));
    if (plan->grows) {
        line =
            growth->parallel != NULL ? add(arena, line, "--grow=", growth->parallel) : add(arena, line, "", "--grow");
        line = add(arena, line, "--grow-role ", growth->role);
        line = add(arena, line, "--grow-comm ", growth->comm_scale);
        line = add(arena, line, "", growth->strong ? "--strong" : NULL);
    }
    const struct orr_tuning *tuning = &plan->options->tuning;
    if (tuning->source != ORR_COMPUTE_AUTO) {
        line = add(arena, line, "--comp-source ", source_words[tuning->source]);
    }
    if (tuning->source == ORR_COMPUTE_FORCED && line != NULL) {
        line = arena_printf(arena, "%s --force-avg-kernel-ns %" PRIu64, line, tuning->forced_ns);
    }
    if (tuning->source == ORR_COMPUTE_CYCLES) {
        line = add(arena, line, "--default-gpu-freq ", spell_real(arena, tuning->gpu_mhz));
    }
    if (tuning->compute_scale > 0) {
        line = add(arena, line, "--compute-factor ", spell_real(arena, tuning->compute_scale));
    }
    if (tuning->host_scale > 0) {
        line = add(arena, line, "--host-factor ", spell_real(arena, tuning->host_scale));
    }
    if (tuning->launch_ns > 0 && line != NULL) {
        line = arena_printf(arena, "%s --launch-overhead %" PRIu64 "ns", line, tuning->launch_ns);
    }
    line = add(arena, line, "--devices ", plan->options->devices);
    if (plan->options->jitter > 0 && line != NULL) {
        line =
            arena_printf(arena, "%s --jitter %.17g --seed %" PRIu64, line, plan->options->jitter, plan->options->seed);
    }
    return line;
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
    json_write_key(writer, "inputs");
    json_write_array(writer, false);
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
    json_write_key(writer, "result");
    json_write_object(writer, false);
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
    json_write_begin(&writer, stream);
    json_write_object(&writer, false);
    json_write_member_string(&writer, "version", orr_version());
    json_write_member_i64(&writer, "run", outcome->run);
    json_write_member_string(&writer, "store", plan->store);
    json_write_member_string(&writer, "tag", plan->options->tag);
    json_write_member_string(&writer, "command", plan->options->command);
    json_write_member_string(&writer, "repeat", repeat);
    json_write_member_string(&writer, "workload", plan->options->workload);
    json_write_key(&writer, "settings");
    json_write_object(&writer, false);
    for (uint32_t i = 0; i < plan->setting_count; i++) {
        json_write_member_string(&writer, plan->settings[i].key, plan->settings[i].value);
    }
    json_write_object_end(&writer);
    enum orr_status status = put_inputs(&writer, store, outcome->run, err);
    put_result(&writer, plan, outcome, error);
    json_write_object_end(&writer);
    json_write_end(&writer);
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
    if (status != ORR_OK) {
        io_outfile_abort(file);
        return status;
    }
    return io_outfile_commit(file, err);
}
