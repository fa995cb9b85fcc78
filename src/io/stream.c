/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own loop over zlib and zstd rather than gzopen: it tells a damaged file from a cut one and from a disk error,
 * takes gzip members one after the other, and knows how far into the packed file it is. The packing is told by the
 * first bytes, since recordings are renamed, and ".json" is often gzip.
 */
#include "io/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "io/file.h"

enum { PACKED_BYTES = 128 << 10 };

/* A file that unpacks to more than BOMB_BYTES and to more than BOMB_TIMES its own size was made to fill a machine or to
 * keep it busy: recordings pack to a tenth or a fortieth, gzip's best is a thousandth, zstd has no bound. */
enum { BOMB_BYTES = 1 << 30, BOMB_TIMES = 250 };

struct io_stream {
    struct mem *mem;
    char *path;
    int fd;
    enum io_packing packing;
    uint64_t file_size;
    uint64_t file_offset; /* bytes read from the file */
    uint64_t unpacked;    /* bytes made of them; of a packed file only */
    bool file_ended;
    bool ended;     /* the last unpacked byte was handed out */
    bool in_member; /* gzip: a member has begun and not ended; zstd: a frame */
    bool may_be_cut, was_cut;
    uint8_t *packed; /* NULL for plain files */
    size_t packed_at, packed_size;
    z_stream gzip;
    ZSTD_DStream *zstd;
};

static enum orr_status read_error(const struct io_stream *stream, struct orr_error *err)
{
    return error_system(err, errno, "%s: byte %" PRIu64 ": cannot be read", stream->path, stream->file_offset);
}

/* `got` below `room` means the file's end. */
static enum orr_status file_read(struct io_stream *stream, void *into, size_t room, size_t *got, struct orr_error *err)
{
    *got = 0;
    while (*got < room) {
        ssize_t part = read(stream->fd, (uint8_t *)into + *got, room - *got);
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part < 0) {
            return read_error(stream, err);
        }
        if (part == 0) {
            stream->file_ended = true;
            break;
        }
        *got += (size_t)part;
        stream->file_offset += (uint64_t)part;
    }
    return ORR_OK;
}

static enum io_packing packing_of(const uint8_t *first, size_t size)
{
    if (size >= 2 && first[0] == 0x1f && first[1] == 0x8b) {
        return IO_PACKING_GZIP;
    }
    bool frame = size >= 4 && memcmp(first, "\x28\xb5\x2f\xfd", 4) == 0;
    bool skippable = size >= 4 && (first[0] & 0xf0) == 0x50 && memcmp(first + 1, "\x2a\x4d\x18", 3) == 0;
    return frame || skippable ? IO_PACKING_ZSTD : IO_PACKING_NONE;
}

static enum orr_status stream_no_memory(const struct io_stream *stream, struct orr_error *err)
{
    return error_set(err, ORR_ENOMEM, "%s: out of memory unpacking it", stream->path);
}

static enum orr_status unpacker_open(struct io_stream *stream, struct orr_error *err)
{
    uint8_t first[4];
    ssize_t got = pread(stream->fd, first, sizeof first, 0);
    if (got < 0) {
        return read_error(stream, err);
    }
    enum io_packing packing = packing_of(first, (size_t)got);
    if (packing == IO_PACKING_NONE) {
        return ORR_OK;
    }
    stream->packed = mem_alloc(stream->mem, PACKED_BYTES);
    if (stream->packed == NULL) {
        return mem_error(stream->mem, "unpacking a file", err);
    }
    if (packing == IO_PACKING_GZIP) {
        if (inflateInit2(&stream->gzip, 16 + MAX_WBITS) != Z_OK) {
            return stream_no_memory(stream, err);
        }
    } else if ((stream->zstd = ZSTD_createDStream()) == NULL) {
        return stream_no_memory(stream, err);
    }
    stream->packing = packing;
    return ORR_OK;
}

