/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calib`, and the two subcommands that use what `fit` made: `show` and `apply`. */
#include "cli/calib.h"
#include "cli/lab.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_STORE = 256, KEY_JSON, KEY_DIMS, KEY_STRICT };

struct calib_options {
    struct cli_input input;
    const char *store, *file, *json;
    struct orr_calib_apply apply;
    bool strict;
};

static const struct argp_option show_options[] = {
    {"store", KEY_STORE, "FILE", 0, CLI_STORE_HELP, 0},
    {"json", KEY_JSON, "OUT", 0, "The history as JSON: to standard output when OUT is -, else to the file OUT", 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp_option apply_options[] = {
    {"system", 's', "FILE", 0, "System file (JSON): its copy gets the fitted bandwidth of local memory", 0},
    {"network", 'n', "FILE", 0,
     "Network file (YAML), or a physical topology: its copy gets the fitted bandwidth and latency of a link", 0},
    {"output", 'o', "DIR", 0, "Required: the folder that the copies go to, under their own names", 0},
    {"dims", KEY_DIMS, "LIST", 0, "Which dimensions of a network.yml get the link: 0, or 0,1. Default: all", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct calib_options *options = state->input;
    const struct {
        int key;
        const char **text;
    } texts[] = {{KEY_STORE, &options->store},   {KEY_JSON, &options->json},    {'s', &options->apply.system},
                 {'n', &options->apply.network}, {'o', &options->apply.folder}, {KEY_DIMS, &options->apply.dims}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].key == key) {
            *texts[i].text = arg;
            return 0;
        }
    }
    if (key == KEY_STRICT) {
        options->strict = true;
        return 0;
    }
    if (key == ARGP_KEY_ARG && options->file == NULL) {
        options->file = arg;
        return 0;
    }
    return cli_options_default(key, arg, state);
}

/* ---- show ---- */

static enum orr_status show_json(const struct calib_options *options, const char *store, struct orr_error *err)
{
    if (strcmp(options->json, "-") == 0) {
        return orr_calib_history(store, ORR_STORE_JSON, stdout, err);
    }
    struct cli_text made;
    enum orr_status status = cli_same_file(options->json, store)
                                 ? error_set(err, ORR_EINVAL, "--json would replace the store %s", store)
                                 : cli_check_writable("--json", options->json, err);
    status = status != ORR_OK ? status : cli_text_open(&made, err);
    return status != ORR_OK
               ? status
               : cli_text_close(&made, orr_calib_history(store, ORR_STORE_JSON, made.stream, err), options->json, err);
}

static enum orr_status show(const struct calib_options *options, struct orr_error *err)
{
    const char *store = options->store != NULL ? options->store : CLI_STORE_DEFAULT;
    if (options->file == NULL) {
        return options->json != NULL ? show_json(options, store, err)
                                     : orr_calib_history(store, ORR_STORE_TEXT, stdout, err);
    }
    if (options->store != NULL || options->json != NULL) {
        return error_set(err, ORR_EINVAL, "%s is for the history of a store; a calibration file is JSON itself",
                         options->store != NULL ? "--store" : "--json");
    }
    return orr_calib_show(options->file, stdout, err);
}

/* ---- apply ---- */

static enum orr_status apply(struct calib_options *options, struct orr_error *err)
{
    struct cli_warnings warnings = {0};
    const struct orr_notices notices = cli_notices(&warnings, options->strict);
    if (options->file == NULL) {
        return error_set(err, ORR_EINVAL, "which calibration? orrery calib fit -o calib.json makes one");
    }
    if (options->apply.folder == NULL) {
        return error_set(err, ORR_EINVAL, "missing --output DIR: where the copies go");
    }
    options->apply.calibration = options->file;
    enum orr_status status = cli_check_folder("--output", options->apply.folder, err);
    status = status != ORR_OK ? status : orr_calib_apply(&options->apply, &notices, stdout, err);
    cli_warnings_end(&warnings);
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct calib_options options = {0};
    struct orr_error err = {0};
    bool is_show = strcmp(self->name, "show") == 0;
    if (argc == 1 && !is_show) {
        return cli_print_usage(self, argv[0]);
    }
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : is_show ? show(&options, &err) : apply(&options, &err);
    return cli_end(status, &err);
}

static const struct argp show_argp = {
    .options = show_options,
    .parser = parse,
    .args_doc = "[CALIB]",
    .doc = "Show a calibration that orrery calib fit wrote, or, without one, the history of calibrations that a result "
           "store keeps, newest last.\v"
           "Examples:\n"
           "  orrery calib show calib.json\n"
           "  orrery calib show --store runs/orrery.db\n",
};

static const struct argp apply_argp = {
    .options = apply_options,
    .parser = parse,
    .args_doc = "CALIB",
    .doc = "Write copies of a machine's files with the fitted numbers of a calibration in them: bandwidth and latency "
           "of links, bandwidth of local memory. What belongs to a run and not to a machine (the scale of compute, the "
           "overhead of launching a collective) is taken by orrery run --calibration CALIB.\v"
           "Examples:\n"
           "  orrery calib apply network.json --system system.json \\\n"
           "      --network network.yml -o calibrated\n",
};

const struct cli_command cli_calib_show = {
    .name = "show", .summary = "show a calibration, or the history of a store", .argp = &show_argp, .run = run};
const struct cli_command cli_calib_apply = {.name = "apply",
                                            .summary = "write a machine's files with the fitted numbers in them",
                                            .argp = &apply_argp,
                                            .run = run};

static const struct cli_command *const commands[] = {&cli_calib_fit, &cli_calib_show, &cli_calib_apply, NULL};

const struct cli_command cli_calib = {
    .name = "calib",
    .summary = "hold simulations against measurements, and use what was learnt",
    .subcommands = commands,
    .about = "Examples:\n"
             "  orrery lab run --workload recording --topology auto:1d --auto-calibrate\n"
             "  orrery calib show\n",
    .run = cli_dispatch,
};
