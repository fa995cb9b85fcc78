/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl-tests and rccl-tests print for people: comments before, between and behind the rows, the warnings of MPI and of
 * the scheduler anywhere. So a line counts only when it is known: "# Rank …" counts a rank, a program's name says which
 * collective follows, a heading says the columns, and a row is a line that begins with two numbers. Versions differ in
 * their columns (with or without root, "error" for "#wrong"): the heading decides. Rows that were pasted without their
 * heading are read when they have all thirteen columns of today's.
 */
#include <stdlib.h>
#include <string.h>

#include "calib/read_text.h"

struct tests {
    const struct calib_text *text;
    struct calib_rows *rows;
    struct calib_columns columns;
    struct calib_row common; /* of the rows to come */
    double time_unit;
    uint32_t *ranks; /* numbers seen since the devices were listed */
    uint32_t rank_count, rank_capacity;
    uint32_t group; /* of the first rank; others' ranks take part in other collectives */
    bool rows_seen; /* since the ranks were listed */
};

static const char *const today[] = {"size",  "count",  "type", "redop", "root",  "time",  "algbw",
                                    "busbw", "#wrong", "time", "algbw", "busbw", "#wrong"};
enum { TODAY = sizeof today / sizeof today[0] };

static void columns_today(struct calib_columns *columns)
{
    struct calib_word words[TODAY];
    for (size_t i = 0; i < TODAY; i++) {
        words[i] = (struct calib_word){today[i], (uint32_t)strlen(today[i])};
    }
    calib_columns_parse(words, TODAY, columns);
}

bool calib_tests_heading(struct calib_word line, struct calib_columns *columns)
{
    struct calib_word words[CALIB_WORDS_MAX];
    while (line.length > 0 && (*line.at == '#' || *line.at == ' ')) {
        line.at++;
        line.length--;
    }
    uint32_t count = calib_words_split(line, words);
    if (count == UINT32_MAX || count < 2) {
        return false;
    }
    /* A sentence may have both words, time and size; only a heading has the bandwidths too. */
    if (calib_word_find(line, "algbw") == NULL && calib_word_find(line, "busbw") == NULL) {
        return false;
    }
    calib_columns_parse(words, count, columns);
    return columns->whole;
}

/* "(B) (elements) (us) (GB/s) …" below the heading: the first unit of time in it. */
static void units_take(struct tests *tests, const struct calib_word *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct calib_heading head = calib_heading_parse(words[i]);
        if (words[i].at[0] == '(' && head.kind == CALIB_HEAD_TIME && head.unit > 0) {
            tests->time_unit = head.unit;
            return;
        }
    }
}

static int rank_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t ranks_different(struct tests *tests)
{
    uint32_t different = 0;
    if (tests->rank_count > 0) {
        qsort(tests->ranks, tests->rank_count, sizeof *tests->ranks, rank_compare);
    }
    for (uint32_t i = 0; i < tests->rank_count; i++) {
        different += i == 0 || tests->ranks[i] != tests->ranks[i - 1];
    }
    return different;
}

/* "Rank 3 Group 0 Pid …"; without a group all are of one. */
static enum orr_status rank_take(struct tests *tests, const struct calib_word *words, uint32_t count,
                                 struct orr_error *err)
{
    uint32_t rank = 0;
    uint32_t group = 0;
    if (count < 2 || !calib_word_is(words[0], "Rank") || !calib_word_count(words[1], &rank)) {
        return ORR_OK;
    }
    if (count >= 4 && calib_word_is(words[2], "Group") && !calib_word_count(words[3], &group)) {
        return ORR_OK;
    }
    if (tests->rows_seen) {
        tests->rank_count = 0;
        tests->rows_seen = false;
    }
    tests->group = tests->rank_count == 0 ? group : tests->group;
    if (group != tests->group) {
        return ORR_OK;
    }
    if (!mem_reserve(tests->text->mem, (void **)&tests->ranks, &tests->rank_capacity, (uint64_t)tests->rank_count + 1,
                     sizeof *tests->ranks)) {
        return mem_error(tests->text->mem, "measurements", err);
    }
    tests->ranks[tests->rank_count++] = rank;
    return ORR_OK;
}

/* Any line that is no row. */
static enum orr_status remark_take(struct tests *tests, struct calib_word line, struct orr_error *err)
{
    struct calib_word words[CALIB_WORDS_MAX];
    struct calib_columns columns;
    int32_t type = calib_program_type(line);
    if (type != CALIB_TYPE_UNKNOWN) {
        tests->common.type = type;
    }
    if (calib_tests_heading(line, &columns)) {
        tests->columns = columns;
        tests->time_unit = 1.0; /* us, unless the next line has another */
        tests->common.table = tests->rows->tables++;
        tests->common.ranks = ranks_different(tests);
        return ORR_OK;
    }
    if (calib_word_find(line, "Avg bus bandwidth") != NULL) { /* the end of a run: the next one names its program */
        tests->common.type = CALIB_TYPE_UNKNOWN;
        return ORR_OK;
    }
    if (line.length == 0 || line.at[0] != '#') {
        return ORR_OK;
    }
    uint32_t count = calib_words_split((struct calib_word){line.at + 1, line.length - 1}, words);
    if (count == UINT32_MAX) {
        return ORR_OK;
    }
    units_take(tests, words, count);
    return rank_take(tests, words, count, err);
}

static enum orr_status calib_read_tests_row_take(struct tests *tests, const struct calib_word *words, uint32_t count,
                                                 uint32_t line, struct orr_error *err)
{
    if (tests->columns.count == 0 && count == TODAY) {
        columns_today(&tests->columns);
        tests->common.table = tests->rows->tables++;
        tests->common.ranks = ranks_different(tests);
    }
    if (count != tests->columns.count) {
        calib_rows_leave_out(tests->rows, CALIB_OUT_SHORT, line);
        return ORR_OK;
    }
    tests->common.line = line;
    tests->rows_seen = true;
    return calib_rows_add(tests->rows, tests->text, &tests->columns, words, &tests->common, tests->time_unit, err);
}

static enum orr_status calib_read_tests_line_take(struct tests *tests, const struct calib_lines *lines,
                                                  struct orr_error *err)
{
    struct calib_word words[CALIB_WORDS_MAX];
    double number = 0;
    uint32_t count = calib_words_split(lines->line, words);
    bool is_row = count != UINT32_MAX && count >= 2 && calib_word_number(words[0], &number) &&
                  calib_word_number(words[1], &number);
    return is_row ? calib_read_tests_row_take(tests, words, count, lines->number, err)
                  : remark_take(tests, lines->line, err);
}

enum orr_status calib_read_tests(const struct calib_text *text, struct calib_rows *rows, struct orr_error *err)
{
    struct tests tests = {.text = text, .rows = rows, .common = {.type = CALIB_TYPE_UNKNOWN}, .time_unit = 1.0};
    struct calib_lines lines = {.next = text->bytes};
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && calib_lines_next(text, &lines)) {
        status = calib_read_tests_line_take(&tests, &lines, err);
    }
    mem_free(text->mem, tests.ranks, tests.rank_capacity * sizeof *tests.ranks);
    return status;
}
