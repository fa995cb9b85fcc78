/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two walks, as every tool that needs the graph: the first collects what the plan of the buckets needs, the second
 * copies the records with their changes and slips each bucket in behind the last node it waits for, so that a file in
 * which parents come first stays one.
 */
#include "trace/compose.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/compose_plan.h"
#include "trace/contract.h"

enum { GROUP_ROOM = 16, NAME_ROOM = 48, PG_ROOM = 128 };

struct composing {
    const struct compose_options *options;
    struct record_reader *reader;
    struct mem *mem;
    struct notes *notes;
    FILE *stream;
    struct compose_counts *counts;
    struct edit_graph graph;
    struct compose_plan plan;
    /* what the first walk sees */
    uint8_t *describes; /* by node: it describes a process group */
    uint32_t describes_capacity, described;
    char group[PG_ROOM]; /* pg_name of the collective before */
    bool has_group, several_groups;
    uint64_t with_dimensions; /* collectives with involved_dim */
    /* the second */
    uint32_t written; /* buckets */
    uint64_t carried; /* of durations: what is owed, in under-ths of a microsecond, plus half of one */
    uint64_t inexact; /* sizes that were rounded */
    char tp_name[GROUP_ROOM], dp_name[GROUP_ROOM];
    struct record_facts facts;
    struct record_ids data; /* of a node that waits for a bucket */
    struct record_buffer buffer;
};

/* ---- the first walk ---- */

static enum orr_status trace_compose_refuse(const struct composing *c, const struct record_facts *facts,
                                            const char *why, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s: node %" PRIu64 " \"%.*s\" %s", c->reader->path, facts->id,
                     (int)(facts->name.length < 80 ? facts->name.length : 80), facts->name.text, why);
}

static enum orr_status see_comm(struct composing *c, const struct record_facts *facts, struct orr_error *err)
{
    bool collective = facts->type == TRACE_COLL;
    if (c->options->alone) {
        return trace_compose_refuse(c, facts,
                                    "communicates, but with parameter 'tp' 1 there is nobody to communicate with", err);
    }
    if (!collective && !c->options->same_ranks) {
        return trace_compose_refuse(
            c, facts,
            "sends or receives, and whose rank it would mean with another tensor-parallel degree cannot be "
            "told; give parameter 'tp' as traced, and a trace of each rank",
            err);
    }
    c->counts->collectives += collective;
    c->counts->sends += !collective;
    if (!collective) {
        return ORR_OK;
    }
    char name[PG_ROOM];
    size_t length = facts->group.length < PG_ROOM ? facts->group.length : PG_ROOM - 1;
    (void)snprintf(name, sizeof name, "%.*s", (int)length, facts->group.text);
    c->several_groups = c->several_groups || (c->has_group && strcmp(name, c->group) != 0);
    memcpy(c->group, name, sizeof name);
    c->has_group = true;
    c->with_dimensions += (facts->has & 1u << TRACE_ATTR_INVOLVED_DIM) != 0;
    return ORR_OK;
}

static enum orr_status trace_compose_visit(void *context, uint32_t node, const struct record_facts *facts,
                                           struct orr_error *err)
{
    struct composing *c = context;
    enum orr_status status = ORR_OK;
    if (!mem_reserve(c->mem, (void **)&c->describes, &c->describes_capacity, (uint64_t)node + 1, 1)) {
        return mem_error(c->mem, "the nodes of a trace", err);
    }
    c->describes[node] = facts->type == TRACE_METADATA && facts->has_group_attributes;
    c->counts->nodes_in++;
    c->described += c->describes[node];
    if (record_is_comm(facts->type)) {
        status = see_comm(c, facts, err);
    }
    return status != ORR_OK ? status : compose_plan_add(&c->plan, facts, err);
}

static enum orr_status trace_compose_check_sound(const struct composing *c, struct orr_error *err)
{
    const struct edit_graph *graph = &c->graph;
    if (graph->duplicates > 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: node %" PRIu64
                         ": the id is used by more than one node; orrery trace fix parameter 'renumber' "
                         "repairs that",
                         c->reader->path, graph->ids[graph->first_duplicate]);
    }
    if (graph->missing > 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: node %" PRIu64 ": dependency on node %" PRIu64
                         ", which is not in the file; orrery trace fix repairs that",
                         c->reader->path, graph->ids[graph->dangling[0].node], graph->dangling[0].id);
    }
    return ORR_OK;
}

static enum orr_status drop_descriptions(struct composing *c, struct orr_error *err)
{
    struct contract_counts done;
    if (c->described == 0) {
        return ORR_OK;
    }
    for (uint32_t node = 0; node < c->graph.node_count; node++) {
        c->graph.fate[node] = c->describes[node] != 0 ? EDIT_REMOVE : EDIT_KEEP;
    }
    enum orr_status status = contract(&c->graph, c->reader->path, &done, err);
    c->counts->dropped = status == ORR_OK ? done.removed : 0;
    return status;
}

