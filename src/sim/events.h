/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine puts in the event queue: arrivals, and calls that a rank has put off to a later tick (spec analytical
 * §2). Numbers only; who handles them is in run.c and ticks.c.
 */
#ifndef ORR_SIM_EVENTS_H
#define ORR_SIM_EVENTS_H

#include "base/pool.h"
#include "net/net.h"

enum sim_event_kind {
    SIM_EVENT_ARRIVAL = NET_EVENT_KINDS, /* a: message; networks without contention */
    SIM_EVENT_LANE_ARRIVAL,              /* a: lane; networks without contention */
    SIM_EVENT_LATE_RECV,                 /* a: message that had arrived before its receive was posted */
    SIM_EVENT_LANE_LATE_RECV,            /* a: stream; the same on a lane */
    SIM_EVENT_CALLS,                     /* a, b: first and last of several calls of one rank */
    /* What a rank has put off to a tick; the event is the call when it is the rank's only one for that tick. */
    SIM_CALL_ENDPOINT,    /* a: stream, b: memory code; the endpoint delay is over */
    SIM_CALL_GENERAL,     /* a: stream; the memory delay is over */
    SIM_CALL_NODE_DONE,   /* a: node, b: rank */
    SIM_CALL_SHARED,      /* a: which foreseen end, b: rank; a kernel among several is done */
    SIM_CALL_LAUNCHED,    /* a: node, b: rank; a communication's launch overhead is over */
    SIM_CALL_COLLECTIVE,  /* a: operation with no stream to wait for */
    SIM_CALL_MEMORY_NEXT, /* a: memory server, b: rank */
    SIM_CALL_CUSTOM_DONE, /* a: stream, b: node of the custom trace */
    SIM_CALL_BUS,         /* a: bus side, b: enum bus_event */
    SIM_CALL_RING_END,    /* a: stream; its ring phase, worked out at once, is over (rings.c) */
    SIM_CALL_RING_LAST,   /* a: stream; the same, once memory that takes no time has passed */
    SIM_CALL_FLOW,        /* a: stream, b: flow of an NCCL collective that may be passed on, SIM_NONE: all may begin */
};

/* One of several calls of one rank for one tick: they run back to back, where the first of them stood. */
struct sim_call {
    uint32_t next;
    uint32_t kind;
    uint32_t a, b;
    struct event_cause cause; /* where the queue keeps them */
};
POOL_DEFINE(sim_calls, struct sim_call, next);

/* A tick to come that found no room in its rank. */
struct sim_far_tick {
    uint64_t tick;
    uint32_t rank;
    uint32_t event;
    uint32_t chain; /* next in the hash bucket, or next free */
};
POOL_DEFINE(sim_far_ticks, struct sim_far_tick, chain);

#endif
