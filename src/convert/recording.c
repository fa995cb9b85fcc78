/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks near the front decide: profilers write what describes a file before the bulk. JSON is not parsed here, keys are
 * looked for with their quotes, which inside a text would be escaped.
 */
#include "convert/recording.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "io/stream.h"

/* HEAD: as much as is looked at; ABOUT: as much as may stand between "distributedInfo" and the rank in it. */
enum { HEAD = 1 << 20, ABOUT = 4096 };

#define RECORD_PYTORCH                                                                                                 \
    "record with torch.profiler and export_chrome_trace (orrery trace recipe parameter 'framework' pytorch prints a "  \
    "script)"

static const char *recording_find(const char *bytes, size_t size, const char *word)
{
    return memmem(bytes, size, word, strlen(word));
}

static bool recording_has(const char *bytes, size_t size, const char *word)
{
    return recording_find(bytes, size, word) != NULL;
}

static bool recording_begins(const char *bytes, size_t size, const void *mark, size_t length)
{
    return size >= length && memcmp(bytes, mark, length) == 0;
}
#define BEGINS(bytes, size, literal) recording_begins(bytes, size, literal, sizeof(literal) - 1)

static bool recording_ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    size_t size = strlen(end);
    return length > size && strcmp(name + length - size, end) == 0;
}

static void is_other(struct recording_about *about, const char *what, const char *advice)
{
    about->kind = RECORDING_OTHER;
    about->what = what;
    about->advice = advice;
}

/* ---- formats that are no JSON ---- */

static void identify_database(const char *bytes, size_t size, struct recording_about *about)
{
    if (recording_has(bytes, size, "rocpd_")) {
        is_other(
            about, "a database of rocprofv3 (rocpd)",
            "record with rocprofv3 --output-format json --hip-trace --kernel-trace, which is read, or " RECORD_PYTORCH);
    } else if (recording_has(bytes, size, "CUPTI_ACTIVITY_KIND") || recording_has(bytes, size, "TARGET_INFO") ||
               recording_has(bytes, size, "NSYS_")) {
        is_other(about, "a database exported from Nsight Systems", "it has no ops of the program: " RECORD_PYTORCH);
    } else {
        is_other(about, "an SQLite database", RECORD_PYTORCH);
    }
}

static void identify_pickle(const char *bytes, size_t size, struct recording_about *about)
{
    if (recording_has(bytes, size, "device_traces") || recording_has(bytes, size, "segments")) {
        is_other(about, "a memory snapshot of PyTorch",
                 "it tells what was allocated, not what ran when: " RECORD_PYTORCH);
    } else if (recording_has(bytes, size, "collective_seq_id") || recording_has(bytes, size, "nccl_version")) {
        is_other(about, "a dump of PyTorch's flight recorder",
                 "it has collectives without the work between them: " RECORD_PYTORCH);
    } else {
        is_other(about, "a Python pickle", RECORD_PYTORCH);
    }
}

/* XSpace: its first field is a plane, whose name is one of a few. */
static bool is_xplane(const char *bytes, size_t size)
{
    static const char *const planes[] = {
        "/host:CPU",       "/device:GPU:",        "/device:TPU:",    "/host:metadata",  "/host:CUPTI",
        "/host:TFStreamz", "/host:python-tracer", "/device:CUSTOM:", "Task Environment"};
    for (size_t i = 0; size > 2 && bytes[0] == 0x0a && i < sizeof planes / sizeof planes[0]; i++) {
        if (recording_has(bytes, size, planes[i])) {
            return true;
        }
    }
    return false;
}

