/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file's header decides which column means what, so that a header of any age, in any order, reads the same. Bad rows
 * are left out and named one by one: such a file is a history that was appended to for months, and one torn line should
 * not cost the rest.
 */
#include "lab/store/metrics_csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/csv.h"
#include "io/value.h"

static const struct {
    const char *name;
    enum metrics_kind kind;
    bool key;
} columns[METRICS_COLUMN_COUNT] = {
#define METRICS_X(id, name, kind, key) [METRICS_##id] = {(name), METRICS_##kind, (key)},
    METRICS_COLUMNS(METRICS_X)
#undef METRICS_X
};

/* What documents and older versions call the same columns. */
static const struct {
    const char *name;
    enum metrics_column column;
} aliases[] = {{"sim_wall_cycles", METRICS_SIM_CYCLES_STEP},
               {"sim_comm_cycles", METRICS_SIM_CYCLES_COMM},
               {"sim_gpu_cycles", METRICS_SIM_CYCLES_GPU},
               {"topology", METRICS_TOPO_DESC},
               {"world_size", METRICS_WORLD}};

/* The columns that begin so have the word of the network that computed them instead (metrics_write_header). */
static const char measured_by[] = "ns3";
static const char *const networks[] = {"unaware", "aware", "packet", "flow", "auto", "net"};

/* Columns that the project's documents wish for: kept without a word, and understood where a calibration has them. */
static const char *const wished[] = {"container_image", "script_commit", "trace_epoch", "sample_count", "IQR",
                                     "accepted_flag",   "notes",         "timestamp"};

const char *metrics_column_name(enum metrics_column column)
{
    return columns[column].name;
}

bool metrics_column_is_key(enum metrics_column column)
{
    return columns[column].key;
}

/* ---- numbers ---- */

