/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a wired machine amounts to: counts, degrees, distances and ways between hosts, bandwidth of a host and across
 * the middle. Plain numbers computed from a graph; how they are shown is not known here.
 *
 * Distances are shortest ways on which hosts do not forward, as on all networks of the field; only where hosts would
 * then not reach each other are they taken with hosts forwarding, and `forwarding` says so. They are exact as long as
 * the search fits MEASURE_WORK steps (hosts on the same switches share one search); beyond that, searches begin at
 * hosts spread evenly over the machine, and `sampled` says from how many.
 *
 * Bisection: the largest flow from the lower half of the hosts, by number, to the upper half, over links that carry
 * their rate in each direction. Exact (a maximum flow on the machine with each half drawn together into one node); of
 * all ways to halve a machine it is the one by numbers, so the least of all may be lower.
 */
#ifndef ORR_TOPO_MEASURE_H
#define ORR_TOPO_MEASURE_H

#include "topo/graph.h"

enum { MEASURE_WORK = 150000000 };

struct topo_distances {
    uint32_t diameter;
    double average;                             /* over ordered pairs that reach each other */
    uint64_t unreached_pairs;                   /* ordered */
    double ways_least, ways_average, ways_most; /* shortest ones between two; parallel links are one way */
    uint32_t sampled;                           /* hosts searched from, each for those like it; 0: all */
};

struct topo_measure {
    uint32_t hosts, switches, nvswitches, links;
    uint32_t parallel_links;                           /* beyond the first between two nodes */
    uint32_t host_links, nvswitch_links, switch_links; /* at a host and a switch; at an NVSwitch; between switches */
    uint32_t host_degree_least, host_degree_most, switch_degree_least, switch_degree_most;
    uint64_t host_bps_least, host_bps_most; /* all links of a host together */
    bool forwarding;
    struct topo_distances between_hosts;
    bool switches_joined; /* all switches reach each other over switches; `between_switches` is about them */
    struct topo_distances between_switches;
    bool has_bisection; /* false where the flow was too long to compute */
    uint64_t bisection_bps;
};

ORR_MUST_CHECK enum orr_status topo_measure(const struct topo_graph *graph, struct mem *mem,
                                            struct topo_measure *measure, struct orr_error *err);

/* Neighbours of each node without repeats, in ascending order: `start` has node_count + 1 places. */
struct topo_neighbours {
    uint32_t *start, *node;
    uint32_t count, node_count, room;
    struct mem *mem;
};
/* False when memory is refused. */
ORR_MUST_CHECK bool topo_neighbours_make(const struct topo_graph *graph, struct mem *mem,
                                         struct topo_neighbours *neighbours);
void topo_neighbours_free(struct topo_neighbours *neighbours);

/* The maximum flow described above; false in `*done` where it was given up. Its own file, measure_flow.c. */
ORR_MUST_CHECK enum orr_status topo_bisection(const struct topo_graph *graph, struct mem *mem, uint64_t *bps,
                                              bool *done, struct orr_error *err);

#endif
