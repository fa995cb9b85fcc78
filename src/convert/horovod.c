/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model. Rank 0 makes tensors ready one after the other; what lies between two of them becoming ready is compute.
 * Collectives run one at a time in the order the timeline shows, each when its last tensor is ready. A tensor that
 * comes a second time begins a new step, and the compute of a step begins when all collectives of the one before have
 * ended: that is what an optimizer waits for. If every collective takes as long as it took, the recorded times come out
 * again.
 *
 * Tensors that were fused repeat the same interval, each its own copy to within a microsecond or two; merged they are
 * the one collective that ran, of all their bytes.
 */
#include "convert/horovod.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/horovod_ops.h"

enum {
    FUSED_NS = 2000, /* how far apart the same interval may be written down for two tensors */
    LOOK_BACK = 16,  /* collectives that can be in flight together, on streams of their own */
    NODE_NONE = UINT32_MAX,
    NAME_ROOM = 320,
    COMPUTE_STREAM = 0, /* the timeline knows no streams; these show that the two go side by side */
    COLLECTIVE_STREAM = 1,
};

struct fused {
    uint64_t ready_ns, start_ns, end_ns;
    uint64_t bytes;       /* of the outputs */
    uint32_t first, last; /* operations: the one that opened it, and the one that joined last */
    uint32_t tensors;
    bool has_size;
};

struct building {
    const struct convert_request *request;
    struct workload *workload;
    struct horovod_ops ops;
    struct fused *fused;
    uint32_t *fused_of; /* by operation */
    uint64_t *step_of;  /* by tensor: the last step it was in, plus 1 */
    uint32_t fused_count, fused_capacity;
    uint32_t fused_of_capacity, step_capacity;
    uint32_t ranks;
    /* where the walk over the collectives is */
    uint64_t mark_ns;     /* until here rank 0's compute is accounted for */
    uint64_t step_end_ns; /* the latest end of a collective of this step */
    uint64_t step;
    uint32_t compute, collective; /* the last nodes, or NODE_NONE */
};

static enum orr_status convert_horovod_refused(const struct building *building, struct orr_error *err)
{
    return mem_error(building->workload->mem, "the timeline's collectives", err);
}

static int compare_ops(const void *left, const void *right)
{
    const struct horovod_op *a = left;
    const struct horovod_op *b = right;
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    if (a->end_ns != b->end_ns) {
        return a->end_ns < b->end_ns ? -1 : 1;
    }
    if (a->tensor != b->tensor) {
        return a->tensor < b->tensor ? -1 : 1;
    }
    if (a->ready_ns != b->ready_ns) {
        return a->ready_ns < b->ready_ns ? -1 : 1;
    }
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static bool is_near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= FUSED_NS;
}

/* The collective an operation belongs to, among the latest; NODE_NONE when it is one of its own. */
static uint32_t find_fused(const struct building *building, const struct horovod_op *op)
{
    for (uint32_t back = 1; back <= LOOK_BACK && back <= building->fused_count; back++) {
        uint32_t index = building->fused_count - back;
        const struct fused *fused = &building->fused[index];
        const struct horovod_op *first = &building->ops.items[fused->first];
        if (is_near(first->start_ns, op->start_ns) && is_near(first->end_ns, op->end_ns) && first->kind == op->kind &&
            building->ops.items[fused->last].tensor != op->tensor) {
            return index;
        }
    }
    return NODE_NONE;
}

