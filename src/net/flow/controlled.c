/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ports are under congestion control, and what becomes of their messages. A port comes under control when it is
 * full and more can arrive than it carries; from then on the messages that cross it contend (contest.h) instead of
 * having shares, until they end or until one is left at its full rate. There is one contest: a message that meets some
 * at one port and some at another would be in two otherwise. The contest says when each message has left; what it lets
 * each have is the ceiling of its share, so that everybody else sees what they use of other links. What others use of
 * the contest's links it is told in turn, every round trip.
 */
#include <math.h>
#include <stdlib.h>

#include "net/flow/contest.h"
#include "net/flow/engine.h"
#include "net/packet/wire.h"

/* Shares are settled anew when one of them is to change by more than this; of what the last step says, a ceiling
 * follows so much. */
#define CHANGE_LEAST 0.05
#define CHANGE_PART  0.25

/* Of the time an incast takes: a difference in nearness that is less is no matter. */
#define NEARNESS_LEAST 0.02

/* A contest in which nothing happens for so many steps is left alone until then. */
enum { IDLE_STEPS = 1000 };

/* With more messages than this under way nobody contends: it would cost as much as packets, and among so many a link
 * hardly ever runs idle. */
enum { CONTENDERS_MOST = 4096 };

struct flow_sender {
    double ceiling; /* of the message alone */
    double rate;    /* packets a nanosecond that the contest has let it have lately */
    uint64_t departed;
    uint32_t place; /* in the contest, CONTEST_NONE = it has a share */
};

struct flow_queue {
    uint32_t met; /* number of the last look that met this port */
    bool controlled;
};

struct flow_controls {
    struct contest contest; /* open while `ports` has any */
    uint64_t step_ns;
    struct share_list ports; /* under control; room for all */
    uint64_t *joining;       /* flows, below the order they were sent in */
    uint32_t joining_capacity;
    struct flow_queue *queues;   /* by port */
    struct flow_sender *senders; /* by flow */
    uint32_t sender_capacity;
    uint32_t looks;
    uint32_t *ways; /* one message's ports there, then back */
    bool *is_queue; /* by hop there */
    struct mrg32k3a_streams streams;
    struct c_random random;
};

bool flow_controls_open(struct flow_net *network)
{
    const struct packet_machine *machine = network->machine;
    struct mem *mem = network->net->mem;
    if (!cc_law_of(machine->config->cc_mode)->is_fluid) {
        return true;
    }
    struct flow_controls *controls = mem_zalloc(mem, sizeof *controls);
    network->controls = controls;
    if (controls == NULL) {
        return false;
    }
    uint64_t lossy = 0;
    for (uint32_t i = 0; i < machine->graph->link_count; i++) {
        lossy += machine->graph->links[i].error_rate > 0 ? 1 : 0;
    }
    /* Where the packet network's streams begin (spec packet A8). */
    mrg32k3a_streams_init(&controls->streams, 9 * (uint64_t)machine->graph->node_count + 2 + 2 * lossy);
    c_random_init(&controls->random);
    controls->queues = mem_zalloc(mem, machine->graph->port_count * sizeof *controls->queues);
    controls->ports.at = mem_zalloc(mem, machine->graph->port_count * sizeof *controls->ports.at);
    controls->ways = mem_zalloc(mem, 2 * (size_t)network->half * sizeof *controls->ways);
    controls->is_queue = mem_zalloc(mem, network->half * sizeof *controls->is_queue);
    return controls->queues != NULL && controls->ports.at != NULL && controls->ways != NULL &&
           controls->is_queue != NULL;
}

static void close_contest(struct flow_controls *controls)
{
    contest_close(&controls->contest);
    for (uint32_t i = 0; i < controls->ports.count; i++) {
        controls->queues[controls->ports.at[i]].controlled = false;
    }
    controls->ports.count = 0;
}

void flow_controls_close(struct flow_net *network)
{
    struct flow_controls *controls = network->controls;
    struct mem *mem = network->net->mem;
    uint32_t ports = network->machine->graph->port_count;
    if (controls == NULL) {
        return;
    }
    if (controls->ports.count > 0) {
        close_contest(controls);
    }
    mem_free(mem, controls->ports.at, ports * sizeof *controls->ports.at);
    mem_free(mem, controls->queues, ports * sizeof *controls->queues);
    mem_free(mem, controls->ways, 2 * (size_t)network->half * sizeof *controls->ways);
    mem_free(mem, controls->is_queue, network->half * sizeof *controls->is_queue);
    mem_free(mem, controls->joining, (size_t)controls->joining_capacity * sizeof *controls->joining);
    mem_free(mem, controls->senders, (size_t)controls->sender_capacity * sizeof *controls->senders);
    mem_free(mem, controls, sizeof *controls);
}

