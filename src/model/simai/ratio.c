/* SPDX-License-Identifier: Apache-2.0 */
/* The tables are read into doubles once, since a workload asks them for every row. */
#include "model/simai/ratio.h"

#include <inttypes.h>
#include <stdio.h>

#include "io/csv.h"
#include "io/value.h"

const char *const simai_ratio_names[SIMAI_RATIO_TABLES] = {"nic_ratio.csv", "nvlink_ratio.csv", "ata_ratio.csv"};

enum { PATH_SIZE = 4096 };

static enum orr_status simai_ratio_read_cell(const char *path, const struct csv_row *row, uint32_t column,
                                             double *value, struct orr_error *err)
{
    const char *text = row->fields[column].text;
    struct io_value number = {0};
    char shown[64];
    while (*text == ' ') {
        text++;
    }
    if (*text == '\0' && column > 0) {
        *value = 1;
        return ORR_OK;
    }
    if (!io_number_parse(text, &number)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ":%" PRIu32 ": \"%s\" is not a number; %s", path, row->line,
                         row->fields[column].column, io_text_printable(text, shown, sizeof shown),
                         column == 0 ? "the first column is a size in bytes" : "a ratio is above 0, or empty for 1");
    }
    double found = number.kind == IO_INTEGER ? (double)number.integer : number.real;
    if (!(found > 0)) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ":%" PRIu32 ": %s is not above 0", path, row->line,
                         row->fields[column].column, io_text_printable(text, shown, sizeof shown));
    }
    *value = found;
    return ORR_OK;
}

static enum orr_status simai_ratio_add_row(const char *path, const struct csv_row *row, struct mem *mem,
                                           struct simai_ratio_table *table, struct orr_error *err)
{
    struct simai_ratio_row made;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < SIMAI_RATIO_COLUMNS && status == ORR_OK; i++) {
        status = simai_ratio_read_cell(path, row, i, &made.cells[i], err);
    }
    if (status == ORR_OK && table->count > 0 && made.cells[0] <= table->rows[table->count - 1].cells[0]) {
        status = error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": sizes must grow from row to row", path, row->line);
    }
    if (status == ORR_OK && !MEM_GROW(mem, table->rows, table->capacity, table->count)) {
        status = mem_error(mem, "a ratio table", err);
    }
    if (status == ORR_OK) {
        table->rows[table->count++] = made;
    }
    return status;
}

static void free_table(struct mem *mem, struct simai_ratio_table *table)
{
    mem_free(mem, table->rows, table->capacity * sizeof *table->rows);
    *table = (struct simai_ratio_table){0};
}

enum orr_status simai_ratio_read(const char *path, struct mem *mem, struct simai_ratio_table *table,
                                 struct orr_error *err)
{
    struct csv_reader *reader = NULL;
    struct csv_row row;
    bool more = true;
    *table = (struct simai_ratio_table){0};
    enum orr_status status = csv_reader_open(path, mem, &reader, err);
    if (status != ORR_OK) {
        return status;
    }
    if (csv_reader_header(reader)->count < SIMAI_RATIO_COLUMNS) {
        status = error_set(err, ORR_EINVAL, "%s:1: %" PRIu32 " columns; a ratio table has a size and %d ratios", path,
                           csv_reader_header(reader)->count, SIMAI_RATIO_COLUMNS - 1);
    }
    while (status == ORR_OK && more) {
        status = csv_reader_next(reader, &row, &more, err);
        if (status == ORR_OK && more) {
            status = simai_ratio_add_row(path, &row, mem, table, err);
        }
    }
    csv_reader_close(reader);
    if (status == ORR_OK && table->count == 0) {
        status = error_set(err, ORR_EINVAL, "%s: no rows below the header", path);
    }
    if (status != ORR_OK) {
        free_table(mem, table);
    }
    return status;
}

enum orr_status simai_ratios_read(const char *folder, struct mem *mem, struct simai_ratios *ratios,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    *ratios = (struct simai_ratios){.mem = mem};
    for (unsigned i = 0; i < SIMAI_RATIO_TABLES && status == ORR_OK; i++) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", folder, simai_ratio_names[i]);
        status = length < 0 || length >= PATH_SIZE ? error_set(err, ORR_EINVAL, "%.80s…: the path is too long", folder)
                                                   : simai_ratio_read(path, mem, &ratios->tables[i], err);
    }
    if (status != ORR_OK) {
        simai_ratios_free(ratios);
    }
    return status;
}

void simai_ratios_free(struct simai_ratios *ratios)
{
    for (unsigned i = 0; i < SIMAI_RATIO_TABLES; i++) {
        free_table(ratios->mem, &ratios->tables[i]);
    }
}

double simai_ratio_limit(const struct simai_ratio_table *table)
{
    return table->count == 0 ? (double)UINT64_MAX : table->rows[table->count - 1].cells[0];
}

double simai_ratio_value(const struct simai_ratio_table *table, double bytes, unsigned column)
{
    if (table->count == 0 || bytes <= 0) {
        return 1;
    }
    const struct simai_ratio_row *rows = table->rows;
    double last = rows[table->count - 1].cells[column];
    if (bytes < rows[0].cells[0]) {
        return rows[0].cells[column] / last;
    }
    for (uint32_t i = 0; i + 1 < table->count; i++) {
        const double *low = rows[i].cells;
        const double *high = rows[i + 1].cells;
        if (bytes <= high[0]) {
            return (low[column] + (high[column] - low[column]) * (bytes - low[0]) / (high[0] - low[0])) / last;
        }
    }
    return 1;
}

unsigned simai_ratio_column(int64_t servers)
{
    unsigned column = 1;
    while (column + 1 < SIMAI_RATIO_MULTI && servers > (int64_t)1 << (column - 1)) {
        column++;
    }
    return column;
}
