/* SPDX-License-Identifier: Apache-2.0 */
/* The account of memory and the limit it enforces. */
#include "base/mem.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>

static void the_account_follows_every_block(void **state)
{
    (void)state;
    struct mem mem = {0};
    char *block = mem_alloc(&mem, 100);
    CHECK(block != NULL, "without a limit memory is given");
    CHECK_U64(mem.used, 100, "one block");
    block = mem_resize(&mem, block, 100, 300);
    CHECK(block != NULL, "a block can grow");
    CHECK_U64(mem.used, 300, "after growing");
    block = mem_resize(&mem, block, 300, 50);
    CHECK_U64(mem.used, 50, "after shrinking");
    mem_free(&mem, block, 50);
    mem_free(&mem, NULL, 1000);
    CHECK_U64(mem.used, 0, "all given back");
    CHECK_U64(mem.peak, 300, "the peak stays");
}

static void zeroed_memory_is_zero_and_an_empty_block_is_a_block(void **state)
{
    (void)state;
    struct mem mem = {0};
    unsigned char *zeros = mem_zalloc(&mem, 64);
    CHECK(zeros != NULL, "memory is given");
    for (size_t i = 0; i < 64; i++) {
        CHECK_U64(zeros[i], 0, "byte %zu", i);
    }
    void *empty = mem_alloc(&mem, 0);
    CHECK(empty != NULL, "0 bytes give a pointer that can be freed");
    mem_free(&mem, zeros, 64);
    mem_free(&mem, empty, 0);
    CHECK_U64(mem.used, 0, "all given back");
}

static void a_refused_block_leaves_the_old_one_and_the_error_has_figures(void **state)
{
    (void)state;
    struct mem mem = {.limit = 1000};
    char *block = mem_alloc(&mem, 600);
    CHECK(block != NULL, "600 of 1000");
    block[0] = 'x';
    CHECK(mem_alloc(&mem, 401) == NULL, "401 more are over the limit");
    CHECK(mem_zalloc(&mem, SIZE_MAX) == NULL, "the sum must not wrap");
    CHECK(mem_resize(&mem, block, 600, 1001) == NULL, "neither is growing over it");
    CHECK(block[0] == 'x', "the block is untouched");
    CHECK_U64(mem.used, 600, "nothing was added");
    struct orr_error err = {0};
    CHECK_STATUS(mem_error(&mem, "the trace", &err), ORR_ENOMEM);
    CHECK_CONTAINS(err.text, "the trace needs 401 more bytes beside 600 in use; the limit is 1000 bytes");
    mem_free(&mem, block, 600);
}

static void an_array_doubles_and_stops_at_the_limit(void **state)
{
    (void)state;
    struct mem mem = {.limit = 4096};
    uint64_t *items = NULL;
    uint32_t capacity = 0;
    uint32_t count = 0;
    while (mem_reserve(&mem, (void **)&items, &capacity, (uint64_t)count + 1, sizeof *items)) {
        items[count] = count;
        count++;
    }
    CHECK_U64(count, 512, "4096 bytes hold 512 items");
    CHECK_U64(items[511], 511, "the last is intact");
    CHECK(!mem_reserve(&mem, (void **)&items, &capacity, (uint64_t)UINT32_MAX + 1, 1), "more than 32 bits of items");
    mem_free(&mem, items, capacity * sizeof *items);
    CHECK_U64(mem.used, 0, "the account is square");
}

static void bytes_double_and_what_cannot_be_counted_is_refused(void **state)
{
    (void)state;
    struct mem mem = {.limit = 1024};
    char *bytes = NULL;
    size_t capacity = 0;
    CHECK(mem_reserve_bytes(&mem, (void **)&bytes, &capacity, 0, 0), "nothing is always there");
    CHECK(bytes == NULL, "and takes no block");
    size_t size = 0;
    for (; mem_reserve_bytes(&mem, (void **)&bytes, &capacity, size, 3); size += 3) {
        memcpy(bytes + size, "abc", 3);
    }
    CHECK_U64(size, 1023, "1024 bytes hold 341 words");
    CHECK(memcmp(bytes + 1020, "abc", 3) == 0, "the last is intact");
    CHECK(!mem_reserve_bytes(&mem, (void **)&bytes, &capacity, size, SIZE_MAX), "the sum would not fit a size");
    CHECK_U64(capacity, 1024, "a refusal leaves the block as it was");
    mem_free(&mem, bytes, capacity);
    CHECK_U64(mem.used, 0, "the account is square");
}

static void put(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0, "%s is written", path);
}

static void a_process_may_take_four_fifths_of_the_machine_or_of_its_control_group(void **state)
{
    (void)state;
    assert_int_equal(mkdir("machine", 0700) + mkdir("machine/proc", 0700) + mkdir("machine/proc/self", 0700), 0);
    CHECK_U64(mem_machine_share("machine", 1000), 800, "without control groups the machine counts");
    assert_int_equal(system("mkdir -p machine/sys/fs/cgroup/job/step machine/sys/fs/cgroup/memory/box"), 0);
    put("machine/proc/self/cgroup", "0::/job/step\n");
    put("machine/sys/fs/cgroup/job/step/memory.max", "max\n");
    CHECK_U64(mem_machine_share("machine", 1000), 800, "a group without a limit");
    put("machine/sys/fs/cgroup/job/memory.max", "500\n");
    CHECK_U64(mem_machine_share("machine", 1000), 400, "a limit of the group above counts");
    put("machine/sys/fs/cgroup/job/step/memory.max", "100\n");
    CHECK_U64(mem_machine_share("machine", 1000), 80, "the smallest counts");
    put("machine/proc/self/cgroup", "12:cpu:/box\n4:memory:/box\n");
    put("machine/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "250\n");
    CHECK_U64(mem_machine_share("machine", 1000), 200, "version 1");
    put("machine/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_U64(mem_machine_share("machine", 1000), 800, "a limit above the machine is none");
    assert_int_equal(system("rm -r machine"), 0);
}

static void an_account_without_a_limit_leaves_the_machine_its_fifth(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    CHECK(mem_alloc(&mem, SIZE_MAX / 4) == NULL, "more than any machine has is refused");
    CHECK_STATUS(mem_error(&mem, "a test", &err), ORR_ENOMEM);
    CHECK_CONTAINS(err.text, "80 % of this machine's memory is ");
    CHECK_CONTAINS(err.text, "parameter 'memory-limit'");
    void *block = mem_alloc(&mem, 100 << 20);
    CHECK(block != NULL, "what is modest is given");
    mem_free(&mem, block, 100 << 20);
}

TEST_MAIN(a_process_may_take_four_fifths_of_the_machine_or_of_its_control_group,
          an_account_without_a_limit_leaves_the_machine_its_fifth, the_account_follows_every_block,
          zeroed_memory_is_zero_and_an_empty_block_is_a_block,
          a_refused_block_leaves_the_old_one_and_the_error_has_figures, an_array_doubles_and_stops_at_the_limit,
          bytes_double_and_what_cannot_be_counted_is_refused)
