/* SPDX-License-Identifier: Apache-2.0 */
/* Every number goes through one double: the ranges keep whole values below 2^53, where a double is exact, and what
 * ASTRA-sim does to a number afterwards (cut to an integer, squeeze through single precision) is then one step here
 * per type, visible side by side. */
#include "config/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "base/units.h"
#include "sim/config.h"

/* True when a unit suffix is accepted in a text. */
static bool config_type_has_units(enum config_type type)
{
    switch (type) {
    case CONFIG_TIME:
    case CONFIG_TIME_SINGLE:
    case CONFIG_TIME_REAL:
    case CONFIG_RATE_GB:
    case CONFIG_RATE_GB_WHOLE:
    case CONFIG_RATE_GIB:
    case CONFIG_SIZE:
        return true;
    default:
        return false;
    }
}

static bool is_rate(enum config_type type)
{
    return type == CONFIG_RATE_GB || type == CONFIG_RATE_GB_WHOLE || type == CONFIG_RATE_GIB;
}

static bool is_numeric(enum config_type type)
{
    return config_type_has_units(type) || type == CONFIG_COUNT || type == CONFIG_COUNT64 || type == CONFIG_REAL ||
           type == CONFIG_REAL_SINGLE;
}

const char *config_row_accepts(const struct config_row *row, char *buffer, size_t size)
{
    static const char *const words[] = {
#define CONFIG_X(name, storage, schema, words) words,
        CONFIG_TYPES(CONFIG_X)
#undef CONFIG_X
    };
    int used = 0;
    if (row->type == CONFIG_CHOICE || row->type == CONFIG_ALGORITHMS) {
        const char *const *names = row->type == CONFIG_CHOICE ? row->choices : coll_impl_names;
        buffer[0] = '\0';
        for (; *names != NULL && (size_t)used < size; names++) {
            used += snprintf(buffer + used, size - (size_t)used, "%s%s", used == 0 ? "" : ", ", *names);
        }
        return buffer;
    }
    used = snprintf(buffer, size, "%s", words[row->type]);
    if (is_numeric(row->type)) {
        used += plain_snprintf(buffer + used, size - (size_t)used, ", %.10g to %.10g", row->min, row->max);
    }
    if (config_type_has_units(row->type)) {
        (void)snprintf(buffer + used, size - (size_t)used, ", or a text with a unit such as \"%s\"",
                       is_rate(row->type)         ? "400Gbps"
                       : row->type == CONFIG_SIZE ? "80GiB"
                                                  : "1us");
    }
    return buffer;
}

/* What the line of an error calls the value: nothing, or which entry of the list. */
static const char *entry_words(uint32_t entry, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (entry != 0) {
        (void)snprintf(buffer, size, " entry %" PRIu32, entry);
    }
    return buffer;
}

/* The error of a value that is not accepted: what was found, what is accepted, and `nearest` where there is one. */
static enum orr_status config_refuse(const struct config_reader *reader, const struct config_row *row,
                                     const struct io_value *value, uint32_t entry, const char *nearest)
{
    char where[32];
    char found[96];
    char accepted[256];
    return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\"%s is %s; accepted: %s%s%s%s", reader->name,
                     value->line, row->key, entry_words(entry, where, sizeof where),
                     io_value_describe(value, found, sizeof found), config_row_accepts(row, accepted, sizeof accepted),
                     nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                     nearest != NULL ? "\"?" : "");
}

