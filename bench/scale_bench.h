/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How cost grows with the number of ranks, from 2^4 to 2^20: processor time and peak memory of a ring's all-reduce, a
 * 3-D torus's and a training step's prediction, each in a process of its own; a table, its slopes, and a picture.
 */
#ifndef ORR_BENCH_SCALE_BENCH_H
#define ORR_BENCH_SCALE_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_scale_name(int index);
const char *bench_scale_title(int index);

/* Runs each size `repeat` times, prints the quickest; with `svg` not NULL, draws it there too. False when one failed.
 */
bool bench_scale_run(unsigned repeat, const char *svg);

#endif
