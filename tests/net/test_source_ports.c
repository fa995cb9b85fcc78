/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of pairs, beside an array of all of them. */
#include "net/source_ports.h"

#include "tests/check.h"

enum { RANKS = 500, SENDS = 200000 };

static void counts_are_those_of_an_array_of_all_pairs(void **state)
{
    (void)state;
    static uint16_t plain[RANKS][RANKS];
    struct mem mem = {0};
    struct source_ports ports;
    uint64_t seed = 3;
    CHECK(source_ports_init(&ports, RANKS, &mem), "memory is given");
    for (uint32_t i = 0; i < SENDS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t from = (uint32_t)(seed >> 33) % RANKS;
        uint32_t spread = from % 3 == 0 ? RANKS : 1 + from % 40; /* some talk to all, some to few */
        uint32_t to = (from + (uint32_t)(seed >> 20) % spread) % RANKS;
        uint16_t *count = source_ports_of(&ports, from, to);
        CHECK(count != NULL && *count == plain[from][to], "the count of %u and %u", from, to);
        (*count)++;
        plain[from][to]++;
    }
    CHECK(mem.used <= RANKS * (sizeof *ports.rows + RANKS * sizeof(uint16_t)), "never more than an array takes");
    source_ports_free(&ports);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void few_pairs_take_little_of_a_large_machine(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct source_ports ports;
    CHECK(source_ports_init(&ports, 65536, &mem), "memory is given");
    for (uint32_t from = 0; from < 65536; from++) {
        for (uint32_t k = 0; k < 4; k++)
            CHECK(source_ports_of(&ports, from, (from + (1u << k)) % 65536) != NULL, "memory is given");
    }
    CHECK(mem.used < UINT64_C(8) << 20, "%d B", (int)mem.used);
    source_ports_free(&ports);
}

static void refused_memory_is_told_and_leaves_the_counts(void **state)
{
    (void)state;
    struct mem mem = {.limit = 4096};
    struct source_ports ports;
    uint32_t given = 0;
    CHECK(source_ports_init(&ports, 100, &mem), "memory is given");
    for (uint32_t from = 0; from < 100; from++)
        given += source_ports_of(&ports, from, 1) != NULL ? 1 : 0;
    CHECK(given > 0 && given < 100, "%u of 100 have a place", given);
    source_ports_free(&ports);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

TEST_MAIN(counts_are_those_of_an_array_of_all_pairs, few_pairs_take_little_of_a_large_machine,
          refused_memory_is_told_and_leaves_the_counts)
