/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over all nodes, parents first. Nodes that stay are strung on chains as it goes: a node continues the chain
 * whose last node it waits for, else starts one. Of two nodes on one chain the later waits for the earlier, so a list
 * of parents needs no more than the last one of each chain; traces are made of a few threads and streams, hence of a
 * few chains, and lists stay that short however much is removed. What a removed node waited for is such a list, worked
 * out once; one with a single removed parent shares that parent's. Then a pass in file order writes the dependencies of
 * the nodes that stay. */
#include "trace/contract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By node: a removed one's list of parents in the pool, or where one that stays is strung. */
struct mark {
    uint32_t first;  /* of the list; the chain; or MARK_NEW, MARK_OPEN */
    uint32_t second; /* length of the list; place on the chain */
};

enum { MARK_NEW = UINT32_MAX, MARK_OPEN = UINT32_MAX - 1 };

struct contraction {
    struct edit_graph *graph;
    const char *path;
    struct contract_counts *counts;
    struct mark *marks;
    uint32_t *children; /* by node: dependencies that name it */
    uint8_t *cascade;   /* by node: a removed node waits for it */
    uint32_t *tail;     /* by chain: its last node so far */
    uint32_t chains;
    uint32_t *stamp; /* by chain: the list it was last seen in */
    uint32_t stamps;
    uint32_t *slot; /* by chain: where in that list */
    uint32_t *pool;
    uint32_t pool_count, pool_capacity;
    uint32_t *stack;                 /* nodes being worked out, each waiting for the next */
    uint32_t *cursor;                /* by place in the stack: the next dependency to look at */
    uint32_t *seen_data, *seen_ctrl; /* by node: 1 + the node that last named it so */
};

static bool leaves(const struct edit_graph *graph, uint32_t node)
{
    return graph->fate[node] == EDIT_REMOVE || graph->fate[node] == EDIT_PASS;
}

static bool push(struct contraction *c, uint32_t dep)
{
    if ((uint64_t)c->pool_count + 1 >= MARK_OPEN ||
        !MEM_GROW(c->graph->mem, c->pool, c->pool_capacity, c->pool_count)) {
        return false;
    }
    c->pool[c->pool_count++] = dep;
    return true;
}

/* Adds a dependency on a node that stays to the list being made: of each chain the last node, and a data dependency
 * rather than a control dependency on the same. */
static bool contract_add(struct contraction *c, uint32_t dep)
{
    const struct mark *mark = &c->marks[dep & EDIT_INDEX];
    uint32_t chain = mark->first;
    if (c->stamp[chain] != c->stamps) {
        c->stamp[chain] = c->stamps;
        c->slot[chain] = c->pool_count;
        return push(c, dep);
    }
    uint32_t *there = &c->pool[c->slot[chain]];
    uint32_t place = c->marks[*there & EDIT_INDEX].second;
    if (place < mark->second || (place == mark->second && (dep & EDIT_CTRL) == 0)) {
        *there = dep;
    }
    c->counts->implied++;
    return true;
}

/* The dependencies of a node, with removed parents replaced by theirs; gives their number, or UINT32_MAX. */
static uint32_t contract_gather(struct contraction *c, uint32_t node)
{
    const struct edit_graph *graph = c->graph;
    uint32_t first = c->pool_count;
    c->stamps++;
    for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
        uint32_t dep = graph->deps[d];
        uint32_t parent = dep & EDIT_INDEX;
        if (parent == EDIT_MISSING) {
            continue;
        }
        if (!leaves(graph, parent)) {
            if (!contract_add(c, dep)) {
                return UINT32_MAX;
            }
            continue;
        }
        struct mark theirs = c->marks[parent];
        for (uint32_t i = 0; c->pool != NULL && i < theirs.second; i++) {
            if (!contract_add(c, c->pool[theirs.first + i] | (dep & EDIT_CTRL))) {
                return UINT32_MAX;
            }
        }
    }
    return c->pool_count - first;
}

/* ---- parents first ---- */

/* A node that stays goes behind a node it waits for that is the last of its chain, or starts a chain. */
static void string_up(struct contraction *c, uint32_t node)
{
    const struct edit_graph *graph = c->graph;
    for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
        uint32_t parent = graph->deps[d] & EDIT_INDEX;
        bool through = parent != EDIT_MISSING && leaves(graph, parent);
        uint32_t count = parent == EDIT_MISSING ? 0 : through ? c->marks[parent].second : 1;
        for (uint32_t i = 0; i < count && (!through || c->pool != NULL); i++) {
            uint32_t before = through ? c->pool[c->marks[parent].first + i] & EDIT_INDEX : parent;
            uint32_t chain = c->marks[before].first;
            if (c->tail[chain] == before) {
                c->marks[node] = (struct mark){chain, c->marks[before].second + 1};
                c->tail[chain] = node;
                return;
            }
        }
    }
    c->marks[node] = (struct mark){c->chains, 0};
    c->tail[c->chains++] = node;
}

