/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab list`, `show`, `diff`: what a result store holds. */
#include "cli/lab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct store_options {
    const char *store;
    struct orr_store_filter filter;
    struct cli_forms forms;
    uint64_t runs[2];
    unsigned run_count;
    const struct cli_command *command;
    bool same;
};

#define AT(field) .place = offsetof(struct store_options, field)

static const struct param list_rows[] = {
    {"tag", .kind = PARAM_TEXT, .value = "NAME", AT(filter.tag), .help = "Only runs with this tag"},
    {"state", .kind = PARAM_TEXT, .value = "WORD", AT(filter.state),
     .help = "Only runs that are partial, done, stalled, failed or interrupted"},
    {"backend", .kind = PARAM_TEXT, .value = "NAME", AT(filter.backend),
     .help = "Only runs on unaware, aware, packet, flow or auto"},
    {"kind", .kind = PARAM_TEXT, .value = "NAME", AT(filter.kind), .help = "Only runs of one kind: lab, import"},
    {"limit", .kind = PARAM_COUNT, .value = "N", AT(filter.newest), .least = 1, .most = INT64_MAX, .unwritten = "all",
     .help = "Only the newest N"},
    CLI_ROW_STORE(struct store_options, store),
    CLI_ROW_JSON(struct store_options, forms.json),
    {0},
};

static const struct param show_rows[] = {
    CLI_ROW_STORE(struct store_options, store), CLI_ROW_JSON(struct store_options, forms.json), {0}};

static const struct param diff_rows[] = {CLI_ROW_CHART(struct store_options, forms.chart), {0}};

static const struct param_table show_tables[] = {{show_rows, 0, 0}, {0}};

/* The numbers of runs behind the options. */
static enum orr_status cli_lab_store_take_run(void *into, const char *word, struct orr_error *err)
{
    struct store_options *options = into;
    return options->run_count == 2
               ? ORR_EINVAL
               : param_parse_count("RUN", word, 1, INT64_MAX, &options->runs[options->run_count++], err);
}

static enum orr_status answer(void *context, enum orr_form as, FILE *stream, struct orr_error *err)
{
    struct store_options *options = context;
    enum orr_store_form form = as == ORR_FORM_JSON ? ORR_STORE_JSON : ORR_STORE_TEXT;
    if (strcmp(options->command->name, "list") == 0) {
        return orr_store_list(options->store, &options->filter, form, stream, err);
    }
    if (strcmp(options->command->name, "show") == 0) {
        return orr_store_show(options->store, (int64_t)options->runs[0], form, stream, err);
    }
    return orr_store_diff(options->store, (int64_t)options->runs[0], (int64_t)options->runs[1], form, stream,
                          &options->same, err);
}

static enum orr_status cli_lab_store_draw(void *context, FILE *stream, struct orr_error *err)
{
    const struct store_options *options = context;
    return orr_store_chart(options->store, (int64_t)options->runs[0], (int64_t)options->runs[1], stream, err);
}

static enum orr_status cli_lab_store_check(const struct cli_command *self, const struct store_options *options,
                                           struct orr_error *err)
{
    bool is_diff = strcmp(self->name, "diff") == 0;
    if (is_diff && options->run_count != 2) {
        return error_set(err, ORR_EINVAL, "two runs are compared, by their numbers in the store: orrery lab diff 1 2");
    }
    if (!is_diff && options->run_count > 1) {
        return error_set(err, ORR_EINVAL, "one run is shown; orrery lab diff compares two");
    }
    return cli_forms_check(&options->forms, (struct cli_inputs){&options->store, 1}, err);
}

static int cli_lab_store_run(const struct cli_command *self, int argc, char **argv)
{
    struct store_options options = {.store = CLI_STORE_DEFAULT, .command = self, .same = true};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = cli_lab_store_check(self, &options, &err);
    status = status != ORR_OK ? status : cli_forms_put(&options.forms, answer, &options, &err);
    status = status != ORR_OK ? status : cli_chart_put(options.forms.chart, cli_lab_store_draw, &options, &err);
    return status != ORR_OK ? cli_end(status, &err) : options.same ? 0 : 1;
}

static const struct cli_usage list_usage = {
    .tables = (const struct param_table[]){{list_rows, 0, 0}, {0}},
    .about = "List the runs of a result store, newest last: what ran on what, and how long it takes. Times are "
             "simulated ones.",
    .examples = "  orrery lab list --limit 20\n"
                "  orrery lab list --state done --backend unaware --json runs.json\n",
};

static const struct cli_usage show_usage = {
    .tables = show_tables,
    .forms = "[RUN]",
    .about = "Show everything a result store has about one run: the command, inputs with their hashes and whether the "
             "files are still the same, settings, results (over the ranks: least, median, most), collectives, "
             "calibrations. Default: the newest run.",
    .examples = "  orrery lab show\n"
                "  orrery lab show 1 --json -\n",
    .argument = cli_lab_store_take_run,
};

static const struct cli_usage diff_usage = {
    .tables = (const struct param_table[]){{show_rows, 0, 0}, {diff_rows, 0, 0}, {0}},
    .forms = "BEFORE AFTER",
    .about = "Compare two runs: settings and inputs that differ, and all results with the change in percent.",
    .notes = "Exit code: 0 when the simulated results are the same, 1 when they differ, 2 when a run is not there.",
    .examples = "  orrery lab diff 1 1\n"
                "  orrery lab diff 1 1 --json -\n",
    .argument = cli_lab_store_take_run,
};

const struct cli_command cli_lab_list = {
    .name = "list", .summary = "list the runs of a result store", .usage = &list_usage, .run = cli_lab_store_run};
const struct cli_command cli_lab_show = {
    .name = "show", .summary = "show one run of a result store", .usage = &show_usage, .run = cli_lab_store_run};
const struct cli_command cli_lab_diff = {
    .name = "diff", .summary = "compare two runs", .usage = &diff_usage, .run = cli_lab_store_run};
