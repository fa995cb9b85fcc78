/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread has all connections and does nothing that takes time: what does is put in a bounded queue for a few
 * workers while its connection sleeps, so that hundreds of slow or senseless requests do not hold up a good one. A
 * connection that does not bring a whole request, or does not take its answer, in a number of seconds is cut off,
 * however slowly it goes on sending.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/http.h"
#include "serve/jobs.h"

static void http_call_free(struct http_call *call)
{
    if (call == NULL) {
        return;
    }
    serve_request_free(&call->request);
    if (call->answer.file >= 0) {
        (void)close(call->answer.file);
    }
    free(call->text);
    free(call->target);
    free(call->body);
    free(call);
}

/* ---- connections ---- */

/* An eighth of the connections is kept for whoever comes next: of those that have not shown the token and still read,
 * the oldest goes, which is the one that takes longest to say what it wants. Holds the lock. */
static void http_make_room(const struct orr_serve *serve)
{
    struct http_link *oldest = NULL;
    for (struct http_link *link = serve->links; link != NULL; link = link->next) {
        oldest = link->phase == LINK_READS && !link->is_known ? link : oldest;
    }
    if (oldest != NULL) {
        oldest->is_known = true; /* it is chosen once */
        (void)shutdown(oldest->socket, SHUT_RDWR);
    }
}

static void http_connected(void *context, struct MHD_Connection *connection, void **kept,
                           enum MHD_ConnectionNotificationCode code)
{
    struct orr_serve *serve = context;
    struct http_link *link = *kept;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        link = calloc(1, sizeof *link);
        if (link == NULL || info == NULL) {
            free(link);
            return; /* is then cut off by the library's own limit alone */
        }
        *link = (struct http_link){.socket = info->connect_fd, .since_ns = clock_now_ns()};
        *kept = link;
        (void)pthread_mutex_lock(&serve->lock);
        if (++serve->link_count > serve->link_most - serve->link_most / 8) {
            http_make_room(serve);
        }
        link->next = serve->links;
        if (link->next != NULL) {
            link->next->before = link;
        }
        serve->links = link;
        (void)pthread_mutex_unlock(&serve->lock);
    } else if (link != NULL) {
        (void)pthread_mutex_lock(&serve->lock);
        serve->link_count--;
        *(link->before != NULL ? &link->before->next : &serve->links) = link->next;
        if (link->next != NULL) {
            link->next->before = link->before;
        }
        (void)pthread_mutex_unlock(&serve->lock);
        http_call_free(link->call); /* the library says the end of a request only where it came to be handled */
        free(link);
        *kept = NULL;
    }
}

/* Ends what takes too long; the daemon sees a connection that was closed. Holds the lock. */
static void http_cut_off(const struct orr_serve *serve, uint64_t now_ns)
{
    for (const struct http_link *link = serve->links; link != NULL; link = link->next) {
        uint64_t ns = now_ns - link->since_ns;
        if ((link->phase == LINK_READS && ns >= serve->patience_ns) ||
            (link->phase == LINK_WRITES && ns >= (uint64_t)HTTP_WRITE_S * 1000000000U)) {
            (void)shutdown(link->socket, SHUT_RDWR);
        }
    }
}

/* ---- workers ---- */

static void *http_work(void *context)
{
    struct orr_serve *serve = context;
    (void)pthread_mutex_lock(&serve->lock);
    for (;;) {
        struct http_call *call = serve->first;
        if (call == NULL && serve->is_closing) {
            break;
        }
        if (call == NULL) {
            (void)pthread_cond_wait(&serve->wake, &serve->lock);
            continue;
        }
        serve->first = call->next;
        serve->waiting--;
        (void)pthread_mutex_unlock(&serve->lock);
        http_answer(call);
        MHD_resume_connection(call->connection);
        (void)pthread_mutex_lock(&serve->lock);
    }
    (void)pthread_mutex_unlock(&serve->lock);
    return NULL;
}

