/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The diagnosis of a stalled run for people (ORR_OUTPUT_STALL): each finding with its fix, then who waits for what, cut
 * at about 40 lines with a count of the rest. Nothing at all for a run that did not stall.
 */
#ifndef ORR_REPORT_STALL_H
#define ORR_REPORT_STALL_H

#include <stdio.h>

#include "sim/result.h"

void report_stall_write(const struct sim_result *result, FILE *stream);

#endif
