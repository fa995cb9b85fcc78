/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace import`: PyTorch recordings in, one ET file a rank out, with a report on standard output. */
#include "cli/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct import_options {
    struct orr_import_options import;
    struct cli_ranks ranks;
    int64_t *steps; /* as pairs of first and last */
    const char *out_dir;
    struct cli_words paths;
    bool strict;
};

/* Numbers and ranges, such as 0,2-5: pairs of first and last. */
static enum orr_status cli_trace_import_read_list(const struct param *row, const char *text, int64_t **pairs,
                                                  uint32_t *count, struct orr_error *err)
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
            return error_set(err, ORR_EINVAL,
                             "parameter '%s': \"%.100s\" is not a list of numbers and ranges, such as 0,2-5", row->name,
                             text);
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

/* The ranges as single ranks, which is what the library takes. */
static enum orr_status list_ranks(const struct param *row, const int64_t *pairs, uint32_t pair_count,
                                  struct cli_ranks *ranks, struct orr_error *err)
{
    enum { RANKS_MOST = 1 << 20 };
    uint64_t total = 0;
    for (uint32_t i = 0; i < pair_count; i++) {
        total += (uint64_t)(pairs[2 * (size_t)i + 1] - pairs[2 * (size_t)i]) + 1;
    }
    if (total > RANKS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter '%s' names %" PRIu64 " ranks; at most %d", row->name, total,
                         RANKS_MOST);
    }
    ranks->list = calloc(total + 1, sizeof *ranks->list);
    if (ranks->list == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < pair_count; i++) {
        for (int64_t rank = pairs[2 * (size_t)i]; rank <= pairs[2 * (size_t)i + 1]; rank++) {
            ranks->list[ranks->count++] = (uint32_t)rank;
        }
    }
    return ORR_OK;
}

enum orr_status cli_read_ranks(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct cli_ranks *ranks = (void *)((char *)into + row->place);
    int64_t *pairs = NULL;
    uint32_t pair_count = 0;
    free(ranks->list);
    *ranks = (struct cli_ranks){0};
    if (strcmp(text, "auto") == 0) {
        return ORR_OK;
    }
    enum orr_status status = cli_trace_import_read_list(row, text, &pairs, &pair_count, err);
    status = status != ORR_OK ? status : list_ranks(row, pairs, pair_count, ranks, err);
    free(pairs);
    return status;
}

static enum orr_status cli_trace_import_read_steps(const struct param *row, const char *text, void *into,
                                                   struct orr_error *err)
{
    struct import_options *options = into;
    return cli_trace_import_read_list(row, text, &options->steps, &options->import.step_pair_count, err);
}

static const char *const keep_words[] = {"keep", "drop", NULL};

#define AT(field) .place = offsetof(struct import_options, field)

static const struct param rows[] = {
    CLI_ROW_RANKS(struct import_options, ranks),
    {"step", .kind = PARAM_READ, .value = "LIST", .read = cli_trace_import_read_steps,
     .help = "Only these steps (ProfilerStep#N), such as 3 or 2-4", .unwritten = "everything"},
    {"tag", .kind = PARAM_TEXT, .value = "TAG", AT(import.tag),
     .help = "Which run, where there are several; the error that asks names them"},
    CLI_ROW_UNKNOWN_SIZE(struct import_options, import, CLI_UNKNOWN_SIZE_HELP),
    {"gaps", .kind = PARAM_CHOICE, .value = "keep|drop", AT(import.drop_gaps), .words = keep_words, .initial = "keep",
     .help = "Host time between ops as nodes of its own"},
    {"cpu", .kind = PARAM_CHOICE, .value = "keep|drop", AT(import.drop_cpu), .words = keep_words, .initial = "keep",
     .help = "Host ops. Dropped, what is left keeps its order, but host time is gone"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "PREFIX", AT(import.prefix),
     .help = "Write PREFIX.R.et for each rank R, and PREFIX.groups.json where there are groups. Missing folders are "
             "made"},
    {"out-dir", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "DIR", AT(out_dir),
     .help = "Import each RECORDING by itself, into DIR/NAME.R.et; one that fails does not stop the others (exit code "
             "1)"},
    {"et-prefix", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "et|auto|NAME", AT(import.et_prefix),
     .help = "With parameter 'out-dir': files are DIR/NAME.R.et, or DIR/NAME.RUN.R.et where there are several runs. "
             "auto: allreduce, allgather … after the collective that occurs most, workload where none does or two are "
             "level"},
    {"threads", "jobs", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", AT(import.jobs),
     .least = 1, .most = 256, .help = "Ranks worked on at once. The results are the same",
     .unwritten = "one for each processor"},
    CLI_ROW_STRICT(struct import_options, strict),
    CLI_ROW_LIMIT(struct import_options, import.memory_limit),
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static enum orr_status cli_trace_import_check(const struct import_options *options, struct orr_error *err)
{
    const struct orr_import_options *import = &options->import;
    if (options->paths.count == 0) {
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
    enum orr_status status = cli_trace_import_check(options, err);
    if (status == ORR_OK) {
        status = cli_limit_default(&options->import.memory_limit, err);
    }
    if (status == ORR_OK) {
        options->import.ranks = options->ranks.list;
        options->import.rank_count = options->ranks.count;
        options->import.steps = options->steps;
        options->import.paths = (const char *const *)options->paths.list;
        options->import.path_count = options->paths.count;
        status = options->out_dir == NULL
                     ? orr_trace_import(&options->import, &notices, stdout, err)
                     : orr_trace_import_batch(&options->import, options->out_dir, &notices, stdout, failed, err);
        cli_warnings_end(&warnings);
    }
    return status;
}

static int cli_trace_import_run_import(const struct cli_command *self, int argc, char **argv)
{
    struct import_options options = {0};
    orr_import_options_init(&options.import);
    struct orr_error err = {0};
    uint32_t failed = 0;
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        free(options.ranks.list);
        free(options.steps);
        return exit_code;
    }
    enum orr_status status = import(&options, &failed, &err);
    free(options.ranks.list);
    free(options.steps);
    exit_code = cli_end(status, &err);
    return exit_code == 0 && failed > 0 ? orr_status_exit_code(ORR_EFAIL) : exit_code;
}

static const char *const headings[PARAM_GROUPS] = {[PARAM_WHAT] = "What to import:"};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "RECORDING... -o PREFIX\nRECORDING... --out-dir DIR",
    .about =
        "Turn PyTorch recordings into Chakra ET files for simulation. A RECORDING is a file or a folder: profiler "
        "traces and, if available, host execution traces; any names, also compressed (.gz, .zst). Kind and rank are "
        "determined from content, then from the name. All ranks of a run are linked and converted in parallel; either "
        "all files are written or none. What was found, inferred and left out is printed for each "
        "rank. With --out-dir each RECORDING is a separate run.",
    .examples = "  orrery trace import recording -o traces/resnet50\n"
                "  orrery trace import recording/device_0.json.gz -o traces/one\n"
                "  orrery trace import recording recording/device_0.json.gz --out-dir traces\n"
                "  orrery trace import recording --out-dir traces --et-prefix auto\n"
                "  orrery trace import recording --rank 0-1 --step 1 --cpu drop -o traces/short\n"
                "  orrery run -w traces/resnet50 -s system.json -n network.yml\n",
    .headings = headings,
    .words = offsetof(struct import_options, paths),
};

const struct cli_command cli_trace_import = {.name = "import",
                                             .summary = "turn PyTorch recordings into traces",
                                             .usage = &usage,
                                             .run = cli_trace_import_run_import};
