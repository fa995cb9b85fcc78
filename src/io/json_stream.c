/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document's outermost level is walked here token by token; each part below it is flattened in one go
 * (json_window.h, json_flatten.h), so that what is done once an element is short and what is done once a token is one
 * loop.
 */
#include "io/json_stream.h"

#include "io/json_window.h"

enum { SMALL_WINDOW_BYTES = 16, WINDOW_BYTES = 256 << 10 }; /* text, places and items stay in the second-level cache */

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static struct json_stream *stream_make(const char *name, const char *const *arrays, unsigned flags, struct mem *mem)
{
    struct json_stream *stream = mem_zalloc(mem, sizeof *stream);
    size_t name_bytes = strlen(name) + 1;
    char *copy = stream == NULL ? NULL : mem_alloc(mem, name_bytes);
    if (copy == NULL) {
        mem_free(mem, stream, sizeof *stream);
        return NULL;
    }
    memcpy(copy, name, name_bytes);
    *stream = (struct json_stream){.mem = mem,
                                   .name = copy,
                                   .name_bytes = name_bytes,
                                   .arrays = arrays,
                                   .flags = flags,
                                   .document_end = UINT64_MAX};
    json_text_init(&stream->window, mem);
    json_text_init(&stream->again, mem);
    json_flattener_init(&stream->flattener, mem);
    return stream;
}

/* A small document gets a small window. */
static enum orr_status window_make(struct json_stream *stream, struct orr_error *err)
{
    uint64_t size = json_source_size(&stream->source);
    size_t capacity = size < WINDOW_BYTES ? (size_t)size + 1 : WINDOW_BYTES;
    if ((stream->flags & JSON_STREAM_SMALL_WINDOW) != 0) {
        capacity = SMALL_WINDOW_BYTES;
    }
    return json_text_reserve(&stream->window, capacity) ? ORR_OK : json_window_no_memory(stream, err);
}

enum orr_status json_stream_open(const char *path, const char *const *arrays, unsigned flags, struct mem *mem,
                                 struct json_stream **stream, struct orr_error *err)
{
    struct json_stream *made = stream_make(path, arrays, flags, mem);
    if (made == NULL) {
        return mem_error(mem, "opening a JSON file", err);
    }
    enum orr_status status = json_source_open(&made->source, path, (flags & JSON_STREAM_REREAD) != 0, mem, err);
    if (status == ORR_OK && (flags & JSON_STREAM_MAY_BE_CUT) != 0) {
        io_stream_allow_cut(made->source.stream);
    }
    if (status == ORR_OK) {
        status = window_make(made, err);
    }
    if (status != ORR_OK) {
        json_stream_close(made);
        return status;
    }
    *stream = made;
    return ORR_OK;
}

enum orr_status json_stream_open_bytes(const void *bytes, size_t size, const char *name, const char *const *arrays,
                                       unsigned flags, struct mem *mem, struct json_stream **stream,
                                       struct orr_error *err)
{
    struct json_stream *made = stream_make(name, arrays, flags, mem);
    if (made == NULL) {
        return mem_error(mem, "reading JSON", err);
    }
    json_source_open_memory(&made->source, bytes, size, mem);
    enum orr_status status = window_make(made, err);
    if (status != ORR_OK) {
        json_stream_close(made);
        return status;
    }
    *stream = made;
    return ORR_OK;
}

void json_stream_close(struct json_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    json_source_close(&stream->source);
    json_text_free(&stream->window);
    json_text_free(&stream->again);
    json_flattener_free(&stream->flattener);
    mem_free(stream->mem, stream->key, stream->key_capacity);
    mem_free(stream->mem, stream->name, stream->name_bytes);
    mem_free(stream->mem, stream, sizeof *stream);
}

/* ---- the outermost level ----------------------------------------------------------------------------------------- */

static bool json_stream_is_named(const struct json_stream *stream, const char *key)
{
    for (const char *const *name = stream->arrays; name != NULL && *name != NULL; name++) {
        if (strcmp(*name, key) == 0) {
            return true;
        }
    }
    return false;
}

/* The bracket at the next token ends the document. */
static void document_close(struct json_stream *stream)
{
    stream->document_end = stream->offset + stream->window.at[stream->token] + 1;
    stream->token++;
    stream->place = AT_END;
}

static void array_close(struct json_stream *stream)
{
    if (stream->in_object) {
        stream->token++;
        stream->place = AT_NEXT_MEMBER;
    } else {
        document_close(stream);
    }
}

