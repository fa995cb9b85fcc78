/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists grow with the store, so columns are measured over the rows themselves instead of being copied into a table of
 * bounded size. Control characters in users' texts are shown as '?', so that a tag cannot break a line.
 */
#include "report/store_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/number.h"

enum { LIST_COLUMNS = 10, CELL = 48 };

const char *store_input_word(enum store_input_now now)
{
    static const char *const words[] = {[STORE_INPUT_UNSEEN] = "",
                                        [STORE_INPUT_SAME] = "unchanged",
                                        [STORE_INPUT_CHANGED] = "changed",
                                        [STORE_INPUT_GONE] = "gone"};
    return words[now];
}

void store_text_put(const char *text, FILE *stream)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        (void)fputc(byte < 0x20 || byte == 0x7f ? '?' : byte, stream);
    }
}

static int report_store_text_width_of(const char *text, int width)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

/* ---- the list ---- */

static const char *const list_heads[LIST_COLUMNS] = {"run",     "state", "started",   "tag",      "backend",
                                                     "machine", "ranks", "simulated", "per step", "communication"};
static const unsigned list_left = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5;

static void report_store_text_cell_of(const struct store_run *run, uint32_t column, char cell[CELL])
{
    const char *texts[] = {"", run->state, run->started, run->tag, run->backend, run->topology};
    struct report_number number = {"-"};
    switch (column) {
    case 0:
        (void)snprintf(cell, CELL, "%" PRId64, run->id);
        return;
    case 6:
        number = report_count(run->world);
        break;
    case 7:
        number = run->has_results ? report_time((double)run->total_ns) : number;
        break;
    case 8:
        number = run->has_results && run->steps > 0 ? report_time((double)run->total_ns / (double)run->steps) : number;
        break;
    case 9:
        number = run->has_results ? report_time((double)run->comm_ns) : number;
        break;
    default:
        (void)snprintf(cell, CELL, "%s", texts[column][0] == '\0' ? "-" : texts[column]);
        return;
    }
    (void)snprintf(cell, CELL, "%s", number.text);
}

static void put_padded(const char *text, int width, bool left, bool last, FILE *stream)
{
    int padding = width - (int)strlen(text);
    if (!left) {
        (void)fprintf(stream, "%*s", padding, "");
    }
    store_text_put(text, stream);
    if (left && !last) {
        (void)fprintf(stream, "%*s", padding, "");
    }
}

void store_text_list(const struct store_run *runs, uint32_t count, FILE *stream)
{
    char cell[CELL];
    int widths[LIST_COLUMNS];
    if (count == 0) {
        (void)fputs("No runs.\n", stream);
        return;
    }
    for (uint32_t column = 0; column < LIST_COLUMNS; column++) {
        widths[column] = (int)strlen(list_heads[column]);
        for (uint32_t i = 0; i < count; i++) {
            report_store_text_cell_of(&runs[i], column, cell);
            widths[column] = report_store_text_width_of(cell, widths[column]);
        }
    }
    for (uint32_t row = 0; row <= count; row++) {
        for (uint32_t column = 0; column < LIST_COLUMNS; column++) {
            if (row > 0) {
                report_store_text_cell_of(&runs[row - 1], column, cell);
            }
            (void)fputs(column > 0 ? "  " : "", stream);
            put_padded(row == 0 ? list_heads[column] : cell, widths[column], (list_left >> column & 1) != 0,
                       column + 1 == LIST_COLUMNS, stream);
        }
        (void)fputc('\n', stream);
    }
}

/* ---- one run ---- */

static void line(const char *name, const char *text, FILE *stream)
{
    if (text[0] != '\0') {
        (void)fprintf(stream, "  %-13s ", name);
        store_text_put(text, stream);
        (void)fputc('\n', stream);
    }
}

static void show_head(const struct store_run *run, FILE *stream)
{
    (void)fprintf(stream, "Run %" PRId64 ": %s\n", run->id, run->state);
    line("why", run->error, stream);
    line("tag", run->tag, stream);
    line("kind", run->kind, stream);
    line("command", run->command, stream);
    line("folder", run->folder, stream);
    line("version", run->version, stream);
    line("started", run->started, stream);
    line("ended", run->ended, stream);
    line("backend", run->backend, stream);
    line("machine", run->topology, stream);
    line("logical dims", run->dims, stream);
    (void)fprintf(stream, "  %-13s %" PRIu64, "ranks", run->world);
    if (run->source_world != run->world && run->source_world != 0) {
        (void)fprintf(stream, ", from %" PRIu64 " traces", run->source_world);
    }
    (void)fputc('\n', stream);
    line("comm scale", run->comm_scale, stream);
    line("seed", report_count(run->seed).text, stream);
    line("fingerprint", run->fingerprint, stream);
}