enum orr_status io_stream_open(const char *path, struct mem *mem, struct io_stream **stream, struct orr_error *err)
{
    struct io_stream *made = mem_zalloc(mem, sizeof *made);
    size_t path_bytes = strlen(path) + 1;
    char *copy = made == NULL ? NULL : mem_alloc(mem, path_bytes);
    if (copy == NULL) {
        mem_free(mem, made, sizeof *made);
        return mem_error(mem, "opening a file", err);
    }
    memcpy(copy, path, path_bytes);
    made->mem = mem;
    made->path = copy;
    made->fd = -1;
    enum orr_status status = file_open_regular(path, &made->fd, &made->file_size, err);
    if (status == ORR_OK) {
        status = unpacker_open(made, err);
    }
    if (status != ORR_OK) {
        io_stream_close(made);
        return status;
    }
    *stream = made;
    return ORR_OK;
}

void io_stream_close(struct io_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    if (stream->packing == IO_PACKING_GZIP) {
        (void)inflateEnd(&stream->gzip);
    }
    (void)ZSTD_freeDStream(stream->zstd);
    if (stream->fd >= 0) {
        (void)close(stream->fd);
    }
    mem_free(stream->mem, stream->packed, PACKED_BYTES);
    mem_free(stream->mem, stream->path, strlen(stream->path) + 1);
    mem_free(stream->mem, stream, sizeof *stream);
}

static enum orr_status damaged(const struct io_stream *stream, const char *why, struct orr_error *err)
{
    uint64_t at = stream->file_offset - (stream->packed_size - stream->packed_at);
    return error_set(err, ORR_EINVAL, "%s: byte %" PRIu64 ": the %s data are damaged: %s", stream->path, at,
                     stream->packing == IO_PACKING_GZIP ? "gzip" : "zstd", why);
}

static enum orr_status cut_off(struct io_stream *stream, struct orr_error *err)
{
    if (stream->may_be_cut) {
        stream->was_cut = stream->ended = true;
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL, "%s: byte %" PRIu64 ": the %s data are cut off", stream->path,
                     stream->file_offset, stream->packing == IO_PACKING_GZIP ? "gzip" : "zstd");
}

static enum orr_status packed_fill(struct io_stream *stream, struct orr_error *err)
{
    if (stream->packed_at < stream->packed_size || stream->file_ended) {
        return ORR_OK;
    }
    stream->packed_at = 0;
    stream->packed_size = 0;
    return file_read(stream, stream->packed, PACKED_BYTES, &stream->packed_size, err);
}

/* Between two members: another one, the end, or the zeros that tape drives and some writers pad with. */
static enum orr_status member_begin(struct io_stream *stream, struct orr_error *err)
{
    bool first = stream->file_offset == stream->packed_size && stream->packed_at == 0;
    while (!first && stream->packed_at < stream->packed_size && stream->packed[stream->packed_at] == 0) {
        stream->packed_at++;
    }
    if (stream->packed_at == stream->packed_size) {
        stream->ended = stream->file_ended;
        return ORR_OK;
    }
    if (stream->packed[stream->packed_at] != 0x1f) {
        return damaged(stream, "what follows the last member is no gzip", err);
    }
    (void)inflateReset(&stream->gzip);
    stream->in_member = true;
    return ORR_OK;
}

static enum orr_status gzip_step(struct io_stream *stream, uint8_t *into, size_t room, size_t *made,
                                 struct orr_error *err)
{
    if (!stream->in_member) {
        return member_begin(stream, err);
    }
    z_stream *gzip = &stream->gzip;
    size_t limited = room > 1u << 30 ? 1u << 30 : room;
    gzip->next_in = stream->packed + stream->packed_at;
    gzip->avail_in = (uInt)(stream->packed_size - stream->packed_at);
    gzip->next_out = into;
    gzip->avail_out = (uInt)limited;
    int result = inflate(gzip, Z_NO_FLUSH);
    stream->packed_at = stream->packed_size - gzip->avail_in;
    *made = limited - gzip->avail_out;
    if (result == Z_STREAM_END) {
        stream->in_member = false;
        return ORR_OK;
    }
    if (result == Z_MEM_ERROR) {
        return stream_no_memory(stream, err);
    }
    if (result != Z_OK && result != Z_BUF_ERROR) {
        return damaged(stream, gzip->msg != NULL ? gzip->msg : "no valid stream", err);
    }
    if (*made == 0 && stream->file_ended && stream->packed_at == stream->packed_size) {
        return cut_off(stream, err);
    }
    return ORR_OK;
}

