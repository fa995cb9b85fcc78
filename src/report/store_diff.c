/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two runs is first made into rows (what, before, after) and only then written, so that text and JSON
 * cannot disagree. A run's columns that are also settings (backend, topology …) are told once, as settings.
 */
#include "report/store_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/chart.h"
#include "report/number.h"

enum figure_kind { FIGURE_TIME, FIGURE_COUNT, FIGURE_BYTES };

struct figure {
    const char *name, *key; /* for people, in JSON */
    enum figure_kind kind;
    bool known[2];
    double value[2];
};

enum { FIGURES_MOST = 16 };

struct figures {
    struct figure rows[FIGURES_MOST];
    uint32_t count;
};

/* Writes rows for whoever reads. */
struct diff_writer {
    FILE *stream;
    struct json_writer *json; /* NULL: text */
    int64_t ids[2];
    bool titled; /* the current section has its title */
    const char *title;
};

/* ---- results ---- */

static void report_store_diff_add(struct figures *figures, const char *name, const char *key, enum figure_kind kind,
                                  const struct store_view *before, const struct store_view *after, double a, double b)
{
    figures->rows[figures->count++] = (struct figure){
        name, key, kind, {before->run.has_results && !isnan(a), after->run.has_results && !isnan(b)}, {a, b}};
}

static double per_step(const struct store_run *run)
{
    return run->steps > 0 ? (double)run->total_ns / (double)run->steps : (double)NAN;
}

static void find_figures(const struct store_view *a, const struct store_view *b, struct figures *figures)
{
    static const char *const names[STORE_SPREADS] = {"last rank's end", "compute, median", "exposed comm., median",
                                                     "exposed other, median", "idle, median"};
    static const char *const keys[STORE_SPREADS] = {"finish_max_ns", "compute_median_ns", "exposed_comm_median_ns",
                                                    "exposed_other_median_ns", "idle_median_ns"};
    const struct store_run *x = &a->run;
    const struct store_run *y = &b->run;
    *figures = (struct figures){.count = 0};
    report_store_diff_add(figures, "simulated time", "total_ns", FIGURE_TIME, a, b, (double)x->total_ns,
                          (double)y->total_ns);
    report_store_diff_add(figures, "per step", "step_ns", FIGURE_TIME, a, b, per_step(x), per_step(y));
    report_store_diff_add(figures, "communication", "comm_ns", FIGURE_TIME, a, b, (double)x->comm_ns,
                          (double)y->comm_ns);
    report_store_diff_add(figures, "compute", "compute_ns", FIGURE_TIME, a, b, (double)x->compute_ns,
                          (double)y->compute_ns);
    for (uint32_t i = 0; i < STORE_SPREADS; i++) {
        const struct store_spread *s = &a->spreads[i];
        const struct store_spread *t = &b->spreads[i];
        double u = a->rank_count == 0 ? (double)NAN : (double)(i == 0 ? s->max_ns : s->median_ns);
        double v = b->rank_count == 0 ? (double)NAN : (double)(i == 0 ? t->max_ns : t->median_ns);
        report_store_diff_add(figures, names[i], keys[i], FIGURE_TIME, a, b, u, v);
    }
    report_store_diff_add(figures, "ranks", "world", FIGURE_COUNT, a, b, (double)x->world, (double)y->world);
    report_store_diff_add(figures, "messages", "messages", FIGURE_COUNT, a, b, (double)x->messages,
                          (double)y->messages);
    report_store_diff_add(figures, "events", "events", FIGURE_COUNT, a, b, (double)x->events, (double)y->events);
    report_store_diff_add(figures, "took", "wall_ns", FIGURE_TIME, a, b, (double)x->wall_ms * 1e6,
                          (double)y->wall_ms * 1e6);
    report_store_diff_add(figures, "peak memory", "peak_bytes", FIGURE_BYTES, a, b, (double)x->peak_bytes,
                          (double)y->peak_bytes);
}

static const struct store_collective *report_store_diff_same_kind(const struct store_view *view,
                                                                  const struct store_collective *row)
{
    for (uint32_t i = 0; i < view->collective_count; i++) {
        const struct store_collective *other = &view->collectives[i];
        if (strcmp(other->type, row->type) == 0 && other->group_size == row->group_size && other->bytes == row->bytes) {
            return other;
        }
    }
    return NULL;
}

