/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI's programs: `orrery simai analytical`, `orrery simai simulate`, and the same under the originals' names by
 * symbolic link, where the numbers are the originals' (--compat simai). */
#ifndef ORR_CLI_SIMAI_H
#define ORR_CLI_SIMAI_H

#include "cli/cli.h"

extern const struct cli_command cli_simai_analytical;
extern const struct cli_command cli_simai_simulate;

/* `argv[0]` is the name the program was called by. Returns the exit code. */
typedef int cli_simai_run(int argc, char **argv);

/* The program of that name (SimAI_analytical …), or NULL. */
cli_simai_run *cli_simai_find(const char *name);

cli_simai_run cli_simai_as_analytical;
cli_simai_run cli_simai_as_simulator;

#endif
