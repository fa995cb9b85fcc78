/* SPDX-License-Identifier: Apache-2.0 */
/* Order of work, each step on what the one before left: faults of single nodes while reading; dependencies that cannot
 * be; cycles; removed nodes; rows of CPU nodes. A node whose record changes is looked at again when it is written
 * instead of remembering what was wrong with it: few are, and ten million are not remembered for free. */
#include "trace/fix.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "trace/chains.h"
#include "trace/contract.h"
#include "trace/cycles.h"

const char *fix_repair_text(enum fix_repair repair)
{
    static const char *const texts[] = {
#define FIX_X(id, text, told) text,
        FIX_REPAIRS(FIX_X)
#undef FIX_X
    };
    return texts[repair];
}

static const bool fix_told[] = {
#define FIX_X(id, text, told) told,
    FIX_REPAIRS(FIX_X)
#undef FIX_X
};

struct fix {
    struct record_reader *reader;
    const struct fix_options *options;
    struct notes *notes;
    struct mem *mem;
    struct orr_error *err;
    enum orr_status status; /* of what a callback without one met */
    struct fix_counts counts;
    struct edit_graph graph;
    struct chains chains;
    uint8_t *marks; /* by node while reading: fate, and MARK_CHANGE */
    uint32_t mark_count, mark_capacity;
};

enum { MARK_FATE = 0x0f, MARK_CHANGE = 0x10 };

/* Counts a finding, and tells it where it is of a kind that is told, or where the first one is to be the error. */
ORR_PRINTF(3, 4)
static enum orr_status found(struct fix *fix, enum fix_repair repair, const char *fmt, ...)
{
    char text[512];
    uint64_t before = fix->counts.repairs[repair]++;
    if (!fix->notes->strict && (!fix_told[repair] || before >= FIX_TOLD)) {
        return ORR_OK;
    }
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return notes_add(fix->notes, fix->err, "%s: %s", fix->reader->path, text);
}

/* ---- one node ---- */

enum { COLL_TYPES_KNOWN = 10, COLL_TYPE_BARRIER = 9 }; /* Chakra's collectives, 0 to 9 (spec analytical §4.1) */

static bool trace_fix_has(const struct record_facts *facts, enum trace_attr which)
{
    return (facts->has & 1u << which) != 0;
}

/* What a node is kept as. Only the first reason to remove it is counted. */
struct verdict {
    enum edit_fate fate;
    enum fix_repair reason; /* where it is not kept */
};

static struct verdict judge_comm(const struct record_facts *facts)
{
    const struct verdict keep = {EDIT_KEEP, FIX_TYPE};
    if (facts->type == TRACE_COLL) {
        bool known =
            trace_fix_has(facts, TRACE_ATTR_COMM_TYPE) && facts->value[TRACE_ATTR_COMM_TYPE] < COLL_TYPES_KNOWN;
        return known ? keep : (struct verdict){EDIT_REMOVE, FIX_COLLECTIVE};
    }
    if (!trace_fix_has(facts, facts->type == TRACE_SEND ? TRACE_ATTR_COMM_DST : TRACE_ATTR_COMM_SRC)) {
        return (struct verdict){EDIT_REMOVE, FIX_PEER};
    }
    bool empty = trace_fix_has(facts, TRACE_ATTR_COMM_SIZE) && facts->value[TRACE_ATTR_COMM_SIZE] == 0;
    return empty ? (struct verdict){EDIT_REMOVE, FIX_EMPTY} : keep;
}

