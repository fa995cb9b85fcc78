/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each answer is what a command of the program prints as JSON, from the same functions of the library. What a request
 * may name is narrower than what a command line may: of files nothing but the folder that is served.
 */
#include "serve/answers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "io/json_write.h"
#include "serve/folder.h"
#include "serve/jobs.h"

enum { ANSWER_RUN_RANKS = 1 << 17, ANSWER_PLAN_SECONDS = 600 };

/* ---- what there is ---- */

enum orr_status serve_answer_version(struct serve_room *room, struct serve_request *request,
                                     struct serve_answer *answer, struct orr_error *err)
{
    struct json_writer writer;
    (void)request;
    json_write_begin(&writer, answer->stream);
    json_write_object(&writer, true);
    json_write_member_string(&writer, "version", orr_version());
    json_write_member_bool(&writer, "store", room->store != NULL);
    json_write_member_bool(&writer, "folder", room->folder >= 0);
    json_write_object_end(&writer);
    json_write_end(&writer);
    return error_of_stream(answer->stream, "the version", err);
}

enum orr_status serve_answer_models(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                    struct orr_error *err)
{
    (void)room, (void)request;
    return orr_train_models_json(answer->stream, err);
}

enum orr_status serve_answer_machines(struct serve_room *room, struct serve_request *request,
                                      struct serve_answer *answer, struct orr_error *err)
{
    (void)room, (void)request;
    return orr_machine_list(ORR_FORM_JSON, answer->stream, err);
}

enum orr_status serve_answer_frameworks(struct serve_room *room, struct serve_request *request,
                                        struct serve_answer *answer, struct orr_error *err)
{
    (void)room, (void)request;
    return orr_train_frameworks_json(answer->stream, err);
}

enum orr_status serve_answer_openapi(struct serve_room *room, struct serve_request *request,
                                     struct serve_answer *answer, struct orr_error *err)
{
    (void)room, (void)request;
    return orr_serve_openapi(answer->stream, err);
}

/* ---- machines ---- */

static enum orr_status answer_machine_check(const char *machine, struct orr_error *err)
{
    return machine != NULL && orr_machine_is_file(machine)
               ? error_set(err, ORR_EINVAL,
                           "parameter 'machine': \"%.80s\" is a file's name; over HTTP a machine is a name or a line",
                           machine)
               : ORR_OK;
}

static const struct param machine_rows[] = {{"machine", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME|LINE",
                                             .place = offsetof(struct serve_machine, name),
                                             .help = "A name or a line (orrery machine list)"},
                                            {"ranks", .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N",
                                             .most = ANSWER_RUN_RANKS, .place = offsetof(struct serve_machine, ranks),
                                             .unwritten = "the machine's", .help = "Of a machine that leaves it open"},
                                            {0}};
const struct param_table serve_machine_tables[] = {{machine_rows, 0, 0}, {0}};

enum orr_status serve_answer_machine(struct serve_room *room, struct serve_request *request,
                                     struct serve_answer *answer, struct orr_error *err)
{
    struct serve_machine asked = {0};
    (void)room;
    enum orr_status status = serve_request_read(request, &asked, err);
    if (status == ORR_OK && asked.name == NULL) {
        status = error_set(err, ORR_EINVAL, "no machine: parameter 'machine' names one");
    }
    status = status == ORR_OK ? answer_machine_check(asked.name, err) : status;
    return status == ORR_OK ? orr_machine_show(asked.name, asked.ranks, ORR_FORM_JSON, answer->stream, err) : status;
}

/* ---- training steps ---- */

const struct param_table serve_train_tables[] = {{param_train, 0, 0}, {0}};

/* A callback's context: whose time it is. */
struct answer_watch {
    const struct serve_room *room;
    const struct serve_request *request;
};

static bool answer_goes_on(void *context, const struct orr_progress *now)
{
    const struct answer_watch *watch = context;
    (void)now;
    return !serve_is_late(watch->room, watch->request);
}

/* A model's file lies in the folder that is served: `path` becomes a name for its descriptor, which no link can lead
 * elsewhere between now and when it is read. */
