/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines in levels: servers at the bottom, a first level of switches that the NICs are on, and levels of switches
 * above, each joined to the one below. Fat trees, rails with spines, single switches and racks are all this.
 *
 * What is not said follows from the rest: an upper level's links have the rate of those below, and there are as many of
 * them as the switch below needs to carry what comes from below, divided by the oversubscription.
 */
#ifndef ORR_TOPO_MAKE_LEVELS_H
#define ORR_TOPO_MAKE_LEVELS_H

#include "topo/make/made.h"
#include "topo/make/server.h"

enum { TOPO_LEVELS_MOST = 8 };

/* RAIL: NIC k of every server is on switch k of its segment. LEAF: all NICs of a server are on one switch; servers one
 * after the other. */
enum topo_level_kind { TOPO_LEVEL_RAIL, TOPO_LEVEL_LEAF, TOPO_LEVEL_UPPER };

struct topo_level {
    enum topo_level_kind kind;
    const char *name; /* for messages */
    /* RAIL: segments. LEAF: switches. UPPER: switches of a group. 0: one, or UPPER: what the bandwidth needs. */
    uint64_t count;
    uint64_t groups; /* UPPER: the level is made so many times, each over its share of the level below; 0: one */
    uint64_t share;  /* servers on a switch, UPPER: switches below in a group; 0: an equal share */
    bool planes;     /* UPPER: switch i of each group below is joined to plane i only */
    struct topo_quantity rate, delay;
    bool has_rate, has_delay, has_ratio;
    uint64_t down, up; /* the ratio */
    uint64_t parallel; /* links side by side; 0: one */
};

struct topo_levels {
    const struct topo_server *server;
    uint64_t servers;
    uint64_t gpus;     /* of a server; 0: the make's own */
    uint64_t switches; /* NVSwitches of a server; 0: one */
    bool forward;      /* GPUs pass on what is not theirs: each gets a switch of its own */
    uint32_t pcie;     /* generation of the PCIe that NICs are behind; 0: NICs are the GPU's own */
    bool has_rate, has_delay;
    struct topo_quantity rate, delay; /* inside */
    struct topo_level level[TOPO_LEVELS_MOST];
    unsigned level_count;
};

/* Fills `made`, which has been initialised. ORR_EINVAL when the levels contradict each other. */
ORR_MUST_CHECK enum orr_status topo_levels_make(const struct topo_levels *levels, struct topo_made *made,
                                                struct orr_error *err);

#endif
