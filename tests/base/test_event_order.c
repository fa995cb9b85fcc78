/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at all that is to come, and putting it off: nothing is lost, and everything keeps its order. */
#include "base/event_order.h"
#include "tests/check.h"
#include "tests/prng.h"

enum { EVENTS = 400 };

/* A queue that has run for a while, with events near and far; odd names are those that will move. */
static void fill(struct event_queue *queue, struct mem *mem, struct prng *prng)
{
    struct event event;
    *mem = (struct mem){0};
    CHECK(event_queue_init(queue, mem), "memory is given");
    CHECK(event_queue_push(queue, 1 + prng_below(prng, 10000), 7, 0, 0) != 0, "an event is taken in");
    CHECK(event_queue_pop(queue, &event), "and comes out");
    for (uint32_t i = 1; i <= EVENTS; i++) {
        uint32_t reach = i % 3 == 0 ? 20 : i % 3 == 1 ? 5000 : 100000;
        CHECK(event_queue_push(queue, queue->now + prng_below(prng, reach), 7, i, 0) != 0, "an event is taken in");
    }
}

static void the_list_is_what_will_be_popped(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct prng prng = {seed};
        struct mem mem;
        struct event_queue queue;
        struct event_order order = {0};
        struct event event = {0};
        fill(&queue, &mem, &prng);
        CHECK(event_order_list(&order, &queue), "memory is given");
        CHECK_U64(order.count, EVENTS, "all are listed");
        for (uint32_t i = 0; i < order.count; i++) {
            uint32_t name = queue.events[order.at[i].event].a; /* the pool's entry is not reused: nothing is pushed */
            CHECK(event_queue_pop(&queue, &event), "as many can be popped");
            CHECK_U64(event.a, name, "in the same order, seed %" PRIu64, seed);
            CHECK_U64(queue.now, order.at[i].time, "at the same time, seed %" PRIu64, seed);
        }
        event_order_free(&order, &mem);
        event_queue_free(&queue);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

/* Against a plain queue to which the events are pushed at their new times, those that stay before those that move. */
static void what_moves_keeps_its_order_and_what_stays_its_time(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct prng prng = {seed};
        struct mem mem, plain_mem = {0};
        struct event_queue queue, plain;
        struct event_order order = {0};
        struct event moved = {0}, pushed = {0};
        uint64_t by = seed % 4 == 0 ? prng_below(&prng, 4000) : prng_below(&prng, 1000000);
        fill(&queue, &mem, &prng);
        CHECK(event_queue_init(&plain, &plain_mem), "memory is given");
        CHECK(event_order_list(&order, &queue), "memory is given");
        plain.now = queue.now + by;
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t i = 0; i < order.count; i++) {
                struct event_at *at = &order.at[i];
                at->moves = queue.events[at->event].a % 2 == 1 || at->time < plain.now;
                if (at->moves == (pass == 1)) {
                    uint32_t name = queue.events[at->event].a;
                    (void)event_queue_push(&plain, at->time + (at->moves ? by : 0), 7, name, 0);
                }
            }
        }
        event_order_move(&order, &queue, by);
        for (uint32_t i = 0; i < EVENTS; i++) {
            CHECK(event_queue_pop(&queue, &moved) && event_queue_pop(&plain, &pushed), "all are there");
            CHECK_U64(moved.a, pushed.a, "who is number %u, seed %" PRIu64, i, seed);
            CHECK_U64(queue.now, plain.now, "and when, seed %" PRIu64, seed);
            if (prng_below(&prng, 4) == 0) {
                (void)event_queue_push(&queue, queue.now + i * UINT64_C(50), 7, EVENTS + i, 0);
                (void)event_queue_push(&plain, plain.now + i * UINT64_C(50), 7, EVENTS + i, 0);
            }
        }
        event_order_free(&order, &mem);
        event_queue_free(&queue);
        event_queue_free(&plain);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

TEST_MAIN(the_list_is_what_will_be_popped, what_moves_keeps_its_order_and_what_stays_its_time)
