/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lab run (orrery.h, struct orr_lab_options) in its parts: what was asked for is settled into a plan (lab_run.c), the
 * plan is carried out in a folder of its own, and what came out is written down (lab_record.c). All texts live in the
 * plan's arena.
 *
 * Which size wins: the topology's name over virtual-scale and world-size, these over the number of traces; a
 * topology of another size than the traces is refused where neither of them was given (spec rocm §6.2).
 */
#ifndef ORR_LAB_LAB_RUN_H
#define ORR_LAB_LAB_RUN_H

#include "lab/experiment.h"
#include "param/param.h"
#include "run/machine_files.h"
#include "run/workload_find.h"

enum { LAB_SETTINGS_MOST = 24 };

struct lab_plan {
    const struct orr_lab_options *options;
    const struct orr_notices *notices;
    struct mem mem;
    struct arena arena;
    struct run_workload workload;
    struct run_machine machine;
    struct run_quantities rates, times;
    enum orr_backend backend;
    enum orr_policy policy; /* ASTRA, SAFE or STREAMS */
    uint32_t world;         /* ranks to simulate */
    bool grows;             /* the traces become more, or are scaled */
    const char *name;       /* of the topology: as typed where that names the size */
    const char *dims;       /* "4x4x8" */
    const char *output, *store, *folder;
    struct run_machine_files files;
    struct orr_override override; /* where the topology lies */
    uint64_t steps;
    struct lab_setting settings[LAB_SETTINGS_MOST];
    uint32_t setting_count;
};

void lab_plan_init(struct lab_plan *plan, const struct orr_lab_options *options, const struct orr_notices *notices);
void lab_plan_free(struct lab_plan *plan);

/* Settles everything that can be settled without writing: names, sizes, rates, the network model. */
ORR_MUST_CHECK enum orr_status lab_plan_make(struct lab_plan *plan, struct orr_error *err);

/* The settings that the store and the manifest show, with units. */
ORR_MUST_CHECK enum orr_status lab_plan_settings(struct lab_plan *plan, struct orr_error *err);

/* Options for the run itself; borrowed from the plan. */
void lab_plan_run_options(struct lab_plan *plan, struct orr_run_options *run);

/* A word that a shell gives back as it was; NULL when there is no memory. */
const char *lab_shell_word(struct arena *arena, const char *word);

/* The `orrery run` that does the same again, quoted for a shell; NULL when there is no memory. */
const char *lab_plan_repeat(struct lab_plan *plan);

/* manifest.json in the run's folder: settings, inputs as the store has them, result, how to repeat it. `error` is of a
 * run that did not end well, else NULL. */
ORR_MUST_CHECK enum orr_status lab_plan_manifest(struct lab_plan *plan, struct lab_store *store,
                                                 const struct lab_outcome *outcome, const char *error,
                                                 struct orr_error *err);

/* The whole of it: orr_lab_run. */
ORR_MUST_CHECK enum orr_status lab_run(const struct orr_lab_options *options, const struct orr_notices *notices,
                                       FILE *stream, struct orr_lab_result *result, struct orr_error *err);

/* As the parameter would be given again; an empty text where its name alone says it, NULL where there is nothing to
 * say. False: there is no memory. */
bool lab_parameter_text(struct arena *arena, const struct param *row, const void *from, size_t index,
                        const char **text);

#endif
