/* SPDX-License-Identifier: Apache-2.0 */
/* jansson checks the syntax but forgets where a value stood. It keeps object members in the order of the text, so a
 * second walk over the (now known to be valid) text, in step with jansson's tree, finds the line of every value with a
 * scanner that needs to know no more than where strings and numbers end. */
#include "io/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

/* jansson allocates outside the account; "[1,1,1…" costs it 24 to 40 bytes an entry of two characters. */
enum { JANSSON_BYTES_PER_CHARACTER = 20 };

struct json_walk {
    const char *name;
    const char *at; /* next character of the text */
    const char *end;
    uint32_t line;
    struct arena *arena;
    struct orr_error *err;
};

/* To the next token: space, and the punctuation between the values of a list or map. */
static void walk_to_token(struct json_walk *walk)
{
    for (; walk->at < walk->end && strchr(" \t\r\n,:", *walk->at) != NULL && *walk->at != '\0'; walk->at++) {
        walk->line += *walk->at == '\n';
    }
}

static void walk_past_scalar(struct json_walk *walk)
{
    if (walk->at < walk->end && *walk->at == '"') {
        for (walk->at++; walk->at < walk->end && *walk->at != '"'; walk->at++) {
            walk->at += *walk->at == '\\' && walk->at + 1 < walk->end;
        }
        walk->at += walk->at < walk->end;
        return;
    }
    while (walk->at < walk->end && strchr(" \t\r\n,]}", *walk->at) == NULL) {
        walk->at++;
    }
}

static enum orr_status walk_refused(const struct json_walk *walk)
{
    return mem_error(walk->arena->mem, walk->name, walk->err);
}

static enum io_kind json_kind_of(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return IO_MAP;
    case JSON_ARRAY:
        return IO_LIST;
    case JSON_STRING:
        return IO_TEXT;
    case JSON_INTEGER:
        return IO_INTEGER;
    case JSON_REAL:
        return IO_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return IO_BOOL;
    case JSON_NULL:
        break;
    }
    return IO_NULL;
}

static enum orr_status io_json_convert(struct json_walk *walk, json_t *json, struct io_value *parent, const char *key,
                                       uint32_t depth, struct io_value **made);

static enum orr_status convert_members(struct json_walk *walk, json_t *json, struct io_value *map, uint32_t depth)
{
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        const char *name = json_object_iter_key(at);
        char *key = arena_strndup(walk->arena, name, strlen(name));
        if (key == NULL) {
            return walk_refused(walk);
        }
        enum orr_status status = io_json_convert(walk, json_object_iter_value(at), map, key, depth, NULL);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status convert_children(struct json_walk *walk, json_t *json, struct io_value *value, uint32_t depth)
{
    if (depth >= IO_MAX_DEPTH) {
        return error_set(walk->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": lists and maps are nested deeper than %d; configuration files are flat",
                         walk->name, walk->line, IO_MAX_DEPTH);
    }
    walk->at++; /* the opening bracket */
    enum orr_status status = ORR_OK;
    if (value->kind == IO_MAP) {
        status = convert_members(walk, json, value, depth + 1);
    } else {
        for (size_t i = 0; i < json_array_size(json) && status == ORR_OK; i++) {
            status = io_json_convert(walk, json_array_get(json, i), value, NULL, depth + 1, NULL);
        }
    }
    walk_to_token(walk);
    walk->at += walk->at < walk->end; /* the closing one */
    return status;
}

static enum orr_status io_json_convert(struct json_walk *walk, json_t *json, struct io_value *parent, const char *key,
                                       uint32_t depth, struct io_value **made)
{
    walk_to_token(walk);
    uint32_t key_line = walk->line;
    if (key != NULL) {
        walk_past_scalar(walk);
        walk_to_token(walk);
    }
    struct io_value *value = io_value_add(walk->arena, parent, json_kind_of(json), walk->line);
    if (value == NULL) {
        return walk_refused(walk);
    }
    if (made != NULL) {
        *made = value;
    }
    value->key = key;
    value->key_line = key != NULL ? key_line : 0;
    if (value->kind == IO_LIST || value->kind == IO_MAP) {
        return convert_children(walk, json, value, depth);
    }
    walk_past_scalar(walk);
    if (value->kind == IO_TEXT) {
        value->text = arena_strndup(walk->arena, json_string_value(json), json_string_length(json));
        return value->text != NULL ? ORR_OK : walk_refused(walk);
    }
    if (value->kind == IO_INTEGER) {
        value->integer = json_integer_value(json);
    } else if (value->kind == IO_REAL) {
        value->real = json_real_value(json);
    } else {
        value->boolean = json_is_true(json);
    }
    return ORR_OK;
}

static enum orr_status check_size(const char *name, size_t size, struct mem *mem, struct orr_error *err)
{
    uint64_t needed = (uint64_t)size * JANSSON_BYTES_PER_CHARACTER;
    if (mem->limit != 0 && (mem->used > mem->limit || needed > mem->limit - mem->used)) {
        mem->refused = needed;
        return mem_error(mem, name, err);
    }
    return ORR_OK;
}

/*
 * jansson takes its own lack of memory for a fault of the text, or drops a character and goes on. What tells is errno,
 * until the end of the next number, which sets it back; so jansson gets its text a character at a time, and is looked
 * at each time it asks.
 */
struct json_feed {
    const char *at;
    const char *end;
    bool refused;
};

static size_t feed_one(void *buffer, size_t room, void *context)
{
    struct json_feed *feed = context;
    feed->refused = feed->refused || errno == ENOMEM;
    if (room == 0 || feed->at == feed->end) {
        return 0;
    }
    *(char *)buffer = *feed->at++;
    return 1;
}

enum orr_status io_json_parse(const char *name, const char *text, size_t size, struct arena *arena,
                              struct io_value **root, struct orr_error *err)
{
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3; /* a byte order mark */
        size -= 3;
    }
    struct json_walk walk = {.name = name, .at = text, .end = text + size, .line = 1, .arena = arena, .err = err};
    walk_to_token(&walk);
    if (walk.at == walk.end) {
        return error_set(err, ORR_EINVAL, "%s:1: the file is empty; a JSON object is expected", name);
    }
    enum orr_status status = check_size(name, size, arena->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    json_error_t problem;
    struct json_feed feed = {.at = text, .end = text + size};
    errno = 0;
    json_t *json = json_load_callback(feed_one, &feed, JSON_REJECT_DUPLICATES, &problem);
    if (feed.refused || errno == ENOMEM) {
        json_decref(json);
        return error_set(err, ORR_ENOMEM, "%s: out of memory reading it", name);
    }
    if (json == NULL) {
        char what[JSON_ERROR_TEXT_LENGTH];
        return error_set(err, ORR_EINVAL, "%s:%d: column %d: %s", name, problem.line > 0 ? problem.line : 1,
                         problem.column > 0 ? problem.column : 1, io_text_printable(problem.text, what, sizeof what));
    }
    walk.at = text;
    walk.line = 1;
    struct io_value *made = NULL;
    status = io_json_convert(&walk, json, NULL, NULL, 0, &made);
    json_decref(json);
    if (status == ORR_OK) {
        *root = made;
    }
    return status;
}
