/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults are texts that go through the same reading as a file's values: a default that the reference page shows can
 * neither be out of range nor differ from the one used. */
#include "config/table.h"

#include <inttypes.h>
#include <string.h>

/* Beyond this many the file is probably of another kind, and one line says so better than a hundred. */
enum { UNKNOWN_KEYS_NAMED = 8 };

static int row_find(const struct config_format *format, const char *key)
{
    for (uint32_t i = 0; i < format->row_count; i++) {
        if (strcmp(format->rows[i].key, key) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static enum orr_status note_unknown_key(const struct config_reader *reader, const struct config_format *format,
                                        const struct io_value *value, uint32_t *unknown)
{
    const char *known[CONFIG_MAX_ROWS + 1] = {NULL};
    for (uint32_t i = 0; i < format->row_count; i++) {
        known[i] = format->rows[i].key;
    }
    (*unknown)++;
    if (*unknown > UNKNOWN_KEYS_NAMED) {
        return *unknown > UNKNOWN_KEYS_NAMED + 1
                   ? ORR_OK
                   : notes_add(reader->notes, reader->err,
                               "%s:%" PRIu32 ": more unknown keys follow; is this a %s file?", reader->name,
                               value->key_line, format->id);
    }
    char key[80];
    (void)io_text_printable(value->key, key, sizeof key);
    return notes_add(reader->notes, reader->err, "%s:%" PRIu32 ": unknown key \"%s\"%s (ignored)", reader->name,
                     value->key_line, key, error_propose(value->key, known).text);
}

static enum orr_status config_table_read_row(const struct config_reader *reader, const struct config_row *row,
                                             const struct io_value *value, void *target)
{
    void *place = (char *)target + row->offset;
    switch (row->type) {
    case CONFIG_ALGORITHMS:
        return config_algorithms_read(reader, row, value, place);
    case CONFIG_CUSTOM:
    case CONFIG_PATH:
        return config_path_read(reader, row, value, place);
    case CONFIG_IGNORED:
        return ORR_OK;
    default:
        return config_value_read(reader, row, value, 0, place);
    }
}

/* A list of values, or one value where a list of one is meant. */
static enum orr_status config_table_read_items(const struct config_reader *reader, const struct config_format *format,
                                               const struct config_row *row, const struct io_value *value, void *target,
                                               uint32_t *count)
{
    char *place = (char *)target + row->offset;
    if (value->kind != IO_LIST) {
        *count = 1;
        return config_value_read(reader, row, value, 0, place);
    }
    if (value->count == 0 || value->count > format->max_items) {
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": \"%s\" has %" PRIu32 " entries; accepted: 1 to %" PRIu32, reader->name,
                         value->key_line, row->key, value->count, format->max_items);
    }
    uint32_t entry = 0;
    for (const struct io_value *item = value->first; item != NULL; item = item->next) {
        enum orr_status status = config_value_read(reader, row, item, entry + 1, place + entry * format->item_bytes);
        if (status != ORR_OK) {
            return status;
        }
        entry++;
    }
    *count = entry;
    return ORR_OK;
}

static enum orr_status read_default(const struct config_reader *reader, const struct config_row *row, void *target)
{
    if ((row->flags & CONFIG_REQUIRED) != 0) {
        return error_set(reader->err, ORR_EINVAL, "%s:1: the key \"%s\" is missing: %s", reader->name, row->key,
                         row->help);
    }
    if (row->fallback == NULL || row->type == CONFIG_IGNORED) {
        return ORR_OK;
    }
    struct io_value value = {.kind = IO_TEXT, .line = 1, .key_line = 1, .key = row->key, .text = row->fallback};
    (void)io_number_parse(row->fallback, &value);
    enum orr_status status = config_table_read_row(reader, row, &value, target);
    if (status == ORR_OK && (row->flags & CONFIG_NOTE_DEFAULT) != 0) {
        status =
            notes_add(reader->notes, reader->err, "%s: no \"%s\"; %s is used", reader->name, row->key, row->fallback);
    }
    return status;
}

enum orr_status config_key_read(const struct config_reader *reader, const struct config_format *format, uint32_t index,
                                const struct io_value *value, void *target, struct config_seen *seen)
{
    const struct config_row *row = &format->rows[index];
    if (seen->line[index] != 0) {
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": the key \"%s\" is there twice, first on line %" PRIu32, reader->name,
                         value->key_line, row->key, seen->line[index]);
    }
    seen->line[index] = value->key_line;
    if (format->item_bytes != 0) {
        return config_table_read_items(reader, format, row, value, target, &seen->count[index]);
    }
    return config_table_read_row(reader, row, value, target);
}

enum orr_status config_table_read(const struct config_reader *reader, const struct config_format *format,
                                  const struct io_value *root, void *target, struct config_seen *seen)
{
    *seen = (struct config_seen){0};
    if (root->kind != IO_MAP) {
        char found[96];
        return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": found %s; a map of keys to values is expected",
                         reader->name, root->line, io_value_describe(root, found, sizeof found));
    }
    bool replaced[CONFIG_MAX_ROWS];
    enum orr_status status = config_overrides_rows(reader, format, replaced);
    uint32_t unknown = 0;
    for (const struct io_value *value = root->first; value != NULL && status == ORR_OK; value = value->next) {
        int index = row_find(format, value->key);
        if (index < 0) {
            status = note_unknown_key(reader, format, value, &unknown);
        } else if (!replaced[index]) {
            status = config_key_read(reader, format, (uint32_t)index, value, target, seen);
        }
    }
    if (status == ORR_OK) {
        status = config_overrides_read(reader, format, target, seen);
    }
    for (uint32_t i = 0; i < format->row_count && status == ORR_OK; i++) {
        if (seen->line[i] == 0) {
            status = read_default(reader, &format->rows[i], target);
        }
    }
    return status;
}
