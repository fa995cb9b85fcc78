/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives that name no peer, as gloo's do, put together across the ranks of a job: a send and a receive of
 * one group and one size, whose times overlap on the recorders' common clock, are the two ends of one message. Of
 * several that could be, those whose ends are closest together: both calls return when the message has passed.
 *
 * Nothing is guessed: where exchanging the partners of two messages would explain the recordings nearly as well, and
 * would give one of them another peer, that is an error that names both. Only peers are settled here. Which message of
 * a pair of ranks is which follows from their order (collective.h).
 */
#ifndef ORR_CONVERT_PYTORCH_COLLECTIVE_MATCH_H
#define ORR_CONVERT_PYTORCH_COLLECTIVE_MATCH_H

#include "convert/pytorch/collective/collective.h"

/* A send or receive of one rank. */
struct comm_match_end {
    struct comm_fact *fact;
    int64_t start_ns, end_ns; /* on the clock that the recordings share */
    uint32_t node;            /* for messages */
};

struct comm_match_rank {
    int64_t rank;
    const char *name; /* the file, for messages */
    struct comm_match_end *ends;
    uint32_t count;
    bool timed; /* false: the times say nothing */
};

/* Fills src, dst and peer_from of what lacks them; `*matched` gets how many. Fails with ORR_EINVAL (no partner, or more
 * than one that could be) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status comm_match(const struct comm_match_rank *ranks, uint32_t rank_count,
                                          const struct comm_groups *groups, struct mem *mem, uint64_t *matched,
                                          struct orr_error *err);

/* The refusal for one whose peer nobody can tell; `place` names file and node. */
ORR_MUST_CHECK enum orr_status comm_match_refuse(const char *place, enum comm_kind kind, struct orr_error *err);

#endif