/* Texts with a unit, in the unit that a bare number of the row has. */
static enum orr_status quantity_read(const struct config_reader *reader, const struct config_row *row,
                                     const struct io_value *value, uint32_t entry, double *number)
{
    bool rate = is_rate(row->type);
    bool size = row->type == CONFIG_SIZE;
    const char *bare = rate ? (row->type == CONFIG_RATE_GIB ? "GiB/s" : "GB/s") : size ? "B" : "ns";
    char text[96]; /* printable, since the reason may quote it */
    (void)io_text_printable(value->text, text, sizeof text);
    uint64_t base = 0;
    struct orr_error why;
    enum orr_status status = units_parse(text, rate ? UNITS_RATE : size ? UNITS_SIZE : UNITS_TIME, bare, &base, &why);
    if (status != ORR_OK) {
        /* The reason quotes the text; where it lists the units accepted, that is all there is to say. */
        char where[32];
        char accepted[256];
        bool said = strstr(why.text, "; accepted: ") != NULL;
        return error_set(reader->err, status, "%s:%" PRIu32 ": \"%s\"%s: %.300s%s%s%s", reader->name, value->line,
                         row->key, entry_words(entry, where, sizeof where), why.text,
                         said ? "" : " (accepted: ", said ? "" : config_row_accepts(row, accepted, sizeof accepted),
                         said ? "" : ")");
    }
    *number = (double)base;
    if (rate) {
        *number /= row->type == CONFIG_RATE_GIB ? 8.0 * 1073741824.0 : 8e9;
    }
    return ORR_OK;
}

static enum orr_status number_read(const struct config_reader *reader, const struct config_row *row,
                                   const struct io_value *value, uint32_t entry, double *number)
{
    struct io_value plain = *value;
    bool units = config_type_has_units(row->type);
    double found = 0;
    if (value->kind == IO_TEXT && units && !io_number_parse(value->text, &plain)) {
        enum orr_status status = quantity_read(reader, row, value, entry, &found);
        if (status != ORR_OK) {
            return status;
        }
    } else if (plain.kind == IO_INTEGER) {
        found = (double)plain.integer;
    } else if (plain.kind == IO_REAL) {
        found = plain.real;
    } else {
        return config_refuse(reader, row, value, entry, NULL);
    }
    if (!(found >= row->min && found <= row->max)) {
        return config_refuse(reader, row, value, entry, NULL);
    }
    *number = found;
    return ORR_OK;
}

/* A dropped fraction is noted: the file says something else than what is simulated. */
static enum orr_status whole_read(const struct config_reader *reader, const struct config_row *row,
                                  const struct io_value *value, uint32_t entry, uint64_t *whole)
{
    double number = 0;
    enum orr_status status = number_read(reader, row, value, entry, &number);
    if (status != ORR_OK) {
        return status;
    }
    if (row->type == CONFIG_TIME_SINGLE) {
        number = (double)(float)number;
    }
    uint64_t cut = (uint64_t)number;
    if ((double)cut != number) {
        char found[96];
        status =
            notes_add(reader->notes, reader->err,
                      "%s:%" PRIu32 ": \"%s\" is %s; the fraction is dropped, as in ASTRA-sim: %" PRIu64 " is used",
                      reader->name, value->line, row->key, io_value_describe(value, found, sizeof found), cut);
    }
    *whole = cut;
    return status;
}

static enum orr_status choice_read(const struct config_reader *reader, const struct config_row *row,
                                   const struct io_value *value, uint32_t entry, unsigned *choice)
{
    if (value->text == NULL) {
        return config_refuse(reader, row, value, entry, NULL);
    }
    for (unsigned i = 0; row->choices[i] != NULL; i++) {
        if (strcmp(row->choices[i], value->text) == 0) {
            *choice = i;
            return ORR_OK;
        }
    }
    return config_refuse(reader, row, value, entry, error_nearest(value->text, row->choices));
}

static enum orr_status switch_read(const struct config_reader *reader, const struct config_row *row,
                                   const struct io_value *value, uint32_t entry, bool *on)
{
    double number = value->kind == IO_BOOL      ? (double)value->boolean
                    : value->kind == IO_INTEGER ? (double)value->integer
                    : value->kind == IO_REAL    ? value->real
                                                : -1.0;
    if (number != 0.0 && number != 1.0) {
        return config_refuse(reader, row, value, entry, NULL);
    }
    *on = number != 0.0;
    return ORR_OK;
}

