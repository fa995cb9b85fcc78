/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted by everything that tells two series apart, then by size: the order of the tables does not matter. */
#include "calib/coll_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calib/coll_table.h"

static int calib_coll_rows_by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int calib_coll_rows_by_series(const struct coll_item *a, const struct coll_item *b)
{
    int order = strcmp(a->source, b->source);
    order = order != 0 ? order : strcmp(a->gpu, b->gpu);
    order = order != 0 ? order : strcmp(a->nccl, b->nccl);
    order = order != 0 ? order : calib_coll_rows_by_number(a->row.question.nodes, b->row.question.nodes);
    order = order != 0 ? order : calib_coll_rows_by_number(a->row.question.gpus, b->row.question.gpus);
    return order != 0 ? order : calib_coll_rows_by_number(a->row.question.op, b->row.question.op);
}

static int by_all(const void *a, const void *b)
{
    int order = calib_coll_rows_by_series(a, b);
    if (order != 0) {
        return order;
    }
    const struct timing_row *x = &((const struct coll_item *)a)->row;
    const struct timing_row *y = &((const struct coll_item *)b)->row;
    order = calib_coll_rows_by_number(x->question.bytes, y->question.bytes);
    return order != 0 ? order : (x->us > y->us) - (x->us < y->us);
}

static enum orr_status calib_coll_rows_keep(const struct coll_table *table, const struct csv_row *row,
                                            struct arena *arena, struct mem *mem, struct coll_rows *rows,
                                            struct orr_error *err)
{
    struct orr_error reason = {0};
    struct timing_row settled;
    enum orr_status status = coll_row_settle(table, row, &(struct timing_machine){0}, &settled, &reason);
    if (status != ORR_OK) {
        return error_set(err, status, "%s:%" PRIu64 ": %s", table->path, row->line, reason.text);
    }
    if (!(settled.us > 0)) {
        return ORR_OK;
    }
    static const enum coll_column texts[] = {COLL_COLUMN_SOURCE, COLL_COLUMN_GPU, COLL_COLUMN_NCCL};
    char *copies[3];
    for (size_t i = 0; i < 3; i++) {
        const char *text = coll_table_field(table, row, texts[i]);
        copies[i] = arena_strndup(arena, text, strlen(text));
        if (copies[i] == NULL) {
            return mem_error(mem, "the table", err);
        }
    }
    if (!mem_reserve(mem, (void **)&rows->items, &rows->capacity, (uint64_t)rows->count + 1, sizeof *rows->items)) {
        return mem_error(mem, "the table", err);
    }
    rows->items[rows->count++] = (struct coll_item){settled, copies[0], copies[1], copies[2]};
    return ORR_OK;
}

static enum orr_status calib_coll_rows_read_one(const char *path, struct arena *arena, struct mem *mem,
                                                struct coll_rows *rows, struct orr_error *err)
{
    struct coll_table table;
    enum orr_status status = coll_table_open(path, false, mem, &table, err);
    struct csv_row row;
    bool more = status == ORR_OK;
    while (more) {
        status = csv_reader_next(table.reader, &row, &more, err);
        if (status == ORR_OK && more) {
            status = calib_coll_rows_keep(&table, &row, arena, mem, rows, err);
        }
        more = more && status == ORR_OK;
    }
    coll_table_close(&table);
    return status;
}

static enum orr_status make_series(struct coll_rows *rows, struct mem *mem, struct orr_error *err)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        if (i > 0 && calib_coll_rows_by_series(&rows->items[i - 1], &rows->items[i]) == 0) {
            rows->series[rows->series_count - 1].count++;
            continue;
        }
        if (!mem_reserve(mem, (void **)&rows->series, &rows->series_capacity, (uint64_t)rows->series_count + 1,
                         sizeof *rows->series)) {
            return mem_error(mem, "the table", err);
        }
        rows->series[rows->series_count++] = (struct coll_series){i, 1};
    }
    return ORR_OK;
}

enum orr_status coll_rows_read(const char *const *paths, size_t count, struct arena *arena, struct mem *mem,
                               struct coll_rows *rows, struct orr_error *err)
{
    *rows = (struct coll_rows){0};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < count && status == ORR_OK; i++) {
        status = calib_coll_rows_read_one(paths[i], arena, mem, rows, err);
    }
    if (status == ORR_OK && rows->count > 0) {
        qsort(rows->items, rows->count, sizeof *rows->items, by_all);
        status = make_series(rows, mem, err);
    }
    if (status != ORR_OK) {
        coll_rows_free(rows, mem);
    }
    return status;
}

void coll_rows_free(struct coll_rows *rows, struct mem *mem)
{
    mem_free(mem, rows->items, rows->capacity * sizeof *rows->items);
    mem_free(mem, rows->series, rows->series_capacity * sizeof *rows->series);
    *rows = (struct coll_rows){0};
}
