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

enum {
    KEY_BACKEND = 256,
    KEY_SCHEDULE,
    KEY_LATENCY,
    KEY_NVLS,
    KEY_NVLS_TREE,
    KEY_PXN,
    KEY_CSV,
    KEY_JSON,
    KEY_FCT,
    KEY_PFC,
    KEY_TIMELINE,
    KEY_COMPAT,
    KEY_FORWARD,
    KEY_STRICT,
    KEY_LIMIT,
    PATH_SIZE = 4096
};

static const char result_prefix[] = "ncclFlowModel_";

struct simulate_options {
    struct cli_input input;
    struct orr_simai_simulation run;
    const char *folder; /* of SimAI's result files */
    const char *csv, *json, *fct, *pfc, *timeline;
    bool quiet;
    bool as_original;   /* called by SimAI's name */
    const char *notice; /* about the environment; or NULL */
};

static const struct argp_option table[] = {
    {"workload", 'w', "FILE", 0, "SimAI workload text, as AICB writes it. Required", 0},
    {"topology", 'n', "FILE", 0, "Machine in SimAI's form (orrery topo make). Required", 0},
    {"config", 'c', "FILE", 0, "Network configuration, SimAI.conf. Required", 0},
    {"threads", 't', "N", 0,
     "Threads of the original. Accepted; one is used here, and the result does not depend on it", 0},
    {"backend", KEY_BACKEND, "NAME", 0,
     "packet (default): every packet; flow: fair shares of links where they are right, else packets up to 16 million; "
     "auto: shares where they are right, else packets",
     0},
    {"schedule", KEY_SCHEDULE, "1f1b|interleaved", 0,
     "Of pipeline stages: one forward, one backward in turn (default), or the same in as many chunks as vpp: says", 0},
    {"no-fast-forward", KEY_FORWARD, NULL, 0,
     "Send every packet, even where traffic repeats itself; slower, and the result is the same. flow: every channel of "
     "a ring and every group by itself, also where others are like it",
     0},
    {NULL, 0, NULL, 0, "Instead of the environment (variable in brackets):", 1},
    {"send-latency", KEY_LATENCY, "TIME", 0,
     "Before a message starts: 3us, 7200ns; bare: us, as in SimAI 1.6 (1.7 counts ns) [AS_SEND_LAT]. Default: 6us, "
     "with "
     "--compat simai 6ms",
     1},
    {"nvls", KEY_NVLS, "0|1", 0, "1: all-reduce in the NVLink switch, where the GPUs can [AS_NVLS_ENABLE]", 1},
    {"nvls-tree", KEY_NVLS_TREE, "0|1", 0,
     "1: the same for groups over several servers alone, with trees between them [AS_NVLSTREE_ENABLE]", 1},
    {"pxn", KEY_PXN, "0|1", 0, "1: cross servers from the receiver's rail [AS_PXN_ENABLE]", 1},
    {NULL, 0, NULL, 0, "Results:", 2},
    {"output", 'o', "DIR", 0,
     "SimAI's result files in this folder, which is made where missing: ncclFlowModel_EndToEnd.csv, "
     "ncclFlowModel_test1_dimension_utilization_0.csv",
     2},
    {"csv", KEY_CSV, "FILE", 0, "SimAI's table of rows alone (EndToEnd.csv)", 2},
    {"json", KEY_JSON, "FILE", 0, "Everything as one JSON document; - stands for standard output, instead of the text",
     2},
    {"fct", KEY_FCT, "FILE", 0, "Every message as in ns-3's fct.txt", 2},
    {"pfc", KEY_PFC, "FILE", 0, "Every pause as in ns-3's pfc.txt", 2},
    {"timeline", KEY_TIMELINE, "FILE", 0, "What each rank did when, for Chrome's viewer or Perfetto; .gz packs", 2},
    {NULL, 0, NULL, 0, "Other:", 3},
    {"compat", KEY_COMPAT, "simai", 0,
     "As SimAI 1.6: no pipeline stages, its group and flow rules, its stalls (docs/differences.md)", 3},
    {"quiet", 'q', NULL, 0, "No warnings and no progress [AS_LOG_LEVEL=ERROR or 3: no warnings]", 3},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 3},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 3},
    CLI_HELP_OPTION,
    {0},
};

