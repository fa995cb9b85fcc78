/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept run's command, ready to be started again: its words, its folder, and whether what went into the run is still
 * the same. Starting it is the caller's.
 */
#ifndef ORR_LAB_STORE_COMMAND_H
#define ORR_LAB_STORE_COMMAND_H

#include "base/notes.h"
#include "lab/store/store.h"
#include "orrery.h"

/* Splits a line as a shell would, with '…', "…" and backslashes. ORR_EINVAL for what only a shell can do ($, `, |, &,
 * ;, <, >, (, ), *, ?, ~, # outside quotes, line ends) and for a quote that is not closed. The words are
 * NULL-terminated and, like the text they lie in, the caller's: free(words[0]) and free(words). At least one word. */
ORR_MUST_CHECK enum orr_status store_command_split(const char *line, char ***words, struct orr_error *err);

/* orr_store_command. */
ORR_MUST_CHECK enum orr_status store_command_read(struct lab_store *store, int64_t run, bool force, struct notes *notes,
                                                  struct orr_store_command *command, struct orr_error *err);

/* orr_store_again. */
ORR_MUST_CHECK enum orr_status store_command_again(struct lab_store *store, const struct orr_store_command *command,
                                                   int64_t *again, struct orr_error *err);

#endif
