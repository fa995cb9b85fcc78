/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request asks for, from its bytes: the path and the parameters of its target, the form in its body, who sent it
 * (host, cookie). All of it comes from outside and is decoded here once, strictly: what is not well formed is refused
 * with a sentence, never repaired. Owns its texts; knows neither sockets nor routes.
 */
#ifndef ORR_SERVE_REQUEST_H
#define ORR_SERVE_REQUEST_H

#include "base/error.h"

enum {
    SERVE_TARGET_MOST = 8 << 10, /* bytes of path and parameters */
    SERVE_BODY_MOST = 64 << 10,
    SERVE_PAIRS_MOST = 128,
    SERVE_WORD = 1024,
    SERVE_TOKEN = 32 /* letters of a token */
};

struct serve_pair {
    const char *name, *value;
    bool is_used;
};

struct serve_route;

struct serve_request {
    const struct serve_route *route; /* that it goes by (serve/room.h); NULL: not known yet */
    const char *path;                /* decoded, begins with '/' */
    struct serve_pair pairs[SERVE_PAIRS_MOST];
    size_t pair_count;
    char *texts[2];        /* of the target, of the body */
    uint64_t until_ns;     /* of the monotonic clock: when the answer is too late; 0: never */
    char word[SERVE_WORD]; /* what stands in the path where the route has a name in braces */
};

/* "/api/train?model=llama3-8b&tp=2": percent-encoding decoded, '+' in parameters a blank. ORR_EINVAL: not a path, bytes
 * that are not UTF-8's printable ones, a NUL, a name twice; ORR_ERANGE: too long, too many. */
ORR_MUST_CHECK enum orr_status serve_request_target(struct serve_request *request, const char *target,
                                                    struct orr_error *err);
/* The same of a body of that form, whose names must be others. */
ORR_MUST_CHECK enum orr_status serve_request_form(struct serve_request *request, const char *body, size_t size,
                                                  struct orr_error *err);
void serve_request_free(struct serve_request *request);

/* The parameter's value, which counts as used then; NULL: not given. */
const char *serve_request_value(struct serve_request *request, const char *name);

/* Whether a Host header names this machine by itself, whatever the port, which a forwarded connection changes: names
 * that anyone's DNS could point here are refused. */
bool serve_host_is_local(const char *host);
/* Whether an Origin header is the same host and port that the Host header names. */
bool serve_origin_is_host(const char *origin, const char *host);

/* SERVE_TOKEN letters that nobody can guess, and a NUL. */
ORR_MUST_CHECK enum orr_status serve_token_make(char token[SERVE_TOKEN + 1], struct orr_error *err);
/* In a time that does not tell where they differ; `given` may be NULL. */
bool serve_token_is(const char *token, const char *given);
/* Whether a Cookie header has `name` with this token. */
bool serve_cookie_has(const char *header, const char *name, const char *token);

#endif
