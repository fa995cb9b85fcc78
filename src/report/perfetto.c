/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message inside another stands behind its length, so that each is put together in a buffer of its own, inner ones
 * first: arguments, the event, the packet. Numbers of fields are those of perfetto's published .proto files.
 *
 * All packets are of one sequence, and names are interned in it: a text is told with the first event that uses it.
 * Tracks have small numbers, which take few bytes in every event.
 */
#include "report/perfetto.h"

#include <string.h>

#include "base/intern.h"
#include "io/wire.h"
#include "report/events.h"

enum { TRACE_PACKET = 1 };

enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5, TRACK_COUNTER = 8, TRACK_CHILDREN = 11, TRACK_RANK = 12 };

enum { CHILDREN_EXPLICIT = 3 };

enum { COUNTER_UNIT = 3, UNIT_COUNT = 2, UNIT_BYTES = 3 };

enum {
    EVENT_CATEGORY = 3, /* interned */
    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10, /* interned */
    EVENT_TRACK = 11,
    EVENT_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_COUNTER = 4 };

enum { ARGUMENT_NAME = 1, ARGUMENT_UNSIGNED = 3, ARGUMENT_SIGNED = 4, ARGUMENT_TEXT = 17 };

/* Kinds of interned texts, and their fields in InternedData; each entry has its number and its text. */
enum { INTERNED_CATEGORY, INTERNED_NAME, INTERNED_ARGUMENT, INTERNED_TEXT, INTERNED_KINDS };

static const uint32_t interned_fields[INTERNED_KINDS] = {1, 2, 3, 29};

enum { INTERNED_NUMBER = 1, INTERNED_STRING = 2 };

enum { JOB_TRACK = 1 }; /* ranks follow it */

/* ---- messages ---- */

struct message {
    void *bytes;
    size_t size, capacity;
};

struct perfetto {
    const struct sim_result *result;
    FILE *stream;
    struct mem *mem;
    struct message packet, event, interned, part;
    struct intern texts[INTERNED_KINDS];
    uint64_t next_track;
    bool begun; /* a packet was written */
    bool refused;
    /* of the counters' rank */
    uint32_t counter_rank;
    uint64_t counter_tracks[REPORT_COUNTERS];
};

static void perfetto_bytes(struct perfetto *to, struct message *message, const void *bytes, size_t size)
{
    if (to->refused || !mem_reserve_bytes(to->mem, &message->bytes, &message->capacity, message->size, size)) {
        to->refused = true;
        return;
    }
    memcpy((uint8_t *)message->bytes + message->size, bytes, size);
    message->size += size;
}

static void perfetto_number(struct perfetto *to, struct message *message, uint32_t field, uint64_t value)
{
    uint8_t bytes[2 * WIRE_VARINT_MAX];
    size_t size = wire_varint_put(bytes, WIRE_TAG(field, WIRE_VARINT));
    perfetto_bytes(to, message, bytes, size + wire_varint_put(bytes + size, value));
}

static void perfetto_fixed(struct perfetto *to, struct message *message, uint32_t field, uint64_t value)
{
    uint8_t bytes[WIRE_TAG_MAX + sizeof value];
    size_t size = wire_varint_put(bytes, WIRE_TAG(field, WIRE_FIXED64));
    uint64_t word = htole64(value);
    memcpy(bytes + size, &word, sizeof word);
    perfetto_bytes(to, message, bytes, size + sizeof word);
}

static void perfetto_span(struct perfetto *to, struct message *message, uint32_t field, const void *span, size_t length)
{
    uint8_t bytes[2 * WIRE_VARINT_MAX];
    size_t size = wire_varint_put(bytes, WIRE_TAG(field, WIRE_BYTES));
    perfetto_bytes(to, message, bytes, size + wire_varint_put(bytes + size, length));
    perfetto_bytes(to, message, span, length);
}

/* Puts `inner` into `message` and empties it. */
static void perfetto_inner(struct perfetto *to, struct message *message, uint32_t field, struct message *inner)
{
    perfetto_span(to, message, field, inner->bytes != NULL ? inner->bytes : "", inner->size);
    inner->size = 0;
}

/* A packet is whole. */
static void perfetto_packet(struct perfetto *to)
{
    uint8_t head[1 + WIRE_VARINT_MAX] = {WIRE_TAG(TRACE_PACKET, WIRE_BYTES)};
    perfetto_number(to, &to->packet, PACKET_SEQUENCE, 1);
    perfetto_number(to, &to->packet, PACKET_FLAGS, to->begun ? FLAG_NEEDS_STATE : FLAG_CLEARED);
    if (!to->refused) {
        (void)fwrite(head, 1, 1 + wire_varint_put(head + 1, to->packet.size), to->stream);
        (void)fwrite(to->packet.bytes, 1, to->packet.size, to->stream);
    }
    to->packet.size = 0;
    to->begun = true;
}

