/* SPDX-License-Identifier: Apache-2.0 */
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

static void packet_explain_tell(struct explainer *e, const char *text, const char *fix, uint32_t from, uint32_t to,
                                uint32_t ranks)
{
    if (e->count < e->room && text != NULL) {
        e->stuck[e->count++] = (struct net_stuck){.text = text, .fix = fix, .ranks = {from, to}, .rank_count = ranks};
    }
}

/* ---- links that are down ---- */

enum { DOWN_TOLD = 4 };

/* "link 0-8 is down since 5000 ns"; NULL when none is. */
static const char *down_words(const struct explainer *e)
{
    const struct packet_net *network = e->network;
    const char *text = NULL;
    uint32_t told = 0;
    for (uint32_t i = 0; i < network->graph->link_count; i++) {
        const struct topo_link *link = &network->graph->links[i];
        if (!network->routes.down[i] || told == DOWN_TOLD) {
            continue;
        }
        uint64_t since = 0;
        for (uint32_t k = 0; k < network->config->link_change_count; k++) {
            const struct packet_link_change *change = &network->config->link_changes[k];
            since = change->link == i && change->down && change->time_ns > since ? change->time_ns : since;
        }
        text = arena_printf(e->arena, "%s%slink %" PRIu32 "-%" PRIu32 " is down since %" PRIu64 " ns",
                            text == NULL ? "" : text, text == NULL ? "" : ", ", link->a, link->b, since);
        told++;
    }
    return text;
}

static const char down_fix[] =
    "let the link come back (parameter 'link-down' A-B@T..T2), or give the machine another way";

/* What a timeout would have helped, said in the words of whom it was kept from. */
static const char *timeout_fix(const struct packet_net *network)
{
    const struct packet_config *config = network->config;
    return config->timeouts ? NULL
           : config->int_sizes
               ? "run without parameter 'compat' astra, or with parameter 'rto': a timeout sends again what is lost"
               : "run without parameter 'compat': a timeout sends again what is lost";
}

/* ---- livelocks ---- */

static const char *livelock_words(const struct explainer *e)
{
    const struct packet_net *network = e->network;
    const char *words =
        network->sent_since > PACKET_LIVELOCK_SENT
            ? arena_printf(e->arena,
                           "since %" PRIu64 " ns no payload was acknowledged for the first time, although %" PRIu64
                           " data packets were sent",
                           network->progress_ns, network->sent_since)
            : arena_printf(e->arena,
                           "of the last %d million data packets fewer than one in %d got payload acknowledged for the "
                           "first time",
                           PACKET_LIVELOCK_SPAN / 1000000, PACKET_LIVELOCK_SHARE);
    return words == NULL ? "next to nothing gets through" : words;
}

/* Of the pairs under way, the one that has got least through. */
static void tell_livelock(struct explainer *e)
{
    const struct packet_net *network = e->network;
    const struct packet_pair *worst = NULL;
    uint64_t count = 0;
    for (uint32_t i = 0; network->is_livelocked && i < network->graph->port_count; i++) {
        const struct packet_turns *turns = &network->ports[i].turns;
        for (uint32_t k = 0; k < turns->count; k++) {
            const struct packet_pair *pair = &network->pairs.at[turns->pairs[k]];
            count += pair->finished ? 0 : 1;
            worst = !pair->finished && (worst == NULL || pair->acked < worst->acked) ? pair : worst;
        }
    }
    if (worst == NULL) {
        return;
    }
    const struct packet_counts *counts = &network->counts;
    const char *down = down_words(e);
    packet_explain_tell(e,
                        arena_printf(e->arena,
                                     "a livelock: %s (%" PRIu64 " packets dropped by switches, %" PRIu64
                                     " lost on links in all); of %" PRIu64 " messages under way that from rank %" PRIu32
                                     " to rank %" PRIu32 " has %" PRIu64 " of %" PRIu64 " B through%s%s",
                                     livelock_words(e), counts->drops, counts->losses, count, worst->src, worst->dst,
                                     worst->acked, worst->size, down == NULL ? "" : "; ", down == NULL ? "" : down),
                        down != NULL ? down_fix
                        : !network->config->pfc_enabled
                            ? "let switches pause their senders (without parameter 'no-pfc'), or bound what is on its "
                              "way (HAS_WIN 1)"
                            : "bound what is on its way (HAS_WIN 1), or give switches a larger BUFFER_SIZE",
                        worst->src, worst->dst, 2);
}

static const char *no_way_words(struct explainer *e, const struct packet_unsent *one)
{
    const char *down = down_words(e);
    return arena_printf(e->arena,
                        "no way leads from host %" PRIu32 " to host %" PRIu32 " (a message of %" PRIu64
                        " B, the first of %" PRIu64 " such messages): %s",
                        one->src, one->dst, one->size, e->network->unroutable,
                        down != NULL ? down : "hosts do not forward, only switches do");
}

