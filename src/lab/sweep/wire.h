/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point that has ended, in bytes: as it comes from another process, and as a shard of a sweep keeps it in a file
 * until all are gathered. What is read back is kept like a point that was made here. Bytes of another program are
 * checked for their bounds, and say nothing that must be believed but the figures themselves.
 */
#ifndef ORR_LAB_SWEEP_WIRE_H
#define ORR_LAB_SWEEP_WIRE_H

#include "io/etz_form.h"
#include "lab/sweep/sweep.h"

/* Appends it. False where memory is refused. */
bool sweep_wire_put(const struct sweep_made *made, struct etz_bytes *bytes);

/* NULL where the bytes are none of such a point, or memory is refused. Freed by sweep_made_free. */
struct sweep_made *sweep_wire_take(const uint8_t *bytes, size_t size);

#endif
