/* SPDX-License-Identifier: Apache-2.0 */
/* Of a stage's ranks in memory only the first is read from the bytes its file would have; the others are replicas of
 * it with other groups and peers (trace/replicate_graph.h), so that a job's dependencies are held once a stage. */
#include "train/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "io/etz.h"
#include "run/workload_shared.h"
#include "trace/replicate_graph.h"
#include "train/roles.h"

/* What is written at most: more is no file that anyone takes away. */
#define TRACE_WRITE_MOST_BYTES (UINT64_C(16) << 30)
#define TRACE_PACK_MOST_BYTES  (UINT64_C(256) << 30) /* made one after the other; the archive is small */
/* Of a node in a file, about. */
enum { TRACE_NODE_BYTES = 110 };

static struct role_request train_trace_request(const struct predict_job *job, const struct step_layout *layout,
                                               bool merged)
{
    return (struct role_request){.job = &job->job, .layout = layout, .machine = &job->cost, .merged = merged};
}

uint32_t train_trace_busiest(const struct predict_job *job, const struct step_layout *layout)
{
    double most = -1;
    uint32_t busiest = 0;
    for (uint32_t stage = 0; stage < job->plan.pp; stage++) {
        double us = 0;
        for (uint32_t i = 0; i < job->plan.vpp; i++) {
            const struct schedule_chunk *chunk = &layout->chunks[i * job->plan.pp + stage];
            us += chunk->forward + chunk->backward;
        }
        if (us > most) {
            most = us;
            busiest = stage;
        }
    }
    return busiest;
}

/* ---- files ---- */

static enum orr_status train_trace_check_size(const struct predict_job *job, const struct work *work,
                                              const char *prefix, bool archived, struct orr_error *err)
{
    uint64_t each = (uint64_t)work->node_count * TRACE_NODE_BYTES;
    uint64_t most = archived ? TRACE_PACK_MOST_BYTES : TRACE_WRITE_MOST_BYTES;
    uint64_t all = each * job->plan.gpus; /* 2^32 nodes of 2^31 ranks fit 64 bits beside a factor of 2 */
    if (each == 0 || all / each != job->plan.gpus || all > most) {
        return error_set(err, ORR_ERANGE,
                         "%.200s: %" PRIu32 " traces of about %.3g MB each are more than the %.3g GB that are written; "
                         "fewer samples (parameter 'global-batch') or ranks (parameter 'dp') make them less, and so "
                         "does parameter 'merge-kernels'; parameter 'backend' simulates without files",
                         prefix, job->plan.gpus, (double)each * 1e-6, (double)most * 1e-9);
    }
    return ORR_OK;
}

/* What `work` puts into a stream, as bytes of the archive: the trace of a rank, or the groups (`rank` UINT32_MAX). */
static enum orr_status train_trace_pack(const struct work *work, uint32_t rank, uint32_t ranks,
                                        struct etz_writer *archive, struct orr_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&bytes, &size);
    enum orr_status status = stream == NULL ? error_set(err, ORR_ENOMEM, "out of memory for a trace") : ORR_OK;
    if (status == ORR_OK && rank == UINT32_MAX) {
        work_groups_put(work, ranks, stream);
    } else if (status == ORR_OK) {
        status = work_write_stream(work, stream, rank, ranks, err);
    }
    if (stream != NULL && fclose(stream) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory for a trace");
    }
    if (status == ORR_OK) {
        status = rank == UINT32_MAX ? etz_writer_add_side(archive, ".groups.json", (const uint8_t *)bytes, size, err)
                                    : etz_writer_add(archive, (const uint8_t *)bytes, size, err);
    }
    free(bytes);
    return status;
}

/* The file of one rank, or its part of the archive. */
static enum orr_status train_trace_write_rank(const struct work *work, uint32_t rank, uint32_t ranks,
                                              const char *prefix, struct etz_writer *archive,
                                              struct convert_summary *summary, struct orr_error *err)
{
    if (archive == NULL) {
        return work_write_ranks(work, prefix, rank, rank + 1, ranks, summary, err);
    }
    work_count(work, summary);
    return train_trace_pack(work, rank, ranks, archive, err);
}

/* All ranks in their order, whatever stage each has; `works` are those of the stages. */
static enum orr_status train_trace_write_ranks(const struct predict_job *job, const struct work *works,
                                               const char *prefix, struct mem *mem, struct convert_summary *summary,
                                               struct orr_error *err)
{
    uint32_t ranks = job->plan.gpus;
    struct etz_writer *archive = NULL;
    struct etz_counts counts;
    bool archived = etz_is_output(prefix), grouped = work_has_groups(&works[0], ranks);
    enum orr_status status = train_trace_check_size(job, &works[0], prefix, archived, err);
    if (status == ORR_OK && archived) {
        status = etz_writer_open(prefix, mem, &archive, err);
    }
    if (status == ORR_OK && archived && grouped) {
        status = train_trace_pack(&works[0], UINT32_MAX, ranks, archive, err);
    }
    for (uint32_t rank = 0; status == ORR_OK && rank < ranks; rank++) {
        const struct work *work = &works[order_stage_of(&job->plan, rank)];
        status = train_trace_write_rank(work, rank, ranks, prefix, archive, summary, err);
    }
    if (status == ORR_OK && !archived) {
        status = work_write_groups(&works[0], prefix, ranks, err);
    }
    if (status == ORR_OK && archived) {
        return etz_writer_commit(archive, &counts, err);
    }
    etz_writer_abort(archive);
    return status;
}

