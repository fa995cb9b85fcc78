/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery watch`: a job that runs, followed: recordings as they appear in a folder, or the status file of a
 * simulation. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "cli/watch.h"

struct follow_options {
    struct orr_watch_options watch;
    const char *target;
    uint64_t step_ns, interval_ns, for_ns;
    bool once, until_alarm, quiet;
    struct cli_forms forms;
};

#define AT(field) .place = offsetof(struct follow_options, field)

static const struct param follow_rows[] = {
    {"expect", .kind = PARAM_PATH, .value = "FILE.json", AT(watch.expected), .unwritten = "the first window",
     .help = "The expectation: --json output of orrery run or orrery train for the same job"},
    {"step", .kind = PARAM_TIME, .value = "TIME", .unit = "ms", .least = 1, AT(step_ns),
     .unwritten = "what --expect says", .help = "The expected time of a step: 400ms; a bare number is in ms"},
    {"tolerance", .kind = PARAM_REAL, .value = "SHARE", .initial = "0.1", .real_least = 0.001, .real_most = 10,
     AT(watch.tolerance), .help = "Relative slowdown that raises an alarm"},
    {"interval", .kind = PARAM_TIME, .value = "TIME", .unit = "s", .initial = "5s", .least = 1000000, AT(interval_ns),
     .help = "Polling interval; a bare number is in s"},
    {"for", .kind = PARAM_TIME, .value = "TIME", .unit = "s", AT(for_ns), .unwritten = "until Ctrl-C",
     .help = "Stop after this time; a bare number is in s"},
    {"once", .kind = PARAM_FLAG, AT(once), .help = "Process what is there, and exit"},
    {"until-alarm", .kind = PARAM_FLAG, AT(until_alarm), .help = "Stop at the first alarm"},
    CLI_ROW_JSON(struct follow_options, forms.json),
    CLI_ROW_QUIET(struct follow_options, quiet),
    {0},
};

static enum orr_status follow_take_target(void *into, const char *word, struct orr_error *err)
{
    struct follow_options *options = into;
    if (options->target != NULL) {
        return error_set(err, ORR_EINVAL, "\"%s\": one is watched at a time, and %s was named already", word,
                         options->target);
    }
    options->target = word;
    return ORR_OK;
}

/* Standard output is the document's. */
static bool follow_is_document(const struct follow_options *options)
{
    return options->forms.json != NULL && strcmp(options->forms.json, "-") == 0;
}

/* False when the wish to stop has come. */
static bool follow_goes_on(struct watch *watch)
{
    const struct orr_progress nothing = {0};
    return watch_progress(watch, &nothing);
}

/* Sleeps until the next look; false when it is time to end. `end_ns` 0: never by itself. */
static bool follow_wait(struct watch *watch, uint64_t interval_ns, uint64_t end_ns)
{
    uint64_t now = clock_now_ns();
    if (end_ns != 0 && now >= end_ns) {
        return false;
    }
    uint64_t wait = end_ns != 0 && end_ns - now < interval_ns ? end_ns - now : interval_ns;
    const struct timespec sleep = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
    (void)nanosleep(&sleep, NULL); /* a signal ends it early */
    return follow_goes_on(watch);
}

/* ---- a folder ---- */

static enum orr_status follow_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    return form == ORR_FORM_JSON ? orr_watch_json(context, stream, err) : ORR_OK; /* the text was written as it came */
}

static enum orr_status follow_folder(struct follow_options *options, struct watch *signals, uint64_t end_ns,
                                     struct orr_watch_seen *seen, struct orr_error *err)
{
    struct cli_warnings warnings = {.quiet = options->quiet};
    struct orr_notices notices = cli_notices(&warnings, false);
    struct orr_watch *watch = NULL;
    FILE *stream = follow_is_document(options) ? stderr : stdout;
    enum orr_status status = orr_watch_open(&options->watch, &watch, err);
    bool goes_on = status == ORR_OK;
    bool last = options->once;
    while (goes_on) {
        status = orr_watch_look(watch, last, &notices, stream, seen, err);
        (void)fflush(stream);
        bool ended = last || (options->until_alarm && seen->alarms > 0);
        goes_on = status == ORR_OK && !ended;
        if (goes_on && !follow_wait(signals, options->interval_ns, end_ns)) {
            last = true; /* one more, which judges what is there */
        }
    }
    cli_warnings_end(&warnings);
    if (status == ORR_OK && options->forms.json != NULL) {
        status = cli_forms_put(&options->forms, follow_answer, watch, err);
    }
    orr_watch_close(watch);
    return status;
}

static int follow_folder_run(struct follow_options *options, struct watch *signals, uint64_t end_ns)
{
    struct orr_watch_seen seen = {0};
    struct orr_error err = {0};
    enum orr_status status = follow_folder(options, signals, end_ns, &seen, &err);
    if (status != ORR_OK) {
        return cli_end(status, &err);
    }
    if (!follow_is_document(options)) {
        (void)printf("%" PRIu32 " recording%s of %" PRIu32 " rank%s in %" PRIu32 " window%s: %" PRIu64 " alarm%s\n",
                     seen.files, seen.files == 1 ? "" : "s", seen.ranks, seen.ranks == 1 ? "" : "s", seen.windows,
                     seen.windows == 1 ? "" : "s", seen.alarms, seen.alarms == 1 ? "" : "s");
    }
    return seen.alarms > 0 ? 1 : 0;
}

/* ---- a status file ---- */

static void follow_print_status(const struct orr_status_now *now)
{
    (void)printf("%s: %.6f s simulated, %" PRIu64 " of %" PRIu64 " nodes, %.1f s so far", now->state,
                 (double)now->simulated_ns * 1e-9, now->nodes_done, now->nodes, now->elapsed_s);
    if (strcmp(now->state, "running") == 0 && !isnan(now->eta_s)) {
        (void)printf(", %.1f s left", now->eta_s);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

/* As the watched program's own exit code would be. */
static int follow_status_code(const struct orr_status_now *now)
{
    return strcmp(now->state, "stalled") == 0                                                      ? 4
           : strcmp(now->state, "done") == 0 || (strcmp(now->state, "running") == 0 && !now->lost) ? 0
                                                                                                   : 1;
}

static int follow_status_run(const struct follow_options *options, struct watch *signals, uint64_t end_ns)
{
    struct orr_error err = {0};
    struct orr_status_now now = {0};
    bool running = true;
    while (running) {
        enum orr_status status = orr_status_read(options->target, &now, &err);
        if (status != ORR_OK) {
            return cli_end(status, &err);
        }
        follow_print_status(&now);
        running = strcmp(now.state, "running") == 0 && !now.lost && !options->once &&
                  follow_wait(signals, options->interval_ns, end_ns);
    }
    if (now.lost) {
        cli_error("%s: says \"running\", and its process is gone", options->target);
    }
    return follow_status_code(&now);
}

/* ---- the command ---- */

static enum orr_status follow_check(struct follow_options *options, bool is_folder, struct orr_error *err)
{
    if (options->target == NULL) {
        return error_set(err, ORR_EINVAL, "nothing to watch: name a folder of recordings, or a status file");
    }
    if (!is_folder && (options->watch.expected != NULL || options->step_ns != 0 || options->until_alarm ||
                       options->forms.json != NULL)) {
        return error_set(err, ORR_EINVAL,
                         "%s: is no folder; --expect, --step, --until-alarm and --json are for a folder of recordings",
                         options->target);
    }
    return cli_forms_check(&options->forms, (struct cli_inputs){&options->watch.expected, 1}, err);
}

static int follow_run(const struct cli_command *self, int argc, char **argv)
{
    struct follow_options options = {0};
    struct orr_error err = {0};
    struct watch signals;
    struct stat about;
    int code = 0;
    orr_watch_options_init(&options.watch);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    bool is_folder = options.target != NULL && stat(options.target, &about) == 0 && S_ISDIR(about.st_mode);
    enum orr_status status = follow_check(&options, is_folder, &err);
    status = status == ORR_OK ? watch_init(&signals, NULL, false, &err) : status;
    if (status != ORR_OK) {
        return cli_end(status, &err);
    }
    options.watch.folder = options.target;
    options.watch.step_ms = (double)options.step_ns * 1e-6;
    uint64_t end_ns = options.for_ns != 0 ? clock_now_ns() + options.for_ns : 0;
    watch_begin(&signals);
    code = is_folder ? follow_folder_run(&options, &signals, end_ns) : follow_status_run(&options, &signals, end_ns);
    watch_end(&signals);
    watch_finish(&signals, WATCH_DONE);
    return code;
}

static const struct cli_usage follow_usage = {
    .tables = (const struct param_table[]){{follow_rows, 0, 0}, {0}},
    .forms = "FOLDER\nSTATUS.json",
    .about =
        "Follow a running job. FOLDER is where PyTorch's profiler writes device traces; each window of steps is "
        "compared with a simulation, or with the job's own first window, as it appears: steps that take longer, "
        "a rank that computes longer than the others, communication that takes longer on all ranks. STATUS.json: what "
        "orrery run --status-file writes.",
    .notes = "Exit code of a folder: 0 when there was no alarm, 1 when there was. Of a status file: 0 done, 1 failed, "
             "interrupted or gone, 4 stalled.",
    .examples = "  orrery watch recording --once\n"
                "  orrery watch profiles --expect step.json --tolerance 0.05 --until-alarm\n"
                "  orrery watch status.json --interval 1\n",
    .argument = follow_take_target,
};

const struct cli_command cli_follow = {.name = "watch",
                                       .summary = "follow a running job, and say when it is slower than expected",
                                       .usage = &follow_usage,
                                       .run = follow_run};