/* How programs write that they do not know: nothing at all, Python's None, a float's nan. */
static bool is_unknown(const char *cell)
{
    static const char *const words[] = {"", "None", "nan", "NaN", "-"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(cell, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static double store_metrics_csv_number_of(const char *cell)
{
    struct io_value value = {0};
    if (is_unknown(cell) || !io_number_parse(cell, &value)) {
        return (double)NAN;
    }
    return value.kind == IO_INTEGER ? (double)value.integer : value.real;
}

double metrics_number(const struct metrics_row *row, enum metrics_column column)
{
    return store_metrics_csv_number_of(row->cells[column]);
}

const char *metrics_extra(const struct metrics_row *row, const char *name)
{
    for (uint32_t i = 0; i < row->extra_count; i++) {
        if (strcmp(row->extras[i].name, name) == 0) {
            return row->extras[i].cell;
        }
    }
    return NULL;
}

double metrics_extra_number(const struct metrics_row *row, const char *name)
{
    const char *cell = metrics_extra(row, name);
    return cell == NULL ? (double)NAN : store_metrics_csv_number_of(cell);
}

bool metrics_same_numbers(const struct metrics_row *a, const struct metrics_row *b)
{
    for (enum metrics_column i = 0; i < METRICS_COLUMN_COUNT; i++) {
        double x = metrics_number(a, i);
        double y = metrics_number(b, i);
        if (columns[i].kind == METRICS_TEXT || columns[i].key || (isnan(x) && isnan(y))) {
            continue;
        }
        double most = fmax(fabs(x), fabs(y));
        if (isnan(x) || isnan(y) || !(fabs(x - y) <= fmax(1e-4 * most, 1e-6))) {
            return false;
        }
    }
    return true;
}

/* ---- reading ---- */

struct metrics_reading {
    const char *path;
    struct arena *arena;
    struct notes *notes;
    struct csv_reader *reader;
    enum metrics_column *places; /* of the file's columns; METRICS_COLUMN_COUNT: one that is not ours */
    uint32_t width;
    const char *network;
    struct metrics_row *rows;
    uint32_t count, capacity;
    uint64_t bad;
    struct orr_error *err;
};

static enum orr_status store_metrics_csv_no_memory(const struct metrics_reading *r)
{
    return mem_error(r->arena->mem, "the rows of a table", r->err);
}

/* A column with the word of one of our networks, and which. */
static enum metrics_column find_network_column(const char *name, const char **network)
{
    static const enum metrics_column named[] = {METRICS_NS3_COMM_MS, METRICS_NS3_REL_ERR_COMM};
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        size_t length = strlen(networks[i]);
        for (size_t k = 0; k < sizeof named / sizeof named[0]; k++) {
            if (strncmp(name, networks[i], length) == 0 &&
                strcmp(name + length, columns[named[k]].name + strlen(measured_by)) == 0) {
                *network = networks[i];
                return named[k];
            }
        }
    }
    return METRICS_COLUMN_COUNT;
}

static enum metrics_column store_metrics_csv_find_column(const char *name, const char **network)
{
    for (enum metrics_column i = 0; i < METRICS_COLUMN_COUNT; i++) {
        if (strcmp(columns[i].name, name) == 0) {
            return i;
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcmp(aliases[i].name, name) == 0) {
            return aliases[i].column;
        }
    }
    return find_network_column(name, network);
}

static bool is_wished(const char *name)
{
    for (size_t i = 0; i < sizeof wished / sizeof wished[0]; i++) {
        if (strcmp(wished[i], name) == 0) {
            return true;
        }
    }
    return name[0] == '\0';
}

static enum orr_status note_unknown(struct metrics_reading *r, const struct csv_row *header, uint32_t at)
{
    const char *known[METRICS_COLUMN_COUNT + 1] = {NULL};
    char shown[64];
    for (enum metrics_column i = 0; i < METRICS_COLUMN_COUNT; i++) {
        known[i] = columns[i].name;
    }
    const char *nearest = error_nearest(header->fields[at].text, known);
    (void)io_text_printable(header->fields[at].text, shown, sizeof shown);
    return notes_add(r->notes, r->err,
                     "%s:%" PRIu64 ":%" PRIu32 ": column \"%s\" is not known%s%s%s; it is kept as a setting", r->path,
                     header->line, header->fields[at].column, shown, nearest == NULL ? "" : ", perhaps \"",
                     nearest == NULL ? "" : nearest, nearest == NULL ? "" : "\" is meant");
}

static enum orr_status store_metrics_csv_read_header(struct metrics_reading *r)
{
    const struct csv_row *header = csv_reader_header(r->reader);
    bool seen[METRICS_COLUMN_COUNT + 1] = {false};
    enum orr_status status = ORR_OK;
    r->width = header->count;
    r->places = arena_alloc(r->arena, header->count * sizeof *r->places + 1);
    if (r->places == NULL) {
        return store_metrics_csv_no_memory(r);
    }
    for (uint32_t i = 0; status == ORR_OK && i < header->count; i++) {
        enum metrics_column place = store_metrics_csv_find_column(header->fields[i].text, &r->network);
        if (place < METRICS_COLUMN_COUNT && seen[place]) {
            status = error_set(r->err, ORR_EINVAL, "%s:%" PRIu64 ":%" PRIu32 ": column %s is there twice", r->path,
                               header->line, header->fields[i].column, columns[place].name);
        }
        r->places[i] = place;
        seen[place] = true;
    }
    if (status == ORR_OK && !seen[METRICS_SIM_CYCLES_STEP] && !seen[METRICS_ALPHA_US]) {
        status = error_set(r->err, ORR_EINVAL,
                           "%s:%" PRIu64 ": neither sim_cycles_step nor alpha_us is a column; this is no metrics.csv "
                           "or calibration_all.csv",
                           r->path, header->line);
    }
    /* Told only of what is such a table. */
    for (uint32_t i = 0; status == ORR_OK && i < header->count; i++) {
        if (r->places[i] == METRICS_COLUMN_COUNT && !is_wished(header->fields[i].text)) {
            status = note_unknown(r, header, i);
        }
    }
    return status;
}

/* Some versions write errors with their sign. */
static bool may_be_negative(enum metrics_column column)
{
    return strstr(columns[column].name, "rel_err") != NULL;
}

/* What is wrong with a cell, or NULL. */
static const char *fault_of(enum metrics_column column, const char *cell)
{
    double number = store_metrics_csv_number_of(cell);
    if (columns[column].kind == METRICS_TEXT || is_unknown(cell)) {
        return NULL;
    }
    if (isnan(number)) {
        return "is not a number";
    }
    if (number < 0 && !may_be_negative(column)) {
        return "is negative";
    }
    if (columns[column].kind == METRICS_COUNT && (number != floor(number) || number >= 9.2e18)) {
        return "is not a whole number below 2^63";
    }
    return column == METRICS_WORLD && number > INT32_MAX ? "is too many ranks" : NULL;
}

static enum orr_status leave_out(struct metrics_reading *r, const struct csv_row *row, const struct csv_field *field,
                                 const char *name, const char *fault)
{
    char shown[64] = "";
    r->bad++;
    if (field == NULL) {
        return notes_add(r->notes, r->err, "%s:%" PRIu64 ": %s; the row is left out", r->path, row->line, fault);
    }
    (void)io_text_printable(field->text, shown, sizeof shown);
    return notes_add(r->notes, r->err, "%s:%" PRIu64 ":%" PRIu32 ": %s: \"%s\" %s; the row is left out", r->path,
                     row->line, field->column, name, shown, fault);
}

static enum orr_status keep_cells(struct metrics_reading *r, const struct csv_row *row, struct metrics_row *kept)
{
    const struct csv_row *header = csv_reader_header(r->reader);
    struct metrics_extra *extras = arena_alloc(r->arena, r->width * sizeof *extras + 1);
    if (extras == NULL) {
        return store_metrics_csv_no_memory(r);
    }
    kept->extras = extras;
    for (uint32_t i = 0; i < r->width; i++) {
        const struct csv_field *field = &row->fields[i];
        bool empty = is_unknown(field->text);
        bool extra = r->places[i] == METRICS_COLUMN_COUNT;
        const char *copy = empty ? "" : arena_strndup(r->arena, field->text, field->length);
        if (copy == NULL) {
            return store_metrics_csv_no_memory(r);
        }
        if (!extra) {
            kept->cells[r->places[i]] = copy;
        } else if (!empty && header->fields[i].length > 0) {
            const char *name = arena_strndup(r->arena, header->fields[i].text, header->fields[i].length);
            if (name == NULL) {
                return store_metrics_csv_no_memory(r);
            }
            extras[kept->extra_count++] = (struct metrics_extra){name, copy};
        }
    }
    return ORR_OK;
}

static enum orr_status store_metrics_csv_read_row(struct metrics_reading *r, const struct csv_row *row)
{
    struct metrics_row kept = {.line = row->line, .network = r->network};
    for (enum metrics_column i = 0; i < METRICS_COLUMN_COUNT; i++) {
        kept.cells[i] = "";
    }
    for (uint32_t i = 0; i < r->width; i++) {
        const char *fault = r->places[i] == METRICS_COLUMN_COUNT ? NULL : fault_of(r->places[i], row->fields[i].text);
        if (fault != NULL) {
            return leave_out(r, row, &row->fields[i], columns[r->places[i]].name, fault);
        }
    }
    enum orr_status status = keep_cells(r, row, &kept);
    if (status != ORR_OK) {
        return status;
    }
    bool calibrated = metrics_number(&kept, METRICS_ALPHA_US) > 0;
    if (isnan(metrics_number(&kept, METRICS_SIM_CYCLES_STEP)) && !calibrated) {
        return leave_out(r, row, NULL, NULL, "neither sim_cycles_step nor alpha_us has a value");
    }
    if (r->count == r->capacity) {
        uint32_t more = r->capacity == 0 ? 16 : r->capacity * 2;
        struct metrics_row *rows = more < r->capacity ? NULL : arena_alloc(r->arena, more * sizeof *rows);
        if (rows == NULL) {
            return store_metrics_csv_no_memory(r);
        }
        if (r->count > 0) {
            memcpy(rows, r->rows, r->count * sizeof *rows);
        }
        r->rows = rows;
        r->capacity = more;
    }
    r->rows[r->count++] = kept;
    return ORR_OK;
}

enum orr_status metrics_read(const char *path, struct arena *arena, struct notes *notes, struct metrics_row **rows,
                             uint32_t *count, uint64_t *bad, struct orr_error *err)
{
    struct metrics_reading r = {.path = path, .arena = arena, .notes = notes, .err = err};
    struct csv_row row;
    bool more = true;
    enum orr_status status = csv_reader_open(path, arena->mem, &r.reader, err);
    status = status != ORR_OK ? status : store_metrics_csv_read_header(&r);
    while (status == ORR_OK && more) {
        status = csv_reader_next(r.reader, &row, &more, err);
        if (status == ORR_OK && more) {
            status = store_metrics_csv_read_row(&r, &row);
        }
    }
    csv_reader_close(r.reader);
    if (status == ORR_OK) {
        *rows = r.rows;
        *count = r.count;
        *bad = r.bad;
    }
    return status;
}

/* ---- writing ---- */

void metrics_write_cell(const char *cell, bool first, FILE *stream)
{
    (void)fputs(first ? "" : ",", stream);
    csv_write_field(cell, stream);
}

/* The column in place `at` of the table. */
static enum metrics_column column_at(enum metrics_order order, unsigned at)
{
    if (order == METRICS_ORDER_CALIBRATION || at <= METRICS_SIM_T_COMM_MS || at > METRICS_SIM_T_COMM_MS_COMM) {
        return (enum metrics_column)at;
    }
    return at == METRICS_SIM_T_COMM_MS + 1 ? METRICS_SIM_T_COMM_MS_COMM : (enum metrics_column)(at - 1);
}

void metrics_write_header(enum metrics_order order, const char *network, FILE *stream)
{
    for (unsigned i = 0; i < METRICS_COLUMN_COUNT; i++) {
        const char *name = columns[column_at(order, i)].name;
        if (strncmp(name, measured_by, strlen(measured_by)) == 0) {
            (void)fprintf(stream, ",%s%s", network, name + strlen(measured_by));
        } else {
            metrics_write_cell(name, i == 0, stream);
        }
    }
    (void)fputc('\n', stream);
}

void metrics_write_row(const struct metrics_row *row, enum metrics_order order, FILE *stream)
{
    for (unsigned i = 0; i < METRICS_COLUMN_COUNT; i++) {
        metrics_write_cell(row->cells[column_at(order, i)], i == 0, stream);
    }
    (void)fputc('\n', stream);
}