/* ---- options ---- */

static enum orr_status parse_latency(const char *option, const char *text, struct orr_simai_simulation *run,
                                     struct orr_error *err)
{
    run->has_send_latency = true;
    return param_parse_time(option, text, "us", &run->send_latency_ns, err);
}

static enum orr_status parse_switch(const char *option, const char *text, bool *value, struct orr_error *err)
{
    static const char *const words[] = {"0", "1", NULL};
    unsigned index = 0;
    enum orr_status status = param_parse_word(option, text, words, &index, err);
    *value = index == 1;
    return status;
}

static enum orr_status parse_backend(const char *text, enum orr_backend *backend, struct orr_error *err)
{
    static const char *const words[] = {"packet", "flow", "auto", NULL};
    static const enum orr_backend backends[] = {ORR_BACKEND_PACKET, ORR_BACKEND_FLOW, ORR_BACKEND_AUTO};
    unsigned index = 0;
    enum orr_status status = param_parse_word("--backend", text, words, &index, err);
    *backend = backends[status == ORR_OK ? index : 0];
    return status;
}

static enum orr_status parse_schedule(const char *text, enum orr_simai_schedule *schedule, struct orr_error *err)
{
    static const char *const words[] = {"1f1b", "interleaved", NULL};
    unsigned index = 0;
    enum orr_status status = param_parse_word("--schedule", text, words, &index, err);
    *schedule = index == 1 ? ORR_SIMAI_INTERLEAVED : ORR_SIMAI_1F1B;
    return status;
}

static enum orr_status parse_compat(const char *text, bool *compat, struct orr_error *err)
{
    static const char *const words[] = {"simai", NULL};
    unsigned index = 0;
    *compat = true;
    return param_parse_word("--compat", text, words, &index, err);
}

