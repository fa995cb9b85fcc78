/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass: each node is read again by its place in the file, in the order of ids, and written at once. The
 * first pass has checked what decides the graph; what only concerns a node's own fields is checked here, and an error
 * leaves no file behind. */
#include <inttypes.h>
#include <math.h>

#include "compat/chakra/convert_parts.h"
#include "compat/chakra/python_repr.h"
#include "convert/pytorch/host/comm.h"
#include "convert/pytorch/host/fields.h"

struct pass {
    struct compat *compat;
    struct et_writer *writer;
    struct python_text text;
    struct python_text group; /* of a parent, for a send or receive */
    struct convert_summary summary;
};

static enum orr_status convert_write_no_memory(const struct pass *pass, struct orr_error *err)
{
    return mem_error(pass->compat->mem, "a node's text", err);
}

/* ---- fields ---- */

/* Whole microseconds, cut and not rounded; an optimizer's step counts as 0 since its kernels are nodes of their own. */
static enum orr_status read_duration(struct pass *pass, uint32_t node, const struct host_fields *fields,
                                     struct orr_error *err)
{
    struct compat_node *at = &pass->compat->nodes[node];
    const struct json_item *item = fields->at[HOST_FIELD_EXCLUSIVE_DUR];
    double real = 0;
    at->duration_us = 0;
    if (item == NULL || strstr(compat_name(pass->compat, node), "Optimizer.step") != NULL) {
        return ORR_OK;
    }
    if (host_item_u64(item, &at->duration_us)) {
        return ORR_OK;
    }
    if (!host_item_real(item, &real) || !(real > -1 && real < 0x1p64)) {
        return compat_fail(pass->compat, node, err, "\"exclusive_dur\" is %s that is no time from 0 us on",
                           host_item_kind(item));
    }
    at->duration_us = real <= 0 ? 0 : (uint64_t)real;
    return ORR_OK;
}

struct io_texts {
    size_t ends[6]; /* in pass->text: values, shapes, types of inputs, then of outputs */
};

static enum orr_status convert_write_add_texts(struct pass *pass, uint32_t node, struct host_io io, const char *side,
                                               size_t *ends, struct orr_error *err)
{
    static const char *const keys[] = {"values", "shapes", "types"};
    const struct json_item *items[] = {io.values, io.shapes, io.types};
    for (size_t i = 0; i < 3; i++) {
        if (items[i] == NULL) {
            return compat_fail(pass->compat, node, err, "\"%s\" has no \"%s\"", side, keys[i]);
        }
        if (!python_text_add(&pass->text, items[i])) {
            return convert_write_no_memory(pass, err);
        }
        ends[i] = pass->text.size;
    }
    return ORR_OK;
}

static struct et_text text_at(const struct pass *pass, const struct io_texts *texts, size_t index)
{
    size_t start = index == 0 ? 0 : texts->ends[index - 1];
    return (struct et_text){pass->text.bytes + start, texts->ends[index] - start};
}

/* ---- attributes ---- */

static enum orr_status add_integers(struct pass *pass, uint32_t node, const struct host_fields *fields,
                                    struct orr_error *err)
{
    static const enum host_field integers[] = {HOST_FIELD_RF_ID, HOST_FIELD_FW_PARENT, HOST_FIELD_SEQ_ID,
                                               HOST_FIELD_SCOPE, HOST_FIELD_TID,       HOST_FIELD_FW_TID};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        const struct json_item *item = fields->at[integers[i]];
        if (item->kind != JSON_ITEM_INT) {
            return compat_fail(pass->compat, node, err, "\"%s\" is %.*s, which does not fit 64 bits with a sign",
                               host_field_key(integers[i]), (int)(item->length < 40 ? item->length : 40), item->text);
        }
        et_attr_int64(pass->writer, host_field_key(integers[i]), item->value.integer);
    }
    const struct json_item *schema = fields->at[HOST_FIELD_OP_SCHEMA];
    et_attr_string(pass->writer, "op_schema", (struct et_text){schema->text, schema->length});
    return ORR_OK;
}

