/* SPDX-License-Identifier: Apache-2.0 */
/* Run by run, in the memory of one, however many there are. */
#include "lab/store/export.h"

#include <string.h>

#include "lab/store/metrics_csv.h"
#include "lab/store/read.h"

static const char *const run_columns[] = {
    "id",       "state",    "kind",         "started",    "ended",       "version", "command",  "folder",       "tag",
    "backend",  "topology", "logical_dims", "comm_scale", "fingerprint", "seed",    "world",    "source_world", "error",
    "total_ns", "steps",    "comm_ns",      "compute_ns", "wall_ms",     "events",  "messages", "peak_bytes"};
enum { RUN_COLUMNS = sizeof run_columns / sizeof run_columns[0] };

enum orr_status store_export_csv(struct lab_store *store, FILE *stream, uint64_t *rows, struct orr_error *err)
{
    char sql[512] = "SELECT ";
    size_t used = strlen(sql);
    struct io_statement *statement = NULL;
    bool more = true;
    uint64_t count = 0;
    for (int i = 0; i < RUN_COLUMNS; i++) {
        metrics_write_cell(run_columns[i], i == 0, stream);
        used += (size_t)snprintf(sql + used, sizeof sql - used, "%s%s", i == 0 ? "" : ", ", run_columns[i]);
    }
    (void)snprintf(sql + used, sizeof sql - used, " FROM run ORDER BY id");
    (void)fputc('\n', stream);
    enum orr_status status = io_statement_prepare(lab_store_database(store), sql, &statement, err);
    while (status == ORR_OK && more) {
        status = io_statement_step(statement, &more, err);
        for (int i = 0; status == ORR_OK && more && i < RUN_COLUMNS; i++) {
            metrics_write_cell(io_column_text(statement, i), i == 0, stream);
        }
        (void)fputs(status == ORR_OK && more ? "\n" : "", stream);
        count += status == ORR_OK && more ? 1 : 0;
    }
    io_statement_free(statement);
    if (status == ORR_OK) {
        *rows = count;
    }
    return status;
}

static enum orr_status store_export_write_run(struct lab_store *store, int64_t run, struct store_json *json,
                                              struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct store_view view;
    arena_init(&arena, &mem);
    enum orr_status status = store_read_view(store, run, STORE_READ_RESULTS, &arena, &view, err);
    if (status == ORR_OK) {
        view.calibration_count = 0; /* they follow in a list of their own */
        store_json_all_run(json, &view);
    }
    arena_free(&arena);
    return status;
}

static enum orr_status write_calibration(void *context, const struct store_calibration *row, struct orr_error *err)
{
    (void)err;
    store_json_all_calibration(context, row);
    return ORR_OK;
}

enum orr_status store_export_json(struct lab_store *store, FILE *stream, uint64_t *rows, struct orr_error *err)
{
    struct store_json json;
    struct io_statement *statement = NULL;
    bool more = true;
    uint64_t count = 0;
    store_json_all_begin(&json, stream);
    enum orr_status status =
        io_statement_prepare(lab_store_database(store), "SELECT id FROM run ORDER BY id", &statement, err);
    while (status == ORR_OK && more) {
        status = io_statement_step(statement, &more, err);
        if (status == ORR_OK && more) {
            status = store_export_write_run(store, io_column_int(statement, 0), &json, err);
            count++;
        }
    }
    io_statement_free(statement);
    status = status != ORR_OK ? status : store_read_calibrations(store, 0, write_calibration, &json, err);
    if (status == ORR_OK) {
        store_json_all_end(&json);
        *rows = count;
    }
    return status;
}