/* The number of a text, told to the reader where it is new. */
static uint64_t perfetto_interned(struct perfetto *to, uint32_t kind, const char *text)
{
    struct intern *texts = &to->texts[kind];
    uint32_t before = intern_count(texts), number = 0;
    size_t length = strlen(text);
    if (!intern_add(texts, text, length, &number)) {
        to->refused = true;
    } else if (number == before) {
        perfetto_number(to, &to->part, INTERNED_NUMBER, number);
        perfetto_span(to, &to->part, INTERNED_STRING, text, length);
        perfetto_inner(to, &to->interned, interned_fields[kind], &to->part);
    }
    return number;
}

/* ---- tracks ---- */

enum track_kind { TRACK_OF_SLICES, TRACK_OF_TRACKS, TRACK_OF_COUNTS, TRACK_OF_BYTES };

/* `parent` 0: none. Tracks of one parent are shown by `place`. */
static void perfetto_track(struct perfetto *to, uint64_t track, uint64_t parent, const char *name, uint32_t place,
                           enum track_kind kind)
{
    perfetto_number(to, &to->event, TRACK_UUID, track);
    perfetto_span(to, &to->event, TRACK_NAME, name, strlen(name));
    if (parent != 0) {
        perfetto_number(to, &to->event, TRACK_PARENT, parent);
    }
    if (kind == TRACK_OF_COUNTS || kind == TRACK_OF_BYTES) {
        perfetto_number(to, &to->part, COUNTER_UNIT, kind == TRACK_OF_BYTES ? UNIT_BYTES : UNIT_COUNT);
        perfetto_inner(to, &to->event, TRACK_COUNTER, &to->part);
    } else if (kind == TRACK_OF_TRACKS) {
        perfetto_number(to, &to->event, TRACK_CHILDREN, CHILDREN_EXPLICIT);
    }
    perfetto_number(to, &to->event, TRACK_RANK, place);
    perfetto_inner(to, &to->packet, PACKET_TRACK, &to->event);
    perfetto_packet(to);
}

static uint64_t rank_track(uint32_t rank)
{
    return JOB_TRACK + 1 + (uint64_t)rank;
}

/* ---- events ---- */

static void perfetto_event(struct perfetto *to, uint64_t time_ns)
{
    perfetto_number(to, &to->packet, PACKET_TIMESTAMP, time_ns);
    if (to->interned.size > 0) {
        perfetto_inner(to, &to->packet, PACKET_INTERNED, &to->interned);
    }
    perfetto_inner(to, &to->packet, PACKET_EVENT, &to->event);
    perfetto_packet(to);
}

static void perfetto_argument(struct perfetto *to, const struct report_argument *argument)
{
    uint64_t name = perfetto_interned(to, INTERNED_ARGUMENT, argument->name);
    uint64_t text = argument->text != NULL ? perfetto_interned(to, INTERNED_TEXT, argument->text) : 0;
    perfetto_number(to, &to->part, ARGUMENT_NAME, name);
    if (argument->text != NULL) {
        perfetto_number(to, &to->part, ARGUMENT_TEXT, text);
    } else {
        perfetto_number(to, &to->part, argument->is_signed ? ARGUMENT_SIGNED : ARGUMENT_UNSIGNED, argument->number);
    }
    perfetto_inner(to, &to->event, EVENT_ARGUMENT, &to->part);
}

static void perfetto_slice(struct perfetto *to, const struct report_events *events, uint32_t place, uint64_t track)
{
    const struct report_waits *waits = &events->waits;
    const struct sim_interval *one = &to->result->intervals[waits->order[place]];
    struct report_slice slice;
    enum report_flow flow;
    report_slice_of(to->result, one, waits->thread[place], &slice);
    perfetto_number(to, &to->event, EVENT_TYPE, TYPE_BEGIN);
    perfetto_number(to, &to->event, EVENT_TRACK, track);
    perfetto_number(to, &to->event, EVENT_CATEGORY, perfetto_interned(to, INTERNED_CATEGORY, slice.category));
    perfetto_number(to, &to->event, EVENT_NAME, perfetto_interned(to, INTERNED_NAME, slice.name));
    for (uint32_t i = 0; i < slice.argument_count; i++) {
        perfetto_argument(to, &slice.arguments[i]);
    }
    for (uint32_t i = events->first_leaving[place]; i < events->first_leaving[place + 1]; i++) {
        perfetto_fixed(to, &to->event, EVENT_FLOW, events->leaving[i]);
    }
    if (report_flow_into(events, place, true, &flow) != REPORT_NO_WAIT) {
        perfetto_fixed(to, &to->event, EVENT_FLOW_ENDS, report_flow_number(place, true));
    }
    perfetto_event(to, one->start_ns);
    perfetto_number(to, &to->event, EVENT_TYPE, TYPE_END);
    perfetto_number(to, &to->event, EVENT_TRACK, track);
    if (report_flow_into(events, place, false, &flow) != REPORT_NO_WAIT) {
        perfetto_fixed(to, &to->event, EVENT_FLOW_ENDS, report_flow_number(place, false));
    }
    perfetto_event(to, one->end_ns);
}

