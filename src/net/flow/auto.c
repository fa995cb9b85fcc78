/*
 * Which messages are fluid. Two messages whose data cross one link make a queue there, and queues are what packets are
 * for; data beside the acknowledgements of others make none worth the name, and the fluid accounts for those. But a
 * link is never used by both networks, because neither would see the other: where a message is packets, everything it
 * meets is, and what that meets. So a message starts as packets when packets are on any of its links, there or back, or
 * when other data are on its links there; and those it meets are handed over, with their packets put where they would
 * be.
 *
 * Some things only packets can tell, and then all messages are packets: lossy links on the way, artificial pauses, ways
 * that change from packet to packet, receivers' credit, acknowledgements that do not come with every packet.
 */
#include <math.h>

#include "net/flow/engine.h"
#include "net/packet/adopt.h"

struct flow_mix {
    struct net packets;
    uint32_t *under_way; /* by port: messages that are packets and cross it */
    uint8_t *is_lossy;   /* by port */
    bool only_packets;
    struct share_list met; /* flows to hand over */
};

/* ---- handing over ---- */

/* The ports of a message, there and back, one after the other. */
static uint32_t port_count(const struct flow *flow)
{
    return (uint32_t)flow->hops_there + flow->hops_back;
}

static uint32_t port_at(const struct flow_net *network, uint32_t index, uint32_t i)
{
    const struct flow *flow = &network->flows.at[index];
    uint32_t use = i < flow->hops_there ? i : network->half + i - flow->hops_there;
    return share_uses(&network->share, index)[use].link;
}

static void list_met(struct flow_net *network, uint32_t index)
{
    struct share_list *met = &network->mix->met;
    if (!mem_reserve(network->net->mem, (void **)&met->at, &met->capacity, (uint64_t)met->count + 1, sizeof *met->at)) {
        network->net->queue->failed = true;
        return;
    }
    met->at[met->count++] = index;
}

/* What of it has left the sender, in whole packets. */
static struct packet_adopted describe(const struct flow_net *network, uint32_t index)
{
    const struct flow *flow = &network->flows.at[index];
    double now = (double)network->net->queue->now;
    double rate = network->share.flows[index].rate;
    struct packet_adopted adopted = {.message = index,
                                     .src = flow->src,
                                     .dst = flow->dst,
                                     .source_port = flow->source_port,
                                     .bytes = flow->bytes,
                                     .start_ns = flow->start_ns};
    if (!flow->sending || rate <= 0) {
        return adopted;
    }
    double sent = flow->packets - flow->left + rate * (now - flow->since_ns);
    double begun = ceil(sent - 1e-6);
    uint64_t full = flow->bytes / network->machine->config->payload_bytes;
    adopted.packets_sent = begun < 0 ? 0 : begun > (double)full ? full : (uint64_t)begun;
    adopted.pace_ns = 1 / rate;
    double last = fmax((double)flow->start_ns, now - (sent - (double)adopted.packets_sent + 1) / rate);
    adopted.last_packet_ns = (uint64_t)fmin(last, now);
    return adopted;
}

/* Makes one message packets, and lists the fluid that it meets. */
static void hand_over(struct flow_net *network, uint32_t index)
{
    struct flow_mix *mix = network->mix;
    struct flow *flow = &network->flows.at[index];
    struct packet_adopted adopted = describe(network, index);
    if (flow->sending && adopted.packets_sent * network->machine->config->payload_bytes >= flow->bytes) {
        return; /* its last packet is leaving: it ends as what it is */
    }
    network->counts.by_packets++;
    network->counts.converted += flow->sending ? 1 : 0;
    if (flow->sending) {
        flow_withdraw(network, index);
    }
    flow->by_packets = 1;
    for (uint32_t i = 0; i < port_count(flow); i++) {
        uint32_t port = port_at(network, index, i);
        const struct share_link *link = &network->share.links[port];
        mix->under_way[port]++;
        for (uint32_t u = 0; u < link->count; u++) {
            list_met(network, link->users[u] / network->share.room);
        }
    }
    (void)packet_adopt(&mix->packets, &adopted);
}

static void hand_over_all(struct flow_net *network, uint32_t index)
{
    struct share_list *met = &network->mix->met;
    met->count = 0;
    list_met(network, index);
    for (uint32_t i = 0; i < met->count; i++) {
        const struct flow *flow = &network->flows.at[met->at[i]];
        if (!flow->by_packets && (flow->sending || met->at[i] == index)) {
            hand_over(network, met->at[i]);
        }
    }
}

/* ---- deciding ---- */

static bool meets_packets(const struct flow_net *network, uint32_t index)
{
    for (uint32_t i = 0; i < port_count(&network->flows.at[index]); i++) {
        uint32_t port = port_at(network, index, i);
        if (network->mix->under_way[port] > 0 || network->mix->is_lossy[port]) {
            return true;
        }
    }
    return false;
}

