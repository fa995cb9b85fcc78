/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other programs' options, accepted unchanged: a table says what each of theirs means in ours, and the vector is
 * rewritten before our own reader sees it. Options of theirs that never did anything are accepted and said to do
 * nothing; unknown ones are said to be ignored, as the original ignores them in silence.
 *
 * Owns the rewritten words; knows no particular program.
 */
#ifndef ORR_CLI_FOREIGN_H
#define ORR_CLI_FOREIGN_H

#include "cli/cli.h"

enum cli_foreign_kind { CLI_FOREIGN_VALUE, CLI_FOREIGN_BOOL, CLI_FOREIGN_NO_EFFECT };

struct cli_foreign_option {
    const char *name;
    const char *ours; /* option it becomes; NULL for NO_EFFECT */
    enum cli_foreign_kind kind;
    const char *reason; /* NO_EFFECT: ends the sentence "--name has no effect: " */
};

/* A rewritten vector: `argv[argc]` is NULL; words made here are kept in `made`. */
struct cli_vector {
    int argc, made_count;
    char **argv;
    char **made;
    char **warnings; /* one sentence each, in order */
    int warning_count;
};

/*
 * Rewrites `argv` by `table` (ends with a NULL name); the command's own options pass as they are. With `lenient` (we
 * stand in for the original program) theirs go before ours, and every unknown word is dropped with a warning; otherwise
 * those are left for our reader to refuse.
 */
ORR_MUST_CHECK enum orr_status cli_foreign_translate(const struct cli_foreign_option *table,
                                                     const struct cli_command *command, bool lenient, int argc,
                                                     char **argv, struct cli_vector *vector, struct orr_error *err);
void cli_vector_free(struct cli_vector *vector);

#endif
