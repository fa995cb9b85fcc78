/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery advise`: what holds a job up and what would help, of traces (`advise run`) or of a training step (`advise
 * train`) or of a SimAI workload (`advise simai`). */
#include "cli/run.h"

#include <stdlib.h>

struct advise_common {
    struct orr_advise_options advise;
    struct cli_forms forms;
};

#define AT(field) .place = offsetof(struct advise_common, field)

static const struct param advise_rows[] = {
    {"tries", .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .value = "N", AT(advise.tries), .least = 1,
     .most = 1000000, .initial = "200", .help = "Simulations at most"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", AT(advise.threads),
     .most = 1024, .unwritten = "all processors", .help = "Simulations at once"},
    CLI_ROW_JSON(struct advise_common, forms.json),
    CLI_ROW_REPORT(struct advise_common, forms.report),
    {0},
};

static enum orr_status advise_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct orr_advice *advice = context;
    return form == ORR_FORM_JSON ? orr_advice_json(advice, stream, err) : orr_advice_print(advice, stream, err);
}

/* Adds a document that is made as text. */
static enum orr_status advise_add_text(struct orr_report *report, const char *name,
                                       enum orr_status (*answer)(void *context, enum orr_form form, FILE *stream,
                                                                 struct orr_error *err),
                                       void *context, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum orr_status status = cli_json_text(answer, context, &text, &size, err);
    status = status == ORR_OK ? orr_report_add(report, name, text, size, err) : status;
    free(text);
    return status;
}

/* The job as its own command would show it, and the advice beside it. `add` runs the job once more. */
static enum orr_status advise_page(const struct advise_common *common, struct orr_advice *advice,
                                   enum orr_status (*add)(struct orr_report *report, const char *name, const void *job,
                                                          struct orr_error *err),
                                   const void *job, struct orr_error *err)
{
    struct orr_report *report = NULL;
    enum orr_status status = orr_report_open(NULL, 0, &report, err);
    status = status == ORR_OK ? orr_report_command(report, advice->command, err) : status;
    status = status == ORR_OK ? add(report, advice->command, job, err) : status;
    status = status == ORR_OK ? advise_add_text(report, advice->command, advise_answer, advice, err) : status;
    status = status == ORR_OK ? orr_report_write(report, common->forms.report, NULL, err) : status;
    orr_report_close(report);
    return status;
}

static int advise_put(const struct advise_common *common, enum orr_status status, struct orr_advice *advice,
                      enum orr_status (*add)(struct orr_report *report, const char *name, const void *job,
                                             struct orr_error *err),
                      const void *job, struct orr_error *err)
{
    struct cli_forms forms = common->forms;
    forms.report = NULL;
    status = status == ORR_OK ? cli_forms_put(&forms, advise_answer, advice, err) : status;
    if (status == ORR_OK && common->forms.report != NULL) {
        status = advise_page(common, advice, add, job, err);
    }
    orr_advice_free(advice);
    return cli_end(status, err);
}

/* Executes a run that was opened, and closes it. */
static enum orr_status advise_add_opened(struct orr_report *report, const char *name, enum orr_status status,
                                         struct orr_run *run, struct orr_error *err)
{
    status = status == ORR_OK ? orr_run_execute(run, err) : status;
    status = status == ORR_OK ? orr_report_add_run(report, name, run, err) : status;
    orr_run_close(run);
    return status;
}

/* ---- traces ---- */

struct advise_run_options {
    struct orr_run_options run;
    struct advise_common common;
    const char *calibration;
    bool quiet;
};

static const struct param advise_run_rows[] = {
    {"calibration", .kind = PARAM_PATH, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "FILE",
     .place = offsetof(struct advise_run_options, calibration),
     .help = "Calibration file (orrery calib fit): gives --compute-factor, --host-factor and --launch-overhead where "
             "they are not given"},
    CLI_ROW_QUIET(struct advise_run_options, quiet),
    {0},
};

static enum orr_status advise_run_add(struct orr_report *report, const char *name, const void *job,
                                      struct orr_error *err)
{
    struct orr_run_options options = *(const struct orr_run_options *)job;
    struct orr_run *run = NULL;
    options.keep_intervals = true;
    enum orr_status status = orr_run_open(&options, &run, err);
    return advise_add_opened(report, name, status, run, err);
}

static int advise_run_run(const struct cli_command *self, int argc, char **argv)
{
    struct advise_run_options options = {0};
    struct orr_error err = {0};
    struct orr_advice *advice = NULL;
    int code = 0;
    orr_run_options_init(&options.run);
    orr_advise_options_init(&options.common.advise);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        orr_run_options_free(&options.run);
        return code;
    }
    struct cli_warnings warnings = {.quiet = options.quiet};
    const struct orr_notices notices = cli_notices(&warnings, options.run.strict);
    const char *inputs[] = {options.run.system, options.run.network, options.run.memory,
                            options.run.groups, options.run.logical, options.calibration};
    enum orr_status status = cli_forms_check(&options.common.forms, (struct cli_inputs){inputs, 6}, &err);
    status = status == ORR_OK ? cli_limit_default(&options.run.memory_limit, &err) : status;
    if (status == ORR_OK && options.calibration != NULL) {
        status = orr_calib_tuning(options.calibration, &notices, &options.run.tuning, &err);
    }
    status = status == ORR_OK ? orr_advise_run(&options.run, &options.common.advise, &notices, &advice, &err) : status;
    cli_warnings_end(&warnings);
    code = advise_put(&options.common, status, advice, advise_run_add, &options.run, &err);
    orr_run_options_free(&options.run);
    return code;
}

static const struct param_table advise_run_tables[] = {
    {param_run, PARAM_OF_RUN, offsetof(struct advise_run_options, run)},
    {advise_rows, 0, offsetof(struct advise_run_options, common)},
    {advise_run_rows, 0, 0},
    {0}};

static const struct cli_usage advise_run_usage = {
    .tables = advise_run_tables,
    .forms = "--workload PREFIX --machine NAME",
    .about = "Say what holds up a traced job, with evidence, and what would help: every suggestion has been simulated, "
             "and comes with the command that repeats it.",
    .examples = "  orrery advise run -w traces/job --machine dgx-h100:2 --report job.html\n"
                "  orrery advise run -w traces/job -s system.json -n network.yml --json advice.json\n",
    .ending = "Exit codes: those of orrery run.",
};

static const struct cli_command advise_run_command = {.name = "run",
                                                      .summary = "traces on a machine, with the options of orrery run",
                                                      .usage = &advise_run_usage,
                                                      .run = advise_run_run};

/* ---- a training step ---- */

struct advise_train_options {
    struct orr_train_options train;
    struct advise_common common;
};

static enum orr_status advise_train_argument(void *into, const char *word, struct orr_error *err)
{
    struct advise_train_options *options = into;
    (void)err;
    return cli_take_model(&options->train.model, word);
}

static enum orr_status advise_train_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    (void)form;
    return orr_train_json(context, stream, err);
}

static enum orr_status advise_train_add(struct orr_report *report, const char *name, const void *job,
                                        struct orr_error *err)
{
    struct orr_train_result result;
    enum orr_status status = orr_train_step(job, &result, err);
    return status == ORR_OK ? advise_add_text(report, name, advise_train_answer, &result, err) : status;
}

static int advise_train_run(const struct cli_command *self, int argc, char **argv)
{
    struct advise_train_options options = {0};
    struct orr_error err = {0};
    struct orr_advice *advice = NULL;
    int code = 0;
    orr_train_options_init(&options.train);
    orr_advise_options_init(&options.common.advise);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = cli_forms_check(&options.common.forms, (struct cli_inputs){&options.train.model, 1}, &err);
    status = status == ORR_OK ? orr_advise_train(&options.train, &options.common.advise, &advice, &err) : status;
    return advise_put(&options.common, status, advice, advise_train_add, &options.train, &err);
}

static const struct param_table advise_train_tables[] = {
    {param_train, 0, offsetof(struct advise_train_options, train)},
    {advise_rows, 0, offsetof(struct advise_train_options, common)},
    {0}};

static const struct cli_usage advise_train_usage = {
    .tables = advise_train_tables,
    .forms = "[MODEL]",
    .argument = advise_train_argument,
    .headings = cli_train_headings,
    .about = "Say what holds up a training step and what would help: overlap, micro-batches, recompute, pipeline "
             "schedules, other plans. Every suggestion has been predicted (with --backend simulated), and comes with "
             "the command that repeats it.",
    .examples = "  orrery advise train llama3-8b --machine dgx-h100:2 --tp 2 --global-batch 128\n",
};

static const struct cli_command advise_train_command = {.name = "train",
                                                        .summary =
                                                            "a step of a model, with the options of orrery train",
                                                        .usage = &advise_train_usage,
                                                        .run = advise_train_run};

/* ---- a SimAI workload ---- */

struct advise_simai_options {
    struct orr_simai_simulation simai;
    struct advise_common common;
    bool quiet;
};

static const struct param advise_simai_rows[] = {CLI_ROW_QUIET(struct advise_simai_options, quiet), {0}};

static enum orr_status advise_simai_add(struct orr_report *report, const char *name, const void *job,
                                        struct orr_error *err)
{
    struct orr_simai_simulation options = *(const struct orr_simai_simulation *)job;
    struct orr_run *run = NULL;
    options.run.keep_intervals = true;
    enum orr_status status = orr_simai_open(&options, &run, err);
    return advise_add_opened(report, name, status, run, err);
}

static int advise_simai_run(const struct cli_command *self, int argc, char **argv)
{
    struct advise_simai_options options = {0};
    struct orr_error err = {0};
    struct orr_advice *advice = NULL;
    int code = 0;
    orr_simai_simulation_init(&options.simai);
    orr_advise_options_init(&options.common.advise);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    struct cli_warnings warnings = {.quiet = options.quiet};
    const struct orr_notices notices = cli_notices(&warnings, options.simai.run.strict);
    const char *inputs[] = {options.simai.run.workload, options.simai.topology, options.simai.config};
    enum orr_status status = cli_forms_check(&options.common.forms, (struct cli_inputs){inputs, 3}, &err);
    status = status == ORR_OK ? cli_limit_default(&options.simai.run.memory_limit, &err) : status;
    status =
        status == ORR_OK ? orr_advise_simai(&options.simai, &options.common.advise, &notices, &advice, &err) : status;
    cli_warnings_end(&warnings);
    return advise_put(&options.common, status, advice, advise_simai_add, &options.simai, &err);
}

static const struct param_table advise_simai_tables[] = {
    {param_simai_simulation, 0, offsetof(struct advise_simai_options, simai)},
    {param_run, PARAM_OF_SIMAI, offsetof(struct advise_simai_options, simai.run)},
    {advise_rows, 0, offsetof(struct advise_simai_options, common)},
    {advise_simai_rows, 0, 0},
    {0}};

static const struct cli_usage advise_simai_usage = {
    .tables = advise_simai_tables,
    .forms = "-w FILE {-m NAME | -n FILE -c FILE}",
    .about = "Say what holds a SimAI workload up and what would help: NVLS, PXN, the pipeline's schedule, delays and "
             "rates. Every suggestion is the workload simulated with the change, and the line that repeats it.",
    .examples = "  orrery advise simai -w workload.txt --machine 'dgx-h100:2 > rail:400Gbps'\n",
    .ending = "Exit codes: those of orrery simai simulate.",
};

static const struct cli_command advise_simai_command = {
    .name = "simai",
    .summary = "a SimAI workload, with the options of orrery simai simulate",
    .usage = &advise_simai_usage,
    .run = advise_simai_run};

static const struct cli_command *const advise_commands[] = {&advise_run_command, &advise_train_command,
                                                            &advise_simai_command, NULL};

const struct cli_command cli_advise = {.name = "advise",
                                       .summary = "what holds up a job, and what would help",
                                       .subcommands = advise_commands,
                                       .run = cli_dispatch};
