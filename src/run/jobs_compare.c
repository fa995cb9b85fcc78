/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs together, and each alone on the ranks it has there: what is different is what they do to each other. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "orrery.h"
#include "run/session.h"

struct comparing {
    struct orr_jobs *result;
    struct orr_job_row *rows;
    uint64_t *bytes; /* by link, of all jobs, each alone */
    uint32_t *users; /* by link */
    double *busy;    /* by link, together */
    uint32_t *ends;  /* by link: from, to */
    uint32_t links;
};

static uint64_t queued_of(const struct orr_run *run)
{
    uint64_t queued = 0;
    for (uint32_t d = 0; d < orr_run_dimension_count(run); d++) {
        struct orr_dimension_result row;
        queued += orr_run_dimension(run, d, &row) ? row.queued_messages : 0;
    }
    return queued;
}

static uint64_t job_end_of(const struct orr_run *run, uint32_t index)
{
    const struct run_job *job = &run->jobs.list[index];
    uint64_t end = 0;
    for (uint32_t i = 0; i < job->read->rank_count; i++) {
        struct orr_rank_result row;
        end = orr_run_rank(run, job->ranks[i], &row) && row.finish_ns > end ? row.finish_ns : end;
    }
    return end;
}

static enum orr_status compare_make_room(struct comparing *all, const struct orr_run *run, struct orr_error *err)
{
    all->links = orr_run_link_count(run);
    size_t room = (size_t)all->links + 1;
    all->bytes = calloc(room, sizeof *all->bytes);
    all->users = calloc(room, sizeof *all->users);
    all->busy = calloc(room, sizeof *all->busy);
    all->ends = calloc(2 * room, sizeof *all->ends);
    return all->bytes != NULL && all->users != NULL && all->busy != NULL && all->ends != NULL
               ? ORR_OK
               : error_set(err, ORR_ENOMEM, "out of memory comparing jobs");
}

static enum orr_status note_together(struct comparing *all, const struct orr_run *run, struct orr_error *err)
{
    for (uint32_t i = 0; i < all->result->count; i++) {
        const struct run_job *job = &run->jobs.list[i];
        (void)snprintf(all->rows[i].name, sizeof all->rows[i].name, "%s", job->name);
        all->rows[i].ranks = job->read->rank_count;
        all->rows[i].together_ns = job_end_of(run, i);
    }
    all->result->queued_together = queued_of(run);
    enum orr_status status = compare_make_room(all, run, err);
    for (uint32_t i = 0; i < all->links && status == ORR_OK; i++) {
        struct orr_link_result link;
        if (orr_run_link(run, i, &link)) {
            all->busy[i] = link.utilisation;
            all->ends[2 * i] = link.from;
            all->ends[2 * i + 1] = link.to;
        }
    }
    return status;
}

static void note_alone(struct comparing *all, const struct orr_run *run, uint32_t job)
{
    all->rows[job].alone_ns = job_end_of(run, job);
    all->result->queued_alone += queued_of(run);
    for (uint32_t i = 0; i < all->links; i++) {
        struct orr_link_result link;
        bool used = orr_run_link(run, i, &link) && link.bytes > 0;
        all->bytes[i] += used ? link.bytes : 0;
        all->users[i] += used;
    }
}

/* The busiest of the links that several use, one after the other: there are few places. */
static void choose_links(struct comparing *all)
{
    struct orr_jobs *result = all->result;
    for (uint32_t i = 0; i < all->links; i++) {
        if (all->users[i] < 2) {
            continue;
        }
        result->shared_links++;
        uint32_t at = result->link_count < ORR_JOB_LINKS ? result->link_count++ : ORR_JOB_LINKS;
        struct orr_job_link link = {.from = all->ends[2 * i],
                                    .to = all->ends[2 * i + 1],
                                    .jobs = all->users[i],
                                    .bytes = all->bytes[i],
                                    .utilisation = all->busy[i]};
        for (; at > 0 && result->links[at - 1].utilisation < link.utilisation; at--) {
            if (at < ORR_JOB_LINKS) {
                result->links[at] = result->links[at - 1];
            }
        }
        if (at < ORR_JOB_LINKS) {
            result->links[at] = link;
        }
    }
}

static enum orr_status jobs_once(const struct orr_run_options *options, uint32_t only, struct comparing *all,
                                 struct orr_error *err)
{
    struct orr_run_options own = *options;
    struct orr_run *run = NULL;
    own.only_job = only;
    enum orr_status status = orr_run_open(&own, &run, err);
    if (status != ORR_OK) {
        return status;
    }
    status = orr_run_execute(run, err);
    if (status == ORR_OK && only == 0) {
        status = note_together(all, run, err);
    } else if (status == ORR_OK) {
        note_alone(all, run, only - 1);
    }
    orr_run_close(run);
    return status;
}

enum orr_status orr_jobs_run(const struct orr_run_options *options, struct orr_jobs **result, struct orr_error *err)
{
    if (options->job_count == 0) {
        return error_set(err, ORR_EINVAL, "missing parameter 'job' NAME=PREFIX");
    }
    struct comparing all = {0};
    all.result = calloc(1, sizeof *all.result + options->job_count * sizeof *all.rows);
    if (all.result == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory comparing jobs");
    }
    all.rows = (struct orr_job_row *)(all.result + 1);
    all.result->rows = all.rows;
    all.result->count = (uint32_t)options->job_count;
    enum orr_status status = ORR_OK;
    for (uint32_t only = 0; only <= all.result->count && status == ORR_OK; only++) {
        status = jobs_once(options, only, &all, err);
    }
    if (status == ORR_OK) {
        choose_links(&all);
    }
    free(all.bytes);
    free(all.users);
    free(all.busy);
    free(all.ends);
    if (status != ORR_OK) {
        orr_jobs_free(all.result);
        return status;
    }
    *result = all.result;
    return ORR_OK;
}

void orr_jobs_free(struct orr_jobs *result)
{
    free(result);
}
