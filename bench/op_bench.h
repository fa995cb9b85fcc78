/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: opening the data that the library carries, and ten million predictions on one core; and a million times of
 * collectives. */
#ifndef ORR_BENCH_OP_BENCH_H
#define ORR_BENCH_OP_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_op_name(int index);
const char *bench_op_title(int index);

/* Runs the case `repeat` times in child processes and prints the quickest; false when it failed. */
bool bench_op_run(int index, unsigned repeat);

#endif
