/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drawing as SVG text, written as it goes. Styles are classes in one <style> block, so that a box costs little more
 * than its words; the page around it adds the few lines of script that moving, zooming and searching need, and refers
 * to nothing outside itself.
 */
#include <inttypes.h>
#include <string.h>

#include "io/xml_text.h"
#include "report/number.h"
#include "report/view.h"

static const struct {
    const char *name, *fill, *stroke;
} looks[VIEW_KINDS] = {
    [VIEW_HOST] = {"host compute", "#eef1f5", "#8b98a9"},     [VIEW_COMPUTE] = {"device compute", "#e3f0dc", "#5b9a3c"},
    [VIEW_COLLECTIVE] = {"collective", "#fde3cf", "#d9742b"}, [VIEW_SEND] = {"send", "#fdeaf1", "#c94f7c"},
    [VIEW_RECV] = {"receive", "#f3e6fa", "#8e56b3"},          [VIEW_MEMORY] = {"memory", "#dcecfb", "#3a79b7"},
    [VIEW_OTHER] = {"other", "#ffffff", "#999999"},
};

static void report_view_svg_put_style(FILE *stream)
{
    (void)fputs("<style>\n"
                "text{font:11px Helvetica,Arial,sans-serif;fill:#222}\n"
                ".d{fill:#555;font-size:10px}.h{font-size:14px;font-weight:bold}\n"
                "rect{stroke-width:1;rx:4}.f{stroke-dasharray:5 2}\n"
                "path{fill:none;stroke:#7a8591;stroke-opacity:.55}.c{stroke-dasharray:3 3}.b{stroke:#c00}\n",
                stream);
    for (unsigned kind = 0; kind < VIEW_KINDS; kind++) {
        (void)fprintf(stream, ".k%u{fill:%s;stroke:%s}\n", kind, looks[kind].fill, looks[kind].stroke);
    }
    (void)fputs("</style>\n", stream);
}

static void report_view_svg_put_number(double value, FILE *stream)
{
    (void)fputs(report_fixed(value, 1).text, stream);
}

/* One sentence on what is drawn, and the colours in use. */
static void report_view_svg_put_head(const struct view *view, FILE *stream)
{
    bool used[VIEW_KINDS] = {false};
    for (uint32_t box = 0; box < view->box_count; box++) {
        used[view->boxes[box].kind] = true;
    }
    (void)fputs("<text class=\"h\" x=\"24\" y=\"24\">", stream);
    io_xml_put(stream, view->document->name);
    (void)fprintf(stream, "</text>\n<text x=\"24\" y=\"42\">%" PRIu32 " nodes in %" PRIu32 " boxes, %" PRIu32 " edges",
                  view->document->node_count, view->box_count, view->edge_count);
    if (view->hidden_nodes > 0) {
        (void)fprintf(stream, "; %" PRIu64 " nodes are not drawn", view->hidden_nodes);
    }
    if (view->missing_edges > 0) {
        (void)fprintf(stream, "; %" PRIu64 " dependencies on nodes that are not there", view->missing_edges);
    }
    (void)fputs("</text>\n", stream);
    unsigned x = 24;
    for (unsigned kind = 0; kind < VIEW_KINDS; kind++) {
        if (used[kind]) {
            (void)fprintf(stream, "<rect class=\"k%u\" x=\"%u\" y=\"52\" width=\"12\" height=\"12\"/>", kind, x);
            (void)fprintf(stream, "<text class=\"d\" x=\"%u\" y=\"62\">%s</text>\n", x + 17, looks[kind].name);
            x += 40 + 6 * (unsigned)strlen(looks[kind].name);
        }
    }
}

