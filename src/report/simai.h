/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes out of SimAI's analytical mode, for its readers: SimAI's own table (EndToEnd.csv), a page with a chart,
 * and a page of text for people. Plain numbers and borrowed texts; whoever counted fills them in. Times in
 * microseconds.
 */
#ifndef ORR_REPORT_SIMAI_H
#define ORR_REPORT_SIMAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum report_simai_phase { REPORT_SIMAI_FWD, REPORT_SIMAI_IG, REPORT_SIMAI_WG, REPORT_SIMAI_PHASES };
enum report_simai_group {
    REPORT_SIMAI_TP,
    REPORT_SIMAI_DP,
    REPORT_SIMAI_EP,
    REPORT_SIMAI_DP_EP,
    REPORT_SIMAI_CP,
    REPORT_SIMAI_GROUPS
};

struct report_simai_cell {
    double compute, comm, exposed;
    double algorithm_rate, bus_rate; /* GB/s, GB = 2^30 */
    const char *op;                  /* of the collective; NULL for none */
    const char *group;
};

struct report_simai_row {
    const char *name; /* not terminated */
    size_t name_length;
    struct report_simai_cell cells[REPORT_SIMAI_PHASES];
};

struct report_simai {
    const char *label; /* of the table's first line, and of the page */
    const char *workload;
    const struct report_simai_row *rows;
    uint32_t row_count;
    double exposed[REPORT_SIMAI_GROUPS];
    double exposed_all, pipeline, bubble, compute, total;
    double overlap[REPORT_SIMAI_GROUPS];
    uint32_t chunks;    /* of a stage's layers: 1 is the schedule 1F1B */
    bool messages_hide; /* what stages send is not counted */
    uint64_t pp_bytes;  /* what a stage sends the next, each time */
    int32_t gpus, gpus_per_server, tp, ep, cp, pp, dp, vpp, ga;
    bool given_up; /* the table is left empty */
};

/* SimAI's table, byte for byte where the numbers are SimAI's. */
ORR_MUST_CHECK enum orr_status report_simai_csv(const struct report_simai *report, const char *path,
                                                struct orr_error *err);

/* One page that needs nothing but itself; labels in English or Japanese. */
ORR_MUST_CHECK enum orr_status report_simai_chart(const struct report_simai *report, bool japanese, const char *path,
                                                  struct orr_error *err);

/* Where the time goes, the dearest rows, what would help. */
void report_simai_text(const struct report_simai *report, FILE *stream);

#endif
