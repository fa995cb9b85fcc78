/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows become operations as they are read; who waits for whom is kept as texts until the last row is in, because a row
 * may wait for one below it. Ids are texts, each a rank's own, so that a table may number its rows or name them.
 */
#include "convert/csv.h"

#include <inttypes.h>
#include <string.h>

#include "convert/csv_cells.h"
#include "io/csv.h"
#include "io/value.h"

enum { SHOWN = 64, NODE_NONE = UINT32_MAX };

/* A dependency as written. */
struct pending {
    uint64_t line;
    uint32_t column;
    uint32_t child;
    uint32_t id; /* in csv_reading.ids */
};

struct csv_reading {
    struct csv_table table;
    struct workload *workload;
    struct csv_reader *reader;
    struct intern ids;      /* "RANK ID" */
    uint32_t *node_of;      /* by id; NODE_NONE = only waited for so far */
    struct intern lanes;    /* "RANK STREAM" */
    uint32_t *last_of_lane; /* by lane: its last operation; only where there is no column of dependencies */
    struct pending *pending;
    uint32_t node_of_capacity, lane_capacity, pending_capacity, pending_count;
    uint32_t ranks;
    uint64_t rows;
};

static enum orr_status convert_csv_refused(const struct csv_reading *reading, struct orr_error *err)
{
    return mem_error(reading->workload->mem, "the rows of the table", err);
}

/* A number for "RANK TEXT" in `intern`, with room for it in `*by_number`. */
static bool convert_csv_number_of(struct csv_reading *reading, struct intern *intern, uint32_t rank, const char *text,
                                  size_t length, uint32_t **by_number, uint32_t *capacity, uint32_t *number)
{
    char prefix[16];
    char *whole = mem_alloc(reading->workload->mem, length + sizeof prefix);
    if (whole == NULL) {
        return false;
    }
    size_t used = (size_t)snprintf(prefix, sizeof prefix, "%" PRIu32 " ", rank);
    memcpy(whole, prefix, used);
    memcpy(whole + used, text, length);
    uint32_t before = intern_count(intern);
    bool good =
        intern_add(intern, whole, used + length, number) &&
        mem_reserve(reading->workload->mem, (void **)by_number, capacity, intern_count(intern), sizeof **by_number);
    if (good && *number >= before) {
        (*by_number)[*number] = NODE_NONE;
    }
    mem_free(reading->workload->mem, whole, length + sizeof prefix);
    return good;
}

static enum orr_status set_id(struct csv_reading *reading, uint32_t rank, uint32_t node, struct orr_error *err)
{
    struct csv_cell cell = csv_cell_get(&reading->table, CSV_COLUMN_ID);
    char ordinal[24];
    uint32_t number = 0;
    if (!cell.is_set) {
        if (reading->table.columns.at[CSV_COLUMN_ID] != CSV_ABSENT) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": no id in this row", reading->table.request->input,
                             reading->table.row.line);
        }
        cell.text = ordinal;
        cell.length = (size_t)snprintf(ordinal, sizeof ordinal, "%" PRIu64, reading->rows);
    }
    if (!convert_csv_number_of(reading, &reading->ids, rank, cell.text, cell.length, &reading->node_of,
                               &reading->node_of_capacity, &number)) {
        return convert_csv_refused(reading, err);
    }
    if (reading->node_of[number] != NODE_NONE) {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "line %" PRIu64 " has the same id on the same rank",
                       reading->workload->nodes[reading->node_of[number]].line);
        return csv_cell_fail(&reading->table, &cell, "id", expected, err);
    }
    reading->node_of[number] = node;
    return ORR_OK;
}

static enum orr_status add_pending(struct csv_reading *reading, const struct csv_cell *cell, uint32_t rank,
                                   uint32_t child, struct orr_error *err)
{
    uint32_t number = 0;
    if (!convert_csv_number_of(reading, &reading->ids, rank, cell->text, cell->length, &reading->node_of,
                               &reading->node_of_capacity, &number) ||
        !MEM_GROW(reading->workload->mem, reading->pending, reading->pending_capacity, reading->pending_count)) {
        return convert_csv_refused(reading, err);
    }
    reading->pending[reading->pending_count++] = (struct pending){reading->table.row.line, cell->column, child, number};
    return ORR_OK;
}

