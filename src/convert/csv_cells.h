/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of one row of a user's table, read as what their columns mean: numbers, times, sizes, the words for
 * collectives and types. Every refusal names the file, the line and the column. Knows one row at a time; ids and
 * dependencies, which need all of them, are for csv.c.
 */
#ifndef ORR_CONVERT_CSV_CELLS_H
#define ORR_CONVERT_CSV_CELLS_H

#include "convert/csv_columns.h"
#include "convert/workload.h"

struct csv_table {
    const struct convert_request *request;
    struct csv_columns columns;
    struct csv_row row;
    bool decimal_comma; /* the separator is a semicolon, so 0,5 may be a half */
};

struct csv_cell {
    const char *text; /* not blank at either end; terminated by the length only */
    size_t length;
    uint32_t column;
    bool is_set; /* there is such a column, and the cell is neither empty nor "-" */
};

struct csv_cell csv_cell_get(const struct csv_table *table, enum csv_column which);

/* "file:line:column: WHAT is \"text\"; EXPECTED". */
enum orr_status csv_cell_fail(const struct csv_table *table, const struct csv_cell *cell, const char *what,
                              const char *expected, struct orr_error *err);

/* A whole number from `low` to `high`; `*value` as it was when the cell is empty. */
ORR_MUST_CHECK enum orr_status csv_cell_integer(const struct csv_table *table, enum csv_column which, int64_t low,
                                                int64_t high, int64_t *value, struct orr_error *err);

/* Whether the cell is a whole number. */
bool csv_cell_is_integer(const struct csv_cell *cell, int64_t *value);

/* What the operation is: its type and, of a communication, which one. */
ORR_MUST_CHECK enum orr_status csv_cells_type(const struct csv_table *table, struct workload_node *node,
                                              struct orr_error *err);
/* How long, how much and with whom; the node's type and name are set. */
ORR_MUST_CHECK enum orr_status csv_cells_amounts(const struct csv_table *table, const struct workload *workload,
                                                 struct workload_node *node, struct orr_error *err);

#endif
