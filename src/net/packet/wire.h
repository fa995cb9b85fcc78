/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a packet is on the wire: bytes beside the payload, and how long bits take at a rate, with the reference's
 * rounding (spec packet A4, A5, B4). Pure functions of the configuration, shared by all networks on wired machines.
 */
#ifndef ORR_NET_PACKET_WIRE_H
#define ORR_NET_PACKET_WIRE_H

#include "net/cc/cc.h"

/* What the congestion control is told by. */
static inline uint32_t wire_telemetry_bytes(const struct packet_config *config)
{
    return cc_law_of(config->cc_mode)->header_bytes;
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

/* What a switch keeps free for each port: a reserve, and room for what is on the wire when it asks for a pause (spec
 * packet A8). */
enum { WIRE_PORT_RESERVE = 4096 };

static inline uint64_t wire_headroom_bytes(uint64_t rate_bps, uint64_t delay_ns, uint32_t headroom_factor)
{
    return rate_bps * delay_ns / 8 / UINT64_C(1000000000) * headroom_factor;
}

static inline uint32_t wire_pause_bytes(const struct packet_config *config)
{
    return config->link_header_bytes + 29;
}

/*
 * The reference divides bits by the rate to seconds with 64 bits after the point, cut off there, and rounds their
 * billionfold to the nearest. So an exact half comes out below itself and is rounded down, as is what lies above one by
 * less than the bits cut off can tell. Only so near a half are those bits worked out.
 */
static inline uint64_t wire_sending_ns(const struct packet_config *config, uint64_t bytes, uint64_t rate_bps)
{
    uint64_t bits = bytes * UINT64_C(8000000000);
    if (config->round_down) {
        return bits / rate_bps;
    }
    uint64_t rounded = (2 * bits + rate_bps) / (2 * rate_bps);
    uint64_t above_half = 2 * bits + rate_bps - rounded * 2 * rate_bps; /* in halves of a rate-th of a nanosecond */
    if (__builtin_expect(above_half > rate_bps >> 33, 1)) {
        return rounded;
    }
    unsigned __int128 seconds = ((unsigned __int128)(bytes * 8) << 64) / rate_bps;
    return (uint64_t)((seconds * 1000000000 + (UINT64_C(1) << 63)) >> 64);
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
