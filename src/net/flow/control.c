/*
 * The bytes on their way, F, are all that a queue needs: the empty network holds capacity times round trip, what is
 * more waits, and what leaves is F over the round trip or the whole capacity, whichever is less. It leaves in the order
 * it came, so each sender's part of what leaves is its part of F. Senders add at their rates as long as their windows
 * allow. F starts with the network full, because the time until the first packets are there is part of every message
 * anyway (alone.h).
 */
#include "net/flow/control.h"

#include <math.h>

bool control_matters(const struct packet_config *config)
{
    switch ((enum packet_cc)config->cc_mode) {
    case PACKET_CC_DCQCN:
        return config->enable_qcn;
    case PACKET_CC_HPCC:
    case PACKET_CC_TIMELY:
    case PACKET_CC_PINT:
        return true;
    case PACKET_CC_DCTCP: /* cuts by the part that is marked, once a round trip: its queue hardly ever runs dry */
    case PACKET_CC_SWIFT:
    case PACKET_CC_CREDIT:
    case PACKET_CC_NONE:
        break;
    }
    return false;
}

struct packet_mark control_rule(const struct packet_config *config, uint64_t rate_bps)
{
    struct packet_mark rule = {0}; /* a rate no map has: whatever waits is marked */
    for (uint32_t i = 0; i < config->mark_count; i++) {
        rule = config->marks[i].rate_bps == rate_bps ? config->marks[i] : rule;
    }
    return rule;
}

void control_sender_start(struct control_sender *sender, const struct control_queue *queue, uint32_t senders)
{
    *sender = (struct control_sender){.line = sender->line,
                                      .window = sender->window,
                                      .round_trip = sender->round_trip,
                                      .left = sender->left,
                                      .flight = queue->capacity * sender->round_trip / senders,
                                      .filled = queue->capacity * sender->round_trip / senders,
                                      .rate = sender->line,
                                      .reference = sender->line,
                                      .use = 1,
                                      .round = sender->round_trip,
                                      .round_at = sender->round_trip};
}

static double waiting_now(const struct control_queue *queue)
{
    return fmax(0, queue->flight - queue->capacity * queue->round_trip);
}

double control_sender_leaving(const struct control_sender *sender, const struct control_queue *queue)
{
    return sender->flight / (sender->round_trip + waiting_now(queue) / queue->capacity);
}

void control_queue_step(struct control_queue *queue)
{
    queue->place = (queue->place + 1) % CONTROL_KEPT;
    queue->waiting[queue->place] = fmin(queue->room, waiting_now(queue));
}

/* Bytes that waited when what the sender learns of now was there. */
static double waiting_seen(const struct control_sender *sender, const struct control_queue *queue)
{
    double ago = sender->round_trip / control_step_ns(queue);
    uint32_t steps = ago < 1 ? 1 : ago < CONTROL_KEPT - 1 ? (uint32_t)ago : CONTROL_KEPT - 1;
    return queue->waiting[(queue->place + CONTROL_KEPT - steps) % CONTROL_KEPT];
}

/* ---- DCQCN ---- */

/* Whether one or more of so many packets is marked. */
static bool is_marked(const struct packet_mark *rule, double waiting, double packets, struct mrg32k3a *random)
{
    if (waiting > rule->kmax_bytes) {
        return true;
    }
    if (waiting <= rule->kmin_bytes) {
        return false;
    }
    double chance = rule->pmax * (waiting - rule->kmin_bytes) / (rule->kmax_bytes - rule->kmin_bytes);
    double mean = chance * packets;
    return mrg32k3a_uniform(random) * (1 + mean + mean * mean / 2) >= 1; /* 1 - exp(-mean), nearly */
}

static void dcqcn_cut(struct control_sender *sender, const struct packet_config *config)
{
    if (config->clamp_target_rate || sender->stage != 0) {
        sender->reference = sender->rate;
    }
    sender->rate = fmax((double)config->min_rate_bps / 8e9, sender->rate * (1 - sender->alpha / 2));
    sender->stage = 0;
    sender->marked_for_rate = false;
    sender->increase_at = sender->cut_at + config->rp_timer_us * 1000;
}

static void dcqcn_increase(struct control_sender *sender, const struct packet_config *config)
{
    if (sender->stage >= config->fast_recovery_times) {
        uint64_t more = sender->stage == config->fast_recovery_times ? config->rate_ai_bps : config->rate_hai_bps;
        sender->reference = fmin(sender->line, sender->reference + (double)more / 8e9);
    }
    sender->rate = (sender->rate + sender->reference) / 2;
    sender->stage++;
}

