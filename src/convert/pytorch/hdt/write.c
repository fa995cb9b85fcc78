/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes go through a buffer of our own: a linked trace is twice the size of what it was made from, most of it the
 * spaces of the indentation, and stdio's locks would cost more than the writing. Nesting is followed with an explicit
 * stack. */
#include "convert/pytorch/hdt/write.h"

/* ---- bytes ---- */

static void hdt_write_flush(struct hdt_writer *writer)
{
    (void)fwrite(writer->buffer, 1, writer->used, writer->stream);
    writer->used = 0;
}

static void put_slowly(struct hdt_writer *writer, const char *bytes, size_t size)
{
    while (size > 0) {
        size_t room = sizeof writer->buffer - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->buffer + writer->used, bytes, part);
        writer->used += part;
        bytes += part;
        size -= part;
        if (writer->used == sizeof writer->buffer) {
            hdt_write_flush(writer);
        }
    }
}

static inline void hdt_write_put(struct hdt_writer *writer, const char *bytes, size_t size)
{
    if (size >= sizeof writer->buffer - writer->used) {
        put_slowly(writer, bytes, size);
        return;
    }
    memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
}

static void hdt_write_put_text(struct hdt_writer *writer, const char *text)
{
    hdt_write_put(writer, text, strlen(text));
}

static void hdt_write_put_line(struct hdt_writer *writer, unsigned depth)
{
    static const char line[] = "\n                                                                ";
    size_t spaces = (size_t)depth * 4;
    size_t part = spaces < sizeof line - 2 ? spaces : sizeof line - 2;
    hdt_write_put(writer, line, 1 + part);
    for (spaces -= part; spaces > 0; spaces -= part) {
        part = spaces < sizeof line - 2 ? spaces : sizeof line - 2;
        hdt_write_put(writer, line + 1, part);
    }
}

/* ---- scalars as Python writes them ---- */

static void put_unit(struct hdt_writer *writer, unsigned unit)
{
    char text[8];
    hdt_write_put(writer, text, (size_t)snprintf(text, sizeof text, "\\u%04x", unit));
}

/* The code point at `at` and its length; what is no UTF-8 counts as one byte U+FFFD. */
static uint32_t code_point(const unsigned char *at, size_t left, size_t *length)
{
    static const unsigned char masks[] = {0, 0, 0x1f, 0x0f, 0x07};
    size_t need = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    *length = 1;
    if (at[0] < 0xc2 || at[0] > 0xf4 || need > left) {
        return 0xfffd;
    }
    uint32_t code = at[0] & masks[need];
    for (size_t i = 1; i < need; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0xfffd;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    *length = need;
    return code;
}

static void hdt_write_put_escaped(struct hdt_writer *writer, uint32_t code)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *at = named; *at != '\0'; at += 2) {
        if (code == (unsigned char)at[0]) {
            char pair[2] = {'\\', at[1]};
            hdt_write_put(writer, pair, 2);
            return;
        }
    }
    if (code >= 0x10000) {
        put_unit(writer, 0xd800 + ((code - 0x10000) >> 10));
        put_unit(writer, 0xdc00 + ((code - 0x10000) & 0x3ff));
        return;
    }
    put_unit(writer, code);
}

static void hdt_write_put_string(struct hdt_writer *writer, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    hdt_write_put(writer, "\"", 1);
    for (size_t at = 0; at < length;) {
        size_t plain = at;
        while (plain < length && bytes[plain] >= 0x20 && bytes[plain] < 0x7f && bytes[plain] != '"' &&
               bytes[plain] != '\\') {
            plain++;
        }
        hdt_write_put(writer, text + at, plain - at);
        at = plain;
        if (at < length) {
            size_t size = 1;
            uint32_t code = bytes[at] < 0x80 ? bytes[at] : code_point(bytes + at, length - at, &size);
            hdt_write_put_escaped(writer, code);
            at += size;
        }
    }
    hdt_write_put(writer, "\"", 1);
}

static void hdt_write_put_integer(struct hdt_writer *writer, int64_t value)
{
    char text[20];
    size_t at = sizeof text;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    hdt_write_put(writer, "-", value < 0 ? 1 : 0);
    hdt_write_put(writer, text + at, sizeof text - at);
}

