/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules over counts, each a few lines: what is missing, what that costs, and the option of the recording script (orrery
 * trace recipe) or the call of PyTorch that puts it right. A fault is what makes `trace import` refuse the recording;
 * everything else is advice. Whether it is refused is not decided by these rules: they only explain it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/pytorch/ready/ready.h"

/* More all-reduces a step than most models have buckets (spec rocm §1.11); half a billion parameters have more. */
enum { TP_ALL_REDUCES = 20 };

static const char *const mode_texts[READY_MODE_COUNT] = {
    [READY_MODE_NONE] = "no communication",
    [READY_MODE_DDP] = "data parallel (DDP)",
    [READY_MODE_TP] = "tensor parallel (TP, all-reduce), or data parallel in more than 20 buckets",
    [READY_MODE_TP_SP] = "tensor parallel (TP with sequence parallelism), or sharded data parallel (FSDP)",
    [READY_MODE_TP_DDP] = "tensor and data parallel (TP + DDP)",
    [READY_MODE_FSDP] = "sharded data parallel (FSDP)",
    [READY_MODE_TP_FSDP] = "tensor and sharded data parallel (TP + FSDP)",
    [READY_MODE_OTHER] = "neither data nor tensor parallel",
};

const char *ready_mode_text(enum ready_mode mode)
{
    return mode_texts[mode];
}

const char *ready_mode_word(enum ready_mode mode)
{
    static const char *const words[READY_MODE_COUNT] = {"none",   "DDP",  "TP",      "TP+SP or FSDP",
                                                        "TP+DDP", "FSDP", "TP+FSDP", "other"};
    return words[mode];
}

const char *ready_verdict_text(enum ready_verdict verdict)
{
    static const char *const texts[] = {
        [READY_NETWORK_UNKNOWN] = "no times to compare",
        [READY_NETWORK_MATTERS] = "the topology matters",
        [READY_NETWORK_MAY_MATTER] = "the topology may matter",
        [READY_NETWORK_MINIMAL] = "the topology hardly matters",
    };
    return texts[verdict];
}

/* ---- findings ---- */

struct judging {
    struct ready_run *run;
    const struct ready_rank *rank; /* NULL: all of them */
    bool refused;                  /* memory */
};

static void ready_judge_add(struct judging *judging, enum ready_weight weight, const char *text, const char *advice)
{
    struct ready_run *run = judging->run;
    if (text == NULL || !MEM_GROW(run->arena.mem, run->findings, run->finding_capacity, run->finding_count)) {
        judging->refused = true;
        return;
    }
    run->findings[run->finding_count++] =
        (struct ready_finding){.weight = weight,
                               .rank = judging->rank == NULL ? READY_ALL_RANKS : judging->rank->pair->rank,
                               .text = text,
                               .advice = advice};
}

#define TEXT(judging, ...) arena_printf(&(judging)->run->arena, __VA_ARGS__)

/* ---- one rank ---- */

