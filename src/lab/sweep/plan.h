/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What varies in a sweep (orrery.h, struct orr_sweep_plan): keys with their values, in groups. The keys of one group
 * change together, row by row; every row of a group meets every row of all others. A key of its own is a group of one,
 * `zip` makes one group of all keys, a list of points is a group too.
 *
 * Everything lives in the plan's arena and never changes once read: threads share it. Knows nothing of what keys mean.
 */
#ifndef ORR_LAB_SWEEP_PLAN_H
#define ORR_LAB_SWEEP_PLAN_H

#include "base/arena.h"
#include "io/value.h"
#include "orrery.h"

enum { SWEEP_KEYS_MOST = 32, SWEEP_POINTS_MOST = 100000 };

struct sweep_key {
    struct orr_sweep_key said;
    uint32_t group, column;
};

struct sweep_group {
    uint32_t columns;
    uint32_t rows;
    uint32_t capacity;
    const char **values; /* row by row */
};

struct orr_sweep_plan {
    struct mem mem;
    struct arena arena;
    const char *name;
    const char *file; /* that was read, or NULL */
    bool lab, zip;
    const char **words;
    uint32_t *word_lines;
    uint32_t word_count, word_capacity, line_capacity;
    struct sweep_key keys[SWEEP_KEYS_MOST];
    uint32_t key_count;
    struct sweep_group groups[SWEEP_KEYS_MOST];
    uint32_t group_count;
    uint64_t points;
};

/* ORR_EINVAL when the plan has the key already or has too many. `name` is copied. */
ORR_MUST_CHECK enum orr_status sweep_key_add(struct orr_sweep_plan *plan, const char *name, const char *origin,
                                             uint32_t line, uint32_t group, uint32_t column, struct orr_error *err);
/* The next value of a group, row by row; `text` is copied, and `said` is its key, for messages. */
ORR_MUST_CHECK enum orr_status sweep_value_add(struct orr_sweep_plan *plan, uint32_t group, const char *text,
                                               const struct orr_sweep_key *said, struct orr_error *err);
/* The same for all numbers of "1..8" or "0..100..25", or the text as it is where it is no such range. */
ORR_MUST_CHECK enum orr_status sweep_values_add(struct orr_sweep_plan *plan, uint32_t group, const char *text,
                                                const struct orr_sweep_key *said, struct orr_error *err);
ORR_MUST_CHECK enum orr_status sweep_word_add(struct orr_sweep_plan *plan, const char *word, uint32_t line,
                                              struct orr_error *err);
/* Whether a text can be part of messages, of tables and of the store: no control characters. */
bool sweep_text_is_printable(const char *text);

/* "key=a,b,[c,d],1..8"; `line` is the number of the text among its like. */
ORR_MUST_CHECK enum orr_status sweep_vary_read(struct orr_sweep_plan *plan, const char *text, uint32_t line,
                                               struct orr_error *err);
/* A sweep file's text (sweep/file.c). `name` must outlive the plan. */
ORR_MUST_CHECK enum orr_status sweep_file_read(struct orr_sweep_plan *plan, const char *name, const char *text,
                                               size_t size, struct orr_error *err);
/* When all is read: zips, counts the points, and refuses what has none or too many. */
ORR_MUST_CHECK enum orr_status sweep_plan_finish(struct orr_sweep_plan *plan, struct orr_error *err);

void sweep_plan_init(struct orr_sweep_plan *plan);
void sweep_plan_free(struct orr_sweep_plan *plan);

#endif
