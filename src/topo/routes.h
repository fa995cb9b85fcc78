/*
 * Shortest ways through a wired machine: for each host the distance of every node and the order in which a search from
 * that host meets them, which is the order in which equal ways are listed (spec packet A9). A host's row is made when
 * it is first asked for. Only switches forward. Owned by its user; not shared between threads.
 */
#ifndef ORR_TOPO_ROUTES_H
#define ORR_TOPO_ROUTES_H

#include "topo/graph.h"

enum { TOPO_UNREACHABLE = UINT16_MAX };

/* A node as the search from one host sees it. */
struct topo_seen {
    uint32_t order; /* place in the search */
    uint16_t hops;  /* to the host, or TOPO_UNREACHABLE */
};

/* The way the search took first, summed up (spec packet A6). */
struct topo_pair {
    uint64_t delay_ns;   /* one way */
    uint64_t sending_ns; /* of one payload, each link's rounded down, summed */
    uint64_t rate_bps;   /* of the slowest link */
};

struct topo_routes {
    const struct topo_graph *graph;
    struct topo_seen **rows;   /* by host; NULL until asked for */
    struct topo_pair **pairs;  /* the same */
    uint32_t *neighbour_start; /* by node: its neighbours in the order they are looked at */
    uint32_t *neighbour_ports; /* the port towards each; of parallel links the last, unless `parallel` */
    uint32_t neighbour_count;
    uint8_t *down; /* by link: taken out of service */
    uint32_t payload_bytes;
    bool parallel; /* parallel links are ways of their own */
    struct mem *mem;
};

/* `payload_bytes` is what sending_ns is reckoned with. Borrows the graph. */
ORR_MUST_CHECK enum orr_status topo_routes_init(struct topo_routes *routes, const struct topo_graph *graph,
                                                uint32_t payload_bytes, bool parallel, struct mem *mem,
                                                struct orr_error *err);
void topo_routes_free(struct topo_routes *routes);

/* Takes a link out of service or puts it back; all ways are then found anew. */
void topo_routes_set_down(struct topo_routes *routes, uint32_t link, bool down);

/* The row of a host, by node; NULL when memory is refused. */
const struct topo_seen *topo_routes_to(struct topo_routes *routes, uint32_t host);
/* Facts of the way between node `from` and `host`; NULL as above. */
const struct topo_pair *topo_routes_pair(struct topo_routes *routes, uint32_t from, uint32_t host);

/* The ports of `node` that lie on shortest ways to `host`, in the search's order; at most `room` are stored, all are
 * counted. 0 when there is no way or memory is refused. */
uint32_t topo_routes_next(struct topo_routes *routes, uint32_t node, uint32_t host, uint32_t *ports, uint32_t room);

#endif
