/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message sequence of the algorithms whose every step is "send one message, receive one message" (spec analytical
 * §9.1-9.4): ring, direct, halving-doubling. A step is known by its number alone, so that the engine needs no queue of
 * packets. Who and how much, never when.
 */
#ifndef ORR_COLL_STEPS_H
#define ORR_COLL_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "coll/impl.h"
#include "coll/ring.h"

/* Direct: the k-th message of a member goes k+1 places on (and comes from k+1 places back), skipping itself. */
static inline uint32_t coll_direct_distance(uint32_t ring_size, uint32_t step)
{
    return 1 + step % (ring_size - 1);
}

/* Levels of halving that `n` (at least 1) members allow. */
static inline uint32_t coll_log2_floor(uint32_t n)
{
    uint32_t bits = 0;
    while (n > 1) {
        n /= 2;
        bits++;
    }
    return bits;
}

/* Room for the steps of any phase, and the one more that is never sent. */
enum { COLL_HALVING_MAX_STEPS = 2 * 32 + 1 };

struct coll_halving_step {
    uint32_t offset; /* how far the partner is; 0: the partner of the step before */
    uint64_t bytes;
};

/* Number of messages each member sends in a phase of `type` on a power of two members. */
uint32_t coll_halving_sends(enum coll_type type, uint32_t ring_size);

/* Fills steps 0..sends (one more than is sent: the endpoint of the last receive needs its size). */
void coll_halving_steps(enum coll_type type, uint32_t ring_size, uint64_t bytes, uint32_t sends,
                        struct coll_halving_step *steps);

/* Member index of the partner at distance `offset` (> 0). */
static inline uint32_t coll_halving_partner(const struct coll_ring *ring, uint32_t index, uint32_t offset)
{
    return coll_ring_walk(ring, index, offset, index / offset % 2 == 0);
}

#endif
