/* SPDX-License-Identifier: Apache-2.0 */
/* A public struct orr_coll_machine as the one that times are asked of, with the user's own curves. */
#ifndef ORR_API_COLLTIME_MACHINE_H
#define ORR_API_COLLTIME_MACHINE_H

#include "base/arena.h"
#include "coll/timing/timing.h"

struct orr_coll_timer {
    struct mem mem;
    struct arena arena;
    struct timing_machine machine; /* settled; own curves lie in the arena */
    uint32_t nodes, gpus;          /* of the machine's name; 0: not said */
};

/* What is said, without what follows from it: fields that nothing was said of stay 0. The caller closes the timer in
 * any case. */
ORR_MUST_CHECK enum orr_status colltime_machine_read(const struct orr_coll_machine *machine,
                                                     struct orr_coll_timer *timer, struct orr_error *err);

#endif
