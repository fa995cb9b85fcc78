/* SPDX-License-Identifier: Apache-2.0 */
/* Lists nest as deep as the file says, so the walk keeps its own stack: of containers that are open, innermost last. */
#include "compat/chakra/python_repr.h"

#include <inttypes.h>
#include <stdio.h>

void python_text_init(struct python_text *text, struct mem *mem)
{
    *text = (struct python_text){.mem = mem};
}

void python_text_free(struct python_text *text)
{
    mem_free(text->mem, text->bytes, text->capacity);
    mem_free(text->mem, (void *)text->open, (size_t)text->open_capacity * sizeof(struct json_item *));
    python_text_init(text, text->mem);
}

static bool python_repr_put(struct python_text *text, const char *bytes, size_t size)
{
    if (!mem_reserve_bytes(text->mem, (void **)&text->bytes, &text->capacity, text->size, size)) {
        return false;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return true;
}

static bool python_repr_put_word(struct python_text *text, const char *word)
{
    return python_repr_put(text, word, strlen(word));
}

/* The code point at `at` and how many bytes it takes. The text is UTF-8 already: the JSON reader saw to that. */
static uint32_t python_repr_decode(const unsigned char *at, size_t room, size_t *length)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t size = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    *length = size <= room ? size : room;
    uint32_t code = *at & masks[*length];
    for (size_t i = 1; i < *length; i++) {
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code;
}

static bool put_code(struct python_text *text, const unsigned char *at, size_t length, uint32_t code, char quote)
{
    char escape[16];
    if (code == (uint32_t)quote || code == '\\') {
        (void)snprintf(escape, sizeof escape, "\\%c", (char)code);
    } else if (code == '\n' || code == '\r' || code == '\t') {
        (void)snprintf(escape, sizeof escape, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
    } else if (python_is_printable(code)) {
        return python_repr_put(text, (const char *)at, length);
    } else if (code < 0x100) {
        (void)snprintf(escape, sizeof escape, "\\x%02" PRIx32, code);
    } else if (code < 0x10000) {
        (void)snprintf(escape, sizeof escape, "\\u%04" PRIx32, code);
    } else {
        (void)snprintf(escape, sizeof escape, "\\U%08" PRIx32, code);
    }
    return python_repr_put_word(text, escape);
}

/* Single quotes, unless the text has some and no double ones. */
static bool python_repr_put_string(struct python_text *text, const struct json_item *item)
{
    const unsigned char *at = (const unsigned char *)item->text;
    const unsigned char *end = at + item->length;
    bool doubled = memchr(item->text, '\'', item->length) != NULL && memchr(item->text, '"', item->length) == NULL;
    char quote = doubled ? '"' : '\'';
    if (!python_repr_put(text, &quote, 1)) {
        return false;
    }
    while (at < end) {
        size_t plain = 0;
        while (plain < (size_t)(end - at) && at[plain] >= 0x20 && at[plain] < 0x7f && at[plain] != '\\' &&
               at[plain] != (unsigned char)quote) {
            plain++;
        }
        if (!python_repr_put(text, (const char *)at, plain)) {
            return false;
        }
        at += plain;
        if (at < end) {
            size_t length = 0;
            uint32_t code = python_repr_decode(at, (size_t)(end - at), &length);
            if (!put_code(text, at, length, code, quote)) {
                return false;
            }
            at += length;
        }
    }
    return python_repr_put(text, &quote, 1);
}

/* Tensors are mostly numbers, so not by printf. */
static bool python_repr_put_integer(struct python_text *text, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    return python_repr_put(text, digits + at, sizeof digits - at);
}

static bool python_repr_put_scalar(struct python_text *text, const struct json_item *item)
{
    char number[JSON_REAL_ROOM];
    switch (item->kind) {
    case JSON_ITEM_FALSE:
        return python_repr_put_word(text, "False");
    case JSON_ITEM_TRUE:
        return python_repr_put_word(text, "True");
    case JSON_ITEM_INT:
        return python_repr_put_integer(text, item->value.integer);
    case JSON_ITEM_BIG:
        return python_repr_put(text, item->text, item->length);
    case JSON_ITEM_REAL:
        return python_repr_put(text, number, json_real_repr(item->value.real, number));
    case JSON_ITEM_STRING:
        return python_repr_put_string(text, item);
    default:
        return python_repr_put_word(text, "None");
    }
}

static bool python_repr_is_container(const struct json_item *item)
{
    return item->kind == JSON_ITEM_ARRAY || item->kind == JSON_ITEM_OBJECT;
}

/* Everything inside `root`, in the flat order of the items; what precedes an item follows from where it stands in the
 * innermost open container. An object that names a key twice shows it twice: no recorder writes such. */
static bool put_container(struct python_text *text, const struct json_item *root)
{
    uint32_t depth = 0;
    bool is_value = false; /* of a key */
    const struct json_item *item = root;
    const struct json_item *end = json_item_end(root);
    for (;;) {
        while (depth > 0 && item == json_item_end(text->open[depth - 1])) {
            depth--;
            if (!python_repr_put_word(text, text->open[depth]->kind == JSON_ITEM_ARRAY ? "]" : "}")) {
                return false;
            }
            is_value = false;
        }
        if (item == end) {
            return true;
        }
        if (depth > 0 && item != json_item_first(text->open[depth - 1]) &&
            !python_repr_put_word(text, is_value ? ": " : ", ")) {
            return false;
        }
        bool is_key = depth > 0 && text->open[depth - 1]->kind == JSON_ITEM_OBJECT && !is_value;
        is_value = is_key;
        if (!python_repr_is_container(item)) {
            if (!python_repr_put_scalar(text, item)) {
                return false;
            }
        } else {
            if (!mem_reserve(text->mem, (void **)&text->open, &text->open_capacity, (uint64_t)depth + 1,
                             sizeof(struct json_item *)) ||
                !python_repr_put_word(text, item->kind == JSON_ITEM_ARRAY ? "[" : "{")) {
                return false;
            }
            text->open[depth++] = item;
            is_value = false;
        }
        item++;
    }
}

bool python_text_add(struct python_text *text, const struct json_item *item)
{
    if (item->kind == JSON_ITEM_STRING) {
        return python_repr_put(text, item->text, item->length);
    }
    return python_repr_is_container(item) ? put_container(text, item) : python_repr_put_scalar(text, item);
}
