/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery sweep` in two parts: what the user typed, progress and results (sweep.c), and the points of a plan turned
 * into what the library runs (sweep_points.c): every key is an option of the command that the points are, and is read
 * as that command reads it, or a key of one of its configuration files.
 */
#ifndef ORR_CLI_SWEEP_H
#define ORR_CLI_SWEEP_H

#include "cli/cli.h"
#include "cli/foreign.h"

enum { SWEEP_KEYS_MOST = 32 };

/* Everything the jobs point to. */
struct sweep_points {
    const struct orr_sweep_plan *plan;
    bool lab;
    struct cli_vector base; /* the options all points share, after the command's name; foreign ones translated */
    const struct param *options[SWEEP_KEYS_MOST]; /* by key; NULL: of a configuration file */
    const char *files[SWEEP_KEYS_MOST];           /* which one */
    const char *keys[SWEEP_KEYS_MOST];            /* and the key in it */
    uint64_t count;
    struct orr_sweep_job *jobs;
    struct orr_run_options *runs;
    struct orr_lab_options *labs;
    size_t override_count; /* keys of files that vary */
    char **words;          /* made for the points */
    size_t word_count, word_room;
    void **blocks; /* the overrides of each job */
    size_t block_count;
    bool quiet, no_progress; /* of the options that all points share */
};

/* Reads all points, so that what is wrong with one is said before any runs. `words` are those behind "--", the name of
 * the command first if it is there. The caller frees `points` whatever the status. */
ORR_MUST_CHECK enum orr_status sweep_points_make(const struct orr_sweep_plan *plan, int word_count, char **words,
                                                 struct sweep_points *points, struct cli_warnings *warnings,
                                                 struct orr_error *err);
void sweep_points_free(struct sweep_points *points);

/* A sweep as a batch script. */
enum sweep_slurm_form { SWEEP_SLURM_ARRAY, SWEEP_SLURM_MPI };

struct sweep_slurm {
    const char *file; /* NULL: none */
    enum sweep_slurm_form form;
    uint32_t tasks, threads;
};

/* `command` is the sweep as typed, less what is about the script. Says what was written. */
ORR_MUST_CHECK enum orr_status sweep_slurm_write(const struct sweep_slurm *slurm, const char *command,
                                                 struct orr_error *err);

/* What the points share, quoted: "run --workload traces/job". The caller frees it; NULL when there is no memory. */
char *sweep_points_base(const struct sweep_points *points);

#endif
