/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers by longest path, then boxes sorted within their layer by where their neighbours stand (a few sweeps down and
 * up), then places. A recorded trace has threads and streams: each gets a column of its own, so that its boxes stand
 * one below the other and what waits for what across columns can be seen. Other traces have no such lanes: there each
 * box stands as near below its parents as the boxes beside it allow, and layers with very many boxes are broken into
 * rows, since a picture a hundred screens wide is of no use. No randomness, and ties fall by lane and order, so that
 * the same trace gives the same picture.
 */
#include "report/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"

enum {
    SWEEPS = 6,
    ROW_MOST = 24,
    LANES_LEAST = 2,
    LANES_MOST = 64,
    GAP_X = 18,
    GAP_Y = 34,
    ROW_GAP_Y = 10,
    MARGIN = 24,
    TICKS = 64, /* for the time at the left */
    HEAD = 64
};

struct layout {
    struct view *view;
    uint32_t *parent_start, *parents;   /* edges by their lower box */
    uint32_t *child_start, *children;   /* and by their upper */
    uint32_t *layer_start, *layer_list; /* boxes by layer, in their order */
    double *place;                      /* of a box: rank in its layer while sorting, then the centre's x */
    struct layout_key *keys;
};

struct layout_key {
    double want;
    uint32_t lane, box;
};

static int compare_keys(const void *left, const void *right)
{
    const struct layout_key *a = left;
    const struct layout_key *b = right;
    if (a->want != b->want) {
        return a->want < b->want ? -1 : 1;
    }
    if (a->lane != b->lane) {
        return a->lane < b->lane ? -1 : 1;
    }
    return (a->box > b->box) - (a->box < b->box);
}

static bool layout_open(struct layout *layout, struct arena *arena)
{
    size_t boxes = (size_t)layout->view->box_count + 2;
    size_t edges = (size_t)layout->view->edge_count + 1;
    layout->parent_start = arena_zalloc(arena, boxes * sizeof(uint32_t));
    layout->child_start = arena_zalloc(arena, boxes * sizeof(uint32_t));
    layout->layer_start = arena_zalloc(arena, boxes * sizeof(uint32_t));
    layout->layer_list = arena_alloc(arena, boxes * sizeof(uint32_t));
    layout->parents = arena_alloc(arena, edges * sizeof(uint32_t));
    layout->children = arena_alloc(arena, edges * sizeof(uint32_t));
    layout->place = arena_zalloc(arena, boxes * sizeof(double));
    layout->keys = arena_alloc(arena, boxes * sizeof *layout->keys);
    return layout->parent_start != NULL && layout->child_start != NULL && layout->layer_start != NULL &&
           layout->layer_list != NULL && layout->parents != NULL && layout->children != NULL && layout->place != NULL &&
           layout->keys != NULL;
}

static void turn_counts_into_starts(uint32_t *start, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        start[i + 1] += start[i];
    }
}

static void index_edges(struct layout *layout)
{
    const struct view *view = layout->view;
    for (uint32_t i = 0; i < view->edge_count; i++) {
        if (!view->edges[i].backward) {
            layout->parent_start[view->edges[i].to + 1]++;
            layout->child_start[view->edges[i].from + 1]++;
        }
    }
    turn_counts_into_starts(layout->parent_start, view->box_count);
    turn_counts_into_starts(layout->child_start, view->box_count);
    for (uint32_t i = 0; i < view->edge_count; i++) {
        const struct view_edge *edge = &view->edges[i];
        if (!edge->backward) {
            layout->parents[layout->parent_start[edge->to]++] = edge->from;
            layout->children[layout->child_start[edge->from]++] = edge->to;
        }
    }
    /* Filling moved every start to the next one's place. */
    memmove(layout->parent_start + 1, layout->parent_start, view->box_count * sizeof(uint32_t));
    memmove(layout->child_start + 1, layout->child_start, view->box_count * sizeof(uint32_t));
    layout->parent_start[0] = 0;
    layout->child_start[0] = 0;
}

/* Boxes come parents first, so one walk down gives the longest path, and one walk up brings boxes that wait for nothing
 * down to just above the first that waits for them. */
