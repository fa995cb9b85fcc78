/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a file to points: what it is, which reader, and what its rows leave open. A test's output often lacks the two
 * things a fit needs most, which collective it was and over how many ranks; but it prints bus bandwidth beside time,
 * and their quotient is 2(N-1)/N or (N-1)/N, which tells both in most cases and, where the file does say them, whether
 * it speaks the truth.
 */
#include "calib/read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "calib/network.h"
#include "calib/read_text.h"
#include "coll/impl.h"

/* ---- forms ---- */

static const char *const form_words[] = {
#define CALIB_X(name, word, text) word,
    CALIB_FORMS(CALIB_X)
#undef CALIB_X
        NULL,
};

const char *calib_form_word(enum calib_form form)
{
    return form == CALIB_FORM_AUTO ? "auto" : form_words[form - 1];
}

enum orr_status calib_form_parse(const char *word, enum calib_form *form, struct orr_error *err)
{
    if (strcmp(word, "auto") == 0) {
        *form = CALIB_FORM_AUTO;
        return ORR_OK;
    }
    for (int i = 0; form_words[i] != NULL; i++) {
        if (strcmp(word, form_words[i]) == 0) {
            *form = (enum calib_form)(i + 1);
            return ORR_OK;
        }
    }
    const char *nearest = error_nearest(word, form_words);
    return error_set(err, ORR_EINVAL, "unknown form \"%.80s\"; %s%s%s", word, nearest != NULL ? "did you mean \"" : "",
                     nearest != NULL ? nearest : "auto, tests, bandwidth, csv, yaml and trace are known",
                     nearest != NULL ? "\"?" : "");
}

/* What the first lines look like; CALIB_FORM_AUTO: nothing known. */
static enum calib_form calib_form_guess(const struct calib_text *text)
{
    struct calib_lines lines = {.next = text->bytes};
    struct calib_columns columns;
    struct calib_word words[CALIB_WORDS_MAX];
    enum { TODAY_COLUMNS = 13 };
    enum calib_form guess = CALIB_FORM_AUTO;
    while (calib_lines_next(text, &lines)) {
        struct calib_word line = lines.line;
        double number = 0;
        if (line.length == 0) {
            continue;
        }
        if (calib_word_find(line, "copy peak bandwidth") != NULL) {
            return CALIB_FORM_BANDWIDTH;
        }
        if (calib_csv_heading(line, &columns) != '\0') {
            return CALIB_FORM_CSV;
        }
        if (calib_tests_heading(line, &columns) ||
            (calib_words_split(line, words) == TODAY_COLUMNS && calib_word_number(words[0], &number) &&
             calib_word_number(words[1], &number))) {
            return CALIB_FORM_TESTS;
        }
        /* A block of YAML or JSON is known by how it begins; other forms' beginnings do not look like it. */
        if (guess == CALIB_FORM_AUTO && line.at[0] != '#') {
            bool key = memchr(line.at, ':', line.length) != NULL && memchr(line.at, ',', line.length) == NULL;
            bool block = strchr("-[{", line.at[0]) != NULL;
            guess = key || block ? CALIB_FORM_YAML : CALIB_FORM_CSV;
        }
    }
    return guess;
}

/* ---- what the rows leave open ---- */

/* Of one table. */
struct table {
    int32_t type;   /* worked out, or CALIB_TYPE_UNKNOWN */
    uint32_t ranks; /* worked out, or 0 */
    double ratio;   /* bus bandwidth over bytes a time, of its fastest row; 0: not printed */
    double best;
    uint32_t row;   /* that row */
    bool doubted;   /* a note on its ranks was made */
    bool overruled; /* one on its collective */
};

struct reading {
    const struct calib_read_options *options;
    const struct calib_text *text;
    struct calib_rows *rows;
    struct table *tables;
    struct notes *notes;
    int32_t name_type; /* what the file's name says */
};

static void ratios_find(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->rows->count; i++) {
        const struct calib_row *row = &reading->rows->items[i];
        struct table *table = &reading->tables[row->table];
        if (row->bus > table->best) { /* the fastest has the most digits */
            table->best = row->bus;
            table->ratio = row->bus * row->time_us * 1e3 / (double)row->bytes;
            table->row = i;
        }
    }
}

/* Which collective has this quotient: a reduction above 1/2 with no root is an all-reduce (at two ranks 1), below it a
 * reduce-scatter. Without a reduction, gathers and all-to-alls have the same one. */
static int32_t type_from_ratio(const struct table *table, const struct calib_row *row)
{
    if (table->ratio <= 0) {
        return CALIB_TYPE_UNKNOWN;
    }
    if (row->reduces) {
        return row->rooted ? COLL_REDUCE : table->ratio > 0.99 ? COLL_ALL_REDUCE : COLL_REDUCE_SCATTER;
    }
    if (row->gathers && row->rooted && fabs(table->ratio - 1) < 0.01) {
        return COLL_BROADCAST;
    }
    return table->ratio > 1.02 ? COLL_ALL_REDUCE : CALIB_TYPE_UNKNOWN;
}

