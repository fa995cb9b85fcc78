/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drawing as a PDF of one page, written by hand: boxes, curves and Helvetica need a dozen of the format's
 * operators, and a layout program would take minutes for what is laid out already. The page description is made in
 * memory first, because its length and the places of the objects stand in the file. A page may be at most 14,400 units
 * high or wide, so a larger drawing is scaled down to that; it can be enlarged again by whoever looks at it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "report/number.h"
#include "report/view.h"

enum { PAGE_MOST = 14400 };

/* Red, green and blue of fill and edge, as in the SVG. */
static const struct {
    double fill[3], stroke[3];
} looks[VIEW_KINDS] = {
    [VIEW_HOST] = {{.93, .95, .96}, {.55, .60, .66}},
    [VIEW_COMPUTE] = {{.89, .94, .86}, {.36, .60, .24}},
    [VIEW_COLLECTIVE] = {{.99, .89, .81}, {.85, .45, .17}},
    [VIEW_SEND] = {{.99, .92, .95}, {.79, .31, .49}},
    [VIEW_RECV] = {{.95, .90, .98}, {.56, .34, .70}},
    [VIEW_MEMORY] = {{.86, .93, .98}, {.23, .47, .72}},
    [VIEW_OTHER] = {{1, 1, 1}, {.6, .6, .6}},
};

static void put_numbers(const double *values, unsigned count, const char *operator, FILE * stream)
{
    for (unsigned i = 0; i < count; i++) {
        (void)fprintf(stream, "%s ", report_fixed(values[i], 2).text);
    }
    (void)fprintf(stream, "%s\n", operator);
}

/* What the standard font's encoding has; the rest is shown as '?'. */
static void put_text(double x, double y, double size, const char *text, FILE *stream)
{
    (void)fprintf(stream, "BT /F1 %s Tf ", report_fixed(size, 1).text);
    put_numbers((const double[]){x, y}, 2, "Td", stream);
    (void)fputc('(', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if ((*at & 0xc0) == 0x80) {
            continue; /* the rest of a character that was shown already */
        }
        if (strncmp((const char *)at, "…", 3) == 0) {
            (void)fputs("\\205", stream);
        } else if (*at == '(' || *at == ')' || *at == '\\') {
            (void)fprintf(stream, "\\%c", *at);
        } else {
            (void)fputc(*at < 0x20 || *at > 0x7e ? '?' : *at, stream);
        }
    }
    (void)fputs(") Tj ET\n", stream);
}

/* y counts upwards in a PDF. */
static void put_edges(const struct view *view, FILE *stream)
{
    (void)fputs("0.6 0.65 0.7 RG 0.7 w\n", stream);
    for (uint32_t i = 0; i < view->edge_count; i++) {
        const struct view_edge *edge = &view->edges[i];
        const struct view_box *from = &view->boxes[edge->from], *to = &view->boxes[edge->to];
        double x1 = from->x + from->width / 2, y1 = view->height - from->y - VIEW_BOX_HEIGHT;
        double x2 = to->x + to->width / 2, y2 = view->height - to->y;
        double bend = y1 - y2 > 40 ? (y1 - y2) / 2 : 20;
        bend = bend > 120 ? 120 : bend;
        (void)fputs(edge->backward ? "q 0.8 0 0 RG\n" : edge->control ? "q [3 3] 0 d\n" : "q\n", stream);
        put_numbers((const double[]){x1, y1}, 2, "m", stream);
        put_numbers((const double[]){x1, y1 - bend, x2, y2 + bend, x2, y2}, 6, "c S Q", stream);
    }
}

static void put_boxes(const struct view *view, FILE *stream)
{
    for (uint32_t i = 0; i < view->box_count; i++) {
        const struct view_box *box = &view->boxes[i];
        char name[VIEW_LABEL_ROOM], detail[VIEW_LABEL_ROOM];
        double y = view->height - box->y - VIEW_BOX_HEIGHT;
        view_box_label(view, box, name, detail);
        put_numbers(looks[box->kind].fill, 3, "rg", stream);
        put_numbers(looks[box->kind].stroke, 3, "RG", stream);
        (void)fputs(box->node_count > 1 ? "[5 2] 0 d 1 w\n" : "[] 0 d 1 w\n", stream);
        put_numbers((const double[]){box->x, y, box->width, VIEW_BOX_HEIGHT}, 4, "re B", stream);
        (void)fputs("0.13 g\n", stream);
        put_text(box->x + 8, y + VIEW_BOX_HEIGHT - 15, 11, name, stream);
        (void)fputs("0.33 g\n", stream);
        put_text(box->x + 8, y + 7, 10, detail, stream);
    }
}

