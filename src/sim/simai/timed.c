/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives whose time is told (parameter 'collective-times' model), as in sim/timed.c: nothing is sent, and all
 * ranks of a group are done after what NCCL takes once the last of them has come. A rank is in one such collective at a
 * time: one of the weight gradients' line waits for one of the other line, as both would share the links. What pipeline
 * stages send each other goes over the network all the same.
 */
#include "coll/timing/timing.h"
#include "sim/simai/engine.h"

/* An all-gather's bytes are the gathered whole in such workloads, as nccl-tests counts. */
static enum orr_coll_op op_of(int32_t type)
{
    switch (type) {
    case COLL_ALL_GATHER:
        return ORR_COLL_OP_ALL_GATHER;
    case COLL_REDUCE_SCATTER:
        return ORR_COLL_OP_REDUCE_SCATTER;
    case COLL_ALL_TO_ALL:
        return ORR_COLL_OP_ALL_TO_ALL;
    default:
        return ORR_COLL_OP_ALL_REDUCE;
    }
}

void simai_timed_start(struct simai *simai, uint32_t index)
{
    struct simai_coll *coll = &simai->colls.at[index];
    const struct nccl_group *group = &simai->groups[coll->group].nccl;
    if (++coll->came_count < group->rank_count) {
        return;
    }
    const struct simai_cell *cell = simai_coll_cell(simai, coll);
    struct orr_coll_question question = {.op = op_of(cell->type), .bytes = cell->bytes};
    timing_place_ranks(group->ranks, group->rank_count, simai->config->job.gpus_per_server, &question);
    uint64_t end = simai->queue.now + timing_ns(simai->config->run->timing, &question);
    (void)event_queue_push(&simai->queue, end, SIMAI_EVENT_TIMED, index, 0);
}

void simai_timed_end(struct simai *simai, uint32_t index)
{
    uint32_t count = simai->groups[simai->colls.at[index].group].nccl.rank_count;
    for (uint32_t place = 0; place < count; place++) { /* the last of them frees it */
        simai_coll_end_member(simai, index, place);
    }
}