static void find_layers(struct layout *layout)
{
    struct view *view = layout->view;
    for (uint32_t box = 0; box < view->box_count; box++) {
        uint32_t layer = 0;
        for (uint32_t e = layout->parent_start[box]; e < layout->parent_start[box + 1]; e++) {
            uint32_t above = view->boxes[layout->parents[e]].layer + 1;
            layer = above > layer ? above : layer;
        }
        view->boxes[box].layer = layer;
    }
    for (uint32_t box = view->box_count; box-- > 0;) {
        uint32_t nearest = UINT32_MAX;
        for (uint32_t e = layout->child_start[box]; e < layout->child_start[box + 1]; e++) {
            uint32_t below = view->boxes[layout->children[e]].layer;
            nearest = below < nearest ? below : nearest;
        }
        if (nearest != UINT32_MAX && layout->parent_start[box] == layout->parent_start[box + 1]) {
            view->boxes[box].layer = nearest - 1;
        }
        uint32_t layers = view->boxes[box].layer + 1;
        view->layer_count = layers > view->layer_count ? layers : view->layer_count;
    }
}

static void list_layers(struct layout *layout)
{
    const struct view *view = layout->view;
    for (uint32_t box = 0; box < view->box_count; box++) {
        layout->layer_start[view->boxes[box].layer + 1]++;
    }
    turn_counts_into_starts(layout->layer_start, view->layer_count);
    for (uint32_t box = 0; box < view->box_count; box++) {
        layout->layer_list[layout->layer_start[view->boxes[box].layer]++] = box;
    }
    memmove(layout->layer_start + 1, layout->layer_start, view->layer_count * sizeof(uint32_t));
    layout->layer_start[0] = 0;
}

/* The mean place of the neighbours on one side, or the box's own where it has none. */
static double mean_place(const struct layout *layout, const uint32_t *start, const uint32_t *list, uint32_t box)
{
    uint32_t count = start[box + 1] - start[box];
    if (count == 0) {
        return layout->place[box];
    }
    double sum = 0;
    for (uint32_t e = start[box]; e < start[box + 1]; e++) {
        sum += layout->place[list[e]];
    }
    return sum / count;
}

static void sort_layer(struct layout *layout, uint32_t layer, bool by_parents, bool by_lane)
{
    uint32_t start = layout->layer_start[layer];
    uint32_t count = layout->layer_start[layer + 1] - start;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t box = layout->layer_list[start + i];
        double want = 0;
        if (!by_lane) {
            want = by_parents ? mean_place(layout, layout->parent_start, layout->parents, box)
                              : mean_place(layout, layout->child_start, layout->children, box);
        }
        layout->keys[i] = (struct layout_key){want, layout->view->boxes[box].lane, box};
    }
    qsort(layout->keys, count, sizeof *layout->keys, compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t box = layout->keys[i].box;
        layout->layer_list[start + i] = box;
        layout->place[box] = i - (double)count / 2;
    }
}

static void order_layers(struct layout *layout)
{
    uint32_t layers = layout->view->layer_count;
    for (uint32_t layer = 0; layer < layers; layer++) {
        sort_layer(layout, layer, true, true);
    }
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
        for (uint32_t i = 0; i < layers; i++) {
            bool down = sweep % 2 == 0;
            sort_layer(layout, down ? i : layers - 1 - i, down, false);
        }
    }
}

/* Width from the longer of the two lines; letters are taken as equally wide, which errs on the safe side. */
static void measure_box(const struct view *view, struct view_box *box)
{
    char name[VIEW_LABEL_ROOM], detail[VIEW_LABEL_ROOM];
    view_box_label(view, box, name, detail);
    size_t longest = strlen(name) > strlen(detail) ? strlen(name) : strlen(detail);
    box->width = (double)longest * 7 + 16;
    box->width = box->width < 70 ? 70 : box->width;
}

/* One row of a layer from left to right, each box near where it wants to be and none over another, then the row moved
 * as a whole by the mean of what is left. Boxes that something waits for count in that mean before those at which the
 * graph ends: so the line that goes on runs straight down, with its ends beside it. */
