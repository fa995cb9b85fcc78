/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `orrery topo`. */
#ifndef ORR_CLI_TOPO_H
#define ORR_CLI_TOPO_H

#include "cli/cli.h"

extern const struct cli_command cli_topo_make;

#endif
