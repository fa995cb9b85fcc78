/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The future: events by time, first come first served within one time. An event is a number saying what happens and two
 * numbers saying to whom; whoever pops it knows what they mean.
 *
 * Order is the contract. Events of one time leave in the order they were pushed, and an event pushed for the time that
 * is being worked off joins the end of the same line (spec analytical §2.1). Nothing else ever breaks a tie.
 *
 * A container, so it lives below the networks and the engine, which share one. Pushes never fail visibly: when memory
 * is refused the event is dropped and `failed` is set, for the loop to see before it pops again.
 *
 * On request it keeps what each event was caused by, as its user names causes: where one rank stands for many, the
 * order of events of one time is only known to be the same on all of them when their causes are (sim/symmetry.h).
 */
#ifndef ORR_BASE_EVENT_QUEUE_H
#define ORR_BASE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct event {
    uint32_t next; /* in the same slot; 0 = last */
    uint32_t kind;
    uint32_t a, b;
};

/* What caused an event, in its user's numbers. */
struct event_cause {
    uint32_t batch, origin, event;
};

/* Events of one time, first to last. */
struct event_line {
    uint32_t head, tail; /* 0 = none */
};

/* The near future has a line for every nanosecond. */
enum { EVENT_WHEEL = 4096, EVENT_WHEEL_WORDS = EVENT_WHEEL / 64 };

/* One time of the far future. */
struct event_slot {
    uint64_t time;
    struct event_line line;
    uint32_t chain; /* next slot in the same hash bucket, or next free slot */
};

struct event_heap_entry {
    uint64_t time;
    uint32_t slot;
};

struct event_queue {
    uint64_t now;
    bool failed;                          /* memory was refused */
    struct event_line *wheel;             /* times from now to now + EVENT_WHEEL - 1, each at its remainder */
    uint64_t occupied[EVENT_WHEEL_WORDS]; /* bit a line: not empty, or being worked off */
    uint64_t occupied_words;              /* bit a word of the above */
    /* Entry 0 of both pools is never used: index 0 means none, and a refused allocation. */
    struct event *events;
    struct event_slot *slots;
    uint32_t event_free, slot_free;
    uint32_t *buckets;
    uint32_t bucket_shift; /* 64 - log2(number of buckets) */
    struct event_heap_entry *heap;
    uint32_t heap_count;
    uint32_t event_capacity, slot_capacity, heap_capacity;
    /* The far slot pushed to last: events of one time tend to cause events of one other time. */
    uint64_t last_time;
    uint32_t last_slot;
    uint64_t handled;
    struct event_cause *causes; /* by event, as `cause` was when it was pushed; NULL = not kept */
    uint32_t cause_capacity;
    struct event_cause cause;
    struct mem *mem;
};

ORR_MUST_CHECK bool event_queue_init(struct event_queue *queue, struct mem *mem);
void event_queue_free(struct event_queue *queue);
/* Keeps causes from now on; before the first push. False: no memory. */
ORR_MUST_CHECK bool event_queue_keep_causes(struct event_queue *queue);

/* The slow halves of the inline functions below. */
uint32_t event_queue_more_events(struct event_queue *queue);
uint32_t event_queue_open_slot(struct event_queue *queue, uint64_t time);
bool event_queue_next_time(struct event_queue *queue);
void event_queue_keep_cause(struct event_queue *queue, uint32_t event);

static inline uint32_t event_queue_bucket(const struct event_queue *queue, uint64_t time)
{
    return (uint32_t)((time * UINT64_C(0x9E3779B97F4A7C15)) >> queue->bucket_shift);
}

/* The slot of a far time, opened if need be; 0 when refused. */
static inline uint32_t event_queue_slot_of(struct event_queue *queue, uint64_t time)
{
    uint32_t index = queue->buckets[event_queue_bucket(queue, time)];
    while (index != 0 && queue->slots[index].time != time) {
        index = queue->slots[index].chain;
    }
    if (__builtin_expect(index == 0, 0)) {
        index = event_queue_open_slot(queue, time);
    }
    queue->last_slot = index;
    queue->last_time = index == 0 ? UINT64_MAX : time;
    return index;
}

/* `time` must not be before now. Returns the event's index, which stays valid until the event is popped; 0 when
 * refused. Inline whatever the compiler thinks: a run is little else, and a call costs a twentieth of it. */
static inline __attribute__((always_inline)) uint32_t event_queue_push(struct event_queue *queue, uint64_t time,
                                                                       uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t index = queue->event_free;
    if (__builtin_expect(index == 0, 0)) {
        index = event_queue_more_events(queue);
        if (index == 0) {
            return 0;
        }
    }
    struct event *event = &queue->events[index];
    queue->event_free = event->next;
    *event = (struct event){.next = 0, .kind = kind, .a = a, .b = b};
    if (__builtin_expect(queue->causes != NULL, 0)) {
        event_queue_keep_cause(queue, index);
    }

    struct event_line *line;
    uint64_t ahead = time - queue->now;
    if (__builtin_expect(ahead < EVENT_WHEEL, 1)) {
        uint32_t place = (uint32_t)time % EVENT_WHEEL;
        line = &queue->wheel[place];
        queue->occupied[place / 64] |= UINT64_C(1) << place % 64;
        queue->occupied_words |= UINT64_C(1) << place / 64;
    } else {
        uint32_t slot = queue->last_time == time ? queue->last_slot : event_queue_slot_of(queue, time);
        if (slot == 0) {
            return 0;
        }
        line = &queue->slots[slot].line;
    }
    if (line->head == 0) {
        line->head = index;
    } else {
        queue->events[line->tail].next = index;
    }
    line->tail = index;
    return index;
}

/* Whether nothing is to come after the event taken last. */
static inline bool event_queue_is_empty(const struct event_queue *queue)
{
    uint32_t place = (uint32_t)queue->now % EVENT_WHEEL;
    uint64_t others = queue->occupied[place / 64] & ~(UINT64_C(1) << place % 64);
    uint64_t words = queue->occupied_words & ~(UINT64_C(1) << place / 64);
    return queue->wheel[place].head == 0 && others == 0 && words == 0 && queue->heap_count == 0;
}

/* Whether an event is pending whose kind `counts`. Looks at all of them: for once in a while. */
bool event_queue_any(const struct event_queue *queue, bool (*counts)(uint32_t kind));

/* The next event of the time being worked off; index 0, an event that does nothing, when it was the last. */
static inline const struct event *event_queue_peek(const struct event_queue *queue)
{
    return &queue->events[queue->wheel[queue->now % EVENT_WHEEL].head];
}

/* The cause of the event taken last, where causes are kept; before the next push. */
static inline struct event_cause event_queue_cause(const struct event_queue *queue)
{
    return queue->causes[queue->event_free];
}

/* Takes the next event and sets `now` to its time; false when there is none. */
static inline bool event_queue_pop(struct event_queue *queue, struct event *event)
{
    struct event_line *line = &queue->wheel[queue->now % EVENT_WHEEL];
    if (line->head == 0) {
        if (!event_queue_next_time(queue)) {
            return false;
        }
        line = &queue->wheel[queue->now % EVENT_WHEEL];
    }
    uint32_t index = line->head;
    struct event *taken = &queue->events[index];
    *event = *taken;
    line->head = taken->next;
    taken->next = queue->event_free;
    queue->event_free = index;
    queue->handled++;
    return true;
}

#endif
