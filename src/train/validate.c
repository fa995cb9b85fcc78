/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of folders come first and those of the library after them, so that a row of the same id is the folder's. Rows
 * are predicted by table, on all threads; what is counted then goes over a list ordered by source, small enough that
 * nothing needs an index.
 */
#include "train/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/words.h"
#include "io/file.h"
#include "train/framework.h"

enum { VALIDATE_PATH = 4096 };

/* ---- what there is ---- */

static enum orr_status validate_table(struct validate *v, bool is_failed, struct runs **runs, struct orr_error *err)
{
    if (v->table_count == VALIDATE_TABLES_MOST) {
        return error_set(err, ORR_ERANGE, "more than %d tables", VALIDATE_TABLES_MOST);
    }
    v->is_failed[v->table_count] = is_failed;
    *runs = &v->tables[v->table_count++];
    runs_init(*runs, &v->mem);
    return ORR_OK;
}

static enum orr_status validate_read_folder(struct validate *v, const char *folder, struct orr_error *err)
{
    static const char *const names[] = {"runs.csv", "failed.csv"};
    bool found = false;
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < 4 && status == ORR_OK; i++) {
        char path[VALIDATE_PATH];
        struct runs *runs = NULL;
        (void)snprintf(path, sizeof path, "%s/%s%s", folder, i % 2 == 0 ? "" : "runs/", names[i / 2]);
        if (!file_exists(path)) {
            continue;
        }
        found = found || i < 2;
        status = validate_table(v, i >= 2, &runs, err);
        status = status == ORR_OK ? runs_read(runs, path, err) : status;
    }
    return status != ORR_OK || found
               ? status
               : error_set(err, ORR_EINVAL, "%s: no runs.csv there, nor in runs/ below it", folder);
}

static enum orr_status validate_read(struct validate *v, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < v->request->folder_count && status == ORR_OK; i++) {
        status = validate_read_folder(v, v->request->folders[i], err);
    }
    v->folder_tables = v->table_count;
    for (uint32_t i = 0; i < runs_shipped_count && status == ORR_OK; i++) {
        const struct runs_shipped *file = &runs_shipped[i];
        struct runs *runs = NULL;
        status = validate_table(v, strcmp(file->name, "failed.csv") == 0, &runs, err);
        if (status == ORR_OK) {
            status = runs_read_text(runs, file->name, file->bytes, (size_t)(file->end - file->bytes), err);
        }
    }
    return status;
}

enum validate_fit validate_fit_of(const char *source)
{
    enum validate_fit fit = VALIDATE_NONE;
    for (size_t i = 0; framework_at(i) != NULL; i++) {
        const struct framework *framework = framework_at(i);
        if (words_have(framework->fit_sources, source, strlen(source), false)) {
            return VALIDATE_HALF;
        }
        fit = strstr(framework->source, source) != NULL ? VALIDATE_ALL : fit;
    }
    return fit;
}

bool validate_is_fitted(const struct runs *runs, const struct runs_row *row, enum validate_fit fit)
{
    uint64_t gpus = strtoul(runs_field(runs, row, RUNS_GPUS), NULL, 10);
    return fit == VALIDATE_ALL ||
           (fit == VALIDATE_HALF && orr_train_run_is_fitted(runs_field(runs, row, RUNS_SOURCE),
                                                            runs_field(runs, row, RUNS_MODEL), (uint32_t)gpus));
}

/* ---- which rows count ---- */

static const char *validate_quality(const struct validate *v)
{
    return v->request->quality != NULL ? v->request->quality : "AB";
}

static bool validate_is_good(const struct validate *v, const char *quality)
{
    return quality[0] == '\0' || strchr(validate_quality(v), quality[0]) != NULL;
}

