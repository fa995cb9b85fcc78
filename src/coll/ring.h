/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who takes part in one phase of a collective, as a ring of members: either every `stride`-th rank of the grid, or the
 * ranks of a communicator group in the order its file lists them. Members are numbered 0..size-1.
 */
#ifndef ORR_COLL_RING_H
#define ORR_COLL_RING_H

#include <stddef.h>
#include <stdint.h>

struct coll_ring {
    uint32_t size;
    uint32_t stride;         /* grid rings */
    const uint32_t *members; /* group rings, else NULL */
};

/* The rank of member `other`, seen from `rank` which is member `index`. */
static inline uint32_t coll_ring_rank(const struct coll_ring *ring, uint32_t rank, uint32_t index, uint32_t other)
{
    if (ring->members != NULL) {
        return ring->members[other];
    }
    return rank - index * ring->stride + other * ring->stride;
}

/* Member index of `rank` in a grid ring. */
static inline uint32_t coll_ring_grid_index(const struct coll_ring *ring, uint32_t rank)
{
    return rank / ring->stride % ring->size;
}

/* `steps` (at most the size) places further on, towards higher indices when clockwise. */
static inline uint32_t coll_ring_walk(const struct coll_ring *ring, uint32_t index, uint32_t steps, int clockwise)
{
    uint32_t moved = clockwise ? index + steps : index + ring->size - steps;
    return moved >= ring->size ? moved - ring->size : moved;
}

#endif
