/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is decided and checked while the nodes are added; writing then only encodes, so that a bad workload leaves
 * no file at all. Groups are arithmetic on ranks, not lists: the lists exist only while the group file is written. */
#include "convert/text/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/rank_path.h"
#include "io/json_write.h"
#include "io/outfile.h"

void work_init(struct work *work, struct mem *mem)
{
    *work = (struct work){.mem = mem, .version = ""};
    arena_init(&work->arena, mem);
}

void work_free(struct work *work)
{
    mem_free(work->mem, work->nodes, work->node_capacity * sizeof *work->nodes);
    mem_free(work->mem, work->deps, work->dep_capacity * sizeof *work->deps);
    arena_free(&work->arena);
}

enum orr_status work_add(struct work *work, const struct work_node *node, const uint32_t *deps, uint32_t dep_count,
                         uint32_t *place, struct orr_error *err)
{
    if (work->node_count == WORK_NONE - 1 || work->dep_count > UINT32_MAX - dep_count) {
        return error_set(err, ORR_ERANGE, "the workload has more than %" PRIu32 " nodes or dependencies", UINT32_MAX);
    }
    if (!MEM_GROW(work->mem, work->nodes, work->node_capacity, work->node_count) ||
        !MEM_RESERVE(work->mem, work->deps, work->dep_capacity, (uint64_t)work->dep_count + dep_count)) {
        return mem_error(work->mem, "a workload's nodes", err);
    }
    struct work_node *added = &work->nodes[work->node_count];
    *added = *node;
    added->first_dep = work->dep_count;
    added->dep_count = dep_count;
    for (uint32_t i = 0; i < dep_count; i++) {
        work->deps[work->dep_count++] = deps[i];
    }
    *place = work->node_count++;
    return ORR_OK;
}

/* ---- groups ---- */

void work_group_ids(const struct work *work, uint32_t ranks, struct work_group_ids *ids)
{
    bool used[WORK_GROUPS] = {false};
    for (uint32_t i = 0; i < work->node_count; i++) {
        used[work->nodes[i].group] = used[work->nodes[i].group] || work->nodes[i].type == TRACE_COLL;
    }
    uint32_t next = 1;
    *ids = (struct work_group_ids){{0}};
    for (unsigned kind = WORK_TP; kind < WORK_GROUPS; kind++) {
        const struct work_layout *layout = &work->layouts[kind];
        if ((used[kind] || work->streams) && work_layout_is_proper(layout, ranks + work->idle)) {
            ids->first[kind] = next;
            next += ranks / work_layout_size(layout);
        }
    }
}

void work_groups_put(const struct work *work, uint32_t ranks, FILE *stream)
{
    struct work_group_ids ids;
    struct json_writer json;
    work_group_ids(work, ranks, &ids);
    json_write_document(&json, stream);
    for (unsigned kind = WORK_TP; kind < WORK_GROUPS; kind++) {
        const struct work_layout *layout = &work->layouts[kind];
        for (uint32_t group = 0; ids.first[kind] != 0 && group < ranks / work_layout_size(layout); group++) {
            char key[16];
            (void)snprintf(key, sizeof key, "%" PRIu32, ids.first[kind] + group);
            json_write_member_array(&json, key, true);
            for (uint32_t member = 0; member < work_layout_size(layout); member++) {
                json_write_u64(&json, work_layout_member(layout, group, member));
            }
            json_write_array_end(&json);
        }
    }
    json_write_document_end(&json);
}

bool work_has_groups(const struct work *work, uint32_t ranks)
{
    struct work_group_ids ids;
    bool grouped = false;
    work_group_ids(work, ranks, &ids);
    for (unsigned kind = WORK_TP; kind < WORK_GROUPS; kind++) {
        grouped = grouped || ids.first[kind] != 0;
    }
    return grouped;
}

/* ---- files ---- */

struct rank_file {
    const struct work *work;
    const struct work_group_ids *ids;
    struct et_writer *writer;
    uint64_t *deps; /* room for those of any node */
    uint64_t first_id;
    uint32_t rank, ranks;
};

