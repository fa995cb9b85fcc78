/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's simulation: the two runs of 128 GPUs that SimAI itself was timed with, user seconds and memory against its
 * own. Machine, configuration and rows are made here.
 */
#ifndef ORR_BENCH_SIMAI_BENCH_H
#define ORR_BENCH_SIMAI_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_simai_name(int index);
const char *bench_simai_title(int index);

/* Runs the case `repeat` times in child processes and prints the quickest; false when it failed. */
bool bench_simai_run(int index, unsigned repeat);

#endif
