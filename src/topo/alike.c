/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A turn of the ranks is one of the machine where switches can be found to go with it: those that hang on ranks first,
 * by whom they hang on, then those above them by the switches below. Switches that hang on the same ones are equal
 * ways, and it does not matter which goes where: each is counted to the class of the others. So the ports between
 * switches fall into classes by what they join; those of ranks go with their own.
 */
#include "topo/alike.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/sets.h"

struct marked {
    uint64_t mark;
    uint32_t at;
};

struct turning {
    const struct topo_graph *graph;
    const struct topo_alike *alike;
    uint32_t ranks;
    uint32_t *to;       /* by node: where the turn takes it; UINT32_MAX: not known yet */
    uint32_t *set;      /* by node: sets of those in one class */
    uint32_t *stand;    /* by port: the same */
    struct marked *is;  /* switches to be found, by what they hang on */
    struct marked *was; /* by what that becomes */
};

static int by_mark_and_number(const void *a, const void *b)
{
    const struct marked *x = a;
    const struct marked *y = b;
    if (x->mark != y->mark) {
        return x->mark < y->mark ? -1 : 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

static uint32_t peer_node(const struct topo_graph *graph, uint32_t port)
{
    return graph->ports[graph->ports[port].peer].node;
}

static uint64_t mark_of_link(const struct topo_graph *graph, uint32_t port)
{
    const struct topo_link *link = &graph->links[graph->ports[port].link];
    return map_mix(link->rate_bps ^ map_mix(link->delay_ns + 1));
}

/* What a switch hangs on, of the nodes whose turn is known; false: nothing yet. */
static bool mark_switch(const struct turning *turning, uint32_t node, uint64_t *is, uint64_t *becomes)
{
    const struct topo_graph *graph = turning->graph;
    bool any = false;
    *is = *becomes = graph->kinds[node];
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint32_t peer = peer_node(graph, port);
        if (turning->to[peer] != UINT32_MAX) {
            uint64_t link = mark_of_link(graph, port);
            *is += map_mix(link ^ peer);
            *becomes += map_mix(link ^ turning->to[peer]);
            any = true;
        }
    }
    return any;
}

static void sets_join(uint32_t *sets, uint32_t a, uint32_t b)
{
    a = sets_find(sets, a);
    b = sets_find(sets, b);
    sets[a > b ? a : b] = a > b ? b : a;
}

/* One more level of switches: how many were found, UINT32_MAX where they do not go with the turn. */
static uint32_t turn_switches(struct turning *turning)
{
    const struct topo_graph *graph = turning->graph;
    uint32_t count = 0;
    for (uint32_t node = turning->ranks; node < graph->node_count; node++) {
        uint64_t is = 0, becomes = 0;
        if (turning->to[node] == UINT32_MAX && mark_switch(turning, node, &is, &becomes)) {
            turning->is[count] = (struct marked){is, node};
            turning->was[count++] = (struct marked){becomes, node};
        }
    }
    qsort(turning->is, count, sizeof *turning->is, by_mark_and_number);
    qsort(turning->was, count, sizeof *turning->was, by_mark_and_number);
    for (uint32_t i = 0; i < count; i++) {
        if (turning->is[i].mark != turning->was[i].mark) {
            return UINT32_MAX;
        }
        turning->to[turning->was[i].at] = turning->is[i].at;
        sets_join(turning->set, turning->was[i].at, turning->is[i].at);
        if (i > 0 && turning->is[i].mark == turning->is[i - 1].mark) {
            sets_join(turning->set, turning->is[i].at, turning->is[i - 1].at);
        }
    }
    return count;
}

/* The port of a rank that this one of another becomes: to the node that its peer becomes, and of several there the one
 * that has as many before it. UINT32_MAX: there is none. */
static uint32_t turned_port(const struct turning *turning, uint32_t port)
{
    const struct topo_graph *graph = turning->graph;
    uint32_t node = graph->ports[port].node;
    uint32_t peer = peer_node(graph, port);
    uint32_t before = 0;
    for (uint32_t i = graph->port_start[node]; i < port; i++) {
        before += peer_node(graph, i) == peer ? 1 : 0;
    }
    node = turning->to[node];
    for (uint32_t i = graph->port_start[node]; i < graph->port_start[node + 1]; i++) {
        if (peer_node(graph, i) == turning->to[peer] && before-- == 0) {
            return mark_of_link(graph, i) == mark_of_link(graph, port) ? i : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

/* Every link must be there after the turn, those between switches of one level too, which nothing else looks at. */
static bool turn_ports(struct turning *turning)
{
    const struct topo_graph *graph = turning->graph;
    for (uint32_t port = 0; port < graph->port_count; port++) {
        bool of_rank = graph->ports[port].node < turning->ranks;
        if (!of_rank && peer_node(graph, port) < turning->ranks) {
            continue; /* the far end of a rank's */
        }
        uint32_t turned = turned_port(turning, port);
        if (turned == UINT32_MAX || graph->links[graph->ports[port].link].error_rate > 0) {
            return false;
        }
        if (!of_rank) {
            continue; /* join_ports_between */
        }
        sets_join(turning->stand, port, turned);
        sets_join(turning->stand, graph->ports[port].peer, graph->ports[turned].peer);
    }
    return true;
}

static bool turn_all(struct turning *turning, int of_servers)
{
    const struct topo_graph *graph = turning->graph;
    uint32_t ranks = turning->ranks;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        turning->to[node] = node < ranks ? topo_alike_next(turning->alike, node, of_servers) : UINT32_MAX;
    }
    uint32_t found = 0;
    uint32_t left = graph->node_count - ranks;
    do {
        found = turn_switches(turning);
        left -= found == UINT32_MAX ? 0 : found;
    } while (found != 0 && found != UINT32_MAX);
    return left == 0 && found == 0 && turn_ports(turning);
}

/* Ports between switches of the same classes are one class. */
static void join_ports_between(struct turning *turning, struct marked *ports)
{
    const struct topo_graph *graph = turning->graph;
    uint32_t count = 0;
    for (uint32_t port = graph->port_start[turning->ranks]; port < graph->port_count; port++) {
        uint32_t peer = peer_node(graph, port);
        if (peer >= turning->ranks) {
            uint64_t ends =
                (uint64_t)sets_find(turning->set, graph->ports[port].node) << 32 | sets_find(turning->set, peer);
            ports[count++] = (struct marked){map_mix(ends) ^ mark_of_link(graph, port), port};
        }
    }
    qsort(ports, count, sizeof *ports, by_mark_and_number);
    for (uint32_t i = 1; i < count; i++) {
        if (ports[i].mark == ports[i - 1].mark) {
            sets_join(turning->stand, ports[i].at, ports[i - 1].at);
        }
    }
}

bool topo_alike_ports(const struct topo_graph *graph, const struct topo_alike *alike, uint32_t ranks, uint32_t *stand,
                      bool *alike_so, struct mem *mem)
{
    size_t nodes = graph->node_count;
    size_t room = nodes > graph->port_count ? nodes : graph->port_count;
    struct turning turning = {.graph = graph,
                              .alike = alike,
                              .ranks = ranks,
                              .to = mem_alloc(mem, nodes * sizeof *turning.to),
                              .set = mem_alloc(mem, nodes * sizeof *turning.set),
                              .stand = stand,
                              .is = mem_alloc(mem, room * sizeof *turning.is),
                              .was = mem_alloc(mem, nodes * sizeof *turning.was)};
    bool made = turning.to != NULL && turning.set != NULL && turning.is != NULL && turning.was != NULL;
    *alike_so = made && ranks <= nodes;
    for (uint32_t node = 0; *alike_so && node < nodes; node++) {
        turning.set[node] = node;
        *alike_so = (graph->kinds[node] == TOPO_NODE_HOST) == (node < ranks);
    }
    for (uint32_t port = 0; port < graph->port_count; port++) {
        stand[port] = port;
    }
    *alike_so = *alike_so && turn_all(&turning, 1) && turn_all(&turning, 0);
    if (*alike_so) {
        join_ports_between(&turning, turning.is);
    }
    for (uint32_t port = 0; port < graph->port_count; port++) {
        stand[port] = sets_find(stand, port);
    }
    mem_free(mem, turning.to, nodes * sizeof *turning.to);
    mem_free(mem, turning.set, nodes * sizeof *turning.set);
    mem_free(mem, turning.is, room * sizeof *turning.is);
    mem_free(mem, turning.was, nodes * sizeof *turning.was);
    return made;
}
