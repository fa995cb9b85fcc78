/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine as it is wired: hosts and switches joined by links, each with a rate, a delay and a share of packets it
 * loses. A link is two ports, one at each end; ports are numbered over the whole machine, a node's own one after the
 * other in the order of its links. Plain facts, filled by a reader of topology files or by a generator; no simulation
 * here.
 */
#ifndef ORR_TOPO_GRAPH_H
#define ORR_TOPO_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

enum topo_node_kind { TOPO_NODE_HOST, TOPO_NODE_SWITCH, TOPO_NODE_NVSWITCH };

struct topo_link {
    uint32_t a, b;     /* nodes */
    uint64_t rate_bps; /* bits a second */
    uint64_t delay_ns;
    double error_rate; /* share of packets lost at the receiver; 0 = the machine's own rate */
};

struct topo_port {
    uint32_t node;
    uint32_t peer; /* port at the other end */
    uint32_t link;
    uint32_t index; /* among the node's own, from 1: 0 is the loop-back device in the reference */
};

struct topo_graph {
    uint8_t *kinds; /* enum topo_node_kind, by node */
    uint32_t node_count;
    struct topo_link *links;
    uint32_t link_count;
    struct topo_port *ports; /* grouped by node; made by topo_graph_finish */
    uint32_t *port_start;    /* by node, and one past the last */
    uint32_t port_count;
    struct mem *mem;
};

/* Room for nodes and links, which the caller then fills in; all hosts at first. */
ORR_MUST_CHECK enum orr_status topo_graph_init(struct topo_graph *graph, uint32_t nodes, uint32_t links,
                                               struct mem *mem, struct orr_error *err);
/* Makes the ports from the links. */
ORR_MUST_CHECK enum orr_status topo_graph_finish(struct topo_graph *graph, struct orr_error *err);
void topo_graph_free(struct topo_graph *graph);

#endif
