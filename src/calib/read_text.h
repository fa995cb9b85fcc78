/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers of calib/read.h share: a file in memory cut into lines and words, headings and quantities as
 * people write them, and the rows they all come to. Not for others.
 */
#ifndef ORR_CALIB_READ_TEXT_H
#define ORR_CALIB_READ_TEXT_H

#include "base/notes.h"
#include "calib/read.h"

/* A file, unpacked, terminated. */
struct calib_text {
    const char *path;
    char *bytes;
    size_t size, capacity;
    struct mem *mem;
};

ORR_MUST_CHECK enum orr_status calib_text_read(struct calib_text *text, const char *path, struct mem *mem,
                                               struct orr_error *err);
void calib_text_free(struct calib_text *text);

/* A piece of the file; not terminated. */
struct calib_word {
    const char *at;
    uint32_t length;
};

/* The lines one by one: start with {.next = text->bytes}. Without the line's end, and without the label that mpirun
 * --tag-output ("[1,0]<stdout>:") or srun --label ("0: ") puts before each. */
struct calib_lines {
    const char *next;
    struct calib_word line;
    uint32_t number; /* from 1 */
};
bool calib_lines_next(const struct calib_text *text, struct calib_lines *lines);

enum { CALIB_WORDS_MAX = 512 };
/* The words of a line between white space; UINT32_MAX when there are more than CALIB_WORDS_MAX. */
uint32_t calib_words_split(struct calib_word line, struct calib_word words[CALIB_WORDS_MAX]);
/* The fields between separators, trimmed, without the quotes around them. */
uint32_t calib_fields_split(struct calib_word line, char separator, struct calib_word fields[CALIB_WORDS_MAX]);

bool calib_word_is(struct calib_word word, const char *text); /* in any case of letters */
/* Where `text` stands in the line, in any case of letters, or NULL. */
const char *calib_word_find(struct calib_word line, const char *text);
/* A whole number below 2^32 and nothing else. */
bool calib_word_count(struct calib_word word, uint32_t *count);
/* A finite number and nothing else. */
bool calib_word_number(struct calib_word word, double *number);
enum { CALIB_WORD_TEXT = 64 };
/* Terminated, printable, cut where it is long: for messages. */
const char *calib_word_text(struct calib_word word, char text[CALIB_WORD_TEXT]);

/* The collective whose test program (all_reduce_perf …) is named in the line: CALIB_TYPE_UNKNOWN when none is,
 * CALIB_TYPE_OTHER when it is no collective. */
enum { CALIB_TYPE_OTHER = -2 };
int32_t calib_program_type(struct calib_word line);
/* A collective anywhere in a text, such as a file's name: "…allreduce…"; CALIB_TYPE_UNKNOWN when none or several. */
int32_t calib_type_within(const char *text);
/* A collective and nothing else; CALIB_TYPE_UNKNOWN. */
int32_t calib_type_of(struct calib_word word);

/* ---- headings and quantities ---- */

enum calib_heading_kind {
    CALIB_HEAD_OTHER,
    CALIB_HEAD_SIZE,
    CALIB_HEAD_TIME,
    CALIB_HEAD_BUS, /* bandwidth */
    CALIB_HEAD_TYPE,
    CALIB_HEAD_RANKS,
    CALIB_HEAD_REDUCTION,
    CALIB_HEAD_ROOT,
    CALIB_HEAD_WRONG,
};

struct calib_heading {
    enum calib_heading_kind kind;
    double unit; /* bytes, us or GB/s for 1; 0: the heading names none */
    bool in_place;
};

struct calib_heading calib_heading_parse(struct calib_word word);

/* What columns a table has. */
struct calib_columns {
    struct calib_heading heads[CALIB_WORDS_MAX];
    uint32_t count;
    bool whole; /* one column of sizes, and one or two of times */
};
void calib_columns_parse(const struct calib_word *words, uint32_t count, struct calib_columns *columns);

/* ---- rows ---- */

struct calib_row {
    uint64_t bytes;
    double time_us;
    double bus; /* GB/s; 0 unknown */
    int32_t type;
    uint32_t ranks; /* 0 unknown */
    uint32_t line;
    uint32_t table; /* rows of one table share what is not known */
    bool in_place;
    bool reduces, gathers; /* it is known to reduce; not to */
    bool rooted;           /* it is known to have a root */
};

#define CALIB_OUT_REASONS(X)                                                                                           \
    X(EMPTY, "of size or time 0")                                                                                      \
    X(WRONG, "with wrong results")                                                                                     \
    X(SHORT, "with other columns than the heading")                                                                    \
    X(OTHER, "of tests that are no collective")

enum calib_out {
#define CALIB_X(name, text) CALIB_OUT_##name,
    CALIB_OUT_REASONS(CALIB_X)
#undef CALIB_X
        CALIB_OUT_COUNT
};

struct calib_rows {
    struct calib_row *items;
    uint32_t count, capacity;
    uint32_t tables;
    uint32_t left_out[CALIB_OUT_COUNT];
    uint32_t left_out_line[CALIB_OUT_COUNT]; /* the first */
};

void calib_rows_leave_out(struct calib_rows *rows, enum calib_out reason, uint32_t line);

/* Adds the measurements of one line of a table: `fields` are as many as the columns. `common` has what holds for all of
 * the line. A time without a unit anywhere has `time_unit` (us for 1), or is an error where that is 0. */
ORR_MUST_CHECK enum orr_status calib_rows_add(struct calib_rows *rows, const struct calib_text *text,
                                              const struct calib_columns *columns, const struct calib_word *fields,
                                              const struct calib_row *common, double time_unit, struct orr_error *err);

/* ---- the readers ---- */

ORR_MUST_CHECK enum orr_status calib_read_tests(const struct calib_text *text, struct calib_rows *rows,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status calib_read_csv(const struct calib_text *text, struct calib_rows *rows,
                                              struct orr_error *err);
ORR_MUST_CHECK enum orr_status calib_read_yaml(const struct calib_text *text, struct calib_rows *rows,
                                               struct orr_error *err);
ORR_MUST_CHECK enum orr_status calib_read_bandwidth(const struct calib_text *text, struct calib_points *points,
                                                    struct orr_error *err);

/* Whether the file's first bytes are those of a device trace: these may be too large to be held whole. */
ORR_MUST_CHECK enum orr_status calib_trace_guess(const char *path, struct mem *mem, bool *is_trace,
                                                 struct orr_error *err);
ORR_MUST_CHECK enum orr_status calib_read_trace(const char *path, const struct calib_read_options *options,
                                                struct mem *mem, struct notes *notes, struct calib_points *points,
                                                uint32_t *left_out, struct orr_error *err);

/* The separator of a line that is the heading of a table of fields, with its columns; '\0' when it is none. */
char calib_csv_heading(struct calib_word line, struct calib_columns *columns);
/* Whether white-space separated words are the heading of a tests' table. */
bool calib_tests_heading(struct calib_word line, struct calib_columns *columns);

#endif
