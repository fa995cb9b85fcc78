/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison for a terminal and as a page. One list of columns serves both, so that a figure on the page is the one
 * that was printed; rows that a constant was fitted on stand apart and are named so.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "io/outfile.h"
#include "report/scatter.h"
#include "train/framework.h"
#include "train/validate.h"

enum { PAGE_CELL = 24, PAGE_COLUMNS = 16 };

/* ---- goals: what the project wants of a source, mean error in percent ---- */

struct page_goal {
    const char *source;
    double must, aim;
};

static const struct page_goal page_steps[] = {
    {"ultrascale", 15, 8},     {"vtrain-single", 7, 4}, {"vtrain-multi", 9, 6},         {"llm-foundry", 7, 4},
    {"llm-foundry-dev", 7, 4}, {"nvidia-dgxc", 7, 4},   {"megatron-bridge", 15, 8},     {"bigscience-a100", 8, 5},
    {"simumax-b200", 6, 4},    {"h200-steps", 7, 4},    {"megatron-lm-golden", 25, 12}, {NULL, 12, 6}, /* others */
};

static const struct page_goal page_memory[] = {
    {"ultrascale", 10, 5}, {"simumax-b200", 8, 4}, {"h200-steps", 10, 5}, {NULL, 0, 0}};

static const struct page_goal *page_goal_of(const struct page_goal *goals, const char *source)
{
    while (goals->source != NULL && strcmp(goals->source, source) != 0) {
        goals++;
    }
    return goals;
}

/* ---- tables ---- */

struct page_row {
    char cells[PAGE_COLUMNS][PAGE_CELL];
    uint32_t count;
};

static void page_put(struct page_row *row, const char *format, ...) ORR_PRINTF(2, 3);

static void page_put(struct page_row *row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)plain_vsnprintf(row->cells[row->count++], PAGE_CELL, format, args);
    va_end(args);
}

static void page_put_errors(struct page_row *row, const struct orr_train_table_result *sum)
{
    if (sum->measured == 0) {
        for (int i = 0; i < 5; i++) {
            page_put(row, "%s", "");
        }
        return;
    }
    page_put(row, "%.1f", 100 * sum->mean);
    page_put(row, "%.1f", 100 * sum->median);
    page_put(row, "%.1f", 100 * sum->p90);
    page_put(row, "%.0f", 100 * sum->worst);
    page_put(row, "%+.1f", 100 * sum->bias);
}

static void page_put_mean(struct page_row *row, const struct orr_train_table_result *sum)
{
    if (sum->measured > 0) {
        page_put(row, "%.1f", 100 * sum->mean);
    } else {
        page_put(row, "%s", "");
    }
}

static void page_put_goal(struct page_row *row, const struct page_goal *goal)
{
    if (goal->must > 0) {
        page_put(row, "%.0f / %.0f", goal->must, goal->aim);
    } else {
        page_put(row, "%s", "");
    }
}

static void page_put_name(struct page_row *row, const struct validate_source *source)
{
    page_put(row, "%s%s", source->name, source->is_other_quality ? " (C)" : "");
}

typedef bool page_make(const struct validate_source *source, uint32_t part, struct page_row *row);

static bool page_step_row(const struct validate_source *source, uint32_t part, struct page_row *row)
{
    const struct validate_figures *f = &source->parts[part];
    if (f->step.rows == 0) {
        return false;
    }
    page_put_name(row, source);
    page_put(row, "%" PRIu64, f->step.rows);
    page_put(row, "%" PRIu64, f->step.measured);
    page_put_errors(row, &f->step);
    page_put_mean(row, &f->unseen);
    page_put_mean(row, &f->pieces);
    page_put_mean(row, &f->constant);
    page_put_goal(row, page_goal_of(page_steps, source->name));
    return true;
}

