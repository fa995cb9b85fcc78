/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are read where they stand instead of the index as a whole, since a job of a hundred thousand ranks asks for one
 * after the other by its path, each time anew. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "io/etz_index.h"
#include "io/file.h"
#include "io/wire.h"

uint32_t etz_check_of(const uint8_t *row, size_t size)
{
    return (uint32_t)XXH3_64bits(row, size - ETZ_CHECK_BYTES);
}

static enum orr_status etz_damaged(const struct etz_reader *reader, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%.300s: the archive is damaged: %s", reader->path, what);
}

static enum orr_status etz_read_at(const struct etz_reader *reader, uint64_t offset, void *into, size_t size,
                                   struct orr_error *err)
{
    size_t got = 0;
    while (got < size) {
        ssize_t part = pread(reader->fd, (uint8_t *)into + got, size - got, (off_t)(offset + got));
        if (part < 0 && errno != EINTR) {
            return error_system(err, errno, "%.300s: cannot be read", reader->path);
        }
        if (part == 0) {
            return etz_damaged(reader, "it ends too early", err);
        }
        got += part > 0 ? (size_t)part : 0;
    }
    return ORR_OK;
}

static enum orr_status etz_read_row(const struct etz_reader *reader, uint64_t offset, uint8_t *row, size_t size,
                                    struct orr_error *err)
{
    enum orr_status status = etz_read_at(reader, offset, row, size, err);
    if (status == ORR_OK && wire_fixed32(row + size - ETZ_CHECK_BYTES) != etz_check_of(row, size)) {
        status = etz_damaged(reader, "a row of its index", err);
    }
    return status;
}

static enum orr_status read_trailer(struct etz_reader *reader, uint64_t size, struct orr_error *err)
{
    enum { ROW = ETZ_TRAILER_BYTES - ETZ_MAGIC_BYTES, LEAST = ETZ_MAGIC_BYTES + ETZ_TRAILER_BYTES };
    uint8_t row[ROW];
    char magic[ETZ_MAGIC_BYTES];
    if (size < LEAST || etz_read_at(reader, 0, magic, sizeof magic, err) != ORR_OK ||
        memcmp(magic, ETZ_MAGIC, sizeof magic) != 0) {
        return error_set(err, ORR_EINVAL, "%.300s: is no archive of traces (orrery trace pack makes one)",
                         reader->path);
    }
    enum orr_status status = etz_read_row(reader, size - ETZ_TRAILER_BYTES, row, ROW, err);
    if (status != ORR_OK) {
        return status;
    }
    reader->index = wire_fixed64(row);
    reader->contents = wire_fixed32(row + 8);
    reader->runs = wire_fixed32(row + 12);
    reader->sides = wire_fixed32(row + 16);
    reader->ranks = wire_fixed32(row + 20);
    uint64_t rows = (uint64_t)reader->contents * ETZ_CONTENT_BYTES + (uint64_t)reader->runs * ETZ_RUN_BYTES +
                    (uint64_t)reader->sides * ETZ_SIDE_BYTES;
    bool fits = reader->index >= ETZ_MAGIC_BYTES && reader->index <= size && rows <= size &&
                reader->index + rows + ETZ_TRAILER_BYTES == size && (reader->ranks > 0) == (reader->runs > 0);
    return fits ? ORR_OK : etz_damaged(reader, "its index", err);
}

enum orr_status etz_open(const char *path, struct etz_reader *reader, struct orr_error *err)
{
    uint64_t size = 0;
    *reader = (struct etz_reader){.path = strdup(path), .fd = -1};
    enum orr_status status = reader->path == NULL ? error_set(err, ORR_ENOMEM, "out of memory for a path") : ORR_OK;
    status = status == ORR_OK ? file_open_regular(path, &reader->fd, &size, err) : status;
    status = status == ORR_OK ? read_trailer(reader, size, err) : status;
    if (status != ORR_OK) {
        etz_close(reader);
    }
    return status;
}

void etz_close(struct etz_reader *reader)
{
    if (reader->fd >= 0) {
        (void)close(reader->fd);
    }
    free(reader->path);
    *reader = (struct etz_reader){.fd = -1};
}

/* ---- rows ---- */

