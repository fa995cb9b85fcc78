/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wired machine of a run on the packet network: read from its files, lent to the simulation, and filled with what
 * the network reports while it runs (finished messages, pauses). Owned by the run; must stay where it is while the
 * simulation lives, since that borrows it.
 */
#ifndef ORR_RUN_WIRED_H
#define ORR_RUN_WIRED_H

#include "config/wired.h"
#include "net/packet/packet.h"
#include "orrery.h"

struct run_pause {
    uint64_t time_ns;
    uint32_t node, port_index;
    bool is_switch, pause;
};

struct run_queue {
    uint64_t time_ns, bytes;
    uint32_t node, port_index;
    bool last; /* the switch's last port */
};

/* Samples of queues kept at most; the sampling ends there, with a note in the output's last line. */
enum { RUN_QUEUES_MOST = 4000000 };

struct run_wired {
    struct topo_graph graph;
    struct packet_config config;
    struct config_packet_files files;
    struct config_wired_extra extra;
    struct packet_machine machine;
    struct packet_link_change *changes; /* two for each link that goes down and comes back */
    uint32_t change_count, change_capacity;
    bool keep;    /* flows and pauses */
    bool refused; /* memory for one of them was */
    struct packet_flow *flows;
    uint32_t flow_count, flow_capacity;
    struct run_pause *pauses;
    uint32_t pause_count, pause_capacity;
    struct run_queue *queues;
    uint32_t queue_count, queue_capacity;
    const struct config_fault *faults; /* to be taken by run_wired_settle; in the run's arena */
    uint32_t fault_count;
    struct mem *mem;
};

/* Reads the configuration, the topology it names and the logical topology; fills `dims` for the collectives, with the
 * hosts' own rate and the farthest host's latency where an analytical network would have a dimension's. */
ORR_MUST_CHECK enum orr_status run_wired_read(const struct orr_run_options *options, struct arena *arena,
                                              struct notes *notes, struct run_wired *wired, struct topo_dims *dims,
                                              struct orr_error *err);
/* What the options say beyond the files, and the factors of `dims` in the rates of links; checks that all of it fits
 * together, and fills the machine. */
ORR_MUST_CHECK enum orr_status run_wired_settle(const struct orr_run_options *options, const struct topo_dims *dims,
                                                struct notes *notes, struct run_wired *wired, struct orr_error *err);
/* Fills the machine from what was read, and says which of its reports are kept. */
void run_wired_listen(struct run_wired *wired, bool flows, bool queues);
void run_wired_free(struct run_wired *wired);

/* fct.txt, pfc.txt and qlen.txt in the reference's layout (spec packet A12). */
ORR_MUST_CHECK enum orr_status run_wired_write(const struct run_wired *wired, enum orr_output output, const char *path,
                                               FILE *stream, struct orr_error *err);

#endif