/* The number of ranks whose factor is the quotient, when one is near enough; the quotient has the four digits of what
 * it is made of. */
static uint32_t ranks_from_ratio(double ratio, int32_t type)
{
    double whole = 2 * coll_bus_factor(type, 2); /* what the factor comes near to with many ranks: 2 or 1 */
    if (coll_bus_factor(type, 3) <= whole / 2 || ratio >= whole || ratio <= 0) {
        return 0; /* it does not depend on them */
    }
    double ranks = whole / (whole - ratio);
    double near = floor(ranks + 0.5);
    return near >= 2 && near <= 1024 && fabs(ranks - near) < 0.02 * near ? (uint32_t)near : 0;
}

static enum orr_status row_type(struct reading *reading, const struct calib_row *row, int32_t *type,
                                struct orr_error *err)
{
    struct table *table = &reading->tables[row->table];
    const char *path = reading->text->path;
    *type = reading->options->type != CALIB_TYPE_UNKNOWN ? reading->options->type : row->type;
    if (*type != CALIB_TYPE_UNKNOWN) {
        bool agree = table->overruled || row->type == CALIB_TYPE_UNKNOWN || row->type == *type;
        table->overruled |= !agree;
        return agree ? ORR_OK
                     : notes_add(reading->notes, err, "%s:%" PRIu32 ": taken for %s, though the file says %s", path,
                                 row->line, coll_type_name(*type), coll_type_name(row->type));
    }
    if (table->type == CALIB_TYPE_UNKNOWN) {
        const struct calib_row *best = &reading->rows->items[table->row];
        table->type = type_from_ratio(table, table->ratio > 0 ? best : row);
        bool from_name = table->type == CALIB_TYPE_UNKNOWN;
        table->type = from_name ? reading->name_type : table->type;
        if (table->type == CALIB_TYPE_UNKNOWN) {
            return error_set(err, ORR_EINVAL,
                             "%s:%" PRIu32
                             ": which collective was measured is not in the file; say it (parameter 'collective')",
                             path, row->line);
        }
        enum orr_status status =
            notes_add(reading->notes, err, "%s:%" PRIu32 ": taken for measurements of %s, from %s", path, row->line,
                      coll_type_name(table->type), from_name ? "the file's name" : "the bus bandwidth");
        if (status != ORR_OK) {
            return status;
        }
    }
    *type = table->type;
    return ORR_OK;
}

static enum orr_status row_ranks(struct reading *reading, const struct calib_row *row, int32_t type, uint32_t *ranks,
                                 struct orr_error *err)
{
    struct table *table = &reading->tables[row->table];
    const char *path = reading->text->path;
    uint32_t worked_out = ranks_from_ratio(table->ratio, type);
    *ranks = reading->options->ranks > 0 ? reading->options->ranks : row->ranks;
    if (*ranks == 1) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu32 ": measured on 1 rank, which sends nothing; at least 2 are needed", path,
                         row->line);
    }
    if (*ranks == 0 && worked_out == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu32 ": on how many ranks is not in the file; say it (parameter 'ranks')", path,
                         row->line);
    }
    if (table->doubted || worked_out == 0 || worked_out == *ranks) {
        *ranks = *ranks > 0 ? *ranks : worked_out;
        return ORR_OK;
    }
    table->doubted = true;
    uint32_t said = *ranks;
    *ranks = said > 0 ? said : worked_out;
    if (said == 0) {
        return notes_add(reading->notes, err, "%s:%" PRIu32 ": %" PRIu32 " ranks, worked out from the bus bandwidth",
                         path, row->line, worked_out);
    }
    return notes_add(reading->notes, err,
                     "%s:%" PRIu32 ": %" PRIu32
                     " ranks, but the bus bandwidth of an %s printed there is that of %" PRIu32,
                     path, row->line, said, coll_type_name(type), worked_out);
}

static enum orr_status rows_resolve(struct reading *reading, struct calib_points *points, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    ratios_find(reading);
    for (uint32_t i = 0; i < reading->rows->count && status == ORR_OK; i++) {
        const struct calib_row *row = &reading->rows->items[i];
        struct calib_point point = {
            .type = CALIB_TYPE_UNKNOWN, .bytes = row->bytes, .time_us = row->time_us, .in_place = row->in_place};
        status = row_type(reading, row, &point.type, err);
        if (status == ORR_OK) {
            status = row_ranks(reading, row, point.type, &point.ranks, err);
        }
        if (status == ORR_OK) {
            status = calib_points_add(points, &point, reading->text->mem, err);
        }
    }
    return status;
}

