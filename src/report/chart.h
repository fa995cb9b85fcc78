/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charts as SVG, for papers and pages: bars that lie and may be made of parts, and points of which some are joined.
 * Nothing is known here of what is shown; texts are escaped, numbers are the same in every locale.
 */
#ifndef ORR_REPORT_CHART_H
#define ORR_REPORT_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CHART_PARTS = 4 };

struct chart_bar {
    const char *label;         /* at the left */
    double from;               /* where it begins; none below 0 */
    double parts[CHART_PARTS]; /* one after the other; none below 0 */
    const char *value;         /* behind the bar */
};

struct chart_bars {
    const char *title;
    const char *parts[CHART_PARTS]; /* what they are, for the legend; NULL ends them */
    const struct chart_bar *bars;
    uint32_t count;
};

struct chart_point {
    double x, y; /* 0 or more */
    const char *label;
    bool joined; /* by a line with the others, in the order they come */
    bool named;  /* its label is written out, where there is room; else it shows when pointed at */
};

struct chart_points {
    const char *title, *x, *y; /* what goes to the right and upwards, with units */
    const struct chart_point *points;
    uint32_t count;
};

/* Errors are the stream's. */
void chart_bars_put(const struct chart_bars *chart, FILE *stream);
void chart_points_put(const struct chart_points *chart, FILE *stream);

#endif
