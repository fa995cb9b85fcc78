/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of 65,536 hosts (a fat tree of 64-port switches) opened, and 64 ranks' all-reduce run on it: seconds of CPU
 * time and memory, which are nearly all the machine's own: topology read, ways found.
 */
#ifndef ORR_BENCH_LARGE_BENCH_H
#define ORR_BENCH_LARGE_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_large_name(int index);
const char *bench_large_title(int index);

/* Runs the case `repeat` times in child processes and prints the quickest; false when it failed. */
bool bench_large_run(int index, unsigned repeat);

#endif
