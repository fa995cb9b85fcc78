/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast-forward on steady traffic: the same run with and without it, in transmissions a second of CPU time, those that
 * were skipped counted. The simulated times must be equal.
 */
#ifndef ORR_BENCH_FORWARD_BENCH_H
#define ORR_BENCH_FORWARD_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_forward_name(int index);
const char *bench_forward_title(int index);
bool bench_forward_is_quick(int index);

/* Runs the case `repeat` times with and once without fast-forward, in child processes, and prints the quickest; false
 * when it failed or the two disagree. */
bool bench_forward_run(int index, unsigned repeat);

#endif