static void place_row(struct layout *layout, const uint32_t *row, uint32_t count, double y)
{
    struct view *view = layout->view;
    double right = -1e300;
    double error[2] = {0, 0};
    uint32_t counted[2] = {0, 0}; /* without and with children */
    for (uint32_t i = 0; i < count; i++) {
        struct view_box *box = &view->boxes[row[i]];
        uint32_t parents = layout->parent_start[row[i] + 1] - layout->parent_start[row[i]];
        double centre = parents > 0 ? mean_place(layout, layout->parent_start, layout->parents, row[i])
                        : i > 0     ? right + GAP_X + box->width / 2
                                    : 0;
        double left = centre - box->width / 2;
        box->x = left > right + GAP_X ? left : right + GAP_X;
        box->y = y;
        right = box->x + box->width;
        unsigned goes_on = layout->child_start[row[i] + 1] > layout->child_start[row[i]] ? 1 : 0;
        error[goes_on] += left - box->x;
        counted[goes_on]++;
    }
    unsigned which = counted[1] > 0 ? 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct view_box *box = &view->boxes[row[i]];
        box->x += error[which] / counted[which];
        layout->place[row[i]] = box->x + box->width / 2;
    }
}

static double place_layers(struct layout *layout)
{
    struct view *view = layout->view;
    double y = HEAD + MARGIN;
    for (uint32_t layer = 0; layer < view->layer_count; layer++) {
        uint32_t end = layout->layer_start[layer + 1];
        for (uint32_t at = layout->layer_start[layer]; at < end; at += ROW_MOST) {
            uint32_t count = end - at < ROW_MOST ? end - at : ROW_MOST;
            place_row(layout, layout->layer_list + at, count, y);
            y += VIEW_BOX_HEIGHT + (at + count < end ? ROW_GAP_Y : GAP_Y);
        }
    }
    return y;
}

/* ---- columns ---- */

struct columns {
    uint32_t lanes[LANES_MOST]; /* ascending */
    uint32_t count;             /* LANES_MOST + 1: too many */
    double width[LANES_MOST];   /* of the widest layer */
    double left[LANES_MOST];
    double used[LANES_MOST]; /* of the layer being looked at */
};

static uint32_t column_of(const struct columns *columns, uint32_t lane)
{
    uint32_t at = 0;
    while (at < columns->count && columns->lanes[at] < lane) {
        at++;
    }
    return at;
}

static void find_columns(const struct view *view, struct columns *columns)
{
    columns->count = 0;
    for (uint32_t box = 0; box < view->box_count && columns->count <= LANES_MOST; box++) {
        uint32_t lane = view->boxes[box].lane;
        uint32_t at = column_of(columns, lane);
        if (at < columns->count && columns->lanes[at] == lane) {
            continue;
        }
        if (columns->count == LANES_MOST) {
            columns->count = LANES_MOST + 1;
            return;
        }
        memmove(columns->lanes + at + 1, columns->lanes + at, (columns->count - at) * sizeof columns->lanes[0]);
        columns->lanes[at] = lane;
        columns->count++;
    }
}

/* Walks the boxes of a layer, each into its lane's column from the left; measures only, or places. */
static void fill_columns(struct layout *layout, struct columns *columns, uint32_t layer, double y, bool place)
{
    memset(columns->used, 0, sizeof columns->used);
    for (uint32_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++) {
        struct view_box *box = &layout->view->boxes[layout->layer_list[i]];
        uint32_t column = column_of(columns, box->lane);
        if (place) {
            box->x = columns->left[column] + columns->used[column];
            box->y = y;
        }
        columns->used[column] += box->width + GAP_X;
    }
    for (uint32_t column = 0; !place && column < columns->count; column++) {
        if (columns->used[column] > columns->width[column]) {
            columns->width[column] = columns->used[column];
        }
    }
}

