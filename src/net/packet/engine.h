/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the packet network: what a port, a queue pair and a packet are. Everything is a plain struct in a pool
 * or array named by a 32-bit index. A message is one queue pair; its way there and back is found once, when it starts,
 * so forwarding a packet is a look at the next port of a list.
 *
 * Layout of the work: ports.c moves packets over links and through switch queues, nic.c sends and receives at hosts,
 * turns.c says which pair of a host is next, cc.c asks the congestion control for rates, telemetry.c has what it is
 * told, buffer.h keeps a switch's account, engine.c opens and dispatches.
 */
#ifndef ORR_NET_PACKET_ENGINE_H
#define ORR_NET_PACKET_ENGINE_H

#include "base/number_map.h"
#include "base/pool.h"
#include "net/cc/cc.h"
#include "net/packet/c_random.h"
#include "net/packet/histogram.h"
#include "net/packet/mrg32k3a.h"
#include "net/packet/packet.h"
#include "net/source_ports.h"
#include "topo/routes.h"

enum packet_kind { PACKET_DATA, PACKET_ACK, PACKET_NACK, PACKET_CREDIT, PACKET_PAUSE, PACKET_RESUME };

/* What the fields of a packet hold; sizes are bounded by the configuration's payload. */
enum { PACKET_SIZE_MOST = 0xffffff, PACKET_KIND_MOST = 0x7f };

enum { PACKET_INT_HOPS = CC_HOPS, PACKET_CLASS = 3, PACKET_DATA_PORT = 100, PACKET_FIRST_PORT = 10000 };

/* One hop's record of in-band telemetry, as wide as it is on the wire (spec packet A8). */
struct packet_hop {
    uint64_t time_ns : 24;
    uint64_t sent : 20;   /* bytes / 128 */
    uint64_t queued : 17; /* bytes / 80 */
    uint64_t rate : 3;    /* which of the rates that have a code */
};

_Static_assert(sizeof(struct packet_hop) == 8, "a word");

struct packet_telemetry {
    struct packet_hop hops[PACKET_INT_HOPS];
    uint32_t count; /* hops crossed; the record used is count % PACKET_INT_HOPS */
    uint32_t next;  /* in the pool's free list */
};

/*
 * Half a cache line. What a link or a queue needs of a packet is in here; the rest is its pair's. A data packet's
 * payload is its size less the header (packet_payload).
 */
struct packet {
    uint64_t seq;     /* data: first byte; ACK and NACK: bytes expected so far */
    uint32_t pair;    /* queue pair; of a pause frame: the class it speaks of */
    uint32_t next;    /* in a queue, or next free */
    uint32_t came_by; /* port of the switch it arrived at */
    uint32_t way;     /* place in `ways` of the port it takes next */
    union {
        uint32_t telemetry; /* HPCC: in telemetries; PINT: the power; 0 = none */
        uint32_t sent_at;   /* TIMELY, Swift: when it was made, ns modulo 2^32 */
    };
    uint32_t size : 24; /* on the wire */
    uint32_t kind : 7;  /* enum packet_kind */
    uint32_t marked : 1;
};

_Static_assert(sizeof(struct packet) == 32, "two packets a cache line");

POOL_DEFINE(packets, struct packet, next);
POOL_DEFINE(telemetries, struct packet_telemetry, next);

struct packet_line {
    uint32_t head, tail;
};

/* A host port's queue pairs, served in turn (turns.c). */
struct packet_turns {
    uint32_t *pairs;
    uint64_t *open; /* bit a place: the pair may have something to send, as far as is known; 0: certainly not */
    uint64_t *over; /* bit a place: the pair is finished, and to be swept out */
    uint32_t count, capacity;
    uint32_t over_count;
    uint32_t last; /* place served last */
    uint32_t due;  /* a place once found not to be held up by its pace; a hint */
};

/*
 * Both ends of every link. What only switches or only hosts use lies side by side. The first 64 bytes are all that a
 * transmission looks at, the next 64 all that a switch's queue and account need; the rest is asked for seldom.
 */
