/* SPDX-License-Identifier: Apache-2.0 */
/* The first 31 numbers come from a multiplicative generator started at 1, and 310 results are thrown away, so that they
 * are well mixed. */
#include "net/packet/c_random.h"

void c_random_init(struct c_random *random)
{
    uint64_t word = 1;
    random->at = C_RANDOM_SHORT;
    for (int i = 0; i < C_RANDOM_LONG; i++) {
        random->last[i] = (uint32_t)word;
        word = word * 16807 % 2147483647;
    }
    for (int i = 0; i < 10 * C_RANDOM_LONG; i++) {
        (void)c_random_next(random);
    }
}
