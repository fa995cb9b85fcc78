/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of a machine of equal servers that do the same in turn: one of each class is carried out for all of it. A rank
 * is in a class with the ranks of its own place so many servers on, and, where `places` is 1, with those of every other
 * place of its server. The moves that take a rank to its class are turns: of the servers, and of the places in each of
 * them. Whether a wired machine looks the same after them is for topo_alike_ports to say; what ranks do is for others.
 */
#ifndef ORR_TOPO_ALIKE_H
#define ORR_TOPO_ALIKE_H

#include "topo/graph.h"

struct topo_alike {
    uint32_t ranks;   /* that are turned: all, or all but those of the last server, which stays where it is */
    uint32_t each;    /* of a server; divides `ranks` */
    uint32_t servers; /* that are carried out; divides the number of those turned */
    uint32_t places;  /* of each of these: 1, or `each` */
};

static inline uint32_t topo_alike_classes(const struct topo_alike *alike)
{
    return alike->servers * alike->places;
}

/* How many ranks of a class are turned into each other. */
static inline uint32_t topo_alike_members(const struct topo_alike *alike)
{
    return alike->ranks / topo_alike_classes(alike);
}

static inline uint32_t topo_alike_class_of(const struct topo_alike *alike, uint32_t rank)
{
    return rank / alike->each % alike->servers * alike->places + rank % alike->each % alike->places;
}

/* The rank of a class that is carried out. */
static inline uint32_t topo_alike_first(const struct topo_alike *alike, uint32_t class)
{
    return class / alike->places * alike->each + class % alike->places;
}

/* How many places on a rank is from the one of its server that is carried out for it. */
static inline uint32_t topo_alike_turn(const struct topo_alike *alike, uint32_t rank)
{
    return rank % alike->each / alike->places * alike->places;
}

/* Where `other` gets by the move that takes `rank` to the one that is carried out for it. */
static inline uint32_t topo_alike_seen_from(const struct topo_alike *alike, uint32_t rank, uint32_t other)
{
    uint32_t count = alike->ranks / alike->each;
    uint32_t moved = rank / alike->each / alike->servers * alike->servers;
    uint32_t server = (other / alike->each + count - moved) % count;
    return server * alike->each + (other % alike->each + alike->each - topo_alike_turn(alike, rank)) % alike->each;
}

/* Where a rank gets by one turn of the servers, or of the places of each. */
static inline uint32_t topo_alike_next(const struct topo_alike *alike, uint32_t rank, int of_servers)
{
    if (of_servers && rank >= alike->ranks) {
        return rank;
    }
    if (of_servers) {
        return (uint32_t)(((uint64_t)rank + (uint64_t)alike->servers * alike->each) % alike->ranks);
    }
    return rank / alike->each * alike->each + (rank % alike->each + alike->places) % alike->each;
}

/* By port, the one that stands for all that the turns take it to, in `stand`; and whether the machine of so many ranks
 * looks the same after each turn. False: no memory. */
ORR_MUST_CHECK bool topo_alike_ports(const struct topo_graph *graph, const struct topo_alike *alike, uint32_t ranks,
                                     uint32_t *stand, bool *alike_so, struct mem *mem);

#endif
