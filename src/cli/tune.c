/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery tune collectives`: find the best settings for the collectives of a job, written as a system file or as NCCL's
 * environment. */
#include <string.h>

#include "cli/cli.h"

struct tune_options {
    struct orr_run_options run;
    struct orr_tune_options tune;
    struct cli_forms forms;
    const char *nccl;
    bool quiet;
};

#define AT(field) .place = offsetof(struct tune_options, field)

static const struct param tune_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(tune.system),
     .help = "Write the system file with the best settings"},
    {"nccl", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(nccl),
     .help = "Write NCCL_ALGO and NCCL_PROTO for the job's collectives, by the model of collective times (orrery coll "
             "time)"},
    {"tries", .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .value = "N", AT(tune.tries), .least = 1,
     .most = 1000000, .initial = "1000",
     .help = "Simulations at most. Where all combinations are no more, all are simulated"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", AT(tune.threads),
     .most = 1024, .unwritten = "all processors", .help = "Simulations at once"},
    CLI_ROW_JSON(struct tune_options, forms.json),
    CLI_ROW_QUIET(struct tune_options, quiet),
    {0},
};

static enum orr_status tune_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct orr_tuned *tuned = context;
    return form == ORR_FORM_JSON ? orr_tuned_json(tuned, stream, err) : orr_tuned_print(tuned, stream, err);
}

/* The job's own system file may be replaced; nothing else that it is made of. */
static enum orr_status tune_check_outputs(const struct tune_options *options, struct orr_error *err)
{
    const char *inputs[] = {options->run.system, options->run.network, options->run.memory, options->run.groups,
                            options->run.logical};
    const struct {
        const char *option, *path;
    } outputs[] = {{"--output", options->tune.system}, {"--nccl", options->nccl}};
    enum orr_status status = cli_forms_check(&options->forms, (struct cli_inputs){inputs, 5}, err);
    for (size_t i = 0; i < 2 && status == ORR_OK; i++) {
        const char *path = outputs[i].path;
        status = path != NULL ? cli_check_writable(outputs[i].option, path, err) : ORR_OK;
        for (size_t k = i == 0 ? 1 : 0; path != NULL && k < 5 && status == ORR_OK; k++) {
            if (cli_same_file(path, inputs[k])) {
                status = error_set(err, ORR_EINVAL, "%s %s: the job reads that file", outputs[i].option, path);
            }
        }
        if (status == ORR_OK && path != NULL && options->run.workload != NULL &&
            cli_is_rank_file(path, options->run.workload)) {
            status = error_set(err, ORR_EINVAL, "%s %s: it is a trace of the job", outputs[i].option, path);
        }
    }
    return status;
}

static enum orr_status tune_write(const struct tune_options *options, const struct orr_tuned *tuned,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (options->tune.system != NULL) {
        status = orr_file_write(options->tune.system, tuned->file, strlen(tuned->file), err);
    }
    return status == ORR_OK && options->nccl != NULL
               ? orr_file_write(options->nccl, tuned->nccl, strlen(tuned->nccl), err)
               : status;
}

static int tune_run(const struct cli_command *self, int argc, char **argv)
{
    struct tune_options options = {0};
    struct orr_error err = {0};
    struct orr_tuned *tuned = NULL;
    int code = 0;
    orr_run_options_init(&options.run);
    orr_tune_options_init(&options.tune);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        orr_run_options_free(&options.run);
        return code;
    }
    struct cli_warnings warnings = {.quiet = options.quiet};
    const struct orr_notices notices = cli_notices(&warnings, options.run.strict);
    options.tune.nccl = options.nccl != NULL;
    enum orr_status status = tune_check_outputs(&options, &err);
    status = status == ORR_OK ? cli_limit_default(&options.run.memory_limit, &err) : status;
    status = status == ORR_OK ? orr_tune_collectives(&options.run, &options.tune, &notices, &tuned, &err) : status;
    cli_warnings_end(&warnings);
    status = status == ORR_OK ? tune_write(&options, tuned, &err) : status;
    status = status == ORR_OK ? cli_forms_put(&options.forms, tune_answer, tuned, &err) : status;
    orr_tuned_free(tuned);
    orr_run_options_free(&options.run);
    return cli_end(status, &err);
}

static const struct param_table tune_tables[] = {
    {param_run, PARAM_OF_RUN, offsetof(struct tune_options, run)}, {tune_rows, 0, 0}, {0}};

static const struct cli_usage tune_usage = {
    .tables = tune_tables,
    .forms = "--workload PREFIX --machine NAME -o FILE",
    .about = "Find the best settings for the collectives of a job: the algorithm of each kind in each dimension, the "
             "number of chunks and how many are in flight, the order of dimensions. The options are those of orrery "
             "run; without --backend, a network with shared links is used.",
    .examples = "  orrery tune collectives -w traces/job --machine 128gpu_torus3d_16 -o system.json\n"
                "  orrery tune collectives -w traces/job -s system.json -n network.yml -o tuned.json\n"
                "  orrery tune collectives -w traces/job --machine dgx-h100:2 --nccl nccl.env\n",
    .ending = "Exit codes: those of orrery run.",
};

static const struct cli_command tune_collectives = {.name = "collectives",
                                                    .summary = "algorithms, chunks and order of dimensions for a job",
                                                    .usage = &tune_usage,
                                                    .run = tune_run};

static const struct cli_command *const tune_commands[] = {&tune_collectives, NULL};

const struct cli_command cli_tune = {.name = "tune",
                                     .summary = "find the best settings for the collectives of a job",
                                     .subcommands = tune_commands,
                                     .run = cli_dispatch};
