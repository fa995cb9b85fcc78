/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, because a search has all processors but one for itself: answers to those who drag go on meanwhile. */
#include "serve/jobs.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "io/json_write.h"

enum { JOBS_KEPT = 64, JOBS_WAITING = 16, JOBS_TOLD_MS = 100 };

#define JOB_STATES(X)                                                                                                  \
    X(QUEUED, "queued")                                                                                                \
    X(RUNNING, "running")                                                                                              \
    X(DONE, "done")                                                                                                    \
    X(CANCELLED, "cancelled")                                                                                          \
    X(FAILED, "failed")
enum job_state {
#define JOB_X(name, word) JOB_##name,
    JOB_STATES(JOB_X)
#undef JOB_X
};
static const char *const job_words[] = {
#define JOB_X(name, word) word,
    JOB_STATES(JOB_X)
#undef JOB_X
};

struct job {
    uint64_t id;
    enum job_state state;
    struct orr_plan_options plan; /* texts are `request`'s */
    struct serve_request request;
    uint64_t predicted, plans;
    uint64_t begun_ns, ended_ns;
    uint64_t version; /* grows with every change that is told */
    uint64_t told_ns; /* when it last did */
    bool is_stopped;
    char *result;
    size_t result_size;
    char error[sizeof((struct orr_error *)0)->text];
    struct serve_jobs *jobs;
};

struct serve_jobs {
    struct serve_room *room;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct job *list[JOBS_KEPT]; /* oldest first */
    size_t count;
    uint64_t last_id;
    bool is_closing;
    void (*changed)(void *context);
    void *context;
};

static void job_free(struct job *job)
{
    serve_request_free(&job->request);
    orr_free(job->result);
    free(job);
}

static struct job *jobs_find(const struct serve_jobs *jobs, uint64_t id)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->list[i]->id == id) {
            return jobs->list[i];
        }
    }
    return NULL;
}

static void jobs_tell(struct serve_jobs *jobs)
{
    if (jobs->changed != NULL) {
        jobs->changed(jobs->context);
    }
}

/* ---- the work ---- */

static bool job_progress(void *context, uint64_t predicted, uint64_t plans)
{
    struct job *job = context;
    struct serve_jobs *jobs = job->jobs;
    uint64_t now = clock_now_ns();
    (void)pthread_mutex_lock(&jobs->lock);
    bool goes_on = !job->is_stopped && !jobs->is_closing;
    bool tells = now >= job->told_ns + (uint64_t)JOBS_TOLD_MS * 1000000;
    job->predicted = predicted;
    job->plans = plans;
    if (tells) {
        job->told_ns = now;
        job->version++;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    if (tells) {
        jobs_tell(jobs);
    }
    return goes_on;
}

static enum orr_status job_search(struct job *job, char **text, size_t *size, struct orr_error *err)
{
    struct orr_plan_result *result = NULL;
    FILE *stream = NULL;
    enum orr_status status = orr_plan_search(&job->plan, &result, err);
    if (result != NULL) { /* one that was stopped tells what it had found */
        struct orr_error later = {0};
        enum orr_status told = orr_stream_text(text, size, &stream, &later);
        if (told == ORR_OK) {
            told = orr_plan_json(result, stream, &later);
            enum orr_status closed = orr_stream_close(stream, &later);
            told = told == ORR_OK ? closed : told;
        }
        if (told != ORR_OK && status == ORR_OK) {
            *err = later;
            status = told;
        }
    }
    free(result);
    return status;
}

static void job_run(struct serve_jobs *jobs, struct job *job)
{
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    enum orr_status status = job_search(job, &text, &size, &err);
    (void)pthread_mutex_lock(&jobs->lock);
    job->state = status == ORR_OK ? JOB_DONE : status == ORR_EINTR ? JOB_CANCELLED : JOB_FAILED;
    job->result = text;
    job->result_size = size;
    job->ended_ns = clock_now_ns();
    job->predicted = status == ORR_OK ? job->plans : job->predicted;
    if (status != ORR_OK) {
        (void)snprintf(job->error, sizeof job->error, "%s", err.text);
    }
    job->version++;
    (void)pthread_mutex_unlock(&jobs->lock);
    jobs_tell(jobs);
}

static struct job *jobs_next(const struct serve_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->list[i]->state == JOB_QUEUED) {
            return jobs->list[i];
        }
    }
    return NULL;
}

