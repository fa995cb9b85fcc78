/* SPDX-License-Identifier: Apache-2.0 */
/* The orders below are what libstdc++'s std::unordered_set<uint64_t> (gcc 12) gave for the same calls. Short ones are
 * written out; of long ones a digest is kept. */
#include "compat/astra/hash_order.h"
#include "tests/check.h"
#include "tests/prng.h"

enum { MAX_STEPS = 40, DONE = -1, ERASE = -2 };

/* Keys to insert in turn; ERASE in front of a key erases it instead. */
static const struct {
    const char *what;
    int64_t steps[MAX_STEPS];
    uint64_t want[MAX_STEPS];
    uint32_t count;
} written_out[] = {
    {"new buckets go in front", {0, 1, 2, 3, 4, DONE}, {4, 3, 2, 1, 0}, 5},
    {"a full first table",
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, DONE},
     {12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
     13},
    {"growth turns the order round",
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, DONE},
     {13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
     14},
    {"keys of one bucket stay together", {13, 26, 39, 1, 14, 0, 27, DONE}, {27, 14, 1, 0, 39, 26, 13}, 7},
    {"a key that is there is not moved", {9, 3, 22, 3, 35, 9, DONE}, {3, 35, 22, 9}, 4},
    {"erasing keeps the rest",
     {5, 18, 7, 31, 44, 20, ERASE, 18, 57, ERASE, 7, 7, 70, DONE},
     {7, 20, 70, 57, 44, 31, 5},
     7},
    {"an emptied bucket starts anew", {1, 14, 2, ERASE, 1, ERASE, 14, 15, 1, 28, DONE}, {1, 28, 15, 2}, 4},
    {"erasing what is not there", {1, ERASE, 14, ERASE, 2, 2, DONE}, {2, 1}, 2},
    {"sevens over the first growth",
     {0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98, 105, DONE},
     {105, 98, 91, 0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84},
     16},
    {"large keys", {INT64_MAX, 0, 4294967296, 1, DONE}, {1, 4294967296, 0, 9223372036854775807}, 4},
};

static void apply(struct hash_order *order, const int64_t *steps)
{
    for (uint32_t i = 0; steps[i] != DONE; i++) {
        bool added = false;
        if (steps[i] == ERASE) {
            hash_order_erase(order, (uint64_t)steps[++i]);
        } else {
            CHECK(hash_order_insert(order, (uint64_t)steps[i], &added), "memory is given");
        }
    }
}

static void short_sequences_have_the_order_of_the_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(written_out); i++) {
        struct mem mem = {0};
        struct hash_order order;
        hash_order_init(&order, &mem);
        apply(&order, written_out[i].steps);
        CHECK_U64(order.count, written_out[i].count, "%s: how many", written_out[i].what);
        uint32_t at = 0;
        for (uint32_t e = hash_order_first(&order); e != 0; e = hash_order_next(&order, e)) {
            CHECK(at < written_out[i].count, "%s: the walk ends", written_out[i].what);
            CHECK_U64(hash_order_key(&order, e), written_out[i].want[at], "%s: place %u", written_out[i].what, at);
            at++;
        }
        CHECK_U64(at, written_out[i].count, "%s: length of the walk", written_out[i].what);
        hash_order_free(&order);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

static uint64_t digest_of(const struct hash_order *order)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (uint32_t e = hash_order_first(order); e != 0; e = hash_order_next(order, e)) {
        digest = (digest ^ hash_order_key(order, e)) * UINT64_C(0x100000001b3);
        digest ^= digest >> 29;
    }
    return digest;
}

static void insert(struct hash_order *order, uint64_t key)
{
    bool added = false;
    uint32_t before = order->count;
    CHECK(hash_order_insert(order, key, &added), "memory is given");
    CHECK_U64(order->count, before + added, "a key counts once");
}

/* Keys 0, 1, …; keys 64n, 64(n-1), …, 64; keys of the generator seeded with n. Each size is the last before a growth,
 * or the first after it. */
