/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes go out one by one through trace/et_write.h. Files of one workload appear together: a batch of them is brought
 * out whole before the first gets its name, and a workload that cannot be written is known before the first is opened.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "convert/rank_path.h"
#include "convert/workload_order.h"
#include "trace/et_write.h"

enum { BATCH = 256 };

#define WORKLOAD_SCHEMA "0.0.4"

/* What is left of a lane's nanoseconds; `rank` tells whose, plus 1. */
struct carry {
    uint32_t rank;
    uint32_t rest_ns;
};

struct writing {
    const struct workload *workload;
    const struct workload_order *order;
    struct carry *carries; /* by lane */
    uint32_t lane_count;
    uint64_t *deps; /* of one node */
    uint32_t dep_capacity;
};

static struct et_text workload_write_text_of(const struct workload *workload, uint32_t number)
{
    return (struct et_text){intern_text(&workload->texts, number), intern_length(&workload->texts, number)};
}

/* Compute carries what a whole microsecond cuts off to the next of its lane, so that sums stay right; a communication's
 * recorded time is for people and is rounded. */
static uint64_t workload_write_duration_us(struct writing *writing, const struct workload_node *node, uint32_t rank)
{
    if (node->type != TRACE_COMP) {
        return node->duration_ns / 1000 + (node->duration_ns % 1000 >= 500);
    }
    struct carry *carry = &writing->carries[node->lane];
    if (carry->rank != rank + 1) {
        *carry = (struct carry){.rank = rank + 1};
    }
    uint64_t rest = carry->rest_ns + node->duration_ns % 1000;
    carry->rest_ns = (uint32_t)(rest % 1000);
    return node->duration_ns / 1000 + rest / 1000;
}

/* The ids of a node's parents, ascending, each once, into writing->deps; reserved to the largest number there is. */
static uint32_t workload_write_list_deps(struct writing *writing, uint32_t node)
{
    const struct workload_order *order = writing->order;
    uint32_t count = 0;
    uint32_t unique = 0;
    if (writing->deps == NULL || order->parent_start[node] == order->parent_start[node + 1]) {
        return 0;
    }
    for (uint32_t p = order->parent_start[node]; p < order->parent_start[node + 1]; p++) {
        writing->deps[count++] = order->place[order->parents[p]];
    }
    qsort(writing->deps, count, sizeof *writing->deps, numbers_order_u64);
    for (uint32_t i = 0; i < count; i++) {
        if (unique == 0 || writing->deps[unique - 1] != writing->deps[i]) {
            writing->deps[unique++] = writing->deps[i];
        }
    }
    return unique;
}

static void workload_write_put_communication(const struct workload *workload, const struct workload_node *node,
                                             uint32_t rank, struct et_writer *writer)
{
    if (node->type == TRACE_COLL) {
        et_attr_int64(writer, "comm_type", node->comm_kind);
    }
    if ((node->has & WORKLOAD_HAS_COMM_SIZE) != 0) {
        et_attr_int64(writer, "comm_size", (int64_t)node->bytes);
    }
    if (node->type == TRACE_SEND || node->type == TRACE_RECV) {
        bool sends = node->type == TRACE_SEND;
        et_attr_int32(writer, "comm_src", sends ? (int32_t)rank : node->peer);
        et_attr_int32(writer, "comm_dst", sends ? node->peer : (int32_t)rank);
        et_attr_int32(writer, "comm_tag", node->tag);
    }
    if (node->group != 0) {
        et_attr_string(writer, "pg_name", workload_write_text_of(workload, node->group));
    }
    if ((node->has & WORKLOAD_HAS_ROOT) != 0) {
        et_attr_int32(writer, "root_rank", node->root);
    }
}

static void workload_write_put_attributes(const struct workload *workload, const struct workload_node *node,
                                          uint32_t rank, struct et_writer *writer)
{
    et_attr_bool(writer, "is_cpu_op", (node->has & WORKLOAD_IS_CPU_OP) != 0);
    if (node->type >= TRACE_SEND) {
        workload_write_put_communication(workload, node, rank, writer);
    }
    if ((node->has & WORKLOAD_HAS_NUM_OPS) != 0) {
        et_attr_int64(writer, "num_ops", (int64_t)node->num_ops);
    }
    if ((node->has & WORKLOAD_HAS_TENSOR_BYTES) != 0) {
        et_attr_uint64(writer, "tensor_size", node->tensor_bytes);
    }
    if ((node->has & WORKLOAD_HAS_STREAM) != 0) {
        et_attr_int64(writer, "stream", node->stream);
    }
    if ((node->has & WORKLOAD_HAS_STEP) != 0) {
        et_attr_int64(writer, CONVERT_ATTR_STEP, node->step);
    }
    if (node->type_from != PROVENANCE_NONE) {
        et_attr_string(writer, CONVERT_ATTR_TYPE_FROM, et_text(provenance_name((enum provenance)node->type_from)));
    }
    if (node->size_from != PROVENANCE_NONE) {
        et_attr_string(writer, CONVERT_ATTR_SIZE_FROM, et_text(provenance_name((enum provenance)node->size_from)));
    }
}