static void *jobs_main(void *context)
{
    struct serve_jobs *jobs = context;
    (void)pthread_mutex_lock(&jobs->lock);
    while (!jobs->is_closing) {
        struct job *job = jobs_next(jobs);
        if (job == NULL) {
            (void)pthread_cond_wait(&jobs->wake, &jobs->lock);
            continue;
        }
        job->state = JOB_RUNNING;
        job->begun_ns = clock_now_ns();
        job->version++;
        (void)pthread_mutex_unlock(&jobs->lock);
        jobs_tell(jobs);
        job_run(jobs, job);
        (void)pthread_mutex_lock(&jobs->lock);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

enum orr_status serve_jobs_open(struct serve_room *room, struct serve_jobs **jobs, struct orr_error *err)
{
    struct serve_jobs *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for jobs");
    }
    made->room = room;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->wake, NULL);
    int refused = pthread_create(&made->thread, NULL, jobs_main, made);
    if (refused != 0) {
        (void)pthread_cond_destroy(&made->wake);
        (void)pthread_mutex_destroy(&made->lock);
        free(made);
        return error_system(err, refused, "no thread for jobs");
    }
    *jobs = made;
    return ORR_OK;
}

void serve_jobs_close(struct serve_jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->is_closing = true;
    (void)pthread_cond_signal(&jobs->wake);
    (void)pthread_mutex_unlock(&jobs->lock);
    (void)pthread_join(jobs->thread, NULL);
    for (size_t i = 0; i < jobs->count; i++) {
        job_free(jobs->list[i]);
    }
    (void)pthread_cond_destroy(&jobs->wake);
    (void)pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

void serve_jobs_watch(struct serve_jobs *jobs, void (*changed)(void *context), void *context)
{
    jobs->changed = changed;
    jobs->context = context;
}

/* ---- the queue ---- */

/* The oldest that ended goes where there is no room. False: none of them ended. */
static bool jobs_make_room(struct serve_jobs *jobs)
{
    for (size_t i = 0; jobs->count == JOBS_KEPT && i < jobs->count; i++) {
        if (jobs->list[i]->state > JOB_RUNNING) {
            job_free(jobs->list[i]);
            memmove(&jobs->list[i], &jobs->list[i + 1], (jobs->count - i - 1) * sizeof jobs->list[0]);
            jobs->count--;
        }
    }
    return jobs->count < JOBS_KEPT;
}

enum orr_status serve_jobs_add(struct serve_jobs *jobs, const struct orr_plan_options *plan,
                               struct serve_request *request, uint64_t *id, struct orr_error *err)
{
    size_t waiting = 0;
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for a job");
    }
    (void)pthread_mutex_lock(&jobs->lock);
    for (size_t i = 0; i < jobs->count; i++) {
        waiting += jobs->list[i]->state == JOB_QUEUED;
    }
    if (waiting >= JOBS_WAITING || !jobs_make_room(jobs)) {
        (void)pthread_mutex_unlock(&jobs->lock);
        free(job);
        return error_set(err, ORR_ERANGE, "%zu jobs wait already", waiting);
    }
    *job = (struct job){.id = ++jobs->last_id, .plan = *plan, .request = *request, .version = 1, .jobs = jobs};
    *request = (struct serve_request){0};
    job->plan.progress = job_progress;
    job->plan.progress_context = job;
    jobs->list[jobs->count++] = job;
    *id = job->id;
    (void)pthread_cond_signal(&jobs->wake);
    (void)pthread_mutex_unlock(&jobs->lock);
    return ORR_OK;
}