static void judge_files(struct judging *judging)
{
    const struct ready_rank *rank = judging->rank;
    if (rank->device_error != NULL) {
        ready_judge_add(judging, READY_FAULT, rank->device_error,
                        "record again and let the program end by itself: the profiler writes the file last");
    } else if (rank->pair->device == NULL) {
        ready_judge_add(
            judging, READY_ADVICE,
            "there is no device trace, so no times: only the order of ops and the communications are known",
            "run torch.profiler beside the ExecutionTraceObserver and export_chrome_trace to device_R.json; orrery "
            "trace "
            "recipe parameter 'framework' pytorch prints a script that does both");
    }
    if (rank->host_error != NULL) {
        ready_judge_add(judging, READY_FAULT, rank->host_error,
                        "record again: unregister_callback() the ExecutionTraceObserver before the program ends");
    } else if (rank->pair->host == NULL) {
        ready_judge_add(
            judging, READY_ADVICE,
            "there is no host trace; types and sizes of communication come from the device trace",
            "register an ExecutionTraceObserver for host_R.json (orrery trace recipe parameter 'framework' pytorch)");
    }
    if (rank->device.cut || rank->host.cut) {
        ready_judge_add(
            judging, READY_ADVICE,
            TEXT(judging, "the %s trace ends early; what stands before the cut is used",
                 rank->device.cut ? "device" : "host"),
            "record again with fewer steps (parameter 'trace-steps') if the disk was full or the job was killed");
    }
    if (rank->host.several) {
        ready_judge_add(judging, READY_ADVICE,
                        "the host trace holds several documents; trace import takes the one with most nodes",
                        "register the observer once");
    }
    if (rank->host.there && rank->host.nodes == 0) {
        ready_judge_add(judging, READY_ADVICE, "the host trace has no nodes",
                        "start the observer before the steps to record");
    }
    if (rank->device.unusable > 0) {
        ready_judge_add(judging, READY_ADVICE,
                        TEXT(judging, "%" PRIu64 " events have no time and are left out", rank->device.unusable), "");
    }
}

static bool ready_judge_is_empty(const struct ready_device *device)
{
    return device->kernels + device->copies + device->sets == 0;
}

static void judge_empty_device(struct judging *judging)
{
    const struct ready_device *device = &judging->rank->device;
    const char *name = device->device[0] == '\0' ? "the device" : device->device;
    if (device->host_ops == 0 && device->calls == 0) {
        ready_judge_add(
            judging, READY_FAULT,
            TEXT(judging, "the device trace is empty: %" PRIu64 " event%s, no op, no call, no kernel%s", device->events,
                 device->events == 1 ? "" : "s", device->amd ? " (an AMD device)" : ""),
            device->amd
                ? "the profiler was active in no step: parameter 'trace-wait' and parameter 'trace-steps' must end "
                  "before the epoch does "
                  "(wait=0, active=1 or more, and prof.step() after each), with activities CPU and CUDA, which is HIP "
                  "too; then parameter 'inject-sync-hack' for event records"
                : "the profiler was active in no step: parameter 'trace-wait' and parameter 'trace-steps' must end "
                  "before the epoch does, "
                  "and prof.step() must follow each step");
        return;
    }
    ready_judge_add(
        judging, READY_ADVICE,
        TEXT(judging, "no kernel, copy or set ran on %s in it, only %" PRIu64 " host ops and %" PRIu64 " calls", name,
             device->host_ops, device->calls),
        device->amd
            ? "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (CUDA is HIP on ROCm) and a "
              "PyTorch built with roctracer; let parameter 'trace-steps' cover whole steps, and use parameter "
              "'inject-sync-hack'"
            : "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] on a machine with a device, "
              "and let parameter 'trace-steps' cover whole steps");
}

static void judge_links(struct judging *judging)
{
    const struct ready_device *device = &judging->rank->device;
    const struct ready_host *host = &judging->rank->host;
    if (device->launches == 0) {
        ready_judge_add(judging, READY_ADVICE,
                        "no launching calls are recorded: kernels keep their stream's order and nothing else",
                        "profile with activities CPU and CUDA together");
    } else if (device->unlinked * 10 > device->kernels + device->copies + device->sets) {
        ready_judge_add(
            judging, READY_ADVICE,
            TEXT(judging, "%" PRIu64 " kernels, copies and sets have no correlation with a launch", device->unlinked),
            "");
    }
    if (device->stream_count > 1 && device->sync_events == 0 &&
        (device->event_records == 0 || device->stream_waits == 0)) {
        ready_judge_add(
            judging, READY_ADVICE,
            TEXT(judging, "%" PRIu32 " streams ran, but %s recorded: who waits for whom across streams cannot be known",
                 device->stream_count,
                 device->event_records == 0
                     ? device->stream_waits == 0 ? "no EventRecord and no StreamWaitEvent are" : "no EventRecord is"
                     : "no StreamWaitEvent is"),
            device->amd ? "record with parameter 'inject-sync-hack'"
                        : "record without parameter 'no-sync-events' (enable_cuda_sync_events), or with parameter "
                          "'inject-sync-hack'");
    }
    if (host->there && host->most_rf >= 0 && device->most_rf >= 0 &&
        (host->most_rf < device->least_rf || host->least_rf > device->most_rf)) {
        ready_judge_add(judging, READY_FAULT,
                        TEXT(judging,
                             "host and device trace share no op: record functions %" PRId64 " to %" PRId64
                             " here, %" PRId64 " to %" PRId64 " there",
                             host->least_rf, host->most_rf, device->least_rf, device->most_rf),
                        "record both in one run, the observer started and stopped with the same steps");
    }
}

