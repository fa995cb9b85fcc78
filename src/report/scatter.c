/* SPDX-License-Identifier: Apache-2.0 */
#include "report/scatter.h"

#include <math.h>

#include "base/plain.h"

enum { SCATTER_SIDE = 560, SCATTER_MARGIN = 60 };

static const char *scatter_colour(uint32_t index)
{
    static const char *const colours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728",
                                          "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"};
    return colours[index % (sizeof colours / sizeof colours[0])];
}

static double scatter_place(const struct scatter *scatter, double value)
{
    double share = fmin(fmax((log10(value) - scatter->first) / (scatter->last - scatter->first), 0), 1);
    return SCATTER_MARGIN + share * (SCATTER_SIDE - 2 * SCATTER_MARGIN);
}

void scatter_begin(const struct scatter *scatter, FILE *stream)
{
    enum { SIDE = SCATTER_SIDE, MARGIN = SCATTER_MARGIN };
    (void)fprintf(stream,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                  "font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
                  SIDE, SIDE, SIDE, SIDE);
    for (int power = scatter->first; power <= scatter->last; power++) {
        double at = scatter_place(scatter, pow(10, power));
        (void)plain_fprintf(stream,
                            "<path d=\"M%.1f %d V%d M%d %.1f H%d\" stroke=\"#ddd\" fill=\"none\"/>\n"
                            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">10^%d</text>\n"
                            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10^%d</text>\n",
                            at, MARGIN, SIDE - MARGIN, MARGIN, SIDE - at, SIDE - MARGIN, at, SIDE - MARGIN + 16, power,
                            MARGIN - 4, SIDE - at + 4, power);
    }
    (void)fprintf(stream, "<path d=\"M%d %d L%d %d\" stroke=\"#888\"/>\n", MARGIN, SIDE - MARGIN, SIDE - MARGIN,
                  MARGIN);
    (void)fprintf(stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">measured, %s</text>\n", SIDE / 2, SIDE - 16,
                  scatter->unit);
    (void)fprintf(stream,
                  "<text x=\"16\" y=\"%d\" transform=\"rotate(-90 16 %d)\" text-anchor=\"middle\">predicted, %s"
                  "</text>\n",
                  SIDE / 2, SIDE / 2, scatter->unit);
}

void scatter_name(uint32_t index, const char *name, FILE *stream)
{
    (void)fprintf(stream, "<text x=\"%d\" y=\"%u\" fill=\"%s\">%s</text>\n", SCATTER_MARGIN + 8,
                  SCATTER_MARGIN + 16 * (index + 1), scatter_colour(index), name);
}

void scatter_dot(const struct scatter *scatter, uint32_t index, double measured, double predicted, FILE *stream)
{
    (void)plain_fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\" fill=\"%s\" fill-opacity=\"0.6\"/>\n",
                        scatter_place(scatter, measured), SCATTER_SIDE - scatter_place(scatter, predicted),
                        scatter_colour(index));
}

void scatter_end(FILE *stream)
{
    (void)fputs("</svg>\n", stream);
}
