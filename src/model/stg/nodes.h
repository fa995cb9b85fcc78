/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of one stage's trace, in the order they are written: for each tensor its computation and the collectives
 * before its inputs, for what crosses stages a send or a receive. Computations of no operations are taken out and their
 * dependencies handed on (spec simai §12.3). Ids are the original's: counted over the stages in creation order, sends
 * and receives after all others.
 *
 * Ranks differ from each other only in groups and peers: a collective names the symbol it runs over, a message the
 * stage at its other end.
 */
#ifndef ORR_MODEL_STG_NODES_H
#define ORR_MODEL_STG_NODES_H

#include "model/stg/comm.h"
#include "model/stg/facts.h"
#include "model/stg/stage.h"

enum stg_node_kind { STG_NODE_COMP, STG_NODE_COLL, STG_NODE_SEND, STG_NODE_RECV };

struct stg_node {
    uint64_t size; /* of a collective or message */
    uint32_t item;
    uint32_t id;
    uint32_t first_dep, dep_count, dep_capacity; /* nodes, by index */
    uint32_t pair;                               /* of a message */
    enum stg_node_kind kind;
    enum stg_coll coll;
    enum stg_symbol symbol;
    uint8_t slot;      /* of a collective: which input it is before */
    uint8_t before[2]; /* of a computation: collectives before each input; they follow it */
    bool gone;
};

struct stg_nodes {
    struct mem *mem;
    const struct stg_stages *stages;
    const struct stg_facts *facts;
    uint32_t stage;
    struct stg_node *list;
    uint32_t count, capacity;
    uint32_t *deps;
    uint32_t dep_count, dep_capacity;
    uint32_t *first; /* by item: its computation */
};

/* What all stages need to know of each other before the first is made. */
struct stg_numbering {
    struct stg_rules rules;
    uint32_t next_id;     /* of the stage that comes next */
    uint32_t message_ids; /* send of pair p: this + 2p; receive: one more */
    uint64_t sliced;      /* inputs that are cut from whole tensors; for a warning */
};

ORR_MUST_CHECK enum orr_status stg_numbering_begin(const struct stg_stages *stages, struct stg_model *model,
                                                   struct stg_numbering *numbering, struct orr_error *err);

/* Makes the nodes of `stage`; stages are made in order. `merge` drops a collective that feeds another of its type. */
ORR_MUST_CHECK enum orr_status stg_nodes_build(const struct stg_stages *stages, struct stg_model *model,
                                               const struct stg_facts *facts, uint32_t stage, bool merge,
                                               struct stg_numbering *numbering, struct stg_nodes *nodes,
                                               struct orr_error *err);
void stg_nodes_free(struct stg_nodes *nodes);

/* In prune.c. */
ORR_MUST_CHECK enum orr_status stg_nodes_prune(struct stg_nodes *nodes, struct orr_error *err);
ORR_MUST_CHECK enum orr_status stg_nodes_merge(struct stg_nodes *nodes, struct orr_error *err);

/* Appends a dependency; false when memory is refused. */
ORR_MUST_CHECK bool stg_node_depend(struct stg_nodes *nodes, uint32_t node, uint32_t on);

#endif
