/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether fluid is what a job is: while its messages flow, the judge sees where they meet in a way that only packets
 * can tell, for how long, and what packets would have cost. When the run is over, or has become dearer than packets, it
 * says which network's answer is to be had (docs/fidelity.md has the test in words).
 *
 * Owned by the flow network (flow.c), which tells it of each message that starts, is acknowledged and ends. Knows
 * shares, ways and the configuration; changes nothing of them.
 */
#ifndef ORR_NET_FLOW_JUDGE_H
#define ORR_NET_FLOW_JUDGE_H

#include "net/net.h"

struct flow_net;

/* What is known of a message beside its way, when it is planned. */
struct judge_facts {
    double packets, transmissions; /* the latter with acknowledgements, one for each link */
    bool in_rounds;                /* it is still sending when its first acknowledgement is back */
    bool is_tight;                 /* acknowledgements that wait behind data on their way hold it up */
    bool is_short;                 /* most of its time is not its packets', or a part that counts */
};

struct flow_judge {
    bool is_bounded;   /* jobs of very many packets stay fluid */
    bool is_silent;    /* the job is known to be one of those: shares it is, come what may */
    bool only_packets; /* can tell what this machine does */
    bool is_reacting;  /* congestion control changes rates though nothing waits */
    uint32_t *seen;    /* by port: number of the last look that met it */
    uint32_t looks;
    uint8_t *has_queue;            /* by port: more can come to it than it carries, now */
    uint32_t queues;               /* of them */
    uint32_t held;                 /* messages whose control or window the fluid does not know */
    uint32_t tight, shorts;        /* messages under way that are */
    uint64_t since_ns;             /* there is one or the other */
    uint64_t met_ns;               /* there was, all together */
    double packets, transmissions; /* what packets would have cost */
    double work;                   /* what shares have */
};

/* NULL when memory is refused. */
struct flow_judge *judge_open(struct flow_net *network, bool is_bounded);
void judge_close(struct flow_net *network);

/* The first message is about to be sent. False: the job has so many packets that no judgement is needed. */
bool judge_begins(struct flow_net *network);
void judge_sent(struct flow_net *network, uint32_t flow, const struct judge_facts *facts);
void judge_starts(struct flow_net *network, uint32_t flow);
void judge_acks_begin(struct flow_net *network, uint32_t flow);
void judge_ends(struct flow_net *network, uint32_t flow);
/* Shares were settled: is it worth while to go on? If not, the run ends here. */
void judge_settled(struct flow_net *network);

/* net_ops.instead, .doubtful, .takes_twins */
const struct net_ops *judge_instead(const struct net *net);
bool judge_doubtful(const struct net *net);
bool judge_takes_twins(const struct net *net);

#endif
