/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a failure travels: the function that decides it calls error_set once and returns the status; everyone above only
 * propagates. The types are public (orrery.h) because the library's users see them unchanged.
 */
#ifndef ORR_BASE_ERROR_H
#define ORR_BASE_ERROR_H

#include <stdarg.h>
#include <stdio.h>

#include "orrery/base.h"

/* Fills `err` (which may be NULL) and returns `status`, so that `return error_set(...)` reads as one step. */
enum orr_status error_set(struct orr_error *err, enum orr_status status, const char *fmt, ...) ORR_PRINTF(3, 4);

/*
 * The same for what the system refused, with ": " and its reason behind the text. `reason` is what errno was, 0 where
 * nobody knows. The status goes by whose fault it is: ORR_ENOMEM when memory or descriptors ran out, ORR_EFAIL when a
 * disk is full or broken or a reader went away, ORR_EIO for all that another name or other rights would mend.
 */
enum orr_status error_system(struct orr_error *err, int reason, const char *fmt, ...) ORR_PRINTF(3, 4);

/* Whether all that was written to `stream` arrived: ORR_OK, or error_system with "WHAT cannot be written". A stream in
 * memory has no other way to fail than to run out of it. */
ORR_MUST_CHECK enum orr_status error_of_stream(FILE *stream, const char *what, struct orr_error *err);

/* The name in `known` (NULL-terminated) nearest to `word` by edit distance, or NULL when none is near enough to be
 * worth proposing. */
const char *error_nearest(const char *word, const char *const *known);

/* The same as the end of a sentence: "; did you mean \"ring\"?", or "" when none is near. */
struct error_proposal {
    char text[96];
};
struct error_proposal error_propose(const char *word, const char *const *known);

/* ORR_EINVAL: "unknown `what`", the word, and the nearest known word or else all of them. */
enum orr_status error_unknown(const char *what, const char *word, const char *const *known, struct orr_error *err);

#endif
