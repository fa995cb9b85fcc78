/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The points of a sweep as people and programs read them: a ranked table, CSV, JSON. Plain rows come in, in the order
 * of the points; which of them is best was found before. Keys and values are the user's texts. Knows no store.
 */
#ifndef ORR_REPORT_SWEEP_TEXT_H
#define ORR_REPORT_SWEEP_TEXT_H

#include <stdio.h>

#include "orrery/sweep.h"

struct report_sweep_row {
    uint64_t point; /* from 1 */
    uint64_t rank;  /* from 1, among those of its network; 0: it has no result to be ranked by */
    uint64_t best;  /* what the first of its network is ranked by */
    struct orr_sweep_result result;
    const char *const *values; /* one for each key */
};

struct report_sweep {
    const char *name; /* or NULL */
    const char *const *keys;
    uint32_t key_count;
    const struct report_sweep_row *rows;
    const struct report_sweep_row *const *ranked; /* those with a rank: each network's together, best first */
    uint64_t row_count, ranked_count;
    enum orr_sweep_rank by;
    struct orr_sweep_progress counts;
};

/* What a row is ranked by. */
uint64_t report_sweep_figure(const struct orr_sweep_result *result, enum orr_sweep_rank by);

/* At most `best` rows (0: all), and then what failed and stalled, with the reasons. */
void report_sweep_text(const struct report_sweep *sweep, uint64_t best, FILE *stream);
/* A row a point; nothing in it depends on when or by whom it was run. */
void report_sweep_csv(const struct report_sweep *sweep, FILE *stream);
void report_sweep_json(const struct report_sweep *sweep, FILE *stream);
/* The best as bars (SVG), 64 at most. */
void report_sweep_chart(const struct report_sweep *sweep, uint64_t best, FILE *stream);

#endif
