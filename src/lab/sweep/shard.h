/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep that is divided: each shard runs every N-th point and keeps what ended in a file of its own beside the store,
 * STORE.K-of-N.points, so that shards on many machines share nothing but a folder; and the gathering of these files
 * into the store, by one process.
 *
 * A file begins with a magic and the sweep's fingerprint; each point follows as its length, a check and its bytes
 * (lab/sweep/wire.h), appended when it ends. A torn end, of a shard that was killed, is cut off when the shard goes on.
 */
#ifndef ORR_LAB_SWEEP_SHARD_H
#define ORR_LAB_SWEEP_SHARD_H

#include "lab/sweep/sweep.h"

/* Opens the shard's file, made anew where it is of another sweep, and hands the points that are in it to `seen`, the
 * last word on each last. */
ORR_MUST_CHECK enum orr_status sweep_shard_open(struct orr_sweep *sweep, const char *fingerprint,
                                                enum orr_status (*seen)(struct orr_sweep *sweep,
                                                                        struct sweep_made *made, struct orr_error *err),
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status sweep_shard_add(struct orr_sweep *sweep, const struct sweep_made *made,
                                               struct orr_error *err);

/* What all shards have of the points that are wanted, in the order of the points; `take` takes each over. */
ORR_MUST_CHECK enum orr_status
sweep_shards_gather(struct orr_sweep *sweep, const char *fingerprint, const bool *wanted,
                    enum orr_status (*take)(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err),
                    struct orr_error *err);

#endif