static void show_inputs(const struct store_view *view, FILE *stream)
{
    int role = 0;
    int path = 0;
    for (uint32_t i = 0; i < view->input_count; i++) {
        role = report_store_text_width_of(view->inputs[i].role, role);
        path = report_store_text_width_of(view->inputs[i].path, path);
    }
    (void)fputs(view->input_count > 0 ? "Inputs\n" : "", stream);
    for (uint32_t i = 0; i < view->input_count; i++) {
        const struct store_input *input = &view->inputs[i];
        (void)fputs("  ", stream);
        put_padded(input->role, role, true, false, stream);
        (void)fputs("  ", stream);
        put_padded(input->path, path, true, false, stream);
        (void)fprintf(stream, "  %s  %12" PRIu64 " B  %s\n", input->hash, input->bytes, store_input_word(input->now));
    }
}

static void show_settings(const struct store_view *view, FILE *stream)
{
    int width = 0;
    for (uint32_t i = 0; i < view->setting_count; i++) {
        width = report_store_text_width_of(view->settings[i].key, width);
    }
    (void)fputs(view->setting_count > 0 ? "Settings\n" : "", stream);
    for (uint32_t i = 0; i < view->setting_count; i++) {
        (void)fputs("  ", stream);
        put_padded(view->settings[i].key, width, true, false, stream);
        (void)fputs("  ", stream);
        store_text_put(view->settings[i].value, stream);
        (void)fputc('\n', stream);
    }
}

static void show_results(const struct store_run *run, FILE *stream)
{
    if (!run->has_results) {
        return;
    }
    (void)fputs("Results\n", stream);
    line("simulated", report_time_long(run->total_ns).text, stream);
    if (run->steps > 0) {
        (void)fprintf(stream, "  %-13s %" PRIu64 ", %s each\n", "steps", run->steps,
                      report_time((double)run->total_ns / (double)run->steps).text);
    }
    line("communication", report_time_long(run->comm_ns).text, stream);
    line("compute", report_time_long(run->compute_ns).text, stream);
    if (run->events > 0) { /* not of a run that was imported */
        (void)fprintf(stream, "  %-13s %s, %" PRIu64 " events, %" PRIu64 " messages, %s of memory\n", "took",
                      report_time((double)run->wall_ms * 1e6).text, run->events, run->messages,
                      report_bytes((double)run->peak_bytes).text);
    }
}

static void show_ranks(const struct store_view *view, FILE *stream)
{
    if (view->rank_count == 0) {
        return;
    }
    (void)fprintf(stream, "Ranks (%" PRIu64 " of %" PRIu64 " finished)\n  %-14s %14s %14s %14s\n", view->finished_count,
                  view->rank_count, "", "least", "median", "most");
    for (uint32_t i = 0; i < STORE_SPREADS; i++) {
        const struct store_spread *spread = &view->spreads[i];
        (void)fprintf(stream, "  %-14s %14s %14s %14s\n", spread->name, report_time_long(spread->min_ns).text,
                      report_time_long(spread->median_ns).text, report_time_long(spread->max_ns).text);
    }
}

static void show_collectives(const struct store_view *view, FILE *stream)
{
    if (view->collective_count == 0) {
        return;
    }
    (void)fprintf(stream, "Collectives\n  %-20s %6s %12s %10s %12s %12s %12s\n", "type", "ranks", "size", "count",
                  "least", "mean", "most");
    for (uint32_t i = 0; i < view->collective_count; i++) {
        const struct store_collective *row = &view->collectives[i];
        double mean = row->count > 0 ? (double)row->total_ns / (double)row->count : 0;
        (void)fputs("  ", stream);
        put_padded(row->type, 20, true, false, stream);
        (void)fprintf(stream, " %6" PRIu64 " %12s %10" PRIu64 " %12s %12s %12s\n", row->group_size,
                      report_bytes((double)row->bytes).text, row->count, report_time((double)row->min_ns).text,
                      report_time(mean).text, report_time((double)row->max_ns).text);
    }
}

static void known(const char *name, double value, int decimals, const char *unit, FILE *stream)
{
    if (!isnan(value)) {
        (void)fprintf(stream, ", %s %s%s", name, report_fixed(value, decimals).text, unit);
    }
}

static void show_calibrations(const struct store_view *view, FILE *stream)
{
    (void)fputs(view->calibration_count > 0 ? "Calibrations\n" : "", stream);
    for (uint32_t i = 0; i < view->calibration_count; i++) {
        const struct store_calibration *row = &view->calibrations[i];
        (void)fprintf(stream, "  %" PRId64 "  %s", row->id, row->accepted ? "accepted" : "not accepted");
        known("alpha", row->alpha_us, 6, " us", stream);
        known("of communication", row->alpha_comm_us, 6, " us", stream);
        known("of compute", row->alpha_gpu_us, 6, " us", stream);
        known("measured step", row->real_step_ms, 3, " ms", stream);
        known("simulated step", row->sim_step_ms, 3, " ms", stream);
        known("lower bound", row->lower_bound_ms, 3, " ms", stream);
        if (row->flags[0] != '\0') {
            (void)fputs("; ", stream);
            store_text_put(row->flags, stream);
        }
        (void)fputc('\n', stream);
    }
}

void store_text_show(const struct store_view *view, FILE *stream)
{
    show_head(&view->run, stream);
    show_inputs(view, stream);
    show_settings(view, stream);
    show_results(&view->run, stream);
    show_ranks(view, stream);
    show_collectives(view, stream);
    show_calibrations(view, stream);
}
