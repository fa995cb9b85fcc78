/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that one node shows by itself come first, in file order. Cycles are found as strongly connected components
 * among the nodes that have no place in the order (Tarjan's algorithm, with a stack of its own instead of recursion: a
 * trace may be a chain of a million nodes), and one cycle is shown for each. What then still cannot run, without being
 * at fault itself, is unreachable and named in one finding. */
#include "trace/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ticks.h"
#include "trace/document_graph.h"
#include "trace/graph.h"

struct check {
    const struct trace_document *document;
    struct document_graph graph;
    struct trace_findings *findings;
    struct mem *mem;
    bool no_memory;
    uint8_t *at_fault; /* by node: it cannot run, and a finding of its own says so */
};

const char *trace_finding_kind_name(enum trace_finding_kind kind)
{
    static const char *const names[] = {
#define TRACE_X(id, text) text,
        TRACE_FINDINGS(TRACE_X)
#undef TRACE_X
    };
    return kind < TRACE_FINDING_KINDS ? names[kind] : "unknown finding";
}

static void trace_check_add(struct check *check, enum trace_finding_kind kind, const uint64_t *ids, uint32_t id_count,
                            const char *text)
{
    struct trace_findings *findings = check->findings;
    uint64_t *copy = arena_alloc(&findings->arena, id_count * sizeof *copy);
    if (text == NULL || copy == NULL || !MEM_GROW(check->mem, findings->items, findings->capacity, findings->count)) {
        check->no_memory = true;
        return;
    }
    memcpy(copy, ids, id_count * sizeof *copy);
    findings->items[findings->count++] =
        (struct trace_finding){.kind = kind, .text = text, .ids = copy, .id_count = id_count};
}

#define ADD(check, kind, ids, count, ...)                                                                              \
    trace_check_add((check), (kind), (ids), (count), arena_printf(&(check)->findings->arena, __VA_ARGS__))

/* ---- faults of one node ---- */

enum { COLL_BARRIER = 9 }; /* the one collective without a size (spec analytical §4.1) */
enum { LAST_COLLECTIVE = 9 };

static bool is_barrier(const Chakra__Node *node)
{
    const Chakra__Attribute *type = trace_document_attribute(node, TRACE_ATTR_COMM_TYPE);
    uint64_t bits;
    bool negative;
    return type != NULL && trace_document_integer(type, &bits, &negative) && bits == COLL_BARRIER;
}

/* What the type needs whatever the configuration is (spec analytical §4); a compute node's needs depend on it. */
static uint32_t needs(const Chakra__Node *node)
{
    switch ((uint32_t)node->type) {
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return 1u << TRACE_ATTR_TENSOR_SIZE;
    case TRACE_SEND:
        return 1u << TRACE_ATTR_COMM_SIZE | 1u << TRACE_ATTR_COMM_DST | 1u << TRACE_ATTR_COMM_TAG;
    case TRACE_RECV:
        return 1u << TRACE_ATTR_COMM_SIZE | 1u << TRACE_ATTR_COMM_SRC | 1u << TRACE_ATTR_COMM_TAG;
    case TRACE_COLL:
        return 1u << TRACE_ATTR_COMM_TYPE | (is_barrier(node) ? 0 : 1u << TRACE_ATTR_COMM_SIZE);
    default:
        return 0;
    }
}

static size_t trace_check_list_length(const Chakra__Attribute *attr)
{
    switch ((uint32_t)attr->value_case) {
#define LENGTH(id, member)                                                                                             \
    case TRACE_VALUE_##id##_LIST:                                                                                      \
        return attr->member##_list->n_values;
        LENGTH(INT32, int32)
        LENGTH(INT64, int64)
        LENGTH(UINT32, uint32)
        LENGTH(UINT64, uint64)
        LENGTH(SINT32, sint32)
        LENGTH(SINT64, sint64)
        LENGTH(FIXED32, fixed32)
        LENGTH(FIXED64, fixed64)
        LENGTH(SFIXED32, sfixed32)
        LENGTH(SFIXED64, sfixed64)
        LENGTH(BOOL, bool)
#undef LENGTH
    default:
        return SIZE_MAX;
    }
}

