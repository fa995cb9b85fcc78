/*
 * `orrery run` in three parts: the options (run_options.c, run_values.c, run_check.c), which end in a filled struct,
 * the check of where the results shall go (run_outputs.c), and what is done (run.c). Strings point into the argument
 * vector or its translation, which live as long as the program's work does.
 */
#ifndef ORR_CLI_RUN_H
#define ORR_CLI_RUN_H

#include "cli/cli.h"
#include "cli/foreign.h"

enum { RUN_LINK_DOWNS_MOST = 64, RUN_SETS_MOST = 32, RUN_SET_NAME = 80 };

struct run_options {
    struct cli_input input;
    struct orr_run_options run;
    enum orr_output format;
    bool format_given;
    const char *json; /* a path, or NULL */
    const char *csv;
    const char *timeline;
    const char *fct, *pfc, *qlen, *comm_intervals;
    struct orr_link_down link_downs[RUN_LINK_DOWNS_MOST];
    struct orr_growth growth;
    struct orr_override sets[RUN_SETS_MOST];
    char set_names[RUN_SETS_MOST][RUN_SET_NAME]; /* their keys, as typed */
    size_t set_count;
    const char *topology; /* the file the network configuration names, once it is known */
    const char *status_file;
    bool source_given; /* --comp-source */
    const char *calibration;
    bool quiet;
    bool no_progress;
};

extern const struct argp run_argp;
extern const struct cli_foreign_option run_astra_options[];

/*
 * Reads the vector into `options`, whose defaults the caller has set. `vector` keeps the words alive and has the
 * warnings; the caller frees it. With `options->run.strict`, a warning is an error.
 */
ORR_MUST_CHECK enum orr_status run_options_read(const struct cli_command *command, bool lenient, int argc, char **argv,
                                                struct run_options *options, struct cli_vector *vector,
                                                struct orr_error *err);

/* run_set.c: one --set as typed, with the error in the input; and what all of them mean, when the backend is known. */
ORR_MUST_CHECK enum orr_status run_set_add(struct run_options *options, const char *text);
ORR_MUST_CHECK enum orr_status run_sets_resolve(struct run_options *options, struct orr_error *err);

/* Fails when an output could not be written in the end, or would replace an input or another output. */
ORR_MUST_CHECK enum orr_status run_outputs_check(const struct run_options *options, struct orr_error *err);

/* Whether the program was started under one of ASTRA-sim's names, and the network that name means. */
bool cli_run_astra_name(const char *name, enum orr_backend *backend);
int cli_run_as_astra(enum orr_backend backend, int argc, char **argv);

#endif
