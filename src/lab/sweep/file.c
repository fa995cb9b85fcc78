/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep file, in YAML: name, command, options, vary, list, zip. Each part has one reader; what a key or a value
 * means is for whoever carries the points out, so that only what the file itself promises is checked here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/yaml.h"
#include "lab/sweep/plan.h"

struct reading {
    struct orr_sweep_plan *plan;
    const char *name; /* of the file */
    struct orr_error *err;
};

static enum orr_status sweep_file_no_memory(const struct reading *reading)
{
    return mem_error(&reading->plan->mem, "a sweep file", reading->err);
}

static enum orr_status sweep_file_refuse(const struct reading *reading, const struct io_value *value,
                                         const char *wanted)
{
    char found[96];
    char key[80] = "an entry";
    if (value->key != NULL) {
        (void)io_text_printable(value->key, key, sizeof key);
    }
    return error_set(reading->err, ORR_EINVAL, "%s:%" PRIu32 ": %s is %s; %s is expected", reading->name, value->line,
                     key, io_value_describe(value, found, sizeof found), wanted);
}

static bool sweep_file_is_scalar(const struct io_value *value)
{
    return value->kind != IO_LIST && value->kind != IO_MAP && value->kind != IO_NULL;
}

/* Its items are scalars, `bytes` long with what stands between them and the end. */
static char *spell_list(struct arena *arena, const struct io_value *list, size_t bytes)
{
    char *text = arena_alloc(arena, bytes);
    size_t used = 0;
    if (text == NULL) {
        return NULL;
    }
    text[used++] = '[';
    for (const struct io_value *item = list->first; item != NULL; item = item->next) {
        int length = snprintf(text + used, bytes - used, "%s%s", item->text, item->next == NULL ? "" : ", ");
        used += length > 0 ? (size_t)length : 0;
    }
    text[used++] = ']';
    text[used] = '\0';
    return text;
}

/* A scalar as written, a list as "[a, b]"; anything else is refused as not being `wanted`. */
static enum orr_status sweep_file_spell(const struct reading *reading, const struct io_value *value, const char *wanted,
                                        const char **text)
{
    size_t bytes = sizeof "[]";
    bool good = sweep_file_is_scalar(value) || value->kind == IO_LIST;
    for (const struct io_value *item = value->kind == IO_LIST ? value->first : NULL; good && item != NULL;
         item = item->next) {
        good = sweep_file_is_scalar(item);
        bytes += good ? strlen(item->text) + sizeof ", " - 1 : 0;
    }
    if (!good) {
        return sweep_file_refuse(reading, value, wanted);
    }
    *text = value->kind == IO_LIST ? spell_list(&reading->plan->arena, value, bytes) : value->text;
    return *text == NULL ? sweep_file_no_memory(reading) : ORR_OK;
}

/* ---- options ---- */

static enum orr_status add_option(const struct reading *reading, const struct io_value *option,
                                  const struct io_value *value)
{
    const char *word = NULL;
    if (value->kind == IO_BOOL && !value->boolean) {
        return ORR_OK;
    }
    if (value->kind == IO_BOOL || value->kind == IO_NULL) {
        word = arena_printf(&reading->plan->arena, "--%s", option->key);
    } else if (value->kind != IO_LIST && value->kind != IO_MAP) {
        word = arena_printf(&reading->plan->arena, "--%s=%s", option->key, value->text);
    } else {
        return sweep_file_refuse(reading, value, "a value");
    }
    if (word != NULL && !sweep_text_is_printable(word)) {
        return sweep_file_refuse(reading, value, "a text without control characters");
    }
    return word == NULL ? sweep_file_no_memory(reading)
                        : sweep_word_add(reading->plan, word, option->key_line, reading->err);
}

