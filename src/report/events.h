/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a timeline of a run shows, whatever it is written as: slices (one an interval, with its arguments), arrows
 * between them, and counters. The writers of Chrome's JSON, of Perfetto's protobuf and of files like PyTorch's only put
 * it into their bytes.
 *
 * Arrows go from the beginning of what caused something to where it shows: from a send to the end of its receive, from
 * the last member that came to a collective to the end of the others' part in it, from an operator of the host to the
 * beginning of what it launched.
 */
#ifndef ORR_REPORT_EVENTS_H
#define ORR_REPORT_EVENTS_H

#include "report/waits.h"

/* ---- slices ---- */

enum { REPORT_ARGUMENTS = 8 };

struct report_argument {
    const char *name;
    const char *text; /* NULL: the number */
    uint64_t number;
    bool is_signed; /* it is an int64_t */
};

struct report_slice {
    const char *name, *category;
    struct report_argument arguments[REPORT_ARGUMENTS];
    uint32_t argument_count;
};

/* Of an interval on its thread. Texts are borrowed from the result. */
void report_slice_of(const struct sim_result *result, const struct sim_interval *interval, uint32_t thread,
                     struct report_slice *slice);
/* Ranks of the group that a communication is of. */
uint32_t report_group_size(const struct sim_result *result, const struct trace_graph *graph, uint32_t node);

/* ---- arrows ---- */

enum report_flow { REPORT_FLOW_MESSAGE, REPORT_FLOW_ARRIVAL, REPORT_FLOW_LAUNCH, REPORT_FLOWS };

extern const char *const report_flow_names[REPORT_FLOWS];

struct report_events {
    struct report_lanes lanes;
    struct report_waits waits;
    uint32_t *first_leaving; /* by place, and the total behind: into `leaving` */
    uint64_t *leaving;       /* numbers of the arrows that begin at this place */
};

/* Of a run with intervals. ORR_EINVAL without, or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status report_events_make(const struct sim_result *result, struct report_events *events,
                                                  struct orr_error *err);
void report_events_free(struct report_events *events);

/* The arrow that ends at `place`, of what it waited for or (`launch`) what launched it: where it begins, and what it
 * is; REPORT_NO_WAIT: there is none. */
int64_t report_flow_into(const struct report_events *events, uint32_t place, bool launch, enum report_flow *flow);
/* What names it; from 1 on. */
static inline uint64_t report_flow_number(uint32_t place, bool launch)
{
    return 2 * (uint64_t)place + (launch ? 2 : 1);
}

/* ---- counters ---- */

enum report_counter {
    REPORT_COUNTER_ACTIVE, /* communications in flight */
    REPORT_COUNTER_BYTES,  /* their bytes, as the nodes tell them */
    REPORT_COUNTER_RATE,   /* the same bytes spread evenly over each one's time, MB/s */
    REPORT_COUNTER_MEMORY, /* bytes of tensors, where they are tracked; of ranks only */
    REPORT_COUNTERS
};

struct report_counter_words {
    const char *name, *unit;
};

extern const struct report_counter_words report_counter_words[REPORT_COUNTERS];

enum { REPORT_ALL_RANKS = UINT32_MAX };

/* Every value of every counter, rank by rank and then of all ranks together, each only where it changes, in the order
 * of time. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status report_counters_walk(const struct sim_result *result, const struct report_events *events,
                                                    void (*tell)(void *context, uint32_t rank,
                                                                 enum report_counter counter, uint64_t time_ns,
                                                                 uint64_t value),
                                                    void *context, struct orr_error *err);

#endif
