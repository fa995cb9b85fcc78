/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery plan`: which way of dividing a model over a machine is best. */
#include <stdlib.h>

#include "cli/watch.h"

struct plan_options {
    struct orr_plan_options plan;
    struct cli_forms forms;
};

static const struct param plan_rows[] = {
    CLI_ROW_JSON(struct plan_options, forms.json),
    CLI_ROW_REPORT(struct plan_options, forms.report),
    CLI_ROW_CHART(struct plan_options, forms.chart),
    {0},
};

static enum orr_status plan_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct orr_plan_result *result = context;
    return form == ORR_FORM_JSON ? orr_plan_json(result, stream, err) : orr_plan_print(result, stream, err);
}

static enum orr_status plan_draw(void *context, FILE *stream, struct orr_error *err)
{
    return orr_plan_chart(context, stream, err);
}

static bool plan_goes_on(void *context, uint64_t predicted, uint64_t plans)
{
    const struct orr_progress now = {
        .nodes_done = predicted, .nodes = plans, .done = plans > 0 ? (double)predicted / (double)plans : 0};
    return watch_progress(context, &now);
}

static enum orr_status plan_argument(void *into, const char *word, struct orr_error *err)
{
    struct plan_options *options = into;
    (void)err;
    return cli_take_model(&options->plan.job.model, word);
}

static int plan_run(const struct cli_command *self, int argc, char **argv)
{
    struct plan_options options = {0};
    struct orr_error err = {0};
    struct orr_plan_result *result = NULL;
    struct orr_error later = {0};
    struct watch watch;
    int code = 0;
    orr_plan_options_init(&options.plan);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    options.forms.argc = argc;
    options.forms.argv = argv;
    enum orr_status status = cli_forms_check(&options.forms, (struct cli_inputs){&options.plan.job.model, 1}, &err);
    status = status == ORR_OK ? watch_init(&watch, NULL, true, &err) : status;
    if (status != ORR_OK) {
        return cli_end(status, &err);
    }
    watch.unit = "plans";
    options.plan.progress = plan_goes_on;
    options.plan.progress_context = &watch;
    status = orr_cluster_open(&options.plan.cluster, &err);
    watch_begin(&watch);
    status = status == ORR_OK ? orr_plan_search(&options.plan, &result, &err) : status;
    watch_end(&watch);
    orr_cluster_close(options.plan.cluster);
    enum orr_status put = result != NULL ? cli_forms_put(&options.forms, plan_answer, result, &later) : ORR_OK;
    if (result != NULL && put == ORR_OK && result->count > 0) {
        put = cli_chart_put(options.forms.chart, plan_draw, result, &later);
    }
    bool none = status == ORR_OK && put == ORR_OK && result != NULL && result->count == 0; /* NULL: a worker's */
    watch_finish(&watch, status == ORR_OK ? WATCH_DONE : WATCH_FAILED);
    free(result);
    return none ? 1 : status != ORR_OK ? cli_end(status, &err) : cli_end(put, &later);
}

static const struct param_table plan_tables[] = {{param_train, 0, offsetof(struct plan_options, plan.job)},
                                                 {param_plan, 0, offsetof(struct plan_options, plan)},
                                                 {plan_rows, 0, 0},
                                                 {0}};

static const struct cli_usage plan_usage = {
    .tables = plan_tables,
    .forms = "[MODEL]",
    .argument = plan_argument,
    .headings = cli_train_headings,
    .about =
        "Find the best parallelism for a model on a machine: every legal combination of tensor, pipeline, context, "
        "expert and data parallelism, ZeRO, micro-batch, chunks, recompute and order of ranks is predicted as by "
        "orrery train. If you "
        "give degrees, they are your own plan, and the best is compared with it.",
    .examples = "  orrery plan llama3-8b --machine dgx-h100:2 --global-batch 128\n"
                "  orrery plan llama3-70b --machine dgx-h100:8 --tp 8 --pp 4\n"
                "  orrery plan mixtral-8x7b --machine dgx-h100:8 --fix tp=1,zero=1\n",
};

const struct cli_command cli_plan = {.name = "plan",
                                     .summary = "find the best parallelism for a model on a machine",
                                     .usage = &plan_usage,
                                     .run = plan_run};
