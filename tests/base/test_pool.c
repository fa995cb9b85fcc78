/* SPDX-License-Identifier: Apache-2.0 */
/* Entries named by index: none twice, none called 0, given back ones first. */
#include "base/pool.h"
#include "tests/check.h"
#include "tests/prng.h"

struct item {
    uint64_t value;
    uint32_t link;
};
POOL_DEFINE(items, struct item, link);

enum { MANY = 3000 };

static void no_two_entries_in_use_have_one_index_and_none_is_0(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct items pool;
    bool failed = false;
    bool used[2 * MANY] = {false};
    CHECK(items_init(&pool, &mem), "a pool can be made");
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t index = items_take(&pool, &mem, &failed);
        CHECK(index != 0 && index < pool.room.capacity && index < COUNT_OF(used), "index %u", index);
        CHECK(!used[index], "index %u is given out once", index);
        used[index] = true;
    }
    CHECK(!failed, "nothing was refused");
    items_free(&pool, &mem);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void what_is_in_an_entry_stays_when_the_pool_grows(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct items pool;
    bool failed = false;
    uint32_t index[MANY];
    CHECK(items_init(&pool, &mem), "a pool can be made");
    for (uint32_t i = 0; i < MANY; i++) {
        index[i] = items_take(&pool, &mem, &failed);
        pool.at[index[i]].value = i * UINT64_C(1000003);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK_U64(pool.at[index[i]].value, i * UINT64_C(1000003), "entry %u", i);
    }
    items_free(&pool, &mem);
}

static void an_entry_given_back_is_the_next_one_taken(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct items pool;
    bool failed = false;
    CHECK(items_init(&pool, &mem), "a pool can be made");
    uint32_t a = items_take(&pool, &mem, &failed);
    uint32_t b = items_take(&pool, &mem, &failed);
    items_give(&pool, a);
    CHECK_U64(items_take(&pool, &mem, &failed), a, "the one given back");
    items_give(&pool, a);
    items_give(&pool, b);
    items_give(&pool, 0); /* what a refused take gave; nothing happens */
    CHECK_U64(items_take(&pool, &mem, &failed), b, "the last one given back");
    CHECK_U64(items_take(&pool, &mem, &failed), a, "the one before");
    items_free(&pool, &mem);
}

static void taking_and_giving_at_random_never_mixes_two_entries_up(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct items pool;
    bool failed = false;
    struct prng prng = {5};
    uint32_t held[500];
    uint32_t count = 0;
    CHECK(items_init(&pool, &mem), "a pool can be made");
    for (uint32_t i = 0; i < 20000; i++) {
        if (count < COUNT_OF(held) && (count == 0 || prng_below(&prng, 2) == 0)) {
            held[count] = items_take(&pool, &mem, &failed);
            pool.at[held[count]].value = held[count];
            count++;
        } else {
            uint32_t which = prng_below(&prng, count);
            CHECK_U64(pool.at[held[which]].value, held[which], "entry %u at step %u", held[which], i);
            items_give(&pool, held[which]);
            held[which] = held[--count];
        }
    }
    CHECK(pool.room.capacity < 2048, "entries are used again: room for %u", pool.room.capacity);
    items_free(&pool, &mem);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_power_of_two_of_entries_takes_little_more_room(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct items pool;
    bool failed = false;
    CHECK(items_init(&pool, &mem), "a pool can be made");
    for (uint32_t i = 0; i < 1024; i++) {
        (void)items_take(&pool, &mem, &failed);
    }
    CHECK(!failed && pool.room.capacity < 1024 + 1024 / 8, "room for %u", pool.room.capacity);
    items_free(&pool, &mem);
}

static void room_that_is_not_needed_is_not_touched(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct items pool;
    bool failed = false;
    CHECK(items_init(&pool, &mem), "a pool can be made");
    for (uint32_t i = 0; i < 5000; i++) {
        CHECK_U64(items_take(&pool, &mem, &failed), i + 1, "entries are given out in order");
    }
    CHECK(!failed && pool.room.capacity > 8000, "room for %u", pool.room.capacity);
    CHECK(pool.room.used < 5000 + 1024 + 1, "of which %u were prepared", pool.room.used);
    items_free(&pool, &mem);
}

static void a_refused_take_gives_entry_0_which_may_be_written(void **state)
{
    (void)state;
    struct mem mem = {.limit = 4000};
    struct items pool;
    bool failed = false;
    uint32_t taken = 0;
    CHECK(items_init(&pool, &mem), "a pool can be made");
    while (items_take(&pool, &mem, &failed) != 0) {
        taken++;
    }
    CHECK(failed, "a refusal is remembered");
    CHECK_U64(taken, pool.room.capacity - 1, "all entries but entry 0 were given out");
    pool.at[0].value = 1;
    failed = false;
    items_give(&pool, 3);
    CHECK_U64(items_take(&pool, &mem, &failed), 3, "what is given back can be taken although memory is refused");
    CHECK(!failed, "that is no refusal");
    items_free(&pool, &mem);
    CHECK_U64(mem.used, 0, "all memory is given back");

    struct mem none = {.limit = 10};
    CHECK(!items_init(&pool, &none), "a pool without room for its first entries is refused");
    items_free(&pool, &none);
    CHECK_U64(none.used, 0, "nothing is left behind");
}

TEST_MAIN(no_two_entries_in_use_have_one_index_and_none_is_0, what_is_in_an_entry_stays_when_the_pool_grows,
          an_entry_given_back_is_the_next_one_taken, taking_and_giving_at_random_never_mixes_two_entries_up,
          a_power_of_two_of_entries_takes_little_more_room, room_that_is_not_needed_is_not_touched,
          a_refused_take_gives_entry_0_which_may_be_written)
