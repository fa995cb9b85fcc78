/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a piece of recorded work communicates: type, bytes, group, root or peer, each from the best evidence there is,
 * and from which (convert/provenance.h). A linker hands in everything that speaks of one device event (or of one host
 * op, where the library runs on the host) and gets one fact. Nothing is guessed: what cannot be known is an error that
 * says what would settle it, and only a size may be given by the user instead.
 *
 * One level of evidence is taken, never a sum over levels: c10d::allreduce_, the record_param_comms in it and the
 * nccl:all_reduce in that list the same tensors.
 *
 * comm_size as ASTRA-sim and our simulator mean it, which is what the rank puts in, but for gather and scatter:
 *
 *   all-reduce, reduce, broadcast  the buffer
 *   all-gather                     what one rank contributes (the output is that times the members)
 *   reduce-scatter                 the whole input (the output is that divided by the members)
 *   all-to-all                     all a rank sends, its own part included; with uneven splits their sum
 *   gather, scatter                what all ranks together have: the root's buffer
 *   send, receive                  the message
 *   barrier                        0
 */
#ifndef ORR_CONVERT_PYTORCH_COLLECTIVE_COLLECTIVE_H
#define ORR_CONVERT_PYTORCH_COLLECTIVE_COLLECTIVE_H

#include "base/number_map.h"
#include "convert/comm_name.h"
#include "convert/provenance.h"
#include "convert/pytorch/groups/groups.h"

/* A host op or annotation around the launch. */
struct comm_op {
    const char *name;
    const struct host_comm *host;     /* of the node in the host trace, or NULL */
    const struct kineto_comm *kineto; /* of its event in the device trace, or NULL */
};

struct comm_clue {
    const char *node;                     /* for messages: which node of which file */
    const char *device_name;              /* the kernel; "" = the work of ops[0] itself, on the host */
    const struct kineto_comm *device;     /* of the device event, or NULL */
    const struct kineto_comm *launch;     /* of the runtime call, or NULL */
    const struct kineto_comm *annotation; /* of the gpu_user_annotation over it, or NULL */
    const char *annotation_name;          /* of that; NULL or "" = none */
    const struct comm_op *ops;            /* innermost first; may go on past those that communicate */
    uint32_t op_count;
    const struct intern *host_names;   /* texts of ops[].host; may be NULL where no op has one */
    const struct intern *kineto_names; /* texts of every kineto_comm */
    const struct comm_groups *groups;  /* settled; may be NULL */
    int64_t rank;                      /* the recording's own, or -1 */
    uint64_t unknown_size;             /* bytes; only with has_unknown_size */
    bool has_unknown_size;
};

struct comm_fact {
    enum comm_kind kind;       /* COMM_NONE: no communication, and nothing else is set; never COMM_UNKNOWN */
    enum provenance type_from; /* PROVENANCE_NONE only with COMM_NONE */
    enum provenance size_from;
    enum provenance peer_from; /* of a send or receive; else, and where the peer is not known, PROVENANCE_NONE */
    uint64_t bytes;            /* comm_size, see above */
    uint64_t peer_max_bytes;   /* all-to-all with uneven splits: the most that goes to one rank; else 0 */
    uint32_t group;            /* in groups; COMM_GROUP_NONE = all ranks */
    int64_t root;              /* global rank of a rooted collective's root; -1 = not said */
    int64_t src, dst;          /* send and receive: global ranks, -1 where not known (match.h); else -1 */
};

/*
 * Fails with ORR_EINVAL when the work is communication but its type or its size cannot be known, or its group is none
 * of `groups`, or its peer is no other rank; ORR_ERANGE when the size does not fit 63 bits. A peer that nobody names
 * stays open: the other ranks' recordings may tell it.
 */
ORR_MUST_CHECK enum orr_status comm_resolve(const struct comm_clue *clue, struct comm_fact *fact,
                                            struct orr_error *err);

/* Several kernels of one op (a collective that the library cut up): the share of the `index`th of `parts`, so that the
 * shares add up to the whole. */
struct comm_fact comm_fact_share(const struct comm_fact *fact, uint32_t parts, uint32_t index);

/* ---- tags of sends and receives ---- */

/*
 * Both sides must name the same tag. The recordings have none that both know, so messages are counted for each sender,
 * receiver and group in program order, which the libraries demand to be the same on both sides: tag =
 * (id mod 64) * 2^22 + count mod 2^22, below the 500,000,000 at which ASTRA-sim's tags wrap (spec analytical §10.1).
 */

/* The tag of the next message of `fact`, a send or receive whose src and dst are set; `counts` has the messages so far.
 * False when memory is refused. */
ORR_MUST_CHECK bool comm_tags_next(struct number_map *counts, const struct comm_groups *groups,
                                   const struct comm_fact *fact, int32_t *tag);

#endif
