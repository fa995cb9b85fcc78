/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one collective of a SimAI workload costs by its size and the bandwidth of its group (spec simai §9): no network
 * is run. Counted as SimAI's documentation means it, or with the functions of `struct simai_original` as its analytical
 * mode does, in 32-bit floats with its slips. Bandwidths are GB/s with GB = 2^30 bytes, times nanoseconds.
 *
 * Knows nothing of rows, reports or files; the tables it looks things up in are the caller's.
 */
#ifndef ORR_MODEL_SIMAI_COLLECTIVE_H
#define ORR_MODEL_SIMAI_COLLECTIVE_H

#include <stddef.h>

#include "base/error.h"
#include "model/simai/ratio.h"

enum simai_op {
    SIMAI_OP_NONE,
    SIMAI_OP_ALLREDUCE,
    SIMAI_OP_ALLGATHER,
    SIMAI_OP_REDUCESCATTER,
    SIMAI_OP_ALLTOALL,
    SIMAI_OPS
};

enum simai_group {
    SIMAI_GROUP_TP,
    SIMAI_GROUP_DP,
    SIMAI_GROUP_EP,
    SIMAI_GROUP_DP_EP,
    SIMAI_GROUP_CP,
    SIMAI_GROUPS,
    SIMAI_GROUP_NONE
};

extern const char *const simai_op_names[SIMAI_OPS];
extern const char *const simai_group_names[SIMAI_GROUPS];

/* A communication word: the operation by its beginning, the group by what follows it. `plain` is the group of a word
 * without a suffix. What SimAI does not know is SIMAI_OP_NONE; a suffix it does not know is SIMAI_GROUP_NONE, but
 * for our _CP, which only who counts as SimAI has to leave out. */
void simai_word_read(const char *word, size_t length, enum simai_group plain, enum simai_op *op,
                     enum simai_group *group);

struct simai_busbw;
struct simai_original;

struct simai_machine {
    int32_t gpus, gpus_per_server, nics_per_server; /* 0: not given */
    float nvlink, nic;                              /* GB/s a GPU, a NIC; 0: not given */
    float overlap[SIMAI_GROUPS];                    /* share of a collective that hides behind compute; by group */
    float pp_overlap;                               /* below 0: not given */
    bool interleaved;                               /* the pipeline's schedule */
    const struct simai_ratios *ratios;
    const struct simai_busbw *busbw;       /* or NULL */
    const struct simai_original *original; /* count as SimAI does, bug for bug; NULL: as it is meant */
};

/* One collective: `ranks` take part; tp and ep say how the ranks lie on the servers. */
struct simai_collective {
    enum simai_op op;
    enum simai_group group;
    uint64_t bytes;
    int32_t ranks, tp, ep;
};

/* Why a time cannot be told. */
enum simai_trouble {
    SIMAI_FINE,
    SIMAI_BEYOND_TABLE, /* as SimAI counts: it gives up on its whole report */
    SIMAI_NO_BANDWIDTH, /* neither the file of bandwidths nor the machine says one */
    SIMAI_TROUBLE_COUNT
};

enum simai_trouble simai_collective_time(const struct simai_machine *machine, const struct simai_collective *collective,
                                         uint64_t *ns);

/* What a time means as bandwidth: bytes by time, and what a bus of that many ranks carried. As 32-bit floats in both
 * ways of counting; 0 where nothing was sent, but as SimAI counts, where 0 by 0 is not a number. */
void simai_collective_rates(const struct simai_machine *machine, const struct simai_collective *collective, uint64_t ns,
                            float *algorithm, float *bus);

/* A number as whole nanoseconds: cut, not rounded; what is not a number or below 0 is 0, what does not fit is 2^64-1,
 * as aarch64 converts. */
uint64_t simai_ticks(double value);
/* Division by zero is 0, as on aarch64. */
static inline int32_t simai_quotient(int32_t whole, int32_t part)
{
    return part == 0 ? 0 : whole / part;
}

/* Measured latencies of collectives below SIMAI_SMALL_BYTES. */
enum { SIMAI_SMALL_BYTES = 1 << 20, SIMAI_SMALL_TIMES = 7 };
struct simai_small_time {
    int32_t ranks;
    uint32_t ns;
};
extern const struct simai_small_time simai_small_times[SIMAI_SMALL_TIMES];

/* Which table and column the achieved share is looked up in, the column as `choose` has it for a number of servers;
 * NULL for none. */
const struct simai_ratio_table *simai_ratio_find(const struct simai_machine *machine,
                                                 const struct simai_collective *collective, bool by_nvlink,
                                                 unsigned (*choose)(int64_t), unsigned *column);

#endif
