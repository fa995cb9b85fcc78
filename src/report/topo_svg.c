/* SPDX-License-Identifier: Apache-2.0 */
/* The picture as SVG: links first, so that boxes lie on them. A link's width follows its rate, a line that jumps over
 * others is bent, and the words of a box or link appear when it is pointed at. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/xml_text.h"
#include "report/number.h"
#include "report/topo_drawing.h"

static const struct {
    const char *name, *fill, *stroke;
} looks[] = {
    [TOPO_NODE_HOST] = {"GPU", "#e3f0dc", "#5b9a3c"},
    [TOPO_NODE_SWITCH] = {"switch", "#dcecfb", "#3a79b7"},
    [TOPO_NODE_NVSWITCH] = {"NVSwitch", "#fde3cf", "#d9742b"},
};

enum { LOOKS = 3, BOX_WIDTH = 36, BOX_HEIGHT = 22, LINKS_MOST = 40000 };

static void report_topo_svg_put_head(const struct topo_drawing *drawing, const char *title, FILE *stream)
{
    int32_t width = drawing->width;
    (void)fprintf(stream,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId32 "\" height=\"%" PRId32
                  "\" viewBox=\"0 0 %" PRId32 " %" PRId32 "\">\n<style>\n"
                  "text{font:10px Helvetica,Arial,sans-serif;fill:#222;text-anchor:middle}\n"
                  ".h{font-size:14px;font-weight:bold;text-anchor:start}.d{text-anchor:start;fill:#555}\n"
                  "rect{rx:4}path{fill:none;stroke:#7a8591;stroke-opacity:.5}\n",
                  width, drawing->height, width, drawing->height);
    for (unsigned kind = 0; kind < LOOKS; kind++) {
        (void)fprintf(stream, ".k%u{fill:%s;stroke:%s}\n", kind, looks[kind].fill, looks[kind].stroke);
    }
    (void)fputs("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"24\" y=\"24\">",
                stream);
    io_xml_text(stream, title, strlen(title));
    (void)fprintf(stream, "</text>\n<text class=\"d\" x=\"24\" y=\"42\">%" PRIu32 " nodes, %" PRIu32 " links",
                  drawing->graph->node_count, drawing->graph->link_count);
    if (drawing->left_out > 0) {
        (void)fprintf(stream, "; %" PRIu32 " nodes are not drawn", drawing->left_out);
    }
    for (uint32_t i = 0; drawing->shape == TOPO_SHAPE_GRID && i < drawing->dim_count; i++) {
        (void)fprintf(stream, "%s%" PRIu32, i == 0 ? "; " : " x ", drawing->dims[i]);
    }
    (void)fputs("</text>\n", stream);
}

static unsigned report_topo_svg_width_of(uint64_t bps)
{
    return bps >= UINT64_C(2000000000000) ? 4 : bps >= UINT64_C(400000000000) ? 2 : 1;
}

/* Between rows straight lines; in a row, or over boxes, a bend to the side. */
static void put_link(const struct topo_drawing *drawing, const struct topo_link *link, FILE *stream)
{
    uint32_t a = drawing->box_of[link->a];
    uint32_t b = drawing->box_of[link->b];
    if (a == TOPO_NOT_DRAWN || b == TOPO_NOT_DRAWN || a == b) {
        return;
    }
    const struct topo_box *from = &drawing->boxes[a];
    const struct topo_box *to = &drawing->boxes[b];
    int32_t dx = to->x - from->x;
    int32_t dy = to->y - from->y;
    bool far = (dy == 0 && abs(dx) > 70) || (dx == 0 && abs(dy) > 150);
    (void)fprintf(stream, "<path stroke-width=\"%u\" d=\"M%" PRId32 " %" PRId32,
                  report_topo_svg_width_of(link->rate_bps), from->x, from->y);
    if (far) {
        int32_t bend = 24 + abs(dx + dy) / 12;
        bend = bend > 90 ? 90 : bend;
        (void)fprintf(stream, "q%" PRId32 " %" PRId32 " %" PRId32 " %" PRId32 "\" stroke-dasharray=\"4 3\">",
                      dx / 2 + (dy != 0 ? bend : 0), dy / 2 - (dx != 0 ? bend : 0), dx, dy);
    } else {
        (void)fprintf(stream, "l%" PRId32 " %" PRId32 "\">", dx, dy);
    }
    (void)fprintf(stream, "<title>%" PRIu32 " - %" PRIu32 ": %s Gbps, %s</title></path>\n", link->a, link->b,
                  report_short((double)link->rate_bps / 1e9).text, report_time((double)link->delay_ns).text);
}

static void report_topo_svg_put_box(const struct topo_box *box, FILE *stream)
{
    (void)fprintf(stream, "<g><rect class=\"k%u\" x=\"%" PRId32 "\" y=\"%" PRId32 "\" width=\"%d\" height=\"%d\"/>",
                  box->kind, box->x - BOX_WIDTH / 2, box->y - BOX_HEIGHT / 2, BOX_WIDTH, BOX_HEIGHT);
    (void)fprintf(stream, "<text x=\"%" PRId32 "\" y=\"%" PRId32 "\">%" PRIu32 "%s</text>", box->x, box->y + 4,
                  box->first, box->count > 1 ? "…" : "");
    if (box->count > 1) {
        (void)fprintf(stream, "<text x=\"%" PRId32 "\" y=\"%" PRId32 "\">x %" PRIu32 "</text>", box->x, box->y + 24,
                      box->count);
    }
    (void)fprintf(stream, "<title>%s %" PRIu32, looks[box->kind].name, box->first);
    if (box->count > 1) {
        (void)fprintf(stream, " and %" PRIu32 " more on the same switches", box->count - 1);
    }
    (void)fputs("</title></g>\n", stream);
}

static void report_topo_svg_put_legend(const struct topo_drawing *drawing, FILE *stream)
{
    bool used[LOOKS] = {false};
    unsigned x = 24;
    for (uint32_t i = 0; i < drawing->box_count; i++) {
        used[drawing->boxes[i].kind] = true;
    }
    for (unsigned kind = 0; kind < LOOKS; kind++) {
        if (used[kind]) {
            (void)fprintf(stream, "<rect class=\"k%u\" x=\"%u\" y=\"52\" width=\"12\" height=\"12\"/>", kind, x);
            (void)fprintf(stream, "<text class=\"d\" x=\"%u\" y=\"62\">%s</text>\n", x + 17, looks[kind].name);
            x += 40 + 6 * (unsigned)strlen(looks[kind].name);
        }
    }
}

void topo_drawing_svg(const struct topo_drawing *drawing, const char *title, FILE *stream)
{
    const struct topo_graph *graph = drawing->graph;
    uint32_t last_a = TOPO_NOT_DRAWN;
    uint32_t last_b = TOPO_NOT_DRAWN;
    uint32_t drawn = 0;
    report_topo_svg_put_head(drawing, title, stream);
    report_topo_svg_put_legend(drawing, stream);
    for (uint32_t i = 0; i < graph->link_count && drawn < LINKS_MOST; i++) {
        uint32_t a = drawing->box_of[graph->links[i].a];
        uint32_t b = drawing->box_of[graph->links[i].b];
        if (a != last_a || b != last_b) { /* hosts of one box have the same links, one after the other */
            put_link(drawing, &graph->links[i], stream);
            drawn++;
        }
        last_a = a;
        last_b = b;
    }
    for (uint32_t i = 0; i < drawing->box_count; i++) {
        report_topo_svg_put_box(&drawing->boxes[i], stream);
    }
    (void)fputs("</svg>\n", stream);
}