static void write_comm(const struct rank_file *file, const struct work_node *node)
{
    struct et_writer *writer = file->writer;
    et_attr_int64(writer, "comm_type", node->comm_type);
    et_attr_int64(writer, "comm_size", node->comm_bytes);
    if (file->ids->first[node->group] != 0) {
        char group[16];
        (void)snprintf(group, sizeof group, "%" PRIu32,
                       file->ids->first[node->group] +
                           work_layout_group(&file->work->layouts[node->group], file->rank));
        et_attr_string(writer, "pg_name", et_text(group));
    }
    if (node->dims != WORK_ALL_DIMS) {
        bool dims[WORK_DIMS];
        for (unsigned d = 0; d < WORK_DIMS; d++) {
            dims[d] = (node->dims >> d & 1) != 0;
        }
        et_attr_bool_list(writer, "involved_dim", dims, WORK_DIMS);
    }
}

static void write_message(const struct rank_file *file, const struct work_node *node)
{
    struct et_writer *writer = file->writer;
    int32_t own = (int32_t)file->rank;
    int32_t other = (int32_t)((int64_t)file->rank + node->peer);
    bool sends = node->type == TRACE_SEND;
    et_attr_int64(writer, "comm_size", node->comm_bytes);
    et_attr_int32(writer, "comm_src", sends ? own : other);
    et_attr_int32(writer, "comm_dst", sends ? other : own);
    et_attr_int32(writer, "comm_tag", (int32_t)node->tag);
}

static enum orr_status text_work_write_node(const struct rank_file *file, uint32_t place, struct orr_error *err)
{
    const struct work *work = file->work;
    const struct work_node *node = &work->nodes[place];
    for (uint32_t i = 0; i < node->dep_count; i++) {
        file->deps[i] = file->first_id + work->deps[node->first_dep + i];
    }
    et_node_begin(file->writer, file->first_id + place, et_text(node->name), (enum trace_node_type)node->type);
    et_node_data_deps(file->writer, file->deps, node->dep_count);
    et_node_times(file->writer, 0, node->duration_us);
    if (!work->plain) {
        et_attr_bool(file->writer, "is_cpu_op", work->streams && node->stream == WORK_HOST);
    }
    if (work->streams && node->stream != WORK_HOST) {
        et_attr_int64(file->writer, "stream", node->stream);
    }
    if (node->num_ops + node->tensor_bytes > 0) {
        et_attr_int64(file->writer, "num_ops", (int64_t)node->num_ops);
        et_attr_uint64(file->writer, "tensor_size", node->tensor_bytes);
    }
    if (node->type == TRACE_COLL) {
        write_comm(file, node);
    } else if (node->type != TRACE_COMP) {
        write_message(file, node);
    }
    return et_record_end(file->writer, err);
}

static enum orr_status write_records(const struct rank_file *file, struct orr_error *err)
{
    const struct work *work = file->work;
    et_metadata_begin(file->writer, et_text(work->version));
    if (work->schema != NULL) {
        et_attr_string(file->writer, "schema", et_text(work->schema));
    }
    if (work->input_file.text != NULL) {
        et_attr_string(file->writer, "input_file", work->input_file);
    }
    if (work->streams) {
        et_attr_string(file->writer, TRACE_POLICY_KEY, et_text(TRACE_POLICY_STREAMS));
    }
    enum orr_status status = et_record_end(file->writer, err);
    for (uint32_t place = 0; place < work->node_count && status == ORR_OK; place++) {
        status = text_work_write_node(file, place, err);
    }
    return status;
}

