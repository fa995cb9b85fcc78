/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of the critical-path analysis: hta_rows.c decides which events count and who belongs to whom, hta.c
 * and hta_kernels.c build the graph from them, hta_path.c holds the graph and finds its longest path. Not for anyone
 * else.
 *
 * Times are whole microseconds, as HTA rounds them. A row is an event that HTA looks at; rows stand in file order.
 * Every row has two nodes in the graph: its start, 2 × row, and its end, 2 × row + 1.
 */
#ifndef ORR_COMPAT_CHAKRA_HTA_PARTS_H
#define ORR_COMPAT_CHAKRA_HTA_PARTS_H

#include "base/number_map.h"
#include "compat/chakra/hta.h"

#define HTA_NONE UINT32_MAX

/* What a name is to HTA, looked up once for each. */
enum hta_name {
    HTA_LAUNCH = 1 << 0, /* in HTA's list of launches */
    HTA_BLOCKING = 1 << 1,
    HTA_EVENT_RECORD = 1 << 2,
    HTA_STREAM_WAIT_CALL = 1 << 3, /* cudaStreamWaitEvent */
    HTA_PROFILER_STEP = 1 << 4,
    HTA_CONTEXT_SYNC = 1 << 5,
    HTA_STREAM_SYNC = 1 << 6,
    HTA_EVENT_SYNC = 1 << 7,
    HTA_STREAM_WAIT = 1 << 8, /* "Stream Wait Event" */
};

struct hta_row {
    int64_t ts, end;
    int64_t stream;
    uint32_t event;   /* in the trace */
    uint32_t partner; /* row on the other side of the correlation, or HTA_NONE */
    uint16_t name;    /* enum hta_name */
    bool cuda;        /* has a correlation: partner HTA_NONE then means "not in the trace" */
    bool kept;        /* after the steps that are not complete were cut off */
    bool clipped;     /* in the window of the first step */
    bool is_call;     /* cpu_op, cuda_runtime, cuda_driver */
    bool is_sync;     /* cuda_sync */
    bool has_nodes;
};

struct hta_edge {
    uint32_t from, to;
    int64_t weight;
    uint32_t next_out, next_in; /* in the order of insertion */
    bool is_sync;
};

struct hta_node {
    uint32_t first_out, last_out, first_in, last_in;
    uint32_t in_count;
    bool there;
};

struct hta_graph {
    struct hta_edge *edges;
    uint32_t edge_count, edge_capacity;
    struct hta_node *nodes; /* by number */
    uint32_t *order;        /* nodes as they were first named by an edge */
    uint32_t node_count, order_count;
    struct number_map by_ends; /* from and to → edge */
};

struct hta {
    const struct kineto_trace *trace;
    struct mem *mem;
    struct hta_row *rows;
    uint32_t row_count;
    uint16_t *names; /* enum hta_name, by number */
    struct hta_graph graph;
    const char *failed; /* HTA stops; the analysis is over */
    bool no_memory;
};

/* All of these return false when the analysis is over: hta->failed or hta->no_memory says why. */
ORR_MUST_CHECK bool hta_make_rows(struct hta *hta);
/* Kernels and synchronisations, hta_kernels.c. */
ORR_MUST_CHECK bool hta_add_kernels(struct hta *hta);
ORR_MUST_CHECK bool hta_add_edge(struct hta *hta, uint32_t from, uint32_t to, int64_t weight, bool is_sync);
/* Adds the sync pairs of the longest path to the result. */
ORR_MUST_CHECK bool hta_walk_path(struct hta *hta, struct hta_result *result);

bool hta_fail(struct hta *hta, const char *why);
bool hta_no_memory(struct hta *hta);

static inline const struct kineto_event *hta_event(const struct hta *hta, uint32_t row)
{
    return &hta->trace->events[hta->rows[row].event];
}

static inline int64_t hta_node_ts(const struct hta *hta, uint32_t node)
{
    return (node & 1) == 0 ? hta->rows[node / 2].ts : hta->rows[node / 2].end;
}

#endif
