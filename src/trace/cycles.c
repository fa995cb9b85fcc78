/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks share one set of marks: colour, stack and the place in each node's list of dependencies. The third step is
 * Tarjan's components on what is left, entered only when the second met a data dependency it would not remove; a sound
 * file pays for two walks. */
#include "trace/cycles.h"

#include <stdlib.h>
#include <string.h>

enum colour { WHITE, GREY, BLACK };

struct walk {
    struct edit_graph *graph;
    uint8_t *colour;
    uint32_t *stack;  /* nodes from the start of the walk to where it is */
    uint32_t *cursor; /* by depth: the next dependency to look at */
    uint32_t *rank;   /* by node: the order in which walks of data dependencies leave it; parents first */
    uint32_t ranked;
    cycles_removed removed;
    void *context;
    bool data_back; /* the second walk met a data dependency leading back */
};

static void trace_cycles_take_out(struct walk *walk, uint32_t node, uint32_t at)
{
    uint32_t dep = walk->graph->deps[at];
    walk->removed(walk->context, node, dep & EDIT_INDEX, (dep & EDIT_CTRL) != 0);
    walk->graph->deps[at] = EDIT_MISSING | (dep & EDIT_CTRL);
    walk->graph->dirty[node] = 1;
}

/* One walk from `start`. Data dependencies only, or both kinds. */
static void trace_cycles_walk_from(struct walk *walk, uint32_t start, bool both)
{
    const struct edit_graph *graph = walk->graph;
    uint32_t depth = 0;
    walk->stack[0] = start;
    walk->cursor[0] = graph->dep_start[start];
    walk->colour[start] = GREY;
    for (;;) {
        uint32_t node = walk->stack[depth];
        if (walk->cursor[depth] == graph->dep_start[node + 1]) {
            walk->colour[node] = BLACK;
            walk->rank[node] = walk->ranked++;
            if (depth-- == 0) {
                return;
            }
            continue;
        }
        uint32_t at = walk->cursor[depth]++;
        uint32_t dep = graph->deps[at];
        uint32_t parent = dep & EDIT_INDEX;
        bool is_ctrl = (dep & EDIT_CTRL) != 0;
        if (parent == EDIT_MISSING || (is_ctrl && !both)) {
            continue;
        }
        if (walk->colour[parent] == GREY) {
            if (is_ctrl == both) {
                trace_cycles_take_out(walk, node, at);
            } else {
                walk->data_back = true;
            }
        } else if (walk->colour[parent] == WHITE) {
            depth++;
            walk->stack[depth] = parent;
            walk->cursor[depth] = graph->dep_start[parent];
            walk->colour[parent] = GREY;
        }
    }
}

static void walk_all(struct walk *walk, bool both)
{
    memset(walk->colour, WHITE, walk->graph->node_count);
    walk->ranked = 0;
    for (uint32_t i = 0; i < walk->graph->node_count; i++) {
        if (walk->colour[i] == WHITE) {
            trace_cycles_walk_from(walk, i, both);
        }
    }
}

/* ---- knots ---- */

struct knots {
    struct walk *walk;
    uint32_t *index, *low; /* 0 = not visited */
    uint32_t *waiting;     /* visited, component not yet known */
    uint32_t *component;   /* 1 + the component's root; 0 = not known */
    uint32_t waiting_count, visits;
};

static void trace_cycles_enter(struct knots *knots, uint32_t node, uint32_t depth)
{
    knots->index[node] = knots->low[node] = ++knots->visits;
    knots->waiting[knots->waiting_count++] = node;
    knots->walk->stack[depth] = node;
    knots->walk->cursor[depth] = knots->walk->graph->dep_start[node];
}

static void close_component(struct knots *knots, uint32_t root)
{
    uint32_t node;
    do {
        node = knots->waiting[--knots->waiting_count];
        knots->component[node] = root + 1;
    } while (node != root);
}

static void trace_cycles_visit(struct knots *knots, uint32_t start)
{
    struct walk *walk = knots->walk;
    const struct edit_graph *graph = walk->graph;
    uint32_t depth = 0;
    trace_cycles_enter(knots, start, 0);
    for (;;) {
        uint32_t node = walk->stack[depth];
        if (walk->cursor[depth] < graph->dep_start[node + 1]) {
            uint32_t parent = graph->deps[walk->cursor[depth]++] & EDIT_INDEX;
            if (parent == EDIT_MISSING) {
                continue;
            }
            if (knots->index[parent] == 0) {
                trace_cycles_enter(knots, parent, ++depth);
            } else if (knots->component[parent] == 0 && knots->index[parent] < knots->low[node]) {
                knots->low[node] = knots->index[parent];
            }
            continue;
        }
        if (knots->low[node] == knots->index[node]) {
            close_component(knots, node);
        }
        if (depth-- == 0) {
            return;
        }
        uint32_t below = walk->stack[depth];
        knots->low[below] = knots->low[node] < knots->low[below] ? knots->low[node] : knots->low[below];
    }
}

/* Inside a component, what goes against the data dependencies' order goes. */
static void untie(struct knots *knots)
{
    struct walk *walk = knots->walk;
    const struct edit_graph *graph = walk->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
            uint32_t parent = graph->deps[d] & EDIT_INDEX;
            if ((graph->deps[d] & EDIT_CTRL) != 0 && parent != EDIT_MISSING &&
                knots->component[parent] == knots->component[node] && walk->rank[parent] >= walk->rank[node]) {
                trace_cycles_take_out(walk, node, d);
            }
        }
    }
}

static bool break_knots(struct walk *walk)
{
    size_t count = walk->graph->node_count;
    size_t bytes = 4 * count * sizeof(uint32_t);
    uint32_t *words = mem_zalloc(walk->graph->mem, bytes);
    if (words == NULL) {
        return false;
    }
    struct knots knots = {.walk = walk,
                          .index = words,
                          .low = words + count,
                          .waiting = words + 2 * count,
                          .component = words + 3 * count};
    for (uint32_t i = 0; i < walk->graph->node_count; i++) {
        if (knots.index[i] == 0) {
            trace_cycles_visit(&knots, i);
        }
    }
    walk_all(walk, false); /* the order of the data dependencies alone */
    untie(&knots);
    mem_free(walk->graph->mem, words, bytes);
    return true;
}

enum orr_status cycles_break(struct edit_graph *graph, cycles_removed removed, void *context, struct orr_error *err)
{
    size_t count = graph->node_count;
    size_t bytes = count * (3 * sizeof(uint32_t) + 1);
    uint32_t *words = mem_alloc(graph->mem, bytes);
    if (words == NULL) {
        return mem_error(graph->mem, "looking for dependency cycles", err);
    }
    struct walk walk = {.graph = graph,
                        .stack = words,
                        .cursor = words + count,
                        .rank = words + 2 * count,
                        .colour = (uint8_t *)(words + 3 * count),
                        .removed = removed,
                        .context = context};
    walk_all(&walk, false);
    walk_all(&walk, true);
    bool fine = !walk.data_back || break_knots(&walk);
    mem_free(graph->mem, words, bytes);
    return fine ? ORR_OK : mem_error(graph->mem, "looking for dependency cycles", err);
}
