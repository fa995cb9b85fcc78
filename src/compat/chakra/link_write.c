/* SPDX-License-Identifier: Apache-2.0 */
/* The linked trace, node by node from the host file (spec chakra §6.9): a host node with its new id and times, then its
 * kernels, each a copy of the host node with the kernel's name and times. Nodes are in order of their new ids, because
 * that is how those were given. */
#include "compat/chakra/link_parts.h"
#include "convert/pytorch/hdt/write.h"

enum { EDITS_MAX = 16 };

struct edits {
    struct hdt_edit items[EDITS_MAX];
    unsigned count;
};

static struct hdt_edit *edit(struct edits *edits, const char *key, enum hdt_kind kind)
{
    struct hdt_edit *at = &edits->items[edits->count++];
    *at = (struct hdt_edit){.key = key, .kind = kind};
    return at;
}

static void edit_integer(struct edits *edits, const char *key, uint64_t value)
{
    edit(edits, key, HDT_INTEGER)->to.integer = (int64_t)value;
}

static void edit_text(struct edits *edits, const char *key, const char *text)
{
    struct hdt_edit *at = edit(edits, key, HDT_TEXT);
    at->to.text.bytes = text;
    at->to.text.length = (uint32_t)strlen(text);
}

static void edit_time(struct edits *edits, const char *key, double us, bool is_int)
{
    if (is_int && us > -9e18 && us < 9e18) {
        edit(edits, key, HDT_INTEGER)->to.integer = (int64_t)us;
    } else {
        edit(edits, key, HDT_REAL)->to.real = us;
    }
}

static bool dur_is_int(const struct kineto_event *event)
{
    return (event->has & KINETO_DUR_IS_INT) != 0 || (event->has & KINETO_HAS_DUR) == 0;
}

static void edit_sync(const struct compat_plan *plan, struct edits *edits, uint32_t id)
{
    uint32_t target = 0;
    if (number_map_get(&plan->target_of, id, &target)) {
        struct hdt_edit *at = edit(edits, "sync_dep", HDT_LIST);
        at->to.list.ids = plan->ids + plan->targets[target].first;
        at->to.list.count = plan->targets[target].count;
    }
}

static void edit_dep(const struct compat_plan *plan, struct edits *edits, const struct compat_place *place)
{
    if (place->has_dep) {
        edit_integer(edits, "inter_thread_dep", link_compat_renamed_so_far(plan, place->dep, place->id));
    } else {
        (void)edit(edits, "inter_thread_dep", HDT_NULL);
    }
}

/* A parent that is no node of the file gets an id of its own, one that leads nowhere (spec, bug L10). */
static bool new_parent(struct compat_plan *plan, const struct host_node *node, uint64_t *id)
{
    uint32_t there = plan->next_id;
    if ((node->has & HOST_HAS_PARENT) == 0) {
        plan->null_fresh = plan->null_fresh == 0 ? plan->next_id++ : plan->null_fresh;
        *id = plan->null_fresh;
        return true;
    }
    if (number_map_get(&plan->by_id, (int64_t)node->parent, &there)) {
        *id = plan->places[there].new_id;
        return true;
    }
    if (!number_map_add(&plan->fresh, (int64_t)node->parent, &there)) {
        return false;
    }
    plan->next_id += there == plan->next_id;
    *id = there;
    return true;
}

static bool write_host(struct compat_plan *plan, const struct compat_place *place, const struct json_item *json,
                       struct hdt_writer *writer)
{
    const struct compat *compat = &plan->compat;
    struct edits edits = {.count = 0};
    uint64_t parent = 0;
    edit_integer(&edits, "id", place->new_id);
    if (json_item_member(json, "ctrl_deps") != NULL) {
        if (!new_parent(plan, &compat->host->nodes[place->node], &parent)) {
            return false;
        }
        edit_integer(&edits, "ctrl_deps", parent);
    }
    if (place->op != COMPAT_NONE) {
        const struct compat_op *op = &compat->ops[place->op];
        const struct kineto_event *event = &compat->device->events[op->event];
        edit_time(&edits, "inclusive_dur", event->dur_us, dur_is_int(event));
        edit_time(&edits, "exclusive_dur", op->exclusive_us, op->exclusive_is_int);
        edit_time(&edits, "ts", event->ts_us, (event->has & KINETO_TS_IS_INT) != 0);
        edit_dep(plan, &edits, place);
    }
    edit_sync(plan, &edits, place->new_id);
    hdt_write_node(writer, json, edits.items, edits.count);
    return true;
}

static void edit_stream(const struct compat_plan *plan, struct edits *edits, const struct kineto_event *event)
{
    if ((event->has & KINETO_STREAM_IS_TEXT) != 0) {
        edit_text(edits, "stream", intern_text(&plan->compat.device->names, event->stream_text));
    } else if ((event->has & KINETO_HAS_STREAM) != 0) {
        edit(edits, "stream", HDT_INTEGER)->to.integer = event->stream;
    } else {
        (void)edit(edits, "stream", HDT_NULL);
    }
}

