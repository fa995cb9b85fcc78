/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTRA-sim's own lines (ORR_OUTPUT_ASTRA; spec analytical §16), without the dates, in its order: what existing scripts
 * read. Needs a run made with keep_issue_order: without it the lines of a rank's operator types come in the order of
 * their enumeration.
 */
#ifndef ORR_REPORT_ASTRA_H
#define ORR_REPORT_ASTRA_H

#include <stdio.h>

#include "sim/result.h"

void report_astra_write(const struct sim_result *result, FILE *stream);

#endif
