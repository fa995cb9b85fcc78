/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table has as many columns as keys vary, and rows as the user asks for, so that widths are found by spelling every
 * cell twice rather than by keeping them: the second time they are printed.
 */
#include "report/sweep_text.h"
#include "param/param.h"

#include <inttypes.h>
#include <string.h>

#include "io/csv.h"
#include "io/json_write.h"
#include "report/number.h"

enum {
    FIXED_BEFORE = 3,
    FIXED_AFTER = 6,
    COLUMNS_MOST = FIXED_BEFORE + FIXED_AFTER + 64,
    NETWORK = 2, /* the column that is shown where there are several */
    CELL = 64,
    REASONS_MOST = 20
};

/* Not the run's number in the store: it is that of the order in which points ended. The JSON has it. */
static const char *const titles_after[FIXED_AFTER] = {"time",    "per step", "communication",
                                                      "compute", "exposed",  "to best"};
static const char *const state_words[] = {[ORR_SWEEP_MISSING] = "missing",
                                          [ORR_SWEEP_DONE] = "done",
                                          [ORR_SWEEP_STALLED] = "stalled",
                                          [ORR_SWEEP_FAILED] = "failed"};

uint64_t report_sweep_figure(const struct orr_sweep_result *result, enum orr_sweep_rank by)
{
    switch (by) {
    case ORR_SWEEP_BY_EXPOSED:
        return result->exposed_comm_ns;
    case ORR_SWEEP_BY_COMM:
        return result->comm_ns;
    case ORR_SWEEP_BY_COMPUTE:
        return result->compute_ns;
    default:
        return result->time_ns;
    }
}

/* ---- the table ---- */

struct table {
    const struct report_sweep *sweep;
    uint32_t columns;
    bool steps;    /* some point knows its training steps */
    bool networks; /* there are several */
    size_t width[COLUMNS_MOST];
};

static struct report_number ratio(const struct table *table, const struct report_sweep_row *row)
{
    double figure = (double)report_sweep_figure(&row->result, table->sweep->by);
    struct report_number number = {"-"};
    if (row->best > 0) {
        number = report_fixed(figure / (double)row->best, 3);
        size_t length = strlen(number.text);
        (void)snprintf(number.text + length, sizeof number.text - length, "x");
    }
    return number;
}

static struct report_number after_cell(const struct table *table, const struct report_sweep_row *row, uint32_t at)
{
    const struct orr_sweep_result *result = &row->result;
    static const struct report_number not_known = {"-"};
    switch (at) {
    case 0:
        return report_time((double)result->time_ns);
    case 1:
        return result->steps == 0 ? not_known : report_time((double)result->time_ns / (double)result->steps);
    case 2:
        return report_time((double)result->comm_ns);
    case 3:
        return report_time((double)result->compute_ns);
    case 4:
        return report_time((double)result->exposed_comm_ns);
    default:
        return ratio(table, row);
    }
}

/* A cell's text; `row` NULL is the line of titles. */
static const char *cell(const struct table *table, const struct report_sweep_row *row, uint32_t column,
                        char buffer[CELL])
{
    uint32_t keys = table->sweep->key_count;
    const char *text = NULL;
    struct report_number number = {""};
    if (column == NETWORK) {
        text = row == NULL ? "network" : row->result.network;
    } else if (column < FIXED_BEFORE) {
        number = row == NULL ? number : report_count(column == 0 ? row->rank : row->point);
        text = row == NULL ? (column == 0 ? "rank" : "point") : number.text;
    } else if (column < FIXED_BEFORE + keys) {
        text = row == NULL ? table->sweep->keys[column - FIXED_BEFORE] : row->values[column - FIXED_BEFORE];
    } else {
        uint32_t at = column - FIXED_BEFORE - keys;
        number = row == NULL ? number : after_cell(table, row, at);
        text = row == NULL ? titles_after[at] : number.text;
    }
    (void)snprintf(buffer, CELL, "%s", text);
    return buffer;
}

static bool is_shown(const struct table *table, uint32_t column)
{
    return column == NETWORK ? table->networks : table->steps || column != FIXED_BEFORE + table->sweep->key_count + 1;
}

static void measure(struct table *table, const struct report_sweep_row *row)
{
    char buffer[CELL];
    for (uint32_t i = 0; i < table->columns; i++) {
        size_t width = strlen(cell(table, row, i, buffer));
        table->width[i] = width > table->width[i] ? width : table->width[i];
    }
}