/* What a step found: a part to hand out, or nothing yet. */
enum step { STEP_ON, STEP_PART, STEP_CUT };

static enum orr_status step_start(struct json_stream *stream, struct json_part *part, enum step *step,
                                  struct orr_error *err)
{
    char first = 0;
    bool forgiven = false;
    enum orr_status status = json_window_peek(stream, &first, &forgiven, err);
    if (status != ORR_OK) {
        return status;
    }
    if (first == '{') {
        stream->token++;
        stream->in_object = true;
        stream->place = AT_FIRST_MEMBER;
        return ORR_OK;
    }
    if (first == '[' && json_stream_is_named(stream, "")) {
        stream->token++;
        stream->element = 0;
        stream->place = AT_FIRST_ELEMENT;
        return ORR_OK;
    }
    const struct json_text *window = &stream->window;
    if (stream->offset + window->at[stream->token] == 0 && strncmp(window->bytes, "\xef\xbb\xbf", 3) == 0) {
        return json_window_error(stream, 0,
                                 "no JSON: the file begins with a byte order mark; remove its first three bytes", err);
    }
    status = json_window_value(stream, part, &forgiven, err);
    if (status == ORR_OK) {
        stream->document_end = part->offset + part->length;
        stream->place = AT_END;
        *step = STEP_PART;
    }
    return status;
}

/* At "," or the closing bracket behind an element or a member. Gives whether the container ends here. */
static enum orr_status comma_take(struct json_stream *stream, char closing, bool first_time, bool *closes,
                                  bool *forgiven, struct orr_error *err)
{
    char first = 0;
    enum orr_status status = json_window_peek(stream, &first, forgiven, err);
    if (status != ORR_OK || *forgiven) {
        return status;
    }
    *closes = first == closing;
    if (*closes || first_time) {
        return ORR_OK;
    }
    if (first != ',') {
        return json_window_wanted(stream, closing == ']' ? "a comma or \"]\"" : "a comma or \"}\"", err);
    }
    stream->token++;
    status = json_window_peek(stream, &first, forgiven, err);
    if (status == ORR_OK && !*forgiven && first == closing && (stream->flags & JSON_STREAM_MAY_BE_CUT) != 0) {
        stream->was_cut = true;
        *closes = true;
    }
    return status;
}

static enum orr_status step_member(struct json_stream *stream, struct json_part *part, enum step *step,
                                   struct orr_error *err)
{
    bool closes = false;
    bool forgiven = false;
    enum orr_status status = comma_take(stream, '}', stream->place == AT_FIRST_MEMBER, &closes, &forgiven, err);
    if (status == ORR_OK && closes) {
        document_close(stream);
        return ORR_OK;
    }
    char first = 0;
    if (status == ORR_OK && !forgiven) {
        status = json_window_key(stream, &forgiven, err);
    }
    if (status == ORR_OK && !forgiven) {
        status = json_window_peek(stream, &first, &forgiven, err);
    }
    if (status == ORR_OK && !forgiven) {
        if (first == '[' && json_stream_is_named(stream, stream->key)) {
            stream->token++;
            stream->element = 0;
            stream->place = AT_FIRST_ELEMENT;
            return ORR_OK;
        }
        status = json_window_value(stream, part, &forgiven, err);
    }
    if (status == ORR_OK) {
        stream->place = AT_NEXT_MEMBER;
        *step = forgiven ? STEP_CUT : STEP_PART;
    }
    return status;
}

