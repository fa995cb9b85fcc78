/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wheel for the near future, one line a nanosecond: a packet's next hop or a neighbour's next step is a push and a
 * pop of a few instructions each, whatever else is pending. Beyond the wheel, a heap of distinct times over lines of
 * their own: training runs are full of ties (a thousand ranks doing the same thing at the same nanosecond), so the
 * costly ordered structure holds times, not events, and finding the line of a pending time is one probe of a small hash
 * table.
 *
 * As time goes on, far times come within the wheel's reach and move there whole. That keeps the order: whoever pushes
 * for such a time afterwards comes later, and nobody could push to its line of the wheel before.
 */
#include "base/event_queue.h"

#include <string.h>

#include "base/heap.h"

enum { FIRST_BUCKET_BITS = 6, FIRST_EVENTS = 256, FIRST_SLOTS = 64 };

static uint64_t bucket_count(const struct event_queue *queue)
{
    return UINT64_C(1) << (64 - queue->bucket_shift);
}

bool event_queue_init(struct event_queue *queue, struct mem *mem)
{
    *queue = (struct event_queue){.mem = mem, .bucket_shift = 64 - FIRST_BUCKET_BITS, .last_time = UINT64_MAX};
    queue->buckets = mem_zalloc(mem, (size_t)bucket_count(queue) * sizeof *queue->buckets);
    queue->wheel = mem_zalloc(mem, EVENT_WHEEL * sizeof *queue->wheel);
    if (queue->buckets == NULL || queue->wheel == NULL ||
        !MEM_RESERVE(mem, queue->events, queue->event_capacity, FIRST_EVENTS) ||
        !MEM_RESERVE(mem, queue->slots, queue->slot_capacity, FIRST_SLOTS) ||
        !MEM_RESERVE(mem, queue->heap, queue->heap_capacity, FIRST_SLOTS)) {
        event_queue_free(queue);
        return false;
    }
    for (uint32_t i = 1; i < FIRST_EVENTS; i++) {
        queue->events[i].next = i + 1 < FIRST_EVENTS ? i + 1 : 0;
    }
    for (uint32_t i = 1; i < FIRST_SLOTS; i++) {
        queue->slots[i].chain = i + 1 < FIRST_SLOTS ? i + 1 : 0;
    }
    queue->events[0] = (struct event){0};
    queue->slots[0] = (struct event_slot){0};
    queue->event_free = 1;
    queue->slot_free = 1;
    return true;
}

void event_queue_free(struct event_queue *queue)
{
    if (queue->mem == NULL) {
        return;
    }
    mem_free(queue->mem, queue->buckets, (size_t)bucket_count(queue) * sizeof *queue->buckets);
    mem_free(queue->mem, queue->wheel, EVENT_WHEEL * sizeof *queue->wheel);
    mem_free(queue->mem, queue->events, (size_t)queue->event_capacity * sizeof *queue->events);
    mem_free(queue->mem, queue->slots, (size_t)queue->slot_capacity * sizeof *queue->slots);
    mem_free(queue->mem, queue->heap, (size_t)queue->heap_capacity * sizeof *queue->heap);
    mem_free(queue->mem, queue->causes, (size_t)queue->cause_capacity * sizeof *queue->causes);
    *queue = (struct event_queue){0};
}

bool event_queue_keep_causes(struct event_queue *queue)
{
    return MEM_RESERVE(queue->mem, queue->causes, queue->cause_capacity, queue->event_capacity);
}

uint32_t event_queue_more_events(struct event_queue *queue)
{
    uint32_t first = queue->event_capacity;
    if (!MEM_GROW(queue->mem, queue->events, queue->event_capacity, first) ||
        (queue->causes != NULL && !event_queue_keep_causes(queue))) {
        queue->failed = true;
        return 0;
    }
    for (uint32_t i = first; i < queue->event_capacity; i++) {
        queue->events[i].next = i + 1 < queue->event_capacity ? i + 1 : 0;
    }
    queue->event_free = first;
    return first;
}

static bool grow_buckets(struct event_queue *queue)
{
    uint64_t old_count = bucket_count(queue);
    uint32_t *wider = mem_zalloc(queue->mem, (size_t)old_count * 2 * sizeof *wider);
    if (wider == NULL) {
        return false;
    }
    uint32_t *old = queue->buckets;
    queue->buckets = wider;
    queue->bucket_shift--;
    for (uint64_t i = 0; i < old_count; i++) {
        uint32_t slot = old[i];
        while (slot != 0) {
            uint32_t following = queue->slots[slot].chain;
            uint32_t bucket = event_queue_bucket(queue, queue->slots[slot].time);
            queue->slots[slot].chain = wider[bucket];
            wider[bucket] = slot;
            slot = following;
        }
    }
    mem_free(queue->mem, old, (size_t)old_count * sizeof *old);
    return true;
}

