/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A congestion control is one law in one file: how the rate of one sender follows marks, telemetry or round trips (spec
 * packet A13). The networks on wired machines call the same functions of it: the packet network with every
 * acknowledgement, the flow network where messages contend, fast-forward when it compares and moves states. A law knows
 * its own numbers, the sender's and the configuration; nothing of packets, ports, queues and events.
 *
 * Arithmetic is in doubles truncated to whole bits a second, in the order of the reference, since the last digit
 * decides nanoseconds. To add a law: its file, its row in cc.c, and its number and name (net/packet_config.h,
 * orrery.h).
 */
#ifndef ORR_NET_CC_CC_H
#define ORR_NET_CC_CC_H

#include <stddef.h>
#include <string.h>

#include "base/notes.h"
#include "net/packet_config.h"

/* Hops that telemetry has room for; timers a law may have; bytes of a law's own numbers, at most. */
enum { CC_HOPS = 5, CC_TIMERS = 3, CC_STATE_MOST = 304 };

/* What a switch tells of the queue a packet has left (spec packet A8), in the units and widths it has on the wire. */
struct cc_hop {
    uint32_t time_ns;    /* modulo 2^24 */
    uint32_t sent_bytes; /* until then, in whole 128s, modulo 2^27 */
    uint32_t queued_bytes;
    uint64_t rate_bps;
};

enum { CC_HOP_TIME = 0xffffff, CC_HOP_SENT = 0x7ffffff, CC_RATE_CODES = 7 };

/* The rates that have a code on the wire, by code; bits a second. Any other is told as the first, as in the reference.
 */
extern const uint64_t cc_coded_rates[CC_RATE_CODES];
unsigned cc_rate_code(uint64_t rate_bps);

/* The acknowledgement of one packet or of several that were sent together. */
struct cc_ack {
    uint64_t now_ns, rtt_ns;
    uint64_t acked; /* bytes, with these */
    uint32_t marks;
    uint32_t hop_count; /* more than CC_HOPS: the way was too long to be told */
    const struct cc_hop *hops;
    double use; /* of the fullest link, where one number is all that is told */
};

/* A sender. Filled in by the network before each call; it takes over what the law has changed. */
struct cc_sender {
    uint64_t sent;   /* payload bytes, so far */
    uint64_t window; /* of them on their way; 0 = any number */
    uint64_t base_rtt_ns;
    uint64_t line_bps;
    /* For the law to change. */
    uint64_t rate_bps;
    uint64_t limit;               /* bytes on their way, beside the window; 0 = any number */
    uint64_t timer_ns[CC_TIMERS]; /* from now; 0 = as it was. Set together, the lower number comes first */
    bool paces_anew;              /* the rate counts for the packet sent last too, and moves the next one */
};

/* How a state is told: as words that are the same whenever the law will go on in the same way. */
struct cc_teller {
    void (*word)(void *context, uint64_t word);
    void *context;
    uint64_t now_ns, acked;
    uint32_t hop_count;       /* that write telemetry on the sender's way */
    const uint32_t *hop_sent; /* by hop: sent_bytes as telemetry would tell now */
};

/* A period that recurs is skipped so many times. */
struct cc_move {
    uint64_t times, by_ns, bytes; /* altogether; bytes are the sender's, acknowledged */
    uint64_t now_ns;              /* before */
    const uint32_t *hop_bytes;    /* by hop, altogether, modulo 2^27 */
    double drift;                 /* of the state at the period's beginning (cc_law.drift) */
};

/* What a law is told by. */
enum cc_needs {
    CC_MARKS = 1 << 0,
    CC_ROUND_TRIPS = 1 << 1,
    CC_TELEMETRY = 1 << 2, /* a record of every hop */
    CC_ONE_NUMBER = 1 << 3 /* of all hops, which chance rounds */
};

