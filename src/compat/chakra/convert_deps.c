/* SPDX-License-Identifier: Apache-2.0 */
/* The original walks each thread's tree of nodes and chains what it meets (§8.8): the net effect is at most two data
 * dependencies a node, which is what is kept. Walks, and the search for cycles, use explicit stacks: chains of a
 * million nodes are ordinary. */
#include <inttypes.h>

#include "compat/chakra/convert_parts.h"

unsigned compat_deps_of(const struct compat *compat, uint32_t node, uint64_t ids[2])
{
    const struct compat_node *at = &compat->nodes[node];
    unsigned count = 0;
    if (at->inter_thread != 0) {
        ids[count++] = at->inter_thread;
    }
    if (at->before != COMPAT_NONE && (count == 0 || compat->nodes[at->before].id != ids[0])) {
        ids[count++] = compat->nodes[at->before].id;
    }
    return count;
}

static bool is_thread(const struct compat *compat, uint32_t node)
{
    const char *name = compat_name(compat, node);
    return strcmp(name, "[pytorch|profiler|execution_trace|thread]") == 0 ||
           strcmp(name, "[pytorch|profiler|execution_graph|thread]") == 0;
}

/* ---- which threads to walk ---- */

enum above { ABOVE_UNKNOWN, ABOVE_ON_PATH, ABOVE_NONE, ABOVE_THREAD };

/*
 * A thread node below another thread node is walked by the other one's walk with the same result as by its own, since
 * it sets the state anew; only the outermost are walked, or nested ones would cost the square of their number. A thread
 * may be above itself (a process node whose parent's id is some node of the file): alone there, it is the outermost.
 * Marks what is above each node on the way.
 */
static bool is_outermost(const struct compat *compat, uint32_t node, uint8_t *above)
{
    uint32_t at = compat->nodes[node].parent;
    enum above found = ABOVE_UNKNOWN;
    while (found == ABOVE_UNKNOWN) {
        if (at == COMPAT_NONE || !compat->nodes[at].made || above[at] == ABOVE_ON_PATH) {
            found = ABOVE_NONE;
        } else if (is_thread(compat, at)) {
            found = ABOVE_THREAD;
        } else if (above[at] != ABOVE_UNKNOWN) {
            found = above[at];
        } else {
            above[at] = ABOVE_ON_PATH;
            at = compat->nodes[at].parent;
        }
    }
    bool is_itself = at == node;
    for (at = compat->nodes[node].parent; at != COMPAT_NONE && above[at] == ABOVE_ON_PATH;
         at = compat->nodes[at].parent) {
        above[at] = (uint8_t)found;
    }
    return found == ABOVE_NONE || is_itself;
}

/* ---- walking a thread ---- */

struct walk {
    uint32_t *stack;
    uint32_t count, capacity;
    uint32_t last_cpu, last_any;
};

static bool convert_deps_push(struct compat *compat, struct walk *walk, uint32_t node)
{
    if (node == COMPAT_NONE) {
        return true;
    }
    if (!MEM_GROW(compat->mem, walk->stack, walk->capacity, walk->count)) {
        return false;
    }
    walk->stack[walk->count++] = node;
    return true;
}

static void convert_deps_visit(struct compat *compat, struct walk *walk, uint32_t node)
{
    struct compat_node *at = &compat->nodes[node];
    const struct host_node *host = compat_host(compat, node);
    at->visited = true;
    if (at->kind == COMPAT_GPU) {
        at->before = walk->last_any;
        walk->last_any = walk->last_cpu;
        return;
    }
    if ((host->has & HOST_HAS_INTER_THREAD) != 0) {
        at->inter_thread = compat->trace->links[host->linked].inter_thread_dep;
    }
    at->before = walk->last_cpu;
    walk->last_cpu = node;
    walk->last_any = node;
}

/* Pre-order, children by ascending id. A node that was visited, or is not in the output, ends its branch. */
static bool convert_deps_walk_thread(struct compat *compat, struct walk *walk, uint32_t root)
{
    walk->last_cpu = COMPAT_NONE;
    walk->last_any = COMPAT_NONE;
    if (!convert_deps_push(compat, walk, root)) {
        return false;
    }
    while (walk->count > 0) {
        uint32_t node = walk->stack[--walk->count];
        const struct compat_node *at = &compat->nodes[node];
        bool goes_on = at->made && !at->visited;
        if (goes_on) {
            convert_deps_visit(compat, walk, node);
        }
        if ((node != root && !convert_deps_push(compat, walk, at->next_sibling)) ||
            (goes_on && !convert_deps_push(compat, walk, at->first_child))) {
            return false;
        }
    }
    return true;
}

