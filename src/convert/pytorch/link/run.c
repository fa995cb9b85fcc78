/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of an import as commands of their own: link two recordings into a file, convert such a file. */
#include "convert/pytorch/collective/match.h"
#include "convert/pytorch/emit/emit.h"
#include "convert/pytorch/hdt/ours.h"
#include "convert/pytorch/link/link.h"

struct recordings {
    struct kineto_trace *kineto;
    struct host_trace *host;
    struct linked_trace linked;
    struct comm_groups groups;
    const char *name; /* for messages */
};

static void free_recordings(struct recordings *recordings)
{
    linked_free(&recordings->linked);
    comm_groups_free(&recordings->groups);
    kineto_free(recordings->kineto);
    host_free(recordings->host);
}

/* One recording by itself: what the other ranks' would tell stays open. */
static enum orr_status link_run_check_peers(const struct recordings *recordings, struct orr_error *err)
{
    const struct linked_trace *linked = &recordings->linked;
    for (uint32_t i = 0; i < linked->node_count; i++) {
        uint32_t comm = linked->nodes[i].comm;
        const struct comm_fact *fact = comm == LINKED_NONE ? NULL : &linked->comms[comm];
        if (fact != NULL && (fact->kind == COMM_SEND || fact->kind == COMM_RECV) && (fact->src < 0 || fact->dst < 0)) {
            char place[512];
            (void)snprintf(place, sizeof place, "%.200s: node %u \"%.200s\"", recordings->name, i,
                           intern_text(&linked->names, linked->nodes[i].name));
            return comm_match_refuse(place, fact->kind, err);
        }
    }
    return ORR_OK;
}

static enum orr_status link_run_resolve(struct recordings *recordings, struct orr_error *err)
{
    int64_t rank = recordings->linked.rank;
    enum orr_status status =
        comm_groups_add(&recordings->groups, rank, recordings->kineto, recordings->host, recordings->name, err);
    if (status == ORR_OK) {
        status = comm_groups_settle(&recordings->groups, 1, err);
    }
    status = status != ORR_OK ? status
                              : link_resolve(&recordings->linked, recordings->kineto, recordings->host,
                                             &recordings->groups, recordings->name, err);
    return status == ORR_OK ? link_run_check_peers(recordings, err) : status;
}

static enum orr_status read_both(const struct link_request *request, struct recordings *recordings,
                                 struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (request->host == NULL && request->device == NULL) {
        return error_set(err, ORR_EINVAL, "nothing to link: neither a host trace nor a device trace was given");
    }
    if (request->device != NULL) {
        status = kineto_read(request->device, request->mem, request->notes, &recordings->kineto, err);
    }
    if (status == ORR_OK && request->host != NULL) {
        status = host_read(request->host, request->mem, request->notes, &recordings->host, err);
    }
    return status;
}

enum orr_status link_run(const struct link_request *request, struct linked_counts *counts, struct orr_error *err)
{
    struct recordings recordings = {.name = request->device != NULL ? request->device : request->host};
    struct linked_trace *linked = &recordings.linked;
    linked_init(linked, request->mem);
    comm_groups_init(&recordings.groups, request->mem);
    enum orr_status status = read_both(request, &recordings, err);
    if (status == ORR_OK) {
        status = recordings.kineto != NULL
                     ? link_build(recordings.kineto, recordings.host, request->mem, request->notes, linked, err)
                     : link_build_host(recordings.host, request->mem, request->notes, linked, err);
    }
    if (status == ORR_OK) {
        linked->rank = request->rank >= 0 ? request->rank : linked->rank;
        status = link_run_resolve(&recordings, err);
    }
    if (status == ORR_OK) {
        link_time_unsized(linked);
        status = link_note_timed(linked, request->notes, err);
    }
    if (status == ORR_OK) {
        status = hdt_ours_write(linked, &recordings.groups, recordings.host, request->output, err);
    }
    if (status == ORR_OK) {
        *counts = linked->counts;
    }
    free_recordings(&recordings);
    return status;
}

/* ---- converting ---- */

static enum orr_status read_linked(const struct convert_request *request, struct recordings *recordings,
                                   struct orr_error *err)
{
    bool is_ours = false;
    enum orr_status status =
        hdt_ours_read(request->input, request->mem, &recordings->linked, &recordings->groups, &is_ours, err);
    if (status != ORR_OK || is_ours) {
        return status;
    }
    status = host_read(request->input, request->mem, request->notes, &recordings->host, err);
    if (status == ORR_OK) {
        status = link_build_host(recordings->host, request->mem, request->notes, &recordings->linked, err);
    }
    return status == ORR_OK ? link_run_resolve(recordings, err) : status;
}

static enum orr_status write_et(const struct convert_request *request, const struct recordings *recordings,
                                struct convert_summary *summary, struct orr_error *err)
{
    struct et_writer *writer = NULL;
    struct emit_counts counts = {0};
    struct emit_options options = {.unknown_size = request->unknown_size,
                                   .has_unknown_size = request->has_unknown_size};
    enum orr_status status = et_writer_open(request->output, request->mem, &writer, err);
    if (status != ORR_OK) {
        return status;
    }
    status = emit_write(&recordings->linked, &recordings->groups, &options, request->input, writer, &counts, err);
    if (status != ORR_OK) {
        et_writer_abort(writer);
        return status;
    }
    status = et_writer_commit(writer, err);
    if (status == ORR_OK) {
        *summary = counts.summary;
    }
    return status;
}

enum orr_status pytorch_convert(const struct convert_request *request, struct convert_summary *summary,
                                struct orr_error *err)
{
    struct recordings recordings = {.name = request->input};
    linked_init(&recordings.linked, request->mem);
    comm_groups_init(&recordings.groups, request->mem);
    enum orr_status status = read_linked(request, &recordings, err);
    if (status == ORR_OK) {
        status = write_et(request, &recordings, summary, err);
    }
    free_recordings(&recordings);
    return status;
}

const struct converter pytorch_converter = {.write = pytorch_convert, .knows_unknown_size = true};
