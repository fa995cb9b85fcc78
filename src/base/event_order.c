/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wheel is read from now on round, then the far times in order. Moving takes everything out and puts it back: it
 * happens once for thousands of events that need not be handled at all.
 */
#include "base/event_order.h"

#include <stdlib.h>
#include <string.h>

static bool add_line(struct event_order *order, const struct event_queue *queue, uint64_t time, uint32_t head)
{
    for (uint32_t event = head; event != 0; event = queue->events[event].next) {
        if (order->count == order->capacity && !MEM_GROW(queue->mem, order->at, order->capacity, order->count)) {
            return false;
        }
        order->at[order->count++] = (struct event_at){.time = time, .event = event};
    }
    return true;
}

/* Words of the wheel from that of now on; the first is looked at again at the end, for what lies before now in it. */
static bool add_near(struct event_order *order, const struct event_queue *queue)
{
    uint32_t start = (uint32_t)(queue->now % EVENT_WHEEL);
    for (uint32_t i = 0; i <= EVENT_WHEEL_WORDS; i++) {
        uint32_t word = (start / 64 + i) % EVENT_WHEEL_WORDS;
        uint64_t late = UINT64_MAX << start % 64;
        uint64_t bits = queue->occupied[word] & (i == 0 ? late : i == EVENT_WHEEL_WORDS ? ~late : UINT64_MAX);
        for (; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            uint64_t time = queue->now + (place - start) % EVENT_WHEEL;
            if (!add_line(order, queue, time, queue->wheel[place].head)) {
                return false;
            }
        }
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct event_heap_entry *one = a;
    const struct event_heap_entry *other = b;
    return one->time < other->time ? -1 : one->time > other->time;
}

static bool event_order_add_far(struct event_order *order, const struct event_queue *queue)
{
    if (queue->heap_count == 0) {
        return true;
    }
    size_t bytes = queue->heap_count * sizeof *queue->heap;
    struct event_heap_entry *times = mem_alloc(queue->mem, bytes);
    if (times == NULL) {
        return false;
    }
    memcpy(times, queue->heap, bytes);
    qsort(times, queue->heap_count, sizeof *times, by_time);
    bool added = true;
    for (uint32_t i = 0; added && i < queue->heap_count; i++) {
        added = add_line(order, queue, times[i].time, queue->slots[times[i].slot].line.head);
    }
    mem_free(queue->mem, times, bytes);
    return added;
}

bool event_order_list(struct event_order *order, const struct event_queue *queue)
{
    order->count = 0;
    return add_near(order, queue) && event_order_add_far(order, queue);
}

void event_order_free(struct event_order *order, struct mem *mem)
{
    mem_free(mem, order->at, (size_t)order->capacity * sizeof *order->at);
    *order = (struct event_order){0};
}

/* Takes all events off their lines; they stay in the pool. */
static void empty(struct event_queue *queue)
{
    memset(queue->wheel, 0, EVENT_WHEEL * sizeof *queue->wheel);
    memset(queue->occupied, 0, sizeof queue->occupied);
    queue->occupied_words = 0;
    memset(queue->buckets, 0, ((size_t)1 << (64 - queue->bucket_shift)) * sizeof *queue->buckets);
    for (uint32_t i = 1; i < queue->slot_capacity; i++) {
        queue->slots[i].chain = i + 1 < queue->slot_capacity ? i + 1 : 0;
    }
    queue->slot_free = 1;
    queue->heap_count = 0;
    queue->last_time = UINT64_MAX;
    queue->last_slot = 0;
}

/* As a push of an event that is in the pool already. There is room: no more times are far than were before. */
static void event_order_put(struct event_queue *queue, uint64_t time, uint32_t index)
{
    struct event_line *line;
    if (time - queue->now < EVENT_WHEEL) {
        uint32_t place = (uint32_t)(time % EVENT_WHEEL);
        line = &queue->wheel[place];
        queue->occupied[place / 64] |= UINT64_C(1) << place % 64;
        queue->occupied_words |= UINT64_C(1) << place / 64;
    } else {
        line = &queue->slots[event_queue_slot_of(queue, time)].line;
    }
    queue->events[index].next = 0;
    if (line->head == 0) {
        line->head = index;
    } else {
        queue->events[line->tail].next = index;
    }
    line->tail = index;
}

void event_order_move(const struct event_order *order, struct event_queue *queue, uint64_t by)
{
    empty(queue);
    queue->now += by;
    for (uint32_t i = 0; i < order->count; i++) {
        if (!order->at[i].moves) {
            event_order_put(queue, order->at[i].time, order->at[i].event);
        }
    }
    for (uint32_t i = 0; i < order->count; i++) {
        if (order->at[i].moves) {
            event_order_put(queue, order->at[i].time + by, order->at[i].event);
        }
    }
}
