/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank of a class for all of it, on the flow network. Servers of a wired machine are alike where its graph looks
 * the same from each (net_ops.stand_for), and NCCL's rings and all-to-alls of all ranks do the same at each of them, in
 * turn (coll/nccl.h). So where all ranks have one trace, the ranks of one server or two are carried out, one of each
 * class: what they send stands for what the others of their class send at that time. The results are those of every
 * rank; messages, events and bytes count as often as a class has ranks.
 *
 * The flow network is not exact to the nanosecond, and neither is this: shares of a buffer that differ by a byte are
 * taken to be equal; all-to-alls and jobs of very many messages to use several equal ways all alike; and an odd number
 * of more than a few servers for one less on the way from the last to the first. Where others have a choice of ways, or
 * messages contend under a congestion control, or the job stalls, it is done again with every rank by itself.
 */
#ifndef ORR_SIM_ALIKE_H
#define ORR_SIM_ALIKE_H

#include "base/error.h"
#include "topo/alike.h"

struct sim;

/* Why each rank has to be carried out by itself, as half a sentence; NULL: sim.alike says which are not. */
const char *sim_alike_find(struct sim *sim);
/* The network is open: NULL, or why it cannot take them for alike. */
const char *sim_alike_begin(struct sim *sim);

/* What all ranks have together of what those that are played have. */
uint64_t sim_all_of(const struct sim *sim, uint64_t of_played);

#endif
