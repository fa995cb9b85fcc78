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

/* Nothing is written where there is nothing to draw: one rank, or more links than are drawn. ORR_ENOMEM; write errors
 * stay with the stream. */
ORR_MUST_CHECK enum orr_status report_machine_write(const struct sim_result *result, FILE *stream,
                                                    struct orr_error *err);

#endif