static void identify_binary(const char *bytes, size_t size, const char *name, struct recording_about *about)
{
    bool is_perfetto = recording_ends_with(name, ".pftrace") || recording_ends_with(name, ".perfetto-trace");
    if (BEGINS(bytes, size, "SQLite format 3\0")) {
        identify_database(bytes, size, about);
    } else if (size >= 2 && (uint8_t)bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5) {
        identify_pickle(bytes, size, about);
    } else if (is_xplane(bytes, size)) {
        /* A recording of JAX on an H200: kernels with stream, times and correlation id, as in the JSON; shapes only in
         * the compiled program (HLO), which a plane of its own holds. */
        is_other(
            about, "a profile of JAX or TensorFlow (XSpace)",
            "this form of it is not read; orrery trace convert parameter 'from' tensorflow reads the kernels from the "
            "trace.json.gz beside it (JAX writes that with jax.profiler.trace(DIR, create_perfetto_trace=True)), "
            "with parameter 'unknown-size' where that tells no sizes of collectives");
    } else if (recording_ends_with(name, ".nsys-rep") || recording_ends_with(name, ".qdrep") ||
               recording_ends_with(name, ".qdstrm")) {
        is_other(about, "a report of Nsight Systems", "it has no ops of the program: " RECORD_PYTORCH);
    } else if (recording_ends_with(name, ".ncu-rep")) {
        is_other(about, "a report of Nsight Compute", "it measures kernels one by one: " RECORD_PYTORCH);
    } else if (is_perfetto || recording_has(bytes, size < 4096 ? size : 4096, "perfetto")) {
        is_other(about, "a Perfetto trace", "rocprofv3 --output-format json is read, or " RECORD_PYTORCH);
    } else if (recording_ends_with(name, ".et") || recording_ends_with(name, ".etz")) {
        is_other(about, "a Chakra trace", "it needs no import: orrery run parameter 'workload' takes it");
    } else if (BEGINS(bytes, size, "PK\003\004")) {
        is_other(about, "a zip archive", "unpack it and name the recordings in it");
    } else if (recording_ends_with(name, ".xplane.pb")) {
        is_other(about, "by its name a profile of JAX or TensorFlow (XSpace), by its content none",
                 "record again with jax.profiler.trace or tf.profiler.experimental");
    }
}

static void identify_text(const char *bytes, size_t size, struct recording_about *about)
{
    const char *end = memchr(bytes, '\n', size);
    size_t line = end == NULL ? size : (size_t)(end - bytes);
    if (recording_has(bytes, line, "Start_Timestamp") && recording_has(bytes, line, "End_Timestamp")) {
        is_other(
            about, "a table of rocprofv3 (CSV)",
            "record with rocprofv3 --output-format json --hip-trace --kernel-trace, which is read, or " RECORD_PYTORCH);
    } else if (recording_has(bytes, line, "Total Time (ns)") || recording_has(bytes, line, "CorrId")) {
        is_other(about, "a table of Nsight Systems (CSV)", RECORD_PYTORCH);
    } else if (BEGINS(bytes, size, "<!DOCTYPE") || BEGINS(bytes, size, "<html")) {
        is_other(about, "a web page", RECORD_PYTORCH);
    }
}

/* ---- JSON ---- */

/* The integer behind a key, at any place. */
static bool recording_find_integer(const char *bytes, size_t size, const char *key, int64_t *value)
{
    const char *at = recording_find(bytes, size, key);
    const char *end = bytes + size;
    if (at == NULL) {
        return false;
    }
    at += strlen(key);
    while (at < end && (isspace((unsigned char)*at) || *at == ':' || *at == '"')) {
        at++;
    }
    uint64_t number = 0;
    size_t left = (size_t)(end - at);
    bool found = scan_digits(at, left < 18 ? left : 18, &number) > 0;
    *value = found ? (int64_t)number : *value;
    return found;
}

/* Rank and size of the job, of an object that begins somewhere in the bytes behind its key. */
static void read_distributed(const char *bytes, size_t size, struct recording_about *about)
{
    size_t room = size < ABOUT ? size : ABOUT;
    /* What follows a group's list is not the job's. */
    const char *groups = recording_find(bytes, room, "\"pg_config\"");
    const char *close = memchr(bytes, '}', room);
    size_t front = groups != NULL ? (size_t)(groups - bytes) : close != NULL ? (size_t)(close - bytes) : room;
    if (!recording_find_integer(bytes, front, "\"rank\"", &about->rank) && groups != NULL) {
        (void)recording_find_integer(bytes, room, "\"rank\"", &about->rank);
    }
    if (!recording_find_integer(bytes, front, "\"world_size\"", &about->world_size) && groups != NULL) {
        (void)recording_find_integer(bytes, room, "\"world_size\"", &about->world_size);
    }
}

static const char distributed[] = "\"distributedInfo\"";

static void recording_read_job(const char *bytes, size_t size, struct recording_about *about)
{
    static const char key[] = "\"group_trace_id\"";
    const char *at = recording_find(bytes, size, key);
    const char *end = bytes + size;
    size_t length = 0;
    for (at = at == NULL ? end : at + sizeof key - 1; at < end && (isspace((unsigned char)*at) || *at == ':'); at++) {
    }
    for (at += at < end && *at == '"';
         at < end && (isalnum((unsigned char)*at) || *at == '-') && length + 1 < sizeof about->job; at++) {
        about->job[length++] = *at;
    }
}