/* A removed node: its list, and whether it has to stay. */
static bool work_out(struct contraction *c, uint32_t node)
{
    const struct edit_graph *graph = c->graph;
    uint32_t first = graph->dep_start[node];
    bool shares = graph->dep_start[node + 1] == first + 1 && (graph->deps[first] & EDIT_CTRL) == 0 &&
                  graph->deps[first] != EDIT_MISSING && leaves(graph, graph->deps[first]);
    struct mark list = {c->pool_count, 0};
    if (shares) {
        list = c->marks[graph->deps[first]];
    } else {
        list.second = contract_gather(c, node);
        if (list.second == UINT32_MAX) {
            return false;
        }
    }
    uint64_t parents = list.second;
    uint64_t children = c->children[node];
    if ((children > 1 && parents > 1 && parents * children > CONTRACT_EDGES) ||
        (c->cascade[node] != 0 && parents > CONTRACT_PARENTS)) {
        bool passes = graph->fate[node] == EDIT_PASS; /* its record stays as it is, and its children with it */
        graph->fate[node] = passes ? EDIT_KEEP : EDIT_JOINT;
        c->counts->joints += !passes;
        string_up(c, node);
    } else {
        c->marks[node] = list;
    }
    return true;
}

static enum orr_status fail_cycle(const struct contraction *c, uint32_t node, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL,
                     "%s: node %" PRIu64 ": it waits for itself through other nodes; orrery trace fix repairs that",
                     c->path, c->graph->ids[node]);
}

/* The next parent that is not worked out yet, or EDIT_MISSING. */
static uint32_t pending(const struct contraction *c, uint32_t depth)
{
    const struct edit_graph *graph = c->graph;
    uint32_t end = graph->dep_start[c->stack[depth] + 1];
    while (c->cursor[depth] < end) {
        uint32_t parent = graph->deps[c->cursor[depth]++] & EDIT_INDEX;
        if (parent != EDIT_MISSING && c->marks[parent].first >= MARK_OPEN) {
            return parent;
        }
    }
    return EDIT_MISSING;
}

static void contract_enter(struct contraction *c, uint32_t depth, uint32_t node)
{
    c->stack[depth] = node;
    c->cursor[depth] = c->graph->dep_start[node];
    c->marks[node].first = MARK_OPEN;
}

static enum orr_status contract_resolve(struct contraction *c, uint32_t start, struct orr_error *err)
{
    uint32_t depth = 0;
    contract_enter(c, 0, start);
    for (;;) {
        uint32_t node = c->stack[depth];
        uint32_t parent = pending(c, depth);
        if (parent == EDIT_MISSING) {
            if (!leaves(c->graph, node)) {
                string_up(c, node);
            } else if (!work_out(c, node)) {
                return mem_error(c->graph->mem, "dependencies past removed nodes", err);
            }
            if (depth-- == 0) {
                return ORR_OK;
            }
        } else if (c->marks[parent].first == MARK_OPEN) {
            return fail_cycle(c, parent, err);
        } else {
            contract_enter(c, ++depth, parent);
        }
    }
}

/* ---- the nodes that stay ---- */

static bool waits_for_removed(const struct edit_graph *graph, uint32_t node)
{
    for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
        uint32_t parent = graph->deps[d] & EDIT_INDEX;
        if (parent != EDIT_MISSING && leaves(graph, parent)) {
            return true;
        }
    }
    return false;
}

/* As they are, but for missing ones and doubles in a list; a parent named by both lists is left alone. */
static bool copy_list(struct contraction *c, uint32_t node)
{
    const struct edit_graph *graph = c->graph;
    for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
        uint32_t dep = graph->deps[d];
        uint32_t parent = dep & EDIT_INDEX;
        if (parent == EDIT_MISSING) {
            continue;
        }
        uint32_t *seen = (dep & EDIT_CTRL) != 0 ? &c->seen_ctrl[parent] : &c->seen_data[parent];
        if (*seen == node + 1) {
            c->counts->twice++;
        } else if (push(c, dep)) {
            *seen = node + 1;
        } else {
            return false;
        }
    }
    return true;
}

