/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that hang together, found by joining pairs: `above` has one place a thing, each its own at first, and a set's
 * name is the thing on top. Whoever joins two sets puts one name above the other.
 */
#ifndef ORR_BASE_SETS_H
#define ORR_BASE_SETS_H

#include <stdint.h>

/* The name of the set that a thing is in; ways to it become shorter on the way. */
static inline uint32_t sets_find(uint32_t *above, uint32_t thing)
{
    while (above[thing] != thing) {
        above[thing] = above[above[thing]];
        thing = above[thing];
    }
    return thing;
}

#endif
