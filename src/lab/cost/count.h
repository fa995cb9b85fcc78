/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to buy of a machine: its wiring, counted. A switch with one GPU on it, in a machine where every GPU has
 * one such, is the GPU's own way of passing messages on (lab's tori, ASTRA-sim's ring files) and nothing one buys. A
 * link that a file lists in both directions is one cable.
 *
 * Knows no prices.
 */
#ifndef ORR_LAB_COST_COUNT_H
#define ORR_LAB_COST_COUNT_H

#include "base/arena.h"
#include "topo/graph.h"

/* Switches alike: on the same level and with as many cables. */
struct cost_boxes {
    bool leaf;
    uint64_t ports; /* in use by each; 0: not known */
    uint64_t count;
};

/* Cables alike. */
struct cost_cables {
    uint64_t rate_bps; /* 0: not known */
    uint64_t count;
};

struct cost_count {
    uint64_t gpus;
    uint64_t servers, nics;   /* 0: by the price list's rule */
    uint64_t gpus_per_server; /* of the topology's file; 0: as the price list says */
    uint64_t nvswitches;
    uint64_t own_switches;   /* one for each GPU, not bought */
    uint64_t plain_switches; /* counted by hand, of no known level */
    struct cost_boxes *boxes;
    uint32_t box_count;
    struct cost_cables *cables;
    uint32_t cable_count;
};

/* The lists live in `arena`, sorted. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status cost_count_graph(const struct topo_graph *graph, struct arena *arena,
                                                struct cost_count *count, struct orr_error *err);

#endif
