/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run cannot go on: the event queue ran dry with work left. A diagnosis is a list of findings, each one sentence
 * with the ranks and nodes it names kept as numbers too, so that tests and other programs need not read prose.
 */
#ifndef ORR_SIM_STALL_H
#define ORR_SIM_STALL_H

#include <stdint.h>

#define SIM_STALL_KINDS(X)                                                                                             \
    X(NONE, "none")                                                                                                    \
    X(UNMATCHED_RECV, "unmatched receive")                                                                             \
    X(UNMATCHED_SEND, "unmatched send")                                                                                \
    X(MESSAGE_CYCLE, "ranks wait for each other's messages")                                                           \
    X(RANK_NEVER_JOINS, "a rank never joins a collective")                                                             \
    X(SIZES_DIFFER, "ranks disagree on a collective's size")                                                           \
    X(ORDER_DIFFERS, "ranks issue collectives in different order")                                                     \
    X(ADMISSION_CYCLE, "chunks wait for each other's slots")                                                           \
    X(NETWORK, "the network holds messages for ever")                                                                  \
    X(DEPENDENCY_CYCLE, "a dependency cycle in a trace")                                                               \
    X(WAITS, "work left that nothing will wake")

enum sim_stall_kind {
#define SIM_STALL_X(name, text) SIM_STALL_##name,
    SIM_STALL_KINDS(SIM_STALL_X)
#undef SIM_STALL_X
};

const char *sim_stall_kind_name(enum sim_stall_kind kind);

struct sim_stall_finding {
    enum sim_stall_kind kind;
    const char *text;      /* one sentence, no newline */
    const char *fix;       /* what to change, or NULL */
    const uint32_t *ranks; /* named in the text */
    uint32_t rank_count;
    const uint64_t *nodes; /* node ids, as in the files; for a cycle, in cycle order */
    uint32_t node_count;
};

/* What is waited for, and its word. */
#define SIM_STALL_WHATS(X)                                                                                             \
    X(MESSAGE, "message") /* of a collective */                                                                        \
    X(SLOT, "slot")                                                                                                    \
    X(RECV, "receive")                                                                                                 \
    X(SEND, "send")                                                                                                    \
    X(COLLECTIVE, "collective") /* of its messages, some */

enum sim_stall_what {
#define SIM_STALL_X(name, text) SIM_STALL_WHAT_##name,
    SIM_STALL_WHATS(SIM_STALL_X)
#undef SIM_STALL_X
};

const char *sim_stall_what_name(enum sim_stall_what what);

/* One edge of the wait-for graph: this rank's node waits for that rank (or for itself: a slot, a dependency). */
struct sim_stall_wait {
    uint32_t rank;
    uint32_t peer; /* waited for; UINT32_MAX: not one alone */
    uint64_t node;
    uint64_t bytes;    /* waited for; 0: not told */
    uint64_t since_ns; /* when the node began */
    enum sim_stall_what what;
    const char *text; /* "rank 3: node 7 \"ar\" (all-reduce of 1048576 B), chunk 2, phase 1 …: waits for …" */
};

struct sim_stall {
    enum sim_stall_kind kind; /* of the first finding; SIM_STALL_NONE when the run did not stall */
    const struct sim_stall_finding *findings;
    uint32_t finding_count;
    const struct sim_stall_wait *waits; /* at most a few hundred; wait_total says how many there are */
    uint32_t wait_count;
    uint32_t wait_total;
};

#endif
