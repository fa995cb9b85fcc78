/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From nodes in file order with dependencies named by id to the graph a simulation walks: the second half of reading a
 * trace_graph (trace/et_read.h is the first).
 */
#ifndef ORR_TRACE_GRAPH_BUILD_H
#define ORR_TRACE_GRAPH_BUILD_H

#include "trace/et_read.h"

/* Sorts the nodes the graph took over from `read`, resolves the dependencies and turns them round. Fails with
 * ORR_EINVAL (an id used twice, a dependency on a node that is not there) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status graph_build(struct trace_graph *graph, struct et_read *read);

/* As trace_graph_parse, but from an open window, from its first byte on. */
ORR_MUST_CHECK enum orr_status graph_load(struct file_window *window, struct mem *mem, struct trace_graph **graph,
                                          struct orr_error *err);

#endif
