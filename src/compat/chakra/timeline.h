/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's timeline_visualizer (spec chakra §12): lines "issue,…" and "callback,…" that an old ASTRA-sim logged, as a
 * trace for Chrome's viewer. Names must hold a word for the node's type, as those of the Text converter and the
 * generator do. Times are milliseconds in fields that mean microseconds: so the original has it. For timelines in the
 * right unit there is the timeline of a run.
 */
#ifndef ORR_COMPAT_CHAKRA_TIMELINE_H
#define ORR_COMPAT_CHAKRA_TIMELINE_H

#include "base/mem.h"

struct timeline {
    const char *input, *output;
    uint32_t npus;
    uint64_t frequency_mhz; /* at least 1 */
};

/* Line by line; memory goes with the nodes. ORR_EINVAL ("file:line: …"), ORR_EIO, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status timeline_write(const struct timeline *timeline, struct mem *mem, struct orr_error *err);

#endif
