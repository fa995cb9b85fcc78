/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab export` and `orrery lab import`: the store's runs as tables and documents, and old tables into it. */
#include "cli/lab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES = ORR_STORE_CALIBRATIONS + 1 };

struct tables_options {
    const char *store;
    const char *paths[TABLES]; /* by enum orr_store_table; "-": standard output; NULL: not asked for */
    bool strict;
    size_t file_count;
    const char **files; /* room for every word of the command line */
};

#define TABLE(which) .kind = PARAM_PATH, .value = "FILE", .place = offsetof(struct tables_options, paths[which])

/* The tables first, in their order. */
static const struct param export_rows[] = {
    {"csv", TABLE(ORR_STORE_RUNS_CSV), .help = "A row a run, with every column of the store's table of runs"},
    {"json", TABLE(ORR_STORE_RUNS_JSON),
     .help = "All runs with their inputs, settings and results (ns, bytes), and all calibrations"},
    {"metrics", TABLE(ORR_STORE_METRICS), .help = "metrics.csv: a row a run that is done"},
    {"calibrations", TABLE(ORR_STORE_CALIBRATIONS), .help = "calibration_all.csv: a row a calibration"},
    CLI_ROW_STORE(struct tables_options, store),
    {0},
};

static const struct param import_rows[] = {
    CLI_ROW_STRICT(struct tables_options, strict), CLI_ROW_STORE(struct tables_options, store), {0}};

static enum orr_status cli_lab_tables_take_file(void *into, const char *word, struct orr_error *err)
{
    struct tables_options *options = into;
    (void)err;
    options->files[options->file_count++] = word;
    return ORR_OK;
}

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ---- export ---- */

static enum orr_status check_table(const struct tables_options *options, int which, struct orr_error *err)
{
    const char *path = options->paths[which];
    const char *name = export_rows[which].name;
    char option[24];
    (void)snprintf(option, sizeof option, "--%s", name);
    if (cli_same_file(path, options->store)) {
        return error_set(err, ORR_EINVAL, "%s would replace the store %s", option, options->store);
    }
    for (int i = 0; i < which; i++) {
        if (options->paths[i] != NULL && !is_stdout(path) && strcmp(options->paths[i], path) == 0) {
            return error_set(err, ORR_EINVAL, "--%s and %s both write %s", export_rows[i].name, option, path);
        }
    }
    return is_stdout(path) ? ORR_OK : cli_check_name(option, path, err);
}

static enum orr_status check_export(const struct tables_options *options, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    int asked = 0;
    int printed = 0;
    for (int i = 0; status == ORR_OK && i < TABLES; i++) {
        const char *path = options->paths[i];
        asked += path != NULL ? 1 : 0;
        printed += path != NULL && is_stdout(path) ? 1 : 0;
        status = path != NULL ? check_table(options, i, err) : ORR_OK;
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

static int cli_lab_tables_run_export(const struct cli_command *self, int argc, char **argv)
{
    struct tables_options options = {.store = CLI_STORE_DEFAULT};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = check_export(&options, &err);
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
    for (size_t i = 0; status == ORR_OK && i < options->file_count; i++) {
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

static int cli_lab_tables_run_import(const struct cli_command *self, int argc, char **argv)
{
    struct tables_options options = {.store = CLI_STORE_DEFAULT, .files = calloc((size_t)argc, sizeof(char *))};
    struct orr_error err = {0};
    struct cli_warnings warnings = {.quiet = false};
    int code = 0;
    if (options.files == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory");
        return cli_fail(&err);
    }
    if (cli_begin(self, argc, argv, &options, &code)) {
        const struct orr_notices notices = cli_notices(&warnings, options.strict);
        enum orr_status status = import_all(&options, &notices, &err);
        cli_warnings_end(&warnings);
        code = cli_end(status, &err);
    }
    free(options.files);
    return code;
}

static const struct cli_usage export_usage = {
    .tables = (const struct param_table[]){{export_rows, 0, 0}, {0}},
    .about =
        "Write the contents of a result store to tables and documents; a FILE of - is standard output. metrics.csv and "
        "calibration_all.csv have the columns that scripts around ASTRA-sim on ROCm read; cycles are ns of one "
        "training step.",
    .examples = "  orrery lab export --csv runs.csv --json runs.json\n"
                "  orrery lab export --metrics metrics.csv --calibrations calibration_all.csv\n",
};

static const struct cli_usage import_usage = {
    .tables = (const struct param_table[]){{import_rows, 0, 0}, {0}},
    .forms = "FILE...",
    .about = "Import the rows of metrics.csv and calibration_all.csv files, of any version, into a result store: each "
             "becomes a run of the kind \"import\", and a calibration where it has an alpha. Rows that are already "
             "there are skipped. A file is imported completely or not at all.",
    .examples = "  orrery lab import metrics.csv\n"
                "  orrery lab import --store history.db metrics.csv calibration_all.csv\n",
    .argument = cli_lab_tables_take_file,
};

const struct cli_command cli_lab_export = {
    .name = "export", .summary = "write the store to tables", .usage = &export_usage, .run = cli_lab_tables_run_export};
const struct cli_command cli_lab_import = {.name = "import",
                                           .summary = "enter old metrics.csv files",
                                           .usage = &import_usage,
                                           .run = cli_lab_tables_run_import};