static enum orr_status answer_open_model(const struct serve_room *room, const char **model, char path[32], int *file,
                                         struct orr_error *err)
{
    uint64_t bytes = 0;
    *file = -1;
    if (*model == NULL || !orr_train_model_is_file(*model)) {
        return ORR_OK;
    }
    if (room->folder < 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'model': \"%.80s\" is a file's name, and no folder is served; a preset's name is "
                         "meant (/api/models)",
                         *model);
    }
    enum orr_status status = serve_folder_file(room->folder, *model, file, &bytes, err);
    if (status == ORR_OK) {
        (void)snprintf(path, 32, "/proc/self/fd/%d", *file);
        *model = path;
    }
    return status;
}

/* What the library says of the descriptor, it says of the file. */
static void answer_name_model(const char *path, const char *model, struct orr_error *err)
{
    char *at = strstr(err->text, path);
    if (at != NULL) {
        char rest[sizeof err->text];
        (void)snprintf(rest, sizeof rest, "%s", at + strlen(path));
        (void)snprintf(at, sizeof err->text - (size_t)(at - err->text), "%s%s", model, rest);
    }
}

static enum orr_status answer_step(struct serve_room *room, struct serve_request *request,
                                   struct orr_train_options *options, struct orr_train_result *result,
                                   struct orr_error *err)
{
    struct answer_watch watch = {room, request};
    const char *model = options->model;
    char path[32];
    int file = -1;
    enum orr_status status = answer_machine_check(options->machine, err);
    status = status == ORR_OK ? answer_open_model(room, &options->model, path, &file, err) : status;
    if (status == ORR_OK) {
        options->memory_limit = room->memory_limit;
        options->progress = answer_goes_on;
        options->progress_context = &watch;
        status = orr_trainer_step(room->trainer, options, result, err);
    }
    if (file >= 0) {
        answer_name_model(path, model, err);
        (void)close(file);
    }
    options->model = model;
    return status;
}

enum orr_status serve_answer_train(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                   struct orr_error *err)
{
    struct orr_train_options options;
    struct orr_train_result result;
    orr_train_options_init(&options);
    enum orr_status status = serve_request_read(request, &options, err);
    status = status == ORR_OK ? answer_step(room, request, &options, &result, err) : status;
    return status == ORR_OK ? orr_train_json(&result, answer->stream, err) : status;
}

/* ---- pages to keep ---- */

static enum orr_status answer_store(const struct serve_room *room, struct orr_error *err)
{
    return room->store != NULL ? ORR_OK
                               : error_set(err, ORR_EIO, "no result store is served; orrery serve FILE.db serves one");
}

#define ROW_LANGUAGE(at)                                                                                               \
    {                                                                                                                  \
        "lang", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "NAME", .place = (at), .unwritten = "en",          \
                .help = "What the page is in: en, zh-TW"                                                               \
    }
static const struct param report_rows[] = {ROW_LANGUAGE(offsetof(struct serve_report, language)), {0}};
static const struct param report_runs_rows[] = {ROW_LANGUAGE(0), {0}};
const struct param_table serve_report_tables[] = {
    {param_train, 0, offsetof(struct serve_report, train)}, {report_rows, 0, 0}, {0}};
const struct param_table serve_report_runs_tables[] = {{report_runs_rows, 0, 0}, {0}};

/* The report, with what status says put into it, as the answer. */
static enum orr_status answer_report(struct orr_report *report, enum orr_status status, struct serve_answer *answer,
                                     struct orr_error *err)
{
    status = status == ORR_OK ? orr_report_write(report, NULL, answer->stream, err) : status;
    answer->is_foreign = true;
    orr_report_close(report);
    return status;
}

enum orr_status serve_answer_report(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                    struct orr_error *err)
{
    struct serve_report asked = {.language = NULL};
    struct orr_train_result result;
    struct orr_report *report = NULL;
    char *json = NULL;
    size_t size = 0;
    FILE *stream = NULL;
    orr_train_options_init(&asked.train);
    enum orr_status status = serve_request_read(request, &asked, err);
    status = status == ORR_OK ? answer_step(room, request, &asked.train, &result, err) : status;
    status = status == ORR_OK ? orr_report_open(asked.language, room->memory_limit, &report, err) : status;
    status = status == ORR_OK ? orr_stream_text(&json, &size, &stream, err) : status;
    if (stream != NULL) {
        struct orr_error closing = {0};
        status = orr_train_json(&result, stream, err);
        enum orr_status closed = orr_stream_close(stream, &closing);
        status = status == ORR_OK ? closed : status;
    }
    status = status == ORR_OK ? orr_report_add(report, result.model.name, json, size, err) : status;
    orr_free(json);
    return answer_report(report, status, answer, err);
}