/* One of the tracks that a thread's slices are spread over. */
struct spread_track {
    uint64_t track, free_ns;
};

/* Places `from` to `to` are one thread's, by start. */
static void perfetto_thread(struct perfetto *to, const struct report_events *events, uint32_t from, uint32_t end,
                            struct spread_track **tracks, uint32_t *room)
{
    const struct sim_interval *intervals = to->result->intervals;
    const uint32_t *order = events->waits.order;
    uint32_t rank = intervals[order[from]].rank, thread = events->waits.thread[from], count = 0;
    char name[REPORT_LANE_NAME];
    report_lanes_name(to->result, rank, thread, name);
    for (uint32_t place = from; place < end && !to->refused; place++) {
        const struct sim_interval *one = &intervals[order[place]];
        uint32_t at = 0;
        while (at < count && (*tracks)[at].free_ns > one->start_ns) {
            at++;
        }
        if (at == count) {
            if (!mem_reserve(to->mem, (void **)tracks, room, (uint64_t)count + 1, sizeof **tracks)) {
                to->refused = true;
                return;
            }
            (*tracks)[count++] = (struct spread_track){.track = to->next_track++};
            perfetto_track(to, (*tracks)[at].track, rank_track(rank), name, thread, TRACK_OF_SLICES);
        }
        (*tracks)[at].free_ns = one->end_ns;
        perfetto_slice(to, events, place, (*tracks)[at].track);
    }
}

static void perfetto_slices(struct perfetto *to, const struct report_events *events)
{
    const struct report_waits *waits = &events->waits;
    struct spread_track *tracks = NULL;
    uint32_t room = 0;
    for (uint32_t from = 0, end = 0; from < waits->count; from = end) {
        uint32_t rank = to->result->intervals[waits->order[from]].rank;
        for (end = from; end < waits->count && waits->thread[end] == waits->thread[from] &&
                         to->result->intervals[waits->order[end]].rank == rank;
             end++) {
        }
        perfetto_thread(to, events, from, end, &tracks, &room);
    }
    mem_free(to->mem, tracks, room * sizeof *tracks);
}

static void perfetto_counter(void *context, uint32_t rank, enum report_counter counter, uint64_t time_ns,
                             uint64_t value)
{
    struct perfetto *to = context;
    const struct report_counter_words *words = &report_counter_words[counter];
    if (to->counter_rank != rank) {
        memset(to->counter_tracks, 0, sizeof to->counter_tracks);
        to->counter_rank = rank;
    }
    if (to->counter_tracks[counter] == 0) {
        char name[64];
        bool bytes = strcmp(words->unit, "bytes") == 0;
        (void)snprintf(name, sizeof name, words->unit[0] == '\0' || bytes ? "%s" : "%s (%s)", words->name, words->unit);
        to->counter_tracks[counter] = to->next_track++;
        perfetto_track(to, to->counter_tracks[counter], rank == REPORT_ALL_RANKS ? JOB_TRACK : rank_track(rank), name,
                       rank == REPORT_ALL_RANKS ? counter : 1000 + counter, bytes ? TRACK_OF_BYTES : TRACK_OF_COUNTS);
    }
    perfetto_number(to, &to->event, EVENT_TYPE, TYPE_COUNTER);
    perfetto_number(to, &to->event, EVENT_TRACK, to->counter_tracks[counter]);
    perfetto_number(to, &to->event, EVENT_VALUE, value);
    perfetto_event(to, time_ns);
}

static void perfetto_free(struct perfetto *to)
{
    struct message *const messages[] = {&to->packet, &to->event, &to->interned, &to->part};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        mem_free(to->mem, messages[i]->bytes, messages[i]->capacity);
    }
    for (uint32_t kind = 0; kind < INTERNED_KINDS; kind++) {
        intern_free(&to->texts[kind]);
    }
}

enum orr_status report_perfetto_write(const struct sim_result *result, FILE *stream, struct orr_error *err)
{
    struct report_events events;
    enum orr_status status = report_events_make(result, &events, err);
    if (status != ORR_OK) {
        return status;
    }
    struct perfetto to = {.result = result,
                          .stream = stream,
                          .mem = result->config->traces->mem,
                          .next_track = rank_track(result->rank_count),
                          .counter_rank = result->rank_count};
    for (uint32_t kind = 0; kind < INTERNED_KINDS; kind++) {
        intern_init(&to.texts[kind], to.mem);
    }
    perfetto_track(&to, JOB_TRACK, 0, "job", 0, TRACK_OF_TRACKS);
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        char name[32];
        (void)snprintf(name, sizeof name, "rank %u", rank);
        perfetto_track(&to, rank_track(rank), JOB_TRACK, name, REPORT_COUNTERS + rank, TRACK_OF_TRACKS);
    }
    perfetto_slices(&to, &events);
    status = report_counters_walk(result, &events, perfetto_counter, &to, err);
    if (status == ORR_OK && to.refused) {
        status = mem_error(to.mem, "the packets of the timeline", err);
    }
    perfetto_free(&to);
    report_events_free(&events);
    return status;
}
