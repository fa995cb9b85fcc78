/* SPDX-License-Identifier: Apache-2.0 */
/* Plain read() into memory of ours rather than mmap: a mapped file that somebody truncates meanwhile kills the process
 * with SIGBUS, and bad input must never do that. The open is non-blocking so that a pipe without a writer is refused
 * instead of waited for. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/etz.h"
#include "io/outfile.h"

void file_buffer_init(struct file_buffer *buffer, struct mem *mem)
{
    *buffer = (struct file_buffer){.mem = mem};
}

void file_buffer_free(struct file_buffer *buffer)
{
    mem_free(buffer->mem, buffer->bytes, buffer->capacity);
    file_buffer_init(buffer, buffer->mem);
}

static const char *io_file_kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "of an unknown kind";
    }
}

enum orr_status file_open_regular(const char *path, int *fd, uint64_t *size, struct orr_error *err)
{
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0) {
        int reason = errno;
        bool through = false;
        enum orr_status status = etz_open_member(path, fd, size, &through, err);
        return through ? status : error_system(err, reason, "%s: cannot be opened", path);
    }
    struct stat info;
    enum orr_status status = ORR_OK;
    if (fstat(opened, &info) != 0) {
        status = error_system(err, errno, "%s: cannot be examined", path);
    } else if (!S_ISREG(info.st_mode)) {
        status = error_set(err, ORR_EIO, "%s: is %s; a regular file is needed", path, io_file_kind_of(info.st_mode));
    }
    if (status != ORR_OK) {
        (void)close(opened);
        return status;
    }
    *fd = opened;
    *size = (uint64_t)info.st_size;
    return ORR_OK;
}

enum orr_status file_check_regular(const char *path, struct orr_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || access(path, R_OK) != 0) {
        int reason = errno;
        if (etz_has(path)) {
            return ORR_OK;
        }
        errno = reason;
        return error_system(err, errno, "%s: cannot be opened", path);
    }
    return S_ISREG(info.st_mode)
               ? ORR_OK
               : error_set(err, ORR_EIO, "%s: is %s; a regular file is needed", path, io_file_kind_of(info.st_mode));
}

/* Reads until `size` bytes are there or the file ends; `offset` is for the message. */
static enum orr_status read_fully(int fd, const char *path, uint64_t offset, uint8_t *bytes, size_t size, size_t *got,
                                  struct orr_error *err)
{
    *got = 0;
    while (*got < size) {
        ssize_t part = read(fd, bytes + *got, size - *got);
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part < 0) {
            return error_system(err, errno, "%s: byte %" PRIu64 ": cannot be read", path, offset + *got);
        }
        if (part == 0) {
            break;
        }
        *got += (size_t)part;
    }
    return ORR_OK;
}

static enum orr_status io_file_no_memory(struct mem *mem, const char *path, uint64_t size, struct orr_error *err)
{
    char what[512];
    (void)snprintf(what, sizeof what, "reading %s (%" PRIu64 " bytes)", path, size);
    return mem_error(mem, what, err);
}

static enum orr_status buffer_grow(struct file_buffer *buffer, const char *path, uint64_t size, struct orr_error *err)
{
    if (size < buffer->capacity) {
        return ORR_OK;
    }
    file_buffer_free(buffer);
    if (size >= SIZE_MAX) {
        return error_set(err, ORR_ENOMEM, "%s: %" PRIu64 " bytes are more than this machine can address", path, size);
    }
    buffer->bytes = mem_alloc(buffer->mem, (size_t)size + 1);
    if (buffer->bytes == NULL) {
        return io_file_no_memory(buffer->mem, path, size, err);
    }
    buffer->capacity = (size_t)size + 1;
    mem_advise_large(buffer->bytes, buffer->capacity);
    return ORR_OK;
}

enum orr_status file_buffer_read(struct file_buffer *buffer, const char *path, struct orr_error *err)
{
    int fd = -1;
    uint64_t size = 0;
    buffer->size = 0;
    enum orr_status status = file_open_regular(path, &fd, &size, err);
    if (status != ORR_OK) {
        return status;
    }
    status = buffer_grow(buffer, path, size, err);
    if (status == ORR_OK) {
        /* A file cut while we read is shorter; the format's reader will say what is missing. */
        status = read_fully(fd, path, 0, buffer->bytes, (size_t)size, &buffer->size, err);
        buffer->bytes[buffer->size] = 0;
    }
    (void)close(fd);
    return status;
}

void file_window_init(struct file_window *window, struct mem *mem)
{
    *window = (struct file_window){.mem = mem, .fd = -1};
}

static void window_close(struct file_window *window)
{
    if (window->fd >= 0) {
        (void)close(window->fd);
        window->fd = -1;
    }
}

void file_window_free(struct file_window *window)
{
    window_close(window);
    mem_free(window->mem, window->bytes, window->capacity);
    file_window_init(window, window->mem);
}

static enum orr_status window_fill(struct file_window *window, struct orr_error *err)
{
    size_t got;
    size_t room = window->capacity - window->size;
    uint8_t *more = window->bytes + window->size;
    enum orr_status status = read_fully(window->fd, window->path, window->offset + window->size, more, room, &got, err);
    if (status != ORR_OK) {
        return status;
    }
    window->size += got;
    window->at_end = got < room;
    if (window->seen != NULL) {
        window->seen(window->seen_context, more, got);
    }
    return ORR_OK;
}

enum orr_status file_window_open(struct file_window *window, const char *path, struct orr_error *err)
{
    window_close(window);
    enum orr_status status = file_open_regular(path, &window->fd, &window->file_size, err);
    if (status != ORR_OK) {
        return status;
    }
    window->path = path;
    window->offset = 0;
    window->size = 0;
    if (window->bytes == NULL) {
        window->bytes = mem_alloc(window->mem, FILE_WINDOW_BYTES);
        if (window->bytes == NULL) {
            return io_file_no_memory(window->mem, path, window->file_size, err);
        }
        window->capacity = FILE_WINDOW_BYTES;
    }
    return window_fill(window, err);
}

enum orr_status file_window_move(struct file_window *window, size_t used, struct orr_error *err)
{
    if (used == 0 && window->size == window->capacity) {
        size_t wider = window->capacity * 2;
        uint8_t *moved = mem_resize(window->mem, window->bytes, window->capacity, wider);
        if (moved == NULL) {
            return io_file_no_memory(window->mem, window->path, window->file_size, err);
        }
        window->bytes = moved;
        window->capacity = wider;
    }
    memmove(window->bytes, window->bytes + used, window->size - used);
    window->offset += used;
    window->size -= used;
    return window_fill(window, err);
}

enum orr_status file_window_rewind(struct file_window *window, struct orr_error *err)
{
    if (lseek(window->fd, 0, SEEK_SET) != 0) {
        return error_system(err, errno, "%s: cannot be read again", window->path);
    }
    window->offset = 0;
    window->size = 0;
    return window_fill(window, err);
}

bool file_size(const char *path, uint64_t *size)
{
    struct orr_error unsaid = {0};
    int fd = -1;
    bool read = file_open_regular(path, &fd, size, &unsaid) == ORR_OK;
    if (read) {
        (void)close(fd);
    }
    return read;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 || etz_has(path);
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one;
    struct stat other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

enum orr_status file_write(const char *path, const void *bytes, size_t size, struct orr_error *err)
{
    struct io_outfile *file;
    enum orr_status status = io_make_folder_above(path, err);
    if (status == ORR_OK) {
        status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    (void)fwrite(bytes, 1, size, io_outfile_stream(file)); /* a short write shows in the commit */
    return io_outfile_commit(file, err);
}
