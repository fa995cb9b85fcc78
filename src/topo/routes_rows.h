/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The searches of topo/routes.h between its two halves: routes.c opens the machine, tells which destinations share a
 * row and carries searches on; routes_ways.c reads ways, distances and equal ports out of them. For these two alone.
 */
#ifndef ORR_TOPO_ROUTES_ROWS_H
#define ORR_TOPO_ROUTES_ROWS_H

#include "topo/routes.h"

static inline bool topo_rows_is_host(const struct topo_routes *routes, uint32_t node)
{
    return routes->graph->kinds[node] == TOPO_NODE_HOST;
}

static inline uint32_t topo_rows_peer_of(const struct topo_routes *routes, uint32_t port)
{
    return routes->graph->ports[routes->graph->ports[port].peer].node;
}

static inline bool topo_rows_is_up(const struct topo_routes *routes, uint32_t port)
{
    return !routes->any_down || !routes->down[routes->graph->ports[port].link];
}

/* Of the switches that a node hangs on; equal for nodes that share a row. */
uint32_t topo_rows_hash(const struct topo_routes *routes, uint32_t node);
/* The row of this destination, its search begun; NULL when memory is refused. */
struct topo_row *topo_rows_to(struct topo_routes *routes, uint32_t node);
/* Looks at the neighbours of the next switch in line; false when there is none left. */
bool topo_rows_go_on(const struct topo_routes *routes, struct topo_row *row);

/* The switch as this search sees it, which goes on until it meets it; NULL when it never does. */
static inline const struct topo_seen *topo_rows_seen_by(const struct topo_routes *routes, struct topo_row *row,
                                                        uint32_t node)
{
    const struct topo_seen *seen = &row->seen[routes->number[node]];
    while (seen->place == 0 && topo_rows_go_on(routes, row)) {
    }
    return seen->place == 0 ? NULL : seen;
}

#endif
