/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of values in classes that grow with the value, so that percentiles of any number of values cost a fixed room:
 * four classes for each doubling (the answer is at most a quarter too large) or 32 (at most 1/32).
 */
#ifndef ORR_NET_PACKET_HISTOGRAM_H
#define ORR_NET_PACKET_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_COARSE_BITS = 2,
    HISTOGRAM_FINE_BITS = 5,
    HISTOGRAM_COARSE = (33 - HISTOGRAM_COARSE_BITS) << HISTOGRAM_COARSE_BITS, /* values up to 2^32 */
    HISTOGRAM_FINE = (65 - HISTOGRAM_FINE_BITS) << HISTOGRAM_FINE_BITS,       /* any value */
};

/* The class of a value: itself while small, then the leading `bits` bits below the highest. */
static inline uint32_t histogram_class(uint64_t value, unsigned bits)
{
    if (value < (UINT64_C(1) << bits)) {
        return (uint32_t)value;
    }
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - bits;
    return ((shift + 1) << bits) + (uint32_t)((value >> shift) & ((UINT64_C(1) << bits) - 1));
}

/* The largest value of a class. */
static inline uint64_t histogram_value(uint32_t class, unsigned bits)
{
    if (class < (1u << bits)) {
        return class;
    }
    unsigned shift = (class >> bits) - 1;
    uint64_t lead = (UINT64_C(1) << bits) + (class & ((1u << bits) - 1));
    return ((lead + 1) << shift) - 1;
}

struct histogram_coarse {
    uint32_t count[HISTOGRAM_COARSE];
};

struct histogram_fine {
    uint64_t count[HISTOGRAM_FINE];
    uint64_t total, most;
};

static inline void histogram_coarse_add(struct histogram_coarse *histogram, uint64_t value)
{
    histogram->count[histogram_class(value > UINT32_MAX ? UINT32_MAX : value, HISTOGRAM_COARSE_BITS)]++;
}

static inline void histogram_fine_add(struct histogram_fine *histogram, uint64_t value, uint64_t times)
{
    histogram->count[histogram_class(value, HISTOGRAM_FINE_BITS)] += times;
    histogram->total += times;
    histogram->most = value > histogram->most ? value : histogram->most;
}

/* The value that `share` of the values do not exceed; at most `most`. */
uint64_t histogram_coarse_at(const struct histogram_coarse *histogram, double share, uint64_t most);
uint64_t histogram_fine_at(const struct histogram_fine *histogram, double share);

#endif