static bool has_shape(const Chakra__Attribute *attr, enum trace_attr_shape shape)
{
    uint64_t bits;
    bool negative;
    bool integer = trace_document_integer(attr, &bits, &negative);
    switch (shape) {
    case TRACE_SHAPE_INTEGER:
        return integer;
    case TRACE_SHAPE_SIZE:
        return integer && !negative;
    case TRACE_SHAPE_FLAGS:
        return trace_check_list_length(attr) <= 64;
    case TRACE_SHAPE_TEXT:
        return integer || (uint32_t)attr->value_case == TRACE_VALUE_STRING;
    }
    return false;
}

static void check_attributes(struct check *check, const Chakra__Node *node)
{
    uint32_t wanted = needs(node);
    uint32_t seen = 0;
    for (size_t i = 0; i < node->n_attr; i++) {
        const Chakra__Attribute *attr = node->attr[i];
        enum trace_attr which = trace_attr_find(attr->name, strlen(attr->name));
        if (which == TRACE_ATTR_COUNT || (seen & 1u << which) != 0) {
            continue;
        }
        seen |= 1u << which;
        if (!has_shape(attr, trace_attr_shape(which))) {
            ADD(check, TRACE_FINDING_WRONG_ATTRIBUTE, &node->id, 1, "node %" PRIu64 ": attribute %s (%s) must be %s",
                node->id, attr->name, trace_value_name((uint32_t)attr->value_case),
                trace_attr_shape_text(trace_attr_shape(which)));
        }
    }
    for (unsigned which = 0; which < TRACE_ATTR_COUNT; which++) {
        if ((wanted & ~seen & 1u << which) != 0) {
            ADD(check, TRACE_FINDING_MISSING_ATTRIBUTE, &node->id, 1,
                "node %" PRIu64 ": a %s node needs the attribute %s", node->id,
                trace_node_type_name((uint32_t)node->type), trace_attr_name((enum trace_attr)which));
        }
    }
}

/* ---- values that a run refuses on whatever machine (sim/check.c) ---- */

/* The value of an integer attribute; false when there is none, which is a finding of its own. */
static bool trace_check_integer_of(const Chakra__Node *node, enum trace_attr which, uint64_t *bits, bool *negative)
{
    const Chakra__Attribute *attr = trace_document_attribute(node, which);
    return attr != NULL && trace_document_integer(attr, bits, negative);
}

#define REFUSE(check, node, ...) ADD((check), TRACE_FINDING_OUT_OF_RANGE, &(node)->id, 1, __VA_ARGS__)

static void trace_check_collective(struct check *check, const Chakra__Node *node)
{
    uint64_t type;
    bool negative;
    if (trace_check_integer_of(node, TRACE_ATTR_COMM_TYPE, &type, &negative) && (negative || type > LAST_COLLECTIVE)) {
        REFUSE(check, node, "node %" PRIu64 ": comm_type %" PRId64 " is not a collective; 0 to %d are", node->id,
               (int64_t)type, LAST_COLLECTIVE);
    }
    const Chakra__Attribute *group = trace_document_attribute(node, TRACE_ATTR_PG_NAME);
    if (group != NULL && (uint32_t)group->value_case == TRACE_VALUE_STRING && group->string_val[0] != '\0') {
        char *end = NULL;
        errno = 0;
        (void)strtol(group->string_val, &end, 10);
        if (errno != 0 || *end != '\0' || end == group->string_val) {
            REFUSE(check, node, "node %" PRIu64 ": pg_name \"%.60s\" is not the number of a communicator group",
                   node->id, group->string_val);
        }
    }
}

/* The rank that a file's name gives it (PREFIX.RANK.et), or -1. */
static int64_t rank_of_file(const char *name)
{
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 3, ".et") != 0) {
        return -1;
    }
    size_t at = length - 3;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    size_t digits = length - 3 - at;
    return digits == 0 || digits > 9 || at == 0 || name[at - 1] != '.' ? -1 : strtol(name + at, NULL, 10);
}

