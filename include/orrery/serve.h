/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library behind HTTP: one's own browser, or a program of one's own, asks for training steps, collectives, plans
 * and stored runs (docs/serve.md). Included by orrery.h.
 */
#ifndef ORRERY_SERVE_H
#define ORRERY_SERVE_H

#include "orrery/base.h"

ORR_BEGIN

/* Texts are borrowed for the call. Start from orr_serve_options_init. */
struct orr_serve_options {
    size_t size;
    const char *path; /* a result store (docs/store.md), or a folder whose files may be read and whose orrery.db is the
                       * store; NULL: neither */
    uint32_t port;    /* 0: any that is free */
    uint32_t threads; /* answers that are worked on at once; 0: as many as processors */
    uint32_t connections;   /* at once; more are refused */
    uint64_t memory_limit;  /* bytes that one answer may take */
    uint64_t time_limit_ns; /* and how long: a simulation that takes longer is stopped */
    uint64_t patience_ns;   /* for a whole request; what comes more slowly is cut off */
};

void orr_serve_options_init(struct orr_serve_options *options); /* the defaults */

struct orr_serve;

/*
 * Listens on 127.0.0.1 and answers on threads of its own until it is closed. Only who knows the URL, which has a random
 * token in it, is answered. Of files nothing is read but what `path` names and the library's own. ORR_EINVAL: a path
 * that is neither; a library built without libmicrohttpd. ORR_EIO: the port is taken.
 */
ORR_MUST_CHECK enum orr_status orr_serve_open(const struct orr_serve_options *options, struct orr_serve **serve,
                                              struct orr_error *err);
const char *orr_serve_url(const struct orr_serve *serve); /* "http://127.0.0.1:PORT/?token=..." */
/* Stops what is being worked on, answers nobody any more. NULL is fine. */
void orr_serve_close(struct orr_serve *serve);

/* The interface as an OpenAPI 3 document, from the same rows that requests are read by: what docs/openapi.json is. */
ORR_MUST_CHECK enum orr_status orr_serve_openapi(FILE *stream, struct orr_error *err);

ORR_END

#endif
