/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A panel a channel. Rings: a server a row, its ranks in ring order from left to right, the hop to the next server
 * between the rows and the way back at the left. Trees: a rank a circle, placed by its depth and by the order of the
 * ranks. Of many servers, ranks in one, or ranks in a tree the first and the last are drawn and the others counted.
 * Positions are whole numbers, so that the picture is the same everywhere.
 */
#include <inttypes.h>

#include "report/coll.h"
#include "report/number.h"
#include "report/slots.h"

enum { CELL = 44, RADIUS = 15, MARGIN = 40, HEAD = 30, PANELS = 16, ROWS = 6, COLUMNS = 16, TREE_RANKS = 40 };

static const char *const colours[] = {"#3a79b7", "#d9742b", "#5b9a3c", "#8e56b3",
                                      "#c94f7c", "#2f8f8f", "#a5822a", "#5c6773"};

struct panel {
    uint32_t left, top, width, height;
};

static void report_coll_svg_put_style(FILE *stream)
{
    (void)fputs("<style>text{font:11px Helvetica,Arial,sans-serif;fill:#222;text-anchor:middle}"
                ".h{font-size:14px;font-weight:bold;text-anchor:start}"
                "path,line{fill:none;stroke-width:1.6}circle{fill:#fff;stroke-width:1.6}"
                "rect{fill:#f5f7fa;stroke:#c8d0da;rx:6}</style>\n"
                "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:#555\"/></marker></defs>\n",
                stream);
}

static void report_coll_svg_put_rank(uint32_t x, uint32_t y, uint32_t rank, const char *colour, FILE *stream)
{
    (void)fprintf(stream,
                  "<circle cx=\"%" PRIu32 "\" cy=\"%" PRIu32 "\" r=\"%d\" stroke=\"%s\"/>"
                  "<text x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">%" PRIu32 "</text>\n",
                  x, y, RADIUS, colour, x, y + 4, rank);
}

static void put_line(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, const char *colour, FILE *stream)
{
    (void)fprintf(stream,
                  "<line x1=\"%" PRIu32 "\" y1=\"%" PRIu32 "\" x2=\"%" PRIu32 "\" y2=\"%" PRIu32
                  "\" stroke=\"%s\" marker-end=\"url(#a)\"/>\n",
                  x0, y0, x1, y1, colour);
}

/* From the end of a row round the left of it to the beginning of another. */
static void put_turn(const struct panel *panel, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t lane,
                     const char *colour, FILE *stream)
{
    uint32_t between = y0 + CELL / 2;
    uint32_t side = panel->left + lane;
    (void)fprintf(stream,
                  "<path d=\"M%" PRIu32 " %" PRIu32 "V%" PRIu32 "H%" PRIu32 "V%" PRIu32 "H%" PRIu32
                  "\" stroke=\"%s\" marker-end=\"url(#a)\"/>\n",
                  x0, y0 + RADIUS, between, side, y1, x1 - RADIUS, colour);
}

/* ---- rings ---------------------------------------------------------------------------------------------------- */

