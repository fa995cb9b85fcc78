/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the order of what happens to a rank at one nanosecond may not be the plain engine's. One rank for all
 * (sim/symmetry.h) knows rank 0's order, which may be another at other ranks; ring phases at once (sim/rings.h) put off
 * fewer calls, so that those put off at the same nanosecond by different events may stand otherwise. As long as at most
 * one of such calls changes what the streams and nodes of the rank share, or their changes come to the same either way,
 * it is no matter; else the run has to be done again without the shortcut.
 *
 * Watched only in runs with such a shortcut; part of the simulation.
 */
#ifndef ORR_SIM_ORDER_H
#define ORR_SIM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct sim;

enum { SIM_ORDER_CHANGES = 16 };

/* What a call did to what the streams and nodes of a rank share. */
struct sim_change {
    enum {
        SIM_CHANGE_STANDS, /* a stream stands in line at `queue` */
        SIM_CHANGE_ENDS,   /* a stream is done, others of its collective are not */
        SIM_CHANGE_LAST,   /* the last of a collective is */
        SIM_CHANGE_OTHER,
    } kind;
    uint32_t call, operation, queue;
};

struct sim_order {
    bool watched;
    bool mixed;    /* the calls being run may be in another order in the plain engine */
    uint32_t call; /* counts them */
    uint32_t count;
    struct sim_change changes[SIM_ORDER_CHANGES]; /* that they made */
};

/* Several calls of one tick are about to run, then each of them, then none. */
void sim_order_calls(struct sim *sim, uint32_t first);
void sim_order_call(struct sim *sim, uint32_t kind);
void sim_order_calls_end(struct sim *sim);
/* A stream goes on to stand in line at `queue` of its rank, or is done with its last phase: SIM_NONE. */
void sim_order_proceed(struct sim *sim, uint32_t stream, uint32_t queue);
/* A stream that stood in line starts. */
void sim_order_start(struct sim *sim);
/* The shortcut cannot be right: the loop ends before the next event. */
void sim_order_give_up(struct sim *sim);

#endif
