/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the three it is can be told from the first key of the document; only the feeder's workload is a graph that
 * has to be built, the other two are files in another spelling (convert/et_json.h).
 *
 * In the feeder's workload dependencies are kept where both ends exist and dropped, with a note, where they do not: the
 * feeder itself never looks at control dependencies and waits for ever on a missing one.
 */
#include "convert/json_workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/et_json.h"
#include "convert/workload.h"
#include "io/json_stream.h"
#include "io/stream.h"

enum { HEAD = 4096, KEY_ROOM = 64 };

/* ---- which ------------------------------------------------------------------------------------------------------ */

/* The first key of an object that starts in `text`; "" when there is none, false when it is no object. */
static bool first_key(const char *text, char key[KEY_ROOM])
{
    static const char blank[] = " \t\r\n";
    key[0] = '\0';
    text += strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    text += strspn(text, blank);
    if (*text++ != '{') {
        return false;
    }
    text += strspn(text, blank);
    if (*text == '"') {
        size_t length = strcspn(text + 1, "\"");
        (void)snprintf(key, KEY_ROOM, "%.*s", (int)(length < KEY_ROOM ? length : KEY_ROOM - 1), text + 1);
    }
    return true;
}

/* Whether an empty object is all there is: as metadata it would be of a trace without nodes, and any tool may write it.
 */
static bool is_empty_object(const char *text)
{
    static const char blank[] = " \t\r\n";
    text += strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    text += strspn(text, blank);
    text += *text == '{';
    text += strspn(text, blank);
    return *text == '}' && text[1 + strspn(text + 1, blank)] == '\0';
}

static enum orr_status json_workload_read_head(const struct convert_request *request, char head[HEAD + 1],
                                               struct orr_error *err)
{
    struct io_stream *stream = NULL;
    size_t size = 0;
    enum orr_status status = io_stream_open(request->input, request->mem, &stream, err);
    if (status == ORR_OK) {
        status = io_stream_read(stream, head, HEAD, &size, err);
    }
    head[size] = '\0';
    io_stream_close(stream);
    return status;
}

static bool is_jsonized(const char *key)
{
    static const char *const keys[] = {"version", "attr", "id", "name", "type", "ctrlDeps", "dataDeps"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return key[0] == '\0'; /* metadata without anything in it */
}

/* ---- the feeder's workload -------------------------------------------------------------------------------------- */

struct dependency {
    uint64_t parent; /* id */
    uint32_t child;
    bool control;
};

struct id_place {
    uint64_t id;
    uint32_t node;
};

struct feeder {
    const struct convert_request *request;
    struct workload workload;
    struct json_stream *stream;
    struct id_place *ids;
    struct dependency *dependencies;
    uint32_t id_count, id_capacity;
    uint32_t dependency_count, dependency_capacity;
    uint64_t offset; /* of the node at hand */
    uint64_t dropped_data, dropped_control, host_comms;
};

static enum orr_status json_workload_refused(const struct feeder *feeder, struct orr_error *err)
{
    return mem_error(feeder->request->mem, "the nodes of a workload", err);
}

static enum orr_status json_workload_fail_node(struct feeder *feeder, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s", feeder->request->input,
                     json_stream_line(feeder->stream, feeder->offset), what);
}

/* A whole number of at least 0 under any of two keys; `*found` tells whether it was there. */
static enum orr_status json_workload_read_number(struct feeder *feeder, const struct json_item *node, const char *key,
                                                 uint64_t *value, bool *found, struct orr_error *err)
{
    const struct json_item *item = json_item_member(node, key);
    *found = item != NULL && item->kind != JSON_ITEM_NULL;
    if (!*found) {
        return ORR_OK;
    }
    bool is_real = item->kind == JSON_ITEM_REAL && item->value.real >= 0 && item->value.real < 9e18;
    if (!is_real && (item->kind != JSON_ITEM_INT || item->value.integer < 0)) {
        char what[128];
        (void)snprintf(what, sizeof what, "\"%s\" is no number of at least 0", key);
        return json_workload_fail_node(feeder, what, err);
    }
    *value = is_real ? (uint64_t)item->value.real : (uint64_t)item->value.integer;
    return ORR_OK;
}

