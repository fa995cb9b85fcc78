/*
 * What a packet is on the wire: bytes beside the payload, and how long bits take at a rate, with the reference's
 * rounding (spec packet A4, A5, B4). Pure functions of the configuration, shared by all networks on wired machines.
 */
#ifndef ORR_NET_PACKET_WIRE_H
#define ORR_NET_PACKET_WIRE_H

#include "topo/packet_config.h"

static inline uint32_t wire_telemetry_bytes(const struct packet_config *config)
{
    return config->cc_mode == PACKET_CC_HPCC     ? 42
           : config->cc_mode == PACKET_CC_TIMELY ? 8
           : config->cc_mode == PACKET_CC_SWIFT  ? 8
           : config->cc_mode == PACKET_CC_PINT   ? 2
                                                 : 0;
}

/* Of a data packet, beside its payload. */
static inline uint32_t wire_header_bytes(const struct packet_config *config)
{
    return config->link_header_bytes + 34 + config->long_seq_bytes + wire_telemetry_bytes(config);
}

static inline uint32_t wire_ack_bytes(const struct packet_config *config)
{
    uint32_t ack = 12 + config->long_seq_bytes + wire_telemetry_bytes(config);
    return config->link_header_bytes + 20 + (ack > 26 ? ack : 26);
}

static inline uint32_t wire_pause_bytes(const struct packet_config *config)
{
    return config->link_header_bytes + 29;
}

static inline uint64_t wire_sending_ns(const struct packet_config *config, uint64_t bytes, uint64_t rate_bps)
{
    uint64_t bits = bytes * UINT64_C(8000000000);
    return config->round_down ? bits / rate_bps : (2 * bits + rate_bps) / (2 * rate_bps);
}

/* What fct.txt calls standalone (spec packet A12): nominal headers of 48 bytes, though fewer are sent. */
static inline uint64_t wire_standalone_ns(const struct packet_config *config, uint64_t round_trip_ns, uint64_t rate_bps,
                                          uint64_t bytes)
{
    uint64_t packets = (bytes + config->payload_bytes - 1) / config->payload_bytes;
    unsigned __int128 bits =
        (unsigned __int128)(bytes + packets * (48 + config->long_seq_bytes)) * UINT64_C(8000000000);
    return round_trip_ns + (uint64_t)(bits / rate_bps);
}

#endif
