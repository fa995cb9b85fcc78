/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as they are sent: whole, from a file, or as events while they happen; every one with the headers that keep a
 * browser from doing more with it than showing it. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "io/json_write.h"
#include "serve/http.h"
#include "serve/jobs.h"

struct http_link *http_link_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

void http_phase(struct orr_serve *serve, struct MHD_Connection *connection, enum link_phase phase)
{
    struct http_link *link = http_link_of(connection);
    if (link != NULL) {
        (void)pthread_mutex_lock(&serve->lock);
        link->phase = phase;
        link->since_ns = clock_now_ns();
        (void)pthread_mutex_unlock(&serve->lock);
    }
}

/* ---- streams ---- */

void http_wake_streams(struct orr_serve *serve)
{
    (void)pthread_mutex_lock(&serve->lock);
    for (size_t i = 0; i < HTTP_STREAMS; i++) {
        struct http_stream *stream = serve->streams[i];
        if (stream != NULL && stream->is_asleep) {
            stream->is_asleep = false;
            MHD_resume_connection(stream->connection);
        }
    }
    (void)pthread_mutex_unlock(&serve->lock);
}

static ssize_t http_stream_read(void *context, uint64_t position, char *bytes, size_t room)
{
    struct http_stream *stream = context;
    struct orr_serve *serve = stream->serve;
    char event[SERVE_EVENT];
    (void)position;
    (void)pthread_mutex_lock(&serve->lock);
    uint64_t now = clock_now_ns();
    int length = serve->is_closing ? -1 : serve_jobs_event(serve->room.jobs, stream->job, &stream->seen, event);
    if (length == 0 && now - stream->beat_ns > (uint64_t)HTTP_BEAT_S * 1000000000U) {
        length = snprintf(event, sizeof event, ":\n\n"); /* who has gone away is noticed when this cannot be sent */
    }
    if (length == 0) {
        stream->is_asleep = true;
        MHD_suspend_connection(stream->connection);
    }
    (void)pthread_mutex_unlock(&serve->lock);
    if (length < 0 || (size_t)length > room) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    stream->beat_ns = length > 0 ? now : stream->beat_ns;
    memcpy(bytes, event, (size_t)length);
    return length;
}

static void http_stream_free(void *context)
{
    struct http_stream *stream = context;
    struct orr_serve *serve = stream->serve;
    (void)pthread_mutex_lock(&serve->lock);
    for (size_t i = 0; i < HTTP_STREAMS; i++) {
        serve->streams[i] = serve->streams[i] == stream ? NULL : serve->streams[i];
    }
    (void)pthread_mutex_unlock(&serve->lock);
    free(stream);
}

static struct http_stream *http_stream_make(struct http_call *call)
{
    struct orr_serve *serve = call->serve;
    struct http_stream *stream = calloc(1, sizeof *stream);
    size_t i = 0;
    if (stream == NULL) {
        return NULL;
    }
    *stream = (struct http_stream){.serve = serve,
                                   .connection = call->connection,
                                   .job = strtoull(call->request.word, NULL, 10),
                                   .beat_ns = clock_now_ns()};
    (void)pthread_mutex_lock(&serve->lock);
    while (i < HTTP_STREAMS && serve->streams[i] != NULL) {
        i++;
    }
    if (i < HTTP_STREAMS) {
        serve->streams[i] = stream;
    }
    (void)pthread_mutex_unlock(&serve->lock);
    if (i == HTTP_STREAMS) {
        free(stream);
        return NULL;
    }
    return stream;
}

/* ---- answers ---- */