static struct verdict trace_fix_judge(const struct fix *fix, const struct record_facts *facts)
{
    if (record_is_comm(facts->type)) {
        return judge_comm(facts);
    }
    switch (facts->type) {
    case TRACE_METADATA:
        return facts->has_group_attributes ? (struct verdict){EDIT_PASS, FIX_PASSED}
                                           : (struct verdict){EDIT_REMOVE, FIX_METADATA};
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return (struct verdict){EDIT_KEEP, FIX_TYPE};
    case TRACE_COMP:
        return fix->options->cpu == FIX_CPU_DROP && record_is_cpu(facts) ? (struct verdict){EDIT_REMOVE, FIX_CPU}
                                                                         : (struct verdict){EDIT_KEEP, FIX_TYPE};
    default:
        return (struct verdict){EDIT_REMOVE, FIX_TYPE};
    }
}

/* The size a node needs and does not have, or TRACE_ATTR_COUNT. */
static enum trace_attr missing_size(const struct record_facts *facts)
{
    bool memory = facts->type == TRACE_MEM_LOAD || facts->type == TRACE_MEM_STORE;
    if (memory) {
        return trace_fix_has(facts, TRACE_ATTR_TENSOR_SIZE) ? TRACE_ATTR_COUNT : TRACE_ATTR_TENSOR_SIZE;
    }
    bool barrier = facts->type == TRACE_COLL && facts->value[TRACE_ATTR_COMM_TYPE] == COLL_TYPE_BARRIER;
    return record_is_comm(facts->type) && !barrier && !trace_fix_has(facts, TRACE_ATTR_COMM_SIZE) ? TRACE_ATTR_COMM_SIZE
                                                                                                  : TRACE_ATTR_COUNT;
}

static bool lacks_tag(const struct record_facts *facts)
{
    return (facts->type == TRACE_SEND || facts->type == TRACE_RECV) && !trace_fix_has(facts, TRACE_ATTR_COMM_TAG);
}

static bool lacks_cpu_flag(const struct record_facts *facts)
{
    return facts->type != TRACE_METADATA && !trace_fix_has(facts, TRACE_ATTR_IS_CPU_OP);
}

/* The spellings of an attribute; the root has three. */
static void remove_wrong(uint32_t wrong, struct record_change *change)
{
    for (unsigned which = 0; which < TRACE_ATTR_COUNT; which++) {
        if ((wrong & 1u << which) != 0) {
            record_change_remove(change, trace_attr_name(which));
        }
    }
    if ((wrong & 1u << TRACE_ATTR_ROOT) != 0) {
        record_change_remove(change, "comm_root");
        record_change_remove(change, "root");
    }
}

/* The changes a kept node needs; the same again when it is written. */
static void amend(const struct fix *fix, const struct record_facts *facts, struct record_change *change)
{
    remove_wrong(facts->wrong, change);
    enum trace_attr size = missing_size(facts);
    if (size != TRACE_ATTR_COUNT) {
        record_change_integer(change, trace_attr_name(size), TRACE_VALUE_INT64, fix->options->unknown_size);
    }
    if (lacks_tag(facts)) {
        record_change_integer(change, "comm_tag", TRACE_VALUE_INT32, 0);
    }
    if (lacks_cpu_flag(facts) || (record_is_comm(facts->type) && record_is_cpu(facts))) {
        record_change_integer(change, "is_cpu_op", TRACE_VALUE_BOOL, 0);
    }
}

static int trace_fix_shown(struct record_text text)
{
    return text.length > 80 ? 80 : (int)text.length;
}

static enum orr_status tell_size(struct fix *fix, const struct record_facts *facts, enum trace_attr size)
{
    if (!fix->options->has_unknown_size) {
        return error_set(
            fix->err, ORR_EINVAL,
            "%s: node %" PRIu64 " \"%.*s\": %s is missing; parameter 'unknown-size' BYTES says what to put there",
            fix->reader->path, facts->id, trace_fix_shown(facts->name), facts->name.text, trace_attr_name(size));
    }
    return found(fix, FIX_SIZE, "node %" PRIu64 " \"%.*s\": %s is missing", facts->id, trace_fix_shown(facts->name),
                 facts->name.text, trace_attr_name(size));
}