static enum orr_status read_dependencies(struct feeder *feeder, const struct json_item *list, uint32_t child,
                                         bool control, struct orr_error *err)
{
    if (list == NULL || list->kind == JSON_ITEM_NULL) {
        return ORR_OK;
    }
    if (list->kind != JSON_ITEM_ARRAY) {
        return json_workload_fail_node(feeder, "a list of dependencies that is no array", err);
    }
    for (const struct json_item *item = json_item_first(list); item != json_item_end(list);
         item = json_item_next(item)) {
        if (item->kind != JSON_ITEM_INT || item->value.integer < 0) {
            return json_workload_fail_node(feeder, "a dependency that is no id", err);
        }
        if (!MEM_GROW(feeder->request->mem, feeder->dependencies, feeder->dependency_capacity,
                      feeder->dependency_count)) {
            return json_workload_refused(feeder, err);
        }
        feeder->dependencies[feeder->dependency_count++] =
            (struct dependency){(uint64_t)item->value.integer, child, control};
    }
    return ORR_OK;
}

static enum orr_status read_type(struct feeder *feeder, const struct json_item *item, struct workload_node *node,
                                 struct orr_error *err)
{
    const struct json_item *type = json_item_member(item, "NodeType");
    for (uint32_t i = TRACE_MEM_LOAD; type != NULL && i < TRACE_NODE_TYPES; i++) {
        char name[KEY_ROOM];
        (void)snprintf(name, sizeof name, "%s_NODE", trace_node_type_name(i));
        if ((type->kind == JSON_ITEM_INT && type->value.integer == (int64_t)i) ||
            json_item_is(type, trace_node_type_name(i)) || json_item_is(type, name)) {
            node->type = (uint8_t)i;
            return ORR_OK;
        }
    }
    return json_workload_fail_node(feeder,
                                   "\"NodeType\" is none of 2 to 7 (MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, "
                                   "COMM_COLL)",
                                   err);
}

/* Which collective: stated, else told by the name. */
static enum orr_status json_workload_read_kind(struct feeder *feeder, const struct json_item *item,
                                               struct workload_node *node, struct orr_error *err)
{
    uint64_t number = 0;
    bool found = false;
    enum orr_status status = json_workload_read_number(feeder, item, "comm_type", &number, &found, err);
    const char *name = intern_text(&feeder->workload.texts, node->name);
    enum comm_kind kind = comm_name_kernel(name);
    kind = comm_kind_is_collective(kind) ? kind : comm_name_op(name);
    if (status != ORR_OK) {
        return status;
    }
    node->type_from = found ? PROVENANCE_STATED : PROVENANCE_KERNEL_NAME;
    if (found ? number > COMM_BARRIER : !comm_kind_is_collective(kind)) {
        return json_workload_fail_node(
            feeder, "a collective whose \"comm_type\" is not one of 0 to 9 and whose name tells none", err);
    }
    node->comm_kind = (uint8_t)(found ? number : kind);
    return ORR_OK;
}

static enum orr_status read_partner(struct feeder *feeder, const struct json_item *item, struct workload_node *node,
                                    struct orr_error *err)
{
    uint64_t peer = 0;
    uint64_t tag = 0;
    bool has_peer = false;
    bool has_tag = false;
    enum orr_status status = json_workload_read_number(feeder, item, node->type == TRACE_SEND ? "comm_dst" : "comm_src",
                                                       &peer, &has_peer, err);
    if (status == ORR_OK) {
        status = json_workload_read_number(feeder, item, "comm_tag", &tag, &has_tag, err);
    }
    if (status == ORR_OK && (!has_peer || peer > INT32_MAX || tag > INT32_MAX)) {
        return json_workload_fail_node(
            feeder, "a send without comm_dst or a recv without comm_src, or one beyond 31 bits", err);
    }
    node->peer = (int32_t)peer;
    node->tag = (int32_t)tag;
    node->type_from = PROVENANCE_STATED;
    return status;
}