static enum orr_status train_trace_write(const struct predict_job *job, bool merged, const char *prefix,
                                         struct mem *mem, struct convert_summary *summary, struct orr_error *err)
{
    struct step_layout *layout = NULL;
    uint32_t stages = job->plan.pp;
    struct work *works = NULL;
    enum orr_status status = role_check(&job->plan, err);
    if (status == ORR_OK) {
        status = step_layout_make(&job->cost, &job->job, mem, &layout, err);
    }
    struct role_request request = train_trace_request(job, layout, merged);
    if (status == ORR_OK) {
        works = mem_zalloc(mem, stages * sizeof *works);
        status = works == NULL ? mem_error(mem, "the stages", err) : ORR_OK;
    }
    for (uint32_t stage = 0; works != NULL && stage < stages; stage++) {
        work_init(&works[stage], mem);
        status = status == ORR_OK ? role_build(&request, stage, &works[stage], err) : status;
    }
    if (status == ORR_OK) {
        status = train_trace_write_ranks(job, works, prefix, mem, summary, err);
    }
    for (uint32_t stage = 0; works != NULL && stage < stages; stage++) {
        work_free(&works[stage]);
    }
    mem_free(mem, works, stages * sizeof *works);
    step_layout_free(layout, mem);
    return status;
}

enum orr_status orr_train_write(const struct orr_train_options *options, const char *prefix,
                                struct orr_train_written *written, struct orr_error *err)
{
    struct predict_data *data = NULL;
    struct predict_job job;
    struct convert_summary summary = {0};
    struct mem mem = {.limit = options->memory_limit};
    size_t length = strlen(prefix);
    if (length == 0 || prefix[length - 1] == '/') {
        return error_set(err, ORR_EINVAL, "\"%.200s\" names no file; a prefix such as DIR/step is needed", prefix);
    }
    enum orr_status status = predict_open(&data, err);
    if (status == ORR_OK) {
        status = predict_settle(data, options, &job, err);
    }
    if (status == ORR_OK) {
        status = train_trace_write(&job, options->merge_kernels, prefix, &mem, &summary, err);
    }
    if (status == ORR_OK) {
        *written = (struct orr_train_written){.files = summary.files,
                                              .nodes = summary.nodes,
                                              .collectives = summary.collectives,
                                              .messages = summary.sends,
                                              .roles = job.plan.pp};
    }
    predict_close(data);
    return status;
}

/* ---- memory ---- */

/* How a stage's first rank becomes another. */
struct train_trace_shift {
    int64_t ranks;
};

static uint32_t train_trace_peer(const void *context, uint32_t peer)
{
    return (uint32_t)(peer + ((const struct train_trace_shift *)context)->ranks);
}

/* Which group of each kind is another rank's where the first rank has its own; ascending, as ids of a kind are. */
static uint32_t train_trace_groups_of(const struct work *work, const struct work_group_ids *ids, uint32_t first,
                                      uint32_t rank, struct replica_group groups[WORK_GROUPS])
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < WORK_GROUPS; kind++) {
        if (ids->first[kind] != 0) {
            const struct work_layout *layout = &work->layouts[kind];
            groups[count++] = (struct replica_group){
                .from = (int32_t)(ids->first[kind] + work_layout_group(layout, first)),
                .to = (int32_t)(ids->first[kind] + work_layout_group(layout, rank)),
                .share = {1, 1},
            };
        }
    }
    return count;
}

static enum orr_status train_trace_read_back(const struct work *work, uint32_t rank, uint32_t ranks, struct mem *mem,
                                             struct trace_graph **graph, struct orr_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    if (stream == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a trace");
    }
    enum orr_status status = work_write_stream(work, stream, rank, ranks, err);
    if (fclose(stream) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory for a trace");
    }
    if (status == ORR_OK) {
        status = trace_graph_parse((const uint8_t *)bytes, size, "the step", mem, graph, err);
    }
    free(bytes);
    return status;
}

