/* SPDX-License-Identifier: Apache-2.0 */
/* Every column is packed in one buffer, which grows to the longest and is used again, and handed to the writer as text.
 */
#include "report/columns.h"

#include <string.h>

#include "base/intern.h"
#include "io/json_write.h"
#include "report/rows.h"
#include "report/waits.h"

struct columns {
    const struct sim_result *result;
    struct report_lanes lanes;
    struct report_waits waits;
    struct intern names, types;
    bool *kept;      /* by rank */
    uint32_t *place; /* places that are shown, in order */
    uint32_t *shown; /* by place: its index among those shown; UINT32_MAX: not */
    uint32_t *name;  /* by index among those shown */
    uint32_t *type;
    uint32_t count;
    uint32_t left_out; /* ranks */
    struct mem *mem;
    void *bytes; /* the column being packed */
    size_t size, capacity;
    void *text;
    size_t text_capacity;
    bool refused;
};

/* ---- numbers as text ---- */

static void columns_put(struct columns *columns, uint64_t value)
{
    if (columns->refused || !mem_reserve_bytes(columns->mem, &columns->bytes, &columns->capacity, columns->size, 10)) {
        columns->refused = true;
        return;
    }
    uint8_t *at = (uint8_t *)columns->bytes + columns->size;
    for (; value > 127; value >>= 7) {
        *at++ = (uint8_t)(value & 127) | 128;
    }
    *at++ = (uint8_t)value;
    columns->size = (size_t)(at - (uint8_t *)columns->bytes);
}

/* Small numbers of either sign stay small: 0, -1, 1, -2 … */
static void columns_put_signed(struct columns *columns, int64_t value)
{
    columns_put(columns, value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1);
}

static void columns_write(struct columns *columns, struct json_writer *json, const char *key)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = (columns->size + 2) / 3 * 4;
    if (columns->refused || !mem_reserve_bytes(columns->mem, &columns->text, &columns->text_capacity, 0, length + 1)) {
        columns->refused = true;
        return;
    }
    const uint8_t *from = columns->bytes;
    char *to = columns->text;
    for (size_t i = 0; i < columns->size; i += 3) {
        size_t left = columns->size - i;
        uint32_t three = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)from[i + 2] : 0);
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[three & 63] : '=';
    }
    *to = '\0';
    json_write_member_string(json, key, columns->text);
    columns->size = 0;
}

/* ---- what is shown ---- */

static const struct sim_interval *columns_interval(const struct columns *columns, uint32_t index)
{
    return &columns->result->intervals[columns->waits.order[columns->place[index]]];
}

static const struct trace_rank *columns_rank(const struct columns *columns, const struct sim_interval *interval)
{
    return &columns->result->config->traces->ranks[interval->rank];
}

static void columns_choose_ranks(struct columns *columns, uint32_t most)
{
    const struct sim_result *result = columns->result;
    uint32_t every = result->interval_count / most + 1;
    uint32_t last = 0;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        columns->kept[rank] = rank % every == 0;
        last = sim_result_rank(result, rank)->finish_ns > sim_result_rank(result, last)->finish_ns ? rank : last;
    }
    columns->kept[last] = true;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        columns->left_out += columns->kept[rank] ? 0 : 1;
    }
}

static enum orr_status columns_choose(struct columns *columns, uint32_t most, struct orr_error *err)
{
    struct arena *arena = &columns->waits.arena;
    uint32_t count = columns->waits.count;
    columns->kept = arena_zalloc(arena, columns->result->rank_count * sizeof *columns->kept);
    columns->place = arena_alloc(arena, count * sizeof *columns->place);
    columns->shown = arena_alloc(arena, count * sizeof *columns->shown);
    columns->name = arena_alloc(arena, count * sizeof *columns->name);
    columns->type = arena_alloc(arena, count * sizeof *columns->type);
    if (columns->kept == NULL || columns->place == NULL || columns->shown == NULL || columns->name == NULL ||
        columns->type == NULL) {
        return mem_error(columns->mem, "the columns of the timeline", err);
    }
    columns_choose_ranks(columns, most);
    for (uint32_t place = 0; place < count; place++) {
        const struct sim_interval *interval = &columns->result->intervals[columns->waits.order[place]];
        columns->shown[place] = columns->kept[interval->rank] ? columns->count : UINT32_MAX;
        if (columns->kept[interval->rank]) {
            columns->place[columns->count++] = place;
        }
    }
    return ORR_OK;
}

