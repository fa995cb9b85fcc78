/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery coll time`, `coll compare` and `coll fit`: how long collectives take, how right that is, and where it is
 * from. */
#include "cli/coll.h"

#include <string.h>

enum { LOGS_MOST = 64 };

struct time_options {
    struct orr_coll_sweep sweep;
    const char *logs[LOGS_MOST];
    const char *table, *output;
    struct cli_forms forms;
    uint64_t memory_limit;
};

static enum orr_status read_log(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct time_options *options = into;
    (void)row;
    struct orr_coll_machine *machine = &options->sweep.machine;
    if (machine->measured_count == LOGS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter 'measured': more than %d files", LOGS_MOST);
    }
    options->logs[machine->measured_count++] = text;
    machine->measured = options->logs;
    return ORR_OK;
}

#define AT(field) .place = offsetof(struct time_options, field)

static const struct param time_rows[] = {
    {"table", .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", AT(table),
     .help = "Predict every row of a table with columns gpu, nodes, gpus_per_node, op, bytes (source, nccl, us_median, "
             "us_best where known) instead; needs --output"},
    {"measured", .kind = PARAM_READ, .group = PARAM_NETWORK, .flags = PARAM_MANY, .value = "FILE", .read = read_log,
     .help = "A log of nccl-tests or rccl-tests of this machine, or a table that calib fit --bench reads: goes before "
             "what is shipped"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_DASH, .value = "OUT",
     AT(output), .help = "Of --table: the table with predicted_us, algorithm, protocol, method and status"},
    CLI_ROW_JSON(struct time_options, forms.json),
    CLI_ROW_LIMIT(struct time_options, memory_limit),
    {0},
};

static const struct param_table time_tables[] = {
    {param_coll_sweep, 0, offsetof(struct time_options, sweep)}, {time_rows, 0, 0}, {0}};

static const uint64_t bytes_unsaid = UINT64_MAX;

static bool said_bytes(const struct time_options *options)
{
    return options->sweep.question.bytes != bytes_unsaid;
}

static enum orr_status cli_coll_time_run_table(const struct time_options *options, struct orr_error *err)
{
    bool is_file = options->output != NULL && strcmp(options->output, "-") != 0;
    struct orr_coll_table table = {.path = options->table,
                                   .output = is_file ? options->output : NULL,
                                   .machine = options->sweep.machine,
                                   .algo = options->sweep.question.algo,
                                   .proto = options->sweep.question.proto,
                                   .memory_limit = options->memory_limit};
    if (options->output == NULL) {
        return error_set(err, ORR_EINVAL, "--table needs --output, the file to write");
    }
    if (cli_same_file(options->table, options->output)) {
        return error_set(err, ORR_EINVAL, "--output is the table itself");
    }
    if (options->forms.json != NULL || said_bytes(options) || options->sweep.question.op != ORR_COLL_OP_COUNT) {
        return error_set(err, ORR_EINVAL,
                         "--table says operations and bytes itself and is written as a table: %s is "
                         "not for it",
                         options->forms.json != NULL ? "--json"
                         : said_bytes(options)       ? "--bytes"
                                                     : "--op");
    }
    enum orr_status status = is_file ? cli_check_writable("--output", options->output, err) : ORR_OK;
    return status == ORR_OK ? orr_coll_table(&table, is_file ? stderr : stdout, err) : status;
}

static enum orr_status put_sweep(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct orr_coll_sweep *sweep = context;
    sweep->json = form == ORR_FORM_JSON;
    return orr_coll_sweep(sweep, stream, err);
}

static enum orr_status cli_coll_time_run_sweep(struct time_options *options, struct orr_error *err)
{
    if (options->output != NULL) {
        return error_set(err, ORR_EINVAL, "--output is for --table");
    }
    if (!said_bytes(options)) {
        options->sweep.question.bytes = 8;
        options->sweep.last_bytes = (uint64_t)16 << 30;
    }
    if (options->sweep.question.op == ORR_COLL_OP_COUNT) {
        options->sweep.question.op = ORR_COLL_OP_ALL_REDUCE;
    }
    const struct cli_inputs inputs = {options->logs, options->sweep.machine.measured_count};
    enum orr_status status = cli_forms_check(&options->forms, inputs, err);
    return status == ORR_OK ? cli_forms_put(&options->forms, put_sweep, &options->sweep, err) : status;
}

static int run_time(const struct cli_command *self, int argc, char **argv)
{
    struct time_options options = {.table = NULL};
    struct orr_error err = {0};
    int code = 0;
    param_defaults(time_tables, &options);
    options.sweep.question.op = ORR_COLL_OP_COUNT; /* not said */
    options.sweep.question.bytes = bytes_unsaid;
    if (cli_begin(self, argc, argv, &options, &code)) {
        enum orr_status status = cli_limit_default(&options.memory_limit, &err);
        if (status == ORR_OK) {
            status = options.table != NULL ? cli_coll_time_run_table(&options, &err)
                                           : cli_coll_time_run_sweep(&options, &err);
        }
        code = cli_end(status, &err);
    }
    return code;
}

static const char *const time_headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "Which collective:", [PARAM_NETWORK] = "Algorithm and network:"};

static const struct cli_usage time_usage = {
    .tables = time_tables,
    .headings = time_headings,
    .about = "How long a collective takes with NCCL or RCCL: the algorithm and protocol the library would choose, time "
             "and bus bandwidth, next to measurements on such machines. See docs/collective-times.md.",
    .examples = "  orrery coll time --machine dgx-h100:2 --op all-reduce --bytes 8B..16GiB\n"
                "  orrery coll time --gpu gb200 --gpus-per-node 4 --op all-gather \\\n"
                "      --nccl-version 2.29.2\n"
                "  orrery coll time --machine dgx-h100:2 --algo ring --bytes 1MiB\n"
                "  orrery coll time --machine dgx-h100 --measured all_reduce_perf.txt\n"
                "  orrery coll time --table collectives.csv -o predicted.csv\n",
};

const struct cli_command cli_coll_time = {.name = "time",
                                          .summary = "how long collectives take as NCCL and RCCL do them",
                                          .usage = &time_usage,
                                          .run = run_time};

/* ---- compare ---- */

struct compare_options {
    struct orr_coll_compare compare;
    struct cli_forms forms;
    struct cli_words files;
    double worst; /* percent */
};

static const struct param compare_rows[] = {
    {"page", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE.md",
     .place = offsetof(struct compare_options, compare.page), .help = "Also write the table as a page"},
    {"svg", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE.svg",
     .place = offsetof(struct compare_options, compare.picture), .help = "Also draw predicted against measured"},
    {"worst", .kind = PARAM_REAL, .group = PARAM_WHAT, .value = "PERCENT",
     .place = offsetof(struct compare_options, worst), .real_least = 0, .real_most = 1e6, .unwritten = "any",
     .help = "Fail where a machine whose curves are shipped is further off than this"},
    CLI_ROW_JSON(struct compare_options, forms.json),
    CLI_ROW_CSV(struct compare_options, forms.csv),
    CLI_ROW_LIMIT(struct compare_options, compare.memory_limit),
    {0},
};

static const struct param_table compare_tables[] = {{compare_rows, 0, 0}, {0}};

static int run_compare(const struct cli_command *self, int argc, char **argv)
{
    struct compare_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    struct orr_coll_compare *compare = &options.compare;
    compare->paths = (const char *const *)options.files.list;
    compare->count = options.files.count;
    compare->worst = options.worst / 100;
    compare->json = options.forms.json;
    compare->csv = options.forms.csv;
    bool to_stdout = compare->page != NULL && strcmp(compare->page, "-") == 0;
    enum orr_status status = cli_limit_default(&compare->memory_limit, &err);
    if (status == ORR_OK) {
        status = cli_forms_check(&options.forms, (struct cli_inputs){compare->paths, compare->count}, &err);
    }
    if (status == ORR_OK && to_stdout &&
        ((compare->json != NULL && strcmp(compare->json, "-") == 0) ||
         (compare->csv != NULL && strcmp(compare->csv, "-") == 0))) {
        status = error_set(&err, ORR_EINVAL, "--page - and --json - or --csv - both want standard output");
    }
    if (status == ORR_OK && compare->page != NULL && !to_stdout) {
        status = cli_check_writable("--page", compare->page, &err);
    }
    if (status == ORR_OK && compare->picture != NULL) {
        status = cli_check_writable("--svg", compare->picture, &err);
    }
    return cli_end(status == ORR_OK ? orr_coll_compare(compare, stdout, &err) : status, &err);
}

static const struct cli_usage compare_usage = {
    .tables = compare_tables,
    .forms = "TABLE...",
    .words = offsetof(struct compare_options, files),
    .about =
        "Compare predicted times of collectives with measured ones, machine by machine: mean, median, 90th percentile "
        "and worst error, bias, the error above 16 MiB, and the error with the machine's own measurements left out.",
    .examples = "  orrery coll compare collectives.csv\n"
                "  orrery coll compare collectives.csv --page accuracy.md --svg accuracy.svg\n",
};

const struct cli_command cli_coll_compare = {.name = "compare",
                                             .summary = "predicted times of collectives against measured ones",
                                             .usage = &compare_usage,
                                             .run = run_compare};

/* ---- fit ---- */

struct fit_options {
    struct orr_coll_fit fit;
    struct cli_words files;
    double worst; /* percent */
};

static const struct param fit_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FOLDER",
     .place = offsetof(struct fit_options, fit.folder),
     .help = "Write gpus.csv, fabrics.csv and curves.csv, as presets/collectives has them"},
    {"ship", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "SOURCE,...",
     .place = offsetof(struct fit_options, fit.ship), .unwritten = "none",
     .help = "Sources whose curves may be written; NAME* for all that begin so"},
    {"worst", .kind = PARAM_REAL, .group = PARAM_WHAT, .value = "PERCENT", .place = offsetof(struct fit_options, worst),
     .real_least = 0, .real_most = 1e6, .unwritten = "any",
     .help = "Fail where the model alone is further from the rows of one GPU or network than this"},
    CLI_ROW_LIMIT(struct fit_options, fit.memory_limit),
    {0},
};

static const struct param_table fit_tables[] = {{fit_rows, 0, 0}, {0}};

static int cli_coll_time_run_fit(const struct cli_command *self, int argc, char **argv)
{
    struct fit_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    struct orr_coll_fit *fit = &options.fit;
    fit->paths = (const char *const *)options.files.list;
    fit->count = options.files.count;
    fit->worst = options.worst / 100;
    enum orr_status status = cli_limit_default(&fit->memory_limit, &err);
    if (status == ORR_OK && fit->folder != NULL) {
        status = cli_check_folder("--output", fit->folder, &err);
    }
    return cli_end(status == ORR_OK ? orr_coll_fit(fit, stdout, &err) : status, &err);
}

static const struct cli_usage fit_usage = {
    .tables = fit_tables,
    .forms = "TABLE...",
    .words = offsetof(struct fit_options, files),
    .about = "Make the data behind collective times from measurements: curves of the sources that may be "
             "shipped, and the constants of GPUs and networks. The same tables give the same files.",
    .examples = "  orrery coll fit collectives.csv --ship 'mine*' -o fitted\n",
};

const struct cli_command cli_coll_fit = {.name = "fit",
                                         .summary = "constants and curves of collectives from measurements",
                                         .usage = &fit_usage,
                                         .run = cli_coll_time_run_fit};