/* ---- dangling nodes ---- */

static void mark_dangling(struct compat *compat)
{
    uint64_t ids[2];
    for (uint32_t i = 0; i < compat->made_count; i++) {
        for (unsigned count = compat_deps_of(compat, compat->order[i], ids); count-- > 0;) {
            uint32_t target = compat_find(compat, ids[count]);
            if (target != COMPAT_NONE) {
                compat->nodes[target].listed = true;
            }
        }
    }
    for (uint32_t i = 0; i < compat->made_count; i++) {
        struct compat_node *node = &compat->nodes[compat->order[i]];
        node->dangling = !node->listed && compat_deps_of(compat, compat->order[i], ids) == 0;
    }
}

enum orr_status compat_deps_find(struct compat *compat, struct orr_error *err)
{
    struct walk walk = {0};
    uint8_t *above = mem_zalloc(compat->mem, compat->count);
    bool good = above != NULL;
    for (uint32_t i = 0; good && i < compat->count; i++) {
        if (compat->nodes[i].made && is_thread(compat, i) && is_outermost(compat, i, above)) {
            good = convert_deps_walk_thread(compat, &walk, i);
        }
    }
    mem_free(compat->mem, walk.stack, (size_t)walk.capacity * sizeof *walk.stack);
    mem_free(compat->mem, above, above == NULL ? 0 : compat->count);
    if (!good) {
        return mem_error(compat->mem, "the dependencies of the trace", err);
    }
    for (uint32_t i = 0; i < compat->count; i++) {
        if (compat->nodes[i].made && is_thread(compat, i) && !compat->nodes[i].visited) {
            return compat_fail(compat, i, err, "threads are each other's ancestors: the parents form a cycle");
        }
    }
    mark_dangling(compat);
    return ORR_OK;
}

/* ---- cycles ---- */

enum colour { COLOUR_NEW, COLOUR_OPEN, COLOUR_DONE };

/* The nodes on the stack from `again` on are the cycle; the first few name it. */
static enum orr_status convert_deps_fail_cycle(const struct compat *compat, const struct walk *walk, uint32_t again,
                                               struct orr_error *err)
{
    char text[160] = "";
    size_t used = 0;
    uint32_t start = walk->count;
    while (walk->stack[start - 1] != again) {
        start--;
    }
    for (uint32_t i = start - 1; i < walk->count && used < sizeof text - 32; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%" PRIu64 " on ", compat->nodes[walk->stack[i]].id);
    }
    return compat_fail(compat, again, err, "the data dependencies form a cycle: %s%s%" PRIu64, text,
                       used < sizeof text - 32 ? "" : "… on ", compat->nodes[again].id);
}

/* One step of the depth-first search from the top of the stack. */
static enum orr_status convert_deps_step(struct compat *compat, struct walk *walk, uint8_t *colours,
                                         struct orr_error *err)
{
    uint64_t ids[2];
    uint32_t node = walk->stack[walk->count - 1];
    unsigned count = compat_deps_of(compat, node, ids);
    colours[node] = COLOUR_OPEN;
    for (unsigned i = 0; i < count; i++) {
        uint32_t target = compat_find(compat, ids[i]);
        if (target == COMPAT_NONE || !compat->nodes[target].made) {
            return compat_fail(compat, node, err,
                               "depends on node %" PRIu64 ", which is not in the trace (inter_thread_dep)", ids[i]);
        }
        if (colours[target] == COLOUR_OPEN) {
            return convert_deps_fail_cycle(compat, walk, target, err);
        }
        if (colours[target] == COLOUR_NEW) {
            return convert_deps_push(compat, walk, target) ? ORR_OK
                                                           : mem_error(compat->mem, "the check for cycles", err);
        }
    }
    colours[node] = COLOUR_DONE;
    walk->count--;
    return ORR_OK;
}

enum orr_status compat_deps_check(struct compat *compat, struct orr_error *err)
{
    struct walk walk = {0};
    uint8_t *colours = mem_zalloc(compat->mem, compat->count);
    if (colours == NULL) {
        return mem_error(compat->mem, "the check for cycles", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < compat->made_count; i++) {
        uint32_t node = compat->order[i];
        if (colours[node] == COLOUR_NEW && !convert_deps_push(compat, &walk, node)) {
            status = mem_error(compat->mem, "the check for cycles", err);
        }
        while (status == ORR_OK && walk.count > 0) {
            status = convert_deps_step(compat, &walk, colours, err);
        }
    }
    mem_free(compat->mem, walk.stack, (size_t)walk.capacity * sizeof *walk.stack);
    mem_free(compat->mem, colours, compat->count);
    return status;
}
