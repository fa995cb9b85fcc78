/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's durations are whole microseconds, and many kernels are shorter than one. Each lane carries what rounding
 * left over to its next node, so that the sum over any stretch of a lane is right to a microsecond, although a single
 * node may be off by one.
 */
#include "convert/pytorch/emit/emit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "convert/pytorch/emit/retime.h"

enum { NS_PER_US = 1000 };

struct lane_place {
    int64_t stream;
    uint32_t lane;
};

struct emit {
    const struct linked_trace *linked;
    const struct comm_groups *groups;
    const struct emit_options *options;
    const char *name;
    struct et_writer *writer;
    struct emit_counts *counts;
    struct emit_selection selection;
    struct emit_retiming retiming;
    uint32_t *lane_parts; /* by lane: which of those with its stream's number */
    struct number_map tags;
    int64_t *lane_ns; /* by lane: time not yet written, below or above zero */
    uint64_t *deps;   /* of one node */
    uint32_t dep_capacity;
    int64_t last_step;
};

static uint64_t emit_duration_us(struct emit *emit, uint32_t lane, int64_t duration_ns)
{
    int64_t *left = &emit->lane_ns[lane];
    int64_t total = *left + (duration_ns > 0 ? duration_ns : 0);
    int64_t us = total <= 0 ? 0 : (total + NS_PER_US / 2) / NS_PER_US;
    *left = total - us * NS_PER_US;
    return (uint64_t)us;
}

static enum trace_node_type type_of(const struct emit *emit, const struct linked_node *node)
{
    if (node->comm == LINKED_NONE) {
        return TRACE_COMP;
    }
    switch (emit->linked->comms[node->comm].kind) {
    case COMM_SEND:
        return TRACE_SEND;
    case COMM_RECV:
        return TRACE_RECV;
    default:
        return TRACE_COLL;
    }
}

