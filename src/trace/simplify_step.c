/* SPDX-License-Identifier: Apache-2.0 */
/* No graph: a table of sums, one row for each step and kind of work, in the order first met, which files of one job
 * share. Rows are then put by step, and by kind within, so that all ranks write the same order whatever their files'
 * was; a collective that ranks met in different orders would stall. Two walks where steps are marked by time, because a
 * mark may follow what it covers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "trace/record_edit.h"
#include "trace/simplify.h"
#include "trace/steps.h"

/* In the order written within a step. */
enum kind { KIND_GPU, KIND_CPU, KIND_LOAD, KIND_STORE, KIND_COLL, KIND_SEND, KIND_RECV, KIND_NONE };

struct row {
    int64_t step;
    enum kind kind;
    int64_t detail; /* collective type, or peer */
    uint32_t group; /* of a collective: number of its text */
    uint64_t nodes;
    uint64_t duration_us;
    uint64_t amount[RECORD_AMOUNT_COUNT];
    uint32_t has_amount; /* those that all nodes of the row have */
    uint64_t bytes;
    uint64_t id; /* once written */
};

MAP_STRUCT(row_table, uint32_t);

struct table {
    struct mem *mem;
    struct row *rows;
    uint32_t row_count, row_capacity;
    struct row_table slots; /* of row + 1 */
    struct intern groups;
    uint64_t outside; /* nodes of no step though the trace has some */
    bool overflow;
};

static enum kind simplify_step_kind_of(const struct record_facts *facts)
{
    switch (facts->type) {
    case TRACE_COMP:
        return record_is_cpu(facts) ? KIND_CPU : KIND_GPU;
    case TRACE_MEM_LOAD:
        return KIND_LOAD;
    case TRACE_MEM_STORE:
        return KIND_STORE;
    case TRACE_COLL:
        return KIND_COLL;
    case TRACE_SEND:
        return KIND_SEND;
    case TRACE_RECV:
        return KIND_RECV;
    default:
        return KIND_NONE;
    }
}

static uint64_t row_hash(const struct row *row)
{
    uint64_t hash = (uint64_t)row->step * UINT64_C(0x9e3779b97f4a7c15) + row->kind;
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)row->detail;
    hash = (hash ^ hash >> 32) * UINT64_C(0x94d049bb133111eb) + row->group;
    return hash ^ hash >> 31;
}

static bool same_row(const struct row *a, const struct row *b)
{
    return a->step == b->step && a->kind == b->kind && a->detail == b->detail && a->group == b->group;
}

static uint32_t row_hash_of(const struct table *table, const uint32_t *number)
{
    return (uint32_t)row_hash(&table->rows[*number - 1]);
}

static bool row_is(const struct table *table, const uint32_t *number, const struct row *key)
{
    return same_row(&table->rows[*number - 1], key);
}

MAP_DEFINE(row_table, uint32_t, const struct row *, const struct table *, row_hash_of, row_is, MAP_NO_NUMBER);

/* The row with this key, made where it is new; NULL when memory is refused. */
static struct row *row_for(struct table *table, const struct row *key)
{
    if (!row_table_room(table, &table->slots, table->mem)) {
        return NULL;
    }
    uint32_t *slot = row_table_place(table, &table->slots, (uint32_t)row_hash(key), key);
    if (*slot == 0) {
        if (!MEM_GROW(table->mem, table->rows, table->row_capacity, table->row_count)) {
            return NULL;
        }
        table->rows[table->row_count++] = *key;
        *slot = table->row_count;
        table->slots.count++;
    }
    return &table->rows[*slot - 1];
}

static void simplify_step_add_up(struct table *table, uint64_t *sum, uint64_t more)
{
    table->overflow = __builtin_add_overflow(*sum, more, sum) || table->overflow;
}

static int64_t detail_of(const struct record_facts *facts, enum kind kind)
{
    enum trace_attr which = kind == KIND_COLL   ? TRACE_ATTR_COMM_TYPE
                            : kind == KIND_SEND ? TRACE_ATTR_COMM_DST
                                                : TRACE_ATTR_COMM_SRC;
    bool known = kind >= KIND_COLL && (facts->has & 1u << which) != 0;
    return known ? (int64_t)facts->value[which] : kind >= KIND_COLL ? -1 : 0;
}