static bool page_cell_row(const struct validate_source *source, uint32_t part, struct page_row *row)
{
    const struct validate_figures *f = &source->parts[part];
    if (f->cells == 0) {
        return false;
    }
    page_put_name(row, source);
    page_put(row, "%" PRIu32, f->cells);
    page_put(row, "%.3f", f->rank);
    page_put(row, "%.1f", 100 * f->regret);
    page_put(row, "%.1f", 100 * f->worst_regret);
    return true;
}

static bool page_memory_row(const struct validate_source *source, uint32_t part, struct page_row *row)
{
    const struct validate_figures *f = &source->parts[part];
    if (f->memory.measured == 0) {
        return false;
    }
    page_put_name(row, source);
    page_put(row, "%" PRIu64, f->memory.measured);
    page_put_errors(row, &f->memory);
    page_put_goal(row, page_goal_of(page_memory, source->name));
    return true;
}

static bool page_bar_row(const struct validate_source *source, uint32_t part, struct page_row *row)
{
    const struct validate_figures *f = &source->parts[part];
    if (f->bars == 0) {
        return false;
    }
    page_put_name(row, source);
    page_put(row, "%" PRIu32, f->bars);
    page_put(row, "%.1f", 100 * f->told);
    page_put(row, "%.0f", 100.0 * f->within / f->bars);
    return true;
}

static bool page_fits_row(const struct validate_source *source, uint32_t part, struct page_row *row)
{
    const struct validate_figures *f = &source->parts[part];
    if (f->ran + f->failed == 0) {
        return false;
    }
    page_put_name(row, source);
    page_put(row, "%" PRIu32, f->ran);
    page_put(row, "%" PRIu32, f->ran_right);
    page_put(row, "%" PRIu32, f->failed);
    page_put(row, "%" PRIu32, f->failed_right);
    page_put(row, "%.1f", 100.0 * (f->ran_right + f->failed_right) / (f->ran + f->failed));
    return true;
}

struct page_table {
    const char *title, *about;
    const char *columns; /* a | between two */
    page_make *make;
};

static const struct page_table page_tables[] = {
    {"Steps",
     "Predicted / measured - 1 in percent: mean, median, 90th percentile and worst of its size, and its mean with the "
     "sign (bias). Measured runs near a job move its prediction; a run's own cell (model and GPUs, of any source) is "
     "left "
     "out of them. *Unseen* is the mean error where all of its source is left out too, as for machines and teams of "
     "which nobody has measured anything yet; *by pieces* where no run is asked at all. *One MFU* is the "
     "mean "
     "error of a constant: the median MFU of the other runs of the same source, GPU and dtype. *Goal* is what the "
     "project wants: at most, and better.",
     "source|runs|predicted|mean|median|90th|worst|bias|unseen|by pieces|one MFU|goal", page_step_row},
    {"Error bars",
     "The error that a prediction tells of itself, mean in percent, and the share of runs that are no further off (it "
     "means to be two of three).",
     "source|runs|told|within", page_bar_row},
    {"Settings of one job",
     "A cell is one model on one number of GPUs with one batch, and at least five ways to divide it. Rank: correlation "
     "(Spearman) of predicted and measured times, mean over cells; regret: how much longer than the measured best the "
     "predicted best takes, in percent, mean and worst.",
     "source|cells|rank|regret|worst", page_cell_row},
    {"Memory", "Of a GPU, as the steps above.", "source|runs|mean|median|90th|worst|bias|goal", page_memory_row},
    {"Fits or not",
     "Runs that ran and are said to fit; configurations whose authors could not run them and that are said not to fit; "
     "the share of both that is right, in percent (goal: 95, better 99).",
     "source|ran|said to fit|failed|said not to|right", page_fits_row},
};

enum { PAGE_TABLES = sizeof page_tables / sizeof page_tables[0] };

static void page_columns(const char *columns, struct page_row *row)
{
    row->count = 0;
    for (const char *at = columns;; at++) {
        size_t length = strcspn(at, "|");
        page_put(row, "%.*s", (int)length, at);
        at += length;
        if (*at == '\0') {
            return;
        }
    }
}

