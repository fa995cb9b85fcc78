/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the whole network as a row of words that are the same whenever the network will go on in the same way:
 * times are told from now, sequence numbers from what is acknowledged, and what merely counts is left out but kept
 * beside, so that its change from one state to an equal one is known. Packets are told by what they are and not by
 * where they lie in the pool; events in the order in which they will be taken. What is due at a fixed time and does not
 * come round with the packets (a message's start, a timeout, the end of a computation) is told by that time, so that
 * two states are equal only when none of it happened or was planned between them.
 *
 * Only forward*.c include this. Every field of engine.h and cc.h that a later event looks at must be here: the
 * differential tests are there to notice when one is not.
 */
#ifndef ORR_NET_PACKET_FORWARD_STATE_H
#define ORR_NET_PACKET_FORWARD_STATE_H

#include "base/event_order.h"
#include "net/packet/cc.h"

/* What a port counted. */
struct forward_figures {
    uint64_t sent_bytes, data_bytes, busy_ns, mark_count, pause_count, drop_count;
};

/* A message under way, in the order of the ports' lists. */
struct forward_pair {
    uint64_t acked;
    double drift; /* of its congestion control (cc_law.drift) */
    uint32_t pair;
};

/* An event that comes round. */
struct forward_event {
    uint64_t ahead_ns; /* from now */
    uint32_t kind, a;
};

struct forward_state {
    uint64_t *words;
    uint32_t count, capacity;
    uint32_t *port_start; /* where each port's words begin */
    struct forward_pair *pairs;
    uint32_t pair_count, pair_capacity;
    struct forward_figures *figures; /* by port */
    struct histogram_coarse *queues; /* by port; only those that have sent something are kept up */
    struct packet_counts counts;
    uint64_t time_ns, handled, streams;
    struct forward_event *moving; /* those that come round, in order */
    uint32_t moving_count, moving_capacity;
    struct event_order events; /* of the last state looked at */
    /* Where states differed last: a port, and an event or UINT32_MAX. Looked at before all else. */
    uint32_t suspect, suspect_event;
};

bool forward_state_open(struct forward_state *state, struct packet_net *network);
void forward_state_close(struct forward_state *state, struct packet_net *network);

/* Keeps the present state; false when it cannot be told or memory is refused. */
bool forward_state_keep(struct forward_state *state, struct packet_net *network, uint64_t *words);
/* Whether the present state equals the one kept; if so, `events` is its list of events, with those that come round
 * with the packets marked as moving. Both add the number of words looked at to `words`. */
bool forward_state_recurs(struct forward_state *state, struct packet_net *network, uint64_t *words);

/* How many times what happened since the kept state, which equals the present one, can be skipped. */
uint64_t forward_jump_most(const struct forward_state *state, struct packet_net *network);
/* Skips it so many times; false, with nothing changed, when memory is refused. */
bool forward_jump(struct forward_state *state, struct packet_net *network, uint64_t times);

/* The port that writes record `hop` of the telemetry of this pair's packets; UINT32_MAX when there is none. */
uint32_t forward_hop_port(const struct packet_net *network, const struct packet_pair *pair, uint32_t hop);

/* Congestion controls that move the next packet's time when the rate changes: there, how long ago it was matters. */
static inline bool forward_moves_next(const struct packet_net *network)
{
    return network->law->paces_anew;
}

#endif
