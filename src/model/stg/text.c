/* SPDX-License-Identifier: Apache-2.0 */
/* Grows by doubling; the contents need no terminator, so that records and texts are the same thing. */
#include "model/stg/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/wire.h"

void stg_text_init(struct stg_text *text, struct mem *mem)
{
    *text = (struct stg_text){.mem = mem};
}

void stg_text_free(struct stg_text *text)
{
    mem_free(text->mem, text->bytes, text->capacity);
    stg_text_init(text, text->mem);
}

static bool stg_text_reserve(struct stg_text *text, size_t more)
{
    text->refused =
        text->refused || !mem_reserve_bytes(text->mem, (void **)&text->bytes, &text->capacity, text->size, more);
    return !text->refused;
}

void stg_text_bytes(struct stg_text *text, const void *bytes, size_t size)
{
    if (size > 0 && stg_text_reserve(text, size)) {
        memcpy(text->bytes + text->size, bytes, size);
        text->size += size;
    }
}

void stg_text_add(struct stg_text *text, const char *terminated)
{
    stg_text_bytes(text, terminated, strlen(terminated));
}

void stg_text_number(struct stg_text *text, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    stg_text_bytes(text, digits, (size_t)length);
}

void stg_text_varint(struct stg_text *text, uint64_t number)
{
    uint8_t bytes[WIRE_VARINT_MAX];
    stg_text_bytes(text, bytes, wire_varint_put(bytes, number));
}