static enum orr_status text_work_write_rank(struct rank_file *file, const char *prefix, struct orr_error *err)
{
    char path[RANK_PATH_ROOM];
    enum orr_status status = ORR_OK;
    if (!file->work->plain) {
        status = rank_path_make(prefix, file->rank, file->ranks, path, err);
    } else if (snprintf(path, sizeof path, "%s.%" PRIu32 ".et", prefix, file->rank) >= RANK_PATH_ROOM) {
        status = error_set(err, ORR_EINVAL, "the output's path is longer than %d bytes", RANK_PATH_ROOM - 1);
    }
    if (status == ORR_OK) {
        status = et_writer_open(path, file->work->mem, &file->writer, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    status = write_records(file, err);
    if (status != ORR_OK) {
        et_writer_abort(file->writer);
        return status;
    }
    return et_writer_commit(file->writer, err);
}

void work_count(const struct work *work, struct convert_summary *summary)
{
    summary->files++;
    summary->nodes += work->node_count;
    for (uint32_t i = 0; i < work->node_count; i++) {
        const struct work_node *node = &work->nodes[i];
        summary->compute += node->type == TRACE_COMP;
        summary->collectives += node->type == TRACE_COLL;
        summary->sends += node->type == TRACE_SEND;
        summary->recvs += node->type == TRACE_RECV;
        summary->comm_bytes += node->type == TRACE_COMP ? 0 : (uint64_t)node->comm_bytes;
    }
}

/* Dependencies of the node that has most. */
static uint32_t text_work_deps_most(const struct work *work)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < work->node_count; i++) {
        most = work->nodes[i].dep_count > most ? work->nodes[i].dep_count : most;
    }
    return most;
}

enum orr_status work_write_ranks(const struct work *work, const char *prefix, uint32_t first, uint32_t end,
                                 uint32_t ranks, struct convert_summary *summary, struct orr_error *err)
{
    struct work_group_ids ids;
    uint32_t most = text_work_deps_most(work);
    work_group_ids(work, ranks, &ids);
    struct rank_file file = {.work = work, .ids = &ids, .ranks = ranks};
    file.deps = mem_alloc(work->mem, most * sizeof *file.deps);
    if (file.deps == NULL) {
        return mem_error(work->mem, "a node's dependencies", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t rank = first; rank < end && status == ORR_OK; rank++) {
        file.rank = rank;
        file.first_id = work->plain ? (uint64_t)rank * work->node_count : 0;
        status = text_work_write_rank(&file, prefix, err);
        work_count(work, summary);
    }
    mem_free(work->mem, file.deps, most * sizeof *file.deps);
    return status;
}

enum orr_status work_write_stream(const struct work *work, FILE *stream, uint32_t rank, uint32_t ranks,
                                  struct orr_error *err)
{
    struct work_group_ids ids;
    uint32_t most = text_work_deps_most(work);
    work_group_ids(work, ranks, &ids);
    struct rank_file file = {.work = work, .ids = &ids, .rank = rank, .ranks = ranks};
    file.deps = mem_alloc(work->mem, most * sizeof *file.deps);
    enum orr_status status = file.deps == NULL ? mem_error(work->mem, "a node's dependencies", err)
                                               : et_writer_open_stream(stream, work->mem, &file.writer, err);
    if (status == ORR_OK) {
        status = write_records(&file, err);
        et_writer_abort(file.writer);
    }
    mem_free(work->mem, file.deps, most * sizeof *file.deps);
    return status;
}

enum orr_status work_write_groups(const struct work *work, const char *prefix, uint32_t ranks, struct orr_error *err)
{
    char *path = NULL;
    struct io_outfile *file = NULL;
    int length = (int)(work->plain ? strlen(prefix) : rank_path_prefix(prefix));
    if (!work_has_groups(work, ranks)) {
        return ORR_OK;
    }
    if (asprintf(&path, "%.*s.groups.json", length, prefix) < 0) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", prefix);
    }
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    free(path);
    if (status != ORR_OK) {
        return status;
    }
    work_groups_put(work, ranks, io_outfile_stream(file));
    return io_outfile_commit(file, err);
}

enum orr_status work_write(const struct work *work, const char *prefix, uint32_t ranks, struct convert_summary *summary,
                           struct orr_error *err)
{
    struct convert_summary sum = {0};
    enum orr_status status = work_write_ranks(work, prefix, 0, ranks, ranks, &sum, err);
    status = status == ORR_OK ? work_write_groups(work, prefix, ranks, err) : status;
    if (status == ORR_OK) {
        *summary = sum;
    }
    return status;
}