static bool has_known_comm(const struct ready_device *device)
{
    enum ready_level level;
    for (unsigned kind = 0; kind < COMM_UNKNOWN; kind++) {
        if (ready_comm_count(device, (enum comm_kind)kind, &level) > 0) {
            return true;
        }
    }
    return false;
}

/* Whether `trace import` will find a size for every collective: from the device trace, or from the host trace's. */
static bool sizes_known(const struct ready_rank *rank)
{
    for (unsigned kind = 0; kind < COMM_UNKNOWN; kind++) {
        enum ready_level level;
        uint64_t bytes;
        if (kind != COMM_BARRIER && ready_comm_count(&rank->device, (enum comm_kind)kind, &level) > 0 &&
            !ready_comm_bytes(&rank->device, (enum comm_kind)kind, &bytes)) {
            return rank->host.comms > 0;
        }
    }
    return true;
}

static void judge_comms(struct judging *judging, uint32_t world)
{
    const struct ready_rank *rank = judging->rank;
    const struct ready_device *device = &rank->device;
    if (device->unnamed_kernels > 0 && device->param_comms == 0 && rank->host.comms == 0 && !has_known_comm(device)) {
        ready_judge_add(judging, READY_FAULT,
                        TEXT(judging, "%" PRIu64 " communication kernels, and nothing says which collective they are",
                             device->unnamed_kernels),
                        "record the host trace too (its record_param_comms tells), or annotate: "
                        "record_function(\"nccl:all_reduce|bytes=N|pg=dp0\")");
    } else if (!sizes_known(rank)) {
        ready_judge_add(
            judging, READY_FAULT, "the sizes of some collectives are told nowhere",
            "record the host trace too, or the device trace with parameter 'trace-shapes' or PyTorch 2.4 and later; or "
            "import "
            "with parameter 'unknown-size' BYTES");
    }
    if (world > 1 && device->comm_kernels == 0 && device->param_comms == 0 && rank->host.comms == 0 &&
        !has_known_comm(device)) {
        ready_judge_add(
            judging, READY_ADVICE,
            TEXT(judging, "%" PRIu32 " ranks, but no communication is recorded: neither kernels nor ops", world),
            "trace steps in which gradients are reduced: outside no_sync(), and not the evaluation");
    }
}

static void judge_steps(struct judging *judging)
{
    const struct ready_device *device = &judging->rank->device;
    if (ready_steps(device)->count == 0) {
        ready_judge_add(judging, READY_ADVICE,
                        "no ProfilerStep#N: steps cannot be counted, and nothing can be calibrated per step",
                        "use profile(schedule=…) and call prof.step() after each step");
    }
    if (device->python > 0 && device->python * 2 > device->events) {
        ready_judge_add(judging, READY_ADVICE,
                        TEXT(judging, "%" PRIu64 " of %" PRIu64 " events are Python's stack, which nothing here reads",
                             device->python, device->events),
                        "leave out parameter 'trace-stack' (with_stack): files are smaller and times truer");
    }
}

