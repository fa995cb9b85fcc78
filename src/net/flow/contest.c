/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time goes from one thing to the next: a queue that something reaches or that may send, a sender that hears something
 * or whose pace is over. There are few of these, each with one time at which it is to be looked at, so the next one
 * comes from a tournament and nothing is ever put into an event queue.
 *
 * Queues are the packet network's: what has wholly arrived waits in a FIFO, gets an ECN mark by the length of the queue
 * behind it when it leaves, takes its sending time, and is at the next place after the delays between. Chance is drawn
 * from the same streams in the same order, so that a contest in one queue comes out as it would with packets; with more
 * queues, and with several packets as one, it comes out as likely.
 */
#include "net/flow/contest.h"

#include <math.h>

#include "base/heap.h"
#include "net/flow/contest_buffer.h"
#include "net/packet/wire.h"

/* ---- what is next ---- */

static void flow_contest_play(struct contest *contest, uint32_t leaf)
{
    struct contest_winner *winners = contest->winners;
    size_t at = (size_t)leaf + contest->due_capacity;
    winners[at].at_ns = contest->due[leaf].at_ns;
    for (at /= 2; at >= 1; at /= 2) {
        struct contest_winner first = contest_first(contest, &winners[2 * at]);
        if (first.leaf != leaf && first.leaf == winners[at].leaf) {
            break; /* it lost here before */
        }
        winners[at] = first;
    }
}

static void set_due(struct contest *contest, uint32_t leaf, struct contest_due due)
{
    contest->due[leaf] = due;
    flow_contest_play(contest, leaf);
}

void contest_due_by(struct contest *contest, uint32_t leaf, struct contest_due by)
{
    if (contest_is_before(&by, &contest->due[leaf])) {
        set_due(contest, leaf, by);
    }
}

/* ---- packets ---- */

uint32_t contest_packet_take(struct contest *contest, uint32_t sender)
{
    uint32_t index = contest_packets_take(&contest->packets, contest->mem, &contest->failed);
    if ((contest->law->needs & CC_TELEMETRY) != 0 && (index + 1) * CC_HOPS > contest->hop_capacity &&
        !mem_reserve(contest->mem, (void **)&contest->hops, &contest->hop_capacity,
                     (uint64_t)contest->packets.room.capacity * CC_HOPS, sizeof *contest->hops)) {
        contest->failed = true;
    }
    contest->packets.at[index] = (struct contest_packet){.sender = sender, .sent_ns = contest->now_ns, .count = 1};
    contest->senders[sender].pending++;
    return index;
}

static void packet_give(struct contest *contest, uint32_t packet)
{
    struct contest_sender *sender = &contest->senders[contest->packets.at[packet].sender];
    sender->pending--;
    if (sender->pending == 0 && !sender->active) {
        sender->next = contest->free_sender;
        contest->free_sender = contest->packets.at[packet].sender;
    }
    contest_packets_give(&contest->packets, packet);
}

/* When a paused link may hope to go on. */
static uint64_t gate_opens_ns(const struct contest_gate *gate)
{
    return gate->count > 0 ? gate->at_ns[gate->first] : UINT64_MAX;
}

/* Whether what reaches a queue is to be noticed at once because a peer may have to be paused: only when a sixteenth of
 * the switch's buffer is in use, for a way in may hold an eighth of the rest. */
static bool may_pause(const struct contest *contest, const struct contest_link *link)
{
    return link->node != CONTEST_NONE && contest->nodes[link->node].used >= contest->nodes[link->node].room / 16;
}

/* When something happens at a queue. While it sends, what reaches it can wait to be noticed, unless buffers fill. */
static struct contest_due link_due(const struct contest *contest, const struct contest_link *link)
{
    struct contest_due comes = {.at_ns = UINT64_MAX};
    struct contest_due goes = {link->busy_until, link->last_ns, link->last_order};
    if (link->coming_count > 0) {
        comes = link->coming[0].due;
    }
    if (!link->gate.paused && !may_pause(contest, link)) {
        return link->head != 0 || comes.at_ns <= link->busy_until ? goes : comes;
    }
    if (link->head == 0) {
        return comes;
    }
    goes.at_ns = link->gate.paused ? gate_opens_ns(&link->gate) : goes.at_ns;
    return contest_is_before(&goes, &comes) ? goes : comes;
}

