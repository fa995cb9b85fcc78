/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery run` in three parts: the options (run_options.c), which end in a filled struct, the check of where the
 * results shall go (run_outputs.c), and what is done (run.c). Strings point into the argument
 * vector or its translation, which live as long as the program's work does.
 */
#ifndef ORR_CLI_RUN_H
#define ORR_CLI_RUN_H

#include "cli/cli.h"
#include "cli/foreign.h"

struct run_options {
    struct orr_run_options run;
    enum orr_output format;
    bool format_given;
    const char *json; /* a path, or NULL */
    const char *csv;
    const char *timeline;
    const char *fct, *pfc, *qlen, *comm_intervals;
    const char *local_mem; /* prefix of the files of the system file's track-local-mem, or NULL */
    const char *topology;  /* the file the network configuration names, once it is known */
    const char *status_file;
    const char *calibration;
    bool quiet;
    bool no_progress;
};

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

/* Fails when an output could not be written in the end, or would replace an input or another output. */
ORR_MUST_CHECK enum orr_status run_outputs_check(const struct run_options *options, struct orr_error *err);

/* Whether the program was started under one of ASTRA-sim's names, and the network that name means. */
bool cli_run_astra_name(const char *name, enum orr_backend *backend);
int cli_run_as_astra(enum orr_backend backend, int argc, char **argv);

#endif
