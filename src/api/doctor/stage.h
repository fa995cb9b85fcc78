/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective acted out with whole numbers: every member holds blocks of values and has a list of sends and receives,
 * carried out in order; a receive waits for the oldest message from its peer, a send does not wait. A message carries
 * copies of the blocks its sender names, and has as many bytes as coll/ says that it has, or the act fails.
 *
 * Knows no algorithm: api/doctor/steps.h and api/doctor/flows.h write the lists. Everything lives in the caller's
 * arena. Knows no time and no network.
 */
#ifndef ORR_API_DOCTOR_STAGE_H
#define ORR_API_DOCTOR_STAGE_H

#include "base/arena.h"

/* Blocks are named by the bits of a mask. */
enum { DOCTOR_BLOCKS_MOST = 64, DOCTOR_VALUES = 3, DOCTOR_BLOCK_BYTES = DOCTOR_VALUES * 8 };

enum doctor_receive { DOCTOR_TAKES, DOCTOR_ADDS };

struct doctor_move {
    uint64_t blocks; /* of a send */
    uint64_t bytes;
    uint32_t peer;
    bool sends, adds;
};

struct doctor_member {
    struct doctor_move *moves;
    uint32_t count, capacity, at;
    int64_t *values; /* blocks x DOCTOR_VALUES */
};

struct doctor_stage {
    struct arena *arena;
    struct doctor_member *members;
    uint32_t member_count, block_count;
    uint64_t messages;
    /* The message whose first value is falsified on its way, counted from 1 in order of sending; 0: none. How a test
     * sees that the doctor sees. */
    uint64_t spoiled;
    bool refused; /* memory; told by doctor_stage_run */
};

/* `members` without moves and with all values 0; at most DOCTOR_BLOCKS_MOST blocks. */
ORR_MUST_CHECK enum orr_status doctor_stage_begin(struct doctor_stage *stage, uint32_t members, uint32_t blocks,
                                                  struct arena *arena, struct orr_error *err);

static inline int64_t *doctor_stage_values(const struct doctor_stage *stage, uint32_t member, uint32_t block)
{
    return stage->members[member].values + (size_t)block * DOCTOR_VALUES;
}

/* Every block of the stage. */
static inline uint64_t doctor_stage_all(const struct doctor_stage *stage)
{
    return UINT64_MAX >> (DOCTOR_BLOCKS_MOST - stage->block_count);
}

void doctor_stage_send(struct doctor_stage *stage, uint32_t member, uint32_t peer, uint64_t blocks, uint64_t bytes);
void doctor_stage_receive(struct doctor_stage *stage, uint32_t member, uint32_t peer, enum doctor_receive how,
                          uint64_t bytes);

/* ORR_EFAIL, with what is wrong, when a member waits for ever, a message is not of the size that its sender or its
 * receiver was told, or one is left over. */
ORR_MUST_CHECK enum orr_status doctor_stage_run(struct doctor_stage *stage, struct orr_error *err);

/*
 * The number that `member` of `members` begins with: always a multiple of `members`, so that a mean is a whole number
 * too, and otherwise scattered, so that one contribution cannot stand in for another.
 */
static inline int64_t doctor_number(uint32_t members, uint32_t member, uint32_t block, uint32_t at)
{
    uint64_t x = ((uint64_t)member << 40 | (uint64_t)block << 16 | at) + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)(x >> 36) * members;
}

#endif