static bool is_kineto(const char *bytes, size_t size)
{
    static const char *const marks[] = {"\"deviceProperties\"", "\"schemaVersion\"",     "\"cpu_op\"",
                                        "\"cuda_runtime\"",     "\"External id\"",       "\"external id\"",
                                        "\"user_annotation\"",  "\"python_function\"",   "\"Operator\"",
                                        "\"gpu_memcpy\"",       "\"hip_runtime\"",       "\"kernel\"",
                                        "\"Kernel\"",           "\"Record function id\""};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (recording_has(bytes, size, marks[i])) {
            return true;
        }
    }
    return false;
}

/* What `run --timeline FILE` writes has all ranks in one file, as processes; one rank's work cannot be told by streams
 * and launches there. */
static bool is_own_timeline(const char *bytes, size_t size)
{
    const char *info = recording_find(bytes, size, distributed);
    size_t left = info == NULL ? 0 : (size_t)(bytes + size - info);
    return info != NULL && recording_has(info, left < ABOUT ? left : ABOUT, "\"backend\": \"orrery\"");
}

static void identify_events(const char *bytes, size_t size, struct recording_about *about)
{
    static const char *const tensorflow[] = {"device:GPU:", "device:TPU:", "host:CPU", "host:CUPTI", "host:ROCTRACER"};
    bool kineto = is_kineto(bytes, size);
    for (size_t i = 0; !kineto && i < sizeof tensorflow / sizeof tensorflow[0]; i++) {
        if (recording_has(bytes, size, tensorflow[i])) {
            is_other(about, "a trace of TensorFlow's or JAX's profiler",
                     "orrery trace convert parameter 'from' tensorflow reads it");
            return;
        }
    }
    if (!kineto && recording_has(bytes, size, "\"BeginNs\"")) {
        is_other(
            about, "a trace of rocprof (version 1 or 2)",
            "record with rocprofv3 --output-format json --hip-trace --kernel-trace, which is read, or " RECORD_PYTORCH);
        return;
    }
    if (!kineto && recording_has(bytes, size, "NEGOTIATE_")) {
        is_other(about, "a timeline of Horovod", "orrery trace convert parameter 'from' horovod reads it");
        return;
    }
    if (is_own_timeline(bytes, size)) {
        is_other(about, "a timeline of orrery run with all ranks in one file",
                 "orrery run parameter 'timeline' DIR/ writes a file a rank, which is read");
        return;
    }
    about->kind = RECORDING_KINETO;
    about->what = "a trace of PyTorch's profiler";
    const char *op = recording_find(bytes, size, "\"cpu_op\"");
    if (op != NULL) {
        (void)recording_find_integer(op, (size_t)(bytes + size - op), "\"pid\"", &about->pid);
    }
    const char *info = recording_find(bytes, size, distributed);
    if (info != NULL) {
        read_distributed(info, (size_t)(bytes + size - info), about);
    }
    recording_read_job(bytes, size, about);
}

/* A list of nodes in a file that names its schema; or its front, where the list of threads comes first and is long. Our
 * own reports count "nodes" too. */
static bool is_execution_trace(const char *bytes, size_t size)
{
    const char *end = bytes + size;
    const char *at = recording_find(bytes, size, "\"nodes\"");
    if (at == NULL) {
        return recording_has(bytes, size, "\"schema\"") && recording_has(bytes, size, "\"start_ts\"");
    }
    for (at += sizeof "\"nodes\"" - 1; at < end && (isspace((unsigned char)*at) || *at == ':'); at++) {
    }
    return at < end && *at == '[' &&
           (recording_has(bytes, size, "\"schema\"") || recording_has(bytes, size, "\"ctrl_deps\"") ||
            recording_has(bytes, size, "\"start_ts\""));
}

static void identify_json(const char *bytes, size_t size, struct recording_about *about)
{
    if (recording_has(bytes, size, "\"rocprofiler-sdk-tool\"")) {
        about->kind = RECORDING_ROCPROF;
        about->what = "a trace of rocprofv3";
    } else if (recording_has(bytes, size, "\"traceEvents\"") ||
               (bytes[0] == '[' && recording_has(bytes, size, "\"ph\"") &&
                (is_kineto(bytes, size) || recording_has(bytes, size, "NEGOTIATE_")))) {
        identify_events(bytes, size, about);
    } else if (recording_has(bytes, size, "\"device_traces\"") && recording_has(bytes, size, "\"segments\"")) {
        is_other(about, "a memory snapshot of PyTorch",
                 "it tells what was allocated, not what ran when: " RECORD_PYTORCH);
    } else if (recording_has(bytes, size, "\"coll_perf\"")) {
        is_other(about, "a log of NCCL's inspector",
                 "it has collectives without the work between them: " RECORD_PYTORCH);
    } else if (is_execution_trace(bytes, size)) {
        about->kind = RECORDING_HOST;
        about->what = "an execution trace of PyTorch";
        (void)recording_find_integer(bytes, size, "\"pid\"", &about->pid);
    } else if (recording_has(bytes, size, "\"workload_graph\"") || recording_has(bytes, size, "\"orrery-trace\"")) {
        is_other(about, "a Chakra graph as JSON", "orrery trace convert parameter 'from' json reads it");
    }
}

