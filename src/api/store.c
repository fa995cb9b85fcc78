/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of a result store: lab/store/read.h finds the rows, report/ writes them; tables go out and come
 * in through lab/store/metrics_store.h. */
#include <stdlib.h>

#include "base/error.h"
#include "base/notices.h"
#include "io/outfile.h"
#include "lab/store/command.h"
#include "lab/store/export.h"
#include "lab/store/metrics_store.h"
#include "lab/store/read.h"

struct opened {
    struct mem mem;
    struct arena arena;
    struct lab_store *store;
};

static enum orr_status api_store_open_store(struct opened *opened, const char *path, struct orr_error *err)
{
    *opened = (struct opened){.store = NULL};
    arena_init(&opened->arena, &opened->mem);
    return lab_store_open(path, IO_DATABASE_READ, &opened->store, err);
}

static enum orr_status close_store(struct opened *opened, enum orr_status status, FILE *stream, struct orr_error *err)
{
    lab_store_close(opened->store);
    arena_free(&opened->arena);
    return status != ORR_OK ? status : error_of_stream(stream, "the output", err);
}

enum orr_status orr_store_list(const char *store, const struct orr_store_filter *filter, enum orr_store_form form,
                               FILE *stream, struct orr_error *err)
{
    struct opened opened;
    struct store_run *runs = NULL;
    uint32_t count = 0;
    enum orr_status status = api_store_open_store(&opened, store, err);
    status = status != ORR_OK ? status : store_read_list(opened.store, filter, &opened.arena, &runs, &count, err);
    if (status == ORR_OK) {
        (form == ORR_STORE_JSON ? store_json_list : store_text_list)(runs, count, stream);
    }
    return close_store(&opened, status, stream, err);
}

enum orr_status orr_store_show(const char *store, int64_t run, enum orr_store_form form, FILE *stream,
                               struct orr_error *err)
{
    struct opened opened;
    struct store_view view;
    enum orr_status status = api_store_open_store(&opened, store, err);
    status = status != ORR_OK
                 ? status
                 : store_read_view(opened.store, run, STORE_READ_RESULTS | STORE_READ_LOOK, &opened.arena, &view, err);
    if (status == ORR_OK) {
        (form == ORR_STORE_JSON ? store_json_show : store_text_show)(&view, stream);
    }
    return close_store(&opened, status, stream, err);
}

/* The two runs of a comparison. */
static enum orr_status read_two(struct opened *opened, const char *store, int64_t before, int64_t after,
                                struct store_view views[2], struct orr_error *err)
{
    enum orr_status status = api_store_open_store(opened, store, err);
    for (int i = 0; status == ORR_OK && i < 2; i++) {
        status =
            store_read_view(opened->store, i == 0 ? before : after, STORE_READ_RESULTS, &opened->arena, &views[i], err);
    }
    return status;
}

enum orr_status orr_store_chart(const char *store, int64_t before, int64_t after, FILE *stream, struct orr_error *err)
{
    struct opened opened;
    struct store_view views[2];
    enum orr_status status = read_two(&opened, store, before, after, views, err);
    if (status == ORR_OK) {
        store_chart_diff(&views[0], &views[1], stream);
    }
    return close_store(&opened, status, stream, err);
}

enum orr_status orr_store_diff(const char *store, int64_t before, int64_t after, enum orr_store_form form, FILE *stream,
                               bool *same, struct orr_error *err)
{
    struct opened opened;
    struct store_view views[2];
    enum orr_status status = read_two(&opened, store, before, after, views, err);
    bool found = false;
    if (status == ORR_OK) {
        (form == ORR_STORE_JSON ? store_json_diff : store_text_diff)(&views[0], &views[1], stream);
        found = store_same_results(&views[0], &views[1]);
    }
    status = close_store(&opened, status, stream, err);
    if (status == ORR_OK) {
        *same = found;
    }
    return status;
}

/* ---- doing a run again ---- */

