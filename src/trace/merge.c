/* SPDX-License-Identifier: Apache-2.0 */
/* One file at a time is open; between two only the ids of what ended the one before are kept. */
#include "trace/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/edit.h"

struct merging {
    struct mem *mem;
    FILE *stream;
    struct notes *notes;
    struct merge_counts *counts;
    bool parallel;
    bool any;               /* a node was written */
    uint64_t largest;       /* id written so far; only with any */
    struct record_ids ends; /* ids of what ended the trace before */
    uint64_t end_us;        /* when it ended by its own times */
    struct record_buffer buffer;
    uint8_t *metadata; /* of the first file */
    size_t metadata_size;
    /* the file at hand */
    struct edit_graph graph;
    uint64_t first_us, last_us; /* its span by its own times; first_us UINT64_MAX without nodes */
    uint64_t shift_us;          /* added to its start times, modulo 2^64 */
    bool timed;                 /* some start time is not 0 */
};

static enum orr_status trace_merge_visit(void *context, uint32_t node, const struct record_facts *facts,
                                         struct orr_error *err)
{
    struct merging *merging = context;
    uint64_t end = 0;
    (void)node;
    (void)err;
    if (__builtin_add_overflow(facts->start_us, facts->duration_us, &end)) {
        end = UINT64_MAX;
    }
    merging->first_us = facts->start_us < merging->first_us ? facts->start_us : merging->first_us;
    merging->last_us = end > merging->last_us ? end : merging->last_us;
    merging->timed = merging->timed || facts->start_us != 0;
    return ORR_OK;
}

static enum orr_status trace_merge_check_sound(const struct edit_graph *graph, const char *path, struct orr_error *err)
{
    if (graph->duplicates > 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: node %" PRIu64
                         ": the id is used by more than one node; orrery trace fix parameter 'renumber' "
                         "repairs that",
                         path, graph->ids[graph->first_duplicate]);
    }
    if (graph->missing > 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: node %" PRIu64 ": dependency on node %" PRIu64
                         ", which is not in the file; orrery trace fix repairs that",
                         path, graph->ids[graph->dangling[0].node], graph->dangling[0].id);
    }
    return ORR_OK;
}

/* New ids above all written so far: the old ones moved up, or, where that does not fit, counted up. */
static enum orr_status number(struct merging *merging, const char *path, struct orr_error *err)
{
    struct edit_graph *graph = &merging->graph;
    if (!merging->any || graph->node_count == 0) {
        return ORR_OK;
    }
    graph->new_ids = mem_alloc(merging->mem, graph->node_count * sizeof *graph->new_ids);
    if (graph->new_ids == NULL) {
        return mem_error(merging->mem, "new ids", err);
    }
    bool moves = merging->largest < UINT64_MAX && graph->largest_id <= UINT64_MAX - merging->largest - 1;
    if (!moves && merging->largest > UINT64_MAX - graph->node_count) {
        return error_set(err, ORR_ERANGE, "%s: no ids are left above %" PRIu64, path, merging->largest);
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        graph->new_ids[node] = merging->largest + 1 + (moves ? graph->ids[node] : node);
        graph->dirty[node] = graph->dep_start[node + 1] > graph->dep_start[node];
    }
    return ORR_OK;
}

static bool is_root(const struct edit_graph *graph, uint32_t node)
{
    return graph->dep_start[node] == graph->dep_start[node + 1];
}

static enum orr_status trace_merge_change(void *context, uint32_t node, const struct record *record,
                                          struct record_change *wanted, struct orr_error *err)
{
    const struct merging *merging = context;
    if (merging->ends.count > 0 && is_root(&merging->graph, node)) {
        wanted->fields |= 1u << RECORD_DATA | 1u << RECORD_CTRL;
        wanted->data = merging->ends.ids;
        wanted->data_count = merging->ends.count;
        wanted->ctrl_count = 0;
        merging->counts->links += merging->ends.count;
    }
    if (merging->shift_us == 0) {
        return ORR_OK;
    }
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    wanted->start_us = 0;
    while (wire_next(&walk, &field)) { /* the last one counts */
        wanted->start_us = field.tag == WIRE_TAG(RECORD_START, WIRE_VARINT) ? field.value : wanted->start_us;
    }
    if (walk.at != walk.end) {
        return error_set(err, ORR_EIO, "a trace changed while it was read");
    }
    wanted->start_us += merging->shift_us;
    wanted->fields |= 1u << RECORD_START;
    return ORR_OK;
}

/* Where many roots would wait for many ends, they wait for one joint instead. */
static enum orr_status place_joint(struct merging *merging, struct orr_error *err)
{
    const struct edit_graph *graph = &merging->graph;
    uint64_t roots = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        roots += is_root(graph, node);
    }
    uint64_t ends = merging->ends.count;
    if (roots < 2 || ends < 2 || roots * ends <= roots + ends) {
        return ORR_OK;
    }
    if (merging->largest == UINT64_MAX) {
        return error_set(err, ORR_ERANGE, "no id is left for a joint");
    }
    merging->largest++;
    edit_write_joint(&merging->buffer, merging->stream, merging->largest, "joint of merged traces", merging->ends.ids,
                     ends);
    if (merging->buffer.refused) {
        return mem_error(merging->mem, "a joint", err);
    }
    merging->counts->links += ends;
    merging->counts->nodes++;
    merging->counts->joints++;
    merging->ends.ids[0] = merging->largest;
    merging->ends.count = 1;
    return ORR_OK;
}

