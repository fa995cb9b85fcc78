/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank's gradients cut into the buckets that data-parallel training reduces one by one: as DistributedDataParallel
 * does, full ones of a given size and what is left in the last, or a given number of equal ones. Sizes are whole
 * elements and add up exactly; nothing is stored for each of them.
 */
#ifndef ORR_TRACE_COMPOSE_BUCKETS_H
#define ORR_TRACE_COMPOSE_BUCKETS_H

#include "base/error.h"

enum { COMPOSE_BUCKETS_MOST = 1 << 20 };

struct compose_buckets {
    uint64_t elements;      /* of the rank's gradients, above 0 */
    uint32_t element_bytes; /* above 0 */
    uint32_t count;         /* buckets */
    uint64_t first, each;   /* elements of the first and of the others but the last; each 0: all as equal as can be */
};

/* How to cut. A size is rounded down to whole elements. */
struct compose_cut {
    uint64_t bucket_bytes; /* unless count is given */
    uint64_t first_bytes;  /* of the first bucket; 0: as the others */
    uint32_t count;        /* so many equal ones; 0: by size */
};

/* `bytes` must be whole elements. ORR_ERANGE: nothing to cut, a bucket smaller than an element, more buckets than
 * elements or than COMPOSE_BUCKETS_MOST. */
ORR_MUST_CHECK enum orr_status compose_buckets_cut(uint64_t bytes, uint32_t element_bytes,
                                                   const struct compose_cut *cut, struct compose_buckets *buckets,
                                                   struct orr_error *err);

/* Bytes in the buckets before `index`; with index = count, all of them. */
uint64_t compose_buckets_before(const struct compose_buckets *buckets, uint32_t index);

/* A shard's elements where `elements` are split over `shards` as evenly as can be: over all shards they add up. */
uint64_t compose_shard(uint64_t elements, uint32_t shards, uint32_t index);

#endif
