/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape is found from the links: with a switch for each host, links whose ends differ by 1 give the size of the
 * first dimension (there are N - N/X of them), those that differ by X the second's, and so on; when the sizes come out
 * whole and their product is N, it is a grid.
 */
#include "report/topo_drawing.h"

#include <stdlib.h>
#include <string.h>

#include "report/topo_lay.h"
#include "topo/make/grid.h"

void topo_drawing_free(struct topo_drawing *drawing)
{
    if (drawing->mem != NULL) {
        size_t nodes = drawing->graph->node_count;
        mem_free(drawing->mem, drawing->level, nodes);
        mem_free(drawing->mem, drawing->box_of, nodes * sizeof *drawing->box_of);
        mem_free(drawing->mem, drawing->boxes, nodes * sizeof *drawing->boxes);
        mem_free(drawing->mem, drawing->frames, drawing->frame_room * sizeof *drawing->frames);
        mem_free(drawing->mem, drawing->words, drawing->words_room * sizeof *drawing->words);
        arena_free(&drawing->arena);
    }
    *drawing = (struct topo_drawing){0};
}

/* Links to the nearest host, 254 at most; 255 where there is none. */
static enum orr_status find_levels(struct topo_drawing *drawing, const struct topo_neighbours *near,
                                   struct orr_error *err)
{
    const struct topo_graph *graph = drawing->graph;
    uint32_t *line = mem_alloc(drawing->mem, (size_t)graph->node_count * sizeof *line);
    uint32_t count = 0;
    if (line == NULL) {
        return mem_error(drawing->mem, "the drawing", err);
    }
    memset(drawing->level, 0xff, graph->node_count);
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->kinds[node] == TOPO_NODE_HOST) {
            drawing->level[node] = 0;
            line[count++] = node;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        uint8_t level = drawing->level[line[at]];
        for (uint32_t i = near->start[line[at]]; i < near->start[line[at] + 1]; i++) {
            uint32_t next = near->node[i];
            if (drawing->level[next] == UINT8_MAX) {
                drawing->level[next] = level < 254 ? (uint8_t)(level + 1) : level;
                line[count++] = next;
            }
        }
    }
    mem_free(drawing->mem, line, (size_t)graph->node_count * sizeof *line);
    return ORR_OK;
}

/* ---- grids ---- */

static uint32_t count_hosts(const struct topo_graph *graph)
{
    uint32_t hosts = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        hosts += graph->kinds[node] == TOPO_NODE_HOST ? 1 : 0;
    }
    return hosts;
}

/* Whether hosts are the nodes 0 to N - 1 and host i is on node N + i alone, or there are no switches at all. */
static bool is_one_to_one(const struct topo_graph *graph, const struct topo_neighbours *near, uint32_t hosts)
{
    if (graph->node_count != hosts && graph->node_count != 2 * hosts) {
        return false;
    }
    for (uint32_t node = 0; node < hosts; node++) {
        bool own = near->start[node + 1] - near->start[node] == 1 && near->node[near->start[node]] == node + hosts;
        if (graph->kinds[node] != TOPO_NODE_HOST || (graph->node_count != hosts && !own)) {
            return false;
        }
    }
    return true;
}

static uint32_t count_apart(const struct topo_neighbours *near, uint32_t first, uint32_t hosts, uint32_t stride)
{
    uint32_t found = 0;
    for (uint32_t node = first; node + stride < first + hosts; node++) {
        for (uint32_t i = near->start[node]; i < near->start[node + 1]; i++) {
            found += near->node[i] == node + stride ? 1 : 0;
        }
    }
    return found;
}

static bool find_dims(struct topo_drawing *drawing, const struct topo_neighbours *near, uint32_t hosts)
{
    uint32_t first = drawing->graph->node_count - hosts;
    uint32_t stride = 1;
    drawing->dim_count = 0;
    while (stride < hosts && drawing->dim_count < TOPO_DRAWING_DIMS) {
        uint32_t links = count_apart(near, first, hosts, stride);
        uint32_t ends = hosts - links; /* nodes at the end of their row */
        if (ends == 0 || hosts % ends != 0 || hosts / ends < 2 || hosts % (stride * (uint64_t)(hosts / ends)) != 0) {
            return false;
        }
        drawing->dims[drawing->dim_count++] = hosts / ends;
        stride *= hosts / ends;
    }
    return stride == hosts;
}

static enum orr_status take_dims(struct topo_drawing *drawing, const char *text, uint32_t hosts, struct orr_error *err)
{
    uint32_t dims[TOPO_MAX_DIMS];
    uint32_t count = 0;
    uint64_t product = 1;
    enum orr_status status = topo_dims_read("parameter 'dims'", text, dims, &count, err);
    for (uint32_t i = 0; status == ORR_OK && i < count; i++) {
        product *= dims[i];
    }
    if (status == ORR_OK && (product != hosts || count > TOPO_DRAWING_DIMS)) {
        status = error_set(err, ORR_EINVAL,
                           "parameter 'dims': %.60s is not the machine's %u GPUs in up to 8 dimensions", text, hosts);
    }
    if (status == ORR_OK) {
        memcpy(drawing->dims, dims, (size_t)count * sizeof *dims);
        drawing->dim_count = count;
    }
    return status;
}

