/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow lists of collectives, kept: a workload repeats the same few collectives hundreds of times. A plan is the list
 * of one group, type and size with what the executor needs beside it: whose flows are whose, and which flow of the
 * receiver must be under way before a flow is taken. Plans nobody uses are kept until they hold too much.
 */
#ifndef ORR_SIM_SIMAI_PLAN_H
#define ORR_SIM_SIMAI_PLAN_H

#include "base/arena.h"
#include "coll/nccl.h"

enum { SIMAI_NO_FLOW = UINT32_MAX };

struct simai_plan {
    struct arena arena;
    struct nccl_flows flows;
    uint32_t *own_start; /* by member (the group's ranks, then its NVSwitches), and one past the last */
    uint32_t *own;       /* flow ids by source, ascending */
    uint32_t *poster;    /* by flow: the receiver's flow that awaits it; SIMAI_NO_FLOW: it is awaited from the start */
    uint32_t *recvs;     /* by member: flows to it */
    uint32_t members, channels;
    bool in_line; /* some flows without parents wait for others of the same source and destination */
    /* The key. */
    uint32_t group;
    int32_t type;
    uint64_t bytes;
    uint32_t users;
    struct simai_plan *next;
};

struct simai_plans {
    struct simai_plan *first;
    uint64_t idle_flows; /* of plans without users */
    struct mem *mem;
    bool
        merged; /* channels that send the same ways are one: where messages are fluid they would only share the links */
};

struct simai_group;

/* With one user more; NULL with `err` set. `strict` are SimAI's rules of who awaits what also where NCCL has none. */
struct simai_plan *simai_plan_take(struct simai_plans *plans, const struct nccl_job *job, struct simai_group *group,
                                   uint32_t group_index, int32_t type, uint64_t bytes, struct orr_error *err);
/* What a plan is made by; `merged` as in simai_plans. */
struct nccl_choice simai_plan_choice(const struct nccl_job *job, const struct simai_group *group, int32_t type,
                                     uint64_t bytes, bool merged);
void simai_plan_give(struct simai_plans *plans, struct simai_plan *plan);
void simai_plans_free(struct simai_plans *plans);

/* The member of the group that a node is. */
uint32_t simai_plan_member(const struct nccl_group *group, uint32_t node);

#endif
