/* SPDX-License-Identifier: Apache-2.0 */
/* The account is kept by size given back, not by a header before each block: blocks stay usable with plain pointers
 * from libraries, and the arrays that matter know their size anyway. */
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOK_EVERY = 64 << 20 };

/* What this process holds now: the account's own claims may not be touched yet, others' are not in the account. */
static uint64_t mem_held_bytes(const struct mem *mem)
{
    FILE *stream = fopen("/proc/self/statm", "re");
    uint64_t pages = 0;
    if (stream != NULL) {
        if (fscanf(stream, "%*u %" SCNu64, &pages) != 1) {
            pages = 0;
        }
        (void)fclose(stream);
    }
    uint64_t resident = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return resident > mem->used ? resident : mem->used;
}

static bool machine_allows(struct mem *mem, size_t more)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t physical = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX;
    uint64_t share = mem_machine_share("", physical);
    uint64_t held = mem_held_bytes(mem);
    if (held > share || more > share - held) {
        mem->refused = more;
        mem->machine = share;
        return false;
    }
    mem->looked = mem->used + more + LOOK_EVERY;
    return true;
}

static bool mem_allows(struct mem *mem, size_t more)
{
    if (mem->limit == 0) {
        uint64_t free_until = mem->looked < LOOK_EVERY ? LOOK_EVERY : mem->looked;
        return (mem->used <= free_until && more <= free_until - mem->used) || machine_allows(mem, more);
    }
    if (mem->used > mem->limit || more > mem->limit - mem->used) {
        mem->refused = more;
        return false;
    }
    return true;
}

static void mem_account(struct mem *mem, size_t more)
{
    mem->used += more;
    if (mem->used > mem->peak) {
        mem->peak = mem->used;
    }
}

void *mem_alloc(struct mem *mem, size_t bytes)
{
    if (!mem_allows(mem, bytes)) {
        return NULL;
    }
    void *block = malloc(bytes == 0 ? 1 : bytes);
    if (block == NULL) {
        mem->refused = bytes == 0 ? 1 : bytes; /* a refusal always shows there */
        return NULL;
    }
    mem_account(mem, bytes);
    return block;
}

void *mem_zalloc(struct mem *mem, size_t bytes)
{
    if (!mem_allows(mem, bytes)) {
        return NULL;
    }
    void *block = calloc(1, bytes == 0 ? 1 : bytes);
    if (block == NULL) {
        mem->refused = bytes == 0 ? 1 : bytes; /* a refusal always shows there */
        return NULL;
    }
    mem_account(mem, bytes);
    return block;
}

void *mem_resize(struct mem *mem, void *block, size_t old_bytes, size_t new_bytes)
{
    if (new_bytes > old_bytes && !mem_allows(mem, new_bytes - old_bytes)) {
        return NULL;
    }
    void *moved = realloc(block, new_bytes == 0 ? 1 : new_bytes);
    if (moved == NULL) {
        mem->refused = new_bytes > old_bytes ? new_bytes - old_bytes : new_bytes;
        return NULL;
    }
    mem->used -= old_bytes;
    mem_account(mem, new_bytes);
    return moved;
}

void mem_free(struct mem *mem, void *block, size_t bytes)
{
    if (block != NULL) {
        mem->used -= bytes;
        free(block);
    }
}

bool mem_charge(struct mem *mem, size_t bytes)
{
    if (!mem_allows(mem, bytes)) {
        return false;
    }
    mem_account(mem, bytes);
    return true;
}

void mem_discharge(struct mem *mem, size_t bytes)
{
    mem->used -= bytes;
}

void mem_advise_large(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    enum { LARGE = 2 << 20, WORTH_IT = 4 * LARGE };
    if (bytes >= WORTH_IT) {
        uintptr_t begin = ((uintptr_t)block + LARGE - 1) / LARGE * LARGE;
        uintptr_t end = ((uintptr_t)block + bytes) / LARGE * LARGE;
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
#else
    (void)block;
    (void)bytes;
#endif
}

enum orr_status mem_error(const struct mem *mem, const char *what, struct orr_error *err)
{
    if (mem->limit != 0) {
        return error_set(err, ORR_ENOMEM,
                         "memory limit: %s needs %" PRIu64 " more bytes beside %" PRIu64
                         " in use; the limit is %" PRIu64 " bytes (parameter 'memory-limit', ASTRA_SIM_MEMORY_LIMIT)",
                         what, mem->refused, mem->used, mem->limit);
    }
    if (mem->machine != 0) {
        return error_set(err, ORR_ENOMEM,
                         "memory limit: %s needs %" PRIu64 " more bytes beside %" PRIu64
                         " in use; 80 %% of this machine's memory is %" PRIu64
                         " bytes (parameter 'memory-limit' sets another limit)",
                         what, mem->refused, mem->used, mem->machine);
    }
    return error_set(err, ORR_ENOMEM, "out of memory: %s needs %" PRIu64 " more bytes beside %" PRIu64 " in use", what,
                     mem->refused, mem->used);
}

bool mem_reserve(struct mem *mem, void **items, uint32_t *capacity, uint64_t need, size_t item_bytes)
{
    if (need <= *capacity) {
        return true;
    }
    if (need > UINT32_MAX) {
        mem->refused = need * item_bytes;
        return false;
    }
    uint64_t wanted = *capacity < 16 ? 16 : (uint64_t)*capacity * 2;
    if (wanted < need) {
        wanted = need;
    }
    if (wanted > UINT32_MAX) {
        wanted = UINT32_MAX;
    }
    void *moved = mem_resize(mem, *items, (size_t)*capacity * item_bytes, (size_t)wanted * item_bytes);
    if (moved == NULL) {
        return false;
    }
    *items = moved;
    *capacity = (uint32_t)wanted;
    return true;
}

bool mem_reserve_bytes(struct mem *mem, void **block, size_t *capacity, size_t size, size_t more)
{
    if (*capacity - size >= more) {
        return true;
    }
    size_t wanted = *capacity < 256 ? 256 : *capacity;
    while (wanted - size < more) {
        if (wanted > SIZE_MAX / 2) {
            mem->refused = SIZE_MAX;
            return false;
        }
        wanted *= 2;
    }
    void *moved = mem_resize(mem, *block, *capacity, wanted);
    if (moved == NULL) {
        return false;
    }
    *block = moved;
    *capacity = wanted;
    return true;
}
