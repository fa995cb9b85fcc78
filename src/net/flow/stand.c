/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that stand for others (net_ops.stand_for). Those that the turns of the machine take into each other start
 * and end together, so that one of them is enough, on wires of which one stands for all of its class. A message uses
 * that one as much as all it stands for use one wire of the class: once where they are a rank's own, and where a class
 * is of equal ways, by how many there are to share. It is no faster for that than the wires it goes over.
 */
#include "net/flow/engine.h"

bool flow_has_choice(struct flow_net *network, uint32_t dst, const uint32_t *way, uint32_t hops)
{
    uint32_t ports[2];
    for (uint32_t i = 0; i < hops; i++) {
        uint32_t node = network->machine->graph->ports[way[i]].node;
        if (topo_routes_next(&network->routes, node, dst, ports, 2) > 1) {
            return true;
        }
    }
    return false;
}

bool flow_stand_for(struct net *net, const struct topo_alike *alike, bool spread)
{
    struct flow_net *network = net->state;
    const struct topo_graph *graph = network->machine->graph;
    bool is_alike = false;
    network->stand = mem_alloc(net->mem, graph->port_count * sizeof *network->stand);
    network->used = mem_zalloc(net->mem, graph->port_count * sizeof *network->used);
    if (network->stand == NULL || network->used == NULL ||
        !topo_alike_ports(graph, alike, net->dims->ranks, network->stand, &is_alike, net->mem) || !is_alike) {
        flow_stand_close(network);
        return false;
    }
    for (uint32_t port = 0; port < graph->port_count; port++) {
        network->used[network->stand[port]]++;
    }
    network->members = topo_alike_members(alike);
    network->spread = spread;
    for (uint32_t port = graph->port_count; port-- > 0;) { /* who stands for others comes before them */
        network->used[port] = network->members / network->used[network->stand[port]];
    }
    return true;
}

void flow_stand_close(struct flow_net *network)
{
    size_t ports = network->machine->graph->port_count;
    mem_free(network->net->mem, network->stand, ports * sizeof *network->stand);
    mem_free(network->net->mem, network->used, ports * sizeof *network->used);
    network->stand = NULL;
    network->used = NULL;
}