/* The connection sleeps from here on until a worker has the answer. */
static enum MHD_Result http_queue(struct http_call *call)
{
    struct orr_serve *serve = call->serve;
    call->state = CALL_WORKS;
    call->request.until_ns = clock_now_ns() + serve->room.time_limit_ns;
    http_phase(serve, call->connection, LINK_WORKS);
    (void)pthread_mutex_lock(&serve->lock);
    bool full = serve->waiting >= HTTP_WAITING || serve->is_closing;
    if (!full) {
        MHD_suspend_connection(call->connection);
        call->next = NULL;
        *(serve->first != NULL ? &serve->last->next : &serve->first) = call;
        serve->last = call;
        serve->waiting++;
        (void)pthread_cond_signal(&serve->wake);
    }
    (void)pthread_mutex_unlock(&serve->lock);
    if (full) {
        http_refuse(call, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests wait already");
        return http_send(call);
    }
    return MHD_YES;
}

static void *http_tick(void *context)
{
    struct orr_serve *serve = context;
    (void)pthread_mutex_lock(&serve->lock);
    while (!serve->is_closing) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        (void)pthread_cond_timedwait(&serve->tick, &serve->lock, &until);
        http_cut_off(serve, clock_now_ns());
        (void)pthread_mutex_unlock(&serve->lock);
        http_wake_streams(serve);
        (void)pthread_mutex_lock(&serve->lock);
    }
    (void)pthread_mutex_unlock(&serve->lock);
    return NULL;
}

/* ---- requests ---- */

/* The target as it was sent: the library's own decoding would end a path at an encoded NUL. */
static void *http_begun(void *context, const char *target, struct MHD_Connection *connection)
{
    struct http_link *link = http_link_of(connection);
    struct http_call *call = link != NULL ? calloc(1, sizeof *call) : NULL;
    if (call != NULL) {
        http_call_free(link->call);
        link->call = call;
        *call = (struct http_call){.serve = context,
                                   .connection = connection,
                                   .target = strdup(target),
                                   .answer = {.file = -1, .type = "application/json", .code = MHD_HTTP_OK}};
    }
    return call;
}

static void http_completed(void *context, struct MHD_Connection *connection, void **kept,
                           enum MHD_RequestTerminationCode code)
{
    struct http_call *call = *kept;
    (void)code;
    if (call == NULL) {
        return;
    }
    struct http_link *link = http_link_of(connection);
    http_phase(context, connection, LINK_READS);
    if (link != NULL && link->call == call) {
        link->call = NULL;
    }
    http_call_free(call);
    *kept = NULL;
}

static size_t http_as_it_is(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

static const char *http_header(const struct http_call *call, const char *name)
{
    return MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND, name);
}

/* Whoever may ask: a browser on this machine that has the cookie, or who has the token. */
static bool http_is_known(struct http_call *call)
{
    static const char bearer[] = "Bearer ";
    const struct orr_serve *serve = call->serve;
    const char *given = serve_request_value(&call->request, "token");
    const char *authorization = http_header(call, "Authorization"), *cookies = http_header(call, "Cookie");
    if (serve_token_is(serve->token, given)) {
        call->sets_cookie = strcmp(call->request.path, "/") == 0;
        return true;
    }
    return (authorization != NULL && strncmp(authorization, bearer, sizeof bearer - 1) == 0 &&
            serve_token_is(serve->token, authorization + sizeof bearer - 1)) ||
           serve_cookie_has(cookies, serve->cookie, serve->token);
}

static unsigned http_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ? SERVE_GET
           : strcmp(method, "POST") == 0                             ? SERVE_POST
           : strcmp(method, "DELETE") == 0                           ? SERVE_DELETE
                                                                     : 0;
}