static void tell_unsent(struct explainer *e)
{
    const struct packet_net *network = e->network;
    uint64_t all = network->unroutable + network->too_long;
    uint64_t kept = all < PACKET_UNSENT_KEPT ? all : PACKET_UNSENT_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        const struct packet_unsent *one = &network->unsent[i];
        bool too_long = network->config->int_sizes && one->size > INT32_MAX;
        packet_explain_tell(
            e,
            too_long ? arena_printf(e->arena,
                                    "the message of %" PRIu64 " B from rank %" PRIu32 " to rank %" PRIu32
                                    " has 2 GiB or more, which never ends in ASTRA-sim (its sizes are 32-bit integers)",
                                    one->size, one->src, one->dst)
                     : no_way_words(e, one),
            too_long ? "run without parameter 'compat' astra, or use smaller messages"
            : down_words(e) != NULL
                ? down_fix
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

static bool packet_explain_is_lost(const struct packet_pair *pair)
{
    return !pair->finished && pair->holders == 1 && pair->acked < pair->sent;
}

static void tell_lost(struct explainer *e)
{
    const struct packet_net *network = e->network;
    const char *down = down_words(e);
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        const struct packet_port *port = &network->ports[i];
        for (uint32_t k = 0; k < port->turns.count && e->count < e->room; k++) {
            const struct packet_pair *pair = &network->pairs.at[port->turns.pairs[k]];
            if (!packet_explain_is_lost(pair)) {
                continue;
            }
            packet_explain_tell(
                e,
                arena_printf(e->arena,
                             "the queue pair from rank %" PRIu32 " to rank %" PRIu32 " (source port %u) %s: %" PRIu64
                             " of %" PRIu64 " B acknowledged, %" PRIu64 " received in order%s%s",
                             pair->src, pair->dst, pair->source_port, lost_words(network, pair), pair->acked,
                             pair->size, pair->expected, down == NULL ? "" : "; ", down == NULL ? "" : down),
                down != NULL ? down_fix : timeout_fix(network), pair->src, pair->dst, 2);
        }
    }
}

/* ---- paused ---- */

static bool packet_explain_is_held(const struct packet_net *network, uint32_t index)
{
    const struct packet_port *port = &network->ports[index];
    bool has_data = port->is_switch ? port->low.head != 0 : port->turns.count > 0 || port->high.head != 0;
    return (port->paused & (1u << PACKET_CLASS)) != 0 && has_data;
}

/* A held port of the peer's node whose queue has packets that came from here; UINT32_MAX when there is none. */
static uint32_t packet_explain_held_by(const struct packet_net *network, uint32_t index)
{
    uint32_t ingress = network->ports[index].peer;
    uint32_t node = network->ports[ingress].node;
    for (uint32_t port = network->graph->port_start[node]; port < network->graph->port_start[node + 1]; port++) {
        if (!network->ports[port].is_switch || !packet_explain_is_held(network, port)) {
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

static void packet_explain_tell_cycle(struct explainer *e, uint32_t first)
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
        at = packet_explain_held_by(network, at);
    } while (at != first && at != UINT32_MAX && text != NULL);
    text = text == NULL ? NULL
                        : arena_printf(e->arena,
                                       "a cycle of %" PRIu32 " pauses: %s%s; each has a full buffer that only "
                                       "the next could empty",
                                       length, text, length > CYCLE_TOLD ? " …" : "");
    packet_explain_tell(
        e, text,
        "break the cycle: routes that cannot loop (up and down a tree), a larger BUFFER_SIZE, or parameter 'no-pfc'", 0,
        0, 0);
}

/* A host's artificial pause (NIC_TOTAL_PAUSE_TIME) whose end waits among its acknowledgements, which the switch has
 * paused in turn. */
static bool keeps_its_resume(const struct packet_net *network, const struct packet_port *port)
{
    for (uint32_t p = port->is_switch || port->paused == 0 ? 0 : port->high.head; p != 0;
         p = network->packets.at[p].next) {
        if (network->packets.at[p].kind == PACKET_RESUME) {
            return true;
        }
    }
    return false;
}

/* A port that is paused, and not in a circle. */
static void tell_held(struct explainer *e, uint32_t index)
{
    const struct packet_net *network = e->network;
    const struct packet_port *port = &network->ports[index];
    const struct packet_port *peer = &network->ports[port->peer];
    const char *why = "nothing is left that would end the pause";
    const char *fix = NULL;
    if (peer->peer_paused) {
        why = "that node never has room again";
        fix = "give the switch a larger BUFFER_SIZE";
    } else if (keeps_its_resume(network, peer)) {
        why = "that node paused it by itself (NIC_TOTAL_PAUSE_TIME), was paused by it in turn, and so cannot send the "
              "frame that ends its own pause";
        fix =
            "set NIC_TOTAL_PAUSE_TIME 0, or ACK_HIGH_PRIO 1 so that a host's frames leave in spite of pauses, or bound "
            "what is on its way (HAS_WIN 1)";
    } else if (network->counts.losses > 0) {
        why = "the frame that ends the pause was lost";
        fix = timeout_fix(network);
    }
    packet_explain_tell(e,
                        arena_printf(e->arena, "node %" PRIu32 " is paused for ever towards node %" PRIu32 ": %s",
                                     port->node, peer->node, why),
                        fix, 0, 0, 0);
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
        while (at != UINT32_MAX && packet_explain_is_held(network, at) && walk[at] == 0) {
            walk[at] = i + 1;
            uint32_t next = packet_explain_held_by(network, at);
            alone = next == UINT32_MAX ? at : alone;
            at = next;
        }
        if (at != UINT32_MAX && at != i && walk[at] == i + 1) {
            packet_explain_tell_cycle(e, at);
            cycles = true;
        } else if (at == i && walk[i] == i + 1 && packet_explain_held_by(network, i) != UINT32_MAX) {
            packet_explain_tell_cycle(e, at);
            cycles = true;
        }
    }
    if (!cycles && alone != UINT32_MAX) {
        tell_held(e, alone);
    }
}

uint32_t packet_explain(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room)
{
    struct explainer e = {.network = net->state, .arena = arena, .stuck = stuck, .room = room};
    tell_livelock(&e);
    tell_unsent(&e);
    if (!e.network->is_livelocked) { /* else nothing stands still */
        tell_pauses(&e);
        tell_lost(&e);
    }
    return e.count;
}