/* ---- changes ---- */

static enum orr_status trace_compose_fail_range(const struct composing *c, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_ERANGE, "%s: node %" PRIu64 ": %s does not fit 64 bits when scaled", c->reader->path,
                     c->facts.id, what);
}

/* A shard of another size: what the device computes goes with it, what the host does stays. */
static enum orr_status trace_compose_change_compute(struct composing *c, struct record_change *change,
                                                    struct orr_error *err)
{
    struct scale_factor factor = c->options->shard;
    unsigned __int128 product = (unsigned __int128)c->facts.duration_us * factor.over + c->carried;
    unsigned __int128 whole = product / factor.under;
    if (whole > UINT64_MAX) {
        return trace_compose_fail_range(c, "duration_micros", err);
    }
    c->carried = (uint64_t)(product % factor.under);
    c->counts->compute_us_before += c->facts.duration_us;
    c->counts->compute_us += (uint64_t)whole;
    if ((uint64_t)whole != c->facts.duration_us) {
        change->fields |= 1u << RECORD_DURATION;
        change->duration_us = (uint64_t)whole;
    }
    for (unsigned i = 0; factor.over != factor.under && i < RECORD_AMOUNT_COUNT; i++) {
        uint64_t value = 0;
        bool exact = true;
        if ((c->facts.has_amount & 1u << i) == 0) {
            continue;
        }
        if (!scale_nearest(factor, c->facts.amount[i], &value, &exact)) {
            return trace_compose_fail_range(c, record_amount_name(i), err);
        }
        record_change_integer(change, record_amount_name(i), TRACE_VALUE_INT64, value);
    }
    return ORR_OK;
}

/* The name under which a record has its root, of the three there are. */
static const char *root_name(const struct record *record)
{
    static const char *const names[] = {"root_rank", "comm_root", "root"};
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        struct record_attribute attr;
        if (field.tag != WIRE_TAG(RECORD_ATTR, WIRE_BYTES) ||
            !record_attribute_read(field.bytes, (size_t)field.value, &attr)) {
            continue;
        }
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (record_text_is(attr.name, names[i])) {
                return names[i];
            }
        }
    }
    return names[0];
}

/* A root is a rank of the whole job: that of its place in this replica. */
static void change_root(const struct composing *c, const struct record *record, struct record_change *change)
{
    uint64_t root = c->facts.value[TRACE_ATTR_ROOT];
    uint64_t wanted = c->options->ranks == 0 ? root : root % c->options->ranks + c->options->peer_shift;
    if ((c->facts.has & 1u << TRACE_ATTR_ROOT) != 0 && wanted != root) {
        record_change_integer(change, root_name(record), TRACE_VALUE_INT32, wanted);
    }
}

/* An all-gather's size is one rank's share, of which there are more when the group is larger; the others state the
 * whole buffer, an activation of the same size at any degree. */
static enum orr_status trace_compose_change_collective(struct composing *c, const struct record *record,
                                                       struct record_change *change, struct orr_error *err)
{
    enum { ALL_GATHER = 2 };
    const struct record_facts *facts = &c->facts;
    bool shared = (facts->has & 1u << TRACE_ATTR_COMM_TYPE) != 0 && facts->value[TRACE_ATTR_COMM_TYPE] == ALL_GATHER &&
                  (facts->has & 1u << TRACE_ATTR_COMM_SIZE) != 0;
    record_change_text(change, "pg_name", (struct record_text){c->tp_name, strlen(c->tp_name)});
    record_change_remove(change, "involved_dim");
    change_root(c, record, change);
    if (shared && c->options->shard.over != c->options->shard.under) {
        uint64_t value = 0;
        bool exact = true;
        if (!scale_nearest(c->options->shard, facts->value[TRACE_ATTR_COMM_SIZE], &value, &exact)) {
            return trace_compose_fail_range(c, "comm_size", err);
        }
        c->inexact += !exact;
        record_change_integer(change, "comm_size", TRACE_VALUE_INT64, value);
    }
    return ORR_OK;
}

static void trace_compose_change_message(const struct composing *c, struct record_change *change)
{
    static const enum trace_attr peers[] = {TRACE_ATTR_COMM_SRC, TRACE_ATTR_COMM_DST};
    for (size_t i = 0; c->options->peer_shift > 0 && i < sizeof peers / sizeof peers[0]; i++) {
        if ((c->facts.has & 1u << peers[i]) != 0) {
            record_change_integer(change, trace_attr_name(peers[i]), TRACE_VALUE_INT32,
                                  c->facts.value[peers[i]] + c->options->peer_shift);
        }
    }
}

