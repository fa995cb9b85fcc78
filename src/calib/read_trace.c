/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device trace's own collectives. On a GPU the kernel of a collective says what it is (PyTorch 2.4 and later: name,
 * elements, type, ranks) and is as long as it took; the annotation of the host beside it only launches it. With a
 * library of the host (gloo, mpi) it is the other way: there is no kernel, and the annotation is the collective. So
 * annotations count only of such libraries.
 *
 * What is measured here also waits for the last rank to come: traces are a source where there is no better one.
 */
#include <inttypes.h>
#include <string.h>

#include "calib/read_text.h"
#include "convert/comm_name.h"
#include "convert/pytorch/kineto/kineto.h"
#include "io/stream.h"

struct tracing {
    const struct kineto_trace *trace;
    const struct calib_read_options *options;
    struct mem *mem;
    struct calib_points *points;
    uint32_t left_out;
};

enum orr_status calib_trace_guess(const char *path, struct mem *mem, bool *is_trace, struct orr_error *err)
{
    static const char *const keys[] = {"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\""};
    enum { HEAD = 16 << 10 };
    struct io_stream *stream = NULL;
    size_t size = 0;
    *is_trace = false;
    char *head = mem_alloc(mem, HEAD);
    if (head == NULL) {
        return mem_error(mem, path, err);
    }
    enum orr_status status = io_stream_open(path, mem, &stream, err);
    for (size_t got = 1; status == ORR_OK && got > 0 && size < HEAD; size += got) {
        status = io_stream_read(stream, head + size, HEAD - size, &got, err);
        got = status == ORR_OK ? got : 0;
    }
    for (size_t i = 0; status == ORR_OK && i < sizeof keys / sizeof keys[0]; i++) {
        *is_trace |= memmem(head, size, keys[i], strlen(keys[i])) != NULL;
    }
    io_stream_close(stream);
    mem_free(mem, head, HEAD);
    return status;
}

static const char *calib_read_trace_text_of(const struct tracing *tracing, uint32_t name)
{
    return intern_text(&tracing->trace->names, name);
}

/* The only group there is, or the world where none is named; else what the options say. */
static uint64_t ranks_of_all(const struct tracing *tracing)
{
    const struct kineto_info *info = &tracing->trace->info;
    if (info->group_count == 1 && info->groups[0].rank_count > 0) {
        return info->groups[0].rank_count;
    }
    return info->group_count <= 1 && info->world_size > 0 ? (uint64_t)info->world_size : tracing->options->ranks;
}

/* The larger side of what the event says it moves; 0 where it does not. */
static uint64_t bytes_of(const struct tracing *tracing, const struct kineto_comm *comm)
{
    uint64_t elements = 0;
    uint32_t width = comm->dtype != 0 ? comm_dtype_bytes(calib_read_trace_text_of(tracing, comm->dtype)) : 0;
    uint64_t bytes = 0;
    if (comm->in_elements != UINT64_MAX) {
        elements = comm->in_elements;
    }
    if (comm->out_elements != UINT64_MAX && comm->out_elements > elements) {
        elements = comm->out_elements;
    }
    return __builtin_mul_overflow(elements, (uint64_t)width, &bytes) ? 0 : bytes;
}

static enum comm_kind kernel_kind(const struct tracing *tracing, const struct kineto_event *event,
                                  const struct kineto_comm *comm)
{
    enum comm_kind kind = comm_name_kernel(calib_read_trace_text_of(tracing, event->name));
    if (kind != COMM_NONE && comm != NULL && comm->collective != 0) { /* a kernel of RCCL may not say which */
        enum comm_kind said = comm_name_word(calib_read_trace_text_of(tracing, comm->collective));
        kind = said != COMM_NONE ? said : kind;
    }
    return kind;
}

static bool is_host_library(const char *name)
{
    return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0;
}

/* What an all-gather of the host's library is given is one rank's share. */
static uint64_t annotation_bytes(const struct kineto_comm *comm, enum comm_kind kind, uint64_t ranks)
{
    uint64_t bytes = comm->input_bytes;
    if (bytes == UINT64_MAX || (kind == COMM_ALL_GATHER && __builtin_mul_overflow(bytes, ranks, &bytes))) {
        return 0;
    }
    return bytes;
}

static enum orr_status event_take(struct tracing *tracing, const struct kineto_event *event, struct orr_error *err)
{
    const struct kineto_comm *comm = event->comm != KINETO_NONE ? &tracing->trace->comms[event->comm] : NULL;
    enum comm_kind kind = COMM_NONE;
    uint64_t bytes = 0;
    uint64_t ranks = comm != NULL && comm->group_size != UINT64_MAX ? comm->group_size : ranks_of_all(tracing);
    if (event->cat == KINETO_KERNEL) {
        kind = kernel_kind(tracing, event, comm);
        bytes = comm != NULL ? bytes_of(tracing, comm) : 0;
    } else if (event->cat == KINETO_USER_ANNOTATION &&
               is_host_library(calib_read_trace_text_of(tracing, event->name))) {
        kind = comm_name_op(calib_read_trace_text_of(tracing, event->name));
        bytes = comm != NULL ? annotation_bytes(comm, kind, ranks) : 0;
    }
    if (kind == COMM_NONE) {
        return ORR_OK;
    }
    bool timed = (event->has & KINETO_HAS_DUR) != 0 && event->dur_us >= 1e-3 && event->dur_us <= 1e15;
    if (!comm_kind_is_collective(kind) || !timed || bytes == 0 || ranks < 2 || ranks > UINT32_MAX) {
        tracing->left_out++;
        return ORR_OK;
    }
    struct calib_point point = {
        .type = (int32_t)kind, .ranks = (uint32_t)ranks, .bytes = bytes, .time_us = event->dur_us, .in_place = true};
    return calib_points_add(tracing->points, &point, tracing->mem, err);
}

enum orr_status calib_read_trace(const char *path, const struct calib_read_options *options, struct mem *mem,
                                 struct notes *notes, struct calib_points *points, uint32_t *left_out,
                                 struct orr_error *err)
{
    struct kineto_trace *trace = NULL;
    enum orr_status status = kineto_read(path, mem, notes, &trace, err);
    if (status != ORR_OK) {
        return status;
    }
    struct tracing tracing = {trace, options, mem, points, 0};
    for (uint32_t i = 0; i < trace->event_count && status == ORR_OK; i++) {
        status = event_take(&tracing, &trace->events[i], err);
    }
    kineto_free(trace);
    if (status == ORR_OK && tracing.left_out > 0) {
        status = notes_add(
            notes, err, "%s: left out %" PRIu32 " of the collectives: type, size, time or ranks are not in the trace",
            path, tracing.left_out);
    }
    *left_out = tracing.left_out;
    return status;
}
