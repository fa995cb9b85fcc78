/* SPDX-License-Identifier: Apache-2.0 */
/* All rows are read first; then each is a set of options of its own, predicted on any thread. */
#include "train/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/plain.h"
#include "base/thread_pool.h"
#include "io/csv.h"
#include "param/param.h"
#include "train/framework.h"
#include "train/model.h"

void runs_init(struct runs *runs, struct mem *mem)
{
    *runs = (struct runs){.mem = mem};
    arena_init(&runs->arena, mem);
}

void runs_free(struct runs *runs)
{
    mem_free(runs->mem, runs->rows, runs->row_capacity * sizeof *runs->rows);
    arena_free(&runs->arena);
    runs->rows = NULL;
    runs->row_capacity = runs->row_count = 0;
}

const char *runs_field(const struct runs *runs, const struct runs_row *row, enum runs_meaning meaning)
{
    return runs->meanings[meaning] >= 0 ? row->fields[runs->meanings[meaning]] : "";
}

const char *runs_text(const struct runs *runs, const struct runs_row *row, const char *column)
{
    for (uint32_t i = 0; i < runs->column_count; i++) {
        if (strcmp(runs->columns[i].name, column) == 0) {
            return row->fields[i];
        }
    }
    return "";
}

struct neighbours_self runs_self(const struct runs *runs, const struct runs_row *row)
{
    return (struct neighbours_self){.id = runs_field(runs, row, RUNS_ID),
                                    .source = runs_field(runs, row, RUNS_SOURCE),
                                    .model = runs_field(runs, row, RUNS_MODEL),
                                    .gpus = runs_text(runs, row, "gpus")};
}

/* ---- reading ---- */

const struct param *runs_param(const char *column)
{
    static const struct param_table tables[] = {{param_train, 0, 0}, {0}};
    char name[48];
    size_t length = strlen(column);
    if (length >= sizeof name) {
        return NULL;
    }
    for (size_t i = 0; i <= length; i++) {
        name[i] = column[i] == '_' ? '-' : column[i];
    }
    return param_find(tables, name, length).row;
}

static enum orr_status runs_read_header(struct runs *runs, const char *path, const struct csv_row *header,
                                        struct orr_error *err)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } overlaps[] = {{"overlap_dp", ORR_TRAIN_OVERLAP_DP},
                    {"overlap_tp", ORR_TRAIN_OVERLAP_TP},
                    {"overlap_pp", ORR_TRAIN_OVERLAP_PP},
                    {"overlap_ep", ORR_TRAIN_OVERLAP_EP}};
#define RUNS_X(symbol, name) name,
    static const char *const meanings[] = {RUNS_MEANINGS(RUNS_X)};
#undef RUNS_X
    if (header->count > RUNS_COLUMNS_MOST) {
        return error_set(err, ORR_ERANGE, "%s: more than %d columns", path, RUNS_COLUMNS_MOST);
    }
    runs->column_count = header->count;
    for (size_t k = 0; k < RUNS_MEANING_COUNT; k++) {
        runs->meanings[k] = -1;
    }
    for (uint32_t i = 0; i < header->count; i++) {
        struct runs_column *column = &runs->columns[i];
        column->name = arena_strndup(&runs->arena, header->fields[i].text, header->fields[i].length);
        if (column->name == NULL) {
            return mem_error(runs->mem, "the table", err);
        }
        column->row = runs_param(column->name);
        for (size_t k = 0; k < sizeof overlaps / sizeof overlaps[0]; k++) {
            column->overlap = strcmp(column->name, overlaps[k].name) == 0 ? overlaps[k].bit : column->overlap;
        }
        for (size_t k = 0; k < RUNS_MEANING_COUNT; k++) {
            runs->meanings[k] = strcmp(column->name, meanings[k]) == 0 ? (int)i : runs->meanings[k];
        }
    }
    return ORR_OK;
}