bool store_same_results(const struct store_view *before, const struct store_view *after)
{
    const struct store_run *x = &before->run;
    const struct store_run *y = &after->run;
    bool same = strcmp(x->state, y->state) == 0 && x->has_results == y->has_results && x->total_ns == y->total_ns &&
                x->comm_ns == y->comm_ns && x->compute_ns == y->compute_ns && x->world == y->world &&
                before->rank_count == after->rank_count && before->finished_count == after->finished_count &&
                before->collective_count == after->collective_count;
    for (uint32_t i = 0; same && before->rank_count > 0 && i < STORE_SPREADS; i++) {
        const struct store_spread *s = &before->spreads[i];
        const struct store_spread *t = &after->spreads[i];
        same = s->min_ns == t->min_ns && s->median_ns == t->median_ns && s->max_ns == t->max_ns;
    }
    for (uint32_t i = 0; same && i < before->collective_count; i++) {
        const struct store_collective *row = &before->collectives[i];
        const struct store_collective *other = report_store_diff_same_kind(after, row);
        same = other != NULL && other->count == row->count && other->total_ns == row->total_ns;
    }
    return same;
}

static struct report_number amount(const struct figure *figure, int which)
{
    double value = figure->value[which];
    if (!figure->known[which]) {
        return (struct report_number){"-"};
    }
    return figure->kind == FIGURE_TIME    ? report_time(value)
           : figure->kind == FIGURE_BYTES ? report_bytes(value)
                                          : report_fixed(value, 0);
}

/* "+12.3%", "=", or "-" where there is nothing to compare with. */
static struct report_number change(const struct figure *figure)
{
    struct report_number number = {"-"};
    double a = figure->value[0];
    double b = figure->value[1];
    if (!figure->known[0] || !figure->known[1]) {
        return number;
    }
    if (a == b) {
        return (struct report_number){"="};
    }
    if (a != 0) {
        (void)snprintf(number.text, sizeof number.text, "%s%.37s%%", b > a ? "+" : "",
                       report_fixed(100 * (b - a) / a, 2).text);
    }
    return number;
}

static void write_figure(struct diff_writer *writer, const struct figure *figure)
{
    if (writer->json == NULL && !figure->known[0] && !figure->known[1]) {
        return;
    }
    if (writer->json == NULL) {
        (void)fprintf(writer->stream, "  %-22s %12s %12s %10s\n", figure->name, amount(figure, 0).text,
                      amount(figure, 1).text, change(figure).text);
        return;
    }
    json_write_member_array(writer->json, figure->key, true);
    for (int i = 0; i < 2; i++) {
        json_write_fixed(writer->json, figure->known[i] ? figure->value[i] : (double)NAN, 0);
    }
    json_write_array_end(writer->json);
}

/* ---- texts that differ ---- */

/* NULL: that run has none. */
static void write_texts(struct diff_writer *writer, const char *name, const char *before, const char *after)
{
    const char *texts[2] = {before, after};
    if (before != NULL && after != NULL && strcmp(before, after) == 0) {
        return;
    }
    if (writer->json != NULL) {
        json_write_object(writer->json, true);
        json_write_member_string(writer->json, "name", name);
        json_write_member_string(writer->json, "before", before);
        json_write_member_string(writer->json, "after", after);
        json_write_object_end(writer->json);
        return;
    }
    if (!writer->titled) {
        (void)fprintf(writer->stream, "%s\n", writer->title);
        writer->titled = true;
    }
    for (int i = 0; i < 2; i++) {
        (void)fputs("  ", writer->stream);
        store_text_put(i == 0 ? name : "", writer->stream);
        (void)fprintf(writer->stream, "%*s  %6" PRId64 ": ",
                      i == 0 && strlen(name) >= 20 ? 0 : 20 - (int)(i == 0 ? strlen(name) : 0), "", writer->ids[i]);
        store_text_put(texts[i] == NULL ? "-" : texts[i], writer->stream);
        (void)fputc('\n', writer->stream);
    }
}

static void section(struct diff_writer *writer, const char *title, const char *key)
{
    writer->title = title;
    writer->titled = false;
    if (writer->json != NULL) {
        json_write_member_array(writer->json, key, false);
    }
}

static void section_end(struct diff_writer *writer)
{
    if (writer->json != NULL) {
        json_write_array_end(writer->json);
    }
}

static const char *setting_of(const struct store_view *view, const char *key)
{
    for (uint32_t i = 0; i < view->setting_count; i++) {
        if (strcmp(view->settings[i].key, key) == 0) {
            return view->settings[i].value;
        }
    }
    return NULL;
}