static void hdt_write_put_real(struct hdt_writer *writer, double value)
{
    char text[JSON_REAL_ROOM];
    if (value != value) {
        hdt_write_put_text(writer, "NaN");
    } else if (value - value != 0) {
        hdt_write_put_text(writer, value > 0 ? "Infinity" : "-Infinity");
    } else {
        hdt_write_put(writer, text, json_real_repr(value, text));
    }
}

static void hdt_write_put_scalar(struct hdt_writer *writer, const struct json_item *item)
{
    switch (item->kind) {
    case JSON_ITEM_FALSE:
        hdt_write_put_text(writer, "false");
        break;
    case JSON_ITEM_TRUE:
        hdt_write_put_text(writer, "true");
        break;
    case JSON_ITEM_INT:
        hdt_write_put_integer(writer, item->value.integer);
        break;
    case JSON_ITEM_BIG:
        hdt_write_put(writer, item->text, item->length);
        break;
    case JSON_ITEM_REAL:
        hdt_write_put_real(writer, item->value.real);
        break;
    case JSON_ITEM_STRING:
        hdt_write_put_string(writer, item->text, item->length);
        break;
    default:
        hdt_write_put_text(writer, "null");
        break;
    }
}

/* ---- values ---- */

struct level {
    const struct json_item *end;
    bool is_object;
    bool is_value; /* in an object: the next item is a value, not a key */
    bool filled;
};

static bool hdt_write_is_container(const struct json_item *item)
{
    return item->kind == JSON_ITEM_ARRAY || item->kind == JSON_ITEM_OBJECT;
}

/* A scalar or an empty container, on the spot; a filled container is opened and becomes a level. */
static void put_item(struct hdt_writer *writer, const struct json_item *item, struct level *levels, unsigned *depth)
{
    bool object = item->kind == JSON_ITEM_OBJECT;
    if (!hdt_write_is_container(item)) {
        hdt_write_put_scalar(writer, item);
    } else if (item->span == 1 || *depth == HDT_DEPTH) {
        writer->too_deep = writer->too_deep || item->span > 1;
        hdt_write_put(writer, object ? "{}" : "[]", 2);
    } else {
        hdt_write_put(writer, object ? "{" : "[", 1);
        levels[(*depth)++] = (struct level){.end = json_item_end(item), .is_object = object};
    }
}

/* `indent` is the depth at which the value stands. */
static void hdt_write_put_value(struct hdt_writer *writer, const struct json_item *value, unsigned indent)
{
    struct level levels[HDT_DEPTH];
    unsigned depth = 0;
    put_item(writer, value, levels, &depth);
    for (const struct json_item *item = value + 1; depth > 0;) {
        struct level *level = &levels[depth - 1];
        if (item == level->end) {
            depth--;
            hdt_write_put_line(writer, indent + depth);
            hdt_write_put(writer, level->is_object ? "}" : "]", 1);
            continue;
        }
        if (!level->is_value) {
            hdt_write_put(writer, ",", level->filled ? 1 : 0);
            hdt_write_put_line(writer, indent + depth);
            level->filled = true;
        }
        if (level->is_object && !level->is_value) {
            hdt_write_put_string(writer, item->text, item->length);
            hdt_write_put(writer, ": ", 2);
            level->is_value = true;
            item++;
            continue;
        }
        level->is_value = false;
        unsigned before = depth;
        put_item(writer, item, levels, &depth);
        item = depth > before ? item + 1 : json_item_next(item);
    }
}

/* ---- the document ---- */

enum { MEMBER_DEPTH = 1, NODE_DEPTH = 2, FIELD_DEPTH = 3 };

static void hdt_write_put_key(struct hdt_writer *writer, const char *key, size_t length, unsigned depth, bool *filled)
{
    hdt_write_put(writer, ",", *filled ? 1 : 0);
    *filled = true;
    hdt_write_put_line(writer, depth);
    hdt_write_put_string(writer, key, length);
    hdt_write_put(writer, ": ", 2);
}