static void report_sweep_text_put_row(const struct table *table, const struct report_sweep_row *row, FILE *stream)
{
    char buffer[CELL];
    for (uint32_t i = 0; i < table->columns; i++) {
        if (is_shown(table, i)) {
            (void)fprintf(stream, "%s%*s", i == 0 ? "" : "  ", (int)table->width[i], cell(table, row, i, buffer));
        }
    }
    (void)fputc('\n', stream);
}

static bool has_networks(const struct report_sweep *sweep)
{
    return sweep->ranked_count > 0 &&
           strcmp(sweep->ranked[0]->result.network, sweep->ranked[sweep->ranked_count - 1]->result.network) != 0;
}

static void report_sweep_text_put_table(const struct report_sweep *sweep, uint64_t shown, FILE *stream)
{
    uint32_t columns = FIXED_BEFORE + sweep->key_count + FIXED_AFTER;
    struct table table = {.sweep = sweep, .columns = columns < COLUMNS_MOST ? columns : COLUMNS_MOST};
    table.networks = has_networks(sweep);
    measure(&table, NULL);
    for (uint64_t i = 0; i < shown; i++) {
        measure(&table, sweep->ranked[i]);
        table.steps = table.steps || sweep->ranked[i]->result.steps != 0;
    }
    report_sweep_text_put_row(&table, NULL, stream);
    for (uint64_t i = 0; i < shown; i++) {
        report_sweep_text_put_row(&table, sweep->ranked[i], stream);
    }
}

/* ---- what has no result ---- */

static void put_values(const struct report_sweep *sweep, const struct report_sweep_row *row, FILE *stream)
{
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        (void)fprintf(stream, "%s%s=%s", i == 0 ? "" : " ", sweep->keys[i], row->values[i]);
    }
}

static void put_reasons(const struct report_sweep *sweep, enum orr_sweep_state state, uint64_t count, FILE *stream)
{
    uint64_t told = 0;
    if (count == 0) {
        return;
    }
    (void)fprintf(stream, "\n%s: %" PRIu64 "\n", state == ORR_SWEEP_FAILED ? "Failed" : "Stalled", count);
    for (uint64_t i = 0; i < sweep->row_count && told < REASONS_MOST; i++) {
        const struct report_sweep_row *row = &sweep->rows[i];
        if (row->result.state == state) {
            (void)fprintf(stream, "  point %" PRIu64 " (", row->point);
            put_values(sweep, row, stream);
            char error[1024];
            (void)param_spell(row->result.error, error, sizeof error);
            (void)fprintf(stream, "): %s\n", error);
            told++;
        }
    }
    if (told < count) {
        param_print(stream, "  ... and %" PRIu64 " more; parameter 'csv' has them all\n", count - told);
    }
}

/* Points of the store that ran on another network than the others would now. */
static void put_unranked(const struct report_sweep *sweep, FILE *stream)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < sweep->row_count; i++) {
        const struct report_sweep_row *row = &sweep->rows[i];
        if (row->result.state != ORR_SWEEP_DONE || !row->result.another_network) {
            continue;
        }
        if (count++ == 0) {
            param_print(stream, "\nNot ranked: in the store from another network; parameter 'fresh' runs them again\n");
        }
        if (count <= REASONS_MOST) {
            (void)fprintf(stream, "  point %" PRIu64 " (", row->point);
            put_values(sweep, row, stream);
            (void)fprintf(stream, "): %s on %s\n", report_time((double)row->result.time_ns).text,
                          row->result.network[0] != '\0' ? row->result.network : "a network of no name");
        }
    }
    if (count > REASONS_MOST) {
        param_print(stream, "  ... and %" PRIu64 " more; parameter 'csv' has them all\n", count - REASONS_MOST);
    }
}