/* Remembers what ended this trace. */
static bool keep_ends(struct merging *merging)
{
    const struct edit_graph *graph = &merging->graph;
    uint32_t *children = edit_graph_child_counts(graph);
    bool fine = children != NULL;
    merging->ends.count = 0;
    for (uint32_t node = 0; fine && node < graph->node_count; node++) {
        uint64_t id = edit_graph_id(graph, node);
        merging->largest = !merging->any || id > merging->largest ? id : merging->largest;
        merging->any = true;
        if (children[node] == 0) {
            fine = MEM_GROW(merging->mem, merging->ends.ids, merging->ends.capacity, merging->ends.count);
            if (fine) {
                merging->ends.ids[merging->ends.count++] = id;
            }
        }
    }
    mem_free(merging->mem, children, children == NULL ? 0 : graph->node_count * sizeof *children);
    return fine;
}

static enum orr_status keep_metadata(struct merging *merging, struct record_reader *reader, struct orr_error *err)
{
    struct record record;
    bool more = false;
    enum orr_status status = record_reader_rewind(reader, err);
    status = status != ORR_OK ? status : record_reader_next(reader, &record, &more, err);
    if (status != ORR_OK) {
        return status;
    }
    if (merging->counts->files == 0) {
        merging->metadata = mem_alloc(merging->mem, record.size);
        if (merging->metadata == NULL) {
            return mem_error(merging->mem, "the metadata", err);
        }
        memcpy(merging->metadata, record.bytes, record.size);
        merging->metadata_size = record.size;
        return ORR_OK;
    }
    bool same = record.size == merging->metadata_size && memcmp(record.bytes, merging->metadata, record.size) == 0;
    return same ? ORR_OK
                : notes_add(merging->notes, err, "%s: other metadata than the first trace's; the first's is kept",
                            reader->path);
}

static enum orr_status merge_graph(struct merging *merging, struct record_reader *reader, struct orr_error *err)
{
    struct edit_graph *graph = &merging->graph;
    enum orr_status status = trace_merge_check_sound(graph, reader->path, err);
    merging->ends.count = merging->parallel ? 0 : merging->ends.count;
    merging->shift_us = 0;
    if (merging->any && merging->timed && !merging->parallel) {
        merging->shift_us = merging->end_us - merging->first_us;
    }
    status = status != ORR_OK || graph->node_count == 0 ? status : place_joint(merging, err);
    status = status != ORR_OK ? status : number(merging, reader->path, err);
    if (status != ORR_OK) {
        return status;
    }
    struct edit_write write = {.reader = reader,
                               .graph = graph,
                               .stream = merging->stream,
                               .change = trace_merge_change,
                               .context = merging,
                               .without_metadata = merging->counts->files > 0};
    status = edit_write_nodes(&write, err);
    if (status == ORR_OK && graph->node_count > 0) {
        merging->end_us = merging->last_us + merging->shift_us;
        status = keep_ends(merging) ? ORR_OK : mem_error(merging->mem, "the ends of a trace", err);
    }
    merging->counts->nodes += graph->node_count;
    return status;
}

static enum orr_status merge_file(struct merging *merging, const char *path, struct orr_error *err)
{
    struct record_reader reader;
    enum orr_status status = record_reader_open(&reader, path, merging->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    merging->first_us = UINT64_MAX;
    merging->last_us = 0;
    status = keep_metadata(merging, &reader, err);
    if (status == ORR_OK) {
        status = edit_graph_open(&merging->graph, &reader, trace_merge_visit, merging, merging->mem, err);
    }
    if (status == ORR_OK) {
        status = merge_graph(merging, &reader, err);
        edit_graph_close(&merging->graph);
    }
    merging->counts->files++;
    record_reader_close(&reader);
    return status;
}

enum orr_status merge_traces(const char *const *paths, size_t count, bool parallel, FILE *stream, struct notes *notes,
                             struct merge_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct merge_counts own = {0};
    struct merging merging = {.mem = mem, .stream = stream, .notes = notes, .counts = &own, .parallel = parallel};
    enum orr_status status = ORR_OK;
    record_buffer_init(&merging.buffer, mem);
    for (size_t i = 0; status == ORR_OK && i < count; i++) {
        status = merge_file(&merging, paths[i], err);
    }
    if (status == ORR_OK) {
        *counts = own;
    }
    record_buffer_free(&merging.buffer);
    mem_free(mem, merging.ends.ids, (size_t)merging.ends.capacity * sizeof *merging.ends.ids);
    mem_free(mem, merging.metadata, merging.metadata == NULL ? 0 : merging.metadata_size);
    return status;
}