static void trace_check_message(struct check *check, const Chakra__Node *node)
{
    uint64_t bytes;
    bool negative;
    if (trace_check_integer_of(node, TRACE_ATTR_COMM_SIZE, &bytes, &negative) && bytes == 0) {
        REFUSE(check, node, "node %" PRIu64 ": comm_size is 0; a message has at least one byte", node->id);
    }
    bool sends = (uint32_t)node->type == TRACE_SEND;
    const char *peer_name = sends ? "comm_dst" : "comm_src";
    uint64_t peer;
    if (!trace_check_integer_of(node, sends ? TRACE_ATTR_COMM_DST : TRACE_ATTR_COMM_SRC, &peer, &negative)) {
        return;
    }
    if (negative || peer > INT32_MAX) {
        REFUSE(check, node, "node %" PRIu64 ": %s is %" PRId64 ", which is no rank", node->id, peer_name,
               (int64_t)peer);
        return;
    }
    uint64_t own;
    if (!trace_check_integer_of(node, sends ? TRACE_ATTR_COMM_SRC : TRACE_ATTR_COMM_DST, &own, &negative)) {
        own = (uint64_t)rank_of_file(check->document->name);
    }
    if (own == peer) {
        REFUSE(check, node, "node %" PRIu64 ": %s is %" PRIu64 ", the rank itself; a rank cannot send to itself",
               node->id, peer_name, peer);
    }
}

static void trace_check_values(struct check *check, const Chakra__Node *node)
{
    uint64_t flag;
    bool negative;
    if (node->duration_micros > TICKS_MAX_STEP / 1000) {
        REFUSE(check, node, "node %" PRIu64 ": a duration of %" PRIu64 " us is out of range", node->id,
               node->duration_micros);
    }
    bool message = (uint32_t)node->type == TRACE_SEND || (uint32_t)node->type == TRACE_RECV;
    bool collective = (uint32_t)node->type == TRACE_COLL;
    if (message) {
        trace_check_message(check, node);
    } else if (collective) {
        trace_check_collective(check, node);
    }
    if ((message || collective) && trace_check_integer_of(node, TRACE_ATTR_IS_CPU_OP, &flag, &negative) && flag != 0) {
        REFUSE(check, node, "node %" PRIu64 ": a communication node with is_cpu_op set; only GPU nodes can communicate",
               node->id);
    }
}

static void check_dependencies(struct check *check, uint32_t place, const char *kind, const uint64_t *ids, size_t count)
{
    uint64_t id = check->document->nodes[place]->id;
    for (size_t i = 0; i < count; i++) {
        uint32_t parent = document_graph_find(&check->graph, check->document, ids[i]);
        uint64_t both[] = {id, ids[i]};
        if (parent == UINT32_MAX) {
            ADD(check, TRACE_FINDING_MISSING_DEPENDENCY, both, 2,
                "node %" PRIu64 ": %s dependency on node %" PRIu64 ", which is not in the file", id, kind, ids[i]);
            check->at_fault[place] = 1;
        } else if (parent == place) {
            ADD(check, TRACE_FINDING_SELF_DEPENDENCY, &id, 1, "node %" PRIu64 ": %s dependency on itself", id, kind);
            check->at_fault[place] = 1;
        }
    }
}

static void trace_check_node(struct check *check, uint32_t place)
{
    const Chakra__Node *node = check->document->nodes[place];
    uint32_t first = document_graph_find(&check->graph, check->document, node->id);
    if (first != place) {
        ADD(check, TRACE_FINDING_DUPLICATE_ID, &node->id, 1,
            "node %" PRIu64 ": the id is used by more than one node (number %" PRIu32 " and number %" PRIu32
            " of the file)",
            node->id, first + 1, place + 1);
    }
    if ((uint32_t)node->type >= TRACE_NODE_TYPES) {
        ADD(check, TRACE_FINDING_UNKNOWN_TYPE, &node->id, 1,
            "node %" PRIu64 ": node type %d is unknown; types are 0 to %d", node->id, (int)node->type,
            TRACE_NODE_TYPES - 1);
    }
    check_attributes(check, node);
    trace_check_values(check, node);
    check_dependencies(check, place, "data", node->data_deps, node->n_data_deps);
    check_dependencies(check, place, "control", node->ctrl_deps, node->n_ctrl_deps);
}

/* ---- cycles ---- */

/* Tarjan's marks, by node; 0 = not visited. */
struct tarjan {
    uint32_t *index, *low;
    uint32_t *component; /* 1 + the component's root, once known */
    uint32_t *stack;     /* visited, component not yet known */
    uint32_t *path;      /* from the start to the node being visited */
    uint32_t *edge;      /* by node: the next parent to look at */
    uint32_t stacked, depth, visits;
};

static void trace_check_enter(const struct document_graph *graph, struct tarjan *tarjan, uint32_t node)
{
    tarjan->index[node] = tarjan->low[node] = ++tarjan->visits;
    tarjan->edge[node] = graph->parent_start[node];
    tarjan->stack[tarjan->stacked++] = node;
    tarjan->path[tarjan->depth++] = node;
}

