/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings made for tests: what PyTorch's observer and profiler would have written of a small training job, for each
 * rank FOLDER/host_R.json and FOLDER/device_R.json. The job is a data-parallel step with everything that converters
 * must tell apart: copies and sets, kernels under every launch name of the vendor, a broadcast of buffers, an
 * all-gather and a reduce-scatter in groups of two, an uneven all-to-all, a send to the other half of the ranks and its
 * receive, gradient buckets reduced on a stream of their own that waits for the gradients, an optimizer that waits for
 * the buckets.
 *
 * The same options give the same bytes. What the recording holds is told back, so that a test can demand that all of it
 * comes out at the other end.
 */
#ifndef ORR_TESTS_CONVERT_MAKE_RECORDING_H
#define ORR_TESTS_CONVERT_MAKE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

struct make_recording {
    const char *folder; /* exists */
    uint32_t rank;
    uint32_t ranks;    /* even, 2 or more */
    uint32_t steps;    /* ProfilerStep#1 …; 1 or more */
    uint32_t kernels;  /* compute kernels a step in the forward half, beside the fixed ones; launch names by turns */
    bool hip;          /* AMD: hip… calls, ncclDevKernel_Generic_4 for every collective, no synchronisation events */
    bool without_args; /* device trace of PyTorch before 2.4: no "Collective name" and its like */
    bool
        without_attrs; /* host trace of schema 1.0.2: neither attributes of record_param_comms nor process_group:init */
    bool without_groups; /* no distributedInfo */
    bool group_names;    /* groups are called "tp_0" …, not "1" … */
    bool without_clues;  /* nothing around the launches speaks of communication: only kernels' names */
};

/* Elements of each communication; floats of 4 bytes. */
enum {
    MADE_BUCKET_1 = 500000, /* all-reduce */
    MADE_BUCKET_2 = 45098,
    MADE_BUFFERS = 1000, /* broadcast from rank 0 */
    MADE_SHARD = 2048,   /* all-gather: what one rank puts in; reduce-scatter: what one gets */
    MADE_ROWS = 16,      /* all-to-all: rows of MADE_ROW elements; rank r sends 1 + (r + peer) % 3 shares of them */
    MADE_ROW = 64,
    MADE_MESSAGE = 4096, /* send and receive */
};

struct made_recording {
    uint64_t device_work;      /* kernels, copies and sets, all steps; those that communicate included */
    uint64_t collectives;      /* of these */
    uint64_t sends, recvs;     /* of these */
    uint64_t all_reduce_bytes; /* a step */
    uint64_t all_to_all_bytes; /* a step, as this rank sends */
};

/* False when a file cannot be written. */
bool make_recording(const struct make_recording *options, struct made_recording *made);

#endif
