/* SPDX-License-Identifier: Apache-2.0 */
/* All by arithmetic on running totals: a bucket is the difference of two, so no rounding is ever lost or done twice. */
#include "trace/compose_buckets.h"

#include <inttypes.h>

/* elements * part / parts, rounded down; part is at most parts. */
static uint64_t compose_buckets_share(uint64_t elements, uint32_t parts, uint32_t part)
{
    return (uint64_t)((unsigned __int128)elements * part / parts);
}

uint64_t compose_shard(uint64_t elements, uint32_t shards, uint32_t index)
{
    return compose_buckets_share(elements, shards, index + 1) - compose_buckets_share(elements, shards, index);
}

static enum orr_status cut_equal(struct compose_buckets *made, uint32_t count, struct orr_error *err)
{
    if (count > made->elements || count > COMPOSE_BUCKETS_MOST) {
        return error_set(err, ORR_ERANGE,
                         "%" PRIu32 " buckets of %" PRIu64 " gradient elements; at most one for each element, and %d",
                         count, made->elements, COMPOSE_BUCKETS_MOST);
    }
    made->count = count;
    return ORR_OK;
}

static enum orr_status cut_by_size(struct compose_buckets *made, const struct compose_cut *cut, struct orr_error *err)
{
    made->each = cut->bucket_bytes / made->element_bytes;
    made->first = cut->first_bytes == 0 ? made->each : cut->first_bytes / made->element_bytes;
    if (made->each == 0 || made->first == 0) {
        return error_set(err, ORR_ERANGE,
                         "a bucket of %" PRIu64 " bytes holds no gradient element, which has %" PRIu32 " bytes",
                         made->each == 0 ? cut->bucket_bytes : cut->first_bytes, made->element_bytes);
    }
    uint64_t behind = made->elements > made->first ? made->elements - made->first : 0;
    uint64_t count = 1 + behind / made->each + (behind % made->each != 0);
    if (count > COMPOSE_BUCKETS_MOST) {
        return error_set(err, ORR_ERANGE,
                         "buckets of %" PRIu64 " bytes would be %" PRIu64 " of them; at most %d: give a larger size",
                         cut->bucket_bytes, count, COMPOSE_BUCKETS_MOST);
    }
    made->count = (uint32_t)count;
    return ORR_OK;
}

enum orr_status compose_buckets_cut(uint64_t bytes, uint32_t element_bytes, const struct compose_cut *cut,
                                    struct compose_buckets *buckets, struct orr_error *err)
{
    struct compose_buckets made = {.elements = bytes / element_bytes, .element_bytes = element_bytes};
    if (made.elements == 0 || bytes > INT64_MAX) {
        return error_set(err, ORR_ERANGE, "a rank has %" PRIu64 " bytes of gradients; 1 element to 2^63 - 1 bytes fit",
                         bytes);
    }
    enum orr_status status = cut->count > 0 ? cut_equal(&made, cut->count, err) : cut_by_size(&made, cut, err);
    if (status == ORR_OK) {
        *buckets = made;
    }
    return status;
}

uint64_t compose_buckets_before(const struct compose_buckets *buckets, uint32_t index)
{
    if (index == 0) {
        return 0;
    }
    uint64_t elements = buckets->elements;
    if (buckets->each == 0) {
        elements = compose_buckets_share(elements, buckets->count, index);
    } else if (index < buckets->count) {
        elements = buckets->first + (index - 1) * buckets->each;
    }
    return elements * buckets->element_bytes;
}
