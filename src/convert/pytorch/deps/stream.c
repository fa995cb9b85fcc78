/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom between streams. Where the profiler recorded synchronisation events they name the stream and the
 * event record; else the calls speak: an event is recorded on the stream its thread launched on last, and a stream that
 * is told to wait is the one its thread launches on next. Which record a wait is for is not said; it is nearly always
 * the one its thread made just before, else (a worker's event, handed over) the latest one on another stream. A guess
 * that the recorded times contradict is not taken.
 */
#include "convert/pytorch/link/work.h"

enum { RECORDS_TRIED = 64 };

static void attach_syncs(struct link_work *work)
{
    for (uint32_t i = 0; i < work->kineto->event_count; i++) {
        const struct kineto_event *event = &work->kineto->events[i];
        if (event->cat != KINETO_SYNC || event->extra == KINETO_NONE || event->correlation <= 0 ||
            !link_is_timed(work, event)) {
            continue;
        }
        uint32_t call = link_call_of(work, event->correlation, kineto_end_ns(event) - work->base_ns);
        if (call != LINKED_NONE) {
            work->calls[call].sync = i;
        }
    }
}

static void list_records(struct link_work *work)
{
    work->records = link_alloc(work, work->call_count, sizeof *work->records);
    for (uint32_t i = 0; i < work->call_count && !work->refused; i++) {
        if (work->calls[i].call == KINETO_CALL_EVENT_RECORD) {
            work->records[work->record_count++] = (struct link_key){.key = work->calls[i].start_ns, .value = i};
        }
    }
    if (!work->refused) {
        link_keys_sort(work->records, work->record_count);
    }
}

/* True when the profiler said what is waited for, whether or not that makes a dependency. */
static bool wait_recorded(struct link_work *work, uint32_t wait)
{
    const struct link_call *call = &work->calls[wait];
    if (call->sync == KINETO_NONE) {
        return false;
    }
    const struct kineto_event *event = &work->kineto->events[call->sync];
    const struct kineto_sync *sync = &work->kineto->syncs[event->extra];
    if (sync->wait_stream < 0 || (event->has & KINETO_HAS_STREAM) == 0) {
        return false;
    }
    uint32_t record = link_call_of(work, sync->wait_record_corr, call->start_ns);
    uint32_t from_lane = link_lane_of_stream(work, work->next[wait], sync->wait_stream);
    uint32_t to_lane = link_lane_of_stream(work, work->next[wait], event->stream);
    work->wait_record[wait] = record;
    if (from_lane == LINKED_NONE || to_lane == LINKED_NONE || from_lane == to_lane) {
        return true;
    }
    int64_t recorded = record != LINKED_NONE ? work->calls[record].start_ns : call->start_ns;
    uint32_t from = link_lane_before(work, from_lane, recorded);
    uint32_t to = link_lane_after(work, to_lane, call->start_ns);
    if (from != LINKED_NONE && to != LINKED_NONE) {
        link_edge_add(work, to, from);
        work->out->counts.waits_recorded++;
    }
    return true;
}

/* Whether the record could be what `to` waited for. */
static bool deps_stream_fits(const struct link_work *work, uint32_t record, uint32_t to)
{
    uint32_t from = link_recorded(work, record);
    return from != LINKED_NONE && work->out->nodes[from].lane != work->out->nodes[to].lane &&
           work->ends[from] <= work->out->nodes[to].start_ns;
}

static uint32_t find_record(const struct link_work *work, uint32_t wait, uint32_t to)
{
    const struct link_call *call = &work->calls[wait];
    uint32_t first = work->threads[call->thread].first_call;
    uint32_t tried = 0;
    for (uint32_t i = wait; i > first && tried < RECORDS_TRIED; i--, tried++) {
        if (work->calls[i - 1].call == KINETO_CALL_EVENT_RECORD && deps_stream_fits(work, i - 1, to)) {
            return i - 1;
        }
        if (work->calls[i - 1].call == KINETO_CALL_EVENT_RECORD || work->calls[i - 1].first_device != LINKED_NONE) {
            break;
        }
    }
    tried = 0;
    for (uint32_t i = link_keys_below(work->records, work->record_count, call->start_ns);
         i > 0 && tried < RECORDS_TRIED; i--, tried++) {
        if (deps_stream_fits(work, work->records[i - 1].value, to)) {
            return work->records[i - 1].value;
        }
    }
    return LINKED_NONE;
}

static void wait_inferred(struct link_work *work, uint32_t wait)
{
    uint32_t to = work->next[wait];
    uint32_t record = to == LINKED_NONE ? LINKED_NONE : find_record(work, wait, to);
    if (record == LINKED_NONE) {
        return;
    }
    work->wait_record[wait] = record;
    link_edge_add(work, to, link_recorded(work, record));
    work->out->counts.waits_inferred++;
}

void link_waits(struct link_work *work)
{
    work->wait_record = link_alloc(work, work->call_count, sizeof *work->wait_record);
    if (work->refused) {
        return;
    }
    attach_syncs(work);
    list_records(work);
    for (uint32_t i = 0; i < work->call_count && !work->refused; i++) {
        work->wait_record[i] = LINKED_NONE;
        if (work->calls[i].call == KINETO_CALL_STREAM_WAIT && !wait_recorded(work, i)) {
            wait_inferred(work, i);
        }
    }
}
