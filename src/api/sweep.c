/* SPDX-License-Identifier: Apache-2.0 */
/* A finished sweep written out: its results become the rows that report/ knows, and are ranked. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/outfile.h"
#include "lab/sweep/plan.h"
#include "lab/sweep/sweep.h"
#include "report/sweep_text.h"

/* Networks apart, in the order of their first points; then the figure, and among equals the order of the points. */
struct ranking {
    uint64_t network; /* first point on it */
    uint64_t figure;
    struct report_sweep_row *row;
};

static int api_sweep_compare(const void *a, const void *b)
{
    const struct ranking *x = a;
    const struct ranking *y = b;
    if (x->network != y->network) {
        return x->network < y->network ? -1 : 1;
    }
    if (x->figure != y->figure) {
        return x->figure < y->figure ? -1 : 1;
    }
    return (x->row->point > y->row->point) - (x->row->point < y->row->point);
}

static bool is_ranked(const struct report_sweep_row *row)
{
    return row->result.state == ORR_SWEEP_DONE && !row->result.another_network;
}

/* The first of the rows that is on the row's network. */
static uint64_t first_on_network(const struct report_sweep_row *rows, const struct report_sweep_row *row)
{
    uint64_t i = 0;
    while (!is_ranked(&rows[i]) || strcmp(rows[i].result.network, row->result.network) != 0) {
        i++;
    }
    return i;
}

static enum orr_status rank_rows(struct report_sweep *report, struct report_sweep_row *rows, struct arena *arena,
                                 struct orr_error *err)
{
    struct ranking *ranking = arena_alloc(arena, (size_t)report->row_count * sizeof *ranking);
    const struct report_sweep_row **ranked = arena_alloc(arena, (size_t)report->row_count * sizeof *ranked);
    uint64_t count = 0;
    if (ranking == NULL || ranked == NULL) {
        return mem_error(arena->mem, "a table of points", err);
    }
    for (uint64_t i = 0; i < report->row_count; i++) {
        if (is_ranked(&rows[i])) {
            ranking[count++] = (struct ranking){first_on_network(rows, &rows[i]),
                                                report_sweep_figure(&rows[i].result, report->by), &rows[i]};
        }
    }
    if (count > 0) {
        qsort(ranking, count, sizeof *ranking, api_sweep_compare);
    }
    for (uint64_t i = 0; i < count; i++) {
        bool first = i == 0 || ranking[i].network != ranking[i - 1].network;
        ranking[i].row->rank = first ? 1 : ranking[i - 1].row->rank + 1;
        ranking[i].row->best = first ? ranking[i].figure : ranking[i - 1].row->best;
        ranked[i] = ranking[i].row;
    }
    report->ranked = ranked;
    report->ranked_count = count;
    return ORR_OK;
}

static enum orr_status make_rows(const struct orr_sweep *sweep, struct arena *arena, struct report_sweep *report,
                                 struct orr_error *err)
{
    const struct orr_sweep_plan *plan = sweep->options->plan;
    uint32_t keys = plan->key_count;
    const char **names = arena_alloc(arena, keys * sizeof *names);
    const char **values = arena_alloc(arena, (size_t)sweep->points * keys * sizeof *values);
    struct report_sweep_row *rows = arena_alloc(arena, (size_t)sweep->points * sizeof *rows);
    if (names == NULL || values == NULL || rows == NULL) {
        return mem_error(arena->mem, "a table of points", err);
    }
    for (uint32_t key = 0; key < keys; key++) {
        names[key] = plan->keys[key].said.name;
    }
    for (uint64_t i = 0; i < sweep->points; i++) {
        rows[i] =
            (struct report_sweep_row){.point = i + 1, .result = sweep->results[i], .values = values + (size_t)i * keys};
        rows[i].result.error = rows[i].result.error != NULL ? rows[i].result.error : "";
        rows[i].result.network = rows[i].result.network != NULL ? rows[i].result.network : "";
        for (uint32_t key = 0; key < keys; key++) {
            values[(size_t)i * keys + key] = orr_sweep_plan_value(plan, i, key);
        }
    }
    report->keys = names;
    report->key_count = keys;
    report->rows = rows;
    report->row_count = sweep->points;
    return rank_rows(report, rows, arena, err);
}

static void api_sweep_put(const struct report_sweep *report, enum orr_sweep_form form, uint64_t best, FILE *stream)
{
    if (form == ORR_SWEEP_TEXT || form == ORR_SWEEP_CHART) {
        (form == ORR_SWEEP_TEXT ? report_sweep_text : report_sweep_chart)(report, best, stream);
    } else {
        (form == ORR_SWEEP_CSV ? report_sweep_csv : report_sweep_json)(report, stream);
    }
}

static enum orr_status api_sweep_put_file(const struct report_sweep *report, enum orr_sweep_form form, uint64_t best,
                                          const char *path, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_make_folder_above(path, err);
    if (status == ORR_OK) {
        status = io_outfile_open(path, io_outfile_form_of(path), &file, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    api_sweep_put(report, form, best, io_outfile_stream(file));
    return io_outfile_commit(file, err);
}

enum orr_status orr_sweep_write(const struct orr_sweep *sweep, enum orr_sweep_form form, enum orr_sweep_rank by,
                                uint64_t best, const char *path, FILE *stream, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct report_sweep report = {.name = orr_sweep_plan_name(sweep->options->plan), .by = by, .counts = sweep->now};
    arena_init(&arena, &mem);
    enum orr_status status = make_rows(sweep, &arena, &report, err);
    if (status == ORR_OK && path != NULL) {
        status = api_sweep_put_file(&report, form, best, path, err);
    } else if (status == ORR_OK) {
        api_sweep_put(&report, form, best, stream);
        status = error_of_stream(stream, "the table", err);
    }
    arena_free(&arena);
    return status;
}
