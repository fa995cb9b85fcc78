/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_jsonizer and chakra_visualizer: one ET file in, one text or drawing out. */
#include "cli/chakra_names.h"

struct file_options {
    const char *in, *out;
    bool source;
};

#define FILE_ROWS                                                                                                      \
    {"input_filename", .kind = PARAM_PATH, .value = "FILE", .place = offsetof(struct file_options, in),                \
     .help = "Chakra ET file, plain, gzip or zstd"},                                                                   \
    {                                                                                                                  \
        "output_filename", .kind = PARAM_PATH, .value = "FILE", .place = offsetof(struct file_options, out),           \
                           .help = "What to write"                                                                     \
    }

static const struct param jsonizer_rows[] = {FILE_ROWS, {0}};
static const struct param visualizer_rows[] = {
    FILE_ROWS,
    {"source", .kind = PARAM_FLAG, .place = offsetof(struct file_options, source),
     .help = "Write a .dot file as it is before Graphviz lays it out (ours, not Chakra's)"},
    {0},
};
static const struct param_table jsonizer_tables[] = {{jsonizer_rows, 0, 0}, {0}};
static const struct param_table visualizer_tables[] = {{visualizer_rows, 0, 0}, {0}};

static const struct cli_usage jsonizer_usage = {
    .tables = jsonizer_tables,
    .forms = "--input_filename FILE --output_filename FILE",
    .about = "Write every record of a Chakra ET file as protobuf's JSON, one right behind the other, as Chakra's "
             "jsonizer does. The whole is no JSON document; orrery trace export writes one.",
    .examples = "  chakra_jsonizer --input_filename chakra.0.et --output_filename chakra.0.json\n",
};

static const struct cli_usage visualizer_usage = {
    .tables = visualizer_tables,
    .forms = "--input_filename FILE --output_filename FILE",
    .about = "Write the graph of a Chakra ET file: .graphml, or .dot and .pdf laid out by Graphviz.",
    .examples = "  chakra_visualizer --input_filename chakra.0.et \\\n"
                "      --output_filename chakra.0.pdf\n",
};

static const struct cli_command jsonizer = {
    .name = "chakra_jsonizer", .usage = &jsonizer_usage, .takes_prefixes = true};
static const struct cli_command visualizer = {
    .name = "chakra_visualizer", .usage = &visualizer_usage, .takes_prefixes = true};

static int cli_chakra_files_run(const struct cli_command *command, int argc, char **argv)
{
    struct file_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_chakra_options(command, argc, argv, &options, &exit_code)) {
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
    return cli_chakra_files_run(&jsonizer, argc, argv);
}

int cli_chakra_visualizer(int argc, char **argv)
{
    return cli_chakra_files_run(&visualizer, argc, argv);
}
