/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives as a short list of sends and receives per member, carried out in order: for the rooted collectives and
 * the barrier, and for halving-doubling on a number of members that is not a power of two. Receives wait; sends do not.
 *
 * Broadcast and reduce use a binomial tree, scatter and gather the same tree with each edge carrying what the subtree
 * below it holds, the barrier is the dissemination algorithm. Halving-doubling on n members with p = 2^floor(log2 n):
 * the first 2(n-p) members pair up, the even one of each pair hands its data to the odd one, the p members left run
 * plain halving-doubling, and the even ones get their result back at the end.
 */
#ifndef ORR_COLL_PROGRAM_H
#define ORR_COLL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "coll/impl.h"

enum coll_op_kind { COLL_OP_SEND, COLL_OP_RECV, COLL_OP_RECV_REDUCE };

struct coll_op {
    uint8_t kind;  /* enum coll_op_kind */
    uint32_t peer; /* member index */
    uint64_t bytes;
};

enum { COLL_PROGRAM_MAX_OPS = 2 * 2 * 32 + 4 };

/* Fills `ops` (room for COLL_PROGRAM_MAX_OPS) for member `index` of `size` (at least 2) and returns how many. `bytes`
 * is the phase's size as in coll/plan.h; `root` a member index, used by rooted collectives. */
uint32_t coll_program_build(enum coll_type type, uint32_t size, uint32_t index, uint32_t root, uint64_t bytes,
                            struct coll_op *ops);

#endif
