/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the file, a compact struct a node. The long parts stay in the file, whose bytes can be read again by
 * place (JSON_STREAM_REREAD). Only when the file is no JSON document is it looked at as several (repair.h): a file
 * in order never pays for that. */
#include "convert/pytorch/host/host.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "convert/pytorch/host/comm.h"
#include "convert/pytorch/host/fields.h"
#include "convert/pytorch/host/repair.h"

static const char *const arrays[] = {"nodes", NULL};

static const char *const known_schemas[] = {
    "1.0.1",
    "1.0.2-chakra.0.0.4",
    "1.0.3-chakra.0.0.4",
    "1.0.4-chakra.0.0.4",
    "1.1.0-chakra.0.0.4",
    "1.1.1-chakra.0.0.4",
    "1.1.1-chakra.1.0.0",
    NULL,
};

struct reader {
    struct host_trace *trace;
    struct notes *notes;
    uint8_t *is_comm; /* by name: 0 = not looked at, else 1 + whether it speaks of communication */
    uint32_t is_comm_capacity;
    bool has_nodes;
    bool no_json; /* the failure was json_stream's, and so may be repaired */
};

/* ---- names ---- */

bool host_name_is_comm(const char *name, size_t length)
{
    static const char *const words[] = {
        "nccl",      "rccl",       "msccl",     "gloo",           "c10d",          "record_param_comms", "all_reduce",
        "allreduce", "all_gather", "allgather", "reduce_scatter", "reducescatter", "all_to_all",         "alltoall",
        "horovod",   "|bytes=",    NULL,
    };
    for (const char *at = name; at < name + length; at++) {
        /* Every word starts with one of these. */
        if (strchr("nrmgcah|", tolower((unsigned char)*at)) == NULL) {
            continue;
        }
        size_t room = length - (size_t)(at - name);
        for (size_t i = 0; words[i] != NULL; i++) {
            size_t word = strlen(words[i]);
            size_t same = 0;
            while (word <= room && same < word && tolower((unsigned char)at[same]) == words[i][same]) {
                same++;
            }
            if (same == word) {
                return true;
            }
        }
    }
    return false;
}

/* A name is looked at once, however many nodes bear it. */
static bool find_is_comm(struct reader *reader, uint32_t name, bool *is_comm)
{
    const struct intern *names = &reader->trace->names;
    uint32_t old = reader->is_comm_capacity;
    if (!mem_reserve(reader->trace->mem, (void **)&reader->is_comm, &reader->is_comm_capacity, (uint64_t)name + 1, 1)) {
        return false;
    }
    memset(reader->is_comm + old, 0, reader->is_comm_capacity - old);
    if (reader->is_comm[name] == 0) {
        reader->is_comm[name] = host_name_is_comm(intern_text(names, name), intern_length(names, name)) ? 2 : 1;
    }
    *is_comm = reader->is_comm[name] == 2;
    return true;
}

/* ---- one node ---- */

static enum orr_status host_no_memory(const struct reader *reader, struct orr_error *err)
{
    return mem_error(reader->trace->mem, "the host trace", err);
}

/* "file:line: node 7: ", or "file:line: node at byte N: " when it has no id. */
static enum orr_status host_fail_node(const struct reader *reader, const struct json_part *part,
                                      const struct host_fields *fields, const char *what, struct orr_error *err)
{
    struct json_stream *stream = reader->trace->stream;
    uint64_t id = 0;
    bool has_id = fields != NULL && host_item_u64(fields->at[HOST_FIELD_ID], &id);
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": node %s%" PRIu64 ": %s", json_stream_path(stream),
                     json_stream_line(stream, part->offset), has_id ? "" : "number ", has_id ? id : part->index + 1,
                     what);
}

static enum orr_status fail_field(const struct reader *reader, const struct json_part *part,
                                  const struct host_fields *fields, enum host_field field, const char *need,
                                  struct orr_error *err)
{
    char what[160];
    const struct json_item *item = fields->at[field];
    if (item == NULL) {
        (void)snprintf(what, sizeof what, "no \"%s\"; %s is needed", host_field_key(field), need);
    } else {
        (void)snprintf(what, sizeof what, "\"%s\" is %s; %s is needed", host_field_key(field), host_item_kind(item),
                       need);
    }
    return host_fail_node(reader, part, fields, what, err);
}

