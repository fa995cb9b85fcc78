/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What answers are made of: the data that predictions need, the folder and the store that are served, the jobs. A route
 * is a row: path, methods, parameters, who answers; requests are read, documented (serve/openapi.c) and refused by
 * these rows alone. Answers call what any user of the library can call. Knows nothing of sockets: serve/http.c does.
 */
#ifndef ORR_SERVE_ROOM_H
#define ORR_SERVE_ROOM_H

#include <stdatomic.h>

#include "orrery.h"
#include "param/param.h"
#include "serve/request.h"

struct serve_jobs;

struct serve_room {
    struct orr_trainer *trainer;
    struct serve_jobs *jobs;
    int folder;  /* a descriptor; -1: none */
    char *store; /* a path; NULL: none */
    uint64_t memory_limit, time_limit_ns;
    uint32_t threads;
    atomic_bool is_closing;
};

ORR_MUST_CHECK enum orr_status serve_room_open(struct serve_room *room, const struct orr_serve_options *options,
                                               struct orr_error *err);
void serve_room_close(struct serve_room *room);

/* What becomes of a request: the bytes written to `stream`, or those at `bytes`, or a file. */
struct serve_answer {
    FILE *stream;
    const char *bytes; /* of the library itself; NULL: what `stream` got */
    size_t size;
    int file; /* a descriptor, the caller's; -1: none */
    uint64_t file_bytes;
    const char *type;
    unsigned code;
    bool is_foreign; /* a page of the folder's, which must not speak for us */
};

enum serve_method { SERVE_GET = 1, SERVE_POST = 2, SERVE_DELETE = 4 };
/* AT_ONCE: takes no time; WORKED: on a thread that may; EVENTS: told as it happens (serve/jobs.h). */
enum serve_how { SERVE_AT_ONCE, SERVE_WORKED, SERVE_EVENTS };

struct serve_route {
    const char *path; /* "/api/jobs/{id}"; a name at the end that is "{path}" takes slashes too */
    unsigned methods; /* enum serve_method, or-ed */
    enum serve_how how;
    const struct param_table *tables;       /* parameters; ends with rows NULL; NULL: none */
    bool (*takes)(const struct param *row); /* whether a row of them is one of HTTP's too; NULL: all */
    enum orr_status (*answer)(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                              struct orr_error *err);
    const char *type; /* of the answer; NULL: JSON */
    const char *summary;
};

/* Row `index`; NULL behind the last. */
const struct serve_route *serve_route_at(size_t index);
/* Finds the request's route, by its path and method, and what stands for the name in it. Where there is none, returns
 * the methods that the path would take, 0: no such path. */
unsigned serve_route_find(struct serve_request *request, unsigned method);

/* Every parameter that is not used yet, read into the struct of its route's tables (NULL where that has none).
 * ORR_EINVAL names the nearest. */
ORR_MUST_CHECK enum orr_status serve_request_read(struct serve_request *request, void *options, struct orr_error *err);
/* Whether HTTP has the row: it is told, and names no file. */
bool serve_route_has(const struct serve_route *route, const struct param_table *table, const struct param *row);

/* For progress callbacks: whether it is too late for what the request asks. */
bool serve_is_late(const struct serve_room *room, const struct serve_request *request);

/* The pages that are part of the library (web/). */
enum orr_status serve_page(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                           struct orr_error *err);

#endif
