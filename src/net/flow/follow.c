/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of one connection leave in the order in which they were sent, each when the one before it has left: a queue
 * pair sends one message after the other. (Those of different connections share what they cross.) If they shared their
 * network card, a ring's chunks that came to it one after the other would leave it together, and links would idle
 * behind them.
 */
#include "net/flow/engine.h"

bool flow_follow(struct flow_net *network, uint32_t index)
{
    struct flow *flow = &network->flows.at[index];
    if (flow->connection == 0) {
        return true;
    }
    uint32_t *last =
        number_map_at(&network->last, flow->connection, (int64_t)((uint64_t)flow->src << 32 | (uint64_t)flow->dst));
    if (last == NULL) {
        return false;
    }
    struct flow *before = &network->flows.at[*last]; /* a place that another message may have by now */
    flow->waits = *last != 0 && *last != index && before->connection == flow->connection && before->src == flow->src &&
                  before->dst == flow->dst && !before->has_left;
    if (flow->waits) {
        before->follower = index;
    }
    *last = index;
    return true;
}

void flow_followed(struct flow_net *network, uint32_t index)
{
    struct flow *flow = &network->flows.at[index];
    flow->has_left = 1;
    if (flow->follower != 0) {
        struct flow *next = &network->flows.at[flow->follower];
        next->waits = 0;
        if (next->is_due) {
            flow_start(network, flow->follower, index);
        }
    }
}
