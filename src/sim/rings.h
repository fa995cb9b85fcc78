/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring phases worked out at once. On a network without contention a member of a ring sends its next message once it has
 * sent the last and got the one before, each step a fixed time longer, so that when it is done follows from when each
 * member began: the latest of them, each with the way from it to here added, over as many steps as the phase has
 * (docs/performance.md). With contention that takes a walk over all steps, and phases that use the same link must
 * follow each other (sim/ring_links.h). The last member to begin settles the ends of all; no message is an event.
 *
 * What the plain engine does with the calls of a rank at one nanosecond goes by when each was put off. A phase's end
 * knows when the plain engine would have put it off, and takes its place by that; where another call has the same place
 * and it matters (sim/order.h), the run is done again message by message. So it is when the job stalls.
 *
 * Owned by the simulation; tables by meeting, which is one phase of one chunk on one ring.
 */
#ifndef ORR_SIM_RINGS_H
#define ORR_SIM_RINGS_H

#include "base/event_queue.h"

struct sim;
struct sim_rings;

/* Whether the run's ring phases may be worked out at once: of a simulation that is set up. */
bool sim_rings_fit(const struct sim *sim);
/* They are from now on. False: no memory. */
ORR_MUST_CHECK bool sim_rings_begin(struct sim *sim);
void sim_rings_free(struct sim *sim);

/* A stream begins a ring phase. False: it is too short a ring to be worth it. */
bool sim_rings_join(struct sim *sim, uint32_t stream);

/* An event was taken from the queue. */
void sim_rings_event(struct sim *sim);
/* A number for an event or call that puts off others. */
uint32_t sim_rings_next_event(struct sim *sim);

/* When a call was put off and by what, as the queue keeps causes. */
static inline struct event_cause sim_rings_cause(uint64_t time_ns, uint32_t event)
{
    return (struct event_cause){.batch = (uint32_t)time_ns, .origin = (uint32_t)(time_ns >> 32), .event = event};
}

static inline uint64_t sim_rings_time(struct event_cause cause)
{
    return (uint64_t)cause.origin << 32 | cause.batch;
}

#endif
