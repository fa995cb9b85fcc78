/* SPDX-License-Identifier: Apache-2.0 */
/* The members of the document that are ours are made as a small JSON text first and then copied like everything else,
 * so that one writer makes all of the file. */
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "convert/pytorch/hdt/ours.h"
#include "convert/pytorch/hdt/write.h"
#include "io/json_write.h"
#include "io/outfile.h"

struct ours {
    const struct linked_trace *linked;
    const struct comm_groups *groups;
    struct host_trace *host;
    struct hdt_writer *writer;
    struct json_stream *blank_stream;
    const struct json_item *blank; /* a node without inputs and outputs */
    uint32_t *thread_ids;          /* by lane: id of the host thread's node */
    uint32_t first_id;             /* of node 0 */
    uint32_t *deps;
    uint32_t dep_capacity;
};

#define BLANK_LISTS           "{\"values\": [], \"shapes\": [], \"types\": []}"
#define BLANK_NUMBER(name, n) "{\"name\": \"" name "\", \"type\": \"uint64\", \"value\": " n "}, "

/* With the attributes that Chakra's converter asks of every node. */
static const char blank_text[] =
    "{\"node\": {\"id\": 0, \"name\": \"\", \"ctrl_deps\": 0, \"inputs\": " BLANK_LISTS ", \"outputs\": " BLANK_LISTS
    ", \"attrs\": [" BLANK_NUMBER("rf_id", "0") BLANK_NUMBER(
        "fw_parent", "0") "{\"name\": \"seq_id\", \"type\": \"int64\", \"value\": -1}, " BLANK_NUMBER("scope", "7")
        BLANK_NUMBER("tid", "0")
            BLANK_NUMBER("fw_tid", "0") "{\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"\"}]}}";

/* ---- the head ---- */