bool flow_controls_start(struct flow_net *network, uint32_t flow)
{
    struct flow_controls *controls = network->controls;
    if (!mem_reserve(network->net->mem, (void **)&controls->senders, &controls->sender_capacity, (uint64_t)flow + 1,
                     sizeof *controls->senders)) {
        return false;
    }
    controls->senders[flow] =
        (struct flow_sender){.ceiling = network->share.flows[flow].ceiling, .place = CONTEST_NONE};
    return true;
}

static uint64_t rate_of(const struct flow_net *network, uint32_t port)
{
    const struct topo_graph *graph = network->machine->graph;
    return graph->links[graph->ports[port].link].rate_bps;
}

static uint32_t flow_of(const struct flow_net *network, uint32_t use)
{
    return use / network->share.room;
}

static bool controlled_is_data(const struct flow_net *network, uint32_t use)
{
    return use % network->share.room < network->half && network->flows.at[flow_of(network, use)].sending;
}

/* Data that have crossed another link before: at its own host's port a message waits in no queue. */
static bool is_at_switch(const struct flow_net *network, uint32_t use)
{
    return use % network->share.room > 0 && controlled_is_data(network, use);
}

static uint64_t base_rtt_ns(struct flow_net *network, const struct flow *flow)
{
    const struct topo_pair *pair = topo_routes_pair(&network->routes, flow->src, flow->dst);
    return network->machine->config->global_t ? network->longest_rtt_ns
           : pair == NULL                     ? 0
                                              : topo_way_round_trip_ns(pair);
}

/* ---- joining ---- */

/* Whether data come to a switch's port by several ways that together carry more than it does. */
static bool has_queue(struct flow_net *network, uint32_t port)
{
    const struct share_link *link = &network->share.links[port];
    struct flow_controls *controls = network->controls;
    double inflow_bps = 0;
    controls->looks++;
    for (uint32_t u = 0; u < link->count; u++) {
        if (is_at_switch(network, link->users[u])) {
            uint32_t before = network->share.uses[link->users[u] - 1].link;
            inflow_bps += controls->queues[before].met != controls->looks ? (double)rate_of(network, before) : 0;
            controls->queues[before].met = controls->looks;
        }
    }
    return inflow_bps > (double)rate_of(network, port) * 1.001;
}

/* Bytes of a message that have been sent, in whole packets. */
static uint64_t bytes_sent(const struct flow_net *network, uint32_t index)
{
    const struct flow *flow = &network->flows.at[index];
    double since = (double)network->net->queue->now - flow->since_ns;
    double left = fmax(0, flow->left - network->share.flows[index].rate * since);
    uint64_t sent = (uint64_t)((double)flow->bytes * (1 - left / flow->packets));
    return sent - sent % network->machine->config->payload_bytes;
}

static void controlled_join(struct flow_net *network, uint32_t index)
{
    struct flow_controls *controls = network->controls;
    struct flow *flow = &network->flows.at[index];
    const struct share_use *uses = share_uses(&network->share, index);
    const struct share_flow *shared = &network->share.flows[index];
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        controls->ways[i] = uses[i].link;
        controls->is_queue[i] = controls->queues[uses[i].link].controlled ||
                                contest_has_port(&controls->contest, uses[i].link) || has_queue(network, uses[i].link);
    }
    for (uint32_t i = 0; i < flow->hops_back; i++) {
        controls->ways[network->half + i] = uses[network->half + i].link;
    }
    struct contest_entry entry = {
        .flow = index,
        .there = controls->ways,
        .back = controls->ways + network->half,
        .hops_there = flow->hops_there,
        .hops_back = flow->hops_back,
        .is_queue = controls->is_queue,
        .size = flow->bytes,
        .sent = bytes_sent(network, index),
        .pace_ns = shared->rate > 0 ? 1 / shared->rate : 1,
        .window = flow_window(network, flow),
        .base_rtt_ns = base_rtt_ns(network, flow),
    };
    struct flow_sender *sender = &controls->senders[index];
    sender->place = contest_join(&controls->contest, &entry);
    if (sender->place == CONTEST_NONE) {
        network->net->queue->failed = true;
        return;
    }
    sender->rate = -1; /* nothing is known of it */
    sender->departed = controls->contest.senders[sender->place].departed;
    flow_take_over(network, index);
}

