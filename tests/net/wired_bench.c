/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/net/wired_bench.h"

#include "tests/check.h"

void wired_bench_open(struct wired_bench *bench, uint32_t hosts, uint32_t leaves, uint32_t spines, uint64_t host_gbps,
                      uint64_t spine_gbps, uint64_t delay_ns)
{
    struct orr_error err = {0};
    *bench = (struct wired_bench){.config = PACKET_CONFIG_DEFAULT};
    bench->config.cc_mode = PACKET_CC_NONE;
    bench->config.ack_interval = 1;
    bench->config.chunk_bytes = 4000;
    bench->config.global_t = false;
    bench->config.buffer_bytes = 32u << 20;
    uint32_t links = hosts + leaves * spines;
    CHECK_OK(topo_graph_init(&bench->graph, hosts + leaves + spines, links, &bench->mem, &err), &err);
    for (uint32_t i = 0; i < leaves + spines; i++) {
        bench->graph.kinds[hosts + i] = TOPO_NODE_SWITCH;
    }
    for (uint32_t h = 0; h < hosts; h++) {
        bench->graph.links[h] = (struct topo_link){
            .a = h, .b = hosts + h * leaves / hosts, .rate_bps = host_gbps * 1000000000, .delay_ns = delay_ns};
    }
    for (uint32_t i = 0; i < leaves * spines; i++) {
        bench->graph.links[hosts + i] = (struct topo_link){.a = hosts + i / spines,
                                                           .b = hosts + leaves + i % spines,
                                                           .rate_bps = spine_gbps * 1000000000,
                                                           .delay_ns = delay_ns};
    }
    CHECK_OK(topo_graph_finish(&bench->graph, &err), &err);
    bench->dims.count = 1;
    bench->dims.dim[0].size = hosts;
    bench->dims.dim[0].kind = TOPO_SWITCH;
    CHECK(topo_dims_finish(&bench->dims), "dimensions");
}

void wired_bench_close(struct wired_bench *bench)
{
    topo_graph_free(&bench->graph);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

struct arrivals {
    struct event_queue *queue;
    uint64_t *at_ns;
    uint32_t count;
};

static void note_arrival(void *context, uint32_t message)
{
    struct arrivals *arrivals = context;
    arrivals->at_ns[message] = arrivals->queue->now;
    arrivals->count++;
}

uint64_t wired_bench_run_and_look(struct wired_bench *bench, const struct net_ops *ops, const struct wired_send *sends,
                                  uint32_t count, uint64_t *arrived_ns,
                                  void (*look)(void *context, const struct net *net), void *context)
{
    struct orr_error err = {0};
    struct event_queue queue;
    struct net net;
    struct arrivals arrivals = {&queue, arrived_ns, 0};
    struct packet_machine machine = {.graph = &bench->graph, .config = &bench->config};
    CHECK(event_queue_init(&queue, &bench->mem), "queue");
    CHECK_OK(net_init_machine(&net, ops, &bench->dims, &machine, note_arrival, &arrivals, &queue, &bench->mem, &err),
             &err);
    net.expected_bytes = bench->expected_bytes;
    bench->carrier = ops;
    for (uint32_t i = 0; i < count; i++) {
        (void)event_queue_push(&queue, sends[i].at_ns, NET_EVENT_KINDS, i, 0);
    }
    struct event event;
    while (!queue.failed && event_queue_pop(&queue, &event)) {
        if (event.kind == NET_EVENT_KINDS) {
            const struct wired_send *send = &sends[event.a];
            net.connection = bench->connections == NULL ? 0 : bench->connections[event.a];
            net_send(&net, event.a, send->src, send->dst, send->bytes, 1.0);
        } else {
            CHECK_U64(net_handle(&net, &event), NET_NO_MESSAGE, "arrivals are told by the call");
        }
    }
    CHECK(!queue.failed || net.gave_up, "memory");
    CHECK(arrivals.count == count || net.gave_up, "%s carries %" PRIu32 " of %" PRIu32, ops->name, arrivals.count,
          count);
    if (look != NULL) {
        look(context, &net);
    }
    const struct net_ops *instead = net_instead(&net);
    CHECK(instead != NULL || !net.gave_up, "who gives up names another");
    uint64_t handled = queue.handled;
    net_free(&net);
    event_queue_free(&queue);
    return instead == NULL ? handled
                           : wired_bench_run_and_look(bench, instead, sends, count, arrived_ns, look, context);
}

uint64_t wired_bench_run(struct wired_bench *bench, const struct net_ops *ops, const struct wired_send *sends,
                         uint32_t count, uint64_t *arrived_ns)
{
    return wired_bench_run_and_look(bench, ops, sends, count, arrived_ns, NULL, NULL);
}
