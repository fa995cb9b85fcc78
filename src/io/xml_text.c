/* SPDX-License-Identifier: Apache-2.0 */
/* A character at a time: names are short. */
#include "io/xml_text.h"

#include <string.h>

void io_xml_text(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        switch (c) {
        case '&':
            (void)fputs("&amp;", stream);
            break;
        case '<':
            (void)fputs("&lt;", stream);
            break;
        case '>':
            (void)fputs("&gt;", stream);
            break;
        case '"':
            (void)fputs("&quot;", stream);
            break;
        default:
            (void)fputc((c < ' ' && c != '\t' && c != '\n') || c == 0x7f ? ' ' : c, stream);
            break;
        }
    }
}

void io_xml_put(FILE *stream, const char *text)
{
    io_xml_text(stream, text, strlen(text));
}