static enum orr_status tell_changes(struct fix *fix, const struct record_facts *facts)
{
    enum orr_status status = ORR_OK;
    for (unsigned which = 0; status == ORR_OK && which < TRACE_ATTR_COUNT; which++) {
        if ((facts->wrong & 1u << which) != 0) {
            status = found(fix, FIX_ATTRIBUTE, "node %" PRIu64 ": attribute %s is not %s", facts->id,
                           trace_attr_name(which), trace_attr_shape_text(trace_attr_shape(which)));
        }
    }
    enum trace_attr size = missing_size(facts);
    if (status == ORR_OK && size != TRACE_ATTR_COUNT) {
        status = tell_size(fix, facts, size);
    }
    if (status == ORR_OK && lacks_tag(facts)) {
        status = found(fix, FIX_TAG, "node %" PRIu64 ": comm_tag is missing", facts->id);
    }
    if (status == ORR_OK && lacks_cpu_flag(facts)) {
        status = found(fix, FIX_CPU_FLAG, "node %" PRIu64 ": is_cpu_op is missing", facts->id);
    }
    if (status == ORR_OK && record_is_comm(facts->type) && record_is_cpu(facts)) {
        status =
            found(fix, FIX_CPU_COMM, "node %" PRIu64 ": a communication node is marked as a CPU operator", facts->id);
    }
    return status;
}

static enum orr_status tell_fate(struct fix *fix, const struct record_facts *facts, struct verdict verdict)
{
    if (verdict.fate == EDIT_KEEP || verdict.fate == EDIT_PASS) {
        return ORR_OK;
    }
    if (verdict.reason == FIX_CPU) { /* asked for, so no finding */
        fix->counts.repairs[FIX_CPU]++;
        return ORR_OK;
    }
    return found(fix, verdict.reason,
                 "node %" PRIu64 " \"%.*s\" (type %s) cannot run; what waits for it waits for its parents now",
                 facts->id, trace_fix_shown(facts->name), facts->name.text,
                 facts->type < 0 ? "unknown" : trace_node_type_name((uint32_t)facts->type));
}

static enum orr_status trace_fix_visit(void *context, uint32_t node, const struct record_facts *facts,
                                       struct orr_error *err)
{
    struct fix *fix = context;
    struct verdict verdict = trace_fix_judge(fix, facts);
    if (!mem_reserve(fix->mem, (void **)&fix->marks, &fix->mark_capacity, (uint64_t)node + 1, 1)) {
        return mem_error(fix->mem, "the nodes of a trace", err);
    }
    fix->mark_count = node + 1;
    fix->counts.deps_in += (uint64_t)facts->data.count + facts->ctrl.count;
    enum orr_status status = tell_fate(fix, facts, verdict);
    bool stays = verdict.fate == EDIT_KEEP || verdict.fate == EDIT_PASS;
    if (status == ORR_OK && stays) {
        status = tell_changes(fix, facts);
    }
    struct record_change change = {0};
    amend(fix, facts, &change);
    fix->marks[node] = (uint8_t)(verdict.fate | (record_change_any(&change) ? MARK_CHANGE : 0));
    if (status == ORR_OK && fix->options->cpu == FIX_CPU_MERGE) {
        status = chains_add(&fix->chains, facts, stays && record_is_cpu(facts) ? chains_key(facts) : 0, err);
    }
    return status;
}

/* ---- dependencies ---- */

static enum orr_status drop_self(struct fix *fix)
{
    struct edit_graph *graph = &fix->graph;
    enum orr_status status = ORR_OK;
    for (uint32_t node = 0; status == ORR_OK && node < graph->node_count; node++) {
        for (uint32_t d = graph->dep_start[node]; status == ORR_OK && d < graph->dep_start[node + 1]; d++) {
            if ((graph->deps[d] & EDIT_INDEX) == node) {
                graph->deps[d] = EDIT_MISSING | (graph->deps[d] & EDIT_CTRL);
                graph->dirty[node] = 1;
                status = found(fix, FIX_SELF, "node %" PRIu64 ": it depends on itself", graph->ids[node]);
            }
        }
    }
    return status;
}

