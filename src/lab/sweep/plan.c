/* SPDX-License-Identifier: Apache-2.0 */
/* Values stay texts: whoever reads an option or a configuration key reads these too, and says what is wrong with them.
 */
#include "lab/sweep/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "config/override.h"
#include "io/file.h"

void sweep_plan_init(struct orr_sweep_plan *plan)
{
    *plan = (struct orr_sweep_plan){0};
    arena_init(&plan->arena, &plan->mem);
}

void sweep_plan_free(struct orr_sweep_plan *plan)
{
    for (uint32_t i = 0; i < plan->group_count; i++) {
        mem_free(&plan->mem, plan->groups[i].values, (size_t)plan->groups[i].capacity * sizeof(char *));
    }
    mem_free(&plan->mem, plan->words, (size_t)plan->word_capacity * sizeof(char *));
    mem_free(&plan->mem, plan->word_lines, (size_t)plan->line_capacity * sizeof *plan->word_lines);
    arena_free(&plan->arena);
}

static enum orr_status sweep_plan_no_memory(const struct orr_sweep_plan *plan, struct orr_error *err)
{
    return mem_error(&plan->mem, "the plan of a sweep", err);
}

static const char *sweep_plan_copy(struct orr_sweep_plan *plan, const char *text)
{
    return arena_strndup(&plan->arena, text, strlen(text));
}

bool sweep_text_is_printable(const char *text)
{
    while ((unsigned char)*text >= 0x20 && *text != 0x7f) {
        text++;
    }
    return *text == '\0';
}

enum orr_status sweep_key_add(struct orr_sweep_plan *plan, const char *name, const char *origin, uint32_t line,
                              uint32_t group, uint32_t column, struct orr_error *err)
{
    char shown[80];
    (void)io_text_printable(name, shown, sizeof shown);
    if (name[0] == '\0' || !sweep_text_is_printable(name)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is no name of a key", origin, line, shown);
    }
    for (uint32_t i = 0; i < plan->key_count; i++) {
        if (strcmp(plan->keys[i].said.name, name) == 0) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" varies already, by %s:%" PRIu32, origin, line,
                             shown, plan->keys[i].said.origin, plan->keys[i].said.line);
        }
    }
    if (plan->key_count == SWEEP_KEYS_MOST) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu32 ": more than %d keys vary", origin, line, SWEEP_KEYS_MOST);
    }
    const char *kept = sweep_plan_copy(plan, name);
    if (kept == NULL) {
        return sweep_plan_no_memory(plan, err);
    }
    plan->keys[plan->key_count++] = (struct sweep_key){.said = {kept, origin, line}, .group = group, .column = column};
    plan->group_count = group + 1 > plan->group_count ? group + 1 : plan->group_count;
    plan->groups[group].columns = column + 1 > plan->groups[group].columns ? column + 1 : plan->groups[group].columns;
    return ORR_OK;
}

enum orr_status sweep_value_add(struct orr_sweep_plan *plan, uint32_t group, const char *text,
                                const struct orr_sweep_key *said, struct orr_error *err)
{
    struct sweep_group *at = &plan->groups[group];
    uint64_t values = (uint64_t)at->rows; /* counted in values until the plan is finished */
    if (values >= (uint64_t)SWEEP_POINTS_MOST * at->columns) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu32 ": %.80s has more than %d values", said->origin, said->line,
                         said->name, SWEEP_POINTS_MOST);
    }
    if (!sweep_text_is_printable(text)) {
        char shown[80];
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": %.80s: the value \"%s\" has control characters in it",
                         said->origin, said->line, said->name, io_text_printable(text, shown, sizeof shown));
    }
    const char *kept = sweep_plan_copy(plan, text);
    if (kept == NULL || !mem_reserve(&plan->mem, (void **)&at->values, &at->capacity, values + 1, sizeof(char *))) {
        return sweep_plan_no_memory(plan, err);
    }
    at->values[at->rows++] = kept;
    return ORR_OK;
}

enum orr_status sweep_word_add(struct orr_sweep_plan *plan, const char *word, uint32_t line, struct orr_error *err)
{
    const char *kept = sweep_plan_copy(plan, word);
    if (kept == NULL ||
        !mem_reserve(&plan->mem, (void **)&plan->words, &plan->word_capacity, (uint64_t)plan->word_count + 1,
                     sizeof(char *)) ||
        !MEM_GROW(&plan->mem, plan->word_lines, plan->line_capacity, plan->word_count)) {
        return sweep_plan_no_memory(plan, err);
    }
    plan->word_lines[plan->word_count] = line;
    plan->words[plan->word_count++] = kept;
    return ORR_OK;
}

/* ---- ranges ---- */

/* Digits alone; at most 15, so that sums stay inside 64 bits. */
static const char *sweep_plan_read_number(const char *text, uint64_t *value)
{
    size_t length = scan_number(text, value);
    return length > 0 && length <= 15 ? text + length : NULL;
}

