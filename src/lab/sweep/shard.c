/* SPDX-License-Identifier: Apache-2.0 */
/* Appending is all that a shard does, which network file systems do well for one writer; a database would need locks
 * that many of them do not have. */
#include "lab/sweep/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/etz_index.h"
#include "io/file.h"
#include "io/outfile.h"
#include "io/wire.h"
#include "lab/sweep/wire.h"

static const char shard_magic[] = "orr.pts\1";

enum { MAGIC_BYTES = 8, HEAD_BYTES = MAGIC_BYTES + IO_HASH_TEXT - 1, FRAME_BYTES = 16 };

static const char *shard_store(const struct orr_sweep *sweep)
{
    return sweep->options->store != NULL ? sweep->options->store : "runs/orrery.db";
}

/* The points of a file, in their order; `*whole` is where the last that is whole ends, 0: it is of another sweep. */
static enum orr_status shard_read(struct orr_sweep *sweep, const char *path, const char *fingerprint,
                                  struct file_buffer *buffer, size_t *whole,
                                  enum orr_status (*seen)(struct orr_sweep *sweep, struct sweep_made *made,
                                                          struct orr_error *err),
                                  struct orr_error *err)
{
    *whole = 0;
    enum orr_status status = file_buffer_read(buffer, path, err);
    if (status != ORR_OK || buffer->size < HEAD_BYTES || memcmp(buffer->bytes, shard_magic, MAGIC_BYTES) != 0 ||
        memcmp(buffer->bytes + MAGIC_BYTES, fingerprint, HEAD_BYTES - MAGIC_BYTES) != 0) {
        return status;
    }
    for (*whole = HEAD_BYTES; status == ORR_OK && buffer->size - *whole >= FRAME_BYTES;) {
        const uint8_t *frame = buffer->bytes + *whole;
        uint64_t size = wire_fixed64(frame);
        if (size > buffer->size - *whole - FRAME_BYTES ||
            (uint64_t)XXH3_64bits(frame + FRAME_BYTES, (size_t)size) != wire_fixed64(frame + 8)) {
            break;
        }
        struct sweep_made *made = sweep_wire_take(frame + FRAME_BYTES, (size_t)size);
        if (made == NULL || made->point >= sweep->points) {
            sweep_made_free(made);
            break;
        }
        *whole += FRAME_BYTES + (size_t)size;
        status = seen(sweep, made, err);
    }
    return status;
}

static enum orr_status shard_write(struct orr_sweep *sweep, const void *bytes, size_t size, struct orr_error *err)
{
    size_t written = 0;
    while (written < size) {
        ssize_t part = write(sweep->shard_fd, (const uint8_t *)bytes + written, size - written);
        if (part < 0 && errno != EINTR) {
            return error_system(err, errno, "%s: the points of shard %" PRIu32 " cannot be written", shard_store(sweep),
                                sweep->options->shard);
        }
        written += part > 0 ? (size_t)part : 0;
    }
    return ORR_OK;
}

enum orr_status sweep_shard_open(struct orr_sweep *sweep, const char *fingerprint,
                                 enum orr_status (*seen)(struct orr_sweep *sweep, struct sweep_made *made,
                                                         struct orr_error *err),
                                 struct orr_error *err)
{
    struct file_buffer buffer;
    size_t whole = 0;
    const char *path = arena_printf(&sweep->arena, "%s.%" PRIu32 "-of-%" PRIu32 ".points", shard_store(sweep),
                                    sweep->options->shard, sweep->options->shards);
    if (path == NULL) {
        return mem_error(&sweep->mem, "a path", err);
    }
    file_buffer_init(&buffer, &sweep->mem);
    enum orr_status status = io_make_folder_above(path, err);
    if (status == ORR_OK && file_exists(path)) {
        status = shard_read(sweep, path, fingerprint, &buffer, &whole, seen, err);
    }
    file_buffer_free(&buffer);
    if (status != ORR_OK) {
        return status;
    }
    sweep->shard_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
    if (sweep->shard_fd < 0 || ftruncate(sweep->shard_fd, (off_t)whole) != 0) {
        return error_system(err, errno, "%.300s: cannot be written", path);
    }
    if (whole == 0) {
        status = shard_write(sweep, shard_magic, MAGIC_BYTES, err);
        status = status == ORR_OK ? shard_write(sweep, fingerprint, HEAD_BYTES - MAGIC_BYTES, err) : status;
    }
    return status;
}

enum orr_status sweep_shard_add(struct orr_sweep *sweep, const struct sweep_made *made, struct orr_error *err)
{
    static const uint8_t room[FRAME_BYTES];
    struct mem mem = {0};
    struct etz_bytes frame = {.mem = &mem};
    etz_bytes_put(&frame, room, sizeof room);
    if (!sweep_wire_put(made, &frame)) {
        etz_bytes_free(&frame);
        return error_set(err, ORR_ENOMEM, "out of memory for the result of point %" PRIu64, made->point + 1);
    }
    etz_put64(frame.at, frame.size - FRAME_BYTES);
    etz_put64(frame.at + 8, (uint64_t)XXH3_64bits(frame.at + FRAME_BYTES, frame.size - FRAME_BYTES));
    enum orr_status status = shard_write(sweep, frame.at, frame.size, err);
    etz_bytes_free(&frame);
    return status;
}

/* ---- gathering ---- */

/* A point that several files have is the last one read, unless that failed and another did not. */
static enum orr_status shard_gathered(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err)
{
    struct sweep_made **place = &sweep->gathered[made->point];
    bool ended = made->recording == ORR_OK && made->outcome.state != LAB_RUN_FAILED;
    (void)err;
    if (*place != NULL && !ended) {
        sweep_made_free(made);
        return ORR_OK;
    }
    sweep_made_free(*place);
    *place = made;
    return ORR_OK;
}

enum orr_status sweep_shards_gather(struct orr_sweep *sweep, const char *fingerprint, const bool *wanted,
                                    enum orr_status (*take)(struct orr_sweep *sweep, struct sweep_made *made,
                                                            struct orr_error *err),
                                    struct orr_error *err)
{
    glob_t found = {0};
    struct file_buffer buffer;
    size_t whole = 0;
    const char *pattern = arena_printf(&sweep->arena, "%s.*-of-*.points", shard_store(sweep));
    sweep->gathered = arena_zalloc(&sweep->arena, (size_t)sweep->points * sizeof(struct sweep_made *));
    if (pattern == NULL || sweep->gathered == NULL) {
        return mem_error(&sweep->mem, "the points of a sweep", err);
    }
    file_buffer_init(&buffer, &sweep->mem);
    enum orr_status status = ORR_OK;
    bool any = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; any && status == ORR_OK && i < found.gl_pathc; i++) {
        status = shard_read(sweep, found.gl_pathv[i], fingerprint, &buffer, &whole, shard_gathered, err);
    }
    globfree(&found);
    file_buffer_free(&buffer);
    for (uint64_t i = 0; i < sweep->points; i++) {
        struct sweep_made *made = sweep->gathered[i];
        if (status == ORR_OK && made != NULL && wanted[i]) {
            status = take(sweep, made, err);
        } else {
            sweep_made_free(made);
        }
    }
    return status;
}
