/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape is found from the links: with a switch for each host, links whose ends differ by 1 give the size of the
 * first dimension (there are N - N/X of them), those that differ by X the second's, and so on; when the sizes come out
 * whole and their product is N, it is a grid.
 */
#include "report/topo_drawing.h"

#include <stdlib.h>
#include <string.h>

#include "topo/make/grid.h"

enum { STEP = 44, MARGIN = 40, HEAD = 70, ROW_HEIGHT = 110, BLOCK_GAP = 70, HOSTS_APART = 64 };

void topo_drawing_free(struct topo_drawing *drawing)
{
    if (drawing->mem != NULL) {
        size_t nodes = drawing->graph->node_count;
        mem_free(drawing->mem, drawing->level, nodes);
        mem_free(drawing->mem, drawing->box_of, nodes * sizeof *drawing->box_of);
        mem_free(drawing->mem, drawing->boxes, nodes * sizeof *drawing->boxes);
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
    while (stride < hosts && drawing->dim_count < 8) {
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
    if (status == ORR_OK && (product != hosts || count > 8)) {
        status = error_set(err, ORR_EINVAL,
                           "parameter 'dims': %.60s is not the machine's %u GPUs in up to 8 dimensions", text, hosts);
    }
    if (status == ORR_OK) {
        memcpy(drawing->dims, dims, (size_t)count * sizeof *dims);
        drawing->dim_count = count;
    }
    return status;
}

static struct topo_box *add_box(struct topo_drawing *drawing, uint32_t node, int32_t x, int32_t y)
{
    struct topo_box *box = &drawing->boxes[drawing->box_count];
    *box = (struct topo_box){node, 1, x, y, drawing->graph->kinds[node], drawing->level[node]};
    drawing->box_of[node] = drawing->box_count++;
    return box;
}

static void grow(struct topo_drawing *drawing, int32_t x, int32_t y)
{
    drawing->width = x + MARGIN + STEP / 2 > drawing->width ? x + MARGIN + STEP / 2 : drawing->width;
    drawing->height = y + MARGIN + STEP / 2 > drawing->height ? y + MARGIN + STEP / 2 : drawing->height;
}

/* A host and its switch are one box. Dimensions 0, 2, 4 … go to the right, 1, 3, 5 … down, later ones by blocks. */
static void report_topo_drawing_lay_grid(struct topo_drawing *drawing, uint32_t hosts)
{
    const struct topo_graph *graph = drawing->graph;
    for (uint32_t node = 0; node < hosts; node++) {
        int32_t at[2] = {MARGIN + STEP, HEAD + STEP};
        int32_t step[2] = {STEP * 3 / 2, STEP * 3 / 2};
        uint32_t rest = node;
        for (uint32_t d = 0; d < drawing->dim_count; d++) {
            uint32_t size = drawing->dims[d];
            at[d % 2] += (int32_t)(rest % size) * step[d % 2];
            step[d % 2] = step[d % 2] * (int32_t)size + BLOCK_GAP;
            rest /= size;
        }
        (void)add_box(drawing, node, at[0], at[1]);
        if (graph->node_count > hosts) {
            drawing->box_of[node + hosts] = drawing->box_of[node];
        }
        grow(drawing, at[0], at[1]);
    }
}

/* Around a rectangle, clockwise from its upper left corner. */
static void lay_around(struct topo_drawing *drawing, uint32_t hosts)
{
    uint32_t side = (hosts + 3) / 4;
    int32_t far = (int32_t)side * STEP * 3 / 2;
    for (uint32_t node = 0; node < hosts; node++) {
        int32_t along = (int32_t)(node % side) * STEP * 3 / 2;
        uint32_t edge = node / side;
        int32_t x = edge == 0 ? along : edge == 1 ? far : edge == 2 ? far - along : 0;
        int32_t y = edge == 0 ? 0 : edge == 1 ? along : edge == 2 ? far : far - along;
        (void)add_box(drawing, node, MARGIN + STEP + x, HEAD + STEP + y);
        if (drawing->graph->node_count > hosts) {
            drawing->box_of[node + hosts] = drawing->box_of[node];
        }
        grow(drawing, MARGIN + STEP + x, HEAD + STEP + y);
    }
}

/* ---- rows ---- */

/* 0 for NVSwitches, which stand below the hosts; 1 for hosts; 2 and more for switches. */
static uint32_t report_topo_drawing_row_of(const struct topo_drawing *drawing, uint32_t node)
{
    uint8_t kind = drawing->graph->kinds[node];
    return kind == TOPO_NODE_NVSWITCH ? 0 : kind == TOPO_NODE_HOST ? 1 : 1u + drawing->level[node];
}

static bool is_like_last(const struct topo_drawing *drawing, const struct topo_neighbours *near, uint32_t node)
{
    const struct topo_box *last = &drawing->boxes[drawing->box_count - 1];
    uint32_t a = last->first;
    uint32_t degree = near->start[a + 1] - near->start[a];
    return drawing->graph->kinds[a] == TOPO_NODE_HOST && degree == near->start[node + 1] - near->start[node] &&
           memcmp(near->node + near->start[a], near->node + near->start[node], degree * sizeof *near->node) == 0;
}

static void lay_row(struct topo_drawing *drawing, const struct topo_neighbours *near, uint32_t row, bool join,
                    int32_t y)
{
    uint32_t first = drawing->box_count;
    for (uint32_t node = 0; node < drawing->graph->node_count; node++) {
        if (report_topo_drawing_row_of(drawing, node) != row) {
            continue;
        }
        if (join && drawing->box_count > first && is_like_last(drawing, near, node)) {
            drawing->boxes[drawing->box_count - 1].count++;
            drawing->box_of[node] = drawing->box_count - 1;
        } else if (drawing->box_count - first < TOPO_DRAWING_ROW) {
            int32_t x = (int32_t)(drawing->box_count - first) * STEP + MARGIN + STEP / 2;
            (void)add_box(drawing, node, x, y);
            grow(drawing, x, y);
        } else {
            drawing->left_out++;
        }
    }
}

/* Rows are centred on the widest. */
static void centre_rows(struct topo_drawing *drawing)
{
    for (uint32_t first = 0; first < drawing->box_count;) {
        uint32_t end = first;
        while (end < drawing->box_count && drawing->boxes[end].y == drawing->boxes[first].y) {
            end++;
        }
        int32_t shift = (drawing->width - 2 * MARGIN - (int32_t)(end - first) * STEP) / 2;
        for (uint32_t i = first; i < end && shift > 0; i++) {
            drawing->boxes[i].x += shift;
        }
        first = end;
    }
}

static void lay_rows(struct topo_drawing *drawing, const struct topo_neighbours *near, uint32_t hosts)
{
    uint32_t rows = 0;
    bool has_nvswitch = false;
    for (uint32_t node = 0; node < drawing->graph->node_count; node++) {
        uint32_t row = report_topo_drawing_row_of(drawing, node);
        rows = row > rows ? row : rows;
        has_nvswitch = has_nvswitch || row == 0;
    }
    int32_t y = HEAD + STEP;
    for (uint32_t row = rows + 1; row-- > (has_nvswitch ? 0u : 1u);) {
        lay_row(drawing, near, row, row == 1 && hosts > HOSTS_APART, y);
        y += ROW_HEIGHT;
    }
    centre_rows(drawing);
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
    bool grid = single && (dims != NULL || find_dims(drawing, near, hosts));
    if (status == ORR_OK && boxes && single && hosts > TOPO_DRAWING_NODES) {
        status =
            error_set(err, ORR_ERANGE, "%u GPUs are too many for a picture (%d at most); parameter 'text' shows them",
                      hosts, TOPO_DRAWING_NODES);
    }
    if (status != ORR_OK) {
        return status;
    }
    drawing->shape = grid && drawing->dim_count > 1 ? TOPO_SHAPE_GRID : single ? TOPO_SHAPE_AROUND : TOPO_SHAPE_ROWS;
    if (!boxes) {
        return ORR_OK;
    }
    if (drawing->shape == TOPO_SHAPE_GRID) {
        report_topo_drawing_lay_grid(drawing, hosts);
    } else if (drawing->shape == TOPO_SHAPE_AROUND) {
        lay_around(drawing, hosts);
    } else {
        lay_rows(drawing, near, hosts);
    }
    return ORR_OK;
}

enum orr_status topo_drawing_make(const struct topo_graph *graph, const char *dims, bool boxes, struct mem *mem,
                                  struct topo_drawing *drawing, struct orr_error *err)
{
    struct topo_neighbours near = {0};
    struct topo_drawing made = {.graph = graph, .mem = mem, .width = 480};
    size_t nodes = graph->node_count;
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
