/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands that edit traces share: which files are read, where each result goes, and the options that say
 * so. One input gives one output file; several inputs NAME.R.et give PREFIX.R.et; --in-place replaces the inputs;
 * --dry-run writes nothing. An output never replaces an input unless --in-place says so.
 */
#ifndef ORR_CLI_TRACE_EDIT_H
#define ORR_CLI_TRACE_EDIT_H

#include "cli/cli.h"

/* First member of every such command's options, named `edit`. */
struct cli_edit {
    const char *output; /* a file, or PREFIX */
    bool in_place, dry_run, strict;
    uint64_t memory_limit;
    struct cli_words files;
    struct orr_edit *edits; /* made by cli_edit_begin */
    char **made;            /* the outputs' names, as many as files */
    struct cli_warnings warnings;
};

extern const struct param cli_edit_rows[]; /* places in struct cli_edit */

/* Reads the options and lays out the edits. False when the command is over already, with its exit code. */
bool cli_edit_begin(const struct cli_command *self, int argc, char **argv, struct cli_edit *edit, int *exit_code);

/* Warnings go to standard error as they come. */
struct orr_notices cli_edit_notices(struct cli_edit *edit);

/* Says how it ended, frees what begin made; returns the exit code. */
int cli_edit_end(struct cli_edit *edit, enum orr_status status, const struct orr_error *err);

#endif
