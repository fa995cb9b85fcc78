/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fluid is right where nothing waits but behind its own. Three things it cannot tell: what a queue does to messages
 * that meet at a switch's port, what a congestion control does that answers to round trips or to the use of links
 * though nobody waits, and what becomes of a window with no slack when acknowledgements wait behind the data of others.
 * The time during which any of these was so, as a part of the whole run, bounds how wrong its end can be; where that is
 * more than a few percent of it, the job is done again with packets.
 *
 * Shares cost by the message, packets by the byte. A job that is to be packets after all has paid for its shares too,
 * so these are given up as soon as they are no longer cheap beside what packets would have cost until then.
 */
#include "net/flow/judge.h"

#include "net/flow/control.h"
#include "net/flow/engine.h"
#include "net/packet/wire.h"

/* The part of a run that may be beyond what fluid can tell. */
#define MET_MOST 0.02

/* Of a packet, that an acknowledgement may be. */
#define ACK_PART 0.1

/* Costs in transmissions of packets: of a message that flows, and of one look at one link's user. */
#define MESSAGE_COST 32.0
#define LOOK_COST    0.5

/* Shares are given up before the end when they have cost such a part of what packets are expected to, or so much where
 * nothing is expected; for being dear, of what packets would have cost until then. */
#define TRIAL_PART (1.0 / 128)
#define TRIAL_MOST 4096.0
#define DEAR_PART  0.5

/* Packets that a job may have and still be done with packets on `flow`: some ten seconds of work. */
#define PACKETS_MOST 0x1p24

static uint64_t rate_at(const struct flow_net *network, uint32_t port)
{
    const struct topo_graph *graph = network->machine->graph;
    return graph->links[graph->ports[port].link].rate_bps;
}

/* A control that answers to round trips or telemetry moves rates with every acknowledgement. One that answers to marks
 * does when a packet that waits behind an acknowledgement is marked. */
static bool control_reacts(const struct flow_net *network)
{
    const struct packet_config *config = network->machine->config;
    const struct topo_graph *graph = network->machine->graph;
    double two_packets = 2.0 * network->full_bytes;
    const struct cc_law *law = cc_law_of(config->cc_mode);
    bool by_marks = (law->needs & CC_MARKS) != 0;
    for (uint32_t i = 0; by_marks && config->enable_qcn && i < graph->link_count; i++) {
        if (control_rule(config, graph->links[i].rate_bps).kmin_bytes < two_packets) {
            return true;
        }
    }
    return !by_marks && (law->needs != 0 || law->is_by_receiver);
}

/* Losses and the like; and packets so small that acknowledgements on their way hold them up. */
static bool is_for_packets(const struct flow_net *network)
{
    const struct packet_config *config = network->machine->config;
    const struct topo_graph *graph = network->machine->graph;
    bool loses = config->error_rate > 0;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        loses |= graph->links[i].error_rate > 0;
    }
    return loses || wire_ack_bytes(config) > ACK_PART * network->full_bytes || config->nic_total_pause > 0 ||
           config->routing != PACKET_ROUTING_ECMP || config->link_change_count > 0 ||
           config->ack_interval > config->payload_bytes || config->back_to_zero;
}

struct flow_judge *judge_open(struct flow_net *network, bool is_bounded)
{
    struct mem *mem = network->net->mem;
    size_t ports = network->machine->graph->port_count;
    struct flow_judge *judge = mem_zalloc(mem, sizeof *judge);
    network->judge = judge;
    if (judge == NULL) {
        return NULL;
    }
    /* Fluid knows nothing of links that change, whatever packets cost. */
    judge->is_bounded = is_bounded && network->machine->config->link_change_count == 0;
    judge->only_packets = is_for_packets(network);
    judge->is_reacting = control_reacts(network);
    judge->seen = mem_zalloc(mem, ports * sizeof *judge->seen);
    judge->has_queue = mem_zalloc(mem, ports);
    return judge->seen == NULL || judge->has_queue == NULL ? NULL : judge;
}

void judge_close(struct flow_net *network)
{
    struct flow_judge *judge = network->judge;
    struct mem *mem = network->net->mem;
    size_t ports = network->machine->graph->port_count;
    if (judge != NULL) {
        mem_free(mem, judge->seen, ports * sizeof *judge->seen);
        mem_free(mem, judge->has_queue, ports);
        mem_free(mem, judge, sizeof *judge);
    }
}

/* ---- what meets ---- */

