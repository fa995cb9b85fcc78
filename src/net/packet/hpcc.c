/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control by what switches write into packets: HPCC, whose packets carry a record of every hop, and its
 * variant PINT, whose packets carry one number a byte or two wide (spec packet A8, A13). PINT rounds by chance, and the
 * reference's chance is the C library's rand(): c_random.h gives the same numbers on every machine.
 */
#include <math.h>

#include "net/packet/cc.h"
#include "net/packet/wire.h"

/* The rates that have a code on the wire, by code; bits a second (spec packet A8). */
static const uint64_t coded_rates[] = {25000000000,  50000000000,   100000000000, 200000000000,
                                       400000000000, 1200000000000, 2400000000000};

/* ---- HPCC ---- */

static uint64_t time_delta(const struct packet_hop *now, const struct packet_hop *before)
{
    return ((uint64_t)now->time_ns - before->time_ns) & 0xffffff;
}

static uint64_t bytes_delta(const struct packet_hop *now, const struct packet_hop *before)
{
    return (((uint64_t)now->sent - before->sent) & 0xfffff) * 128;
}

static double hop_use(const struct packet_pair *pair, const struct packet_hop *now, const struct packet_hop *before,
                      uint64_t tau)
{
    double line = (double)coded_rates[now->rate];
    /* Two records of one time tell no rate. */
    double rate = tau == 0 ? 0 : (double)(bytes_delta(now, before) * 8) / ((double)tau * 1e-9);
    double queued = (double)((now->queued < before->queued ? now->queued : before->queued) * UINT64_C(80));
    double held = wire_hpcc_bytes(pair->window, pair->base_rtt_ns, pair->max_rate_bps);
    return rate / line + queued * (double)pair->max_rate_bps / line / held;
}

/* A rate divided by a use that may be next to nothing. Rates above the line's are bounded by it later. */
static uint64_t divided(uint64_t rate_bps, double by)
{
    double rate = (double)rate_bps / by;
    return rate < 0x1p62 ? (uint64_t)rate : UINT64_C(1) << 62;
}

/* The next rate from the use of the path: multiplicative above the target or after enough additive steps. */
static uint64_t hpcc_rate(const struct packet_net *network, const struct packet_pair *pair, uint64_t rate_bps,
                          double use, uint32_t *stage)
{
    const struct packet_config *config = network->config;
    double c = use / config->u_target;
    if (c >= 1 || *stage >= config->mi_thresh) {
        *stage = 0;
        return packet_cc_bounded(network, pair, divided(rate_bps, c) + config->rate_ai_bps);
    }
    (*stage)++;
    return packet_cc_bounded(network, pair, rate_bps + config->rate_ai_bps);
}

static void hpcc_update(struct packet_net *network, uint32_t pair_index, const struct packet_telemetry *seen, bool fast)
{
    struct hpcc *hpcc = &packet_cc_of(network, pair_index)->as.hpcc;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet_config *config = network->config;
    double most = 0;
    uint64_t most_tau = 0;
    bool any = false;
    uint64_t rate = pair->max_rate_bps;
    uint32_t stage = hpcc->stage;
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct packet_hop *now = &seen->hops[i];
        if (config->sample_feedback && now->queued == 0 && fast) {
            rate = hpcc->per_hop[i].rate_bps < rate ? hpcc->per_hop[i].rate_bps : rate;
            continue;
        }
        any = true;
        uint64_t tau = time_delta(now, &hpcc->hops[i]);
        double use = hop_use(pair, now, &hpcc->hops[i], tau);
        hpcc->hops[i] = *now;
        if (!config->multi_rate) {
            if (use > most) {
                most = use;
                most_tau = tau;
            }
            continue;
        }
        double base = (double)pair->base_rtt_ns;
        tau = tau > pair->base_rtt_ns ? pair->base_rtt_ns : tau;
        double *u = &hpcc->per_hop[i].u;
        *u = (*u * (double)(pair->base_rtt_ns - tau) + use * (double)tau) / base;
        uint32_t hop_stage = hpcc->per_hop[i].stage;
        uint64_t hop_rate = hpcc_rate(network, pair, hpcc->per_hop[i].rate_bps, *u, &hop_stage);
        rate = hop_rate < rate ? hop_rate : rate;
        if (!fast) {
            hpcc->per_hop[i].rate_bps = hop_rate;
            hpcc->per_hop[i].stage = hop_stage;
        }
    }
    if (!any) {
        return;
    }
    if (!config->multi_rate) {
        most_tau = most_tau > pair->base_rtt_ns ? pair->base_rtt_ns : most_tau;
        hpcc->u =
            (hpcc->u * (double)(pair->base_rtt_ns - most_tau) + most * (double)most_tau) / (double)pair->base_rtt_ns;
        rate = hpcc_rate(network, pair, hpcc->rate_bps, hpcc->u, &stage);
    }
    packet_pair_change_rate(network, pair, rate);
    if (!fast) {
        hpcc->rate_bps = rate;
        hpcc->stage = stage;
    }
}

