/* SPDX-License-Identifier: Apache-2.0 */
/* Only the keys that are ours are looked at; they say everything. A file that was changed by hand may say anything, so
 * every number is checked before it is used as a place. */
#include <inttypes.h>
#include <string.h>

#include "convert/pytorch/hdt/ours.h"
#include "io/json_stream.h"

struct reader {
    struct linked_trace *linked;
    struct comm_groups *groups;
    struct json_stream *stream;
    const char *path;
    int64_t base; /* id of the first node, minus its index; -1 before that */
    uint32_t group_count;
    uint32_t *found; /* by group of the file: in groups */
};

static enum orr_status ours_read_fail(const struct reader *reader, const struct json_part *part, const char *key,
                                      const char *wanted, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%s\" must be %s", reader->path,
                     json_stream_line(reader->stream, part->offset), key, wanted);
}

static enum orr_status ours_read_refused(const struct reader *reader, struct orr_error *err)
{
    return mem_error(reader->linked->mem, reader->path, err);
}

static bool get_i64(const struct json_item *object, const char *key, int64_t *value)
{
    const struct json_item *item = json_item_member(object, key);
    if (item == NULL || item->kind != JSON_ITEM_INT) {
        return false;
    }
    *value = item->value.integer;
    return true;
}

static bool get_below(const struct json_item *object, const char *key, uint64_t limit, uint32_t *value)
{
    int64_t number = 0;
    if (!get_i64(object, key, &number) || number < 0 || (uint64_t)number >= limit) {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

static bool get_text(struct linked_trace *linked, const struct json_item *object, const char *key, uint32_t *number)
{
    const struct json_item *item = json_item_member(object, key);
    *number = 0;
    return item == NULL || item->kind != JSON_ITEM_STRING ||
           intern_add(&linked->names, item->text, item->length, number);
}

/* ---- the head ---- */

static const struct json_item *list_of(const struct json_item *object, const char *key)
{
    const struct json_item *item = json_item_member(object, key);
    return item != NULL && item->kind == JSON_ITEM_ARRAY ? item : NULL;
}

static enum orr_status read_lanes(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    const struct json_item *list = list_of(part->item, "lanes");
    if (list == NULL) {
        return ours_read_fail(reader, part, "lanes", "a list", err);
    }
    for (const struct json_item *at = json_item_first(list); at != json_item_end(list); at = json_item_next(at)) {
        struct linked_lane lane = {.stream = -1};
        lane.is_device = get_i64(at, "stream", &lane.stream);
        if (!get_text(linked, at, "text", &lane.text) ||
            !MEM_GROW(linked->mem, linked->lanes, linked->lane_capacity, linked->lane_count)) {
            return ours_read_refused(reader, err);
        }
        linked->lanes[linked->lane_count++] = lane;
    }
    return ORR_OK;
}

static enum orr_status ours_read_steps(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    const struct json_item *list = list_of(part->item, "steps");
    if (list == NULL) {
        return ours_read_fail(reader, part, "steps", "a list", err);
    }
    for (const struct json_item *at = json_item_first(list); at != json_item_end(list); at = json_item_next(at)) {
        struct linked_step step = {0};
        if (!get_i64(at, "number", &step.number) || !get_i64(at, "start_ns", &step.start_ns) ||
            !get_i64(at, "end_ns", &step.end_ns)) {
            return ours_read_fail(reader, part, "steps", "a list of {number, start_ns, end_ns}", err);
        }
        if (!MEM_GROW(linked->mem, linked->steps, linked->step_capacity, linked->step_count)) {
            return ours_read_refused(reader, err);
        }
        linked->steps[linked->step_count++] = step;
    }
    return ORR_OK;
}

static enum orr_status ours_read_group(struct reader *reader, const struct json_part *part,
                                       const struct json_item *group, uint32_t *name, struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    const struct json_item *list = list_of(group, "ranks");
    uint32_t text = 0;
    uint32_t count = 0;
    uint64_t room = list == NULL ? 1 : list->span;
    int64_t *ranks = mem_alloc(linked->mem, (size_t)room * sizeof *ranks);
    if (ranks == NULL) {
        return ours_read_refused(reader, err);
    }
    enum orr_status status = ORR_OK;
    if (!get_text(linked, group, "name", name) || !get_text(linked, group, "text", &text)) {
        status = ours_read_refused(reader, err);
    }
    for (const struct json_item *at = list == NULL ? NULL : json_item_first(list);
         status == ORR_OK && at != NULL && at != json_item_end(list); at = json_item_next(at)) {
        if (at->kind != JSON_ITEM_INT || at->value.integer < 0 || at->value.integer > INT32_MAX) {
            status = ours_read_fail(reader, part, "ranks", "a list of ranks", err);
        } else {
            ranks[count++] = at->value.integer;
        }
    }
    if (status == ORR_OK) {
        /* Texts move when one is added: taken last. */
        status = comm_groups_add_list(reader->groups, linked->rank, intern_text(&linked->names, *name),
                                      intern_text(&linked->names, text), list == NULL ? NULL : ranks, count,
                                      reader->path, err);
    }
    mem_free(linked->mem, ranks, (size_t)room * sizeof *ranks);
    return status;
}

static enum orr_status ours_read_groups(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    const struct json_item *list = list_of(part->item, "groups");
    if (list == NULL) {
        return ours_read_fail(reader, part, "groups", "a list", err);
    }
    reader->group_count = 0;
    for (const struct json_item *at = json_item_first(list); at != json_item_end(list); at = json_item_next(at)) {
        reader->group_count++;
    }
    reader->found = mem_alloc(linked->mem, ((size_t)reader->group_count + 1) * sizeof *reader->found);
    if (reader->found == NULL) {
        return ours_read_refused(reader, err);
    }
    enum orr_status status = ORR_OK;
    uint32_t index = 0;
    for (const struct json_item *at = json_item_first(list); status == ORR_OK && at != json_item_end(list);
         at = json_item_next(at)) {
        status = ours_read_group(reader, part, at, &reader->found[index++], err);
    }
    if (status == ORR_OK) {
        status = comm_groups_settle(reader->groups, 1, err);
    }
    for (uint32_t i = 0; i < reader->group_count && status == ORR_OK; i++) {
        reader->found[i] =
            comm_groups_find(reader->groups, linked->rank, intern_text(&linked->names, reader->found[i]));
    }
    return status;
}

static enum orr_status ours_read_head(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    int64_t version = 0;
    int64_t world = 0;
    const struct json_item *times = json_item_member(part->item, "has_times");
    if (!get_i64(part->item, "version", &version) || version != HDT_OURS_VERSION) {
        return ours_read_fail(reader, part, "version", "1: the file is of another Orrery", err);
    }
    if (!get_i64(part->item, "rank", &linked->rank) || linked->rank < -1 || linked->rank > INT32_MAX) {
        return ours_read_fail(reader, part, "rank", "a rank, or -1", err);
    }
    if (!get_i64(part->item, "world_size", &world) || world < 0 || world > INT32_MAX) {
        return ours_read_fail(reader, part, "world_size", "a number of ranks", err);
    }
    linked->has_times = times != NULL && times->kind == JSON_ITEM_TRUE;
    reader->groups->world_size = (uint32_t)world;
    if (!get_text(linked, part->item, "schema", &linked->schema)) {
        return ours_read_refused(reader, err);
    }
    enum orr_status status = read_lanes(reader, part, err);
    if (status == ORR_OK) {
        status = ours_read_steps(reader, part, err);
    }
    return status == ORR_OK ? ours_read_groups(reader, part, err) : status;
}

/* ---- nodes ---- */

static bool ours_read_is_time(int64_t ns)
{
    return ns > -(INT64_C(1) << 53) && ns < INT64_C(1) << 53;
}

static bool get_kind(const struct json_item *node, uint8_t *kind)
{
    static const char *const words[] = {
#define LINKED_X(id, word) word,
        LINKED_KINDS(LINKED_X)
#undef LINKED_X
    };
    const struct json_item *item = json_item_member(node, "orr_kind");
    for (uint8_t i = 0; item != NULL && i < LINKED_KIND_COUNT; i++) {
        if (json_item_is(item, words[i])) {
            *kind = i;
            return true;
        }
    }
    return false;
}

static bool get_provenance(const struct json_item *node, const char *key, enum provenance *from)
{
    const struct json_item *item = json_item_member(node, key);
    for (int i = 0; item != NULL && i < PROVENANCE_COUNT; i++) {
        if (json_item_is(item, provenance_name((enum provenance)i))) {
            *from = (enum provenance)i;
            return true;
        }
    }
    return false;
}

static enum orr_status ours_read_comm(struct reader *reader, const struct json_part *part, struct linked_node *node,
                                      struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    struct comm_fact fact = {.group = COMM_GROUP_NONE, .root = -1, .src = -1, .dst = -1};
    const struct json_item *item = part->item;
    uint32_t kind = 0;
    int64_t bytes = 0;
    if (json_item_member(item, "orr_comm") == NULL) {
        return ORR_OK;
    }
    if (!get_below(item, "orr_comm", COMM_UNKNOWN, &kind)) {
        return ours_read_fail(reader, part, "orr_comm", "a number from 0 to 11", err);
    }
    fact.kind = (enum comm_kind)kind;
    if (!get_provenance(item, "orr_type_from", &fact.type_from) ||
        !get_provenance(item, "orr_size_from", &fact.size_from)) {
        return ours_read_fail(reader, part, "orr_type_from\" and \"orr_size_from",
                              "words of `trace stat parameter 'provenance'`", err);
    }
    if (json_item_member(item, "orr_peer_from") != NULL && !get_provenance(item, "orr_peer_from", &fact.peer_from)) {
        return ours_read_fail(reader, part, "orr_peer_from", "a word of `trace stat parameter 'provenance'`", err);
    }
    if (fact.size_from != PROVENANCE_GIVEN && (!get_i64(item, "orr_bytes", &bytes) || bytes < 0)) {
        return ours_read_fail(reader, part, "orr_bytes", "a size", err);
    }
    fact.bytes = (uint64_t)bytes;
    if (json_item_member(item, "orr_group") != NULL) {
        if (!get_below(item, "orr_group", reader->group_count, &fact.group)) {
            return ours_read_fail(reader, part, "orr_group", "one of the document's groups", err);
        }
        fact.group = reader->found[fact.group];
    }
    if (!get_i64(item, "orr_root", &fact.root) || !get_i64(item, "orr_src", &fact.src) ||
        !get_i64(item, "orr_dst", &fact.dst) || fact.src > INT32_MAX || fact.dst > INT32_MAX ||
        ((kind == COMM_SEND || kind == COMM_RECV) && (fact.src < 0 || fact.dst < 0))) {
        return ours_read_fail(reader, part, "orr_root\", \"orr_src\" and \"orr_dst", "ranks, or -1", err);
    }
    if (!MEM_GROW(linked->mem, linked->comms, linked->comm_capacity, linked->comm_count)) {
        return ours_read_refused(reader, err);
    }
    node->comm = linked->comm_count;
    linked->comms[linked->comm_count++] = fact;
    return ORR_OK;
}

static enum orr_status ours_read_deps(struct reader *reader, const struct json_part *part, struct linked_node *node,
                                      struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    const struct json_item *list = list_of(part->item, "orr_deps");
    if (list == NULL) {
        return ours_read_fail(reader, part, "orr_deps", "a list of ids", err);
    }
    node->first_dep = linked->dep_count;
    for (const struct json_item *at = json_item_first(list); at != json_item_end(list); at = json_item_next(at)) {
        int64_t from = at->kind == JSON_ITEM_INT ? at->value.integer : -1;
        uint32_t last = node->dep_count > 0 ? linked->deps[linked->dep_count - 1] + 1 : 0;
        if (from < reader->base || from - reader->base < last || from - reader->base >= linked->node_count) {
            return ours_read_fail(reader, part, "orr_deps", "ids of nodes before this one, ascending", err);
        }
        if (!MEM_GROW(linked->mem, linked->deps, linked->dep_capacity, linked->dep_count)) {
            return ours_read_refused(reader, err);
        }
        linked->deps[linked->dep_count++] = (uint32_t)(from - reader->base);
        node->dep_count++;
    }
    return ORR_OK;
}

static enum orr_status read_place(struct reader *reader, const struct json_part *part, struct linked_node *node,
                                  struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    int64_t id = 0;
    int64_t parent = -1;
    uint32_t step = 0;
    if (!get_i64(part->item, "id", &id) || id < 0 || id > UINT32_MAX) {
        return ours_read_fail(reader, part, "id", "a whole number", err);
    }
    reader->base = reader->base < 0 ? id : reader->base;
    if (id - reader->base != linked->node_count || linked->node_count == LINKED_NONE - 1) {
        return ours_read_fail(reader, part, "id", "one more than that of the node before", err);
    }
    if (!get_below(part->item, "orr_lane", linked->lane_count, &node->lane)) {
        return ours_read_fail(reader, part, "orr_lane", "one of the document's lanes", err);
    }
    if (json_item_member(part->item, "orr_step") != NULL) {
        if (!get_below(part->item, "orr_step", linked->step_count, &step)) {
            return ours_read_fail(reader, part, "orr_step", "one of the document's steps", err);
        }
        node->step = (int32_t)step;
    }
    if (get_i64(part->item, "orr_parent", &parent)) {
        if (parent < reader->base || parent >= id) {
            return ours_read_fail(reader, part, "orr_parent", "the id of a node before this one", err);
        }
        node->parent = (uint32_t)(parent - reader->base);
    }
    return ORR_OK;
}

static enum orr_status ours_read_node(struct reader *reader, const struct json_part *part, struct orr_error *err)
{
    struct linked_trace *linked = reader->linked;
    struct linked_node node = {.parent = LINKED_NONE, .comm = LINKED_NONE, .host = LINKED_NONE, .step = -1};
    if (json_item_member(part->item, "orr_kind") == NULL) {
        return ORR_OK; /* the process and its threads */
    }
    if (!get_kind(part->item, &node.kind)) {
        return ours_read_fail(reader, part, "orr_kind", "op, rest, gap, device, comm-op or comm-bare", err);
    }
    if (!get_i64(part->item, "orr_start_ns", &node.start_ns) ||
        !get_i64(part->item, "orr_duration_ns", &node.duration_ns) || !get_i64(part->item, "orr_rf_id", &node.rf_id) ||
        !ours_read_is_time(node.start_ns) || !ours_read_is_time(node.duration_ns)) {
        return ours_read_fail(reader, part, "orr_start_ns\", \"orr_duration_ns\" and \"orr_rf_id",
                              "whole numbers, the times below 2^53", err);
    }
    enum orr_status status = read_place(reader, part, &node, err);
    if (status == ORR_OK) {
        status = ours_read_deps(reader, part, &node, err);
    }
    if (status == ORR_OK) {
        status = ours_read_comm(reader, part, &node, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (!get_text(linked, part->item, "name", &node.name) ||
        !MEM_GROW(linked->mem, linked->nodes, linked->node_capacity, linked->node_count)) {
        return ours_read_refused(reader, err);
    }
    linked->nodes[linked->node_count++] = node;
    return ORR_OK;
}

static enum orr_status ours_read_parts(struct reader *reader, bool *is_ours, struct orr_error *err)
{
    struct json_part part;
    bool more = true;
    enum orr_status status = json_stream_next(reader->stream, &part, &more, err);
    for (; status == ORR_OK && more; status = json_stream_next(reader->stream, &part, &more, err)) {
        if (!part.is_element && strcmp(part.key, "orrery") == 0 && part.item != NULL &&
            part.item->kind == JSON_ITEM_OBJECT && !*is_ours) {
            *is_ours = true;
            status = ours_read_head(reader, &part, err);
        } else if (part.is_element && strcmp(part.key, "nodes") == 0) {
            if (!*is_ours) {
                return ORR_OK; /* ours has its head before its nodes */
            }
            status = ours_read_node(reader, &part, err);
        }
        if (status != ORR_OK) {
            break;
        }
    }
    return status;
}

enum orr_status hdt_ours_read(const char *path, struct mem *mem, struct linked_trace *linked,
                              struct comm_groups *groups, bool *is_ours, struct orr_error *err)
{
    static const char *const arrays[] = {"nodes", NULL};
    struct reader reader = {.linked = linked, .groups = groups, .path = path, .base = -1};
    linked_init(linked, mem);
    *is_ours = false;
    enum orr_status status = json_stream_open(path, arrays, 0, mem, &reader.stream, err);
    if (status == ORR_OK) {
        status = ours_read_parts(&reader, is_ours, err);
        /* A broken host trace is for its own reader, which repairs some. */
        status = *is_ours || status != ORR_EINVAL ? status : ORR_OK;
    }
    json_stream_close(reader.stream);
    mem_free(mem, reader.found, ((size_t)reader.group_count + 1) * sizeof *reader.found);
    if (status != ORR_OK) {
        linked_free(linked);
    }
    return status;
}
