/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab`: runs that are kept, and what looks into the store that keeps them. */
#include "cli/lab.h"

static const struct cli_command *const commands[] = {&cli_lab_run,   &cli_lab_list,   &cli_lab_show,   &cli_lab_diff,
                                                     &cli_lab_rerun, &cli_lab_export, &cli_lab_import, NULL};

const struct cli_command cli_lab = {
    .name = "lab",
    .summary = "simulate on machines by name, and store every result",
    .subcommands = commands,
    .about = "Example:\n  orrery lab run --workload recording --topology auto:1d --bandwidth 25Gbps\n",
    .run = cli_dispatch,
};