void packet_hpcc_ack(struct packet_net *network, uint32_t pair_index, const struct packet *ack)
{
    struct hpcc *hpcc = &packet_cc_of(network, pair_index)->as.hpcc;
    const struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet_telemetry *seen = &network->telemetries.at[ack->telemetry];
    bool full = ack->seq > hpcc->update_seq;
    if (!full && !network->config->fast_react) {
        return;
    }
    if (hpcc->update_seq == 0) {
        hpcc->update_seq = pair->sent;
        for (uint32_t i = 0; i < seen->count && i < PACKET_INT_HOPS; i++) {
            hpcc->hops[i] = seen->hops[i];
        }
        return;
    }
    if (seen->count <= PACKET_INT_HOPS) {
        hpcc_update(network, pair_index, seen, !full);
    }
    if (full && pair->sent > hpcc->update_seq) {
        hpcc->update_seq = pair->sent;
    }
}

/* ---- HPCC with one number instead of telemetry (PINT) ---- */

/* Logarithms as a switch has them: 16 significant bits of the number, the rest decided by chance, and 15 bits after the
 * point. */
enum { PINT_SIGNIFICANT = 16, PINT_FRACTION = 1 << 15, PINT_UNIT = 512, PINT_QUEUE_UNIT = 256, PINT_USE_UNIT = 8192 };

static double rough_log(struct packet_net *network, uint64_t value)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    if (bits > PINT_SIGNIFICANT) {
        uint64_t mask = (UINT64_C(1) << (bits - PINT_SIGNIFICANT)) - 1;
        uint64_t rest = value & mask;
        value &= ~mask;
        value += rest > (c_random_next(&network->random) & mask) ? mask + 1 : 0;
    }
    return floor(log2((double)value) * PINT_FRACTION) / PINT_FRACTION;
}

void packet_pint_ack(struct packet_net *network, uint32_t pair_index, const struct packet *ack)
{
    struct hpcc *hpcc = &packet_cc_of(network, pair_index)->as.hpcc;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    if ((double)(c_random_next(&network->random) % 65536) >= floor(65536 * network->config->pint_prob)) {
        return;
    }
    bool full = ack->seq > hpcc->update_seq; /* if not, it reacts all the same: FAST_REACT is HPCC's alone */
    if (hpcc->update_seq == 0) {
        hpcc->update_seq = pair->sent;
        return;
    }
    double use = pow(network->config->pint_log_base, (double)ack->telemetry) / PINT_UNIT;
    uint32_t stage = hpcc->stage;
    uint64_t rate = hpcc_rate(network, pair, hpcc->rate_bps, use, &stage);
    packet_pair_change_rate(network, pair, rate);
    if (full) {
        hpcc->rate_bps = rate;
        hpcc->stage = stage;
        hpcc->update_seq = pair->sent > hpcc->update_seq ? pair->sent : hpcc->update_seq;
    }
}

