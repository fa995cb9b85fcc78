/* SPDX-License-Identifier: Apache-2.0 */
/* Messages name parameters; on a command line they are options. */
#include "param/param.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The name's length where `text` begins with "parameter 'NAME'"; 0: it does not. */
static size_t named_length(const char *text)
{
    static const char mark[] = "parameter '";
    size_t begin = sizeof mark - 1;
    if (strncmp(text, mark, begin) != 0) {
        return 0;
    }
    size_t length = strspn(text + begin, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    return text[begin + length] == '\'' ? length : 0;
}

void param_print(FILE *stream, const char *format, ...)
{
    char text[4096];
    char spelled[sizeof text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)param_spell(text, spelled, sizeof spelled);
    (void)fputs(spelled, stream);
}

size_t param_spell(const char *text, char *spelled, size_t room)
{
    enum { MARK = 11 }; /* "parameter '" */
    size_t used = 0;
    while (*text != '\0') {
        size_t length = named_length(text);
        int count = length > 0 ? snprintf(used < room ? spelled + used : NULL, used < room ? room - used : 0, "--%.*s",
                                          (int)length, text + MARK)
                               : 1;
        if (length == 0 && used + 1 < room) {
            spelled[used] = *text;
        }
        used += (size_t)count;
        text += length > 0 ? MARK + length + 1 : 1;
    }
    if (room > 0) {
        spelled[used < room ? used : room - 1] = '\0';
    }
    return used;
}
