/* SPDX-License-Identifier: Apache-2.0 */
/* Ports are numbered by two passes over the links, a count and a fill: so a node's ports lie side by side, in the order
 * of its links, which is the order the reference numbers its devices in (spec packet A2). */
#include "topo/graph.h"

#include <string.h>

enum orr_status topo_graph_init(struct topo_graph *graph, uint32_t nodes, uint32_t links, struct mem *mem,
                                struct orr_error *err)
{
    *graph = (struct topo_graph){.node_count = nodes, .link_count = links, .mem = mem};
    graph->kinds = mem_zalloc(mem, nodes);
    graph->links = mem_zalloc(mem, (size_t)links * sizeof *graph->links);
    graph->ports = mem_zalloc(mem, (size_t)links * 2 * sizeof *graph->ports);
    graph->port_start = mem_zalloc(mem, ((size_t)nodes + 1) * sizeof *graph->port_start);
    if (graph->kinds == NULL || graph->links == NULL || graph->ports == NULL || graph->port_start == NULL) {
        topo_graph_free(graph);
        return mem_error(mem, "the network's nodes and links", err);
    }
    return ORR_OK;
}

void topo_graph_free(struct topo_graph *graph)
{
    if (graph->mem == NULL) {
        return;
    }
    mem_free(graph->mem, graph->kinds, graph->node_count);
    mem_free(graph->mem, graph->links, (size_t)graph->link_count * sizeof *graph->links);
    mem_free(graph->mem, graph->ports, (size_t)graph->link_count * 2 * sizeof *graph->ports);
    mem_free(graph->mem, graph->port_start, ((size_t)graph->node_count + 1) * sizeof *graph->port_start);
    *graph = (struct topo_graph){0};
}

static uint32_t add_port(struct topo_graph *graph, uint32_t *filled, uint32_t node, uint32_t link)
{
    uint32_t index = filled[node]++;
    uint32_t port = graph->port_start[node] + index;
    graph->ports[port] = (struct topo_port){.node = node, .link = link, .index = index + 1};
    return port;
}

enum orr_status topo_graph_finish(struct topo_graph *graph, struct orr_error *err)
{
    uint32_t *filled = mem_zalloc(graph->mem, ((size_t)graph->node_count + 1) * sizeof *filled);
    if (filled == NULL) {
        return mem_error(graph->mem, "the network's ports", err);
    }
    memset(graph->port_start, 0, ((size_t)graph->node_count + 1) * sizeof *graph->port_start);
    for (uint32_t i = 0; i < graph->link_count; i++) {
        graph->port_start[graph->links[i].a + 1]++;
        graph->port_start[graph->links[i].b + 1]++;
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        graph->port_start[node + 1] += graph->port_start[node];
    }
    for (uint32_t i = 0; i < graph->link_count; i++) {
        uint32_t a = add_port(graph, filled, graph->links[i].a, i);
        uint32_t b = add_port(graph, filled, graph->links[i].b, i);
        graph->ports[a].peer = b;
        graph->ports[b].peer = a;
    }
    graph->port_count = 2 * graph->link_count;
    mem_free(graph->mem, filled, ((size_t)graph->node_count + 1) * sizeof *filled);
    return ORR_OK;
}