#define COMES_BEFORE(context, a, b) contest_is_before(&(a)->due, &(b)->due)
HEAP_DEFINE(coming_heap, struct contest_coming, const void *, COMES_BEFORE, HEAP_PUT);

void contest_add_coming(struct contest *contest, uint32_t link_index, uint32_t packet)
{
    struct contest_link *link = &contest->links[link_index];
    if (link->coming_count == link->coming_capacity &&
        !mem_reserve(contest->mem, (void **)&link->coming, &link->coming_capacity, (uint64_t)link->coming_count + 1,
                     sizeof *link->coming)) {
        contest->failed = true;
        return;
    }
    const struct contest_packet *coming = &contest->packets.at[packet];
    uint64_t last_ns = contest_legs(contest, coming->sender)[coming->leg].last_ns;
    struct contest_coming added = {{coming->at_ns, coming->at_ns - last_ns, contest->order++}, packet};
    coming_heap_push(NULL, link->coming, &link->coming_count, added);
    contest_due_by(contest, contest_leaf_of_link(link_index), link_due(contest, link));
}

static uint32_t take_coming(struct contest_link *link)
{
    return coming_heap_pop(NULL, link->coming, &link->coming_count).packet;
}

/* When the first of a sender's acknowledgements is there. */
static struct contest_due ack_due(const struct contest *contest, const struct contest_sender *sender)
{
    const struct contest_packet *ack = &contest->packets.at[sender->head];
    return (struct contest_due){ack->at_ns, ack->at_ns - sender->back_last_ns, ack->order};
}

void contest_add_ack(struct contest *contest, uint32_t packet, uint64_t at_ns)
{
    struct contest_packet *ack = &contest->packets.at[packet];
    struct contest_sender *sender = &contest->senders[ack->sender];
    ack->at_ns = at_ns;
    ack->next = 0;
    ack->order = contest->order++;
    if (sender->head == 0) {
        sender->head = packet;
        contest_due_by(contest, contest_leaf_of_sender(ack->sender), ack_due(contest, sender));
    } else {
        contest->packets.at[sender->tail].next = packet;
    }
    sender->tail = packet;
}

static uint64_t sending_ns(const struct contest *contest, const struct contest_link *link, uint32_t bytes)
{
    if (bytes == contest->full_bytes) {
        return link->full_ns;
    }
    uint64_t alone = wire_sending_ns(contest->config, bytes, link->rate_bps);
    return link->slower > 1 ? (uint64_t)((double)alone * link->slower + 0.5) : alone;
}

