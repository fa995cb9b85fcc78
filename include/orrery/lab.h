/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are kept: machines by name, the folder of a run, the result store. Included by orrery.h. */
#ifndef ORRERY_LAB_H
#define ORRERY_LAB_H

#include "orrery/run.h"

ORR_BEGIN

/* ---- the lab: runs that are kept ----------------------------------------------------------------------------------
 */

/*
 * A workload on a machine that is made of a name, grown to its size, run, and kept: files in a folder of its own, an
 * entry in the result store. Texts are borrowed for the call; NULL and 0: not given. Start from
 * orr_lab_options_init.
 */
struct orr_lab_options {
    /* How to simulate. Its workload may be a folder or prefix of traces, or a folder of recordings, which are imported;
     * its machine may be NULL: auto:1d, above 64 ranks auto:3d; network and logical are made, memory and groups
     * found; with backend_open the backend is what the topology needs. */
    struct orr_run_options run;
    const char *prefix;                 /* which traces of a folder, where there are several */
    const char *recording_tag;          /* which recordings of a folder: host_R_TAG.json */
    const char *output_folder;          /* NULL: "runs" */
    const char *store;                  /* result store; NULL: orrery.db in the output folder */
    const char *tag;                    /* the user's name for the run */
    const char *command;                /* what the store keeps as the command; NULL: nothing */
    const char *calibration;            /* calibration file: what it fitted is used where nothing else is said */
    const char *trace_folder;           /* auto_calibrate: the measured steps; NULL: beside the traces */
    bool auto_calibrate;                /* run the traced world first, fit it to the measured steps, and use that */
    uint32_t virtual_scale, world_size; /* ranks for each trace; ranks. At most one of them */
    bool timeline;                      /* also timeline.json.gz */
    const char *report;                 /* also a page of the run (orrery/report.h): its file */
};

void orr_lab_options_init(struct orr_lab_options *options); /* the defaults; orr_run_options_free(&options->run) */

struct orr_lab_result {
    int64_t run; /* its number in the store; 0: it did not come to that */
    uint64_t time_ns;
    uint64_t steps; /* training steps in the traces; 0: not known */
    uint32_t world, source_world;
    char folder[1024];
};

/* Runs it and writes a summary to `stream` unless that is NULL. A run that stalls or is interrupted has its files and
 * its entry all the same; `result` is then filled too. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices,
                                           FILE *stream, struct orr_lab_result *result, struct orr_error *err);

/* ---- the result store -------------------------------------------------------------------------------------------- */

/* Readers of the SQLite file that keeps every run (docs/store.md). Texts are borrowed for the call. */

enum orr_store_form { ORR_STORE_TEXT, ORR_STORE_JSON };

/* NULL: any. Runs are told newest last. */
struct orr_store_filter {
    const char *tag, *state, *backend, *kind;
    uint64_t newest; /* only so many of those that fit; 0: all */
};

/* A line a run. A state or backend that does not exist is refused with the nearest name. */
ORR_MUST_CHECK enum orr_status orr_store_list(const char *store, const struct orr_store_filter *filter,
                                              enum orr_store_form form, FILE *stream, struct orr_error *err);
/* Everything about one run: its inputs and whether they are still the same, settings, results, calibrations. `run` 0:
 * the newest. */
ORR_MUST_CHECK enum orr_status orr_store_show(const char *store, int64_t run, enum orr_store_form form, FILE *stream,
                                              struct orr_error *err);
/* What differs between two runs: settings, inputs, results with percent. `*same`: the results do not. */
ORR_MUST_CHECK enum orr_status orr_store_diff(const char *store, int64_t before, int64_t after,
                                              enum orr_store_form form, FILE *stream, bool *same,
                                              struct orr_error *err);
/* The times of both as a picture (SVG). */
ORR_MUST_CHECK enum orr_status orr_store_chart(const char *store, int64_t before, int64_t after, FILE *stream,
                                               struct orr_error *err);

/* How to do a run again. Owned by the caller, who gives it back. */
struct orr_store_command {
    int64_t run;        /* which one: what 0 became */
    int64_t last;       /* the newest run of the store now */
    char *folder;       /* to start it in; NULL: not known */
    char **words;       /* argv, NULL-terminated; words[0] is "orrery" */
    uint64_t different; /* inputs that changed or are gone */
};

/* ORR_EINVAL when the run has no command of ours, or, without `force`, when an input changed or is gone; the error
 * names the first. Warnings: each such input with `force`, another version of Orrery. */
ORR_MUST_CHECK enum orr_status orr_store_command(const char *store, int64_t run, bool force,
                                                 const struct orr_notices *notices, struct orr_store_command *command,
                                                 struct orr_error *err);
void orr_store_command_free(struct orr_store_command *command);
/* The run that the command became: the first behind command->last with the same command; 0: there is none. */
ORR_MUST_CHECK enum orr_status orr_store_again(const char *store, const struct orr_store_command *command,
                                               int64_t *again, struct orr_error *err);

enum orr_store_table {
    ORR_STORE_RUNS_CSV,    /* a row a run, every column of the table `run` */
    ORR_STORE_RUNS_JSON,   /* all runs with all that belongs to them, and all calibrations */
    ORR_STORE_METRICS,     /* metrics.csv: a row a run that is done */
    ORR_STORE_CALIBRATIONS /* calibration_all.csv: a row a calibration */
};

/* To `path` (a temporary renamed when complete), or to `stream` where `path` is NULL; `*rows` counts them. */
ORR_MUST_CHECK enum orr_status orr_store_export(const char *store, enum orr_store_table table, const char *path,
                                                FILE *stream, uint64_t *rows, struct orr_error *err);

struct orr_store_imported {
    uint64_t rows, runs, calibrations; /* read, entered, entered */
    uint64_t known, bad;               /* rows that were there already, rows that could not be used */
};

/* Enters the rows of a metrics.csv or calibration_all.csv, of today's or of an older header: all that can be used, in
 * one transaction. Warnings: columns that are not known, rows left out, with file and line. */
ORR_MUST_CHECK enum orr_status orr_store_import(const char *store, const char *path, const struct orr_notices *notices,
                                                struct orr_store_imported *imported, struct orr_error *err);

ORR_END

#endif
