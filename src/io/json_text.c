/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simdjson's first stage wants whole texts. A window into a larger one mostly ends inside a string or an element; such
 * a string gets a closing quote for the moment of the search, and the token it begins is not counted. The window is cut
 * where the question does not arise, where that is cheap: no valid string holds a newline.
 *
 * A text that the first stage refuses is gone through byte by byte, to say what is wrong and where; what comes before
 * the fault stays usable, so that a grammar error in front of it is told first.
 */
#include "io/json_text.h"

#include <string.h>

enum { SPARE_BYTES = 2 }; /* the closing quote of a cut string, and a NUL */

void json_text_init(struct json_text *text, struct mem *mem)
{
    *text = (struct json_text){.mem = mem};
}

static void indexer_free(struct json_text *text)
{
    if (text->indexer != NULL) {
        json_indexer_free(text->indexer);
        mem_discharge(text->mem, json_indexer_bytes(text->indexer_capacity));
    }
    text->indexer = NULL;
    text->indexer_capacity = 0;
    text->count = 0;
}

void json_text_free(struct json_text *text)
{
    if (text->mem != NULL) {
        indexer_free(text);
        mem_free(text->mem, text->own, (size_t)text->own_capacity * sizeof *text->own);
        mem_free(text->mem, text->bytes, text->capacity == 0 ? 0 : text->capacity + SPARE_BYTES);
    }
    json_text_init(text, text->mem);
}

bool json_text_reserve(struct json_text *text, size_t capacity)
{
    if (capacity <= text->capacity) {
        return true;
    }
    if (capacity > UINT32_MAX - 64) { /* places are 32-bit */
        text->mem->refused = capacity;
        return false;
    }
    size_t old_bytes = text->capacity == 0 ? 0 : text->capacity + SPARE_BYTES;
    char *moved = mem_resize(text->mem, text->bytes, old_bytes, capacity + SPARE_BYTES);
    if (moved == NULL) {
        return false;
    }
    text->bytes = moved;
    text->capacity = capacity;
    return true;
}

/* Made when first needed and when the text outgrew it. */
static bool indexer_fit(struct json_text *text)
{
    size_t need = text->capacity + SPARE_BYTES;
    if (text->indexer_capacity >= need) {
        return true;
    }
    indexer_free(text);
    if (!mem_charge(text->mem, json_indexer_bytes(need))) {
        return false;
    }
    text->indexer = json_indexer_make(need);
    if (text->indexer == NULL) {
        mem_discharge(text->mem, json_indexer_bytes(need));
        text->mem->refused = json_indexer_bytes(need);
        return false;
    }
    text->indexer_capacity = need;
    return true;
}

/* How many bytes at the end are the beginning of a character whose rest is not there. */
static size_t cut_character(const char *bytes, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        unsigned char c = (unsigned char)bytes[size - back];
        if (c >= 0xc0) {
            size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
            return length > back ? back : 0;
        }
        if (c < 0x80) {
            return 0;
        }
    }
    return 0;
}

static size_t whole_part(const char *bytes, size_t size, bool final)
{
    enum { NEAR = 4096 };
    if (!final) {
        size_t near = size < NEAR ? size : NEAR;
        const char *newline = memrchr(bytes + size - near, '\n', near);
        if (newline != NULL) {
            return (size_t)(newline - bytes) + 1;
        }
    }
    size -= cut_character(bytes, size);
    while (size > 0 && bytes[size - 1] == '\\') {
        size--;
    }
    return size;
}

/* The length of the character at `at`, or 0 when it is no UTF-8: no overlong form, no surrogate, nothing beyond
 * U+10FFFF. */
