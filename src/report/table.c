/* SPDX-License-Identifier: Apache-2.0 */
/* Widths count bytes: everything put into these tables is ASCII. */
#include "report/table.h"
#include "param/param.h"

#include <string.h>

static const uint32_t gap_spaces = 2;

void report_table_begin(struct report_table *table, uint32_t left_columns)
{
    memset(table, 0, sizeof *table);
    table->left_columns = left_columns;
}

void report_table_row(struct report_table *table)
{
    if (table->rows < REPORT_TABLE_ROWS) {
        table->rows++;
        table->filled = 0;
    }
}

void report_table_cell(struct report_table *table, const char *text)
{
    if (table->rows == 0 || table->filled == REPORT_TABLE_COLUMNS) {
        return;
    }
    (void)param_spell(text, table->cell[table->rows - 1][table->filled], REPORT_TABLE_CELL);
    table->filled++;
    if (table->filled > table->columns) {
        table->columns = table->filled;
    }
}

void report_table_remark(struct report_table *table, const char *text)
{
    report_table_row(table);
    table->remark[table->rows - 1] = true;
    report_table_cell(table, text);
}

static uint32_t column_width(const struct report_table *table, uint32_t column)
{
    size_t width = 0;
    for (uint32_t row = 0; row < table->rows; row++) {
        size_t length = strlen(table->cell[row][column]);
        if (!table->remark[row] && length > width) {
            width = length;
        }
    }
    return (uint32_t)width;
}

/* Spaces before a cell are held back until a cell has text, so that no line ends in spaces. */
static void print_row(const struct report_table *table, uint32_t row, const uint32_t *widths, FILE *stream)
{
    uint32_t pending = 0;
    for (uint32_t column = 0; column < table->columns; column++) {
        const char *text = table->cell[row][column];
        uint32_t length = (uint32_t)strlen(text);
        uint32_t padding = length < widths[column] ? widths[column] - length : 0;
        bool left = (table->left_columns >> column & 1) != 0;
        pending += (column > 0 ? gap_spaces : 0) + (left ? 0 : padding);
        if (length > 0) {
            (void)fprintf(stream, "%*s%s", (int)pending, "", text);
            pending = 0;
        }
        pending += left ? padding : 0;
    }
    (void)fputc('\n', stream);
}

void report_table_print(const struct report_table *table, FILE *stream)
{
    uint32_t widths[REPORT_TABLE_COLUMNS] = {0};
    for (uint32_t column = 0; column < table->columns; column++) {
        widths[column] = column_width(table, column);
    }
    for (uint32_t row = 0; row < table->rows; row++) {
        print_row(table, row, widths, stream);
    }
}
