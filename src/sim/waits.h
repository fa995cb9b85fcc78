/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom when nothing can go on: one entry per stream, receive or send that is stuck, in the order of
 * ranks. Built once, after the event queue has run dry, from what the engine left behind; diagnosis code reads it.
 */
#ifndef ORR_SIM_WAITS_H
#define ORR_SIM_WAITS_H

#include "sim/engine.h"

/*
 * MESSAGE: a running stream waits for a message of `peer`'s stream with the same tag. SLOT: a stream waits to be
 * admitted to its queue. RECV: a receive of the trace (or of a custom collective) waits for `peer` to send. SEND: a
 * send waits for `peer` to be ready (rendezvous). COLLECTIVE: one whose time is told waits for `peer` to come.
 */
struct sim_wait {
    enum sim_stall_what kind;
    uint32_t rank;
    uint32_t node;   /* of the rank's trace */
    uint32_t stream; /* MESSAGE, SLOT, and RECV of a custom collective; else 0 */
    uint32_t peer;   /* rank waited for; its own for SLOT */
    uint64_t bytes;  /* of the message */
    int32_t tag;     /* as in the trace (RECV, SEND), or the stream's */
};

struct sim_waits {
    struct sim_wait *at;
    uint32_t count, capacity;
    uint32_t *first_of_rank; /* index of a rank's first entry; rank_count + 1 of them */
    uint32_t *streams;       /* live streams by (rank, tag) */
    uint32_t stream_count;
};

/* False when memory is refused. Everything lives in the simulation's arena. */
bool sim_waits_collect(struct sim *sim, struct sim_waits *waits);

/* Place in `streams` of the first that is not before (rank, tag). */
uint32_t sim_waits_first_stream(const struct sim *sim, const struct sim_waits *waits, uint32_t rank, int32_t tag);
/* The live stream of a rank with this tag, or 0. */
uint32_t sim_waits_find_stream(const struct sim *sim, const struct sim_waits *waits, uint32_t rank, int32_t tag);
/* The first entry about this stream, or SIM_NONE. */
uint32_t sim_waits_of_stream(const struct sim_waits *waits, const struct sim *sim, uint32_t stream);

/* Whether a node has not been issued yet: it waits for a parent, or for a slot. */
bool sim_node_to_come(const struct sim_rank *state, uint32_t node);

/* Sentences about parts of a run; in the arena, "" when memory is refused. */
const char *sim_say_node(struct sim *sim, uint32_t rank, uint32_t node);
const char *sim_say_wait(struct sim *sim, const struct sim_wait *wait);

/* A dependency cycle among nodes of this rank that never ran: fills up to `room` node indices in order and returns how
 * many there are, 0 when there is none. */
uint32_t sim_find_dependency_cycle(struct sim *sim, uint32_t rank, uint32_t *nodes, uint32_t room);

#endif