static bool meets_data(const struct flow_net *network, uint32_t index)
{
    const struct share *share = &network->share;
    for (uint32_t i = 0; i < network->flows.at[index].hops_there; i++) {
        const struct share_link *link = &share->links[port_at(network, index, i)];
        for (uint32_t u = 0; u < link->count; u++) {
            if (link->users[u] % share->room < network->half) {
                return true;
            }
        }
    }
    return false;
}

bool flow_mix_takes(struct flow_net *network, uint32_t index)
{
    if (!network->mix->only_packets && network->flows.at[index].bytes > 0 && !meets_packets(network, index) &&
        !meets_data(network, index)) {
        return false;
    }
    hand_over_all(network, index);
    return true;
}

bool flow_mix_takes_late(struct flow_net *network, uint32_t index)
{
    if (!network->flows.at[index].sending || !meets_packets(network, index)) {
        return false;
    }
    hand_over_all(network, index);
    return network->flows.at[index].by_packets;
}

/* A message that was packets is there. */
static void arrived(void *context, uint32_t index)
{
    struct flow_net *network = context;
    const struct flow *flow = &network->flows.at[index];
    uint32_t message = flow->message;
    (void)flow_count_message(network, flow);
    for (uint32_t i = 0; i < port_count(flow); i++) {
        network->mix->under_way[port_at(network, index, i)]--;
    }
    flows_give(&network->flows, index);
    network->net->arrived(network->net->arrived_context, message);
}

/* ---- the network ---- */

static void judge_machine(struct flow_net *network)
{
    const struct packet_config *config = network->machine->config;
    const struct topo_graph *graph = network->machine->graph;
    network->mix->only_packets = config->nic_total_pause > 0 || config->routing != PACKET_ROUTING_ECMP ||
                                 config->cc_mode == PACKET_CC_CREDIT || config->ack_interval > config->payload_bytes ||
                                 config->back_to_zero;
    for (uint32_t port = 0; port < graph->port_count; port++) {
        network->mix->is_lossy[port] = graph->links[graph->ports[port].link].error_rate > 0 || config->error_rate > 0;
    }
}

static enum orr_status auto_open(struct net *net, struct orr_error *err)
{
    enum orr_status status = flow_open(net, err);
    if (status != ORR_OK) {
        return status;
    }
    struct flow_net *network = net->state;
    size_t ports = network->machine->graph->port_count;
    struct flow_mix *mix = mem_zalloc(net->mem, sizeof *mix);
    if (mix == NULL) {
        return mem_error(net->mem, "the network", err);
    }
    network->mix = mix;
    mix->under_way = mem_zalloc(net->mem, ports * sizeof *mix->under_way);
    mix->is_lossy = mem_zalloc(net->mem, ports);
    if (mix->under_way == NULL || mix->is_lossy == NULL) {
        return mem_error(net->mem, "the network", err);
    }
    judge_machine(network);
    return net_init_machine(&mix->packets, &net_packet, net->dims, net->machine, arrived, network, net->queue, net->mem,
                            err);
}

static void auto_close(struct net *net)
{
    struct flow_net *network = net->state;
    struct flow_mix *mix = network == NULL ? NULL : network->mix;
    if (mix != NULL) {
        size_t ports = network->machine->graph->port_count;
        net_free(&mix->packets);
        mem_free(net->mem, mix->under_way, ports * sizeof *mix->under_way);
        mem_free(net->mem, mix->is_lossy, ports);
        mem_free(net->mem, mix->met.at, (size_t)mix->met.capacity * sizeof *mix->met.at);
        mem_free(net->mem, mix, sizeof *mix);
    }
    flow_close(net);
}

static uint32_t auto_handle(struct net *net, const struct event *event)
{
    struct flow_net *network = net->state;
    switch ((enum net_event_kind)event->kind) {
    case NET_EVENT_FLOW_STEP:
    case NET_EVENT_FLOW_ENDS:
    case NET_EVENT_FLOW_SETTLE:
        return flow_handle(net, event);
    default:
        return net_handle(&network->mix->packets, event);
    }
}

static uint32_t auto_explain(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room)
{
    const struct flow_net *network = net->state;
    uint32_t filled = flow_explain(net, arena, stuck, room);
    return filled + net_packet.explain(&network->mix->packets, arena, stuck + filled, room - filled);
}

static bool auto_figures(const struct net *net, struct arena *arena, struct net_figures *figures)
{
    const struct flow_net *network = net->state;
    return net_packet.figures(&network->mix->packets, arena, figures) && flow_add_figures(network, arena, figures);
}

const struct net_ops net_auto = {
    .name = "auto",
    .open = auto_open,
    .close = auto_close,
    .send = flow_send,
    .handle = auto_handle,
    .explain = auto_explain,
    .figures = auto_figures,
};