void hdt_write_begin(struct hdt_writer *writer, FILE *stream)
{
    writer->stream = stream;
    writer->used = 0;
    writer->filled = false;
    writer->nodes_filled = false;
    writer->too_deep = false;
    hdt_write_put(writer, "{", 1);
}

bool hdt_write_end(struct hdt_writer *writer)
{
    if (writer->filled) {
        hdt_write_put_line(writer, 0);
    }
    hdt_write_put(writer, "}", 1);
    hdt_write_flush(writer);
    return !writer->too_deep;
}

void hdt_write_member(struct hdt_writer *writer, const char *key, const struct json_item *value)
{
    hdt_write_put_key(writer, key, strlen(key), MEMBER_DEPTH, &writer->filled);
    hdt_write_put_value(writer, value, MEMBER_DEPTH);
}

void hdt_write_nodes_begin(struct hdt_writer *writer)
{
    hdt_write_put_key(writer, "nodes", 5, MEMBER_DEPTH, &writer->filled);
    hdt_write_put(writer, "[", 1);
    writer->nodes_filled = false;
}

void hdt_write_nodes_end(struct hdt_writer *writer)
{
    if (writer->nodes_filled) {
        hdt_write_put_line(writer, MEMBER_DEPTH);
    }
    hdt_write_put(writer, "]", 1);
}

/* ---- nodes ---- */

static void hdt_write_put_list(struct hdt_writer *writer, const uint32_t *ids, uint32_t count)
{
    hdt_write_put(writer, "[", 1);
    for (uint32_t i = 0; i < count; i++) {
        hdt_write_put(writer, ",", i > 0 ? 1 : 0);
        hdt_write_put_line(writer, FIELD_DEPTH + 1);
        hdt_write_put_integer(writer, ids[i]);
    }
    if (count > 0) {
        hdt_write_put_line(writer, FIELD_DEPTH);
    }
    hdt_write_put(writer, "]", 1);
}

static void put_edit(struct hdt_writer *writer, const struct hdt_edit *edit)
{
    switch (edit->kind) {
    case HDT_INTEGER:
        hdt_write_put_integer(writer, edit->to.integer);
        break;
    case HDT_REAL:
        hdt_write_put_real(writer, edit->to.real);
        break;
    case HDT_TEXT:
        hdt_write_put_string(writer, edit->to.text.bytes, edit->to.text.length);
        break;
    case HDT_LIST:
        hdt_write_put_list(writer, edit->to.list.ids, edit->to.list.count);
        break;
    default:
        hdt_write_put_text(writer, "null");
        break;
    }
}

static const struct hdt_edit *find_edit(const struct json_item *key, const struct hdt_edit *edits, unsigned count,
                                        uint32_t *done)
{
    for (unsigned i = 0; i < count; i++) {
        if (json_item_is(key, edits[i].key)) {
            *done |= 1u << i;
            return &edits[i];
        }
    }
    return NULL;
}

void hdt_write_node(struct hdt_writer *writer, const struct json_item *node, const struct hdt_edit *edits,
                    unsigned edit_count)
{
    uint32_t done = 0;
    bool filled = false;
    hdt_write_put(writer, ",", writer->nodes_filled ? 1 : 0);
    writer->nodes_filled = true;
    hdt_write_put_line(writer, NODE_DEPTH);
    hdt_write_put(writer, "{", 1);
    for (const struct json_item *key = json_item_first(node); key != json_item_end(node);) {
        const struct json_item *value = json_item_next(key);
        const struct hdt_edit *edit = find_edit(key, edits, edit_count, &done);
        hdt_write_put_key(writer, key->text, key->length, FIELD_DEPTH, &filled);
        if (edit != NULL) {
            put_edit(writer, edit);
        } else {
            hdt_write_put_value(writer, value, FIELD_DEPTH);
        }
        key = json_item_next(value);
    }
    for (unsigned i = 0; i < edit_count; i++) {
        if ((done >> i & 1) == 0 && !edits[i].only_if_there) {
            hdt_write_put_key(writer, edits[i].key, strlen(edits[i].key), FIELD_DEPTH, &filled);
            put_edit(writer, &edits[i]);
        }
    }
    if (filled) {
        hdt_write_put_line(writer, NODE_DEPTH);
    }
    hdt_write_put(writer, "}", 1);
}
