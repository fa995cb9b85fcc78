/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From nodes to boxes. A chain is folded where each node is the only child of the one before and that one its only
 * parent: nothing can be seen to start or end inside it, so nothing is lost but names. Everything is done on indices in
 * the order of the graph, so that a file's own order of nodes does not change the picture's structure.
 */
#include "report/view.h"

#include <inttypes.h>
#include <string.h>

#include "coll/impl.h"
#include "report/number.h"
#include "trace/graph.h"

struct view_work {
    const struct trace_document *document;
    struct document_graph graph;
    uint32_t *sequence;    /* all nodes: the ordered ones, then those on cycles in file order */
    uint32_t *child_count; /* by node */
    uint32_t *box_of;      /* by node; UINT32_MAX = not drawn */
    uint32_t *stamp;       /* by node: last node whose data dependencies name it, + 1 */
    struct arena arena;
};

static bool integer_attribute(const Chakra__Node *node, const char *name, uint64_t *bits)
{
    bool negative = false;
    for (size_t i = 0; i < node->n_attr; i++) {
        if (strcmp(node->attr[i]->name, name) == 0) {
            return trace_document_integer(node->attr[i], bits, &negative);
        }
    }
    return false;
}

static enum view_kind kind_of(const Chakra__Node *node)
{
    switch ((uint32_t)node->type) {
    case TRACE_COMP:
        return trace_document_is_host(node) ? VIEW_HOST : VIEW_COMPUTE;
    case TRACE_COLL:
        return VIEW_COLLECTIVE;
    case TRACE_SEND:
        return VIEW_SEND;
    case TRACE_RECV:
        return VIEW_RECV;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return VIEW_MEMORY;
    default:
        return VIEW_OTHER;
    }
}

/* Threads before streams, so that the host stands left of the device. */
static uint32_t lane_of(const Chakra__Node *node)
{
    uint64_t bits = 0;
    if (trace_document_is_host(node)) {
        return integer_attribute(node, "tid", &bits) ? (uint32_t)(bits & 0x3fffffff) : 0;
    }
    return UINT32_C(0x40000000) | (integer_attribute(node, "stream", &bits) ? (uint32_t)(bits & 0x3fffffff) : 0);
}

static bool work_open(struct view_work *work, uint32_t count)
{
    work->sequence = arena_alloc(&work->arena, (count + 1) * sizeof *work->sequence);
    work->child_count = arena_zalloc(&work->arena, (count + 1) * sizeof *work->child_count);
    work->box_of = arena_alloc(&work->arena, (count + 1) * sizeof *work->box_of);
    work->stamp = arena_zalloc(&work->arena, (count + 1) * sizeof *work->stamp);
    return work->sequence != NULL && work->child_count != NULL && work->box_of != NULL && work->stamp != NULL;
}

static void find_sequence(struct view_work *work)
{
    const struct document_graph *graph = &work->graph;
    uint32_t count = graph->node_count;
    for (uint32_t i = 0; i < graph->ordered_count; i++) {
        work->sequence[i] = graph->order[i];
        work->stamp[graph->order[i]] = 1;
    }
    uint32_t place = graph->ordered_count;
    for (uint32_t node = 0; node < count; node++) {
        if (work->stamp[node] == 0) {
            work->sequence[place++] = node;
        }
        work->stamp[node] = 0;
        work->box_of[node] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < graph->parent_start[count]; i++) {
        work->child_count[graph->parents[i]]++;
    }
}

/* Whether the node continues the chain that its only parent is in. */
static bool continues_chain(const struct view_work *work, uint32_t node)
{
    const struct document_graph *graph = &work->graph;
    if (graph->parent_start[node + 1] - graph->parent_start[node] != 1) {
        return false;
    }
    uint32_t parent = graph->parents[graph->parent_start[node]];
    enum view_kind kind = kind_of(work->document->nodes[node]);
    return parent != node && work->child_count[parent] == 1 && (kind == VIEW_HOST || kind == VIEW_COMPUTE) &&
           kind == kind_of(work->document->nodes[parent]) &&
           lane_of(work->document->nodes[node]) == lane_of(work->document->nodes[parent]);
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_to_box(struct view_box *box, const Chakra__Node *node, uint32_t index)
{
    uint64_t bytes = 0;
    box->last = index;
    box->node_count++;
    box->duration_us = plus(box->duration_us, node->duration_micros);
    if (integer_attribute(node, "comm_size", &bytes) || integer_attribute(node, "tensor_size", &bytes)) {
        box->bytes = plus(box->bytes, bytes);
    }
}

/* How many nodes the chain that starts at each node has, filled from its end: only the heads' counts are used. */
static void measure_chains(const struct view_work *work, uint32_t *length)
{
    for (uint32_t i = work->graph.node_count; i-- > 0;) {
        uint32_t node = work->sequence[i];
        length[node]++; /* itself; its chain's rest has been added already */
        if (i < work->graph.ordered_count && continues_chain(work, node)) {
            length[work->graph.parents[work->graph.parent_start[node]]] += length[node];
        }
    }
}

static void make_boxes(struct view *view, struct view_work *work, const struct view_options *options,
                       const uint32_t *length)
{
    const struct document_graph *graph = &work->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t node = work->sequence[i];
        const Chakra__Node *message = view->document->nodes[node];
        bool chained = !options->unfolded && i < graph->ordered_count && continues_chain(work, node);
        uint32_t parent = chained ? graph->parents[graph->parent_start[node]] : 0;
        uint32_t box = chained ? work->box_of[parent] : UINT32_MAX;
        /* A chain too short to fold: each of its nodes gets a box of its own. */
        bool joins = chained && box != UINT32_MAX &&
                     (view->boxes[box].node_count > 1 || length[view->boxes[box].first] >= VIEW_FOLD_LEAST);
        if ((chained && box == UINT32_MAX) || (!joins && options->limit != 0 && view->box_count == options->limit)) {
            view->hidden_nodes++;
            continue;
        }
        if (!joins) {
            box = view->box_count++;
            view->boxes[box] = (struct view_box){.first = node, .kind = kind_of(message), .lane = lane_of(message)};
        }
        work->box_of[node] = box;
        add_to_box(&view->boxes[box], message, node);
    }
}

