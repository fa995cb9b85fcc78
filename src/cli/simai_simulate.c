/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery simai simulate`: SimAI's four options, its environment variables, and our outputs. Under the original's name
 * the result files go where it puts them and standard output has its lines.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/simai.h"
#include "cli/watch.h"

enum { PATH_SIZE = 4096 };

static const char result_prefix[] = "ncclFlowModel_";

struct simulate_options {
    struct orr_simai_simulation simai;
    uint32_t threads;   /* of the original: nothing here depends on them */
    const char *folder; /* of SimAI's result files */
    const char *csv, *json, *fct, *pfc, *timeline;
    bool quiet;
    bool as_original;   /* called by SimAI's name */
    const char *notice; /* about the environment; or NULL */
};

#define AT(field)     .place = offsetof(struct simulate_options, field)
#define OUTPUT(field) .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(field)

static const struct param rows[] = {
    {"threads", .letter = 't', .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .value = "N",
     AT(threads), .least = 1, .most = INT32_MAX,
     .help = "Threads of the original. Accepted; one is used here, and the result does not depend on it"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "DIR", AT(folder),
     .help = "SimAI's result files in this folder, which is made where missing. ncclFlowModel_EndToEnd.csv, "
             "ncclFlowModel_test1_dimension_utilization_0.csv"},
    {"csv", OUTPUT(csv), .help = "SimAI's table of rows alone (EndToEnd.csv)"},
    {"json", OUTPUT(json),
     .help = "Everything as one JSON document. - stands for standard output, instead of the text"},
    {"timeline", OUTPUT(timeline),
     .help = "What each rank did when, for Perfetto or chrome://tracing. Compressed when the name ends in .gz"},
    {"fct", OUTPUT(fct), .flags = PARAM_RARE, .help = "Every message as in ns-3's fct.txt"},
    {"pfc", OUTPUT(pfc), .flags = PARAM_RARE, .help = "Every pause as in ns-3's pfc.txt"},
    {"quiet", .letter = 'q', .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(quiet),
     .help = "No warnings and no progress [AS_LOG_LEVEL=ERROR or 3: no warnings]"},
    {0},
};

static const struct param_table tables[] = {{param_simai_simulation, 0, offsetof(struct simulate_options, simai)},
                                            {param_run, PARAM_OF_SIMAI, offsetof(struct simulate_options, simai.run)},
                                            {rows, 0, 0},
                                            {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "-w FILE -n FILE -c FILE",
    .about = "Run a SimAI workload on a wired machine: every rank goes through the rows, each collective is NCCL's "
             "messages, and every packet of them crosses the network. Prints where the time goes.",
    .examples = "  orrery topo make -topo Spectrum-X -g 16 -psn 2 -o spectrum-x\n"
                "  orrery simai simulate -w workload.txt -n spectrum-x -c SimAI.conf\n"
                "  AS_SEND_LAT=3 AS_NVLS_ENABLE=1 orrery simai simulate -t 16 \\\n"
                "      -w workload.txt -n spectrum-x -c SimAI.conf -o results --json run.json\n",
    .ending = "A run that cannot go on says why and ends with exit code 4.",
};

/* ---- the environment ---- */

/* NULL where it is not set, or set to nothing (`AS_SEND_LAT= orrery ...`). */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

/* Names and, as SimAI 1.6 really reads them, numbers; from ERROR on no warnings are shown. */
static enum orr_status read_level(const char *text, bool *quiet, struct orr_error *err)
{
    static const char *const words[] = {"DEBUG", "INFO", "WARNING", "ERROR", "UNKNOWN"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char digit[] = {(char)('0' + i), '\0'};
        if (strcasecmp(text, words[i]) == 0 || strcmp(text, digit) == 0) {
            *quiet = i >= 3;
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL,
                     "AS_LOG_LEVEL: \"%.40s\" is none of DEBUG, INFO, WARNING, ERROR, UNKNOWN (0 to 4)", text);
}

/* What the variable of an option says, read as the option is. */
static enum orr_status read_variable(struct simulate_options *options, const char *name, const char *option,
                                     struct orr_error *err)
{
    const char *text = variable(name);
    struct param_found found = param_find(tables, option, strlen(option));
    return text == NULL ? ORR_OK : param_read(found.row, name, text, (char *)options + found.at, err);
}

/* SimAI 1.6 and its README count microseconds, 1.7's pages nanoseconds: a number that only makes sense as the latter is
 * taken as written, and said. */
static void notice_latency(struct simulate_options *options)
{
    enum { ODD_NS = 1000 * 1000 };
    const char *text = variable("AS_SEND_LAT");
    if (text != NULL && text[strspn(text, "0123456789.")] == '\0' && options->simai.send_latency_ns >= ODD_NS) {
        options->notice = "AS_SEND_LAT is a millisecond or more: a bare number is microseconds, as in SimAI 1.6; for "
                          "the nanoseconds of SimAI 1.7 write the unit (AS_SEND_LAT=7200ns)";
    }
}

static enum orr_status read_environment(struct simulate_options *options, struct orr_error *err)
{
    static const struct {
        const char *name, *option;
    } variables[] = {{"AS_SEND_LAT", "send-latency"},
                     {"AS_NVLS_ENABLE", "nvls"},
                     {"AS_NVLSTREE_ENABLE", "nvls-tree"},
                     {"AS_PXN_ENABLE", "pxn"}};
    const char *level = variable("AS_LOG_LEVEL");
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && status == ORR_OK; i++) {
        status = read_variable(options, variables[i].name, variables[i].option, err);
    }
    notice_latency(options);
    return status == ORR_OK && level != NULL ? read_level(level, &options->quiet, err) : status;
}

/* ---- outputs ---- */

/* NULL where there is none, and where the document takes the place of the text (`--json -`). */
static const char *json_file(const struct simulate_options *options)
{
    return options->json == NULL || strcmp(options->json, "-") == 0 ? NULL : options->json;
}

static enum orr_status check_output(const struct simulate_options *options, const char *option, const char *path,
                                    struct orr_error *err)
{
    const char *const inputs[] = {options->simai.run.workload, options->simai.topology, options->simai.config};
    if (path == NULL) {
        return ORR_OK;
    }
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (cli_same_file(path, inputs[i])) {
            return error_set(err, ORR_EINVAL, "%s: %s is an input of the run", option, path);
        }
    }
    return cli_check_writable(option, path, err);
}

static enum orr_status check_outputs(const struct simulate_options *options, struct orr_error *err)
{
    const struct {
        const char *option, *path;
    } files[] = {{"--csv", options->csv},
                 {"--json", json_file(options)},
                 {"--fct", options->fct},
                 {"--pfc", options->pfc},
                 {"--timeline", options->timeline}};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == ORR_OK; i++) {
        status = check_output(options, files[i].option, files[i].path, err);
        for (size_t j = 0; j < i && status == ORR_OK; j++) {
            if (files[i].path != NULL && files[j].path != NULL && strcmp(files[i].path, files[j].path) == 0) {
                status = error_set(err, ORR_EINVAL, "%s and %s are both %s", files[j].option, files[i].option,
                                   files[i].path);
            }
        }
    }
    return status == ORR_OK && options->folder != NULL ? cli_check_folder("-o", options->folder, err) : status;
}

static enum orr_status in_folder(const struct simulate_options *options, const char *name, char path[PATH_SIZE],
                                 struct orr_error *err)
{
    int length = snprintf(path, PATH_SIZE, "%s/%s%s", options->folder, result_prefix, name);
    return length < PATH_SIZE ? ORR_OK : error_set(err, ORR_EINVAL, "-o: the path is too long");
}

/* SimAI's files: its table, the use of the lines, and one that it leaves empty. */
static enum orr_status write_folder(const struct simulate_options *options, const struct orr_simai *run,
                                    struct orr_error *err)
{
    char path[PATH_SIZE];
    char name[64];
    if (options->folder == NULL) {
        return ORR_OK;
    }
    enum orr_status status = in_folder(options, "EndToEnd.csv", path, err);
    status = status == ORR_OK ? orr_simai_write(run, ORR_SIMAI_CSV, path, NULL, err) : status;
    status = status == ORR_OK ? in_folder(options, "test1_dimension_utilization_0.csv", path, err) : status;
    status = status == ORR_OK ? orr_simai_write(run, ORR_SIMAI_UTILIZATION, path, NULL, err) : status;
    if (status == ORR_OK && options->as_original) {
        (void)snprintf(name, sizeof name, "detailed_%" PRIu32 ".csv", orr_simai_node_count(run));
        status = in_folder(options, name, path, err);
        status = status == ORR_OK ? orr_file_write(path, "", 0, err) : status;
    }
    return status;
}

static enum orr_status write_one(const struct orr_simai *run, enum orr_simai_output output, const char *path,
                                 struct orr_error *err)
{
    return path == NULL ? ORR_OK : orr_simai_write(run, output, path, NULL, err);
}

/* Tables of rank 0 only exist once it has finished. */
static int write_outputs(const struct simulate_options *options, const struct orr_simai *run, bool finished)
{
    struct orr_error err = {0};
    enum orr_status status = finished ? write_folder(options, run, &err) : ORR_OK;
    status = status == ORR_OK && finished ? write_one(run, ORR_SIMAI_CSV, options->csv, &err) : status;
    status = status == ORR_OK ? write_one(run, ORR_SIMAI_JSON, json_file(options), &err) : status;
    status = status == ORR_OK ? write_one(run, ORR_SIMAI_FCT, options->fct, &err) : status;
    status = status == ORR_OK ? write_one(run, ORR_SIMAI_PFC, options->pfc, &err) : status;
    status = status == ORR_OK ? write_one(run, ORR_SIMAI_TIMELINE, options->timeline, &err) : status;
    enum orr_simai_output shown = options->as_original ? ORR_SIMAI_LOG : ORR_SIMAI_TEXT;
    shown = options->json != NULL && json_file(options) == NULL ? ORR_SIMAI_JSON : shown;
    status = status == ORR_OK ? orr_simai_write(run, shown, NULL, stdout, &err) : status;
    return cli_end(status, &err);
}

/* ---- the run ---- */

static void print_warnings(const struct orr_simai *run, struct cli_warnings *warnings, size_t *printed)
{
    for (size_t count = orr_simai_warning_count(run); *printed < count; (*printed)++) {
        cli_warn(warnings, orr_simai_warning(run, *printed));
    }
}

static int report_stall(const struct orr_simai *run, const struct orr_error *summary)
{
    struct orr_error err = {0};
    uint32_t unfinished = 0;
    if (orr_simai_write(run, ORR_SIMAI_STALL, NULL, stderr, &err) != ORR_OK) {
        (void)cli_fail(&err);
        return cli_fail(summary);
    }
    for (uint32_t rank = 0; rank < orr_simai_rank_count(run); rank++) {
        unfinished += orr_simai_rank_ns(run, rank) == UINT64_MAX ? 1 : 0;
    }
    cli_error("stalled at %" PRIu64 " ns with %" PRIu32 " of %" PRIu32 " ranks unfinished", orr_simai_time_ns(run),
              unfinished, orr_simai_rank_count(run));
    return orr_status_exit_code(summary->status);
}

static int execute(const struct simulate_options *options, struct orr_simai *run, struct watch *watch)
{
    struct cli_warnings warnings = {.quiet = options->quiet};
    struct orr_error err = {0};
    size_t printed = 0;
    if (options->notice != NULL) {
        cli_warn(&warnings, options->notice);
    }
    if (options->simai.nvls_tree && options->simai.compat) {
        cli_warn(&warnings,
                 "SimAI 1.6 has no NVLS tree: --nvls-tree (AS_NVLSTREE_ENABLE) changes nothing with --compat");
    }
    print_warnings(run, &warnings, &printed);
    watch_begin(watch);
    enum orr_status outcome = orr_simai_execute(run, &err);
    watch_end(watch);
    print_warnings(run, &warnings, &printed);
    cli_warnings_end(&warnings);
    int exit_code = 0;
    if (outcome == ORR_OK || outcome == ORR_ESTALL || outcome == ORR_EINTR) {
        exit_code = write_outputs(options, run, outcome == ORR_OK);
    }
    if (outcome != ORR_OK) {
        exit_code = outcome == ORR_ESTALL ? report_stall(run, &err) : cli_fail(&err);
    }
    watch_finish(watch, outcome == ORR_ESTALL  ? WATCH_STALLED
                        : outcome == ORR_EINTR ? WATCH_INTERRUPTED
                        : exit_code == 0       ? WATCH_DONE
                                               : WATCH_FAILED);
    return exit_code;
}

/* Where the configuration says; a folder that is not there (SimAI.conf names /etc/astra-sim/simulation) is no reason
 * not to run. */
static const char *named_file(const struct orr_simai *run, enum orr_simai_output output, const char *option,
                              struct cli_warnings *warnings)
{
    const char *path = orr_simai_named_file(run, output);
    struct orr_error err = {0};
    if (path == NULL || cli_check_writable(option, path, &err) == ORR_OK) {
        return path;
    }
    char text[sizeof err.text + 80];
    (void)snprintf(text, sizeof text, "%s; it is left out", err.text);
    cli_warn(warnings, text);
    return NULL;
}

/* The original writes its messages and pauses where the configuration says. */
static enum orr_status take_named_files(struct simulate_options *options, const struct orr_simai *run,
                                        struct orr_error *err)
{
    struct cli_warnings warnings = {.quiet = options->quiet};
    if (!options->as_original) {
        return ORR_OK;
    }
    options->fct = options->fct != NULL ? options->fct : named_file(run, ORR_SIMAI_FCT, "--fct", &warnings);
    options->pfc = options->pfc != NULL ? options->pfc : named_file(run, ORR_SIMAI_PFC, "--pfc", &warnings);
    cli_warnings_end(&warnings);
    return check_outputs(options, err);
}

static int simulate(struct simulate_options *options)
{
    struct orr_error err = {0};
    struct watch watch;
    struct orr_simai *run = NULL;
    if (check_outputs(options, &err) != ORR_OK || cli_limit_default(&options->simai.run.memory_limit, &err) != ORR_OK ||
        watch_init(&watch, NULL, !options->quiet, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    options->simai.run.keep_flows = options->fct != NULL || options->pfc != NULL || options->as_original;
    options->simai.run.keep_intervals = options->timeline != NULL;
    options->simai.run.progress = watch_progress;
    options->simai.run.progress_context = &watch;
    enum orr_status status = orr_simai_open(&options->simai, &run, &err);
    if (status == ORR_OK) {
        status = take_named_files(options, run, &err);
    }
    if (status != ORR_OK) {
        watch_finish(&watch, WATCH_FAILED);
        orr_simai_close(run);
        return cli_fail(&err);
    }
    int exit_code = execute(options, run, &watch);
    orr_simai_close(run);
    return exit_code;
}

static int run_simulate(const struct cli_command *self, int argc, char **argv, bool as_original)
{
    struct simulate_options options = {.as_original = as_original};
    struct orr_error err = {0};
    int exit_code = 0;
    orr_simai_simulation_init(&options.simai);
    options.simai.compat = as_original;
    options.folder = as_original ? "." : NULL;
    if (read_environment(&options, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    return cli_begin(self, argc, argv, &options, &exit_code) ? simulate(&options) : exit_code;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    return run_simulate(self, argc, argv, false);
}

int cli_simai_as_simulator(int argc, char **argv)
{
    return run_simulate(&cli_simai_simulate, argc, argv, true);
}

const struct cli_command cli_simai_simulate = {
    .name = "simulate",
    .summary = "every message of a workload on a wired machine (SimAI-Simulation)",
    .usage = &usage,
    .run = run,
};