static uint32_t validate_source_find(const struct validate *v, const char *name)
{
    uint32_t i = 0;
    while (i < v->source_count && strcmp(v->sources[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* Whether a row is one to look at: measured, or known to have failed; and not seen before. */
static bool validate_is_case(const struct runs_row *row, bool is_failed)
{
    return !row->is_ragged && (is_failed || row->measured_s > 0);
}

static enum orr_status validate_find_sources(struct validate *v, struct orr_error *err)
{
    for (uint32_t t = 0; t < v->table_count; t++) {
        const struct runs *runs = &v->tables[t];
        for (uint32_t i = 0; i < runs->row_count; i++) {
            const char *name = runs_field(runs, &runs->rows[i], RUNS_SOURCE);
            uint32_t at = validate_source_find(v, name);
            if (at == v->source_count) {
                if (at == VALIDATE_SOURCES_MOST) {
                    return error_set(err, ORR_ERANGE, "more than %d sources", VALIDATE_SOURCES_MOST);
                }
                v->sources[v->source_count++] = (struct validate_source){
                    .name = name, .fit = validate_fit_of(name), .is_other_quality = true, .least_s = INFINITY};
            }
            v->sources[at].is_carried = v->sources[at].is_carried || t >= v->folder_tables;
            if (!v->is_failed[t] && validate_is_good(v, runs_field(runs, &runs->rows[i], RUNS_QUALITY))) {
                v->sources[at].is_other_quality = false;
            }
        }
    }
    return ORR_OK;
}

struct validate_wish {
    const struct validate *v;
    bool is_failed;
};

/* Rows that failed a check of the table's makers (X) count only where they are asked for. */
static bool validate_wants(const struct runs *runs, const struct runs_row *row, const void *context)
{
    const struct validate_wish *wish = context;
    const struct validate *v = wish->v;
    const char *quality = runs_field(runs, row, RUNS_QUALITY);
    uint32_t source = validate_source_find(v, runs_field(runs, row, RUNS_SOURCE));
    return validate_is_case(row, wish->is_failed) &&
           (validate_is_good(v, quality) ||
            (source < v->source_count && v->sources[source].is_other_quality && quality[0] != 'X'));
}

static uint32_t validate_part_of(const struct validate *v, const struct runs *runs, const struct runs_row *row)
{
    uint32_t source = validate_source_find(v, runs_field(runs, row, RUNS_SOURCE));
    return validate_is_fitted(runs, row, v->sources[source].fit) ? VALIDATE_FITTED : VALIDATE_JUDGED;
}

static enum orr_status validate_keep(struct validate *v, uint32_t table, const struct runs_row *row,
                                     struct orr_error *err)
{
    const struct runs *runs = &v->tables[table];
    const char *source = runs_field(runs, row, RUNS_SOURCE);
    const struct orr_train_result *result = &row->result;
    void *rows = v->rows;
    if (!mem_reserve(&v->mem, &rows, &v->row_capacity, (uint64_t)v->row_count + 1, sizeof *v->rows)) {
        return mem_error(&v->mem, "the measured runs", err);
    }
    v->rows = rows;
    struct validate_row *kept = &v->rows[v->row_count++];
    *kept = (struct validate_row){
        .row = row, .source = validate_source_find(v, source), .cell = UINT32_MAX, .is_failed = v->is_failed[table]};
    kept->part = validate_part_of(v, runs, row);
    kept->unseen_ns = v->unseen[table] != NULL ? v->unseen[table][row - runs->rows] : 0;
    kept->mfu = kept->is_failed ? 0 : result->mfu * (double)result->step_ns * 1e-9 / row->measured_s;
    return ORR_OK;
}

/* Those that were wanted, once each; how many of a source could not be predicted is counted on the way. */
static enum orr_status validate_gather(struct validate *v, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t t = 0; t < v->table_count; t++) {
        const struct runs *runs = &v->tables[t];
        for (uint32_t i = 0; i < runs->row_count && status == ORR_OK; i++) {
            const struct runs_row *row = &runs->rows[i];
            const char *id = runs_field(runs, row, RUNS_ID);
            uint32_t number = 0, before = intern_count(&v->ids);
            if (row->status[0] == '\0' || row->is_ragged) {
                continue;
            }
            if (!intern_add(&v->ids, id, strlen(id), &number)) {
                return mem_error(&v->mem, "the measured runs", err);
            }
            if (id[0] != '\0' && intern_count(&v->ids) == before) {
                continue;
            }
            if (row->is_predicted) {
                status = validate_keep(v, t, row, err);
            }
            if (!v->is_failed[t]) {
                uint32_t source = validate_source_find(v, runs_field(runs, row, RUNS_SOURCE));
                v->sources[source].parts[validate_part_of(v, runs, row)].step.rows++;
            }
        }
    }
    return status;
}

/* ---- figures ---- */

static double validate_step_error(const struct validate_row *row)
{
    return (double)row->row->result.step_ns * 1e-9 / row->row->measured_s - 1;
}

/* What one constant says: the median MFU of the others of the same source, GPU and dtype. NaN: there are none. */
static double validate_constant_error(const struct validate *v, const struct validate_row *row, double *room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->row_count; i++) {
        const struct validate_row *other = &v->rows[i];
        if (other != row && other->source == row->source && other->mfu > 0 &&
            other->row->result.device == row->row->result.device &&
            other->row->result.plan.dtype == row->row->result.plan.dtype) {
            room[count++] = other->mfu;
        }
    }
    if (count == 0 || row->mfu <= 0) {
        return NAN;
    }
    numbers_sort(room, count);
    return row->mfu / numbers_quantile(room, count, 0.5) - 1;
}

enum validate_kind {
    VALIDATE_STEP,
    VALIDATE_UNSEEN,
    VALIDATE_PIECES,
    VALIDATE_CONSTANT,
    VALIDATE_MEMORY,
    VALIDATE_KINDS
};

static double validate_error(const struct validate *v, const struct validate_row *row, enum validate_kind kind,
                             double *room)
{
    if (row->is_failed) {
        return NAN;
    }
    switch (kind) {
    case VALIDATE_STEP:
        return validate_step_error(row);
    case VALIDATE_UNSEEN:
        return row->unseen_ns > 0 ? (double)row->unseen_ns * 1e-9 / row->row->measured_s - 1 : NAN;
    case VALIDATE_PIECES:
        return (validate_step_error(row) + 1) / (row->row->result.moved > 0 ? row->row->result.moved : 1) - 1;
    case VALIDATE_CONSTANT:
        return validate_constant_error(v, row, room);
    default:
        return row->row->measured_gb > 0 ? (double)row->row->result.memory.total * 1e-9 / row->row->measured_gb - 1
                                         : NAN;
    }
}

static void validate_sum(struct validate *v, uint32_t source, uint32_t part, double *errors, double *room)
{
    struct validate_figures *figures = &v->sources[source].parts[part];
    struct orr_train_table_result *sums[VALIDATE_KINDS] = {&figures->step, &figures->unseen, &figures->pieces,
                                                           &figures->constant, &figures->memory};
    for (int kind = 0; kind < VALIDATE_KINDS; kind++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < v->row_count; i++) {
            const struct validate_row *row = &v->rows[i];
            double error = row->source == source && row->part == part
                               ? validate_error(v, row, (enum validate_kind)kind, room)
                               : NAN;
            if (!isnan(error)) {
                errors[count++] = error;
            }
        }
        runs_errors(errors, count, sums[kind]);
        sums[kind]->predicted = count;
    }
}

static void validate_count_fits(struct validate *v)
{
    for (uint32_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        struct validate_source *source = &v->sources[row->source];
        struct validate_figures *figures = &source->parts[row->part];
        bool fits = row->row->result.memory.fits;
        if (row->is_failed) {
            figures->failed++;
            figures->failed_right += !fits;
        } else {
            double predicted = (double)row->row->result.step_ns * 1e-9;
            double error = row->row->result.error;
            figures->bars += error > 0;
            figures->within += error > 0 && fabs(log(predicted / row->row->measured_s)) <= log1p(error);
            figures->told += error;
            figures->ran++;
            figures->ran_right += fits;
            source->least_s = fmin(source->least_s, fmin(predicted, row->row->measured_s));
            source->most_s = fmax(source->most_s, fmax(predicted, row->row->measured_s));
        }
    }
}

/* ---- settings of one job against each other ---- */

static bool validate_is_same_job(const struct validate_row *a, const struct validate_row *b)
{
    const struct orr_train_result *x = &a->row->result, *y = &b->row->result;
    return a->source == b->source && a->part == b->part && !a->is_failed && !b->is_failed &&
           x->plan.gpus == y->plan.gpus && x->plan.global_batch == y->plan.global_batch && x->plan.seq == y->plan.seq &&
           x->parameters.total == y->parameters.total && x->device == y->device;
}

/* Ranks of `values` from 1, equal ones share theirs. */
static void validate_ranks(const double *values, uint32_t count, double *ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t below = 0, equal = 0;
        for (uint32_t k = 0; k < count; k++) {
            below += values[k] < values[i];
            equal += !(values[k] < values[i]) && !(values[k] > values[i]);
        }
        ranks[i] = below + (equal + 1) / 2.0;
    }
}

