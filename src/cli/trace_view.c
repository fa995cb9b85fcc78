/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace view`: a picture of one trace. */
#include "cli/trace.h"

enum { KEY_LIMIT = 256, KEY_UNFOLDED };

struct view_command {
    struct cli_input input;
    struct orr_view_options view;
    struct orr_trace_filter filter;
    const char *output;
    const char *trace;
};

static const struct argp_option table[] = {
    {"output", 'o', "OUT", 0, "The picture; its ending says which: .svg, .html, .pdf, .dot or .graphml. Required", 0},
    {"limit", KEY_LIMIT, "N", 0, "Draw N boxes at most (.svg, .html, .pdf); 0 draws all. Default: 4000", 0},
    {"unfolded", KEY_UNFOLDED, NULL, 0, "One box a node: do not fold chains of compute nodes", 0},
    CLI_FILTER_OPTIONS,
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct view_command *view = state->input;
    uint64_t count = 0;
    error_t failed = 0;
    if (cli_filter_parse(key, arg, &view->filter, &view->input.error, &failed)) {
        return failed;
    }
    switch (key) {
    case 'o':
        view->output = arg;
        return 0;
    case KEY_LIMIT: {
        enum orr_status status = param_parse_count("--limit", arg, 0, UINT32_MAX, &count, &view->input.error);
        view->view.limit = (uint32_t)count;
        return cli_options_status(status);
    }
    case KEY_UNFOLDED:
        view->view.unfolded = true;
        return 0;
    case ARGP_KEY_ARG:
        if (view->trace != NULL) {
            return cli_options_status(error_set(&view->input.error, ORR_EINVAL,
                                                "\"%s\": one trace is drawn at a time, and %s was named already", arg,
                                                view->trace));
        }
        view->trace = arg;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp view_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "FILE.et -o OUT",
    .doc = "Draw a trace: boxes in layers, each below what it waits for, chains of compute nodes folded into one box. "
           "The HTML page stands alone and can be moved, zoomed and searched; .dot and .graphml hold every node for "
           "other programs.\v"
           "Examples:\n  orrery trace view traces/resnet50.0.et -o resnet50.html\n"
           "  orrery trace view traces/allreduce.0.et -o allreduce.svg\n"
           "  orrery trace view traces/resnet50.0.et --type gpu -o gpu.html\n",
};

static enum orr_status check(const struct view_command *view, struct orr_error *err)
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
    if (cli_options_parse(self, argc, argv, &view.input, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (view.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    view.view.filter = cli_filter_given(&view.filter) ? &view.filter : NULL;
    if (check(&view, &err) != ORR_OK || orr_trace_view(view.trace, &view.view, view.output, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("Wrote %s.\n", view.output);
    return 0;
}

const struct cli_command cli_trace_view = {
    .name = "view",
    .summary = "draw a trace (SVG, HTML, PDF, dot, GraphML)",
    .argp = &view_argp,
    .run = run_view,
};
