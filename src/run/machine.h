/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that is named (orr_run_options.machine) becomes the files that a run reads, in memory. Owned by the run;
 * texts live in its arena.
 */
#ifndef ORR_RUN_MACHINE_H
#define ORR_RUN_MACHINE_H

#include "base/notes.h"
#include "param/param.h"
#include "run/machine_files.h"

struct run_named_machine {
    struct run_machine machine;
    struct run_quantities rates, times;
    struct run_texts texts;
    const char *words; /* as it was named */
};

/* A job of one trace needs no machine: where none is said, `gpu`. Others are left to param_run_settle, which asks. */
void run_machine_of_one(struct orr_run_options *options);

/* Fills in system, network, logical, texts and, where it is open, the backend. ORR_EINVAL when the traces are not as
 * many as the machine's ranks, with the way out. */
ORR_MUST_CHECK enum orr_status run_machine_take(struct orr_run_options *options, struct run_named_machine *made,
                                                struct arena *arena, struct notes *notes, struct orr_error *err);

/* The same for rows of a SimAI workload of `gpus` (0: it does not say), whose machine is as large as its name says:
 * `*topology` are its wires, in SimAI's form, and options->network their configuration. */
ORR_MUST_CHECK enum orr_status run_machine_take_wires(struct orr_run_options *options, uint32_t gpus,
                                                      struct run_named_machine *made, struct arena *arena,
                                                      const char **topology, struct orr_error *err);

#endif