static int controlled_by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One that has sent its last packet ends with its share, and switches' own messages wait in no host. */
static bool can_join(const struct flow_net *network, uint32_t use)
{
    const struct topo_graph *graph = network->machine->graph;
    uint32_t index = flow_of(network, use);
    const struct flow *flow = &network->flows.at[index];
    return is_at_switch(network, use) && !flow->contends && bytes_sent(network, index) < flow->bytes &&
           graph->kinds[flow->src] == TOPO_NODE_HOST;
}

/* Lists the messages that cross a port and do not contend yet; their number. */
static uint32_t list_joining(struct flow_net *network, uint32_t port, uint32_t count)
{
    struct flow_controls *controls = network->controls;
    const struct share_link *link = &network->share.links[port];
    for (uint32_t u = 0; u < link->count && controls->contest.active_count + count < CONTENDERS_MOST; u++) {
        uint32_t index = flow_of(network, link->users[u]);
        struct flow *flow = &network->flows.at[index];
        if (!can_join(network, link->users[u])) {
            continue;
        }
        if (!mem_reserve(network->net->mem, (void **)&controls->joining, &controls->joining_capacity,
                         (uint64_t)count + 1, sizeof *controls->joining)) {
            network->net->queue->failed = true;
            break;
        }
        flow->contends = 1;
        controls->joining[count++] = (uint64_t)flow->number << 32 | index;
    }
    return count;
}

/* Whoever crosses a queue of the contest is in it, in the order of sending: hosts take their messages in turn. */
static void join_all(struct flow_net *network)
{
    struct flow_controls *controls = network->controls;
    uint32_t count = 0;
    for (uint32_t i = 0; i < controls->ports.count; i++) {
        count = list_joining(network, controls->ports.at[i], count);
    }
    for (uint32_t i = 0; i < controls->contest.link_count; i++) {
        count = list_joining(network, controls->contest.links[i].port, count);
    }
    if (count > 1) {
        qsort(controls->joining, count, sizeof *controls->joining, controlled_by_number);
    }
    for (uint32_t i = 0; i < count && !network->net->queue->failed; i++) {
        controlled_join(network, (uint32_t)controls->joining[i]);
    }
}

/* ---- a step ---- */

/* Tells the contest what others leave of its links, at least what would be fair. */
static void tell_parts(struct flow_net *network)
{
    struct contest *contest = &network->controls->contest;
    for (uint32_t i = 0; i < contest->link_count; i++) {
        const struct share_link *link = &network->share.links[contest->links[i].port];
        double others = 0, mine = 0, data = 0;
        for (uint32_t u = 0; u < link->count; u++) {
            uint32_t flow = flow_of(network, link->users[u]);
            bool counts = controlled_is_data(network, link->users[u]);
            data += counts ? 1 : 0;
            if (counts && network->flows.at[flow].contends) {
                mine++;
            } else {
                others += network->share.flows[flow].rate * network->share.uses[link->users[u]].cost;
            }
        }
        double fair = data > 0 ? mine / data : 1;
        contest_set_part(contest, i, fmax(0.001, fmax(fair, 1 - others)));
    }
}

static void set_ceiling(struct flow_net *network, uint32_t flow, double ceiling)
{
    double before = network->share.flows[flow].ceiling;
    if (!(fabs(ceiling - before) <= CHANGE_LEAST * fmin(ceiling, before))) {
        share_set_ceiling(&network->share, flow, ceiling);
        flow_settle_later(network);
    }
}

uint64_t flow_controls_step_ns(const struct flow_net *network)
{
    const struct flow_controls *controls = network->controls;
    return controls != NULL && controls->ports.count > 0 ? controls->step_ns : 0;
}

/* What each had in the step, and who is done. */
static void read_senders(struct flow_net *network)
{
    struct flow_controls *controls = network->controls;
    struct contest *contest = &controls->contest;
    double payload = network->machine->config->payload_bytes;
    bool seen = network->sending > contest->active_count; /* by others, whom ceilings are for */
    for (uint32_t i = 0; i < contest->sender_count; i++) {
        const struct contest_sender *of = &contest->senders[i];
        if (!of->active) {
            continue;
        }
        struct flow_sender *sender = &controls->senders[of->flow];
        double rate = (double)(of->departed - sender->departed) / payload / (double)controls->step_ns;
        sender->rate = sender->rate < 0 ? rate : sender->rate + CHANGE_PART * (rate - sender->rate);
        sender->departed = of->departed;
        if (seen) {
            set_ceiling(network, of->flow, fmin(sender->ceiling, fmax(1e-9, sender->rate)));
        }
        if (of->done_ns > 0) {
            flow_leaves_at(network, of->flow, of->departed_ns, of->done_ns - of->back_ns, of->done_ns);
            contest_leave(contest, i);
        }
    }
}

