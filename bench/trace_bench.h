/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark's cases of the trace toolchain: reading the JSON of a large recording alone, and the whole import (link
 * and convert) of it. Figures are printed; a failure is told apart from being slow.
 */
#ifndef ORR_BENCH_TRACE_BENCH_H
#define ORR_BENCH_TRACE_BENCH_H

#include <stdbool.h>
#include <stdint.h>

enum bench_trace_case { BENCH_TRACE_JSON, BENCH_TRACE_IMPORT, BENCH_TRACE_CASES };

const char *bench_trace_name(enum bench_trace_case which);
const char *bench_trace_title(enum bench_trace_case which);

/* Runs a case `repeat` times and prints the quickest. `data` is the folder of the recorded pair, `megabytes` the size
 * of the device trace made from it. True when it worked. */
bool bench_trace_run(enum bench_trace_case which, const char *data, uint64_t megabytes, unsigned repeat);

#endif
