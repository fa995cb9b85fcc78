/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random program that ends: collectives among all ranks and among groups, messages, compute, CPU operators, remote
 * memory, INVALID and METADATA nodes. What communicates is in one order that all ranks keep, so that nothing can wait
 * in a circle; the rest hangs on it anywhere.
 */
#ifndef ORR_TESTS_SIM_RANDOM_WORK_H
#define ORR_TESTS_SIM_RANDOM_WORK_H

#include "tests/prng.h"
#include "tests/sim/bench_top.h"

/* Puts about `steps` things to do on the bench and turns knobs: policy safe, chunks, groups. Groups borrow `members`,
 * room for 16. */
void random_work(struct bench *bench, struct prng *prng, uint32_t steps, uint32_t *members);

#endif