static uint64_t id_at(const struct check *check, uint32_t place)
{
    return check->document->nodes[place]->id;
}

static void add_cycle(struct check *check, uint64_t *ids, uint32_t count)
{
    enum { SHOWN = 16 };
    char text[SHOWN * 24 + 64] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%" PRIu64 " -> ", ids[i]);
    }
    if (count > SHOWN) {
        (void)snprintf(text + used, sizeof text - used, "(%" PRIu32 " more) -> ", count - SHOWN);
    }
    ADD(check, TRACE_FINDING_CYCLE, ids, count,
        "dependency cycle of %" PRIu32 " nodes, each depends on the next: %s%" PRIu64, count, text, ids[0]);
}

/* The component with this root holds a cycle: follow parents inside it from its node of smallest id until one comes
 * again. `members` are the component's nodes; `steps` is zero and is left so. */
static void show_cycle(struct check *check, const struct tarjan *tarjan, const uint32_t *members, uint32_t count,
                       uint32_t *steps, uint32_t *walk)
{
    const struct document_graph *graph = &check->graph;
    uint32_t node = members[0];
    for (uint32_t i = 1; i < count; i++) {
        node = id_at(check, members[i]) < id_at(check, node) ? members[i] : node;
    }
    uint32_t length = 0;
    while (steps[node] == 0) {
        walk[length++] = node;
        steps[node] = length;
        uint32_t p = graph->parent_start[node];
        while (graph->parents[p] == node || tarjan->component[graph->parents[p]] != tarjan->component[node]) {
            p++;
        }
        node = graph->parents[p];
    }
    uint32_t begin = steps[node] - 1;
    uint32_t smallest = begin;
    for (uint32_t i = 0; i < length; i++) {
        steps[walk[i]] = 0;
        if (i >= begin && id_at(check, walk[i]) < id_at(check, walk[smallest])) {
            smallest = i;
        }
    }
    uint32_t around = length - begin;
    uint64_t *ids = arena_alloc(&check->findings->arena, around * sizeof *ids);
    if (ids == NULL) {
        check->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < around; i++) {
        ids[i] = id_at(check, walk[begin + (smallest - begin + i) % around]);
    }
    add_cycle(check, ids, around);
}

/* The node on top of the path has seen all its parents: closes its component if it is the root of one. */
static void trace_check_leave(struct check *check, struct tarjan *tarjan, uint32_t *steps, uint32_t *walk)
{
    uint32_t node = tarjan->path[--tarjan->depth];
    if (tarjan->depth > 0) {
        uint32_t below = tarjan->path[tarjan->depth - 1];
        tarjan->low[below] = tarjan->low[node] < tarjan->low[below] ? tarjan->low[node] : tarjan->low[below];
    }
    if (tarjan->low[node] != tarjan->index[node]) {
        return;
    }
    uint32_t top = tarjan->stacked;
    do {
        tarjan->component[tarjan->stack[--tarjan->stacked]] = node + 1;
    } while (tarjan->stack[tarjan->stacked] != node);
    uint32_t count = top - tarjan->stacked;
    if (count > 1) {
        const uint32_t *members = tarjan->stack + tarjan->stacked;
        for (uint32_t i = 0; i < count; i++) {
            check->at_fault[members[i]] = 1;
        }
        show_cycle(check, tarjan, members, count, steps, walk);
    }
}

static void trace_check_visit(struct check *check, struct tarjan *tarjan, uint32_t start, uint32_t *steps,
                              uint32_t *walk)
{
    const struct document_graph *graph = &check->graph;
    trace_check_enter(graph, tarjan, start);
    while (tarjan->depth > 0) {
        uint32_t node = tarjan->path[tarjan->depth - 1];
        if (tarjan->edge[node] == graph->parent_start[node + 1]) {
            trace_check_leave(check, tarjan, steps, walk);
            continue;
        }
        uint32_t parent = graph->parents[tarjan->edge[node]++];
        if (tarjan->index[parent] == 0) {
            trace_check_enter(graph, tarjan, parent);
        } else if (tarjan->component[parent] == 0 && tarjan->index[parent] < tarjan->low[node]) {
            tarjan->low[node] = tarjan->index[parent];
        }
    }
}

