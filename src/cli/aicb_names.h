/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's scripts and generators (scripts/megatron_gpt.sh, workload_generator.SimAI_training_workload_generator,
 * run_suites …) and SimAI's gen_Topo_Template.py under their own names: as a symbolic link to the program, or as its
 * first word. They write the workload or the topology that the original would, where the original would put it.
 */
#ifndef ORR_CLI_AICB_NAMES_H
#define ORR_CLI_AICB_NAMES_H

#include "cli/cli.h"

/* Runs the script that `word` names, with or without folder, package and ending; false where it names none. `argv[0]`
 * is that word. */
bool cli_aicb_named(const char *word, int argc, char **argv, int *exit_code);

#endif
