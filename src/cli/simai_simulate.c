/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery simai simulate`: SimAI's four options, its environment variables, and our outputs. Under the original's name
 * the result files go where it puts them and standard output has its lines.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/run.h"
#include "cli/simai.h"

struct simulate_options {
    struct orr_simai_simulation simai;
    struct run_outputs out;
    uint32_t threads;                  /* of the original: nothing here depends on them */
    bool as_original;                  /* called by SimAI's name */
    const char *store, *tag, *command; /* where it is kept, and as what; or NULL */
    const char *notice;                /* about the environment; or NULL */
};

#define AT(field) .place = offsetof(struct simulate_options, field)

static const struct param rows[] = {
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .value = "N",
     AT(threads), .least = 1, .most = INT32_MAX,
     .help = "Threads of the original (-t). Accepted; one is used here, and the result does not depend on it"},
    {"thread", .letter = 't', .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .flags = PARAM_HIDDEN, .value = "N",
     AT(threads), .least = 1, .most = INT32_MAX, .help = "The same, as SimAI spells it"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "DIR", AT(out.simai),
     .help = "SimAI's result files in this folder, which is made where missing. ncclFlowModel_EndToEnd.csv, "
             "ncclFlowModel_test1_dimension_utilization_0.csv"},
    {"store", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_RARE, .value = "FILE", AT(store),
     .help = "Also keep the run in this result store (SQLite), for orrery lab list, show, diff and rerun"},
    {"tag", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .flags = PARAM_RARE, .value = "NAME", AT(tag),
     .help = "Name of the run in the store"},
    {0},
};

static const struct param_table tables[] = {{param_simai_simulation, 0, offsetof(struct simulate_options, simai)},
                                            {param_run, PARAM_OF_SIMAI, offsetof(struct simulate_options, simai.run)},
                                            {rows, 0, 0},
                                            {run_output_rows, PARAM_OF_SIMAI, offsetof(struct simulate_options, out)},
                                            {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "-w FILE {-m NAME | -n FILE -c FILE}",
    .about = "Run a SimAI workload on a wired machine: every rank goes through the rows, each collective is NCCL's "
             "messages, and every packet of them crosses the network. Prints where the time goes.",
    .examples = "  orrery simai simulate -w workload.txt --machine dgx-h100:2\n"
                "  orrery topo make -topo Spectrum-X -g 16 -psn 2 -o spectrum-x\n"
                "  orrery simai simulate -w workload.txt -n spectrum-x -c SimAI.conf\n"
                "  AS_SEND_LAT=3 AS_NVLS_ENABLE=1 orrery simai simulate -t 16 \\\n"
                "      -w workload.txt -n spectrum-x -c SimAI.conf -o results --json run.json\n",
    .notes = "AS_LOG_LEVEL=ERROR or 3 in the environment: no warnings.",
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

static enum orr_status cli_simai_simulate_read_environment(struct simulate_options *options, struct orr_error *err)
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
    return status == ORR_OK && level != NULL ? read_level(level, &options->out.quiet, err) : status;
}

/* ---- the run ---- */

static enum orr_status cli_simai_simulate_check_outputs(const struct simulate_options *options, struct orr_error *err)
{
    const struct run_input inputs[] = {{"--workload", options->simai.run.workload},
                                       {"--topology", options->simai.topology},
                                       {"--config", options->simai.config},
                                       {NULL, NULL}};
    return run_outputs_check(&options->out, inputs, NULL, err);
}

/* Where the configuration says; a folder that is not there (SimAI.conf names /etc/astra-sim/simulation) is no reason
 * not to run. */
static const char *named_file(const struct orr_run *run, enum orr_output output, const char *option,
                              struct cli_warnings *warnings)
{
    const char *path = orr_run_named_file(run, output);
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
static enum orr_status cli_simai_simulate_take_named_files(struct simulate_options *options, const struct orr_run *run,
                                                           struct cli_warnings *warnings, struct orr_error *err)
{
    struct run_outputs *out = &options->out;
    if (!options->as_original) {
        return ORR_OK;
    }
    out->fct = out->fct != NULL ? out->fct : named_file(run, ORR_OUTPUT_FCT, "--fct", warnings);
    out->pfc = out->pfc != NULL ? out->pfc : named_file(run, ORR_OUTPUT_PFC, "--pfc", warnings);
    return cli_simai_simulate_check_outputs(options, err);
}

static void say_notices(const struct simulate_options *options, struct cli_warnings *warnings)
{
    if (options->notice != NULL) {
        cli_warn(warnings, options->notice);
    }
    if (options->simai.nvls_tree && options->simai.compat) {
        cli_warn(warnings,
                 "SimAI 1.6 has no NVLS tree: --nvls-tree (AS_NVLSTREE_ENABLE) changes nothing with --compat");
    }
}

static int cli_simai_simulate_simulate(struct simulate_options *options)
{
    struct orr_error err = {0};
    struct watch watch;
    struct orr_run *run = NULL;
    struct orr_run_options *of = &options->simai.run;
    struct run_outputs *out = &options->out;
    struct cli_warnings warnings = {.quiet = out->quiet};
    if (run_outputs_settle(out, &err) != ORR_OK || cli_simai_simulate_check_outputs(options, &err) != ORR_OK ||
        cli_limit_default(&of->memory_limit, &err) != ORR_OK ||
        watch_init(&watch, out->status_file, !out->quiet && !out->no_progress, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    of->keep_flows = out->fct != NULL || out->pfc != NULL || options->as_original;
    of->keep_intervals = out->timeline != NULL || out->report != NULL || out->comm_intervals != NULL;
    of->progress = watch_progress;
    of->progress_context = &watch;
    enum orr_status status = orr_simai_open(&options->simai, &run, &err);
    say_notices(options, &warnings);
    if (status == ORR_OK) {
        status = cli_simai_simulate_take_named_files(options, run, &warnings, &err);
    }
    if (status != ORR_OK) {
        cli_warnings_end(&warnings);
        watch_finish(&watch, WATCH_FAILED);
        orr_run_close(run);
        return cli_fail(&err);
    }
    int exit_code = run_execute(run, out, &watch, &warnings);
    int64_t number = 0;
    if (options->store != NULL && orr_simai_store(&options->simai, run, options->store, options->tag, options->command,
                                                  &number, &err) != ORR_OK) {
        int code = cli_fail(&err);
        exit_code = exit_code == 0 ? code : exit_code;
    }
    orr_run_close(run);
    return exit_code;
}

static int run_simulate(const struct cli_command *self, int argc, char **argv, bool as_original)
{
    struct simulate_options options = {.as_original = as_original};
    struct orr_error err = {0};
    int exit_code = 0;
    orr_simai_simulation_init(&options.simai);
    options.simai.compat = as_original;
    options.out.simai = as_original ? "." : NULL;
    options.out.format = as_original ? ORR_OUTPUT_SIMAI_LOG : ORR_OUTPUT_TEXT;
    if (cli_simai_simulate_read_environment(&options, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    options.out.argc = argc;
    options.out.argv = argv;
    if (cli_begin(self, argc, argv, &options, &exit_code)) {
        char *typed = options.store == NULL ? NULL : cli_quote_command(argc, argv);
        options.command = typed;
        exit_code = cli_simai_simulate_simulate(&options);
        free(typed);
    }
    return exit_code;
}

static int cli_simai_simulate_run(const struct cli_command *self, int argc, char **argv)
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
    .run = cli_simai_simulate_run,
};
