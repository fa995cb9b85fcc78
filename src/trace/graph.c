/* SPDX-License-Identifier: Apache-2.0 */
/* A graph is one arena, in which the struct itself lies too, and the blocks that grew while the file was read. */
#include "trace/graph.h"

#include <stdlib.h>
#include <string.h>

#include "trace/graph_build.h"

const char *trace_node_type_name(uint32_t type)
{
    static const char *const names[TRACE_NODE_TYPES] = {"INVALID", "METADATA",  "MEM_LOAD",  "MEM_STORE",
                                                        "COMP",    "COMM_SEND", "COMM_RECV", "COMM_COLL"};
    return type < TRACE_NODE_TYPES ? names[type] : "unknown";
}

uint32_t trace_graph_find(const struct trace_graph *graph, uint64_t id)
{
    uint32_t low = 0;
    uint32_t high = graph->node_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->nodes[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < graph->node_count && graph->nodes[low].id == id ? low : UINT32_MAX;
}

void trace_graph_free(struct trace_graph *graph)
{
    if (graph != NULL) {
        struct mem *mem = graph->arena.mem;
        mem_free(mem, graph->nodes, (size_t)graph->node_count * sizeof *graph->nodes);
        mem_free(mem, graph->parent_written, (size_t)graph->node_count * sizeof *graph->parent_written);
        mem_free(mem, graph->strings, graph->string_bytes);
        struct arena arena = graph->arena; /* it holds the struct that holds it */
        arena_free(&arena);
    }
}

/* Cuts a block that grew to what is used of it. Nothing is taken from `*from` on failure. */
static void *trace_graph_trim(struct mem *mem, void **from, size_t had, size_t used)
{
    void *block = mem_resize(mem, *from, had, used);
    if (block != NULL) {
        *from = NULL;
    }
    return block;
}

/* What grew while it was read changes hands instead of being copied into the arena. */
static enum orr_status trace_graph_take_over(struct trace_graph *graph, struct et_read *read)
{
    size_t count = read->node_count;
    struct trace_node *nodes =
        trace_graph_trim(read->mem, (void **)&read->nodes, read->node_capacity * sizeof *nodes, count * sizeof *nodes);
    if (nodes == NULL) {
        return mem_error(read->mem, "a trace", read->err);
    }
    graph->nodes = nodes;
    graph->node_count = read->node_count;
    graph->parent_written =
        trace_graph_trim(read->mem, (void **)&read->written, read->written_capacity * sizeof *read->written,
                         count * sizeof *read->written);
    graph->strings = trace_graph_trim(read->mem, (void **)&read->strings, read->string_capacity, read->string_bytes);
    if (graph->strings != NULL) {
        graph->string_bytes = read->string_bytes;
    }
    graph->lanes = arena_alloc(&graph->arena, ((size_t)read->lanes.count + 1) * sizeof *graph->lanes);
    if (graph->parent_written == NULL || graph->strings == NULL || graph->lanes == NULL) {
        return mem_error(read->mem, "a trace", read->err);
    }
    if (read->lanes.count > 0) {
        memcpy(graph->lanes, read->lanes.at, read->lanes.count * sizeof *graph->lanes);
    }
    graph->lane_count = read->lanes.count;
    graph->side_by_side = read->lanes.side_by_side;
    return ORR_OK;
}

static enum orr_status parse(struct et_read *read, struct trace_graph **graph)
{
    struct arena arena;
    arena_init(&arena, read->mem);
    struct trace_graph *made = arena_zalloc(&arena, sizeof *made);
    if (made == NULL) {
        return mem_error(read->mem, "a trace", read->err);
    }
    made->arena = arena;
    enum orr_status status = et_read_file(read);
    if (status == ORR_OK) {
        status = trace_graph_take_over(made, read);
    }
    if (status == ORR_OK) {
        status = graph_build(made, read);
    }
    et_read_free(read);
    if (status != ORR_OK) {
        trace_graph_free(made);
        return status;
    }
    *graph = made;
    return ORR_OK;
}

enum orr_status trace_graph_parse(const uint8_t *bytes, size_t size, const char *name, struct mem *mem,
                                  struct trace_graph **graph, struct orr_error *err)
{
    struct et_read read = {
        .name = name, .begin = bytes, .end = bytes + size, .file_size = size, .mem = mem, .err = err};
    return parse(&read, graph);
}

enum orr_status graph_load(struct file_window *window, struct mem *mem, struct trace_graph **graph,
                           struct orr_error *err)
{
    struct et_read read = {.name = window->path,
                           .begin = window->bytes,
                           .end = window->bytes + window->size,
                           .file_size = window->file_size,
                           .window = window,
                           .mem = mem,
                           .err = err};
    return parse(&read, graph);
}

bool trace_file_side_by_side(const char *path, struct mem *mem)
{
    struct orr_error ignored; /* whoever reads the file will say what is wrong with it */
    struct file_window window;
    bool asks = false;
    file_window_init(&window, mem);
    if (file_window_open(&window, path, &ignored) == ORR_OK) {
        struct et_read read = {.name = path,
                               .begin = window.bytes,
                               .end = window.bytes + window.size,
                               .file_size = window.file_size,
                               .window = &window,
                               .mem = mem,
                               .err = &ignored};
        asks = et_read_head(&read) == ORR_OK && read.lanes.side_by_side;
        et_read_free(&read);
    }
    file_window_free(&window);
    return asks;
}

static bool same_words(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

bool trace_graph_equal(const struct trace_graph *a, const struct trace_graph *b)
{
    uint32_t count = a->node_count;
    if (count != b->node_count || a->child_total != b->child_total || a->parent_total != b->parent_total ||
        a->string_bytes != b->string_bytes || memcmp(a->strings, b->strings, a->string_bytes) != 0 ||
        !same_words(a->children, b->children, a->child_total) || !same_words(a->parents, b->parents, a->parent_total) ||
        !same_words(a->file_order, b->file_order, count) || !same_words(a->parent_start, b->parent_start, count) ||
        !same_words(a->parent_written, b->parent_written, count) || a->lane_count != b->lane_count ||
        a->side_by_side != b->side_by_side) {
        return false;
    }
    const size_t after_id = offsetof(struct trace_node, id) + sizeof a->nodes->id;
    for (uint32_t i = 0; i < count; i++) {
        if (a->nodes[i].id - a->nodes[0].id != b->nodes[i].id - b->nodes[0].id ||
            memcmp((const char *)&a->nodes[i] + after_id, (const char *)&b->nodes[i] + after_id,
                   sizeof a->nodes[i] - after_id) != 0) {
            return false;
        }
    }
    return true;
}
