/* SPDX-License-Identifier: Apache-2.0 */
/* While the file is read dependencies are ids of 8 bytes; once all ids are known they become places of 4, in the same
 * memory. Traces number their nodes upwards and refer to nodes close by, so an id is looked for near the node that
 * names it; only files that do not ascend pay for a table of places sorted by id. */
#include "trace/edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ids ---- */

/* First place in [low, high) of the ascending `ids` with an id not below `id`. */
static uint32_t lower_bound(const struct edit_graph *graph, uint64_t id, uint32_t low, uint32_t high)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t place = graph->by_id == NULL ? middle : graph->by_id[middle];
        if (graph->ids[place] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t find_near(const struct edit_graph *graph, uint64_t id, uint32_t near)
{
    uint32_t low = near;
    uint32_t high = near;
    uint32_t reach = 1;
    while (low > 0 && graph->ids[low] > id) {
        low = low > reach ? low - reach : 0;
        reach = reach < UINT32_C(1) << 30 ? reach * 2 : reach;
    }
    reach = 1;
    while (high < graph->node_count && graph->ids[high] < id) {
        high = graph->node_count - high > reach ? high + reach : graph->node_count;
        reach = reach < UINT32_C(1) << 30 ? reach * 2 : reach;
    }
    return lower_bound(graph, id, low, high < graph->node_count ? high + 1 : high);
}

uint32_t edit_graph_find(const struct edit_graph *graph, uint64_t id, uint32_t near)
{
    if (graph->node_count == 0) {
        return EDIT_MISSING;
    }
    uint32_t rank = graph->ascending ? find_near(graph, id, near < graph->node_count ? near : 0)
                                     : lower_bound(graph, id, 0, graph->node_count);
    if (rank >= graph->node_count) {
        return EDIT_MISSING;
    }
    uint32_t place = graph->by_id == NULL ? rank : graph->by_id[rank];
    return graph->ids[place] == id ? place : EDIT_MISSING;
}

/* Places by id: a byte at a time from the lowest, each time keeping the order of the time before. */
static bool trace_edit_sort_by_id(struct edit_graph *graph)
{
    size_t bytes = (size_t)graph->node_count * sizeof(uint32_t);
    uint32_t *from = mem_alloc(graph->mem, bytes);
    uint32_t *to = mem_alloc(graph->mem, bytes);
    if (from == NULL || to == NULL) {
        mem_free(graph->mem, from, bytes);
        mem_free(graph->mem, to, bytes);
        return false;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        from[i] = i;
    }
    for (unsigned shift = 0; shift < 64 && graph->largest_id >> shift != 0; shift += 8) {
        uint32_t start[257] = {0};
        for (uint32_t i = 0; i < graph->node_count; i++) {
            start[(graph->ids[i] >> shift & 0xff) + 1]++;
        }
        for (unsigned b = 0; b < 256; b++) {
            start[b + 1] += start[b];
        }
        for (uint32_t i = 0; i < graph->node_count; i++) {
            to[start[graph->ids[from[i]] >> shift & 0xff]++] = from[i];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    graph->by_id = from;
    mem_free(graph->mem, to, bytes);
    return true;
}

static void count_duplicates(struct edit_graph *graph)
{
    graph->first_duplicate = EDIT_MISSING;
    for (uint32_t i = 1; i < graph->node_count && graph->by_id != NULL; i++) {
        if (graph->ids[graph->by_id[i]] == graph->ids[graph->by_id[i - 1]]) {
            uint32_t place = graph->by_id[i];
            graph->duplicates++;
            graph->first_duplicate = place < graph->first_duplicate ? place : graph->first_duplicate;
        }
    }
}

/* ---- reading ---- */

struct loading {
    struct edit_graph *graph;
    uint64_t *dep_ids;
    uint32_t *data_count; /* by node: of its dependencies, the data ones */
    uint32_t dep_total, dep_id_capacity, data_capacity;
};

static bool trace_edit_reserve_node(struct loading *loading, uint64_t deps)
{
    struct edit_graph *graph = loading->graph;
    uint64_t need = (uint64_t)graph->node_count + 2;
    return MEM_RESERVE(graph->mem, graph->ids, graph->id_capacity, need) &&
           mem_reserve(graph->mem, (void **)&graph->type, &graph->type_capacity, need, 1) &&
           MEM_RESERVE(graph->mem, graph->dep_start, graph->start_capacity, need) &&
           MEM_RESERVE(graph->mem, loading->data_count, loading->data_capacity, need) &&
           MEM_RESERVE(graph->mem, loading->dep_ids, loading->dep_id_capacity, loading->dep_total + deps + 1);
}

static bool trace_edit_add_node(struct loading *loading, const struct record_facts *facts)
{
    struct edit_graph *graph = loading->graph;
    uint64_t deps = (uint64_t)facts->data.count + facts->ctrl.count;
    if (graph->node_count + 1 >= EDIT_MISSING || deps + loading->dep_total >= UINT32_MAX ||
        !trace_edit_reserve_node(loading, deps)) {
        return false;
    }
    uint32_t node = graph->node_count++;
    graph->ascending = graph->ascending && (node == 0 || graph->ids[node - 1] < facts->id);
    graph->largest_id = facts->id > graph->largest_id ? facts->id : graph->largest_id;
    graph->ids[node] = facts->id;
    graph->type[node] =
        facts->type >= 0 && facts->type < TRACE_NODE_TYPES ? (uint8_t)facts->type : (uint8_t)EDIT_TYPE_UNKNOWN;
    graph->dep_start[node] = loading->dep_total;
    loading->data_count[node] = facts->data.count;
    uint64_t *next = loading->dep_ids + loading->dep_total;
    if (facts->data.count > 0) {
        memcpy(next, facts->data.ids, facts->data.count * sizeof *next);
    }
    if (facts->ctrl.count > 0) {
        memcpy(next + facts->data.count, facts->ctrl.ids, facts->ctrl.count * sizeof *next);
    }
    loading->dep_total += (uint32_t)deps;
    graph->dep_start[node + 1] = loading->dep_total;
    return true;
}

static enum orr_status trace_edit_read_nodes(struct loading *loading, struct record_reader *reader, edit_visit visit,
                                             void *context, struct orr_error *err)
{
    struct record_facts facts;
    struct record record;
    bool more = true;
    record_facts_init(&facts);
    enum orr_status status = record_reader_rewind(reader, err);
    status = status != ORR_OK ? status : record_reader_next(reader, &record, &more, err); /* the metadata */
    while (status == ORR_OK && more) {
        status = record_reader_next(reader, &record, &more, err);
        if (status != ORR_OK || !more) {
            break;
        }
        status = record_scan(reader, &record, &facts, err);
        if (status == ORR_OK && !trace_edit_add_node(loading, &facts)) {
            status = mem_error(loading->graph->mem, "the nodes of a trace", err);
        }
        if (status == ORR_OK && visit != NULL) {
            status = visit(context, loading->graph->node_count - 1, &facts, err);
        }
    }
    record_facts_free(&facts, loading->graph->mem);
    return status;
}

static void note_missing(struct edit_graph *graph, uint32_t node, uint64_t id, bool is_ctrl)
{
    if (graph->missing < EDIT_DANGLING_KEPT) {
        graph->dangling[graph->missing] = (struct edit_dangling){id, node, is_ctrl};
    }
    graph->missing++;
}

/* From ids to places, in the same memory: what is written never passes what is still to be read. */
static bool trace_edit_resolve(struct loading *loading)
{
    struct edit_graph *graph = loading->graph;
    uint32_t *deps = (uint32_t *)(void *)loading->dep_ids;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t first = graph->dep_start[node];
        for (uint32_t d = first; d < graph->dep_start[node + 1]; d++) {
            uint64_t id = loading->dep_ids[d];
            bool is_ctrl = d - first >= loading->data_count[node];
            uint32_t place = edit_graph_find(graph, id, node);
            if (place == EDIT_MISSING) {
                note_missing(graph, node, id, is_ctrl);
            }
            deps[d] = place | (is_ctrl ? EDIT_CTRL : 0);
        }
    }
    size_t old = (size_t)loading->dep_id_capacity * sizeof *loading->dep_ids;
    size_t tight = ((size_t)loading->dep_total + 1) * sizeof *deps;
    uint32_t *moved = mem_resize(graph->mem, deps, old, tight);
    if (moved == NULL) {
        return false;
    }
    loading->dep_ids = NULL;
    loading->dep_id_capacity = 0;
    graph->deps = moved;
    graph->dep_capacity = loading->dep_total + 1;
    return true;
}

static bool trace_edit_settle(struct loading *loading)
{
    struct edit_graph *graph = loading->graph;
    if (!trace_edit_reserve_node(loading, 0)) { /* a file without nodes has its arrays too */
        return false;
    }
    graph->dep_start[graph->node_count] = loading->dep_total;
    if (!graph->ascending && !trace_edit_sort_by_id(graph)) {
        return false;
    }
    count_duplicates(graph);
    if (!trace_edit_resolve(loading)) {
        return false;
    }
    graph->dirty = mem_zalloc(graph->mem, graph->node_count);
    graph->fate = mem_zalloc(graph->mem, graph->node_count);
    return graph->dirty != NULL && graph->fate != NULL;
}

enum orr_status edit_graph_open(struct edit_graph *graph, struct record_reader *reader, edit_visit visit, void *context,
                                struct mem *mem, struct orr_error *err)
{
    struct edit_graph made = {.mem = mem, .ascending = true};
    struct loading loading = {.graph = &made};
    enum orr_status status = trace_edit_read_nodes(&loading, reader, visit, context, err);
    if (status == ORR_OK && !trace_edit_settle(&loading)) {
        status = mem_error(mem, "the dependencies of a trace", err);
    }
    mem_free(mem, loading.dep_ids, (size_t)loading.dep_id_capacity * sizeof *loading.dep_ids);
    mem_free(mem, loading.data_count, (size_t)loading.data_capacity * sizeof *loading.data_count);
    if (status != ORR_OK) {
        edit_graph_close(&made);
        return status;
    }
    *graph = made;
    return ORR_OK;
}

void edit_graph_close(struct edit_graph *graph)
{
    size_t count = graph->node_count;
    mem_free(graph->mem, graph->ids, (size_t)graph->id_capacity * sizeof *graph->ids);
    mem_free(graph->mem, graph->type, graph->type_capacity);
    mem_free(graph->mem, graph->dep_start, (size_t)graph->start_capacity * sizeof *graph->dep_start);
    mem_free(graph->mem, graph->deps, (size_t)graph->dep_capacity * sizeof *graph->deps);
    mem_free(graph->mem, graph->dirty, graph->dirty == NULL ? 0 : count);
    mem_free(graph->mem, graph->fate, graph->fate == NULL ? 0 : count);
    mem_free(graph->mem, graph->by_id, graph->by_id == NULL ? 0 : count * sizeof *graph->by_id);
    mem_free(graph->mem, graph->new_ids, graph->new_ids == NULL ? 0 : count * sizeof *graph->new_ids);
    *graph = (struct edit_graph){0};
}

void edit_graph_replace(struct edit_graph *graph, uint32_t *dep_start, uint32_t *deps, uint32_t dep_total)
{
    mem_free(graph->mem, graph->dep_start, (size_t)graph->start_capacity * sizeof *graph->dep_start);
    mem_free(graph->mem, graph->deps, (size_t)graph->dep_capacity * sizeof *graph->deps);
    graph->dep_start = dep_start;
    graph->start_capacity = graph->node_count + 1;
    graph->deps = deps;
    graph->dep_capacity = dep_total;
}

uint32_t *edit_graph_child_counts(const struct edit_graph *graph)
{
    uint32_t *counts = mem_zalloc(graph->mem, (size_t)graph->node_count * sizeof *counts);
    for (uint32_t d = 0; counts != NULL && d < graph->dep_start[graph->node_count]; d++) {
        uint32_t parent = graph->deps[d] & EDIT_INDEX;
        if (parent != EDIT_MISSING) {
            counts[parent]++;
        }
    }
    return counts;
}

/* ---- writing ---- */

/* Makes a joint of a node's record: a compute node of no duration. It is a CPU operator, so that it never waits for the
 * GPU. */
static void edit_change_joint(struct record_change *change)
{
    change->fields |= 1u << RECORD_TYPE | 1u << RECORD_DURATION;
    change->type = TRACE_COMP;
    change->duration_us = 0;
    record_change_integer(change, "is_cpu_op", TRACE_VALUE_BOOL, 1);
}

void edit_write_joint(struct record_buffer *buffer, FILE *stream, uint64_t id, const char *name,
                      const uint64_t *parents, size_t count)
{
    record_buffer_clear(buffer);
    record_put_number(buffer, RECORD_ID, id);
    record_put_text(buffer, RECORD_NAME, name);
    record_put_number(buffer, RECORD_TYPE, TRACE_COMP);
    record_put_ids(buffer, RECORD_DATA, parents, count);
    record_put_integer(buffer, "is_cpu_op", TRACE_VALUE_BOOL, 1);
    if (!buffer->refused) {
        record_write(stream, buffer->bytes, buffer->size);
    }
}

/* A node's dependencies as ids: data into the front of `ids`, control behind. */
static void list_ids(const struct edit_graph *graph, uint32_t node, uint64_t *ids, struct record_change *change)
{
    size_t count = 0;
    for (int ctrl = 0; ctrl < 2; ctrl++) {
        size_t first = count;
        for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
            uint32_t place = graph->deps[d] & EDIT_INDEX;
            if (((graph->deps[d] & EDIT_CTRL) != 0) == (ctrl == 1) && place != EDIT_MISSING) {
                ids[count++] = edit_graph_id(graph, place);
            }
        }
        *(ctrl == 0 ? &change->data : &change->ctrl) = ids + first;
        *(ctrl == 0 ? &change->data_count : &change->ctrl_count) = count - first;
    }
    change->fields |= 1u << RECORD_DATA | 1u << RECORD_CTRL;
}

struct writing {
    const struct edit_write *write;
    struct record_buffer buffer;
    struct record_change change;
    uint64_t *ids;
    uint32_t id_capacity;
};

static enum orr_status trace_edit_write_node(struct writing *writing, uint32_t node, const struct record *record,
                                             struct orr_error *err)
{
    const struct edit_graph *graph = writing->write->graph;
    struct record_change *change = &writing->change;
    enum orr_status status = ORR_OK;
    record_change_clear(change);
    if (graph->dirty[node] != 0) {
        uint32_t count = graph->dep_start[node + 1] - graph->dep_start[node];
        if (!MEM_GROW(graph->mem, writing->ids, writing->id_capacity, count)) {
            return mem_error(graph->mem, "the dependencies of a node", err);
        }
        list_ids(graph, node, writing->ids, change);
    }
    if (graph->new_ids != NULL && graph->new_ids[node] != graph->ids[node]) {
        change->fields |= 1u << RECORD_ID;
        change->id = graph->new_ids[node];
    }
    if (graph->fate[node] == EDIT_JOINT) {
        edit_change_joint(change);
    }
    if (writing->write->change != NULL) {
        status = writing->write->change(writing->write->context, node, record, change, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (!record_change_any(change)) {
        record_write(writing->write->stream, record->bytes, record->size);
        return ORR_OK;
    }
    record_buffer_clear(&writing->buffer);
    record_rewrite(&writing->buffer, record, change);
    if (writing->buffer.refused) {
        return mem_error(graph->mem, "a record of a trace", err);
    }
    record_write(writing->write->stream, writing->buffer.bytes, writing->buffer.size);
    return ORR_OK;
}

enum orr_status edit_write_nodes(const struct edit_write *write, struct orr_error *err)
{
    const struct edit_graph *graph = write->graph;
    struct writing writing = {.write = write};
    struct record record;
    bool more = true;
    record_buffer_init(&writing.buffer, graph->mem);
    enum orr_status status = record_reader_rewind(write->reader, err);
    status = status != ORR_OK ? status : record_reader_next(write->reader, &record, &more, err);
    if (status == ORR_OK && !write->without_metadata) {
        record_write(write->stream, record.bytes, record.size);
    }
    for (uint32_t node = 0; status == ORR_OK; node++) {
        status = record_reader_next(write->reader, &record, &more, err);
        if (status != ORR_OK || (!more && node == graph->node_count)) {
            break;
        }
        if (!more || node >= graph->node_count) {
            status = error_set(err, ORR_EIO, "%s: the file changed while it was read", write->reader->path);
        } else if (graph->fate[node] != EDIT_REMOVE && graph->fate[node] != EDIT_DROP) {
            status = trace_edit_write_node(&writing, node, &record, err);
        }
    }
    record_buffer_free(&writing.buffer);
    mem_free(graph->mem, writing.ids, (size_t)writing.id_capacity * sizeof *writing.ids);
    return status;
}
