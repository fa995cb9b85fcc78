/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit ids (correlations, external ids, record function ids, node ids) to 32-bit numbers. What is looked
 * up does not depend on the order of insertion, and there is no walk over it, so no result can depend on its hash.
 * Where several owners (ranks) number their things alike, the functions that end in _of keep their ids apart; the
 * others are about owner 0.
 */
#ifndef ORR_BASE_NUMBER_MAP_H
#define ORR_BASE_NUMBER_MAP_H

#include "base/map.h"

struct number_map_entry {
    int64_t key;
    uint32_t value;
    uint32_t owner; /* + 1; 0 = free */
};

MAP_STRUCT(number_table, struct number_map_entry);

struct number_map {
    struct mem *mem;
    struct number_table table;
};

/* Takes no memory yet and cannot fail. */
void number_map_init(struct number_map *map, struct mem *mem);
void number_map_free(struct number_map *map);

/* Adds, or replaces the value. False when memory is refused. */
ORR_MUST_CHECK bool number_map_put(struct number_map *map, int64_t key, uint32_t value);

/* Adds only what is not there; `*value` becomes the number that is there in the end. False when memory is refused. */
ORR_MUST_CHECK bool number_map_add(struct number_map *map, int64_t key, uint32_t *value);

/* False, with `*value` untouched, when the key is not there. */
bool number_map_get(const struct number_map *map, int64_t key, uint32_t *value);

/* The same for an owner, below UINT32_MAX. */
ORR_MUST_CHECK bool number_map_add_of(struct number_map *map, uint32_t owner, int64_t key, uint32_t *value);
bool number_map_get_of(const struct number_map *map, uint32_t owner, int64_t key, uint32_t *value);

/* The owner's number itself, 0 where it is new, until the next call; NULL when memory is refused. */
ORR_MUST_CHECK uint32_t *number_map_at(struct number_map *map, uint32_t owner, int64_t key);

#endif
