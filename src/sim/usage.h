/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks hold in memory over time, from the tensors that their nodes name (trace/tensors.h), and what of it does
 * not fit. A rank holds a tensor from the moment a node that writes it is issued until the last node that reads that
 * value has ended; one that is read and was never written is there from the beginning, one that nobody reads any more
 * stays to the end. For tensors written once this is ASTRA-sim's rule (its track-local-mem); it aborts at a second
 * write, which here begins a new value.
 *
 * Plain arrays owned by the simulation, valid until it is freed. Nothing here changes when anything happens: a tensor
 * that does not fit is counted, and costs no time.
 */
#ifndef ORR_SIM_USAGE_H
#define ORR_SIM_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* From `time_ns` on. */
struct sim_usage_step {
    uint64_t time_ns;
    uint64_t bytes;
};

/* A tensor's value while a rank holds it. */
struct sim_usage_span {
    uint64_t since_ns;
    uint64_t until_ns; /* the end of its last reading; UINT64_MAX: it stays */
    uint64_t bytes;
    const char *name;
    uint32_t tensor; /* number among the names of the rank's tensors */
    uint32_t node;   /* that wrote it: index in the rank's graph; UINT32_MAX: it was there from the beginning */
};

enum { SIM_USAGE_HOLDERS = 8 };

struct sim_usage_rank {
    struct sim_usage_step *steps; /* one for each time at which anything came or went */
    struct sim_usage_span *spans; /* in the order in which they were found to end, those that stay last */
    uint32_t step_count, step_capacity;
    uint32_t span_count, span_capacity;
    uint32_t tensors;      /* met in the run */
    uint32_t holder_count; /* of the largest at the peak, largest first */
    uint32_t held;         /* tensors at the peak */
    uint64_t peak_bytes;
    uint64_t peak_ns;                    /* when it was first reached */
    uint64_t initial_bytes;              /* of the peak: tensors there from the beginning, such as weights */
    uint64_t over_bytes;                 /* the peak less the capacity; 0: it fits, or no capacity is told */
    uint64_t over_since_ns;              /* when it first did not fit */
    uint64_t over_ns;                    /* how long it did not, in all */
    uint32_t holders[SIM_USAGE_HOLDERS]; /* of spans */
};

/* Bytes beyond the ranks' own memories, each at its largest; the moments may differ. */
struct sim_spill {
    uint32_t ranks;        /* that do not fit */
    uint32_t worst_rank;   /* with the largest over_bytes */
    uint32_t server_ranks; /* that share a host's memory */
    uint32_t host_server;  /* whose host takes most */
    uint64_t total_bytes;  /* of all ranks together */
    uint64_t since_ns;     /* when the first byte is over */
    uint64_t host_bytes;   /* in one server's host */
    uint64_t pool_bytes;
    uint64_t nowhere_bytes;    /* that neither takes */
    uint64_t nowhere_since_ns; /* when the first such byte comes; UINT64_MAX: there is none */
};

struct sim_usage {
    bool tracked;
    bool told;                    /* a node named a tensor */
    struct sim_usage_rank *ranks; /* by rank; NULL where nothing is tracked */
    uint32_t rank_count;
    uint32_t *intervals;      /* indices into sim_result.intervals, rank after rank, in order of their end */
    uint32_t *interval_start; /* by rank, and the total behind them */
    uint32_t interval_count;
    struct sim_spill spill;
};

#endif
