/* SPDX-License-Identifier: Apache-2.0 */
/* The folder is made for this call, holds one file a rank, and goes with it however the call ends. */
#include "api/ready_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "orrery.h"

enum { PATH_ROOM = 512 };

struct measuring {
    const struct ready_request *request;
    struct ready_run *run;
    struct mem mem;
    char folder[PATH_ROOM - 64];
};

static enum orr_status make_folder(struct measuring *measuring, struct orr_error *err)
{
    const char *named = getenv("TMPDIR");
    const char *above = named != NULL && named[0] != '\0' ? named : "/tmp";
    int length = snprintf(measuring->folder, sizeof measuring->folder, "%s/orrery-measure-XXXXXX", above);
    if (length < 0 || (size_t)length >= sizeof measuring->folder) {
        return error_set(err, ORR_EINVAL, "TMPDIR: the name of the folder is too long");
    }
    if (mkdtemp(measuring->folder) == NULL) {
        return error_set(err, ORR_EIO, "%s: a temporary folder cannot be made: %s (TMPDIR names another place)", above,
                         strerror(errno));
    }
    return ORR_OK;
}

/* A run looks for rank 0 of its prefix, whatever rank was recorded. */
static enum orr_status simulate(const struct measuring *measuring, uint32_t rank, int64_t *simulated_ns,
                                struct orr_error *err)
{
    char from[PATH_ROOM];
    char to[PATH_ROOM];
    char prefix[PATH_ROOM - 8];
    (void)snprintf(from, sizeof from, "%s/all.%" PRIu32 ".et", measuring->folder, rank);
    (void)snprintf(prefix, sizeof prefix, "%s/one", measuring->folder);
    (void)snprintf(to, sizeof to, "%s.0.et", prefix);
    if (rename(from, to) != 0) {
        return error_set(err, ORR_EIO, "%s: %s", from, strerror(errno));
    }
    struct orr_run_options options;
    orr_run_options_init(&options);
    struct orr_run *run = NULL;
    options.workload = prefix;
    options.replay = true;
    options.memory_limit = measuring->mem.limit;
    enum orr_status status = orr_run_open(&options, &run, err);
    if (status == ORR_OK) {
        status = orr_run_execute(run, err);
        *simulated_ns = (int64_t)orr_run_time_ns(run);
        orr_run_close(run);
    }
    (void)unlink(to);
    return status;
}

static enum orr_status measure_ranks(struct measuring *measuring, const struct import_result *result,
                                     struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < result->rank_count && i < measuring->run->rank_count && status == ORR_OK; i++) {
        const struct import_rank *imported = &result->ranks[i];
        struct ready_measure *measure = &measuring->run->ranks[i].measure;
        if (imported->pair->device == NULL) {
            continue; /* an order without times */
        }
        status = simulate(measuring, imported->pair->rank, &measure->simulated_ns, err);
        measure->done = status == ORR_OK;
        measure->recorded_ns = imported->linked.span_ns;
        measure->outside_ns = imported->linked.outside_ns;
        for (int kind = 0; kind < EMIT_GAP_KINDS; kind++) {
            measure->gap_ns[kind] = (int64_t)imported->written.gap_ns[kind];
        }
    }
    return status;
}

static void remove_folder(const struct measuring *measuring)
{
    char path[PATH_ROOM];
    for (uint32_t i = 0; i < measuring->request->pair_count; i++) {
        (void)snprintf(path, sizeof path, "%s/all.%" PRIu32 ".et", measuring->folder,
                       measuring->request->pairs[i].rank);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof path, "%s/all.groups.json", measuring->folder);
    (void)unlink(path);
    (void)rmdir(measuring->folder);
}

enum orr_status ready_measure(const struct ready_request *request, struct ready_run *run, struct orr_error *err)
{
    struct measuring measuring = {.request = request, .run = run, .mem = {.limit = run->arena.mem->limit}};
    enum orr_status status = make_folder(&measuring, err);
    if (status != ORR_OK) {
        return status;
    }
    char prefix[PATH_ROOM];
    struct import_result result = {0};
    (void)snprintf(prefix, sizeof prefix, "%s/all", measuring.folder);
    struct import_request import = {
        .prefix = prefix,
        .pairs = request->pairs,
        .pair_count = request->pair_count,
        .emit = {.has_unknown_size = request->has_unknown_size, .unknown_size = request->unknown_size},
        .jobs = request->jobs == 0 ? 1 : request->jobs,
        .memory_limit = measuring.mem.limit};
    status = import_run(&import, &measuring.mem, &result, err);
    if (status == ORR_OK) {
        status = measure_ranks(&measuring, &result, err);
    }
    import_result_free(&result);
    remove_folder(&measuring);
    return status;
}