enum orr_status serve_answer_report_runs(struct serve_room *room, struct serve_request *request,
                                         struct serve_answer *answer, struct orr_error *err)
{
    const char *language = NULL;
    struct orr_report *report = NULL;
    char *runs = NULL;
    enum orr_status status = answer_store(room, err);
    status = status == ORR_OK ? serve_request_read(request, &language, err) : status;
    if (status == ORR_OK && strspn(request->word, "0123456789,") != strlen(request->word)) {
        status = error_set(err, ORR_EINVAL, "\"%.40s\": numbers of runs with commas between them", request->word);
    }
    if (status == ORR_OK && asprintf(&runs, "%s:%s", room->store, request->word) < 0) {
        runs = NULL;
        status = error_set(err, ORR_ENOMEM, "no memory for a report");
    }
    status = status == ORR_OK ? orr_report_open(language, room->memory_limit, &report, err) : status;
    status = status == ORR_OK ? orr_report_add_file(report, runs, err) : status;
    free(runs);
    return answer_report(report, status, answer, err);
}

/* ---- collectives ---- */

const struct param_table serve_collective_tables[] = {{param_coll_sweep, 0, 0}, {0}};

enum orr_status serve_answer_collective(struct serve_room *room, struct serve_request *request,
                                        struct serve_answer *answer, struct orr_error *err)
{
    struct orr_coll_sweep sweep = {.json = true, .last_bytes = (uint64_t)16 << 30};
    (void)room;
    param_defaults(serve_collective_tables, &sweep);
    sweep.question.bytes = 8;
    enum orr_status status = serve_request_read(request, &sweep, err);
    status = status == ORR_OK ? answer_machine_check(sweep.machine.machine, err) : status;
    return status == ORR_OK ? orr_coll_sweep(&sweep, answer->stream, err) : status;
}

static const struct param run_rows[] = {
    {"type", "op", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", .place = offsetof(struct serve_run, type),
     .initial = "all-reduce", .help = "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce"},
    {"bytes", .kind = PARAM_SIZE, .group = PARAM_WHAT, .value = "SIZE", .place = offsetof(struct serve_run, bytes),
     .initial = "1MiB", .help = "Of the whole buffer"},
    {"ranks", .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N", .least = 1, .most = ANSWER_RUN_RANKS,
     .place = offsetof(struct serve_run, ranks), .unwritten = "the machine's",
     .help = "Of a machine that leaves it open"},
    {0}};
const struct param_table serve_run_tables[] = {
    {run_rows, 0, 0}, {param_run, PARAM_OF_RUN, offsetof(struct serve_run, run)}, {0}};

