/* SPDX-License-Identifier: Apache-2.0 */
/* Our linker's order of work; what each part does is said in its file. Whatever is odd about a recording is noted here,
 * once all is counted. */
#include "convert/pytorch/link/link.h"

#include <inttypes.h>

#include "convert/pytorch/link/work.h"

/* Of the first op, annotation, kernel, copy or set, or of a call before them: the host was busy by then. */
static int64_t link_first_start(const struct kineto_trace *kineto)
{
    if (kineto->has_origin) { /* some steps only: times are as if all had been read */
        return kineto_start_ns(&(struct kineto_event){.ts_us = kineto->origin_us});
    }
    for (uint32_t i = 0; i < kineto->event_count; i++) {
        uint8_t cat = kineto->events[i].cat;
        if (kineto->events[i].ph == 'X' && kineto->events[i].ts_us > -2.2e15 && kineto->events[i].ts_us < 2.2e15 &&
            (cat == KINETO_CPU_OP || cat == KINETO_USER_ANNOTATION || cat == KINETO_KERNEL || cat == KINETO_MEMCPY ||
             cat == KINETO_MEMSET ||
             ((cat == KINETO_RUNTIME || cat == KINETO_DRIVER) &&
              kineto_is_call(intern_text(&kineto->names, kineto->events[i].name))))) {
            return kineto_start_ns(&kineto->events[i]);
        }
    }
    return 0;
}

static enum orr_status note_oddities(const struct link_work *work, struct orr_error *err)
{
    const struct linked_counts *counts = &work->out->counts;
    enum orr_status status = ORR_OK;
    if (counts->unlaunched > 0) {
        status =
            notes_add(work->notes, err,
                      "%" PRIu64 " of %" PRIu64 " kernels, copies and sets have no launching call in the recording; "
                      "they keep their stream's order only",
                      counts->unlaunched, counts->device_in);
    }
    if (status == ORR_OK && counts->untimed > 0) {
        status = notes_add(work->notes, err,
                           "%" PRIu64 " ops, kernels, copies and sets have times that cannot be and were left out",
                           counts->untimed);
    }
    if (status == ORR_OK && counts->overlapping > 0) {
        status = notes_add(work->notes, err, "%" PRIu64 " host ops end after the op they began in and were cut to fit",
                           counts->overlapping);
    }
    if (status == ORR_OK && counts->early > 0) {
        status =
            notes_add(work->notes, err,
                      "%" PRIu64 " kernels, copies and sets are recorded as starting before their launch (the clocks "
                      "of host and device differ); they come after it",
                      counts->early);
    }
    if (status == ORR_OK && counts->against_time > 0) {
        status = notes_add(work->notes, err,
                           "%" PRIu64 " dependencies were left out because the recorded times contradict them",
                           counts->against_time);
    }
    if (status == ORR_OK && counts->device_in == 0 && work->kineto->event_count > 0 && !work->kineto->marks_only) {
        status = notes_add(work->notes, err, "no kernel was recorded: only what the host did is in the trace");
    }
    return status;
}

/* From the first start to the last end of what host and device did, and what of it lies outside all nodes. */
static void measure_span(struct link_work *work)
{
    const struct kineto_trace *kineto = work->kineto;
    const struct linked_trace *out = work->out;
    int64_t end = 0;
    int64_t last = 0;
    for (uint32_t i = 0; i < kineto->event_count; i++) {
        const struct kineto_event *event = &kineto->events[i];
        bool call = event->cat == KINETO_RUNTIME || event->cat == KINETO_DRIVER;
        bool counts = event->cat == KINETO_CPU_OP || event->cat == KINETO_USER_ANNOTATION ||
                      event->cat == KINETO_KERNEL || event->cat == KINETO_MEMCPY || event->cat == KINETO_MEMSET ||
                      (call && kineto_is_call(link_event_name(work, i)));
        if (counts && link_is_timed(work, event) && kineto_end_ns(event) - work->base_ns > end) {
            end = kineto_end_ns(event) - work->base_ns;
        }
    }
    for (uint32_t i = 0; i < out->node_count; i++) {
        int64_t node_end = out->nodes[i].start_ns + out->nodes[i].duration_ns;
        last = node_end > last ? node_end : last;
    }
    work->out->counts.span_ns = end;
    work->out->counts.outside_ns = end > last ? end - last : 0;
}

static enum orr_status convert_pytorch_link_link_build(struct link_work *work, struct orr_error *err)
{
    static void (*const parts[])(struct link_work *) = {
        link_collect, link_nest,       link_launch, link_waits, link_threads, link_turns,
        link_stated,  link_join_parts, link_steps,  link_clues, link_sides,   link_number,
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !work->refused; i++) {
        parts[i](work);
    }
    if (work->refused) {
        return mem_error(work->mem, "linking", err);
    }
    measure_span(work);
    return note_oddities(work, err);
}

enum orr_status link_work_run(struct link_work *work, struct orr_error *err)
{
    struct mem *mem = work->mem;
    struct linked_trace *linked = work->out;
    arena_init(&work->arena, mem);
    linked_init(linked, mem);
    linked->rank = work->kineto->info.rank;
    linked->has_times = true;
    work->base_ns = link_first_start(work->kineto);
    if (__builtin_add_overflow(work->base_ns, work->kineto->info.base_time_ns, &linked->zero_ns)) {
        linked->zero_ns = work->base_ns;
    }
    enum orr_status status = convert_pytorch_link_link_build(work, err);
    if (status == ORR_OK && work->host != NULL &&
        !intern_add(&linked->names, work->host->schema, strlen(work->host->schema), &linked->schema)) {
        status = mem_error(mem, "linking", err);
    }
    mem_free(mem, work->ends, (size_t)work->ends_capacity * sizeof *work->ends);
    mem_free(mem, work->events, (size_t)work->events_capacity * sizeof *work->events);
    mem_free(mem, work->flags, (size_t)work->flags_capacity * sizeof *work->flags);
    mem_free(mem, work->calls, (size_t)work->call_capacity * sizeof *work->calls);
    mem_free(mem, work->parts, (size_t)work->part_capacity * sizeof *work->parts);
    mem_free(mem, work->part_lanes, (size_t)work->part_lane_capacity * sizeof *work->part_lanes);
    mem_free(mem, work->edges, (size_t)work->edge_capacity * sizeof *work->edges);
    arena_free(&work->arena);
    if (status != ORR_OK) {
        linked_free(linked);
    }
    return status;
}

enum orr_status link_build(const struct kineto_trace *kineto, const struct host_trace *host, struct mem *mem,
                           struct notes *notes, struct linked_trace *linked, struct orr_error *err)
{
    struct link_work work = {.kineto = kineto, .host = host, .out = linked, .mem = mem, .notes = notes};
    return link_work_run(&work, err);
}
