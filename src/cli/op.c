/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery op`: how long one operator takes. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct op_options {
    struct orr_op_table_options table;
    struct orr_op_fit_options fit;
    struct orr_op_compare_options compare;
    struct orr_op_bench_options bench;
    const char *shape;
    const char **words; /* room for every word of the command line */
    size_t word_count;
    const char **files;
    size_t file_count;
    bool full, quiet;
    struct cli_forms forms;
};

static enum orr_status cli_op_take_word(void *into, const char *word, struct orr_error *err)
{
    struct op_options *options = into;
    (void)err;
    options->words[options->word_count++] = word;
    return ORR_OK;
}

static enum orr_status read_data(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct op_options *options = into;
    (void)row;
    (void)err;
    options->files[options->file_count++] = text;
    return ORR_OK;
}

#define AT(field) .place = offsetof(struct op_options, field)

#define ROWS_WHAT                                                                                                      \
    {"op", .kind = PARAM_TEXT, .value = "NAME", AT(table.op),                                                          \
     .help = "The operator of rows without a column op: gemm, attention-forward, layernorm-backward; all: orrery op "  \
             "list"},                                                                                                  \
        {"device", .kind = PARAM_TEXT, .value = "NAME", AT(table.device),                                              \
         .help = "The device of rows without a column device: h100, gb300, mi300x ..."},                               \
        {"dtype",                                                                                                      \
         .kind = PARAM_TEXT,                                                                                           \
         .value = "NAME",                                                                                              \
         AT(table.dtype),                                                                                              \
         .unwritten = "bf16",                                                                                          \
         .help = "The type of number of rows without a column dtype: bf16, fp16, fp8, fp8_block, nvfp4, tf32, fp32"},  \
    {                                                                                                                  \
        "stack",                                                                                                       \
            .kind = PARAM_TEXT, .value = "NAME", AT(table.stack),                                                      \
            .unwritten = "by the column stack, else by the table: docs/operators.md",                                  \
            .help =                                                                                                    \
                "Whose kernels: serving (the best of three inference stacks), torch (one call of PyTorch), kernel "    \
                "(the same on the device alone)"                                                                       \
    }

#define ROW_DATA                                                                                                       \
    {                                                                                                                  \
        "data", .kind = PARAM_READ, .flags = PARAM_MANY, .value = "FILE", .read = read_data,                           \
                .help = "Measurements of your own, as orrery op import wrote them; they go before those that come "    \
                        "with the program. May be given often"                                                         \
    }

static const struct param predict_rows[] = {
    ROWS_WHAT,
    {"shape", .kind = PARAM_TEXT, .value = "DIMS", AT(shape),
     .help = "One operator: its dimensions with x between them, 4096x14336x4096; attention is "
             "BATCHxHEADSxSEQxHEAD_DIM"},
    {"full", .kind = PARAM_FLAG, AT(full), .help = "Attention over all keys, where causal is meant otherwise"},
    {"table", .kind = PARAM_PATH, .value = "FILE", AT(table.input),
     .help = "Many: a table (CSV, also packed), one operator a row; docs/operators.md has the columns"},
    ROW_DATA,
    {"without", .kind = PARAM_TEXT, .flags = PARAM_RARE, .value = "DEVICES", AT(table.without),
     .help = "As if nothing had been measured on these devices, commas between them"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_DASH, .value = "OUT",
     AT(table.output), .unwritten = "standard output", .help = "The table with predicted_us and what it rests on"},
    CLI_ROW_JSON(struct op_options, forms.json),
    CLI_ROW_LIMIT(struct op_options, table.memory_limit),
    CLI_ROW_QUIET(struct op_options, quiet),
    {0},
};

static const struct param_table predict_tables[] = {{predict_rows, 0, 0}, {0}};

static const struct cli_usage predict_usage = {
    .tables = predict_tables,
    .forms = "--table FILE -o OUT\n--op NAME --device NAME --shape DIMS",
    .about = "How long an operator takes on a device: from measurements, interpolated between measured shapes, or "
             "scaled from a related device. The answer says which.",
    .examples = "  orrery op predict --op gemm --device h100 --shape 4096x14336x4096\n"
                "  orrery op predict --table shapes.csv --device gb300 -o predicted.csv\n",
};

/* A question, and the data it is asked of. */
struct asked {
    const struct op_options *options;
    struct orr_op_data *data;
    struct orr_op op;
};

static enum orr_status cli_op_put_one(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct asked *asked = context;
    const struct orr_op_table_options *table = &asked->options->table;
    return orr_op_tell(asked->data, table->device, table->stack, &asked->op, form, stream, err);
}

static enum orr_status predict_one(const struct op_options *options, struct orr_error *err)
{
    struct asked asked = {.options = options, .op = {.full = options->full}};
    if (options->table.op == NULL || options->table.device == NULL || options->shape == NULL) {
        return error_set(err, ORR_EINVAL, "missing --table FILE, or --op NAME --device NAME --shape DIMS");
    }
    enum orr_status status = orr_op_kind_find(options->table.op, &asked.op.kind, err);
    status = status == ORR_OK && options->table.dtype != NULL
                 ? orr_op_dtype_find(options->table.dtype, &asked.op.dtype, err)
                 : status;
    status = status != ORR_OK ? status : orr_op_shape(options->shape, &asked.op, err);
    status = status != ORR_OK ? status : orr_op_data_open(options->files, options->file_count, &asked.data, err);
    status = status != ORR_OK ? status : cli_forms_put(&options->forms, cli_op_put_one, &asked, err);
    orr_op_data_close(asked.data);
    return status;
}

static enum orr_status cli_op_predict(struct op_options *options, struct orr_error *err)
{
    struct orr_op_table_result result = {0};
    options->table.files = options->files;
    options->table.file_count = options->file_count;
    if (options->table.output != NULL && strcmp(options->table.output, "-") == 0) {
        options->table.output = NULL; /* standard output */
    }
    if (options->table.input == NULL && options->table.output != NULL) {
        return error_set(err, ORR_EINVAL, "--output is for --table");
    }
    if (options->table.input == NULL) {
        return predict_one(options, err);
    }
    if (options->shape != NULL || options->forms.json != NULL) {
        return error_set(err, ORR_EINVAL, "%s is for one operator, --table for many: one of them",
                         options->shape != NULL ? "--shape" : "--json");
    }
    if (cli_same_file(options->table.input, options->table.output)) {
        return error_set(err, ORR_EINVAL, "--output is the table itself");
    }
    enum orr_status status = orr_op_predict_table(&options->table, stdout, &result, err);
    if (status == ORR_OK && result.refused > 0 && !options->quiet) {
        (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " rows were not understood: column status says why\n",
                      result.refused, result.rows);
    }
    if (status == ORR_OK && result.measured > 0 && !options->quiet) {
        (void)fprintf(stderr,
                      "%" PRIu64 " rows, %" PRIu64 " with a time: mean error %.2f %%, median %.2f %%, 90th percentile "
                      "%.2f %%, worst %.0f %%, bias %+.2f %%\n",
                      result.rows, result.measured, 100 * result.mean, 100 * result.median, 100 * result.p90,
                      100 * result.worst, 100 * result.bias);
    }
    return status;
}

static const struct param list_rows[] = {
    {"device", .kind = PARAM_TEXT, .value = "NAME", AT(table.device),
     .help = "That device's sets alone, with the constants of each and what they mean"},
    ROW_DATA,
    CLI_ROW_JSON(struct op_options, forms.json),
    CLI_ROW_CSV(struct op_options, forms.csv),
    {0},
};
static const struct param_table list_tables[] = {{list_rows, 0, 0}, {0}};
static const struct cli_usage list_usage = {
    .tables = list_tables,
    .forms = "[--device NAME]",
    .about = "What was measured on which device, how many rows, and how well each row is predicted from the others.",
    .examples = "  orrery op list --device h100\n",
};

static const struct param fit_rows[] = {
    ROWS_WHAT,
    {"only", .kind = PARAM_TEXT, .value = "DEVICE:OP:DTYPE", AT(fit.only),
     .help = "Fit these alone; parts may be empty"},
    {"source", .kind = PARAM_TEXT, .value = "TEXT", AT(fit.source), .unwritten = "the first table's name",
     .help = "Where the measurements come from, for the data file"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FOLDER", AT(fit.output),
     .help = "Writes DEVICE.ops.zst for each device there"},
    CLI_ROW_LIMIT(struct op_options, fit.memory_limit),
    {0},
};
static const struct param_table fit_tables[] = {{fit_rows, 0, 0}, {0}};
static const struct cli_usage fit_usage = {
    .tables = fit_tables,
    .forms = "TABLE... [-o FOLDER]",
    .about = "Fit the operator model to tables of measurements (CSV with a time in us or us_best), one data file per "
             "device, and print how well each row is predicted from the others.",
    .examples = "  orrery op fit measured.csv -o fitted\n",
    .argument = cli_op_take_word,
};

static const struct param import_rows[] = {
    ROWS_WHAT,
    {"source", .kind = PARAM_TEXT, .value = "TEXT", AT(fit.source), .unwritten = "the table's name",
     .help = "Where the measurements come from, for the data file"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(fit.output),
     .help = "Required: the data file, for --data and the environment variable ORRERY_OPS"},
    CLI_ROW_LIMIT(struct op_options, fit.memory_limit),
    {0},
};
static const struct param_table import_tables[] = {{import_rows, 0, 0}, {0}};
static const struct cli_usage import_usage = {
    .tables = import_tables,
    .forms = "TABLE... -o FILE",
    .about = "Turn your own measurements (CSV with a time in us, or kernel_us) into a data file, for --data FILE or, "
             "named by ORRERY_OPS, for every command. They correct the built-in data of the same operator and device, "
             "most strongly near your shapes.",
    .examples = "  orrery op import measured.csv -o mine.ops.zst\n"
                "  orrery op predict --op add --device mi300x --shape 4096x4096 \\\n"
                "      --data mine.ops.zst\n",
    .argument = cli_op_take_word,
};

static const struct param compare_rows[] = {
    ROWS_WHAT,
    {"only", .kind = PARAM_TEXT, .value = "DEVICE:OP:DTYPE", AT(fit.only), .help = "These alone; parts may be empty"},
    {"folds", .kind = PARAM_COUNT32, .value = "N", AT(compare.folds), .least = 2, .most = 1000, .initial = "5",
     .help = "One shape in N is held out of the fits and asked for"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(compare.output),
     .help = "Also write a page (Markdown) with drawings (SVG) beside it"},
    CLI_ROW_JSON(struct op_options, forms.json),
    CLI_ROW_CSV(struct op_options, forms.csv),
    CLI_ROW_LIMIT(struct op_options, fit.memory_limit),
    {0},
};
static const struct param_table compare_tables[] = {{compare_rows, 0, 0}, {0}};
static const struct cli_usage compare_usage = {
    .tables = compare_tables,
    .forms = "TABLE... [-o FILE]",
    .about = "Predicted against measured on shapes that no fit has seen: by stack, operator, device and size.",
    .examples = "  orrery op compare measured.csv\n",
    .argument = cli_op_take_word,
};

static const struct param bench_rows[] = {
    {"device", .kind = PARAM_TEXT, .value = "NAME", AT(bench.device),
     .help = "Required: what this machine's GPU is called here: h100, mi300x ..."},
    {"only", .kind = PARAM_TEXT, .value = "OPS", AT(bench.only), .unwritten = "all",
     .help = "Operators, commas between them"},
    {"seconds", .kind = PARAM_COUNT32, .value = "N", AT(bench.seconds), .least = 1, .most = 86400, .initial = "600",
     .help = "Stop after so long"},
    {"python", .kind = PARAM_PATH, .flags = PARAM_RARE, .value = "FILE", AT(bench.python), .unwritten = "python3",
     .help = "The interpreter that has PyTorch"},
    {"table", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(bench.table), .initial = "ops.csv",
     .help = "The table of what was measured"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(bench.output),
     .help = "Also the data file made of it, as by orrery op import"},
    CLI_ROW_LIMIT(struct op_options, bench.memory_limit),
    {0},
};
static const struct param_table bench_tables[] = {{bench_rows, 0, 0}, {0}};
static const struct cli_usage bench_usage = {
    .tables = bench_tables,
    .forms = "--device NAME [-o FILE]",
    .about = "Measure the operators of a training step on this machine's GPU (collect/bench_ops.py, built in; needs "
             "PyTorch with CUDA or ROCm), and make a data file of them.",
    .ending = "Then: orrery op predict --data FILE, or ORRERY_OPS=FILE for every command.\n",
};

static enum orr_status bench(struct op_options *options, struct orr_error *err)
{
    if (options->bench.device == NULL) {
        return error_set(err, ORR_EINVAL, "missing --device NAME: what this machine's GPU is called here");
    }
    return orr_op_bench(&options->bench, stdout, err);
}

static enum orr_status cli_op_put_list(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct asked *asked = context;
    return orr_op_list(asked->data, asked->options->table.device, form, stream, err);
}

static enum orr_status cli_op_list(struct op_options *options, struct orr_error *err)
{
    struct asked asked = {.options = options};
    enum orr_status status = orr_op_data_open(options->files, options->file_count, &asked.data, err);
    status = status != ORR_OK ? status : cli_forms_put(&options->forms, cli_op_put_list, &asked, err);
    orr_op_data_close(asked.data);
    return status;
}

static enum orr_status take_tables(struct op_options *options, struct orr_error *err)
{
    if (options->word_count == 0) {
        return error_set(err, ORR_EINVAL, "missing TABLE: a CSV file of measurements");
    }
    options->fit.inputs = options->words;
    options->fit.input_count = options->word_count;
    options->fit.op = options->table.op;
    options->fit.device = options->table.device;
    options->fit.dtype = options->table.dtype;
    options->fit.stack = options->table.stack;
    return ORR_OK;
}

static enum orr_status cli_op_fit(struct op_options *options, struct orr_error *err)
{
    enum orr_status status = take_tables(options, err);
    return status != ORR_OK ? status : orr_op_fit(&options->fit, stdout, err);
}

static enum orr_status cli_op_import(struct op_options *options, struct orr_error *err)
{
    options->fit.import = true;
    enum orr_status status = options->fit.output != NULL
                                 ? take_tables(options, err)
                                 : error_set(err, ORR_EINVAL, "missing --output FILE: the data file to write");
    status = status != ORR_OK ? status : cli_check_name("--output", options->fit.output, err);
    return status != ORR_OK ? status : orr_op_fit(&options->fit, stdout, err);
}

static enum orr_status compare(struct op_options *options, struct orr_error *err)
{
    enum orr_status status = take_tables(options, err);
    options->compare.fit = options->fit;
    options->compare.json = options->forms.json;
    options->compare.csv = options->forms.csv;
    return status != ORR_OK ? status : orr_op_compare(&options->compare, stdout, err);
}

static int cli_op_run_with(const struct cli_command *self, int argc, char **argv,
                           enum orr_status (*act)(struct op_options *options, struct orr_error *err))
{
    struct op_options options = {.words = calloc(2 * (size_t)argc + 1, sizeof *options.words)};
    const char *own = getenv("ORRERY_OPS");
    struct orr_error err = {0};
    int code = 0;
    if (options.words == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory");
        return cli_fail(&err);
    }
    options.files = options.words + argc;
    if (own != NULL && own[0] != '\0') {
        options.files[options.file_count++] = own;
    }
    param_defaults(self->usage->tables, &options);
    if (cli_begin(self, argc, argv, &options, &code)) {
        enum orr_status status =
            cli_forms_check(&options.forms, (struct cli_inputs){options.words, 2 * (size_t)argc}, &err);
        code = cli_end(status == ORR_OK ? act(&options, &err) : status, &err);
    }
    free(options.words);
    return code;
}

static int run_predict(const struct cli_command *self, int argc, char **argv)
{
    return argc == 1 ? cli_print_brief(self, argv[0]) : cli_op_run_with(self, argc, argv, cli_op_predict);
}

static int cli_op_run_list(const struct cli_command *self, int argc, char **argv)
{
    return cli_op_run_with(self, argc, argv, cli_op_list);
}

static int cli_op_run_fit(const struct cli_command *self, int argc, char **argv)
{
    return argc == 1 ? cli_print_brief(self, argv[0]) : cli_op_run_with(self, argc, argv, cli_op_fit);
}

static int run_import(const struct cli_command *self, int argc, char **argv)
{
    return argc == 1 ? cli_print_brief(self, argv[0]) : cli_op_run_with(self, argc, argv, cli_op_import);
}

static int run_bench(const struct cli_command *self, int argc, char **argv)
{
    return argc == 1 ? cli_print_brief(self, argv[0]) : cli_op_run_with(self, argc, argv, bench);
}

static int cli_op_run_compare(const struct cli_command *self, int argc, char **argv)
{
    return argc == 1 ? cli_print_brief(self, argv[0]) : cli_op_run_with(self, argc, argv, compare);
}

static const struct cli_command op_predict = {
    .name = "predict", .summary = "how long operators take", .usage = &predict_usage, .run = run_predict};
static const struct cli_command op_list = {
    .name = "list", .summary = "what was measured on which device", .usage = &list_usage, .run = cli_op_run_list};
static const struct cli_command op_fit = {
    .name = "fit", .summary = "fit the model to measurements", .usage = &fit_usage, .run = cli_op_run_fit};

static const struct cli_command op_import = {
    .name = "import", .summary = "use measurements of your own", .usage = &import_usage, .run = run_import};
static const struct cli_command op_compare = {
    .name = "compare", .summary = "predicted against measured", .usage = &compare_usage, .run = cli_op_run_compare};

static const struct cli_command op_bench = {
    .name = "bench", .summary = "measure operators on this machine", .usage = &bench_usage, .run = run_bench};

static const struct cli_command *const commands[] = {&op_predict, &op_list, &op_import, &op_bench,
                                                     &op_compare, &op_fit,  NULL};

const struct cli_command cli_op = {
    .name = "op",
    .summary = "predict the time of one operator on a device",
    .subcommands = commands,
    .about = "Example:\n  orrery op predict --op gemm --device h100 --shape 4096x14336x4096\n",
    .run = cli_dispatch,
};
