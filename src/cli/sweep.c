/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery sweep`: many runs that differ in a few values, on all processors, kept as they end and ranked at last. */
#include "cli/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/lab.h"
#include "cli/watch.h"

enum { SWEEP_TASKS = 64, SWEEP_SHARDS_MOST = 100000, ONLY_MOST = 256 };

struct sweep_command {
    struct orr_sweep_plan_options plan;
    const char *vary[SWEEP_KEYS_MOST];
    struct orr_sweep_options sweep;
    uint64_t only[ONLY_MOST];
    uint64_t best;
    enum orr_sweep_rank by;
    struct sweep_slurm slurm;
    const char *csv, *json, *report, *chart;
    int argc; /* as typed */
    char **argv;
    bool dry, quiet, no_progress;
};

/* "3,17" and nothing else; points count from 1. */
static enum orr_status cli_sweep_read_points(const struct param *row, const char *text, void *into,
                                             struct orr_error *err)
{
    struct sweep_command *command = into;
    char word[24];
    (void)row;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        uint64_t point = 0;
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        enum orr_status status = param_parse_count("parameter 'point'", word, 1, UINT32_MAX, &point, err);
        if (status == ORR_OK && command->sweep.only_count == ONLY_MOST) {
            status = error_set(err, ORR_ERANGE, "parameter 'point': more than %d points", ONLY_MOST);
        }
        if (status != ORR_OK) {
            return status;
        }
        command->only[command->sweep.only_count++] = point - 1;
        at += length;
        if (*at == '\0') {
            return ORR_OK;
        }
    }
}

static enum orr_status read_vary(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct sweep_command *command = into;
    (void)row;
    if (command->plan.vary_count == SWEEP_KEYS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter 'vary' is given more than %d times", SWEEP_KEYS_MOST);
    }
    command->vary[command->plan.vary_count++] = text;
    return ORR_OK;
}

static enum orr_status cli_sweep_take_file(void *into, const char *word, struct orr_error *err)
{
    struct sweep_command *command = into;
    (void)err;
    if (command->plan.file != NULL) {
        return ORR_EINVAL;
    }
    command->plan.file = word;
    return ORR_OK;
}

/* "K/N", K of 1 to N. */
static enum orr_status cli_sweep_read_shard(const struct param *row, const char *text, void *into,
                                            struct orr_error *err)
{
    struct sweep_command *command = into;
    const char *slash = strchr(text, '/');
    char first[24];
    uint64_t shard = 0;
    uint64_t shards = 0;
    (void)row;
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "/"), text);
    enum orr_status status =
        slash == NULL ? error_set(err, ORR_EINVAL, "parameter 'shard': \"%.60s\" is not K/N, part K of N", text)
                      : param_parse_count("parameter 'shard'", slash + 1, 1, SWEEP_SHARDS_MOST, &shards, err);
    status = status == ORR_OK ? param_parse_count("parameter 'shard'", first, 1, shards, &shard, err) : status;
    command->sweep.shard = (uint32_t)shard;
    command->sweep.shards = (uint32_t)shards;
    return status;
}

static const char *const slurm_forms[] = {"array", "mpi", NULL};                   /* enum sweep_slurm_form */
static const char *const figures[] = {"time", "exposed", "comm", "compute", NULL}; /* enum orr_sweep_rank */

#define AT(field) .place = offsetof(struct sweep_command, field)

static const struct param rows[] = {
    {"vary", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_MANY, .value = "KEY=VALUES", .read = read_vary,
     .help = "A key and its values: a,b,c; 1..8; 0..100..25; [50,25] is one value that is a list. The key is an option "
             "of the command, or a key of one of its configuration files (system.endpoint-delay, network.bandwidth, "
             "network.CC_MODE). May be given several times: every combination is a point"},
    {"zip", .kind = PARAM_FLAG, .group = PARAM_WHAT, AT(plan.zip),
     .help = "The first values of all keys make a point, then the second ones, and so on"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .value = "N", AT(sweep.threads),
     .least = 1, .most = 1024, .unwritten = "one for each processor",
     .help = "Points at once. The results are the same"},
    {"fresh", .kind = PARAM_FLAG, .group = PARAM_SIMULATION, AT(sweep.fresh),
     .help = "Run points again that the store has already"},
    {"point", .kind = PARAM_READ, .group = PARAM_SIMULATION, .value = "N,...", .read = cli_sweep_read_points,
     .help = "Run these points again, and no others"},
    {"shard", .kind = PARAM_READ, .group = PARAM_SIMULATION, .value = "K/N", .read = cli_sweep_read_shard,
     .help =
         "Run the K-th of N parts, and keep its points in a file beside the store, for machines that share a folder "
         "(docs/cluster.md)"},
    {"collect", .kind = PARAM_FLAG, .group = PARAM_SIMULATION, AT(sweep.collect),
     .help = "Put the points of all shards into the store, and run none"},
    {"slurm", .kind = PARAM_PATH, .group = PARAM_SIMULATION, .value = "FILE", AT(slurm.file),
     .help = "Write a batch script for Slurm that runs this sweep on many machines and collects it; run nothing"},
    {"slurm-form", .kind = PARAM_WORD, .group = PARAM_SIMULATION, .value = "NAME", AT(slurm.form), .words = slurm_forms,
     .initial = "array", .help = "Of that script: an array of shards, or one job of MPI (a build with MPI)"},
    {"slurm-tasks", .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .value = "N", AT(slurm.tasks), .least = 1,
     .most = SWEEP_SHARDS_MOST, .unwritten = "as many as points, 64 at most",
     .help = "Of that script: shards, or processes"},
    {"dry-run", .kind = PARAM_FLAG, .group = PARAM_SIMULATION, AT(dry),
     .help = "Check everything and show the points; run none"},
    {"tag", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "NAME", AT(sweep.tag),
     .unwritten = "the sweep file's name", .help = "A name for the runs in the store"},
    {"best", .kind = PARAM_COUNT, .group = PARAM_OUTPUT, .value = "N", AT(best), .most = UINT32_MAX, .initial = "20",
     .help = "Rows of the table; 0 shows all"},
    {"by", .kind = PARAM_WORD, .group = PARAM_OUTPUT, .value = "NAME", AT(by), .words = figures, .initial = "time",
     .help = "What is best: the least time, exposed (communication that no compute hides), comm or compute"},
    {"csv", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(csv),
     .help = "Also write all points as CSV; - is standard output, in place of the table"},
    {"json", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(json),
     .help = "Also write all points as JSON; - is standard output, in place of the table"},
    {"report", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(report),
     .help = "Also write a page to open in a browser (HTML, docs/report.md)"},
    CLI_ROW_CHART(struct sweep_command, chart),
    CLI_ROW_STORE(struct sweep_command, sweep.store),
    {"no-progress", .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(no_progress),
     .help = "No progress line on a terminal"},
    {"quiet", .letter = 'q', .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(quiet),
     .help = "Neither warnings nor progress"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "What varies:", [PARAM_SIMULATION] = "How to run:", [PARAM_OUTPUT] = "What to keep and show:"};

/* ---- while it runs ---- */

struct sweep_watch {
    struct watch watch; /* signals, and whether there is a terminal */
    bool draw;
    uint64_t start_ns, next_ns;
};

static void cli_sweep_draw(struct sweep_watch *watch, const struct orr_sweep_progress *now, double elapsed_s)
{
    uint64_t ended = now->done + now->failed + now->stalled;
    double made = (double)(ended - now->kept) + now->running;
    double left = (double)now->left - now->running;
    char eta[32] = "unknown";
    if (made > 0) {
        (void)snprintf(eta, sizeof eta, "%.0f s", elapsed_s * left / made);
    }
    (void)fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " points", ended, now->points);
    if (now->failed + now->stalled > 0) {
        (void)fprintf(stderr, " (%" PRIu64 " failed, %" PRIu64 " stalled)", now->failed, now->stalled);
    }
    (void)fprintf(stderr, ", %.1f a second, ETA %s\033[K", elapsed_s > 0 ? made / elapsed_s : 0, eta);
    (void)fflush(stderr);
    watch->watch.drawn = true;
}

static bool on_progress(void *context, const struct orr_sweep_progress *now)
{
    struct sweep_watch *watch = context;
    const struct orr_progress nothing = {0};
    uint64_t clock = clock_now_ns();
    if (watch->draw && clock >= watch->next_ns) {
        cli_sweep_draw(watch, now, (double)(clock - watch->start_ns) / 1e9);
        watch->next_ns = clock + 200000000;
    }
    return watch_progress(&watch->watch, &nothing);
}

/* ---- doing it ---- */

static enum orr_status cli_sweep_check_outputs(const struct sweep_command *command, struct orr_error *err)
{
    const struct {
        const char *option, *path;
    } outputs[] = {
        {"--csv", command->csv}, {"--json", command->json}, {"--report", command->report}, {"--chart", command->chart}};
    enum orr_status chart = cli_chart_check(command->chart, err);
    if (chart != ORR_OK) {
        return chart;
    }
    bool both = command->csv != NULL && command->json != NULL && strcmp(command->csv, command->json) == 0;
    if (both) {
        return error_set(err, ORR_EINVAL, "--csv and --json both want %s", command->csv);
    }
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        const char *path = outputs[i].path;
        if (path == NULL || (strcmp(path, "-") == 0 && path != command->report && path != command->chart)) {
            continue;
        }
        enum orr_status status = cli_check_name(outputs[i].option, path, err);
        if (status != ORR_OK) {
            return status;
        }
        const char *store = command->sweep.store != NULL ? command->sweep.store : CLI_STORE_DEFAULT;
        if (cli_same_file(path, command->plan.file) || cli_same_file(path, store)) {
            return error_set(err, ORR_EINVAL, "%s: %s is an input; give another name", outputs[i].option, path);
        }
    }
    return ORR_OK;
}

/* A folder of traces is searched for them: what has their ending may be one. */
static bool is_trace(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".et") == 0 && cli_same_file(path, path);
}

/* A point's files are inputs too; a thousand points name few of them, again and again. */
static enum orr_status check_inputs(const struct sweep_command *command, const struct sweep_points *points,
                                    struct orr_error *err)
{
    const char *const outputs[] = {command->csv, command->json, command->report, command->chart};
    for (uint64_t i = 0; i < points->count; i++) {
        const struct orr_run_options *run = points->jobs[i].run;
        const struct orr_lab_options *lab = points->jobs[i].lab;
        const char *const inputs[] = {run != NULL ? run->system : lab->run.system,
                                      run != NULL ? run->network : lab->run.machine,
                                      run != NULL ? run->logical : NULL,
                                      run != NULL ? run->memory : NULL,
                                      run != NULL ? run->groups : NULL,
                                      points->jobs[i].calibration};
        const char *workload = run != NULL ? run->workload : lab->run.workload;
        for (size_t o = 0; o < sizeof outputs / sizeof outputs[0]; o++) {
            bool same = outputs[o] != NULL && workload != NULL &&
                        (cli_is_rank_file(outputs[o], workload) || (lab != NULL && is_trace(outputs[o])));
            for (size_t k = 0; outputs[o] != NULL && k < sizeof inputs / sizeof inputs[0]; k++) {
                same = same || cli_same_file(outputs[o], inputs[k]);
            }
            if (same) {
                return error_set(err, ORR_EINVAL, "%s is an input of point %" PRIu64 "; give another name", outputs[o],
                                 i + 1);
            }
        }
    }
    return ORR_OK;
}

static enum orr_status check_only(const struct sweep_command *command, const struct orr_sweep_plan *plan,
                                  struct orr_error *err)
{
    uint64_t count = orr_sweep_plan_point_count(plan);
    for (size_t i = 0; i < command->sweep.only_count; i++) {
        if (command->only[i] >= count) {
            return error_set(err, ORR_ERANGE, "--point: %" PRIu64 " is not between 1 and %" PRIu64,
                             command->only[i] + 1, count);
        }
    }
    return ORR_OK;
}

static void print_points(const struct orr_sweep_plan *plan)
{
    for (uint64_t point = 0; point < orr_sweep_plan_point_count(plan); point++) {
        (void)printf("point %" PRIu64 ":", point + 1);
        for (size_t key = 0; key < orr_sweep_plan_key_count(plan); key++) {
            struct orr_sweep_key said;
            orr_sweep_plan_key(plan, key, &said);
            (void)printf(" %s=%s", said.name, orr_sweep_plan_value(plan, point, key));
        }
        (void)printf("\n");
    }
}

static enum orr_status cli_sweep_write_report(const struct sweep_command *command, const struct orr_sweep *sweep,
                                              struct orr_error *err)
{
    FILE *stream = NULL;
    char *text = NULL;
    size_t size = 0;
    enum orr_status status = orr_stream_text(&text, &size, &stream, err);
    if (status != ORR_OK) {
        return status;
    }
    status = orr_sweep_write(sweep, ORR_SWEEP_JSON, command->by, 0, NULL, stream, err);
    enum orr_status closed = orr_stream_close(stream, status == ORR_OK ? err : NULL);
    status = status == ORR_OK ? closed : status;
    status = status == ORR_OK
                 ? cli_report_text(command->report, command->argc, command->argv, command->argv[0], text, size, err)
                 : status;
    orr_free(text);
    return status;
}

/* The files come first, so that none is missing when the reader of the table has gone away. */
static enum orr_status cli_sweep_write_results(const struct sweep_command *command, const struct orr_sweep *sweep,
                                               struct orr_error *err)
{
    const struct {
        const char *path;
        enum orr_sweep_form form;
    } files[] = {{command->csv, ORR_SWEEP_CSV}, {command->json, ORR_SWEEP_JSON}};
    bool table_wanted = true;
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < sizeof files / sizeof files[0]; i++) {
        bool dash = files[i].path != NULL && strcmp(files[i].path, "-") == 0;
        table_wanted = table_wanted && !dash;
        if (files[i].path != NULL) {
            status = orr_sweep_write(sweep, files[i].form, command->by, 0, dash ? NULL : files[i].path, stdout, err);
        }
    }
    if (status == ORR_OK && command->chart != NULL) {
        status = orr_sweep_write(sweep, ORR_SWEEP_CHART, command->by, command->best, command->chart, NULL, err);
    }
    if (status == ORR_OK && command->report != NULL) {
        status = cli_sweep_write_report(command, sweep, err);
    }
    if (status == ORR_OK && table_wanted) {
        status = orr_sweep_write(sweep, ORR_SWEEP_TEXT, command->by, command->best, NULL, stdout, err);
    }
    return status;
}

/* 3 when a point ran out of memory, 1 when one failed, 4 when all stalled: the rest of a sweep is worth having all the
 * same. */
static int exit_code_of(const struct orr_sweep *sweep)
{
    struct orr_sweep_progress end;
    orr_sweep_progress(sweep, &end);
    if (end.limited > 0) {
        cli_error("%" PRIu64 " of %" PRIu64 " points ran out of memory; fewer --threads leave each of them more",
                  end.limited, end.points);
        return orr_status_exit_code(ORR_ENOMEM);
    }
    if (end.failed > 0) {
        return orr_status_exit_code(ORR_EFAIL);
    }
    return end.stalled > 0 && end.stalled == end.points ? orr_status_exit_code(ORR_ESTALL) : 0;
}

static int cli_sweep_run_sweep(struct sweep_command *command, struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    struct orr_error later = {0};
    struct orr_sweep *sweep = NULL;
    struct sweep_watch watch = {.start_ns = clock_now_ns()};
    const struct orr_notices notices = cli_notices(warnings, false); /* each point says itself whether it is strict */
    enum orr_status status = watch_init(&watch.watch, NULL, !command->quiet && !command->no_progress, &err);
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    watch.draw = watch.watch.draw;
    watch.watch.draw = false; /* the line is ours */
    watch.next_ns = watch.start_ns + 500000000;
    command->sweep.progress = on_progress;
    command->sweep.progress_context = &watch;
    watch_begin(&watch.watch);
    status = orr_sweep_run(&command->sweep, &notices, &sweep, &err);
    watch_end(&watch.watch);
    cli_warnings_end(warnings);
    enum orr_status printed = sweep == NULL ? ORR_OK : cli_sweep_write_results(command, sweep, &later);
    int exit_code = status != ORR_OK    ? cli_fail(&err)
                    : printed != ORR_OK ? cli_end(printed, &later)
                    : sweep == NULL     ? 0 /* a worker */
                                        : exit_code_of(sweep);
    watch_finish(&watch.watch, exit_code == 0 ? WATCH_DONE : WATCH_FAILED);
    orr_sweep_close(sweep);
    return exit_code;
}

static int with_points(struct sweep_command *command, const struct orr_sweep_plan *plan, int word_count, char **words)
{
    struct orr_error err = {0};
    struct sweep_points points;
    struct cli_warnings warnings = {.quiet = command->quiet};
    int exit_code = 0;
    char *base = NULL;
    enum orr_status status = sweep_points_make(plan, word_count, words, &points, &warnings, &err);
    if (status == ORR_OK) {
        status = check_inputs(command, &points, &err);
    }
    if (status == ORR_OK) {
        base = sweep_points_base(&points);
        status = base != NULL ? ORR_OK : error_set(&err, ORR_ENOMEM, "out of memory");
    }
    if (status != ORR_OK) {
        exit_code = cli_fail(&err);
    } else if (command->dry) {
        print_points(plan);
    } else if (command->slurm.file != NULL) {
        uint64_t count = orr_sweep_plan_point_count(plan);
        uint32_t most = count < SWEEP_TASKS ? (uint32_t)count : SWEEP_TASKS;
        command->slurm.tasks = command->slurm.tasks > 0 ? command->slurm.tasks : most;
        command->slurm.threads = command->sweep.threads;
        exit_code = cli_end(sweep_slurm_write(&command->slurm, command->sweep.command, &err), &err);
    } else {
        command->quiet = warnings.quiet = command->quiet || points.quiet;
        command->no_progress = command->no_progress || points.no_progress;
        if (command->sweep.shards > 0) { /* files are of all points: they are written when these are collected */
            command->csv = command->json = command->report = command->chart = NULL;
        }
        command->sweep.plan = plan;
        command->sweep.jobs = points.jobs;
        command->sweep.base = base;
        command->sweep.only = command->sweep.only_count > 0 ? command->only : NULL;
        exit_code = cli_sweep_run_sweep(command, &warnings);
    }
    free(base);
    sweep_points_free(&points);
    return exit_code;
}

static int execute(struct sweep_command *command, int word_count, char **words)
{
    struct orr_error err = {0};
    struct orr_sweep_plan *plan = NULL;
    command->plan.vary = command->vary;
    enum orr_status status = cli_sweep_check_outputs(command, &err);
    if (status == ORR_OK) {
        status = orr_sweep_plan_open(&command->plan, &plan, &err);
    }
    if (status == ORR_OK) {
        status = check_only(command, plan, &err);
    }
    int exit_code = status == ORR_OK ? with_points(command, plan, word_count, words) : cli_fail(&err);
    orr_sweep_plan_close(plan);
    return exit_code;
}

/* Options that say which points are run where, and the words they take. */
static const struct {
    const char *option;
    int words;
} places[] = {{"--point", 1}, {"--shard", 1},      {"--collect", 0},
              {"--slurm", 1}, {"--slurm-form", 1}, {"--slurm-tasks", 1}};

/* How many words of a command line an option of `places` takes, its own included; 0: it is none. */
static int place_words(const char *word)
{
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strlen(places[i].option) == length && strncmp(places[i].option, word, length) == 0) {
            return word[length] == '=' ? 1 : 1 + places[i].words;
        }
    }
    return 0;
}

/* What was typed, less these: the store has the command of each point, and puts --point in again. */
static char *typed_command(int own, int argc, char **argv)
{
    char **kept = calloc((size_t)argc + 1, sizeof *kept);
    int count = 0;
    for (int i = 0; kept != NULL && i < argc;) {
        int words = i < own ? place_words(argv[i]) : 0;
        if (words == 0) {
            kept[count++] = argv[i];
        }
        i += words > 0 ? words : 1;
    }
    char *text = kept == NULL ? NULL : cli_quote_command(count, kept);
    free(kept);
    return text;
}

static int cli_sweep_run_command(const struct cli_command *self, int argc, char **argv)
{
    struct sweep_command command = {.argc = argc, .argv = argv};
    struct orr_error err = {0};
    int code = 0;
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0) {
        own++;
    }
    param_defaults(tables, &command);
    if (!cli_begin(self, own, argv, &command, &code)) {
        return code;
    }
    char *typed = typed_command(own, argc, argv);
    enum orr_status status =
        typed == NULL ? error_set(&err, ORR_ENOMEM, "out of memory") : orr_cluster_open(&command.sweep.cluster, &err);
    bool worker = orr_cluster_is_worker(command.sweep.cluster);
    bool alone = command.dry || command.slurm.file != NULL || command.sweep.collect; /* the first process does that */
    command.quiet = command.quiet || worker;
    command.sweep.command = typed;
    int exit_code = status != ORR_OK  ? cli_fail(&err)
                    : worker && alone ? 0
                                      : execute(&command, own < argc ? argc - own - 1 : 0, argv + own + (own < argc));
    orr_cluster_close(command.sweep.cluster);
    free(typed);
    return exit_code;
}

static const struct cli_usage usage = {
    .tables = tables,
    .headings = headings,
    .forms = "FILE\n--vary KEY=VALUES... -- [run|lab run] OPTIONS",
    .about = "Run a command many times with different values, on all cores, and rank the results. Every finished point "
             "is kept in the result store; the same command resumes a sweep that was killed. Unless --backend is "
             "given, all points run on one network that all of them support, named below the table. FILE is a sweep in "
             "YAML; docs/sweeps.md describes it.",
    .examples = "  orrery sweep --vary network.bandwidth=50,100,200 \\\n"
                "      --vary system.preferred-dataset-splits=1,4 -- \\\n"
                "      --workload traces/allreduce --system system.json --network network.yml\n"
                "  orrery sweep --vary topology=ring,switch,fc --vary bandwidth=25,100 \\\n"
                "      --csv points.csv -- lab run --workload traces/resnet50\n"
                "  orrery sweep sweep.yml --best 5\n",
    .argument = cli_sweep_take_file,
};

const struct cli_command cli_sweep = {.name = "sweep",
                                      .summary = "run many variants on all cores, and rank them",
                                      .usage = &usage,
                                      .run = cli_sweep_run_command};
