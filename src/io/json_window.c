/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window moves over the unpacked bytes; what is consumed is dropped when it must move, so that it holds one
 * unfinished part and what was read ahead. A part that does not end inside the window is begun again after more was
 * read: rare, since a window holds a thousand events, and doubling keeps it linear for a part that is larger than the
 * window.
 */
#include "io/json_window.h"

#include <inttypes.h>

enum orr_status json_window_no_memory(struct json_stream *stream, struct orr_error *err)
{
    char what[512];
    (void)snprintf(what, sizeof what, "reading %s", stream->name);
    return mem_error(stream->mem, what, err);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* A few characters of what was found, safe to print: a line's rest at most, no byte that is no ASCII. */
static void excerpt(const struct json_text *text, uint32_t at, char *into, size_t room)
{
    size_t length = 0;
    while (at + length < text->size && length + 4 < room) {
        char c = text->bytes[at + length];
        if (c == '\n' || c == '\r') {
            break;
        }
        into[length++] = c >= 0x20 && c < 0x7f ? c : '?';
    }
    if (at + length < text->size && length + 4 >= room) {
        memcpy(into + length, "...", 3);
        length += 3;
    }
    into[length] = '\0';
}

enum orr_status json_window_error(struct json_stream *stream, uint64_t offset, const char *what, struct orr_error *err)
{
    uint64_t line = json_stream_line(stream, offset);
    if (line == 0) {
        return error_set(err, ORR_EINVAL, "%s: byte %" PRIu64 ": %s", stream->name, offset, what);
    }
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s", stream->name, line, what);
}

enum orr_status json_window_fault(struct json_stream *stream, const struct json_text *text, uint64_t text_offset,
                                  const struct json_fault *fault, struct orr_error *err)
{
    char found[32];
    char what[256];
    excerpt(text, fault->at, found, sizeof found);
    if (fault->wanted) {
        (void)snprintf(what, sizeof what, "no JSON: expected %s, found \"%s\"", fault->what, found);
    } else {
        (void)snprintf(what, sizeof what, "no JSON: %s, at \"%s\"", fault->what, found);
    }
    return json_window_error(stream, text_offset + fault->at, what, err);
}

enum orr_status json_window_wanted(struct json_stream *stream, const char *wanted, struct orr_error *err)
{
    struct json_fault fault = {.what = wanted, .at = stream->window.at[stream->token], .wanted = true};
    return json_window_fault(stream, &stream->window, stream->offset, &fault, err);
}

/* The text ends too early: forgiven where that was asked for, and then `*forgiven`. */
static enum orr_status ended_early(struct json_stream *stream, bool *forgiven, struct orr_error *err)
{
    bool blank = stream->place == AT_START && stream->window.rest == stream->window.indexed && stream->token == 0 &&
                 stream->window.count == 0;
    if ((stream->flags & JSON_STREAM_MAY_BE_CUT) != 0 && stream->place != AT_START) {
        stream->was_cut = true;
        *forgiven = true;
        return ORR_OK;
    }
    return json_window_error(stream, stream->offset + stream->window.size,
                             blank ? "the file is empty; a JSON document is needed"
                                   : "no JSON: the document is cut off, it ends before its last bracket",
                             err);
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

/* Drops what is consumed and reads on; the next token is then the window's first. */
static enum orr_status window_move(struct json_stream *stream, struct orr_error *err)
{
    struct json_text *window = &stream->window;
    size_t keep = stream->token < window->count ? window->at[stream->token] : window->rest;
    window->size -= keep;
    memmove(window->bytes, window->bytes + keep, window->size);
    stream->offset += keep;
    stream->token = 0;
    if (window->size > window->capacity / 2 && !json_text_reserve(window, window->capacity * 2)) {
        return json_window_no_memory(stream, err);
    }
    size_t room = window->capacity - window->size;
    size_t got = 0;
    enum orr_status status = json_source_read(&stream->source, window->bytes + window->size, room, &got, err);
    if (status != ORR_OK) {
        return status;
    }
    window->size += got;
    stream->source_ended = got < room;
    bool trim = !stream->source_ended || (stream->flags & JSON_STREAM_MAY_BE_CUT) != 0;
    return json_text_index(window, stream->source_ended, trim) ? ORR_OK : json_window_no_memory(stream, err);
}

/* Makes the next token available; `*there` false at the end of the text. */
enum orr_status json_window_find(struct json_stream *stream, bool *there, struct orr_error *err)
{
    const struct json_text *window = &stream->window;
    while (stream->token == window->count) {
        if (window->fault.what != NULL) {
            return json_window_fault(stream, window, stream->offset, &window->fault, err);
        }
        if (stream->source_ended) {
            *there = false;
            return ORR_OK;
        }
        enum orr_status status = window_move(stream, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    *there = true;
    return ORR_OK;
}

/* The first byte of the next token; `*forgiven` when the text ended instead and may do so. */
enum orr_status json_window_peek(struct json_stream *stream, char *first, bool *forgiven, struct orr_error *err)
{
    bool there = false;
    enum orr_status status = json_window_find(stream, &there, err);
    if (status == ORR_OK && !there) {
        return ended_early(stream, forgiven, err);
    }
    if (status == ORR_OK) {
        *first = stream->window.bytes[stream->window.at[stream->token]];
    }
    return status;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The characters of numbers and words. Whatever else stands in a row with them is a fault, and where a token ends there
 * differs between simdjson's kinds of processors. */
static bool in_scalar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' ||
           c == '.';
}

/* Whether a number or word that begins at `begin` goes on to the end of a text that may be cut: it may have been
 * longer, or be the beginning of something right. */
static bool scalar_is_cut(const struct json_stream *stream, uint32_t begin)
{
    const struct json_text *window = &stream->window;
    if ((stream->flags & JSON_STREAM_MAY_BE_CUT) == 0 || !stream->source_ended || stream->place == AT_START) {
        return false;
    }
    for (size_t i = begin; i < window->indexed; i++) {
        if (!in_scalar(window->bytes[i])) {
            return false;
        }
    }
    return true;
}

static uint32_t depth_left(const struct json_stream *stream)
{
    bool element = stream->place == AT_FIRST_ELEMENT || stream->place == AT_NEXT_ELEMENT;
    uint32_t around = stream->place == AT_START ? 0 : element && stream->in_object ? 2 : 1;
    return JSON_DEPTH_LIMIT - around;
}

/* The value at the next token, into the flattener and `part`. */
enum orr_status json_window_value(struct json_stream *stream, struct json_part *part, bool *forgiven,
                                  struct orr_error *err)
{
    struct json_text *window = &stream->window;
    enum orr_status status = ORR_OK;
    while (status == ORR_OK) {
        uint32_t token = stream->token;
        uint32_t begin = window->at[token];
        uint32_t end = 0;
        struct json_fault fault = window->fault;
        enum json_flatten_result result =
            json_flatten(&stream->flattener, window, depth_left(stream), &token, &end, &fault);
        if (result == JSON_FLATTEN_NO_MEMORY) {
            return json_window_no_memory(stream, err);
        }
        bool cut = (result == JSON_FLATTEN_OK && scalar_is_cut(stream, begin)) ||
                   (result == JSON_FLATTEN_BAD && scalar_is_cut(stream, fault.at));
        if (result == JSON_FLATTEN_OK && !cut) {
            part->offset = stream->offset + begin;
            part->length = end - begin;
            part->item = stream->flattener.items;
            stream->token = token;
            return ORR_OK;
        }
        if (!cut && fault.what != NULL) {
            return json_window_fault(stream, window, stream->offset, &fault, err);
        }
        if (cut || stream->source_ended) {
            return ended_early(stream, forgiven, err);
        }
        status = window_move(stream, err);
    }
    return status;
}

enum orr_status json_window_key(struct json_stream *stream, bool *forgiven, struct orr_error *err)
{
    char first = 0;
    enum orr_status status = json_window_peek(stream, &first, forgiven, err);
    if (status != ORR_OK || *forgiven) {
        return status;
    }
    if (first != '"') {
        return json_window_wanted(stream, "a key in quotes", err);
    }
    struct json_part part = {0};
    status = json_window_value(stream, &part, forgiven, err);
    if (status != ORR_OK || *forgiven) {
        return status;
    }
    const struct json_item *key = stream->flattener.items;
    uint32_t length = key->length;
    if (!mem_reserve(stream->mem, (void **)&stream->key, &stream->key_capacity, (uint64_t)length + 1, 1)) {
        return json_window_no_memory(stream, err);
    }
    memcpy(stream->key, key->text, length);
    stream->key[length] = '\0';
    status = json_window_peek(stream, &first, forgiven, err);
    if (status == ORR_OK && !*forgiven && first != ':') {
        return json_window_wanted(stream, "a colon behind a key", err);
    }
    stream->token += status == ORR_OK && !*forgiven ? 1 : 0;
    return status;
}
