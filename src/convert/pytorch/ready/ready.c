/* SPDX-License-Identifier: Apache-2.0 */
/* Files one after the other, in one account of memory: what is large is the file, and that is never held. */
#include "convert/pytorch/ready/ready.h"

#include <string.h>

/* A file that is no such trace is a finding, not the end: the others may tell more. */
static enum orr_status keep_reason(struct ready_run *run, enum orr_status status, const struct orr_error *why,
                                   const char **reason, struct orr_error *err)
{
    if (status != ORR_EINVAL) {
        *err = *why;
        return status;
    }
    *reason = arena_strndup(&run->arena, why->text, strlen(why->text));
    return *reason == NULL ? mem_error(run->arena.mem, "findings", err) : ORR_OK;
}

static enum orr_status scan_rank(struct ready_run *run, struct ready_rank *rank, struct mem *mem, struct orr_error *err)
{
    struct orr_error why = {0};
    enum orr_status status = ORR_OK;
    if (rank->pair->device != NULL) {
        status = rank->pair->is_rocprof ? ready_scan_rocprof(rank->pair->device, mem, &rank->device, &why)
                                        : ready_scan_device(rank->pair->device, mem, &rank->device, &why);
        status = status == ORR_OK ? ORR_OK : keep_reason(run, status, &why, &rank->device_error, err);
    }
    if (status == ORR_OK && rank->pair->host != NULL) {
        status = ready_scan_host(rank->pair->host, mem, &rank->host, &why);
        status = status == ORR_OK ? ORR_OK : keep_reason(run, status, &why, &rank->host_error, err);
    }
    return status;
}

void ready_run_free(struct ready_run *run)
{
    mem_free(run->arena.mem, run->findings, (size_t)run->finding_capacity * sizeof *run->findings);
    arena_free(&run->arena);
    *run = (struct ready_run){.arena = run->arena};
}

/* What an import counts is what is told: the scan alone cannot tell a collective from what carries it out, such as the
 * all-reduce in gloo's reduce-scatter. */
static void take_counts(const struct import_result *result, struct ready_run *run)
{
    for (uint32_t i = 0; i < result->rank_count && i < run->rank_count; i++) {
        struct ready_device *device = &run->ranks[i].device;
        const struct emit_counts *written = &result->ranks[i].written;
        device->is_imported = device->there;
        for (unsigned kind = 0; kind < COMM_KIND_COUNT; kind++) {
            device->imported[kind].count = written->kind_count[kind];
            device->imported[kind].bytes = written->kind_bytes[kind];
        }
    }
}

/* An import in all but the writing. Why it is refused is in `refusal`, which is NULL when it is not; what is no fault
 * of the recording (no memory, a disk that fails) is an error here too. */
static enum orr_status try_import(const struct ready_request *request, struct ready_run *run, const char **refusal,
                                  struct orr_error *err)
{
    struct mem mem = {.limit = run->arena.mem->limit};
    struct import_result result = {0};
    struct orr_error why = {0};
    struct import_request import = {
        .pairs = request->pairs,
        .pair_count = request->pair_count,
        .emit = {.has_unknown_size = request->has_unknown_size, .unknown_size = request->unknown_size},
        .jobs = request->jobs == 0 ? 1 : request->jobs,
        .memory_limit = mem.limit};
    *refusal = NULL;
    enum orr_status status = import_run(&import, &mem, &result, &why);
    if (status == ORR_OK) {
        take_counts(&result, run);
        run->split = arena_strndup(&run->arena, result.split, strlen(result.split));
        status = run->split == NULL ? mem_error(run->arena.mem, "findings", &why) : ORR_OK;
    }
    import_result_free(&result);
    if (status == ORR_ENOMEM || status == ORR_EIO) {
        *err = why;
        return status;
    }
    if (status != ORR_OK) {
        *refusal = arena_strndup(&run->arena, why.text, strlen(why.text));
        return *refusal == NULL ? mem_error(run->arena.mem, "findings", err) : ORR_OK;
    }
    return ORR_OK;
}

enum orr_status ready_check(const struct ready_request *request, struct mem *mem, struct ready_run *run,
                            struct orr_error *err)
{
    struct ready_run made = {.chosen = request->chosen, .split = ""};
    const char *tag = request->tag;
    uint32_t count = request->pair_count;
    const char *refusal = NULL;
    arena_init(&made.arena, mem);
    made.tag = arena_strndup(&made.arena, tag, strlen(tag));
    made.ranks = arena_zalloc(&made.arena, (size_t)count * sizeof *made.ranks);
    enum orr_status status = ORR_OK;
    made.place = arena_strndup(&made.arena, request->place, strlen(request->place));
    if (made.tag == NULL || made.place == NULL || made.ranks == NULL) {
        status = mem_error(mem, "the ranks of a recording", err);
    }
    for (uint32_t i = 0; made.ranks != NULL && status == ORR_OK && i < count; i++) {
        made.ranks[made.rank_count].pair = &request->pairs[i];
        status = scan_rank(&made, &made.ranks[made.rank_count++], mem, err);
    }
    if (status == ORR_OK) {
        status = try_import(request, &made, &refusal, err);
    }
    if (status == ORR_OK && !ready_judge(&made, refusal)) {
        status = mem_error(mem, "findings", err);
    }
    if (status != ORR_OK) {
        ready_run_free(&made);
        return status;
    }
    *run = made;
    return ORR_OK;
}
