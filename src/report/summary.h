/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several reports say about a finished run and the result does not hold as such: minimum, mean and maximum over
 * ranks, collectives merged by kind with their bandwidths, utilisation of a dimension, and what bounds the run.
 * Computed on the fly from a `struct sim_result`; owns nothing.
 *
 * Bandwidths follow nccl-tests. Algorithm bandwidth = S / t with t the mean time of a participation (waiting for late
 * ranks included) and S the larger of a rank's two buffers. That is the size in the trace, except for all-gather: there
 * a trace gives what one rank puts in (spec analytical §9.2: every message carries the whole size), so that S is n
 * times as much. Bus bandwidth = algorithm bandwidth times 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
 * reduce-scatter, all-to-all, gather and scatter, 1 for the rest. A receive has none: its time is mostly waiting. GB
 * are 10^9 bytes, so GB/s are bytes a nanosecond.
 */
#ifndef ORR_REPORT_SUMMARY_H
#define ORR_REPORT_SUMMARY_H

#include "sim/result.h"

/* Where a rank's time goes; each nanosecond is in one part. Name, member of sim_rank_result, words for people. */
#define REPORT_PARTS(X)                                                                                                \
    X(COMPUTE, compute_ns, "compute")                                                                                  \
    X(COMM, exposed_comm_ns, "exposed communication")                                                                  \
    X(OTHER, exposed_other_ns, "memory and CPU")                                                                       \
    X(IDLE, idle_ns, "idle")

enum report_part {
#define REPORT_X(name, member, words) REPORT_PART_##name,
    REPORT_PARTS(REPORT_X)
#undef REPORT_X
        REPORT_PARTS_COUNT
};

extern const char *const report_part_words[REPORT_PARTS_COUNT];

struct report_spread {
    uint64_t min_ns, max_ns;
    double mean_ns;
    uint32_t min_rank, max_rank; /* the lowest such rank */
};

/* All zero for a run without ranks. */
struct report_spread report_spread_of(const struct sim_result *result, enum report_part part);

/* One collective kind, or one row of it: see report_kind_next and report_kind_of_row. */
struct report_kind {
    uint64_t participations;
    double operations;          /* participations / group size; fractional where a run ended in the middle of one */
    double bytes;               /* over all operations, sizes as in the trace */
    unsigned __int128 total_ns; /* many ranks can take more than 64 bits in sum, where each alone does not */
    uint64_t min_ns, max_ns;
    double mean_ns;                  /* 0 when nothing finished */
    double algorithm_gbps, bus_gbps; /* 1e9 bytes a second */
    int32_t type;
    uint32_t first_row, rows;      /* in result->collectives */
    uint32_t group_min, group_max; /* ranks taking part */
    bool has_bandwidth;            /* false: receives, barriers, nothing finished, no time */
};

/* Walks the kinds: `*row` starts at 0 and moves past the kind returned. False at the end. */
bool report_kind_next(const struct sim_result *result, uint32_t *row, struct report_kind *kind);
struct report_kind report_kind_of_row(const struct sim_result *result, uint32_t row);
/* The total where 64 bits are all there is: as large as they can say, if it is more. */
uint64_t report_kind_total_ns(const struct report_kind *kind);
/* "all-reduce", "send", "receive"; "collective 42" for a number without a name. `buffer` must hold 32 bytes. */
const char *report_kind_name(int32_t type, char *buffer);

/* Time the links spent serialising over the time they had; 0 where there was none. Above 1 where a network without
 * contention lets several messages have a link to themselves at once. */
double report_utilisation(const struct sim_result *result, uint32_t dim);

enum report_state { REPORT_FINISHED, REPORT_STALLED, REPORT_INTERRUPTED };
enum report_state report_state_of(const struct sim_result *result);
const char *report_state_name(enum report_state state);
const char *report_policy_name(enum orr_policy policy); /* as the parameter spells it */
const char *report_backend_name(enum orr_backend backend);

#endif