/* All that can be refused before the body. */
static void http_check(struct http_call *call, const char *method)
{
    const char *host = http_header(call, "Host"), *origin = http_header(call, "Origin");
    const char *length = http_header(call, "Content-Length");
    call->status = call->target == NULL ? error_set(&call->err, ORR_ENOMEM, "no memory for a request")
                                        : serve_request_target(&call->request, call->target, &call->err);
    if (call->status != ORR_OK) {
        call->answer.code = call->status == ORR_ERANGE ? MHD_HTTP_URI_TOO_LONG : http_code(call->status);
    } else if (!serve_host_is_local(host) || (origin != NULL && !serve_origin_is_host(origin, host))) {
        http_refuse(call, MHD_HTTP_FORBIDDEN, "asked under another machine's name");
    } else if (!http_is_known(call)) {
        http_refuse(call, MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong; orrery serve prints the whole URL");
    } else if (length != NULL && strtoull(length, NULL, 10) > SERVE_BODY_MOST) {
        http_refuse(call, HTTP_TOO_LARGE, "the body is too large");
    } else {
        struct http_link *link = http_link_of(call->connection);
        (void)pthread_mutex_lock(&call->serve->lock);
        link->is_known = true; /* there is a link: the call hangs on it */
        (void)pthread_mutex_unlock(&call->serve->lock);
        unsigned taken = serve_route_find(&call->request, http_method(method));
        if (call->request.route == NULL) {
            http_refuse(call, taken == 0 ? MHD_HTTP_NOT_FOUND : MHD_HTTP_METHOD_NOT_ALLOWED,
                        taken == 0 ? "no such path; /openapi.json has those there are"
                                   : "the path does not take this method");
        }
    }
}

/* A part of the body. False: there is more of it than is read. */
static bool http_take(struct http_call *call, const char *bytes, size_t size)
{
    if (call->body == NULL) {
        call->body = malloc(SERVE_BODY_MOST + 1);
    }
    if (call->body == NULL || size > SERVE_BODY_MOST - call->body_size) {
        return false;
    }
    memcpy(call->body + call->body_size, bytes, size);
    call->body_size += size;
    return true;
}

static enum MHD_Result http_dispatch(struct http_call *call)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = http_header(call, "Content-Type");
    if (call->body_size > 0 && (type == NULL || strncmp(type, form, sizeof form - 1) != 0)) {
        http_refuse(call, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "a body is application/x-www-form-urlencoded");
    } else if (call->body_size > 0) {
        call->status = serve_request_form(&call->request, call->body, call->body_size, &call->err);
    }
    const struct serve_route *route = call->request.route;
    if (call->status == ORR_OK && route->tables == NULL) {
        call->status = serve_request_read(&call->request, NULL, &call->err);
    }
    if (call->status != ORR_OK) {
        return http_send(call);
    }
    call->answer.type = route->type != NULL ? route->type : "application/json";
    if (route->how == SERVE_EVENTS) {
        return http_send_events(call);
    }
    if (route->how == SERVE_WORKED) {
        return http_queue(call);
    }
    http_answer(call);
    return http_send(call);
}

static enum MHD_Result http_handle(void *context, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *upload, size_t *upload_size,
                                   void **kept)
{
    struct http_call *call = *kept;
    (void)context, (void)connection, (void)url, (void)version;
    if (call == NULL) {
        return MHD_NO;
    }
    switch (call->state) {
    case CALL_NEW:
        call->state = CALL_READS;
        http_check(call, method);
        return call->status == ORR_OK ? MHD_YES : http_send(call);
    case CALL_READS:
        if (*upload_size > 0) {
            bool taken = http_take(call, upload, *upload_size);
            *upload_size = 0;
            return taken ? MHD_YES : MHD_NO;
        }
        return http_dispatch(call);
    case CALL_WORKS:
        return http_send(call);
    default:
        return MHD_NO;
    }
}

/* ---- opening and closing ---- */

static void http_job_changed(void *context)
{
    http_wake_streams(context);
}

