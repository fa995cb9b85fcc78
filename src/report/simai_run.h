/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only a run of a SimAI workload has to tell (sim_result.simai): where rank 0's time went, row by row and group by
 * group. Parts of the text and the JSON that every run gets, and SimAI's own tables and lines, whole. The same result
 * gives the same bytes, whatever the locale.
 */
#ifndef ORR_REPORT_SIMAI_RUN_H
#define ORR_REPORT_SIMAI_RUN_H

#include <stdio.h>

#include "base/error.h"
#include "io/json_write.h"
#include "sim/simai/result.h"

/* The lines "Machine" and "Work". */
void report_simai_run_head(const struct sim_result *result, FILE *stream);
/* Rank 0's time by what it went to, and its dearest rows. */
void report_simai_run_text(const struct sim_result *result, FILE *stream);
/* The member "simai"; nothing in a run of traces. */
void report_simai_run_json(const struct sim_result *result, struct json_writer *json);

/* SimAI's EndToEnd.csv and dimension_utilization.csv, and the lines it prints; of a run that ended. */
void report_simai_run_csv(const struct sim_result *result, FILE *stream);
void report_simai_run_utilization(const struct sim_result *result, FILE *stream);
void report_simai_run_log(const struct sim_result *result, FILE *stream);
/* The files SimAI leaves in a folder, which is made where it is missing: both tables, and with compat an empty one. */
ORR_MUST_CHECK enum orr_status report_simai_run_files(const struct sim_result *result, const char *folder,
                                                      struct orr_error *err);

/* ---- sums of rank 0 ---- */

/* The group a row's exposed time counts for: by the forward column's, as SimAI does. */
uint64_t report_simai_run_exposed(const struct simai_result *rows, enum nccl_group_type group);
uint64_t report_simai_run_compute(const struct simai_result *rows);
/* Ranks of the group of a cell. */
uint32_t report_simai_run_ranks(const struct simai_result *rows, uint32_t row, enum simai_phase phase);

#endif