/* Ids separated by blanks, ';', '|' or ','; brackets round the list do not count. */
static enum orr_status convert_csv_read_deps(struct csv_reading *reading, uint32_t rank, uint32_t child,
                                             struct orr_error *err)
{
    static const char between[] = " \t;|,[]";
    struct csv_cell cell = csv_cell_get(&reading->table, CSV_COLUMN_DEPS);
    enum orr_status status = ORR_OK;
    for (size_t at = 0; status == ORR_OK && cell.is_set && at < cell.length;) {
        size_t end = at;
        while (end < cell.length && strchr(between, cell.text[end]) == NULL) {
            end++;
        }
        struct csv_cell one = {cell.text + at, end - at, cell.column + (uint32_t)at, true};
        if (one.length > 0) {
            status = add_pending(reading, &one, rank, child, err);
        }
        at = end + 1;
    }
    return status;
}

/* Which lane a row belongs to; without a column of dependencies each waits for the one before it in its lane. */
static enum orr_status set_lane(struct csv_reading *reading, struct workload_node *node, uint32_t index,
                                struct orr_error *err)
{
    struct csv_cell cell = csv_cell_get(&reading->table, CSV_COLUMN_STREAM);
    uint32_t lane = 0;
    if (!convert_csv_number_of(reading, &reading->lanes, node->rank, cell.text, cell.length, &reading->last_of_lane,
                               &reading->lane_capacity, &lane)) {
        return convert_csv_refused(reading, err);
    }
    node->lane = lane;
    if (csv_cell_is_integer(&cell, &node->stream)) {
        node->has |= WORKLOAD_HAS_STREAM;
    }
    if (reading->table.columns.at[CSV_COLUMN_DEPS] == CSV_ABSENT && reading->last_of_lane[lane] != NODE_NONE &&
        !workload_depend(reading->workload, index, reading->last_of_lane[lane])) {
        return convert_csv_refused(reading, err);
    }
    reading->last_of_lane[lane] = index;
    return ORR_OK;
}

static enum orr_status convert_csv_read_texts(struct csv_reading *reading, struct workload_node *node,
                                              struct orr_error *err)
{
    struct csv_cell name = csv_cell_get(&reading->table, CSV_COLUMN_NAME);
    struct csv_cell group = csv_cell_get(&reading->table, CSV_COLUMN_GROUP);
    char made[48];
    if (!name.is_set) {
        name.text = made;
        name.length = (size_t)snprintf(made, sizeof made, "%s_%" PRIu64,
                                       node->type == TRACE_COMP ? "compute" : "communication", reading->rows);
    }
    if (!workload_text(reading->workload, name.text, name.length, &node->name) ||
        (group.is_set && !workload_text(reading->workload, group.text, group.length, &node->group))) {
        return convert_csv_refused(reading, err);
    }
    return ORR_OK;
}

static enum orr_status convert_csv_read_node(struct csv_reading *reading, struct workload_node *node,
                                             struct orr_error *err)
{
    int64_t rank = 0;
    enum orr_status status = csv_cell_integer(&reading->table, CSV_COLUMN_RANK, 0, WORKLOAD_RANKS_MAX - 1, &rank, err);
    node->rank = (uint32_t)rank;
    if (status == ORR_OK && csv_cell_get(&reading->table, CSV_COLUMN_STEP).is_set) {
        status = csv_cell_integer(&reading->table, CSV_COLUMN_STEP, INT64_MIN, INT64_MAX, &node->step, err);
        node->has |= WORKLOAD_HAS_STEP;
    }
    if (status == ORR_OK) {
        status = csv_cells_type(&reading->table, node, err);
    }
    if (status == ORR_OK) {
        status = convert_csv_read_texts(reading, node, err);
    }
    return status == ORR_OK ? csv_cells_amounts(&reading->table, reading->workload, node, err) : status;
}

static enum orr_status convert_csv_add_row(struct csv_reading *reading, struct orr_error *err)
{
    struct workload_node node = {.line = reading->table.row.line};
    uint32_t index = reading->workload->node_count;
    reading->rows++;
    enum orr_status status = convert_csv_read_node(reading, &node, err);
    if (status == ORR_OK) {
        status = set_lane(reading, &node, index, err);
    }
    if (status == ORR_OK && !workload_add(reading->workload, &node, &index)) {
        status = convert_csv_refused(reading, err);
    }
    if (status == ORR_OK) {
        status = set_id(reading, node.rank, index, err);
    }
    if (status == ORR_OK) {
        status = convert_csv_read_deps(reading, node.rank, index, err);
    }
    reading->ranks = node.rank >= reading->ranks ? node.rank + 1 : reading->ranks;
    return status;
}

