/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `orrery calib`. */
#ifndef ORR_CLI_CALIB_H
#define ORR_CLI_CALIB_H

#include "cli/cli.h"

extern const struct cli_command cli_calib_fit;
extern const struct cli_command cli_calib_show;
extern const struct cli_command cli_calib_apply;

#endif