static bool more_slots(struct event_queue *queue)
{
    uint32_t first = queue->slot_capacity;
    if (!MEM_GROW(queue->mem, queue->slots, queue->slot_capacity, first)) {
        return false;
    }
    for (uint32_t i = first; i < queue->slot_capacity; i++) {
        queue->slots[i].chain = i + 1 < queue->slot_capacity ? i + 1 : 0;
    }
    queue->slot_free = first;
    return queue->slot_capacity <= bucket_count(queue) || grow_buckets(queue);
}

/* Times are unique: events of one time are in one slot. */
#define EVENT_IS_BEFORE(context, a, b) ((a)->time < (b)->time)
HEAP_DEFINE(event_heap, struct event_heap_entry, const void *, EVENT_IS_BEFORE, HEAP_PUT);

uint32_t event_queue_open_slot(struct event_queue *queue, uint64_t time)
{
    if ((queue->slot_free == 0 && !more_slots(queue)) ||
        !MEM_GROW(queue->mem, queue->heap, queue->heap_capacity, queue->heap_count)) {
        queue->failed = true;
        return 0;
    }
    uint32_t index = queue->slot_free;
    struct event_slot *slot = &queue->slots[index];
    queue->slot_free = slot->chain;
    uint32_t bucket = event_queue_bucket(queue, time);
    *slot = (struct event_slot){.time = time, .chain = queue->buckets[bucket]};
    queue->buckets[bucket] = index;
    event_heap_push(NULL, queue->heap, &queue->heap_count, (struct event_heap_entry){.time = time, .slot = index});
    return index;
}

static void close_slot(struct event_queue *queue, uint32_t index)
{
    uint32_t *link = &queue->buckets[event_queue_bucket(queue, queue->slots[index].time)];
    while (*link != index) {
        link = &queue->slots[*link].chain;
    }
    *link = queue->slots[index].chain;
    if (queue->last_slot == index) {
        queue->last_slot = 0;
        queue->last_time = UINT64_MAX;
    }
    queue->slots[index].chain = queue->slot_free;
    queue->slot_free = index;
}

/* The next line of the wheel that has events, as its distance from now; 0 when there is none. */
static uint32_t next_occupied(const struct event_queue *queue)
{
    uint32_t start = (uint32_t)(queue->now + 1) % EVENT_WHEEL;
    uint32_t word = start / 64;
    uint64_t bits = queue->occupied[word] & (UINT64_MAX << start % 64);
    if (bits == 0) {
        uint64_t above = word + 1 < EVENT_WHEEL_WORDS ? queue->occupied_words & (UINT64_MAX << (word + 1)) : 0;
        uint64_t words = above != 0 ? above : queue->occupied_words;
        if (words == 0) {
            return 0;
        }
        word = (uint32_t)__builtin_ctzll(words);
        bits = queue->occupied[word];
    }
    uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
    return (place - start) % EVENT_WHEEL + 1;
}

/* Far times that the wheel reaches now move there. */
static void bring_near(struct event_queue *queue)
{
    while (queue->heap_count > 0 && queue->heap[0].time - queue->now < EVENT_WHEEL) {
        struct event_heap_entry near = event_heap_pop(NULL, queue->heap, &queue->heap_count);
        uint32_t place = (uint32_t)near.time % EVENT_WHEEL;
        queue->wheel[place] = queue->slots[near.slot].line;
        queue->occupied[place / 64] |= UINT64_C(1) << place % 64;
        queue->occupied_words |= UINT64_C(1) << place / 64;
        close_slot(queue, near.slot);
    }
}

void event_queue_keep_cause(struct event_queue *queue, uint32_t event)
{
    queue->causes[event] = queue->cause;
}

bool event_queue_next_time(struct event_queue *queue)
{
    uint32_t done = (uint32_t)queue->now % EVENT_WHEEL;
    queue->occupied[done / 64] &= ~(UINT64_C(1) << done % 64);
    if (queue->occupied[done / 64] == 0) {
        queue->occupied_words &= ~(UINT64_C(1) << done / 64);
    }
    uint32_t ahead = next_occupied(queue);
    if (ahead == 0 && queue->heap_count == 0) {
        return false;
    }
    queue->now = ahead != 0 ? queue->now + ahead : queue->heap[0].time;
    bring_near(queue);
    return true;
}

static bool line_any(const struct event_queue *queue, uint32_t head, bool (*counts)(uint32_t kind))
{
    for (uint32_t event = head; event != 0; event = queue->events[event].next) {
        if (counts(queue->events[event].kind)) {
            return true;
        }
    }
    return false;
}

bool event_queue_any(const struct event_queue *queue, bool (*counts)(uint32_t kind))
{
    for (uint32_t place = 0; place < EVENT_WHEEL; place++) {
        if (line_any(queue, queue->wheel[place].head, counts)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < queue->heap_count; i++) {
        if (line_any(queue, queue->slots[queue->heap[i].slot].line.head, counts)) {
            return true;
        }
    }
    return false;
}