double validate_rank(const double *a, const double *b, uint32_t count, double *room)
{
    double mean = (count + 1) / 2.0, together = 0, of_a = 0, of_b = 0;
    validate_ranks(a, count, room);
    validate_ranks(b, count, room + count);
    for (uint32_t i = 0; i < count; i++) {
        double x = room[i] - mean, y = room[count + i] - mean;
        together += x * y;
        of_a += x * x;
        of_b += y * y;
    }
    return of_a > 0 && of_b > 0 ? together / sqrt(of_a * of_b) : 0;
}

/* The cell that row `first` begins; `room` holds 4 numbers a row. */
static void validate_cell(struct validate *v, uint32_t first, double *room)
{
    double *predicted = room, *measured = room + v->row_count, *more = room + 2 * (size_t)v->row_count;
    uint32_t count = 0, chosen = 0, best = 0;
    for (uint32_t i = first; i < v->row_count; i++) {
        if (v->rows[i].cell != UINT32_MAX || !validate_is_same_job(&v->rows[first], &v->rows[i])) {
            continue;
        }
        v->rows[i].cell = first;
        predicted[count] = (double)v->rows[i].row->result.step_ns;
        measured[count] = v->rows[i].row->measured_s;
        chosen = predicted[count] < predicted[chosen] ? count : chosen;
        best = measured[count] < measured[best] ? count : best;
        count++;
    }
    if (count < VALIDATE_CELL_ROWS) {
        return;
    }
    struct validate_figures *figures = &v->sources[v->rows[first].source].parts[v->rows[first].part];
    double regret = measured[chosen] / measured[best] - 1;
    figures->cells++;
    figures->rank += validate_rank(predicted, measured, count, more);
    figures->regret += regret;
    figures->worst_regret = fmax(figures->worst_regret, regret);
}

