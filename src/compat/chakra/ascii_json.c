/* SPDX-License-Identifier: Apache-2.0 */
/* Characters beyond the first 65,536 take two escapes, a surrogate each. */
#include "compat/chakra/ascii_json.h"

#include <stdint.h>
#include <string.h>

/* The character at `text`, and how many bytes it takes. */
static uint32_t ascii_json_decode(const unsigned char *text, size_t *bytes)
{
    static const unsigned char masks[] = {0x7f, 0, 0x1f, 0x0f, 0x07};
    size_t more = text[0] < 0x80 ? 0 : text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;
    uint32_t character = text[0] & masks[more == 0 ? 0 : more + 1];
    for (size_t i = 1; i <= more; i++) {
        character = character << 6 | (text[i] & 0x3f);
    }
    *bytes = more + 1;
    return character;
}

static void escape(FILE *stream, uint32_t character)
{
    static const char letters[] = "\"\\\b\f\n\r\t";
    const char *found = character < 0x80 && character != 0 ? strchr(letters, (int)character) : NULL;
    if (found != NULL) {
        (void)fputc('\\', stream);
        (void)fputc("\"\\bfnrt"[found - letters], stream);
    } else if (character < 0x10000) {
        (void)fprintf(stream, "\\u%04x", character);
    } else {
        (void)fprintf(stream, "\\u%04x\\u%04x", 0xd800 + ((character - 0x10000) >> 10),
                      0xdc00 + ((character - 0x10000) & 0x3ff));
    }
}

void ascii_json_string(FILE *stream, const char *text, size_t length)
{
    size_t plain = 0; /* where the stretch that needs no escape begins */
    (void)fputc('"', stream);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t bytes;
        (void)fwrite(text + plain, 1, i - plain, stream);
        escape(stream, ascii_json_decode((const unsigned char *)text + i, &bytes));
        i += bytes;
        plain = i;
    }
    (void)fwrite(text + plain, 1, length - plain, stream);
    (void)fputc('"', stream);
}
