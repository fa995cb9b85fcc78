/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring phase on links that messages may have to wait for. Each member sends on a link that is its own (through a
 * switch: on its link up and its neighbour's link down), so that a phase is a walk over steps and members: when a
 * message is sent, when its link is free, when it arrives. One phase at a time may use a link: where the messages of
 * two would stand in one line the walk does not know their order, and the run has to be done message by message.
 *
 * Phases that begin alike end alike: what was walked once is kept by its content (when each member begins, how long its
 * links are still busy, what a message takes), whichever ranks and collective it was for, and is not walked again.
 *
 * Part of sim/rings.h, which owns it.
 */
#ifndef ORR_SIM_RING_LINKS_H
#define ORR_SIM_RING_LINKS_H

#include "base/mem.h"

struct sim;
struct sim_ring_links;

/* What a phase does; the same for all members. */
struct sim_ring_walk {
    uint32_t size, sends;
    uint32_t reduced; /* the first so many messages that a member gets pass memory */
    uint64_t endpoint_ns, memory_ns;
    uint64_t bytes;        /* of a message */
    const uint32_t *ranks; /* by place on the way round */
    uint64_t *times;       /* by place: when it begins; then when it is done */
};

/* NULL: no memory. */
struct sim_ring_links *sim_ring_links_make(struct mem *mem);
void sim_ring_links_free(struct sim *sim, struct sim_ring_links *links);

/* False: it cannot be told; or the run is to stop, for want of memory or by wish, and the queue has failed. */
ORR_MUST_CHECK bool sim_ring_links_walk(struct sim *sim, struct sim_ring_links *links,
                                        const struct sim_ring_walk *walk);

#endif