static bool is_beyond(const struct flow_judge *judge)
{
    return judge->queues > 0 || judge->held > 0;
}

/* Counts time up to now; to be called before what is_beyond says may change. */
static void count_time(struct flow_net *network)
{
    struct flow_judge *judge = network->judge;
    uint64_t now = network->net->queue->now;
    judge->met_ns += is_beyond(judge) ? now - judge->since_ns : 0;
    judge->since_ns = now;
}

static double met_ns(const struct flow_net *network)
{
    const struct flow_judge *judge = network->judge;
    uint64_t since = is_beyond(judge) ? network->net->queue->now - judge->since_ns : 0;
    return (double)(judge->met_ns + since);
}

/* Whether so much of the run is beyond fluid, if it is for another while. */
static bool is_met_too_long(const struct flow_net *network, double while_ns)
{
    const struct flow_judge *judge = network->judge;
    return (judge->only_packets && judge->packets > 0) ||
           met_ns(network) + while_ns > MET_MOST * ((double)network->net->queue->now + while_ns);
}

/* Whether packets may carry the whole job, whatever they cost. */
static bool is_affordable(const struct flow_net *network, bool is_over)
{
    const struct flow_judge *judge = network->judge;
    double expected = network->net->expected_bytes / network->machine->config->payload_bytes;
    double packets = is_over || judge->packets > expected ? judge->packets : expected;
    return !judge->is_bounded ||
           (!network->machine->config->only_shares && (is_over || expected > 0) && packets <= PACKETS_MOST);
}

/* Is it worth while to go on? If not, the run ends here. */
static void flow_judge_weigh(struct flow_net *network, double while_ns)
{
    const struct flow_judge *judge = network->judge;
    /* Each packet goes over two links at least, and so does what acknowledges it. */
    double expected = 4 * network->net->expected_bytes / network->machine->config->payload_bytes;
    double trial = expected > 0 ? TRIAL_PART * expected : TRIAL_MOST;
    if (judge->work > trial && is_affordable(network, false) &&
        (is_met_too_long(network, while_ns) || judge->work > DEAR_PART * judge->transmissions)) {
        network->net->gave_up = true;
        network->net->queue->failed = true;
    }
}

static bool flow_judge_is_data(const struct flow_net *network, uint32_t use)
{
    return use % network->share.room < network->half;
}

/* Whether data come to a switch's port by several ways that together carry more than it does. */
static bool may_queue(struct flow_net *network, uint32_t port)
{
    struct flow_judge *judge = network->judge;
    const struct share_link *link = &network->share.links[port];
    double inflow = 0;
    double carries = (double)rate_at(network, port) * 1.001;
    judge->looks++;
    for (uint32_t u = 0; u < link->count && inflow <= carries; u++) {
        uint32_t use = link->users[u];
        if (flow_judge_is_data(network, use) && use % network->share.room > 0) {
            uint32_t before = flow_comes_by(network, use);
            double rate = (double)rate_at(network, network->share.uses[use - 1].link);
            inflow += judge->seen[before] != judge->looks ? rate : 0;
            judge->seen[before] = judge->looks;
        }
        judge->work += LOOK_COST;
    }
    return inflow > carries;
}

/* From now on the fluid does not know what this message does. */
static void hold(struct flow_net *network, uint32_t index)
{
    struct flow *flow = &network->flows.at[index];
    if (!flow->is_held) {
        count_time(network);
        flow->is_held = 1;
        network->judge->held++;
    }
}

static bool carries_data(struct flow_net *network, uint32_t port)
{
    const struct share_link *link = &network->share.links[port];
    for (uint32_t u = 0; u < link->count; u++) {
        network->judge->work += LOOK_COST;
        if (flow_judge_is_data(network, link->users[u])) {
            return true;
        }
    }
    return false;
}

/* Data come to a link. Those who have no slack and whose acknowledgements it carries wait; and short messages whose
 * data share it send in turn, so that none of them is where its share says. */
static void join_link(struct flow_net *network, uint32_t port, uint32_t joining)
{
    const struct share_link *link = &network->share.links[port];
    uint32_t data = 0;
    for (uint32_t u = 0; u < link->count; u++) {
        uint32_t index = link->users[u] / network->share.room;
        bool with_data = flow_judge_is_data(network, link->users[u]);
        network->judge->work += LOOK_COST;
        data += with_data ? 1 : 0;
        if (index != joining && (with_data ? network->flows.at[index].is_short : network->flows.at[index].is_tight)) {
            hold(network, index);
        }
    }
    if (data > 1 && network->flows.at[joining].is_short) {
        hold(network, joining);
    }
}

