/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks are slower than the others: "2:1.3x,ranks=3+17-19:2x" turned into a factor for each rank. Knows nothing
 * of what a rank computes. */
#ifndef ORR_RUN_STRAGGLERS_H
#define ORR_RUN_STRAGGLERS_H

#include "base/arena.h"
#include "base/error.h"

/* Entries with commas between them: N:FACTOR, so many ranks that no entry names, by the seed; ranks=LIST:FACTOR, the
 * ranks of a list such as 3+17-19. A factor is 1.3x, x1.3 or 1.3. `*factors` is in the arena, one for each rank. Fails
 * with ORR_EINVAL, ORR_ERANGE or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status run_stragglers_read(const char *text, uint32_t ranks, uint64_t seed, struct arena *arena,
                                                   const double **factors, struct orr_error *err);

#endif
