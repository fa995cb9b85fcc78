/* SPDX-License-Identifier: Apache-2.0 */
/* The picture as SVG: frames, then links, then boxes, so that each lies on the one before. All links between two boxes
 * are one line; its width follows their rate, a line that jumps over others is bent, and the words of a box or line
 * appear when it is pointed at. */
#include <inttypes.h>
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

enum { LOOKS = 3, GPU_WIDTH = 28, SWITCH_WIDTH = 40, BOX_HEIGHT = 20 };

static void report_topo_svg_put_head(const struct topo_drawing *drawing, const char *title, FILE *stream)
{
    int32_t width = drawing->width;
    (void)fprintf(stream,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId32 "\" height=\"%" PRId32
                  "\" viewBox=\"0 0 %" PRId32 " %" PRId32 "\">\n<style>\n"
                  "text{font:10px Helvetica,Arial,sans-serif;fill:#222;text-anchor:middle}\n"
                  ".h{font-size:14px;font-weight:bold;text-anchor:start}.d{text-anchor:start;fill:#555}\n"
                  "rect{rx:4}path{fill:none;stroke:#5f6b76;stroke-opacity:.45}\n"
                  ".f{fill:#f7f8fa;stroke:#b9c1c9}\n"
                  ".w{text-anchor:start;fill:#3c4650;stroke:#fff;stroke-width:4px;paint-order:stroke}\n"
                  ".g{stroke-dasharray:3 2}.b{stroke-dasharray:4 3;stroke-opacity:.3}\n",
                  width, drawing->height, width, drawing->height);
    for (unsigned kind = 0; kind < LOOKS; kind++) {
        (void)fprintf(stream, ".k%u{fill:%s;stroke:%s}\n", kind, looks[kind].fill, looks[kind].stroke);
    }
    (void)fputs("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"24\" y=\"24\">",
                stream);
    io_xml_put(stream, title);
    (void)fputs("</text>\n", stream);
}

static unsigned report_topo_svg_width_of(uint64_t bps)
{
    return bps >= UINT64_C(2000000000000) ? 4 : bps >= UINT64_C(400000000000) ? 2 : 1;
}

static int32_t width_of_box(const struct topo_box *box)
{
    if (box->count > 9999) {
        return SWITCH_WIDTH + 12; /* room for the digits */
    }
    return box->count > 1 || box->kind != TOPO_NODE_HOST ? SWITCH_WIDTH : GPU_WIDTH;
}

static void topo_svg_put_line(const struct topo_drawing *drawing, const struct topo_line *line, FILE *stream)
{
    const struct topo_box *from = &drawing->boxes[line->a];
    const struct topo_box *to = &drawing->boxes[line->b];
    const struct topo_link *link = &drawing->graph->links[line->first];
    (void)fprintf(stream, "<path stroke-width=\"%u\" d=\"M%" PRId32 " %" PRId32,
                  report_topo_svg_width_of(link->rate_bps), from->x, from->y);
    if (line->bent) {
        (void)fprintf(stream, "q%" PRId32 " %" PRId32 " %" PRId32 " %" PRId32 "\" class=\"b\">", line->mid_x,
                      line->mid_y, to->x - from->x, to->y - from->y);
    } else {
        (void)fprintf(stream, "l%" PRId32 " %" PRId32 "\">", to->x - from->x, to->y - from->y);
    }
    (void)fprintf(stream, "<title>");
    if (line->links > 1) {
        (void)fprintf(stream, "%" PRIu32 " links, %s ", line->links, line->alike ? "each" : "the first");
    } else {
        (void)fprintf(stream, "%" PRIu32 " - %" PRIu32 ": ", link->a, link->b);
    }
    (void)fprintf(stream, "%s Gbps, %s</title></path>\n", report_short((double)link->rate_bps / 1e9).text,
                  report_time((double)link->delay_ns).text);
}

