/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the nodes of a wired machine stand in a picture, in pixels. Grids and rings (a switch a host, or no switches)
 * are laid out by their dimensions, machines without switches around a rectangle, everything else in rows: hosts, their
 * NVSwitches below, levels of switches above by their distance from the hosts. Hosts on the same switches share a box
 * where there are many. Positions are integers, so that the picture is the same everywhere.
 *
 * Owned by the caller; borrows the graph.
 */
#ifndef ORR_REPORT_TOPO_DRAWING_H
#define ORR_REPORT_TOPO_DRAWING_H

#include <stdio.h>

#include "topo/measure.h"

enum { TOPO_DRAWING_ROW = 256, TOPO_DRAWING_NODES = 8192, TOPO_NOT_DRAWN = UINT32_MAX };

enum topo_shape { TOPO_SHAPE_ROWS, TOPO_SHAPE_GRID, TOPO_SHAPE_AROUND };

struct topo_box {
    uint32_t first, count; /* node, and how many like it */
    int32_t x, y;          /* of the middle */
    uint8_t kind, level;   /* enum topo_node_kind; 0 for hosts */
};

struct topo_drawing {
    const struct topo_graph *graph;
    enum topo_shape shape;
    uint32_t dims[8]; /* GRID */
    uint32_t dim_count;
    uint8_t *level;   /* by node: links to the nearest host */
    uint32_t *box_of; /* by node; TOPO_NOT_DRAWN */
    struct topo_box *boxes;
    uint32_t box_count;
    uint32_t left_out; /* nodes beyond a row's room */
    int32_t width, height;
    struct mem *mem;
};

/* `dims` ("4x4x8") are the dimensions where the caller knows them better; NULL: they are found from the links. Without
 * `boxes` there are only levels and dimensions, which is what the text needs; with them a grid of more than
 * TOPO_DRAWING_NODES hosts is refused (ORR_ERANGE). */
ORR_MUST_CHECK enum orr_status topo_drawing_make(const struct topo_graph *graph, const char *dims, bool boxes,
                                                 struct mem *mem, struct topo_drawing *drawing, struct orr_error *err);
void topo_drawing_free(struct topo_drawing *drawing);

/* Errors are the stream's. */
void topo_drawing_svg(const struct topo_drawing *drawing, const char *title, FILE *stream);
/* Levels from the top down: how many nodes, which, and what links they have. */
ORR_MUST_CHECK enum orr_status topo_drawing_text(const struct topo_drawing *drawing, const char *title, FILE *stream,
                                                 struct orr_error *err);

#endif
