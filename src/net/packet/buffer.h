/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch's buffer account (spec packet A8): what each ingress port holds of the shared buffer, when its peer must
 * pause and when it may go on. All sums are 32 bits wide and wrap as the reference's do.
 */
#ifndef ORR_NET_PACKET_BUFFER_H
#define ORR_NET_PACKET_BUFFER_H

#include "net/packet/engine.h"
#include "net/packet/wire.h"

enum { BUFFER_RESERVE = WIRE_PORT_RESERVE, BUFFER_RESUME_OFFSET = 3072 };

static inline struct packet_switch *buffer_of(struct packet_net *network, const struct packet_port *port)
{
    return &network->switches[port->node];
}

static inline uint32_t buffer_threshold(const struct packet_net *network, const struct packet_switch *buffer,
                                        const struct packet_port *port)
{
    uint32_t left = (uint32_t)(network->config->buffer_bytes - buffer->total_headroom -
                               buffer->port_count * BUFFER_RESERVE - buffer->shared_used);
    return left >> port->shift;
}

static inline uint64_t buffer_shared(const struct packet_port *port)
{
    return port->ingress_bytes > BUFFER_RESERVE ? port->ingress_bytes - BUFFER_RESERVE : 0;
}

/* Whether a packet of this size may enter through the port. */
static inline bool buffer_admits(struct packet_net *network, const struct packet_port *port, uint64_t size)
{
    uint32_t threshold = buffer_threshold(network, buffer_of(network, port), port);
    return size + port->headroom_used <= port->headroom || size + buffer_shared(port) <= threshold;
}

static inline void buffer_add(struct packet_net *network, struct packet_port *port, uint64_t size)
{
    struct packet_switch *buffer = buffer_of(network, port);
    uint64_t held = port->ingress_bytes + size;
    if (held <= BUFFER_RESERVE) {
        port->ingress_bytes = held;
        return;
    }
    uint64_t over = held - BUFFER_RESERVE;
    if (over > buffer_threshold(network, buffer, port)) {
        port->headroom_used += size;
        return;
    }
    port->ingress_bytes = held;
    buffer->shared_used += size < over ? size : over;
}

static inline void buffer_remove(struct packet_net *network, struct packet_port *port, uint64_t size)
{
    struct packet_switch *buffer = buffer_of(network, port);
    uint64_t from_headroom = size < port->headroom_used ? size : port->headroom_used;
    uint64_t rest = size - from_headroom;
    uint64_t over = buffer_shared(port);
    buffer->shared_used -= rest < over ? rest : over;
    port->headroom_used -= from_headroom;
    port->ingress_bytes -= rest;
}

static inline bool buffer_must_pause(struct packet_net *network, const struct packet_port *port)
{
    return !port->peer_paused && (port->headroom_used > 0 ||
                                  buffer_shared(port) >= buffer_threshold(network, buffer_of(network, port), port));
}

static inline bool buffer_may_resume(struct packet_net *network, const struct packet_port *port)
{
    uint64_t shared = buffer_shared(port);
    return port->peer_paused && port->headroom_used == 0 &&
           (shared == 0 || shared + BUFFER_RESUME_OFFSET <= buffer_threshold(network, buffer_of(network, port), port));
}

#endif