static enum orr_status convert_write_add_stream(struct pass *pass, uint32_t node, const struct host_fields *fields,
                                                struct orr_error *err)
{
    const struct json_item *item = fields->at[HOST_FIELD_STREAM];
    if (item != NULL && item->kind == JSON_ITEM_NULL) {
        return ORR_OK;
    }
    if (item != NULL && item->kind != JSON_ITEM_INT) {
        return compat_fail(pass->compat, node, err, "\"stream\" is %s%s%.*s%s; Chakra's converter takes whole numbers",
                           host_item_kind(item), item->kind == JSON_ITEM_STRING ? " \"" : "",
                           item->kind == JSON_ITEM_STRING ? (int)(item->length < 40 ? item->length : 40) : 0,
                           item->kind == JSON_ITEM_STRING ? item->text : "",
                           item->kind == JSON_ITEM_STRING ? "\"" : "");
    }
    et_attr_int64(pass->writer, "stream", item == NULL ? 0 : item->value.integer);
    return ORR_OK;
}

/* An attribute of that name overrides the linker's key (§8.1). */
static const struct json_item *convert_write_group_of(const struct host_fields *fields)
{
    const struct json_item *item = fields->at[HOST_FIELD_PG_NAME];
    item = item == NULL ? host_field(fields, HOST_FIELD_LINK_PG_NAME) : item;
    return item == NULL || item->kind == JSON_ITEM_NULL ? NULL : item;
}

static enum orr_status convert_write_add_group(struct pass *pass, uint32_t node, const struct host_fields *fields,
                                               struct orr_error *err)
{
    const struct json_item *item = convert_write_group_of(fields);
    struct et_text name = {pass->group.bytes, pass->group.size};
    if (name.length == 0 && item != NULL) {
        if (item->kind != JSON_ITEM_STRING) {
            return compat_fail(pass->compat, node, err, "\"pg_name\" is %s; a text is needed", host_item_kind(item));
        }
        name = (struct et_text){item->text, item->length};
    }
    if (name.length > 0) {
        et_attr_string(pass->writer, "pg_name", name);
    }
    return ORR_OK;
}

static enum orr_status add_communication(struct pass *pass, uint32_t node, const struct host_fields *fields,
                                         struct orr_error *err)
{
    const struct compat_node *at = &pass->compat->nodes[node];
    uint64_t bytes = 0;
    if (at->type == TRACE_COLL) {
        et_attr_int64(pass->writer, "comm_type", at->comm_type);
    }
    if (!host_tensor_bytes(host_fields_inputs(fields), &bytes) || bytes > INT64_MAX ||
        __builtin_add_overflow(pass->summary.comm_bytes, bytes, &pass->summary.comm_bytes)) {
        return compat_fail(pass->compat, node, err, "its tensors are larger than 2^63 bytes");
    }
    et_attr_int64(pass->writer, "comm_size", (int64_t)bytes);
    return convert_write_add_group(pass, node, fields, err);
}

/* ---- one node ---- */

static void convert_write_count_node(struct convert_summary *summary, uint8_t type)
{
    summary->nodes++;
    summary->compute += type == TRACE_COMP;
    summary->collectives += type == TRACE_COLL;
    summary->sends += type == TRACE_SEND;
    summary->recvs += type == TRACE_RECV;
}

static enum orr_status write_fields(struct pass *pass, uint32_t node, const struct host_fields *fields,
                                    const struct io_texts *texts, struct orr_error *err)
{
    const struct compat *compat = pass->compat;
    const struct compat_node *at = &compat->nodes[node];
    const struct json_item *name = fields->at[HOST_FIELD_NAME];
    struct et_writer *writer = pass->writer;
    uint64_t ids[2];
    et_node_begin(writer, at->id, (struct et_text){name->text, name->length}, (enum trace_node_type)at->type);
    if (at->follows_parent) {
        et_node_ctrl_deps(writer, &compat->nodes[at->parent].id, 1);
    }
    unsigned count = compat_deps_of(compat, node, ids);
    et_node_data_deps(writer, ids, count);
    et_node_times(writer, 0, at->duration_us);
    et_node_inputs(writer, text_at(pass, texts, 0), text_at(pass, texts, 1), text_at(pass, texts, 2));
    et_node_outputs(writer, text_at(pass, texts, 3), text_at(pass, texts, 4), text_at(pass, texts, 5));
    enum orr_status status = add_integers(pass, node, fields, err);
    if (status == ORR_OK) {
        et_attr_bool(writer, "is_cpu_op", at->kind != COMPAT_GPU);
        status = convert_write_add_stream(pass, node, fields, err);
    }
    if (status == ORR_OK && (at->type == TRACE_COLL || at->type == TRACE_SEND || at->type == TRACE_RECV)) {
        status = add_communication(pass, node, fields, err);
    }
    return status == ORR_OK ? et_record_end(writer, err) : status;
}