static const char *or_null(const char *text)
{
    return text[0] == '\0' ? NULL : text;
}

static void write_columns(struct diff_writer *writer, const struct store_view *a, const struct store_view *b)
{
    const struct store_run *x = &a->run;
    const struct store_run *y = &b->run;
    struct report_number numbers[4] = {report_count(x->seed), report_count(y->seed), report_count(x->source_world),
                                       report_count(y->source_world)};
    const struct {
        const char *key, *before, *after;
    } columns[] = {{"state", x->state, y->state},
                   {"version", x->version, y->version},
                   {"kind", x->kind, y->kind},
                   {"tag", or_null(x->tag), or_null(y->tag)},
                   {"backend", or_null(x->backend), or_null(y->backend)},
                   {"topology", or_null(x->topology), or_null(y->topology)},
                   {"logical-dims", or_null(x->dims), or_null(y->dims)},
                   {"comm-scale", or_null(x->comm_scale), or_null(y->comm_scale)},
                   {"seed", numbers[0].text, numbers[1].text},
                   {"traces", numbers[2].text, numbers[3].text}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        bool told = setting_of(a, columns[i].key) != NULL || setting_of(b, columns[i].key) != NULL;
        if (!told && (columns[i].before != NULL || columns[i].after != NULL)) {
            write_texts(writer, columns[i].key, columns[i].before, columns[i].after);
        }
    }
}

/* Both lists are sorted by key. */
static void report_store_diff_write_settings(struct diff_writer *writer, const struct store_view *a,
                                             const struct store_view *b)
{
    uint32_t i = 0;
    uint32_t k = 0;
    while (i < a->setting_count || k < b->setting_count) {
        int order = i == a->setting_count   ? 1
                    : k == b->setting_count ? -1
                                            : strcmp(a->settings[i].key, b->settings[k].key);
        const char *name = order <= 0 ? a->settings[i].key : b->settings[k].key;
        const char *before = order <= 0 ? a->settings[i++].value : NULL;
        const char *after = order >= 0 ? b->settings[k++].value : NULL;
        write_texts(writer, name, before, after);
    }
}

/* The input of `view` that is in the same place among those of its role; NULL: there is none. */
static const struct store_input *counterpart(const struct store_view *from, uint32_t at, const struct store_view *view)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < at; i++) {
        place += strcmp(from->inputs[i].role, from->inputs[at].role) == 0 ? 1 : 0;
    }
    for (uint32_t i = 0; i < view->input_count; i++) {
        if (strcmp(view->inputs[i].role, from->inputs[at].role) == 0 && place-- == 0) {
            return &view->inputs[i];
        }
    }
    return NULL;
}

static const char *input_text(const struct store_input *input, char *text, size_t room)
{
    if (input == NULL) {
        return NULL;
    }
    (void)snprintf(text, room, "%.16s  %s", input->hash, input->path);
    return text;
}

static void report_store_diff_write_inputs(struct diff_writer *writer, const struct store_view *a,
                                           const struct store_view *b)
{
    char before[512];
    char after[512];
    for (uint32_t i = 0; i < a->input_count; i++) {
        const struct store_input *other = counterpart(a, i, b);
        if (other == NULL || strcmp(other->hash, a->inputs[i].hash) != 0) {
            write_texts(writer, a->inputs[i].role, input_text(&a->inputs[i], before, sizeof before),
                        input_text(other, after, sizeof after));
        }
    }
    for (uint32_t i = 0; i < b->input_count; i++) {
        if (counterpart(b, i, a) == NULL) {
            write_texts(writer, b->inputs[i].role, NULL, input_text(&b->inputs[i], after, sizeof after));
        }
    }
}

/* ---- collectives ---- */

static const char *collective_text(const struct store_collective *row, char *text, size_t room)
{
    if (row == NULL || row->count == 0) {
        return NULL;
    }
    (void)snprintf(text, room, "%s each, %" PRIu64 " of them",
                   report_time((double)row->total_ns / (double)row->count).text, row->count);
    return text;
}