/* Options that are a name and nothing more; NULL for the others. */
static const char **name_of(struct simulate_options *options, int key)
{
    switch (key) {
    case 'w':
        return &options->run.workload;
    case 'n':
        return &options->run.topology;
    case 'c':
        return &options->run.config;
    case 'o':
        return &options->folder;
    case KEY_CSV:
        return &options->csv;
    case KEY_JSON:
        return &options->json;
    case KEY_FCT:
        return &options->fct;
    case KEY_PFC:
        return &options->pfc;
    case KEY_TIMELINE:
        return &options->timeline;
    default:
        return NULL;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct simulate_options *options = state->input;
    struct orr_simai_simulation *run = &options->run;
    struct orr_error *err = &options->input.error;
    uint64_t threads = 0;
    if (name_of(options, key) != NULL) {
        *name_of(options, key) = arg;
        return 0;
    }
    switch (key) {
    case 't':
        return cli_options_status(param_parse_count("-t", arg, 1, INT32_MAX, &threads, err));
    case KEY_BACKEND:
        return cli_options_status(parse_backend(arg, &run->backend, err));
    case KEY_SCHEDULE:
        return cli_options_status(parse_schedule(arg, &run->schedule, err));
    case KEY_LATENCY:
        return cli_options_status(parse_latency("--send-latency", arg, run, err));
    case KEY_NVLS:
        return cli_options_status(parse_switch("--nvls", arg, &run->nvls, err));
    case KEY_NVLS_TREE:
        return cli_options_status(parse_switch("--nvls-tree", arg, &run->nvls_tree, err));
    case KEY_PXN:
        return cli_options_status(parse_switch("--pxn", arg, &run->pxn, err));
    case KEY_COMPAT:
        return cli_options_status(parse_compat(arg, &run->compat, err));
    case KEY_FORWARD:
        run->no_fast_forward = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_STRICT:
        run->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &run->memory_limit, err));
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp simulate_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "-w FILE -n FILE -c FILE",
    .doc = "Run a SimAI workload on a wired machine: every rank goes through the rows, each collective is NCCL's "
           "messages, and every packet of them crosses the network. Prints where the time goes.\v"
           "A run that cannot go on says why and ends with exit code 4.\n\n"
           "Examples:\n"
           "  orrery topo make -topo Spectrum-X -g 16 -psn 2 -o spectrum-x\n"
           "  orrery simai simulate -w workload.txt -n spectrum-x -c SimAI.conf\n"
           "  AS_SEND_LAT=3 AS_NVLS_ENABLE=1 orrery simai simulate -t 16 \\\n"
           "      -w workload.txt -n spectrum-x -c SimAI.conf -o results --json run.json\n",
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

/* SimAI 1.6 and its README count microseconds, 1.7's pages nanoseconds: a number that only makes sense as the latter is
 * taken as written, and said. */
static enum orr_status read_latency(struct simulate_options *options, struct orr_error *err)
{
    enum { ODD_NS = 1000 * 1000 };
    const char *text = variable("AS_SEND_LAT");
    if (text == NULL) {
        return ORR_OK;
    }
    enum orr_status status = parse_latency("AS_SEND_LAT", text, &options->run, err);
    if (status == ORR_OK && text[strspn(text, "0123456789.")] == '\0' && options->run.send_latency_ns >= ODD_NS) {
        options->notice = "AS_SEND_LAT is a millisecond or more: a bare number is microseconds, as in SimAI 1.6; for "
                          "the nanoseconds of SimAI 1.7 write the unit (AS_SEND_LAT=7200ns)";
    }
    return status;
}

static enum orr_status read_environment(struct simulate_options *options, struct orr_error *err)
{
    const struct {
        const char *name;
        bool *value;
    } switches[] = {{"AS_NVLS_ENABLE", &options->run.nvls},
                    {"AS_NVLSTREE_ENABLE", &options->run.nvls_tree},
                    {"AS_PXN_ENABLE", &options->run.pxn}};
    const char *level = variable("AS_LOG_LEVEL");
    enum orr_status status = read_latency(options, err);
    for (size_t i = 0; i < sizeof switches / sizeof switches[0] && status == ORR_OK; i++) {
        const char *text = variable(switches[i].name);
        status = text != NULL ? parse_switch(switches[i].name, text, switches[i].value, err) : ORR_OK;
    }
    return status == ORR_OK && level != NULL ? read_level(level, &options->quiet, err) : status;
}

/* ---- outputs ---- */

static enum orr_status check_given(const struct simulate_options *options, struct orr_error *err)
{
    const struct {
        const char *path, *what;
    } needed[] = {{options->run.workload, "-w FILE (the workload)"},
                  {options->run.topology, "-n FILE (the topology)"},
                  {options->run.config, "-c FILE (the network configuration, SimAI.conf)"}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (needed[i].path == NULL) {
            return error_set(err, ORR_EINVAL, "missing %s", needed[i].what);
        }
    }
    return ORR_OK;
}

/* NULL where there is none, and where the document takes the place of the text (`--json -`). */
static const char *json_file(const struct simulate_options *options)
{
    return options->json == NULL || strcmp(options->json, "-") == 0 ? NULL : options->json;
}

static enum orr_status check_output(const struct simulate_options *options, const char *option, const char *path,
                                    struct orr_error *err)
{
    const char *const inputs[] = {options->run.workload, options->run.topology, options->run.config};
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
    enum orr_status status = check_given(options, err);
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
    if (options->run.nvls_tree && options->run.compat) {
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
    if (check_outputs(options, &err) != ORR_OK || cli_limit_default(&options->run.memory_limit, &err) != ORR_OK ||
        watch_init(&watch, NULL, !options->quiet, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    options->run.keep_flows = options->fct != NULL || options->pfc != NULL || options->as_original;
    options->run.keep_intervals = options->timeline != NULL;
    options->run.progress = watch_progress;
    options->run.progress_context = &watch;
    enum orr_status status = orr_simai_open(&options->run, &run, &err);
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
    struct simulate_options options = {.run = ORR_SIMAI_SIMULATION_DEFAULT, .as_original = as_original};
    struct orr_error err = {0};
    options.run.compat = as_original;
    options.folder = as_original ? "." : NULL;
    enum orr_status status = read_environment(&options, &err);
    status = status == ORR_OK ? cli_options_parse(self, argc, argv, &options.input, &err) : status;
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    if (options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    return simulate(&options);
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
    .argp = &simulate_argp,
    .run = run,
};