static uint64_t bucket_id(const struct composing *c, uint32_t bucket)
{
    return c->graph.largest_id + 1 + bucket;
}

/* Its own data dependencies and the bucket. */
static bool change_gate(struct composing *c, uint32_t node, struct record_change *change)
{
    const struct edit_graph *graph = &c->graph;
    uint32_t most = graph->dep_start[node + 1] - graph->dep_start[node];
    if (!MEM_GROW(c->mem, c->data.ids, c->data.capacity, most)) {
        return false;
    }
    c->data.count = 0;
    for (uint32_t i = graph->dep_start[node]; i < graph->dep_start[node + 1]; i++) {
        uint32_t parent = graph->deps[i] & EDIT_INDEX;
        if ((graph->deps[i] & EDIT_CTRL) == 0 && parent != EDIT_MISSING) {
            c->data.ids[c->data.count++] = graph->ids[parent];
        }
    }
    c->data.ids[c->data.count++] = bucket_id(c, c->plan.gate[node] - 1);
    change->fields |= 1u << RECORD_DATA;
    change->data = c->data.ids;
    change->data_count = c->data.count;
    return true;
}

/* ---- the second walk ---- */

static enum orr_status write_bucket(struct composing *c, struct orr_error *err)
{
    const struct compose_bucket *bucket = &c->plan.buckets[c->written];
    uint32_t in_step = c->written % c->options->buckets.count;
    char name[NAME_ROOM];
    uint64_t need = (uint64_t)bucket->dep_count + 1;
    if (!MEM_RESERVE(c->mem, c->data.ids, c->data.capacity, need)) {
        return mem_error(c->mem, "a bucket", err);
    }
    c->data.count = 0;
    if (c->written > 0) {
        c->data.ids[c->data.count++] = bucket_id(c, c->written - 1);
    }
    for (uint32_t i = 0; i < bucket->dep_count; i++) {
        c->data.ids[c->data.count++] = c->graph.ids[c->plan.deps[bucket->first_dep + i]];
    }
    (void)snprintf(name, sizeof name, "DDP_AllReduce_bucket_%" PRIu32, in_step);
    record_buffer_clear(&c->buffer);
    record_put_number(&c->buffer, RECORD_ID, bucket_id(c, c->written));
    record_put_text(&c->buffer, RECORD_NAME, name);
    record_put_number(&c->buffer, RECORD_TYPE, TRACE_COLL);
    record_put_ids(&c->buffer, RECORD_DATA, c->data.ids, c->data.count);
    record_put_integer(&c->buffer, "is_cpu_op", TRACE_VALUE_BOOL, 0);
    record_put_integer(&c->buffer, "comm_type", TRACE_VALUE_INT64, 0);
    record_put_integer(&c->buffer, "comm_size", TRACE_VALUE_INT64, bucket->bytes);
    record_put_string(&c->buffer, "pg_name", (struct record_text){c->dp_name, strlen(c->dp_name)});
    if (bucket->step != STEPS_NONE) {
        record_put_integer(&c->buffer, "step", TRACE_VALUE_INT64, (uint64_t)bucket->step);
    }
    if (c->buffer.refused) {
        return mem_error(c->mem, "a bucket", err);
    }
    if (c->stream != NULL) {
        record_write(c->stream, c->buffer.bytes, c->buffer.size);
    }
    c->written++;
    return ORR_OK;
}

/* Those that go before this place of the file. */
static enum orr_status write_buckets(struct composing *c, uint32_t node, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && c->written < c->plan.bucket_count &&
           (c->plan.buckets[c->written].behind == UINT32_MAX || c->plan.buckets[c->written].behind < node)) {
        status = write_bucket(c, err);
    }
    return status;
}

static enum orr_status trace_compose_change(void *context, uint32_t node, const struct record *record,
                                            struct record_change *wanted, struct orr_error *err)
{
    struct composing *c = context;
    enum orr_status status = write_buckets(c, node, err);
    status = status != ORR_OK ? status : record_scan(c->reader, record, &c->facts, err);
    if (status != ORR_OK) {
        return status;
    }
    if (c->plan.gate[node] != 0 && !change_gate(c, node, wanted)) {
        return mem_error(c->mem, "the dependencies of a node", err);
    }
    switch (c->facts.type) {
    case TRACE_COMP:
        return record_is_cpu(&c->facts) ? ORR_OK : trace_compose_change_compute(c, wanted, err);
    case TRACE_COLL:
        return trace_compose_change_collective(c, record, wanted, err);
    case TRACE_SEND:
    case TRACE_RECV:
        trace_compose_change_message(c, wanted);
        return ORR_OK;
    default:
        return ORR_OK;
    }
}