/* A positive number, or 0: empty fields and words measure nothing. */
static double runs_number(const struct runs *runs, const struct runs_row *row, enum runs_meaning meaning)
{
    double value = plain_strtod(runs_field(runs, row, meaning), NULL);
    return value > 0 && value < 1e300 ? value : 0;
}

/* `csv` may have another number of fields than the header: what is missing is empty, what is too much is left out. */
static enum orr_status runs_keep_row(struct runs *runs, const struct csv_row *csv, struct orr_error *err)
{
    void *rows = runs->rows;
    if (!mem_reserve(runs->mem, &rows, &runs->row_capacity, (uint64_t)runs->row_count + 1, sizeof *runs->rows)) {
        return mem_error(runs->mem, "the table", err);
    }
    runs->rows = rows;
    struct runs_row *row = &runs->rows[runs->row_count];
    *row = (struct runs_row){.line = csv->line, .is_ragged = csv->count != runs->column_count};
    row->fields = arena_alloc(&runs->arena, runs->column_count * sizeof *row->fields);
    for (uint32_t i = 0; i < runs->column_count && row->fields != NULL; i++) {
        row->fields[i] = i < csv->count && csv->fields[i].length > 0
                             ? arena_strndup(&runs->arena, csv->fields[i].text, csv->fields[i].length)
                             : "";
        if (row->fields[i] == NULL) {
            row->fields = NULL;
        }
    }
    if (row->fields == NULL) {
        return mem_error(runs->mem, "the table", err);
    }
    row->measured_s = runs_number(runs, row, RUNS_STEP);
    row->measured_gb = runs_number(runs, row, RUNS_MEMORY);
    row->measured_s = row->measured_s > 0 ? row->measured_s : runs_number(runs, row, RUNS_STEP_MS) * 1e-3;
    row->measured_gb = row->measured_gb > 0 ? row->measured_gb : runs_number(runs, row, RUNS_PEAK) * 1e-9;
    runs->row_count++;
    return ORR_OK;
}

static enum orr_status runs_read_rows(struct runs *runs, const char *path, struct csv_reader *reader,
                                      struct orr_error *err)
{
    enum orr_status status = runs_read_header(runs, path, csv_reader_header(reader), err);
    while (status == ORR_OK) {
        struct csv_row row = {.count = 0};
        struct orr_error ragged = {0};
        bool more = false;
        status = csv_reader_next(reader, &row, &more, &ragged);
        if (status == ORR_OK && !more) {
            break;
        }
        if (status != ORR_OK && row.count == 0) { /* not even fields: nobody knows where the next row begins */
            return error_set(err, status, "%s", ragged.text);
        }
        status = runs_keep_row(runs, &row, err);
        if (status == ORR_OK && runs->rows[runs->row_count - 1].is_ragged) {
            (void)param_spell(ragged.text, runs->rows[runs->row_count - 1].status, RUNS_STATUS);
        }
    }
    return status;
}

enum orr_status runs_read(struct runs *runs, const char *path, struct orr_error *err)
{
    struct csv_reader *reader = NULL;
    enum orr_status status = csv_reader_open(path, runs->mem, &reader, err);
    if (status == ORR_OK) {
        status = runs_read_rows(runs, path, reader, err);
        csv_reader_close(reader);
    }
    return status;
}

enum orr_status runs_read_text(struct runs *runs, const char *name, const char *text, size_t size,
                               struct orr_error *err)
{
    struct csv_reader *reader = NULL;
    enum orr_status status = csv_reader_open_text(name, text, size, runs->mem, &reader, err);
    if (status == ORR_OK) {
        status = runs_read_rows(runs, name, reader, err);
        csv_reader_close(reader);
    }
    return status;
}

/* ---- predicting ---- */

/* A reason may quote a field, which may hold line ends; it stays one printable line. */
static enum orr_status runs_refuse(enum orr_status status, struct orr_error *err)
{
    for (char *at = err->text; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
    }
    return status;
}

