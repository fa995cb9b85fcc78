/* SPDX-License-Identifier: Apache-2.0 */
/* Words are compared by their letters and digits alone and whole: ALL_REDUCE and all-reduce are one, but a slip of the
 * pen must not become another collective. */
#include "convert/csv_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "io/value.h"

enum { SHOWN = 64 };

/* ---- cells ------------------------------------------------------------------------------------------------------ */

struct csv_cell csv_cell_get(const struct csv_table *table, enum csv_column which)
{
    uint32_t at = table->columns.at[which];
    struct csv_cell cell = {.text = ""};
    if (at == CSV_ABSENT) {
        return cell;
    }
    const struct csv_field *field = &table->row.fields[at];
    cell = (struct csv_cell){field->text, field->length, field->column, false};
    while (cell.length > 0 && (*cell.text == ' ' || *cell.text == '\t')) {
        cell.text++;
        cell.length--;
    }
    while (cell.length > 0 && (cell.text[cell.length - 1] == ' ' || cell.text[cell.length - 1] == '\t')) {
        cell.length--;
    }
    cell.is_set = cell.length > 0 && !(cell.length == 1 && *cell.text == '-');
    return cell;
}

enum orr_status csv_cell_fail(const struct csv_table *table, const struct csv_cell *cell, const char *what,
                              const char *expected, struct orr_error *err)
{
    char copy[SHOWN + 8];
    char shown[SHOWN];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(cell->length < SHOWN ? cell->length : SHOWN), cell->text);
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ":%" PRIu32 ": %s is \"%s\"; %s", table->request->input,
                     table->row.line, cell->column, what, io_text_printable(copy, shown, sizeof shown), expected);
}

static bool copy_number(const struct csv_cell *cell, char text[SHOWN])
{
    if (cell->length >= SHOWN) {
        return false;
    }
    memcpy(text, cell->text, cell->length);
    text[cell->length] = '\0';
    return true;
}

enum orr_status csv_cell_integer(const struct csv_table *table, enum csv_column which, int64_t low, int64_t high,
                                 int64_t *value, struct orr_error *err)
{
    struct csv_cell cell = csv_cell_get(table, which);
    char text[SHOWN];
    char expected[96];
    struct io_value number;
    if (!cell.is_set) {
        return ORR_OK;
    }
    if (!copy_number(&cell, text) || !io_number_parse(text, &number) || number.kind != IO_INTEGER ||
        number.integer < low || number.integer > high) {
        (void)snprintf(expected, sizeof expected, "a whole number from %" PRId64 " to %" PRId64 " is needed", low,
                       high);
        return csv_cell_fail(table, &cell, table->columns.name[which], expected, err);
    }
    *value = number.integer;
    return ORR_OK;
}

/* A time in ns or a size in bytes: a bare number in the column's unit, or a number with a unit of its own. A time is
 * rounded to the nanosecond; a size is whole or refused. */
static enum orr_status csv_cells_read_quantity(const struct csv_table *table, enum csv_column which, uint64_t *value,
                                               struct orr_error *err)
{
    bool is_time = which != CSV_COLUMN_BYTES;
    struct csv_cell cell = csv_cell_get(table, which);
    char text[SHOWN];
    struct io_value number;
    uint64_t unit = table->columns.unit[which];
    uint64_t got = 0;
    bool good = false;
    bool fits = copy_number(&cell, text);
    char *comma = fits && table->decimal_comma ? strchr(text, ',') : NULL;
    if (comma != NULL) {
        *comma = '.';
    }
    if (!fits) {
        good = false;
    } else if (!io_number_parse(text, &number)) {
        good = units_parse(text, is_time ? UNITS_TIME : UNITS_SIZE, is_time ? "us" : "B", &got, NULL) == ORR_OK;
    } else if (number.kind == IO_INTEGER) {
        good = number.integer >= 0 && !__builtin_mul_overflow((uint64_t)number.integer, unit, &got);
    } else {
        double scaled = number.real * (double)unit;
        good = scaled >= 0 && scaled < 9e18 && (is_time || scaled == floor(scaled));
        got = good ? (uint64_t)(scaled + 0.5) : 0;
    }
    if (!good || got > INT64_MAX) {
        return csv_cell_fail(table, &cell, table->columns.name[which],
                             is_time ? "a time of at least 0 is needed, as 12.5 or \"3ms\""
                                     : "a whole number of bytes is needed, as 4096 or \"25MiB\"",
                             err);
    }
    *value = got;
    return ORR_OK;
}

/* ---- what an operation is -----------------------------------------------------------------------------------------
 */

