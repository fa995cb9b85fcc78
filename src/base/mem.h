/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory with an account: every allocation that grows with the input goes through a `struct mem`, so that a limit
 * (memory_limit) is an error with figures instead of the kernel's out-of-memory killer. One account per run; not
 * shared between threads.
 *
 * An account without a limit still leaves the machine a fifth of its memory: as it grows it looks, every 64 MiB, at
 * what the whole process holds (other accounts and libraries too) and refuses what would pass 80 % of the machine, or
 * of the control group that the process is in.
 */
#ifndef ORR_BASE_MEM_H
#define ORR_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mem {
    uint64_t limit; /* bytes; 0 = what the machine allows */
    uint64_t used;
    uint64_t peak;
    uint64_t refused; /* size of the last allocation that was refused, 0 if none was */
    uint64_t looked;  /* limit 0: how far `used` may grow until the machine is looked at again */
    uint64_t machine; /* what the machine allowed when it refused; 0 if it did not */
};

/* What a process may take: 80 % of `physical` bytes or of the smallest memory limit of the control groups it is in,
 * read from below the folder `root` ("" for the machine itself). */
uint64_t mem_machine_share(const char *root, uint64_t physical);

/* NULL when the limit or the system refuses; the account then remembers the size. `bytes` may be 0 (gives non-NULL). */
void *mem_alloc(struct mem *mem, size_t bytes);
void *mem_zalloc(struct mem *mem, size_t bytes);
/* As realloc; on NULL the old block is untouched. */
void *mem_resize(struct mem *mem, void *block, size_t old_bytes, size_t new_bytes);
/* `bytes` must be what the block was allocated with. NULL is fine. */
void mem_free(struct mem *mem, void *block, size_t bytes);

/* For memory that a library allocates by itself: only the account. False when the limit refuses; what was charged must
 * be discharged when the library has freed it. */
ORR_MUST_CHECK bool mem_charge(struct mem *mem, size_t bytes);
void mem_discharge(struct mem *mem, size_t bytes);

/* Asks for large pages behind a block of many megabytes that will be written from end to end: touching memory for the
 * first time costs more than filling it. A hint; nothing happens where the system does not know it. */
void mem_advise_large(void *block, size_t bytes);

/* The error of a refused allocation: says what was needed for `what`, what is in use and the limit. */
enum orr_status mem_error(const struct mem *mem, const char *what, struct orr_error *err);

/* Makes room for `need` items in an array that grows by doubling; false when refused. */
bool mem_reserve(struct mem *mem, void **items, uint32_t *capacity, uint64_t need, size_t item_bytes);

/* The same for the array `items` of whatever type, and for one item behind the first `count`. */
#define MEM_RESERVE(mem, items, capacity, need)                                                                        \
    mem_reserve((mem), (void **)&(items), &(capacity), (need), sizeof *(items))
#define MEM_GROW(mem, items, capacity, count) MEM_RESERVE(mem, items, capacity, (uint64_t)(count) + 1)

/* Makes room for `more` bytes behind the first `size` of a block that grows by doubling; false when refused. */
bool mem_reserve_bytes(struct mem *mem, void **block, size_t *capacity, size_t size, size_t more);

#endif
