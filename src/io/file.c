/* Plain read() into memory of ours rather than mmap: a mapped file that somebody truncates meanwhile kills the process
 * with SIGBUS, and bad input must never do that. The open is non-blocking so that a pipe without a writer is refused
 * instead of waited for. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const char *kind_of(mode_t mode)
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
        char what[512];
        (void)snprintf(what, sizeof what, "reading %s (%" PRIu64 " bytes)", path, size);
        return mem_error(buffer->mem, what, err);
    }
    buffer->capacity = (size_t)size + 1;
    mem_advise_large(buffer->bytes, buffer->capacity);
    return ORR_OK;
}

static enum orr_status buffer_fill(struct file_buffer *buffer, int fd, const char *path, size_t size,
                                   struct orr_error *err)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(fd, buffer->bytes + have, size - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return error_set(err, ORR_EIO, "%s: byte %zu: cannot be read: %s", path, have, strerror(errno));
        }
        if (got == 0) {
            break; /* it was cut while we read; the format's reader will say what is missing */
        }
        have += (size_t)got;
    }
    buffer->size = have;
    buffer->bytes[have] = 0;
    return ORR_OK;
}

enum orr_status file_buffer_read(struct file_buffer *buffer, const char *path, struct orr_error *err)
{
    buffer->size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return error_set(err, ORR_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    struct stat info;
    enum orr_status status;
    if (fstat(fd, &info) != 0) {
        status = error_set(err, ORR_EIO, "%s: cannot be examined: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        status = error_set(err, ORR_EIO, "%s: is %s; a regular file is needed", path, kind_of(info.st_mode));
    } else {
        status = buffer_grow(buffer, path, (uint64_t)info.st_size, err);
        if (status == ORR_OK) {
            status = buffer_fill(buffer, fd, path, (size_t)info.st_size, err);
        }
    }
    (void)close(fd);
    return status;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static enum orr_status make_parent(const char *path, struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return ORR_OK;
    }
    char *folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", path);
    }
    enum orr_status status = io_make_folder(folder, err);
    free(folder);
    return status;
}

enum orr_status file_write(const char *path, const void *bytes, size_t size, struct orr_error *err)
{
    struct io_outfile *file;
    enum orr_status status = make_parent(path, err);
    if (status == ORR_OK) {
        status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    (void)fwrite(bytes, 1, size, io_outfile_stream(file)); /* a short write shows in the commit */
    return io_outfile_commit(file, err);
}