static enum orr_status simplify_step_add_node(struct table *table, const struct record_facts *facts, int64_t step,
                                              struct orr_error *err)
{
    struct row key = {.step = step, .kind = simplify_step_kind_of(facts), .has_amount = facts->has_amount};
    if (key.kind == KIND_NONE) {
        return ORR_OK;
    }
    key.detail = detail_of(facts, key.kind);
    bool fine = key.kind != KIND_COLL || intern_add(&table->groups, facts->group.text, facts->group.length, &key.group);
    struct row *row = fine ? row_for(table, &key) : NULL;
    if (row == NULL) {
        return mem_error(table->mem, "the sums of a trace", err);
    }
    row->nodes++;
    row->has_amount &= facts->has_amount;
    simplify_step_add_up(table, &row->duration_us, facts->duration_us);
    simplify_step_add_up(table, &row->bytes, facts->value[TRACE_ATTR_COMM_SIZE]);
    for (unsigned i = 0; i < RECORD_AMOUNT_COUNT; i++) {
        simplify_step_add_up(table, &row->amount[i], (facts->has_amount & 1u << i) != 0 ? facts->amount[i] : 0);
    }
    return ORR_OK;
}

/* ---- reading ---- */

static enum orr_status each_node(struct record_reader *reader, struct mem *mem, struct steps *steps,
                                 struct table *table, struct simplify_counts *counts, struct orr_error *err)
{
    struct record_pass pass;
    uint32_t node = 0;
    enum orr_status status = record_pass_open(&pass, reader, NULL, mem, err);
    while (status == ORR_OK && pass.more) {
        if (table == NULL) {
            status = steps_add(steps, &pass.facts, err);
            counts->deps_in += (uint64_t)pass.facts.data.count + pass.facts.ctrl.count;
        } else {
            table->outside += steps->step[node] == STEPS_NONE;
            status = simplify_step_add_node(table, &pass.facts, steps->step[node], err);
        }
        node++;
        status = status != ORR_OK ? status : record_pass_next(&pass, err);
    }
    record_pass_close(&pass);
    return status;
}

static int simplify_step_compare_rows(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->detail != y->detail) {
        return x->detail < y->detail ? -1 : 1;
    }
    return x->group < y->group ? -1 : x->group > y->group;
}

static int compare_texts(const void *a, const void *b, void *groups)
{
    return strcmp(intern_text(groups, *(const uint32_t *)a), intern_text(groups, *(const uint32_t *)b));
}

/* Group numbers depend on the order a file met the texts in; ranks must agree, so texts decide. */
static bool rank_groups(struct table *table)
{
    uint32_t count = intern_count(&table->groups);
    size_t bytes = 2 * (size_t)count * sizeof(uint32_t);
    uint32_t *order = mem_alloc(table->mem, bytes);
    if (order == NULL) {
        return false;
    }
    uint32_t *rank = order + count;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    qsort_r(order, count, sizeof *order, compare_texts, &table->groups);
    for (uint32_t i = 0; i < count; i++) {
        rank[order[i]] = i;
    }
    for (uint32_t i = 0; i < table->row_count; i++) {
        table->rows[i].group = rank[table->rows[i].group];
    }
    if (table->row_count > 0) {
        qsort(table->rows, table->row_count, sizeof *table->rows, simplify_step_compare_rows);
    }
    for (uint32_t i = 0; i < table->row_count; i++) {
        table->rows[i].group = order[table->rows[i].group];
    }
    mem_free(table->mem, order, bytes);
    return true;
}

/* ---- writing ---- */

struct output {
    struct table *table;
    FILE *stream;
    struct record_buffer buffer;
    struct record_ids parents; /* what a row waits for */
    uint64_t deps;
};

static bool add_parent(struct output *output, uint64_t id)
{
    struct record_ids *list = &output->parents;
    if (!MEM_GROW(output->table->mem, list->ids, list->capacity, list->count)) {
        return false;
    }
    list->ids[list->count++] = id;
    return true;
}