static enum orr_status read_content(const struct etz_reader *reader, uint32_t number, struct etz_content *content,
                                    struct orr_error *err)
{
    uint8_t row[ETZ_CONTENT_BYTES];
    if (number >= reader->contents) {
        return etz_damaged(reader, "it names a trace that it does not have", err);
    }
    enum orr_status status =
        etz_read_row(reader, reader->index + (uint64_t)number * ETZ_CONTENT_BYTES, row, sizeof row, err);
    if (status != ORR_OK) {
        return status;
    }
    *content = (struct etz_content){.offset = wire_fixed64(row),
                                    .packed = wire_fixed64(row + 8),
                                    .unpacked = wire_fixed64(row + 16),
                                    .hash = wire_fixed64(row + 24),
                                    .like = wire_fixed32(row + 32),
                                    .form = wire_fixed32(row + 36)};
    bool inside = content->offset >= ETZ_MAGIC_BYTES && content->offset <= reader->index &&
                  content->packed <= reader->index - content->offset;
    return inside && content->form < ETZ_CONTENT_FORMS ? ORR_OK : etz_damaged(reader, "the place of a trace", err);
}

static enum orr_status etz_read_run(const struct etz_reader *reader, uint32_t number, struct etz_run *run,
                                    struct orr_error *err)
{
    uint8_t row[ETZ_RUN_BYTES];
    uint64_t runs = reader->index + (uint64_t)reader->contents * ETZ_CONTENT_BYTES;
    enum orr_status status = etz_read_row(reader, runs + (uint64_t)number * ETZ_RUN_BYTES, row, sizeof row, err);
    if (status == ORR_OK) {
        *run = (struct etz_run){wire_fixed32(row), wire_fixed32(row + 4), wire_fixed64(row + 8), wire_fixed64(row + 16),
                                wire_fixed32(row + 24)};
    }
    return status;
}

/* The last run that begins at the rank or before. */
static enum orr_status etz_find_run(const struct etz_reader *reader, uint32_t rank, struct etz_run *found,
                                    struct orr_error *err)
{
    struct etz_run run = {0};
    uint32_t low = 0;
    uint32_t high = reader->runs;
    if (rank >= reader->ranks) {
        return error_set(err, ORR_EIO, "%.300s: has no rank %" PRIu32 "; its ranks are 0 to %" PRIu32, reader->path,
                         rank, reader->ranks - 1);
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        enum orr_status status = etz_read_run(reader, middle, &run, err);
        if (status != ORR_OK) {
            return status;
        }
        low = run.first <= rank ? middle : low;
        high = run.first <= rank ? high : middle;
    }
    enum orr_status status = etz_read_run(reader, low, &run, err);
    if (status == ORR_OK && run.first > rank) {
        status = etz_damaged(reader, "its ranks", err);
    }
    *found = run;
    return status;
}

enum orr_status etz_find(const struct etz_reader *reader, uint32_t rank, struct etz_place *place, struct orr_error *err)
{
    struct etz_run run;
    struct etz_content content;
    enum orr_status status = etz_find_run(reader, rank, &run, err);
    status = status == ORR_OK ? read_content(reader, run.content, &content, err) : status;
    if (status == ORR_OK) {
        *place = (struct etz_place){run.content, content.form == ETZ_FORM_BY_RANK || run.names != 0,
                                    run.base + (rank - run.first) * run.step};
    }
    return status;
}

/* ---- contents ---- */

/* `prefix`: the bytes it was packed against, or nothing. */
static enum orr_status etz_unpack(const struct etz_reader *reader, const struct etz_content *content,
                                  const struct etz_bytes *prefix, struct etz_bytes *bytes, struct orr_error *err)
{
    struct etz_bytes packed = {.mem = bytes->mem};
    ZSTD_DCtx *context = ZSTD_createDCtx();
    bool room = context != NULL &&
                mem_reserve_bytes(packed.mem, (void **)&packed.at, &packed.capacity, 0, (size_t)content->packed + 1) &&
                mem_reserve_bytes(bytes->mem, (void **)&bytes->at, &bytes->capacity, 0, (size_t)content->unpacked + 1);
    enum orr_status status = room ? etz_read_at(reader, content->offset, packed.at, (size_t)content->packed, err)
                                  : error_set(err, ORR_ENOMEM, "%.300s: out of memory for a trace of %" PRIu64 " bytes",
                                              reader->path, content->unpacked);
    if (status == ORR_OK) {
        (void)ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31);
        if (prefix->size > 0) {
            (void)ZSTD_DCtx_refPrefix(context, prefix->at, prefix->size);
        }
        size_t made =
            ZSTD_decompressDCtx(context, bytes->at, (size_t)content->unpacked, packed.at, (size_t)content->packed);
        bool same =
            !ZSTD_isError(made) && made == content->unpacked && (uint64_t)XXH3_64bits(bytes->at, made) == content->hash;
        bytes->size = same ? made : 0;
        status = same ? ORR_OK : etz_damaged(reader, "a trace in it does not unpack to what was packed", err);
    }
    etz_bytes_free(&packed);
    (void)ZSTD_freeDCtx(context);
    return status;
}

