/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computations without operations (placeholders, identities, views) go, and who waited for them waits for what they
 * waited for. The order in which that happens decides the order of dependencies, so it is the original's: in rounds; in
 * each, children are those of the round's start, a node waits while one of its parents is listed for the round, and
 * the parents are put at the end of the child's list (spec simai §12.3).
 */
#include <string.h>

#include "model/stg/nodes.h"

struct round {
    struct stg_nodes *nodes;
    bool *listed;       /* by node: had no operations at the start */
    uint32_t *children; /* grouped by parent */
    uint32_t *first;    /* by node, and one more: its children */
    uint32_t child_capacity;
};

static bool is_empty(const struct stg_nodes *nodes, const struct stg_node *node)
{
    const struct stg_item *item = &nodes->stages->list[nodes->stage].items[node->item];
    return node->kind == STG_NODE_COMP && !node->gone && (item->shadow || nodes->facts->list[item->tensor].ops == 0);
}

static bool list_children(struct round *round)
{
    struct stg_nodes *nodes = round->nodes;
    memset(round->first, 0, (nodes->count + 1) * sizeof *round->first);
    uint64_t total = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct stg_node *node = &nodes->list[i];
        for (uint32_t d = 0; d < node->dep_count && !node->gone; d++) {
            round->first[nodes->deps[node->first_dep + d] + 1]++;
            total++;
        }
    }
    if (!MEM_RESERVE(nodes->mem, round->children, round->child_capacity, total + 1)) {
        return false;
    }
    for (uint32_t i = 0; i < nodes->count; i++) {
        round->first[i + 1] += round->first[i];
    }
    for (uint32_t i = nodes->count; i > 0; i--) { /* from the back, so that the ends become the beginnings */
        const struct stg_node *node = &nodes->list[i - 1];
        for (uint32_t d = node->gone ? 0 : node->dep_count; d > 0; d--) {
            uint32_t parent = nodes->deps[node->first_dep + d - 1];
            round->children[--round->first[parent + 1]] = i - 1;
        }
    }
    /* first[p + 1] is now where the children of p begin. */
    memmove(round->first, round->first + 1, nodes->count * sizeof *round->first);
    round->first[nodes->count] = (uint32_t)total;
    return true;
}

static void stg_prune_forget(struct stg_nodes *nodes, struct stg_node *child, uint32_t parent)
{
    uint32_t *deps = nodes->deps + child->first_dep;
    for (uint32_t d = 0; d < child->dep_count; d++) {
        if (deps[d] == parent) {
            memmove(deps + d, deps + d + 1, (child->dep_count - d - 1) * sizeof *deps);
            child->dep_count--;
            return;
        }
    }
}

static bool take_out(struct round *round, uint32_t empty)
{
    struct stg_nodes *nodes = round->nodes;
    nodes->list[empty].gone = true;
    for (uint32_t c = round->first[empty]; c < round->first[empty + 1]; c++) {
        uint32_t child = round->children[c];
        stg_prune_forget(nodes, &nodes->list[child], empty);
        for (uint32_t d = 0; d < nodes->list[empty].dep_count; d++) {
            if (!stg_node_depend(nodes, child, nodes->deps[nodes->list[empty].first_dep + d])) {
                return false;
            }
        }
    }
    return true;
}

static bool waits(const struct round *round, uint32_t empty)
{
    const struct stg_node *node = &round->nodes->list[empty];
    bool any = false;
    for (uint32_t d = 0; d < node->dep_count && !any; d++) {
        any = round->listed[round->nodes->deps[node->first_dep + d]];
    }
    return any;
}

static enum orr_status run_rounds(struct round *round, struct orr_error *err)
{
    struct stg_nodes *nodes = round->nodes;
    uint32_t left = 1;
    uint32_t before = 0;
    while (left > 0) {
        left = 0;
        for (uint32_t i = 0; i < nodes->count; i++) {
            round->listed[i] = is_empty(nodes, &nodes->list[i]);
            left += round->listed[i];
        }
        if (left > 0 && left == before) {
            return error_set(err, ORR_EINVAL, "the sheets' tensors depend on each other in a circle");
        }
        before = left;
        if (left > 0 && !list_children(round)) {
            return mem_error(nodes->mem, "the nodes of a stage", err);
        }
        for (uint32_t i = 0; i < nodes->count && left > 0; i++) {
            if (round->listed[i] && !waits(round, i) && !take_out(round, i)) {
                return mem_error(nodes->mem, "the nodes of a stage", err);
            }
        }
    }
    return ORR_OK;
}

enum orr_status stg_nodes_prune(struct stg_nodes *nodes, struct orr_error *err)
{
    struct mem *mem = nodes->mem;
    struct round round = {.nodes = nodes};
    round.listed = mem_alloc(mem, nodes->count * sizeof *round.listed);
    round.first = mem_alloc(mem, ((size_t)nodes->count + 1) * sizeof *round.first);
    enum orr_status status = round.listed == NULL || round.first == NULL ? mem_error(mem, "the nodes of a stage", err)
                                                                         : run_rounds(&round, err);
    mem_free(mem, round.listed, nodes->count * sizeof *round.listed);
    mem_free(mem, round.first, ((size_t)nodes->count + 1) * sizeof *round.first);
    mem_free(mem, round.children, round.child_capacity * sizeof *round.children);
    return status;
}

/* A collective whose input is another of its type takes that one's place. */
enum orr_status stg_nodes_merge(struct stg_nodes *nodes, struct orr_error *err)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t count = nodes->list[i].kind == STG_NODE_COLL ? nodes->list[i].dep_count : 0;
        for (uint32_t d = 0; d < count; d++) {
            uint32_t parent = nodes->deps[nodes->list[i].first_dep + d];
            struct stg_node *other = &nodes->list[parent];
            if (other->kind != STG_NODE_COLL || other->coll != nodes->list[i].coll) {
                continue;
            }
            other->gone = true;
            for (uint32_t p = 0; p < nodes->list[parent].dep_count; p++) {
                if (!stg_node_depend(nodes, i, nodes->deps[nodes->list[parent].first_dep + p])) {
                    return mem_error(nodes->mem, "the nodes of a stage", err);
                }
            }
        }
    }
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct stg_node *node = &nodes->list[i];
        uint32_t kept = 0;
        for (uint32_t d = 0; d < node->dep_count; d++) {
            uint32_t dep = nodes->deps[node->first_dep + d];
            if (!nodes->list[dep].gone) {
                nodes->deps[node->first_dep + kept++] = dep;
            }
        }
        node->dep_count = kept;
    }
    return ORR_OK;
}
