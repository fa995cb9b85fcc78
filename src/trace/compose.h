/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor-parallel trace made one rank of a job that is data-parallel too (spec rocm §1.6, its errors put right): its
 * own collectives go to the rank's tensor-parallel group, the gradients of the rank's shard, and not of the whole
 * model, are reduced over its data-parallel group in buckets that overlap the backward pass, and where the job is to
 * have another tensor-parallel degree than the trace, durations are scaled, which is what a simulation goes by.
 *
 * One file at a time, record by record; which rank of which group it becomes is the caller's to say. Nodes that
 * describe the traced job's process groups are taken out, because they no longer hold.
 */
#ifndef ORR_TRACE_COMPOSE_H
#define ORR_TRACE_COMPOSE_H

#include <stdio.h>

#include "base/notes.h"
#include "trace/compose_buckets.h"
#include "trace/pattern.h"
#include "trace/scale.h"

struct compose_options {
    struct scale_factor shard;      /* traced tensor-parallel degree over the wanted one */
    int32_t tp_group, dp_group;     /* ids, above 0 */
    bool alone;                     /* the tensor-parallel group has one rank: no node may communicate */
    bool same_ranks;                /* every rank of the group has a trace of its own; else no sends and receives */
    uint32_t ranks;                 /* of a tensor-parallel group */
    uint32_t peer_shift;            /* added to the ranks that nodes name: the first rank of the replica */
    struct compose_buckets buckets; /* of this rank */
    const struct pattern *backward; /* names of backward work; NULL: as compose_plan.h has them */
    bool overlap;                   /* buckets run beside the backward pass */
};

/* Of one file. */
struct compose_counts {
    uint64_t nodes_in, nodes_out;
    uint64_t collectives, sends; /* tensor-parallel ones; sends and receives */
    uint64_t buckets, bytes;     /* of one step */
    uint64_t steps, overlapped;  /* training steps, and of these: those whose backward pass was told apart */
    uint64_t gates;              /* compute nodes that wait for a step's last bucket */
    uint64_t compute_us, compute_us_before;
    uint64_t dropped; /* nodes that described process groups */
    bool steps_known;
};

/* Writes to `stream`, or nothing when that is NULL; write errors stay with it. ORR_EINVAL: the file is not sound, a
 * node communicates where it cannot; ORR_ERANGE: a value does not fit 64 bits; ORR_EIO, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status compose_trace(struct record_reader *reader, const struct compose_options *options,
                                             FILE *stream, struct notes *notes, struct compose_counts *counts,
                                             struct mem *mem, struct orr_error *err);

#endif
