/* SPDX-License-Identifier: Apache-2.0 */
#include "report/chart.h"

#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "io/xml_text.h"

enum {
    WIDTH = 860,
    LABEL = 300, /* for what is written left of the bars */
    VALUE = 110, /* and behind them */
    HEAD = 64,
    BAR = 18,
    BAR_STEP = 26,
    SIDE_LEFT = 70,
    SIDE_RIGHT = 30,
    SIDE_BELOW = 52,
    POINTS_HEIGHT = 520,
    LABEL_LETTERS = 46,
};

static const char *const part_colours[CHART_PARTS] = {"#3a79b7", "#d9742b", "#5b9a3c", "#8e56b3"};

static void chart_begin(int height, const char *title, FILE *stream)
{
    (void)fprintf(stream,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
                  "<style>text{font:12px Helvetica,Arial,sans-serif;fill:#222}.t{font-size:15px;font-weight:bold}"
                  ".e{text-anchor:end}.m{text-anchor:middle}.g{stroke:#ddd;fill:none}</style>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"t\" x=\"16\" y=\"24\">",
                  WIDTH, height, WIDTH, height);
    io_xml_put(stream, title);
    (void)fputs("</text>\n", stream);
}

/* ---- bars ---- */

/* Where a bar ends. */
static double end_of(const struct chart_bar *bar)
{
    double sum = bar->from;
    for (uint32_t i = 0; i < CHART_PARTS; i++) {
        sum += bar->parts[i];
    }
    return sum;
}

static void put_legend(const struct chart_bars *chart, FILE *stream)
{
    size_t x = LABEL;
    for (uint32_t i = 0; i < CHART_PARTS && chart->parts[i] != NULL; i++) {
        (void)fprintf(stream,
                      "<rect x=\"%zu\" y=\"38\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%zu\" y=\"48\">", x,
                      part_colours[i], x + 17);
        io_xml_put(stream, chart->parts[i]);
        (void)fputs("</text>\n", stream);
        x += 44 + 7 * strlen(chart->parts[i]);
    }
}

/* A label that is too long keeps its end, where points of a sweep differ. */
static void chart_put_label(const char *label, int y, FILE *stream)
{
    size_t length = strlen(label);
    const char *from = length > LABEL_LETTERS ? label + length - LABEL_LETTERS : label;
    while (((unsigned char)*from & 0xc0) == 0x80) {
        from++; /* not in the middle of a letter */
    }
    (void)fprintf(stream, "<text class=\"e\" x=\"%d\" y=\"%d\">%s", LABEL - 8, y, from > label ? "…" : "");
    io_xml_put(stream, from);
    (void)fputs("</text>", stream);
}

void chart_bars_put(const struct chart_bars *chart, FILE *stream)
{
    double longest = 0;
    for (uint32_t i = 0; i < chart->count; i++) {
        longest = fmax(longest, end_of(&chart->bars[i]));
    }
    double scale = longest > 0 ? (WIDTH - LABEL - VALUE) / longest : 0;
    chart_begin(HEAD + (int)chart->count * BAR_STEP + 16, chart->title, stream);
    put_legend(chart, stream);
    for (uint32_t i = 0; i < chart->count; i++) {
        const struct chart_bar *bar = &chart->bars[i];
        int y = HEAD + (int)i * BAR_STEP;
        double x = LABEL + bar->from * scale;
        (void)fputs("<g><title>", stream);
        io_xml_put(stream, bar->label);
        (void)fputs(": ", stream);
        io_xml_put(stream, bar->value);
        (void)fputs("</title>", stream);
        chart_put_label(bar->label, y + 13, stream);
        for (uint32_t part = 0; part < CHART_PARTS; part++) {
            double width = bar->parts[part] * scale;
            if (width > 0) {
                (void)plain_fprintf(stream, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x,
                                    y, width, BAR, part_colours[part]);
            }
            x += width;
        }
        (void)plain_fprintf(stream, "<text x=\"%.1f\" y=\"%d\">", x + 6, y + 13);
        io_xml_put(stream, bar->value);
        (void)fputs("</text></g>\n", stream);
    }
    (void)fputs("</svg>\n", stream);
}

/* ---- points ---- */

/* One axis in steps of 1, 2 or 5 times a power of ten; from 0, or near the least where all lie close together. */
struct axis {
    double from, step;
    int steps, decimals;
};

static struct axis axis_for(double least, double most)
{
    double span = least > most / 2 && least < most ? most - least : most;
    double raw = span > 0 ? span / 6 : 1;
    double power = pow(10, floor(log10(raw)));
    double times = raw / power;
    double step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    double from = span < most ? step * floor(least / step) : 0;
    int steps = (int)ceil((most - from) / step - 1e-9);
    return (struct axis){from, step, steps > 0 ? steps : 1, step < 1 ? (int)ceil(-log10(step)) : 0};
}

