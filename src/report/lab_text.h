/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a lab run for people: what ran on what, how long a step takes, what it is made of, what takes most of
 * it, and where to find and how to repeat it. Full tables are in the run's own files.
 */
#ifndef ORR_REPORT_LAB_TEXT_H
#define ORR_REPORT_LAB_TEXT_H

#include "orrery/run.h"

/* A rank's time, each nanosecond once: compute, else communication, else host and memory operations, else nothing. */
enum report_lab_part { REPORT_LAB_COMPUTE, REPORT_LAB_COMM, REPORT_LAB_OTHER, REPORT_LAB_IDLE, REPORT_LAB_PARTS };

/* Texts are borrowed. */
struct report_lab {
    int64_t number;
    const char *folder, *workload, *machine, *dims, *rates, *times, *backend, *store, *repeat;
    uint32_t world, traces;
    uint64_t steps;
    bool grown, strong;
    const char *comm_scale; /* or NULL: 1 */
    uint64_t total_ns;
    uint32_t finished;                 /* ranks */
    double parts_ns[REPORT_LAB_PARTS]; /* of the mean rank */
    struct orr_optimum optimum;        /* of all steps */
    struct orr_collective_result most; /* the kind of operation that took most, over all ranks */
};

/* What ran on what, and what came of it, whatever the end was. */
void report_lab_put(const struct report_lab *lab, FILE *stream);
/* The number, the folder, how to repeat and compare it. */
void report_lab_place(const struct report_lab *lab, FILE *stream);

#endif
