/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways found hop by hop, for what the reference does not do: packets of one message on different ways, and links that
 * go down and come back. Ports on shortest ways are found once for a node and a host and kept until a link changes.
 */
#include "net/packet/engine.h"
#include "topo/way.h"

bool packet_routes_open(struct packet_net *network)
{
    const struct packet_config *config = network->config;
    struct event_queue *queue = network->net->queue;
    network->any_order = config->routing != PACKET_ROUTING_ECMP;
    network->hop_by_hop = network->any_order || config->link_change_count > 0;
    if (!network->hop_by_hop) {
        return true;
    }
    network->choices = mem_zalloc(network->net->mem, network->graph->node_count * sizeof *network->choices);
    for (uint32_t i = 0; i < config->link_change_count; i++) {
        (void)event_queue_push(queue, config->link_changes[i].time_ns, NET_EVENT_PACKET_LINK, i, 0);
    }
    return network->choices != NULL;
}

static void forget(struct packet_net *network)
{
    size_t nodes = network->graph->node_count;
    for (size_t i = 0; network->choices != NULL && i < nodes; i++) {
        mem_free(network->net->mem, network->choices[i], nodes * sizeof **network->choices);
        network->choices[i] = NULL;
    }
    network->choice_count = 0;
}

void packet_routes_close(struct packet_net *network)
{
    struct mem *mem = network->net->mem;
    forget(network);
    mem_free(mem, network->choices, network->graph->node_count * sizeof *network->choices);
    mem_free(mem, network->choice_ports, (size_t)network->choice_capacity * sizeof *network->choice_ports);
}

static struct packet_choice *packet_route_choice_of(struct packet_net *network, uint32_t node, uint32_t host)
{
    struct mem *mem = network->net->mem;
    size_t nodes = network->graph->node_count;
    if (network->choices[node] == NULL) {
        network->choices[node] = mem_zalloc(mem, nodes * sizeof **network->choices);
    }
    struct packet_choice *choice = network->choices[node] == NULL ? NULL : &network->choices[node][host];
    if (choice == NULL || choice->known) {
        return choice;
    }
    uint32_t most = network->graph->port_start[node + 1] - network->graph->port_start[node];
    if (!mem_reserve(mem, (void **)&network->choice_ports, &network->choice_capacity,
                     (uint64_t)network->choice_count + most, sizeof *network->choice_ports)) {
        return NULL;
    }
    choice->start = network->choice_count;
    choice->count = topo_routes_next(&network->routes, node, host, network->choice_ports + network->choice_count, most);
    choice->known = true;
    network->choice_count += choice->count;
    return choice;
}

static uint32_t shortest_queue(const struct packet_net *network, const struct packet_choice *choice)
{
    uint32_t best = UINT32_MAX;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < choice->count; i++) {
        uint32_t port = network->choice_ports[choice->start + (choice->turn + i) % choice->count];
        uint64_t queued = network->ports[port].low_bytes + network->ports[port].busy;
        if (queued < least) {
            least = queued;
            best = port;
        }
    }
    return best;
}

uint32_t packet_route(struct packet_net *network, uint32_t node, const struct packet *packet)
{
    const struct packet_pair *pair = &network->pairs.at[packet->pair];
    bool there = packet->kind == PACKET_DATA;
    uint32_t from = there ? pair->src : pair->dst;
    uint32_t to = there ? pair->dst : pair->src;
    struct packet_choice *choice = packet_route_choice_of(network, node, to);
    if (choice == NULL) {
        network->net->queue->failed = true;
        return UINT32_MAX;
    }
    if (choice->count == 0) {
        return UINT32_MAX;
    }
    switch (network->config->routing) {
    case PACKET_ROUTING_SPRAY:
        return network->choice_ports[choice->start + choice->turn++ % choice->count];
    case PACKET_ROUTING_ADAPTIVE:
        choice->turn++;
        return shortest_queue(network, choice);
    case PACKET_ROUTING_ECMP:
        break;
    }
    uint32_t ports = there ? pair->source_port | (uint32_t)PACKET_DATA_PORT << 16
                           : PACKET_DATA_PORT | (uint32_t)pair->source_port << 16;
    uint32_t seed = node == from ? TOPO_WAY_HOST_SEED : node;
    uint32_t hash = topo_way_hash(topo_way_address(from), topo_way_address(to), ports, seed);
    return network->choice_ports[choice->start + hash % choice->count];
}

/* A pause does not outlive the link it came over. */
static void packet_route_change_port(struct packet_net *network, uint32_t index, bool down)
{
    struct packet_port *port = &network->ports[index];
    port->is_down = down;
    port->paused = 0;
    port->peer_paused = 0;
    packet_port_go(network, index);
}

void packet_link_change(struct packet_net *network, uint32_t number)
{
    const struct packet_link_change *change = &network->config->link_changes[number];
    bool turns = network->routes.down[change->link] != change->down;
    double rate = (double)network->graph->links[change->link].rate_bps * (change->factor > 0 ? change->factor : 1);
    if (turns) {
        topo_routes_set_down(&network->routes, change->link, change->down);
        forget(network);
    }
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        if (network->graph->ports[i].link != change->link) {
            continue;
        }
        if (!change->down) {
            packet_port_set_rate(network, &network->ports[i], rate >= 1.0 ? (uint64_t)(rate + 0.5) : 1);
        }
        if (turns) {
            packet_route_change_port(network, i, change->down);
        }
    }
}