/* Only where the order left nodes over: a sound trace pays nothing. */
static void trace_check_cycles(struct check *check)
{
    const struct document_graph *graph = &check->graph;
    size_t count = graph->node_count;
    if (graph->ordered_count == graph->node_count) {
        return;
    }
    size_t bytes = 8 * count * sizeof(uint32_t);
    uint32_t *words = mem_zalloc(check->mem, bytes);
    if (words == NULL) {
        check->no_memory = true;
        return;
    }
    struct tarjan tarjan = {.index = words,
                            .low = words + count,
                            .component = words + 2 * count,
                            .stack = words + 3 * count,
                            .path = words + 4 * count,
                            .edge = words + 5 * count};
    for (uint32_t i = 0; i < graph->node_count && !check->no_memory; i++) {
        if (tarjan.index[i] == 0) {
            trace_check_visit(check, &tarjan, i, words + 6 * count, words + 7 * count);
        }
    }
    mem_free(check->mem, words, bytes);
}

/* ---- what cannot run ---- */

/* Marks nodes behind those at fault. Nodes in the order have their parents before them; the others wait for a cycle. */
static void trace_check_spread(const struct document_graph *graph, const uint8_t *at_fault, uint8_t *stuck)
{
    memset(stuck, 1, graph->node_count);
    for (uint32_t i = 0; i < graph->ordered_count; i++) {
        uint32_t node = graph->order[i];
        stuck[node] = at_fault[node];
        for (uint32_t p = graph->parent_start[node]; p < graph->parent_start[node + 1]; p++) {
            stuck[node] |= stuck[graph->parents[p]];
        }
    }
}

static void add_unreachable(struct check *check, const uint64_t *ids, uint32_t count)
{
    enum { SHOWN = 16 };
    char text[SHOWN * 24 + 64] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64, i == 0 ? "" : ", ", ids[i]);
    }
    if (count > SHOWN) {
        (void)snprintf(text + used, sizeof text - used, " and %" PRIu32 " more", count - SHOWN);
    }
    ADD(check, TRACE_FINDING_UNREACHABLE, ids, count,
        "%" PRIu32 " node%s can never run, because %s for nodes named above: %s", count, count == 1 ? "" : "s",
        count == 1 ? "it waits" : "they wait", text);
}

static void trace_check_reach(struct check *check)
{
    uint32_t count = check->graph.node_count;
    size_t bytes = (size_t)count * (sizeof(uint64_t) + 1);
    uint64_t *ids = mem_alloc(check->mem, bytes);
    if (ids == NULL) {
        check->no_memory = true;
        return;
    }
    uint8_t *stuck = (uint8_t *)(ids + count);
    trace_check_spread(&check->graph, check->at_fault, stuck);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (stuck[i] != 0 && check->at_fault[i] == 0) {
            ids[found++] = id_at(check, i);
        }
    }
    if (found > 0) {
        add_unreachable(check, ids, found);
    }
    mem_free(check->mem, ids, bytes);
}

enum orr_status trace_check(const struct trace_document *document, struct mem *mem, struct trace_findings *findings,
                            struct orr_error *err)
{
    struct trace_findings made = {0};
    struct check check = {.document = document, .findings = &made, .mem = mem};
    enum orr_status status = document_graph_open(&check.graph, document, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    arena_init(&made.arena, mem);
    check.at_fault = mem_zalloc(mem, document->node_count);
    check.no_memory = check.at_fault == NULL;
    if (document->node_count == 0) {
        const uint64_t no_node[] = {0};
        ADD(&check, TRACE_FINDING_NO_NODE, no_node, 0, "the trace has no nodes; its rank does nothing");
    }
    for (uint32_t i = 0; i < document->node_count && !check.no_memory; i++) {
        trace_check_node(&check, i);
    }
    if (!check.no_memory) {
        trace_check_cycles(&check);
    }
    if (!check.no_memory) {
        trace_check_reach(&check);
    }
    mem_free(mem, check.at_fault, document->node_count);
    document_graph_close(&check.graph);
    if (check.no_memory) {
        trace_findings_free(&made);
        return mem_error(mem, "checking a trace", err);
    }
    *findings = made;
    return ORR_OK;
}

void trace_findings_free(struct trace_findings *findings)
{
    mem_free(findings->arena.mem, findings->items, findings->capacity * sizeof *findings->items);
    arena_free(&findings->arena);
    *findings = (struct trace_findings){.arena = findings->arena};
}
