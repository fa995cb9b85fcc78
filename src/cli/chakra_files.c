/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_jsonizer and chakra_visualizer: one ET file in, one text or drawing out. */
#include "cli/chakra_names.h"

enum { KEY_INPUT = 256, KEY_OUTPUT, KEY_SOURCE };

struct file_options {
    struct cli_input input;
    const char *in, *out;
    bool source;
};

#define FILE_OPTIONS                                                                                                   \
    {"input_filename", KEY_INPUT, "FILE", 0, "Chakra ET file, plain, gzip or zstd", 0},                                \
    {                                                                                                                  \
        "output_filename", KEY_OUTPUT, "FILE", 0, "What to write", 0                                                   \
    }

static const struct argp_option jsonizer_options[] = {FILE_OPTIONS, CLI_HELP_OPTION, {0}};

static const struct argp_option visualizer_options[] = {
    FILE_OPTIONS,
    {"source", KEY_SOURCE, NULL, 0, "Write a .dot file as it is before Graphviz lays it out (ours, not Chakra's)", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct file_options *options = state->input;
    switch (key) {
    case KEY_INPUT:
        options->in = arg;
        return 0;
    case KEY_OUTPUT:
        options->out = arg;
        return 0;
    case KEY_SOURCE:
        options->source = true;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp jsonizer_argp = {
    .options = jsonizer_options,
    .parser = parse,
    .args_doc = "--input_filename FILE --output_filename FILE",
    .doc =
        "Write every record of a Chakra ET file as protobuf's JSON, one right behind the other, as Chakra's jsonizer "
        "does. The whole is no JSON document; orrery trace export writes one.\v"
        "Example:\n  chakra_jsonizer --input_filename chakra.0.et --output_filename chakra.0.json\n",
};

static const struct argp visualizer_argp = {
    .options = visualizer_options,
    .parser = parse,
    .args_doc = "--input_filename FILE --output_filename FILE",
    .doc = "Write the graph of a Chakra ET file: .graphml, or .dot and .pdf laid out by Graphviz.\v"
           "Example:\n  chakra_visualizer --input_filename chakra.0.et \\\n"
           "      --output_filename chakra.0.pdf\n",
};

static const struct cli_command jsonizer = {.name = "chakra_jsonizer", .argp = &jsonizer_argp, .takes_prefixes = true};
static const struct cli_command visualizer = {
    .name = "chakra_visualizer", .argp = &visualizer_argp, .takes_prefixes = true};

static int run(const struct cli_command *command, int argc, char **argv)
{
    struct file_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_chakra_options(command, argc, argv, &options.input, &exit_code)) {
        return exit_code;
    }
    struct cli_warnings warnings = {0};
    struct orr_notices notices = cli_notices(&warnings, false);
    enum orr_status status = cli_chakra_check_paths(options.in, options.out, &err);
    if (status == ORR_OK) {
        status = command == &jsonizer ? orr_chakra_jsonize(options.in, options.out, &notices, &err)
                                      : orr_chakra_visualize(options.in, options.out, options.source, &notices, &err);
    }
    cli_warnings_end(&warnings);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

int cli_chakra_jsonizer(int argc, char **argv)
{
    return run(&jsonizer, argc, argv);
}

int cli_chakra_visualizer(int argc, char **argv)
{
    return run(&visualizer, argc, argv);
}
