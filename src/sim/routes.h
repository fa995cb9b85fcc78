/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What messages with one tag, source, destination and size have in common: the path they take, and how many of them
 * were sent. Lanes and channels both are routes with something added, kept in pools; a table finds them by that key.
 */
#ifndef ORR_SIM_ROUTES_H
#define ORR_SIM_ROUTES_H

#include "base/mem.h"
#include "net/net.h"

struct sim_route {
    uint64_t delay_ns; /* without contention */
    uint64_t sent;     /* messages not yet in the dimension's account */
    uint64_t bytes;
    uint64_t serialise_ns; /* without contention */
    uint32_t src, dst;
    int32_t tag;
    uint32_t chain; /* next in the hash bucket, or next free in the pool */
    uint16_t dim, hops;
};

/* A hash table over the routes inside the entries of one pool. */
struct sim_routes {
    uint32_t *buckets;
    uint32_t mask;
    uint32_t count;
    size_t entry_bytes, route_offset; /* where a pool's entries have their route */
};

ORR_MUST_CHECK bool sim_routes_init(struct sim_routes *routes, size_t entry_bytes, size_t route_offset,
                                    struct mem *mem);
void sim_routes_free(struct sim_routes *routes, struct mem *mem);

/* `pool` is the pool's array, which may have moved since the last call. Index of the route, or 0. */
uint32_t sim_routes_find(const struct sim_routes *routes, void *pool, uint32_t src, uint32_t dst, int32_t tag,
                         uint64_t bytes);
/* Fills entry `index`'s route and adds it. False when the table cannot grow with it; it is in all the same. */
ORR_MUST_CHECK bool sim_routes_add(struct sim_routes *routes, void *pool, uint32_t index, const struct sim_route *route,
                                   const struct net *net, struct mem *mem);
/* Takes it out, and its traffic into the dimension's account. */
void sim_routes_remove(struct sim_routes *routes, void *pool, uint32_t index, struct net *net);
/* The traffic of all routes still open into the dimensions' accounts. */
void sim_routes_settle(struct sim_routes *routes, void *pool, struct net *net);

#endif
