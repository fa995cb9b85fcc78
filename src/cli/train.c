/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery train`: predict the time and memory of a training step on a machine, from a description alone. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

struct train_options {
    struct orr_train_options train;
    const char *table, *output; /* paths; or NULL */
    struct cli_forms forms;
    const char *list;   /* a model, "" for all; or NULL */
    const char *prices; /* a list, as orrery cost takes it; or NULL */
    uint32_t threads;
};

static enum orr_status train_read_list(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct train_options *options = into;
    (void)row, (void)err;
    options->list = text != NULL ? text : "";
    return ORR_OK;
}

static const struct param train_rows[] = {
    {"table", .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", .place = offsetof(struct train_options, table),
     .help = "Predict every row of a table of runs (CSV, docs/train.md), and compare with step_s where given"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_DASH, .value = "OUT",
     .place = offsetof(struct train_options, output),
     .help = "With parameter 'table': where the rows go (else standard output). Without it: write the step as traces "
             "OUT.R.et and OUT.groups.json, for orrery run and ASTRA-sim"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", .most = 1024,
     .place = offsetof(struct train_options, threads), .unwritten = "all processors", .help = "Rows at once"},
    {"list", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_OPTIONAL, .value = "MODEL",
     .read = train_read_list, .help = "List the model presets, or show one, and exit"},
    {"prices", .kind = PARAM_PATH, .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "FILE",
     .place = offsetof(struct train_options, prices),
     .help = "Price list of orrery cost: parameter 'gpu-hour' from what the machine costs"},
    CLI_ROW_JSON(struct train_options, forms.json),
    CLI_ROW_CHART(struct train_options, forms.chart),
    CLI_ROW_REPORT(struct train_options, forms.report),
    {0},
};

static enum orr_status train_table(const struct train_options *options, struct orr_error *err)
{
    bool to_stdout = options->output != NULL && strcmp(options->output, "-") == 0;
    struct orr_train_table table = {.input = options->table,
                                    .output = to_stdout ? NULL : options->output,
                                    .defaults = &options->train,
                                    .threads = options->threads};
    struct orr_train_table_result result;
    return orr_train_predict_table(&table, stdout, stderr, &result, err);
}

static enum orr_status train_write(const struct train_options *options, struct orr_error *err)
{
    struct orr_train_written written;
    enum orr_status status = orr_train_write(&options->train, options->output, &written, err);
    if (status == ORR_OK && options->forms.json == NULL) {
        printf("Wrote %" PRIu64 " trace%s of %" PRIu32 " role%s: %" PRIu64 " nodes, of them %" PRIu64
               " collectives and %" PRIu64 " sends\n",
               written.files, written.files == 1 ? "" : "s", written.roles, written.roles == 1 ? "" : "s",
               written.nodes, written.collectives, written.messages);
    }
    return status;
}

static enum orr_status train_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct orr_train_result *result = context;
    return form == ORR_FORM_JSON ? orr_train_json(result, stream, err) : orr_train_print(result, stream, err);
}

static enum orr_status train_draw(void *context, FILE *stream, struct orr_error *err)
{
    return orr_train_chart(context, stream, err);
}

static enum orr_status train_one(const struct train_options *options, struct orr_error *err)
{
    struct orr_train_result result;
    if (options->output != NULL && strcmp(options->output, "-") == 0) {
        return error_set(err, ORR_EINVAL,
                         "-o: \"-\" (standard output) is for --table; traces need the start of a name");
    }
    enum orr_status status = cli_forms_check(&options->forms, (struct cli_inputs){&options->train.model, 1}, err);
    status = status == ORR_OK ? orr_train_step(&options->train, &result, err) : status;
    status = status == ORR_OK ? cli_forms_put(&options->forms, train_answer, &result, err) : status;
    status = status == ORR_OK ? cli_chart_put(options->forms.chart, train_draw, &result, err) : status;
    return status == ORR_OK && options->output != NULL ? train_write(options, err) : status;
}

static enum orr_status train_list(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct train_options *options = context;
    return orr_train_model_list(options->list[0] != '\0' ? options->list : NULL, form, stream, err);
}

/* The first word is the model, with --list too. */
enum orr_status cli_take_model(const char **model, const char *word)
{
    if (*model != NULL) {
        return ORR_EINVAL;
    }
    *model = word;
    return ORR_OK;
}

static enum orr_status train_argument(void *into, const char *word, struct orr_error *err)
{
    struct train_options *options = into;
    (void)err;
    if (options->list != NULL && options->list[0] == '\0') {
        options->list = word;
        return ORR_OK;
    }
    return cli_take_model(&options->train.model, word);
}

/* A GPU's share of what the machine costs in an hour; without a machine, of as many GPUs in servers. */
static enum orr_status train_price(struct train_options *options, struct orr_error *err)
{
    const struct orr_cost_machine machine = {.what = options->train.machine,
                                             .counts.gpus =
                                                 options->train.plan.gpus != 0 ? options->train.plan.gpus : 1,
                                             .run = ORR_COST_NO_RUN};
    const struct orr_cost_options cost = {.prices = options->prices, .machines = &machine, .machine_count = 1};
    char currency[ORR_COST_CURRENCY];
    struct cli_warnings warnings = {0};
    struct orr_notices notices = cli_notices(&warnings, false);
    if (options->train.gpu_hour > 0) {
        return error_set(err, ORR_EINVAL, "--prices and --gpu-hour both say what a GPU costs");
    }
    return orr_cost_gpu_hour(&cost, &notices, &options->train.gpu_hour, currency, err);
}

static int train_run(const struct cli_command *self, int argc, char **argv)
{
    struct train_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    orr_train_options_init(&options.train);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    options.forms.argc = argc;
    options.forms.argv = argv;
    enum orr_status status = options.prices != NULL ? train_price(&options, &err) : ORR_OK;
    if (status != ORR_OK) {
        return cli_end(status, &err);
    }
    if (options.list != NULL) {
        status = cli_forms_put(&options.forms, train_list, &options, &err);
    } else if (options.table != NULL) {
        status = train_table(&options, &err);
    } else {
        status = train_one(&options, &err);
    }
    return cli_end(status, &err);
}

static const struct param_table train_tables[] = {
    {param_train, 0, offsetof(struct train_options, train)}, {train_rows, 0, 0}, {0}};

const char *const cli_train_headings[PARAM_GROUPS] = {[PARAM_WHAT] = "Model:",
                                                      [PARAM_MACHINE] = "Machine:",
                                                      [PARAM_GROWTH] = "Parallelism and batches:",
                                                      [PARAM_COMPUTE] = "Execution:"};

static const struct cli_usage train_usage = {
    .tables = train_tables,
    .forms = "[MODEL]",
    .argument = train_argument,
    .headings = cli_train_headings,
    .about = "Predict how long a training step takes, what limits it and whether it fits in memory, from a model, a "
             "machine and the parallelism.",
    .examples = "  orrery train llama3-8b --machine dgx-h100:4 --tp 2 --global-batch 128\n"
                "  orrery train gpt2 --gpu h200 --micro-batch 8 --json -\n"
                "  orrery train llama3-8b --machine dgx-h100:2 --gpus 16 --tp 2 --pp 2 --backend aware\n"
                "  orrery train llama3-8b --machine dgx-h100:2 --gpus 16 --tp 2 --pp 2 -o traces/step\n"
                "  orrery train --table runs.csv -o predicted.csv\n",
};

const struct cli_command cli_train = {.name = "train",
                                      .summary = "predict the time and memory of a training step",
                                      .usage = &train_usage,
                                      .run = train_run};