/* How a node is coloured. */
static const char *columns_class(const struct trace_node *node)
{
    if (node->type >= TRACE_SEND) {
        return "comm";
    }
    return node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE ? "memory"
           : node->is_cpu_op != 0                                        ? "cpu"
                                                                         : "compute";
}

/* A type is its word and its class: "compute" of the host and of the device are two. */
static enum orr_status columns_name(struct columns *columns, struct orr_error *err)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct sim_interval *interval = columns_interval(columns, i);
        const struct trace_graph *graph = columns_rank(columns, interval)->graph;
        const struct trace_node *node = &graph->nodes[interval->node];
        const char *name = trace_graph_name(graph, interval->node);
        char type[64];
        int length = snprintf(type, sizeof type, "%s\n%s", columns_class(node), report_node_word(node));
        if (!intern_add(&columns->names, name, strlen(name), &columns->name[i]) ||
            !intern_add(&columns->types, type, (size_t)length, &columns->type[i])) {
            return mem_error(columns->mem, "the names of the timeline", err);
        }
    }
    return ORR_OK;
}

/* ---- the document ---- */

static bool columns_new_track(const struct columns *columns, uint32_t index)
{
    return index == 0 || columns_interval(columns, index)->rank != columns_interval(columns, index - 1)->rank ||
           columns->waits.thread[columns->place[index]] != columns->waits.thread[columns->place[index - 1]];
}