static void put_comm(struct output *output, const struct row *row)
{
    struct record_buffer *buffer = &output->buffer;
    if (row->kind == KIND_COLL) {
        if (row->detail >= 0) {
            record_put_integer(buffer, "comm_type", TRACE_VALUE_INT64, (uint64_t)row->detail);
        }
    } else {
        bool sends = row->kind == KIND_SEND;
        if (row->detail >= 0) {
            record_put_integer(buffer, sends ? "comm_dst" : "comm_src", TRACE_VALUE_INT32, (uint64_t)row->detail);
        }
        uint64_t tag = row->step < 0 ? 0 : (uint64_t)row->step & INT32_MAX;
        record_put_integer(buffer, "comm_tag", TRACE_VALUE_INT32, tag);
    }
    record_put_integer(buffer, "comm_size", TRACE_VALUE_INT64, row->bytes);
    if (row->kind == KIND_COLL && row->group != 0) {
        const char *text = intern_text(&output->table->groups, row->group);
        record_put_string(buffer, "pg_name", (struct record_text){text, strlen(text)});
    }
}

static void name_row(const struct row *row, char *name, size_t size)
{
    static const char *const kinds[] = {"compute",    "CPU compute", "memory loads", "memory stores",
                                        "collective", "sends to",    "receives from"};
    char step[32] = "outside steps";
    char detail[32] = "";
    if (row->step != STEPS_NONE) {
        (void)snprintf(step, sizeof step, "step %" PRId64, row->step);
    }
    if (row->kind >= KIND_COLL) {
        (void)snprintf(detail, sizeof detail, row->kind == KIND_COLL ? " of type %" PRId64 : " %" PRId64, row->detail);
    }
    (void)snprintf(name, size, "%s: %s%s", step, kinds[row->kind], detail);
}

static void simplify_step_put_row(struct output *output, const struct row *row)
{
    static const enum trace_node_type types[] = {TRACE_COMP, TRACE_COMP, TRACE_MEM_LOAD, TRACE_MEM_STORE,
                                                 TRACE_COLL, TRACE_SEND, TRACE_RECV};
    struct record_buffer *buffer = &output->buffer;
    char name[96];
    name_row(row, name, sizeof name);
    record_buffer_clear(buffer);
    record_put_number(buffer, RECORD_ID, row->id);
    record_put_text(buffer, RECORD_NAME, name);
    record_put_number(buffer, RECORD_TYPE, types[row->kind]);
    record_put_ids(buffer, RECORD_DATA, output->parents.ids, output->parents.count);
    record_put_number(buffer, RECORD_DURATION, row->duration_us);
    record_put_integer(buffer, "is_cpu_op", TRACE_VALUE_BOOL, row->kind == KIND_CPU);
    if (row->kind >= KIND_COLL) {
        put_comm(output, row);
    }
    for (unsigned i = 0; row->kind < KIND_COLL && i < RECORD_AMOUNT_COUNT; i++) {
        if ((row->has_amount & 1u << i) != 0) {
            record_put_integer(buffer, record_amount_name(i), TRACE_VALUE_INT64, row->amount[i]);
        }
    }
    record_put_integer(buffer, "merged", TRACE_VALUE_INT64, row->nodes);
    if (row->step >= 0) {
        record_put_integer(buffer, "step", TRACE_VALUE_INT64, (uint64_t)row->step);
    }
    if (output->stream != NULL && !buffer->refused) {
        record_write(output->stream, buffer->bytes, buffer->size);
    }
    output->deps += output->parents.count;
}

/* Rows [first, end) are one step, [before, first) the step before it: compute waits for all of that; communication for
 * this step's compute (or, without any, for the step before), and a collective for the collective before it too. */
