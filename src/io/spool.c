/* SPDX-License-Identifier: Apache-2.0 */
/* O_TMPFILE never gives the file a name; where the file system cannot do that, the name is removed at once. */
#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] != '\0' ? named : "/tmp";
}

static enum orr_status spool_error(const char *what, struct orr_error *err)
{
    return error_system(err, errno, "%s: a temporary file for unpacked data cannot be %s (TMPDIR names another folder)",
                        folder(), what);
}

static int named_open(void)
{
    char *path = NULL;
    if (asprintf(&path, "%s/orrery-XXXXXX", folder()) < 0) {
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    int reason = errno;
    if (fd >= 0) {
        (void)unlink(path);
    }
    free(path);
    errno = reason;
    return fd;
}

enum orr_status io_spool_open(struct io_spool *spool, struct orr_error *err)
{
    int fd = open(folder(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd < 0) {
        fd = named_open();
    }
    if (fd < 0) {
        return spool_error("made", err);
    }
    *spool = (struct io_spool){.fd = fd};
    return ORR_OK;
}

enum orr_status io_spool_append(struct io_spool *spool, const void *bytes, size_t size, struct orr_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t part = pwrite(spool->fd, (const uint8_t *)bytes + done, size - done, (off_t)(spool->size + done));
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part <= 0) {
            return spool_error("written", err);
        }
        done += (size_t)part;
    }
    spool->size += size;
    return ORR_OK;
}

enum orr_status io_spool_read_at(const struct io_spool *spool, uint64_t offset, void *into, size_t size, size_t *got,
                                 struct orr_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t part = pread(spool->fd, (uint8_t *)into + done, size - done, (off_t)(offset + done));
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part < 0) {
            return spool_error("read", err);
        }
        if (part == 0) {
            break;
        }
        done += (size_t)part;
    }
    *got = done;
    return ORR_OK;
}

void io_spool_close(struct io_spool *spool)
{
    if (spool->fd >= 0) {
        (void)close(spool->fd);
    }
    *spool = IO_SPOOL_NONE;
}