static void put_edge(const struct view *view, const struct view_edge *edge, FILE *stream)
{
    const struct view_box *from = &view->boxes[edge->from];
    const struct view_box *to = &view->boxes[edge->to];
    double x1 = from->x + from->width / 2, y1 = from->y + VIEW_BOX_HEIGHT;
    double x2 = to->x + to->width / 2, y2 = to->y;
    double bend = y2 - y1 > 40 ? (y2 - y1) / 2 : 20;
    bend = bend > 120 ? 120 : bend;
    const double points[] = {x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2};
    (void)fprintf(stream, "<path%s d=\"", edge->backward ? " class=\"b\"" : edge->control ? " class=\"c\"" : "");
    for (unsigned i = 0; i < 8; i += 2) {
        (void)fputs(i == 0 ? "M" : i == 2 ? "C" : " ", stream);
        report_view_svg_put_number(points[i], stream);
        (void)fputc(',', stream);
        report_view_svg_put_number(points[i + 1], stream);
    }
    (void)fputs("\"/>\n", stream);
}

static void report_view_svg_put_box(const struct view *view, const struct view_box *box, FILE *stream)
{
    char name[VIEW_LABEL_ROOM], detail[VIEW_LABEL_ROOM];
    const Chakra__Node *first = view->document->nodes[box->first];
    const Chakra__Node *last = view->document->nodes[box->last];
    view_box_label(view, box, name, detail);
    (void)fprintf(stream, "<g><title>node %" PRIu64, first->id);
    if (box->node_count > 1) {
        (void)fprintf(stream, " to %" PRIu64 " (%" PRIu32 " nodes)", last->id, box->node_count);
    }
    (void)fputs("\n", stream);
    io_xml_put(stream, first->name);
    if (box->node_count > 1) {
        (void)fputs("\n… ", stream);
        io_xml_put(stream, last->name);
    }
    (void)fputs("\n", stream);
    io_xml_put(stream, detail);
    (void)fprintf(stream, "</title><rect class=\"k%u%s\" x=\"", (unsigned)box->kind, box->node_count > 1 ? " f" : "");
    report_view_svg_put_number(box->x, stream);
    (void)fputs("\" y=\"", stream);
    report_view_svg_put_number(box->y, stream);
    (void)fputs("\" width=\"", stream);
    report_view_svg_put_number(box->width, stream);
    (void)fprintf(stream, "\" height=\"%d\"/>", VIEW_BOX_HEIGHT);
    for (unsigned line = 0; line < 2; line++) {
        (void)fprintf(stream, "<text%s x=\"", line == 0 ? "" : " class=\"d\"");
        report_view_svg_put_number(box->x + 8, stream);
        (void)fputs("\" y=\"", stream);
        report_view_svg_put_number(box->y + (line == 0 ? 15 : 29), stream);
        (void)fputs("\">", stream);
        io_xml_put(stream, line == 0 ? name : detail);
        (void)fputs("</text>", stream);
    }
    (void)fputs("</g>\n", stream);
}

static void put_drawing(const struct view *view, FILE *stream)
{
    struct report_number width = report_fixed(view->width, 0), height = report_fixed(view->height, 0);
    (void)fprintf(stream,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\">\n",
                  width.text, height.text, width.text, height.text);
    report_view_svg_put_style(stream);
    (void)fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", stream);
    report_view_svg_put_head(view, stream);
    struct report_number time = {0};
    double y = 0;
    for (uint32_t layer = 0; view_next_tick(view, &layer, &time, &y);) {
        (void)fputs("<text class=\"d\" x=\"24\" y=\"", stream);
        report_view_svg_put_number(y + 22, stream);
        (void)fprintf(stream, "\">%s</text>\n", time.text);
    }
    for (uint32_t i = 0; i < view->edge_count; i++) {
        put_edge(view, &view->edges[i], stream);
    }
    for (uint32_t i = 0; i < view->box_count; i++) {
        report_view_svg_put_box(view, &view->boxes[i], stream);
    }
    (void)fputs("</svg>\n", stream);
}

