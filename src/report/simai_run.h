/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a SimAI workload, written: for people, as SimAI's own tables and lines, as JSON and as a timeline. Reads the
 * result and nothing else. The same result gives the same bytes, whatever the locale.
 */
#ifndef ORR_REPORT_SIMAI_RUN_H
#define ORR_REPORT_SIMAI_RUN_H

#include <stdio.h>

#include "base/error.h"
#include "orrery/simai.h"
#include "sim/simai/result.h"

struct report_simai_run {
    const struct simai_result *result;
    const char *workload, *network; /* names */
    uint32_t pp, vpp, ga;           /* of the workload's header */
};

/* To `path` (a temporary renamed when complete; packed when a timeline's ends in ".gz"), or to `stream` where that is
 * NULL. Fails with ORR_EIO. */
ORR_MUST_CHECK enum orr_status report_simai_run_write(const struct report_simai_run *report,
                                                      enum orr_simai_output output, const char *path, FILE *stream,
                                                      struct orr_error *err);

/* ---- one form each ---- */

void report_simai_run_text(const struct report_simai_run *report, FILE *stream);
void report_simai_run_json(const struct report_simai_run *report, FILE *stream);
void report_simai_run_timeline(const struct report_simai_run *report, FILE *stream);
/* SimAI's EndToEnd.csv and dimension_utilization.csv, and the lines it prints. */
void report_simai_run_csv(const struct report_simai_run *report, FILE *stream);
void report_simai_run_utilization(const struct report_simai_run *report, FILE *stream);
void report_simai_run_log(const struct report_simai_run *report, FILE *stream);

/* ---- sums of rank 0 ---- */

/* The group a row's exposed time counts for: by the forward column's, as SimAI does. */
uint64_t report_simai_run_exposed(const struct simai_result *result, enum nccl_group_type group);
uint64_t report_simai_run_compute(const struct simai_result *result);
/* Ranks of the group of a cell. */
uint32_t report_simai_run_ranks(const struct simai_result *result, uint32_t row, enum simai_phase phase);

#endif