static void page_print_row(const struct page_row *row, bool is_page, FILE *stream)
{
    for (uint32_t i = 0; i < row->count; i++) {
        if (is_page) {
            (void)fprintf(stream, "| %s ", row->cells[i]);
        } else {
            (void)fprintf(stream, i == 0 ? "%-24s" : " %11s", row->cells[i]);
        }
    }
    (void)fputs(is_page ? "|\n" : "\n", stream);
}

static struct validate_source page_total(const struct validate *v, uint32_t part)
{
    struct validate_source all = {.name = "all"};
    for (uint32_t i = 0; i < v->source_count; i++) {
        const struct validate_figures *one = &v->sources[i].parts[part];
        all.parts[part].ran += one->ran;
        all.parts[part].ran_right += one->ran_right;
        all.parts[part].failed += one->failed;
        all.parts[part].failed_right += one->failed_right;
        all.parts[part].bars += one->bars;
        all.parts[part].within += one->within;
        all.parts[part].told += one->told * one->bars;
    }
    all.parts[part].told /= all.parts[part].bars > 0 ? all.parts[part].bars : 1;
    return all;
}

static void page_print_part(const struct validate *v, const struct page_table *table, uint32_t part, bool is_page,
                            FILE *stream)
{
    static const char *const parts[] = {"Validation: no constant was fitted on these runs", "Fitted on: no validation"};
    bool any = false;
    for (uint32_t i = 0; i < v->source_count; i++) {
        struct page_row row = {.count = 0};
        if (!table->make(&v->sources[i], part, &row)) {
            continue;
        }
        if (!any) {
            struct page_row head;
            page_columns(table->columns, &head);
            (void)fprintf(stream, is_page ? "\n**%s.**\n\n" : "\n%s\n", parts[part]);
            page_print_row(&head, is_page, stream);
            for (uint32_t k = 0; is_page && k < head.count; k++) {
                (void)fputs(k == 0 ? "|---" : "|--:", stream);
            }
            (void)fputs(is_page ? "|\n" : "", stream);
        }
        any = true;
        page_print_row(&row, is_page, stream);
    }
    struct validate_source all = page_total(v, part);
    struct page_row row = {.count = 0};
    if (any && (table->make == page_fits_row || table->make == page_bar_row) && table->make(&all, part, &row)) {
        page_print_row(&row, is_page, stream);
    }
}

void validate_print(const struct validate *v, FILE *stream)
{
    for (size_t i = 0; i < PAGE_TABLES; i++) {
        (void)fprintf(stream, "%s%s\n", i == 0 ? "" : "\n", page_tables[i].title);
        for (uint32_t part = 0; part < VALIDATE_PARTS; part++) {
            page_print_part(v, &page_tables[i], part, false, stream);
        }
    }
}

/* ---- the page ---- */

static void page_print_fits(const struct validate *v, FILE *stream)
{
    (void)fputs(
        "\n## What was fitted on what\n\n"
        "A framework's numbers (`presets/frameworks/`) are fitted by `tools/fit-frameworks` on the fitted half of "
        "a source's runs of quality A and B: whole cells (source, model, GPUs) for which bit 0 of FNV-1a of "
        "`source|model|gpus` is 0 (`tools/split-runs`, `orr_train_run_is_fitted`). Times of operators and of "
        "collectives come from measurements of their own ([operators](accuracy-operators.md), "
        "[collectives](accuracy-collectives.md)), none of which is a training run.\n\n"
        "| framework | numbers | fitted on half of |\n|---|---|---|\n",
        stream);
    for (size_t i = 0; framework_at(i) != NULL; i++) {
        const struct framework *framework = framework_at(i);
        if (framework->fit_sources[0] != '\0') {
            (void)fprintf(stream, "| %s | %s | %s |\n", framework->name, framework->fit_numbers,
                          framework->fit_sources);
        }
    }
    (void)fputs("\nFitted on all, so that nothing of them counts as validation:", stream);
    const char *before = " ";
    for (uint32_t i = 0; i < v->source_count; i++) {
        if (v->sources[i].fit == VALIDATE_ALL) {
            (void)fprintf(stream, "%s%s", before, v->sources[i].name);
            before = ", ";
        }
    }
    (void)fputs(before[0] == ' ' ? " none.\n" : ".\n", stream);
}