/* A SendRecv kernel below record_param_comms takes that node's process group, where it names one (§8.5). */
static enum orr_status convert_write_find_group(struct pass *pass, uint32_t node, struct orr_error *err)
{
    const struct compat *compat = pass->compat;
    const struct compat_node *at = &compat->nodes[node];
    const struct json_item *item = NULL;
    struct host_fields fields;
    pass->group.size = 0;
    if (at->kind != COMPAT_GPU || strstr(compat_name(compat, node), "ncclDevKernel_SendRecv") == NULL ||
        strcmp(compat_name(compat, at->parent), "record_param_comms") != 0) {
        return ORR_OK;
    }
    enum orr_status status = host_node_json(compat->trace, compat->nodes[at->parent].host, &item, err);
    if (status != ORR_OK) {
        return status;
    }
    host_fields_find(item, &fields);
    const struct json_item *group = convert_write_group_of(&fields);
    if (group == NULL || group->kind != JSON_ITEM_STRING || python_text_add(&pass->group, group)) {
        return ORR_OK;
    }
    return convert_write_no_memory(pass, err);
}

static enum orr_status convert_write_node(struct pass *pass, uint32_t node, struct orr_error *err)
{
    const struct json_item *item = NULL;
    struct host_fields fields;
    struct io_texts texts = {0};
    enum orr_status status = convert_write_find_group(pass, node, err);
    if (status == ORR_OK) {
        status = host_node_json(pass->compat->trace, pass->compat->nodes[node].host, &item, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    host_fields_find(item, &fields);
    pass->text.size = 0;
    status = read_duration(pass, node, &fields, err);
    if (status == ORR_OK) {
        status = convert_write_add_texts(pass, node, host_fields_inputs(&fields), "inputs", texts.ends, err);
    }
    if (status == ORR_OK) {
        status = convert_write_add_texts(pass, node, host_fields_outputs(&fields), "outputs", texts.ends + 3, err);
    }
    if (status == ORR_OK) {
        status = write_fields(pass, node, &fields, &texts, err);
    }
    if (status == ORR_OK) {
        convert_write_count_node(&pass->summary, pass->compat->nodes[node].type);
    }
    return status;
}

/* ---- the file ---- */

static enum orr_status write_metadata(struct pass *pass, struct orr_error *err)
{
    const struct host_trace *trace = pass->compat->trace;
    et_metadata_begin(pass->writer, et_text(""));
    et_attr_string(pass->writer, "schema", et_text(trace->schema));
    et_attr_uint64(pass->writer, "pid", trace->pid);
    et_attr_string(pass->writer, "time", et_text(trace->time));
    et_attr_uint64(pass->writer, "start_ts", trace->start_ts);
    et_attr_uint64(pass->writer, "finish_ts", trace->finish_ts);
    return et_record_end(pass->writer, err);
}

enum orr_status compat_write(struct compat *compat, struct et_writer *writer, struct convert_summary *summary,
                             struct orr_error *err)
{
    struct pass pass = {.compat = compat, .writer = writer, .summary = {.files = 1}};
    python_text_init(&pass.text, compat->mem);
    python_text_init(&pass.group, compat->mem);
    enum orr_status status = write_metadata(&pass, err);
    for (uint32_t i = 0; status == ORR_OK && i < compat->count; i++) {
        const struct compat_node *node = &compat->nodes[compat->by_id[i]];
        if (node->made && !node->dangling) {
            status = convert_write_node(&pass, compat->by_id[i], err);
        }
    }
    python_text_free(&pass.text);
    python_text_free(&pass.group);
    if (status == ORR_OK) {
        *summary = pass.summary;
    }
    return status;
}
