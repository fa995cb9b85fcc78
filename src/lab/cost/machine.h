/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine a bill is for: a topology file, a machine by a name of the lab's (run/machine_name.h), by name or in
 * one line (topo/make/make.h), numbers given by hand, or the machine of a run in the result store, with that run's time
 * for a step.
 */
#ifndef ORR_LAB_COST_MACHINE_H
#define ORR_LAB_COST_MACHINE_H

#include "base/notes.h"
#include "lab/cost/count.h"
#include "lab/store/store.h"
#include "orrery.h"

struct cost_machine {
    const char *title;
    struct cost_count count;
    uint64_t step_ns; /* 0: not known */
    int64_t run;      /* its number; 0: none */
};

/* Finds out. `store` is needed for a run only. Everything lives in `arena`. Notes: what a run does not know. */
ORR_MUST_CHECK enum orr_status cost_machine_find(const struct orr_cost_machine *asked, struct lab_store *store,
                                                 struct arena *arena, struct notes *notes, struct cost_machine *machine,
                                                 struct orr_error *err);

#endif
