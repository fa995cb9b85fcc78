/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's training workload as SimAI reads it (spec simai §2): one pipeline stage's layers, once a micro-batch, between
 * the gradients' collectives in front and the loss and optimizer behind. Where no compute time is known a row computes
 * for 1 ns.
 *
 * Takes options with presets already in them (model/aicb/presets.h); the bytes are AICB's when no fix is on.
 */
#ifndef ORR_MODEL_AICB_TRAINING_H
#define ORR_MODEL_AICB_TRAINING_H

#include "model/aicb/options.h"

/* AICB's name for the file, with its ending; cut to `size`. */
void aicb_training_name(const struct aicb_options *options, char *name, size_t size);

/* Fails with ORR_EINVAL or ORR_ERANGE (the options; the compute file, "file:line: …"), ORR_EIO or ORR_ENOMEM. The
 * stream's own errors are for its owner to see. */
ORR_MUST_CHECK enum orr_status aicb_training_write(const struct aicb_options *options, struct mem *mem,
                                                   struct notes *notes, FILE *stream, struct orr_error *err);

#endif
