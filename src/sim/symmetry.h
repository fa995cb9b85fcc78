/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank for all. Where every rank does the same on a machine that looks the same from each of them, rank 0 is
 * carried out alone: what it sends to a rank some places on is what it gets from the rank as many places back, at the
 * same time. The results are those of every rank; messages, events and bytes count as often as there are ranks.
 *
 * The proof has two halves. Before the run: one trace, one kind of device, no message or root that names a rank, and
 * collectives whose every step is the same turn of a ring for all (sim_symmetry_refuses). While it runs: the order of
 * what happens to a rank at one nanosecond is either the same at all ranks or makes no difference (net/fold.c says when
 * it could be another). Where that fails, or the job stalls, the run is done again with every rank by itself: the plain
 * engine is always the one that is right.
 *
 * Owned by the simulation. Knows nothing of how a result is shown.
 */
#ifndef ORR_SIM_SYMMETRY_H
#define ORR_SIM_SYMMETRY_H

#include "net/net.h"

struct sim;
struct trace_node;
struct sim_config;

struct sim_symmetry {
    uint64_t time_ns;        /* of the batch being handled */
    uint32_t from;           /* the batch that caused it */
    uint32_t batch;          /* its number */
    uint32_t finish_origin;  /* of the event that ended the rank */
    uint64_t move;           /* added to what is sent, where it does not go the same way round from every rank */
    struct net_touch *lanes; /* by lane */
    uint32_t lane_capacity;
};

/* Why the ranks cannot stand for each other, as half a sentence; NULL: they can. Of a simulation that is set up as far
 * as what it was given. */
const char *sim_symmetry_refuses(const struct sim *sim);
/* The parts of it that hold whatever the network: how the job is run, and what ranks are to do. */
const char *sim_symmetry_refuses_settings(const struct sim_config *config);
const char *sim_symmetry_refuses_traces(const struct sim_config *config);
/* The same of its nodes, of which `refuses` says whether ranks have equal parts in a collective's algorithm. */
typedef const char *sim_refuses_algorithm(const struct sim *sim, const struct trace_node *node);
const char *sim_symmetry_refuses_nodes(const struct sim *sim, sim_refuses_algorithm *refuses);
/* Rank 0 stands for all from now on. False: no memory. */
ORR_MUST_CHECK bool sim_symmetry_begin(struct sim *sim);
void sim_symmetry_free(struct sim *sim);

/* An event was taken from the queue. */
void sim_symmetry_event(struct sim *sim);
/* The rank is done. */
void sim_symmetry_finish(struct sim *sim);
/* It uses a lane. */
void sim_symmetry_lane(struct sim *sim, uint32_t lane);
/* Who the peers are of what is sent next, seen from each rank. */
enum sim_symmetry_peers { SIM_PEERS_TURNED, SIM_PEERS_COUNTED, SIM_PEERS_PAIRED };
void sim_symmetry_peers(struct sim *sim, enum sim_symmetry_peers peers);

/* After the run: the results of those played to every rank they stand for, and counts as often. False: no memory. */
ORR_MUST_CHECK bool sim_symmetry_spread(struct sim *sim);

#endif
