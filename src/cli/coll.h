/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `orrery coll`. */
#ifndef ORR_CLI_COLL_H
#define ORR_CLI_COLL_H

#include "cli/cli.h"

extern const struct cli_command cli_coll_time;
extern const struct cli_command cli_coll_compare;
extern const struct cli_command cli_coll_fit;
extern const struct cli_command cli_coll_experts;

#endif