static bool differs(const struct contraction *c, uint32_t node, uint32_t first)
{
    const struct edit_graph *graph = c->graph;
    uint32_t count = graph->dep_start[node + 1] - graph->dep_start[node];
    return count != c->pool_count - first ||
           (count > 0 && memcmp(graph->deps + graph->dep_start[node], c->pool + first, count * sizeof *c->pool) != 0);
}

static bool settle_node(struct contraction *c, uint32_t node)
{
    struct edit_graph *graph = c->graph;
    uint32_t first = c->pool_count;
    if (graph->fate[node] == EDIT_REMOVE || graph->fate[node] == EDIT_DROP) {
        c->counts->removed++;
        return true;
    }
    if (!waits_for_removed(graph, node)) {
        if (!copy_list(c, node)) {
            return false;
        }
    } else if (contract_gather(c, node) == UINT32_MAX) {
        return false;
    }
    if (differs(c, node, first)) {
        graph->dirty[node] = 1;
    }
    return true;
}

/* Writes the new dependencies behind the lists in the pool, then moves them into arrays of their own. */
static bool contract_settle(struct contraction *c)
{
    struct edit_graph *graph = c->graph;
    uint32_t base = c->pool_count;
    size_t start_bytes = ((size_t)graph->node_count + 1) * sizeof(uint32_t);
    uint32_t *starts = mem_alloc(graph->mem, start_bytes);
    bool fine = starts != NULL;
    /* The walk is over: its arrays are free. */
    c->seen_data = memset(c->stack, 0, graph->node_count * sizeof *c->stack);
    c->seen_ctrl = memset(c->cursor, 0, graph->node_count * sizeof *c->cursor);
    for (uint32_t node = 0; fine && node < graph->node_count; node++) {
        starts[node] = c->pool_count - base;
        fine = settle_node(c, node);
    }
    uint32_t total = c->pool_count - base;
    uint32_t *deps = fine ? mem_alloc(graph->mem, ((size_t)total + 1) * sizeof *deps) : NULL;
    if (deps == NULL) {
        mem_free(graph->mem, starts, starts == NULL ? 0 : start_bytes);
        return false;
    }
    starts[graph->node_count] = total;
    if (total > 0) {
        memcpy(deps, c->pool + base, (size_t)total * sizeof *deps);
    }
    edit_graph_replace(graph, starts, deps, total + 1);
    return true;
}

static void mark_cascades(struct contraction *c)
{
    const struct edit_graph *graph = c->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        for (uint32_t d = graph->dep_start[node]; leaves(graph, node) && d < graph->dep_start[node + 1]; d++) {
            uint32_t parent = graph->deps[d] & EDIT_INDEX;
            if (parent != EDIT_MISSING) {
                c->cascade[parent] = 1;
            }
        }
    }
}

static enum orr_status contract_run(struct contraction *c, struct orr_error *err)
{
    struct edit_graph *graph = c->graph;
    mark_cascades(c);
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (c->marks[node].first == MARK_NEW) {
            enum orr_status status = contract_resolve(c, node, err);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    c->counts->implied = 0; /* those of the nodes that stay are counted */
    return contract_settle(c) ? ORR_OK : mem_error(graph->mem, "dependencies past removed nodes", err);
}

enum orr_status contract(struct edit_graph *graph, const char *path, struct contract_counts *counts,
                         struct orr_error *err)
{
    size_t count = graph->node_count;
    size_t bytes = count * (sizeof(struct mark) + 5 * sizeof(uint32_t) + 1);
    struct mark *marks = mem_zalloc(graph->mem, bytes);
    struct contraction c = {.graph = graph, .path = path, .counts = counts, .marks = marks};
    *counts = (struct contract_counts){0};
    c.children = edit_graph_child_counts(graph);
    enum orr_status status = ORR_OK;
    if (marks == NULL || c.children == NULL) {
        status = mem_error(graph->mem, "dependencies past removed nodes", err);
    } else {
        c.tail = (uint32_t *)(marks + count);
        c.stamp = c.tail + count;
        c.slot = c.stamp + count;
        c.stack = c.slot + count;
        c.cursor = c.stack + count;
        c.cascade = (uint8_t *)(c.cursor + count);
        for (size_t i = 0; i < count; i++) {
            marks[i].first = MARK_NEW;
        }
        status = contract_run(&c, err);
    }
    mem_free(graph->mem, c.pool, (size_t)c.pool_capacity * sizeof *c.pool);
    mem_free(graph->mem, c.children, c.children == NULL ? 0 : count * sizeof *c.children);
    mem_free(graph->mem, marks, marks == NULL ? 0 : bytes);
    return status;
}
