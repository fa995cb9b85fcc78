/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes of a linked trace are written, under which ids, and what each then depends on. Internal to emit/.
 * Leaving a node out contracts it: what it depended on is handed on to those that depended on it. Of the nodes of one
 * lane only the last is handed on, since it comes after the others anyway; so what is handed on stays as small as the
 * number of lanes.
 */
#ifndef ORR_CONVERT_PYTORCH_EMIT_SELECT_H
#define ORR_CONVERT_PYTORCH_EMIT_SELECT_H

#include "convert/pytorch/emit/emit.h"

struct emit_selection {
    uint32_t *ids;    /* by node; LINKED_NONE = left out */
    uint32_t *first;  /* by node: in deps */
    uint32_t *counts; /* by node */
    uint32_t *deps;   /* nodes: the written ones that a node, written or not, has to wait for */
    uint32_t dep_count, dep_capacity;
    uint32_t *lane_seen; /* by lane: node + 1 */
    uint32_t *lane_at;   /* by lane: place in the list being made */
    uint64_t node_total; /* of the arrays, to give back */
    uint32_t lane_total;
    struct mem *mem;
    bool contracts; /* something is left out */
};

/* Ids count up from `first_id`. False when memory is refused. */
bool emit_select(struct emit_selection *selection, const struct linked_trace *linked,
                 const struct emit_options *options, uint32_t first_id);
void emit_selection_free(struct emit_selection *selection);

#endif
