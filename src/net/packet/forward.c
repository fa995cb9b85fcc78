/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to look for a period. Looking costs as much as a state is long, so it must promise more than it costs: enough
 * packets left in the message that ends first, counted over all messages under way. A state is kept, and the states at
 * the anchor's later packets are compared with it; where none equals it after a while a later one is kept instead, at
 * steps that grow by half (Brent), so that neither the length of the period nor that of the beginning, which does not
 * recur, need be known.
 *
 * All words looked at are counted and held against the transmissions made: traffic that never settles pays a few
 * hundredths, whatever its size.
 */
#include "net/packet/forward.h"
#include "net/packet/forward_state.h"

struct packet_forward {
    struct forward_state kept;
    bool has_kept;
    uint32_t anchor_pair;
    uint64_t anchor_sent;     /* of the anchor's pair, when last looked at */
    uint64_t steps;           /* packets of the anchor since the search began */
    uint64_t next_keep;       /* at so many steps */
    uint64_t started, ended;  /* messages, when the search began */
    uint64_t spent, promised; /* words looked at in all; transmissions that a jump may skip */
};

/* Words that may be looked at for so many transmissions, which cost as much as some thirty of them each. */
enum { TRANSMISSIONS_A_WORD = 2 };
enum { LEAST_WAIT = 1024, MOST_WAIT = 1 << 20, FIRST_STEPS = 32 };

void packet_forward_open(struct packet_net *network)
{
    const struct packet_config *config = network->config;
    network->forward_anchor = FORWARD_NOWHERE;
    network->forward_wait = UINT32_MAX;
    bool has_chance = (network->law->needs & CC_ONE_NUMBER) != 0 || network->any_order ||
                      ((network->law->needs & CC_TELEMETRY) != 0 && network->hop_by_hop);
    if (config->no_fast_forward || has_chance) {
        return;
    }
    network->forward = mem_zalloc(network->net->mem, sizeof *network->forward);
    network->forward_wait = LEAST_WAIT;
    if (network->forward != NULL && !forward_state_open(&network->forward->kept, network)) {
        packet_forward_close(network);
    }
}

void packet_forward_close(struct packet_net *network)
{
    if (network->forward != NULL) {
        forward_state_close(&network->forward->kept, network);
        mem_free(network->net->mem, network->forward, sizeof *network->forward);
        network->forward = NULL;
    }
}

/* ---- where to look ---- */

struct prospect {
    uint64_t pairs, on_their_way; /* messages, bytes */
    uint64_t least_left, most_left;
    uint64_t hops; /* there and back, of all messages */
    uint32_t anchor;
};

static void packet_forward_add_pair(const struct packet_net *network, uint32_t index, struct prospect *prospect)
{
    const struct packet_pair *pair = &network->pairs.at[index];
    uint64_t left = packet_bytes_left(pair);
    if (pair->finished) {
        return;
    }
    prospect->pairs++;
    prospect->on_their_way += pair->sent - pair->acked;
    prospect->hops += network->hop_by_hop ? 4 : (uint64_t)pair->hops_there + pair->hops_back;
    prospect->least_left = left < prospect->least_left ? left : prospect->least_left;
    if (left > prospect->most_left) {
        prospect->most_left = left;
        prospect->anchor = index;
    }
}

static struct prospect survey(struct packet_net *network)
{
    struct prospect prospect = {.least_left = UINT64_MAX};
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        const struct packet_turns *turns = &network->ports[i].turns;
        for (uint32_t k = 0; k < turns->count; k++) {
            packet_forward_add_pair(network, turns->pairs[k], &prospect);
        }
    }
    return prospect;
}

static void wait(struct packet_net *network, uint64_t events)
{
    network->forward_wait = events < LEAST_WAIT ? LEAST_WAIT : events > MOST_WAIT ? MOST_WAIT : (uint32_t)events;
}

static void packet_forward_begin(struct packet_net *network, const struct prospect *prospect)
{
    struct packet_forward *forward = network->forward;
    const struct packet_pair *pair = &network->pairs.at[prospect->anchor];
    forward->has_kept = false;
    forward->anchor_pair = prospect->anchor;
    forward->anchor_sent = pair->sent;
    forward->steps = 0;
    forward->next_keep = FIRST_STEPS;
    forward->started = network->started;
    forward->ended = network->durations.total;
    forward->kept.suspect = pair->port;
    network->forward_anchor = pair->port;
}

static bool is_searching(const struct packet_net *network)
{
    return network->forward_anchor != FORWARD_NOWHERE && network->started == network->forward->started &&
           network->durations.total == network->forward->ended;
}

void packet_forward_look(struct packet_net *network)
{
    struct packet_forward *forward = network->forward;
    if (forward == NULL) {
        network->forward_wait = UINT32_MAX;
        return;
    }
    struct prospect prospect = survey(network);
    uint64_t ports = network->graph->port_count;
    uint64_t payload = network->config->payload_bytes;
    uint64_t words = 16 * prospect.pairs + 6 * ports + 6 * (prospect.on_their_way / payload);
    uint64_t seldom = 16 * (prospect.pairs + ports);
    forward->promised = prospect.pairs == 0 ? 0 : prospect.least_left / payload * prospect.hops;
    if (forward->promised < words) {
        network->forward_anchor = FORWARD_NOWHERE;
        wait(network, seldom + 2 * forward->promised);
        return;
    }
    if (!is_searching(network)) {
        packet_forward_begin(network, &prospect);
    }
    wait(network, seldom + forward->promised);
}

/* ---- looking ---- */

static void stop(struct packet_net *network, uint64_t events)
{
    network->forward_anchor = FORWARD_NOWHERE;
    wait(network, events);
}

static bool may_spend(const struct packet_net *network, uint64_t words)
{
    const struct packet_forward *forward = network->forward;
    uint64_t earned = network->counts.transmissions + forward->promised;
    return forward->spent + words <= earned / TRANSMISSIONS_A_WORD;
}

/* A jump costs about as much as a state is long. */
static void try_jump(struct packet_net *network)
{
    struct packet_forward *forward = network->forward;
    uint64_t period = network->counts.transmissions - forward->kept.counts.transmissions;
    uint64_t words = forward->kept.count;
    uint64_t times = forward_jump_most(&forward->kept, network);
    forward->spent += words;
    if (times * period > words / 8 && forward_jump(&forward->kept, network, times)) {
        network->counts.jumps++;
        network->counts.skipped += times * period;
        words = 0;
    }
    stop(network, 2 * words);
}

void packet_forward_step(struct packet_net *network)
{
    struct packet_forward *forward = network->forward;
    if (!is_searching(network)) {
        stop(network, 0);
        return;
    }
    uint64_t sent = network->pairs.at[forward->anchor_pair].sent;
    if (sent == forward->anchor_sent) {
        return;
    }
    forward->anchor_sent = sent;
    forward->steps++;
    if (forward->has_kept && may_spend(network, 0) && forward_state_recurs(&forward->kept, network, &forward->spent)) {
        try_jump(network);
    } else if (forward->steps >= forward->next_keep && may_spend(network, 2 * (uint64_t)forward->kept.count)) {
        forward->has_kept = forward_state_keep(&forward->kept, network, &forward->spent);
        forward->next_keep = forward->steps + forward->steps / 2 + FIRST_STEPS;
    }
}