/* Tables of steps say yes or no where a parameter has words, and the blocks of a network's stages for its layers; and
 * what writes a column with gaps as fractions has 8.0 for 8. */
static enum orr_status runs_read_field(const struct runs_column *column, const char *text,
                                       struct orr_train_options *options, struct orr_error *err)
{
    const struct param *row = column->row;
    size_t digits = strspn(text, "0123456789");
    char whole[24];
    if (digits > 0 && digits < sizeof whole && strcmp(text + digits, ".0") == 0) {
        (void)snprintf(whole, sizeof whole, "%.*s", (int)digits, text);
        text = whole;
    }
    if (strcmp(column->name, "recompute") == 0 && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0)) {
        text = text[0] == '0' ? "none" : "full";
    } else if (strcmp(column->name, "layers") == 0 && text[0] == '[') {
        row = runs_param("blocks");
    }
    return param_read(row, column->name, text, options, err);
}

/* What NVIDIA's recipes say in words: those that change a step. Columns of the row go before them. All-to-alls beside
 * compute show in runs of whole graphs alone: without them the same runs take as long as if none were. */
static void runs_read_notes(const char *notes, struct orr_train_options *options)
{
    static const char release[] = "NeMo ";
    const char *at = strstr(notes, release);
    if (strstr(notes, "cuda_graph_impl=full_iteration") != NULL) {
        options->plan.cuda_graphs = true;
        options->plan.overlap |= strstr(notes, "moe_a2a_overlap=True") != NULL ? ORR_TRAIN_OVERLAP_EP : 0;
    }
    static const char group[] = "FSDP group ";
    const char *ranks = strstr(notes, group);
    if (ranks != NULL) {
        options->plan.fsdp_group = (uint32_t)strtoul(ranks + sizeof group - 1, NULL, 10);
    }
    if (at != NULL && framework_is_release(at + sizeof release - 1)) {
        options->release = at + sizeof release - 1;
    }
}

/* MaxText has many policies between none and full, which a column calls selective. These keep the projections of
 * attention alone, away from the device, or what a recipe names, and run all else again. */
static void runs_read_policy(const char *notes, struct orr_train_options *options)
{
    static const char *const again[] = {"qkv_proj_offloaded", "save_qkv_proj", "remat_policy=custom"};
    for (size_t i = 0; i < sizeof again / sizeof again[0]; i++) {
        options->plan.recompute = strstr(notes, again[i]) != NULL ? ORR_TRAIN_RECOMPUTE_FULL : options->plan.recompute;
    }
}

/* What tables have no columns for: windows, biases and learned positions of the preset that a row names, where its
 * shape is of that width. */
static void runs_take_details(const char *name, struct orr_train_options *options)
{
    const char *known = model_preset_like(name);
    struct orr_train_model *shape = &options->shape, model;
    if (known == NULL || orr_train_model_find(known, &model, NULL) != ORR_OK || model.family != shape->family ||
        model.hidden != shape->hidden || model.heads != shape->heads) {
        return;
    }
    shape->window = shape->window != 0 ? shape->window : model.window;
    shape->window_every = shape->window_every != 0 ? shape->window_every : model.window_every;
    shape->positions = shape->positions != 0 ? shape->positions : model.positions;
    options->bias = options->bias >= 0 ? options->bias : model.bias;
    options->qkv_bias = options->qkv_bias >= 0 ? options->qkv_bias : model.qkv_bias;
}

