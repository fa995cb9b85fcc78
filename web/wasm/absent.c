/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a browser does without, in the place of the files that need it (tools/wasm): no files to read, no libraries for
 * formats, no threads, no simulation of a step's messages. What is asked for nevertheless is refused in words. Shipped
 * measurements are inside as they are, unpacked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread_pool.h"
#include "io/etz.h"
#include "io/json.h"
#include "io/json_shim.h"
#include "io/stream.h"
#include "io/unpack.h"
#include "io/yaml.h"
#include "train/simulate.h"

static enum orr_status refuse(const char *name, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s: there are no files in a browser; orrery reads it", name);
}

enum orr_status io_unpack_zstd(const char *name, const void *packed, size_t packed_size, struct mem *mem, void **bytes,
                               size_t *size, struct orr_error *err)
{
    void *copy = mem_alloc(mem, packed_size);
    if (copy == NULL) {
        return mem_error(mem, name, err);
    }
    memcpy(copy, packed, packed_size);
    *bytes = copy;
    *size = packed_size;
    return ORR_OK;
}

enum orr_status io_stream_open(const char *path, struct mem *mem, struct io_stream **stream, struct orr_error *err)
{
    (void)mem, (void)stream;
    return refuse(path, err);
}

/* None was ever opened: the rest is never asked. */

void io_stream_close(struct io_stream *stream)
{
    (void)stream;
}

enum orr_status io_stream_read(struct io_stream *stream, void *into, size_t room, size_t *size, struct orr_error *err)
{
    (void)stream, (void)into, (void)room, (void)size;
    return refuse("a file", err);
}

enum orr_status io_stream_read_at(struct io_stream *stream, uint64_t offset, void *into, size_t room, size_t *size,
                                  struct orr_error *err)
{
    (void)offset;
    return io_stream_read(stream, into, room, size, err);
}

void io_stream_allow_cut(struct io_stream *stream)
{
    (void)stream;
}

bool io_stream_was_cut(const struct io_stream *stream)
{
    (void)stream;
    return false;
}

const char *io_stream_path(const struct io_stream *stream)
{
    (void)stream;
    return "a file";
}

enum io_packing io_stream_packing(const struct io_stream *stream)
{
    (void)stream;
    return IO_PACKING_NONE;
}

uint64_t io_stream_file_size(const struct io_stream *stream)
{
    (void)stream;
    return 0;
}

enum orr_status io_json_parse(const char *name, const char *text, size_t size, struct arena *arena,
                              struct io_value **root, struct orr_error *err)
{
    (void)text, (void)size, (void)arena, (void)root;
    return refuse(name, err);
}

enum orr_status io_yaml_parse(const char *name, const char *text, size_t size, struct arena *arena,
                              struct io_value **root, struct orr_error *err)
{
    (void)text, (void)size, (void)arena, (void)root;
    return refuse(name, err);
}

enum orr_status etz_open_member(const char *path, int *fd, uint64_t *size, bool *through, struct orr_error *err)
{
    (void)fd, (void)size;
    *through = false;
    return refuse(path, err);
}

struct json_indexer *json_indexer_make(size_t capacity)
{
    (void)capacity;
    return NULL;
}

void json_indexer_free(struct json_indexer *indexer)
{
    (void)indexer;
}

size_t json_indexer_bytes(size_t capacity)
{
    return capacity;
}

enum json_shim_result json_indexer_run(struct json_indexer *indexer, const char *text, size_t size, const uint32_t **at,
                                       uint32_t *count)
{
    (void)indexer, (void)text, (void)size, (void)at, (void)count;
    return JSON_SHIM_REFUSED;
}

double json_shim_real(const char *text, size_t length)
{
    (void)length;
    return strtod(text, NULL);
}

enum orr_status simulate_step(const struct predict_job *job, const struct orr_train_options *options,
                              struct orr_train_simulated *simulated, struct orr_error *err)
{
    (void)job, (void)options, (void)simulated;
    return error_set(err, ORR_EINVAL, "parameter 'backend': a step is not simulated in a browser; it is predicted");
}

/* The C library of emscripten has no qsort_r. */
struct sorting {
    int (*compare)(const void *, const void *, void *);
    void *context;
};

static struct sorting now; /* one thread */

static int compare_now(const void *a, const void *b)
{
    return now.compare(a, b, now.context);
}

void qsort_r(void *base, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *context)
{
    struct sorting before = now;
    now = (struct sorting){compare, context};
    qsort(base, count, size, compare_now);
    now = before;
}

/* One thread: a piece after the other. */
uint32_t thread_pool_processors(void)
{
    return 1;
}

enum orr_status thread_pool_run(uint32_t threads, const struct thread_pool_work *work, struct orr_error *err)
{
    (void)threads, (void)err;
    bool more = true;
    for (uint64_t piece = 0; more && piece < work->count; piece++) {
        more = work->take(work->context, piece, work->make(work->context, piece));
        more = (work->tick == NULL || work->tick(work->context)) && more;
    }
    return ORR_OK;
}
