/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents of any size, part by part: the elements of the large top-level arrays (a profiler's "traceEvents", an
 * execution trace's "nodes") come one at a time, every other top-level member comes whole, and memory is bounded by the
 * largest part. simdjson reads each part; what callers see is a flat array of plain structs.
 *
 * A part and everything it points to is valid until the next call on the same stream. Not shared between threads.
 */
#ifndef ORR_IO_JSON_STREAM_H
#define ORR_IO_JSON_STREAM_H

#include <string.h>

#include "base/mem.h"

enum json_item_kind {
    JSON_ITEM_NULL,
    JSON_ITEM_FALSE,
    JSON_ITEM_TRUE,
    JSON_ITEM_INT,    /* fits int64_t: `integer` */
    JSON_ITEM_BIG,    /* an integer beyond int64_t: `real` is near it, `text` exact (json_item_u64) */
    JSON_ITEM_REAL,   /* written with a point or an exponent, or NaN and Infinity as Python writes them */
    JSON_ITEM_STRING, /* `text`, unescaped */
    JSON_ITEM_ARRAY,  /* elements follow */
    JSON_ITEM_OBJECT, /* key (a string), value, key, value … follow, in the order and as often as written */
};

struct json_item {
    const char *text; /* string: unescaped UTF-8; number: as written; else NULL. Not terminated */
    uint32_t length;  /* of text */
    uint32_t span;    /* items this value takes, itself included: the next sibling is at item + span */
    union {
        int64_t integer;
        double real; /* also set for JSON_ITEM_BIG */
    } value;
    enum json_item_kind kind;
};

/* Walks an array's elements, or an object's keys and values by turns:
 * for (e = json_item_first(a); e != json_item_end(a); e = json_item_next(e)). */
static inline const struct json_item *json_item_first(const struct json_item *container)
{
    return container + 1;
}

static inline const struct json_item *json_item_next(const struct json_item *item)
{
    return item + item->span;
}

static inline const struct json_item *json_item_end(const struct json_item *container)
{
    return container + container->span;
}

static inline bool json_item_is(const struct json_item *item, const char *text)
{
    size_t length = strlen(text);
    return item->kind == JSON_ITEM_STRING && item->length == length && memcmp(item->text, text, length) == 0;
}

/* The value of an object's member, the last one of that name as in Python; NULL when absent or `object` is none. */
const struct json_item *json_item_member(const struct json_item *object, const char *key);

/* A number that is an integer from 0 to 2^64 - 1, JSON_ITEM_BIG included; false for everything else. */
bool json_item_u64(const struct json_item *item, uint64_t *value);

struct json_part {
    const char *key; /* the top-level member; "" for a document that is no object. Terminated */
    uint64_t index;  /* of the element in its array; only with is_element */
    bool is_element; /* one element of an array named to json_stream_open, else a whole value */
    bool is_empty;   /* the array named to json_stream_open is there and has no element; `item` is NULL */
    uint64_t offset; /* of the part's first byte in the unpacked document */
    uint64_t length; /* in bytes */
    const struct json_item *item;
};

enum json_stream_flags {
    /* The last element may be cut off, a comma may precede the end, brackets may be missing at the end, and so may the
     * end of a packed file: recordings of a program that was killed. What was forgiven is told by
     * json_stream_was_cut. */
    JSON_STREAM_MAY_BE_CUT = 1 << 0,
    /* The document's unpacked bytes can be read again by place (json_stream_reread): packed files are unpacked into a
     * nameless temporary file for that. */
    JSON_STREAM_REREAD = 1 << 1,
    /* For tests: the window begins with a few bytes, so that every document is cut in many places. */
    JSON_STREAM_SMALL_WINDOW = 1 << 2,
};

struct json_stream;

/*
 * `arrays` (NULL-terminated, borrowed while open) names the top-level members to take apart; "" stands for a document
 * that is itself an array. A value that is named but is no array comes whole. Fails as io_stream_open does.
 */
ORR_MUST_CHECK enum orr_status json_stream_open(const char *path, const char *const *arrays, unsigned flags,
                                                struct mem *mem, struct json_stream **stream, struct orr_error *err);
/* The same for bytes in memory, borrowed while open; `name` starts the error messages. */
ORR_MUST_CHECK enum orr_status json_stream_open_bytes(const void *bytes, size_t size, const char *name,
                                                      const char *const *arrays, unsigned flags, struct mem *mem,
                                                      struct json_stream **stream, struct orr_error *err);
void json_stream_close(struct json_stream *stream); /* NULL is fine */

/* The next part, or `*more` false at the document's end; what follows the document must be blank. ORR_EINVAL with
 * "file:line: …" when it is no JSON, ORR_EIO, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status json_stream_next(struct json_stream *stream, struct json_part *part, bool *more,
                                                struct orr_error *err);

/* Starts again at byte `offset` of the unpacked document, as if a document began there and ended before `end`
 * (UINT64_MAX: the file's end). */
ORR_MUST_CHECK enum orr_status json_stream_restart(struct json_stream *stream, uint64_t offset, uint64_t end,
                                                   struct orr_error *err);

/* Parses the value at this place of the unpacked document again; needs JSON_STREAM_REREAD. Does not move the reading
 * position, but ends the validity of the last part. */
ORR_MUST_CHECK enum orr_status json_stream_reread(struct json_stream *stream, uint64_t offset, uint64_t length,
                                                  const struct json_item **item, struct orr_error *err);

/* The first byte behind the document, once its end was reached: also when json_stream_next failed because something
 * follows it (another document, at that place or behind blanks). UINT64_MAX before. */
uint64_t json_stream_document_end(const struct json_stream *stream);

bool json_stream_was_cut(const struct json_stream *stream);
const char *json_stream_path(const struct json_stream *stream);
uint64_t json_stream_unpacked_size(const struct json_stream *stream); /* bytes handed out so far */

/* The line, from 1, of a byte of the unpacked document: reads the file again from its front, so for errors only. 0 when
 * that fails. */
uint64_t json_stream_line(struct json_stream *stream, uint64_t offset);

/* ---- numbers as Python writes them ------------------------------------------------------------------------------- */

enum { JSON_REAL_ROOM = 32 };

/* The shortest text that reads back as `value`, in the style of Python's repr: 1e-07, 1e+16, 0.1, 3.0, inf, nan.
 * Terminated; returns its length. */
unsigned json_real_repr(double value, char text[JSON_REAL_ROOM]);

#endif
