/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace import`: PyTorch recordings in, one ET file a rank out, with a report on standard output. */
#include "cli/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_ET_PREFIX = 254,
    KEY_OUT_DIR,
    KEY_RANKS,
    KEY_TAG,
    KEY_UNKNOWN_SIZE,
    KEY_GAPS,
    KEY_CPU,
    KEY_STEPS,
    KEY_JOBS,
    KEY_STRICT,
    KEY_LIMIT
};

struct import_options {
    struct cli_input input;
    struct orr_import_options import;
    int64_t *ranks; /* as pairs of first and last */
    int64_t *steps;
    uint32_t rank_pairs;
    const char *out_dir;
    const char **paths; /* as many as there are arguments */
    bool strict;
};

static const char *const keep_words[] = {"keep", "drop", NULL};

static const struct argp_option table[] = {
    {"output", 'o', "PREFIX", 0,
     "Write PREFIX.R.et for each rank R, and PREFIX.groups.json where there are groups. Missing folders are made", 0},
    {"out-dir", KEY_OUT_DIR, "DIR", 0,
     "Import each RECORDING by itself, into DIR/NAME.R.et; one that fails does not stop the others (exit code 1)", 0},
    {"et-prefix", KEY_ET_PREFIX, "et|auto|NAME", 0,
     "With --out-dir: files are DIR/NAME.R.et, or DIR/NAME.RUN.R.et where there are several runs. auto: allreduce, "
     "allgather … after the collective that occurs most, workload where none does or two are level",
     0},
    {"rank", KEY_RANKS, "LIST", 0, "Only these ranks, such as 0,2-5. Default: all that are there", 0},
    {"tag", KEY_TAG, "TAG", 0, "Which run, where there are several; the error that asks names them", 0},
    {"unknown-size", KEY_UNKNOWN_SIZE, "BYTES", 0,
     "Size of a communication whose size the recording does not tell: 64KiB, 1MB, bytes. Without this it is an error",
     0},
    {"gaps", KEY_GAPS, "keep|drop", 0, "Host time between ops as nodes of its own. Default: keep", 0},
    {"cpu", KEY_CPU, "keep|drop", 0,
     "Host ops. Dropped, what is left keeps its order, but host time is gone. Default: keep", 0},
    {"step", KEY_STEPS, "LIST", 0, "Only these steps (ProfilerStep#N), such as 3 or 2-4. Default: everything", 0},
    {"jobs", KEY_JOBS, "N", 0, "Ranks worked on at once. Default: one a processor", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

/* Numbers and ranges, such as 0,2-5: pairs of first and last. */
static enum orr_status parse_list(const char *option, const char *text, int64_t **pairs, uint32_t *count,
                                  struct orr_error *err)
{
    free(*pairs);
    *count = 0;
    *pairs = calloc(strlen(text) + 1, 2 * sizeof **pairs);
    if (*pairs == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (const char *at = text;; at++) {
        char *end = NULL;
        bool digit = *at >= '0' && *at <= '9';
        long long first = digit ? strtoll(at, &end, 10) : 0;
        long long last = first;
        if (digit && *end == '-') {
            at = end + 1;
            digit = *at >= '0' && *at <= '9';
            last = digit ? strtoll(at, &end, 10) : 0;
        }
        if (!digit || last < first || last > INT32_MAX || (*end != '\0' && *end != ',')) {
            return error_set(err, ORR_EINVAL, "%s: \"%.100s\" is not a list of numbers and ranges, such as 0,2-5",
                             option, text);
        }
        (*pairs)[2 * (size_t)*count] = first;
        (*pairs)[2 * (size_t)*count + 1] = last;
        ++*count;
        if (*end == '\0') {
            return ORR_OK;
        }
        at = end;
    }
}

static error_t parse_word(const char *option, const char *arg, bool *drop, struct orr_error *err)
{
    unsigned index = 0;
    enum orr_status status = param_parse_word(option, arg, keep_words, &index, err);
    *drop = index == 1;
    return cli_options_status(status);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct import_options *options = state->input;
    struct orr_import_options *import = &options->import;
    struct orr_error *err = &options->input.error;
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case 'o':
        import->prefix = arg;
        return 0;
    case KEY_ET_PREFIX:
        import->et_prefix = arg;
        return 0;
    case KEY_OUT_DIR:
        options->out_dir = arg;
        return 0;
    case KEY_RANKS:
        return cli_options_status(parse_list("--rank", arg, &options->ranks, &options->rank_pairs, err));
    case KEY_TAG:
        import->tag = arg;
        return 0;
    case KEY_UNKNOWN_SIZE:
        import->has_unknown_size = true;
        return cli_options_status(param_parse_size("--unknown-size", arg, &import->unknown_size, err));
    case KEY_GAPS:
        return parse_word("--gaps", arg, &import->drop_gaps, err);
    case KEY_CPU:
        return parse_word("--cpu", arg, &import->drop_cpu, err);
    case KEY_STEPS:
        return cli_options_status(parse_list("--step", arg, &options->steps, &import->step_pair_count, err));
    case KEY_JOBS:
        status = param_parse_count("--jobs", arg, 1, 256, &count, err);
        import->jobs = (uint32_t)count;
        return cli_options_status(status);
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &import->memory_limit, err));
    case ARGP_KEY_ARG:
        options->paths[import->path_count++] = arg;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

/* The ranges as single ranks, which is what the library takes. */
static enum orr_status list_ranks(const char *option, const int64_t *pairs, uint32_t pair_count, uint32_t **ranks,
                                  uint32_t *count, struct orr_error *err)
{
    enum { RANKS_MOST = 1 << 20 };
    uint64_t total = 0;
    for (uint32_t i = 0; i < pair_count; i++) {
        total += (uint64_t)(pairs[2 * (size_t)i + 1] - pairs[2 * (size_t)i]) + 1;
    }
    if (total > RANKS_MOST) {
        return error_set(err, ORR_ERANGE, "%s names %" PRIu64 " ranks; at most %d", option, total, RANKS_MOST);
    }
    *ranks = calloc(total + 1, sizeof **ranks);
    if (*ranks == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < pair_count; i++) {
        for (int64_t rank = pairs[2 * (size_t)i]; rank <= pairs[2 * (size_t)i + 1]; rank++) {
            (*ranks)[(*count)++] = (uint32_t)rank;
        }
    }
    return ORR_OK;
}

enum orr_status cli_parse_ranks(const char *option, const char *text, uint32_t **ranks, uint32_t *count,
                                struct orr_error *err)
{
    int64_t *pairs = NULL;
    uint32_t pair_count = 0;
    free(*ranks);
    *ranks = NULL;
    *count = 0;
    enum orr_status status = parse_list(option, text, &pairs, &pair_count, err);
    status = status != ORR_OK ? status : list_ranks(option, pairs, pair_count, ranks, count, err);
    free(pairs);
    return status;
}

static enum orr_status check(const struct import_options *options, struct orr_error *err)
{
    const struct orr_import_options *import = &options->import;
    if (import->path_count == 0) {
        return error_set(err, ORR_EINVAL, "no recording given; name the folder or the files");
    }
    if (options->out_dir != NULL && (import->prefix != NULL || import->tag != NULL)) {
        return error_set(err, ORR_EINVAL, "--out-dir imports every recording by itself, so it excludes %s",
                         import->prefix != NULL ? "-o PREFIX" : "--tag");
    }
    if (options->out_dir == NULL && import->et_prefix != NULL) {
        return error_set(err, ORR_EINVAL,
                         "--et-prefix names the files of a folder: --out-dir DIR instead of -o PREFIX");
    }
    if (options->out_dir == NULL && import->prefix == NULL) {
        return error_set(err, ORR_EINVAL,
                         "missing -o PREFIX (files become PREFIX.0.et, PREFIX.1.et …), or --out-dir DIR for several "
                         "recordings");
    }
    return ORR_OK;
}

static enum orr_status import(struct import_options *options, uint32_t *failed, struct orr_error *err)
{
    struct cli_warnings warnings = {0};
    struct orr_notices notices = cli_notices(&warnings, options->strict);
    uint32_t *ranks = NULL;
    uint32_t rank_count = 0;
    enum orr_status status = check(options, err);
    if (status == ORR_OK) {
        status = cli_limit_default(&options->import.memory_limit, err);
    }
    if (status == ORR_OK) {
        status = list_ranks("--rank", options->ranks, options->rank_pairs, &ranks, &rank_count, err);
    }
    if (status == ORR_OK) {
        options->import.ranks = ranks;
        options->import.rank_count = rank_count;
        options->import.steps = options->steps;
        options->import.paths = options->paths;
        status = options->out_dir == NULL
                     ? orr_trace_import(&options->import, &notices, stdout, err)
                     : orr_trace_import_batch(&options->import, options->out_dir, &notices, stdout, failed, err);
        cli_warnings_end(&warnings);
    }
    free(ranks);
    return status;
}

static int run_import(const struct cli_command *self, int argc, char **argv)
{
    struct import_options options = {0};
    orr_import_options_init(&options.import);
    struct orr_error err = {0};
    uint32_t failed = 0;
    options.paths = calloc((size_t)argc + 1, sizeof *options.paths);
    enum orr_status status = options.paths == NULL ? error_set(&err, ORR_ENOMEM, "out of memory")
                                                   : cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
    } else if (status == ORR_OK) {
        status = import(&options, &failed, &err);
    }
    free(options.ranks);
    free(options.steps);
    free((void *)options.paths);
    int exit_code = cli_end(status, &err);
    return exit_code == 0 && failed > 0 ? orr_status_exit_code(ORR_EFAIL) : exit_code;
}

static const struct argp import_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "RECORDING... -o PREFIX\nRECORDING... --out-dir DIR",
    .doc = "Turn PyTorch recordings into Chakra ET files that simulate. A RECORDING is a file or a folder: traces of "
           "the profiler, and where there are some, host execution traces; of any name, also packed (.gz, .zst). Kind "
           "and rank are told by content, then by name. All ranks of a run are linked and converted side by side; "
           "either all files are written or none. What was found, inferred and left out is printed for each rank. "
           "With --out-dir each RECORDING is one by itself.\v"
           "Examples:\n"
           "  orrery trace import recording -o traces/resnet50\n"
           "  orrery trace import recording/device_0.json.gz -o traces/one\n"
           "  orrery trace import recording recording/device_0.json.gz --out-dir traces\n"
           "  orrery trace import recording --out-dir traces --et-prefix auto\n"
           "  orrery trace import recording --rank 0-1 --step 1 --cpu drop -o traces/short\n"
           "  orrery run -w traces/resnet50 -s system.json -n network.yml\n",
};

const struct cli_command cli_trace_import = {
    .name = "import", .summary = "turn PyTorch recordings into traces", .argp = &import_argp, .run = run_import};