_Static_assert(sizeof(enum sim_scheduling) == sizeof(unsigned), "a choice is stored as an unsigned int");

enum orr_status config_value_read(const struct config_reader *reader, const struct config_row *row,
                                  const struct io_value *value, uint32_t entry, void *place)
{
    double number = 0;
    uint64_t whole = 0;
    enum orr_status status = ORR_OK;
    switch (row->type) {
    case CONFIG_CHOICE:
        return choice_read(reader, row, value, entry, place);
    case CONFIG_SWITCH:
        return switch_read(reader, row, value, entry, place);
    case CONFIG_COUNT:
        status = whole_read(reader, row, value, entry, &whole);
        *(uint32_t *)place = (uint32_t)whole;
        return status;
    case CONFIG_COUNT64:
    case CONFIG_TIME:
    case CONFIG_TIME_SINGLE:
    case CONFIG_RATE_GB_WHOLE:
    case CONFIG_SIZE:
        return whole_read(reader, row, value, entry, place);
    case CONFIG_REAL_SINGLE:
        status = number_read(reader, row, value, entry, &number);
        *(double *)place = (double)(float)number;
        return status;
    default:
        return number_read(reader, row, value, entry, place);
    }
}

static enum orr_status algorithm_read(const struct config_reader *reader, const struct config_row *row,
                                      const struct io_value *value, uint32_t entry, struct sim_implementation *list)
{
    if (value->kind != IO_TEXT) {
        return config_refuse(reader, row, value, entry, NULL);
    }
    if (list->count == TOPO_MAX_DIMS) {
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": \"%s\" has more than %d entries; accepted: one per dimension", reader->name,
                         value->line, row->key, TOPO_MAX_DIMS);
    }
    struct coll_impl impl;
    if (!coll_impl_parse(value->text, &impl)) {
        return config_refuse(reader, row, value, entry, error_nearest(value->text, coll_impl_names));
    }
    if (list->count > 0 && list->list[list->count - 1].one) {
        enum orr_status status =
            notes_add(reader->notes, reader->err,
                      "%s:%" PRIu32 ": \"%s\" entry %" PRIu32 " has no effect: the entry before it spans all ranks",
                      reader->name, value->line, row->key, entry);
        if (status != ORR_OK) {
            return status;
        }
    }
    list->list[list->count++] = impl;
    return ORR_OK;
}

enum orr_status config_algorithms_read(const struct config_reader *reader, const struct config_row *row,
                                       const struct io_value *value, void *place)
{
    struct sim_implementation list = {.count = 0};
    enum orr_status status = ORR_OK;
    if (value->kind != IO_LIST) {
        status = algorithm_read(reader, row, value, 0, &list);
    } else if (value->count == 0) {
        status = config_refuse(reader, row, value, 0, NULL);
    } else {
        uint32_t entry = 0;
        for (const struct io_value *item = value->first; item != NULL && status == ORR_OK; item = item->next) {
            status = algorithm_read(reader, row, item, ++entry, &list);
        }
    }
    if (status == ORR_OK) {
        memcpy(place, &list, sizeof list);
    }
    return status;
}

enum orr_status config_path_read(const struct config_reader *reader, const struct config_row *row,
                                 const struct io_value *value, void *place)
{
    const struct io_value *path = value;
    if (row->type == CONFIG_CUSTOM && value->kind == IO_LIST && value->count == 1) {
        path = value->first;
    }
    if (path->text == NULL || path->text[0] == '\0') {
        return config_refuse(reader, row, value, 0, NULL);
    }
    char *copy = arena_strndup(reader->arena, path->text, strlen(path->text));
    if (copy == NULL) {
        return mem_error(reader->arena->mem, reader->name, reader->err);
    }
    *(const char **)place = copy;
    return ORR_OK;
}