/* Fields that may be missing or null but must be numbers where they are not. */
static enum orr_status host_check_numbers(const struct reader *reader, const struct json_part *part,
                                          const struct host_fields *fields, struct orr_error *err)
{
    static const enum host_field reals[] = {HOST_FIELD_TS, HOST_FIELD_INCLUSIVE_DUR, HOST_FIELD_EXCLUSIVE_DUR};
    double real = 0;
    uint64_t whole = 0;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        if (host_field(fields, reals[i]) != NULL && !host_item_real(fields->at[reals[i]], &real)) {
            return fail_field(reader, part, fields, reals[i], "a number of us", err);
        }
    }
    if (host_field(fields, HOST_FIELD_INTER_THREAD_DEP) != NULL &&
        !host_item_u64(fields->at[HOST_FIELD_INTER_THREAD_DEP], &whole)) {
        return fail_field(reader, part, fields, HOST_FIELD_INTER_THREAD_DEP, "a node id", err);
    }
    return ORR_OK;
}

static bool note_integer(const struct host_fields *fields, enum host_field field, enum host_has flag, int64_t *value,
                         struct host_node *node)
{
    bool there = host_item_i64(host_field(fields, field), value);
    node->has = (uint16_t)(node->has | (there ? (unsigned)flag : 0u));
    return there;
}

/* The seven attributes that every node has. */
static void read_attributes(const struct host_fields *fields, struct host_node *node)
{
    int64_t unused = 0;
    (void)note_integer(fields, HOST_FIELD_RF_ID, HOST_HAS_RF_ID, &node->rf_id, node);
    (void)note_integer(fields, HOST_FIELD_SEQ_ID, HOST_HAS_SEQ_ID, &node->seq_id, node);
    (void)note_integer(fields, HOST_FIELD_TID, HOST_HAS_TID, &node->tid, node);
    (void)note_integer(fields, HOST_FIELD_FW_PARENT, HOST_HAS_FW_PARENT, &unused, node);
    (void)note_integer(fields, HOST_FIELD_SCOPE, HOST_HAS_SCOPE, &unused, node);
    (void)note_integer(fields, HOST_FIELD_FW_TID, HOST_HAS_FW_TID, &unused, node);
    if (host_item_is_text(host_field(fields, HOST_FIELD_OP_SCHEMA))) {
        node->has |= HOST_HAS_OP_SCHEMA;
    }
}

/* A stream written as text ("0x0") has the number the text says. */
static int64_t stream_of_text(const struct json_item *item)
{
    char text[32] = "";
    size_t length = item->length < sizeof text - 1 ? item->length : sizeof text - 1;
    memcpy(text, item->text, length);
    return strtoll(text, NULL, 0);
}

static void host_read_stream(const struct host_fields *fields, struct host_node *node, struct host_link *link)
{
    const struct json_item *item = fields->at[HOST_FIELD_STREAM];
    if (item != NULL && item->kind == JSON_ITEM_NULL) {
        node->has |= HOST_STREAM_IS_NULL;
    } else if (host_item_is_text(item)) {
        link->stream = stream_of_text(item);
        node->has |= HOST_STREAM_IS_TEXT;
    } else {
        (void)note_integer(fields, HOST_FIELD_STREAM, HOST_HAS_STREAM, &link->stream, node);
    }
}

static bool is_linked(const struct host_fields *fields)
{
    for (enum host_field field = HOST_FIELD_INCLUSIVE_DUR; field <= HOST_FIELD_LINK_PG_NAME; field++) {
        if (fields->at[field] != NULL) {
            return true;
        }
    }
    return false;
}

static enum orr_status read_sync(struct reader *reader, const struct json_part *part, const struct host_fields *fields,
                                 struct host_link *link, struct orr_error *err)
{
    struct host_trace *trace = reader->trace;
    const struct json_item *list = host_field(fields, HOST_FIELD_SYNC_DEP);
    link->first_sync = trace->sync_id_count;
    if (list == NULL) {
        return ORR_OK;
    }
    if (list->kind != JSON_ITEM_ARRAY) {
        return fail_field(reader, part, fields, HOST_FIELD_SYNC_DEP, "a list of node ids", err);
    }
    for (const struct json_item *item = json_item_first(list); item != json_item_end(list);
         item = json_item_next(item)) {
        uint64_t id = 0;
        if (!host_item_u64(item, &id)) {
            return fail_field(reader, part, fields, HOST_FIELD_SYNC_DEP, "a list of node ids", err);
        }
        if (!MEM_GROW(trace->mem, trace->sync_ids, trace->sync_id_capacity, trace->sync_id_count)) {
            return host_no_memory(reader, err);
        }
        trace->sync_ids[trace->sync_id_count++] = id;
        link->sync_count++;
    }
    return ORR_OK;
}

