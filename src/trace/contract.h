/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes taken out of a trace so that order survives: whoever waited for a removed node waits for what that node waited
 * for. A dependency made this way is a data dependency only where the whole way was, and is left out where another one
 * implies it.
 *
 * k parents and m children of a removed node become k times m dependencies. Where that is more than CONTRACT_EDGES, or
 * where a long row of removed nodes would gather more than CONTRACT_PARENTS parents, the node stays as a joint: a
 * compute node of no duration (edit_change_joint), so that edges never grow beyond a small multiple.
 */
#ifndef ORR_TRACE_CONTRACT_H
#define ORR_TRACE_CONTRACT_H

#include "trace/edit.h"

enum { CONTRACT_EDGES = 64, CONTRACT_PARENTS = 64 };

struct contract_counts {
    uint64_t removed; /* nodes */
    uint64_t joints;  /* nodes that stay as joints */
    uint64_t implied; /* dependencies left out because another one implies them */
    uint64_t twice;   /* dependencies that a list named twice */
};

/*
 * Carries out graph->fate: EDIT_REMOVE and EDIT_PASS leave the dependencies, EDIT_JOINT marks those that had to stay.
 * Every node's dependencies come out without the missing ones and without doubles in a list. ORR_EINVAL when
 * nodes wait for each other in a circle (`path` starts the message), ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status contract(struct edit_graph *graph, const char *path, struct contract_counts *counts,
                                        struct orr_error *err);

#endif
