/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calib`, and the two subcommands that use what `fit` made: `show` and `apply`. */
#include "cli/calib.h"
#include "cli/lab.h"

#include <stdlib.h>
#include <string.h>

struct calib_options {
    const char *store, *file;
    struct cli_forms forms;
    struct orr_calib_apply apply;
    bool strict;
};

#define AT(field) .place = offsetof(struct calib_options, field)

static const struct param show_rows[] = {
    CLI_ROW_STORE(struct calib_options, store), CLI_ROW_JSON(struct calib_options, forms.json), {0}};

static const struct param apply_rows[] = {
    {"system", .letter = 's', .kind = PARAM_PATH, .value = "FILE", AT(apply.system),
     .help = "System file (JSON): its copy gets the fitted bandwidth of local memory"},
    {"network", .letter = 'n', .kind = PARAM_PATH, .value = "FILE", AT(apply.network),
     .help = "Network file (YAML), or a physical topology: its copy gets the fitted bandwidth and latency of a link"},
    {"machine", "topology topo", .letter = 'm', .kind = PARAM_TEXT, .value = "NAME", AT(apply.machine),
     .help = "Or the files of this machine, with the fitted numbers in them: ring:8, dgx-h100:2 (docs/machines.md)"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .value = "DIR", AT(apply.folder),
     .help = "Required: the folder that the copies go to, under their own names"},
    {"dims", .kind = PARAM_TEXT, .value = "LIST", AT(apply.dims), .unwritten = "all",
     .help = "Which dimensions of a network.yml or a machine get the link: 0, or 0,1"},
    CLI_ROW_STRICT(struct calib_options, strict),
    {0},
};

static enum orr_status cli_calib_take_file(void *into, const char *word, struct orr_error *err)
{
    struct calib_options *options = into;
    (void)err;
    if (options->file != NULL) {
        return ORR_EINVAL;
    }
    options->file = word;
    return ORR_OK;
}

/* ---- show ---- */

static enum orr_status put_history(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    return orr_calib_history(context, form == ORR_FORM_JSON ? ORR_STORE_JSON : ORR_STORE_TEXT, stream, err);
}

static enum orr_status show(const struct calib_options *options, struct orr_error *err)
{
    const char *store = options->store != NULL ? options->store : CLI_STORE_DEFAULT;
    if (options->file == NULL) {
        enum orr_status status = cli_forms_check(&options->forms, (struct cli_inputs){&store, 1}, err);
        return status == ORR_OK ? cli_forms_put(&options->forms, put_history, (void *)(uintptr_t)store, err) : status;
    }
    if (options->store != NULL || options->forms.json != NULL) {
        return error_set(err, ORR_EINVAL, "%s is for the history of a store; a calibration file is JSON itself",
                         options->store != NULL ? "--store" : "--json");
    }
    return orr_calib_show(options->file, stdout, err);
}

/* ---- apply ---- */

static enum orr_status cli_calib_apply_one(struct calib_options *options, struct orr_error *err)
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

static int cli_calib_run(const struct cli_command *self, int argc, char **argv)
{
    struct calib_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    return cli_end(self == &cli_calib_show ? show(&options, &err) : cli_calib_apply_one(&options, &err), &err);
}

static const struct cli_usage show_usage = {
    .tables = (const struct param_table[]){{show_rows, 0, 0}, {0}},
    .forms = "[CALIB]",
    .about = "Show a calibration that orrery calib fit wrote, or, without one, the history of calibrations that a "
             "result store keeps, newest last.",
    .examples = "  orrery calib show calib.json\n"
                "  orrery calib show --store runs/orrery.db\n",
    .argument = cli_calib_take_file,
};

static const struct cli_usage apply_usage = {
    .tables = (const struct param_table[]){{apply_rows, 0, 0}, {0}},
    .forms = "CALIB",
    .about = "Write copies of a machine's files with the fitted numbers of a calibration in them: bandwidth and "
             "latency of links, bandwidth of local memory. What belongs to a run and not to a machine (the scale of "
             "compute, the overhead of launching a collective) is taken by orrery run --calibration CALIB.",
    .examples = "  orrery calib apply network.json --system system.json \\\n"
                "      --network network.yml -o calibrated\n"
                "  orrery calib apply network.json --machine ring:8 -o calibrated\n",
    .argument = cli_calib_take_file,
};

const struct cli_command cli_calib_show = {.name = "show",
                                           .summary = "show a calibration, or the history of a store",
                                           .usage = &show_usage,
                                           .run = cli_calib_run};
const struct cli_command cli_calib_apply = {.name = "apply",
                                            .summary = "write a machine's files with the fitted numbers in them",
                                            .usage = &apply_usage,
                                            .run = cli_calib_run};

static const struct cli_command *const commands[] = {&cli_calib_fit, &cli_calib_show, &cli_calib_apply, NULL};

const struct cli_command cli_calib = {
    .name = "calib",
    .summary = "calibrate simulations with measurements",
    .subcommands = commands,
    .about = "Examples:\n"
             "  orrery lab run --workload recording --topology auto:1d --auto-calibrate\n"
             "  orrery calib show\n",
    .run = cli_dispatch,
};