static enum orr_status validate_count(struct validate *v, struct orr_error *err)
{
    size_t bytes = (4 * (size_t)v->row_count + 4) * sizeof(double);
    double *room = mem_alloc(&v->mem, bytes);
    if (room == NULL) {
        return mem_error(&v->mem, "the measured runs", err);
    }
    validate_count_fits(v);
    for (uint32_t i = 0; i < v->row_count; i++) {
        if (v->rows[i].cell == UINT32_MAX && !v->rows[i].is_failed) {
            validate_cell(v, i, room);
        }
    }
    for (uint32_t source = 0; source < v->source_count; source++) {
        for (uint32_t part = 0; part < VALIDATE_PARTS; part++) {
            struct validate_figures *figures = &v->sources[source].parts[part];
            validate_sum(v, source, part, room, room + v->row_count + 1);
            figures->told /= figures->bars > 0 ? figures->bars : 1;
            if (figures->cells > 0) {
                figures->rank /= figures->cells;
                figures->regret /= figures->cells;
            }
        }
    }
    mem_free(&v->mem, room, bytes);
    return ORR_OK;
}

/* ---- all of it ---- */

static int validate_by_name(const void *a, const void *b)
{
    return strcmp(((const struct validate_source *)a)->name, ((const struct validate_source *)b)->name);
}

