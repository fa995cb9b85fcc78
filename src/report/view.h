/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as a picture: boxes in layers from top to bottom, a box below everything it waits for. Long chains of compute
 * nodes with nothing else hanging on them are folded into one box, so that a trace of thousands of nodes shows its
 * structure. Faulty traces are drawn too: dependencies on missing nodes are counted, edges against the order (cycles)
 * are red.
 *
 * view_make owns the boxes and edges it makes, in its arena; the document must outlive it (labels point into it). The
 * same trace always gives the same picture.
 */
#ifndef ORR_REPORT_VIEW_H
#define ORR_REPORT_VIEW_H

#include <stdio.h>

#include "trace/document_graph.h"

enum view_kind { VIEW_HOST, VIEW_COMPUTE, VIEW_COLLECTIVE, VIEW_SEND, VIEW_RECV, VIEW_MEMORY, VIEW_OTHER, VIEW_KINDS };

struct view_box {
    uint32_t first, last; /* node indices; the same unless folded */
    uint32_t node_count;
    uint32_t layer;
    uint32_t lane; /* thread or stream, to keep its boxes side by side */
    uint64_t duration_us, bytes;
    double x, y, width; /* top left corner, pixels */
    enum view_kind kind;
};

struct view_edge {
    uint32_t from, to; /* boxes */
    bool control;      /* a control dependency only */
    bool backward;     /* against the order: part of a cycle */
};

/* When a layer began: the least start of its boxes' first nodes. */
struct view_tick {
    double y;
    double start_us; /* after the trace's first; NAN: not recorded */
};

struct view {
    const struct trace_document *document;
    struct view_box *boxes; /* parents before children where there is an order */
    struct view_edge *edges;
    uint32_t box_count, edge_count, layer_count;
    uint64_t hidden_nodes;  /* beyond the limit, not drawn */
    uint64_t missing_edges; /* dependencies on nodes that are not there */
    double width, height;
    struct view_tick *ticks; /* by layer; NULL: the trace says no starts */
    struct arena arena;
};

struct view_options {
    uint32_t limit; /* boxes to draw at most; 0 = all */
    bool unfolded;  /* one box a node */
};

enum { VIEW_BOX_HEIGHT = 36, VIEW_FOLD_LEAST = 3 };

ORR_MUST_CHECK enum orr_status view_make(const struct trace_document *document, const struct view_options *options,
                                         struct mem *mem, struct view *view, struct orr_error *err);
void view_free(struct view *view);

/* Gives every box its layer and place; part of view_make. */
ORR_MUST_CHECK enum orr_status view_layout(struct view *view, struct mem *mem, struct orr_error *err);

/* The two lines of a box, cut to what fits. */
enum { VIEW_LABEL_ROOM = 128 };
void view_box_label(const struct view *view, const struct view_box *box, char name[VIEW_LABEL_ROOM],
                    char detail[VIEW_LABEL_ROOM]);

/* The ticks worth writing, from `*layer` on: those that differ in words from the one before. False: no more. */
struct report_number;
bool view_next_tick(const struct view *view, uint32_t *layer, struct report_number *text, double *y);

/* A drawing that stands alone, and a page around it to move, zoom and search in. */
void view_write_svg(const struct view *view, FILE *stream);
void view_write_html(const struct view *view, FILE *stream);
/* One page; ORR_ENOMEM when it cannot be put together. */
ORR_MUST_CHECK enum orr_status view_write_pdf(const struct view *view, FILE *stream, struct orr_error *err);

#endif
