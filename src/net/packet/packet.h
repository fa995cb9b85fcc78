/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet network: RDMA queue pairs over switches with shared buffers, priority flow control, congestion marks and
 * congestion control, one packet at a time (spec packet). Exact to the nanosecond with ASTRA-sim's ns-3 network where
 * `struct packet_config` (net/packet_config.h) asks for nothing beyond it; SimAI's variant differs in a few of its
 * values.
 *
 * Behind net/net.h like every network: net.machine is a `struct packet_machine`, borrowed while the network is open.
 * Knows nothing of files, traces and collectives.
 */
#ifndef ORR_NET_PACKET_PACKET_H
#define ORR_NET_PACKET_PACKET_H

#include "net/net.h"
#include "net/packet_config.h"
#include "topo/graph.h"

/* One finished message, as fct.txt has it (spec packet A12). */
struct packet_flow {
    uint32_t src, dst;
    uint16_t port;
    uint64_t bytes, start_ns, duration_ns, standalone_ns;
};

struct packet_counts {
    uint64_t transmissions; /* one packet over one link, acknowledgements and pauses included */
    uint64_t data_packets;  /* sent by hosts, repeats included */
    uint64_t marks, pauses, resumes, drops, losses, nacks, timeouts;
    uint64_t jumps, skipped; /* fast-forward: how often, and transmissions, which the others count too */
};

struct packet_machine {
    const struct topo_graph *graph;
    const struct packet_config *config;
    bool switches_end; /* messages may end and start at any switch, not at NVSwitches alone */
    /* Called as messages complete and pause frames are received; may be NULL. */
    void (*flow_done)(void *context, const struct packet_flow *flow);
    /* Called when the last byte of a message begins to leave its host, with the time it will have left; once more for
     * each time it is sent again. */
    void (*departed)(void *departed_context, uint32_t message, uint64_t at_ns);
    void *departed_context;
    void (*pause_seen)(void *context, uint64_t time_ns, uint32_t node, bool is_switch, uint32_t port_index, bool pause);
    /* Called every 100 ns for each switch port that holds 1000 bytes or more, `last` for the switch's last port; a
     * false return ends the sampling. NULL: nothing is sampled. */
    bool (*queue_seen)(void *context, uint64_t time_ns, uint32_t node, uint32_t port_index, uint64_t bytes, bool last);
    uint64_t sample_start_ns;
    /* Called when the job begins again on another network: nothing of what was said counts. May be NULL. */
    void (*started_over)(void *context);
    void *context;
};

extern const struct net_ops net_packet;

const struct packet_counts *packet_counts(const struct net *net);

#endif