static bool whole_number(const char *text, int64_t *number)
{
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return end != text && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

/* The nearest op around that is written too. */
static uint32_t written_parent(const struct emit *emit, uint32_t node)
{
    uint32_t parent = emit->linked->nodes[node].parent;
    while (parent != LINKED_NONE && emit->selection.ids[parent] == LINKED_NONE) {
        parent = emit->linked->nodes[parent].parent;
    }
    return parent;
}

static void write_lane(struct emit *emit, uint32_t index, int64_t part)
{
    const struct linked_lane *lane = &emit->linked->lanes[index];
    int64_t tid = 0;
    if (lane->is_device) {
        et_attr_int64(emit->writer, "stream", lane->stream);
    } else if (whole_number(intern_text(&emit->linked->names, lane->text), &tid)) {
        et_attr_int64(emit->writer, "tid", tid);
    }
    if (part != 0) {
        et_attr_int64(emit->writer, "lane", part);
    }
}

static void write_plain_attrs(struct emit *emit, uint32_t index)
{
    const struct linked_node *node = &emit->linked->nodes[index];
    bool is_host = linked_kind_is_host(node->kind);
    et_attr_bool(emit->writer, "is_cpu_op", is_host);
    write_lane(emit, node->lane, emit->lane_parts[node->lane]);
    if (node->rf_id >= 0) {
        et_attr_int64(emit->writer, "rf_id", node->rf_id);
    }
    uint32_t parent = written_parent(emit, index);
    if (parent != LINKED_NONE) {
        et_attr_int64(emit->writer, "parent", emit->selection.ids[parent]);
    }
    if (node->step >= 0) {
        int64_t step = emit->linked->steps[node->step].number;
        et_attr_int64(emit->writer, CONVERT_ATTR_STEP, step);
        emit->counts->steps += step > emit->last_step;
        emit->last_step = step > emit->last_step ? step : emit->last_step;
    }
}

static enum orr_status emit_settle_size(struct emit *emit, uint32_t index, struct comm_fact *fact,
                                        struct orr_error *err)
{
    if (fact->size_from != PROVENANCE_GIVEN) {
        return ORR_OK;
    }
    if (!emit->options->has_unknown_size) {
        return error_set(err, ORR_EINVAL,
                         "%.300s: the recording does not say how many bytes \"%.200s\" (%s, node %u) carries; "
                         "parameter 'unknown-size' BYTES gives them",
                         emit->name, intern_text(&emit->linked->names, emit->linked->nodes[index].name),
                         comm_kind_text(fact->kind), index);
    }
    fact->bytes = emit->options->unknown_size;
    return ORR_OK;
}

static void count_comm(struct emit *emit, const struct comm_fact *fact)
{
    struct emit_counts *counts = emit->counts;
    counts->kind_count[fact->kind]++;
    counts->kind_bytes[fact->kind] += fact->bytes;
    counts->type_from[fact->type_from]++;
    counts->size_from[fact->size_from]++;
    counts->peer_from[fact->peer_from]++;
    counts->summary.comm_bytes += fact->bytes;
    counts->summary.sends += fact->kind == COMM_SEND;
    counts->summary.recvs += fact->kind == COMM_RECV;
    counts->summary.collectives += comm_kind_is_collective(fact->kind);
}

static bool write_peers(struct emit *emit, const struct comm_fact *fact)
{
    int32_t tag = 0;
    if (!comm_tags_next(&emit->tags, emit->groups, fact, &tag)) {
        return false;
    }
    et_attr_int32(emit->writer, "comm_src", (int32_t)fact->src);
    et_attr_int32(emit->writer, "comm_dst", (int32_t)fact->dst);
    et_attr_int32(emit->writer, "comm_tag", tag);
    return true;
}

static enum orr_status write_comm_attrs(struct emit *emit, uint32_t index, struct orr_error *err)
{
    struct comm_fact fact = emit->linked->comms[emit->linked->nodes[index].comm];
    char room[COMM_GROUP_ROOM];
    enum orr_status status = emit_settle_size(emit, index, &fact, err);
    if (status != ORR_OK) {
        return status;
    }
    if (comm_kind_is_collective(fact.kind)) {
        et_attr_int64(emit->writer, "comm_type", fact.kind);
    }
    et_attr_int64(emit->writer, "comm_size", (int64_t)fact.bytes);
    if (fact.kind == COMM_SEND || fact.kind == COMM_RECV) {
        if (!write_peers(emit, &fact)) {
            return mem_error(emit->linked->mem, "message tags", err);
        }
    } else if (comm_kind_is_rooted(fact.kind) && fact.root >= 0) {
        et_attr_int32(emit->writer, "root_rank", (int32_t)fact.root);
    }
    const char *group = emit->groups == NULL ? "" : comm_groups_pg_name(emit->groups, fact.group, room);
    if (group[0] != '\0') {
        et_attr_string(emit->writer, "pg_name", et_text(group));
    }
    et_attr_string(emit->writer, CONVERT_ATTR_TYPE_FROM, et_text(provenance_name(fact.type_from)));
    et_attr_string(emit->writer, CONVERT_ATTR_SIZE_FROM, et_text(provenance_name(fact.size_from)));
    if (fact.peer_from != PROVENANCE_NONE) {
        et_attr_string(emit->writer, CONVERT_ATTR_PEER_FROM, et_text(provenance_name(fact.peer_from)));
    }
    count_comm(emit, &fact);
    return ORR_OK;
}

/* Time that nothing explains, before a node. It is nobody's work: on the host's account, though it may take a stream.
 */
static enum orr_status write_gap(struct emit *emit, uint32_t index, const struct emit_gap *gap, struct orr_error *err)
{
    static const char *const names[] = {"host gap", "device gap", "launch gap"};
    const struct linked_node *node = &emit->linked->nodes[index];
    bool host = linked_kind_is_host(node->kind);
    uint64_t after = gap->after == LINKED_NONE ? 0 : emit->selection.ids[gap->after];
    et_node_begin(emit->writer, gap->id, et_text(names[host ? 0 : gap->holds ? 1 : 2]), TRACE_COMP);
    et_node_data_deps(emit->writer, &after, gap->after == LINKED_NONE ? 0 : 1);
    et_node_times(emit->writer, gap->start_ns > 0 ? (uint64_t)(gap->start_ns / NS_PER_US) : 0,
                  emit_duration_us(emit, node->lane, gap->ns));
    et_attr_bool(emit->writer, "is_cpu_op", true);
    write_lane(emit, node->lane, gap->holds ? (int64_t)emit->lane_parts[node->lane] : TRACE_LANE_NONE);
    if (node->step >= 0) {
        et_attr_int64(emit->writer, CONVERT_ATTR_STEP, emit->linked->steps[node->step].number);
    }
    emit->counts->summary.nodes++;
    emit->counts->summary.compute++;
    return et_record_end(emit->writer, err);
}

static enum orr_status write_deps(struct emit *emit, uint32_t index, struct orr_error *err)
{
    const struct emit_selection *selection = &emit->selection;
    const struct emit_gap *gap = emit->retiming.gaps == NULL ? NULL : &emit->retiming.gaps[index];
    uint32_t count = selection->counts[index];
    if (!MEM_GROW(emit->linked->mem, emit->deps, emit->dep_capacity, count)) {
        return mem_error(emit->linked->mem, "dependencies", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        emit->deps[i] = selection->ids[selection->deps[selection->first[index] + i]];
    }
    if (gap != NULL && gap->ns > 0) {
        emit->deps[count++] = gap->id;
    }
    et_node_data_deps(emit->writer, emit->deps, count);
    return ORR_OK;
}

static enum orr_status emit_write_node(struct emit *emit, uint32_t index, struct orr_error *err)
{
    const struct linked_trace *linked = emit->linked;
    const struct linked_node *node = &linked->nodes[index];
    struct et_text name = {intern_text(&linked->names, node->name), intern_length(&linked->names, node->name)};
    et_node_begin(emit->writer, emit->selection.ids[index], name, type_of(emit, node));
    enum orr_status status = write_deps(emit, index, err);
    if (status != ORR_OK) {
        return status;
    }
    if (linked->has_times) {
        et_node_times(emit->writer, node->start_ns > 0 ? (uint64_t)(node->start_ns / NS_PER_US) : 0,
                      emit_duration_us(emit, node->lane, node->duration_ns));
    }
    write_plain_attrs(emit, index);
    if (node->comm != LINKED_NONE) {
        status = write_comm_attrs(emit, index, err);
    } else {
        emit->counts->summary.compute++;
    }
    emit->counts->device_out += node->kind == LINKED_DEVICE;
    emit->counts->host_out += linked_kind_is_host(node->kind);
    emit->counts->summary.nodes++;
    return status == ORR_OK ? et_record_end(emit->writer, err) : status;
}

/* Tells ASTRA-sim, and our own run, which ranks each group has (spec chakra §14). */
static enum orr_status write_groups_node(struct emit *emit, struct orr_error *err)
{
    struct arena arena;
    arena_init(&arena, emit->linked->mem);
    const char *values = comm_groups_metadata(emit->groups, &arena);
    if (values == NULL) {
        return mem_error(emit->linked->mem, "process groups", err);
    }
    et_node_begin(emit->writer, 0, et_text("## process_group:init ##"), TRACE_METADATA);
    et_node_inputs(emit->writer, et_text(values), et_text(""), et_text(""));
    enum orr_status status = et_record_end(emit->writer, err);
    arena_free(&arena);
    emit->counts->summary.nodes++;
    return status;
}

static enum orr_status emit_write_all(struct emit *emit, bool with_groups, struct orr_error *err)
{
    const struct linked_trace *linked = emit->linked;
    et_metadata_begin(emit->writer, et_text("0.0.4"));
    if (linked->schema != 0) {
        et_attr_string(emit->writer, "schema", et_text(intern_text(&linked->names, linked->schema)));
    }
    et_attr_string(emit->writer, TRACE_POLICY_KEY, et_text(TRACE_POLICY_STREAMS));
    enum orr_status status = et_record_end(emit->writer, err);
    if (status == ORR_OK && with_groups) {
        status = write_groups_node(emit, err);
    }
    for (uint32_t i = 0; i < linked->node_count && status == ORR_OK; i++) {
        const struct emit_gap *gap = emit->retiming.gaps == NULL ? NULL : &emit->retiming.gaps[i];
        if (gap != NULL && gap->ns > 0) {
            status = write_gap(emit, i, gap, err);
        }
        if (status == ORR_OK && emit->selection.ids[i] != LINKED_NONE) {
            status = emit_write_node(emit, i, err);
        }
    }
    return status;
}

static int emit_compare_streams(const void *left, const void *right)
{
    const struct lane_place *a = left;
    const struct lane_place *b = right;
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* Lanes whose stream has the same number: other devices' streams, sides of one stream. */
static bool number_lanes(struct emit *emit)
{
    const struct linked_trace *linked = emit->linked;
    size_t bytes = ((size_t)linked->lane_count + 1) * sizeof(struct lane_place);
    struct lane_place *places = mem_zalloc(linked->mem, bytes);
    uint32_t count = 0;
    if (places == NULL || emit->lane_parts == NULL) {
        mem_free(linked->mem, places, bytes);
        return false;
    }
    for (uint32_t i = 0; i < linked->lane_count; i++) {
        if (linked->lanes[i].is_device) {
            places[count++] = (struct lane_place){.stream = linked->lanes[i].stream, .lane = i};
        }
    }
    qsort(places, count, sizeof *places, emit_compare_streams);
    for (uint32_t i = 1; i < count; i++) {
        bool same = places[i].stream == places[i - 1].stream;
        emit->lane_parts[places[i].lane] = same ? emit->lane_parts[places[i - 1].lane] + 1 : 0;
    }
    mem_free(linked->mem, places, bytes);
    return true;
}

enum orr_status emit_write(const struct linked_trace *linked, const struct comm_groups *groups,
                           const struct emit_options *options, const char *name, struct et_writer *writer,
                           struct emit_counts *counts, struct orr_error *err)
{
    struct mem *mem = linked->mem;
    bool with_groups = groups != NULL && comm_groups_any(groups);
    struct emit emit = {.linked = linked,
                        .groups = groups,
                        .options = options,
                        .name = name,
                        .writer = writer,
                        .counts = counts,
                        .last_step = -1};
    size_t lane_bytes = ((size_t)linked->lane_count + 1) * sizeof *emit.lane_ns;
    *counts = (struct emit_counts){.summary.files = 1};
    number_map_init(&emit.tags, mem);
    size_t part_bytes = ((size_t)linked->lane_count + 1) * sizeof *emit.lane_parts;
    uint32_t first_id = with_groups ? 1 : 0;
    emit.lane_ns = mem_zalloc(mem, lane_bytes);
    emit.lane_parts = mem_zalloc(mem, part_bytes);
    enum orr_status status = ORR_OK;
    if (emit.lane_ns == NULL || !number_lanes(&emit) || !emit_select(&emit.selection, linked, options, first_id) ||
        !emit_retime(&emit.retiming, &emit.selection, linked, options, first_id, counts)) {
        status = mem_error(mem, "the nodes to write", err);
    } else {
        status = emit_write_all(&emit, with_groups, err);
    }
    emit_selection_free(&emit.selection);
    emit_retiming_free(&emit.retiming);
    mem_free(mem, emit.lane_parts, part_bytes);
    number_map_free(&emit.tags);
    mem_free(mem, emit.lane_ns, lane_bytes);
    mem_free(mem, emit.deps, (size_t)emit.dep_capacity * sizeof *emit.deps);
    return status;
}