static bool host_add_text(struct intern *names, const struct json_item *item, uint32_t *number)
{
    *number = 0;
    return !host_item_is_text(item) || intern_add(names, item->text, item->length, number);
}

static enum orr_status host_read_link(struct reader *reader, const struct json_part *part,
                                      const struct host_fields *fields, struct host_node *node, struct orr_error *err)
{
    struct host_trace *trace = reader->trace;
    struct host_link link = {.stream = 0, .extra = HOST_NONE};
    node->has |= host_item_real(host_field(fields, HOST_FIELD_TS), &link.ts_us) ? HOST_HAS_TS : 0;
    (void)host_item_real(host_field(fields, HOST_FIELD_INCLUSIVE_DUR), &link.inclusive_us);
    (void)host_item_real(host_field(fields, HOST_FIELD_EXCLUSIVE_DUR), &link.exclusive_us);
    if (host_item_u64(host_field(fields, HOST_FIELD_INTER_THREAD_DEP), &link.inter_thread_dep)) {
        node->has |= HOST_HAS_INTER_THREAD;
    }
    node->has |= host_field(fields, HOST_FIELD_CAT) != NULL ? HOST_HAS_CAT : 0;
    host_read_stream(fields, node, &link);
    if (!host_add_text(&trace->names, host_field(fields, HOST_FIELD_CAT), &link.cat) ||
        !host_add_text(&trace->names, host_field(fields, HOST_FIELD_LINK_PG_NAME), &link.pg_name) ||
        !MEM_GROW(trace->mem, trace->links, trace->link_capacity, trace->link_count)) {
        return host_no_memory(reader, err);
    }
    enum orr_status status = read_sync(reader, part, fields, &link, err);
    if (status == ORR_OK) {
        node->linked = trace->link_count;
        trace->links[trace->link_count++] = link;
    }
    return status;
}

/* The list of process groups is a text that is JSON itself; a later one has all groups of an earlier one. */
static bool keep_process_groups(struct host_trace *trace, const struct json_item *name,
                                const struct host_fields *fields)
{
    const struct json_item *values = host_fields_inputs(fields).values;
    if (memmem(name->text, name->length, "process_group:init", 18) == NULL || values == NULL ||
        values->kind != JSON_ITEM_ARRAY || values->span == 1 || !host_item_is_text(json_item_first(values))) {
        return true;
    }
    const struct json_item *text = json_item_first(values);
    trace->process_groups = arena_strndup(&trace->arena, text->text, text->length);
    return trace->process_groups != NULL;
}

static enum orr_status host_read_comm(struct reader *reader, const struct host_fields *fields, struct host_node *node,
                                      struct orr_error *err)
{
    struct host_trace *trace = reader->trace;
    bool is_comm = false;
    if (!find_is_comm(reader, node->name, &is_comm)) {
        return host_no_memory(reader, err);
    }
    if (!is_comm) {
        return ORR_OK;
    }
    if (!MEM_GROW(trace->mem, trace->comms, trace->comm_capacity, trace->comm_count) ||
        !host_comm_read(fields, &trace->names, &trace->comms[trace->comm_count])) {
        return host_no_memory(reader, err);
    }
    node->comm = trace->comm_count++;
    return ORR_OK;
}

/* What every node must have, in either form. */
static enum orr_status read_required(const struct reader *reader, const struct json_part *part,
                                     const struct host_fields *fields, struct host_node *node, struct orr_error *err)
{
    enum host_field parent = fields->at[HOST_FIELD_CTRL_DEPS] == NULL && fields->at[HOST_FIELD_PARENT] != NULL
                                 ? HOST_FIELD_PARENT
                                 : HOST_FIELD_CTRL_DEPS;
    if (!host_item_u64(fields->at[HOST_FIELD_ID], &node->id)) {
        return fail_field(reader, part, fields, HOST_FIELD_ID, "a whole number", err);
    }
    if (!host_item_is_text(fields->at[HOST_FIELD_NAME])) {
        return fail_field(reader, part, fields, HOST_FIELD_NAME, "a text", err);
    }
    if (host_item_u64(fields->at[parent], &node->parent)) {
        node->has |= HOST_HAS_PARENT;
    } else if (fields->at[parent] == NULL || fields->at[parent]->kind != JSON_ITEM_NULL) {
        return fail_field(reader, part, fields, parent, "the parent's id", err);
    }
    if (fields->at[HOST_FIELD_INPUTS] == NULL) {
        return fail_field(reader, part, fields, HOST_FIELD_INPUTS, "{values, shapes, types}", err);
    }
    if (fields->at[HOST_FIELD_OUTPUTS] == NULL) {
        return fail_field(reader, part, fields, HOST_FIELD_OUTPUTS, "{values, shapes, types}", err);
    }
    return host_check_numbers(reader, part, fields, err);
}