struct packet_port {
    uint64_t rate_bps, delay_ns;
    uint64_t busy_ns, data_bytes; /* figures */
    uint32_t full_ns, ack_ns;     /* to send a full data packet, an acknowledgement; 0 = too long to be kept here */
    uint32_t node, peer;
    uint32_t error; /* in errors, 0 = loses nothing */
    uint8_t busy;
    uint8_t is_switch;
    uint8_t is_nvswitch; /* of a switch that neither pauses nor marks */
    uint8_t ends;        /* switch: messages may end and start here */
    uint8_t own_turn;    /* such a switch: what starts here goes before what passes, the next time */
    uint8_t paused;      /* bit per class: the peer asked */
    uint8_t peer_paused; /* switch: this port asked its peer */
    uint8_t shift;       /* switch: of the threshold */
    uint8_t has_timer;   /* host: a pacing timer is pending */
    uint8_t is_down;     /* its link is out of service */
    uint8_t grants;      /* host: credit is being given out */
    /* Switch: egress queues and ingress account of class 3; queue 0 holds pause frames. Host: `high` holds ACKs. */
    struct packet_line high, low;
    uint64_t high_bytes, low_bytes;
    uint64_t ingress_bytes, headroom_used, headroom;
    uint64_t queue_most;
    uint32_t index; /* among the node's own, from 1 */
    uint32_t mark;  /* in config->marks, or UINT32_MAX */
    /* In-band telemetry. */
    uint64_t sent_bytes;
    uint64_t last_packet_ns;
    double pint_u;
    uint32_t last_packet_size;
    /* Host. */
    uint32_t timer_stamp; /* which pacing timer is pending */
    uint64_t timer_at;
    struct packet_turns turns;
    /* Host: queue pairs to it that wait for credit, served in turn. */
    uint32_t *wanting;
    uint32_t wanting_count, wanting_capacity, last_granted;
    uint32_t nic_pauses; /* artificial ones its host made so far, at the host's first port */
    uint64_t next_nic_pause;
    /* Figures. */
    uint64_t mark_count, pause_count, drop_count, loss_count;
};

struct packet_switch {
    uint64_t shared_used;
    uint64_t total_headroom;
    uint64_t port_count;
};

/* In the order of use: what every turn looks at, what every packet and acknowledgement does, the rest. */
struct packet_pair {
    uint64_t sent, acked; /* snd_nxt, snd_una */
    uint64_t size;        /* bytes of the message */
    uint64_t window;      /* 0 = none */
    uint64_t rate_bps, max_rate_bps;
    uint64_t next_at;   /* earliest time of the next packet */
    uint64_t credit;    /* bytes that may be sent in all; UINT64_MAX where nobody gives credit */
    uint64_t limit;     /* bytes that may be on their way, as the control says; 0 = as many as the window */
    uint64_t expected;  /* at the receiver */
    uint64_t nacked;    /* expected when the last NACK was sent, + 1; 0 = none */
    uint32_t port;      /* of the source host */
    uint32_t place;     /* among the port's turns */
    uint32_t way;       /* in ways: ports to take, there and back */
    uint32_t last_size; /* of the last packet sent, on the wire */
    uint32_t holders;   /* packets on their way, and the port's list; the entry is free when none is left */
    uint8_t finished;
    uint8_t wants;    /* stands in a port's list of those that want credit */
    uint8_t watched;  /* a timeout is pending */
    uint8_t timeouts; /* in a row, without progress */
    uint64_t nack_at; /* no further NACK before this time */
    uint64_t granted; /* credit as the receiver knows it */
    uint64_t start_ns;
    uint64_t base_rtt_ns;
    uint64_t *early; /* receiver, packets in any order: a bit each that came before its turn; or NULL */
    uint32_t message;
    uint32_t src, dst;
    uint32_t stamp; /* of timers: older ones are void */
    uint16_t hops_there, hops_back;
    uint16_t source_port;
    uint8_t waits, is_due; /* for the one before it of its connection; and could start */
    uint8_t has_left;      /* all of it has been sent, at least once */
    uint32_t connection;   /* 0 = none */
    uint32_t follower;     /* the next of its connection, which waits for this one to leave; 0 = none */
    uint32_t next;         /* free list */
};

