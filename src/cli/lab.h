/* The subcommands of `orrery lab`, and what those that use the result store share. */
#ifndef ORR_CLI_LAB_H
#define ORR_CLI_LAB_H

#include "cli/cli.h"

#define CLI_STORE_DEFAULT "runs/orrery.db"
#define CLI_STORE_HELP    "Result store (SQLite). Default: " CLI_STORE_DEFAULT

/* What `orrery lab run` was told; cli_lab_run's argp fills it. */
struct lab_command {
    struct cli_input input;
    struct orr_lab_options lab;
    bool strict, quiet, no_progress;
    bool source_given; /* --comp-source */
};

extern const struct cli_command cli_lab_run;
extern const struct cli_command cli_lab_list;
extern const struct cli_command cli_lab_show;
extern const struct cli_command cli_lab_diff;
extern const struct cli_command cli_lab_rerun;
extern const struct cli_command cli_lab_export;
extern const struct cli_command cli_lab_import;

#endif
