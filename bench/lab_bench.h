/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded step of two ranks grown to 8, 128 and 1024 by `orrery lab run`'s own function: importing, growing,
 * simulating and keeping it.
 */
#ifndef ORR_BENCH_LAB_BENCH_H
#define ORR_BENCH_LAB_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_lab_name(int index);
const char *bench_lab_title(int index);

/* Runs the case `repeat` times in child processes on the recording in a folder, and prints the quickest; false when it
 * failed. */
bool bench_lab_run(int index, const char *recording, unsigned repeat);

#endif
