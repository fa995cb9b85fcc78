/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace view`: a picture of one trace. */
#include "cli/trace.h"

struct view_command {
    struct orr_view_options view;
    struct orr_trace_filter filter;
    const char *output;
    const char *trace;
};

#define AT(field) .place = offsetof(struct view_command, field)

static const struct param rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT", AT(output),
     .help = "Required: the picture; its ending says which: .svg, .html, .pdf, .dot or .graphml"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0},
                                            {param_view, 0, offsetof(struct view_command, view)},
                                            {cli_filter_rows, 0, offsetof(struct view_command, filter)},
                                            {0}};

static enum orr_status cli_trace_view_take_word(void *options, const char *word, struct orr_error *err)
{
    struct view_command *view = options;
    if (view->trace != NULL) {
        return error_set(err, ORR_EINVAL, "\"%s\": one trace is drawn at a time, and %s was named already", word,
                         view->trace);
    }
    view->trace = word;
    return ORR_OK;
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "FILE.et -o OUT",
    .about = "Draw a trace: boxes in layers, each below what it waits for, chains of compute nodes folded into one "
             "box. The HTML page is self-contained and can be panned, zoomed and searched; .dot and .graphml hold "
             "every node "
             "for other programs.",
    .examples = "  orrery trace view traces/resnet50.0.et -o resnet50.html\n"
                "  orrery trace view traces/allreduce.0.et -o allreduce.svg\n"
                "  orrery trace view traces/resnet50.0.et --type gpu -o gpu.html\n",
    .argument = cli_trace_view_take_word,
};

static enum orr_status cli_trace_view_check(const struct view_command *view, struct orr_error *err)
{
    if (view->trace == NULL) {
        return error_set(err, ORR_EINVAL, "no trace given; orrery trace view needs one .et file");
    }
    if (view->output == NULL) {
        return error_set(err, ORR_EINVAL, "missing -o OUT (the picture: .svg, .html, .pdf, .dot or .graphml)");
    }
    if (cli_same_file(view->trace, view->output)) {
        return error_set(err, ORR_EINVAL, "-o would replace the input %s", view->trace);
    }
    return cli_check_writable("-o", view->output, err);
}

static int run_view(const struct cli_command *self, int argc, char **argv)
{
    struct view_command view = {0};
    orr_view_options_init(&view.view);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &view, &exit_code)) {
        return exit_code;
    }
    view.view.filter = cli_filter_given(&view.filter) ? &view.filter : NULL;
    if (cli_trace_view_check(&view, &err) != ORR_OK ||
        orr_trace_view(view.trace, &view.view, view.output, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("Wrote %s.\n", view.output);
    return 0;
}

const struct cli_command cli_trace_view = {
    .name = "view",
    .summary = "draw a trace (SVG, HTML, PDF, dot, GraphML)",
    .usage = &usage,
    .run = run_view,
};
