/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways of messages, and what they take alone. A ring sends thousands of messages of one size between the same two
 * ranks, and where no switch has a choice they all go one way: the last ones are kept, each in the one place that its
 * ends have, so that the room is bounded and nothing but time depends on what is there.
 */
#include "base/map.h"
#include "net/flow/engine.h"

enum { WAYS_LEAST = 64, WAYS_MOST = 1 << 14, WAYS_EACH = 4 };

bool flow_ways_open(struct flow_net *network)
{
    struct mem *mem = network->net->mem;
    uint32_t count = WAYS_LEAST;
    while (count < WAYS_MOST && count < WAYS_EACH * network->net->dims->ranks) {
        count *= 2;
    }
    network->way_count = count;
    network->ways = mem_zalloc(mem, count * sizeof *network->ways);
    /* One more, for ways that are found anew each time. */
    network->way_ports = mem_alloc(mem, (count + (size_t)1) * 2 * network->half * sizeof *network->way_ports);
    if (network->ways == NULL || network->way_ports == NULL) {
        return false;
    }
    network->way = network->way_ports + (size_t)count * 2 * network->half;
    return true;
}

void flow_ways_close(struct flow_net *network)
{
    struct mem *mem = network->net->mem;
    mem_free(mem, network->ways, network->way_count * sizeof *network->ways);
    mem_free(mem, network->way_ports,
             (network->way_count + (size_t)1) * 2 * network->half * sizeof *network->way_ports);
}

/* Finds it there and back, and what the message takes alone; false when there is no way. */
static bool find_way(struct flow_net *network, const struct flow *flow, struct flow_way *way)
{
    const struct packet_machine *machine = network->machine;
    uint32_t half = network->half;
    uint32_t *there = way->ports;
    uint32_t *back = way->ports + half;
    uint32_t port = flow->source_port;
    way->hops_there =
        (uint16_t)topo_way_find(&network->routes, flow->src, flow->dst, port, TOPO_WAY_DATA_PORT, there, half);
    way->hops_back =
        (uint16_t)topo_way_find(&network->routes, flow->dst, flow->src, TOPO_WAY_DATA_PORT, port, back, half);
    if (way->hops_there == 0 || way->hops_back == 0) {
        return false;
    }
    way->alone = alone_message(machine->graph, machine->config, there, way->hops_there, back, way->hops_back,
                               flow->bytes, flow_window(network, flow));
    return true;
}

bool flow_way_of(struct flow_net *network, const struct flow *flow, struct flow_way *found)
{
    uint32_t place = (uint32_t)map_mix((uint64_t)flow->src << 32 | (uint64_t)flow->dst) & (network->way_count - 1);
    struct flow_way *kept = &network->ways[place];
    bool same_ends = kept->src == flow->src + 1 && kept->dst == flow->dst;
    if (same_ends && !kept->has_choice && kept->bytes == flow->bytes) {
        *found = *kept;
        return true;
    }
    bool has_choice = same_ends && kept->has_choice;
    *found =
        (struct flow_way){.src = flow->src + 1,
                          .dst = flow->dst,
                          .bytes = flow->bytes,
                          .ports = has_choice ? network->way : network->way_ports + (size_t)place * 2 * network->half};
    if (!find_way(network, flow, found)) {
        *kept = (struct flow_way){0}; /* its ports are no longer there */
        return false;
    }
    found->has_choice =
        has_choice ||
        (!same_ends && (flow_has_choice(network, flow->dst, found->ports, found->hops_there) ||
                        flow_has_choice(network, flow->src, found->ports + network->half, found->hops_back)));
    *kept = *found;
    return true;
}