/* The last sender goes on with a share when its control holds it back no more: what waits leaves before the rest. */
static bool is_over(struct flow_net *network)
{
    const struct contest *contest = &network->controls->contest;
    if (contest->active_count == 0) {
        return true;
    }
    if (contest->active_count > 1) {
        return false;
    }
    uint32_t last = 0;
    while (!contest->senders[last].active) {
        last++;
    }
    const struct contest_sender *of = &contest->senders[last];
    if (of->control.rate_bps < of->control.line_bps) {
        return false;
    }
    struct flow_sender *sender = &network->controls->senders[of->flow];
    double waiting = (double)contest_queued_bytes(contest) / contest->full_bytes * contest->config->payload_bytes;
    double unsent = ((double)(of->control.size - of->control.sent) + waiting) / (double)of->control.size;
    set_ceiling(network, of->flow, sender->ceiling);
    flow_give_back(network, of->flow, unsent);
    return true;
}

void flow_controls_step(struct flow_net *network)
{
    struct flow_controls *controls = network->controls;
    bool *failed = &network->net->queue->failed;
    contest_advance(&controls->contest, network->net->queue->now); /* over a time in which nothing happened */
    join_all(network);
    if (*failed) {
        return;
    }
    if (is_over(network)) {
        close_contest(controls);
        return;
    }
    tell_parts(network);
    contest_advance(&controls->contest, network->net->queue->now + controls->step_ns);
    *failed |= controls->contest.failed;
    read_senders(network);
    /* With nothing ahead there is a deadlock of pauses, and the run stalls; with it far ahead, nothing until then. */
    uint64_t next = contest_next_ns(&controls->contest);
    uint64_t steps = next == UINT64_MAX ? 0 : (next - network->net->queue->now) / controls->step_ns;
    if (next != UINT64_MAX || controls->contest.active_count == 0) {
        flow_controls_later(network, controls->step_ns * (steps > IDLE_STEPS ? steps : 1));
    }
}

uint32_t flow_controls_explain(const struct flow_net *network, struct arena *arena, struct net_stuck *stuck,
                               uint32_t room)
{
    const struct flow_controls *controls = network->controls;
    bool is_open = controls != NULL && controls->ports.count > 0;
    return is_open && controls->contest.active_count > 0 ? contest_explain(&controls->contest, arena, stuck, room) : 0;
}

/* ---- coming under control ---- */

/* What a port's messages amount to; nobody where neither control nor nearness can matter. */
struct crowd {
    double inflow_bps, windows, round_trip_ns;
    double nearest_ns, farthest_ns; /* first packets take to the port */
    double packets;                 /* to come */
    uint32_t senders;
    bool is_incast; /* all for one host, and each has its own host's link for itself */
};

/* What the first packet takes to the port of a use. */
static double reach_ns(const struct flow_net *network, uint32_t use)
{
    const struct topo_graph *graph = network->machine->graph;
    double sum = 0;
    for (uint32_t i = use - use % network->share.room; i < use; i++) {
        uint32_t port = network->share.uses[i].link;
        sum += network->data_cost[port] + (double)graph->links[graph->ports[port].link].delay_ns;
    }
    return sum;
}

static bool is_alone(const struct flow_net *network, uint32_t port)
{
    const struct share_link *link = &network->share.links[port];
    uint32_t data = 0;
    for (uint32_t u = 0; u < link->count && data < 2; u++) {
        data += controlled_is_data(network, link->users[u]) ? 1 : 0;
    }
    return data < 2;
}

