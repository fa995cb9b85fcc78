/* SPDX-License-Identifier: Apache-2.0 */
/* Only the lowest dimension in which the two ranks differ counts: ASTRA-sim's rule, which makes a message that changes
 * several coordinates too cheap. Collectives never send such messages. */
#include "base/ticks.h"
#include "net/net.h"

static uint32_t hops_between(const struct topo_dim *dim, uint32_t src, uint32_t dst)
{
    switch (dim->kind) {
    case TOPO_SWITCH:
        return 2;
    case TOPO_RING: {
        uint32_t clockwise = dst >= src ? dst - src : dst + dim->size - src;
        return clockwise <= dim->size - clockwise ? clockwise : dim->size - clockwise;
    }
    case TOPO_FULLY_CONNECTED:
        break;
    }
    return 1;
}

static struct net_path unaware_path(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    uint32_t d = 0;
    uint32_t from = 0;
    uint32_t to = 0;
    bool at_switch = src >= net->dims->ranks || dst >= net->dims->ranks;
    for (; d < net->dims->count && !at_switch; d++) {
        from = topo_coordinate(&net->dims->dim[d], src);
        to = topo_coordinate(&net->dims->dim[d], dst);
        if (from != to) {
            break;
        }
    }
    const struct topo_dim *dim = &net->dims->dim[d];
    uint32_t hops = at_switch ? 1 : hops_between(dim, from, to);
    double rate = dim->bytes_per_ns;
    if (net->dims->link_factors != NULL) {
        rate *= topo_link_factor(net->dims, src, dst);
    }
    double serialise = (double)bytes / rate;
    return (struct net_path){
        .delay_ns = ticks_from_double((double)hops * dim->latency_ns + serialise),
        .serialise_ns = ticks_from_double(serialise),
        .hops = hops,
        .dim = d,
    };
}

const struct net_ops net_unaware = {.name = "congestion-unaware", .fixed_path = unaware_path};
