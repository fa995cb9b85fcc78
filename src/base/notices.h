/* SPDX-License-Identifier: Apache-2.0 */
/* From the layers' notes to a caller's notices: what the public functions that take struct orr_notices do first and
 * last. */
#ifndef ORR_BASE_NOTICES_H
#define ORR_BASE_NOTICES_H

#include "base/notes.h"

static inline void notices_begin(struct notes *notes, struct mem *mem, const struct orr_notices *notices)
{
    notes_init(notes, mem, notices != NULL && notices->strict);
}

/* Hands the notes on, in order, and frees them. */
static inline void notices_end(struct notes *notes, const struct orr_notices *notices)
{
    for (uint32_t i = 0; notices != NULL && notices->warn != NULL && i < notes->count; i++) {
        notices->warn(notices->context, notes->lines[i]);
    }
    notes_free(notes);
}

#endif
