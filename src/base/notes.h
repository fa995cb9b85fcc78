/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings on their way to the user: what was defaulted, repaired, ignored or looks wrong, one line each, in the order
 * found. Readers and the engine add; only the program prints. In strict mode the first one becomes the error.
 */
#ifndef ORR_BASE_NOTES_H
#define ORR_BASE_NOTES_H

#include "base/arena.h"

struct notes {
    struct arena arena;
    const char **lines;
    uint32_t count;
    uint32_t capacity;
    bool strict;
};

void notes_init(struct notes *notes, struct mem *mem, bool strict);
void notes_free(struct notes *notes);

/* ORR_OK, or ORR_EINVAL with the same text in strict mode, or ORR_ENOMEM. A line already there is not added again. */
ORR_MUST_CHECK enum orr_status notes_add(struct notes *notes, struct orr_error *err, const char *fmt, ...)
    ORR_PRINTF(3, 4);

#endif