/* Predictions with a row's whole source left out, kept beside those that follow. */
static enum orr_status validate_predict_unseen(struct validate *v, uint32_t table, const struct runs_request *what,
                                               struct orr_error *err)
{
    struct runs *runs = &v->tables[table];
    struct runs_request unseen = *what;
    unseen.leave_source_out = true;
    v->unseen[table] = mem_zalloc(&v->mem, ((size_t)runs->row_count + 1) * sizeof *v->unseen[table]);
    if (v->unseen[table] == NULL) {
        return mem_error(&v->mem, "the measured runs", err);
    }
    enum orr_status status = runs_predict(runs, &unseen, err);
    for (uint32_t i = 0; i < runs->row_count; i++) {
        v->unseen[table][i] = runs->rows[i].is_predicted ? runs->rows[i].result.step_ns : 0;
    }
    return status;
}

enum orr_status validate_run(struct validate *v, const struct orr_train_validation *request, struct orr_error *err)
{
    struct orr_train_options defaults;
    struct validate_wish wish = {.v = v};
    struct neighbours *neighbours = NULL;
    struct runs_request what = {.defaults = &defaults, .threads = request->threads, .want = validate_wants};
    *v = (struct validate){.request = request, .mem = {.limit = request->memory_limit}};
    intern_init(&v->ids, &v->mem);
    orr_train_options_init(&defaults);
    enum orr_status status = validate_read(v, err);
    status = status != ORR_OK ? status : validate_find_sources(v, err);
    if (status == ORR_OK) {
        qsort(v->sources, v->source_count, sizeof v->sources[0], validate_by_name);
        status = predict_open(&what.data, err);
    }
    if (status == ORR_OK) {
        status = neighbours_open(what.data, NULL, request->threads, &neighbours, err);
        what.neighbours = neighbours;
    }
    what.context = &wish;
    for (uint32_t t = 0; t < v->table_count && status == ORR_OK; t++) {
        wish.is_failed = v->is_failed[t];
        status = request->unseen && !v->is_failed[t] ? validate_predict_unseen(v, t, &what, err) : ORR_OK;
        status = status == ORR_OK ? runs_predict(&v->tables[t], &what, err) : status;
    }
    neighbours_close(neighbours);
    predict_close(what.data);
    status = status != ORR_OK ? status : validate_gather(v, err);
    return status != ORR_OK ? status : validate_count(v, err);
}

void validate_free(struct validate *v)
{
    for (uint32_t t = 0; t < v->table_count; t++) {
        mem_free(&v->mem, v->unseen[t], ((size_t)v->tables[t].row_count + 1) * sizeof *v->unseen[t]);
        runs_free(&v->tables[t]);
    }
    mem_free(&v->mem, v->rows, v->row_capacity * sizeof *v->rows);
    intern_free(&v->ids);
}

enum orr_status orr_train_validate(const struct orr_train_validation *validation, FILE *stream, struct orr_error *err)
{
    struct validate *v = calloc(1, sizeof *v);
    if (v == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for the measured runs");
    }
    enum orr_status status = validate_run(v, validation, err);
    if (status == ORR_OK) {
        validate_print(v, stream);
        status = error_of_stream(stream, "the comparison", err);
    }
    if (status == ORR_OK && validation->output != NULL) {
        status = validate_write_page(v, validation->output, err);
    }
    validate_free(v);
    free(v);
    return status;
}
