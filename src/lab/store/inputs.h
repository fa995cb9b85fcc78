/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what went into a kept run is still there as it was: each input's file is hashed again and compared. A path
 * that is not absolute is meant from the folder in which the run was started.
 */
#ifndef ORR_LAB_STORE_INPUTS_H
#define ORR_LAB_STORE_INPUTS_H

#include "base/arena.h"
#include "report/store_text.h"

/* Fills `now` of every input. A file that cannot be read counts as gone; only memory makes it fail. */
ORR_MUST_CHECK enum orr_status store_inputs_look(const struct store_run *run, struct arena *arena,
                                                 struct store_input *inputs, uint32_t count, struct orr_error *err);

#endif
