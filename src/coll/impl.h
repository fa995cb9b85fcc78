/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of collectives and of the algorithms that carry them out, as Chakra traces and system files spell them.
 */
#ifndef ORR_COLL_IMPL_H
#define ORR_COLL_IMPL_H

#include <stdbool.h>
#include <stdint.h>

/* Chakra's numbers; name for people, name in ASTRA-sim's system file ("" = cannot be configured), bus-bandwidth rule.
 */
#define COLL_TYPES(X)                                                                                                  \
    X(ALL_REDUCE, 0, "all-reduce")                                                                                     \
    X(REDUCE, 1, "reduce")                                                                                             \
    X(ALL_GATHER, 2, "all-gather")                                                                                     \
    X(GATHER, 3, "gather")                                                                                             \
    X(SCATTER, 4, "scatter")                                                                                           \
    X(BROADCAST, 5, "broadcast")                                                                                       \
    X(ALL_TO_ALL, 6, "all-to-all")                                                                                     \
    X(REDUCE_SCATTER, 7, "reduce-scatter")                                                                             \
    X(REDUCE_SCATTER_BLOCK, 8, "reduce-scatter-block")                                                                 \
    X(BARRIER, 9, "barrier")

enum coll_type {
#define COLL_X(name, number, text) COLL_##name = (number),
    COLL_TYPES(COLL_X)
#undef COLL_X
        COLL_TYPE_COUNT
};

/* NULL for a number that is not a collective type. */
const char *coll_type_name(int32_t type);

/* Whether a system file says how it is carried out ("all-reduce-implementation", …). */
static inline bool coll_type_is_configurable(int32_t type)
{
    return type == COLL_ALL_REDUCE || type == COLL_ALL_GATHER || type == COLL_REDUCE_SCATTER || type == COLL_ALL_TO_ALL;
}

/* Whether it has a root, or is a barrier: carried out as in coll/program.h, over one ring of all members. */
static inline bool coll_type_is_rooted(int32_t type)
{
    return type == COLL_REDUCE || type == COLL_GATHER || type == COLL_SCATTER || type == COLL_BROADCAST ||
           type == COLL_BARRIER;
}

/* Bytes over the busiest link for each byte of the collective's buffer: 2(N-1)/N for an all-reduce, (N-1)/N for
 * gathers, scatters and all-to-all, 1 for broadcast and reduce, 0 for a barrier. */
double coll_bus_factor(int32_t type, uint32_t ranks);

enum coll_algo {
    COLL_RING,
    COLL_DIRECT,
    COLL_HALVING_DOUBLING,
    COLL_DOUBLE_BINARY_TREE,
    COLL_NCCL, /* as NCCL lays it out over all ranks: coll/nccl.h */
};

/* Which of NCCL's algorithms; AUTO: by its rules. */
enum coll_nccl { COLL_NCCL_AUTO, COLL_NCCL_RING, COLL_NCCL_TREE, COLL_NCCL_NVLS, COLL_NCCL_COLLNET };

/* One entry of an "…-implementation" list. */
struct coll_impl {
    enum coll_algo algo;
    bool one;            /* "one…", "nccl…": a single ring over all ranks; ends the list */
    uint32_t window;     /* direct<W>: W; 0 = all peers at once */
    enum coll_nccl nccl; /* COLL_NCCL */
};

/* "ring", "oneRing", "direct", "direct4", "oneDirect4", "halvingDoubling", "oneHalvingDoubling", "doubleBinaryTree",
 * "nccl", "ncclRing", "ncclTree", "ncclNvls", "ncclCollnet". False when `text` is none of them. */
bool coll_impl_parse(const char *text, struct coll_impl *impl);

/* The accepted spellings, NULL-terminated, for messages. */
extern const char *const coll_impl_names[];

#endif
