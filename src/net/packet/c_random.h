/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that rand() of the GNU C library gives a program that never called srand(): the additive generator
 * x(i) = x(i-3) + x(i-31) modulo 2^32, whose lowest bit is dropped. HPCC-PINT in the reference rounds by them.
 */
#ifndef ORR_NET_PACKET_C_RANDOM_H
#define ORR_NET_PACKET_C_RANDOM_H

#include <stdint.h>

enum { C_RANDOM_LONG = 31, C_RANDOM_SHORT = 3 };

struct c_random {
    uint32_t last[C_RANDOM_LONG]; /* a ring */
    uint32_t at;                  /* of the oldest */
};

void c_random_init(struct c_random *random);

/* 31 bits. */
static inline uint32_t c_random_next(struct c_random *random)
{
    uint32_t at = random->at;
    uint32_t other = at >= C_RANDOM_SHORT ? at - C_RANDOM_SHORT : at + C_RANDOM_LONG - C_RANDOM_SHORT;
    random->last[at] += random->last[other];
    random->at = at + 1 == C_RANDOM_LONG ? 0 : at + 1;
    return random->last[at] >> 1;
}

#endif
