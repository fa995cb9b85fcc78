/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New entries go on the free list in ascending order, so that neighbours in time are neighbours in memory, and a few at
 * a time: pages of a block that are not needed are never touched.
 *
 * The first block has one entry more than a power of two, for entry 0: what a pool holds is mostly a power of two
 * (ranks times chunks), and would otherwise take twice the room for the one that is never given out.
 */
#include "base/pool.h"

#include <string.h>

uint32_t pool_grow(void **items, struct pool_room *room, size_t item_bytes, size_t link_offset, struct mem *mem)
{
    enum { FIRST = 16 + 1, AT_ONCE = 1024 };
    uint32_t first = room->used == 0 ? 1 : room->used;
    if (room->used == room->capacity &&
        !mem_reserve(mem, items, &room->capacity, room->used == 0 ? FIRST : (uint64_t)room->used + 1, item_bytes)) {
        return 0;
    }
    uint32_t left = room->capacity - room->used;
    uint32_t end = room->used + (left < AT_ONCE ? left : AT_ONCE);
    char *bytes = *items;
    memset(bytes + (size_t)room->used * item_bytes, 0, (size_t)(end - room->used) * item_bytes);
    for (uint32_t i = first; i < end; i++) {
        uint32_t next = i + 1 < end ? i + 1 : 0;
        memcpy(bytes + (size_t)i * item_bytes + link_offset, &next, sizeof next);
    }
    room->used = end;
    return first;
}
