/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From measured collectives and copies to the numbers a simulated network is made of: the bandwidth and latency of a
 * link, the overhead of launching a collective, the bandwidth of a device's memory. The network half of `orrery calib
 * fit`: this header is all that half shows to the rest; calib/read.h turns files into points, calib/fit.h is the
 * arithmetic.
 *
 * Collectives of one type over one number of ranks are a group; each group gets its own fit. The groups together give
 * the link. Every number comes with what it rests on and whether it is to be believed; nothing is left out because it
 * is refused. Prints nothing.
 */
#ifndef ORR_CALIB_NETWORK_H
#define ORR_CALIB_NETWORK_H

#include "base/arena.h"
#include "base/notes.h"
#include "calib/fit.h"
#include "calib/points.h"
#include "calib/read.h"

/* Links between two ranks, one way (spec rocm §1.10). */
enum calib_path { CALIB_PATH_DIRECT = 1, CALIB_PATH_SWITCH = 2, CALIB_PATH_LEAF_SPINE = 4 };

/* How many messages one after the other a small collective of N ranks is thought to be: RING 2(N-1) for an all-reduce
 * and N-1 for the rest; TREE 2 ceil(log2 N), and ceil(log2 N); ONE 1, which is how the spec's T_link = (T - overhead) /
 * hops counts. A simulation that plays the steps of the algorithm needs RING or TREE: with ONE it pays the latency as
 * many times as there are steps. */
enum calib_steps { CALIB_STEPS_RING, CALIB_STEPS_TREE, CALIB_STEPS_ONE };

enum calib_place { CALIB_PLACE_ANY, CALIB_PLACE_OUT, CALIB_PLACE_IN };

/* All zero: in and out of place together, ring, direct, overhead unknown. */
struct calib_network_options {
    struct calib_fit_options fit; /* of every group */
    enum calib_place place;
    enum calib_steps steps;
    uint32_t hops;       /* links between two ranks; 0: 1 */
    bool overhead_given; /* then overhead_us is not fitted */
    double overhead_us;  /* at least 0 */
};

/* Collectives of one type over one number of ranks. */
struct calib_group {
    int32_t type;
    uint32_t ranks;
    uint32_t steps;    /* as enum calib_steps says */
    double bus_factor; /* bytes over a link for each byte of the collective */
    struct calib_fit fit;
    double latency_us; /* of the first range: launch, all steps */
    /* What carries the bytes of the largest messages when the latency is that one: bus_factor x bytes / (time -
     * latency), the median over the last range. 0: does not show. */
    double bus_gbytes_per_s;
    double best_bus_gbytes_per_s; /* the best single measurement, as the tools print it */
    /* Of latency + bytes / bandwidth with those two alone, over all sizes: what a simulation can reach at best whose
     * links have one latency and one bandwidth. Relative to what that gives. */
    double pair_mean_error, pair_worst_error;
};

/* A number with its standing: refused as the fits behind it are, or for disagreeing among themselves. */
struct calib_number {
    double value; /* 0 when it is not known */
    bool known;
    uint32_t sources; /* groups or pairs it is the median of */
    double low, high; /* of them */
    bool accepted;
    const char *reason; /* why not, one sentence without a full stop; NULL when accepted or not known at all */
};

/* How overhead and latency came apart. */
enum calib_overhead {
    CALIB_OVERHEAD_NONE,    /* no latency was measured */
    CALIB_OVERHEAD_GIVEN,   /* by the options */
    CALIB_OVERHEAD_FITTED,  /* groups of two or more numbers of steps: latency of a group = overhead + steps x path */
    CALIB_OVERHEAD_UNKNOWN, /* one number of steps: not to be told apart; all is latency, the overhead is 0 */
};
/* One sentence for the report. */
const char *calib_overhead_text(enum calib_overhead overhead);

struct calib_network {
    const struct calib_group *groups; /* by type, then ranks; in the arena */
    uint32_t group_count;
    enum calib_overhead overhead;
    struct calib_number overhead_us;         /* launching one collective */
    struct calib_number link_latency_us;     /* (latency - overhead) / (steps x hops) */
    struct calib_number message_link_us;     /* (latency - overhead) / hops: the spec's rule, whatever the steps are */
    struct calib_number link_gbytes_per_s;   /* bus bandwidth at the largest sizes, one way; x 8 = Gbps */
    struct calib_number peer_gbytes_per_s;   /* copies between two devices, one way at a time */
    struct calib_number memory_gbytes_per_s; /* copies of a device to itself: local-mem-bw */
    struct calib_number host_gbytes_per_s;   /* copies between host and device */
};

/*
 * Fits all points, whichever files or traces they are from. `points` is not changed and need not outlive the call.
 * Notes: extrapolated latencies, groups whose bandwidths differ by more than a quarter, refused fits.
 * Fails with ORR_EINVAL (no point at all, options outside their limits) or ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status calib_network_fit(const struct calib_points *points,
                                                 const struct calib_network_options *options, struct arena *arena,
                                                 struct notes *notes, struct calib_network *network,
                                                 struct orr_error *err);

uint32_t calib_step_count(enum calib_steps steps, int32_t type, uint32_t ranks);

#endif