POOL_DEFINE(pairs, struct packet_pair, next);

/* Ways on from a node to a host: ports, and whose turn it is. */
struct packet_choice {
    uint32_t start, count; /* in choice_ports */
    uint32_t turn;
    bool known;
};

/* A message that never starts. */
struct packet_unsent {
    uint64_t size;
    uint32_t src, dst;
};

enum { PACKET_UNSENT_KEPT = 16 };

/* After so many timeouts in a row a queue pair is given up; each waits twice as long as the one before, up to a
 * thousandfold. */
enum { PACKET_TIMEOUTS_MOST = 16, PACKET_TIMEOUT_DOUBLINGS = 10 };

/*
 * Two rules end a livelock, where packets are sent and sent again and next to nothing gets through. A period is a
 * timeout, a NACK's interval and a packet at the lowest rate.
 * - No progress for so many periods, and so many data packets sent meanwhile: who waits quietly sends fewer.
 * - A span of so many data packets, over as many periods, of which fewer than one in so many made progress.
 */
enum {
    PACKET_LIVELOCK_PERIODS = 32,
    PACKET_LIVELOCK_SENT = 1 << 17,
    PACKET_LIVELOCK_SPAN = 1 << 24,
    PACKET_LIVELOCK_SHARE = 1024
};

/* One model of losses, shared by the ports that point at it. */
struct packet_error {
    struct mrg32k3a random;
    double rate;
};

struct packet_net {
    struct net *net;
    const struct packet_machine *machine;
    const struct packet_config *config;
    const struct topo_graph *graph;
    struct topo_routes routes;
    struct packet_port *ports;
    struct packet_switch *switches; /* by node; hosts' are unused */
    struct packet_error *errors;    /* from 1 */
    uint32_t error_count;
    struct packets packets;
    uint32_t in_flight_most; /* the highest of its indices used: the pool gives the lowest that was never used last */
    struct telemetries telemetries;
    struct pairs pairs;
    uint32_t *starting; /* newest_first: pairs to be made at this time */
    uint32_t starting_count, starting_capacity;
    uint32_t *ways;    /* ports, one way after the other; reused when a pair ends */
    uint32_t way_room; /* ports a pair may take: there and back */
    uint32_t way_capacity;
    struct source_ports next_ports;
    struct number_map last; /* message of a connection, by connection and ends */
    const struct cc_law *law;
    unsigned char *cc;  /* by pair: what its congestion control keeps (cc.h) */
    uint32_t cc_stride; /* bytes a pair; 0 = it keeps nothing */
    uint32_t cc_capacity;
    struct mrg32k3a_streams streams; /* of marking decisions and pause frames */
    struct c_random random;          /* PINT */
    uint64_t max_rtt_ns, max_bdp;
    uint32_t data_header; /* wire bytes beside the payload */
    uint32_t full_size;   /* of a data packet with a whole payload */
    uint32_t ack_size, pause_size;
    /* Ways are looked up at every hop where they may change under a message, or differ from packet to packet. */
    bool hop_by_hop;
    bool stamps;                    /* switches write telemetry */
    bool any_order;                 /* packets of a message may overtake each other */
    struct packet_choice **choices; /* by node, then by host; NULL until asked for */
    uint32_t *choice_ports;
    uint32_t choice_count, choice_capacity;
    struct packet_unsent unsent[PACKET_UNSENT_KEPT]; /* the first of them */
    uint64_t unroutable;                             /* messages between hosts that no way joins */
    uint64_t too_long;                               /* messages the reference's sizes cannot hold */
    struct packet_counts counts;
    struct packet_forward *forward; /* forward.h; NULL where it is off */
    uint64_t started;               /* messages */
    uint32_t forward_anchor;        /* the port whose events it watches */
    uint32_t forward_wait;          /* events until it looks around */
    uint32_t timers_in_row;         /* control timers and samples since anything else happened here */
    bool at_rest;                   /* nothing but those is to come: they end too */
    /* Progress is payload acknowledged for the first time; what is sent for long with little of it is a livelock. */
    uint64_t progress_ns;                    /* when there was some, or a message started */
    uint64_t sent_since;                     /* data packets since then */
    uint64_t span_ns, span_sent, span_bytes; /* of a span of packets: its start, how many so far, and their progress */
    bool is_livelocked;                      /* no event does anything any more */
    struct histogram_coarse *queues;         /* by port: what packets found before them in a switch's queue */
    struct histogram_fine durations, slowdowns; /* of messages, ns and thousandths */
};

