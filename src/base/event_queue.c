/*
 * A heap of distinct times over first-in-first-out lines. Training runs are full of ties (a thousand ranks doing the
 * same thing at the same nanosecond), so the costly ordered structure holds times, not events: one heap operation
 * serves a whole line, and finding the line of a time that is already pending is one probe of a small hash table.
 */
#include "base/event_queue.h"

#include <string.h>

enum { FIRST_BUCKET_BITS = 6, FIRST_EVENTS = 256, FIRST_SLOTS = 64 };

static uint64_t bucket_count(const struct event_queue *queue)
{
    return UINT64_C(1) << (64 - queue->bucket_shift);
}

bool event_queue_init(struct event_queue *queue, struct mem *mem)
{
    *queue = (struct event_queue){.mem = mem, .bucket_shift = 64 - FIRST_BUCKET_BITS, .last_time = UINT64_MAX};
    queue->buckets = mem_zalloc(mem, (size_t)bucket_count(queue) * sizeof *queue->buckets);
    if (queue->buckets == NULL ||
        !mem_reserve(mem, (void **)&queue->events, &queue->event_capacity, FIRST_EVENTS, sizeof *queue->events) ||
        !mem_reserve(mem, (void **)&queue->slots, &queue->slot_capacity, FIRST_SLOTS, sizeof *queue->slots) ||
        !mem_reserve(mem, (void **)&queue->heap, &queue->heap_capacity, FIRST_SLOTS, sizeof *queue->heap)) {
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
    mem_free(queue->mem, queue->events, (size_t)queue->event_capacity * sizeof *queue->events);
    mem_free(queue->mem, queue->slots, (size_t)queue->slot_capacity * sizeof *queue->slots);
    mem_free(queue->mem, queue->heap, (size_t)queue->heap_capacity * sizeof *queue->heap);
    *queue = (struct event_queue){0};
}

uint32_t event_queue_more_events(struct event_queue *queue)
{
    uint32_t first = queue->event_capacity;
    if (!mem_reserve(queue->mem, (void **)&queue->events, &queue->event_capacity, (uint64_t)first + 1,
                     sizeof *queue->events)) {
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
    if (!mem_reserve(queue->mem, (void **)&queue->slots, &queue->slot_capacity, (uint64_t)first + 1,
                     sizeof *queue->slots)) {
        return false;
    }
    for (uint32_t i = first; i < queue->slot_capacity; i++) {
        queue->slots[i].chain = i + 1 < queue->slot_capacity ? i + 1 : 0;
    }
    queue->slot_free = first;
    return queue->slot_capacity <= bucket_count(queue) || grow_buckets(queue);
}

static void heap_push(struct event_queue *queue, struct event_heap_entry entry)
{
    uint32_t at = queue->heap_count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (queue->heap[parent].time <= entry.time) {
            break;
        }
        queue->heap[at] = queue->heap[parent];
        at = parent;
    }
    queue->heap[at] = entry;
}

static struct event_heap_entry heap_pop(struct event_queue *queue)
{
    struct event_heap_entry top = queue->heap[0];
    struct event_heap_entry last = queue->heap[--queue->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= queue->heap_count) {
            break;
        }
        if (child + 1 < queue->heap_count && queue->heap[child + 1].time < queue->heap[child].time) {
            child++;
        }
        if (queue->heap[child].time >= last.time) {
            break;
        }
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
    return top;
}

uint32_t event_queue_open_slot(struct event_queue *queue, uint64_t time)
{
    if ((queue->slot_free == 0 && !more_slots(queue)) ||
        !mem_reserve(queue->mem, (void **)&queue->heap, &queue->heap_capacity, (uint64_t)queue->heap_count + 1,
                     sizeof *queue->heap)) {
        queue->failed = true;
        return 0;
    }
    uint32_t index = queue->slot_free;
    struct event_slot *slot = &queue->slots[index];
    queue->slot_free = slot->chain;
    uint32_t bucket = event_queue_bucket(queue, time);
    *slot = (struct event_slot){.time = time, .chain = queue->buckets[bucket]};
    queue->buckets[bucket] = index;
    heap_push(queue, (struct event_heap_entry){.time = time, .slot = index});
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

bool event_queue_next_slot(struct event_queue *queue)
{
    if (queue->current != 0) {
        close_slot(queue, queue->current);
        queue->current = 0;
    }
    if (queue->heap_count == 0) {
        return false;
    }
    struct event_heap_entry next = heap_pop(queue);
    queue->current = next.slot;
    queue->now = next.time;
    return true;
}