/* A spread of four seconds stands for all longer ones. */
static uint32_t short_ns(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* ---- pauses ---- */

static void gate_heed(struct contest_gate *gate, uint64_t now_ns)
{
    while (gate->count > 0 && gate->at_ns[gate->first] <= now_ns) {
        gate->paused = !gate->paused;
        gate->first = (gate->first + 1) % CONTEST_FRAMES;
        gate->count--;
    }
}

static void flow_contest_send_frame(struct contest *contest, const struct contest_ingress *ingress)
{
    struct contest_link *link = &contest->links[ingress->link];
    struct contest_gate *gate = &link->gate;
    mrg32k3a_streams_skip(contest->streams); /* the reference draws the frame's identification */
    if (!contest->config->pfc_enabled) {
        return;
    }
    if (gate->count == CONTEST_FRAMES) {
        gate->count--; /* the last one and this one are each other's opposites */
        return;
    }
    const struct contest_due at = {contest->now_ns + ingress->frame_ns, contest->now_ns, contest->order++};
    gate->at_ns[(gate->first + gate->count++) % CONTEST_FRAMES] = at.at_ns;
    contest_due_by(contest, contest_leaf_of_link(ingress->link), at);
    for (uint32_t i = 0; link->is_host && i < contest->sender_count; i++) {
        if (contest->senders[i].active && contest->senders[i].link == ingress->link) {
            contest_due_by(contest, contest_leaf_of_sender(i), at);
        }
    }
}

/* ---- queues ---- */

static void enter_queue(struct contest *contest, struct contest_link *link, uint32_t packet_index)
{
    struct contest_packet *packet = &contest->packets.at[packet_index];
    uint64_t bytes = (uint64_t)packet->bytes * packet->count;
    uint32_t by = contest_legs(contest, packet->sender)[packet->leg].ingress;
    packet->next = 0;
    if (link->head == 0) {
        link->head = packet_index;
    } else {
        contest->packets.at[link->tail].next = packet_index;
    }
    link->tail = packet_index;
    link->queued_bytes += bytes;
    if (by != CONTEST_NONE) {
        struct contest_ingress *ingress = &contest->ingresses[by];
        const struct contest_node *node = &contest->nodes[ingress->node];
        contest_buffer_add(&contest->nodes[ingress->node], ingress, bytes);
        if (contest_must_pause(node, ingress)) {
            ingress->asked = true;
            flow_contest_send_frame(contest, ingress);
        }
    }
}

/* How many of a packet's get an ECN mark, each by the length of the queue behind it. */
static uint32_t marks_of(struct contest *contest, const struct contest_link *link, const struct contest_packet *packet)
{
    uint32_t marked = 0;
    const struct packet_mark *rule = &link->rule;
    for (uint32_t i = 1; link->marks && i <= packet->count; i++) {
        double queued = (double)(link->queued_bytes + (uint64_t)(packet->count - i) * packet->bytes);
        if (queued > rule->kmax_bytes) {
            marked++;
        } else if (queued > rule->kmin_bytes) {
            struct mrg32k3a random = mrg32k3a_streams_take(contest->streams);
            double chance = rule->pmax * (queued - rule->kmin_bytes) / (rule->kmax_bytes - rule->kmin_bytes);
            marked += mrg32k3a_uniform(&random) < chance ? 1 : 0;
        }
    }
    return marked;
}

/* PINT's moving average of a link's use over the longest round trip, without what the reference's rounding adds. */
static double pint_use(const struct contest *contest, const struct contest_link *link)
{
    double rtt = (double)contest->longest_rtt_ns;
    double line = (double)link->rate_bps / 8e9;
    double elapsed = fmin(rtt, (double)(contest->now_ns - link->last_ns));
    return elapsed * (double)link->queued_bytes / (line * rtt * rtt) + (double)link->last_bytes / (line * rtt) +
           (rtt - elapsed) / rtt * link->pint_u;
}

/* As it is told: the whole power below or above, as chance has it. */
static double pint_told(const struct contest *contest, double use)
{
    enum { UNIT = 512 };
    double base = contest->config->pint_log_base;
    double level = fmax(1, ceil(use * UNIT));
    double lower = pow(base, floor(log(level) / log(base)));
    double share = (level - lower) / (lower * base - lower) * 65536;
    bool up = (double)(c_random_next(contest->random) % 65536) < share;
    return (up ? lower * base : lower) / UNIT;
}

static void stamp(struct contest *contest, struct contest_link *link, uint32_t packet_index)
{
    struct contest_packet *packet = &contest->packets.at[packet_index];
    if ((contest->law->needs & CC_TELEMETRY) != 0 && packet->hop_count < CC_HOPS) {
        contest->hops[(size_t)packet_index * CC_HOPS + packet->hop_count++] =
            (struct cc_hop){.time_ns = (uint32_t)contest->now_ns & CC_HOP_TIME,
                            .sent_bytes = (uint32_t)(link->sent_bytes / 128 * 128) & CC_HOP_SENT,
                            .queued_bytes = (uint32_t)(link->queued_bytes / 80 * 80),
                            .rate_bps = cc_coded_rates[cc_rate_code(link->rate_bps)]};
    } else if ((contest->law->needs & CC_ONE_NUMBER) != 0) {
        link->pint_u = pint_use(contest, link);
        packet->use = fmax(packet->use, pint_told(contest, link->pint_u));
    }
    link->last_ns = contest->now_ns;
    link->last_order = contest->order++;
    link->last_bytes = (uint64_t)packet->bytes * packet->count;
    link->sent_bytes += (uint64_t)packet->bytes * packet->count;
}

/* The packet is on its way to its next queue, or to the receiver and back. */
static void flow_contest_go_on(struct contest *contest, uint32_t packet_index, uint64_t first_ns, uint64_t end_ns)
{
    struct contest_packet *packet = &contest->packets.at[packet_index];
    struct contest_sender *sender = &contest->senders[packet->sender];
    packet->spread_ns = short_ns(end_ns - first_ns);
    const struct contest_leg *leg = &contest_legs(contest, packet->sender)[++packet->leg];
    uint64_t takes = contest_leg_ns(contest, leg, packet->bytes);
    if (leg->link != CONTEST_NONE) {
        packet->at_ns = first_ns + takes;
        contest_add_coming(contest, leg->link, packet_index);
        return;
    }
    sender->departed = packet->end > sender->departed ? packet->end : sender->departed;
    if (packet->end >= sender->control.size) {
        sender->departed_ns = end_ns;
        sender->done_ns = end_ns + takes + sender->back_ns;
    }
    contest_add_ack(contest, packet_index, end_ns + takes + sender->back_ns);
}

static void flow_contest_serve(struct contest *contest, uint32_t link_index)
{
    struct contest_link *link = &contest->links[link_index];
    uint32_t index = link->head;
    struct contest_packet *packet = &contest->packets.at[index];
    uint64_t bytes = (uint64_t)packet->bytes * packet->count;
    uint32_t by = contest_legs(contest, packet->sender)[packet->leg].ingress;
    link->head = packet->next;
    link->queued_bytes -= bytes;
    packet->marked += marks_of(contest, link, packet);
    if (by != CONTEST_NONE) {
        struct contest_ingress *ingress = &contest->ingresses[by];
        struct contest_node *node = &contest->nodes[ingress->node];
        contest_buffer_remove(node, ingress, bytes);
        if (contest_may_resume(node, ingress)) {
            ingress->asked = false;
            flow_contest_send_frame(contest, ingress);
        }
    }
    stamp(contest, link, index);
    uint64_t one = sending_ns(contest, link, packet->bytes);
    uint64_t all = one * packet->count;
    uint64_t last = packet->spread_ns + one; /* the last of them may not have come yet */
    link->busy_until = contest->now_ns + all;
    flow_contest_go_on(contest, index, contest->now_ns + one, contest->now_ns + (all > last ? all : last));
}

static void link_turn(struct contest *contest, uint32_t index)
{
    struct contest_link *link = &contest->links[index];
    uint64_t now = contest->now_ns;
    gate_heed(&link->gate, now);
    while (link->coming_count > 0 && link->coming[0].due.at_ns <= now) {
        enter_queue(contest, link, take_coming(link));
        if (link->busy_until < now && !link->gate.paused) {
            flow_contest_serve(contest, index); /* the first to reach an idle port has nobody behind it */
        }
    }
    if (link->head != 0 && link->busy_until <= now && !link->gate.paused) {
        flow_contest_serve(contest, index);
    }
    set_due(contest, contest_leaf_of_link(index), link_due(contest, link));
}

/* ---- senders ---- */

/* Where more than so many contend a packet is little of what each port has before it, and two go as one: packet by
 * packet it would cost more than the packet network does. */
enum { CROWD_LEAST = 1024 };

/* Full packets that may go as one now, at this pace: what the window lets, and no more than a part of a round trip. */
static uint32_t count_together(const struct contest *contest, const struct contest_sender *sender, uint64_t window,
                               uint64_t pace_ns)
{
    const struct control_sender *control = &sender->control;
    uint64_t payload = contest->config->payload_bytes;
    uint64_t most = sender->group;
    uint64_t left = (control->size - control->sent) / payload;
    uint64_t paced = control->base_rtt_ns / contest->round_parts / (pace_ns == 0 ? 1 : pace_ns);
    uint64_t open = window == UINT64_MAX ? most : (window - (control->sent - control->acked) + payload - 1) / payload;
    most = paced < most ? paced : most;
    most = open < most ? open : most;
    most = most < 2 && contest->active_count > CROWD_LEAST ? 2 : most;
    most = left < most ? left : most;
    return most < 1 ? 1 : (uint32_t)most;
}

static void flow_contest_send_packet(struct contest *contest, uint32_t index, uint64_t window)
{
    struct contest_sender *sender = &contest->senders[index];
    struct control_sender *control = &sender->control;
    const struct packet_config *config = contest->config;
    struct contest_link *link = &contest->links[sender->link];
    uint64_t left = control->size - control->sent;
    uint64_t length = left < config->payload_bytes ? left : config->payload_bytes;
    uint32_t bytes = (uint32_t)length + contest->full_bytes - config->payload_bytes;
    uint64_t rate = config->rate_bound ? control->rate_bps : control->line_bps;
    uint64_t pace = wire_sending_ns(config, bytes, rate);
    bool together = sender->group > 1 || contest->active_count > CROWD_LEAST;
    uint32_t count = together ? count_together(contest, sender, window, pace) : 1;
    uint64_t one = sending_ns(contest, link, bytes);
    uint64_t apart = pace > one ? pace : one;
    uint32_t taken = contest_packet_take(contest, index);
    struct contest_packet *packet = &contest->packets.at[taken];
    control->sent += length * count;
    control->last_bytes = bytes;
    control->next_ns = contest->now_ns + pace * count;
    sender->sending_ns = contest->now_ns;
    sender->sending_order = contest->order++;
    link->last_ns = sender->sending_ns;
    link->last_order = sender->sending_order;
    link->busy_until = contest->now_ns + one * count;
    packet->bytes = bytes;
    packet->count = count;
    packet->end = control->sent;
    packet->spread_ns = short_ns(apart * (count - 1));
    packet->sent_ns += packet->spread_ns;
    const struct contest_leg *leg = contest_legs(contest, index);
    packet->at_ns = contest->now_ns + one + contest_leg_ns(contest, leg, bytes);
    contest_add_coming(contest, leg->link, taken);
}

static bool may_send(const struct contest *contest, const struct contest_sender *sender, uint64_t window)
{
    const struct control_sender *control = &sender->control;
    return sender->active && control->sent < control->size && control->sent - control->acked < window &&
           control->next_ns <= contest->now_ns;
}

/* A host's link takes its senders in turn: one that could send while another does waits for it. */
static void wait_for_turn(struct contest *contest, uint32_t index)
{
    struct contest_sender *sender = &contest->senders[index];
    struct contest_link *link = &contest->links[sender->link];
    if (sender->in_turn) {
        return;
    }
    sender->in_turn = true;
    sender->next = 0;
    if (link->head == 0) {
        link->head = index + 1;
        const struct contest_due by = {link->busy_until, link->last_ns, link->last_order};
        contest_due_by(contest, contest_leaf_of_link(sender->link), by);
    } else {
        contest->senders[link->tail - 1].next = index + 1;
    }
    link->tail = index + 1;
}

/* Sends if it may; when to look again otherwise. What a window holds back is woken by an acknowledgement. */
static uint64_t try_to_send(struct contest *contest, uint32_t index)
{
    struct contest_sender *sender = &contest->senders[index];
    const struct control_sender *control = &sender->control;
    struct contest_link *link = &contest->links[sender->link];
    uint64_t now = contest->now_ns;
    if (control->sent >= control->size || !sender->active) {
        return UINT64_MAX;
    }
    gate_heed(&link->gate, now);
    if (link->gate.paused) {
        return gate_opens_ns(&link->gate);
    }
    uint64_t window = control_sender_window(control, contest->config);
    if (may_send(contest, sender, window)) {
        if (link->busy_until > now || link->head != 0) {
            wait_for_turn(contest, index);
            return UINT64_MAX;
        }
        flow_contest_send_packet(contest, index, window);
    } else if (link->busy_until == now) {
        sender->sending_ns = now; /* it is now that the link, free again, sets a timer */
        sender->sending_order = contest->order++;
    }
    if (link->busy_until > now && link->last_order == sender->sending_order) {
        return link->busy_until;
    }
    return control->next_ns > now ? control->next_ns : UINT64_MAX;
}

/* The next of those that wait, if it still may. */
static void host_turn(struct contest *contest, uint32_t index)
{
    struct contest_link *link = &contest->links[index];
    gate_heed(&link->gate, contest->now_ns);
    while (link->head != 0 && link->busy_until <= contest->now_ns && !link->gate.paused) {
        uint32_t next = link->head - 1;
        struct contest_sender *sender = &contest->senders[next];
        uint64_t window = control_sender_window(&sender->control, contest->config);
        link->head = sender->next;
        sender->in_turn = false;
        if (may_send(contest, sender, window)) {
            flow_contest_send_packet(contest, next, window);
            const struct contest_due by = {link->busy_until, sender->sending_ns, sender->sending_order};
            contest_due_by(contest, contest_leaf_of_sender(next), by);
        }
    }
    struct contest_due due = {UINT64_MAX, link->last_ns, link->last_order};
    if (link->head != 0) {
        due.at_ns = link->gate.paused ? gate_opens_ns(&link->gate) : link->busy_until;
    }
    set_due(contest, contest_leaf_of_link(index), due);
}

static void hear(struct contest *contest, uint32_t index)
{
    struct contest_sender *sender = &contest->senders[index];
    uint32_t heard = sender->head;
    const struct contest_packet *packet = &contest->packets.at[heard];
    struct cc_ack ack = {.now_ns = packet->at_ns,
                         .rtt_ns = packet->at_ns - packet->sent_ns,
                         .acked = packet->end,
                         .marks = packet->marked,
                         .hop_count = packet->hop_count,
                         .hops = packet->hop_count > 0 ? &contest->hops[(size_t)heard * CC_HOPS] : NULL,
                         .use = packet->use};
    sender->head = packet->next;
    bool sampled = (contest->law->needs & CC_ONE_NUMBER) == 0 ||
                   (double)(c_random_next(contest->random) % 65536) < floor(65536 * contest->config->pint_prob);
    if (!sampled) {
        sender->control.acked = ack.acked > sender->control.acked ? ack.acked : sender->control.acked;
    } else if (sender->active) {
        control_sender_ack(&sender->control, contest->law, contest->config, &ack);
    }
    packet_give(contest, heard);
}

static void sender_turn(struct contest *contest, uint32_t index)
{
    struct contest_sender *sender = &contest->senders[index];
    uint64_t now = contest->now_ns;
    if (sender->control.timer_ns <= now) {
        uint64_t since = contest->due[contest_leaf_of_sender(index)].since_ns;
        control_sender_tick(&sender->control, contest->law, contest->config, now, since);
    }
    while (sender->head != 0 && contest->packets.at[sender->head].at_ns <= now) {
        hear(contest, index);
    }
    struct contest_due due = {.at_ns = try_to_send(contest, index)};
    due.since_ns = sender->sending_ns;
    due.order = sender->sending_order;
    if (sender->head != 0) {
        struct contest_due heard = ack_due(contest, sender);
        due = contest_is_before(&heard, &due) ? heard : due;
    }
    set_due(contest, contest_leaf_of_sender(index), due);
}

void contest_advance(struct contest *contest, uint64_t until_ns)
{
    for (;;) {
        uint32_t leaf = contest->winners[1].leaf;
        if (contest->due[leaf].at_ns >= until_ns || contest->failed) {
            break;
        }
        contest->now_ns = contest->due[leaf].at_ns;
        if (leaf % 2 != 0) {
            sender_turn(contest, leaf / 2);
        } else if (contest->links[leaf / 2].is_host) {
            host_turn(contest, leaf / 2);
        } else {
            link_turn(contest, leaf / 2);
        }
    }
    contest->now_ns = until_ns;
}

uint64_t contest_queued_bytes(const struct contest *contest)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < contest->link_count; i++) {
        sum += contest->links[i].queued_bytes;
    }
    return sum;
}

bool contest_has_port(const struct contest *contest, uint32_t port)
{
    for (uint32_t i = 0; i < contest->link_count; i++) {
        if (contest->links[i].port == port) {
            return true;
        }
    }
    return false;
}
