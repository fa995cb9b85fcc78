/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small table of texts, printed with every column as wide as its widest cell. Rows are bounded, since reports for
 * people are; a caller that has more to say says how much more in the last row. Holds copies of the cells.
 */
#ifndef ORR_REPORT_TABLE_H
#define ORR_REPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { REPORT_TABLE_ROWS = 32, REPORT_TABLE_COLUMNS = 12, REPORT_TABLE_CELL = 48 };

struct report_table {
    uint32_t rows;
    uint32_t columns;               /* most cells any row has */
    uint32_t filled;                /* cells of the row being filled */
    uint32_t left_columns;          /* bit c: column c is aligned left, else right */
    bool remark[REPORT_TABLE_ROWS]; /* a row of one text across the columns; does not widen them */
    char cell[REPORT_TABLE_ROWS][REPORT_TABLE_COLUMNS][REPORT_TABLE_CELL];
};

void report_table_begin(struct report_table *table, uint32_t left_columns);
void report_table_row(struct report_table *table);                      /* starts the next row */
void report_table_cell(struct report_table *table, const char *text);   /* cut to REPORT_TABLE_CELL - 1 bytes */
void report_table_remark(struct report_table *table, const char *text); /* a row of its own */
void report_table_print(const struct report_table *table, FILE *stream);

#endif
