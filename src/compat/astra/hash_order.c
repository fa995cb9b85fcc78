/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One singly linked list of all entries, and for each bucket the entry before the first of its run: that is how
 * libstdc++ does it, and it is the only way to get its order. Bucket counts come from its list of primes; the limit is
 * one entry per bucket.
 */
#include "compat/astra/hash_order.h"

#include <string.h>

/* The bucket counts that growth by doubling meets, starting from an empty container. */
static const uint32_t bucket_primes[] = {
    13,       29,       59,        127,       257,       541,       1109,       2357,       5087,    10273,
    20753,    42043,    85229,     172933,    351061,    712697,    1447153,    2938679,    5967347, 12117689,
    24607243, 49969847, 101473717, 206062531, 418449869, 849746879, 1725587117, 3504151727,
};

void hash_order_init(struct hash_order *order, struct mem *mem)
{
    *order = (struct hash_order){.mem = mem};
}

void hash_order_free(struct hash_order *order)
{
    if (order->mem != NULL) {
        mem_free(order->mem, order->entries, (size_t)order->entry_capacity * sizeof *order->entries);
        mem_free(order->mem, order->before, (size_t)order->bucket_count * sizeof *order->before);
    }
    *order = (struct hash_order){.mem = order->mem};
}

static uint32_t hash_order_bucket_of(const struct hash_order *order, uint64_t key)
{
    return (uint32_t)(key % order->bucket_count);
}

/* Puts an entry in front: of its bucket's run, or of the whole list when the bucket is empty. */
static void link_entry(struct hash_order *order, uint32_t index)
{
    struct hash_order_entry *entries = order->entries;
    uint32_t bucket = hash_order_bucket_of(order, entries[index].key);
    if (order->before[bucket] != 0) {
        uint32_t before = order->before[bucket] - 1;
        entries[index].next = entries[before].next;
        entries[before].next = index;
        return;
    }
    entries[index].next = entries[0].next;
    entries[0].next = index;
    if (entries[index].next != 0) {
        order->before[hash_order_bucket_of(order, entries[entries[index].next].key)] = index + 1;
    }
    order->before[bucket] = 1; /* the list head, entry 0 */
}

static bool hash_order_grow(struct hash_order *order)
{
    uint64_t need = order->count == 0 ? 11 : order->count + 1;
    uint64_t least = need + 1 > 2 * (uint64_t)order->bucket_count ? need + 1 : 2 * (uint64_t)order->bucket_count;
    size_t i = 0;
    while (i + 1 < sizeof bucket_primes / sizeof bucket_primes[0] && bucket_primes[i] < least) {
        i++;
    }
    uint32_t wider = bucket_primes[i];
    uint32_t *before = mem_zalloc(order->mem, (size_t)wider * sizeof *before);
    if (before == NULL) {
        return false;
    }
    mem_free(order->mem, order->before, (size_t)order->bucket_count * sizeof *order->before);
    order->before = before;
    order->bucket_count = wider;
    uint32_t entry = order->entries[0].next;
    order->entries[0].next = 0;
    while (entry != 0) {
        uint32_t following = order->entries[entry].next;
        link_entry(order, entry);
        entry = following;
    }
    return true;
}

/* The entry before the one with this key, or UINT32_MAX when the key is not there. */
static uint32_t hash_order_find_before(const struct hash_order *order, uint64_t key)
{
    if (order->bucket_count == 0) {
        return UINT32_MAX;
    }
    uint32_t bucket = hash_order_bucket_of(order, key);
    if (order->before[bucket] == 0) {
        return UINT32_MAX;
    }
    uint32_t before = order->before[bucket] - 1;
    for (uint32_t entry = order->entries[before].next; entry != 0; entry = order->entries[entry].next) {
        if (order->entries[entry].key == key) {
            return before;
        }
        if (hash_order_bucket_of(order, order->entries[entry].key) != bucket) {
            break;
        }
        before = entry;
    }
    return UINT32_MAX;
}

bool hash_order_insert(struct hash_order *order, uint64_t key, bool *added)
{
    if (hash_order_find_before(order, key) != UINT32_MAX) {
        *added = false;
        return true;
    }
    if (!MEM_RESERVE(order->mem, order->entries, order->entry_capacity, (uint64_t)order->entry_used + 2)) {
        return false;
    }
    if (order->entry_used == 0) {
        order->entries[0] = (struct hash_order_entry){0};
    }
    if (order->count + 1 > order->bucket_count && !hash_order_grow(order)) {
        return false;
    }
    uint32_t index = order->entry_free;
    if (index != 0) {
        order->entry_free = order->entries[index].next;
    } else {
        index = ++order->entry_used;
    }
    order->entries[index].key = key;
    link_entry(order, index);
    order->count++;
    *added = true;
    return true;
}

void hash_order_erase(struct hash_order *order, uint64_t key)
{
    uint32_t before = hash_order_find_before(order, key);
    if (before == UINT32_MAX) {
        return;
    }
    struct hash_order_entry *entries = order->entries;
    uint32_t index = entries[before].next;
    uint32_t after = entries[index].next;
    uint32_t bucket = hash_order_bucket_of(order, key);
    uint32_t after_bucket = after == 0 ? UINT32_MAX : hash_order_bucket_of(order, entries[after].key);
    bool was_first = order->before[bucket] - 1 == before;
    if (after != 0 && after_bucket != bucket) {
        order->before[after_bucket] = before + 1;
    }
    if (was_first && after_bucket != bucket) {
        order->before[bucket] = 0;
    }
    entries[before].next = after;
    entries[index].next = order->entry_free;
    order->entry_free = index;
    order->count--;
}
