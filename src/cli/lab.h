/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `orrery lab`, and what those that use the result store share. */
#ifndef ORR_CLI_LAB_H
#define ORR_CLI_LAB_H

#include "cli/cli.h"

#define CLI_STORE_DEFAULT "runs/orrery.db"
/* --store of a command that reads one; where it was not given the place is left as it is. */
#define CLI_ROW_STORE(type, field)                                                                                     \
    {                                                                                                                  \
        "store", .kind = PARAM_PATH, .group = PARAM_OTHER, .value = "FILE", .place = offsetof(type, field),            \
                 .unwritten = CLI_STORE_DEFAULT, .help = "Result store (SQLite)"                                       \
    }

/* What `orrery lab run` was told. */
struct lab_command {
    struct orr_lab_options lab;
    bool quiet, no_progress;
};

/* The name of an option that was given and is of a single run, such as --store; NULL: none was. */
const char *lab_command_single(const struct lab_command *command);

extern const struct cli_command cli_lab_run;
extern const struct cli_command cli_lab_list;
extern const struct cli_command cli_lab_show;
extern const struct cli_command cli_lab_diff;
extern const struct cli_command cli_lab_rerun;
extern const struct cli_command cli_lab_export;
extern const struct cli_command cli_lab_import;

#endif
