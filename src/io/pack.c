/* SPDX-License-Identifier: Apache-2.0 */
/* fopencookie below, so that buffering, formatting and ferror stay stdio's. zstd at its default level packs
 * traces better than gzip in a fraction of the time; a checksum lets a reader tell damage from data. */
#include "io/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static void io_pack_note(int *reason)
{
    if (*reason == 0) {
        *reason = errno != 0 ? errno : EIO;
    }
}

/* ---- gzip -------------------------------------------------------------------------------------------------------- */

struct gzip_cookie {
    gzFile gz;
    int *reason;
};

static ssize_t gzip_write(void *context, const char *bytes, size_t count)
{
    struct gzip_cookie *cookie = context;
    unsigned int part = count > (1u << 30) ? 1u << 30 : (unsigned int)count;
    errno = 0;
    int written = gzwrite(cookie->gz, bytes, part);
    if (written <= 0) {
        int code = Z_OK;
        (void)gzerror(cookie->gz, &code);
        errno = code == Z_MEM_ERROR ? ENOMEM : errno;
        io_pack_note(cookie->reason);
        return 0;
    }
    return written;
}

static int gzip_close(void *context)
{
    struct gzip_cookie *cookie = context;
    errno = 0;
    int result = gzclose(cookie->gz);
    if (result != Z_OK) {
        errno = result == Z_MEM_ERROR ? ENOMEM : errno;
        io_pack_note(cookie->reason);
    }
    free(cookie);
    return result == Z_OK ? 0 : -1;
}

FILE *io_pack_gzip(int descriptor, int *reason)
{
    struct gzip_cookie *cookie = malloc(sizeof *cookie);
    gzFile gz = cookie == NULL ? NULL : gzdopen(descriptor, "wb");
    if (gz == NULL) {
        free(cookie);
        (void)close(descriptor);
        return NULL;
    }
    cookie->gz = gz;
    cookie->reason = reason;
    FILE *stream = fopencookie(cookie, "w", (cookie_io_functions_t){.write = gzip_write, .close = gzip_close});
    if (stream == NULL) {
        (void)gzip_close(cookie);
        errno = ENOMEM;
    }
    return stream;
}

/* ---- zstd -------------------------------------------------------------------------------------------------------- */

enum { PACKED_BYTES = 128 << 10 };

struct zstd_cookie {
    ZSTD_CStream *zstd;
    int descriptor;
    int *reason;
    unsigned char packed[PACKED_BYTES];
};

static bool write_fully(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t part = write(descriptor, bytes, size);
        if (part < 0 && errno != EINTR) {
            return false;
        }
        if (part > 0) {
            bytes += part;
            size -= (size_t)part;
        }
    }
    return true;
}

/* Packs `in` and brings out what is ready; with ZSTD_e_end everything, and the frame's end. */
static bool io_pack_zstd_step(struct zstd_cookie *cookie, ZSTD_inBuffer *in, ZSTD_EndDirective directive)
{
    size_t left = 0;
    do {
        ZSTD_outBuffer out = {.dst = cookie->packed, .size = PACKED_BYTES};
        errno = 0; /* zstd's own errors come from memory alone, and leave ENOMEM there */
        left = ZSTD_compressStream2(cookie->zstd, &out, in, directive);
        if (ZSTD_isError(left) || !write_fully(cookie->descriptor, cookie->packed, out.pos)) {
            io_pack_note(cookie->reason);
            return false;
        }
    } while (in->pos < in->size || (directive == ZSTD_e_end && left > 0));
    return true;
}

static ssize_t zstd_write(void *context, const char *bytes, size_t count)
{
    ZSTD_inBuffer in = {.src = bytes, .size = count};
    return io_pack_zstd_step(context, &in, ZSTD_e_continue) ? (ssize_t)count : 0;
}

static int zstd_close(void *context)
{
    struct zstd_cookie *cookie = context;
    ZSTD_inBuffer in = {.src = "", .size = 0};
    bool good = *cookie->reason == 0 && io_pack_zstd_step(cookie, &in, ZSTD_e_end);
    errno = 0;
    if (close(cookie->descriptor) != 0) {
        io_pack_note(cookie->reason);
        good = false;
    }
    (void)ZSTD_freeCStream(cookie->zstd);
    free(cookie);
    return good ? 0 : -1;
}

FILE *io_pack_zstd(int descriptor, int *reason)
{
    struct zstd_cookie *cookie = malloc(sizeof *cookie);
    ZSTD_CStream *zstd = cookie == NULL ? NULL : ZSTD_createCStream();
    if (zstd == NULL || ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1))) {
        (void)ZSTD_freeCStream(zstd);
        free(cookie);
        (void)close(descriptor);
        errno = ENOMEM;
        return NULL;
    }
    cookie->zstd = zstd;
    cookie->descriptor = descriptor;
    cookie->reason = reason;
    FILE *stream = fopencookie(cookie, "w", (cookie_io_functions_t){.write = zstd_write, .close = zstd_close});
    if (stream == NULL) {
        (void)zstd_close(cookie);
        errno = ENOMEM;
    }
    return stream;
}
