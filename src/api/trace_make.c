/* SPDX-License-Identifier: Apache-2.0 */
/* Traces made node by node by whoever embeds the library: a plain struct a node, checked, and written at once. */
#include <stdlib.h>

#include "orrery.h"
#include "run/type_word.h"
#include "trace/et_write.h"

struct orr_trace_maker {
    struct mem mem;
    struct et_writer *writer;
    uint32_t rank;
};

static enum orr_status api_trace_make_begin(struct orr_trace_maker *maker, const char *path, struct orr_error *err)
{
    enum orr_status status = et_writer_open(path, &maker->mem, &maker->writer, err);
    if (status != ORR_OK) {
        return status;
    }
    et_metadata_begin(maker->writer, et_text("0.0.4"));
    return et_record_end(maker->writer, err);
}

enum orr_status orr_trace_make(const char *path, uint32_t rank, struct orr_trace_maker **maker, struct orr_error *err)
{
    struct orr_trace_maker *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a trace");
    }
    made->rank = rank;
    enum orr_status status = api_trace_make_begin(made, path, err);
    if (status != ORR_OK) {
        et_writer_abort(made->writer);
        free(made);
        return status;
    }
    *maker = made;
    return ORR_OK;
}

static enum orr_status api_trace_make_check(const struct orr_node *node, int32_t *type, struct orr_error *err)
{
    if ((unsigned)node->kind > ORR_NODE_RECEIVE) {
        return error_set(err, ORR_EINVAL, "node %llu: %d is no kind of node", (unsigned long long)node->id,
                         (int)node->kind);
    }
    if (node->kind == ORR_NODE_COMPUTE) {
        return ORR_OK;
    }
    if (node->bytes == 0 || node->bytes > INT64_MAX) {
        return error_set(err, ORR_EINVAL, "node %llu: a communication has at least one byte",
                         (unsigned long long)node->id);
    }
    if (node->kind != ORR_NODE_COLLECTIVE) {
        return ORR_OK;
    }
    return node->type == NULL
               ? error_set(err, ORR_EINVAL, "node %llu: a collective needs a type", (unsigned long long)node->id)
               : type_word_parse(node->type, type, err);
}

static void put_communication(const struct orr_trace_maker *maker, const struct orr_node *node, int32_t type)
{
    struct et_writer *writer = maker->writer;
    if (node->kind == ORR_NODE_COLLECTIVE) {
        et_attr_int64(writer, "comm_type", type);
    }
    et_attr_int64(writer, "comm_size", (int64_t)node->bytes);
    if (node->kind != ORR_NODE_COLLECTIVE) {
        bool sends = node->kind == ORR_NODE_SEND;
        et_attr_int32(writer, "comm_src", (int32_t)(sends ? maker->rank : node->peer));
        et_attr_int32(writer, "comm_dst", (int32_t)(sends ? node->peer : maker->rank));
        et_attr_int32(writer, "comm_tag", (int32_t)node->tag);
    } else if (node->group != NULL) {
        et_attr_string(writer, "pg_name", et_text(node->group));
    }
}

enum orr_status orr_trace_add(struct orr_trace_maker *maker, const struct orr_node *node, struct orr_error *err)
{
    static const enum trace_node_type types[] = {TRACE_COMP, TRACE_COLL, TRACE_SEND, TRACE_RECV};
    struct et_writer *writer = maker->writer;
    int32_t type = 0;
    enum orr_status status = api_trace_make_check(node, &type, err);
    if (status != ORR_OK) {
        return status;
    }
    et_node_begin(writer, node->id, et_text(node->name != NULL ? node->name : ""), types[node->kind]);
    et_node_data_deps(writer, node->after, node->after_count);
    et_node_times(writer, 0, node->duration_us);
    et_attr_bool(writer, "is_cpu_op", node->on_cpu);
    if (node->kind != ORR_NODE_COMPUTE) {
        put_communication(maker, node, type);
    } else if (node->operations > 0) {
        et_attr_int64(writer, "num_ops", (int64_t)node->operations);
        et_attr_uint64(writer, "tensor_size", node->tensor_bytes);
    }
    return et_record_end(writer, err);
}

enum orr_status orr_trace_end(struct orr_trace_maker *maker, bool keep, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (maker == NULL) {
        return ORR_OK;
    }
    if (keep) {
        status = et_writer_commit(maker->writer, err);
    } else {
        et_writer_abort(maker->writer);
    }
    free(maker);
    return status;
}