static void write_lanes(const struct linked_trace *linked, struct json_writer *json)
{
    json_write_member_array(json, "lanes", false);
    for (uint32_t i = 0; i < linked->lane_count; i++) {
        json_write_object(json, true);
        json_write_member_string(json, "text", intern_text(&linked->names, linked->lanes[i].text));
        if (linked->lanes[i].is_device) {
            json_write_member_i64(json, "stream", linked->lanes[i].stream);
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_steps(const struct linked_trace *linked, struct json_writer *json)
{
    json_write_member_array(json, "steps", false);
    for (uint32_t i = 0; i < linked->step_count; i++) {
        json_write_object(json, true);
        json_write_member_i64(json, "number", linked->steps[i].number);
        json_write_member_i64(json, "start_ns", linked->steps[i].start_ns);
        json_write_member_i64(json, "end_ns", linked->steps[i].end_ns);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void ours_write_groups(const struct comm_groups *groups, struct json_writer *json)
{
    json_write_member_array(json, "groups", false);
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct comm_group *group = &groups->groups[i];
        json_write_object(json, true);
        json_write_member_string(json, "name", intern_text(&groups->names, group->name));
        json_write_member_string(json, "text", intern_text(&groups->names, group->text));
        json_write_key(json, "ranks");
        if (group->is_all) {
            json_write_null(json);
        } else {
            json_write_array(json, true);
            for (uint32_t r = 0; r < group->count; r++) {
                json_write_u64(json, groups->ranks[group->first + r]);
            }
            json_write_array_end(json);
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void ours_write_head(const struct ours *ours, FILE *stream)
{
    const struct linked_trace *linked = ours->linked;
    const struct host_trace *host = ours->host;
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_string(&json, "schema", host != NULL ? host->schema : "1.1.1-chakra.0.0.4");
    json_write_member_u64(&json, "pid", host != NULL ? host->pid : 0);
    json_write_member_string(&json, "time", host != NULL ? host->time : "");
    json_write_member_u64(&json, "start_ts", host != NULL ? host->start_ts : 0);
    json_write_member_u64(&json, "finish_ts", host != NULL ? host->finish_ts : 0);
    json_write_member_object(&json, "orrery", false);
    json_write_member_u64(&json, "version", HDT_OURS_VERSION);
    json_write_member_i64(&json, "rank", linked->rank);
    json_write_member_u64(&json, "world_size", ours->groups->world_size);
    json_write_member_bool(&json, "has_times", linked->has_times);
    json_write_member_string(&json, "schema", intern_text(&linked->names, linked->schema));
    write_lanes(linked, &json);
    write_steps(linked, &json);
    ours_write_groups(ours->groups, &json);
    json_write_object_end(&json);
    json_write_document_end(&json);
}

/* Every member of the text, in order, into the file. */
static enum orr_status copy_head(const struct ours *ours, const char *text, size_t size, struct orr_error *err)
{
    static const char *const none[] = {NULL};
    struct json_stream *stream = NULL;
    struct json_part part;
    bool more = true;
    enum orr_status status =
        json_stream_open_bytes(text, size, "the head of a linked trace", none, 0, ours->linked->mem, &stream, err);
    while (status == ORR_OK && more) {
        status = json_stream_next(stream, &part, &more, err);
        if (status == ORR_OK && more) {
            hdt_write_member(ours->writer, part.key, part.item);
        }
    }
    json_stream_close(stream);
    return status;
}

static enum orr_status ours_write_put_head(const struct ours *ours, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&text, &size);
    if (stream == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory writing a linked trace");
    }
    ours_write_head(ours, stream);
    bool failed = ferror(stream) != 0;
    failed = fclose(stream) != 0 || failed;
    enum orr_status status =
        failed ? error_set(err, ORR_ENOMEM, "out of memory writing a linked trace") : copy_head(ours, text, size, err);
    free(text);
    return status;
}

/* ---- nodes ---- */

static struct hdt_edit ours_write_integer(const char *key, int64_t value)
{
    return (struct hdt_edit){.key = key, .kind = HDT_INTEGER, .to.integer = value};
}

static struct hdt_edit ours_write_text(const char *key, const char *value)
{
    return (struct hdt_edit){
        .key = key, .kind = HDT_TEXT, .to.text = {.bytes = value, .length = (uint32_t)strlen(value)}};
}

static struct hdt_edit ours_write_real(const char *key, double value)
{
    return (struct hdt_edit){.key = key, .kind = HDT_REAL, .to.real = value};
}

static void put_frame(const struct ours *ours, uint32_t id, const char *name)
{
    struct hdt_edit edits[] = {ours_write_integer("id", id), ours_write_text("name", name),
                               ours_write_integer("ctrl_deps", 0)};
    hdt_write_node(ours->writer, ours->blank, edits, sizeof edits / sizeof edits[0]);
}

static uint32_t put_frames(struct ours *ours)
{
    uint32_t id = 0;
    put_frame(ours, id++, "[pytorch|profiler|execution_trace|process]");
    for (uint32_t i = 0; i < ours->linked->lane_count; i++) {
        if (!ours->linked->lanes[i].is_device) {
            ours->thread_ids[i] = id;
            put_frame(ours, id++, "[pytorch|profiler|execution_trace|thread]");
        }
    }
    return id;
}

static const char *ours_write_cat_of(const char *name)
{
    return strncmp(name, "Memcpy", 6) == 0 ? "gpu_memcpy" : strncmp(name, "Memset", 6) == 0 ? "gpu_memset" : "kernel";
}

static unsigned ours_write_add_comm(const struct ours *ours, const struct linked_node *node, struct hdt_edit *edits)
{
    unsigned count = 0;
    if (node->comm == LINKED_NONE) {
        return 0;
    }
    const struct comm_fact *fact = &ours->linked->comms[node->comm];
    edits[count++] = ours_write_integer("orr_comm", fact->kind);
    edits[count++] = ours_write_integer("orr_bytes", (int64_t)fact->bytes);
    if (fact->size_from == PROVENANCE_GIVEN) {
        edits[count - 1].kind = HDT_NULL;
    }
    if (fact->group != COMM_GROUP_NONE) {
        edits[count++] = ours_write_integer("orr_group", fact->group);
    }
    edits[count++] = ours_write_integer("orr_root", fact->root);
    edits[count++] = ours_write_integer("orr_src", fact->src);
    edits[count++] = ours_write_integer("orr_dst", fact->dst);
    edits[count++] = ours_write_text("orr_type_from", provenance_name(fact->type_from));
    edits[count++] = ours_write_text("orr_size_from", provenance_name(fact->size_from));
    if (fact->peer_from != PROVENANCE_NONE) {
        edits[count++] = ours_write_text("orr_peer_from", provenance_name(fact->peer_from));
    }
    return count;
}

static const char *const kind_words[] = {
#define LINKED_X(id, word) word,
    LINKED_KINDS(LINKED_X)
#undef LINKED_X
};

/* The host's own text of the node: its op's, for a device node the launching op's. */
static enum orr_status find_json(const struct ours *ours, const struct linked_node *node, const struct json_item **item,
                                 struct orr_error *err)
{
    uint32_t host = node->host;
    if (host == LINKED_NONE && node->kind == LINKED_DEVICE && node->parent != LINKED_NONE) {
        host = ours->linked->nodes[node->parent].host;
    }
    *item = ours->blank;
    return ours->host == NULL || host == LINKED_NONE ? ORR_OK : host_node_json(ours->host, host, item, err);
}

static bool ours_write_list_deps(struct ours *ours, const struct linked_node *node)
{
    if (!MEM_GROW(ours->linked->mem, ours->deps, ours->dep_capacity, node->dep_count)) {
        return false;
    }
    for (uint32_t i = 0; i < node->dep_count; i++) {
        ours->deps[i] = ours->first_id + ours->linked->deps[node->first_dep + i];
    }
    return true;
}

static unsigned ours_write_add_times(const struct ours *ours, const struct linked_node *node, struct hdt_edit *edits)
{
    unsigned count = 0;
    const struct linked_lane *lane = &ours->linked->lanes[node->lane];
    if (ours->linked->has_times) {
        edits[count++] = ours_write_real("inclusive_dur", (double)node->duration_ns / 1000);
        edits[count++] = ours_write_real("exclusive_dur", (double)node->duration_ns / 1000);
        edits[count++] = ours_write_real("ts", (double)node->start_ns / 1000);
    }
    if (lane->is_device) {
        edits[count++] = ours_write_text("cat", ours_write_cat_of(intern_text(&ours->linked->names, node->name)));
        edits[count++] = ours_write_text("ph", "X");
        edits[count++] = ours_write_integer("stream", lane->stream);
    }
    return count;
}

static enum orr_status ours_write_put_node(struct ours *ours, uint32_t index, struct orr_error *err)
{
    const struct linked_node *node = &ours->linked->nodes[index];
    const struct json_item *item = NULL;
    struct hdt_edit edits[32];
    unsigned count = 0;
    enum orr_status status = find_json(ours, node, &item, err);
    if (status != ORR_OK) {
        return status;
    }
    if (!ours_write_list_deps(ours, node)) {
        return mem_error(ours->linked->mem, "dependencies", err);
    }
    uint32_t around = node->parent != LINKED_NONE ? ours->first_id + node->parent : ours->thread_ids[node->lane];
    edits[count++] = ours_write_integer("id", ours->first_id + index);
    edits[count++] = ours_write_text("name", intern_text(&ours->linked->names, node->name));
    edits[count++] = ours_write_integer("ctrl_deps", around);
    count += ours_write_add_times(ours, node, edits + count);
    edits[count++] = ours_write_text("orr_kind", kind_words[node->kind]);
    edits[count++] = ours_write_integer("orr_start_ns", node->start_ns);
    edits[count++] = ours_write_integer("orr_duration_ns", node->duration_ns);
    edits[count++] = ours_write_integer("orr_lane", node->lane);
    edits[count++] = ours_write_integer("orr_rf_id", node->rf_id);
    if (node->step >= 0) {
        edits[count++] = ours_write_integer("orr_step", node->step);
    }
    if (node->parent != LINKED_NONE) {
        edits[count++] = ours_write_integer("orr_parent", ours->first_id + node->parent);
    }
    edits[count] = (struct hdt_edit){
        .key = "orr_deps", .kind = HDT_LIST, .to.list = {.ids = ours->deps, .count = node->dep_count}};
    count++;
    count += ours_write_add_comm(ours, node, edits + count);
    hdt_write_node(ours->writer, item, edits, count);
    return ORR_OK;
}

static enum orr_status ours_write_put_all(struct ours *ours, struct orr_error *err)
{
    enum orr_status status = ours_write_put_head(ours, err);
    if (status != ORR_OK) {
        return status;
    }
    hdt_write_nodes_begin(ours->writer);
    ours->first_id = put_frames(ours);
    for (uint32_t i = 0; i < ours->linked->node_count && status == ORR_OK; i++) {
        status = ours_write_put_node(ours, i, err);
    }
    hdt_write_nodes_end(ours->writer);
    return status;
}

static enum orr_status open_blank(struct ours *ours, struct orr_error *err)
{
    static const char *const none[] = {NULL};
    struct json_part part = {0};
    bool more = false;
    enum orr_status status = json_stream_open_bytes(blank_text, sizeof blank_text - 1, "a blank node", none, 0,
                                                    ours->linked->mem, &ours->blank_stream, err);
    if (status == ORR_OK) {
        status = json_stream_next(ours->blank_stream, &part, &more, err);
        ours->blank = part.item;
    }
    return status;
}

static enum orr_status ours_write_file(struct ours *ours, struct io_outfile *file, const char *path,
                                       struct orr_error *err)
{
    struct mem *mem = ours->linked->mem;
    size_t lane_bytes = ((size_t)ours->linked->lane_count + 1) * sizeof *ours->thread_ids;
    ours->writer = mem_alloc(mem, sizeof *ours->writer);
    ours->thread_ids = mem_zalloc(mem, lane_bytes);
    enum orr_status status =
        ours->writer == NULL || ours->thread_ids == NULL ? mem_error(mem, "a linked trace", err) : ORR_OK;
    if (status == ORR_OK) {
        status = open_blank(ours, err);
    }
    if (status == ORR_OK) {
        hdt_write_begin(ours->writer, io_outfile_stream(file));
        status = ours_write_put_all(ours, err);
        if (!hdt_write_end(ours->writer) && status == ORR_OK) {
            status = error_set(err, ORR_EINVAL, "%s: a value of the host trace is nested too deep", path);
        }
    }
    json_stream_close(ours->blank_stream);
    mem_free(mem, ours->deps, (size_t)ours->dep_capacity * sizeof *ours->deps);
    mem_free(mem, ours->thread_ids, lane_bytes);
    mem_free(mem, ours->writer, sizeof *ours->writer);
    return status;
}

enum orr_status hdt_ours_write(const struct linked_trace *linked, const struct comm_groups *groups,
                               struct host_trace *host, const char *path, struct orr_error *err)
{
    struct ours ours = {.linked = linked, .groups = groups, .host = host};
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, io_outfile_form_of(path), &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = ours_write_file(&ours, file, path, err);
    return io_outfile_end(file, status, err);
}
