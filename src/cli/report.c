/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery report`: results of any command, put together into one page to open; and --report of the commands that make
 * them. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

struct report_options {
    const char *output, *language;
    struct cli_words inputs;
};

static const struct param report_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_DASH, .value = "FILE",
     .place = offsetof(struct report_options, output), .unwritten = "report.html",
     .help = "The page; - is standard output"},
    {"lang", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "en|zh-TW",
     .place = offsetof(struct report_options, language), .unwritten = "en",
     .help = "Initial language of the page, which has a button to switch"},
    {0},
};

static enum orr_status report_check(const struct report_options *options, struct orr_error *err)
{
    if (strcmp(options->output, "-") == 0) {
        return ORR_OK;
    }
    for (size_t i = 0; i < options->inputs.count; i++) {
        if (cli_same_file(options->output, options->inputs.list[i])) {
            return error_set(err, ORR_EINVAL, "--output would replace the input %s", options->inputs.list[i]);
        }
    }
    return cli_check_writable("--output", options->output, err);
}

static enum orr_status report_make(const struct report_options *options, struct orr_error *err)
{
    struct orr_report *report = NULL;
    uint64_t limit = 0;
    enum orr_status status = cli_limit_default(&limit, err);
    status = status == ORR_OK ? orr_report_open(options->language, limit, &report, err) : status;
    for (size_t i = 0; status == ORR_OK && i < options->inputs.count; i++) {
        status = orr_report_add_file(report, options->inputs.list[i], err);
    }
    if (status == ORR_OK) {
        bool dash = strcmp(options->output, "-") == 0;
        status = orr_report_write(report, dash ? NULL : options->output, stdout, err);
        if (status == ORR_OK && !dash) {
            printf("%s: a page of %zu document%s; open it in a browser\n", options->output, orr_report_count(report),
                   orr_report_count(report) == 1 ? "" : "s");
        }
    }
    orr_report_close(report);
    return status;
}

static int report_run(const struct cli_command *self, int argc, char **argv)
{
    struct report_options options = {.output = "report.html"};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    if (options.inputs.count == 0) {
        return cli_print_brief(self, argv[0]);
    }
    enum orr_status status = report_check(&options, &err);
    status = status == ORR_OK ? report_make(&options, &err) : status;
    return cli_end(status, &err);
}

enum orr_status cli_report_text(const char *path, int argc, char **argv, const char *name, const char *json,
                                size_t size, struct orr_error *err)
{
    struct orr_report *report = NULL;
    char *command = argc > 0 ? cli_quote_command(argc, argv) : NULL;
    enum orr_status status = orr_report_open(NULL, 0, &report, err);
    status = status == ORR_OK ? orr_report_command(report, command, err) : status;
    status = status == ORR_OK ? orr_report_add(report, name, json, size, err) : status;
    status = status == ORR_OK ? orr_report_write(report, path, NULL, err) : status;
    orr_report_close(report);
    free(command);
    return status;
}

static const struct param_table report_tables[] = {{report_rows, 0, 0}, {0}};

static const struct cli_usage report_usage = {
    .tables = report_tables,
    .forms = "RESULT...",
    .about =
        "Make an HTML page of results that opens in any browser, without a network: where the step time goes, the "
        "timeline, collectives, links, memory, sweeps and plans; several results side "
        "by side. RESULT is a --json file of run, simai, train, plan, sweep, advise or lab, a timeline, the "
        "folder of a lab run, or a result store (DB, or DB:3,5 for some of its runs). The predictor.js of make wasm "
        "lets the page predict training steps with other values.",
    .examples = "  orrery report run.json -o report.html\n"
                "  orrery report ring.json torus.json -o compare.html\n"
                "  orrery report runs/orrery.db:3,5 --lang zh-TW\n",
    .words = offsetof(struct report_options, inputs),
};

const struct cli_command cli_report = {.name = "report",
                                       .summary = "make an HTML page of results, to open and to share",
                                       .usage = &report_usage,
                                       .run = report_run};
