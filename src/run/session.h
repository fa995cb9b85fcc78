/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open run, as the files behind orrery.h see it. There is one kind of run with two executors: of traces (session.c
 * opens it) and of the rows of a SimAI workload (simai_open.c); from then on it is executed, asked, written and
 * closed alike. Everything a run holds hangs off one account of memory and is given back by orr_run_close.
 */
#ifndef ORR_RUN_SESSION_H
#define ORR_RUN_SESSION_H

#include "base/arena.h"
#include "base/notes.h"
#include "orrery.h"
#include "run/growth.h"
#include "run/jobs.h"
#include "run/machine.h"
#include "run/rank_tensors.h"
#include "run/simai_program.h"
#include "run/wired.h"
#include "sim/sim.h"
#include "sim/simai/simai.h"

/* A custom collective's traces; several types and nodes may name the same path, which is then read once. */
struct session_custom {
    const char *path;
    struct trace_set *set;
};

/* All zero in a run of traces. */
struct session_rows {
    struct run_simai_program program;
    struct simai_config config;
    struct simai *simai;
};

struct orr_run {
    struct mem mem;
    struct notes notes;
    struct arena arena; /* configuration */
    struct sim_config config;
    struct run_named_machine machine; /* where it was named */
    struct run_wired wired;           /* ORR_BACKEND_PACKET */
    struct trace_set *traces;         /* the run's own, or NULL: those of `shared` */
    struct trace_set shared;          /* a view of options.loaded, or the rows as nodes */
    struct run_grown grown;           /* made of either, and borrowing from it */
    struct run_jobs jobs;             /* where there are several; the traces are made of theirs */
    struct run_rank_tensors tensors;
    struct session_custom *customs; /* in the arena; room for every path the configuration names */
    uint32_t custom_count;
    struct sim *sim;          /* of traces, or NULL: of rows */
    struct session_rows rows; /* of a SimAI workload */
    bool (*progress)(void *context, const struct orr_progress *now);
    void *progress_context;
    double done; /* share of the work as last told by the simulation */
    bool executed;
    uint64_t wall_ms;       /* that it took */
    struct orr_error ended; /* how; ORR_OK: well */
};

/* With what every run has: its account, its options but the executor's. NULL: out of memory, said in `err`. */
/* orr_simai_open, its options checked; rows without a compute time have that of `times`, unless NULL. */
ORR_MUST_CHECK enum orr_status session_simai_open(const struct orr_simai_simulation *options,
                                                  const struct aicb_part_times *times, struct orr_run **run,
                                                  struct orr_error *err);
struct orr_run *session_new(const struct orr_run_options *options, struct orr_error *err);
/* The values its files came to, and what it left behind; valid until orr_run_close. */
/* Fills config.timing where the options ask for times of collectives: of the GPU they name, else of the machine's, else
 * of `device` (or NULL). */
ORR_MUST_CHECK enum orr_status session_settle_times(struct orr_run *run, const struct orr_run_options *options,
                                                    const char *device, struct orr_error *err);

/* Devices, faults and stragglers of the options, once the machine's dimensions are known (session_faults.c). */
ORR_MUST_CHECK enum orr_status session_take_faults(struct orr_run *run, const struct orr_run_options *options,
                                                   struct orr_error *err);

const struct sim_config *session_config(const struct orr_run *run);
const struct sim_result *session_result(const struct orr_run *run);
/* The traces it was opened with, or the rows as nodes. */
const struct trace_set *session_traces(const struct orr_run *run);

#endif
