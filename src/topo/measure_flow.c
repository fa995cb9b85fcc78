/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow between two halves of the hosts, by Dinic's algorithm. Each half is one node, so that only switches are left
 * to search: hosts on the same switch become one edge, and a host can pass nothing on. Flow is counted in bits a
 * second, in integers: the answer is exact.
 */
#include "topo/measure.h"

#include <string.h>

enum { SOURCE, SINK, FIRST_SWITCH };

enum { FLOW_WORK = 1500000000 };

/* Edges lie in pairs, forth and back; both have the link's rate. */
struct flow_edge {
    uint32_t to;
    uint32_t next; /* of the same node; NONE ends */
    uint64_t room;
};

struct flow {
    struct mem *mem;
    uint32_t nodes;
    uint32_t *head, *turn, *level, *line; /* by node */
    uint32_t *path;                       /* edges from the source */
    struct flow_edge *edges;
    uint32_t edge_count, edge_room;
    uint64_t work;
};

static const uint32_t none = UINT32_MAX;

static void add_edge(struct flow *flow, uint32_t a, uint32_t b, uint64_t rate)
{
    const uint32_t ends[2] = {a, b};
    for (unsigned i = 0; i < 2; i++) {
        flow->edges[flow->edge_count] = (struct flow_edge){ends[1 - i], flow->head[ends[i]], rate};
        flow->head[ends[i]] = flow->edge_count++;
    }
}

/* Distances from the source over edges that have room; whether the sink has one. */
static bool topo_measure_flow_find_levels(struct flow *flow)
{
    uint32_t count = 1;
    memset(flow->level, 0xff, (size_t)flow->nodes * sizeof *flow->level);
    flow->level[SOURCE] = 0;
    flow->line[0] = SOURCE;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = flow->line[at];
        for (uint32_t edge = flow->head[node]; edge != none; edge = flow->edges[edge].next) {
            uint32_t to = flow->edges[edge].to;
            flow->work++;
            if (flow->edges[edge].room > 0 && flow->level[to] == none) {
                flow->level[to] = flow->level[node] + 1;
                flow->line[count++] = to;
            }
        }
    }
    return flow->level[SINK] != none;
}

/* Sends as much as the path of `length` edges takes; the place of the first edge that is then full. */
static uint32_t send(struct flow *flow, uint32_t length, uint64_t *sent)
{
    uint64_t most = UINT64_MAX;
    uint32_t full = 0;
    for (uint32_t i = length; i-- > 0;) {
        uint64_t room = flow->edges[flow->path[i]].room;
        if (room <= most) {
            most = room;
            full = i;
        }
    }
    for (uint32_t i = 0; i < length; i++) {
        flow->edges[flow->path[i]].room -= most;
        flow->edges[flow->path[i] ^ 1].room += most;
    }
    *sent += most;
    flow->work += length;
    return full;
}

/* All that the present levels let through. */
static uint64_t send_all(struct flow *flow)
{
    uint64_t sent = 0;
    uint32_t length = 0;
    uint32_t node = SOURCE;
    memcpy(flow->turn, flow->head, (size_t)flow->nodes * sizeof *flow->turn);
    while (flow->work < FLOW_WORK) {
        if (node == SINK) {
            length = send(flow, length, &sent);
            node = flow->edges[flow->path[length] ^ 1].to;
            continue;
        }
        uint32_t edge = flow->turn[node];
        while (edge != none &&
               !(flow->edges[edge].room > 0 && flow->level[flow->edges[edge].to] == flow->level[node] + 1)) {
            edge = flow->edges[edge].next;
            flow->work++;
        }
        flow->turn[node] = edge;
        if (edge != none) {
            flow->path[length++] = edge;
            node = flow->edges[edge].to;
        } else if (length > 0) {
            flow->level[node] = none; /* nothing more goes this way */
            node = flow->edges[flow->path[--length] ^ 1].to;
        } else {
            break;
        }
        flow->work++;
    }
    return sent;
}

