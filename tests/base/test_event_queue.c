/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the future: by time, and within one time by who came first, whatever else happens. */
#include "base/event_queue.h"
#include "tests/check.h"
#include "tests/prng.h"

static void open_queue(struct event_queue *queue, struct mem *mem)
{
    *mem = (struct mem){0};
    CHECK(event_queue_init(queue, mem), "without a limit a queue can be made");
}

static void close_queue(struct event_queue *queue, struct mem *mem)
{
    event_queue_free(queue);
    CHECK_U64(mem->used, 0, "all memory is given back");
}

static void push(struct event_queue *queue, uint64_t time, uint32_t name)
{
    CHECK(event_queue_push(queue, time, 7, name, ~name) != 0, "an event is taken in");
}

static void expect(struct event_queue *queue, uint64_t time, uint32_t name)
{
    struct event event = {0};
    CHECK(event_queue_pop(queue, &event), "there is an event named %u", name);
    CHECK_U64(event.a, name, "who comes at %" PRIu64, time);
    CHECK_U64(queue->now, time, "when %u comes", name);
    CHECK(event.kind == 7 && event.b == ~name, "an event comes out as it went in");
}

static void expect_nothing(struct event_queue *queue)
{
    struct event event;
    CHECK(!event_queue_pop(queue, &event), "the queue is empty");
}

static void an_empty_queue_has_nothing_to_pop(void **state)
{
    (void)state;
    struct mem mem;
    struct event_queue queue;
    open_queue(&queue, &mem);
    expect_nothing(&queue);
    push(&queue, 0, 1);
    expect(&queue, 0, 1);
    expect_nothing(&queue);
    expect_nothing(&queue);
    close_queue(&queue, &mem);
}

static void events_of_one_time_leave_in_the_order_they_were_pushed(void **state)
{
    (void)state;
    struct mem mem;
    struct event_queue queue;
    open_queue(&queue, &mem);
    for (uint32_t i = 0; i < 1000; i++) {
        push(&queue, i % 3 == 0 ? 20 : 10, i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        if (i % 3 != 0) {
            expect(&queue, 10, i);
        }
    }
    for (uint32_t i = 0; i < 1000; i += 3) {
        expect(&queue, 20, i);
    }
    expect_nothing(&queue);
    close_queue(&queue, &mem);
}

static void a_push_for_now_joins_the_end_of_the_line(void **state)
{
    (void)state;
    struct mem mem;
    struct event_queue queue;
    open_queue(&queue, &mem);
    push(&queue, 5, 1);
    push(&queue, 5, 2);
    push(&queue, 6, 9);
    expect(&queue, 5, 1);
    push(&queue, 5, 3);
    expect(&queue, 5, 2);
    expect(&queue, 5, 3);
    push(&queue, 5, 4); /* the line is empty, but its time is not over */
    expect(&queue, 5, 4);
    expect(&queue, 6, 9);
    expect_nothing(&queue);
    close_queue(&queue, &mem);
}

static void a_drained_queue_can_be_filled_again_at_the_same_time(void **state)
{
    (void)state;
    struct mem mem;
    struct event_queue queue;
    open_queue(&queue, &mem);
    push(&queue, 5, 1);
    expect(&queue, 5, 1);
    expect_nothing(&queue);
    push(&queue, 5, 2);
    push(&queue, 5, 3);
    expect(&queue, 5, 2);
    expect(&queue, 5, 3);
    close_queue(&queue, &mem);
}

static void times_far_apart_stay_in_order(void **state)
{
    (void)state;
    struct mem mem;
    struct event_queue queue;
    open_queue(&queue, &mem);
    for (uint32_t bit = 62; bit > 0; bit--) {
        push(&queue, UINT64_C(1) << bit, bit);
    }
    for (uint32_t bit = 1; bit <= 62; bit++) {
        expect(&queue, UINT64_C(1) << bit, bit);
    }
    expect_nothing(&queue);
    close_queue(&queue, &mem);
}

/* The slowest right answer: look through everything for the earliest, the first pushed among equals. */
struct naive {
    uint64_t time[20000];
    uint32_t first, count; /* events before `first` have all left */
    bool gone[20000];
};

static bool naive_pop(struct naive *naive, uint32_t *name)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = naive->first; i < naive->count; i++) {
        if (!naive->gone[i] && (best == UINT32_MAX || naive->time[i] < naive->time[best])) {
            best = i;
        }
    }
    if (best == UINT32_MAX) {
        return false;
    }
    naive->gone[best] = true;
    while (naive->first < naive->count && naive->gone[naive->first]) {
        naive->first++;
    }
    *name = best;
    return true;
}

