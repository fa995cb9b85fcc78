/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overrides are read behind the file, with the same rows and the same messages, so that a value is accepted here where
 * it would be accepted there. Values of single entries come last, since they need the list they belong to; before them
 * the single values that stand for all dimensions, since they need to know how many there are.
 */
#include <inttypes.h>
#include <string.h>

#include "config/table.h"
#include "config/wired.h"
#include "io/yaml.h"

enum { ENTRY_NONE = -1 };

/* Splits "key[13]" into the length of "key" and 13. False when the brackets hold no number of a dimension. */
static bool split_key(const char *key, size_t *length, int *entry)
{
    const char *bracket = strchr(key, '[');
    *entry = ENTRY_NONE;
    *length = bracket == NULL ? strlen(key) : (size_t)(bracket - key);
    if (bracket == NULL) {
        return true;
    }
    size_t digits = strspn(bracket + 1, "0123456789");
    bool number = digits == 1 || digits == 2;
    *entry = !number ? ENTRY_NONE : digits == 1 ? bracket[1] - '0' : (bracket[1] - '0') * 10 + bracket[2] - '0';
    return number && strcmp(bracket + 1 + digits, "]") == 0;
}

static int config_override_row_of(const struct config_format *format, const char *key, size_t length)
{
    for (uint32_t i = 0; i < format->row_count; i++) {
        if (strlen(format->rows[i].key) == length && memcmp(format->rows[i].key, key, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static enum orr_status config_override_refuse_key(const struct config_format *format, const struct config_override *one,
                                                  struct orr_error *err)
{
    const char *known[CONFIG_MAX_ROWS + 1] = {NULL};
    for (uint32_t i = 0; i < format->row_count; i++) {
        known[i] = format->rows[i].key;
    }
    char key[80];
    struct error_proposal near = error_propose(io_text_printable(one->key, key, sizeof key), known);
    return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is no key of a %s file%s", one->origin, one->line, key,
                     format->id, near.text);
}

enum orr_status config_overrides_rows(const struct config_reader *reader, const struct config_format *format,
                                      bool replaced[CONFIG_MAX_ROWS])
{
    memset(replaced, 0, CONFIG_MAX_ROWS * sizeof replaced[0]);
    for (uint32_t i = 0; i < reader->override_count; i++) {
        size_t length = 0;
        int entry = 0;
        bool spelled = split_key(reader->overrides[i].key, &length, &entry);
        int row = spelled ? config_override_row_of(format, reader->overrides[i].key, length) : -1;
        if (row < 0 || (entry != ENTRY_NONE && format->item_bytes == 0)) {
            return config_override_refuse_key(format, &reader->overrides[i], reader->err);
        }
        replaced[row] = replaced[row] || entry == ENTRY_NONE;
    }
    return ORR_OK;
}

/* The value as the file would have it, on the line where it was said. */
static enum orr_status parse_value(const struct config_override *one, struct arena *scratch, struct io_value **value,
                                   struct orr_error *err)
{
    size_t blanks = strspn(one->value, " \t");
    if (one->value[blanks] == '\0' || one->value[blanks] == '#') {
        (void)error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%.80s\" has no value", one->origin, one->line, one->key);
        return ORR_EINVAL;
    }
    enum orr_status status = io_yaml_parse(one->origin, one->value, strlen(one->value), scratch, value, err);
    if (status != ORR_OK) {
        return status;
    }
    (*value)->key = one->key;
    (*value)->line = (*value)->key_line = one->line;
    bool list = (*value)->kind == IO_LIST;
    for (struct io_value *item = list ? (*value)->first : NULL; item != NULL; item = item->next) {
        item->line = one->line;
    }
    return ORR_OK;
}

static uint32_t most_items(const struct config_format *format, const struct config_seen *seen)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < format->row_count; i++) {
        most = seen->count[i] > most ? seen->count[i] : most;
    }
    return most;
}

/* One value for all dimensions, or for one of them. */
static enum orr_status config_override_read_spread(const struct config_reader *reader,
                                                   const struct config_format *format, uint32_t row,
                                                   const struct io_value *value, int entry, void *target,
                                                   struct config_seen *seen)
{
    uint32_t first = entry == ENTRY_NONE ? 0 : (uint32_t)entry;
    uint32_t behind = entry == ENTRY_NONE ? most_items(format, seen) : first + 1;
    if (entry != ENTRY_NONE && first >= seen->count[row]) {
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": \"%s\": the file has %" PRIu32 " %s, and they count from 0", reader->name,
                         value->line, value->key, seen->count[row], seen->count[row] == 1 ? "entry" : "entries");
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = first; status == ORR_OK && i < behind; i++) {
        char *place = (char *)target + format->rows[row].offset + i * format->item_bytes;
        status = config_value_read(reader, &format->rows[row], value, entry == ENTRY_NONE ? 0 : i + 1, place);
    }
    if (status == ORR_OK && entry == ENTRY_NONE) {
        seen->line[row] = value->key_line;
        seen->count[row] = behind;
    }
    return status;
}