static enum orr_status stream_zstd_step(struct io_stream *stream, void *into, size_t room, size_t *made,
                                        struct orr_error *err)
{
    if (stream->packed_at == stream->packed_size && stream->file_ended && !stream->in_member) {
        stream->ended = true;
        return ORR_OK;
    }
    ZSTD_inBuffer in = {.src = stream->packed, .size = stream->packed_size, .pos = stream->packed_at};
    ZSTD_outBuffer out = {.dst = into, .size = room};
    size_t hint = ZSTD_decompressStream(stream->zstd, &out, &in);
    bool stuck = in.pos == stream->packed_at && out.pos == 0;
    stream->packed_at = in.pos;
    if (ZSTD_isError(hint)) {
        return damaged(stream, ZSTD_getErrorName(hint), err);
    }
    *made = out.pos;
    stream->in_member = hint != 0;
    return stuck && stream->file_ended ? cut_off(stream, err) : ORR_OK;
}

static enum orr_status stream_check_growth(const struct io_stream *stream, struct orr_error *err)
{
    uint64_t taken = io_stream_file_offset(stream);
    if (stream->unpacked <= BOMB_BYTES || stream->unpacked / BOMB_TIMES <= taken) {
        return ORR_OK;
    }
    return error_set(err, ORR_ENOMEM,
                     "%s: byte %" PRIu64 ": unpacks to over %d times its size, no recording does; where it is "
                     "meant so, unpack it first",
                     stream->path, taken, BOMB_TIMES);
}

enum orr_status io_stream_read(struct io_stream *stream, void *into, size_t room, size_t *size, struct orr_error *err)
{
    size_t got = 0;
    enum orr_status status = ORR_OK;
    if (stream->packing == IO_PACKING_NONE) {
        status = file_read(stream, into, room, &got, err);
    }
    while (stream->packing != IO_PACKING_NONE && got < room && !stream->ended && status == ORR_OK) {
        size_t made = 0;
        status = packed_fill(stream, err);
        if (status == ORR_OK && stream->packing == IO_PACKING_GZIP) {
            status = gzip_step(stream, (uint8_t *)into + got, room - got, &made, err);
        } else if (status == ORR_OK) {
            status = stream_zstd_step(stream, (uint8_t *)into + got, room - got, &made, err);
        }
        got += made;
        stream->unpacked += made;
        if (status == ORR_OK) {
            status = stream_check_growth(stream, err);
        }
    }
    if (status == ORR_OK) {
        *size = got;
    }
    return status;
}

enum orr_status io_stream_read_at(struct io_stream *stream, uint64_t offset, void *into, size_t room, size_t *size,
                                  struct orr_error *err)
{
    size_t got = 0;
    while (got < room) {
        ssize_t part = pread(stream->fd, (uint8_t *)into + got, room - got, (off_t)(offset + got));
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part < 0) {
            return error_system(err, errno, "%s: byte %" PRIu64 ": cannot be read", stream->path, offset + got);
        }
        if (part == 0) {
            break;
        }
        got += (size_t)part;
    }
    *size = got;
    return ORR_OK;
}

enum orr_status io_stream_rewind(struct io_stream *stream, struct orr_error *err)
{
    if (lseek(stream->fd, 0, SEEK_SET) != 0) {
        return error_system(err, errno, "%s: cannot be read again", stream->path);
    }
    stream->file_offset = 0;
    stream->unpacked = 0;
    stream->packed_at = 0;
    stream->packed_size = 0;
    stream->file_ended = false;
    stream->ended = false;
    stream->in_member = false;
    if (stream->zstd != NULL) {
        (void)ZSTD_initDStream(stream->zstd);
    }
    return ORR_OK;
}

void io_stream_allow_cut(struct io_stream *stream)
{
    stream->may_be_cut = true;
}

bool io_stream_was_cut(const struct io_stream *stream)
{
    return stream->was_cut;
}

const char *io_stream_path(const struct io_stream *stream)
{
    return stream->path;
}

enum io_packing io_stream_packing(const struct io_stream *stream)
{
    return stream->packing;
}

uint64_t io_stream_file_size(const struct io_stream *stream)
{
    return stream->file_size;
}

uint64_t io_stream_file_offset(const struct io_stream *stream)
{
    return stream->file_offset - (stream->packed_size - stream->packed_at);
}