static enum orr_status host_add_node(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct host_trace *trace = reader->trace;
    struct host_fields fields;
    struct host_node node = {.offset = part->offset, .comm = HOST_NONE, .linked = HOST_NONE, .seq_id = -1};
    if (part->item->kind != JSON_ITEM_OBJECT) {
        return host_fail_node(reader, part, NULL, "no object; nodes are {\"id\": …, \"name\": …}", err);
    }
    if (part->length > UINT32_MAX || trace->node_count == HOST_NONE - 1) {
        return host_fail_node(reader, part, NULL, "larger than 4 GiB, or one node too many", err);
    }
    host_fields_find(part->item, &fields);
    enum orr_status status = read_required(reader, part, &fields, &node, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct json_item *name = fields.at[HOST_FIELD_NAME];
    node.length = (uint32_t)part->length;
    read_attributes(&fields, &node);
    if (!intern_add(&trace->names, name->text, name->length, &node.name) ||
        !keep_process_groups(trace, name, &fields) ||
        !MEM_GROW(trace->mem, trace->nodes, trace->node_capacity, trace->node_count)) {
        return host_no_memory(reader, err);
    }
    status = host_read_comm(reader, &fields, &node, err);
    if (status == ORR_OK && is_linked(&fields)) {
        status = host_read_link(reader, part, &fields, &node, err);
    }
    if (status == ORR_OK) {
        trace->nodes[trace->node_count++] = node;
    }
    return status;
}

/* ---- the document ---- */

static enum orr_status host_read_text(struct reader *reader, const struct json_item *item, const char **text,
                                      struct orr_error *err)
{
    if (!host_item_is_text(item)) {
        return ORR_OK;
    }
    const char *copy = arena_strndup(&reader->trace->arena, item->text, item->length);
    if (copy == NULL) {
        return host_no_memory(reader, err);
    }
    *text = copy;
    return ORR_OK;
}

/* The list of nodes comes in many parts and is one member. */
static bool note_member(struct host_trace *trace, const struct json_part *part)
{
    bool list = part->is_element || part->is_empty;
    if (part->is_element && part->index > 0) {
        return true;
    }
    if (!MEM_GROW(trace->mem, trace->members, trace->member_capacity, trace->member_count)) {
        return false;
    }
    const char *key = arena_strndup(&trace->arena, part->key, strlen(part->key));
    trace->members[trace->member_count++] = (struct host_member){key, part->offset, list ? 0 : part->length};
    return key != NULL;
}

static enum orr_status host_read_part(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct host_trace *trace = reader->trace;
    if (!note_member(trace, part)) {
        return host_no_memory(reader, err);
    }
    if (strcmp(part->key, "nodes") == 0) {
        reader->has_nodes = true;
        if (part->is_empty) {
            return ORR_OK;
        }
        if (!part->is_element) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"nodes\" is %s; a list is needed",
                             json_stream_path(trace->stream), json_stream_line(trace->stream, part->offset),
                             host_item_kind(part->item));
        }
        return host_add_node(reader, part, err);
    }
    if (strcmp(part->key, "schema") == 0) {
        return host_read_text(reader, part->item, &trace->schema, err);
    }
    if (strcmp(part->key, "time") == 0) {
        return host_read_text(reader, part->item, &trace->time, err);
    }
    if (strcmp(part->key, "pid") == 0) {
        trace->has_pid = host_item_u64(part->item, &trace->pid);
    } else if (strcmp(part->key, "start_ts") == 0) {
        trace->has_start_ts = host_item_u64(part->item, &trace->start_ts);
    } else if (strcmp(part->key, "finish_ts") == 0) {
        trace->has_finish_ts = host_item_u64(part->item, &trace->finish_ts);
    }
    return ORR_OK;
}

