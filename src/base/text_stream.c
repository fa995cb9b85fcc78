/* SPDX-License-Identifier: Apache-2.0 */
/* A cookie below stdio: what its write does not take, stdio remembers as an error of the stream. The first block is
 * taken at the opening, so that an empty text needs none at the end. */
#include "base/text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 512 };

struct text_cookie {
    char **text;
    size_t *text_size;
    char *bytes;
    size_t size;
    size_t capacity; /* always room for one more byte, the last */
    bool failed;
};

static bool text_stream_grow(struct text_cookie *cookie, size_t more)
{
    size_t wanted = cookie->capacity;
    while (wanted - cookie->size <= more) {
        if (wanted > SIZE_MAX / 2) {
            return false;
        }
        wanted *= 2;
    }
    char *moved = wanted == cookie->capacity ? cookie->bytes : realloc(cookie->bytes, wanted);
    if (moved == NULL) {
        return false;
    }
    cookie->bytes = moved;
    cookie->capacity = wanted;
    return true;
}

static ssize_t text_write(void *context, const char *bytes, size_t count)
{
    struct text_cookie *cookie = context;
    if (cookie->failed || !text_stream_grow(cookie, count)) {
        cookie->failed = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(cookie->bytes + cookie->size, bytes, count);
    cookie->size += count;
    return (ssize_t)count;
}

static int text_close(void *context)
{
    struct text_cookie *cookie = context;
    bool failed = cookie->failed;
    if (failed) {
        free(cookie->bytes);
    } else {
        cookie->bytes[cookie->size] = '\0';
    }
    *cookie->text = failed ? NULL : cookie->bytes;
    *cookie->text_size = failed ? 0 : cookie->size;
    free(cookie);
    errno = failed ? ENOMEM : errno;
    return failed ? -1 : 0;
}

FILE *text_stream_open(char **text, size_t *size)
{
    struct text_cookie *cookie = calloc(1, sizeof *cookie);
    char *bytes = cookie == NULL ? NULL : malloc(FIRST_BYTES);
    if (bytes == NULL) {
        free(cookie);
        return NULL;
    }
    *cookie = (struct text_cookie){.text = text, .text_size = size, .bytes = bytes, .capacity = FIRST_BYTES};
    FILE *stream = fopencookie(cookie, "w", (cookie_io_functions_t){.write = text_write, .close = text_close});
    if (stream == NULL) {
        free(bytes);
        free(cookie);
    }
    return stream;
}