static enum orr_status sweep_file_read_options(const struct reading *reading, const struct io_value *options)
{
    enum orr_status status = ORR_OK;
    if (options->kind != IO_MAP) {
        return sweep_file_refuse(reading, options, "a map of options to values, as in {workload: traces/job}");
    }
    for (const struct io_value *one = options->first; status == ORR_OK && one != NULL; one = one->next) {
        if (one->kind != IO_LIST) {
            status = add_option(reading, one, one);
        }
        /* A list is the option several times. */
        for (const struct io_value *item = one->kind == IO_LIST ? one->first : NULL; status == ORR_OK && item != NULL;
             item = item->next) {
            status = add_option(reading, one, item);
        }
    }
    return status;
}

/* ---- vary ---- */

static enum orr_status read_values(const struct reading *reading, const struct io_value *one, uint32_t group)
{
    const struct orr_sweep_key said = {one->key, reading->name, one->key_line};
    enum orr_status status = ORR_OK;
    bool list = one->kind == IO_LIST;
    for (const struct io_value *value = list ? one->first : one; status == ORR_OK && value != NULL;
         value = list ? value->next : NULL) {
        const char *text = NULL;
        status = sweep_file_spell(reading, value, "a value, or a list of values", &text);
        if (status == ORR_OK) {
            status = sweep_values_add(reading->plan, group, text, &said, reading->err);
        }
    }
    return status;
}

static enum orr_status sweep_file_read_vary(const struct reading *reading, const struct io_value *vary)
{
    enum orr_status status = ORR_OK;
    if (vary->kind != IO_MAP) {
        return sweep_file_refuse(reading, vary, "a map of keys to lists of values, as in {seed: [1, 2, 3]}");
    }
    for (const struct io_value *one = vary->first; status == ORR_OK && one != NULL; one = one->next) {
        uint32_t group = reading->plan->group_count;
        status = sweep_key_add(reading->plan, one->key, reading->name, one->key_line, group, 0, reading->err);
        if (status == ORR_OK) {
            status = read_values(reading, one, group);
        }
    }
    return status;
}

/* ---- list ---- */

/* The first entry says which keys there are, and all others have the same. */
static enum orr_status read_entry(const struct reading *reading, const struct io_value *first,
                                  const struct io_value *entry, uint32_t group)
{
    enum orr_status status = ORR_OK;
    if (entry->kind != IO_MAP || entry->count == 0) {
        return sweep_file_refuse(reading, entry, "a map of keys to values, as in {seed: 1}");
    }
    for (const struct io_value *one = entry->first; one != NULL; one = one->next) {
        if (io_value_member(first, one->key) == NULL || io_value_member(entry, one->key) != one) {
            char key[80];
            return error_set(reading->err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is %s", reading->name, one->key_line,
                             io_text_printable(one->key, key, sizeof key),
                             io_value_member(first, one->key) == NULL
                                 ? "not in the first entry of the list; all have the same keys"
                                 : "there twice");
        }
    }
    for (const struct io_value *key = first->first; status == ORR_OK && key != NULL; key = key->next) {
        const struct io_value *value = io_value_member(entry, key->key);
        const char *text = NULL;
        if (value == NULL) {
            char shown[80];
            return error_set(reading->err, ORR_EINVAL, "%s:%" PRIu32 ": the entry lacks \"%s\", which the first has",
                             reading->name, entry->line, io_text_printable(key->key, shown, sizeof shown));
        }
        const struct orr_sweep_key said = {key->key, reading->name, value->key_line};
        status = sweep_file_spell(reading, value, "one value", &text);
        if (status == ORR_OK) {
            status = sweep_value_add(reading->plan, group, text, &said, reading->err);
        }
    }
    return status;
}