/* Marks the nodes this one's data dependencies name, so that its other edges are known to be control only. */
static void stamp_data(struct view_work *work, uint32_t node)
{
    const Chakra__Node *message = work->document->nodes[node];
    for (size_t i = 0; i < message->n_data_deps; i++) {
        uint32_t parent = document_graph_find(&work->graph, work->document, message->data_deps[i]);
        if (parent != UINT32_MAX) {
            work->stamp[parent] = node + 1;
        }
    }
}

static void make_edges(struct view *view, struct view_work *work)
{
    const struct document_graph *graph = &work->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t node = work->sequence[i];
        uint32_t to = work->box_of[node];
        if (to == UINT32_MAX) {
            continue;
        }
        stamp_data(work, node);
        for (uint32_t e = graph->parent_start[node]; e < graph->parent_start[node + 1]; e++) {
            uint32_t parent = graph->parents[e];
            uint32_t from = work->box_of[parent];
            if (from != UINT32_MAX && (from != to || parent == node)) {
                view->edges[view->edge_count++] = (struct view_edge){
                    .from = from, .to = to, .control = work->stamp[parent] != node + 1, .backward = from >= to};
            }
        }
    }
}

static enum orr_status report_view_fill(struct view *view, struct view_work *work, const struct view_options *options,
                                        struct orr_error *err)
{
    uint32_t count = work->graph.node_count;
    uint32_t *length = arena_zalloc(&work->arena, (count + 1) * sizeof *length);
    view->boxes = arena_alloc(&view->arena, (count + 1) * sizeof *view->boxes);
    view->edges = arena_alloc(&view->arena, ((size_t)work->graph.parent_start[count] + 1) * sizeof *view->edges);
    if (length == NULL || view->boxes == NULL || view->edges == NULL) {
        return mem_error(view->arena.mem, "the picture of a trace", err);
    }
    measure_chains(work, length);
    make_boxes(view, work, options, length);
    make_edges(view, work);
    view->missing_edges = work->graph.missing_edges;
    return ORR_OK;
}

enum orr_status view_make(const struct trace_document *document, const struct view_options *options, struct mem *mem,
                          struct view *view, struct orr_error *err)
{
    struct view_work work = {.document = document};
    enum orr_status status = document_graph_open(&work.graph, document, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    *view = (struct view){.document = document};
    arena_init(&view->arena, mem);
    arena_init(&work.arena, mem);
    if (!work_open(&work, document->node_count)) {
        status = mem_error(mem, "the picture of a trace", err);
    } else {
        find_sequence(&work);
        status = report_view_fill(view, &work, options, err);
    }
    if (status == ORR_OK) {
        status = view_layout(view, mem, err);
    }
    arena_free(&work.arena);
    document_graph_close(&work.graph);
    if (status != ORR_OK) {
        view_free(view);
    }
    return status;
}

void view_free(struct view *view)
{
    arena_free(&view->arena);
}

/* ---- labels ---- */

enum { NAME_SHOWN = 36 };

/* At most NAME_SHOWN characters of UTF-8, with "…" where something was cut. */
static void cut_name(const char *text, char name[VIEW_LABEL_ROOM])
{
    size_t used = 0;
    unsigned shown = 0;
    const char *at = text;
    for (; *at != '\0'; at++) {
        bool begins = ((unsigned char)*at & 0xc0) != 0x80;
        if (begins && shown == NAME_SHOWN) {
            break;
        }
        if (used + 1 >= VIEW_LABEL_ROOM - 4) {
            break;
        }
        shown += begins ? 1 : 0;
        name[used++] = *at;
    }
    (void)snprintf(name + used, VIEW_LABEL_ROOM - used, "%s", *at == '\0' ? "" : "…");
}

static const char *collective_name(const Chakra__Node *node)
{
    uint64_t type = 0;
    bool known = integer_attribute(node, "comm_type", &type) && type < COLL_TYPE_COUNT;
    const char *name = known ? coll_type_name((int32_t)type) : NULL;
    return name != NULL ? name : "collective";
}

void view_box_label(const struct view *view, const struct view_box *box, char name[VIEW_LABEL_ROOM],
                    char detail[VIEW_LABEL_ROOM])
{
    const Chakra__Node *node = view->document->nodes[box->first];
    struct report_number time = report_time((double)box->duration_us * 1000);
    cut_name(node->name, name);
    if (box->node_count > 1) {
        (void)snprintf(detail, VIEW_LABEL_ROOM, "%" PRIu32 " nodes in a row, %s", box->node_count, time.text);
    } else if (box->kind == VIEW_COLLECTIVE) {
        (void)snprintf(detail, VIEW_LABEL_ROOM, "%s, %s", collective_name(node), report_bytes((double)box->bytes).text);
    } else if (box->kind == VIEW_SEND || box->kind == VIEW_RECV || box->kind == VIEW_MEMORY) {
        (void)snprintf(detail, VIEW_LABEL_ROOM, "%s, %s", trace_node_type_name((uint32_t)node->type),
                       report_bytes((double)box->bytes).text);
    } else {
        (void)snprintf(detail, VIEW_LABEL_ROOM, "%s", time.text);
    }
}
