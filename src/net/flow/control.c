/* SPDX-License-Identifier: Apache-2.0 */
/* There is no loss in a contest, and a sender's acknowledgements come in order: the law is told less than by packets,
 * and nothing else. */
#include "net/flow/control.h"

#include "net/packet/wire.h"

struct packet_mark control_rule(const struct packet_config *config, uint64_t rate_bps)
{
    struct packet_mark rule = {0};
    for (uint32_t i = 0; i < config->mark_count; i++) {
        rule = config->marks[i].rate_bps == rate_bps ? config->marks[i] : rule;
    }
    return rule;
}

static struct cc_sender seen_by_law(const struct control_sender *sender)
{
    return (struct cc_sender){.sent = sender->sent,
                              .window = sender->window,
                              .base_rtt_ns = sender->base_rtt_ns,
                              .line_bps = sender->line_bps,
                              .rate_bps = sender->rate_bps,
                              .limit = sender->limit};
}

/* Moves the time of the next packet by what the last one would have taken more or less. */
static void pace_anew(struct control_sender *sender, const struct packet_config *config, uint64_t rate_bps)
{
    if (rate_bps == sender->rate_bps || rate_bps == 0 || sender->rate_bps == 0) {
        return; /* a line that carries nothing has no pace to change */
    }
    uint64_t before = wire_sending_ns(config, sender->last_bytes, sender->rate_bps);
    uint64_t after = wire_sending_ns(config, sender->last_bytes, rate_bps);
    uint64_t next = sender->next_ns + after;
    sender->next_ns = next > before ? next - before : 0;
    sender->rate_bps = rate_bps;
}

/* What the law has changed at that time. */
static void flow_control_take_over(struct control_sender *sender, const struct packet_config *config,
                                   const struct cc_sender *changed, uint64_t now_ns)
{
    sender->limit = changed->limit;
    if (changed->paces_anew) {
        pace_anew(sender, config, changed->rate_bps);
    } else {
        sender->rate_bps = changed->rate_bps;
    }
    sender->timer_ns = UINT64_MAX;
    for (uint32_t i = 0; i < CC_TIMERS; i++) {
        if (changed->timer_ns[i] != 0) {
            sender->timers[i].at_ns = now_ns + changed->timer_ns[i];
            sender->timers[i].set_ns = now_ns;
        }
        sender->timer_ns = sender->timers[i].at_ns < sender->timer_ns ? sender->timers[i].at_ns : sender->timer_ns;
    }
}

void control_sender_start(struct control_sender *sender, const struct cc_law *law, const struct packet_config *config)
{
    *sender = (struct control_sender){.size = sender->size,
                                      .sent = sender->sent,
                                      .acked = sender->acked,
                                      .window = sender->window,
                                      .base_rtt_ns = sender->base_rtt_ns,
                                      .line_bps = sender->line_bps,
                                      .rate_bps = sender->line_bps,
                                      .timer_ns = UINT64_MAX};
    for (uint32_t i = 0; i < CC_TIMERS; i++) {
        sender->timers[i].at_ns = UINT64_MAX;
    }
    if (law->state_bytes != 0) {
        struct cc_sender seen = seen_by_law(sender);
        law->start(sender->state, config, &seen);
    }
}

void control_sender_ack(struct control_sender *sender, const struct cc_law *law, const struct packet_config *config,
                        const struct cc_ack *ack)
{
    sender->acked = ack->acked > sender->acked ? ack->acked : sender->acked;
    bool tells = (law->needs & CC_TELEMETRY) != 0    ? ack->hop_count > 0
                 : (law->needs & CC_ONE_NUMBER) != 0 ? ack->use > 0
                 : law->by_marks_alone               ? ack->marks > 0
                                                     : law->state_bytes != 0;
    if (tells) {
        struct cc_sender seen = seen_by_law(sender);
        law->acked(sender->state, config, &seen, ack);
        flow_control_take_over(sender, config, &seen, ack->now_ns);
    }
}

/* Which timer runs out next: of several at one time the one that was set first. */
static uint32_t first_timer(const struct control_sender *sender)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < CC_TIMERS; i++) {
        bool is_earlier = sender->timers[i].at_ns < sender->timers[first].at_ns;
        bool is_older = sender->timers[i].at_ns == sender->timers[first].at_ns &&
                        sender->timers[i].set_ns < sender->timers[first].set_ns;
        first = is_earlier || is_older ? i : first;
    }
    return first;
}

void control_sender_tick(struct control_sender *sender, const struct cc_law *law, const struct packet_config *config,
                         uint64_t now_ns, uint64_t since_ns)
{
    while (sender->timer_ns <= now_ns) {
        uint32_t which = first_timer(sender);
        uint64_t at_ns = sender->timers[which].at_ns;
        if (at_ns == now_ns && sender->timers[which].set_ns > since_ns) {
            break;
        }
        struct cc_sender seen = seen_by_law(sender);
        sender->timers[which].at_ns = UINT64_MAX;
        law->timer(sender->state, config, &seen, which);
        flow_control_take_over(sender, config, &seen, at_ns);
    }
}
