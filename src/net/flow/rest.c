/* SPDX-License-Identifier: Apache-2.0 */
/* When shares rest: where thousands of messages meet, finding their shares anew at each start and end is most of the
 * work of a run, and no message can tell. */
#include "net/flow/engine.h"

/* A settling that looked at so many uses of links is followed by a rest of one packet's time, or of that part of the
 * time its messages have been under way; twice as many by two. Where so many meet, none of them can tell. */
enum { REST_USES = 2048, REST_MOST = 16, REST_PART = 16384, REST_CONTEST_PART = 64 };

/* Uses of links that the last settling looked at, all together. */
static uint64_t uses_looked_at(const struct flow_net *network)
{
    const struct share *share = &network->share;
    uint64_t uses = share->looked;
    for (uint32_t i = 0; i < share->found.count; i++) {
        const struct flow *flow = &network->flows.at[share->found.at[i]];
        uses += (uint64_t)flow->hops_there + flow->hops_back;
    }
    return uses;
}

uint64_t flow_rest_ns(struct flow_net *network)
{
    struct share *share = &network->share;
    if (uses_looked_at(network) < REST_USES) {
        return 0;
    }
    share_connect(share);
    uint64_t now = network->net->queue->now;
    uint64_t step = flow_controls_step_ns(network);
    uint64_t longest = 0;
    for (uint32_t i = 0; i < share->found.count; i++) {
        const struct flow *flow = &network->flows.at[share->found.at[i]];
        uint64_t rests = share_connected_uses(share, share->found.at[i]) / REST_USES;
        uint64_t part = flow->sending ? (now - flow->start_ns) / REST_PART : 0;
        uint64_t rest =
            (rests < REST_MOST ? rests : REST_MOST) * (part > network->packet_ns ? part : network->packet_ns);
        uint64_t contest = part * (REST_PART / REST_CONTEST_PART);
        contest = contest < step ? contest : step;
        rest = rests > 0 && contest > rest ? contest : rest;
        longest = rest > longest ? rest : longest;
    }
    return longest;
}