unsigned http_code(enum orr_status status)
{
    switch (status) {
    case ORR_OK:
        return MHD_HTTP_OK;
    case ORR_EINVAL:
    case ORR_ERANGE:
        return MHD_HTTP_BAD_REQUEST;
    case ORR_EIO:
        return MHD_HTTP_NOT_FOUND;
    case ORR_ESTALL:
        return HTTP_STALLED;
    case ORR_ENOMEM:
    case ORR_EINTR:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

void http_refuse(struct http_call *call, unsigned code, const char *text)
{
    call->status = error_set(&call->err, ORR_EINVAL, "%s", text);
    call->answer.code = code;
}

static void http_write_error(struct http_call *call)
{
    struct json_writer writer;
    FILE *stream = NULL;
    struct orr_error unsaid = {0};
    free(call->text);
    call->text = NULL;
    if (orr_stream_text(&call->text, &call->size, &stream, &unsaid) == ORR_OK) {
        json_write_begin(&writer, stream);
        json_write_object(&writer, true);
        json_write_member_string(&writer, "error",
                                 call->status == ORR_EINTR ? "it took longer than an answer may take" : call->err.text);
        json_write_object_end(&writer);
        json_write_end(&writer);
        if (orr_stream_close(stream, &unsaid) != ORR_OK) {
            call->text = NULL;
        }
    }
    call->answer.code = call->answer.code >= 400 ? call->answer.code : http_code(call->status);
    call->answer.type = "application/json";
}

static void http_headers(const struct http_call *call, struct MHD_Response *response)
{
    static const char *const always[][2] = {{"X-Content-Type-Options", "nosniff"},
                                            {"X-Frame-Options", "DENY"},
                                            {"Referrer-Policy", "no-referrer"},
                                            {"Cache-Control", "no-store"},
                                            {"Cross-Origin-Resource-Policy", "same-origin"},
                                            {"Cross-Origin-Opener-Policy", "same-origin"}};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        (void)MHD_add_response_header(response, always[i][0], always[i][1]);
    }
    /* A page that lies in the folder may run its own scripts, but as nobody's: it cannot ask us anything. */
    (void)MHD_add_response_header(
        response, "Content-Security-Policy",
        call->answer.is_foreign
            ? "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline' blob:; style-src "
              "'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:"
            : "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
              "'self'; "
              "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    (void)MHD_add_response_header(response, "Content-Type", call->answer.type);
    if (call->answer.code == MHD_HTTP_SERVICE_UNAVAILABLE || call->answer.code == MHD_HTTP_TOO_MANY_REQUESTS) {
        (void)MHD_add_response_header(response, "Retry-After", "1");
    }
    if (call->sets_cookie) {
        char cookie[128];
        (void)snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", call->serve->cookie,
                       call->serve->token);
        (void)MHD_add_response_header(response, "Set-Cookie", cookie);
    }
}

static struct MHD_Response *http_response(struct http_call *call)
{
    if (call->status != ORR_OK) {
        http_write_error(call);
    }
    if (call->status == ORR_OK && call->answer.file >= 0) {
        struct MHD_Response *response = MHD_create_response_from_fd64(call->answer.file_bytes, call->answer.file);
        call->answer.file = response != NULL ? -1 : call->answer.file;
        return response;
    }
    if (call->status == ORR_OK && call->answer.bytes != NULL) {
        return MHD_create_response_from_buffer(call->answer.size, (void *)(uintptr_t)call->answer.bytes,
                                               MHD_RESPMEM_PERSISTENT);
    }
    char *text = call->text;
    call->text = NULL;
    return text != NULL ? MHD_create_response_from_buffer(call->size, text, MHD_RESPMEM_MUST_FREE)
                        : MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result http_send_response(struct http_call *call, struct MHD_Response *response)
{
    if (response == NULL) {
        return MHD_NO;
    }
    http_headers(call, response);
    http_phase(call->serve, call->connection, LINK_WRITES);
    call->state = CALL_ANSWERED;
    enum MHD_Result sent = MHD_queue_response(call->connection, call->answer.code, response);
    MHD_destroy_response(response);
    return sent;
}

enum MHD_Result http_send(struct http_call *call)
{
    return http_send_response(call, http_response(call));
}

enum MHD_Result http_send_events(struct http_call *call)
{
    struct http_stream *stream = http_stream_make(call);
    if (stream == NULL) {
        http_refuse(call, MHD_HTTP_SERVICE_UNAVAILABLE, "too many jobs are followed at once");
        return http_send(call);
    }
    call->answer.type = "text/event-stream";
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, http_stream_read, stream, http_stream_free);
    if (response == NULL) {
        http_stream_free(stream);
        return MHD_NO;
    }
    enum MHD_Result sent = http_send_response(call, response);
    http_phase(call->serve, call->connection, LINK_STREAMS);
    return sent;
}

void http_answer(struct http_call *call)
{
    struct orr_error closing = {0};
    call->status = orr_stream_text(&call->text, &call->size, &call->answer.stream, &call->err);
    if (call->status != ORR_OK) {
        return;
    }
    call->status = call->request.route->answer(&call->serve->room, &call->request, &call->answer, &call->err);
    enum orr_status closed = orr_stream_close(call->answer.stream, &closing);
    if (call->status == ORR_OK && closed != ORR_OK) {
        call->status = closed;
        call->err = closing;
    }
}
