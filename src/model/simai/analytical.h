/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's analytical mode (spec simai §9): the rows of a workload text, each with its compute times and what its
 * collectives cost, added up into one iteration with its pipeline bubble. No network and no order of events: what
 * overlaps is a share that the user gives.
 *
 * With `original` (model/simai/original.h) the numbers are SimAI's, to the byte of its report. Owns the rows; the names
 * in them point into the text, which must outlive them.
 */
#ifndef ORR_MODEL_SIMAI_ANALYTICAL_H
#define ORR_MODEL_SIMAI_ANALYTICAL_H

#include "base/notes.h"
#include "convert/text/simai_read.h"
#include "model/simai/busbw.h"

/* One phase of a row; times in ns. */
struct simai_cost {
    struct simai_collective collective; /* bytes as counted: SimAI rounds them */
    uint64_t compute;
    uint64_t comm;    /* of the collective by itself */
    uint64_t exposed; /* what of it does not hide behind compute */
    float algorithm_rate, bus_rate;
};

struct simai_row {
    struct et_text name;
    struct simai_cost costs[TEXT_PHASES]; /* forward, input gradient, weight gradient */
};

/* All in microseconds, unrounded, as SimAI adds them up. */
struct simai_sums {
    double exposed[SIMAI_GROUPS]; /* by group */
    double exposed_all;
    double pipeline; /* what stages send each other */
    double bubble;   /* what a stage waits for others */
    double compute;
    double total;
};

struct simai_analysis {
    struct mem *mem;
    struct simai_row *rows;
    uint32_t row_count, row_capacity;
    struct simai_sums sums;
    int32_t tp, ep, cp, pp, dp, vpp, ga; /* as counted with; cp ranks of dp share a sequence */
    uint32_t chunks;                     /* of a stage's layers: 1 without interleaving */
    bool given_up;                       /* SimAI leaves its report empty */
    bool messages_hide;                  /* what stages send is taken to hide behind compute */
};

/* Counts a text through. Fails with ORR_EINVAL or ORR_ERANGE (degrees that do not fit the machine, a bandwidth nobody
 * gave), ORR_ENOMEM; nothing is held then. */
ORR_MUST_CHECK enum orr_status simai_analysis_make(const struct simai_machine *machine, const struct simai_text *text,
                                                   struct mem *mem, struct notes *notes,
                                                   struct simai_analysis *analysis, struct orr_error *err);
void simai_analysis_free(struct simai_analysis *analysis);

bool simai_is_transformer(enum text_strategy strategy);

/* GPU and NIC types by name, whatever the case of its letters; 0 for an unknown one. GB/s as above. */
float simai_gpu_nvlink(const char *type);
float simai_nic_bandwidth(const char *type);
/* All GPU types, separated by commas. */
void simai_gpu_names(char *text, size_t size);

#endif