/* "A..B" or "A..B..STEP" and nothing else. */
static bool sweep_plan_read_range(const char *text, uint64_t *from, uint64_t *to, uint64_t *step)
{
    *step = 1;
    const char *at = sweep_plan_read_number(text, from);
    at = at != NULL && strncmp(at, "..", 2) == 0 ? sweep_plan_read_number(at + 2, to) : NULL;
    if (at != NULL && strncmp(at, "..", 2) == 0) {
        at = sweep_plan_read_number(at + 2, step);
    }
    return at != NULL && *at == '\0';
}

enum orr_status sweep_values_add(struct orr_sweep_plan *plan, uint32_t group, const char *text,
                                 const struct orr_sweep_key *said, struct orr_error *err)
{
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t step = 1;
    if (text[0] == '\0') {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": %.80s has an empty value", said->origin, said->line,
                         said->name);
    }
    if (!sweep_plan_read_range(text, &from, &to, &step)) {
        return sweep_value_add(plan, group, text, said, err);
    }
    if (to < from || step == 0 || (to - from) / step >= SWEEP_POINTS_MOST) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu32 ": %.80s: \"%.80s\" has no values, or more than %d",
                         said->origin, said->line, said->name, text, SWEEP_POINTS_MOST);
    }
    enum orr_status status = ORR_OK;
    for (uint64_t value = from; status == ORR_OK && value <= to; value += step) {
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRIu64, value);
        status = sweep_value_add(plan, group, number, said, err);
    }
    return status;
}

/* ---- vary ---- */

/* Bytes up to the comma that ends a value: one inside brackets does not. `*open`: brackets that are not closed. */
static size_t value_length(const char *text, size_t *open)
{
    size_t depth = 0;
    size_t at = 0;
    for (; text[at] != '\0' && (text[at] != ',' || depth > 0); at++) {
        depth += text[at] == '[' ? 1 : 0;
        depth -= text[at] == ']' && depth > 0 ? 1 : 0;
    }
    *open = depth;
    return at;
}

enum orr_status sweep_vary_read(struct orr_sweep_plan *plan, const char *text, uint32_t line, struct orr_error *err)
{
    static const char origin[] = "parameter 'vary'";
    const char *equals = strchr(text, '=');
    char shown[80];
    if (equals == NULL || equals == text) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is not KEY=VALUE,VALUE,...", origin, line,
                         io_text_printable(text, shown, sizeof shown));
    }
    char *name = arena_strndup(&plan->arena, text, (size_t)(equals - text));
    if (name == NULL) {
        return sweep_plan_no_memory(plan, err);
    }
    uint32_t group = plan->group_count;
    enum orr_status status = sweep_key_add(plan, name, origin, line, group, 0, err);
    const struct orr_sweep_key said = {name, origin, line};
    for (const char *at = equals + 1; status == ORR_OK;) {
        size_t open = 0;
        size_t length = value_length(at, &open);
        if (open > 0) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": %.80s: \"%s\" lacks a closing bracket", origin, line,
                             name, io_text_printable(at, shown, sizeof shown));
        }
        char *value = arena_strndup(&plan->arena, at, length);
        status = value == NULL ? sweep_plan_no_memory(plan, err) : sweep_values_add(plan, group, value, &said, err);
        at += length;
        if (*at == '\0') {
            break;
        }
        at++;
    }
    return status;
}

/* ---- when all is read ---- */

static const struct sweep_key *key_of(const struct orr_sweep_plan *plan, uint32_t group)
{
    for (uint32_t i = 0; i < plan->key_count; i++) {
        if (plan->keys[i].group == group) {
            return &plan->keys[i];
        }
    }
    return NULL;
}

/* All groups become one; those of several columns stay row by row. */
static enum orr_status zip_groups(struct orr_sweep_plan *plan, struct orr_error *err)
{
    struct sweep_group *groups = plan->groups;
    struct sweep_group all = {.rows = groups[0].rows};
    uint32_t first[SWEEP_KEYS_MOST] = {0};
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct sweep_key *key = key_of(plan, g);
        first[g] = all.columns;
        all.columns += groups[g].columns;
        if (groups[g].rows != all.rows) {
            return error_set(err, ORR_EINVAL,
                             "%s:%" PRIu32 ": zip: %.80s has %" PRIu32 " values and %.80s has %" PRIu32
                             "; they must be equally many",
                             key->said.origin, key->said.line, key->said.name, groups[g].rows, plan->keys[0].said.name,
                             all.rows);
        }
    }
    all.capacity = all.rows * all.columns;
    all.values = mem_alloc(&plan->mem, (size_t)all.capacity * sizeof(char *));
    if (all.values == NULL) {
        return sweep_plan_no_memory(plan, err);
    }
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (uint32_t i = 0; i < groups[g].rows * groups[g].columns; i++) {
            uint32_t row = i / groups[g].columns;
            all.values[row * all.columns + first[g] + i % groups[g].columns] = groups[g].values[i];
        }
        mem_free(&plan->mem, groups[g].values, (size_t)groups[g].capacity * sizeof(char *));
        groups[g] = (struct sweep_group){0};
    }
    for (uint32_t i = 0; i < plan->key_count; i++) {
        plan->keys[i].column += first[plan->keys[i].group];
        plan->keys[i].group = 0;
    }
    groups[0] = all;
    plan->group_count = 1;
    return ORR_OK;
}