/* The whole power below or above, as chance has it, so that the mean of what is sent is the level itself. */
static uint32_t pint_power(struct packet_net *network, double use)
{
    double base = network->config->pint_log_base;
    double level = ceil(use * PINT_UNIT);
    level = level < 1 ? 1 : level;
    double power = log(level) / log(base);
    double lower = pow(base, floor(power));
    double upper = pow(base, floor(power) + 1);
    double share = (level - lower) / (upper - lower) * 65536;
    bool up = (double)(c_random_next(&network->random) % 65536) < share && ceil(power) > floor(power);
    return (uint32_t)power + (up ? 1 : 0);
}

/* Moving average of a port's use over the longest round trip T: dt q / (B T^2) + last packet / (B T) + (1 - dt/T) u. */
static void pint_stamp(struct packet_net *network, struct packet_port *port, struct packet *packet)
{
    uint64_t rtt = network->max_rtt_ns > 0 ? network->max_rtt_ns : 1;
    uint64_t elapsed = network->net->queue->now - port->last_packet_ns;
    elapsed = elapsed > rtt ? rtt : elapsed;
    uint64_t queued = (port->low_bytes + port->high_bytes) / PINT_QUEUE_UNIT;
    uint64_t bytes_a_second = port->rate_bps / 8; /* whole, as in the reference */
    double log_line = log2((double)bytes_a_second) - log2(1e9);
    double log_rtt = log2((double)rtt);
    double use = 0;
    if (queued > 0) {
        double log_elapsed = rough_log(network, elapsed);
        use += exp2(log_elapsed + rough_log(network, queued) - log_line - 2 * log_rtt) * PINT_QUEUE_UNIT;
    }
    if (port->last_packet_size > 0) {
        use += exp2(rough_log(network, port->last_packet_size) - log_line - log_rtt);
    }
    if (rtt > elapsed && port->pint_u > 0) {
        double log_left = rough_log(network, rtt - elapsed);
        uint64_t before = (uint64_t)round(port->pint_u * PINT_USE_UNIT);
        use += exp2(log_left + rough_log(network, before) - log_rtt) / PINT_USE_UNIT;
    }
    port->pint_u = use;
    uint32_t power = pint_power(network, use);
    packet->telemetry = power > packet->telemetry ? power : packet->telemetry;
}

/* ---- telemetry at switches ---- */

static unsigned rate_code(uint64_t rate_bps)
{
    for (unsigned code = 0; code < sizeof coded_rates / sizeof coded_rates[0]; code++) {
        if (rate_bps == coded_rates[code]) {
            return code;
        }
    }
    return 0; /* whatever the rate, as in the reference */
}

void packet_cc_stamp(struct packet_net *network, uint32_t port_index, uint32_t packet_index)
{
    struct packet_port *port = &network->ports[port_index];
    struct packet *packet = &network->packets.at[packet_index];
    uint64_t now = network->net->queue->now;
    if (packet->kind == PACKET_DATA && network->config->cc_mode == PACKET_CC_HPCC) {
        struct packet_telemetry *telemetry = &network->telemetries.at[packet->telemetry];
        telemetry->hops[telemetry->count++ % PACKET_INT_HOPS] = (struct packet_hop){
            .time_ns = now & 0xffffff,
            .sent = port->sent_bytes / 128 & 0xfffff,
            .queued = (port->low_bytes + port->high_bytes) / 80 & 0x1ffff,
            .rate = rate_code(port->rate_bps) & 7,
        };
    } else if (packet->kind == PACKET_DATA && network->config->cc_mode == PACKET_CC_PINT) {
        pint_stamp(network, port, packet);
    }
    port->sent_bytes += packet->size;
    port->last_packet_size = packet->size;
    port->last_packet_ns = now;
}