static enum orr_status left_out_note(const struct reading *reading, struct orr_error *err)
{
    static const char *const reasons[] = {
#define CALIB_X(name, text) text,
        CALIB_OUT_REASONS(CALIB_X)
#undef CALIB_X
    };
    const struct calib_rows *rows = reading->rows;
    enum orr_status status = ORR_OK;
    for (int i = 0; i < CALIB_OUT_COUNT && status == ORR_OK; i++) {
        if (rows->left_out[i] > 0) {
            status = notes_add(reading->notes, err, "%s:%" PRIu32 ": %" PRIu32 " measurement%s %s left out",
                               reading->text->path, rows->left_out_line[i], rows->left_out[i],
                               rows->left_out[i] == 1 ? "" : "s", reasons[i]);
        }
    }
    return status;
}

/* ---- the whole ---- */

static enum orr_status rows_read(enum calib_form form, struct reading *reading, struct calib_points *points,
                                 struct orr_error *err)
{
    const struct calib_text *text = reading->text;
    struct calib_rows *rows = reading->rows;
    enum orr_status status = form == CALIB_FORM_TESTS ? calib_read_tests(text, rows, err)
                             : form == CALIB_FORM_CSV ? calib_read_csv(text, rows, err)
                                                      : calib_read_yaml(text, rows, err);
    if (status != ORR_OK) {
        return status;
    }
    size_t bytes = ((size_t)rows->tables + 1) * sizeof *reading->tables;
    reading->tables = mem_zalloc(text->mem, bytes);
    if (reading->tables == NULL) {
        return mem_error(text->mem, "measurements", err);
    }
    for (uint32_t i = 0; i < rows->tables; i++) {
        reading->tables[i].type = CALIB_TYPE_UNKNOWN;
    }
    status = rows_resolve(reading, points, err);
    if (status == ORR_OK) {
        status = left_out_note(reading, err);
    }
    mem_free(text->mem, reading->tables, bytes);
    return status;
}

static const char *calib_read_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum orr_status text_take(const struct calib_text *text, const struct calib_read_options *options,
                                 struct notes *notes, struct calib_points *points, struct calib_read_result *result,
                                 struct orr_error *err)
{
    struct calib_rows rows = {0};
    struct reading reading = {.options = options,
                              .text = text,
                              .rows = &rows,
                              .notes = notes,
                              .name_type = calib_type_within(calib_read_name_of(text->path))};
    enum calib_form form = options->form != CALIB_FORM_AUTO ? options->form : calib_form_guess(text);
    uint32_t points_before = points->count;
    uint32_t copies_before = points->copy_count;
    if (form == CALIB_FORM_AUTO) {
        return error_set(
            err, ORR_EINVAL,
            "%s: no measurements; output of nccl-tests, rccl-tests or rocm-bandwidth-test, or a table as CSV "
            "or YAML is read",
            text->path);
    }
    enum orr_status status =
        form == CALIB_FORM_BANDWIDTH ? calib_read_bandwidth(text, points, err) : rows_read(form, &reading, points, err);
    if (status == ORR_OK && points->count == points_before && points->copy_count == copies_before) {
        status =
            error_set(err, ORR_EINVAL, "%s: not one measurement to fit, read as %s", text->path, calib_form_word(form));
    }
    if (status == ORR_OK) {
        *result =
            (struct calib_read_result){form, points->count - points_before, points->copy_count - copies_before, 0};
        for (int i = 0; i < CALIB_OUT_COUNT; i++) {
            result->left_out += rows.left_out[i];
        }
    } else {
        points->count = points_before;
        points->copy_count = copies_before;
    }
    mem_free(text->mem, rows.items, rows.capacity * sizeof *rows.items);
    return status;
}

static enum orr_status trace_take(const char *path, const struct calib_read_options *options, struct mem *mem,
                                  struct notes *notes, struct calib_points *points, struct calib_read_result *result,
                                  struct orr_error *err)
{
    uint32_t before = points->count;
    uint32_t left_out = 0;
    enum orr_status status = calib_read_trace(path, options, mem, notes, points, &left_out, err);
    if (status == ORR_OK && points->count == before) {
        status =
            error_set(err, ORR_EINVAL, "%s: a device trace without a collective of known type, size and ranks", path);
    }
    if (status != ORR_OK) {
        points->count = before;
        return status;
    }
    *result = (struct calib_read_result){CALIB_FORM_TRACE, points->count - before, 0, left_out};
    return ORR_OK;
}

enum orr_status calib_read(const char *path, const struct calib_read_options *options, struct mem *mem,
                           struct notes *notes, struct calib_points *points, struct calib_read_result *result,
                           struct orr_error *err)
{
    struct calib_text text;
    bool is_trace = options->form == CALIB_FORM_TRACE;
    enum orr_status status = options->form == CALIB_FORM_AUTO ? calib_trace_guess(path, mem, &is_trace, err) : ORR_OK;
    if (status == ORR_OK && is_trace) {
        return trace_take(path, options, mem, notes, points, result, err);
    }
    status = status != ORR_OK ? status : calib_text_read(&text, path, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    status = text_take(&text, options, notes, points, result, err);
    calib_text_free(&text);
    return status;
}