static size_t character_length(const unsigned char *at, size_t left)
{
    unsigned char lead = at[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if (length >= 3) {
        unsigned second = at[1];
        bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
        bool beyond = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
        return overlong || beyond ? 0 : length;
    }
    return length;
}

/* The offset behind the closing quote of the string that begins at `begin`; the text's size when there is none, or when
 * a fault was found and noted. */
static size_t slow_string(struct json_text *text, size_t begin)
{
    const unsigned char *bytes = (const unsigned char *)text->bytes;
    size_t at = begin + 1;
    while (at < text->indexed) {
        size_t length = character_length(bytes + at, text->indexed - at);
        if (bytes[at] == '"') {
            return at + 1;
        }
        if (length == 0) {
            text->fault = (struct json_fault){"invalid UTF-8 in a string", (uint32_t)at, false};
            return text->indexed;
        }
        if (bytes[at] < 0x20) {
            text->fault =
                (struct json_fault){"a control character in a string (write it escaped, as \\n)", (uint32_t)at, false};
            return text->indexed;
        }
        at += bytes[at] == '\\' && at + 1 < text->indexed && bytes[at + 1] < 0x80 && bytes[at + 1] >= 0x20 ? 2 : length;
    }
    return text->indexed + 1; /* unclosed */
}

static bool json_text_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_punctuation(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

/* The same tokens that simdjson would find, one byte after the other. `*unclosed`: the last one is a cut string. */
static bool slow_index(struct json_text *text, bool *unclosed)
{
    uint32_t count = 0;
    size_t at = 0;
    *unclosed = false;
    while (at < text->indexed && text->fault.what == NULL) {
        char c = text->bytes[at];
        if (json_text_is_blank(c)) {
            at++;
            continue;
        }
        if (!MEM_RESERVE(text->mem, text->own, text->own_capacity, (uint64_t)count + 2)) {
            return false;
        }
        text->own[count++] = (uint32_t)at;
        if (c == '"') {
            at = slow_string(text, at);
            *unclosed = at > text->indexed;
        } else if (is_punctuation(c)) {
            at++;
        } else {
            while (at < text->indexed && !json_text_is_blank(text->bytes[at]) && !is_punctuation(text->bytes[at]) &&
                   text->bytes[at] != '"') {
                at++;
            }
        }
    }
    if (count > 0) {
        text->own[count] = (uint32_t)text->indexed;
    }
    text->at = text->own;
    text->count = count;
    return true;
}

/* The first stage on the indexed part; the text's byte behind it is borrowed for a quote where a string is cut. */
static enum json_shim_result fast_index(struct json_text *text, bool *unclosed)
{
    enum json_shim_result result = json_indexer_run(text->indexer, text->bytes, text->indexed, &text->at, &text->count);
    *unclosed = result == JSON_SHIM_UNCLOSED;
    if (*unclosed) {
        char kept = text->bytes[text->indexed];
        text->bytes[text->indexed] = '"';
        result = json_indexer_run(text->indexer, text->bytes, text->indexed + 1, &text->at, &text->count);
        text->bytes[text->indexed] = kept;
    }
    return result;
}

static uint32_t backslash_from(const struct json_text *text, size_t begin)
{
    const char *found = begin < text->indexed ? memchr(text->bytes + begin, '\\', text->indexed - begin) : NULL;
    return found == NULL ? UINT32_MAX : (uint32_t)(found - text->bytes);
}

bool json_text_has_backslash(struct json_text *text, uint32_t begin, uint32_t end)
{
    if (text->backslash < begin) {
        text->backslash = backslash_from(text, begin);
    }
    return text->backslash < end;
}

bool json_text_index(struct json_text *text, bool final, bool trim)
{
    text->bytes[text->size] = '\0';
    text->indexed = trim ? whole_part(text->bytes, text->size, final) : text->size;
    text->fault = (struct json_fault){0};
    text->rest = text->indexed;
    text->backslash = backslash_from(text, 0);
    text->count = 0;
    bool unclosed = false;
    if (!indexer_fit(text)) {
        return false;
    }
    enum json_shim_result result = fast_index(text, &unclosed);
    if (result == JSON_SHIM_EMPTY) {
        text->count = 0;
        return true;
    }
    if (result != JSON_SHIM_OK && !slow_index(text, &unclosed)) {
        return false;
    }
    bool faulty = text->fault.what != NULL; /* the last token is the string that holds the fault */
    if (text->count > 0 && (unclosed || faulty || !final)) {
        text->count--;
        text->rest = text->at[text->count];
    }
    return true;
}