static void judge_rank(struct judging *judging, uint32_t world)
{
    const struct ready_rank *rank = judging->rank;
    const struct ready_device *device = &rank->device;
    judge_files(judging);
    if (!device->there) {
        return;
    }
    if (device->rank >= 0 && device->rank != rank->pair->rank) {
        ready_judge_add(judging, READY_ADVICE,
                        TEXT(judging, "the file's name says rank %" PRIu32 ", the recording in it %" PRId64,
                             rank->pair->rank, device->rank),
                        "name the files after the ranks that wrote them");
    }
    if (ready_judge_is_empty(device)) {
        judge_empty_device(judging);
        return;
    }
    judge_links(judging);
    judge_comms(judging, world);
    judge_steps(judging);
}

/* ---- all ranks together ---- */

static uint32_t world_of(const struct ready_run *run)
{
    int64_t world = run->rank_count;
    for (uint32_t i = 0; i < run->rank_count; i++) {
        const struct ready_device *device = &run->ranks[i].device;
        world = device->there && device->world_size > world ? device->world_size : world;
    }
    return world < UINT32_MAX ? (uint32_t)world : UINT32_MAX;
}

static void judge_row(struct judging *judging, uint32_t world)
{
    const struct ready_run *run = judging->run;
    if (run->chosen) {
        return; /* who is missing was left out */
    }
    for (uint32_t i = 0; run->rank_count > 1 && i < run->rank_count; i++) {
        if (run->ranks[i].pair->rank != i) {
            ready_judge_add(judging, READY_ADVICE,
                            TEXT(judging,
                                 "rank %" PRIu32 " has no recording, rank %" PRIu32
                                 " has; a simulation needs a row from 0",
                                 i, run->ranks[i].pair->rank),
                            "copy the files of all ranks into one folder");
            return;
        }
    }
    if (world > run->rank_count) {
        ready_judge_add(judging, READY_ADVICE,
                        TEXT(judging, "%" PRIu32 " of %" PRIu32 " ranks are recorded", run->rank_count, world),
                        "copy the others' files here, or let orrery lab run parameter 'world-size' grow the job");
    }
}

static void judge_agreement(struct judging *judging)
{
    const struct ready_run *run = judging->run;
    const struct ready_device *first = &run->ranks[0].device;
    bool told_steps = false;
    bool told[COMM_KIND_COUNT] = {false}; /* the first that differs says enough */
    for (uint32_t i = 1; i < run->rank_count; i++) {
        const struct ready_device *device = &run->ranks[i].device;
        if (ready_judge_is_empty(first) || ready_judge_is_empty(device)) {
            continue; /* which is told already */
        }
        if (!told_steps && ready_steps(first)->count != ready_steps(device)->count) {
            told_steps = true;
            ready_judge_add(judging, READY_ADVICE,
                            TEXT(judging, "rank %" PRIu32 " recorded %" PRIu64 " steps, rank %" PRIu32 " %" PRIu64,
                                 run->ranks[0].pair->rank, ready_steps(first)->count, run->ranks[i].pair->rank,
                                 ready_steps(device)->count),
                            "use the same parameter 'trace-wait' and parameter 'trace-steps' on all ranks");
        }
        for (unsigned kind = 0; kind <= COMM_BARRIER; kind++) {
            enum ready_level level;
            uint64_t here = ready_comm_count(first, (enum comm_kind)kind, &level);
            uint64_t there = ready_comm_count(device, (enum comm_kind)kind, &level);
            if (here != there && !told[kind]) {
                told[kind] = true;
                ready_judge_add(
                    judging, READY_ADVICE,
                    TEXT(judging,
                         "rank %" PRIu32 " has %" PRIu64 " of %s, rank %" PRIu32 " %" PRIu64
                         "; in one group a simulation would wait for those that are missing",
                         run->ranks[0].pair->rank, here, comm_kind_text((enum comm_kind)kind), run->ranks[i].pair->rank,
                         there),
                    "trace whole steps, the same on all ranks (parameter 'trace-wait', parameter 'trace-steps')");
            }
        }
    }
}

/* ---- mode and verdict ---- */