/* What claims to be large must lie there in some length, with what it was packed against. */
static enum orr_status etz_check_size(const struct etz_reader *reader, const struct etz_content *content,
                                      uint64_t like_packed, struct orr_error *err)
{
    uint64_t packed = content->packed + like_packed;
    bool large = content->unpacked > ETZ_LARGE_BYTES && content->unpacked / ETZ_MOST_TIMES > packed;
    return large || content->unpacked >= SIZE_MAX / 2
               ? error_set(err, ORR_ENOMEM,
                           "%.300s: %" PRIu64 " bytes in it would unpack to %" PRIu64 ", which no trace does",
                           reader->path, packed, content->unpacked)
               : ORR_OK;
}

static enum orr_status etz_read_bytes(const struct etz_reader *reader, uint32_t number, struct etz_content *content,
                                      struct etz_bytes *bytes, struct orr_error *err)
{
    struct etz_content like = {0};
    struct etz_bytes prefix = {.mem = bytes->mem};
    const struct etz_bytes none = {0};
    enum orr_status status = read_content(reader, number, content, err);
    if (status == ORR_OK && content->like > 0) {
        status = read_content(reader, content->like - 1, &like, err);
        status = status == ORR_OK && like.like != 0 ? etz_damaged(reader, "a trace is told by one that is told", err)
                                                    : status;
        status = status == ORR_OK ? etz_check_size(reader, &like, 0, err) : status;
        status = status == ORR_OK ? etz_unpack(reader, &like, &none, &prefix, err) : status;
    }
    status = status == ORR_OK ? etz_check_size(reader, content, like.packed, err) : status;
    status = status == ORR_OK ? etz_unpack(reader, content, &prefix, bytes, err) : status;
    etz_bytes_free(&prefix);
    return status;
}

enum orr_status etz_read_rank(const struct etz_reader *reader, uint32_t rank, struct etz_bytes *bytes,
                              struct orr_error *err)
{
    struct etz_run run;
    struct etz_content content;
    struct etz_content names;
    struct etz_form form;
    etz_form_init(&form, bytes->mem);
    enum orr_status status = etz_find_run(reader, rank, &run, err);
    status = status == ORR_OK ? etz_read_bytes(reader, run.content, &content, &form.body, err) : status;
    if (status == ORR_OK && run.names != 0) {
        status = etz_read_bytes(reader, run.names - 1, &names, &form.names, err);
    }
    if (status == ORR_OK && content.form == ETZ_PLAIN) {
        etz_bytes_free(bytes);
        *bytes = form.body;
        etz_bytes_free(&form.names);
        return ORR_OK;
    }
    form.rank = rank;
    bytes->size = 0;
    if (status == ORR_OK) {
        form.base = run.base + (rank - run.first) * run.step;
        status = etz_form_undo(&form, bytes) ? ORR_OK
                 : bytes->refused            ? mem_error(bytes->mem, "a trace of an archive", err)
                                             : etz_damaged(reader, "a trace in it is no row of records", err);
    }
    etz_form_free(&form);
    return status;
}

enum orr_status etz_read_side(const struct etz_reader *reader, uint32_t side, char name[ETZ_SIDE_NAME],
                              struct etz_bytes *bytes, struct orr_error *err)
{
    uint8_t row[ETZ_SIDE_BYTES];
    struct etz_content content;
    uint64_t sides =
        reader->index + (uint64_t)reader->contents * ETZ_CONTENT_BYTES + (uint64_t)reader->runs * ETZ_RUN_BYTES;
    enum orr_status status = etz_read_row(reader, sides + (uint64_t)side * ETZ_SIDE_BYTES, row, sizeof row, err);
    if (status == ORR_OK && (memchr(row, '\0', ETZ_SIDE_NAME) == NULL || memchr(row, '/', ETZ_SIDE_NAME) != NULL)) {
        status = etz_damaged(reader, "the name of a file in it", err);
    }
    if (status != ORR_OK) {
        return status;
    }
    memcpy(name, row, ETZ_SIDE_NAME);
    return bytes == NULL ? ORR_OK : etz_read_bytes(reader, wire_fixed32(row + ETZ_SIDE_NAME), &content, bytes, err);
}

/* ---- by path ---- */

