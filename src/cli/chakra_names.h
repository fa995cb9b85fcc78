/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of Chakra's programs, by symbolic link (chakra_converter …), as `orrery chakra_converter …`, and in the
 * spelling of `python3 -m chakra.src.converter.converter …`, also of the packages' older names
 * (chakra.et_converter.et_converter …). Under them the options are the originals', unambiguous
 * beginnings of option names included, and the outputs are the originals' bytes; messages and exit codes are ours.
 */
#ifndef ORR_CLI_CHAKRA_NAMES_H
#define ORR_CLI_CHAKRA_NAMES_H

#include "cli/cli.h"

/* `argv[0]` is the name the program was called by. Returns the exit code. */
typedef int cli_chakra_run(int argc, char **argv);

/* NULL when `name` is none of these. */
cli_chakra_run *cli_chakra_find(const char *name);

const char *cli_chakra_name(size_t i); /* the i-th of them; NULL behind the last */

cli_chakra_run cli_chakra_jsonizer;
cli_chakra_run cli_chakra_visualizer;
cli_chakra_run cli_chakra_generator;
cli_chakra_run cli_chakra_timeline_visualizer;

/* ---- shared by these ---- */

/* Reads the options; false when the program is over, with its exit code: help was asked for, or they are wrong. */
bool cli_chakra_options(const struct cli_command *command, int argc, char **argv, void *options, int *exit_code);

/* An input and an output, and the one does not replace the other. */
ORR_MUST_CHECK enum orr_status cli_chakra_check_paths(const char *input, const char *output, struct orr_error *err);

#endif