/* ---- the life of a message ---- */

/* The job has too many packets to be done with them, which is known beforehand. */
static bool is_decided(const struct flow_net *network)
{
    return !is_affordable(network, false) && network->net->expected_bytes > 0;
}

bool judge_begins(struct flow_net *network)
{
    network->judge->is_silent = is_decided(network);
    return !network->judge->is_silent;
}

bool judge_takes_twins(const struct net *net)
{
    const struct flow_net *network = net->state;
    return (network->judge == NULL || is_decided(network)) && network->machine->flow_done == NULL;
}

void judge_sent(struct flow_net *network, uint32_t index, const struct judge_facts *facts)
{
    struct flow_judge *judge = network->judge;
    struct flow *flow = &network->flows.at[index];
    judge->packets += facts->packets;
    judge->transmissions += facts->transmissions;
    judge->work += MESSAGE_COST;
    flow->is_tight = facts->is_tight;
    flow->is_short = facts->is_short;
    flow->in_rounds = facts->in_rounds;
}

void judge_starts(struct flow_net *network, uint32_t index)
{
    struct flow_judge *judge = network->judge;
    const struct flow *flow = &network->flows.at[index];
    const struct share_use *uses = share_uses(&network->share, index);
    if (judge->is_silent) {
        for (uint32_t i = 1; judge->queues == 0 && i < flow->hops_there; i++) {
            judge->queues = judge->only_packets || may_queue(network, uses[i].link) ? 1 : 0;
        }
        return;
    }
    judge->tight += flow->is_tight;
    judge->shorts += flow->is_short;
    if (judge->only_packets || (judge->is_reacting && flow->in_rounds)) {
        hold(network, index);
    }
    for (uint32_t i = 1; i < flow->hops_there; i++) {
        uint32_t port = uses[i].link;
        if (!judge->has_queue[port] && may_queue(network, port)) {
            count_time(network);
            judge->has_queue[port] = 1;
            judge->queues++;
        }
    }
    for (uint32_t i = 0; judge->tight + judge->shorts > 0 && i < flow->hops_there; i++) {
        join_link(network, uses[i].link, index);
    }
    if (is_beyond(judge)) {
        flow_judge_weigh(network, flow->alone_ns);
    }
}

void judge_acks_begin(struct flow_net *network, uint32_t index)
{
    const struct flow *flow = &network->flows.at[index];
    const struct share_use *uses = share_uses(&network->share, index) + network->half;
    bool looks = flow->sending && flow->is_tight && !network->judge->is_silent;
    for (uint32_t i = 0; looks && i < flow->hops_back; i++) {
        if (carries_data(network, uses[i].link)) {
            hold(network, index);
        }
    }
}

void judge_ends(struct flow_net *network, uint32_t index)
{
    struct flow_judge *judge = network->judge;
    struct flow *flow = &network->flows.at[index];
    const struct share_use *uses = share_uses(&network->share, index);
    if (judge->is_silent) {
        return;
    }
    judge->tight -= flow->is_tight;
    judge->shorts -= flow->is_short;
    count_time(network);
    judge->held -= flow->is_held;
    flow->is_held = 0;
    flow->is_tight = 0;
    flow->is_short = 0;
    for (uint32_t i = 1; i < flow->hops_there; i++) {
        uint32_t port = uses[i].link;
        if (judge->has_queue[port] && !may_queue(network, port)) {
            judge->has_queue[port] = 0;
            judge->queues--;
        }
    }
}

/* ---- the judgement ---- */

void judge_settled(struct flow_net *network)
{
    struct flow_judge *judge = network->judge;
    judge->work += LOOK_COST * (double)network->share.looked + (double)network->share.found.count;
    flow_judge_weigh(network, 0);
}

const struct net_ops *judge_instead(const struct net *net)
{
    const struct flow_net *network = net->state;
    if (network->judge->is_silent || (!net->gave_up && !is_met_too_long(network, 0))) {
        return NULL;
    }
    return is_affordable(network, !net->gave_up) ? &net_packet : network->can_contend ? &net_shares : NULL;
}

bool judge_doubtful(const struct net *net)
{
    const struct flow_net *network = net->state;
    return network->judge->is_silent ? network->judge->queues > 0 : is_met_too_long(network, 0);
}