static void link_write_gpu(struct compat_plan *plan, const struct compat_place *place, uint32_t gpu, uint32_t id,
                           const struct json_item *json, struct hdt_writer *writer)
{
    const struct compat *compat = &plan->compat;
    const struct kineto_event *event = &compat->device->events[compat->gpus[gpu].event];
    const struct intern *names = &compat->device->names;
    char ph[2] = {event->ph, '\0'};
    struct edits edits = {.count = 0};
    edit_integer(&edits, "id", id);
    edit_text(&edits, "name", intern_text(names, event->name));
    edit_time(&edits, "inclusive_dur", event->dur_us, dur_is_int(event));
    edit_time(&edits, "exclusive_dur", event->dur_us, dur_is_int(event));
    edit_time(&edits, "ts", event->ts_us, (event->has & KINETO_TS_IS_INT) != 0);
    edit_dep(plan, &edits, place);
    edit_integer(&edits, "ctrl_deps", place->new_id);
    edit_text(&edits, "cat", event->cat == KINETO_KERNEL ? "kernel" : "gpu_memcpy");
    edit_text(&edits, "ph", ph);
    edit_stream(plan, &edits, event);
    if ((event->has & KINETO_HAS_PG_NAME) != 0 && (compat->names[event->name] & COMPAT_NCCL_KERNEL) != 0) {
        edit_text(&edits, "pg_name", intern_text(names, event->pg_name));
    }
    edit_sync(plan, &edits, id);
    hdt_write_node(writer, json, edits.items, edits.count);
}

static enum orr_status link_write_nodes(struct compat_plan *plan, struct hdt_writer *writer)
{
    struct compat *compat = &plan->compat;
    hdt_write_nodes_begin(writer);
    for (uint32_t i = 0; i < compat->host->node_count; i++) {
        const struct compat_place *place = &plan->places[i];
        const struct json_item *json = NULL;
        enum orr_status status = host_node_json(compat->host, place->node, &json, compat->err);
        if (status != ORR_OK) {
            return status;
        }
        if (!write_host(plan, place, json, writer)) {
            return link_compat_no_memory(compat);
        }
        uint32_t id = place->first_gpu;
        for (uint32_t gpu = link_compat_first_gpu(plan, place); gpu != COMPAT_NONE; gpu = compat->gpus[gpu].next) {
            link_write_gpu(plan, place, gpu, id++, json, writer);
        }
        if (ferror(writer->stream) != 0) {
            break; /* committing the file says what it was */
        }
    }
    hdt_write_nodes_end(writer);
    return ORR_OK;
}

/* Of a key written twice, the first place and the last value count, as in a Python dict. NULL: it was written already.
 */
static const struct host_member *member_to_write(const struct host_trace *host, uint32_t at)
{
    const struct host_member *last = &host->members[at];
    for (uint32_t i = 0; i < host->member_count; i++) {
        if (strcmp(host->members[i].key, host->members[at].key) == 0) {
            if (i < at) {
                return NULL;
            }
            last = &host->members[i];
        }
    }
    return last;
}

enum { MEMBERS_CHECKED = 256 }; /* a document with more keys than that is none of PyTorch's */

static enum orr_status write_members(struct compat_plan *plan, struct hdt_writer *writer)
{
    struct compat *compat = &plan->compat;
    struct host_trace *host = compat->host;
    for (uint32_t i = 0; i < host->member_count; i++) {
        enum orr_status status = ORR_OK;
        const struct host_member *member =
            host->member_count > MEMBERS_CHECKED ? &host->members[i] : member_to_write(host, i);
        if (member == NULL) {
            continue;
        }
        if (strcmp(member->key, "nodes") == 0) {
            status = link_write_nodes(plan, writer);
        } else {
            const struct json_item *value = NULL;
            status = json_stream_reread(host->stream, member->offset, member->length, &value, compat->err);
            if (status == ORR_OK) {
                hdt_write_member(writer, member->key, value);
            }
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status write_linked(struct compat_plan *plan, FILE *stream)
{
    struct compat *compat = &plan->compat;
    struct hdt_writer *writer = mem_alloc(compat->mem, sizeof *writer);
    if (writer == NULL) {
        return link_compat_no_memory(compat);
    }
    hdt_write_begin(writer, stream);
    enum orr_status status = write_members(plan, writer);
    if (!hdt_write_end(writer) && status == ORR_OK) {
        status = error_set(compat->err, ORR_EINVAL, "%s: values are nested more than %d deep",
                           json_stream_path(compat->host->stream), HDT_DEPTH);
    }
    mem_free(compat->mem, writer, sizeof *writer);
    return status;
}

enum orr_status link_compat_write(struct compat_plan *plan, const char *path, enum io_outfile_form form)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, form, &file, plan->compat.err);
    if (status != ORR_OK) {
        return status;
    }
    status = write_linked(plan, io_outfile_stream(file));
    if (status != ORR_OK) {
        io_outfile_abort(file);
        return status;
    }
    return io_outfile_commit(file, plan->compat.err);
}
