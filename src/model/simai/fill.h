/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute times put into the rows of a workload text that has none: AICB writes 1 ns where it would measure on a GPU,
 * and 0 for the loss. Rows are known by their names; a time that is there stays.
 */
#ifndef ORR_MODEL_SIMAI_FILL_H
#define ORR_MODEL_SIMAI_FILL_H

#include "base/notes.h"
#include "convert/text/simai_read.h"
#include "model/aicb/part_times.h"

/* `notes` says what stays as it was and what has no row. ORR_EINVAL where no row has a name that is known. */
ORR_MUST_CHECK enum orr_status simai_fill_times(struct simai_text *text, const struct aicb_part_times *times,
                                                struct notes *notes, struct orr_error *err);

/* Says so where rows have no compute times (AICB writes 1 ns without a GPU): what is counted or simulated of them is
 * communication alone. */
ORR_MUST_CHECK enum orr_status simai_note_untimed(const struct simai_text *text, struct notes *notes,
                                                  struct orr_error *err);

#endif
