/* SPDX-License-Identifier: Apache-2.0 */
/* Built from libyaml's events rather than its documents: events carry lines, come in constant memory, and let aliases
 * and deep nesting be refused before anything is built from them. */
#include "io/yaml.h"

#include <inttypes.h>
#include <string.h>

#include <yaml.h>

struct yaml_build {
    const char *name;
    struct arena *arena;
    struct orr_error *err;
    struct io_value *root;
    struct io_value *open[IO_MAX_DEPTH]; /* lists and maps not yet closed, outermost first */
    uint32_t depth;
    uint32_t documents;
    const char *key; /* of the innermost map, read and still without a value */
    uint32_t key_line;
};

static uint32_t yaml_line_of(const yaml_mark_t *mark)
{
    return mark->line < UINT32_MAX ? (uint32_t)mark->line + 1 : UINT32_MAX;
}

static enum orr_status yaml_refuse(const struct yaml_build *build, const yaml_event_t *event, const char *what)
{
    return error_set(build->err, ORR_EINVAL, "%s:%" PRIu32 ": column %zu: %s", build->name,
                     yaml_line_of(&event->start_mark), event->start_mark.column + 1, what);
}

static enum orr_status out_of_memory(const struct yaml_build *build)
{
    return mem_error(build->arena->mem, build->name, build->err);
}

/* The list or map that the next value belongs to; NULL at the top. */
static struct io_value *innermost(const struct yaml_build *build)
{
    return build->depth > 0 ? build->open[build->depth - 1] : NULL;
}

static void yaml_resolve(struct io_value *value)
{
    static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (io_number_parse(value->text, value)) {
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(value->text, words[i]) == 0) {
            value->kind = IO_BOOL;
            value->boolean = i < 3;
            return;
        }
    }
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        if (strcmp(value->text, nulls[i]) == 0) {
            value->kind = IO_NULL;
            return;
        }
    }
}

/* Puts a new value where the text has one: under the waiting key, in the open list, or as the root. NULL, with the
 * reason in `status`, where there can be none. */
static struct io_value *yaml_place(struct yaml_build *build, const yaml_event_t *event, enum io_kind kind,
                                   enum orr_status *status)
{
    struct io_value *parent = innermost(build);
    bool in_map = parent != NULL && parent->kind == IO_MAP;
    if (in_map && build->key == NULL) {
        *status = yaml_refuse(build, event, "a key must be a plain text or number");
        return NULL;
    }
    struct io_value *value = io_value_add(build->arena, parent, kind, yaml_line_of(&event->start_mark));
    if (value == NULL) {
        *status = out_of_memory(build);
        return NULL;
    }
    if (in_map) {
        value->key = build->key;
        value->key_line = build->key_line;
        build->key = NULL;
    } else if (parent == NULL) {
        build->root = value;
    }
    return value;
}

static enum orr_status on_scalar(struct yaml_build *build, const yaml_event_t *event)
{
    const char *bytes = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL) {
        return yaml_refuse(build, event, "anchors (&) and tags (!) are not accepted");
    }
    if (memchr(bytes, '\0', length) != NULL) {
        return yaml_refuse(build, event, "a text with a NUL character is not accepted");
    }
    char *text = arena_strndup(build->arena, bytes, length);
    if (text == NULL) {
        return out_of_memory(build);
    }
    const struct io_value *parent = innermost(build);
    if (parent != NULL && parent->kind == IO_MAP && build->key == NULL) {
        build->key = text;
        build->key_line = yaml_line_of(&event->start_mark);
        return ORR_OK;
    }
    enum orr_status status = ORR_OK;
    struct io_value *value = yaml_place(build, event, IO_TEXT, &status);
    if (value != NULL) {
        value->text = text;
        yaml_resolve(value);
    }
    return status;
}

static enum orr_status on_open(struct yaml_build *build, const yaml_event_t *event)
{
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    if (list ? event->data.sequence_start.anchor != NULL || event->data.sequence_start.tag != NULL
             : event->data.mapping_start.anchor != NULL || event->data.mapping_start.tag != NULL) {
        return yaml_refuse(build, event, "anchors (&) and tags (!) are not accepted");
    }
    if (build->depth == IO_MAX_DEPTH) {
        return yaml_refuse(build, event, "lists and maps are nested too deep; configuration files are flat");
    }
    enum orr_status status = ORR_OK;
    struct io_value *value = yaml_place(build, event, list ? IO_LIST : IO_MAP, &status);
    if (value != NULL) {
        build->open[build->depth++] = value;
    }
    return status;
}

static enum orr_status on_event(struct yaml_build *build, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        build->documents++;
        return build->documents > 1 ? yaml_refuse(build, event, "a second document begins; one is accepted") : ORR_OK;
    case YAML_ALIAS_EVENT:
        return yaml_refuse(build, event, "aliases (*) are not accepted");
    case YAML_SCALAR_EVENT:
        return on_scalar(build, event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return on_open(build, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        build->depth--;
        return ORR_OK;
    default:
        return ORR_OK;
    }
}

static enum orr_status parser_error(const yaml_parser_t *parser, const struct yaml_build *build)
{
    const char *what = parser->problem != NULL ? parser->problem : "cannot be parsed";
    if (parser->error == YAML_MEMORY_ERROR) {
        return error_set(build->err, ORR_ENOMEM, "%s: out of memory", build->name);
    }
    if (parser->error == YAML_READER_ERROR) {
        return error_set(build->err, ORR_EINVAL, "%s: byte %zu: not UTF-8 text: %s", build->name,
                         parser->problem_offset, what);
    }
    return error_set(build->err, ORR_EINVAL, "%s:%" PRIu32 ": column %zu: %s", build->name,
                     yaml_line_of(&parser->problem_mark), parser->problem_mark.column + 1, what);
}

static enum orr_status build_all(yaml_parser_t *parser, struct yaml_build *build)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            return parser_error(parser, build);
        }
        bool last = event.type == YAML_STREAM_END_EVENT;
        enum orr_status status = on_event(build, &event);
        yaml_event_delete(&event);
        if (status != ORR_OK || last) {
            return status;
        }
    }
}

enum orr_status io_yaml_parse(const char *name, const char *text, size_t size, struct arena *arena,
                              struct io_value **root, struct orr_error *err)
{
    struct yaml_build build = {.name = name, .arena = arena, .err = err};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", name);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    enum orr_status status = build_all(&parser, &build);
    yaml_parser_delete(&parser);
    if (status != ORR_OK) {
        return status;
    }
    if (build.root == NULL) {
        return error_set(err, ORR_EINVAL, "%s:1: the file is empty; a YAML map is expected", name);
    }
    *root = build.root;
    return ORR_OK;
}
