/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is odd about a wired machine that a reader accepts: hosts that cannot reach each other because hosts do not
 * forward, hosts and switches that have less than the others like them, links written twice, switches that lead
 * nowhere, numbers that ranks cannot have. One note each, with an example; nothing here decides that a machine is bad.
 */
#ifndef ORR_TOPO_CHECK_H
#define ORR_TOPO_CHECK_H

#include "base/notes.h"
#include "topo/graph.h"

/* `name` begins each note. */
ORR_MUST_CHECK enum orr_status topo_check(const struct topo_graph *graph, const char *name, struct notes *notes,
                                          struct mem *mem, struct orr_error *err);

#endif