static enum orr_status sweep_file_read_list(const struct reading *reading, const struct io_value *list)
{
    if (list->kind != IO_LIST || list->count == 0) {
        return sweep_file_refuse(reading, list, "a list of points, as in [{seed: 1}, {seed: 2}]");
    }
    const struct io_value *first = list->first;
    uint32_t group = reading->plan->group_count;
    uint32_t column = 0;
    enum orr_status status = ORR_OK;
    for (const struct io_value *key = first->kind == IO_MAP ? first->first : NULL; status == ORR_OK && key != NULL;
         key = key->next) {
        status = sweep_key_add(reading->plan, key->key, reading->name, key->key_line, group, column++, reading->err);
    }
    for (const struct io_value *entry = first; status == ORR_OK && entry != NULL; entry = entry->next) {
        status = read_entry(reading, first, entry, group);
    }
    return status;
}

/* ---- the rest ---- */

static enum orr_status sweep_file_read_name(const struct reading *reading, const struct io_value *value)
{
    if (value->text == NULL || value->text[0] == '\0' || !sweep_text_is_printable(value->text)) {
        return sweep_file_refuse(reading, value, "a name");
    }
    reading->plan->name = arena_strndup(&reading->plan->arena, value->text, strlen(value->text));
    return reading->plan->name == NULL ? sweep_file_no_memory(reading) : ORR_OK;
}

static enum orr_status read_command(const struct reading *reading, const struct io_value *value)
{
    bool lab = value->kind == IO_TEXT && strcmp(value->text, "lab run") == 0;
    if (!lab && (value->kind != IO_TEXT || strcmp(value->text, "run") != 0)) {
        return sweep_file_refuse(reading, value, "\"run\" or \"lab run\"");
    }
    reading->plan->lab = lab;
    return ORR_OK;
}

static enum orr_status read_zip(const struct reading *reading, const struct io_value *value)
{
    if (value->kind != IO_BOOL) {
        return sweep_file_refuse(reading, value, "true or false");
    }
    reading->plan->zip = value->boolean;
    return ORR_OK;
}

static const struct {
    const char *key;
    enum orr_status (*read)(const struct reading *reading, const struct io_value *value);
} parts[] = {{"name", sweep_file_read_name}, {"command", read_command},      {"options", sweep_file_read_options},
             {"vary", sweep_file_read_vary}, {"list", sweep_file_read_list}, {"zip", read_zip}};
enum { PARTS = sizeof parts / sizeof parts[0] };

static enum orr_status refuse_part(const struct reading *reading, const struct io_value *one)
{
    const char *known[PARTS + 1] = {NULL};
    char key[80];
    for (size_t i = 0; i < PARTS; i++) {
        known[i] = parts[i].key;
    }
    struct error_proposal near = error_propose(io_text_printable(one->key, key, sizeof key), known);
    return error_set(reading->err, ORR_EINVAL,
                     "%s:%" PRIu32 ": \"%s\" is no part of a sweep file; accepted: name, command, options, vary, list, "
                     "zip%s",
                     reading->name, one->key_line, key, near.text);
}

static enum orr_status read_part(const struct reading *reading, const struct io_value *root, const struct io_value *one)
{
    if (io_value_member(root, one->key) != one) {
        return error_set(reading->err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is there twice", reading->name,
                         one->key_line, one->key);
    }
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].key, one->key) == 0) {
            return parts[i].read(reading, one);
        }
    }
    return refuse_part(reading, one);
}

enum orr_status sweep_file_read(struct orr_sweep_plan *plan, const char *name, const char *text, size_t size,
                                struct orr_error *err)
{
    const struct reading reading = {.plan = plan, .name = name, .err = err};
    struct io_value *root = NULL;
    struct arena scratch;
    plan->file = name;
    arena_init(&scratch, &plan->mem);
    enum orr_status status = io_yaml_parse(name, text, size, &scratch, &root, err);
    if (status == ORR_OK && root->kind != IO_MAP) {
        status = sweep_file_refuse(&reading, root, "a map with the parts of a sweep");
    }
    for (const struct io_value *one = status == ORR_OK ? root->first : NULL; status == ORR_OK && one != NULL;
         one = one->next) {
        status = read_part(&reading, root, one);
    }
    arena_free(&scratch);
    return status;
}
