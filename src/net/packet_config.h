/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the hosts and switches of a wired machine behave: packet sizes, windows, congestion control, marking, buffers.
 * Plain values with the names and defaults of the reference's network configuration (spec packet A3), filled by a
 * reader of such files and used by the networks of wired machines. No simulation here.
 */
#ifndef ORR_NET_PACKET_CONFIG_H
#define ORR_NET_PACKET_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum packet_cc {
    PACKET_CC_NONE = 12, /* and any other number: a fixed window at line rate */
    PACKET_CC_DCQCN = 1,
    PACKET_CC_HPCC = 3,
    PACKET_CC_TIMELY = 7,
    PACKET_CC_DCTCP = 8,
    PACKET_CC_PINT = 10,
    /* Not in the reference; numbers no file has. */
    PACKET_CC_SWIFT = 1001,
    PACKET_CC_CREDIT = 1002,
};

/* Which of several equal ways a packet takes: that of its message's hash, the next in turn, or the one whose queue is
 * shortest. */
enum packet_routing { PACKET_ROUTING_ECMP, PACKET_ROUTING_SPRAY, PACKET_ROUTING_ADAPTIVE };

/* A link taken out of service, put back, or made slower. */
struct packet_link_change {
    uint64_t time_ns;
    uint32_t link; /* of the graph */
    bool down;
    double factor; /* of its rate, where it is not; 0: all of it */
};

/* Marking of one egress rate: bytes and a probability. */
struct packet_mark {
    uint64_t rate_bps;
    double kmin_bytes, kmax_bytes, pmax;
};

enum { PACKET_MARKS_MOST = 64 };

/* The keys of the network configuration that do something (spec packet A3), in the order of their meaning: there is one
 * of these in a run, and its padding does not matter. */
struct packet_config { // NOLINT(clang-analyzer-optin.performance.Padding)
    bool enable_qcn;
    uint32_t payload_bytes;
    uint32_t chunk_bytes;  /* L2_CHUNK_SIZE */
    uint32_t ack_interval; /* L2_ACK_INTERVAL, bytes */
    bool back_to_zero;
    uint32_t cc_mode; /* enum packet_cc */
    double alpha_resume_us, rate_decrease_us, rp_timer_us;
    bool clamp_target_rate;
    double ewma_gain;
    uint32_t fast_recovery_times;
    uint64_t rate_ai_bps, rate_hai_bps, min_rate_bps, dctcp_rate_ai_bps;
    double error_rate; /* of links that have none of their own */
    bool has_window, global_t, var_window;
    bool fast_react, multi_rate, sample_feedback;
    double u_target;
    uint32_t mi_thresh;
    double pint_log_base, pint_prob;
    bool rate_bound;
    bool ack_high_prio;
    uint32_t nic_total_pause;
    uint32_t sample_start_ns; /* QLEN_MON_START: first look at the queues, where they are looked at */
    uint64_t buffer_bytes;
    uint32_t headroom_factor;
    struct packet_mark marks[PACKET_MARKS_MOST];
    uint32_t mark_count;
    bool pfc_enabled; /* false: hosts and switches ignore pause frames */
    /* What the reference lacks; PACKET_CONFIG_DEFAULT is the reference. */
    bool timeouts;       /* what was lost is sent again, and duplicates are acknowledged */
    uint64_t timeout_ns; /* 0: four round trips and a millisecond */
    enum packet_routing routing;
    bool parallel_links; /* all links between two nodes are ways, not the last of them alone */
    const struct packet_link_change *link_changes;
    uint32_t link_change_count;
    bool only_shares;     /* the flow network never asks for packets */
    bool no_fast_forward; /* every packet is sent, even where what comes is known */
    bool own_losses;      /* every lossy link draws from a random stream of its own, not all from the same */
    uint64_t loss_seed;   /* of those streams */
    bool int_sizes;       /* the reference's sizes are 32-bit and signed: longer messages never end */
    /* What differs in SimAI (spec packet B4, B6). */
    uint32_t link_header_bytes; /* 2 */
    uint32_t long_seq_bytes;    /* 0; what a wider sequence number adds to data and acknowledgements */
    bool round_down;            /* serialisation times, instead of rounding to the nearest */
    uint64_t start_latency_ns;  /* before a queue pair exists */
    bool newest_first;          /* of queue pairs that a host makes at one time: its event queues hand them over so */
};

/* The defaults of the reference's code, with those that it leaves undefined as in its sample file. */
#define PACKET_CONFIG_DEFAULT                                                                                          \
    {                                                                                                                  \
        .enable_qcn = true, .payload_bytes = 1000, .cc_mode = PACKET_CC_DCQCN, .alpha_resume_us = 55,                  \
        .rate_decrease_us = 4, .rp_timer_us = 900, .fast_recovery_times = 5, .min_rate_bps = 100000000,                \
        .rate_ai_bps = 50000000, .rate_hai_bps = 100000000, .dctcp_rate_ai_bps = 1000000000, .has_window = true,       \
        .global_t = true, .fast_react = true, .multi_rate = true, .u_target = 0.95, .mi_thresh = 5,                    \
        .pint_log_base = 1.05, .pint_prob = 1.0, .rate_bound = true, .buffer_bytes = 16u << 20, .headroom_factor = 3,  \
        .pfc_enabled = true, .int_sizes = true, .link_header_bytes = 2                                                 \
    }

#endif
