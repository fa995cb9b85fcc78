/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of one time leave the queue in the order of their causes, and those in the order of theirs, back to the ranks
 * that began. So the order of two events at a rank is the same at all ranks but where their causes happened at the same
 * times all the way back (one batch) and they began at different ranks: then it is the order of those two numbers,
 * which turns round somewhere. That is where one rank cannot stand for all.
 */
#include "net/net.h"

bool net_fold(struct net *net)
{
    if (!event_queue_keep_causes(net->queue) || (net->ops->fold != NULL && !net->ops->fold(net))) {
        return false;
    }
    net->fold = (struct net_fold){.on = true, .next_origin = net->dims->ranks};
    return true;
}

/* Ways have names so that two messages that went the same way from one origin are known to have one. Only those of one
 * batch are ever compared; what finds no room gets a name of its own. */
uint32_t net_fold_moved(struct net *net, uint32_t origin, uint64_t move)
{
    struct net_fold *fold = &net->fold;
    if (origin < net->dims->ranks && move < net->dims->ranks) {
        return topo_rank_moved(net->dims, origin, (uint32_t)move);
    }
    if (fold->batch != net->queue->cause.batch) {
        fold->batch = net->queue->cause.batch;
        fold->way_count = 0;
    }
    for (uint32_t i = 0; i < fold->way_count; i++) {
        if (fold->ways[i].move == move && fold->ways[i].origin == origin) {
            return fold->ways[i].becomes;
        }
    }
    if (fold->way_count < NET_FOLD_WAYS) {
        fold->ways[fold->way_count].move = move;
        fold->ways[fold->way_count].origin = origin;
        fold->ways[fold->way_count++].becomes = fold->next_origin;
    }
    return fold->next_origin++;
}

void net_fold_touch(struct net *net, struct net_touch *touch)
{
    struct event_cause cause = net->queue->cause;
    if (touch->time_ns == net->queue->now && touch->cause.batch == cause.batch && touch->cause.origin != cause.origin) {
        net->fold.unsure = true;
        net->queue->failed = true;
    }
    *touch = (struct net_touch){.time_ns = net->queue->now, .cause = cause};
}
