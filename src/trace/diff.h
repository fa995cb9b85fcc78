/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two traces differ: nodes that only one has, and for the others which of their facts. Nodes are the same by id, or
 * by name and how many of that name came before. Differences are handed out one at a time, in the second trace's order
 * of nodes, with the removed ones before; who gets them decides what to show.
 *
 * Both files are read twice: first for a fingerprint of each node, then only the records that differ are looked into.
 * So the memory grows with nodes and with differences, not with the files.
 */
#ifndef ORR_TRACE_DIFF_H
#define ORR_TRACE_DIFF_H

#include "base/mem.h"

enum diff_by { DIFF_BY_ID, DIFF_BY_NAME };

enum diff_kind { DIFF_REMOVED, DIFF_ADDED, DIFF_CHANGED, DIFF_METADATA };

/* What changed: a node's own facts, its dependencies, or an attribute. */
struct diff_item {
    enum diff_kind kind;
    uint64_t id;      /* in the second trace; of a removed node in the first */
    const char *name; /* of the node; "" for the metadata */
    const char *what; /* "name", "type", "duration_us", "start_us", "data_deps", "inputs", an attribute's name, …; ""
                         for an added or removed node */
    const char *before, *after; /* as text; "-" where it is not there */
};

struct diff_options {
    enum diff_by by;
    double tolerance; /* share of the first trace's duration by which durations may differ; 0 = none */
    /* Texts are valid during the call. */
    void (*item)(void *context, const struct diff_item *item);
    void *context;
};

struct diff_counts {
    uint64_t nodes_a, nodes_b;
    uint64_t added, removed;
    uint64_t changed;                                       /* nodes */
    uint64_t durations, sizes, types, dependencies, others; /* changes, by what */
    uint64_t duration_us_a, duration_us_b;                  /* sums, modulo 2^64 */
    uint64_t bytes_a, bytes_b;                              /* of comm_size */
    bool metadata;                                          /* differs */
};

static inline bool diff_any(const struct diff_counts *counts)
{
    return counts->added + counts->removed + counts->changed > 0 || counts->metadata;
}

/* ORR_EIO, ORR_EINVAL (not a Chakra ET file), ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status diff_traces(const char *path_a, const char *path_b, const struct diff_options *options,
                                           struct diff_counts *counts, struct mem *mem, struct orr_error *err);

#endif
