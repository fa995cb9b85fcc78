/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store is told of a run, before it is told: what went in, with hashes, and what came out, all of it copied,
 * so that the run may be closed, and the record be carried from the thread that made it to the one that has the store.
 *
 * A record owns its copies; the experiment's own texts (settings, command, tag) stay borrowed.
 */
#ifndef ORR_LAB_EXPERIMENT_RECORD_H
#define ORR_LAB_EXPERIMENT_RECORD_H

#include "lab/experiment.h"

struct lab_record {
    struct mem mem;
    struct arena arena;
    struct lab_manifest manifest;
    struct lab_results results;
};

void lab_record_init(struct lab_record *record); /* must not be moved from then on */
void lab_record_free(struct lab_record *record);

/* `run` is NULL when it could not be opened: its inputs are then not known. */
ORR_MUST_CHECK enum orr_status lab_record_describe(struct lab_record *record, const struct lab_experiment *experiment,
                                                   const struct orr_run *run, struct orr_error *err);
/* `error` is of a run that did not end well, else NULL. */
ORR_MUST_CHECK enum orr_status lab_record_results(struct lab_record *record, const struct lab_experiment *experiment,
                                                  const struct orr_run *run, const struct lab_outcome *outcome,
                                                  const char *error, struct orr_error *err);

#endif
