/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that end in a function or in memory: a cookie below stdio, so that whatever writes to a FILE * writes to them
 * too. What was refused once stays refused, with the same reason (base/error.h, error_of_stream). */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text_stream.h"
#include "orrery.h"

struct stream_cookie {
    bool (*write)(void *context, const char *bytes, size_t size);
    void *context;
    bool refused;
};

static ssize_t stream_write(void *context, const char *bytes, size_t size)
{
    struct stream_cookie *cookie = context;
    cookie->refused = cookie->refused || !cookie->write(cookie->context, bytes, size);
    if (cookie->refused) {
        errno = ECANCELED;
        return 0;
    }
    return (ssize_t)size;
}

static int stream_close(void *context)
{
    free(context);
    return 0;
}

enum orr_status orr_stream_to(bool (*write)(void *context, const char *bytes, size_t size), void *context,
                              FILE **stream, struct orr_error *err)
{
    struct stream_cookie *cookie = malloc(sizeof *cookie);
    FILE *made = NULL;
    if (cookie != NULL) {
        *cookie = (struct stream_cookie){.write = write, .context = context};
        made = fopencookie(cookie, "w", (cookie_io_functions_t){.write = stream_write, .close = stream_close});
    }
    if (made == NULL) {
        free(cookie);
        return error_set(err, ORR_ENOMEM, "out of memory for a stream");
    }
    *stream = made;
    return ORR_OK;
}

enum orr_status orr_stream_text(char **text, size_t *size, FILE **stream, struct orr_error *err)
{
    FILE *made = text_stream_open(text, size);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a stream");
    }
    *stream = made;
    return ORR_OK;
}

enum orr_status orr_stream_close(FILE *stream, struct orr_error *err)
{
    enum orr_status status = error_of_stream(stream, "the stream", err);
    errno = 0;
    if (fclose(stream) != 0 && status == ORR_OK) {
        return error_system(err, errno, "the stream cannot be written");
    }
    return status;
}

void orr_free(void *memory)
{
    free(memory);
}