static const struct {
    uint32_t count, buckets;
    uint64_t ascending, descending, scattered;
} grown[] = {
    {12, 13, UINT64_C(0x396931ec062ab57e), UINT64_C(0x1e46e48360d4fb11), UINT64_C(0x92ca8e593b65b05e)},
    {13, 13, UINT64_C(0x265a32e9c1b62666), UINT64_C(0x476e9c3fb295104f), UINT64_C(0xc083024b7c9a40a9)},
    {14, 29, UINT64_C(0x8b6b93b65aca3fcf), UINT64_C(0x4b0f9d8ee0bd82a5), UINT64_C(0x0d1928e45782a684)},
    {29, 29, UINT64_C(0xdaa78620f4f5ddb1), UINT64_C(0x888b8320bc477858), UINT64_C(0xc41bef5ed2acbce3)},
    {30, 59, UINT64_C(0xacb9dbc294bc912d), UINT64_C(0x64f26def0e36cde1), UINT64_C(0x5b7fc1899ef08b6d)},
    {59, 59, UINT64_C(0xa7f33b788e7f044f), UINT64_C(0xc886fe8540457202), UINT64_C(0x35cbad7f50daa462)},
    {60, 127, UINT64_C(0x04b32370d316cc59), UINT64_C(0xdaacf376c4e4b68d), UINT64_C(0x3c7383f38f7706b9)},
    {127, 127, UINT64_C(0x90ea4452d85a0dbb), UINT64_C(0x35b3a04f69e4eb4e), UINT64_C(0xc5902f2e3b141f14)},
    {128, 257, UINT64_C(0x06c2a0f59ffdd1f4), UINT64_C(0x5672ef36c2a910af), UINT64_C(0x35a7ecfb247316db)},
    {257, 257, UINT64_C(0x8f17964f165e49de), UINT64_C(0x81d93227d26eab97), UINT64_C(0x5ca3a0e8a65a465e)},
    {258, 541, UINT64_C(0x81f9542710b0234d), UINT64_C(0xb396905514fa43f1), UINT64_C(0xefa7d4642eb2b39d)},
    {541, 541, UINT64_C(0x05a43b82707f95f7), UINT64_C(0x0c39134e87b81e63), UINT64_C(0x6e3177d82904d403)},
    {542, 1109, UINT64_C(0xe84a2f863025f0cf), UINT64_C(0x895913d0256e67fd), UINT64_C(0xe979cb91e1dd1440)},
    {1109, 1109, UINT64_C(0x6353d3a14ab17a35), UINT64_C(0x9b1eac338bb0de00), UINT64_C(0x2918327928e7ad9f)},
    {1110, 2357, UINT64_C(0xc1334cbb0045c4ba), UINT64_C(0x68179e2d6d4b30f6), UINT64_C(0x5f662865f4053f58)},
    {2357, 2357, UINT64_C(0x361df4b2dc022373), UINT64_C(0x7bb9226ecd28c346), UINT64_C(0xd484d2498127eb3d)},
    {2358, 5087, UINT64_C(0x53c653fc8bbd2e78), UINT64_C(0x04f43d62ea82b870), UINT64_C(0xea43c89aede1a1bc)},
    {5087, 5087, UINT64_C(0x592d1cc83a8d864b), UINT64_C(0xf51a4225cb5b5ac2), UINT64_C(0x5b577c8d65129a46)},
    {5088, 10273, UINT64_C(0xd5370c8a181a6a07), UINT64_C(0x2e87bf9551e2eb5b), UINT64_C(0x2637c8a20a5f9f2b)},
    {10273, 10273, UINT64_C(0xdbf9f69b23b1d0ac), UINT64_C(0x95aba4a066143022), UINT64_C(0x5279ebd0d0390343)},
    {10274, 20753, UINT64_C(0x6ebaec4a6b02e2bb), UINT64_C(0xec03d347a1c02283), UINT64_C(0x4c4b7f2bb6b9c86c)},
};

