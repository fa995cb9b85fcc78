/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wired machine as a picture of a page's width, from eight GPUs to a hundred thousand: what stands where, in pixels.
 * Rings and machines of all with all stand on a circle, grids as grids of two or three dimensions, dragonflies as
 * groups on a circle, everything else as boxes in boxes (servers, what hangs on one switch, pods), switches above.
 * What is alike is drawn a few times and then counted: every node is in exactly one box, alone or with others.
 * Positions are integers, so that the picture is the same everywhere.
 *
 * Owned by the caller; borrows the graph.
 */
#ifndef ORR_REPORT_TOPO_DRAWING_H
#define ORR_REPORT_TOPO_DRAWING_H

#include <stdio.h>

#include "base/arena.h"
#include "base/number_map.h"
#include "topo/measure.h"

enum { TOPO_DRAWING_WIDTH = 1400, TOPO_DRAWING_DIMS = 8, TOPO_NOT_DRAWN = UINT32_MAX };

enum topo_shape { TOPO_SHAPE_TREE, TOPO_SHAPE_GRID, TOPO_SHAPE_CIRCLE, TOPO_SHAPE_GROUPS };

struct topo_box {
    uint32_t first, count; /* node, and how many it stands for */
    int32_t x, y;          /* of the middle */
    uint8_t kind;          /* enum topo_node_kind, of the first */
};

/* Boxes belong together: a server, a pod. */
struct topo_frame {
    int32_t x, y, width, height; /* of its upper left corner */
    const char *label;
};

struct topo_words {
    int32_t x, y;
    const char *text;
};

struct topo_drawing {
    const struct topo_graph *graph;
    enum topo_shape shape;
    uint32_t dims[TOPO_DRAWING_DIMS]; /* GRID and rings */
    uint32_t dim_count;
    uint8_t *level;   /* by node: links to the nearest host */
    uint32_t *box_of; /* by node */
    struct topo_box *boxes;
    uint32_t box_count;
    struct topo_frame *frames;
    uint32_t frame_count, frame_room;
    struct topo_words *words;
    uint32_t words_count, words_room;
    int32_t width, height;
    int32_t near_x, near_y,
        near_deep;      /* steps to neighbours in a row, a column and backwards; lines further are bent */
    struct arena arena; /* of the labels */
    struct mem *mem;
};

/* `dims` ("4x4x8") are the dimensions where the caller knows them better; NULL: they are found from the links. Without
 * `boxes` there are only levels and dimensions, which is what the text needs. */
ORR_MUST_CHECK enum orr_status topo_drawing_make(const struct topo_graph *graph, const char *dims, bool boxes,
                                                 struct mem *mem, struct topo_drawing *drawing, struct orr_error *err);
void topo_drawing_free(struct topo_drawing *drawing);

/* All links between two boxes, as one line. */
struct topo_line {
    uint32_t a, b;        /* boxes */
    uint32_t links;       /* how many */
    uint32_t first;       /* of the graph's links */
    bool alike;           /* all of one rate and delay */
    bool bent;            /* it jumps over others */
    int32_t mid_x, mid_y; /* where it is bent to, from the middle of `a` */
};

struct topo_lines {
    struct topo_line *line;
    uint32_t count, room;
    struct number_map known; /* by both boxes */
};

/* In the order of the first link of each. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status topo_lines_make(const struct topo_drawing *drawing, struct topo_lines *lines,
                                               struct orr_error *err);
/* The line between the boxes of two nodes; NULL: they share one. */
struct topo_line *topo_lines_between(const struct topo_drawing *drawing, const struct topo_lines *lines, uint32_t from,
                                     uint32_t to);
void topo_lines_free(const struct topo_drawing *drawing, struct topo_lines *lines);

/* Errors of writing are the stream's. */
ORR_MUST_CHECK enum orr_status topo_drawing_svg(const struct topo_drawing *drawing, const char *title, FILE *stream,
                                                struct orr_error *err);
/* Levels from the top down: how many nodes, which, and what links they have. */
ORR_MUST_CHECK enum orr_status topo_drawing_text(const struct topo_drawing *drawing, const char *title, FILE *stream,
                                                 struct orr_error *err);

#endif
