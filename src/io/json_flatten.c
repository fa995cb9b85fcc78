/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop, a value with what separates it from the next at a time, and the open containers in an array: no recursion,
 * so that the depth of a hostile file is a number to compare and not a stack to overflow. A string without an escape is
 * not copied nor looked through: its end is known from the next token, and the text knows where its next backslash is.
 */
#include "io/json_flatten.h"

#include <string.h>

void json_flattener_init(struct json_flattener *flattener, struct mem *mem)
{
    flattener->mem = mem;
    flattener->items = NULL;
    flattener->item_count = 0;
    flattener->item_capacity = 0;
    flattener->unescaped = NULL;
    flattener->unescaped_size = 0;
    flattener->unescaped_capacity = 0;
}

void json_flattener_free(struct json_flattener *flattener)
{
    if (flattener->mem != NULL) {
        mem_free(flattener->mem, flattener->items, (size_t)flattener->item_capacity * sizeof *flattener->items);
        mem_free(flattener->mem, flattener->unescaped, flattener->unescaped_capacity);
    }
    json_flattener_init(flattener, flattener->mem);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The 16 bits behind "\u" at `at`, or -1. */
static int32_t hex_unit(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    int32_t unit = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

static char *put_character(char *into, uint32_t code)
{
    if (code < 0x80) {
        *into++ = (char)code;
        return into;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    *into++ = (char)(leads[more] | (code >> (6 * more)));
    while (more-- > 0) {
        *into++ = (char)(0x80 | ((code >> (6 * more)) & 0x3f));
    }
    return into;
}

/* One escape at `*at`; moves both places on. NULL, or what is wrong. */
static const char *unescape_one(const char **at, const char *end, char **into)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char kind = end - *at >= 2 ? (*at)[1] : '\0';
    const char *simple = kind == '\0' ? NULL : strchr(from, kind);
    if (simple != NULL) {
        *(*into)++ = to[simple - from];
        *at += 2;
        return NULL;
    }
    if (kind != 'u') {
        return "an unknown escape in a string (known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX)";
    }
    int32_t unit = hex_unit(*at, end);
    if (unit < 0) {
        return "\\u without four hexadecimal digits in a string";
    }
    *at += 6;
    uint32_t code = (uint32_t)unit;
    if (code >= 0xd800 && code < 0xe000) {
        int32_t low = hex_unit(*at, end);
        if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000) {
            return "half of a surrogate pair in a string";
        }
        *at += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
    }
    *into = put_character(*into, code);
    return NULL;
}

/* An unescaped text is never longer than its escaped form, and all strings of a text together not longer than the text:
 * one buffer of its size never moves while items point into it. */
static bool unescape_reserve(struct json_flattener *flattener, const struct json_text *text)
{
    if (flattener->unescaped_capacity >= text->capacity) {
        return true;
    }
    mem_free(flattener->mem, flattener->unescaped, flattener->unescaped_capacity);
    flattener->unescaped = mem_alloc(flattener->mem, text->capacity);
    flattener->unescaped_capacity = flattener->unescaped == NULL ? 0 : text->capacity;
    return flattener->unescaped != NULL;
}

static enum json_flatten_result unescape(struct json_flattener *flattener, const struct json_text *text,
                                         struct json_item *item, struct json_fault *fault)
{
    if (flattener->unescaped_size == 0 && !unescape_reserve(flattener, text)) {
        return JSON_FLATTEN_NO_MEMORY;
    }
    const char *at = item->text;
    const char *end = at + item->length;
    char *begin = flattener->unescaped + flattener->unescaped_size;
    char *into = begin;
    while (at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((stop == NULL ? end : stop) - at);
        memcpy(into, at, plain);
        into += plain;
        at += plain;
        if (at < end) {
            uint32_t place = (uint32_t)(at - text->bytes);
            const char *what = unescape_one(&at, end, &into);
            if (what != NULL) {
                *fault = (struct json_fault){.what = what, .at = place};
                return JSON_FLATTEN_BAD;
            }
        }
    }
    item->text = begin;
    item->length = (uint32_t)(into - begin);
    flattener->unescaped_size += item->length;
    return JSON_FLATTEN_OK;
}

/* Where a value is being flattened. */
struct walk {
    struct json_flattener *flattener;
    struct json_text *text;
    uint32_t token; /* next */
    uint32_t end;   /* behind the last token taken */
    struct json_fault *fault;
};

static enum json_flatten_result bad_token(struct walk *walk, const char *wanted)
{
    *walk->fault = (struct json_fault){.what = wanted, .at = walk->text->at[walk->token], .wanted = true};
    return JSON_FLATTEN_BAD;
}

/* The caller has made room for the item. */
static inline enum json_flatten_result take_string(struct walk *walk)
{
    struct json_text *text = walk->text;
    struct json_item *item = &walk->flattener->items[walk->flattener->item_count++];
    uint32_t begin = text->at[walk->token] + 1;
    uint32_t quote = json_text_string_end(text, walk->token);
    *item =
        (struct json_item){.text = text->bytes + begin, .length = quote - begin, .span = 1, .kind = JSON_ITEM_STRING};
    walk->token++;
    walk->end = quote + 1;
    if (quote < text->backslash || !json_text_has_backslash(text, begin, quote)) {
        return JSON_FLATTEN_OK;
    }
    return unescape(walk->flattener, text, item, walk->fault);
}

static inline bool ends_scalar(char c)
{
    return c == ',' || c == '}' || c == ']' || c == '\n' || c == ' ' || c == ':' || c == '\r' || c == '\t';
}

/* Most scalars are integers of a few digits. False for everything that is not one, ill-formed ones included. */
static inline bool take_integer(const char *text, struct json_item *item, uint32_t *length)
{
    enum { SURE_TO_FIT = 18 };
    uint32_t sign = text[0] == '-' ? 1 : 0;
    uint64_t sum = 0;
    uint32_t at = sign;
    for (; (unsigned char)(text[at] - '0') < 10; at++) {
        sum = sum * 10 + (unsigned char)(text[at] - '0');
    }
    uint32_t digits = at - sign;
    if (digits == 0 || digits > SURE_TO_FIT || (text[sign] == '0' && digits > 1) || !ends_scalar(text[at])) {
        return false;
    }
    *item = (struct json_item){.text = text,
                               .length = at,
                               .span = 1,
                               .value.integer = sign != 0 ? -(int64_t)sum : (int64_t)sum,
                               .kind = JSON_ITEM_INT};
    *length = at;
    return true;
}

static inline enum json_flatten_result take_scalar(struct walk *walk)
{
    const struct json_text *text = walk->text;
    const char *what = "a value";
    uint32_t begin = text->at[walk->token];
    struct json_item *item = &walk->flattener->items[walk->flattener->item_count++];
    uint32_t length = 0;
    if (!take_integer(text->bytes + begin, item, &length)) {
        length = json_scalar_read(text->bytes + begin, item, &what);
        if (length == 0 || (begin + length < text->indexed && !ends_scalar(text->bytes[begin + length]))) {
            return bad_token(walk, what);
        }
    }
    walk->token++;
    walk->end = begin + length;
    return JSON_FLATTEN_OK;
}

static inline enum json_flatten_result take_key(struct walk *walk)
{
    const struct json_text *text = walk->text;
    if (walk->token >= text->count) {
        return JSON_FLATTEN_MORE;
    }
    if (text->bytes[text->at[walk->token]] != '"') {
        return bad_token(walk, "a key in quotes");
    }
    enum json_flatten_result result = take_string(walk);
    if (result != JSON_FLATTEN_OK) {
        return result;
    }
    if (walk->token >= text->count) {
        return JSON_FLATTEN_MORE;
    }
    if (text->bytes[text->at[walk->token]] != ':') {
        return bad_token(walk, "a colon behind a key");
    }
    walk->token++;
    return JSON_FLATTEN_OK;
}

/* Room for a key and its value. */
static inline bool json_flatten_make_room(struct json_flattener *flattener)
{
    uint64_t need = (uint64_t)flattener->item_count + 2;
    return need <= flattener->item_capacity ||
           MEM_RESERVE(flattener->mem, flattener->items, flattener->item_capacity, need);
}

static enum json_flatten_result too_deep(struct walk *walk)
{
    *walk->fault =
        (struct json_fault){.what = "more than 512 brackets inside each other", .at = walk->text->at[walk->token]};
    return JSON_FLATTEN_BAD;
}

/* Behind a value: closes the containers that end here. `*depth` 0 afterwards means that the whole value is done, else
 * a comma was taken. */
static inline enum json_flatten_result take_separator(struct walk *walk, uint32_t *depth)
{
    struct json_flattener *flattener = walk->flattener;
    const struct json_text *text = walk->text;
    while (*depth > 0) {
        if (walk->token >= text->count) {
            return JSON_FLATTEN_MORE;
        }
        struct json_item *container = &flattener->items[flattener->open[*depth - 1]];
        bool object = container->kind == JSON_ITEM_OBJECT;
        uint32_t at = text->at[walk->token];
        char c = text->bytes[at];
        if (c == ',') {
            walk->token++;
            return object ? take_key(walk) : JSON_FLATTEN_OK;
        }
        if (c != (object ? '}' : ']')) {
            return bad_token(walk, object ? "a comma or \"}\"" : "a comma or \"]\"");
        }
        container->span = flattener->item_count - flattener->open[*depth - 1];
        walk->end = at + 1;
        walk->token++;
        (*depth)--;
    }
    return JSON_FLATTEN_OK;
}

/* An opening bracket, and the first key of an object. An empty container is left to take_separator. */
static inline enum json_flatten_result take_open(struct walk *walk, bool object, uint32_t *depth, bool *empty)
{
    struct json_flattener *flattener = walk->flattener;
    const struct json_text *text = walk->text;
    flattener->open[(*depth)++] = flattener->item_count;
    flattener->items[flattener->item_count++] = (struct json_item){.kind = object ? JSON_ITEM_OBJECT : JSON_ITEM_ARRAY};
    walk->token++;
    if (walk->token >= text->count) {
        return JSON_FLATTEN_MORE;
    }
    *empty = text->bytes[text->at[walk->token]] == (object ? '}' : ']');
    return object && !*empty ? take_key(walk) : JSON_FLATTEN_OK;
}

static inline enum json_flatten_result walk_value(struct walk *walk, uint32_t depth_limit)
{
    struct json_flattener *flattener = walk->flattener;
    const struct json_text *text = walk->text;
    uint32_t depth = 0;
    do {
        if (walk->token >= text->count) {
            return JSON_FLATTEN_MORE;
        }
        if (!json_flatten_make_room(flattener)) {
            return JSON_FLATTEN_NO_MEMORY;
        }
        char c = text->bytes[text->at[walk->token]];
        bool empty = true;
        enum json_flatten_result result;
        if (c == '"') {
            result = take_string(walk);
        } else if (c == '{' || c == '[') {
            if (depth == depth_limit) {
                return too_deep(walk);
            }
            result = take_open(walk, c == '{', &depth, &empty);
        } else {
            result = take_scalar(walk);
        }
        if (result == JSON_FLATTEN_OK && empty) {
            result = json_flatten_make_room(flattener) ? take_separator(walk, &depth) : JSON_FLATTEN_NO_MEMORY;
        }
        if (result != JSON_FLATTEN_OK) {
            return result;
        }
    } while (depth > 0);
    return JSON_FLATTEN_OK;
}

enum json_flatten_result json_flatten(struct json_flattener *flattener, struct json_text *text, uint32_t depth_limit,
                                      uint32_t *token, uint32_t *end, struct json_fault *fault)
{
    struct walk walk = {.flattener = flattener, .text = text, .token = *token, .fault = fault};
    flattener->item_count = 0;
    flattener->unescaped_size = 0;
    enum json_flatten_result result = walk_value(&walk, depth_limit);
    if (result == JSON_FLATTEN_OK) {
        *token = walk.token;
        *end = walk.end;
    }
    return result;
}
