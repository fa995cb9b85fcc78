/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other programs' spellings of options that ours has too: words of several letters behind one dash (-g_p_s 8, -busbw
 * FILE), long names with underscores. A table says which of ours each one is; the vector is rewritten before our own
 * reader sees it, so that values, messages and help are ours. Unlike cli/foreign.h nothing is dropped: a word that is
 * in no table goes on as it is.
 */
#ifndef ORR_CLI_DASHED_H
#define ORR_CLI_DASHED_H

#include "cli/cli.h"

struct cli_dashed {
    const char *theirs;     /* with its dashes */
    const char *ours;       /* with its dashes; takes a value, unless `alone` */
    const char *when_alone; /* value where none follows: at the end, or before another option; NULL: one is needed */
    bool alone;             /* takes no value */
};

/* A rewritten vector: `argv[argc]` is NULL. Words that are not borrowed from the old one are constants, or one of
 * `made`. */
struct cli_dashed_vector {
    int argc, made_count;
    char **argv;
    char **made;
};

/* `table` ends with a NULL name. Fails with ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status cli_dashed_translate(const struct cli_dashed *table, int argc, char **argv,
                                                    struct cli_dashed_vector *vector, struct orr_error *err);
void cli_dashed_free(struct cli_dashed_vector *vector);

#endif
