/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What takes longer than anyone holds a connection open for: searches for plans, one after the other on a thread of
 * their own, with a queue before them and the last results behind them. Their state can be asked for, and followed.
 * Owns jobs and their results; knows nothing of connections but the function that says that something changed.
 */
#ifndef ORR_SERVE_JOBS_H
#define ORR_SERVE_JOBS_H

#include "serve/room.h"

enum { SERVE_EVENT = 512 }; /* bytes of one event at most */

ORR_MUST_CHECK enum orr_status serve_jobs_open(struct serve_room *room, struct serve_jobs **jobs,
                                               struct orr_error *err);
void serve_jobs_close(struct serve_jobs *jobs); /* stops what runs; NULL is fine */
/* Called, on any thread and with no lock held, when a job changed. */
void serve_jobs_watch(struct serve_jobs *jobs, void (*changed)(void *context), void *context);

/* Takes the request's texts over. ORR_ERANGE: too many wait. */
ORR_MUST_CHECK enum orr_status serve_jobs_add(struct serve_jobs *jobs, const struct orr_plan_options *plan,
                                              struct serve_request *request, uint64_t *id, struct orr_error *err);
/* As JSON: all jobs, newest last; one; its result. ORR_EIO: no such job; ORR_EINVAL: no result yet. */
ORR_MUST_CHECK enum orr_status serve_jobs_list(struct serve_jobs *jobs, FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status serve_jobs_show(struct serve_jobs *jobs, uint64_t id, FILE *stream,
                                               struct orr_error *err);
ORR_MUST_CHECK enum orr_status serve_jobs_result(struct serve_jobs *jobs, uint64_t id, FILE *stream,
                                                 struct orr_error *err);
ORR_MUST_CHECK enum orr_status serve_jobs_stop(struct serve_jobs *jobs, uint64_t id, struct orr_error *err);

/* What is new of a job since the state number `*seen` (0 at first), as a server-sent event; its length, 0 where nothing
 * is, -1 when all was told or there is no such job. */
int serve_jobs_event(struct serve_jobs *jobs, uint64_t id, uint64_t *seen, char event[SERVE_EVENT]);

#endif
