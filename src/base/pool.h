/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of plain structs named by 32-bit index, with a free list threaded through one of their fields. Index 0 is never
 * given out: it means "none", and is what a refused allocation gives, so that the hot path needs no error branch: entry
 * 0 exists, writing to it does no harm, and the caller's `failed` flag stops the loop before the next event.
 *
 * Entries move when a pool grows: hold indices across calls that may take, not pointers.
 */
#ifndef ORR_BASE_POOL_H
#define ORR_BASE_POOL_H

#include <stddef.h>

#include "base/mem.h"

struct pool_room {
    uint32_t capacity; /* entries there is memory for */
    uint32_t used;     /* the first so many are in use or on the free list */
};

/* More entries for the free list, which is empty; returns the first of them, each linked to the next. 0: refused. */
uint32_t pool_grow(void **items, struct pool_room *room, size_t item_bytes, size_t link_offset, struct mem *mem);

/* Defines `struct NAME` and NAME_init, NAME_take, NAME_give, NAME_free for `TYPE`, whose uint32_t field `LINK` is the
 * pool's while an entry is free. */
#define POOL_DEFINE(NAME, TYPE, LINK)                                                                                  \
    struct NAME {                                                                                                      \
        TYPE *at;                                                                                                      \
        struct pool_room room;                                                                                         \
        uint32_t free;                                                                                                 \
    };                                                                                                                 \
    static inline bool NAME##_init(struct NAME *pool, struct mem *mem)                                                 \
    {                                                                                                                  \
        *pool = (struct NAME){0};                                                                                      \
        pool->free = pool_grow((void **)&pool->at, &pool->room, sizeof(TYPE), offsetof(TYPE, LINK), mem);              \
        return pool->free != 0;                                                                                        \
    }                                                                                                                  \
    static inline uint32_t NAME##_take(struct NAME *pool, struct mem *mem, bool *failed)                               \
    {                                                                                                                  \
        uint32_t index = pool->free;                                                                                   \
        if (__builtin_expect(index == 0, 0)) {                                                                         \
            index = pool_grow((void **)&pool->at, &pool->room, sizeof(TYPE), offsetof(TYPE, LINK), mem);               \
            if (index == 0) {                                                                                          \
                *failed = true;                                                                                        \
                return 0;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        pool->free = pool->at[index].LINK;                                                                             \
        return index;                                                                                                  \
    }                                                                                                                  \
    static inline void NAME##_give(struct NAME *pool, uint32_t index)                                                  \
    {                                                                                                                  \
        if (index != 0) {                                                                                              \
            pool->at[index].LINK = pool->free;                                                                         \
            pool->free = index;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void NAME##_free(struct NAME *pool, struct mem *mem)                                                 \
    {                                                                                                                  \
        mem_free(mem, pool->at, (size_t)pool->room.capacity * sizeof(TYPE));                                           \
        *pool = (struct NAME){0};                                                                                      \
    }                                                                                                                  \
    struct NAME

#endif
