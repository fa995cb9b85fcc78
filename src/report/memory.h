/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks held in memory (sim/usage.h): a part of the text, the member "memory" of the JSON document, a table of
 * CSV, and the files and the line that ASTRA-sim's track-local-mem writes. A reader of a finished result; owns nothing.
 */
#ifndef ORR_REPORT_MEMORY_H
#define ORR_REPORT_MEMORY_H

#include "io/json_write.h"
#include "sim/result.h"

/* Whether there is anything to say: it was asked for, and the traces name tensors. */
bool report_memory_has(const struct sim_result *result);

void report_memory_text(const struct sim_result *result, FILE *stream);
void report_memory_json(const struct sim_result *result, struct json_writer *json);
/* memory.csv: the curve of every rank. */
void report_memory_csv(const struct sim_result *result, FILE *stream);

/* "v.vv UNIT" as ASTRA-sim prints a peak, through single precision. */
enum { REPORT_MEMORY_PEAK = 32 };
void report_memory_astra_peak(uint64_t bytes, char text[REPORT_MEMORY_PEAK]);
/* PREFIX.RANK.json of every rank that finished. ORR_EINVAL where nothing was tracked. */
ORR_MUST_CHECK enum orr_status report_memory_files(const struct sim_result *result, const char *prefix,
                                                   struct orr_error *err);

#endif
