/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on a job of traces in parts: what can be changed (run_changes.c), what is found (run_findings.c), and both put
 * together (run.c). */
#ifndef ORR_ADVISE_RUN_H
#define ORR_ADVISE_RUN_H

#include "advise/advise.h"
#include "advise/causes.h"

/* What a mean rank does, shares of the step. */
struct advise_shares {
    double compute, comm, other, idle;
    double late, moving, receives; /* of comm, where causes are known */
};

/* The rank that works longest against the others; work is compute and the host. */
struct advise_balance {
    double mean_ns, median_ns;
    uint64_t least_ns, most_ns;
    uint32_t least_rank, most_rank;
    uint32_t ahead[8]; /* ranks that work much longer than the median, the longest first */
    uint32_t ahead_count;
    uint32_t ahead_total;
};

struct advise_view {
    struct advise_job *job;
    const struct orr_run *run;
    const struct sim_result *result;
    bool has_causes;
    struct advise_causes causes;
    struct advise_shares shares;
    struct advise_balance balance;
};

/* Fills shares and balance. False where memory is refused. */
ORR_MUST_CHECK bool advise_view_fill(struct advise_view *view, struct arena *arena);

/* All changes worth trying. */
void advise_run_changes(const struct advise_view *view, struct advise_changes *changes);
/* What the findings are about, from the run and from what changes did to it. */
void advise_run_findings(const struct advise_view *view, const struct advise_changes *changes);

/* Families whose gains findings ask for. */
#define ADVISE_ALL_RATES     "rates"
#define ADVISE_ALL_LATENCIES "latencies"
#define ADVISE_ENDPOINTS     "endpoints"
#define ADVISE_RATE          "rate "

#endif
