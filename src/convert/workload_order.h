/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a workload is written, and its edges by child and by parent: shared by the checking and the
 * writing half of convert/workload.h, and by nobody else.
 */
#ifndef ORR_CONVERT_WORKLOAD_ORDER_H
#define ORR_CONVERT_WORKLOAD_ORDER_H

#include "convert/workload.h"

/* One block of numbers. */
struct workload_order {
    uint32_t *parents, *parent_start; /* node i's: parents[parent_start[i]] to before parent_start[i + 1] */
    uint32_t *children, *child_start;
    uint32_t *nodes;      /* node indices, a rank after the other, parents before children */
    uint32_t *rank_start; /* rank r's: nodes[rank_start[r]] to before rank_start[r + 1] */
    uint32_t *place;      /* by node: its id in the file */
    uint32_t *scratch;    /* by node, and one more */
    size_t words;
    uint32_t *block;
};

/* Zeroed on failure, so that freeing is fine either way. ORR_EINVAL for a circle or a rank without operations. */
ORR_MUST_CHECK enum orr_status workload_order_make(const struct workload *workload, const char *input,
                                                   struct workload_order *order, struct orr_error *err);
void workload_order_free(struct workload_order *order, struct mem *mem);

enum { WORKLOAD_NAME_ROOM = 64 };

/* A node's name for a message. */
const char *workload_node_printable(const struct workload *workload, const struct workload_node *node,
                                    char name[WORKLOAD_NAME_ROOM]);

#endif