/* ---- route.c ---- */

bool packet_routes_open(struct packet_net *network);
void packet_routes_close(struct packet_net *network);
/* The port of `node` that this packet leaves by; UINT32_MAX when no way is left. */
uint32_t packet_route(struct packet_net *network, uint32_t node, const struct packet *packet);
/* The link change of this number happens. */
void packet_link_change(struct packet_net *network, uint32_t change);
/* From the next packet on. */
void packet_port_set_rate(struct packet_net *network, struct packet_port *port, uint64_t rate_bps);

/* ---- credit.c ---- */

/* A data packet of this pair has come to the port: what is still to come wants credit. */
void packet_credit_wanted(struct packet_net *network, uint32_t port, uint32_t pair);
/* Time to give the next one. */
void packet_credit_give(struct packet_net *network, uint32_t port);

/* ---- ports.c ---- */

/* Bits on the wire at this rate, as the reference rounds. */
uint64_t packet_sending_ns(const struct packet_net *network, uint64_t bytes, uint64_t rate_bps);

/* The same at the port's own rate; the two usual sizes are known beforehand. */
static inline uint64_t packet_port_sending_ns(const struct packet_net *network, const struct packet_port *port,
                                              uint32_t bytes)
{
    uint64_t known = bytes == network->full_size ? port->full_ns : bytes == network->ack_size ? port->ack_ns : 0;
    return known != 0 ? known : packet_sending_ns(network, bytes, port->rate_bps);
}

/* Starts a packet on an idle port. */
void packet_transmit(struct packet_net *network, uint32_t port, uint32_t packet);
/* The last bit has left. */
void packet_port_free(struct packet_net *network, uint32_t port);
/* A packet has arrived at this port. */
void packet_receive(struct packet_net *network, uint32_t port, uint32_t packet);
/* The longest time of a pause whose end was lost is over. */
void packet_pause_expired(struct packet_net *network, uint32_t port);
/* Sends what may be sent, when idle. */
void packet_port_go(struct packet_net *network, uint32_t port);

static inline void packet_line_add(struct packet_net *network, struct packet_line *line, uint32_t packet)
{
    network->packets.at[packet].next = 0;
    if (line->head == 0) {
        line->head = packet;
    } else {
        network->packets.at[line->tail].next = packet;
    }
    line->tail = packet;
}

static inline uint32_t packet_line_take(struct packet_net *network, struct packet_line *line)
{
    uint32_t packet = line->head;
    line->head = network->packets.at[packet].next;
    __builtin_prefetch(&network->packets.at[line->head]); /* it has waited long; its turn is next */
    return packet;
}

/* Bytes of the message in a data packet. */
static inline uint32_t packet_payload(const struct packet_net *network, const struct packet *data)
{
    return data->size - network->data_header;
}

/* A zeroed packet; 0 when memory is refused (the queue's `failed` is then set). */
uint32_t packet_new(struct packet_net *network);
/* What the congestion control wants every data packet to carry from its source. */
void packet_tag(struct packet_net *network, uint32_t packet);
void packet_drop(struct packet_net *network, uint32_t packet);

/* Nothing of the pair is in the network any more, and perhaps nobody holds it. */
void packet_pair_alone(struct packet_net *network, uint32_t pair);

/* One holder less. */
static inline void packet_pair_release(struct packet_net *network, uint32_t pair)
{
    if (--network->pairs.at[pair].holders <= 2) {
        packet_pair_alone(network, pair);
    }
}

/* ---- turns.c ---- */