struct cc_law {
    const char *name;
    uint32_t number;      /* of CC_MODE, enum packet_cc */
    bool in_files;        /* the reference's files have the number */
    bool is_fluid;        /* the flow network lets its messages contend; else it counts for its headers alone */
    bool is_by_receiver;  /* who gives out credit: net/packet/credit.c */
    bool paces_anew;      /* see cc_sender */
    bool by_marks_alone;  /* an acknowledgement without marks changes nothing */
    uint8_t needs;        /* enum cc_needs */
    uint8_t header_bytes; /* that what it is told by adds to data and acknowledgements */
    uint32_t memory_ns;   /* fast-forward: what is longer ago is all the same to it; 0 = it does not look back */
    uint32_t state_bytes; /* 0: it has no numbers, and all functions are NULL */
    /* May be NULL. Refuses what it cannot go by, and notes what it takes in another way than the reference; `name` is
     * the configuration's, for messages. */
    enum orr_status (*check)(const struct packet_config *config, const char *name, struct notes *notes,
                             struct orr_error *err);
    /* The state is all 0. */
    void (*start)(void *state, const struct packet_config *config, struct cc_sender *sender);
    void (*acked)(void *state, const struct packet_config *config, struct cc_sender *sender, const struct cc_ack *ack);
    /* May be NULL, as all that follow. A timer has run out. */
    void (*timer)(void *state, const struct packet_config *config, struct cc_sender *sender, uint32_t which);
    /* The sender gets no answer: timers are to stop. False when none was running. */
    bool (*rest)(void *state);
    void (*tell)(const void *state, const struct cc_teller *teller);
    /* A number that goes on changing where nothing looks at it, and is not told. */
    double (*drift)(const void *state);
    /* Whether from that number on it went as it would go again, if there were marks meanwhile or not. */
    bool (*drifts_evenly)(const void *state, const struct packet_config *config, double drift, bool marked);
    void (*move)(void *state, const struct packet_config *config, const struct cc_move *move);
};

extern const struct cc_law cc_dcqcn, cc_hpcc, cc_pint, cc_timely, cc_dctcp, cc_swift;

/* All of them, one after the other; NULL beyond the last. */
const struct cc_law *cc_law_at(size_t index);
/* NULL: there is none of this name. */
const struct cc_law *cc_law_called(const char *name);
/* Any number that no law has is a fixed window at line rate. */
const struct cc_law *cc_law_of(uint32_t number);
/* Whether a file may have this number without a word. */
bool cc_is_in_files(uint32_t number);
/* Whether the law, so configured, can leave a link unused at all. */
bool cc_matters(const struct packet_config *config);

/* Whether it is told by one of these. */
static inline bool cc_needs(const struct packet_config *config, unsigned what)
{
    return (cc_law_of(config->cc_mode)->needs & what) != 0;
}

/* ---- for laws ---- */

static inline uint64_t cc_scaled(uint64_t rate_bps, double factor)
{
    return (uint64_t)((double)rate_bps * factor);
}

/* Never 0: that would be no pace at all. */
static inline uint64_t cc_at_least(const struct packet_config *config, uint64_t rate_bps)
{
    uint64_t least = config->min_rate_bps == 0 ? 1 : config->min_rate_bps;
    return rate_bps < least ? least : rate_bps;
}

static inline uint64_t cc_at_most(const struct cc_sender *sender, uint64_t rate_bps)
{
    return rate_bps > sender->line_bps ? sender->line_bps : rate_bps;
}

/* A timer of no time would never let time go on. */
static inline uint64_t cc_timer_ns(double us)
{
    uint64_t ns = us < 1e12 ? (uint64_t)(us * 1000) : UINT64_C(1000000000000000);
    return ns == 0 ? 1 : ns;
}

static inline void cc_tell(const struct cc_teller *teller, uint64_t word)
{
    teller->word(teller->context, word);
}

static inline void cc_tell_real(const struct cc_teller *teller, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    cc_tell(teller, word);
}

/* Of a sequence number; 0 means none. */
static inline void cc_tell_seq(const struct cc_teller *teller, uint64_t seq)
{
    cc_tell(teller, seq == 0 ? UINT64_MAX : seq - teller->acked);
}

static inline void cc_move_seq(uint64_t *seq, const struct cc_move *move)
{
    *seq += *seq == 0 ? 0 : move->bytes;
}

#endif
