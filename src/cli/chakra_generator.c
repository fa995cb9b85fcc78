/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_generator: Chakra's example traces, into the working folder. */
#include "cli/chakra_names.h"

static const struct param_table tables[] = {{param_chakra_generator, 0, 0}, {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .about = "Write Chakra's fourteen families of example traces into the working folder, FAMILY.RANK.et. To make "
             "traces that simulate, use orrery gen.",
    .examples = "  chakra_generator --num_npus 4 --default_comm_size 1048576\n",
};

static const struct cli_command command = {.name = "chakra_generator", .usage = &usage, .takes_prefixes = true};

int cli_chakra_generator(int argc, char **argv)
{
    struct orr_chakra_generator options;
    struct orr_error err = {0};
    int exit_code = 0;
    orr_chakra_generator_init(&options);
    if (!cli_chakra_options(&command, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    return orr_chakra_generate(&options, &err) == ORR_OK ? 0 : cli_fail(&err);
}