static struct crowd crowd_at(struct flow_net *network, uint32_t port)
{
    const struct share *share = &network->share;
    const struct share_link *link = &share->links[port];
    struct flow_controls *controls = network->controls;
    const struct topo_graph *graph = network->machine->graph;
    uint32_t end = graph->ports[graph->ports[port].peer].node;
    bool matters = cc_matters(network->machine->config);
    struct crowd crowd = {.nearest_ns = INFINITY, .is_incast = graph->kinds[end] == TOPO_NODE_HOST};
    controls->looks++;
    for (uint32_t u = 0; u < link->count; u++) {
        uint32_t flow = flow_of(network, link->users[u]);
        if (!is_at_switch(network, link->users[u]) || share->flows[flow].bottleneck != port ||
            network->flows.at[flow].contends) {
            continue;
        }
        uint32_t before = flow_comes_by(network, link->users[u]);
        double rate_bps = (double)rate_of(network, share->uses[link->users[u] - 1].link);
        crowd.inflow_bps += controls->queues[before].met != controls->looks ? rate_bps : 0;
        controls->queues[before].met = controls->looks;
        crowd.windows += (double)flow_window(network, &network->flows.at[flow]);
        crowd.round_trip_ns += (double)base_rtt_ns(network, &network->flows.at[flow]);
        double reach = reach_ns(network, link->users[u]);
        crowd.nearest_ns = fmin(crowd.nearest_ns, reach);
        crowd.farthest_ns = fmax(crowd.farthest_ns, reach);
        crowd.packets += network->flows.at[flow].left;
        crowd.is_incast = crowd.is_incast && is_alone(network, share_uses(share, flow)[0].link);
        if (!crowd.is_incast && !matters) {
            return (struct crowd){0};
        }
        crowd.senders++;
    }
    crowd.round_trip_ns /= crowd.senders > 0 ? crowd.senders : 1;
    return crowd;
}

/* Whether more can come than the port carries, and either so much that the control would notice, or so little that it
 * matters who is nearer: shares begin together, but what comes from far finds what comes from near before it. */
static bool is_met(const struct flow_net *network, uint32_t port, const struct crowd *crowd)
{
    const struct packet_config *config = network->machine->config;
    double capacity = (double)rate_of(network, port);
    if (crowd->senders < 2 || crowd->inflow_bps <= capacity * 1.001) {
        return false;
    }
    double lasts = crowd->packets * network->data_cost[port];
    if (crowd->is_incast && crowd->senders > 2 && crowd->farthest_ns - crowd->nearest_ns > NEARNESS_LEAST * lasts) {
        return true;
    }
    bool by_marks = cc_needs(config, CC_MARKS);
    double waits = crowd->windows - capacity / 8e9 * crowd->round_trip_ns;
    return cc_matters(config) &&
           (!by_marks || !config->has_window || waits > control_rule(config, rate_of(network, port)).kmin_bytes);
}

/* Whether so much can wait that peers are paused: one of them may have an eighth of what all together leave. */
static bool can_fill(const struct flow_net *network, uint32_t port, const struct crowd *crowd)
{
    const struct packet_config *config = network->machine->config;
    const struct topo_graph *graph = network->machine->graph;
    double room = (double)config->buffer_bytes;
    uint32_t node = graph->ports[port].node;
    for (uint32_t i = graph->port_start[node]; i < graph->port_start[node + 1]; i++) {
        double delay = (double)graph->links[graph->ports[i].link].delay_ns;
        room -= 4096 + (double)rate_of(network, i) / 8e9 * delay * config->headroom_factor;
    }
    return config->pfc_enabled && (!config->has_window || 2 * crowd->windows > room / 9);
}

static void controlled_begin(struct flow_net *network, const struct crowd *crowd, bool buffers)
{
    struct flow_controls *controls = network->controls;
    controls->contest = (struct contest){.graph = network->machine->graph,
                                         .config = network->machine->config,
                                         .streams = &controls->streams,
                                         .random = &controls->random,
                                         .mem = network->net->mem,
                                         .now_ns = network->net->queue->now,
                                         .longest_rtt_ns = network->longest_rtt_ns,
                                         .leg_room = network->half + 1,
                                         .buffers = buffers};
    network->net->queue->failed |= !contest_open(&controls->contest);
    controls->step_ns = (uint64_t)fmax(1, crowd->round_trip_ns);
    flow_controls_later(network, 0);
}

void flow_controls_look(struct flow_net *network)
{
    const struct share *share = &network->share;
    const struct topo_graph *graph = network->machine->graph;
    struct flow_controls *controls = network->controls;
    for (uint32_t i = 0; flow_sending(network) <= CONTENDERS_MOST && i < share->met.count; i++) {
        uint32_t port = share->met.at[i];
        if (controls->queues[port].controlled || !share->links[port].is_full ||
            graph->kinds[graph->ports[port].node] == TOPO_NODE_HOST) {
            continue;
        }
        struct crowd crowd = crowd_at(network, port);
        if (!is_met(network, port, &crowd)) {
            continue;
        }
        if (network->stand != NULL) { /* there is one contest for all */
            network->net->parted = true;
            network->net->queue->failed = true;
            return;
        }
        if (controls->ports.count == 0) {
            controlled_begin(network, &crowd, can_fill(network, port, &crowd));
        }
        controls->queues[port].controlled = true;
        controls->ports.at[controls->ports.count++] = port;
    }
}