static void report_topo_svg_put_box(const struct topo_box *box, FILE *stream)
{
    int32_t width = width_of_box(box);
    (void)fprintf(
        stream, "<g><rect class=\"k%u%s\" x=\"%" PRId32 "\" y=\"%" PRId32 "\" width=\"%" PRId32 "\" height=\"%d\"/>",
        box->kind, box->count > 1 ? " g" : "", box->x - width / 2, box->y - BOX_HEIGHT / 2, width, BOX_HEIGHT);
    (void)fprintf(stream, "<text x=\"%" PRId32 "\" y=\"%" PRId32 "\">%s%" PRIu32 "</text>", box->x, box->y + 4,
                  box->count > 1 ? "+" : "", box->count > 1 ? box->count : box->first);
    (void)fprintf(stream, "<title>%s %" PRIu32, looks[box->kind].name, box->first);
    if (box->count > 1) {
        (void)fprintf(stream, " and %" PRIu32 " more nodes like those drawn", box->count - 1);
    }
    (void)fputs("</title></g>\n", stream);
}

static void topo_svg_put_words(int32_t x, int32_t y, const char *text, FILE *stream)
{
    (void)fprintf(stream, "<text class=\"w\" x=\"%" PRId32 "\" y=\"%" PRId32 "\">", x, y);
    io_xml_put(stream, text);
    (void)fputs("</text>\n", stream);
}

/* What there is of each kind, by its colour. */
static void report_topo_svg_put_legend(const struct topo_drawing *drawing, FILE *stream)
{
    uint32_t count[LOOKS] = {0};
    char text[64];
    unsigned x = 24;
    for (uint32_t node = 0; node < drawing->graph->node_count; node++) {
        count[drawing->graph->kinds[node]]++;
    }
    for (unsigned kind = 0; kind < LOOKS; kind++) {
        if (count[kind] > 0) {
            (void)snprintf(text, sizeof text, "%" PRIu32 " %s%s", count[kind], looks[kind].name,
                           count[kind] == 1         ? ""
                           : kind == TOPO_NODE_HOST ? "s"
                                                    : "es");
            (void)fprintf(stream, "<rect class=\"k%u\" x=\"%u\" y=\"34\" width=\"12\" height=\"12\"/>", kind, x);
            (void)fprintf(stream, "<text class=\"d\" x=\"%u\" y=\"44\">%s</text>\n", x + 17, text);
            x += 40 + 6 * (unsigned)strlen(text);
        }
    }
    (void)fprintf(stream, "<text class=\"d\" x=\"%u\" y=\"44\">%" PRIu32 " link%s", x, drawing->graph->link_count,
                  drawing->graph->link_count == 1 ? "" : "s");
    for (uint32_t i = 0; drawing->shape == TOPO_SHAPE_GRID && i < drawing->dim_count; i++) {
        (void)fprintf(stream, "%s%" PRIu32, i == 0 ? "; " : " x ", drawing->dims[i]);
    }
    (void)fputs("</text>\n", stream);
}

enum orr_status topo_drawing_svg(const struct topo_drawing *drawing, const char *title, FILE *stream,
                                 struct orr_error *err)
{
    struct topo_lines lines;
    enum orr_status status = topo_lines_make(drawing, &lines, err);
    if (status == ORR_OK) {
        report_topo_svg_put_head(drawing, title, stream);
        report_topo_svg_put_legend(drawing, stream);
        for (uint32_t i = 0; i < drawing->frame_count; i++) {
            const struct topo_frame *frame = &drawing->frames[i];
            (void)fprintf(stream,
                          "<rect class=\"f\" x=\"%" PRId32 "\" y=\"%" PRId32 "\" width=\"%" PRId32
                          "\" height=\"%" PRId32 "\"/>\n",
                          frame->x, frame->y, frame->width, frame->height);
        }
        for (uint32_t i = 0; i < lines.count; i++) {
            topo_svg_put_line(drawing, &lines.line[i], stream);
        }
        for (uint32_t i = 0; i < drawing->box_count; i++) {
            report_topo_svg_put_box(&drawing->boxes[i], stream);
        }
        for (uint32_t i = 0; i < drawing->frame_count; i++) {
            topo_svg_put_words(drawing->frames[i].x + 8, drawing->frames[i].y + 14, drawing->frames[i].label, stream);
        }
        for (uint32_t i = 0; i < drawing->words_count; i++) {
            topo_svg_put_words(drawing->words[i].x, drawing->words[i].y, drawing->words[i].text, stream);
        }
        (void)fputs("</svg>\n", stream);
        topo_lines_free(drawing, &lines);
    }
    return status;
}
