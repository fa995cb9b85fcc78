/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most two thirds full. The mixing of the key is splitmix64's: ids of a trace
 * run in sequences, which plain masking would turn into runs. */
#include "convert/number_map.h"

void number_map_init(struct number_map *map, struct mem *mem)
{
    *map = (struct number_map){.mem = mem};
}

void number_map_free(struct number_map *map)
{
    mem_free(map->mem, map->entries, (size_t)map->size * sizeof *map->entries);
    map->entries = NULL;
    map->count = 0;
    map->size = 0;
}

static uint64_t mix(uint64_t key)
{
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

static struct number_map_entry *find(struct number_map_entry *entries, uint32_t size, uint32_t owner, int64_t key)
{
    uint32_t at = (uint32_t)(mix((uint64_t)key) + owner * UINT64_C(0x9e3779b1)) & (size - 1);
    while (entries[at].owner != 0 && (entries[at].key != key || entries[at].owner != owner + 1)) {
        at = (at + 1) & (size - 1);
    }
    return &entries[at];
}

static bool grow(struct number_map *map)
{
    if (map->size != 0 && map->count < map->size - map->size / 3) {
        return true;
    }
    if (map->size > UINT32_MAX / 2) {
        return false;
    }
    uint32_t size = map->size == 0 ? 64 : map->size * 2;
    struct number_map_entry *entries = mem_zalloc(map->mem, (size_t)size * sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < map->size; i++) {
        const struct number_map_entry *entry = &map->entries[i];
        if (entry->owner != 0) {
            *find(entries, size, entry->owner - 1, entry->key) = *entry;
        }
    }
    mem_free(map->mem, map->entries, (size_t)map->size * sizeof *map->entries);
    map->entries = entries;
    map->size = size;
    return true;
}

bool number_map_put(struct number_map *map, int64_t key, uint32_t value)
{
    uint32_t there = value;
    if (!number_map_add(map, key, &there)) {
        return false;
    }
    if (there != value) {
        find(map->entries, map->size, 0, key)->value = value;
    }
    return true;
}

bool number_map_add(struct number_map *map, int64_t key, uint32_t *value)
{
    return number_map_add_of(map, 0, key, value);
}

bool number_map_add_of(struct number_map *map, uint32_t owner, int64_t key, uint32_t *value)
{
    if (!grow(map)) {
        return false;
    }
    struct number_map_entry *entry = find(map->entries, map->size, owner, key);
    if (entry->owner == 0) {
        *entry = (struct number_map_entry){.key = key, .value = *value, .owner = owner + 1};
        map->count++;
    }
    *value = entry->value;
    return true;
}

bool number_map_get(const struct number_map *map, int64_t key, uint32_t *value)
{
    return number_map_get_of(map, 0, key, value);
}

bool number_map_get_of(const struct number_map *map, uint32_t owner, int64_t key, uint32_t *value)
{
    if (map->size == 0) {
        return false;
    }
    const struct number_map_entry *entry = find(map->entries, map->size, owner, key);
    if (entry->owner == 0) {
        return false;
    }
    *value = entry->value;
    return true;
}