/* The pair joins those of its port, last in turn; false when memory is refused. */
bool packet_turns_add(struct packet_net *network, uint32_t pair);
/* It leaves them for another port. */
void packet_turns_remove(struct packet_net *network, uint32_t pair);
void packet_turns_free(struct packet_net *network, struct packet_turns *turns);
/* The pair that sends now, whose turn it then was; 0 when none may. Finished pairs that were passed over are swept. */
uint32_t packet_turns_next(struct packet_net *network, struct packet_port *port);
/* When the first pair's pace lets it send; UINT64_MAX when there is none, or when one's already would and something
 * else holds it up, whose end will wake the port. */
uint64_t packet_turns_wake_ns(struct packet_net *network, struct packet_port *port);

/* Something has changed that may let the pair send: it is looked at when its turn comes. Must follow every such change;
 * harmless when nothing has changed, or when the pair was swept out since. */
static inline void packet_turns_reopen(struct packet_net *network, const struct packet_pair *pair)
{
    network->ports[pair->port].turns.open[pair->place / 64] |= UINT64_C(1) << pair->place % 64;
}

/* The pair is finished. */
static inline void packet_turns_end(struct packet_net *network, const struct packet_pair *pair)
{
    struct packet_turns *turns = &network->ports[pair->port].turns;
    turns->over[pair->place / 64] |= UINT64_C(1) << pair->place % 64;
    turns->over_count++;
}

static inline uint64_t packet_bytes_left(const struct packet_pair *pair)
{
    return pair->size >= pair->sent ? pair->size - pair->sent : 0;
}

/* ---- explain.c ---- */

/* net_ops.explain */
uint32_t packet_explain(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room);

/* ---- figures.c ---- */

void packet_flow_count(struct packet_net *network, uint64_t duration_ns, uint64_t standalone_ns);
/* One look at all queues, and the next in 100 ns. */
void packet_sample(struct packet_net *network);
/* net_ops.figures */
bool packet_figures(const struct net *net, struct arena *arena, struct net_figures *figures);

/* ---- engine.c ---- */

/* When a link next changes, which may open a way; UINT64_MAX when none will. */
uint64_t packet_next_change(const struct packet_net *network);

/* ---- nic.c ---- */

void packet_pair_start(struct packet_net *network, uint32_t pair);
/* All of it has been sent, or never will be: the next of its connection may go. */
void packet_pair_left(struct packet_net *network, uint32_t pair);
void packet_pair_timeout(struct packet_net *network, uint32_t pair, uint32_t stamp);
/* What the network waits for progress of this pair. */
uint64_t packet_patience_ns(const struct packet_net *network, const struct packet_pair *pair);
void packet_nic_go(struct packet_net *network, uint32_t port);
void packet_nic_receive(struct packet_net *network, uint32_t port, uint32_t packet);
void packet_nic_resume(struct packet_net *network, uint32_t port);
void packet_early_free(struct packet_net *network, struct packet_pair *pair);
/* Sends a packet of the receiver's from the host that got it. */
void packet_nic_answer(struct packet_net *network, uint32_t packet);
void packet_nic_timer(struct packet_net *network, uint32_t port, uint32_t stamp);
/* The rate's new value, with the next packet's time moved accordingly (spec packet A6). */
void packet_pair_change_rate(struct packet_net *network, struct packet_pair *pair, uint64_t rate_bps);

/* ---- cc.c ---- */

void packet_cc_open(struct packet_net *network);
void packet_cc_start(struct packet_net *network, uint32_t pair);
void packet_cc_free(struct packet_net *network);
void packet_cc_end(struct packet_net *network, uint32_t pair);
/* A second timeout in a row: nothing the control could do. */
void packet_cc_rest(struct packet_net *network, uint32_t pair);
/* An ACK or NACK for this pair; `packet` is still whole. */
void packet_cc_ack(struct packet_net *network, uint32_t pair, uint32_t packet);
void packet_cc_timer(struct packet_net *network, uint32_t pair, uint32_t what);

/* ---- telemetry.c ---- */

/* At a switch's egress, once the packet has left the queue: writes its telemetry. */
void packet_cc_stamp(struct packet_net *network, uint32_t port, uint32_t packet);

#endif