enum orr_status orr_store_command(const char *store, int64_t run, bool force, const struct orr_notices *notices,
                                  struct orr_store_command *command, struct orr_error *err)
{
    struct opened opened;
    struct notes notes;
    enum orr_status status = api_store_open_store(&opened, store, err);
    notices_begin(&notes, &opened.mem, notices);
    status = status != ORR_OK ? status : store_command_read(opened.store, run, force, &notes, command, err);
    notices_end(&notes, notices);
    lab_store_close(opened.store);
    arena_free(&opened.arena);
    return status;
}

void orr_store_command_free(struct orr_store_command *command)
{
    free(command->folder);
    if (command->words != NULL) {
        free(command->words[0]); /* all words lie in one text */
        free((void *)command->words);
    }
    *command = (struct orr_store_command){.run = 0};
}

enum orr_status orr_store_again(const char *store, const struct orr_store_command *command, int64_t *again,
                                struct orr_error *err)
{
    struct lab_store *opened = NULL;
    enum orr_status status = lab_store_open(store, IO_DATABASE_READ, &opened, err);
    status = status != ORR_OK ? status : store_command_again(opened, command, again, err);
    lab_store_close(opened);
    return status;
}

/* ---- tables out and in ---- */

static enum orr_status api_store_export_to(struct lab_store *store, enum orr_store_table table, FILE *stream,
                                           uint64_t *rows, struct orr_error *err)
{
    switch (table) {
    case ORR_STORE_RUNS_CSV:
        return store_export_csv(store, stream, rows, err);
    case ORR_STORE_RUNS_JSON:
        return store_export_json(store, stream, rows, err);
    case ORR_STORE_METRICS:
        return metrics_export(store, METRICS_ORDER_METRICS, stream, rows, err);
    case ORR_STORE_CALIBRATIONS:
        return metrics_export(store, METRICS_ORDER_CALIBRATION, stream, rows, err);
    }
    return error_set(err, ORR_EINVAL, "unknown table to export: number %d", (int)table);
}

static enum orr_status api_store_export_file(struct lab_store *store, enum orr_store_table table, const char *path,
                                             uint64_t *rows, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_make_folder_above(path, err);
    status = status != ORR_OK ? status : io_outfile_open(path, io_outfile_form_of(path), &file, err);
    status = status != ORR_OK ? status : api_store_export_to(store, table, io_outfile_stream(file), rows, err);
    return io_outfile_end(file, status, err);
}

enum orr_status orr_store_export(const char *store, enum orr_store_table table, const char *path, FILE *stream,
                                 uint64_t *rows, struct orr_error *err)
{
    struct lab_store *opened = NULL;
    enum orr_status status = lab_store_open(store, IO_DATABASE_READ, &opened, err);
    if (status == ORR_OK && path != NULL) {
        status = api_store_export_file(opened, table, path, rows, err);
    } else if (status == ORR_OK) {
        status = api_store_export_to(opened, table, stream, rows, err);
        status = status != ORR_OK ? status : error_of_stream(stream, "the output", err);
    }
    lab_store_close(opened);
    return status;
}

static enum orr_status enter(const char *store, const char *path, const struct metrics_row *rows, uint32_t count,
                             struct orr_store_imported *imported, struct orr_error *err)
{
    struct lab_store *opened = NULL;
    enum orr_status status = lab_store_open(store, IO_DATABASE_WRITE, &opened, err);
    status = status != ORR_OK ? status : metrics_enter(opened, path, rows, count, imported, err);
    lab_store_close(opened);
    return status;
}

/* The file is read whole before the store is opened: a file that cannot be used makes no store. */
enum orr_status orr_store_import(const char *store, const char *path, const struct orr_notices *notices,
                                 struct orr_store_imported *imported, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct notes notes;
    struct metrics_row *rows = NULL;
    uint32_t count = 0;
    struct orr_store_imported made = {.rows = 0};
    notices_begin(&notes, &mem, notices);
    arena_init(&arena, &mem);
    enum orr_status status = metrics_read(path, &arena, &notes, &rows, &count, &made.bad, err);
    status = status != ORR_OK ? status : enter(store, path, rows, count, &made, err);
    made.rows = count + made.bad;
    arena_free(&arena);
    notices_end(&notes, notices);
    if (status == ORR_OK) {
        *imported = made;
    }
    return status;
}
