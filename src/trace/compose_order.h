/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a trace one after the other so that each comes behind all it waits for. A recording's own order is kept
 * where it is such an order already; where it is not (a generator that writes layer by layer), nodes come by the time
 * at which they could be over if nothing but their dependencies held them up.
 */
#ifndef ORR_TRACE_COMPOSE_ORDER_H
#define ORR_TRACE_COMPOSE_ORDER_H

#include "base/arena.h"
#include "trace/edit.h"

/* `weight[node]` is how long a node takes, in any unit. `order` has room for all nodes. ORR_EINVAL when nodes wait for
 * each other in a circle (`path` starts the message), ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status compose_order(const struct edit_graph *graph, const uint64_t *weight, const char *path,
                                             uint32_t *order, struct orr_error *err);

#endif