bool etz_is_archive(const char *path)
{
    char magic[ETZ_MAGIC_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is = fd >= 0 && pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
              memcmp(magic, ETZ_MAGIC, sizeof magic) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return is;
}

/* The member that an ending asks for: a rank, or a side file whose name it is. */
struct member {
    bool is_side;
    uint32_t number;
};

/* ".17.et" and no other writing of the number. */
static bool rank_of_ending(const char *ending, uint32_t *rank)
{
    uint64_t value = 0;
    const char *end = ending + 1;
    while (*end >= '0' && *end <= '9' && end - ending <= 10) {
        value = value * 10 + (uint64_t)(*end++ - '0');
    }
    bool plain = end > ending + 1 && (ending[1] != '0' || end == ending + 2);
    *rank = (uint32_t)value;
    return plain && value < UINT32_MAX && strcmp(end, ".et") == 0;
}

static enum orr_status find_member(const struct etz_reader *reader, const char *ending, struct member *member,
                                   struct orr_error *err)
{
    char name[ETZ_SIDE_NAME];
    *member = (struct member){0};
    if (rank_of_ending(ending, &member->number)) {
        struct etz_place unasked;
        return etz_find(reader, member->number, &unasked, err);
    }
    member->is_side = true;
    for (member->number = 0; member->number < reader->sides; member->number++) {
        enum orr_status status = etz_read_side(reader, member->number, name, NULL, err);
        if (status != ORR_OK || strcmp(name, ending) == 0) {
            return status;
        }
    }
    return error_set(err, ORR_EIO, "%.300s: has no file %s in it", reader->path, ending);
}

/* Opens the archive that the path goes through. `*through`: there is one, whatever is wrong with it. */
static enum orr_status open_through(const char *path, struct etz_reader *reader, struct member *member, bool *through,
                                    struct orr_error *err)
{
    static const char between[] = ".etz.";
    const char *slash = strrchr(path, '/');
    const char *at = strstr(slash != NULL ? slash : path, between);
    *through = false;
    for (; at != NULL; at = strstr(at + 1, between)) {
        const char *ending = at + sizeof between - 2;
        char *archive = strndup(path, (size_t)(ending - path));
        if (archive == NULL) {
            return error_set(err, ORR_ENOMEM, "out of memory for a path");
        }
        *through = etz_is_archive(archive);
        enum orr_status status = *through ? etz_open(archive, reader, err) : ORR_OK;
        free(archive);
        if (*through && status == ORR_OK) {
            status = find_member(reader, ending, member, err);
            if (status != ORR_OK) {
                etz_close(reader);
            }
        }
        if (*through) {
            return status;
        }
    }
    return error_set(err, ORR_EIO, "%.300s: no archive has it", path);
}

bool etz_has(const char *path)
{
    struct etz_reader reader;
    struct member member;
    struct orr_error unsaid = {0};
    bool through = false;
    bool has = strstr(path, ".etz.") != NULL && open_through(path, &reader, &member, &through, &unsaid) == ORR_OK;
    if (has) {
        etz_close(&reader);
    }
    return has;
}

static enum orr_status write_nameless(const char *path, const struct etz_bytes *bytes, int *fd, struct orr_error *err)
{
    size_t written = 0;
    int made = memfd_create("orrery-trace", MFD_CLOEXEC);
    while (made >= 0 && written < bytes->size) {
        ssize_t part = write(made, bytes->at + written, bytes->size - written);
        if (part < 0 && errno != EINTR) {
            (void)close(made);
            made = -1;
        }
        written += part > 0 ? (size_t)part : 0;
    }
    if (made < 0 || lseek(made, 0, SEEK_SET) != 0) {
        return error_system(err, errno, "%.300s: cannot be unpacked", path);
    }
    *fd = made;
    return ORR_OK;
}

enum orr_status etz_open_member(const char *path, int *fd, uint64_t *size, bool *through, struct orr_error *err)
{
    struct mem mem = {0};
    struct etz_bytes bytes = {.mem = &mem};
    struct etz_reader reader;
    struct member member;
    char name[ETZ_SIDE_NAME];
    enum orr_status status = open_through(path, &reader, &member, through, err);
    if (status != ORR_OK) {
        return status;
    }
    status = member.is_side ? etz_read_side(&reader, member.number, name, &bytes, err)
                            : etz_read_rank(&reader, member.number, &bytes, err);
    status = status == ORR_OK ? write_nameless(path, &bytes, fd, err) : status;
    *size = bytes.size;
    etz_bytes_free(&bytes);
    etz_close(&reader);
    return status;
}