static enum orr_status json_workload_read_comm(struct feeder *feeder, const struct json_item *item,
                                               struct workload_node *node, struct orr_error *err)
{
    bool has_size = false;
    enum orr_status status = node->type == TRACE_COLL ? json_workload_read_kind(feeder, item, node, err)
                                                      : read_partner(feeder, item, node, err);
    if (status == ORR_OK) {
        status = json_workload_read_number(feeder, item, "comm_size", &node->bytes, &has_size, err);
    }
    const struct json_item *group = json_item_member(item, "pg_name");
    if (status == ORR_OK && group != NULL && group->kind == JSON_ITEM_STRING &&
        !workload_text(&feeder->workload, group->text, group->length, &node->group)) {
        return json_workload_refused(feeder, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    node->has |= WORKLOAD_HAS_COMM_SIZE;
    node->size_from = PROVENANCE_STATED;
    if (!has_size && node->type == TRACE_COLL && node->comm_kind == COMM_BARRIER) {
        node->size_from = PROVENANCE_NEEDS_NONE;
    } else if (!has_size) {
        node->line = json_stream_line(feeder->stream, feeder->offset);
        status = workload_unknown_size(&feeder->workload, feeder->request, "\"comm_size\"", node, err);
    }
    return status;
}

static enum orr_status read_facts(struct feeder *feeder, const struct json_item *item, struct workload_node *node,
                                  struct orr_error *err)
{
    const struct json_item *name = json_item_member(item, "Name");
    const struct json_item *host = json_item_member(item, "is_cpu_op");
    uint64_t runtime_us = 0;
    bool found = false;
    bool is_host =
        host != NULL && (host->kind == JSON_ITEM_TRUE || (host->kind == JSON_ITEM_INT && host->value.integer));
    if (name != NULL && name->kind == JSON_ITEM_STRING &&
        !workload_text(&feeder->workload, name->text, name->length, &node->name)) {
        return json_workload_refused(feeder, err);
    }
    enum orr_status status = read_type(feeder, item, node, err);
    if (status == ORR_OK) {
        status = json_workload_read_number(feeder, item, "runtime", &runtime_us, &found, err);
    }
    if (status == ORR_OK && __builtin_mul_overflow(runtime_us, 1000u, &node->duration_ns)) {
        return json_workload_fail_node(feeder, "\"runtime\" is beyond 2^64 ns", err);
    }
    if (status == ORR_OK) {
        status = json_workload_read_number(feeder, item, "num_ops", &node->num_ops, &found, err);
        node->has |= found ? WORKLOAD_HAS_NUM_OPS : 0;
    }
    if (status == ORR_OK) {
        status = json_workload_read_number(feeder, item, "tensor_size", &node->tensor_bytes, &found, err);
        node->has |= found ? WORKLOAD_HAS_TENSOR_BYTES : 0;
    }
    node->has |= is_host ? WORKLOAD_IS_CPU_OP : 0;
    if (status == ORR_OK && is_host && node->type >= TRACE_SEND) {
        node->type = TRACE_COMP; /* the call that launches it; the transfer is a node of its own */
        feeder->host_comms++;
    }
    return status == ORR_OK && node->type >= TRACE_SEND ? json_workload_read_comm(feeder, item, node, err) : status;
}

static enum orr_status json_workload_take_node(struct feeder *feeder, const struct json_item *item,
                                               struct orr_error *err)
{
    struct workload_node node = {0};
    uint64_t id = 0;
    uint32_t index = 0;
    bool found = false;
    if (item->kind != JSON_ITEM_OBJECT) {
        return json_workload_fail_node(feeder, "an element of workload_graph that is no object", err);
    }
    enum orr_status status = json_workload_read_number(feeder, item, "Id", &id, &found, err);
    if (status == ORR_OK && !found) {
        return json_workload_fail_node(feeder, "a node without \"Id\"", err);
    }
    if (status == ORR_OK) {
        status = read_facts(feeder, item, &node, err);
    }
    if (status == ORR_OK && (!workload_add(&feeder->workload, &node, &index) ||
                             !MEM_GROW(feeder->request->mem, feeder->ids, feeder->id_capacity, feeder->id_count))) {
        return json_workload_refused(feeder, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    feeder->ids[feeder->id_count++] = (struct id_place){id, index};
    status = read_dependencies(feeder, json_item_member(item, "data_deps"), index, false, err);
    const struct json_item *control = json_item_member(item, "ctrl_deps");
    if (status == ORR_OK) {
        status =
            read_dependencies(feeder, control != NULL ? control : json_item_member(item, "ctrlDeps"), index, true, err);
    }
    return status;
}

static int json_workload_compare_ids(const void *left, const void *right)
{
    const struct id_place *a = left;
    const struct id_place *b = right;
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static int compare_key(const void *key, const void *entry)
{
    uint64_t id = *(const uint64_t *)key;
    const struct id_place *place = entry;
    return (id > place->id) - (id < place->id);
}

static enum orr_status json_workload_resolve(struct feeder *feeder, struct orr_error *err)
{
    if (feeder->id_count == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: no workload_graph with nodes in it; read are a feeder's JSON workload, an orrery-trace "
                         "(orrery trace export) and the output of chakra_jsonizer",
                         feeder->request->input);
    }
    qsort(feeder->ids, feeder->id_count, sizeof *feeder->ids, json_workload_compare_ids);
    for (uint32_t i = 1; i < feeder->id_count; i++) {
        if (feeder->ids[i].id == feeder->ids[i - 1].id) {
            return error_set(err, ORR_EINVAL, "%s: two nodes have the Id %" PRIu64, feeder->request->input,
                             feeder->ids[i].id);
        }
    }
    for (uint32_t i = 0; i < feeder->dependency_count; i++) {
        const struct dependency *one = &feeder->dependencies[i];
        const struct id_place *place =
            bsearch(&one->parent, feeder->ids, feeder->id_count, sizeof *feeder->ids, compare_key);
        if (place == NULL) {
            *(one->control ? &feeder->dropped_control : &feeder->dropped_data) += 1;
        } else if (!workload_depend(&feeder->workload, one->child, place->node)) {
            return json_workload_refused(feeder, err);
        }
    }
    return ORR_OK;
}

static enum orr_status json_workload_add_notes(struct feeder *feeder, struct orr_error *err)
{
    struct notes *notes = feeder->request->notes;
    const char *input = feeder->request->input;
    const struct {
        uint64_t count;
        const char *what;
    } dropped[] = {{feeder->dropped_data, "data"}, {feeder->dropped_control, "control"}};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < 2; i++) {
        if (dropped[i].count > 0) {
            status = notes_add(notes, err, "%s: %" PRIu64 " %s dependenc%s on nodes that are not there dropped", input,
                               dropped[i].count, dropped[i].what, dropped[i].count == 1 ? "y" : "ies");
        }
    }
    if (status == ORR_OK && feeder->host_comms > 0) {
        status = notes_add(notes, err, "%s: %" PRIu64 " communication node%s of the host taken for compute", input,
                           feeder->host_comms, feeder->host_comms == 1 ? "" : "s");
    }
    return status;
}

static enum orr_status read_feeder(struct feeder *feeder, struct orr_error *err)
{
    struct json_part part;
    bool more = true;
    enum orr_status status = json_stream_next(feeder->stream, &part, &more, err);
    while (status == ORR_OK && more) {
        feeder->offset = part.offset;
        if (part.is_element) {
            status = json_workload_take_node(feeder, part.item, err);
        }
        if (status == ORR_OK) {
            status = json_stream_next(feeder->stream, &part, &more, err);
        }
    }
    if (status == ORR_OK) {
        status = json_workload_resolve(feeder, err);
    }
    if (status == ORR_OK) {
        status = workload_set_ranks(&feeder->workload, feeder->request, 1, err);
    }
    return status == ORR_OK ? json_workload_add_notes(feeder, err) : status;
}

static enum orr_status convert_feeder(const struct convert_request *request, struct convert_summary *summary,
                                      struct orr_error *err)
{
    static const char *const arrays[] = {"workload_graph", NULL};
    struct feeder feeder = {.request = request};
    workload_init(&feeder.workload, request->mem);
    enum orr_status status = json_stream_open(request->input, arrays, 0, request->mem, &feeder.stream, err);
    if (status == ORR_OK) {
        status = read_feeder(&feeder, err);
    }
    if (status == ORR_OK) {
        status = workload_write(&feeder.workload, request, summary, err);
    }
    json_stream_close(feeder.stream);
    mem_free(request->mem, feeder.ids, feeder.id_capacity * sizeof *feeder.ids);
    mem_free(request->mem, feeder.dependencies, feeder.dependency_capacity * sizeof *feeder.dependencies);
    workload_free(&feeder.workload);
    return status;
}

enum orr_status json_convert(const struct convert_request *request, struct convert_summary *summary,
                             struct orr_error *err)
{
    char head[HEAD + 1];
    char key[KEY_ROOM];
    enum orr_status status = json_workload_read_head(request, head, err);
    if (status != ORR_OK) {
        return status;
    }
    if (!first_key(head, key)) {
        return error_set(
            err, ORR_EINVAL,
            "%s:1: no JSON object; read are a feeder's JSON workload, an orrery-trace (orrery trace export) "
            "and the output of chakra_jsonizer",
            request->input);
    }
    if (strcmp(key, "format") == 0) {
        return et_json_convert_export(request, summary, err);
    }
    return is_jsonized(key) && !is_empty_object(head) ? et_json_convert_jsonized(request, summary, err)
                                                      : convert_feeder(request, summary, err);
}

const struct converter json_converter = {.write = json_convert, .knows_ranks = true, .knows_unknown_size = true};