static enum orr_status fuse(struct building *building, struct orr_error *err)
{
    struct horovod_ops *ops = &building->ops;
    struct mem *mem = building->workload->mem;
    if (ops->count > 0) {
        qsort(ops->items, ops->count, sizeof *ops->items, compare_ops);
    }
    if (!MEM_GROW(mem, building->fused, building->fused_capacity, ops->count) ||
        !MEM_GROW(mem, building->fused_of, building->fused_of_capacity, ops->count)) {
        return convert_horovod_refused(building, err);
    }
    for (uint32_t i = 0; i < ops->count; i++) {
        const struct horovod_op *op = &ops->items[i];
        uint32_t index = find_fused(building, op);
        if (index == NODE_NONE) {
            index = building->fused_count++;
            building->fused[index] = (struct fused){op->ready_ns, op->start_ns, op->end_ns, 0, i, i, 0, true};
        }
        struct fused *fused = &building->fused[index];
        building->fused_of[i] = index;
        fused->ready_ns = op->ready_ns > fused->ready_ns ? op->ready_ns : fused->ready_ns;
        fused->end_ns = op->end_ns > fused->end_ns ? op->end_ns : fused->end_ns;
        fused->has_size =
            fused->has_size && op->has_size && !__builtin_add_overflow(fused->bytes, op->bytes, &fused->bytes);
        fused->last = i;
        fused->tensors++;
    }
    return ORR_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

/* Whether a tensor of this collective was in the current step already; counts them in. */
static bool opens_step(struct building *building, uint32_t index)
{
    const struct fused *fused = &building->fused[index];
    bool opens = false;
    for (uint32_t i = fused->first; i <= fused->last; i++) {
        opens |=
            building->fused_of[i] == index && building->step_of[building->ops.items[i].tensor] == building->step + 1;
    }
    for (uint32_t i = fused->first; i <= fused->last; i++) {
        if (building->fused_of[i] == index) {
            building->step_of[building->ops.items[i].tensor] = building->step + 1 + opens;
        }
    }
    return opens;
}

static enum orr_status convert_horovod_add_node(struct building *building, struct workload_node *node, const char *name,
                                                uint32_t waits, uint32_t also, uint32_t *index, struct orr_error *err)
{
    struct workload *workload = building->workload;
    node->step = (int64_t)building->step;
    node->has |= WORKLOAD_HAS_STEP;
    bool good = workload_text(workload, name, strlen(name), &node->name) && workload_add(workload, node, index) &&
                (waits == NODE_NONE || workload_depend(workload, *index, waits)) &&
                (also == NODE_NONE || workload_depend(workload, *index, also));
    return good ? ORR_OK : convert_horovod_refused(building, err);
}

/* What rank 0 computed until this collective's tensors were ready. */
static enum orr_status convert_horovod_add_compute(struct building *building, const struct fused *fused, bool opens,
                                                   struct orr_error *err)
{
    uint64_t from = building->mark_ns;
    if (opens && building->step_end_ns > from) {
        from = building->step_end_ns;
    }
    if (opens) {
        building->step++;
        building->step_end_ns = 0;
    }
    if (fused->ready_ns <= from) {
        return ORR_OK;
    }
    struct workload_node node = {.type = TRACE_COMP,
                                 .start_us = from / 1000,
                                 .duration_ns = fused->ready_ns - from,
                                 .stream = COMPUTE_STREAM,
                                 .has = WORKLOAD_HAS_STREAM};
    building->mark_ns = fused->ready_ns;
    return convert_horovod_add_node(building, &node, "compute", building->compute,
                                    opens ? building->collective : NODE_NONE, &building->compute, err);
}

static enum orr_status convert_horovod_set_size(const struct building *building, const struct fused *fused,
                                                struct workload_node *node, struct orr_error *err)
{
    enum comm_kind kind = building->ops.items[fused->first].kind;
    node->has |= WORKLOAD_HAS_COMM_SIZE;
    if (kind == COMM_BARRIER) {
        node->size_from = PROVENANCE_NEEDS_NONE;
        return ORR_OK;
    }
    node->size_from = PROVENANCE_HOROVOD;
    if (fused->has_size && workload_input_bytes(kind, fused->bytes, building->ranks, &node->bytes)) {
        return ORR_OK;
    }
    return workload_unknown_size(building->workload, building->request,
                                 "the timeline (dtype and shape of its last event)", node, err);
}

static enum orr_status add_collective(struct building *building, const struct fused *fused, struct orr_error *err)
{
    const struct horovod_op *first = &building->ops.items[fused->first];
    struct workload_node node = {.type = TRACE_COLL,
                                 .comm_kind = (uint8_t)first->kind,
                                 .type_from = PROVENANCE_HOROVOD,
                                 .stream = COLLECTIVE_STREAM,
                                 .has = WORKLOAD_HAS_STREAM,
                                 .start_us = fused->start_ns / 1000,
                                 .duration_ns = fused->end_ns - fused->start_ns};
    char name[NAME_ROOM];
    int used = snprintf(name, sizeof name, "%s %.200s", comm_kind_text(first->kind),
                        intern_text(&building->ops.names, first->name));
    if (fused->tensors > 1) {
        (void)snprintf(name + used, sizeof name - (size_t)used, " and %" PRIu32 " more", fused->tensors - 1);
    }
    if (!workload_text(building->workload, name, strlen(name), &node.name)) {
        return convert_horovod_refused(building, err);
    }
    enum orr_status status = convert_horovod_set_size(building, fused, &node, err);
    if (status == ORR_OK) {
        status = convert_horovod_add_node(building, &node, name, building->compute, building->collective,
                                          &building->collective, err);
    }
    building->step_end_ns = fused->end_ns > building->step_end_ns ? fused->end_ns : building->step_end_ns;
    return status;
}

static enum orr_status convert_horovod_build(struct building *building, struct orr_error *err)
{
    struct mem *mem = building->workload->mem;
    if (!MEM_GROW(mem, building->step_of, building->step_capacity, building->ops.tensor_count)) {
        return convert_horovod_refused(building, err);
    }
    memset(building->step_of, 0, ((size_t)building->ops.tensor_count + 1) * sizeof *building->step_of);
    building->mark_ns = building->fused[0].ready_ns;
    building->compute = NODE_NONE;
    building->collective = NODE_NONE;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < building->fused_count; i++) {
        bool opens = opens_step(building, i);
        status = convert_horovod_add_compute(building, &building->fused[i], opens, err);
        if (status == ORR_OK) {
            status = add_collective(building, &building->fused[i], err);
        }
    }
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum orr_status convert_horovod_set_ranks(struct building *building, struct orr_error *err)
{
    const struct convert_request *request = building->request;
    uint32_t seen = building->ops.ranks;
    if (seen == 0 && request->ranks == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: no rank was seen ready in it, so how many there are is not known; give "
                         "the number with parameter 'ranks'",
                         request->input);
    }
    if (request->ranks != 0 && request->ranks < seen) {
        return error_set(err, ORR_EINVAL, "%s: %" PRIu32 " ranks were asked for, and rank %" PRIu32 " is in it",
                         request->input, request->ranks, seen - 1);
    }
    building->ranks = request->ranks != 0 ? request->ranks : seen;
    if (building->ranks > WORKLOAD_RANKS_MAX) {
        return error_set(err, ORR_EINVAL, "%s: %" PRIu32 " ranks; at most %d are accepted", request->input,
                         building->ranks, WORKLOAD_RANKS_MAX);
    }
    building->workload->ranks = building->ranks;
    building->workload->copies = true;
    return ORR_OK;
}