void view_write_svg(const struct view *view, FILE *stream)
{
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    put_drawing(view, stream);
}

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Orrery trace</title>\n"
    "<style>html,body{margin:0;height:100%;overflow:hidden;background:#fff;font:13px Helvetica,Arial,sans-serif}\n"
    "#bar{position:fixed;z-index:2;top:8px;right:8px;background:#fffd;border:1px solid "
    "#ccc;border-radius:6px;padding:6px 8px}\n"
    "#bar "
    "input{width:14em}#stage{position:relative;z-index:1;overflow:hidden;width:100%;height:100%;cursor:grab;touch-"
    "action:none}\n"
    "#stage>svg{transform-origin:0 0;position:absolute}.hit rect{stroke:#d00!important;stroke-width:3!important}\n"
    "</style></head><body>\n"
    "<div id=\"bar\"><label>find <input id=\"find\" type=\"search\" placeholder=\"name, id, all-reduce …\"></label>\n"
    "<span id=\"count\"></span> <button id=\"all\" title=\"the whole trace\">whole</button> <button "
    "id=\"one\">1:1</button></div>\n"
    "<div id=\"stage\">\n";

static const char page_tail[] =
    "</div>\n<script>\n"
    "'use strict';\n"
    "const stage=document.getElementById('stage'),svg=stage.querySelector('svg');\n"
    "const find=document.getElementById('find'),count=document.getElementById('count');\n"
    "const w=svg.viewBox.baseVal.width,h=svg.viewBox.baseVal.height;\n"
    "let x=0,y=0,k=1,drag=null,hits=[],at=-1;\n"
    "const draw=()=>{svg.style.transform=`translate(${x}px,${y}px) scale(${k})`;};\n"
    "const whole=()=>{k=Math.min(stage.clientWidth/w,stage.clientHeight/h);x=(stage.clientWidth-w*k)/2;y=0;draw();};\n"
    "stage.addEventListener('wheel',e=>{e.preventDefault();const f=Math.exp(-e.deltaY/400);\n"
    "  x=e.clientX-(e.clientX-x)*f;y=e.clientY-(e.clientY-y)*f;k*=f;draw();},{passive:false});\n"
    "stage.addEventListener('pointerdown',e=>{drag=[e.clientX-x,e.clientY-y];stage.setPointerCapture(e.pointerId);});\n"
    "stage.addEventListener('pointermove',e=>{if(drag){x=e.clientX-drag[0];y=e.clientY-drag[1];draw();}});\n"
    "stage.addEventListener('pointerup',()=>{drag=null;});\n"
    "const show=()=>{const r=hits[at].querySelector('rect');k=Math.max(k,.8);\n"
    "  x=stage.clientWidth/2-(r.x.baseVal.value+r.width.baseVal.value/2)*k;\n"
    "  y=stage.clientHeight/2-r.y.baseVal.value*k;count.textContent=`${at+1} of ${hits.length}`;draw();};\n"
    "find.addEventListener('input',()=>{const t=find.value.toLowerCase();hits.forEach(g=>g.classList.remove('hit'));\n"
    "  hits=t?[...svg.querySelectorAll('g')].filter(g=>g.textContent.toLowerCase().includes(t)):[];at=0;\n"
    "  hits.forEach(g=>g.classList.add('hit'));count.textContent=t&&!hits.length?'none':'';if(hits.length)show();});\n"
    "find.addEventListener('keydown',e=>{if(e.key==='Enter'&&hits.length){at=(at+(e.shiftKey?hits.length-1:1))%hits."
    "length;"
    "show();}});\n"
    "document.getElementById('all').onclick=whole;\n"
    "document.getElementById('one').onclick=()=>{x=y=0;k=1;draw();};\n"
    "if(w>stage.clientWidth)k=Math.max(.5,stage.clientWidth/w);\n"
    "x=Math.min(0,(stage.clientWidth-w*k)/2);if(w*k<stage.clientWidth)x=(stage.clientWidth-w*k)/2;draw();\n"
    "</script></body></html>\n";

void view_write_html(const struct view *view, FILE *stream)
{
    (void)fputs(page_head, stream);
    put_drawing(view, stream);
    (void)fputs(page_tail, stream);
}
