/*
 * Why messages stay in the network for ever: read off the ports and queue pairs once no event is left. Three things can
 * hold a message: it never started, something of it was lost and nobody sends it again, or a port is paused and its
 * peer waits in turn. The last may come round to where it began: a cycle of pauses, which no timeout can end.
 */
#include <inttypes.h>

#include "net/packet/engine.h"

enum { CYCLE_TOLD = 12 };

struct explainer {
    const struct packet_net *network;
    struct arena *arena;
    struct net_stuck *stuck;
    uint32_t count, room;
};

static void tell(struct explainer *e, const char *text, const char *fix, uint32_t from, uint32_t to, uint32_t ranks)
{
    if (e->count < e->room && text != NULL) {
        e->stuck[e->count++] = (struct net_stuck){.text = text, .fix = fix, .ranks = {from, to}, .rank_count = ranks};
    }
}

static void tell_unsent(struct explainer *e)
{
    const struct packet_net *network = e->network;
    uint64_t all = network->unroutable + network->too_long;
    uint64_t kept = all < PACKET_UNSENT_KEPT ? all : PACKET_UNSENT_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        const struct packet_unsent *one = &network->unsent[i];
        bool too_long = network->config->int_sizes && one->size > INT32_MAX;
        tell(e,
             too_long
                 ? arena_printf(e->arena,
                                "the message of %" PRIu64 " B from rank %" PRIu32 " to rank %" PRIu32
                                " has 2 GiB or more, which never ends in ASTRA-sim (its sizes are 32-bit integers)",
                                one->size, one->src, one->dst)
                 : arena_printf(e->arena,
                                "no way leads from host %" PRIu32 " to host %" PRIu32 " (a message of %" PRIu64
                                " B, the first of %" PRIu64 " such messages): hosts do not forward, only switches do",
                                one->src, one->dst, one->size, network->unroutable),
             too_long ? "run without --compat astra, or use smaller messages"
                      : "join the two through switches in the topology file, or use a collective algorithm that only "
                        "talks to neighbours",
             one->src, one->dst, 2);
        if (!too_long) {
            break; /* one such pair tells it; there are usually many */
        }
    }
}

/* ---- lost ---- */

static const char *lost_words(const struct packet_net *network, const struct packet_pair *pair)
{
    const struct packet_config *config = network->config;
    if (pair->timeouts == PACKET_TIMEOUTS_MOST) {
        return "was given up after 16 timeouts in a row";
    }
    if (config->back_to_zero && config->chunk_bytes > 0 && pair->expected >= pair->size) {
        return "cannot end: with L2_BACK_TO_ZERO only whole chunks of L2_CHUNK_SIZE count as acknowledged";
    }
    if (pair->expected < config->ack_interval && pair->expected == pair->sent) {
        return "waits for an acknowledgement that is never sent: L2_ACK_INTERVAL is more than the message has";
    }
    return pair->expected >= pair->sent ? "waits for an acknowledgement that was lost"
                                        : "waits for a packet that was lost";
}

static bool is_lost(const struct packet_pair *pair)
{
    return !pair->finished && pair->holders == 1 && pair->acked < pair->sent;
}

static void tell_lost(struct explainer *e)
{
    const struct packet_net *network = e->network;
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        const struct packet_port *port = &network->ports[i];
        for (uint32_t k = 0; k < port->turns.count && e->count < e->room; k++) {
            const struct packet_pair *pair = &network->pairs.at[port->turns.pairs[k]];
            if (!is_lost(pair)) {
                continue;
            }
            tell(e,
                 arena_printf(e->arena,
                              "the queue pair from rank %" PRIu32 " to rank %" PRIu32 " (source port %u) %s: %" PRIu64
                              " of %" PRIu64 " B acknowledged, %" PRIu64 " received in order",
                              pair->src, pair->dst, pair->source_port, lost_words(network, pair), pair->acked,
                              pair->size, pair->expected),
                 network->config->timeouts ? NULL
                                           : "run without --compat astra, or with --rto: a timeout sends again what is "
                                             "lost",
                 pair->src, pair->dst, 2);
        }
    }
}

