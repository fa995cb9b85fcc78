/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery cost`: what machines cost, and a step on them. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"

enum {
    KEY_PRICES = 256,
    KEY_TEMPLATE,
    KEY_STEP,
    KEY_RUN,
    KEY_STORE,
    KEY_SAMPLES,
    KEY_JSON,
    KEY_STRICT,
    KEY_GPUS,
    KEY_SERVERS,
    KEY_NICS,
    KEY_NVSWITCHES,
    KEY_LEAVES,
    KEY_SPINES,
    KEY_SWITCHES,
    KEY_LINKS,
    MACHINES_MOST = 64
};

struct cost_options {
    struct cli_input input;
    struct orr_cost_options cost;
    struct orr_cost_machine machines[MACHINES_MOST];
    struct orr_cost_counts counts;
    uint64_t steps[MACHINES_MOST];
    uint64_t runs[MACHINES_MOST];
    size_t step_count, run_count, what_count;
    const char *json; /* a path, "-", or NULL */
    bool template, by_hand, strict;
};

static const struct argp_option options_table[] = {
    {"prices", KEY_PRICES, "FILE", 0, "Price list (YAML). Default: examples, which are nobody's offer", 0},
    {"template", KEY_TEMPLATE, NULL, 0, "Print a price list to begin with, and do nothing else", 0},
    {"step-time", KEY_STEP, "TIME,...", 0,
     "How long a step takes: 662ms, 1.9s; bare: ms. One for each machine, or one for all", 0},
    {"run", KEY_RUN, "N,...", 0,
     "Take the time of a step from runs of the result store, one for each machine (0: the newest); without MACHINE, "
     "also the machine",
     0},
    {"store", KEY_STORE, "FILE", 0, CLI_STORE_HELP, 0},
    {"samples", KEY_SAMPLES, "N", 0, "Samples (or tokens) of a step, over all ranks: also tell samples for a unit", 0},
    {"gpus", KEY_GPUS, "N", 0, "Without MACHINE: GPUs", 1},
    {"servers", KEY_SERVERS, "N", 0, "Without MACHINE: servers. Default: by the price list's gpus-per-server", 1},
    {"nics", KEY_NICS, "N", 0, "Without MACHINE: NICs. Default: by the price list's nics-per-server", 1},
    {"nvswitches", KEY_NVSWITCHES, "N", 0, "Without MACHINE: switches inside servers. Default: none", 1},
    {"leaves", KEY_LEAVES, "N", 0, "Without MACHINE: switches that GPUs are on. Default: none", 1},
    {"spines", KEY_SPINES, "N", 0, "Without MACHINE: switches without GPUs. Default: none", 1},
    {"switches", KEY_SWITCHES, "N", 0, "Without MACHINE: switches of any level. Default: none", 1},
    {"links", KEY_LINKS, "N", 0, "Without MACHINE: cables. Default: none", 1},
    {"json", KEY_JSON, "OUT", 0, "Write JSON to the file OUT instead, or to standard output when OUT is -", 2},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 2},
    CLI_HELP_OPTION,
    {0},
};

/* Calls `take` with each piece of "a,b,c". */
static enum orr_status read_list(const char *option, char *text, size_t *count, uint64_t *values,
                                 enum orr_status (*take)(const char *option, const char *piece, uint64_t *value,
                                                         struct orr_error *err),
                                 struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (char *piece = text; piece != NULL && status == ORR_OK;) {
        char *comma = strchr(piece, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        status = *count == MACHINES_MOST ? error_set(err, ORR_ERANGE, "%s: more than %d values", option, MACHINES_MOST)
                                         : take(option, piece, &values[*count], err);
        *count += status == ORR_OK;
        piece = comma == NULL ? NULL : comma + 1;
    }
    return status;
}

static enum orr_status take_time(const char *option, const char *piece, uint64_t *value, struct orr_error *err)
{
    enum orr_status status = param_parse_time(option, piece, "ms", value, err);
    if (status == ORR_OK && *value == 0) {
        return error_set(err, ORR_EINVAL, "%s: a step takes longer than 0", option);
    }
    return status;
}

static enum orr_status take_run(const char *option, const char *piece, uint64_t *value, struct orr_error *err)
{
    return param_parse_count(option, piece, 0, INT64_MAX, value, err);
}

static error_t parse_count(int key, char *arg, struct cost_options *options)
{
    const struct {
        const char *name;
        uint64_t *value;
    } rows[] = {{"--gpus", &options->counts.gpus},         {"--servers", &options->counts.servers},
                {"--nics", &options->counts.nics},         {"--nvswitches", &options->counts.nvswitches},
                {"--leaves", &options->counts.leaves},     {"--spines", &options->counts.spines},
                {"--switches", &options->counts.switches}, {"--links", &options->counts.links}};
    options->by_hand = true;
    return cli_options_status(param_parse_count(rows[key - KEY_GPUS].name, arg, 0, UINT64_C(1) << 40,
                                                rows[key - KEY_GPUS].value, &options->input.error));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cost_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_PRICES:
        options->cost.prices = arg;
        return 0;
    case KEY_TEMPLATE:
        options->template = true;
        return 0;
    case KEY_STEP:
        return cli_options_status(read_list("--step-time", arg, &options->step_count, options->steps, take_time, err));
    case KEY_RUN:
        return cli_options_status(read_list("--run", arg, &options->run_count, options->runs, take_run, err));
    case KEY_STORE:
        options->cost.store = arg;
        return 0;
    case KEY_SAMPLES:
        return cli_options_status(
            param_parse_count("--samples", arg, 1, UINT64_C(1) << 50, &options->cost.samples, err));
    case KEY_JSON:
        options->json = arg;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->what_count == MACHINES_MOST) {
            return cli_options_status(error_set(err, ORR_ERANGE, "more than %d machines", MACHINES_MOST));
        }
        options->machines[options->what_count++].what = arg;
        return 0;
    default:
        return key >= KEY_GPUS && key <= KEY_LINKS ? parse_count(key, arg, options)
                                                   : cli_options_default(key, arg, state);
    }
}

/* Who is costed, and with which step. */
static enum orr_status line_up(struct cost_options *options, struct orr_error *err)
{
    size_t count = options->what_count > 0 ? options->what_count : options->by_hand ? 1 : options->run_count;
    if (count == 0) {
        return error_set(err, ORR_EINVAL,
                         "no machine given: a topology file, a line such as 'dgx-h100:16 > rail:400Gbps > spine:8', "
                         "--run N or --gpus N");
    }
    if (options->what_count > 0 && options->by_hand) {
        return error_set(err, ORR_EINVAL, "--gpus, --switches and the like are for a machine without a topology");
    }
    if (options->run_count > 0 && options->run_count != count) {
        return error_set(err, ORR_EINVAL, "--run names %zu runs for %zu machines", options->run_count, count);
    }
    if (options->step_count > 1 && options->step_count != count) {
        return error_set(err, ORR_EINVAL, "--step-time has %zu times for %zu machines", options->step_count, count);
    }
    for (size_t i = 0; i < count; i++) {
        struct orr_cost_machine *machine = &options->machines[i];
        bool counted = options->what_count == 0 && options->by_hand;
        machine->counts = options->counts;
        machine->run = options->run_count == 0 || counted ? ORR_COST_NO_RUN : (int64_t)options->runs[i];
        machine->step_ns = options->step_count == 0 ? 0 : options->steps[options->step_count == 1 ? 0 : i];
    }
    if (options->run_count > 0 && options->what_count == 0 && options->by_hand) {
        return error_set(err, ORR_EINVAL, "--run and --gpus both say which machine it is");
    }
    options->cost.machines = options->machines;
    options->cost.machine_count = count;
    return ORR_OK;
}

static enum orr_status check_output(const struct cost_options *options, struct orr_error *err)
{
    if (options->json == NULL || strcmp(options->json, "-") == 0) {
        return ORR_OK;
    }
    const char *store = options->cost.store == NULL ? CLI_STORE_DEFAULT : options->cost.store;
    bool replaces = cli_same_file(options->json, options->cost.prices) || cli_same_file(options->json, store);
    for (size_t i = 0; i < options->what_count; i++) {
        replaces = replaces || cli_same_file(options->json, options->machines[i].what);
    }
    return replaces ? error_set(err, ORR_EINVAL, "--json would replace a file that is read: %s", options->json)
                    : cli_check_writable("--json", options->json, err);
}

static enum orr_status count(const struct cost_options *options, const struct orr_notices *notices,
                             struct orr_error *err)
{
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    if (status == ORR_OK) {
        status = orr_cost(&options->cost, options->json != NULL, notices, made.stream, err);
        status = cli_text_close(&made, status, options->json, err);
    }
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct cost_options options = {0};
    struct cli_warnings warnings = {0};
    struct orr_error err = {0};
    if (argc == 1) {
        return cli_print_usage(self, argv[0]);
    }
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK && options.template) {
        return cli_end(orr_cost_template(stdout, &err), &err);
    }
    status = status == ORR_OK ? line_up(&options, &err) : status;
    status = status == ORR_OK ? check_output(&options, &err) : status;
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&warnings, options.strict);
        status = count(&options, &notices, &err);
        cli_warnings_end(&warnings);
    }
    return status == ORR_OK ? 0 : cli_fail(&err);
}

static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .args_doc = "[MACHINE...]",
    .doc = "Tell what machines cost by a price list that you edit: a bill of GPUs, servers, NICs, switches and cables, "
           "what an hour costs, and with the time of a step what a step costs and how many steps one gets for a unit "
           "of the currency. A MACHINE is a topology file, a name of orrery lab run (128gpu_torus3d_16), a name of "
           "orrery topo list, or a line of orrery topo make; with several, each is set beside the first.\v"
           "Examples:\n"
           "  orrery cost --template > prices.yml\n"
           "  orrery cost --prices prices.yml 'dgx-h100:16 > rail:400Gbps > spine:8'\n"
           "  orrery cost --prices prices.yml fat-tree torus --step-time 1.9s,2.6s\n"
           "  orrery cost --prices prices.yml --gpus 128 --switches 24\n"
           "  orrery cost --prices prices.yml --run 1\n",
};

const struct cli_command cli_cost = {
    .name = "cost", .summary = "what machines cost, and a step on them", .argp = &argp, .run = run};