static bool simplify_step_put_step(struct output *output, uint32_t before, uint32_t first, uint32_t end)
{
    struct row *rows = output->table->rows;
    uint32_t computes = first;
    while (computes < end && rows[computes].kind < KIND_COLL) {
        computes++;
    }
    for (uint32_t r = first; r < end; r++) {
        bool compute = r < computes;
        uint32_t from = compute || computes == first ? before : first;
        uint32_t to = compute || computes == first ? first : computes;
        output->parents.count = 0;
        bool fine = true;
        if (rows[r].kind == KIND_COLL && r > computes) {
            fine = add_parent(output, rows[r - 1].id);
        } else {
            for (uint32_t p = from; fine && p < to; p++) {
                fine = add_parent(output, rows[p].id);
            }
        }
        if (!fine) {
            return false;
        }
        simplify_step_put_row(output, &rows[r]);
        if (output->buffer.refused) {
            return false;
        }
    }
    return true;
}

static bool simplify_step_put_rows(struct output *output, struct simplify_counts *counts)
{
    struct table *table = output->table;
    for (uint32_t i = 0; i < table->row_count; i++) {
        table->rows[i].id = (uint64_t)i + 1;
    }
    uint32_t before = 0;
    uint64_t steps = 0;
    for (uint32_t first = 0; first < table->row_count;) {
        uint32_t end = first;
        while (end < table->row_count && table->rows[end].step == table->rows[first].step) {
            end++;
        }
        if (!simplify_step_put_step(output, before, first, end)) {
            return false;
        }
        steps++;
        before = first;
        first = end;
    }
    counts->steps = steps > counts->steps ? steps : counts->steps;
    counts->nodes_out += table->row_count;
    counts->deps_out += output->deps;
    return true;
}

static enum orr_status simplify_step_write_table(struct table *table, struct record_reader *reader, FILE *stream,
                                                 struct simplify_counts *counts, struct orr_error *err)
{
    struct output output = {.table = table, .stream = stream};
    struct record record;
    bool more = false;
    enum orr_status status = record_reader_rewind(reader, err);
    status = status != ORR_OK ? status : record_reader_next(reader, &record, &more, err);
    if (status == ORR_OK && stream != NULL) {
        record_write(stream, record.bytes, record.size);
    }
    record_buffer_init(&output.buffer, table->mem);
    if (status == ORR_OK && (!rank_groups(table) || !simplify_step_put_rows(&output, counts))) {
        status = mem_error(table->mem, "the sums of a trace", err);
    }
    record_buffer_free(&output.buffer);
    mem_free(table->mem, output.parents.ids, (size_t)output.parents.capacity * sizeof *output.parents.ids);
    return status;
}

static enum orr_status simplify_step_tell(const struct table *table, const struct record_reader *reader, bool any,
                                          struct notes *notes, struct orr_error *err)
{
    if (table->overflow) {
        return error_set(err, ORR_ERANGE, "%s: durations, sizes or amounts add up to more than 64 bits", reader->path);
    }
    if (!any) {
        return notes_add(notes, err, "%s: no steps are marked; the whole trace counts as one", reader->path);
    }
    if (table->outside > 0) {
        return notes_add(notes, err, "%s: %" PRIu64 " node%s outside all steps; they come before the first",
                         reader->path, table->outside, table->outside == 1 ? " is" : "s are");
    }
    return ORR_OK;
}

enum orr_status simplify_steps(struct record_reader *reader, FILE *stream, struct notes *notes,
                               struct simplify_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct steps steps;
    struct table table = {.mem = mem};
    struct simplify_counts own = *counts;
    steps_init(&steps, mem);
    intern_init(&table.groups, mem);
    bool any = false;
    uint32_t unused = 0;
    enum orr_status status = each_node(reader, mem, &steps, NULL, &own, err);
    if (status == ORR_OK && !intern_add(&table.groups, "", 0, &unused)) {
        status = mem_error(mem, "the sums of a trace", err);
    }
    if (status == ORR_OK) {
        any = steps_settle(&steps);
        own.nodes_in += steps.node_count;
        status = each_node(reader, mem, &steps, &table, &own, err);
    }
    status = status != ORR_OK ? status : simplify_step_tell(&table, reader, any, notes, err);
    status = status != ORR_OK ? status : simplify_step_write_table(&table, reader, stream, &own, err);
    if (status == ORR_OK) {
        *counts = own;
    }
    intern_free(&table.groups);
    steps_free(&steps);
    mem_free(mem, table.rows, (size_t)table.row_capacity * sizeof *table.rows);
    row_table_free(&table.slots, mem);
    return status;
}