static bool flow_init(struct flow *flow, uint32_t nodes, uint64_t edges, struct mem *mem)
{
    *flow = (struct flow){.mem = mem, .nodes = nodes, .edge_room = (uint32_t)edges};
    flow->head = mem_alloc(mem, (size_t)nodes * 5 * sizeof *flow->head);
    flow->edges = mem_alloc(mem, (size_t)edges * sizeof *flow->edges);
    if (flow->head == NULL || flow->edges == NULL) {
        return false;
    }
    flow->turn = flow->head + nodes;
    flow->level = flow->turn + nodes;
    flow->line = flow->level + nodes;
    flow->path = flow->line + nodes;
    memset(flow->head, 0xff, (size_t)nodes * sizeof *flow->head);
    return true;
}

static void flow_free(struct flow *flow)
{
    mem_free(flow->mem, flow->head, (size_t)flow->nodes * 5 * sizeof *flow->head);
    mem_free(flow->mem, flow->edges, (size_t)flow->edge_room * sizeof *flow->edges);
}

/* Fills the flow's edges; links of hosts are summed up by switch in `near` (two places a node). The rates of all links
 * together fit 64 bits. */
static void add_edges(struct flow *flow, const struct topo_graph *graph, const uint32_t *place, uint64_t *near,
                      uint64_t *direct)
{
    for (uint32_t i = 0; i < graph->link_count; i++) {
        uint32_t a = place[graph->links[i].a];
        uint32_t b = place[graph->links[i].b];
        uint64_t rate = graph->links[i].rate_bps;
        uint32_t half = a < FIRST_SWITCH ? a : b;
        uint32_t other = a < FIRST_SWITCH ? b : a;
        if (half >= FIRST_SWITCH) {
            add_edge(flow, a, b, rate);
        } else if (other >= FIRST_SWITCH) {
            near[(size_t)other * 2 + half] += rate;
        } else if (other != half) {
            *direct += rate;
        }
    }
    for (uint32_t node = FIRST_SWITCH; node < flow->nodes; node++) {
        for (uint32_t half = SOURCE; half <= SINK; half++) {
            if (near[(size_t)node * 2 + half] > 0) {
                add_edge(flow, half, node, near[(size_t)node * 2 + half]);
            }
        }
    }
}

/* Where each node of the machine is in the flow; how many there are. */
static uint32_t place_nodes(const struct topo_graph *graph, uint32_t *place)
{
    uint32_t hosts = 0;
    uint32_t next = FIRST_SWITCH;
    uint32_t seen = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        hosts += graph->kinds[node] == TOPO_NODE_HOST ? 1 : 0;
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        bool host = graph->kinds[node] == TOPO_NODE_HOST;
        place[node] = !host ? next++ : seen++ < hosts / 2 ? SOURCE : SINK;
    }
    return next;
}

static bool is_too_much(const struct topo_graph *graph)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        if (graph->links[i].rate_bps > UINT64_MAX / 4 - sum) {
            return true;
        }
        sum += graph->links[i].rate_bps;
    }
    return false;
}

enum orr_status topo_bisection(const struct topo_graph *graph, struct mem *mem, uint64_t *bps, bool *done,
                               struct orr_error *err)
{
    struct flow flow = {0};
    uint64_t direct = 0;
    uint32_t nodes = 0;
    if (is_too_much(graph)) {
        *done = false;
        return ORR_OK;
    }
    uint32_t *place = mem_alloc(mem, (size_t)graph->node_count * sizeof *place);
    size_t near_bytes = ((size_t)graph->node_count + FIRST_SWITCH) * 2 * sizeof(uint64_t);
    uint64_t *near = mem_zalloc(mem, near_bytes);
    bool made = place != NULL && near != NULL;
    if (made) {
        nodes = place_nodes(graph, place);
        made = flow_init(&flow, nodes, ((uint64_t)graph->link_count + 2 * (uint64_t)nodes) * 2, mem);
    }
    if (made) {
        add_edges(&flow, graph, place, near, &direct);
        while (flow.work < FLOW_WORK && topo_measure_flow_find_levels(&flow)) {
            direct += send_all(&flow);
        }
        *bps = direct;
        *done = flow.work < FLOW_WORK;
    }
    if (nodes > 0) {
        flow_free(&flow);
    }
    mem_free(mem, place, (size_t)graph->node_count * sizeof *place);
    mem_free(mem, near, near_bytes);
    return made ? ORR_OK : mem_error(mem, "the machine's bisection", err);
}