enum orr_status serve_jobs_stop(struct serve_jobs *jobs, uint64_t id, struct orr_error *err)
{
    (void)pthread_mutex_lock(&jobs->lock);
    struct job *job = jobs_find(jobs, id);
    if (job != NULL && job->state == JOB_QUEUED) {
        job->state = JOB_CANCELLED;
        job->begun_ns = job->ended_ns = clock_now_ns();
        job->version++;
    } else if (job != NULL) {
        job->is_stopped = true;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    jobs_tell(jobs);
    return job != NULL ? ORR_OK : error_set(err, ORR_EIO, "no job %" PRIu64, id);
}

/* ---- what is told of them ---- */

static void job_write(const struct job *job, struct json_writer *writer)
{
    uint64_t until = job->ended_ns != 0 ? job->ended_ns : clock_now_ns();
    json_write_object(writer, true);
    json_write_member_u64(writer, "id", job->id);
    json_write_member_string(writer, "kind", "plan");
    json_write_member_string(writer, "state", job_words[job->state]);
    json_write_member_u64(writer, "predicted", job->predicted);
    json_write_member_u64(writer, "plans", job->plans);
    json_write_member_fixed(writer, "seconds", job->begun_ns != 0 ? (double)(until - job->begun_ns) * 1e-9 : 0, 3);
    json_write_member_bool(writer, "has_result", job->result != NULL);
    if (job->error[0] != '\0') {
        json_write_member_string(writer, "error", job->error);
    }
    json_write_object_end(writer);
}

enum orr_status serve_jobs_list(struct serve_jobs *jobs, FILE *stream, struct orr_error *err)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_array(&writer, "jobs", false);
    (void)pthread_mutex_lock(&jobs->lock);
    for (size_t i = 0; i < jobs->count; i++) {
        job_write(jobs->list[i], &writer);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    json_write_array_end(&writer);
    json_write_document_end(&writer);
    return error_of_stream(stream, "the jobs", err);
}

enum orr_status serve_jobs_show(struct serve_jobs *jobs, uint64_t id, FILE *stream, struct orr_error *err)
{
    struct json_writer writer;
    json_write_begin(&writer, stream);
    (void)pthread_mutex_lock(&jobs->lock);
    const struct job *job = jobs_find(jobs, id);
    if (job != NULL) {
        job_write(job, &writer);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    if (job == NULL) {
        return error_set(err, ORR_EIO, "no job %" PRIu64, id);
    }
    json_write_end(&writer);
    return error_of_stream(stream, "the job", err);
}

enum orr_status serve_jobs_result(struct serve_jobs *jobs, uint64_t id, FILE *stream, struct orr_error *err)
{
    (void)pthread_mutex_lock(&jobs->lock);
    const struct job *job = jobs_find(jobs, id);
    enum orr_status status = job == NULL ? error_set(err, ORR_EIO, "no job %" PRIu64, id)
                             : job->result == NULL
                                 ? error_set(err, ORR_EINVAL, "job %" PRIu64 " is %s%s%s", id, job_words[job->state],
                                             job->error[0] != '\0' ? ": " : "", job->error)
                                 : ORR_OK;
    if (status == ORR_OK) {
        (void)fwrite(job->result, 1, job->result_size, stream);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return status == ORR_OK ? error_of_stream(stream, "the result", err) : status;
}

int serve_jobs_event(struct serve_jobs *jobs, uint64_t id, uint64_t *seen, char event[SERVE_EVENT])
{
    int length = 0;
    (void)pthread_mutex_lock(&jobs->lock);
    const struct job *job = jobs_find(jobs, id);
    bool ended = job == NULL || job->state > JOB_RUNNING;
    if (job == NULL || (ended && *seen == job->version)) {
        length = -1;
    } else if (*seen != job->version) {
        *seen = job->version;
        length = snprintf(event, SERVE_EVENT,
                          "event: %s\ndata: {\"id\": %" PRIu64 ", \"state\": \"%s\", \"predicted\": %" PRIu64
                          ", \"plans\": %" PRIu64 "}\n\n",
                          ended ? "end" : "progress", id, job_words[job->state], job->predicted, job->plans);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return length;
}
