/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab export` and `orrery lab import`: the store's runs as tables and documents, and old tables into it. */
#include "cli/lab.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_STORE = 256, KEY_STRICT, KEY_TABLE };

/* As enum orr_store_table. */
static const char *const table_options[] = {"--csv", "--json", "--metrics", "--calibrations"};
enum { TABLES = sizeof table_options / sizeof table_options[0] };

struct tables_options {
    struct cli_input input;
    const char *store;
    const char *paths[TABLES]; /* "-": standard output; NULL: not asked for */
    bool strict;
    int file_count;
    char **files;
};

static const struct argp_option export_options[] = {
    {"csv", KEY_TABLE + ORR_STORE_RUNS_CSV, "FILE", 0, "A row a run, with every column of the store's table of runs",
     0},
    {"json", KEY_TABLE + ORR_STORE_RUNS_JSON, "FILE", 0,
     "All runs with their inputs, settings and results (ns, bytes), and all calibrations", 0},
    {"metrics", KEY_TABLE + ORR_STORE_METRICS, "FILE", 0, "metrics.csv: a row a run that is done", 0},
    {"calibrations", KEY_TABLE + ORR_STORE_CALIBRATIONS, "FILE", 0, "calibration_all.csv: a row a calibration", 0},
    {"store", KEY_STORE, "FILE", 0, CLI_STORE_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp_option import_options[] = {
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"store", KEY_STORE, "FILE", 0, CLI_STORE_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tables_options *options = state->input;
    if (key >= KEY_TABLE && key < KEY_TABLE + TABLES) {
        options->paths[key - KEY_TABLE] = arg;
        return 0;
    }
    switch (key) {
    case KEY_STORE:
        options->store = arg;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

static error_t parse_files(int key, char *arg, struct argp_state *state)
{
    struct tables_options *options = state->input;
    if (key == ARGP_KEY_ARGS) {
        options->files = state->argv + state->next;
        options->file_count = state->argc - state->next;
        return 0;
    }
    return key == ARGP_KEY_ARG ? ARGP_ERR_UNKNOWN : parse(key, arg, state);
}

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ---- export ---- */

static enum orr_status check_export(const struct tables_options *options, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    int asked = 0;
    int printed = 0;
    for (int i = 0; status == ORR_OK && i < TABLES; i++) {
        const char *path = options->paths[i];
        if (path == NULL) {
            continue;
        }
        asked++;
        printed += is_stdout(path) ? 1 : 0;
        if (cli_same_file(path, options->store)) {
            status = error_set(err, ORR_EINVAL, "%s would replace the store %s", table_options[i], options->store);
        } else if (!is_stdout(path)) {
            status = cli_check_name(table_options[i], path, err);
        }
        for (int k = 0; status == ORR_OK && k < i; k++) {
            if (options->paths[k] != NULL && !is_stdout(path) && strcmp(options->paths[k], path) == 0) {
                status =
                    error_set(err, ORR_EINVAL, "%s and %s both write %s", table_options[k], table_options[i], path);
            }
        }
    }
    if (status == ORR_OK && asked == 0) {
        status = error_set(err, ORR_EINVAL,
                           "nothing to export: give --csv, --json, --metrics or --calibrations with a FILE");
    }
    if (status == ORR_OK && printed > 1) {
        status = error_set(err, ORR_EINVAL, "only one table can go to standard output");
    }
    return status;
}

static enum orr_status export_all(const struct tables_options *options, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    bool quiet = false;
    for (int i = 0; i < TABLES; i++) {
        quiet = quiet || (options->paths[i] != NULL && is_stdout(options->paths[i]));
    }
    for (int i = 0; status == ORR_OK && i < TABLES; i++) {
        const char *path = options->paths[i];
        uint64_t rows = 0;
        if (path == NULL) {
            continue;
        }
        status = orr_store_export(options->store, (enum orr_store_table)i, is_stdout(path) ? NULL : path, stdout, &rows,
                                  err);
        if (status == ORR_OK && !quiet) {
            (void)printf("Wrote %s: %" PRIu64 " %s%s.\n", path, rows,
                         i == ORR_STORE_CALIBRATIONS ? "calibration" : "run", rows == 1 ? "" : "s");
        }
    }
    return status;
}

static int run_export(const struct cli_command *self, int argc, char **argv)
{
    struct tables_options options = {.store = CLI_STORE_DEFAULT};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : check_export(&options, &err);
    status = status != ORR_OK ? status : export_all(&options, &err);
    return cli_end(status, &err);
}

/* ---- import ---- */

static enum orr_status import_all(const struct tables_options *options, const struct orr_notices *notices,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (options->file_count == 0) {
        return error_set(err, ORR_EINVAL, "missing FILE: a metrics.csv or calibration_all.csv");
    }
    for (int i = 0; status == ORR_OK && i < options->file_count; i++) {
        struct orr_store_imported imported = {0};
        status = orr_store_import(options->store, options->files[i], notices, &imported, err);
        if (status == ORR_OK) {
            (void)printf("%s: %" PRIu64 " row%s: %" PRIu64 " run%s and %" PRIu64 " calibration%s entered, %" PRIu64
                         " there already, %" PRIu64 " left out\n",
                         options->files[i], imported.rows, imported.rows == 1 ? "" : "s", imported.runs,
                         imported.runs == 1 ? "" : "s", imported.calibrations, imported.calibrations == 1 ? "" : "s",
                         imported.known, imported.bad);
        }
    }
    return status;
}

static int run_import(const struct cli_command *self, int argc, char **argv)
{
    struct tables_options options = {.store = CLI_STORE_DEFAULT};
    struct orr_error err = {0};
    struct cli_warnings warnings = {.quiet = false};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    const struct orr_notices notices = cli_notices(&warnings, options.strict);
    if (status == ORR_OK) {
        status = import_all(&options, &notices, &err);
        cli_warnings_end(&warnings);
    }
    return cli_end(status, &err);
}

static const struct argp export_argp = {
    .options = export_options,
    .parser = parse,
    .doc = "Write what a result store holds to tables and documents; a FILE of - is standard output. metrics.csv and "
           "calibration_all.csv have the columns that scripts around ASTRA-sim on ROCm read; cycles are ns of one "
           "training step.\v"
           "Examples:\n"
           "  orrery lab export --csv runs.csv --json runs.json\n"
           "  orrery lab export --metrics metrics.csv --calibrations calibration_all.csv\n",
};

static const struct argp import_argp = {
    .options = import_options,
    .parser = parse_files,
    .args_doc = "FILE...",
    .doc =
        "Enter the rows of metrics.csv and calibration_all.csv files, of any age, into a result store: each becomes a "
        "run of the kind \"import\", and a calibration where it has an alpha. Rows that are there already are not "
        "entered again. A file is entered whole or not at all.\v"
        "Examples:\n"
        "  orrery lab import metrics.csv\n"
        "  orrery lab import --store history.db metrics.csv calibration_all.csv\n",
};

const struct cli_command cli_lab_export = {
    .name = "export", .summary = "write the store to tables", .argp = &export_argp, .run = run_export};
const struct cli_command cli_lab_import = {
    .name = "import", .summary = "enter old metrics.csv files", .argp = &import_argp, .run = run_import};