static const struct {
    const char *word;
    enum comm_kind kind;
} comm_words[] = {
    {"allreduce", COMM_ALL_REDUCE},
    {"reduce", COMM_REDUCE},
    {"allgather", COMM_ALL_GATHER},
    {"allgatherv", COMM_ALL_GATHER},
    {"gather", COMM_GATHER},
    {"scatter", COMM_SCATTER},
    {"broadcast", COMM_BROADCAST},
    {"bcast", COMM_BROADCAST},
    {"alltoall", COMM_ALL_TO_ALL},
    {"alltoallv", COMM_ALL_TO_ALL},
    {"reducescatter", COMM_REDUCE_SCATTER},
    {"reducescatterv", COMM_REDUCE_SCATTER},
    {"reducescatterblock", COMM_REDUCE_SCATTER_BLOCK},
    {"barrier", COMM_BARRIER},
    {"send", COMM_SEND},
    {"isend", COMM_SEND},
    {"recv", COMM_RECV},
    {"receive", COMM_RECV},
    {"irecv", COMM_RECV},
    {"none", COMM_NONE},
};

static const struct {
    const char *word;
    enum trace_node_type type;
} type_words[] = {
    {"comp", TRACE_COMP},
    {"compute", TRACE_COMP},
    {"kernel", TRACE_COMP},
    {"compnode", TRACE_COMP},
    {"calc", TRACE_COMP},
    {"comm", TRACE_COLL},
    {"coll", TRACE_COLL},
    {"collective", TRACE_COLL},
    {"commcoll", TRACE_COLL},
    {"commcollnode", TRACE_COLL},
    {"send", TRACE_SEND},
    {"commsend", TRACE_SEND},
    {"commsendnode", TRACE_SEND},
    {"recv", TRACE_RECV},
    {"receive", TRACE_RECV},
    {"commrecv", TRACE_RECV},
    {"commrecvnode", TRACE_RECV},
    {"load", TRACE_MEM_LOAD},
    {"memload", TRACE_MEM_LOAD},
    {"memloadnode", TRACE_MEM_LOAD},
    {"store", TRACE_MEM_STORE},
    {"memstore", TRACE_MEM_STORE},
    {"memstorenode", TRACE_MEM_STORE},
};

/* Letters and digits in lower case; false when it is longer than any word. */
static bool csv_cells_simplify(const struct csv_cell *cell, char word[SHOWN])
{
    static const char *const libraries[] = {"nccl", "rccl", "mpi", "gloo"};
    char all[SHOWN];
    size_t used = 0;
    for (size_t i = 0; i < cell->length; i++) {
        char c = cell->text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            if (used == SHOWN - 1) {
                return false;
            }
            all[used++] = c;
        }
    }
    all[used] = '\0';
    const char *rest = all;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && rest == all; i++) {
        size_t length = strlen(libraries[i]);
        rest = strncmp(all, libraries[i], length) == 0 ? all + length : rest;
    }
    (void)snprintf(word, SHOWN, "%s", rest);
    return true;
}

static enum orr_status csv_cells_read_comm(const struct csv_table *table, enum comm_kind *kind, struct orr_error *err)
{
    struct csv_cell cell = csv_cell_get(table, CSV_COLUMN_COMM);
    const char *known[sizeof comm_words / sizeof comm_words[0] + 1] = {0};
    char word[SHOWN];
    char expected[128];
    *kind = COMM_NONE;
    if (!cell.is_set) {
        return ORR_OK;
    }
    bool fits = csv_cells_simplify(&cell, word);
    for (size_t i = 0; i < sizeof comm_words / sizeof comm_words[0]; i++) {
        known[i] = comm_words[i].word;
        if (fits && strcmp(word, comm_words[i].word) == 0) {
            *kind = comm_words[i].kind;
            return ORR_OK;
        }
    }
    const char *nearest = fits ? error_nearest(word, known) : NULL;
    if (nearest != NULL) {
        (void)snprintf(expected, sizeof expected, "did you mean \"%s\"?", nearest);
    } else {
        (void)snprintf(expected, sizeof expected, "a collective such as all-reduce, or send, recv, none is needed");
    }
    return csv_cell_fail(table, &cell, "comm", expected, err);
}

/* The type's own column, else what the column of communication says. */
enum orr_status csv_cells_type(const struct csv_table *table, struct workload_node *node, struct orr_error *err)
{
    enum comm_kind kind = COMM_NONE;
    struct csv_cell cell = csv_cell_get(table, CSV_COLUMN_TYPE);
    enum orr_status status = csv_cells_read_comm(table, &kind, err);
    if (status != ORR_OK) {
        return status;
    }
    node->comm_kind = (uint8_t)kind;
    node->type = kind == COMM_NONE   ? TRACE_COMP
                 : kind == COMM_SEND ? TRACE_SEND
                 : kind == COMM_RECV ? TRACE_RECV
                                     : TRACE_COLL;
    if (!cell.is_set) {
        return ORR_OK;
    }
    char word[SHOWN];
    bool fits = csv_cells_simplify(&cell, word);
    for (size_t i = 0; fits && i < sizeof type_words / sizeof type_words[0]; i++) {
        if (strcmp(word, type_words[i].word) != 0) {
            continue;
        }
        bool agrees = kind == COMM_NONE || node->type == type_words[i].type;
        node->type = (uint8_t)type_words[i].type;
        if (!agrees) {
            return csv_cell_fail(table, &cell, "type", "which is not what the column comm says", err);
        }
        return node->type == TRACE_COLL && kind == COMM_NONE
                   ? csv_cell_fail(table, &cell, "type", "and the column comm does not say which collective", err)
                   : ORR_OK;
    }
    return csv_cell_fail(table, &cell, "type", "comp, collective, send, recv, load or store is needed", err);
}