static void find_mode(struct ready_run *run, const struct ready_device *device)
{
    enum ready_level level;
    uint64_t steps = ready_steps(device)->count > 0 ? ready_steps(device)->count : 1;
    uint64_t reduces = ready_comm_count(device, COMM_ALL_REDUCE, &level);
    uint64_t gathers = ready_comm_count(device, COMM_ALL_GATHER, &level);
    uint64_t scatters = ready_comm_count(device, COMM_REDUCE_SCATTER, &level) +
                        ready_comm_count(device, COMM_REDUCE_SCATTER_BLOCK, &level);
    run->pipeline = ready_comm_count(device, COMM_SEND, &level) + ready_comm_count(device, COMM_RECV, &level) > 0;
    run->expert = ready_comm_count(device, COMM_ALL_TO_ALL, &level) > 0;
    if (device->fsdp && gathers + scatters > 0) {
        run->mode = reduces > TP_ALL_REDUCES * steps ? READY_MODE_TP_FSDP : READY_MODE_FSDP;
    } else if (gathers > 0 && scatters > 0 && reduces > 0) {
        run->mode = READY_MODE_TP_DDP;
    } else if (gathers + scatters > 0) {
        run->mode = READY_MODE_TP_SP;
    } else if (reduces > TP_ALL_REDUCES * steps) {
        run->mode = READY_MODE_TP;
    } else if (reduces > 0) {
        run->mode = READY_MODE_DDP;
    } else {
        run->mode = has_known_comm(device) || device->comm_kernels > 0 ? READY_MODE_OTHER : READY_MODE_NONE;
    }
}

/* Kernels where there are some; else what the host says its own communication took. */
static double comm_time(const struct ready_device *device)
{
    return device->comm_kernels > 0 ? device->comm_us : device->host_comm_us;
}

static void find_verdict(struct ready_run *run)
{
    double comm = 0;
    double compute = 0;
    for (uint32_t i = 0; i < run->rank_count; i++) {
        if (run->ranks[i].device.there) {
            comm += comm_time(&run->ranks[i].device);
            compute += run->ranks[i].device.compute_us;
        }
    }
    if (!(compute > 0) || !(comm > 0) || !isfinite(compute) || !isfinite(comm / compute)) {
        run->verdict = READY_NETWORK_UNKNOWN;
        return;
    }
    run->comm_share = comm / compute;
    run->verdict = run->comm_share > 0.5   ? READY_NETWORK_MATTERS
                   : run->comm_share > 0.1 ? READY_NETWORK_MAY_MATTER
                                           : READY_NETWORK_MINIMAL;
}

/* Rules explain what the import decided: none may call a fault what is imported, and a refusal that no rule explains
 * speaks for itself. */
static void agree_with(struct judging *judging, const char *refusal)
{
    struct ready_run *run = judging->run;
    uint32_t kept = 0;
    bool explained = false;
    for (uint32_t i = 0; i < run->finding_count; i++) {
        bool fault = run->findings[i].weight == READY_FAULT;
        explained = explained || fault;
        if (!fault || refusal != NULL) {
            run->findings[kept++] = run->findings[i];
        }
    }
    run->finding_count = kept;
    if (refusal != NULL && !explained) {
        ready_judge_add(judging, READY_FAULT, refusal, "");
    }
    run->usable = refusal == NULL && run->rank_count > 0;
}

bool ready_judge(struct ready_run *run, const char *refusal)
{
    struct judging judging = {.run = run};
    uint32_t world = world_of(run);
    for (uint32_t i = 0; i < run->rank_count; i++) {
        judging.rank = &run->ranks[i];
        judge_rank(&judging, world);
        if (run->ranks[i].device.there && run->mode == READY_MODE_NONE) {
            find_mode(run, &run->ranks[i].device);
        }
    }
    judging.rank = NULL;
    judge_row(&judging, world);
    judge_agreement(&judging);
    find_verdict(run);
    agree_with(&judging, refusal);
    return !judging.refused;
}