static void columns_write_tracks(const struct columns *columns, struct json_writer *json)
{
    json_write_member_array(json, "tracks", false);
    for (uint32_t i = 0, end = 0; i < columns->count; i = end) {
        char name[REPORT_LANE_NAME];
        uint32_t rank = columns_interval(columns, i)->rank;
        for (end = i + 1; end < columns->count && !columns_new_track(columns, end); end++) {
        }
        report_lanes_name(columns->result, rank, columns->waits.thread[columns->place[i]], name);
        json_write_object(json, true);
        json_write_member_u64(json, "rank", rank);
        json_write_member_string(json, "name", name);
        json_write_member_u64(json, "events", end - i);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void columns_write_words(const struct columns *columns, struct json_writer *json)
{
    json_write_member_array(json, "names", false);
    for (uint32_t i = 0; i < intern_count(&columns->names); i++) {
        json_write_string(json, intern_text(&columns->names, i));
    }
    json_write_array_end(json);
    json_write_member_array(json, "types", false);
    for (uint32_t i = 0; i < intern_count(&columns->types); i++) {
        const char *text = intern_text(&columns->types, i);
        const char *word = strchr(text, '\n');
        char class[16];
        (void)snprintf(class, sizeof class, "%.*s", word == NULL ? 0 : (int)(word - text), text);
        json_write_object(json, true);
        json_write_member_string(json, "name", word == NULL ? "" : word + 1);
        json_write_member_string(json, "class", class);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void columns_write_events(struct columns *columns, struct json_writer *json)
{
    uint64_t before = 0;
    json_write_member_object(json, "columns", false);
    for (uint32_t i = 0; i < columns->count; i++) {
        uint64_t start = columns_interval(columns, i)->start_ns;
        columns_put(columns, start - (columns_new_track(columns, i) ? 0 : before));
        before = start;
    }
    columns_write(columns, json, "start");
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct sim_interval *interval = columns_interval(columns, i);
        columns_put(columns, interval->end_ns - interval->start_ns);
    }
    columns_write(columns, json, "duration");
    for (uint32_t i = 0; i < columns->count; i++) {
        columns_put(columns, columns->name[i]);
    }
    columns_write(columns, json, "name");
    for (uint32_t i = 0; i < columns->count; i++) {
        columns_put(columns, columns->type[i]);
    }
    columns_write(columns, json, "type");
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct sim_interval *interval = columns_interval(columns, i);
        const struct trace_node *node = &columns_rank(columns, interval)->graph->nodes[interval->node];
        bool moves = node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE;
        columns_put(columns, node->type >= TRACE_SEND ? node->comm_bytes : moves ? node->tensor_bytes : 0);
    }
    columns_write(columns, json, "bytes");
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct sim_interval *interval = columns_interval(columns, i);
        uint64_t id = trace_rank_node_id(columns_rank(columns, interval), interval->node);
        columns_put_signed(columns, (int64_t)(id - (columns_new_track(columns, i) ? 0 : before)));
        before = id;
    }
    columns_write(columns, json, "node");
    for (uint32_t i = 0; i < columns->count; i++) {
        uint32_t place = columns->place[i];
        int64_t waits =
            columns->waits.late[place] != REPORT_NO_WAIT ? columns->waits.late[place] : columns->waits.own[place];
        bool told = waits != REPORT_NO_WAIT && columns->shown[waits] != UINT32_MAX;
        columns_put_signed(columns, told ? (int64_t)columns->shown[waits] - (int64_t)i : 0);
    }
    columns_write(columns, json, "waits");
    json_write_object_end(json);
}

/* Last part first: which event, how long nothing ran behind it, how long it is. Only whole: where ranks are left out,
 * their parts would be missing. */
static void columns_write_path(struct columns *columns, struct json_writer *json)
{
    const struct report_waits *waits = &columns->waits;
    uint64_t until = columns->result->end_ns;
    int64_t event = 0;
    if (columns->left_out > 0) {
        return;
    }
    json_write_member_object(json, "critical", false);
    json_write_member_u64(json, "parts", waits->path_count);
    for (uint32_t i = 0; i < waits->path_count; i++) {
        columns_put_signed(columns, (int64_t)columns->shown[waits->path[i].event] - event);
        event = columns->shown[waits->path[i].event];
    }
    columns_write(columns, json, "event");
    for (uint32_t i = 0; i < waits->path_count; i++) {
        columns_put(columns, until > waits->path[i].to_ns ? until - waits->path[i].to_ns : 0);
        until = waits->path[i].from_ns;
    }
    columns_write(columns, json, "gap");
    for (uint32_t i = 0; i < waits->path_count; i++) {
        columns_put(columns, waits->path[i].to_ns - waits->path[i].from_ns);
    }
    columns_write(columns, json, "length");
    json_write_object_end(json);
}

static enum orr_status columns_write_document(struct columns *columns, FILE *stream, struct orr_error *err)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_string(&json, "kind", "timeline");
    json_write_member_u64(&json, "schema_version", 1);
    json_write_member_u64(&json, "ranks", columns->result->rank_count);
    json_write_member_u64(&json, "left_out", columns->left_out);
    json_write_member_u64(&json, "time_ns", columns->result->end_ns);
    json_write_member_u64(&json, "events", columns->count);
    columns_write_tracks(columns, &json);
    columns_write_words(columns, &json);
    columns_write_events(columns, &json);
    columns_write_path(columns, &json);
    json_write_document_end(&json);
    return columns->refused ? mem_error(columns->mem, "the columns of the timeline", err) : ORR_OK;
}

enum orr_status report_columns_write(const struct sim_result *result, uint32_t most, FILE *stream,
                                     struct orr_error *err)
{
    if (!result->config->keep_intervals) {
        return error_set(err, ORR_EINVAL, "a timeline needs a run that keeps its intervals; this one did not");
    }
    struct columns columns = {.result = result, .mem = result->config->traces->mem};
    enum orr_status status = report_lanes_make(result, &columns.lanes, err);
    if (status != ORR_OK) {
        return status;
    }
    status = report_waits_make(result, &columns.lanes, &columns.waits, err);
    arena_free(&columns.lanes.arena);
    if (status != ORR_OK) {
        return status;
    }
    intern_init(&columns.names, columns.mem);
    intern_init(&columns.types, columns.mem);
    status = columns_choose(&columns, most, err);
    status = status == ORR_OK ? columns_name(&columns, err) : status;
    status = status == ORR_OK ? columns_write_document(&columns, stream, err) : status;
    mem_free(columns.mem, columns.bytes, columns.capacity);
    mem_free(columns.mem, columns.text, columns.text_capacity);
    intern_free(&columns.names);
    intern_free(&columns.types);
    arena_free(&columns.waits.arena);
    return status;
}
