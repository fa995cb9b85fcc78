/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The iteration order of a libstdc++ unordered container with 64-bit integer keys. ASTRA-sim walks such containers, and
 * what it does in that order shows in its results (spec analytical §19); this reproduces the order, not the speed.
 */
#ifndef ORR_COMPAT_ASTRA_HASH_ORDER_H
#define ORR_COMPAT_ASTRA_HASH_ORDER_H

#include "base/mem.h"

struct hash_order_entry {
    uint64_t key;
    uint32_t next; /* in iteration order; 0 = end */
};

struct hash_order {
    struct mem *mem;
    struct hash_order_entry *entries; /* entry 0 is the head of the list */
    uint32_t *before;                 /* by bucket: the entry before the bucket's run, plus 1; 0 = bucket empty */
    uint32_t bucket_count;
    uint32_t entry_capacity, entry_free, entry_used;
    uint32_t count;
};

void hash_order_init(struct hash_order *order, struct mem *mem);
void hash_order_free(struct hash_order *order);

/* Adds a key that is not there yet (`added` false when it is). False when memory is refused. */
ORR_MUST_CHECK bool hash_order_insert(struct hash_order *order, uint64_t key, bool *added);
void hash_order_erase(struct hash_order *order, uint64_t key); /* nothing when it is not there */

/* Walk: `for (uint32_t i = hash_order_first(o); i != 0; i = hash_order_next(o, i))`. */
static inline uint32_t hash_order_first(const struct hash_order *order)
{
    return order->entries == NULL ? 0 : order->entries[0].next;
}

static inline uint32_t hash_order_next(const struct hash_order *order, uint32_t entry)
{
    return order->entries[entry].next;
}

static inline uint64_t hash_order_key(const struct hash_order *order, uint32_t entry)
{
    return order->entries[entry].key;
}

#endif