enum orr_status sweep_plan_finish(struct orr_sweep_plan *plan, struct orr_error *err)
{
    if (plan->group_count == 0) {
        return error_set(err, ORR_EINVAL,
                         "nothing varies; say what, as in parameter 'vary' network.bandwidth=50,100,200");
    }
    for (uint32_t g = 0; g < plan->group_count; g++) {
        plan->groups[g].rows /= plan->groups[g].columns;
    }
    enum orr_status status = plan->zip ? zip_groups(plan, err) : ORR_OK;
    uint64_t points = 1;
    for (uint32_t g = 0; status == ORR_OK && g < plan->group_count; g++) {
        const struct sweep_key *key = key_of(plan, g);
        points *= plan->groups[g].rows;
        if (points == 0) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": %.80s has no values", key->said.origin, key->said.line,
                             key->said.name);
        }
        if (points > SWEEP_POINTS_MOST) {
            return error_set(err, ORR_ERANGE,
                             "%s:%" PRIu32 ": with the values of %.80s the sweep has more than %d points",
                             key->said.origin, key->said.line, key->said.name, SWEEP_POINTS_MOST);
        }
    }
    plan->points = points;
    return status;
}

/* ---- the public functions ---- */

static enum orr_status sweep_plan_read_file(struct orr_sweep_plan *plan, const char *path, struct orr_error *err)
{
    struct file_buffer file;
    const char *name = sweep_plan_copy(plan, path);
    file_buffer_init(&file, &plan->mem);
    enum orr_status status = name == NULL ? sweep_plan_no_memory(plan, err) : file_buffer_read(&file, name, err);
    if (status == ORR_OK) {
        status = sweep_file_read(plan, name, (const char *)file.bytes, file.size, err);
    }
    file_buffer_free(&file);
    return status;
}

enum orr_status orr_sweep_plan_open(const struct orr_sweep_plan_options *options, struct orr_sweep_plan **plan,
                                    struct orr_error *err)
{
    struct orr_sweep_plan *opened = malloc(sizeof *opened);
    if (opened == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory: a plan needs %zu bytes", sizeof *opened);
    }
    sweep_plan_init(opened);
    enum orr_status status = options->file == NULL ? ORR_OK : sweep_plan_read_file(opened, options->file, err);
    for (size_t i = 0; status == ORR_OK && i < options->vary_count; i++) {
        status = sweep_vary_read(opened, options->vary[i], (uint32_t)i + 1, err);
    }
    opened->zip = opened->zip || options->zip;
    if (status == ORR_OK) {
        status = sweep_plan_finish(opened, err);
    }
    if (status != ORR_OK) {
        orr_sweep_plan_close(opened);
        return status;
    }
    *plan = opened;
    return ORR_OK;
}

void orr_sweep_plan_close(struct orr_sweep_plan *plan)
{
    if (plan != NULL) {
        sweep_plan_free(plan);
        free(plan);
    }
}

const char *orr_sweep_plan_name(const struct orr_sweep_plan *plan)
{
    return plan->name;
}

bool orr_sweep_plan_is_lab(const struct orr_sweep_plan *plan)
{
    return plan->lab;
}

size_t orr_sweep_plan_words(const struct orr_sweep_plan *plan, const char *const **words)
{
    *words = plan->words;
    return plan->word_count;
}

void orr_sweep_plan_word_place(const struct orr_sweep_plan *plan, size_t word, const char **file, uint32_t *line)
{
    *file = plan->file;
    *line = plan->word_lines[word];
}

size_t orr_sweep_plan_key_count(const struct orr_sweep_plan *plan)
{
    return plan->key_count;
}

void orr_sweep_plan_key(const struct orr_sweep_plan *plan, size_t key, struct orr_sweep_key *found)
{
    *found = plan->keys[key].said;
}

uint64_t orr_sweep_plan_point_count(const struct orr_sweep_plan *plan)
{
    return plan->points;
}

const char *orr_sweep_plan_value(const struct orr_sweep_plan *plan, uint64_t point, size_t key)
{
    const struct sweep_key *at = &plan->keys[key];
    for (uint32_t g = plan->group_count; --g > at->group;) {
        point /= plan->groups[g].rows;
    }
    const struct sweep_group *group = &plan->groups[at->group];
    return group->values[point % group->rows * group->columns + at->column];
}

enum orr_status orr_config_key(const struct orr_sweep_key *text, bool wired, const char *const *options,
                               const char **file, const char **key, struct orr_error *err)
{
    return config_key_find(text->name, wired, options, text->origin, text->line, file, key, err);
}
