/* SPDX-License-Identifier: Apache-2.0 */
/* {"logical-dims": ["8", "2"]}: the reference wants texts; numbers are what people write, and are taken too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/wired.h"
#include "io/json.h"
#include "io/yaml.h"

static enum orr_status config_logical_read_size(const char *name, const struct io_value *value, uint32_t *size,
                                                struct orr_error *err)
{
    struct io_value number = *value;
    char found[80];
    bool is_number = value->kind == IO_INTEGER || (value->kind == IO_TEXT && io_number_parse(value->text, &number));
    if (!is_number || number.kind != IO_INTEGER) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": a logical dimension is %s, not a whole number", name,
                         value->line, io_value_describe(value, found, sizeof found));
    }
    if (number.integer < 1 || number.integer > INT32_MAX) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu32 ": a logical dimension is %" PRId64 "; it must be at least 1",
                         name, value->line, number.integer);
    }
    *size = (uint32_t)number.integer;
    return ORR_OK;
}

static enum orr_status config_logical_read_list(const char *name, const struct io_value *list, struct topo_dims *dims,
                                                struct orr_error *err)
{
    if (list->kind != IO_LIST || list->count == 0 || list->count > TOPO_MAX_DIMS) {
        char found[80];
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": logical-dims is %s; it must be a list of 1 to %d sizes",
                         name, list->line, io_value_describe(list, found, sizeof found), TOPO_MAX_DIMS);
    }
    for (const struct io_value *item = list->first; item != NULL; item = item->next) {
        enum orr_status status = config_logical_read_size(name, item, &dims->dim[dims->count].size, err);
        if (status != ORR_OK) {
            return status;
        }
        dims->count++;
    }
    return ORR_OK;
}

/* Its one key, "logical-dims", from what goes before the file. */
static enum orr_status config_logical_read_overrides(const struct config_text *text, struct arena *arena,
                                                     struct topo_dims *dims, bool *found, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < text->override_count; i++) {
        const struct config_override *one = &text->overrides[i];
        struct io_value *value = NULL;
        if (strcmp(one->key, CONFIG_LOGICAL_KEY) != 0) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%.80s\" is no key of a logical topology; \"%s\" is",
                             one->origin, one->line, one->key, CONFIG_LOGICAL_KEY);
        }
        status = io_yaml_parse(one->origin, one->value, strlen(one->value), arena, &value, err);
        if (status == ORR_OK) {
            *dims = (struct topo_dims){0};
            *found = true;
            value->line = one->line;
            status = config_logical_read_list(one->origin, value, dims, err);
        }
    }
    return status;
}

enum orr_status config_take_logical(const struct config_text *text, struct notes *notes, struct topo_dims *dims,
                                    struct orr_error *err)
{
    const char *name = text->name;
    struct topo_dims read = {0};
    struct io_value *root = NULL;
    struct arena arena;
    bool found = false;
    arena_init(&arena, notes->arena.mem);
    enum orr_status status = io_json_parse(name, text->text, text->size, &arena, &root, err);
    for (const struct io_value *member = status == ORR_OK && root->kind == IO_MAP ? root->first : NULL;
         member != NULL && status == ORR_OK; member = member->next) {
        if (strcmp(member->key, CONFIG_LOGICAL_KEY) == 0) {
            found = true;
            status = config_logical_read_list(name, member, &read, err);
        } else {
            status = notes_add(notes, err, "%s:%" PRIu32 ": unknown key \"%s\" is ignored", name, member->key_line,
                               member->key);
        }
    }
    if (status == ORR_OK) {
        status = config_logical_read_overrides(text, &arena, &read, &found, err);
    }
    if (status == ORR_OK && !found) {
        status = error_set(err, ORR_EINVAL, "%s: \"logical-dims\" is missing, as in {\"logical-dims\": [\"8\", \"2\"]}",
                           name);
    }
    arena_free(&arena);
    if (status == ORR_OK) {
        *dims = read;
    }
    return status;
}

enum orr_status config_parse_logical(const char *name, const char *text, size_t size, struct notes *notes,
                                     struct topo_dims *dims, struct orr_error *err)
{
    const struct config_text plain = {.name = name, .text = text, .size = size};
    return config_take_logical(&plain, notes, dims, err);
}
