/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery run` in parts: the options (run_options.c), which end in a filled struct, what is opened (run.c), and, for
 * `simai simulate` too, the check of where the results shall go (run_outputs.c) and what is done with a run that is
 * open (run_execute.c). Strings point into the argument vector or its translation, which live as long as the program's
 * work does.
 */
#ifndef ORR_CLI_RUN_H
#define ORR_CLI_RUN_H

#include "cli/cli.h"
#include "cli/foreign.h"
#include "cli/watch.h"

/* What is done with a run's results; paths, or NULL. */
struct run_outputs {
    enum orr_output format; /* of standard output */
    bool format_given;
    const char *json, *csv, *timeline, *report;
    int argc; /* what was typed, for the page of --report */
    char **argv;
    const char *fct, *pfc, *qlen, *comm_intervals;
    const char *local_mem; /* prefix of the files of the system file's track-local-mem */
    const char *simai;     /* folder of SimAI's files */
    const char *status_file;
    bool quiet;
    bool no_progress;
};

struct run_options {
    struct orr_run_options run;
    struct run_outputs out;
    const char *topology; /* the file the network configuration names, once it is known */
    const char *calibration;
    uint64_t repeat;  /* runs by as many seeds; 0: one run */
    uint32_t threads; /* of them; 0: as many as there are processors */
};

/* A file that is read, and the option that names it. */
struct run_input {
    const char *option, *path;
};

extern const struct param run_output_rows[]; /* places in struct run_outputs */
extern const struct cli_usage run_usage;
extern const struct cli_foreign_option run_astra_options[];

/*
 * Reads the vector into `options`, whose defaults the caller has set and which it frees (orr_run_options_free).
 * `vector` keeps the words alive and has the warnings; the caller frees it. With `options->run.strict`, a warning is an
 * error.
 */
ORR_MUST_CHECK enum orr_status run_options_read(const struct cli_command *command, bool lenient, int argc, char **argv,
                                                struct run_options *options, struct cli_vector *vector,
                                                enum cli_help *help, struct orr_error *err);

/* The name of an option that was given and is of a single run, such as --json; NULL: none was. */
const char *run_options_single(const struct run_options *options);

/* `--json -` is `--format json`: two documents on one stream would be of use to nobody. */
ORR_MUST_CHECK enum orr_status run_outputs_settle(struct run_outputs *outputs, struct orr_error *err);

/* Fails when an output could not be written in the end, or would replace an input (the list ends with a NULL option), a
 * trace of `prefix` (NULL: there are none) or another output. */
ORR_MUST_CHECK enum orr_status run_outputs_check(const struct run_outputs *outputs, const struct run_input *inputs,
                                                 const char *prefix, struct orr_error *err);

/* Executes and writes; the exit code. Ends `warnings` and `watch`. */
int run_execute(struct orr_run *run, const struct run_outputs *outputs, struct watch *watch,
                struct cli_warnings *warnings);

/* Whether the program was started under one of ASTRA-sim's names, and the network that name means. */
bool cli_run_astra_name(const char *name, enum orr_backend *backend);
int cli_run_as_astra(enum orr_backend backend, int argc, char **argv);

#endif
