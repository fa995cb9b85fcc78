/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for people (ORR_OUTPUT_TEXT): step time, where the ranks' time goes, communication by kind, dimensions,
 * and one sentence on what bounds the run. At most about 40 lines however large the run; plain ASCII. A run that did
 * not end says so first.
 */
#ifndef ORR_REPORT_TEXT_H
#define ORR_REPORT_TEXT_H

#include <stdio.h>

#include "sim/result.h"

/* Write errors stay with the stream, where the caller looks for them. */
void report_text_write(const struct sim_result *result, FILE *stream);

/* Prints `lead` and `text` broken at spaces so that lines stay within 100 columns, each after `indent` spaces. Bytes
 * that would move the cursor become '?'. Ends the last line; returns how many there were. */
uint32_t report_text_wrapped(const char *lead, const char *text, int indent, FILE *stream);

#endif