static double place_columns(struct layout *layout, struct columns *columns)
{
    uint32_t layers = layout->view->layer_count;
    double left = 0;
    double y = HEAD + MARGIN;
    memset(columns->width, 0, sizeof columns->width);
    for (uint32_t layer = 0; layer < layers; layer++) {
        fill_columns(layout, columns, layer, 0, false);
    }
    for (uint32_t column = 0; column < columns->count; column++) {
        columns->left[column] = left;
        left += columns->width[column] + 2.0 * GAP_X;
    }
    for (uint32_t layer = 0; layer < layers; layer++) {
        fill_columns(layout, columns, layer, y, true);
        y += VIEW_BOX_HEIGHT + GAP_Y;
    }
    return y;
}

static void place_boxes(struct layout *layout)
{
    struct view *view = layout->view;
    struct columns columns;
    find_columns(view, &columns);
    bool by_lane = columns.count >= LANES_LEAST && columns.count <= LANES_MOST;
    double y = by_lane ? place_columns(layout, &columns) : place_layers(layout);
    double least = 0, most = 0;
    for (uint32_t box = 0; box < view->box_count; box++) {
        const struct view_box *b = &view->boxes[box];
        least = box == 0 || b->x < least ? b->x : least;
        most = box == 0 || b->x + b->width > most ? b->x + b->width : most;
    }
    double left = MARGIN + (view->ticks != NULL ? (double)TICKS : 0.0);
    for (uint32_t box = 0; box < view->box_count; box++) {
        view->boxes[box].x += left - least;
    }
    view->width = most - least + left + MARGIN;
    view->width = view->width < 640 ? 640 : view->width;
    view->height = y + MARGIN;
}

/* Starts of the layers, where the trace has any. False when memory is refused. */
static bool find_ticks(struct view *view)
{
    const struct trace_document *document = view->document;
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (uint32_t box = 0; box < view->box_count; box++) {
        uint64_t start = document->nodes[view->boxes[box].first]->start_time_micros;
        first = start < first ? start : first;
        last = start > last ? start : last;
    }
    if (view->layer_count == 0 || last == 0 || first == last) {
        return true;
    }
    view->ticks = arena_alloc(&view->arena, view->layer_count * sizeof *view->ticks);
    if (view->ticks == NULL) {
        return false;
    }
    for (uint32_t layer = 0; layer < view->layer_count; layer++) {
        view->ticks[layer] = (struct view_tick){0, (double)NAN};
    }
    for (uint32_t i = 0; i < view->box_count; i++) {
        const struct view_box *box = &view->boxes[i];
        struct view_tick *tick = &view->ticks[box->layer];
        double start = (double)(document->nodes[box->first]->start_time_micros - first);
        if (isnan(tick->start_us) || start < tick->start_us) {
            tick->start_us = start;
        }
    }
    return true;
}

bool view_next_tick(const struct view *view, uint32_t *layer, struct report_number *text, double *y)
{
    for (; view->ticks != NULL && *layer < view->layer_count; (*layer)++) {
        const struct view_tick *tick = &view->ticks[*layer];
        if (isnan(tick->start_us)) {
            continue;
        }
        struct report_number here = report_time(tick->start_us * 1000);
        if (*layer == 0 || strcmp(here.text, text->text) != 0) {
            *text = here;
            *y = tick->y;
            (*layer)++;
            return true;
        }
    }
    return false;
}

enum orr_status view_layout(struct view *view, struct mem *mem, struct orr_error *err)
{
    struct layout layout = {.view = view};
    struct arena arena;
    arena_init(&arena, mem);
    if (!layout_open(&layout, &arena)) {
        arena_free(&arena);
        return mem_error(mem, "the picture of a trace", err);
    }
    index_edges(&layout);
    find_layers(&layout);
    list_layers(&layout);
    order_layers(&layout);
    for (uint32_t box = 0; box < view->box_count; box++) {
        measure_box(view, &view->boxes[box]);
    }
    bool enough = find_ticks(view);
    place_boxes(&layout);
    for (uint32_t box = 0; view->ticks != NULL && box < view->box_count; box++) {
        view->ticks[view->boxes[box].layer].y = view->boxes[box].y;
    }
    arena_free(&arena);
    return enough ? ORR_OK : mem_error(mem, "the picture of a trace", err);
}
