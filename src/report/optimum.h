/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run held against how short it could be at best (sim/optimum.h), in one sentence for people and as JSON. A reader
 * of a finished result; owns nothing.
 */
#ifndef ORR_REPORT_OPTIMUM_H
#define ORR_REPORT_OPTIMUM_H

#include "io/json_write.h"
#include "report/summary.h"

enum { REPORT_OPTIMUM_SENTENCE = 400 };

/* False, and nothing written, where there is nothing to compare: the run did not end, took no time, or has no bound. */
bool report_optimum_sentence(const struct sim_result *result, char sentence[REPORT_OPTIMUM_SENTENCE]);
/* The member "optimum", null where there is nothing to compare. */
void report_optimum_json(const struct sim_result *result, struct json_writer *json);

#endif