static void report_view_pdf_put_head(const struct view *view, FILE *stream)
{
    char line[160];
    (void)fputs("0.13 g\n", stream);
    put_text(24, view->height - 24, 14, view->document->name, stream);
    int used = snprintf(line, sizeof line, "%" PRIu32 " nodes in %" PRIu32 " boxes, %" PRIu32 " edges",
                        view->document->node_count, view->box_count, view->edge_count);
    if (view->hidden_nodes > 0 && used > 0) {
        (void)snprintf(line + used, sizeof line - (size_t)used, "; %" PRIu64 " nodes are not drawn",
                       view->hidden_nodes);
    }
    put_text(24, view->height - 42, 11, line, stream);
    struct report_number time = {0};
    double y = 0;
    for (uint32_t layer = 0; view_next_tick(view, &layer, &time, &y);) {
        put_text(24, view->height - y - 22, 10, time.text, stream);
    }
}

/* Writes one object and remembers its place; `at` counts the file's bytes. */
static void put_object(const char *text, size_t length, unsigned number, uint64_t *at, uint64_t places[], FILE *stream)
{
    places[number] = *at;
    int head = fprintf(stream, "%u 0 obj\n", number);
    (void)fwrite(text, 1, length, stream);
    int tail = fprintf(stream, "\nendobj\n");
    *at += (uint64_t)(head > 0 ? head : 0) + length + (uint64_t)(tail > 0 ? tail : 0);
}

enum { CATALOG = 1, PAGES, PAGE, CONTENT, FONT, OBJECTS };

static void report_view_pdf_put_file(const struct view *view, double scale, const char *content, size_t length,
                                     FILE *stream)
{
    static const char head[] = "%PDF-1.4\n";
    static const char catalog[] = "<< /Type /Catalog /Pages 2 0 R >>";
    static const char pages[] = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
    static const char font[] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    uint64_t places[OBJECTS] = {0};
    uint64_t at = sizeof head - 1;
    char page[256];
    (void)fputs(head, stream);
    put_object(catalog, sizeof catalog - 1, CATALOG, &at, places, stream);
    put_object(pages, sizeof pages - 1, PAGES, &at, places, stream);
    int page_length = snprintf(page, sizeof page,
                               "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents 4 0 R "
                               "/Resources << /Font << /F1 5 0 R >> >> >>",
                               report_fixed(view->width * scale, 0).text, report_fixed(view->height * scale, 0).text);
    put_object(page, (size_t)(page_length > 0 ? page_length : 0), PAGE, &at, places, stream);
    places[CONTENT] = at;
    int written = fprintf(stream, "%d 0 obj\n<< /Length %zu >>\nstream\n", CONTENT, length);
    (void)fwrite(content, 1, length, stream);
    at += (uint64_t)(written > 0 ? written : 0) + length;
    written = fprintf(stream, "endstream\nendobj\n");
    at += (uint64_t)(written > 0 ? written : 0);
    put_object(font, sizeof font - 1, FONT, &at, places, stream);
    (void)fprintf(stream, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS);
    for (unsigned i = CATALOG; i < OBJECTS; i++) {
        (void)fprintf(stream, "%010" PRIu64 " 00000 n \n", places[i]);
    }
    (void)fprintf(stream, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%" PRIu64 "\n%%%%EOF\n", OBJECTS, at);
}

enum orr_status view_write_pdf(const struct view *view, FILE *stream, struct orr_error *err)
{
    double largest = view->width > view->height ? view->width : view->height;
    double scale = largest > PAGE_MOST ? PAGE_MOST / largest : 1;
    char *content = NULL;
    size_t length = 0;
    FILE *page = text_stream_open(&content, &length);
    if (page == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory drawing a trace");
    }
    put_numbers((const double[]){scale, 0, 0, scale, 0, 0}, 6, "cm", page);
    report_view_pdf_put_head(view, page);
    put_edges(view, page);
    put_boxes(view, page);
    bool failed = ferror(page) != 0;
    failed = fclose(page) != 0 || failed;
    if (!failed) {
        report_view_pdf_put_file(view, scale, content, length, stream);
    }
    free(content);
    return failed ? error_set(err, ORR_ENOMEM, "out of memory drawing a trace") : ORR_OK;
}