static enum orr_status convert_horovod_build_all(struct building *building, struct orr_error *err)
{
    const struct convert_request *request = building->request;
    if (building->ops.count == 0) {
        return error_set(err, ORR_EINVAL, "%s: no finished operation in it; is this a Horovod timeline?",
                         request->input);
    }
    enum orr_status status = convert_horovod_set_ranks(building, err);
    if (status == ORR_OK) {
        status = fuse(building, err);
    }
    if (status == ORR_OK) {
        status = convert_horovod_build(building, err);
    }
    if (status == ORR_OK && building->fused_count < building->ops.count) {
        status = notes_add(request->notes, err,
                           "%s: %" PRIu32 " tensors were fused into %" PRIu32 " collective%s, by their common times",
                           request->input, building->ops.count, building->fused_count,
                           building->fused_count == 1 ? "" : "s");
    }
    return status;
}

enum orr_status horovod_read(const struct convert_request *request, struct workload *workload, struct orr_error *err)
{
    struct building building = {.request = request, .workload = workload};
    struct mem *mem = workload->mem;
    enum orr_status status = horovod_ops_read(request->input, mem, request->notes, &building.ops, err);
    if (status != ORR_OK) {
        return status;
    }
    status = convert_horovod_build_all(&building, err);
    horovod_ops_free(&building.ops);
    mem_free(mem, building.fused, building.fused_capacity * sizeof *building.fused);
    mem_free(mem, building.fused_of, building.fused_of_capacity * sizeof *building.fused_of);
    mem_free(mem, building.step_of, building.step_capacity * sizeof *building.step_of);
    return status;
}

const struct converter horovod_converter = {.read = horovod_read, .knows_ranks = true, .knows_unknown_size = true};
