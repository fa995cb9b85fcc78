/* SPDX-License-Identifier: Apache-2.0 */
/* One table; main.c asks it once for the program's own name and once for its first word. */
#include "cli/chakra_names.h"

#include <string.h>

#include "cli/trace.h"

static const struct {
    const char *name;
    const char *module;
    const char *old_module; /* as in the tutorials of 2023 and 2024 */
    cli_chakra_run *run;
} names[] = {
    {"chakra_converter", "chakra.src.converter.converter", "chakra.et_converter.et_converter", cli_chakra_converter},
    {"chakra_trace_link", "chakra.src.trace_link.trace_link", "chakra.trace_link.trace_link", cli_chakra_trace_link},
    {"chakra_jsonizer", "chakra.src.jsonizer.jsonizer", "chakra.et_jsonizer.et_jsonizer", cli_chakra_jsonizer},
    {"chakra_visualizer", "chakra.src.visualizer.visualizer", "chakra.et_visualizer.et_visualizer",
     cli_chakra_visualizer},
    {"chakra_generator", "chakra.src.generator.generator", "chakra.et_generator.et_generator", cli_chakra_generator},
    {"chakra_timeline_visualizer", "chakra.src.timeline_visualizer.timeline_visualizer",
     "chakra.timeline_visualizer.timeline_visualizer", cli_chakra_timeline_visualizer},
};

cli_chakra_run *cli_chakra_find(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i].name) == 0 || strcmp(name, names[i].module) == 0 ||
            strcmp(name, names[i].old_module) == 0) {
            return names[i].run;
        }
    }
    return NULL;
}

const char *cli_chakra_name(size_t i)
{
    return i < sizeof names / sizeof names[0] ? names[i].name : NULL;
}

bool cli_chakra_options(const struct cli_command *command, int argc, char **argv, void *options, int *exit_code)
{
    struct orr_error err = {0};
    enum cli_help help = CLI_HELP_NONE;
    if (argc == 1 && command->usage->forms != NULL) {
        *exit_code = cli_print_brief(command, command->name);
        return false;
    }
    if (cli_read(command, argc, argv, options, &help, &err) != ORR_OK) {
        *exit_code = cli_fail(&err);
        return false;
    }
    if (help != CLI_HELP_NONE) {
        cli_print_options(command, command->name, help, stdout);
        *exit_code = 0;
        return false;
    }
    return true;
}

enum orr_status cli_chakra_check_paths(const char *input, const char *output, struct orr_error *err)
{
    if (input == NULL || output == NULL) {
        return error_set(err, ORR_EINVAL, "missing --%s FILE", input == NULL ? "input_filename" : "output_filename");
    }
    if (cli_same_file(input, output)) {
        return error_set(err, ORR_EINVAL, "--output_filename would replace the input %s", input);
    }
    return cli_check_writable("--output_filename", output, err);
}
