/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run tells row by row (ranks, collectives, dimensions, links, intervals, waits): the structs of orrery/run.h,
 * filled from a result, and the columns by which JSON and CSV write them. What a program asks of the library and what
 * it reads in a file come from here, once. Texts are borrowed from the result or constant.
 *
 * A row that is not there is all zero, and false is returned.
 */
#ifndef ORR_REPORT_ROWS_H
#define ORR_REPORT_ROWS_H

#include <stdio.h>

#include "io/json_write.h"
#include "sim/result.h"

bool report_rank_row(const struct sim_result *result, uint32_t rank, struct orr_rank_result *row);
bool report_collective_row(const struct sim_result *result, uint32_t index, struct orr_collective_result *row);
bool report_dimension_row(const struct sim_result *result, uint32_t index, struct orr_dimension_result *row);
bool report_link_row(const struct sim_result *result, uint32_t index, struct orr_link_result *row);
bool report_interval_row(const struct sim_result *result, uint32_t index, struct orr_interval_result *row);
bool report_wait_row(const struct sim_result *result, uint32_t index, struct orr_wait *row);

/* "compute", "send", "all-reduce": what a node is. */
const char *report_node_word(const struct trace_node *node);

enum report_column_kind {
    REPORT_COLUMN_U32,
    REPORT_COLUMN_U64,
    REPORT_COLUMN_I64,
    REPORT_COLUMN_FLAG,  /* CSV: 0 or 1 */
    REPORT_COLUMN_TEXT,  /* JSON: left out where it is NULL */
    REPORT_COLUMN_REAL,  /* with `decimals` */
    REPORT_COLUMN_SHORT, /* the same; CSV: as short as it is exact */
    REPORT_COLUMN_RATE,  /* the same; 0: there is none, which is null or empty */
    REPORT_COLUMN_RANK,  /* U32; UINT32_MAX: none, which is null */
};

enum { REPORT_IN_JSON = 1, REPORT_IN_CSV = 2, REPORT_IN_BOTH = 3 };

struct report_column {
    const char *name; /* NULL ends a list */
    enum report_column_kind kind;
    unsigned in;
    int decimals;
    size_t at; /* in the row's struct */
};

/* A column of `struct row` that tables and documents have alike. */
#define REPORT_COLUMN(row, label, type, decimals, field)                                                               \
    {                                                                                                                  \
        label, REPORT_COLUMN_##type, REPORT_IN_BOTH, decimals, offsetof(struct row, field)                             \
    }

extern const struct report_column report_rank_columns[], report_collective_columns[], report_dimension_columns[],
    report_link_columns[], report_wait_columns[];

/* One object, on a line of its own. */
void report_row_json(const struct report_column *columns, const void *row, struct json_writer *json);
/* The line of names, and a row's. */
void report_row_csv_head(const struct report_column *columns, FILE *stream);
void report_row_csv(const struct report_column *columns, const void *row, FILE *stream);

/* Rows that lie one after the other, `size` bytes each: an array in JSON, head and lines in CSV. */
void report_rows_json(const struct report_column *columns, const void *rows, size_t count, size_t size,
                      struct json_writer *json);
void report_rows_csv(const struct report_column *columns, const void *rows, size_t count, size_t size, FILE *stream);

#endif
