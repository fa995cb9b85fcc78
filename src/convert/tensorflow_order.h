/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a trace's kernels are looked at: devices by name and number, which makes them ranks; within a
 * device by time. A device that has streams is told by them, any other by its "XLA Ops" line, whose operations may lie
 * inside each other: what an operation lasts itself is told here too.
 */
#ifndef ORR_CONVERT_TENSORFLOW_ORDER_H
#define ORR_CONVERT_TENSORFLOW_ORDER_H

#include "base/notes.h"
#include "convert/tensorflow_events.h"

enum { TF_NO_RANK = UINT32_MAX };

struct tf_order {
    const struct tf_trace *trace;
    uint32_t *events;  /* indices of those used */
    uint32_t *rank_of; /* by device; TF_NO_RANK = no kernel */
    uint64_t *own_ns;  /* by event: its duration without the operations inside it */
    uint32_t event_capacity, rank_capacity, own_capacity;
    uint32_t used;
    uint32_t ranks;
};

/* The trace is borrowed. Free it in any case. ORR_EINVAL when no device has a kernel. */
ORR_MUST_CHECK enum orr_status tf_order_make(const struct tf_trace *trace, const char *path, struct notes *notes,
                                             struct tf_order *order, struct orr_error *err);
void tf_order_free(struct tf_order *order);

#endif