/* ---- paused ---- */

static bool is_held(const struct packet_net *network, uint32_t index)
{
    const struct packet_port *port = &network->ports[index];
    bool has_data = port->is_switch ? port->low.head != 0 : port->turns.count > 0 || port->high.head != 0;
    return (port->paused & (1u << PACKET_CLASS)) != 0 && has_data;
}

/* A held port of the peer's node whose queue has packets that came from here; UINT32_MAX when there is none. */
static uint32_t held_by(const struct packet_net *network, uint32_t index)
{
    uint32_t ingress = network->ports[index].peer;
    uint32_t node = network->ports[ingress].node;
    for (uint32_t port = network->graph->port_start[node]; port < network->graph->port_start[node + 1]; port++) {
        if (!network->ports[port].is_switch || !is_held(network, port)) {
            continue;
        }
        for (uint32_t p = network->ports[port].low.head; p != 0; p = network->packets.at[p].next) {
            if (network->packets.at[p].came_by == ingress) {
                return port;
            }
        }
    }
    return UINT32_MAX;
}

static void tell_cycle(struct explainer *e, uint32_t first)
{
    const struct packet_net *network = e->network;
    uint32_t length = 0;
    const char *text = "";
    uint32_t at = first;
    do {
        const struct packet_port *port = &network->ports[at];
        if (length < CYCLE_TOLD) {
            text = arena_printf(e->arena, "%s%snode %" PRIu32 " may not send to node %" PRIu32, text,
                                length == 0 ? "" : ", ", port->node, network->ports[port->peer].node);
        }
        length++;
        at = held_by(network, at);
    } while (at != first && at != UINT32_MAX && text != NULL);
    text = text == NULL ? NULL
                        : arena_printf(e->arena,
                                       "a cycle of %" PRIu32 " pauses: %s%s; each has a full buffer that only "
                                       "the next could empty",
                                       length, text, length > CYCLE_TOLD ? " …" : "");
    tell(e, text, "break the cycle: routes that cannot loop (up and down a tree), a larger BUFFER_SIZE, or --no-pfc", 0,
         0, 0);
}

/* Follows who waits for whom from every held port; a walk that meets itself is a cycle, told once. */
static void tell_pauses(struct explainer *e)
{
    const struct packet_net *network = e->network;
    uint32_t ports = network->graph->port_count;
    uint32_t *walk = arena_zalloc(e->arena, (size_t)ports * sizeof *walk);
    bool cycles = false;
    uint32_t alone = UINT32_MAX;
    for (uint32_t i = 0; walk != NULL && i < ports; i++) {
        uint32_t at = i;
        while (at != UINT32_MAX && is_held(network, at) && walk[at] == 0) {
            walk[at] = i + 1;
            uint32_t next = held_by(network, at);
            alone = next == UINT32_MAX ? at : alone;
            at = next;
        }
        if (at != UINT32_MAX && at != i && walk[at] == i + 1) {
            tell_cycle(e, at);
            cycles = true;
        } else if (at == i && walk[i] == i + 1 && held_by(network, i) != UINT32_MAX) {
            tell_cycle(e, at);
            cycles = true;
        }
    }
    if (!cycles && alone != UINT32_MAX) {
        const struct packet_port *port = &network->ports[alone];
        bool asks = network->ports[port->peer].peer_paused != 0;
        tell(e,
             arena_printf(e->arena, "node %" PRIu32 " is paused for ever towards node %" PRIu32 ": %s", port->node,
                          network->ports[port->peer].node,
                          asks ? "that node never has room again" : "the frame that ends the pause was lost"),
             asks ? "give the switch a larger BUFFER_SIZE" : "run without --compat astra, or with --rto", 0, 0, 0);
    }
}

uint32_t packet_explain(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room)
{
    struct explainer e = {.network = net->state, .arena = arena, .stuck = stuck, .room = room};
    tell_unsent(&e);
    tell_pauses(&e);
    tell_lost(&e);
    return e.count;
}
