/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small wired machines for tests of the packet network: hosts on one switch or any links, settings as in the
 * reference's sample file, and a drive that runs the network until nothing is left and counts what it reports.
 */
#ifndef ORR_TESTS_NET_PACKET_MACHINE_H
#define ORR_TESTS_NET_PACKET_MACHINE_H

#include "net/packet/engine.h"
#include "tests/check.h"

enum { FLOWS_MOST = 64 };

struct machine {
    struct topo_graph graph;
    struct packet_config config;
    struct packet_machine machine;
    struct topo_dims dims;
    struct mem mem;
    struct event_queue queue;
    struct net net;
    struct packet_flow flows[FLOWS_MOST];
    uint32_t flow_count;
    uint32_t pauses, resumes, arrived;
    bool switches_end;
};

static inline void flow_done(void *context, const struct packet_flow *flow)
{
    struct machine *m = context;
    m->flows[m->flow_count++] = *flow;
}

static inline void pause_seen(void *context, uint64_t time_ns, uint32_t node, bool is_switch, uint32_t port_index,
                              bool pause)
{
    (void)time_ns, (void)node, (void)is_switch, (void)port_index;
    struct machine *m = context;
    m->pauses += pause ? 1 : 0;
    m->resumes += pause ? 0 : 1;
}

static inline void arrived(void *context, uint32_t message)
{
    (void)message;
    struct machine *m = context;
    m->arrived++;
}

struct machine_link {
    uint32_t a, b;
};

/* `hosts` hosts, then switches up to `nodes`; links of 100 Gbit/s and 1 us. The caller may change all of it. */
static inline void make_wired(struct machine *m, uint32_t hosts, uint32_t nodes, const struct machine_link *links,
                              uint32_t count)
{
    struct orr_error err = {0};
    *m = (struct machine){.config = PACKET_CONFIG_DEFAULT};
    CHECK_OK(topo_graph_init(&m->graph, nodes, count, &m->mem, &err), &err);
    for (uint32_t node = hosts; node < nodes; node++) {
        m->graph.kinds[node] = TOPO_NODE_SWITCH;
    }
    for (uint32_t i = 0; i < count; i++) {
        m->graph.links[i] =
            (struct topo_link){.a = links[i].a, .b = links[i].b, .rate_bps = UINT64_C(100000000000), .delay_ns = 1000};
    }
    CHECK_OK(topo_graph_finish(&m->graph, &err), &err);
    m->config.cc_mode = PACKET_CC_NONE;
    m->config.ack_interval = 1;
    m->config.chunk_bytes = 4000;
    m->config.buffer_bytes = 32u << 20;
    m->config.global_t = false;
    m->config.var_window = true;
    m->config.multi_rate = false;
    m->config.mi_thresh = 0;
    m->config.alpha_resume_us = 1;
    m->config.fast_recovery_times = 1;
    m->config.ewma_gain = 0.00390625;
    m->config.marks[0] = (struct packet_mark){
        .rate_bps = UINT64_C(100000000000), .kmin_bytes = 400000, .kmax_bytes = 1600000, .pmax = 0.2};
    m->config.mark_count = 1;
    m->dims = (struct topo_dims){.count = 1, .dim = {{.kind = TOPO_SWITCH, .size = hosts}}};
    CHECK(topo_dims_finish(&m->dims), "small enough");
}

/* `hosts` hosts on one switch. */
static inline void make_machine(struct machine *m, uint32_t hosts)
{
    struct machine_link links[16];
    CHECK(hosts <= 16, "room for links");
    for (uint32_t i = 0; i < hosts; i++) {
        links[i] = (struct machine_link){hosts, i};
    }
    make_wired(m, hosts, hosts + 1, links, hosts);
}

static inline void open_machine(struct machine *m)
{
    struct orr_error err = {0};
    m->machine = (struct packet_machine){.graph = &m->graph,
                                         .config = &m->config,
                                         .flow_done = flow_done,
                                         .pause_seen = pause_seen,
                                         .context = m,
                                         .switches_end = m->switches_end};
    CHECK(event_queue_init(&m->queue, &m->mem), "memory is given");
    CHECK_OK(net_init_machine(&m->net, &net_packet, &m->dims, &m->machine, arrived, m, &m->queue, &m->mem, &err), &err);
}

static inline void run_machine(struct machine *m)
{
    struct event event;
    while (event_queue_pop(&m->queue, &event)) {
        (void)net_handle(&m->net, &event);
        CHECK(m->queue.now < UINT64_C(10000000000), "ten seconds are enough for everything here");
    }
}

static inline void close_machine(struct machine *m)
{
    net_free(&m->net);
    event_queue_free(&m->queue);
    topo_graph_free(&m->graph);
    CHECK_U64(m->mem.used, 0, "all memory is given back");
}

#endif
