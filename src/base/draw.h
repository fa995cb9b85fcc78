/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chance without state: a draw is a function of its key and of nothing else, so that it does not matter who draws first
 * or on which thread. Keys are put together from what the draw belongs to (a seed, a rank, a node) with draw_key.
 *
 * The same bits on every machine: only additions, products, quotients and square roots, which IEEE 754 fixes; the
 * logarithm and the exponential are worked out here, because libraries differ in their last bit.
 */
#ifndef ORR_BASE_DRAW_H
#define ORR_BASE_DRAW_H

#include <stdint.h>

/* The key of a part of what `key` stands for. */
uint64_t draw_key(uint64_t key, uint64_t part);

double draw_uniform(uint64_t key);     /* from 0 up to, not including, 1 */
double draw_normal(uint64_t key);      /* mean 0, standard deviation 1 */
double draw_exponential(uint64_t key); /* mean 1 */

/* To a unit or two of the last place. */
double draw_log(double x); /* of a finite number above 0 */
double draw_exp(double x);

#endif
