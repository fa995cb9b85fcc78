/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New entries go on the free list in ascending order, so that neighbours in time are neighbours in memory.
 *
 * The first block has one entry more than a power of two, for entry 0: what a pool holds is mostly a power of two
 * (ranks times chunks), and would otherwise take twice the room for the one that is never given out.
 */
#include "base/pool.h"

#include <string.h>

uint32_t pool_grow(void **items, uint32_t *capacity, uint32_t *free, size_t item_bytes, size_t link_offset,
                   struct mem *mem)
{
    enum { FIRST = 16 + 1 };
    uint32_t old = *capacity;
    if (!mem_reserve(mem, items, capacity, old == 0 ? FIRST : (uint64_t)old + 1, item_bytes)) {
        return 0;
    }
    char *bytes = *items;
    memset(bytes + (size_t)old * item_bytes, 0, (size_t)(*capacity - old) * item_bytes);
    uint32_t first = old == 0 ? 1 : old;
    for (uint32_t i = first; i < *capacity; i++) {
        uint32_t next = i + 1 < *capacity ? i + 1 : 0;
        memcpy(bytes + (size_t)i * item_bytes + link_offset, &next, sizeof next);
    }
    *free = first;
    return first;
}
