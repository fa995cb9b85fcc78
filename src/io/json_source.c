/* SPDX-License-Identifier: Apache-2.0 */
/* A packed file has one direction. Whoever wants to read parts again pays for a spool once; going back without one
 * (a restart) unpacks from the front again, which happens at most a few times a file. */
#include "io/json_source.h"

#include <string.h>

enum { SKIP_BYTES = 64 << 10 };

enum orr_status json_source_open(struct json_source *source, const char *path, bool again, struct mem *mem,
                                 struct orr_error *err)
{
    *source = (struct json_source){.mem = mem, .spool = IO_SPOOL_NONE, .end = UINT64_MAX};
    enum orr_status status = io_stream_open(path, mem, &source->stream, err);
    if (status == ORR_OK && again && io_stream_packing(source->stream) != IO_PACKING_NONE) {
        status = io_spool_open(&source->spool, err);
    }
    if (status != ORR_OK) {
        json_source_close(source);
    }
    return status;
}

void json_source_open_memory(struct json_source *source, const void *bytes, size_t size, struct mem *mem)
{
    *source = (struct json_source){
        .mem = mem, .memory = bytes, .memory_size = size, .spool = IO_SPOOL_NONE, .end = UINT64_MAX};
}

void json_source_close(struct json_source *source)
{
    io_stream_close(source->stream);
    io_spool_close(&source->spool);
    source->stream = NULL;
}

static bool is_packed(const struct json_source *source)
{
    return source->stream != NULL && io_stream_packing(source->stream) != IO_PACKING_NONE;
}

/* The next bytes of a packed stream, which are those at `unpacked`. */
static enum orr_status unpack(struct json_source *source, void *into, size_t room, size_t *got, struct orr_error *err)
{
    enum orr_status status = io_stream_read(source->stream, into, room, got, err);
    if (status == ORR_OK && source->spool.fd >= 0) {
        status = io_spool_append(&source->spool, into, *got, err);
    }
    if (status == ORR_OK) {
        source->unpacked += *got;
    }
    return status;
}

enum orr_status json_source_read_at(struct json_source *source, uint64_t offset, void *into, size_t room, size_t *got,
                                    struct orr_error *err)
{
    if (source->stream == NULL) {
        size_t left = offset < source->memory_size ? source->memory_size - (size_t)offset : 0;
        *got = room < left ? room : left;
        if (*got > 0) {
            memcpy(into, source->memory + offset, *got);
        }
        return ORR_OK;
    }
    if (is_packed(source)) {
        return io_spool_read_at(&source->spool, offset, into, room, got, err);
    }
    return io_stream_read_at(source->stream, offset, into, room, got, err);
}

enum orr_status json_source_read(struct json_source *source, void *into, size_t room, size_t *got,
                                 struct orr_error *err)
{
    uint64_t left = source->end - source->position;
    room = left < room ? (size_t)left : room;
    *got = 0;
    while (*got < room) {
        size_t part = 0;
        uint8_t *at = (uint8_t *)into + *got;
        enum orr_status status;
        if (is_packed(source) && source->position == source->unpacked) {
            status = unpack(source, at, room - *got, &part, err);
        } else {
            status = json_source_read_at(source, source->position, at, room - *got, &part, err);
        }
        if (status != ORR_OK) {
            return status;
        }
        if (part == 0) {
            break;
        }
        *got += part;
        source->position += part;
    }
    return ORR_OK;
}

/* Brings a packed stream without a spool to `offset`; less when the file is shorter. */
static enum orr_status skip_to(struct json_source *source, uint64_t offset, struct orr_error *err)
{
    if (offset < source->unpacked) {
        enum orr_status status = io_stream_rewind(source->stream, err);
        if (status != ORR_OK) {
            return status;
        }
        source->unpacked = 0;
    }
    uint8_t *scratch = mem_alloc(source->mem, SKIP_BYTES);
    if (scratch == NULL) {
        return mem_error(source->mem, "reading a packed file again", err);
    }
    enum orr_status status = ORR_OK;
    size_t got = 1;
    while (status == ORR_OK && got > 0 && source->unpacked < offset) {
        uint64_t left = offset - source->unpacked;
        status = unpack(source, scratch, left < SKIP_BYTES ? (size_t)left : SKIP_BYTES, &got, err);
    }
    mem_free(source->mem, scratch, SKIP_BYTES);
    return status;
}

enum orr_status json_source_seek(struct json_source *source, uint64_t offset, uint64_t end, struct orr_error *err)
{
    bool spooled = source->spool.fd >= 0 && offset <= source->unpacked;
    if (is_packed(source) && !spooled) {
        enum orr_status status = skip_to(source, offset, err);
        if (status != ORR_OK) {
            return status;
        }
        offset = source->unpacked < offset ? source->unpacked : offset;
    }
    source->position = offset;
    source->end = end < offset ? offset : end;
    return ORR_OK;
}

uint64_t json_source_size(const struct json_source *source)
{
    if (source->stream == NULL) {
        return source->memory_size;
    }
    return is_packed(source) ? UINT64_MAX : io_stream_file_size(source->stream);
}

static uint64_t newlines_in(const uint8_t *bytes, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += bytes[i] == '\n' ? 1 : 0;
    }
    return count;
}

uint64_t json_source_newlines(const struct json_source *source, uint64_t offset)
{
    if (source->stream == NULL) {
        return newlines_in(source->memory, offset < source->memory_size ? (size_t)offset : source->memory_size);
    }
    struct io_stream *stream = NULL;
    uint8_t *bytes = mem_alloc(source->mem, SKIP_BYTES);
    uint64_t count = UINT64_MAX;
    if (bytes != NULL && io_stream_open(io_stream_path(source->stream), source->mem, &stream, NULL) == ORR_OK) {
        count = 0;
        size_t got = 1;
        for (uint64_t at = 0; at < offset && got > 0; at += got) {
            uint64_t left = offset - at;
            if (io_stream_read(stream, bytes, left < SKIP_BYTES ? (size_t)left : SKIP_BYTES, &got, NULL) != ORR_OK) {
                count = UINT64_MAX;
                break;
            }
            count += newlines_in(bytes, got);
        }
        io_stream_close(stream);
    }
    mem_free(source->mem, bytes, SKIP_BYTES);
    return count;
}
