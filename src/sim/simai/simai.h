/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor of SimAI workloads (spec simai §1, packet B6 to B8): rows of compute and collectives that every rank
 * runs alike, forward and back, each collective carried out as NCCL's flows (coll/nccl.h) on a network of wires. What
 * SimAI's own layer loop, memory bus and flow model do, as far as it decides times, and nothing of how they do it.
 *
 * Where there are pipeline stages the ranks of each run their own order of micro-batches, one forward and one backward
 * in turn, and hand each other what the stages send. Plain structs in, plain structs out; files are read and written by
 * others.
 */
#ifndef ORR_SIM_SIMAI_SIMAI_H
#define ORR_SIM_SIMAI_SIMAI_H

#include "base/notes.h"
#include "net/packet/packet.h"
#include "orrery/run.h"
#include "sim/simai/result.h"

struct simai_config {
    const struct sim_config *run; /* how reports see it: ranks, rows as nodes (simai_node_of), intervals kept or not */
    const struct simai_program *program;
    struct nccl_job job; /* of the whole machine */
    const struct packet_machine *machine;
    const struct net_ops *network;
    uint32_t nodes;      /* ranks and NVSwitches, which are numbered after them */
    bool compat;         /* as SimAI 1.6, which also means that what it never finishes is not finished */
    bool merge_channels; /* the network is fluid: channels on the same way are one message */
    bool every_group;    /* none follows another that is like it; the result is the same */
    /* In a pipeline of so many ranks or more, collectives that were carried out before are not again; 0: never. The
     * result is the same but for what the end of one and the beginning of the next do to each other. */
    uint32_t recall_ranks;
};

struct simai;

/* Borrows the configuration until simai_close. */
ORR_MUST_CHECK enum orr_status simai_open(const struct simai_config *config, struct mem *mem, struct notes *notes,
                                          struct simai **simai, struct orr_error *err);
/* To the end, once. ORR_ESTALL: the result's stall says why it cannot go on. ORR_EINTR: `progress` said so. */
ORR_MUST_CHECK enum orr_status simai_run(struct simai *simai, bool (*progress)(void *, const struct orr_progress *),
                                         void *context, struct orr_error *err);
/* As sim_result; its `simai` is there. */
const struct sim_result *simai_result(const struct simai *simai);
void simai_close(struct simai *simai); /* NULL is fine */

#endif
