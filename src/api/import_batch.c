/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of recordings: each one found, judged and imported by itself, so that one that fails costs nobody else
 * anything. The name of a recording's files is the last part of its path without the endings of recordings, with the
 * run's tag behind it where a folder holds several; a name that is taken gets a number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/import_one.h"
#include "base/error.h"
#include "convert/pytorch/import/name.h"
#include "io/outfile.h"
#include "report/table.h"

struct batch_row {
    const char *name; /* of the files, or the path of what was not even found */
    uint32_t ranks;
    struct import_sum sum;
    const char *refusal; /* NULL = imported */
};

struct batch {
    const struct orr_import_options *options;
    const char *out_dir;
    const struct orr_notices *notices;
    struct mem mem;
    struct arena arena;
    struct batch_row *rows;
    uint32_t count, capacity;
    bool alone; /* one recording with one run in it */
};

/* ---- names ---- */

static bool is_taken(const struct batch *batch, const char *name)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (strcmp(batch->rows[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *name_of(struct batch *batch, const char *path, const char *tag)
{
    struct import_name parsed;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    char *trimmed = arena_strndup(&batch->arena, path, length);
    const char *slash = trimmed == NULL ? NULL : strrchr(trimmed, '/');
    if (trimmed == NULL) {
        return NULL;
    }
    import_name_read(slash == NULL || slash[1] == '\0' ? trimmed : slash + 1, &parsed);
    bool nameless = strspn(parsed.stem, "./") == strlen(parsed.stem);
    char *base =
        arena_printf(&batch->arena, "%s%s%s", nameless ? "recording" : parsed.stem, tag[0] == '\0' ? "" : "-", tag);
    for (char *at = base; at != NULL && *at != '\0'; at++) {
        *at = *at == '/' ? '_' : *at;
    }
    const char *name = base;
    for (uint32_t i = 2; name != NULL && is_taken(batch, name); i++) {
        name = arena_printf(&batch->arena, "%s-%" PRIu32, base, i);
    }
    return name;
}

/* DIR/RUN, or what options->et_prefix makes of it: DIR/NAME where there is one run, DIR/NAME.RUN where there are
 * several. For "auto" it ends before the pattern's word and `*rest` is what follows that. NULL when memory is refused.
 */
static const char *prefix_of(struct batch *batch, const char *run, const char **rest)
{
    const char *word = batch->options->et_prefix;
    if (word == NULL) {
        return arena_printf(&batch->arena, "%s/%s", batch->out_dir, run);
    }
    const char *tail = batch->alone ? "" : arena_printf(&batch->arena, ".%s", run);
    if (tail == NULL) {
        return NULL;
    }
    if (strcmp(word, "auto") == 0) {
        *rest = tail;
        return arena_printf(&batch->arena, "%s/", batch->out_dir);
    }
    return arena_printf(&batch->arena, "%s/%s%s", batch->out_dir, word, tail);
}

/* ---- one after the other ---- */

/* What is wrong with one recording is its row's; what would be wrong with all ends the batch. */
static bool is_of_one(enum orr_status status)
{
    return status == ORR_EINVAL || status == ORR_ERANGE || status == ORR_EIO || status == ORR_EFAIL;
}

static enum orr_status api_import_batch_add_row(struct batch *batch, struct batch_row row, const struct orr_error *why,
                                                struct orr_error *err)
{
    if (why != NULL) {
        row.refusal = arena_strndup(&batch->arena, why->text, strlen(why->text));
    }
    if (row.name == NULL || (why != NULL && row.refusal == NULL) ||
        !MEM_GROW(&batch->mem, batch->rows, batch->capacity, batch->count)) {
        return mem_error(&batch->mem, "the recordings of a batch", err);
    }
    batch->rows[batch->count++] = row;
    return ORR_OK;
}

static enum orr_status import_job_of(struct batch *batch, const char *path, const struct import_job *job, FILE *stream,
                                     struct orr_error *err)
{
    struct orr_import_options options = *batch->options;
    struct orr_error why = {0};
    struct batch_row row = {.name = name_of(batch, path, job->tag), .ranks = job->pair_count};
    const char *rest = NULL;
    options.prefix = row.name == NULL ? NULL : prefix_of(batch, row.name, &rest);
    if (options.prefix == NULL) {
        return mem_error(&batch->mem, "the recordings of a batch", err);
    }
    if (stream != NULL) {
        (void)fprintf(stream, "%s%s%s:\n", path, job->tag[0] == '\0' ? "" : ", tag ", job->tag);
    }
    enum orr_status status =
        import_job_pick_ranks(path, options.ranks, options.rank_count, job->pairs, &row.ranks, &why);
    if (status == ORR_OK) {
        status =
            import_pairs(&options, rest, job->pairs, row.ranks, batch->notices, &batch->mem, stream, &row.sum, &why);
    }
    if (status != ORR_OK && !is_of_one(status)) {
        *err = why;
        return status;
    }
    if (stream != NULL) {
        (void)fprintf(stream, status == ORR_OK ? "\n" : "Refused: %s\n\n", why.text);
    }
    return api_import_batch_add_row(batch, row, status == ORR_OK ? NULL : &why, err);
}

static enum orr_status import_path(struct batch *batch, const char *path, FILE *stream, struct orr_error *err)
{
    struct import_job *jobs = NULL;
    uint32_t count = 0;
    struct orr_error why = {0};
    enum orr_status status = import_jobs(&path, 1, &batch->arena, &jobs, &count, &why);
    if (status != ORR_OK && !is_of_one(status)) {
        *err = why;
        return status;
    }
    if (status != ORR_OK) {
        if (stream != NULL) {
            (void)fprintf(stream, "%s:\nRefused: %s\n\n", path, why.text);
        }
        return api_import_batch_add_row(batch, (struct batch_row){.name = path}, &why, err);
    }
    batch->alone = batch->alone && count == 1;
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        status = import_job_of(batch, path, &jobs[i], stream, err);
    }
    return status;
}

/* ---- the table ---- */

static void write_rows(const struct batch *batch, uint32_t first, uint32_t end, FILE *stream)
{
    struct report_table table;
    static const char *const heads[] = {"Recording", "Ranks", "Nodes", "Recorded step", "Imported"};
    report_table_begin(&table, 1);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        report_table_cell(&table, heads[i]);
    }
    for (uint32_t i = first; i < end; i++) {
        const struct batch_row *row = &batch->rows[i];
        char text[32];
        report_table_row(&table);
        report_table_cell(&table, row->name);
        (void)snprintf(text, sizeof text, "%" PRIu32, row->ranks);
        report_table_cell(&table, text);
        (void)snprintf(text, sizeof text, "%" PRIu64, row->sum.nodes);
        report_table_cell(&table, row->refusal == NULL ? text : "-");
        (void)snprintf(text, sizeof text, "%" PRId64 ".%03d ms", row->sum.step_ns / 1000000,
                       (int)(row->sum.step_ns / 1000 % 1000));
        report_table_cell(&table, row->refusal == NULL && row->sum.step_ns > 0 ? text : "-");
        report_table_cell(&table, row->refusal == NULL ? "yes" : "no");
    }
    report_table_print(&table, stream);
}

static uint32_t api_import_batch_write_table(const struct batch *batch, FILE *stream)
{
    uint32_t failed = 0;
    for (uint32_t first = 0; stream != NULL && first < batch->count; first += REPORT_TABLE_ROWS - 1) {
        uint32_t left = batch->count - first;
        write_rows(batch, first, first + (left < REPORT_TABLE_ROWS - 1 ? left : REPORT_TABLE_ROWS - 1), stream);
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        failed += batch->rows[i].refusal != NULL;
    }
    if (stream != NULL) {
        (void)fprintf(stream, "%" PRIu32 " of %" PRIu32 " recordings imported into %s.\n", batch->count - failed,
                      batch->count, batch->out_dir);
    }
    return failed;
}

enum orr_status orr_trace_import_batch(const struct orr_import_options *options, const char *out_dir,
                                       const struct orr_notices *notices, FILE *stream, uint32_t *failed,
                                       struct orr_error *err)
{
    struct batch batch = {
        .options = options, .out_dir = out_dir, .notices = notices, .mem = {.limit = options->memory_limit}};
    const char *const *paths = NULL;
    uint32_t count = 0;
    if (out_dir == NULL || out_dir[0] == '\0') {
        return error_set(err, ORR_EINVAL, "a folder for the traces of a batch is needed");
    }
    const char *word = options->et_prefix;
    if (word != NULL && (word[0] == '\0' || strchr(word, '/') != NULL)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'et-prefix': \"%.100s\" is no name of a file: a word such as et, or auto", word);
    }
    arena_init(&batch.arena, &batch.mem);
    enum orr_status status =
        import_paths(options->folder, options->paths, options->path_count, &batch.arena, &paths, &count, err);
    batch.alone = count == 1;
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        status = import_path(&batch, paths[i], stream, err);
    }
    if (status == ORR_OK) {
        *failed = api_import_batch_write_table(&batch, stream);
        status = stream == NULL ? ORR_OK : error_of_stream(stream, "the report", err);
    }
    mem_free(&batch.mem, batch.rows, (size_t)batch.capacity * sizeof *batch.rows);
    arena_free(&batch.arena);
    return status;
}
