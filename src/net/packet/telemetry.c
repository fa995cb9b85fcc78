/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What switches write into packets for HPCC, a record of every hop, and for PINT, one number a byte or two wide (spec
 * packet A8), and what acknowledgements tell of it. PINT rounds by chance, and the reference's chance is the C
 * library's rand(): c_random.h gives the same numbers on every machine.
 */
#include <math.h>

#include "net/packet/cc.h"

/* Logarithms as a switch has them: 16 significant bits of the number, the rest decided by chance, and 15 bits after the
 * point. */
enum { PINT_SIGNIFICANT = 16, PINT_FRACTION = 1 << 15, PINT_UNIT = 512, PINT_QUEUE_UNIT = 256, PINT_USE_UNIT = 8192 };

/* ---- what acknowledgements tell ---- */

void packet_cc_hops(const struct packet_net *network, const struct packet *ack, struct cc_hop hops[CC_HOPS],
                    struct cc_ack *told)
{
    const struct packet_telemetry *seen = &network->telemetries.at[ack->telemetry];
    told->hop_count = seen->count;
    told->hops = hops;
    for (uint32_t i = 0; i < seen->count && i < CC_HOPS; i++) {
        const struct packet_hop *hop = &seen->hops[i];
        hops[i] = (struct cc_hop){.time_ns = (uint32_t)hop->time_ns,
                                  .sent_bytes = (uint32_t)hop->sent * 128,
                                  .queued_bytes = (uint32_t)hop->queued * 80,
                                  .rate_bps = cc_coded_rates[hop->rate]};
    }
}

bool packet_cc_number(struct packet_net *network, const struct packet *ack, struct cc_ack *told)
{
    if ((double)(c_random_next(&network->random) % 65536) >= floor(65536 * network->config->pint_prob)) {
        return false;
    }
    told->use = pow(network->config->pint_log_base, (double)ack->telemetry) / PINT_UNIT;
    return true;
}

/* ---- one number instead of records ---- */

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

void packet_cc_stamp(struct packet_net *network, uint32_t port_index, uint32_t packet_index)
{
    struct packet_port *port = &network->ports[port_index];
    struct packet *packet = &network->packets.at[packet_index];
    uint64_t now = network->net->queue->now;
    if (packet->kind == PACKET_DATA && (network->law->needs & CC_TELEMETRY) != 0) {
        struct packet_telemetry *telemetry = &network->telemetries.at[packet->telemetry];
        telemetry->hops[telemetry->count++ % PACKET_INT_HOPS] = (struct packet_hop){
            .time_ns = now & 0xffffff,
            .sent = port->sent_bytes / 128 & 0xfffff,
            .queued = (port->low_bytes + port->high_bytes) / 80 & 0x1ffff,
            .rate = cc_rate_code(port->rate_bps) & 7,
        };
    } else if (packet->kind == PACKET_DATA && (network->law->needs & CC_ONE_NUMBER) != 0) {
        pint_stamp(network, port, packet);
    }
    port->sent_bytes += packet->size;
    port->last_packet_size = packet->size;
    port->last_packet_ns = now;
}