static enum orr_status read_document(struct reader *reader, struct orr_error *err)
{
    struct host_trace *trace = reader->trace;
    struct json_part part = {0};
    bool more = true;
    for (;;) {
        enum orr_status status = json_stream_next(trace->stream, &part, &more, err);
        if (status != ORR_OK) {
            reader->no_json = status == ORR_EINVAL;
            return status;
        }
        if (!more) {
            break;
        }
        status = host_read_part(reader, &part, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    if (!reader->has_nodes) {
        return error_set(err, ORR_EINVAL, "%s: no list \"nodes\"; a PyTorch execution trace has one",
                         json_stream_path(trace->stream));
    }
    trace->byte_count = json_stream_unpacked_size(trace->stream);
    return ORR_OK;
}

static enum orr_status check_schema(const struct reader *reader, struct orr_error *err)
{
    char word[80];
    const char *schema = reader->trace->schema;
    const char *path = json_stream_path(reader->trace->stream);
    for (size_t i = 0; known_schemas[i] != NULL; i++) {
        if (strcmp(schema, known_schemas[i]) == 0) {
            return ORR_OK;
        }
    }
    if (schema[0] == '\0') {
        return notes_add(reader->notes, err, "%s: says no schema; read as a PyTorch execution trace", path);
    }
    (void)snprintf(word, sizeof word, "%s", schema);
    host_text_clean(word);
    return notes_add(reader->notes, err, "%s: schema \"%s\" is not known; read as 1.1.1-chakra.0.0.4", path, word);
}

/* ---- life ---- */

static void trace_empty(struct host_trace *trace)
{
    mem_free(trace->mem, trace->nodes, (size_t)trace->node_capacity * sizeof *trace->nodes);
    mem_free(trace->mem, trace->comms, (size_t)trace->comm_capacity * sizeof *trace->comms);
    mem_free(trace->mem, trace->links, (size_t)trace->link_capacity * sizeof *trace->links);
    mem_free(trace->mem, trace->sync_ids, (size_t)trace->sync_id_capacity * sizeof *trace->sync_ids);
    mem_free(trace->mem, trace->members, (size_t)trace->member_capacity * sizeof *trace->members);
    intern_free(&trace->names);
    arena_free(&trace->arena);
    json_stream_close(trace->stream);
}

static void trace_begin(struct host_trace *trace, struct mem *mem)
{
    *trace = (struct host_trace){.mem = mem, .schema = "", .time = ""};
    intern_init(&trace->names, mem);
    arena_init(&trace->arena, mem);
}

static enum orr_status host_read_whole(const char *path, struct reader *reader, struct orr_error *err)
{
    enum orr_status status =
        json_stream_open(path, arrays, JSON_STREAM_REREAD, reader->trace->mem, &reader->trace->stream, err);
    return status == ORR_OK ? read_document(reader, err) : status;
}

static void host_forget_names(struct reader *reader)
{
    mem_free(reader->trace->mem, reader->is_comm, reader->is_comm_capacity);
    reader->is_comm = NULL;
    reader->is_comm_capacity = 0;
}

/* Keeps the first error when nothing can be saved: it says what is wrong with the file as a whole. */
static enum orr_status read_repaired(const char *path, struct reader *reader, struct orr_error *err)
{
    struct host_piece piece = {0};
    struct host_trace *trace = reader->trace;
    struct mem *mem = trace->mem;
    host_forget_names(reader);
    trace_empty(trace);
    trace_begin(trace, mem);
    *reader = (struct reader){.trace = trace, .notes = reader->notes};
    enum orr_status status =
        json_stream_open(path, arrays, JSON_STREAM_REREAD | JSON_STREAM_MAY_BE_CUT, mem, &trace->stream, err);
    if (status == ORR_OK) {
        status = host_repair_find(trace->stream, mem, reader->notes, &piece, err);
    }
    if (status == ORR_OK) {
        status = json_stream_restart(trace->stream, piece.offset, piece.end, err);
    }
    return status == ORR_OK ? read_document(reader, err) : status;
}

enum orr_status host_read(const char *path, struct mem *mem, struct notes *notes, struct host_trace **trace,
                          struct orr_error *err)
{
    struct host_trace *made = mem_alloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "the host trace", err);
    }
    trace_begin(made, mem);
    struct reader reader = {.trace = made, .notes = notes};
    enum orr_status status = host_read_whole(path, &reader, err);
    if (reader.no_json) {
        status = read_repaired(path, &reader, err);
    }
    if (status == ORR_OK) {
        status = check_schema(&reader, err);
    }
    host_forget_names(&reader);
    if (status != ORR_OK) {
        host_free(made);
        return status;
    }
    *trace = made;
    return ORR_OK;
}

void host_free(struct host_trace *trace)
{
    if (trace != NULL) {
        struct mem *mem = trace->mem;
        trace_empty(trace);
        mem_free(mem, trace, sizeof *trace);
    }
}

enum orr_status host_node_json(struct host_trace *trace, uint32_t node, const struct json_item **item,
                               struct orr_error *err)
{
    const struct host_node *at = &trace->nodes[node];
    return json_stream_reread(trace->stream, at->offset, at->length, item, err);
}
