/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many messages each pair of ranks has had, which gives every message a source port of its own (spec packet A6) and
 * so its way. A rank that talks to few others has a small table, one that talks to many an array; so the room goes with
 * the pairs that talk and never beyond two bytes a pair. Owned by a network; knows nothing else of it.
 */
#ifndef ORR_NET_SOURCE_PORTS_H
#define ORR_NET_SOURCE_PORTS_H

#include "base/map.h"

struct source_entry {
    uint32_t to;    /* + 1; 0 = free */
    uint16_t count; /* wraps round, as the reference's does */
};

MAP_STRUCT(source_table, struct source_entry);

struct source_row {
    union {
        struct source_table few;
        uint16_t *many; /* by destination */
    } as;
    bool is_many;
};

struct source_ports {
    struct source_row *rows; /* by source */
    uint32_t ranks;          /* nodes that may send or receive: hosts, and switches that reduce */
    struct mem *mem;
};

/* False when memory is refused. */
bool source_ports_init(struct source_ports *ports, uint32_t ranks, struct mem *mem);
void source_ports_free(struct source_ports *ports);
/* The count of this pair, until the next call; NULL when memory is refused. */
uint16_t *source_ports_of(struct source_ports *ports, uint32_t from, uint32_t to);

#endif
