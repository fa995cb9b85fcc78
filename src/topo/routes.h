/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest ways through a wired machine, in the order in which a search from the destination meets the nodes, which is
 * the order in which equal ways are listed (spec packet A9). Only switches forward.
 *
 * What a search finds does not depend on the host it begins at but on the switches that host hangs on: hosts of one
 * switch, or of the same pair of switches, share a row, and a row tells of switches alone. A host's own distance
 * follows from those of its switches. A row is made when it is first asked for, and no further than to the node asked
 * about. Rows beyond a fixed room are forgotten and made again. Owned by its user; not shared between threads.
 */
#ifndef ORR_TOPO_ROUTES_H
#define ORR_TOPO_ROUTES_H

#include "base/map.h"
#include "topo/graph.h"

enum { TOPO_UNREACHABLE = UINT16_MAX };

/* A switch as one search sees it. */
struct topo_seen {
    uint32_t place;  /* in the search, from 1; 0 = not met yet */
    uint32_t met_by; /* port of the switch it was met from; of those the search began at, UINT32_MAX */
    uint16_t hops;   /* to where the search began */
};

/* One search, as far as it has gone. */
struct topo_row {
    struct topo_seen *seen; /* by switch */
    uint32_t *line;         /* numbers of switches in the order met */
    uint32_t count, at;     /* met, and whose neighbours have been looked at */
    uint32_t most;          /* that can be met */
};

/* The way the search took first, summed up (spec packet A6). */
struct topo_pair {
    uint64_t delay_ns;   /* one way */
    uint64_t sending_ns; /* of one payload, each link's rounded down, summed */
    uint64_t rate_bps;   /* of the slowest link; 0 when there is no way */
};

/* A pair that was asked for, and what its way is like. A ring's ranks ask for the same few all the time. */
struct topo_known {
    uint32_t from, to;     /* from equals to: none */
    uint32_t next;         /* the only port of `from` on shortest ways to `to`; UINT32_MAX: several, or not asked for */
    struct topo_pair pair; /* rate 0: not asked for, or there is no way */
};

/* The ports of a switch on equal ways to a host, which flows past it ask for again and again. */
enum { TOPO_FAN_MOST = 126, TOPO_FANS = 512 };

struct topo_fan {
    uint32_t from, to; /* from equals to: none */
    uint32_t count;
    uint32_t ports[TOPO_FAN_MOST];
};

MAP_STRUCT(topo_kinds, uint32_t); /* from 1 */

struct topo_routes {
    const struct topo_graph *graph;
    uint32_t *number;   /* by node: among the switches */
    uint32_t *switches; /* nodes, by number */
    uint32_t *part; /* by number: a switch that stands for all it hangs together with, over switches, links down too */
    uint32_t *in_part; /* by number of such a one: how many they are */
    uint32_t switch_count;
    struct topo_row *rows; /* by kind of destination, from 1 */
    uint32_t row_count;
    uint32_t *row_of;          /* by node: its kind; 0 until asked for */
    struct topo_kinds kinds;   /* by the switches they hang on; as large as it can be wanted from the first */
    uint32_t *kind_node;       /* by kind: one of its nodes */
    uint64_t row_bytes;        /* all rows made */
    uint32_t *neighbour_start; /* by node: its neighbours in the order they are looked at, hosts first */
    uint32_t *switch_start;    /* by node: the first of them that is a switch */
    uint32_t *neighbour_ports; /* the port towards each; of parallel links the last, unless `parallel` */
    uint32_t *neighbours;      /* their nodes, of switches their numbers: nearly all that a search looks at */
    uint32_t neighbour_count;
    uint8_t *down; /* by link: taken out of service */
    bool any_down;
    struct topo_known *known; /* pairs asked for before, each at the place of its hash */
    uint32_t known_room;      /* a power of two */
    struct topo_fan *fans;    /* the same for equal ways: TOPO_FANS of them */
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

/* Links from node `from` to `to`, or TOPO_UNREACHABLE; false when memory is refused. */
bool topo_routes_hops(struct topo_routes *routes, uint32_t from, uint32_t to, uint16_t *hops);
/* Facts of the way between two nodes, until the next call; NULL when memory is refused. */
const struct topo_pair *topo_routes_pair(struct topo_routes *routes, uint32_t from, uint32_t to);

/* The ports of `node` that lie on shortest ways to `host`, in the search's order; at most `room` are stored, all are
 * counted. 0 when there is no way or memory is refused. */
uint32_t topo_routes_next(struct topo_routes *routes, uint32_t node, uint32_t host, uint32_t *ports, uint32_t room);

/* `wants` says whether a way like this one would be news; only such are looked for, and told where there are any. */
struct topo_visitor {
    bool (*wants)(const void *context, const struct topo_pair *pair);
    void (*visit)(void *context, const struct topo_pair *pair);
    void *context;
};

/* Calls for the way between hosts, at least once for each way that differs from the others and is wanted; false when
 * memory is refused. */
bool topo_routes_each_pair(struct topo_routes *routes, const struct topo_visitor *visitor);

/* The greatest number of links between `from` and any other node; 0 when memory is refused. */
uint32_t topo_routes_farthest(struct topo_routes *routes, uint32_t from);

#endif
