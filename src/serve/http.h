/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two files that speak HTTP by libmicrohttpd share: a connection, a request on it, one that follows a job, the
 * server. serve/http.c has connections, requests and workers, serve/http_answer.c what is sent back. `lock` guards
 * queue, connections and streams; it is taken before libmicrohttpd's own locks, never the other way round.
 */
#ifndef ORR_SERVE_HTTP_H
#define ORR_SERVE_HTTP_H

#include <microhttpd.h>
#include <pthread.h>

#include "serve/room.h"

enum {
    HTTP_WORKERS = 64,
    HTTP_WAITING = 64, /* requests for workers */
    HTTP_STREAMS = 64, /* events that are followed */
    /* Bytes of a request's head. The library reads the last fifth of them 128 at a time, and looks through all that it
     * has each time: twice as many take four times as long to refuse. */
    HTTP_MEMORY = 16 << 10,
    HTTP_WRITE_S = 60,
    HTTP_BEAT_S = 10 /* between two signs of life of a stream */
};

/* Codes whose names changed between releases of libmicrohttpd. */
enum { HTTP_TOO_LARGE = 413, HTTP_STALLED = 422 };

enum link_phase { LINK_READS, LINK_WORKS, LINK_WRITES, LINK_STREAMS };

/* A connection. */
struct http_link {
    struct http_link *next, *before;
    int socket;
    enum link_phase phase;
    bool is_known; /* a request on it had the token */
    uint64_t since_ns;
    struct http_call *call; /* its request, from the first line to the end of the answer; or NULL */
};

enum call_state { CALL_NEW, CALL_READS, CALL_WORKS, CALL_ANSWERED };

/* A request on it. */
struct http_call {
    struct http_call *next; /* in the queue */
    struct orr_serve *serve;
    struct MHD_Connection *connection;
    enum call_state state;
    char *target, *body;
    size_t body_size;
    bool sets_cookie;
    struct serve_request request;
    struct serve_answer answer;
    enum orr_status status;
    struct orr_error err;
    char *text; /* that the answer wrote */
    size_t size;
};

/* A connection that follows a job. */
struct http_stream {
    struct orr_serve *serve;
    struct MHD_Connection *connection;
    uint64_t job, seen, beat_ns;
    bool is_asleep;
};

struct orr_serve {
    struct serve_room room;
    uint64_t patience_ns;
    struct MHD_Daemon *daemon;
    int listener; /* -1 once it is the daemon's */
    char url[96], token[SERVE_TOKEN + 1], cookie[32];
    pthread_mutex_t lock;
    pthread_cond_t wake, tick;
    pthread_t workers[HTTP_WORKERS], ticker;
    uint32_t worker_count;
    bool has_ticker, is_closing;
    struct http_call *first, *last;
    uint32_t waiting;
    struct http_link *links; /* newest first */
    uint32_t link_count, link_most;
    struct http_stream *streams[HTTP_STREAMS];
};

/* NULL where there was no memory for one. */
struct http_link *http_link_of(struct MHD_Connection *connection);
/* From now on the connection reads, works, writes or streams. */
void http_phase(struct orr_serve *serve, struct MHD_Connection *connection, enum link_phase phase);

unsigned http_code(enum orr_status status);
/* What an answer is refused with: its code and one line. */
void http_refuse(struct http_call *call, unsigned code, const char *text);
/* Has the route answer, into the call. */
void http_answer(struct http_call *call);
/* Sends what the call has come to: its answer, or why there is none. */
enum MHD_Result http_send(struct http_call *call);
/* Follows the job that the request names. */
enum MHD_Result http_send_events(struct http_call *call);
/* Whoever follows a job looks whether there is news. */
void http_wake_streams(struct orr_serve *serve);

#endif
