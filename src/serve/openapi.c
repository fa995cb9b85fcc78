/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface described for programs that make clients of it. Parameters of a route are one object, written once and
 * named by both its methods: in a query as an exploded form, which is one parameter for each of its properties.
 */
#include <string.h>

#include "io/json_write.h"
#include "serve/room.h"

static void openapi_member(struct json_writer *writer, const char *key, const char *text)
{
    json_write_member_string(writer, key, text);
}

static void openapi_ref(struct json_writer *writer, const char *name)
{
    char text[96];
    (void)snprintf(text, sizeof text, "#/components/schemas/%s", name);
    json_write_member_object(writer, "schema", true);
    openapi_member(writer, "$ref", text);
    json_write_object_end(writer);
}

/* "/api/train" has the object "train", "/api/report/{runs}" has "report_runs". */
static const char *openapi_object(const struct serve_route *route, char name[64])
{
    size_t length = 0;
    for (const char *at = route->path + strlen("/api/"); *at != '\0' && length < 63; at++) {
        if (*at != '{' && *at != '}') {
            name[length++] = *at == '/' ? '_' : *at;
        }
    }
    name[length] = '\0';
    return name;
}

/* ---- parameters ---- */

static void openapi_type(const struct param *row, struct json_writer *writer)
{
    /* What a row reads itself and has bounds for is a number that says more than its value. */
    switch (row->kind == PARAM_READ && row->most > 0 ? PARAM_COUNT : row->kind) {
    case PARAM_FLAG:
        openapi_member(writer, "type", "boolean");
        break;
    case PARAM_COUNT:
    case PARAM_COUNT32:
        openapi_member(writer, "type", "integer");
        json_write_member_u64(writer, "minimum", row->least);
        if (row->most > 0) {
            json_write_member_u64(writer, "maximum", row->most);
        }
        break;
    case PARAM_REAL:
        openapi_member(writer, "type", row->unit != NULL ? "string" : "number");
        break;
    default:
        openapi_member(writer, "type", "string");
        break;
    }
    if (row->kind == PARAM_WORD || row->kind == PARAM_CHOICE) {
        json_write_member_array(writer, "enum", true);
        for (const char *const *word = row->words; *word != NULL; word++) {
            json_write_string(writer, *word);
        }
        json_write_array_end(writer);
    }
}

static void openapi_row(const struct param *row, struct json_writer *writer)
{
    char text[1024], whole[1280];
    const char *unwritten = row->unwritten != NULL ? row->unwritten : row->initial;
    (void)snprintf(whole, sizeof whole, "%s%s%s", row->help, unwritten != NULL ? ". Default: " : "",
                   unwritten != NULL ? unwritten : "");
    (void)param_spell(whole, text, sizeof text);
    json_write_member_object(writer, row->name, true);
    openapi_type(row, writer);
    openapi_member(writer, "description", text);
    json_write_object_end(writer);
}