static void workload_write_count_node(const struct workload_node *node, struct convert_summary *summary)
{
    summary->nodes++;
    summary->compute += node->type == TRACE_COMP;
    summary->collectives += node->type == TRACE_COLL;
    summary->sends += node->type == TRACE_SEND;
    summary->recvs += node->type == TRACE_RECV;
    summary->comm_bytes += node->type >= TRACE_SEND ? node->bytes : 0;
}

static enum orr_status workload_write_rank(struct writing *writing, uint32_t rank, struct et_writer *writer,
                                           struct convert_summary *summary, struct orr_error *err)
{
    const struct workload *workload = writing->workload;
    const uint32_t *start = writing->order->rank_start + (workload->copies ? 0 : rank);
    et_metadata_begin(writer, et_text(WORKLOAD_SCHEMA));
    enum orr_status status = et_record_end(writer, err);
    for (uint32_t i = start[0]; status == ORR_OK && i < start[1]; i++) {
        uint32_t index = writing->order->nodes[i];
        const struct workload_node *node = &workload->nodes[index];
        et_node_begin(writer, i - start[0], workload_write_text_of(workload, node->name),
                      (enum trace_node_type)node->type);
        et_node_data_deps(writer, writing->deps, workload_write_list_deps(writing, index));
        et_node_times(writer, node->start_us, workload_write_duration_us(writing, node, rank));
        workload_write_put_attributes(workload, node, rank, writer);
        status = et_record_end(writer, err);
        workload_write_count_node(node, summary);
    }
    if (status == ORR_OK) {
        status = et_writer_finish(writer, err);
    }
    summary->files++;
    return status;
}

/* Ranks `first` to before `end`: all brought out before the first gets its name. */
static enum orr_status write_batch(struct writing *writing, const char *output, uint32_t first, uint32_t end,
                                   struct convert_summary *summary, struct orr_error *err)
{
    struct et_writer *writers[BATCH] = {0};
    enum orr_status status = ORR_OK;
    for (uint32_t r = first; status == ORR_OK && r < end; r++) {
        char path[RANK_PATH_ROOM];
        status = rank_path_make(output, r, writing->workload->ranks, path, err);
        if (status == ORR_OK) {
            status = et_writer_open(path, writing->workload->mem, &writers[r - first], err);
        }
        if (status == ORR_OK) {
            status = workload_write_rank(writing, r, writers[r - first], summary, err);
        }
    }
    for (uint32_t i = 0; i < end - first; i++) {
        if (status == ORR_OK) {
            status = et_writer_commit(writers[i], err);
        } else {
            et_writer_abort(writers[i]);
        }
    }
    return status;
}

static bool writing_alloc(struct writing *writing)
{
    const struct workload *workload = writing->workload;
    uint32_t most = 0;
    for (uint32_t i = 0; i < workload->node_count; i++) {
        uint32_t parents = writing->order->parent_start[i + 1] - writing->order->parent_start[i];
        most = parents > most ? parents : most;
        writing->lane_count =
            workload->nodes[i].lane >= writing->lane_count ? workload->nodes[i].lane + 1 : writing->lane_count;
    }
    writing->carries = mem_zalloc(workload->mem, writing->lane_count * sizeof *writing->carries);
    return writing->carries != NULL && MEM_GROW(workload->mem, writing->deps, writing->dep_capacity, most);
}

static enum orr_status workload_write_all(struct writing *writing, const char *output, struct convert_summary *summary,
                                          struct orr_error *err)
{
    const struct workload *workload = writing->workload;
    struct convert_summary sum = {0};
    enum orr_status status = ORR_OK;
    bool ready = writing_alloc(writing);
    if (!ready) {
        status = mem_error(workload->mem, "writing the operations", err);
    }
    for (uint32_t r = 0; ready && status == ORR_OK && r < workload->ranks; r += BATCH) {
        uint32_t end = workload->ranks - r < BATCH ? workload->ranks : r + BATCH;
        status = write_batch(writing, output, r, end, &sum, err);
    }
    if (status == ORR_OK) {
        *summary = sum;
    }
    mem_free(workload->mem, writing->carries, writing->lane_count * sizeof *writing->carries);
    mem_free(workload->mem, writing->deps, writing->dep_capacity * sizeof *writing->deps);
    return status;
}

enum orr_status workload_write(const struct workload *workload, const struct convert_request *request,
                               struct convert_summary *summary, struct orr_error *err)
{
    struct workload_order order;
    enum orr_status status = workload_order_make(workload, request->input, &order, err);
    if (status == ORR_OK) {
        struct writing writing = {.workload = workload, .order = &order};
        status = workload_write_all(&writing, request->output, summary, err);
    }
    workload_order_free(&order, workload->mem);
    return status;
}

enum orr_status workload_convert(const struct converter *converter, const struct convert_request *request,
                                 struct convert_summary *summary, struct orr_error *err)
{
    if (converter->write != NULL) {
        return converter->write(request, summary, err);
    }
    struct workload workload;
    workload_init(&workload, request->mem);
    enum orr_status status = converter->read(request, &workload, err);
    if (status == ORR_OK) {
        status = workload_write(&workload, request, summary, err);
    }
    workload_free(&workload);
    return status;
}
