/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of a run as a document for a page: drawn as topo show draws it (report/topo_drawing.h), and what the
 * links behind each line carried. Wired networks have their wires and figures of every link; of the others the logical
 * dimensions are drawn, switches included, and every link of a dimension carried the same. docs/report.md has the form.
 */
#ifndef ORR_REPORT_MACHINE_H
#define ORR_REPORT_MACHINE_H

#include <stdio.h>

#include "sim/result.h"

struct topo_graph;

/* A machine and what its links carried, row by row. */
struct report_carried {
    const struct topo_graph *wires; /* NULL: the dimensions are drawn */
    const struct topo_dims *dims;
    bool no_delays; /* of wires: not told */
    const void *rows;
    bool (*link)(const void *rows, uint32_t index, struct orr_link_result *row);
    bool (*dimension)(const void *rows, uint32_t index, struct orr_dimension_result *row);
};

/* Nothing is written where there is nothing to draw: one rank, or more links than are drawn. ORR_ENOMEM; write errors
 * stay with the stream. */
ORR_MUST_CHECK enum orr_status report_machine_draw(const struct report_carried *carried, FILE *stream,
                                                   struct orr_error *err);
ORR_MUST_CHECK enum orr_status report_machine_write(const struct sim_result *result, FILE *stream,
                                                    struct orr_error *err);
/* The same of a run's document (report/json.h) that was kept. Nothing is written of one that is not whole. */
ORR_MUST_CHECK enum orr_status report_machine_kept(const char *json, size_t size, struct mem *mem, FILE *stream,
                                                   struct orr_error *err);

#endif
