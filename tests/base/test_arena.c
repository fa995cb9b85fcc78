/* SPDX-License-Identifier: Apache-2.0 */
/* An arena's blocks are aligned, distinct, accounted, and gone at once. */
#include "base/arena.h"
#include "tests/check.h"

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct arena arena;
    arena_init(&arena, &mem);
    unsigned char *blocks[200];
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        size_t size = i * 37 % 300;
        blocks[i] = arena_alloc(&arena, size);
        CHECK(blocks[i] != NULL, "memory is given");
        CHECK_U64((uintptr_t)blocks[i] % _Alignof(max_align_t), 0, "allocation %zu", i);
        memset(blocks[i], (int)i, size);
    }
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        for (size_t b = 0; b < i * 37 % 300; b++) {
            CHECK_U64(blocks[i][b], i, "byte %zu of allocation %zu", b, i);
        }
    }
    arena_free(&arena);
    CHECK_U64(mem.used, 0, "freed as a whole");
}

static void a_request_larger_than_a_block_gets_its_own(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct arena arena;
    arena_init(&arena, &mem);
    char *large = arena_zalloc(&arena, 5u << 20);
    CHECK(large != NULL && large[(5u << 20) - 1] == 0, "5 MiB, zeroed");
    CHECK(arena_alloc(&arena, 16) != NULL, "and small ones go on");
    CHECK(mem.used < 8u << 20, "without a second large block");
    arena_free(&arena);
    CHECK(arena_alloc(&arena, 1) != NULL, "a freed arena can be used again");
    arena_free(&arena);
    CHECK_U64(mem.used, 0, "the account is square");
}

static void a_limit_refuses_with_null_and_impossible_sizes_too(void **state)
{
    (void)state;
    struct mem mem = {.limit = 8192};
    struct arena arena;
    arena_init(&arena, &mem);
    CHECK(arena_alloc(&arena, 100) != NULL, "inside the limit");
    CHECK(arena_alloc(&arena, 8192) == NULL, "over the limit");
    CHECK(arena_alloc(&arena, SIZE_MAX) == NULL, "no wrap-around while aligning");
    CHECK(arena_alloc(&arena, SIZE_MAX - 20) == NULL, "nor while adding the header");
    CHECK(mem.refused != 0, "the refusal is remembered for the message");
    arena_free(&arena);
}

static void texts_are_copied_and_formatted(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct arena arena;
    arena_init(&arena, &mem);
    CHECK_TEXT(arena_strndup(&arena, "rank zero", 4), "rank");
    CHECK_TEXT(arena_printf(&arena, "%s %d", "rank", 12), "rank 12");
    arena_free(&arena);
}

TEST_MAIN(allocations_are_aligned_and_do_not_overlap, a_request_larger_than_a_block_gets_its_own,
          a_limit_refuses_with_null_and_impossible_sizes_too, texts_are_copied_and_formatted)
