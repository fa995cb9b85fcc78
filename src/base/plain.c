/* SPDX-License-Identifier: Apache-2.0 */
/* A locale object a call, not one for all: the C library's own "C" locale is a constant, for which nothing is
 * allocated, and a kept one would be a global. */
#include "base/plain.h"

#include <locale.h>
#include <stdlib.h>

struct switched {
    locale_t plain, before; /* both 0 where there was nothing to switch to */
};

static struct switched to_plain(void)
{
    struct switched switched = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (switched.plain != (locale_t)0) {
        switched.before = uselocale(switched.plain);
    }
    return switched;
}

static void back(struct switched switched)
{
    if (switched.plain != (locale_t)0) {
        (void)uselocale(switched.before);
        freelocale(switched.plain);
    }
}

double plain_strtod(const char *text, char **end)
{
    struct switched switched = to_plain();
    double value = strtod(text, end);
    back(switched);
    return value;
}

int plain_vsnprintf(char *text, size_t room, const char *fmt, va_list args)
{
    struct switched switched = to_plain();
    int length = vsnprintf(text, room, fmt, args);
    back(switched);
    return length;
}

int plain_snprintf(char *text, size_t room, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = plain_vsnprintf(text, room, fmt, args);
    va_end(args);
    return length;
}

int plain_fprintf(FILE *stream, const char *fmt, ...)
{
    va_list args;
    struct switched switched = to_plain();
    va_start(args, fmt);
    int length = vfprintf(stream, fmt, args);
    va_end(args);
    back(switched);
    return length;
}