static enum orr_status trace_compose_tell(const struct composing *c, struct orr_error *err)
{
    const char *path = c->reader->path;
    enum orr_status status = ORR_OK;
    if (c->several_groups) {
        status =
            notes_add(c->notes, err,
                      "%s: collectives of several groups are all taken for those of the tensor-parallel group", path);
    }
    if (status == ORR_OK && c->with_dimensions > 0) {
        status = notes_add(c->notes, err, "%s: involved_dim taken off %" PRIu64 " collectives, whose group says where",
                           path, c->with_dimensions);
    }
    if (status == ORR_OK && c->inexact > 0) {
        status = notes_add(c->notes, err, "%s: the sizes of %" PRIu64 " all-gathers were rounded to whole bytes", path,
                           c->inexact);
    }
    if (status == ORR_OK && c->options->overlap && c->counts->overlapped < c->counts->steps) {
        status = notes_add(c->notes, err,
                           "%s: %s no backward work by its names; the gradient buckets come after the last compute "
                           "node there, without overlap (parameter 'backward' PATTERN names it)",
                           path, c->counts->overlapped == 0 ? "the trace tells" : "some steps tell");
    }
    return status;
}

/* Also without a stream: what cannot be written is found then, too. */
static enum orr_status trace_compose_write_all(struct composing *c, struct orr_error *err)
{
    FILE *nowhere = c->stream == NULL ? fopen("/dev/null", "wb") : NULL;
    if (c->stream == NULL && nowhere == NULL) {
        return error_set(err, ORR_EIO, "/dev/null: cannot be opened");
    }
    struct edit_write write = {.reader = c->reader,
                               .graph = &c->graph,
                               .stream = c->stream == NULL ? nowhere : c->stream,
                               .change = trace_compose_change,
                               .context = c};
    enum orr_status status = edit_write_nodes(&write, err);
    status = status != ORR_OK ? status : write_buckets(c, UINT32_MAX, err);
    if (nowhere != NULL) {
        (void)fclose(nowhere);
    }
    return status;
}

static enum orr_status compose_graph(struct composing *c, struct orr_error *err)
{
    const struct compose_options *options = c->options;
    enum orr_status status = trace_compose_check_sound(c, err);
    status = status != ORR_OK ? status : drop_descriptions(c, err);
    status = status != ORR_OK
                 ? status
                 : compose_plan_make(&c->plan, &c->graph, &options->buckets, options->overlap, c->reader->path, err);
    if (status == ORR_OK && c->graph.largest_id > UINT64_MAX - 1 - c->plan.bucket_count) {
        status = error_set(err, ORR_ERANGE, "%s: no ids are left above %" PRIu64 " for the buckets", c->reader->path,
                           c->graph.largest_id);
    }
    if (status != ORR_OK) {
        return status;
    }
    c->counts->steps = c->plan.step_count;
    c->counts->overlapped = c->plan.overlapped;
    c->counts->steps_known = c->plan.steps_known;
    c->counts->buckets = options->buckets.count;
    c->counts->bytes = compose_buckets_before(&options->buckets, options->buckets.count);
    for (uint32_t node = 0; node < c->graph.node_count; node++) {
        c->counts->gates += c->plan.gate[node] != 0;
    }
    c->counts->nodes_out = c->counts->nodes_in - c->counts->dropped + c->plan.bucket_count;
    status = trace_compose_write_all(c, err);
    return status != ORR_OK ? status : trace_compose_tell(c, err);
}

enum orr_status compose_trace(struct record_reader *reader, const struct compose_options *options, FILE *stream,
                              struct notes *notes, struct compose_counts *counts, struct mem *mem,
                              struct orr_error *err)
{
    struct compose_counts own = {0};
    struct composing c = {.options = options,
                          .reader = reader,
                          .mem = mem,
                          .notes = notes,
                          .stream = stream,
                          .counts = &own,
                          .carried = options->shard.under / 2};
    (void)snprintf(c.tp_name, sizeof c.tp_name, "%" PRId32, options->tp_group);
    (void)snprintf(c.dp_name, sizeof c.dp_name, "%" PRId32, options->dp_group);
    compose_plan_init(&c.plan, options->backward, mem);
    record_facts_init(&c.facts);
    record_buffer_init(&c.buffer, mem);
    enum orr_status status = edit_graph_open(&c.graph, reader, trace_compose_visit, &c, mem, err);
    if (status == ORR_OK) {
        status = compose_graph(&c, err);
        edit_graph_close(&c.graph);
    }
    compose_plan_free(&c.plan);
    record_facts_free(&c.facts, mem);
    record_buffer_free(&c.buffer);
    mem_free(mem, c.data.ids, (size_t)c.data.capacity * sizeof *c.data.ids);
    mem_free(mem, c.describes, c.describes_capacity);
    if (status == ORR_OK) {
        *counts = own;
    }
    return status;
}
