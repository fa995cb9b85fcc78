/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands that edit traces share: which files are read, where each result goes, and the options that say
 * so. One input gives one output file; several inputs NAME.R.et give PREFIX.R.et; --in-place replaces the inputs;
 * --dry-run writes nothing. An output never replaces an input unless --in-place says so.
 */
#ifndef ORR_CLI_TRACE_EDIT_H
#define ORR_CLI_TRACE_EDIT_H

#include "cli/cli.h"

/* First member of every such command's options. */
struct cli_edit {
    struct cli_input input;
    const char *output; /* a file, or PREFIX */
    bool in_place, dry_run, strict;
    uint64_t memory_limit;
    int file_count;
    char **files;
    struct orr_edit *edits; /* made by cli_edit_begin */
    char **made;            /* the outputs' names; file_count of them */
    struct cli_warnings warnings;
};

enum { CLI_EDIT_IN_PLACE = 512, CLI_EDIT_DRY_RUN, CLI_EDIT_STRICT, CLI_EDIT_LIMIT };

#define CLI_EDIT_OPTIONS                                                                                               \
    {"output",                                                                                                         \
     'o',                                                                                                              \
     "OUT",                                                                                                            \
     0,                                                                                                                \
     "The file to write; with several inputs NAME.R.et, PREFIX of PREFIX.R.et. Missing folders are made",              \
     0},                                                                                                               \
        {"in-place", CLI_EDIT_IN_PLACE, NULL, 0, "Replace the inputs, all of them or none", 0},                        \
        {"dry-run", CLI_EDIT_DRY_RUN, NULL, 0, "Write nothing; only report", 0},                                       \
        {"strict", CLI_EDIT_STRICT, NULL, 0, CLI_STRICT_HELP, 0},                                                      \
        {"memory-limit", CLI_EDIT_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0}, CLI_HELP_OPTION,                               \
    {                                                                                                                  \
        0                                                                                                              \
    }

/* The parser function's answer to a key that is not the command's own. */
error_t cli_edit_parse(int key, char *arg, struct argp_state *state);

/* Reads the options and lays out the edits. False when the command is over already, with its exit code. */
bool cli_edit_begin(const struct cli_command *self, int argc, char **argv, struct cli_edit *edit, int *exit_code);

/* Warnings go to standard error as they come. */
struct orr_notices cli_edit_notices(struct cli_edit *edit);

/* Says how it ended, frees what begin made; returns the exit code. */
int cli_edit_end(struct cli_edit *edit, enum orr_status status, const struct orr_error *err);

#endif