static void check_against_naive(uint64_t seed, uint32_t spread, uint32_t pushes)
{
    static struct naive naive;
    naive = (struct naive){0};
    struct prng prng = {seed};
    struct mem mem;
    struct event_queue queue;
    open_queue(&queue, &mem);
    uint32_t popped = 0;
    while (popped < pushes) {
        bool may_push = naive.count < pushes;
        if (may_push && (naive.count == popped || prng_below(&prng, 100) < 55)) {
            uint64_t time = queue.now + prng_below(&prng, spread);
            naive.time[naive.count] = time;
            push(&queue, time, naive.count);
            naive.count++;
            continue;
        }
        uint32_t name = 0;
        CHECK(naive_pop(&naive, &name), "something is left");
        expect(&queue, naive.time[name], name);
        popped++;
    }
    expect_nothing(&queue);
    CHECK_U64(queue.handled, pushes, "events handled, seed %" PRIu64, seed);
    close_queue(&queue, &mem);
}

static void any_mixture_of_pushes_and_pops_leaves_in_order(void **state)
{
    (void)state;
    static const uint32_t spreads[] = {1, 2, 7, 50, 1000, 1000000};
    for (uint32_t i = 0; i < COUNT_OF(spreads); i++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            check_against_naive(seed * 100 + i, spreads[i], 4000);
        }
    }
}

static void a_refused_push_is_dropped_and_remembered(void **state)
{
    (void)state;
    for (uint32_t times = 1; times <= 2; times++) { /* one line that grows; a line for each event */
        struct mem mem;
        struct event_queue queue;
        open_queue(&queue, &mem);
        mem.limit = mem.used + 20000;
        uint32_t taken = 0;
        while (event_queue_push(&queue, times == 1 ? 3 : taken, 7, taken, ~taken) != 0) {
            taken++;
            CHECK(taken < 100000, "the limit is met");
        }
        CHECK(queue.failed, "a refusal is remembered");
        CHECK(taken >= 255 || times == 2, "what there was room for is in");
        for (uint32_t i = 0; i < taken; i++) {
            expect(&queue, times == 1 ? 3 : i, i);
        }
        expect_nothing(&queue);
        close_queue(&queue, &mem);
    }
}

static void a_queue_without_room_to_begin_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    bool made = false;
    for (uint64_t limit = 1; !made; limit += 97) {
        struct mem mem = {.limit = limit};
        struct event_queue queue;
        made = event_queue_init(&queue, &mem);
        event_queue_free(&queue);
        CHECK_U64(mem.used, 0, "limit %" PRIu64, limit);
    }
}

static bool is_seven(uint32_t kind)
{
    return kind == 7;
}

static void what_is_pending_can_be_asked_for_near_and_far(void **state)
{
    (void)state;
    static const uint64_t times[] = {5, 5 + EVENT_WHEEL - 1, 5 + EVENT_WHEEL, UINT64_C(1) << 40};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct mem mem;
        struct event_queue queue;
        struct event event;
        open_queue(&queue, &mem);
        CHECK(!event_queue_any(&queue, is_seven), "an empty queue has none");
        (void)event_queue_push(&queue, 5, 1, 0, 0);
        (void)event_queue_push(&queue, 5, 2, 0, 0);
        CHECK(event_queue_pop(&queue, &event), "there is one");
        (void)event_queue_push(&queue, times[i], 3, 0, 0);
        CHECK(!event_queue_any(&queue, is_seven), "others do not count");
        (void)event_queue_push(&queue, times[i], 7, 0, 0);
        CHECK(event_queue_any(&queue, is_seven), "found at %" PRIu64, times[i]);
        while (event_queue_pop(&queue, &event)) {
            CHECK(event.kind == 7 || event_queue_any(&queue, is_seven), "found until it is taken");
        }
        CHECK(!event_queue_any(&queue, is_seven), "taken");
        close_queue(&queue, &mem);
    }
}

TEST_MAIN(an_empty_queue_has_nothing_to_pop, events_of_one_time_leave_in_the_order_they_were_pushed,
          a_push_for_now_joins_the_end_of_the_line, a_drained_queue_can_be_filled_again_at_the_same_time,
          times_far_apart_stay_in_order, any_mixture_of_pushes_and_pops_leaves_in_order,
          what_is_pending_can_be_asked_for_near_and_far, a_refused_push_is_dropped_and_remembered,
          a_queue_without_room_to_begin_is_refused_and_leaves_nothing)
