/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters as they are: what chance does to a run. Included by orrery.h. docs/faults.md. */
#ifndef ORRERY_FAULTS_H
#define ORRERY_FAULTS_H

#include "orrery/run.h"

ORR_BEGIN

/* ---- a run by many seeds ---------------------------------------------------------------------------------------- */

struct orr_repeat {
    uint64_t count;      /* seeds, from first_seed on */
    uint64_t first_seed; /* that of the options */
    uint64_t plain_ns;   /* what the run takes without jitter, noise and stragglers */
    double mean_ns, deviation_ns;
    double p50_ns, p90_ns, p99_ns; /* linear between neighbours */
    uint64_t best_ns, worst_ns;
    uint64_t best_seed, worst_seed;
    const uint64_t *times_ns; /* by seed, `count` of them; lives as long as the result */
};

/* Runs `options` once for each seed, on `threads` threads (0: as many as there are processors), and once without
 * chance. The same figures whatever the threads. Progress callbacks are asked whether to go on (ORR_EINTR), with runs
 * as nodes. A run that fails or stalls fails all, with its seed. Free the result with orr_repeat_free. */
ORR_MUST_CHECK enum orr_status orr_run_repeat(const struct orr_run_options *options, uint64_t count, uint32_t threads,
                                              struct orr_repeat **result, struct orr_error *err);
void orr_repeat_free(struct orr_repeat *result); /* NULL is fine */
/* TEXT or JSON. */
ORR_MUST_CHECK enum orr_status orr_repeat_write(const struct orr_repeat *result, enum orr_form form, FILE *stream,
                                                struct orr_error *err);

ORR_END

#endif
