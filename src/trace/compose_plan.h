/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the gradient buckets of a trace can start, and what has to wait for them (spec rocm §1.6, with the overlap that
 * its program lacks). A bucket is ready when the share of the backward pass that has run is the share of the gradients
 * up to the bucket's end; buckets follow each other as on one stream; what comes after the backward pass on the device
 * (the optimizer, the next step) waits for the last of them.
 *
 * Backward work is told by name, the node's own or that of the op around it. Where nothing tells, and where overlap is
 * not wanted, all buckets come after the last compute of their step. Every training step of the trace gets its own.
 *
 * Collected node by node while the file is read, then made once; knows nothing of records or of writing.
 */
#ifndef ORR_TRACE_COMPOSE_PLAN_H
#define ORR_TRACE_COMPOSE_PLAN_H

#include "base/arena.h"
#include "trace/compose_buckets.h"
#include "trace/edit.h"
#include "trace/pattern.h"
#include "trace/steps.h"

struct compose_node {
    uint64_t duration_us, ops;
    uint64_t parent; /* id; only with COMPOSE_HAS_PARENT */
    uint8_t flags;
};

enum compose_flag {
    COMPOSE_DEVICE = 1 << 0,   /* compute on the device */
    COMPOSE_HOST = 1 << 1,     /* compute on the host */
    COMPOSE_BACKWARD = 1 << 2, /* its name says so, or in the end that of an op around it */
    COMPOSE_HAS_PARENT = 1 << 3,
    COMPOSE_WORK = 1 << 4,   /* what buckets go by: compute on the device, or on the host where there is no device */
    COMPOSE_CHOSEN = 1 << 5, /* of this, what its step's buckets wait for */
};

/* The buckets of all steps, one after the other. */
struct compose_bucket {
    uint64_t bytes;
    uint32_t first_dep, dep_count; /* in deps; it waits for the bucket before it too */
    uint32_t behind;               /* it is written behind this place of the file; UINT32_MAX: before all */
    int64_t step;                  /* STEPS_NONE: not known */
};

struct compose_plan {
    struct mem *mem;
    struct compose_node *nodes;
    uint32_t node_count, node_capacity;
    struct steps steps;
    const struct pattern *backward; /* names of backward work; NULL: as PyTorch, NCCL and our generators have them */
    /* Made: */
    struct compose_bucket *buckets;
    uint32_t bucket_count;
    uint32_t *deps; /* places of nodes */
    uint32_t *gate; /* by node: 1 + the bucket that it waits for too; 0: none */
    uint32_t step_count;
    uint32_t overlapped; /* of these: in which the backward pass was told apart */
    bool steps_known;
    bool on_host; /* there is no compute on the device */
    struct arena arena;
};

void compose_plan_init(struct compose_plan *plan, const struct pattern *backward, struct mem *mem);
void compose_plan_free(struct compose_plan *plan);

/* Adds the next node. */
ORR_MUST_CHECK enum orr_status compose_plan_add(struct compose_plan *plan, const struct record_facts *facts,
                                                struct orr_error *err);

/* After the last node. `overlap` false: after the last compute in any case. ORR_EINVAL (a cycle; `path` starts the
 * message), ORR_ERANGE (more buckets than can be counted), ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status compose_plan_make(struct compose_plan *plan, const struct edit_graph *graph,
                                                 const struct compose_buckets *buckets, bool overlap, const char *path,
                                                 struct orr_error *err);

#endif