static enum orr_status tell_missing(struct fix *fix)
{
    const struct edit_graph *graph = &fix->graph;
    enum orr_status status = ORR_OK;
    for (uint64_t i = 0; status == ORR_OK && i < graph->missing && i < EDIT_DANGLING_KEPT; i++) {
        const struct edit_dangling *one = &graph->dangling[i];
        status = found(fix, FIX_MISSING, "node %" PRIu64 ": %s dependency on node %" PRIu64 ", which is not there",
                       graph->ids[one->node], one->is_ctrl ? "control" : "data", one->id);
    }
    fix->counts.repairs[FIX_MISSING] = graph->missing;
    return status;
}

static void cycle_removed(void *context, uint32_t node, uint32_t parent, bool is_ctrl)
{
    struct fix *fix = context;
    if (fix->status == ORR_OK) {
        fix->status = found(fix, is_ctrl ? FIX_CYCLE_CTRL : FIX_CYCLE_DATA,
                            "node %" PRIu64 ": %s dependency on node %" PRIu64 " closes a cycle", fix->graph.ids[node],
                            is_ctrl ? "control" : "data", fix->graph.ids[parent]);
    }
}

/* New ids above all others, in file order. Who named the id meant its first node. */
static enum orr_status renumber(struct fix *fix)
{
    struct edit_graph *graph = &fix->graph;
    if (graph->duplicates == 0) {
        return ORR_OK;
    }
    uint64_t first = graph->ids[graph->first_duplicate];
    if (!fix->options->renumber) {
        return error_set(fix->err, ORR_EINVAL,
                         "%s: node %" PRIu64 ": the id is used by more than one node (%" PRIu32
                         " such nodes); parameter 'renumber' gives the later ones new ids",
                         fix->reader->path, first, graph->duplicates);
    }
    if (graph->largest_id > UINT64_MAX - graph->duplicates) {
        return error_set(fix->err, ORR_ERANGE, "%s: no ids are left above %" PRIu64, fix->reader->path,
                         graph->largest_id);
    }
    graph->new_ids = mem_alloc(fix->mem, graph->node_count * sizeof *graph->new_ids);
    if (graph->new_ids == NULL) {
        return mem_error(fix->mem, "new ids", fix->err);
    }
    uint64_t next = graph->largest_id;
    enum orr_status status = ORR_OK;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        bool again = edit_graph_find(graph, graph->ids[node], node) != node;
        graph->new_ids[node] = again ? ++next : graph->ids[node];
        if (again && status == ORR_OK) {
            status = found(fix, FIX_ID, "node %" PRIu64 ": the id is used before; it is now %" PRIu64, graph->ids[node],
                           graph->new_ids[node]);
        }
    }
    return status;
}

static void count_passed(struct fix *fix)
{
    const struct edit_graph *graph = &fix->graph;
    uint32_t *children = edit_graph_child_counts(graph);
    for (uint32_t node = 0; children != NULL && node < graph->node_count; node++) {
        if (graph->fate[node] == EDIT_PASS && children[node] > 0) {
            fix->counts.repairs[FIX_PASSED]++;
        }
    }
    mem_free(fix->mem, children, children == NULL ? 0 : graph->node_count * sizeof *children);
}

/* Removes what is to go and merges what is listed twice. */
static enum orr_status contract_all(struct fix *fix)
{
    struct contract_counts done;
    count_passed(fix);
    enum orr_status status = contract(&fix->graph, fix->reader->path, &done, fix->err);
    if (status != ORR_OK) {
        return status;
    }
    fix->counts.repairs[FIX_JOINT] = done.joints;
    if (done.twice > 0) {
        fix->counts.repairs[FIX_TWICE] = done.twice - 1;
        return found(fix, FIX_TWICE, "%" PRIu64 " dependencies are listed twice", done.twice);
    }
    return ORR_OK;
}

