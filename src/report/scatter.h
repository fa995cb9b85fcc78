/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted against measured as a picture (SVG): measured to the right, predicted upwards, both on the same logarithmic
 * scale, a dot each, by colour what it is of. Written as it is called: begin, names and dots in any order, end.
 */
#ifndef ORR_REPORT_SCATTER_H
#define ORR_REPORT_SCATTER_H

#include <stdint.h>
#include <stdio.h>

struct scatter {
    int first, last;  /* powers of ten along a side; what lies beyond them is drawn at the edge */
    const char *unit; /* of both */
};

void scatter_begin(const struct scatter *scatter, FILE *stream);
/* Colour number `index` is that of `name`. */
void scatter_name(uint32_t index, const char *name, FILE *stream);
void scatter_dot(const struct scatter *scatter, uint32_t index, double measured, double predicted, FILE *stream);
void scatter_end(FILE *stream);

#endif