void report_sweep_text(const struct report_sweep *sweep, uint64_t best, FILE *stream)
{
    const struct orr_sweep_progress *counts = &sweep->counts;
    uint64_t shown = best == 0 || best > sweep->ranked_count ? sweep->ranked_count : best;
    uint64_t missing = counts->points - counts->done - counts->failed - counts->stalled;
    if (shown > 0) {
        report_sweep_text_put_table(sweep, shown, stream);
    }
    if (shown < sweep->ranked_count) {
        param_print(stream, "... and %" PRIu64 " more; parameter 'best' 0 shows all\n", sweep->ranked_count - shown);
    }
    put_unranked(sweep, stream);
    put_reasons(sweep, ORR_SWEEP_FAILED, counts->failed, stream);
    put_reasons(sweep, ORR_SWEEP_STALLED, counts->stalled, stream);
    (void)fprintf(stream, "\n%" PRIu64 " point%s: %" PRIu64 " done, %" PRIu64 " stalled, %" PRIu64 " failed",
                  counts->points, counts->points == 1 ? "" : "s", counts->done, counts->stalled, counts->failed);
    if (missing > 0) {
        (void)fprintf(stream, ", %" PRIu64 " not run", missing);
    }
    if (counts->kept > 0) {
        (void)fprintf(stream, "; %" PRIu64 " of them from the store", counts->kept);
    }
    (void)fputc('\n', stream);
    if (sweep->ranked_count > 0 && has_networks(sweep)) {
        (void)fprintf(stream, "Each network is ranked by itself.\n");
    } else if (sweep->ranked_count > 0) {
        (void)fprintf(stream, "All ranked on the %s network.\n", sweep->ranked[0]->result.network);
    }
}

/* ---- CSV ---- */

static void put_csv_row(const struct report_sweep *sweep, const struct report_sweep_row *row, FILE *stream)
{
    const struct orr_sweep_result *result = &row->result;
    (void)fprintf(stream, "%" PRIu64, row->point);
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        (void)fputc(',', stream);
        csv_write_field(row->values[i], stream);
    }
    (void)fprintf(stream, ",%s,", state_words[result->state]);
    if (row->rank != 0) {
        (void)fprintf(stream, "%" PRIu64, row->rank);
    }
    (void)fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", result->time_ns,
                  result->steps, result->comm_ns, result->compute_ns, result->exposed_comm_ns, result->world);
    (void)fprintf(stream, "%s,", result->network);
    csv_write_field(result->error, stream);
    (void)fputc('\n', stream);
}

void report_sweep_csv(const struct report_sweep *sweep, FILE *stream)
{
    (void)fputs("point", stream);
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        (void)fputc(',', stream);
        csv_write_field(sweep->keys[i], stream);
    }
    (void)fputs(",state,rank,time_ns,steps,comm_ns,compute_ns,exposed_comm_ns,ranks,network,error\n", stream);
    for (uint64_t i = 0; i < sweep->row_count; i++) {
        put_csv_row(sweep, &sweep->rows[i], stream);
    }
}

/* ---- JSON ---- */

static void put_json_row(struct json_writer *writer, const struct report_sweep *sweep,
                         const struct report_sweep_row *row)
{
    const struct orr_sweep_result *result = &row->result;
    json_write_object(writer, true);
    json_write_member_u64(writer, "point", row->point);
    json_write_member_array(writer, "values", true);
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        json_write_string(writer, row->values[i]);
    }
    json_write_array_end(writer);
    json_write_member_string(writer, "state", state_words[result->state]);
    json_write_key(writer, "rank");
    if (row->rank != 0) {
        json_write_u64(writer, row->rank);
    } else {
        json_write_null(writer);
    }
    json_write_member_i64(writer, "run", result->run);
    json_write_member_u64(writer, "time_ns", result->time_ns);
    json_write_member_u64(writer, "steps", result->steps);
    json_write_member_u64(writer, "comm_ns", result->comm_ns);
    json_write_member_u64(writer, "compute_ns", result->compute_ns);
    json_write_member_u64(writer, "exposed_comm_ns", result->exposed_comm_ns);
    json_write_member_u64(writer, "ranks", result->world);
    json_write_member_string(writer, "network", result->network[0] != '\0' ? result->network : NULL);
    json_write_member_string(writer, "error", result->error[0] != '\0' ? result->error : NULL);
    json_write_object_end(writer);
}

void report_sweep_json(const struct report_sweep *sweep, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "kind", "sweep");
    json_write_member_string(&writer, "version", orr_version());
    json_write_member_string(&writer, "name", sweep->name);
    json_write_member_u64(&writer, "points", sweep->counts.points);
    json_write_member_u64(&writer, "done", sweep->counts.done);
    json_write_member_u64(&writer, "stalled", sweep->counts.stalled);
    json_write_member_u64(&writer, "failed", sweep->counts.failed);
    json_write_member_array(&writer, "keys", true);
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        json_write_string(&writer, sweep->keys[i]);
    }
    json_write_array_end(&writer);
    json_write_member_array(&writer, "results", false);
    for (uint64_t i = 0; i < sweep->row_count; i++) {
        put_json_row(&writer, sweep, &sweep->rows[i]);
    }
    json_write_array_end(&writer);
    json_write_document_end(&writer);
}
