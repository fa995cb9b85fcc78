/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wired machine of one or more switches and a list of messages, carried by any network that runs on it: what each
 * message took. For tests that hold one network against another.
 */
#ifndef ORR_TESTS_NET_WIRED_BENCH_H
#define ORR_TESTS_NET_WIRED_BENCH_H

#include "net/packet/packet.h"

struct wired_send {
    uint64_t at_ns;
    uint32_t src, dst;
    uint64_t bytes;
};

struct wired_bench {
    struct mem mem;
    struct topo_graph graph;
    struct topo_dims dims;
    struct packet_config config;
    double expected_bytes;         /* what the network is told; 0 = nothing */
    const uint32_t *connections;   /* of messages, by number; NULL = none */
    const struct net_ops *carrier; /* after a run: whose answer it is */
};

/* Hosts on leaf switches, `spines` above them (0: one leaf holds all hosts). Rates in Gbit/s. */
void wired_bench_open(struct wired_bench *bench, uint32_t hosts, uint32_t leaves, uint32_t spines, uint64_t host_gbps,
                      uint64_t spine_gbps, uint64_t delay_ns);
void wired_bench_close(struct wired_bench *bench);

/* Carries the messages, on the network that is wanted instead where one is; arrivals in `arrived_ns`. The events it
 * took, the last time. */
uint64_t wired_bench_run(struct wired_bench *bench, const struct net_ops *ops, const struct wired_send *sends,
                         uint32_t count, uint64_t *arrived_ns);

/* The same, with the network left to look at before it is closed; `look` may be NULL. */
uint64_t wired_bench_run_and_look(struct wired_bench *bench, const struct net_ops *ops, const struct wired_send *sends,
                                  uint32_t count, uint64_t *arrived_ns,
                                  void (*look)(void *context, const struct net *net), void *context);

#endif
