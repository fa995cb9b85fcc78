/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What messages leave in a flow network's figures, taken out of one network and added to another, as often as messages
 * like them were sent there: over ports that are like theirs, place by place. Owned by whoever took it.
 */
#ifndef ORR_NET_FLOW_RECORD_H
#define ORR_NET_FLOW_RECORD_H

#include "net/flow/flow.h"

/* So many values of a class (net/packet/histogram.h). */
struct flow_record_class {
    uint32_t class, count;
};

struct flow_record_classes {
    struct flow_record_class *at;
    uint32_t count;
    uint64_t most; /* the largest value */
};

struct flow_record {
    struct net_carried *carried; /* by place */
    uint32_t places;
    struct flow_record_classes durations, slowdowns;
    double moved_bytes;
};

/* All that the network's figures hold of messages over these ports; it has none of it from then on. False: no memory.
 */
ORR_MUST_CHECK bool flow_record_take(struct net *net, const uint32_t *ports, uint32_t places,
                                     struct flow_record *record);
void flow_record_add(struct net *net, const uint32_t *ports, const struct flow_record *record);
void flow_record_free(struct flow_record *record, struct mem *mem);
/* The messages over these ports of `from` have met in ways that fluid only estimates: so has this network, then. */
void flow_record_doubt(struct net *net, const struct net *from);

#endif