/* Durations, sizes, and what a communication needs besides. */
static enum orr_status csv_cells_read_times(const struct csv_table *table, struct workload_node *node,
                                            struct orr_error *err)
{
    struct csv_cell duration = csv_cell_get(table, CSV_COLUMN_DURATION);
    struct csv_cell bytes = csv_cell_get(table, CSV_COLUMN_BYTES);
    struct csv_cell ops = csv_cell_get(table, CSV_COLUMN_OPS);
    uint64_t start_ns = 0;
    int64_t num_ops = 0;
    enum orr_status status = ORR_OK;
    if (duration.is_set) {
        status = csv_cells_read_quantity(table, CSV_COLUMN_DURATION, &node->duration_ns, err);
    } else if (node->type == TRACE_COMP && !ops.is_set) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a compute operation without a duration",
                         table->request->input, table->row.line);
    }
    if (status == ORR_OK && csv_cell_get(table, CSV_COLUMN_START).is_set) {
        status = csv_cells_read_quantity(table, CSV_COLUMN_START, &start_ns, err);
        node->start_us = start_ns / 1000;
    }
    if (status == ORR_OK && ops.is_set) {
        status = csv_cell_integer(table, CSV_COLUMN_OPS, 0, INT64_MAX, &num_ops, err);
        node->num_ops = (uint64_t)num_ops;
        node->has |= WORKLOAD_HAS_NUM_OPS;
    }
    if (status != ORR_OK || !bytes.is_set) {
        return status;
    }
    uint64_t size = 0;
    status = csv_cells_read_quantity(table, CSV_COLUMN_BYTES, &size, err);
    bool is_comm = node->type >= TRACE_SEND;
    if (status == ORR_OK && size == 0 && is_comm && node->comm_kind != COMM_BARRIER) {
        return csv_cell_fail(table, &bytes, "bytes", "communication has at least one byte", err);
    }
    *(is_comm ? &node->bytes : &node->tensor_bytes) = size;
    node->has |= is_comm ? WORKLOAD_HAS_COMM_SIZE : WORKLOAD_HAS_TENSOR_BYTES;
    return status;
}

static enum orr_status read_partners(const struct csv_table *table, const struct workload *workload,
                                     struct workload_node *node, struct orr_error *err)
{
    int64_t peer = -1;
    int64_t tag = 0;
    int64_t root = 0;
    enum orr_status status = csv_cell_integer(table, CSV_COLUMN_PEER, 0, INT32_MAX, &peer, err);
    if (status == ORR_OK) {
        status = csv_cell_integer(table, CSV_COLUMN_TAG, 0, INT32_MAX, &tag, err);
    }
    if (status == ORR_OK) {
        status = csv_cell_integer(table, CSV_COLUMN_ROOT, 0, INT32_MAX, &root, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    bool to_one = node->type == TRACE_SEND || node->type == TRACE_RECV;
    if (to_one && peer < 0) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a %s without a peer; the column peer names the other rank",
                         table->request->input, table->row.line, node->type == TRACE_SEND ? "send" : "recv");
    }
    node->peer = (int32_t)peer;
    node->tag = (int32_t)tag;
    node->root = (int32_t)root;
    if (csv_cell_get(table, CSV_COLUMN_ROOT).is_set) {
        node->has |= WORKLOAD_HAS_ROOT;
    }
    if ((node->has & WORKLOAD_HAS_COMM_SIZE) != 0) {
        node->size_from = PROVENANCE_COLUMN;
    } else if (node->type == TRACE_COLL && node->comm_kind == COMM_BARRIER) {
        node->has |= WORKLOAD_HAS_COMM_SIZE;
        node->size_from = PROVENANCE_NEEDS_NONE;
    } else {
        status = workload_unknown_size(workload, table->request, "the table", node, err);
    }
    node->type_from = PROVENANCE_COLUMN;
    return status;
}

bool csv_cell_is_integer(const struct csv_cell *cell, int64_t *value)
{
    char text[SHOWN];
    struct io_value number;
    if (!cell->is_set || !copy_number(cell, text) || !io_number_parse(text, &number) || number.kind != IO_INTEGER) {
        return false;
    }
    *value = number.integer;
    return true;
}

enum orr_status csv_cells_amounts(const struct csv_table *table, const struct workload *workload,
                                  struct workload_node *node, struct orr_error *err)
{
    enum orr_status status = csv_cells_read_times(table, node, err);
    if (status == ORR_OK && node->type >= TRACE_SEND) {
        return read_partners(table, workload, node, err);
    }
    if (status == ORR_OK && node->type != TRACE_COMP && (node->has & WORKLOAD_HAS_TENSOR_BYTES) == 0) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a memory access without bytes", table->request->input,
                         table->row.line);
    }
    return status;
}