static const struct nccl_ring_place *report_coll_svg_place_of(const struct nccl_ring_place *ring, uint32_t size,
                                                              uint32_t rank)
{
    uint32_t lo = 0;
    uint32_t hi = size;
    while (lo + 1 < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (ring[middle].rank <= rank) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return &ring[lo];
}

/* Servers, and the most ranks in one. */
static void report_coll_svg_count_rows(const struct report_coll *coll, uint32_t *rows, uint32_t *columns)
{
    const struct nccl_ring_place *ring = coll->channels->rings;
    uint32_t run = 0;
    *rows = 0;
    *columns = 0;
    for (uint32_t i = 0; i < coll->channels->ring_size; i++) {
        run++;
        bool last = i + 1 == coll->channels->ring_size;
        if (last || ring[i + 1].node_recv != ring[i].node_recv) {
            (*rows)++;
            *columns = run > *columns ? run : *columns;
            run = 0;
        }
    }
}

static struct panel ring_size(const struct report_coll *coll)
{
    uint32_t rows = 0;
    uint32_t columns = 0;
    report_coll_svg_count_rows(coll, &rows, &columns);
    return (struct panel){.width = (report_slots(columns, COLUMNS) + 1) * CELL,
                          .height = report_slots(rows, ROWS) * CELL * 3 / 2 + HEAD};
}

static void put_more(uint32_t x, uint32_t y, uint32_t count, const char *what, FILE *stream)
{
    (void)fprintf(stream, "<text x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">+%" PRIu32 "%s</text>\n", x, y + 4, count, what);
}

/* One server: its ranks from `at` on, in ring order. Returns where the ring leaves it, and the last rank's place in the
 * picture. Nothing is drawn where `shown` is false. */
static const struct nccl_ring_place *draw_server(const struct nccl_ring_place *ring, uint32_t size,
                                                 const struct nccl_ring_place *at, bool shown, uint32_t begin,
                                                 uint32_t y, const char *colour, uint32_t *end_x, FILE *stream)
{
    uint32_t count = 1;
    for (const struct nccl_ring_place *next = at; next->node_send != next->rank && count < size; count++) {
        next = report_coll_svg_place_of(ring, size, next->next);
    }
    for (uint32_t i = 0;; i++) {
        uint32_t slot = report_slot(i, count, COLUMNS);
        uint32_t x = begin + slot * CELL;
        bool folded = count > COLUMNS && slot == COLUMNS - 2;
        if (shown && folded && i == COLUMNS - 2) {
            put_more(x, y, count - COLUMNS + 1, "", stream);
        } else if (shown && !folded) {
            report_coll_svg_put_rank(x, y, at->rank, colour, stream);
        }
        *end_x = x;
        if (i + 1 == count) {
            return at;
        }
        if (shown && (!folded || report_slot(i + 1, count, COLUMNS) != slot)) {
            put_line(x + RADIUS, y, x + CELL - RADIUS, y, colour, stream);
        }
        at = report_coll_svg_place_of(ring, size, at->next);
    }
}

static void report_coll_svg_draw_ring(const struct report_coll *coll, uint32_t channel, const struct panel *panel,
                                      FILE *stream)
{
    uint32_t size = coll->channels->ring_size;
    const struct nccl_ring_place *ring = coll->channels->rings + (size_t)channel * size;
    const char *colour = colours[channel % (sizeof colours / sizeof colours[0])];
    const struct nccl_ring_place *at = report_coll_svg_place_of(ring, size, ring[0].node_recv);
    uint32_t begin = panel->left + CELL;
    uint32_t first_y = panel->top + HEAD + CELL / 2;
    uint32_t rows = 0;
    uint32_t columns = 0;
    report_coll_svg_count_rows(coll, &rows, &columns);
    (void)fprintf(stream, "<text class=\"h\" x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">ring %" PRIu32 "</text>\n",
                  panel->left, panel->top + 16, channel);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t slot = report_slot(row, rows, ROWS);
        uint32_t y = first_y + slot * (CELL * 3 / 2);
        bool folded = rows > ROWS && slot == ROWS - 2;
        uint32_t x = begin;
        at = draw_server(ring, size, at, !folded, begin, y, colour, &x, stream);
        if (folded && row == ROWS - 2) {
            put_more(begin + 2 * CELL, y, rows - ROWS + 1, " servers", stream);
        }
        if (row + 1 == rows) {
            put_turn(panel, x, y, begin, first_y, 2, colour, stream);
        } else if (!folded) {
            put_turn(panel, x, y, begin, y + CELL * 3 / 2, 12, colour, stream);
        } else if (report_slot(row + 1, rows, ROWS) != slot) {
            put_turn(panel, begin + 2 * CELL, y, begin, y + CELL * 3 / 2, 12, colour, stream);
        }
        at = report_coll_svg_place_of(ring, size, at->next);
    }
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

static uint32_t tree_index(const struct report_coll *coll, uint32_t rank)
{
    uint32_t lo = 0;
    uint32_t hi = coll->group->rank_count;
    while (lo + 1 < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (coll->group->ranks[middle] <= rank) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

static uint32_t depth_of(const struct report_coll *coll, const struct nccl_tree_place *tree, uint32_t at)
{
    uint32_t depth = 0;
    while (tree[at].up >= 0 && depth < coll->channels->rank_count) {
        at = tree_index(coll, (uint32_t)tree[at].up);
        depth++;
    }
    return depth;
}

/* The ranks that are drawn, by their places in the group: all of a small tree, else those near its root. */
struct drawn_tree {
    uint32_t at[TREE_RANKS], depth[TREE_RANKS];
    uint32_t count, deepest;
};

static void choose_ranks(const struct report_coll *coll, const struct nccl_tree_place *tree, struct drawn_tree *drawn)
{
    uint32_t count = coll->channels->rank_count;
    uint32_t by_depth[TREE_RANKS] = {0};
    uint32_t within = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t depth = depth_of(coll, tree, i);
        by_depth[depth < TREE_RANKS ? depth : TREE_RANKS - 1]++;
    }
    drawn->deepest = 0;
    drawn->count = 0;
    for (uint32_t sum = by_depth[0]; drawn->deepest + 1 < TREE_RANKS; drawn->deepest++) {
        sum += by_depth[drawn->deepest + 1];
        if (sum > TREE_RANKS || by_depth[drawn->deepest + 1] == 0) {
            break;
        }
    }
    for (uint32_t i = 0; i < count && within < TREE_RANKS; i++) {
        uint32_t depth = depth_of(coll, tree, i);
        if (depth <= drawn->deepest) {
            drawn->at[within] = i;
            drawn->depth[within++] = depth;
        }
    }
    drawn->count = within;
}

static uint32_t report_coll_svg_column_of(const struct drawn_tree *drawn, uint32_t at)
{
    uint32_t column = 0;
    while (column + 1 < drawn->count && drawn->at[column] < at) {
        column++;
    }
    return column;
}

static struct panel tree_size(const struct report_coll *coll)
{
    struct panel panel = {0};
    for (uint32_t c = 0; c < coll->channels->tree_count && c < PANELS; c++) {
        struct drawn_tree drawn;
        choose_ranks(coll, coll->channels->trees + (size_t)c * coll->channels->rank_count, &drawn);
        uint32_t width = (drawn.count + 1) * CELL;
        uint32_t height = (drawn.deepest + 2) * CELL + HEAD;
        panel.width = width > panel.width ? width : panel.width;
        panel.height = height > panel.height ? height : panel.height;
    }
    return panel;
}

static void report_coll_svg_draw_tree(const struct report_coll *coll, uint32_t channel, const struct panel *panel,
                                      FILE *stream)
{
    const struct nccl_tree_place *tree = coll->channels->trees + (size_t)channel * coll->channels->rank_count;
    const char *colour = colours[channel % (sizeof colours / sizeof colours[0])];
    uint32_t top = panel->top + HEAD + CELL / 2;
    struct drawn_tree drawn;
    choose_ranks(coll, tree, &drawn);
    (void)fprintf(stream, "<text class=\"h\" x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">tree %" PRIu32, panel->left,
                  panel->top + 16, channel);
    if (drawn.count < coll->channels->rank_count) {
        (void)fprintf(stream, ", and %" PRIu32 " ranks below these", coll->channels->rank_count - drawn.count);
    }
    (void)fputs("</text>\n", stream);
    for (uint32_t i = 0; i < drawn.count; i++) {
        const struct nccl_tree_place *place = &tree[drawn.at[i]];
        uint32_t x = panel->left + CELL / 2 + i * CELL;
        uint32_t y = top + drawn.depth[i] * CELL;
        if (place->up >= 0) {
            uint32_t above = report_coll_svg_column_of(&drawn, tree_index(coll, (uint32_t)place->up));
            put_line(x, y - RADIUS, panel->left + CELL / 2 + above * CELL, y - CELL + RADIUS, colour, stream);
        }
        report_coll_svg_put_rank(x, y, place->rank, colour, stream);
    }
}

void report_coll_svg(const struct report_coll *coll, FILE *stream)
{
    enum nccl_algo algo = coll->flows->choice.algo;
    bool trees = algo == NCCL_TREE || algo == NCCL_NVLS_TREE;
    uint32_t count = trees ? coll->channels->tree_count : coll->channels->ring_count;
    uint32_t shown = count < PANELS ? count : PANELS;
    struct panel panel = trees ? tree_size(coll) : ring_size(coll);
    uint32_t columns = panel.width > 1200 || shown == 1 ? 1 : 2;
    uint32_t rows = (shown + columns - 1) / columns;
    (void)fprintf(stream, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\">\n",
                  2 * MARGIN + columns * (panel.width + MARGIN), 2 * MARGIN + rows * (panel.height + MARGIN));
    report_coll_svg_put_style(stream);
    (void)fprintf(stream, "<text class=\"h\" x=\"%d\" y=\"24\">%s of %s over %" PRIu32 " ranks", MARGIN, coll->type,
                  report_bytes((double)coll->bytes).text, coll->group->rank_count);
    if (shown < count) {
        (void)fprintf(stream, "; %" PRIu32 " of %" PRIu32 " channels", shown, count);
    }
    (void)fputs("</text>\n", stream);
    for (uint32_t c = 0; c < shown; c++) {
        panel.left = MARGIN + c % columns * (panel.width + MARGIN);
        panel.top = MARGIN + c / columns * (panel.height + MARGIN);
        if (trees) {
            report_coll_svg_draw_tree(coll, c, &panel, stream);
        } else {
            report_coll_svg_draw_ring(coll, c, &panel, stream);
        }
    }
    (void)fputs("</svg>\n", stream);
}
