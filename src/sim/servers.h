/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers of a machine as NCCL's algorithms see them: how many ranks each has, whether they are joined faster than
 * the servers are, and which switches inside could take messages (NVLS). Found once, before the run. Knows dimensions
 * and wired graphs; not collectives.
 */
#ifndef ORR_SIM_SERVERS_H
#define ORR_SIM_SERVERS_H

#include "base/arena.h"
#include "sim/config.h"

struct sim_servers {
    uint32_t ranks_each;      /* the last server may have fewer */
    uint32_t switches_each;   /* that all ranks of a server and nobody else are on; 0: none, or not as many in each */
    const uint32_t *switches; /* their numbers in the network, server by server */
    bool told;                /* how many ranks a server has was said, and is not dimension 0 for want of better */
    bool meshed;              /* no such switches, but each rank has links to all others of its server */
    bool joined;              /* ranks of a server reach each other faster than those of others: NVLink or its like */
};

/* Fills the servers; arrays in the arena. ORR_ENOMEM without a text when memory is refused. */
ORR_MUST_CHECK enum orr_status sim_servers_find(const struct sim_config *config, struct arena *arena,
                                                struct sim_servers *servers);

#endif