/* Of a run's own parameters those that say how a network behaves; the others name files or are about traces. */
bool serve_run_takes(const struct param *row)
{
    static const char *const names[] = {
        "type",    "bytes",       "ranks",          "machine",         "bandwidth",       "latency",
        "backend", "cc",          "routing",        "no-pfc",          "parallel-links",  "rto",
        "jitter",  "seed",        "queues-per-dim", "rendezvous",      "injection-scale", "collective-times",
        "no-memo", "no-symmetry", "collective-gpu", "no-fast-forward", "no-packets"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(row->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static enum orr_status answer_execute(const struct orr_run_options *options, FILE *stream, struct orr_error *err)
{
    struct orr_run *run = NULL;
    enum orr_status status = orr_run_open(options, &run, err);
    if (status == ORR_OK) {
        status = orr_run_execute(run, err);
    }
    if (status == ORR_OK) {
        status = orr_run_write(run, ORR_OUTPUT_JSON, NULL, stream, err);
    }
    orr_run_close(run);
    return status;
}

enum orr_status serve_answer_run(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                 struct orr_error *err)
{
    static const char name[] = "collective";
    struct serve_run asked = {0};
    struct answer_watch watch = {room, request};
    struct orr_workload *workload = NULL;
    param_defaults(serve_run_tables, &asked);
    orr_run_options_init(&asked.run);
    enum orr_status status = serve_request_read(request, &asked, err);
    if (status == ORR_OK && asked.run.machine == NULL) {
        status = error_set(err, ORR_EINVAL, "no machine: parameter 'machine' names one (/api/machines)");
    }
    status = status == ORR_OK ? answer_machine_check(asked.run.machine, err) : status;
    status = status == ORR_OK ? orr_machine_ranks(asked.run.machine, asked.ranks, &asked.ranks, err) : status;
    if (status == ORR_OK && asked.ranks > ANSWER_RUN_RANKS) {
        status = error_set(err, ORR_ERANGE, "%" PRIu32 " ranks; at most %d are simulated here", asked.ranks,
                           ANSWER_RUN_RANKS);
    }
    if (status == ORR_OK) {
        const struct orr_gen_options gen = {.pattern = ORR_PATTERN_COLLECTIVE,
                                            .type = asked.type,
                                            .bytes = asked.bytes,
                                            .npus = asked.ranks,
                                            .prefix = name};
        status = orr_gen_workload(&gen, &workload, err);
    }
    if (status == ORR_OK) {
        asked.run.workload = name;
        asked.run.loaded = workload;
        asked.run.memory_limit = room->memory_limit;
        orr_run_watch(&asked.run, answer_goes_on, &watch);
        status = answer_execute(&asked.run, answer->stream, err);
    }
    orr_run_options_free(&asked.run);
    orr_workload_close(workload);
    return status;
}

/* ---- jobs ---- */

const struct param_table serve_plan_tables[] = {
    {param_train, 0, offsetof(struct orr_plan_options, job)}, {param_plan, 0, 0}, {0}};

enum orr_status serve_answer_plan(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                  struct orr_error *err)
{
    struct orr_plan_options options;
    uint64_t id = 0;
    orr_plan_options_init(&options);
    enum orr_status status = serve_request_read(request, &options, err);
    status = status == ORR_OK ? answer_machine_check(options.job.machine, err) : status;
    if (status == ORR_OK && options.job.model != NULL && orr_train_model_is_file(options.job.model)) {
        status = error_set(err, ORR_EINVAL, "parameter 'model': plans are searched for a preset (/api/models)");
    }
    if (status != ORR_OK) {
        return status;
    }
    uint32_t spare = room->threads > 1 ? room->threads - 1 : 1; /* for those who drag meanwhile */
    options.threads = options.threads == 0 || options.threads > spare ? spare : options.threads;
    options.seconds =
        options.seconds > 0 && options.seconds < ANSWER_PLAN_SECONDS ? options.seconds : ANSWER_PLAN_SECONDS;
    options.job.memory_limit = room->memory_limit;
    status = serve_jobs_add(room->jobs, &options, request, &id, err);
    answer->code = status == ORR_ERANGE ? 429 : 202;
    return status == ORR_OK ? serve_jobs_show(room->jobs, id, answer->stream, err) : status;
}

enum orr_status serve_answer_jobs(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                  struct orr_error *err)
{
    (void)request;
    return serve_jobs_list(room->jobs, answer->stream, err);
}

static enum orr_status answer_number(const struct serve_request *request, uint64_t *number, struct orr_error *err)
{
    return scan_whole(request->word, strlen(request->word), INT64_MAX, number)
               ? ORR_OK
               : error_set(err, ORR_EIO, "\"%.40s\" is no number", request->word);
}

enum orr_status serve_answer_job(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                 struct orr_error *err)
{
    uint64_t id = 0;
    enum orr_status status = answer_number(request, &id, err);
    return status == ORR_OK ? serve_jobs_show(room->jobs, id, answer->stream, err) : status;
}

enum orr_status serve_answer_job_result(struct serve_room *room, struct serve_request *request,
                                        struct serve_answer *answer, struct orr_error *err)
{
    uint64_t id = 0;
    enum orr_status status = answer_number(request, &id, err);
    return status == ORR_OK ? serve_jobs_result(room->jobs, id, answer->stream, err) : status;
}

enum orr_status serve_answer_job_stop(struct serve_room *room, struct serve_request *request,
                                      struct serve_answer *answer, struct orr_error *err)
{
    uint64_t id = 0;
    enum orr_status status = answer_number(request, &id, err);
    status = status == ORR_OK ? serve_jobs_stop(room->jobs, id, err) : status;
    return status == ORR_OK ? serve_jobs_show(room->jobs, id, answer->stream, err) : status;
}

/* ---- the store ---- */

#define FILTER(name_, text_)                                                                                           \
    {                                                                                                                  \
#name_, .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "TEXT",                                              \
                .place = offsetof(struct orr_store_filter, name_), .help = text_                                       \
    }
static const struct param store_rows[] = {FILTER(tag, "Runs with this tag"),
                                          FILTER(state, "partial, done, stalled, failed or interrupted"),
                                          FILTER(backend, "unaware, aware, packet, flow or auto"),
                                          FILTER(kind, "lab or import"),
                                          {"limit", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N",
                                           .place = offsetof(struct orr_store_filter, newest), .unwritten = "all",
                                           .help = "Only the newest N"},
                                          {0}};
const struct param_table serve_store_tables[] = {{store_rows, 0, 0}, {0}};

static const struct param compare_rows[] = {
    {"before", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N", .least = 1, .most = INT64_MAX,
     .place = offsetof(struct serve_compared, before), .help = "A run's number"},
    {"after", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N", .least = 1, .most = INT64_MAX,
     .place = offsetof(struct serve_compared, after), .help = "Another's"},
    {0}};
const struct param_table serve_compare_tables[] = {{compare_rows, 0, 0}, {0}};

enum orr_status serve_answer_store(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                   struct orr_error *err)
{
    struct orr_store_filter filter = {0};
    enum orr_status status = answer_store(room, err);
    status = status == ORR_OK ? serve_request_read(request, &filter, err) : status;
    return status == ORR_OK ? orr_store_list(room->store, &filter, ORR_STORE_JSON, answer->stream, err) : status;
}

enum orr_status serve_answer_store_run(struct serve_room *room, struct serve_request *request,
                                       struct serve_answer *answer, struct orr_error *err)
{
    uint64_t run = 0;
    enum orr_status status = answer_store(room, err);
    status = status == ORR_OK ? answer_number(request, &run, err) : status;
    return status == ORR_OK ? orr_store_show(room->store, (int64_t)run, ORR_STORE_JSON, answer->stream, err) : status;
}

enum orr_status serve_answer_compare(struct serve_room *room, struct serve_request *request,
                                     struct serve_answer *answer, struct orr_error *err)
{
    struct serve_compared runs = {0};
    bool same = false;
    enum orr_status status = answer_store(room, err);
    status = status == ORR_OK ? serve_request_read(request, &runs, err) : status;
    if (status == ORR_OK && (runs.before == 0 || runs.after == 0)) {
        status = error_set(err, ORR_EINVAL, "parameter 'before' and parameter 'after' name two runs");
    }
    return status == ORR_OK ? orr_store_diff(room->store, (int64_t)runs.before, (int64_t)runs.after, ORR_STORE_JSON,
                                             answer->stream, &same, err)
                            : status;
}

/* ---- files ---- */

static enum orr_status answer_folder(const struct serve_room *room, struct orr_error *err)
{
    return room->folder >= 0 ? ORR_OK : error_set(err, ORR_EIO, "no folder is served; orrery serve DIR serves one");
}

enum orr_status serve_answer_files(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                   struct orr_error *err)
{
    (void)request;
    enum orr_status status = answer_folder(room, err);
    return status == ORR_OK ? serve_folder_list(room->folder, answer->stream, err) : status;
}

enum orr_status serve_answer_file(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                                  struct orr_error *err)
{
    enum orr_status status = answer_folder(room, err);
    const char *type = serve_folder_type(request->word);
    if (status == ORR_OK && type == NULL) {
        status = error_set(err, ORR_EINVAL, "\"%.80s\": files of this kind are not handed out", request->word);
    }
    status = status == ORR_OK ? serve_folder_file(room->folder, request->word, &answer->file, &answer->file_bytes, err)
                              : status;
    answer->type = status == ORR_OK ? type : answer->type;
    answer->is_foreign = true;
    return status;
}