/* A picture restates what was measured, which others may not allow: of sources that the program carries alone. */
static bool page_is_drawn(const struct validate_source *source)
{
    return source->is_carried && source->most_s > 0;
}

static void page_write(const struct validate *v, FILE *stream)
{
    (void)fprintf(stream,
                  "# Training steps: predicted against measured\n\n"
                  "Made by `orrery validate` ([how](train.md)) from the runs in [data/runs](../data/runs/README.md)%s. "
                  "Rows of quality %s count; a source that has none of them is shown by what it has and marked (C). A "
                  "run that a constant was fitted on is never validation: it stands in a table of its own.\n",
                  v->request->folder_count > 0 ? " and from further published runs" : "",
                  v->request->quality != NULL ? v->request->quality : "A and B");
    for (size_t i = 0; i < PAGE_TABLES; i++) {
        (void)fprintf(stream, "\n## %s\n\n%s\n", page_tables[i].title, page_tables[i].about);
        for (uint32_t part = 0; part < VALIDATE_PARTS; part++) {
            page_print_part(v, &page_tables[i], part, true, stream);
        }
    }
    page_print_fits(v, stream);
    (void)fputs("\n## Pictures\n\nSeconds of a step, measured to the right and predicted upwards, of the sources that "
                "the program carries.\n\n",
                stream);
    for (uint32_t i = 0; i < v->source_count; i++) {
        if (page_is_drawn(&v->sources[i])) {
            (void)fprintf(stream, "![%s](pictures/accuracy-%s.svg)\n", v->sources[i].name, v->sources[i].name);
        }
    }
}

static void page_draw(const struct validate *v, uint32_t source, FILE *stream)
{
    const struct validate_source *what = &v->sources[source];
    struct scatter scatter = {
        .first = (int)floor(log10(what->least_s)), .last = (int)ceil(log10(what->most_s)), .unit = "s"};
    scatter.last = scatter.last > scatter.first ? scatter.last : scatter.first + 1;
    scatter_begin(&scatter, stream);
    for (uint32_t part = 0; part < VALIDATE_PARTS; part++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.40s: %s", what->name, part == VALIDATE_JUDGED ? "validation" : "fitted");
        if (what->parts[part].step.measured > 0) {
            scatter_name(part, name, stream);
        }
    }
    for (uint32_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if (row->source == source && !row->is_failed) {
            scatter_dot(&scatter, row->part, row->row->measured_s, (double)row->row->result.step_ns * 1e-9, stream);
        }
    }
    scatter_end(stream);
}

/* A source's name comes from a table: what cannot be in a file's name is refused. */
static enum orr_status page_picture(const struct validate *v, uint32_t source, const char *page, struct orr_error *err)
{
    char path[4096];
    struct io_outfile *file = NULL;
    const char *slash = strrchr(page, '/'), *name = v->sources[source].name;
    if (name[0] == '\0' || strpbrk(name, "/\\<>&\"") != NULL) {
        return error_set(err, ORR_EINVAL, "source '%s' cannot name a picture", name);
    }
    (void)snprintf(path, sizeof path, "%.*spictures/accuracy-%s.svg", slash != NULL ? (int)(slash + 1 - page) : 0, page,
                   name);
    enum orr_status status = io_make_folder_above(path, err);
    status = status != ORR_OK ? status : io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        page_draw(v, source, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}

enum orr_status validate_write_page(const struct validate *v, const char *path, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < v->source_count && status == ORR_OK; i++) {
        if (page_is_drawn(&v->sources[i])) {
            status = page_picture(v, i, path, err);
        }
    }
    status = status != ORR_OK ? status : io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        page_write(v, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}