/* All ranks of a stage. */
static enum orr_status train_trace_load_ranks(const struct predict_job *job, const struct work *work, uint32_t stage,
                                              struct orr_workload *workload, struct orr_error *err)
{
    const struct work_layout stages = order_stages(&job->plan);
    uint32_t block = job->plan.tp * job->plan.cp * job->plan.dp, first = stage * stages.stride;
    struct mem *mem = workload_mem(workload);
    struct work_group_ids ids;
    struct trace_graph *source = NULL;
    work_group_ids(work, job->plan.gpus, &ids);
    enum orr_status status = train_trace_read_back(work, first, job->plan.gpus, mem, &source, err);
    if (status == ORR_OK) {
        workload_give(workload, first, source);
    }
    for (uint32_t i = 1; status == ORR_OK && i < block; i++) {
        uint32_t rank = (uint32_t)work_layout_member(&stages, i, stage);
        struct replica_group groups[WORK_GROUPS];
        const struct train_trace_shift shift = {(int64_t)rank - first};
        const struct scale_factor one = {1, 1};
        struct replica_view view = {.groups = groups,
                                    .whole_share = one,
                                    .comm = one,
                                    .inner = one,
                                    .compute = one,
                                    .peer = train_trace_peer,
                                    .context = &shift};
        struct trace_graph *graph = NULL;
        view.group_count = train_trace_groups_of(work, &ids, first, rank, groups);
        status = replica_graph_make(source, &view, "the step", mem, &graph, err);
        if (status == ORR_OK) {
            workload_give(workload, rank, graph);
        }
    }
    return status;
}

static enum orr_status train_trace_load_groups(const struct predict_job *job, const struct work *work,
                                               struct orr_workload *workload, struct orr_error *err)
{
    struct work_group_ids ids;
    uint32_t count = 0, at = 0, *members = NULL;
    uint64_t all = 0;
    work_group_ids(work, job->plan.gpus, &ids);
    for (uint32_t kind = 0; kind < WORK_GROUPS; kind++) {
        count += ids.first[kind] != 0 ? job->plan.gpus / work_layout_size(&work->layouts[kind]) : 0;
        all += ids.first[kind] != 0 ? job->plan.gpus : 0;
    }
    struct sim_group *groups = workload_groups_make(workload, count, all, &members);
    if (groups == NULL) {
        return mem_error(workload_mem(workload), "the groups of a job", err);
    }
    for (uint32_t kind = 0; kind < WORK_GROUPS; kind++) {
        const struct work_layout *layout = &work->layouts[kind];
        uint32_t size = work_layout_size(layout);
        for (uint32_t i = 0; ids.first[kind] != 0 && i < job->plan.gpus / size; i++) {
            groups[at++] = (struct sim_group){(int32_t)(ids.first[kind] + i), size, members};
            for (uint32_t k = 0; k < size; k++) {
                *members++ = (uint32_t)work_layout_member(layout, i, k);
            }
        }
    }
    return ORR_OK;
}

static enum orr_status train_trace_keep_marks(const struct work *work, struct mem *mem, struct train_trace_marks *marks,
                                              struct orr_error *err)
{
    marks->at = mem_alloc(mem, work->node_count);
    marks->count = work->node_count;
    for (uint32_t i = 0; marks->at != NULL && i < work->node_count; i++) {
        marks->at[i] = work->nodes[i].mark;
    }
    return marks->at != NULL ? ORR_OK : mem_error(mem, "a stage's nodes", err);
}

/* The ranks that the job does not use. */
static enum orr_status train_trace_load_idle(const struct predict_job *job, uint32_t ranks,
                                             struct orr_workload *workload, struct orr_error *err)
{
    struct trace_graph *graph = NULL;
    struct work nothing;
    work_init(&nothing, workload_mem(workload));
    enum orr_status status = train_trace_read_back(&nothing, 0, 1, workload_mem(workload), &graph, err);
    work_free(&nothing);
    if (status == ORR_OK) {
        workload_give(workload, job->plan.gpus, graph);
    }
    for (uint32_t rank = job->plan.gpus + 1; status == ORR_OK && rank < ranks; rank++) {
        workload_same(workload, rank, job->plan.gpus);
    }
    return status;
}

enum orr_status train_trace_load(const struct predict_job *job, const struct step_layout *layout, uint32_t ranks,
                                 uint64_t memory_limit, uint32_t stage, struct mem *mem,
                                 struct train_trace_marks *marks, struct orr_workload **workload, struct orr_error *err)
{
    const struct orr_train_plan *plan = &job->plan;
    struct role_request request = train_trace_request(job, layout, true);
    struct orr_workload *made = NULL;
    uint32_t idle = ranks - plan->gpus;
    *marks = (struct train_trace_marks){0};
    enum orr_status status = workload_make("the step", ranks, plan->gpus + (idle > 0), memory_limit, &made, err);
    for (uint32_t i = 0; status == ORR_OK && i < plan->pp; i++) {
        struct work work;
        work_init(&work, workload_mem(made));
        work.idle = idle;
        status = role_build(&request, i, &work, err);
        if (status == ORR_OK && i == 0) {
            status = train_trace_load_groups(job, &work, made, err);
        }
        if (status == ORR_OK && i == stage) {
            status = train_trace_keep_marks(&work, mem, marks, err);
        }
        if (status == ORR_OK) {
            status = train_trace_load_ranks(job, &work, i, made, err);
        }
        work_free(&work);
    }
    if (status == ORR_OK && idle > 0) {
        status = train_trace_load_idle(job, ranks, made, err);
    }
    if (status != ORR_OK) {
        mem_free(mem, marks->at, marks->count);
        orr_workload_close(made);
        return status;
    }
    *workload = made;
    return ORR_OK;
}
