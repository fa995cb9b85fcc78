/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two files of a JSON stream share: its state, the window's tokens and the values taken from it
 * (json_window.c) and the document's outermost level (json_stream.c). For nobody else.
 */
#ifndef ORR_IO_JSON_WINDOW_H
#define ORR_IO_JSON_WINDOW_H

#include "io/json_flatten.h"
#include "io/json_source.h"
#include "io/json_stream.h"
#include "io/json_text.h"

enum json_place {
    AT_START,
    AT_FIRST_MEMBER, /* behind "{" */
    AT_NEXT_MEMBER,  /* behind a member's value */
    AT_FIRST_ELEMENT,
    AT_NEXT_ELEMENT,
    AT_END,
};

struct json_stream {
    struct mem *mem;
    struct json_source source;
    char *name; /* owned */
    size_t name_bytes;
    const char *const *arrays;
    unsigned flags;
    struct json_text window;
    uint64_t offset; /* of the window's first byte in the document */
    uint32_t token;  /* next */
    bool source_ended;
    enum json_place place;
    bool in_object; /* the document is an object: an array that ends is a member's value */
    bool was_cut;
    uint64_t document_end;
    uint64_t element;
    char *key;
    uint32_t key_capacity;
    struct json_flattener flattener;
    struct json_text again; /* what json_stream_reread reads */
};

/* `*there` false at the end of the text; else the next token is at hand: window.at[token]. */
ORR_MUST_CHECK enum orr_status json_window_find(struct json_stream *stream, bool *there, struct orr_error *err);

/* The first byte of the next token. Where the text ends instead: an error, or `*forgiven` when it may be cut. */
ORR_MUST_CHECK enum orr_status json_window_peek(struct json_stream *stream, char *first, bool *forgiven,
                                                struct orr_error *err);

/* The value at the next token, which is at hand, into the flattener and `part`. */
ORR_MUST_CHECK enum orr_status json_window_value(struct json_stream *stream, struct json_part *part, bool *forgiven,
                                                 struct orr_error *err);

/* A member's key and the colon behind it: `key` is set. */
ORR_MUST_CHECK enum orr_status json_window_key(struct json_stream *stream, bool *forgiven, struct orr_error *err);

/* Errors: that memory was refused; what is wrong in a text that begins at `text_offset`; what was expected at the next
 * token; anything at a byte of the document. */
enum orr_status json_window_no_memory(struct json_stream *stream, struct orr_error *err);
enum orr_status json_window_fault(struct json_stream *stream, const struct json_text *text, uint64_t text_offset,
                                  const struct json_fault *fault, struct orr_error *err);
enum orr_status json_window_wanted(struct json_stream *stream, const char *wanted, struct orr_error *err);
enum orr_status json_window_error(struct json_stream *stream, uint64_t offset, const char *what, struct orr_error *err);

#endif
