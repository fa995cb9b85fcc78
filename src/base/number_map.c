/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_map.h"

struct number_key {
    int64_t key;
    uint32_t owner; /* + 1 */
};

static uint32_t number_hash(int64_t key, uint32_t owner_plus_1)
{
    return (uint32_t)(map_mix((uint64_t)key) + (owner_plus_1 - 1) * UINT64_C(0x9e3779b1));
}

static uint32_t number_hash_of(const void *context, const struct number_map_entry *entry)
{
    (void)context;
    return number_hash(entry->key, entry->owner);
}

static bool number_is(const void *context, const struct number_map_entry *entry, struct number_key key)
{
    (void)context;
    return entry->key == key.key && entry->owner == key.owner;
}

#define NUMBER_IS_FREE(entry) ((entry)->owner == 0)
MAP_DEFINE(number_table, struct number_map_entry, struct number_key, const void *, number_hash_of, number_is,
           NUMBER_IS_FREE);

void number_map_init(struct number_map *map, struct mem *mem)
{
    *map = (struct number_map){.mem = mem};
}

void number_map_free(struct number_map *map)
{
    if (map->mem != NULL) {
        number_table_free(&map->table, map->mem);
    }
}

/* The entry of a key, made with `fresh` where it is new; NULL when memory is refused. */
static struct number_map_entry *number_map_entry_of(struct number_map *map, uint32_t owner, int64_t key, uint32_t fresh)
{
    struct number_key wanted = {key, owner + 1};
    if (!number_table_room(NULL, &map->table, map->mem)) {
        return NULL;
    }
    struct number_map_entry *entry = number_table_place(NULL, &map->table, number_hash(key, wanted.owner), wanted);
    if (entry->owner == 0) {
        *entry = (struct number_map_entry){.key = key, .value = fresh, .owner = wanted.owner};
        map->table.count++;
    }
    return entry;
}

uint32_t *number_map_at(struct number_map *map, uint32_t owner, int64_t key)
{
    struct number_map_entry *entry = number_map_entry_of(map, owner, key, 0);
    return entry == NULL ? NULL : &entry->value;
}

bool number_map_put(struct number_map *map, int64_t key, uint32_t value)
{
    struct number_map_entry *entry = number_map_entry_of(map, 0, key, value);
    if (entry != NULL) {
        entry->value = value;
    }
    return entry != NULL;
}

bool number_map_add(struct number_map *map, int64_t key, uint32_t *value)
{
    return number_map_add_of(map, 0, key, value);
}

bool number_map_add_of(struct number_map *map, uint32_t owner, int64_t key, uint32_t *value)
{
    struct number_map_entry *entry = number_map_entry_of(map, owner, key, *value);
    if (entry != NULL) {
        *value = entry->value;
    }
    return entry != NULL;
}

bool number_map_get(const struct number_map *map, int64_t key, uint32_t *value)
{
    return number_map_get_of(map, 0, key, value);
}

bool number_map_get_of(const struct number_map *map, uint32_t owner, int64_t key, uint32_t *value)
{
    struct number_key wanted = {key, owner + 1};
    const struct number_map_entry *entry = number_table_find(NULL, &map->table, number_hash(key, wanted.owner), wanted);
    if (entry != NULL) {
        *value = entry->value;
    }
    return entry != NULL;
}