enum orr_status runs_row_options(const struct runs *runs, const struct runs_row *row,
                                 const struct orr_train_options *defaults, struct orr_train_options *options,
                                 struct orr_error *err)
{
    *options = *defaults;
    runs_read_notes(runs_field(runs, row, RUNS_NOTES), options);
    if (runs_field(runs, row, RUNS_CONFIG)[0] == '{') {
        enum orr_status status =
            runs_config_read(runs_field(runs, row, RUNS_KIND), runs_field(runs, row, RUNS_CONFIG), options, err);
        if (status != ORR_OK) {
            return runs_refuse(status, err);
        }
    }
    for (uint32_t i = 0; i < runs->column_count; i++) {
        const struct runs_column *column = &runs->columns[i];
        const char *text = row->fields[i];
        if (text[0] == '\0') {
            continue;
        }
        if (column->overlap != 0) {
            options->plan.overlap = strcmp(text, "0") == 0 ? options->plan.overlap & ~column->overlap
                                                           : options->plan.overlap | column->overlap;
        } else if (column->row != NULL && (int)i != runs->meanings[RUNS_MODEL]) {
            enum orr_status status = runs_read_field(column, text, options, err);
            if (status != ORR_OK) {
                return runs_refuse(status, err);
            }
        } else if ((int)i == runs->meanings[RUNS_MODEL] && options->shape.hidden == 0) {
            options->model = text;
        }
    }
    runs_read_policy(runs_field(runs, row, RUNS_NOTES), options);
    if (options->shape.hidden != 0) { /* the row says its shape itself */
        runs_take_details(runs_field(runs, row, RUNS_MODEL), options);
        options->model = NULL;
    } else if (options->model != NULL && model_preset_like(options->model) != NULL) {
        options->model = model_preset_like(options->model);
    }
    return ORR_OK;
}

struct runs_work {
    struct runs *runs;
    const struct runs_request *request;
};

static void *runs_predict_row(void *context, uint64_t piece)
{
    const struct runs_work *work = context;
    const struct runs_request *request = work->request;
    struct runs_row *row = &work->runs->rows[piece];
    struct orr_train_options options;
    struct orr_error err = {0};
    struct mem mem = {0};
    if (row->is_ragged || (request->want != NULL && !request->want(work->runs, row, request->context))) {
        return NULL;
    }
    enum orr_status status = runs_row_options(work->runs, row, request->defaults, &options, &err);
    if (status == ORR_OK) {
        status = runs_refuse(predict_step(request->data, &options, &mem, &row->result, &err), &err);
    }
    if (status == ORR_OK && request->neighbours != NULL && !options.without_neighbours) {
        struct neighbours_self self = runs_self(work->runs, row);
        self.whole_source = request->leave_source_out;
        status = neighbours_ask(request->neighbours, options.interconnect, &self, &row->result, &err);
    }
    row->is_predicted = status == ORR_OK;
    (void)param_spell(status == ORR_OK ? "ok" : err.text, row->status, sizeof row->status);
    return NULL;
}

static bool runs_row_done(void *context, uint64_t piece, void *made)
{
    (void)context, (void)piece, (void)made;
    return true;
}

enum orr_status runs_predict(struct runs *runs, const struct runs_request *request, struct orr_error *err)
{
    uint32_t threads = request->threads != 0 ? request->threads : thread_pool_processors();
    struct runs_work context = {.runs = runs, .request = request};
    struct thread_pool_work work = {.count = runs->row_count,
                                    .window = 4 * threads,
                                    .make = runs_predict_row,
                                    .take = runs_row_done,
                                    .context = &context,
                                    .tick_ms = 1000};
    return thread_pool_run(threads, &work, err);
}

void runs_errors(double *errors, uint32_t count, struct orr_train_table_result *sum)
{
    sum->measured = count;
    sum->mean = sum->median = sum->p90 = sum->worst = sum->bias = 0;
    if (count == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum->bias += errors[i] / count;
        sum->mean += fabs(errors[i]) / count;
        errors[i] = fabs(errors[i]);
    }
    numbers_sort(errors, count);
    sum->median = numbers_quantile(errors, count, 0.5);
    sum->p90 = numbers_quantile(errors, count, 0.9);
    sum->worst = errors[count - 1];
}