static double right_of(const struct axis *axis, double value)
{
    return SIDE_LEFT + (value - axis->from) / (axis->step * axis->steps) * (WIDTH - SIDE_LEFT - SIDE_RIGHT);
}

static double height_of(const struct axis *axis, double value)
{
    double share = (value - axis->from) / (axis->step * axis->steps);
    return POINTS_HEIGHT - SIDE_BELOW - share * (POINTS_HEIGHT - SIDE_BELOW - HEAD);
}

static void put_axes(const struct chart_points *chart, const struct axis *x, const struct axis *y, FILE *stream)
{
    for (int i = 0; i <= x->steps; i++) {
        double value = x->from + x->step * i;
        double at = right_of(x, value);
        (void)plain_fprintf(
            stream, "<path class=\"g\" d=\"M%.1f %d V%d\"/><text class=\"m\" x=\"%.1f\" y=\"%d\">%.*f</text>\n", at,
            HEAD, POINTS_HEIGHT - SIDE_BELOW, at, POINTS_HEIGHT - SIDE_BELOW + 16, x->decimals, value);
    }
    for (int i = 0; i <= y->steps; i++) {
        double value = y->from + y->step * i;
        double at = height_of(y, value);
        (void)plain_fprintf(stream,
                            "<path class=\"g\" d=\"M%d %.1f H%d\"/><text class=\"e\" x=\"%d\" y=\"%.1f\">%.*f</text>\n",
                            SIDE_LEFT, at, WIDTH - SIDE_RIGHT, SIDE_LEFT - 6, at + 4, y->decimals, value);
    }
    (void)fprintf(stream, "<text class=\"m\" x=\"%d\" y=\"%d\">", (WIDTH + SIDE_LEFT) / 2, POINTS_HEIGHT - 14);
    io_xml_put(stream, chart->x);
    (void)fprintf(stream, "</text><text class=\"m\" x=\"18\" y=\"%d\" transform=\"rotate(-90 18 %d)\">",
                  POINTS_HEIGHT / 2, POINTS_HEIGHT / 2);
    io_xml_put(stream, chart->y);
    (void)fputs("</text>\n", stream);
}

static void put_join(const struct chart_points *chart, const struct axis *x, const struct axis *y, FILE *stream)
{
    char turn = 'M';
    (void)fputs("<path fill=\"none\" stroke=\"#d9742b\" stroke-width=\"2\" d=\"", stream);
    for (uint32_t i = 0; i < chart->count; i++) {
        if (chart->points[i].joined) {
            (void)plain_fprintf(stream, "%c%.1f %.1f", turn, right_of(x, chart->points[i].x),
                                height_of(y, chart->points[i].y));
            turn = 'L';
        }
    }
    (void)fputs(turn == 'M' ? "M0 0\"/>\n" : "\"/>\n", stream);
}

void chart_points_put(const struct chart_points *chart, FILE *stream)
{
    double most[2] = {0, 0};
    double least[2] = {INFINITY, INFINITY};
    double written = -1e9; /* height of the last label, which the next must not cover */
    for (uint32_t i = 0; i < chart->count; i++) {
        most[0] = fmax(most[0], chart->points[i].x);
        most[1] = fmax(most[1], chart->points[i].y);
        least[0] = fmin(least[0], chart->points[i].x);
        least[1] = fmin(least[1], chart->points[i].y);
    }
    struct axis x = axis_for(least[0], most[0]);
    struct axis y = axis_for(least[1], most[1]);
    chart_begin(POINTS_HEIGHT, chart->title, stream);
    put_axes(chart, &x, &y, stream);
    put_join(chart, &x, &y, stream);
    for (uint32_t i = 0; i < chart->count; i++) {
        const struct chart_point *point = &chart->points[i];
        double at[2] = {right_of(&x, point->x), height_of(&y, point->y)};
        bool is_right = at[0] > WIDTH * 0.6;
        (void)plain_fprintf(stream, "<g><title>");
        io_xml_put(stream, point->label);
        (void)plain_fprintf(stream, "</title><circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"/>", at[0], at[1],
                            point->joined ? 5 : 3, point->joined ? part_colours[1] : part_colours[0]);
        if (point->named && fabs(at[1] - written) >= 14) {
            (void)plain_fprintf(
                stream, "<text%s x=\"%.1f\" y=\"%.1f\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">",
                is_right ? " class=\"e\"" : "", at[0] + (is_right ? -9 : 9), at[1] - 6);
            io_xml_put(stream, point->label);
            (void)fputs("</text>", stream);
            written = at[1];
        }
        (void)fputs("</g>\n", stream);
    }
    (void)fputs("</svg>\n", stream);
}
