/*
 * How a failure travels: the function that decides it calls error_set once and returns the status; everyone above only
 * propagates. The types are public (orrery.h) because the library's users see them unchanged.
 */
#ifndef ORR_BASE_ERROR_H
#define ORR_BASE_ERROR_H

#include <stdarg.h>

#include "orrery.h"

/* Fills `err` (which may be NULL) and returns `status`, so that `return error_set(...)` reads as one step. */
enum orr_status error_set(struct orr_error *err, enum orr_status status, const char *fmt, ...) ORR_PRINTF(3, 4);

/* The name in `known` (NULL-terminated) nearest to `word` by edit distance, or NULL when none is near enough to be
 * worth proposing. */
const char *error_nearest(const char *word, const char *const *known);

#endif
