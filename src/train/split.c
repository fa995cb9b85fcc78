/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which measured runs constants are fitted on, and which they are judged by. Whole cells go one way or the other, since
 * the rows of one cell are near copies of each other: a constant that has seen half of them has seen them all. The rule
 * looks at names alone, so that it holds for rows nobody has seen yet. tools/split-runs has the same one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "orrery/train.h"

/* FNV-1a, 64 bits: as easily written in any language as here. */
static uint64_t split_add(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

bool orr_train_run_is_fitted(const char *source, const char *model, uint32_t gpus)
{
    char number[16];
    (void)snprintf(number, sizeof number, "|%" PRIu32, gpus);
    uint64_t hash = split_add(UINT64_C(0xcbf29ce484222325), source);
    hash = split_add(split_add(hash, "|"), model);
    return (split_add(hash, number) & 1) == 0;
}
