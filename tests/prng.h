/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for property tests: splitmix64, the same on every machine, so that a failing trial can be named by its seed.
 */
#ifndef ORR_TESTS_PRNG_H
#define ORR_TESTS_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state;
};

static inline uint64_t prng_next(struct prng *prng)
{
    uint64_t x = prng->state + UINT64_C(0x9E3779B97F4A7C15);
    prng->state = x;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* 0 to n - 1. */
static inline uint32_t prng_below(struct prng *prng, uint32_t n)
{
    return (uint32_t)((prng_next(prng) >> 32) * n >> 32);
}

/* Puts 0 to n - 1 into `items` in some order. */
static inline void prng_shuffle(struct prng *prng, uint32_t *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = prng_below(prng, i + 1);
        items[i] = items[j];
        items[j] = i;
    }
}

#endif
