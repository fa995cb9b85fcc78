/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small tables that users write by hand, either as CSV with a header or as a JSON list of objects: handed over row by
 * row as texts, one for each column that is known, so that a reader of rows need not know which of the two it was.
 */
#ifndef ORR_CONFIG_ROWS_H
#define ORR_CONFIG_ROWS_H

#include "base/arena.h"
#include "base/error.h"

enum { CONFIG_ROWS_COLUMNS = 12 };

struct config_rows {
    const char *const *columns; /* known ones, CONFIG_ROWS_COLUMNS at most; NULL ends them */
    const char *key;            /* of the list in JSON that is an object; a list may also stand alone */
    /* `where` is "FILE:LINE"; cells that are not there or empty are NULL. All valid during the call. */
    enum orr_status (*take)(void *context, const char *where, const char *const *cells, struct orr_error *err);
    void *context;
};

/* `name` is the file's, for messages. Fails with ORR_EINVAL, naming the line, where there are other columns than the
 * known ones, and as `take` does. */
ORR_MUST_CHECK enum orr_status config_rows_read(const char *name, const char *text, size_t size, struct arena *arena,
                                                const struct config_rows *rows, struct orr_error *err);

#endif