/* ---- what the ways to lay it out share ---- */

/* The drawing reaches as far as what stands in it. */
static void grow(struct topo_drawing *drawing, int32_t x, int32_t y)
{
    drawing->width = x + TOPO_LAY_MARGIN > drawing->width ? x + TOPO_LAY_MARGIN : drawing->width;
    drawing->height = y + TOPO_LAY_MARGIN > drawing->height ? y + TOPO_LAY_MARGIN : drawing->height;
}

uint32_t topo_lay_box(struct topo_drawing *drawing, uint32_t node, int32_t x, int32_t y)
{
    drawing->boxes[drawing->box_count] = (struct topo_box){node, 1, x, y, drawing->graph->kinds[node]};
    drawing->box_of[node] = drawing->box_count;
    grow(drawing, x + TOPO_LAY_GPU / 2, y + TOPO_LAY_GPU / 2);
    return drawing->box_count++;
}

void topo_lay_into(struct topo_drawing *drawing, uint32_t node, uint32_t at)
{
    drawing->box_of[node] = at;
    drawing->boxes[at].count++;
}

bool topo_lay_frame(struct topo_drawing *drawing, struct topo_frame frame)
{
    if (frame.label == NULL || !MEM_GROW(drawing->mem, drawing->frames, drawing->frame_room, drawing->frame_count)) {
        return false;
    }
    drawing->frames[drawing->frame_count++] = frame;
    grow(drawing, frame.x + frame.width, frame.y + frame.height);
    return true;
}

bool topo_lay_words(struct topo_drawing *drawing, int32_t x, int32_t y, const char *text)
{
    if (text == NULL || !MEM_GROW(drawing->mem, drawing->words, drawing->words_room, drawing->words_count)) {
        return false;
    }
    drawing->words[drawing->words_count++] = (struct topo_words){x, y, text};
    return true;
}

static enum orr_status lay_out(struct topo_drawing *drawing, const struct topo_neighbours *near, const char *dims,
                               bool boxes, struct orr_error *err)
{
    uint32_t hosts = count_hosts(drawing->graph);
    bool single = is_one_to_one(drawing->graph, near, hosts);
    enum orr_status status = ORR_OK;
    if (dims != NULL && !single) {
        return error_set(err, ORR_EINVAL, "parameter 'dims': the machine is no grid: its GPUs have no switch each");
    }
    if (dims != NULL) {
        status = take_dims(drawing, dims, hosts, err);
    }
    bool grid = status == ORR_OK && single && (dims != NULL || find_dims(drawing, near, hosts));
    if (status != ORR_OK) {
        return status;
    }
    drawing->shape = grid && drawing->dim_count > 1 ? TOPO_SHAPE_GRID : single ? TOPO_SHAPE_CIRCLE : TOPO_SHAPE_TREE;
    if (!boxes) {
        return ORR_OK;
    }
    bool laid = false;
    bool enough = drawing->shape == TOPO_SHAPE_GRID     ? topo_lay_grid(drawing, hosts)
                  : drawing->shape == TOPO_SHAPE_CIRCLE ? topo_lay_circle(drawing, hosts)
                                                        : topo_lay_groups(drawing, near, &laid);
    if (enough && laid) {
        drawing->shape = TOPO_SHAPE_GROUPS;
    } else if (enough && drawing->shape == TOPO_SHAPE_TREE) {
        enough = topo_lay_tree(drawing);
    }
    return enough ? ORR_OK : mem_error(drawing->mem, "the drawing", err);
}

enum orr_status topo_drawing_make(const struct topo_graph *graph, const char *dims, bool boxes, struct mem *mem,
                                  struct topo_drawing *drawing, struct orr_error *err)
{
    struct topo_neighbours near = {0};
    struct topo_drawing made = {.graph = graph, .mem = mem, .width = 480, .near_x = 60, .near_y = INT32_MAX};
    size_t nodes = graph->node_count;
    arena_init(&made.arena, mem);
    made.level = mem_alloc(mem, nodes);
    made.box_of = mem_alloc(mem, nodes * sizeof *made.box_of);
    made.boxes = mem_alloc(mem, nodes * sizeof *made.boxes);
    if (made.level == NULL || made.box_of == NULL || made.boxes == NULL || !topo_neighbours_make(graph, mem, &near)) {
        topo_drawing_free(&made);
        return mem_error(mem, "the drawing", err);
    }
    memset(made.box_of, 0xff, nodes * sizeof *made.box_of);
    enum orr_status status = find_levels(&made, &near, err);
    if (status == ORR_OK) {
        status = lay_out(&made, &near, dims, boxes, err);
    }
    topo_neighbours_free(&near);
    if (status != ORR_OK) {
        topo_drawing_free(&made);
        return status;
    }
    *drawing = made;
    return ORR_OK;
}