static enum orr_status step_element(struct json_stream *stream, struct json_part *part, enum step *step,
                                    struct orr_error *err)
{
    bool closes = false;
    bool forgiven = false;
    bool first_time = stream->place == AT_FIRST_ELEMENT;
    enum orr_status status = comma_take(stream, ']', first_time, &closes, &forgiven, err);
    if (status == ORR_OK && !forgiven && !closes) {
        status = json_window_value(stream, part, &forgiven, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (first_time && (closes || forgiven)) {
        part->is_empty = true;
        part->offset = stream->offset + (closes ? stream->window.at[stream->token] : stream->window.size);
        *step = STEP_PART;
    } else if (forgiven) {
        *step = STEP_CUT;
    } else if (!closes) {
        part->is_element = true;
        part->index = stream->element++;
        *step = STEP_PART;
    }
    if (closes) {
        array_close(stream);
    } else {
        stream->place = forgiven ? AT_END : AT_NEXT_ELEMENT;
    }
    return ORR_OK;
}

static enum orr_status blank_rest(struct json_stream *stream, struct orr_error *err)
{
    bool there = false;
    if (stream->document_end == UINT64_MAX) { /* cut */
        return ORR_OK;
    }
    enum orr_status status = json_window_find(stream, &there, err);
    const struct json_text *window = &stream->window;
    bool unfinished = status == ORR_OK && !there && window->rest < window->size; /* a string, a character */
    if (status != ORR_OK || (!there && !unfinished)) {
        return status;
    }
    struct json_fault fault = {.what = "nothing behind the document's end", .wanted = true};
    fault.at = there ? window->at[stream->token] : (uint32_t)window->rest;
    return json_window_fault(stream, window, stream->offset, &fault, err);
}

enum orr_status json_stream_next(struct json_stream *stream, struct json_part *part, bool *more, struct orr_error *err)
{
    struct json_part made = {0};
    enum step step = STEP_ON;
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && step == STEP_ON && stream->place != AT_END) {
        switch (stream->place) {
        case AT_START:
            status = step_start(stream, &made, &step, err);
            break;
        case AT_FIRST_MEMBER:
        case AT_NEXT_MEMBER:
            status = step_member(stream, &made, &step, err);
            break;
        case AT_FIRST_ELEMENT:
        case AT_NEXT_ELEMENT:
            status = step_element(stream, &made, &step, err);
            break;
        case AT_END:
            break;
        }
    }
    if (status == ORR_OK && step == STEP_CUT) {
        stream->place = AT_END;
    }
    if (status == ORR_OK && step == STEP_ON) {
        status = blank_rest(stream, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    *more = step == STEP_PART;
    if (*more) {
        made.key = stream->in_object ? stream->key : "";
        *part = made;
    }
    return ORR_OK;
}

/* ---- going back -------------------------------------------------------------------------------------------------- */

enum orr_status json_stream_restart(struct json_stream *stream, uint64_t offset, uint64_t end, struct orr_error *err)
{
    enum orr_status status = json_source_seek(&stream->source, offset, end, err);
    if (status != ORR_OK) {
        return status;
    }
    struct json_text *window = &stream->window;
    window->size = 0;
    window->count = 0;
    window->rest = 0;
    window->fault = (struct json_fault){0};
    stream->offset = stream->source.position;
    stream->token = 0;
    stream->source_ended = false;
    stream->place = AT_START;
    stream->in_object = false;
    stream->was_cut = false;
    stream->document_end = UINT64_MAX;
    return ORR_OK;
}

enum orr_status json_stream_reread(struct json_stream *stream, uint64_t offset, uint64_t length,
                                   const struct json_item **item, struct orr_error *err)
{
    struct json_text *text = &stream->again;
    if (length > SIZE_MAX - 1 || !json_text_reserve(text, (size_t)length + 1)) {
        return json_window_no_memory(stream, err);
    }
    enum orr_status status =
        json_source_read_at(&stream->source, offset, text->bytes, (size_t)length, &text->size, err);
    if (status != ORR_OK) {
        return status;
    }
    if (!json_text_index(text, true, false)) {
        return json_window_no_memory(stream, err);
    }
    uint32_t token = 0;
    uint32_t end = 0;
    struct json_fault fault = text->fault;
    switch (json_flatten(&stream->flattener, text, JSON_DEPTH_LIMIT, &token, &end, &fault)) {
    case JSON_FLATTEN_OK:
        if (token == text->count) {
            *item = stream->flattener.items;
            return ORR_OK;
        }
        break;
    case JSON_FLATTEN_NO_MEMORY:
        return json_window_no_memory(stream, err);
    case JSON_FLATTEN_BAD:
        return json_window_fault(stream, text, offset, &fault, err);
    case JSON_FLATTEN_MORE:
        break;
    }
    return json_window_error(stream, offset, "the file has changed while it was read: a part is no longer there", err);
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

uint64_t json_stream_document_end(const struct json_stream *stream)
{
    return stream->document_end;
}

bool json_stream_was_cut(const struct json_stream *stream)
{
    return stream->was_cut || (stream->source.stream != NULL && io_stream_was_cut(stream->source.stream));
}

const char *json_stream_path(const struct json_stream *stream)
{
    return stream->name;
}

uint64_t json_stream_unpacked_size(const struct json_stream *stream)
{
    return stream->source.position;
}

uint64_t json_stream_line(struct json_stream *stream, uint64_t offset)
{
    return json_source_newlines(&stream->source, offset) + 1;
}