static enum orr_status mend(struct fix *fix)
{
    struct edit_graph *graph = &fix->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        graph->fate[node] = fix->marks[node] & MARK_FATE;
    }
    enum orr_status status = renumber(fix);
    status = status != ORR_OK ? status : drop_self(fix);
    status = status != ORR_OK ? status : tell_missing(fix);
    status = status != ORR_OK ? status : cycles_break(graph, cycle_removed, fix, fix->err);
    status = status != ORR_OK ? status : fix->status;
    status = status != ORR_OK ? status : contract_all(fix);
    if (status == ORR_OK && fix->options->cpu == FIX_CPU_MERGE) {
        status = chains_merge(&fix->chains, graph, fix->reader->path, fix->err);
        fix->counts.repairs[FIX_CPU_MERGED] = fix->chains.merged;
    }
    return status;
}

/* ---- writing ---- */

struct fix_write {
    const struct fix *fix;
    struct record_facts facts;
};

static enum orr_status change_node(void *context, uint32_t node, const struct record *record,
                                   struct record_change *change, struct orr_error *err)
{
    struct fix_write *write = context;
    const struct fix *fix = write->fix;
    if (fix->options->cpu == FIX_CPU_MERGE) {
        chains_change(&fix->chains, node, change);
    }
    if ((fix->marks[node] & MARK_CHANGE) == 0) {
        return ORR_OK;
    }
    enum orr_status status = record_scan(fix->reader, record, &write->facts, err);
    if (status == ORR_OK && fix->graph.fate[node] == EDIT_JOINT) {
        remove_wrong(write->facts.wrong & ~(1u << TRACE_ATTR_IS_CPU_OP), change); /* that one the joint sets */
    } else if (status == ORR_OK) {
        amend(fix, &write->facts, change);
    }
    return status;
}

static enum orr_status trace_fix_write_all(struct fix *fix, FILE *stream)
{
    struct fix_write context = {.fix = fix};
    record_facts_init(&context.facts);
    struct edit_write write = {
        .reader = fix->reader, .graph = &fix->graph, .stream = stream, .change = change_node, .context = &context};
    enum orr_status status = edit_write_nodes(&write, fix->err);
    record_facts_free(&context.facts, fix->mem);
    return status;
}

static void trace_fix_sum_up(const struct fix *fix, struct fix_counts *counts)
{
    const struct edit_graph *graph = &fix->graph;
    counts->nodes_in += graph->node_count;
    counts->deps_in += fix->counts.deps_in;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->fate[node] != EDIT_REMOVE && graph->fate[node] != EDIT_DROP) {
            counts->nodes_out++;
            counts->deps_out += graph->dep_start[node + 1] - graph->dep_start[node];
        }
    }
    for (unsigned i = 0; i < FIX_REPAIR_COUNT; i++) {
        counts->repairs[i] += fix->counts.repairs[i];
    }
}

enum orr_status fix_trace(struct record_reader *reader, const struct fix_options *options, FILE *stream,
                          struct notes *notes, struct fix_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct fix fix = {.reader = reader, .options = options, .notes = notes, .mem = mem, .err = err};
    chains_init(&fix.chains, mem);
    enum orr_status status = edit_graph_open(&fix.graph, reader, trace_fix_visit, &fix, mem, err);
    if (status == ORR_OK) {
        status = mend(&fix);
        if (status == ORR_OK && stream != NULL) {
            status = trace_fix_write_all(&fix, stream);
        }
        if (status == ORR_OK) {
            trace_fix_sum_up(&fix, counts);
        }
        edit_graph_close(&fix.graph);
    }
    chains_free(&fix.chains);
    mem_free(mem, fix.marks, fix.mark_capacity);
    return status;
}
