/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries found by hash: the one hash table of all rooms. Open addressing with linear steps, at most two thirds full;
 * nothing is removed before the whole is freed. There is no walk over it, so no result can depend on a hash. The
 * functions are made for one type of entry: the thing itself, or the number of it in an array of the caller's.
 * base/number_map.h is the table most need, of whole numbers; base/intern.h that of texts.
 */
#ifndef ORR_BASE_MAP_H
#define ORR_BASE_MAP_H

#include "base/mem.h"

#define MAP_USED __attribute__((unused)) static inline

enum { MAP_FIRST_SIZE = 64 };

/* splitmix64's mixing: keys run in sequences, which plain masking would turn into runs of entries. */
MAP_USED uint64_t map_mix(uint64_t key)
{
    key += UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    return key ^ (key >> 31);
}

/* A table, all 0 when it is empty; `size` is a power of two. Who fills a free entry counts it in `count`. */
#define MAP_STRUCT(NAME, TYPE)                                                                                         \
    struct NAME {                                                                                                      \
        TYPE *at;                                                                                                      \
        uint32_t size, count;                                                                                          \
    }

/*
 * Defines, for a struct of MAP_STRUCT:
 *   NAME_room   room for one more entry; false when memory is refused
 *   NAME_place  where the key's entry is, or the free one where it goes; there must be room
 *   NAME_find   the key's entry, or NULL
 *   NAME_widen  a table of this size, for who has a rule of its own for that
 *   NAME_free
 * `HASH(context, const TYPE *)` is the hash of an entry, the same that is given with its key; `SAME(context, const TYPE
 * *, KEY)` says whether the entry is the key's; `IS_FREE(const TYPE *)` whether it is none: an entry of zeros is.
 */
#define MAP_DEFINE(NAME, TYPE, KEY, CONTEXT, HASH, SAME, IS_FREE)                                                      \
    MAP_USED TYPE *NAME##_place(CONTEXT context, const struct NAME *map, uint32_t hash, KEY key)                       \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        uint32_t place = hash & (map->size - 1);                                                                       \
        while (!IS_FREE(&map->at[place]) && !SAME(context, &map->at[place], key)) {                                    \
            place = (place + 1) & (map->size - 1);                                                                     \
        }                                                                                                              \
        return &map->at[place];                                                                                        \
    }                                                                                                                  \
    MAP_USED TYPE *NAME##_find(CONTEXT context, const struct NAME *map, uint32_t hash, KEY key)                        \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        TYPE *entry = map->size == 0 ? NULL : NAME##_place(context, map, hash, key);                                   \
        return entry == NULL || IS_FREE(entry) ? NULL : entry;                                                         \
    }                                                                                                                  \
    MAP_USED bool NAME##_widen(CONTEXT context, struct NAME *map, struct mem *mem, uint32_t size)                      \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        TYPE *wider = mem_zalloc(mem, (size_t)size * sizeof *wider);                                                   \
        if (wider == NULL) {                                                                                           \
            return false;                                                                                              \
        }                                                                                                              \
        for (uint32_t i = 0; i < map->size; i++) {                                                                     \
            if (!IS_FREE(&map->at[i])) {                                                                               \
                uint32_t place = HASH(context, &map->at[i]) & (size - 1);                                              \
                while (!IS_FREE(&wider[place])) {                                                                      \
                    place = (place + 1) & (size - 1);                                                                  \
                }                                                                                                      \
                wider[place] = map->at[i];                                                                             \
            }                                                                                                          \
        }                                                                                                              \
        mem_free(mem, map->at, (size_t)map->size * sizeof *map->at);                                                   \
        map->at = wider;                                                                                               \
        map->size = size;                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    MAP_USED bool NAME##_room(CONTEXT context, struct NAME *map, struct mem *mem)                                      \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        uint32_t size = map->size;                                                                                     \
        if (size != 0 && map->count < size - size / 3) {                                                               \
            return true;                                                                                               \
        }                                                                                                              \
        return size <= UINT32_MAX / 2 && NAME##_widen(context, map, mem, size == 0 ? MAP_FIRST_SIZE : 2 * size);       \
    }                                                                                                                  \
    MAP_USED void NAME##_free(struct NAME *map, struct mem *mem)                                                       \
    {                                                                                                                  \
        mem_free(mem, map->at, (size_t)map->size * sizeof *map->at);                                                   \
        *map = (struct NAME){0};                                                                                       \
    }                                                                                                                  \
    struct NAME

/* For tables of numbers, kept as number + 1. */
#define MAP_NO_NUMBER(entry) (*(entry) == 0)

#endif