/* Whole values first, then those for all dimensions, then single entries. */
enum pass { PASS_WHOLE, PASS_SPREAD, PASS_ENTRY, PASS_COUNT };

static enum orr_status config_override_read_one(const struct config_reader *reader, const struct config_format *format,
                                                enum pass pass, const struct config_override *one,
                                                struct arena *scratch, void *target, struct config_seen *seen)
{
    struct config_reader there = *reader;
    struct io_value *value = NULL;
    size_t length = 0;
    int entry = ENTRY_NONE;
    (void)split_key(one->key, &length, &entry);
    uint32_t row = (uint32_t)config_override_row_of(format, one->key, length);
    enum orr_status status = parse_value(one, scratch, &value, reader->err);
    if (status != ORR_OK) {
        return status;
    }
    bool spread = format->item_bytes != 0 && value->kind != IO_LIST;
    enum pass own = entry != ENTRY_NONE ? PASS_ENTRY : spread ? PASS_SPREAD : PASS_WHOLE;
    there.name = one->origin;
    if (own != pass) {
        return ORR_OK;
    }
    return own == PASS_WHOLE ? config_key_read(&there, format, row, value, target, seen)
                             : config_override_read_spread(&there, format, row, value, entry, target, seen);
}

enum orr_status config_overrides_read(const struct config_reader *reader, const struct config_format *format,
                                      void *target, struct config_seen *seen)
{
    enum orr_status status = ORR_OK;
    struct arena scratch;
    arena_init(&scratch, reader->notes->arena.mem);
    for (unsigned pass = 0; pass < PASS_COUNT; pass++) {
        for (uint32_t i = 0; status == ORR_OK && i < reader->override_count; i++) {
            status = config_override_read_one(reader, format, (enum pass)pass, &reader->overrides[i], &scratch, target,
                                              seen);
        }
    }
    arena_free(&scratch);
    return status;
}

/* ---- whose key it is ---- */

struct key_source {
    const char *file;
    const struct config_format *format; /* NULL: the packet configuration's, or the logical topology's only key */
};

static const char *const logical_keys[] = {CONFIG_LOGICAL_KEY, NULL};

static const char *key_at(const struct key_source *source, uint32_t index)
{
    if (source->format != NULL) {
        return index < source->format->row_count ? source->format->rows[index].key : NULL;
    }
    return strcmp(source->file, "logical") == 0 ? logical_keys[index == 0 ? 0 : 1] : config_packet_key(index);
}

static bool has_key(const struct key_source *source, const char *key, size_t length)
{
    for (uint32_t i = 0; key_at(source, i) != NULL; i++) {
        if (strlen(key_at(source, i)) == length && memcmp(key_at(source, i), key, length) == 0) {
            return true;
        }
    }
    return false;
}

enum { NAMES_MOST = 256 };

static enum orr_status refuse_name(const char *text, const char *part, const struct key_source *sources, size_t count,
                                   const char *const *options, const char *where, struct orr_error *err)
{
    const char *known[NAMES_MOST + 1];
    size_t used = 0;
    for (size_t i = 0; options != NULL && options[i] != NULL && used < NAMES_MOST; i++) {
        known[used++] = options[i];
    }
    for (size_t s = 0; s < count; s++) {
        for (uint32_t i = 0; key_at(&sources[s], i) != NULL && used < NAMES_MOST; i++) {
            known[used++] = key_at(&sources[s], i);
        }
    }
    known[used] = NULL;
    char name[80];
    char kind[64];
    struct error_proposal near = error_propose(part, known);
    (void)snprintf(kind, sizeof kind, "%sno key of a %s file", options != NULL ? "no option and " : "",
                   count == 1 ? sources[0].file : "configuration");
    return error_set(err, ORR_EINVAL, "%s: \"%s\" is %s%s", where,
                     io_text_printable(count == 1 ? part : text, name, sizeof name), kind, near.text);
}

enum orr_status config_key_find(const char *text, bool wired, const char *const *options, const char *origin,
                                uint32_t line, const char **file, const char **key, struct orr_error *err)
{
    const struct key_source all[] = {{"system", &config_format_system},
                                     {"network", wired ? NULL : &config_format_network},
                                     {"memory", &config_format_memory},
                                     {"logical", NULL}};
    const size_t count = wired ? 4 : 3;
    const char *part = text;
    const struct key_source *sources = all;
    size_t source_count = count;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(all[i].file);
        if (strncmp(text, all[i].file, length) == 0 && text[length] == '.') {
            part = text + length + 1;
            sources = &all[i];
            source_count = 1;
        }
    }
    size_t length = 0;
    int entry = ENTRY_NONE;
    if (split_key(part, &length, &entry)) {
        for (size_t i = 0; i < source_count; i++) {
            if (has_key(&sources[i], part, length)) {
                *file = sources[i].file;
                *key = part;
                return ORR_OK;
            }
        }
    }
    char where[160];
    (void)snprintf(where, sizeof where, "%.140s:%" PRIu32, origin, line);
    return refuse_name(text, part, sources, source_count, source_count == 1 ? NULL : options, where, err);
}