void recording_identify_bytes(const char *bytes, size_t size, const char *name, struct recording_about *about)
{
    *about = (struct recording_about){.what = "", .advice = "", .rank = -1, .world_size = -1, .pid = -1};
    size_t at = BEGINS(bytes, size, "\xef\xbb\xbf") ? 3 : 0;
    while (at < size && isspace((unsigned char)bytes[at])) {
        at++;
    }
    if (at < size && (bytes[at] == '{' || bytes[at] == '[')) {
        identify_json(bytes + at, size - at, about);
    } else {
        identify_binary(bytes, size, name, about);
        if (about->kind == RECORDING_UNKNOWN) {
            identify_text(bytes + at, size - at, about);
        }
    }
    about->what = about->what == NULL ? "" : about->what;
    about->advice = about->advice == NULL ? "" : about->advice;
}

/* ---- a file ---- */

static enum orr_status recording_fill(struct io_stream *stream, char *bytes, size_t *size, struct orr_error *err)
{
    size_t got = 1;
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && got > 0 && *size < HEAD) {
        status = io_stream_read(stream, bytes + *size, HEAD - *size, &got, err);
        *size += status == ORR_OK ? got : 0;
    }
    return status;
}

/* The rest of a long file, for "distributedInfo" behind the events, or for events behind a long preface. */
static enum orr_status look_further(struct io_stream *stream, char *bytes, size_t size, struct recording_about *about,
                                    struct orr_error *err)
{
    bool first = true;
    while (size == HEAD) {
        const char *info = first ? NULL : recording_find(bytes, size - ABOUT, distributed);
        if (about->kind == RECORDING_UNKNOWN && !first && recording_has(bytes, size, "\"traceEvents\"")) {
            identify_events(bytes, size, about);
        }
        if (info != NULL && about->kind == RECORDING_KINETO) {
            read_distributed(info, (size_t)(bytes + size - info), about);
            return ORR_OK;
        }
        memmove(bytes, bytes + size - ABOUT, ABOUT);
        size = ABOUT;
        first = false;
        enum orr_status status = recording_fill(stream, bytes, &size, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    const char *info = first ? NULL : recording_find(bytes, size, distributed);
    if (about->kind == RECORDING_UNKNOWN && !first && recording_has(bytes, size, "\"traceEvents\"")) {
        identify_events(bytes, size, about);
    } else if (info != NULL && about->kind == RECORDING_KINETO) {
        read_distributed(info, (size_t)(bytes + size - info), about);
    }
    return ORR_OK;
}

enum orr_status recording_identify(const char *path, struct mem *mem, struct recording_about *about,
                                   struct orr_error *err)
{
    struct recording_about made = {0};
    struct io_stream *stream = NULL;
    size_t size = 0;
    const char *slash = strrchr(path, '/');
    char *bytes = mem_alloc(mem, HEAD);
    if (bytes == NULL) {
        return mem_error(mem, "the first bytes of a file", err);
    }
    enum orr_status status = io_stream_open(path, mem, &stream, err);
    if (status == ORR_OK) {
        io_stream_allow_cut(stream);
        status = recording_fill(stream, bytes, &size, err);
    }
    if (status == ORR_OK) {
        recording_identify_bytes(bytes, size, slash == NULL ? path : slash + 1, &made);
        bool is_json = size > 0 && memchr(bytes, '{', size < 64 ? size : 64) != NULL;
        if (is_json && (made.kind == RECORDING_UNKNOWN || (made.kind == RECORDING_KINETO && made.rank < 0))) {
            status = look_further(stream, bytes, size, &made, err);
        }
    }
    io_stream_close(stream);
    mem_free(mem, bytes, HEAD);
    if (status == ORR_OK) {
        *about = made;
    }
    return status;
}

enum orr_status recording_refuse(const char *path, const struct recording_about *about, struct orr_error *err)
{
    if (about->kind == RECORDING_OTHER) {
        return error_set(err, ORR_EINVAL, "%s: this is %s; %s", path, about->what, about->advice);
    }
    return error_set(err, ORR_EINVAL,
                     "%s: no recording: neither a trace of PyTorch's profiler (\"traceEvents\") nor an execution trace "
                     "(\"nodes\"), nor one of rocprofv3; " RECORD_PYTORCH,
                     path);
}
