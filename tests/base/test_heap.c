/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/prng.h"

struct entry {
    uint32_t key, number;
};

#define ENTRY_BEFORE(context, a, b) ((a)->key < (b)->key || ((a)->key == (b)->key && (a)->number < (b)->number))
HEAP_DEFINE(plain, struct entry, const void *, ENTRY_BEFORE, HEAP_PUT);

enum { ENTRIES = 500 };

static int compare(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->number > y->number) - (x->number < y->number);
}

static void fill(struct entry *entries, uint32_t count, uint64_t seed)
{
    struct prng prng = {seed};
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (struct entry){(uint32_t)prng_below(&prng, 40), i};
}

static void entries_come_out_in_their_order_whatever_the_order_in(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= ENTRIES; count += 7) {
        struct entry sorted[ENTRIES];
        struct entry heap[ENTRIES];
        uint32_t held = 0;
        fill(sorted, count, count);
        for (uint32_t i = 0; i < count; i++)
            plain_push(NULL, heap, &held, sorted[i]);
        qsort(sorted, count, sizeof *sorted, compare);
        for (uint32_t i = 0; i < count; i++)
            CHECK_U64(plain_pop(NULL, heap, &held).number, sorted[i].number, "the next of %u", count);
        CHECK_U64(held, 0, "nothing is left of %u", count);
    }
}

static void an_array_becomes_a_heap_of_the_same_entries(void **state)
{
    (void)state;
    struct entry sorted[ENTRIES];
    struct entry heap[ENTRIES];
    uint32_t held = ENTRIES;
    fill(sorted, ENTRIES, 3);
    fill(heap, ENTRIES, 3);
    plain_make(NULL, heap, held);
    qsort(sorted, ENTRIES, sizeof *sorted, compare);
    for (uint32_t i = 0; i < ENTRIES; i++)
        CHECK_U64(plain_pop(NULL, heap, &held).number, sorted[i].number, "entry %u", i);
}

/* ---- entries that know their place ---- */

struct placed {
    uint32_t keys[ENTRIES], places[ENTRIES];
};

static bool placed_before(const struct placed *placed, const uint32_t *a, const uint32_t *b)
{
    return placed->keys[*a] < placed->keys[*b] || (placed->keys[*a] == placed->keys[*b] && *a < *b);
}

static void placed_put(struct placed *placed, uint32_t *heap, uint32_t place, uint32_t entry)
{
    heap[place] = entry;
    placed->places[entry] = place;
}

HEAP_DEFINE(placed, uint32_t, struct placed *, placed_before, placed_put);

static void an_entry_that_changes_is_found_where_it_was_put_and_moves_both_ways(void **state)
{
    (void)state;
    struct placed placed;
    struct prng prng = {7};
    uint32_t heap[ENTRIES];
    uint32_t held = 0;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        placed.keys[i] = (uint32_t)prng_below(&prng, 1000);
        placed_push(&placed, heap, &held, i);
    }
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t entry = (uint32_t)prng_below(&prng, ENTRIES);
        placed.keys[entry] = (uint32_t)prng_below(&prng, 1000);
        placed_move(&placed, heap, held, placed.places[entry], entry);
    }
    for (uint32_t before = 0; held > 0;) {
        for (uint32_t i = 0; i < held; i++)
            CHECK_U64(placed.places[heap[i]], i, "an entry knows its place");
        uint32_t first = placed_pop(&placed, heap, &held);
        CHECK(placed.keys[first] >= before, "keys never fall");
        before = placed.keys[first];
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_out_in_their_order_whatever_the_order_in),
        cmocka_unit_test(an_array_becomes_a_heap_of_the_same_entries),
        cmocka_unit_test(an_entry_that_changes_is_found_where_it_was_put_and_moves_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