static void report_store_diff_write_collectives(struct diff_writer *writer, const struct store_view *a,
                                                const struct store_view *b)
{
    char name[96];
    char before[96];
    char after[96];
    for (int pass = 0; pass < 2; pass++) {
        const struct store_view *from = pass == 0 ? a : b;
        for (uint32_t i = 0; i < from->collective_count; i++) {
            const struct store_collective *row = &from->collectives[i];
            const struct store_collective *other = report_store_diff_same_kind(pass == 0 ? b : a, row);
            if (pass == 1 && other != NULL) {
                continue; /* told already */
            }
            const char *mine = collective_text(row, before, sizeof before);
            const char *theirs = collective_text(other, after, sizeof after);
            (void)snprintf(name, sizeof name, "%.40s %s x%" PRIu64, row->type, report_bytes((double)row->bytes).text,
                           row->group_size);
            write_texts(writer, name, pass == 0 ? mine : theirs, pass == 0 ? theirs : mine);
        }
    }
}

/* ---- all of it ---- */

static void report_store_diff_write_all(struct diff_writer *writer, const struct store_view *before,
                                        const struct store_view *after)
{
    struct figures figures;
    section(writer, "Settings that differ", "settings");
    write_columns(writer, before, after);
    report_store_diff_write_settings(writer, before, after);
    section_end(writer);
    section(writer, "Inputs that differ", "inputs");
    report_store_diff_write_inputs(writer, before, after);
    section_end(writer);
    section(writer, "Collectives that differ", "collectives");
    report_store_diff_write_collectives(writer, before, after);
    section_end(writer);
    find_figures(before, after, &figures);
    if (writer->json == NULL) {
        (void)fprintf(writer->stream, "Results\n  %-22s %12" PRId64 " %12" PRId64 " %10s\n", "run", writer->ids[0],
                      writer->ids[1], "change");
    } else {
        json_write_member_object(writer->json, "results", false);
    }
    for (uint32_t i = 0; i < figures.count; i++) {
        write_figure(writer, &figures.rows[i]);
    }
    if (writer->json != NULL) {
        json_write_object_end(writer->json);
    }
}

void store_text_diff(const struct store_view *before, const struct store_view *after, FILE *stream)
{
    struct diff_writer writer = {.stream = stream, .ids = {before->run.id, after->run.id}};
    report_store_diff_write_all(&writer, before, after);
    (void)fprintf(stream, "%s\n",
                  store_same_results(before, after) ? "The simulated results are the same."
                                                    : "The simulated results differ.");
}

void store_json_diff(const struct store_view *before, const struct store_view *after, FILE *stream)
{
    struct json_writer json;
    struct diff_writer writer = {.stream = stream, .json = &json, .ids = {before->run.id, after->run.id}};
    json_write_document(&json, stream);
    json_write_member_i64(&json, "before", before->run.id);
    json_write_member_i64(&json, "after", after->run.id);
    report_store_diff_write_all(&writer, before, after);
    json_write_member_bool(&json, "same", store_same_results(before, after));
    json_write_document_end(&json);
}

/* ---- the chart ---- */

/* Times alone: counts and bytes have another scale, and how long it took to simulate is no result. */
void store_chart_diff(const struct store_view *before, const struct store_view *after, FILE *stream)
{
    struct figures figures;
    struct chart_bar bars[2 * FIGURES_MOST] = {{0}};
    struct report_number values[2 * FIGURES_MOST];
    struct report_number changes[FIGURES_MOST];
    char title[160];
    char names[2][32];
    struct chart_bars chart = {.title = title, .parts = {names[0], names[1]}, .bars = bars};
    find_figures(before, after, &figures);
    for (int which = 0; which < 2; which++) {
        (void)snprintf(names[which], sizeof names[which], "run %" PRId64, which == 0 ? before->run.id : after->run.id);
    }
    (void)snprintf(title, sizeof title, "runs %" PRId64 " and %" PRId64, before->run.id, after->run.id);
    for (uint32_t i = 0; i < figures.count; i++) {
        const struct figure *figure = &figures.rows[i];
        if (figure->kind != FIGURE_TIME || !figure->known[0] || !figure->known[1] ||
            strcmp(figure->key, "wall_ns") == 0 || (figure->value[0] == 0 && figure->value[1] == 0)) {
            continue;
        }
        changes[i] = change(figure);
        for (int which = 0; which < 2; which++) {
            struct chart_bar *bar = &bars[chart.count];
            values[chart.count] = amount(figure, which);
            bar->label = which == 0 ? figure->name : changes[i].text;
            bar->value = values[chart.count].text;
            bar->parts[which] = figure->value[which];
            chart.count++;
        }
    }
    chart_bars_put(&chart, stream);
}
