/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NCCL or RCCL takes for a collective, beside what its messages alone took: simulated messages know wires, not the
 * library's launch, protocols and copies, which are most of the time of a small collective. One sentence, of the
 * collective that it makes most of a difference to; none where the two are near, or the machine's GPUs are not known.
 */
#ifndef ORR_REPORT_LIBRARY_H
#define ORR_REPORT_LIBRARY_H

#include <stdio.h>

#include "sim/result.h"

void report_library(const struct sim_result *result, FILE *stream);

#endif