static enum orr_status convert_csv_resolve(struct csv_reading *reading, struct orr_error *err)
{
    for (uint32_t i = 0; i < reading->pending_count; i++) {
        const struct pending *pending = &reading->pending[i];
        uint32_t parent = reading->node_of[pending->id];
        if (parent == NODE_NONE) {
            const char *id = strchr(intern_text(&reading->ids, pending->id), ' ') + 1;
            char shown[SHOWN];
            return error_set(err, ORR_EINVAL,
                             "%s:%" PRIu64 ":%" PRIu32 ": no row of rank %" PRIu32 " has the id \"%s\"",
                             reading->table.request->input, pending->line, pending->column,
                             reading->workload->nodes[pending->child].rank, io_text_printable(id, shown, sizeof shown));
        }
        if (!workload_depend(reading->workload, pending->child, parent)) {
            return convert_csv_refused(reading, err);
        }
    }
    return ORR_OK;
}

static enum orr_status convert_csv_check_peers(const struct csv_reading *reading, struct orr_error *err)
{
    for (uint32_t i = 0; i < reading->workload->node_count; i++) {
        const struct workload_node *node = &reading->workload->nodes[i];
        bool to_one = node->type == TRACE_SEND || node->type == TRACE_RECV;
        if (to_one && ((uint32_t)node->peer >= reading->ranks || (uint32_t)node->peer == node->rank)) {
            return error_set(err, ORR_EINVAL,
                             "%s:%" PRIu64 ": rank %" PRIu32 "'s peer is rank %" PRId32 "; the table has ranks 0 to "
                             "%" PRIu32 " and none talks to itself",
                             reading->table.request->input, node->line, node->rank, node->peer, reading->ranks - 1);
        }
    }
    return ORR_OK;
}

static enum orr_status convert_csv_read_rows(struct csv_reading *reading, struct orr_error *err)
{
    bool more = true;
    enum orr_status status = csv_reader_next(reading->reader, &reading->table.row, &more, err);
    while (status == ORR_OK && more) {
        status = convert_csv_add_row(reading, err);
        if (status == ORR_OK) {
            status = csv_reader_next(reading->reader, &reading->table.row, &more, err);
        }
    }
    if (status == ORR_OK && reading->rows == 0) {
        return error_set(err, ORR_EINVAL, "%s: no row below the header", reading->table.request->input);
    }
    if (status == ORR_OK) {
        status = convert_csv_resolve(reading, err);
    }
    return status == ORR_OK ? convert_csv_check_peers(reading, err) : status;
}

enum orr_status csv_read(const struct convert_request *request, struct workload *workload, struct orr_error *err)
{
    struct csv_reading reading = {.table = {.request = request}, .workload = workload};
    struct mem *mem = workload->mem;
    intern_init(&reading.ids, mem);
    intern_init(&reading.lanes, mem);
    enum orr_status status = csv_reader_open(request->input, mem, &reading.reader, err);
    if (status == ORR_OK) {
        status = csv_columns_find(csv_reader_header(reading.reader), request->map, request->input, request->notes,
                                  &reading.table.columns, err);
    }
    if (status == ORR_OK) {
        reading.table.decimal_comma = csv_reader_separator(reading.reader) == ';';
        status = convert_csv_read_rows(&reading, err);
    }
    if (status == ORR_OK) {
        status = workload_set_ranks(workload, request, reading.ranks, err);
    }
    csv_reader_close(reading.reader);
    intern_free(&reading.ids);
    intern_free(&reading.lanes);
    mem_free(mem, reading.node_of, reading.node_of_capacity * sizeof *reading.node_of);
    mem_free(mem, reading.last_of_lane, reading.lane_capacity * sizeof *reading.last_of_lane);
    mem_free(mem, reading.pending, reading.pending_capacity * sizeof *reading.pending);
    return status;
}

const struct converter csv_converter = {
    .read = csv_read, .knows_ranks = true, .knows_map = true, .knows_unknown_size = true};
