/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of one flow through a wired machine: of the equal shortest ways, the one that the hashes of hosts and
 * switches pick for its addresses and ports (spec packet A9). Every network on a wired machine asks here, so that a
 * flow crosses the same links whichever of them carries it. Keeps nothing; rows of `routes` are made as they are
 * needed.
 */
#ifndef ORR_TOPO_WAY_H
#define ORR_TOPO_WAY_H

#include "topo/routes.h"

enum { TOPO_WAY_DATA_PORT = 100, TOPO_WAY_FIRST_PORT = 10000 };

/* Hosts hash with the reference's library seed, switches with their number. */
#define TOPO_WAY_HOST_SEED UINT32_C(0x8badf00d)

/* A node's address: 11.x.y.1 (spec packet A2). */
uint32_t topo_way_address(uint32_t node);
/* MurmurHash3's 32-bit form over three words, which is what addresses and ports of a flow are. */
uint32_t topo_way_hash(uint32_t from, uint32_t to, uint32_t ports, uint32_t seed);

/* Fills the ports from host `src` to host `dst`, at most `room`; their number, 0 when there is no way. */
uint16_t topo_way_find(struct topo_routes *routes, uint32_t src, uint32_t dst, uint32_t src_port, uint32_t dst_port,
                       uint32_t *way, uint32_t room);

/* Ports that the longest way between two hosts can have; 0 when memory is refused. */
uint32_t topo_way_most(struct topo_routes *routes);

/* A round trip with one payload, as windows are reckoned (spec packet A6): no headers, no acknowledgement. */
static inline uint64_t topo_way_round_trip_ns(const struct topo_pair *pair)
{
    return 2 * pair->delay_ns + pair->sending_ns;
}

/* Bytes in flight over that round trip at the slowest link's rate. */
static inline uint64_t topo_way_window(const struct topo_pair *pair)
{
    return pair->rate_bps == UINT64_MAX ? 0 : topo_way_round_trip_ns(pair) * pair->rate_bps / 1000000000 / 8;
}

/* The longest round trip and the largest window over all pairs of hosts; false when memory is refused. */
bool topo_way_extremes(struct topo_routes *routes, uint64_t *round_trip_ns, uint64_t *window);

#endif
