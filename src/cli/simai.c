/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery simai`: the table of its subcommands, and of the names they had before. */
#include "cli/simai.h"

#include <string.h>

static const struct {
    const char *name;
    cli_simai_run *run;
} names[] = {
    {"SimAI_analytical", cli_simai_as_analytical},
    {"SimAI_simulator", cli_simai_as_simulator},
};

cli_simai_run *cli_simai_find(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i].name) == 0) {
            return names[i].run;
        }
    }
    return NULL;
}

static const struct cli_command *const commands[] = {&cli_simai_analytical, &cli_simai_simulate, NULL};

const struct cli_command cli_simai = {
    .name = "simai",
    .summary = "SimAI's modes, with SimAI's files and options",
    .subcommands = commands,
    .about = "Example:\n"
             "  orrery simai analytical -w workload.txt -g 128 -g_p_s 8 -n_p_s 8 \\\n"
             "      -nv 360 -nic 48.5\n",
    .run = cli_dispatch,
};
