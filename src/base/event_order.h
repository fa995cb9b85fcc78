/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that is pending, in the order in which it will be taken, and putting it back at other times. For who wants to
 * skip a stretch of time in which nothing new would happen: list, decide which events belong to that stretch and move
 * with it, and put everything back. Pushing and popping know nothing of this.
 */
#ifndef ORR_BASE_EVENT_ORDER_H
#define ORR_BASE_EVENT_ORDER_H

#include "base/event_queue.h"

struct event_at {
    uint64_t time;
    uint32_t event; /* in the queue's pool */
    bool moves;     /* the caller's: with the stretch that is skipped */
};

struct event_order {
    struct event_at *at;
    uint32_t count, capacity;
};

/* Fills `order`, whose memory is kept from call to call; false when memory is refused. `moves` is false in all. The
 * list holds until the queue is next touched. */
bool event_order_list(struct event_order *order, const struct event_queue *queue);
void event_order_free(struct event_order *order, struct mem *mem);

/*
 * Sets the queue's time `by` further, and with it the events of `order`, which must be the list of this moment, that
 * move. Those that stay must not be before the new time; at equal times they come first, as they would if all that
 * moves had been pushed later. Among themselves both keep their order.
 */
void event_order_move(const struct event_order *order, struct event_queue *queue, uint64_t by);

#endif