static void openapi_schemas(struct json_writer *writer)
{
    char name[64];
    json_write_member_object(writer, "schemas", false);
    for (size_t i = 0; serve_route_at(i) != NULL; i++) {
        const struct serve_route *route = serve_route_at(i);
        if (route->tables == NULL) {
            continue;
        }
        json_write_member_object(writer, openapi_object(route, name), false);
        openapi_member(writer, "type", "object");
        json_write_member_bool(writer, "additionalProperties", false);
        json_write_member_object(writer, "properties", false);
        for (const struct param_table *table = route->tables; table->rows != NULL; table++) {
            for (const struct param *row = table->rows; row->name != NULL; row++) {
                if (serve_route_has(route, table, row)) {
                    openapi_row(row, writer);
                }
            }
        }
        json_write_object_end(writer);
        json_write_object_end(writer);
    }
    json_write_member_object(writer, "error", true);
    openapi_member(writer, "type", "object");
    json_write_member_object(writer, "properties", true);
    json_write_member_object(writer, "error", true);
    openapi_member(writer, "type", "string");
    openapi_member(writer, "description", "One line: what was found, what is accepted");
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

/* ---- routes ---- */

static void openapi_content(struct json_writer *writer, const char *type, const char *object)
{
    json_write_member_object(writer, "content", true);
    json_write_member_object(writer, type, true);
    if (object != NULL) {
        openapi_ref(writer, object);
    }
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void openapi_path_name(const struct serve_route *route, struct json_writer *writer)
{
    const char *brace = strchr(route->path, '{');
    char name[32];
    if (brace == NULL) {
        return;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
    json_write_object(writer, true);
    openapi_member(writer, "name", name);
    openapi_member(writer, "in", "path");
    json_write_member_bool(writer, "required", true);
    json_write_member_object(writer, "schema", true);
    openapi_member(writer, "type", strcmp(name, "path") == 0 || strcmp(name, "runs") == 0 ? "string" : "integer");
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void openapi_operation(const struct serve_route *route, unsigned method, struct json_writer *writer)
{
    bool is_post = method == SERVE_POST;
    char name[64];
    json_write_member_object(writer, is_post ? "post" : method == SERVE_DELETE ? "delete" : "get", false);
    openapi_member(writer, "summary", route->summary);
    json_write_member_array(writer, "parameters", false);
    openapi_path_name(route, writer);
    if (route->tables != NULL && !is_post) {
        json_write_object(writer, true);
        openapi_member(writer, "name", "options");
        openapi_member(writer, "in", "query");
        openapi_member(writer, "style", "form");
        json_write_member_bool(writer, "explode", true);
        openapi_ref(writer, openapi_object(route, name));
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
    if (is_post) {
        json_write_member_object(writer, "requestBody", true);
        openapi_content(writer, "application/x-www-form-urlencoded", openapi_object(route, name));
        json_write_object_end(writer);
    }
    json_write_member_object(writer, "responses", false);
    json_write_member_object(writer, route->how == SERVE_WORKED && route->methods == SERVE_POST ? "202" : "200", true);
    openapi_member(writer, "description", "The answer");
    openapi_content(writer, route->type != NULL ? route->type : "application/json", NULL);
    json_write_object_end(writer);
    json_write_member_object(writer, "default", true);
    openapi_member(writer, "description", "Why there is none");
    openapi_content(writer, "application/json", "error");
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

/* Rows of one path follow each other. */
static void openapi_paths(struct json_writer *writer)
{
    const char *before = "";
    json_write_member_object(writer, "paths", false);
    for (size_t i = 0; serve_route_at(i) != NULL; i++) {
        const struct serve_route *route = serve_route_at(i);
        if (strcmp(route->path, before) != 0) {
            if (before[0] != '\0') {
                json_write_object_end(writer);
            }
            json_write_member_object(writer, route->path, false);
            before = route->path;
        }
        for (unsigned method = SERVE_GET; method <= SERVE_DELETE; method *= 2) {
            if ((route->methods & method) != 0) {
                openapi_operation(route, method, writer);
            }
        }
    }
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void openapi_security(struct json_writer *writer)
{
    json_write_member_object(writer, "securitySchemes", false);
    json_write_member_object(writer, "bearer", true);
    openapi_member(writer, "type", "http");
    openapi_member(writer, "scheme", "bearer");
    json_write_object_end(writer);
    json_write_member_object(writer, "query", true);
    openapi_member(writer, "type", "apiKey");
    openapi_member(writer, "in", "query");
    openapi_member(writer, "name", "token");
    json_write_object_end(writer);
    json_write_object_end(writer);
}

enum orr_status orr_serve_openapi(FILE *stream, struct orr_error *err)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    openapi_member(&writer, "openapi", "3.0.3");
    json_write_member_object(&writer, "info", true);
    openapi_member(&writer, "title", "Orrery");
    openapi_member(&writer, "description", "orrery serve: training steps, collectives, plans and stored runs");
    openapi_member(&writer, "version", orr_version());
    json_write_object_end(&writer);
    openapi_paths(&writer);
    json_write_member_object(&writer, "components", false);
    openapi_security(&writer);
    openapi_schemas(&writer);
    json_write_object_end(&writer);
    json_write_member_array(&writer, "security", true);
    for (unsigned i = 0; i < 2; i++) {
        json_write_object(&writer, true);
        json_write_member_array(&writer, i == 0 ? "bearer" : "query", true);
        json_write_array_end(&writer);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_document_end(&writer);
    return error_of_stream(stream, "the interface", err);
}
