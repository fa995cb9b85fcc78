/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of compute nodes, each waiting for the one before and for nothing else, made into one node that lasts as long as
 * they did together. The first of a row stays, with the sums of durations and amounts; the others are dropped, and who
 * waited for the last waits for the first. Only nodes of one key are merged: the same device, stream or thread, step.
 */
#ifndef ORR_TRACE_CHAINS_H
#define ORR_TRACE_CHAINS_H

#include "trace/edit.h"

/* What is known of each node's work, collected while the graph is read. */
struct chains {
    struct mem *mem;
    uint64_t *key;                         /* by node; 0 = not to be merged */
    uint64_t *duration_us;                 /* by node; of a row's first node, in the end, the sum */
    uint32_t *length;                      /* by node: of a row's first node how many it stands for; else 1 or 0 */
    uint8_t *has_amount;                   /* by node: bit enum record_amount */
    uint64_t *amount[RECORD_AMOUNT_COUNT]; /* by node; NULL as long as no node has it */
    uint32_t node_count, capacity[3 + RECORD_AMOUNT_COUNT];
    uint64_t merged; /* nodes dropped */
};

void chains_init(struct chains *chains, struct mem *mem);
void chains_free(struct chains *chains);

/* Adds the next node. `key` 0 for one that is not to be merged. */
ORR_MUST_CHECK enum orr_status chains_add(struct chains *chains, const struct record_facts *facts, uint64_t key,
                                          struct orr_error *err);

/* The key of a compute node: its device, stream or thread, and step. 0 for any other node. */
uint64_t chains_key(const struct record_facts *facts);

/* Merges, changing the graph's fates and dependencies. Nodes that are not EDIT_KEEP are left alone. `path` starts the
 * message of ORR_EINVAL (a cycle, which trace fix repairs, or a sum that does not fit 64 bits); or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status chains_merge(struct chains *chains, struct edit_graph *graph, const char *path,
                                            struct orr_error *err);

/* Adds what the first node of a row says now. */
void chains_change(const struct chains *chains, uint32_t node, struct record_change *change);

#endif
