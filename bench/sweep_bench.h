/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep of a thousand points on the analytical network: whether all processors are busy, and what a point that runs
 * takes of memory.
 */
#ifndef ORR_BENCH_SWEEP_BENCH_H
#define ORR_BENCH_SWEEP_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_sweep_name(int index);
const char *bench_sweep_title(int index);

/* Prints the best of `repeat` runs; false when it failed or points came out different with other threads. */
bool bench_sweep_run(int index, unsigned repeat);

#endif