static void every_growth_gives_the_order_of_the_library(void **state)
{
    (void)state;
    struct mem mem = {0};
    for (size_t i = 0; i < COUNT_OF(grown); i++) {
        uint32_t n = grown[i].count;
        struct hash_order order;
        hash_order_init(&order, &mem);
        for (uint64_t key = 0; key < n; key++) {
            insert(&order, key);
        }
        CHECK_U64(order.bucket_count, grown[i].buckets, "buckets for %u keys", n);
        CHECK_U64(digest_of(&order), grown[i].ascending, "%u ascending keys", n);
        hash_order_free(&order);
        for (uint64_t key = n; key > 0; key--) {
            insert(&order, key * 64);
        }
        CHECK_U64(digest_of(&order), grown[i].descending, "%u descending keys", n);
        hash_order_free(&order);
        struct prng prng = {n};
        while (order.count < n) {
            insert(&order, prng_next(&prng));
        }
        CHECK_U64(digest_of(&order), grown[i].scattered, "%u scattered keys", n);
        hash_order_free(&order);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
}

/* 4000 calls with keys below 100 times the seed: mostly inserts first, mostly erases later. */
static const struct {
    uint64_t seed;
    uint32_t count, buckets;
    uint64_t digest;
} mixed[] = {
    {1, 29, 127, UINT64_C(0xc5e6df93536066a3)},  {2, 75, 257, UINT64_C(0x4c2fb33b5128b7cb)},
    {3, 107, 257, UINT64_C(0x6847f20343a8961e)}, {4, 147, 257, UINT64_C(0x5ec3ff3e3451d9ca)},
    {5, 166, 541, UINT64_C(0x2e938e74140f7123)}, {6, 213, 541, UINT64_C(0x2857a4ca46caa075)},
    {7, 283, 541, UINT64_C(0xb3e394ae34e0ff56)}, {8, 332, 541, UINT64_C(0x6848ef1eacccb5ba)},
};

static void inserts_and_erases_at_random_give_the_order_of_the_library(void **state)
{
    (void)state;
    struct mem mem = {0};
    for (size_t i = 0; i < COUNT_OF(mixed); i++) {
        struct prng prng = {mixed[i].seed};
        struct hash_order order;
        hash_order_init(&order, &mem);
        for (uint32_t step = 0; step < 4000; step++) {
            uint64_t drawn = prng_next(&prng);
            uint64_t key = (drawn >> 8) % (mixed[i].seed * 100);
            if ((drawn & 7) < (step < 2000 ? 5 : 3)) {
                insert(&order, key);
            } else {
                hash_order_erase(&order, key);
            }
        }
        CHECK_U64(order.count, mixed[i].count, "keys left, seed %" PRIu64, mixed[i].seed);
        CHECK_U64(order.bucket_count, mixed[i].buckets, "buckets, seed %" PRIu64, mixed[i].seed);
        CHECK_U64(digest_of(&order), mixed[i].digest, "the order, seed %" PRIu64, mixed[i].seed);
        hash_order_free(&order);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_refused_insert_leaves_the_order_as_it_was(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit < 6000; limit += 61) {
        struct mem mem = {.limit = limit};
        struct hash_order order;
        hash_order_init(&order, &mem);
        bool added = false;
        uint64_t key = 0;
        while (key < 200 && hash_order_insert(&order, key, &added)) {
            key++;
        }
        CHECK_U64(order.count, key, "limit %" PRIu64, limit);
        uint64_t seen = 0;
        for (uint32_t e = hash_order_first(&order); e != 0; e = hash_order_next(&order, e)) {
            CHECK(hash_order_key(&order, e) < key, "limit %" PRIu64, limit);
            seen++;
        }
        CHECK_U64(seen, key, "limit %" PRIu64, limit);
        hash_order_free(&order);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

TEST_MAIN(short_sequences_have_the_order_of_the_library, every_growth_gives_the_order_of_the_library,
          inserts_and_erases_at_random_give_the_order_of_the_library, a_refused_insert_leaves_the_order_as_it_was)
