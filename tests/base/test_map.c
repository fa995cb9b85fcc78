/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_map.h"
#include "tests/check.h"

enum { MANY = 5000 };

static void what_was_put_is_found_and_nothing_else(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct number_map map;
    number_map_init(&map, &mem);
    uint32_t value = 7;
    CHECK(!number_map_get(&map, 1, &value) && value == 7, "nothing is in an empty map");
    for (int64_t key = -MANY; key < MANY; key += 2)
        CHECK(number_map_put(&map, key * 1024, (uint32_t)(key + MANY)), "key %d", (int)key);
    for (int64_t key = -MANY; key < MANY; key++) {
        bool found = number_map_get(&map, key * 1024, &value);
        CHECK(found == (key % 2 == 0), "key %d", (int)key);
        CHECK(!found || value == (uint32_t)(key + MANY), "key %d has %u", (int)key, value);
    }
    number_map_free(&map);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void put_replaces_and_add_does_not(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct number_map map;
    number_map_init(&map, &mem);
    uint32_t value = 2;
    CHECK(number_map_put(&map, 5, 1) && number_map_add(&map, 5, &value), "both are taken");
    CHECK_U64(value, 1, "the first stays");
    CHECK(number_map_put(&map, 5, 3) && number_map_get(&map, 5, &value), "it is replaced");
    CHECK_U64(value, 3, "by the last");
    number_map_free(&map);
}

static void owners_have_the_same_keys_for_themselves(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct number_map map;
    number_map_init(&map, &mem);
    for (uint32_t round = 1; round <= 3; round++)
        for (uint32_t owner = 0; owner < 40; owner++)
            for (int64_t key = 0; key < 40; key++) {
                uint32_t *count = number_map_at(&map, owner, key);
                CHECK(count != NULL, "there is memory");
                CHECK_U64(++*count, round, "owner %u, key %d", owner, (int)key);
            }
    number_map_free(&map);
}

static void a_refused_map_stays_as_it_was(void **state)
{
    (void)state;
    struct mem mem = {.limit = 4096};
    struct number_map map;
    number_map_init(&map, &mem);
    int64_t key = 0;
    while (number_map_put(&map, key, (uint32_t)key))
        key++;
    CHECK(key > 0, "some fit");
    for (int64_t i = 0; i < key; i++) {
        uint32_t value = 0;
        CHECK(number_map_get(&map, i, &value) && value == (uint32_t)i, "key %d of %d", (int)i, (int)key);
    }
    number_map_free(&map);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_and_nothing_else),
        cmocka_unit_test(put_replaces_and_add_does_not),
        cmocka_unit_test(owners_have_the_same_keys_for_themselves),
        cmocka_unit_test(a_refused_map_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
