/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How ranks are numbered, and with it which ranks each parallel group has and how they lie in servers. A rank's number
 * is made of digits, one for each axis of parallelism, in the order that a plan says (Megatron-LM's parameter order);
 * experts have an order of the same words with digits of their own. Costs (train/cost.h) and written groups
 * (train/roles.h) both come from here, so that they cannot differ. Knows no time.
 */
#ifndef ORR_TRAIN_ORDER_H
#define ORR_TRAIN_ORDER_H

#include "base/error.h"
#include "convert/text/layout.h"
#include "orrery/train.h"

enum order_kind {
    ORDER_TP,
    ORDER_CP,
    ORDER_DP,       /* with cp: those that share weights */
    ORDER_SHARDS,   /* of these, those that divide weights among them: all but with hybrid sharding */
    ORDER_REPLICAS, /* and those that have the same part */
    ORDER_EP,
    ORDER_EXPERTS_DP, /* those that share experts */
    ORDER_KINDS
};

/* Fills in what a plan with settled degrees leaves open of its order. ORR_EINVAL: an axis is missing or there twice, or
 * experts would give a pipeline stage other ranks than the rest of the model does. */
ORR_MUST_CHECK enum orr_status order_settle(struct orr_train_plan *plan, struct orr_error *err);

/* The groups of a settled plan; count 0: ranks do not divide so. */
struct work_layout order_groups(const struct orr_train_plan *plan, enum order_kind kind);
/* How far a rank is from the one of the next stage. */
uint32_t order_stage_stride(const struct orr_train_plan *plan);
/* The stage of a rank. */
uint32_t order_stage_of(const struct orr_train_plan *plan, uint32_t rank);
/* A stage's ranks, ascending: pp of them are one group of this layout. */
struct work_layout order_stages(const struct orr_train_plan *plan);

/* How a group lies in servers of `server` ranks: so many of it in each, in so many servers, and so many groups of its
 * kind share a server, all of which communicate at once. */
struct order_place {
    uint32_t inside, servers, groups;
};
struct order_place order_place_of(const struct work_layout *group, uint32_t server);
/* Of all axes, in their usual order. */
void order_places(const struct orr_train_plan *plan, uint32_t server, struct orr_train_place *places);
/* Whether what stage `stage` sends to the next one leaves the server. */
bool order_send_crosses(const struct orr_train_plan *plan, uint32_t stage, uint32_t server);
/* Of the ranks that share weights, as many as lie in one server and divide them. */
uint32_t order_shards_inside(const struct orr_train_plan *plan, uint32_t server);

#endif