static enum orr_status http_listen(struct orr_serve *serve, uint32_t port, struct orr_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int yes = 1;
    if (port > UINT16_MAX) {
        return error_set(err, ORR_ERANGE, "parameter 'port': %u; ports end at %d", port, UINT16_MAX);
    }
    address.sin_port = htons((uint16_t)port);
    serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (serve->listener < 0) {
        return error_system(err, errno, "no socket");
    }
    (void)setsockopt(serve->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(serve->listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(serve->listener, 256) != 0) {
        return error_system(err, errno, "port %u", port);
    }
    if (getsockname(serve->listener, (struct sockaddr *)&address, &size) != 0) {
        return error_system(err, errno, "port %u", port);
    }
    unsigned got = ntohs(address.sin_port);
    (void)snprintf(serve->url, sizeof serve->url, "http://127.0.0.1:%u/?token=%s", got, serve->token);
    (void)snprintf(serve->cookie, sizeof serve->cookie, "orrery_%u", got);
    return ORR_OK;
}

static enum orr_status http_start(struct orr_serve *serve, const struct orr_serve_options *options,
                                  struct orr_error *err)
{
    int refused = pthread_create(&serve->ticker, NULL, http_tick, serve);
    serve->has_ticker = refused == 0;
    while (refused == 0 && serve->worker_count < HTTP_WORKERS && serve->worker_count < serve->room.threads) {
        refused = pthread_create(&serve->workers[serve->worker_count], NULL, http_work, serve);
        serve->worker_count += refused == 0;
    }
    if (serve->worker_count == 0) {
        return error_system(err, refused, "no thread to answer on");
    }
    serve_jobs_watch(serve->room.jobs, http_job_changed, serve);
    serve->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_handle, serve,
        MHD_OPTION_LISTEN_SOCKET, serve->listener, MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(serve->patience_ns / 1000000000U) + 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY, MHD_OPTION_NOTIFY_COMPLETED, http_completed, serve,
        MHD_OPTION_NOTIFY_CONNECTION, http_connected, serve, MHD_OPTION_URI_LOG_CALLBACK, http_begun, serve,
        MHD_OPTION_UNESCAPE_CALLBACK, http_as_it_is, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (serve->daemon == NULL) {
        return error_set(err, ORR_EFAIL, "the HTTP server cannot be started");
    }
    serve->listener = -1;
    return ORR_OK;
}

enum orr_status orr_serve_open(const struct orr_serve_options *options, struct orr_serve **serve, struct orr_error *err)
{
    struct orr_serve *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for a server");
    }
    made->listener = -1;
    made->room.folder = -1;
    made->patience_ns = options->patience_ns;
    made->link_most = options->connections;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->wake, NULL);
    (void)pthread_cond_init(&made->tick, NULL);
    enum orr_status status = serve_token_make(made->token, err);
    status = status == ORR_OK ? serve_room_open(&made->room, options, err) : status;
    status = status == ORR_OK ? http_listen(made, options->port, err) : status;
    status = status == ORR_OK ? http_start(made, options, err) : status;
    if (status != ORR_OK) {
        orr_serve_close(made);
        return status;
    }
    *serve = made;
    return ORR_OK;
}

const char *orr_serve_url(const struct orr_serve *serve)
{
    return serve->url;
}

/* Nobody new is let in; who sleeps is woken, because the daemon cannot end before; then it ends. */
void orr_serve_close(struct orr_serve *serve)
{
    if (serve == NULL) {
        return;
    }
    int listener = serve->daemon != NULL ? MHD_quiesce_daemon(serve->daemon) : serve->listener;
    atomic_store(&serve->room.is_closing, true);
    (void)pthread_mutex_lock(&serve->lock);
    serve->is_closing = true;
    (void)pthread_cond_broadcast(&serve->wake);
    (void)pthread_cond_signal(&serve->tick);
    (void)pthread_mutex_unlock(&serve->lock);
    for (uint32_t i = 0; i < serve->worker_count; i++) {
        (void)pthread_join(serve->workers[i], NULL);
    }
    if (serve->has_ticker) {
        (void)pthread_join(serve->ticker, NULL);
    }
    http_wake_streams(serve);
    if (serve->daemon != NULL) {
        MHD_stop_daemon(serve->daemon);
    }
    if (listener >= 0) {
        (void)close(listener);
    }
    serve_room_close(&serve->room);
    (void)pthread_cond_destroy(&serve->tick);
    (void)pthread_cond_destroy(&serve->wake);
    (void)pthread_mutex_destroy(&serve->lock);
    free(serve);
}