static void dcqcn(struct control_sender *sender, const struct packet_config *config, const struct control_queue *queue,
                  double leaving, struct mrg32k3a *random)
{
    double alpha_ns = fmax(1, config->alpha_resume_us * 1000);
    double cut_ns = fmax(1, config->rate_decrease_us * 1000);
    double packets = leaving * control_step_ns(queue) / queue->packet;
    if (is_marked(&queue->rule, waiting_seen(sender, queue), packets, random)) {
        sender->marked_for_alpha = true;
        sender->marked_for_rate = true;
        if (sender->cut_at == 0) {
            sender->alpha = 1;
            sender->marked_for_alpha = false;
            sender->reference = sender->rate;
            sender->alpha_at = sender->now + alpha_ns;
            sender->cut_at = sender->now + cut_ns;
        }
    }
    if (sender->cut_at == 0) {
        return;
    }
    bool marked = sender->marked_for_alpha;
    while (sender->alpha_at <= sender->now) {
        sender->alpha += config->ewma_gain * ((marked ? 1 : 0) - sender->alpha);
        sender->alpha_at += alpha_ns;
        sender->marked_for_alpha = false;
    }
    while (sender->cut_at <= sender->now) {
        if (sender->marked_for_rate) {
            dcqcn_cut(sender, config);
        }
        sender->cut_at += cut_ns;
    }
    while (sender->increase_at > 0 && sender->increase_at <= sender->now) {
        dcqcn_increase(sender, config);
        sender->increase_at += fmax(1, config->rp_timer_us * 1000);
    }
}

/* What is sent now is acknowledged when all that waits before it has left. */
static void begin_round(struct control_sender *sender, const struct control_queue *queue)
{
    sender->round = sender->round_trip + waiting_now(queue) / queue->capacity;
    sender->round_at = sender->now + sender->round;
}

/* ---- HPCC ---- */

static void hpcc(struct control_sender *sender, const struct packet_config *config, const struct control_queue *queue)
{
    if (sender->now <= sender->round_trip) {
        return; /* the first acknowledgement only tells where to count from */
    }
    double waiting = waiting_seen(sender, queue);
    double use = fmin(1, queue->leaving / queue->capacity) + waiting / (queue->capacity * queue->round_trip);
    sender->use += (use - sender->use) / CONTROL_STEPS;
    bool round = sender->now >= sender->round_at;
    if (!round && !config->fast_react) {
        return;
    }
    double excess = sender->use / config->u_target;
    double more = (double)config->rate_ai_bps / 8e9;
    bool by_factor = excess >= 1 || sender->stage >= config->mi_thresh;
    double rate = (by_factor ? sender->reference / excess : sender->reference) + more;
    sender->rate = fmin(sender->line, fmax((double)config->min_rate_bps / 8e9, rate));
    if (round) {
        sender->stage = by_factor ? 0 : sender->stage + 1;
        sender->reference = sender->rate;
        begin_round(sender, queue);
    }
}

/* ---- TIMELY ---- */

static void timely(struct control_sender *sender, const struct packet_config *config, const struct control_queue *queue)
{
    static const double share = 0.875, shortest_ns = 20000, low_ns = 50000, high_ns = 500000, beta = 0.8;
    if (sender->now < sender->round_at) {
        return;
    }
    double rtt = sender->round;
    if (sender->last_rtt > 0) {
        sender->difference = (1 - share) * sender->difference + share * (rtt - sender->last_rtt);
        double gradient = sender->difference / shortest_ns;
        if (rtt < low_ns || (rtt <= high_ns && gradient <= 0)) {
            uint64_t more = sender->stage < 5 ? config->rate_ai_bps : config->rate_hai_bps;
            sender->rate = fmin(sender->line, sender->rate + (double)more / 8e9);
            sender->stage++;
        } else {
            double factor = rtt > high_ns ? 1 - beta * (1 - high_ns / rtt) : 1 - beta * gradient;
            sender->rate = fmax((double)config->min_rate_bps / 8e9, sender->rate * fmax(0, factor));
            sender->stage = 0;
        }
    }
    sender->last_rtt = rtt;
    begin_round(sender, queue);
}

/* ---- a step ---- */

static bool control_is_full(const struct control_queue *queue)
{
    return waiting_now(queue) >= queue->room + queue->room_before;
}

/* Senders add at their rates up to the window, nothing while they have more than it allows. */
static double flight_after(const struct control_sender *sender, const struct packet_config *config,
                           const struct control_queue *queue, double leaving)
{
    double step = control_step_ns(queue);
    double left = fmax(0, sender->flight - leaving * step);
    double most = INFINITY;
    if (sender->window > 0) {
        most = sender->window * (config->var_window ? fmin(1, sender->rate / sender->line) : 1);
        most = fmax(most, queue->packet);
    }
    double unsent = fmax(0, sender->left + sender->filled - sender->flight);
    double added = fmin(unsent, sender->rate * step);
    if (control_is_full(queue)) {
        added = fmin(added, leaving * step); /* paused as often as not */
    }
    return left >= most ? left : fmin(most, left + added);
}

void control_sender_step(struct control_sender *sender, const struct packet_config *config,
                         const struct control_queue *queue, double leaving, struct mrg32k3a *random)
{
    sender->now += control_step_ns(queue);
    switch ((enum packet_cc)config->cc_mode) {
    case PACKET_CC_DCQCN:
        dcqcn(sender, config, queue, leaving, random);
        break;
    case PACKET_CC_HPCC:
    case PACKET_CC_PINT:
        hpcc(sender, config, queue);
        break;
    case PACKET_CC_TIMELY:
        timely(sender, config, queue);
        break;
    default:
        break;
    }
    sender->flight = flight_after(sender, config, queue, leaving);
}

bool control_sender_is_free(const struct control_sender *sender, const struct control_queue *queue)
{
    return sender->rate >= 0.99 * sender->line && sender->flight >= 0.99 * queue->capacity * queue->round_trip;
}
