/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two numberings of the same ranks: tp, cp, dp, pp of what all tokens go through, and etp, ep, what is left, pp of
 * experts, each in the plan's order with the words tp, ep, dp, pp. A pipeline stage must be the same ranks in both.
 * Where the two digits of a group (dp and cp) follow each other they are one.
 */
#include "train/order.h"

#include <inttypes.h>
#include <string.h>

static const char *const order_words[] = {"?",
#define ORDER_X(symbol, word) word,
                                          ORR_TRAIN_AXES(ORDER_X)
#undef ORDER_X
};

/* ---- digits ---- */

/* Ranks along an axis: of the dense numbering (where ep is nothing) or of the experts' (where cp is nothing). */
static uint32_t order_degree(const struct orr_train_plan *plan, enum orr_train_axis axis, bool experts)
{
    switch (axis) {
    case ORR_TRAIN_AXIS_TP:
        return experts ? plan->etp : plan->tp;
    case ORR_TRAIN_AXIS_CP:
        return experts ? 1 : plan->cp;
    case ORR_TRAIN_AXIS_EP:
        return experts ? plan->ep : 1;
    case ORR_TRAIN_AXIS_DP:
        return experts ? (uint32_t)((uint64_t)plan->tp * plan->cp * plan->dp / ((uint64_t)plan->etp * plan->ep))
                       : plan->dp;
    case ORR_TRAIN_AXIS_PP:
        return plan->pp;
    default:
        return 1;
    }
}

static struct work_layout order_digit(const struct orr_train_plan *plan, enum orr_train_axis axis, bool experts)
{
    uint32_t stride = 1;
    for (int i = 0; i < ORR_TRAIN_AXIS_COUNT && plan->order[i] != axis; i++) {
        stride *= order_degree(plan, plan->order[i], experts);
    }
    return (struct work_layout){.stride = stride, .count = order_degree(plan, axis, experts)};
}

/* Whether experts lie otherwise than the weights around them. */
static bool order_has_experts(const struct orr_train_plan *plan)
{
    return plan->ep > 1 || plan->etp != plan->tp;
}

static struct work_layout order_both(struct work_layout a, struct work_layout b)
{
    if (a.count == 1 || b.count == 1) {
        return a.count == 1 ? b : a;
    }
    struct work_layout inner = a.stride < b.stride ? a : b, outer = a.stride < b.stride ? b : a;
    if (inner.stride * inner.count == outer.stride) {
        inner.count *= outer.count;
    } else {
        inner.outer_stride = outer.stride;
        inner.outer_count = outer.count;
    }
    return inner;
}

/* Of a group the first `size` of each run of as many ranks, and those that have the same place in each. */
static struct work_layout order_part(struct work_layout group, uint32_t size, bool replicas)
{
    uint32_t outer = size > group.count ? size / group.count : 1, inner = size / outer;
    if (!replicas) {
        return (struct work_layout){group.stride, inner, group.outer_stride, outer};
    }
    if (inner == group.count && group.outer_count > 1) { /* the second digit alone is left */
        return (struct work_layout){.stride = group.outer_stride * outer, .count = group.outer_count / outer};
    }
    return (struct work_layout){group.stride * inner, group.count / inner, group.outer_stride, group.outer_count};
}

static uint32_t order_shards(const struct orr_train_plan *plan)
{
    bool hybrid = plan->sharding == ORR_TRAIN_SHARDING_HYBRID && plan->fsdp_group != 0;
    return hybrid ? plan->fsdp_group : plan->dp * plan->cp;
}

/* Runs of so many ranks do not cut through the digits of those that share weights. */
static bool order_has_shards(const struct orr_train_plan *plan)
{
    const struct work_layout group = order_groups(plan, ORDER_DP);
    uint32_t shards = order_shards(plan);
    return group.outer_count <= 1 || (shards <= group.count ? group.count % shards : shards % group.count) == 0;
}

struct work_layout order_groups(const struct orr_train_plan *plan, enum order_kind kind)
{
    struct work_layout cp = order_digit(plan, ORR_TRAIN_AXIS_CP, false);
    switch (kind) {
    case ORDER_TP:
        return order_digit(plan, ORR_TRAIN_AXIS_TP, false);
    case ORDER_CP:
        return cp;
    case ORDER_DP:
        return order_both(cp, order_digit(plan, ORR_TRAIN_AXIS_DP, false));
    case ORDER_SHARDS:
    case ORDER_REPLICAS:
        return order_part(order_groups(plan, ORDER_DP), order_shards(plan), kind == ORDER_REPLICAS);
    case ORDER_EP:
        return order_digit(plan, ORR_TRAIN_AXIS_EP, true);
    default:
        return order_has_experts(plan) ? order_digit(plan, ORR_TRAIN_AXIS_DP, true) : order_groups(plan, ORDER_DP);
    }
}

struct work_layout order_stages(const struct orr_train_plan *plan)
{
    return order_digit(plan, ORR_TRAIN_AXIS_PP, false);
}

uint32_t order_stage_stride(const struct orr_train_plan *plan)
{
    return order_stages(plan).stride;
}

uint32_t order_stage_of(const struct orr_train_plan *plan, uint32_t rank)
{
    return rank / order_stage_stride(plan) % plan->pp;
}

/* ---- what a plan says ---- */

static enum orr_status order_check_experts(const struct orr_train_plan *plan, struct orr_error *err)
{
    char text[ORR_TRAIN_ORDER_ROOM];
    uint32_t dense = order_digit(plan, ORR_TRAIN_AXIS_PP, false).stride;
    uint32_t experts = order_digit(plan, ORR_TRAIN_AXIS_PP, true).stride;
    bool is_last = plan->order[ORR_TRAIN_AXIS_COUNT - 1] == ORR_TRAIN_AXIS_PP;
    if (plan->pp == 1 || is_last || !order_has_experts(plan) || dense == experts) {
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL,
                     "parameter 'order': in %s the stages of a pipeline are %" PRIu32
                     " ranks apart, for experts (etp %" PRIu32 ", ep %" PRIu32 ") %" PRIu32
                     "; they must be the same ranks, as they are where pp stands last",
                     orr_train_order_text(plan, true, text), dense, plan->etp, plan->ep, experts);
}

enum orr_status order_settle(struct orr_train_plan *plan, struct orr_error *err)
{
    bool seen[ORR_TRAIN_AXIS_COUNT + 1] = {false};
    int count = 0;
    for (; count < ORR_TRAIN_AXIS_COUNT && plan->order[count] != ORR_TRAIN_AXIS_NONE; count++) {
        if (plan->order[count] > ORR_TRAIN_AXIS_COUNT || seen[plan->order[count]]) {
            return error_set(err, ORR_EINVAL, "parameter 'order': each of tp, cp, ep, dp, pp stands in it once");
        }
        seen[plan->order[count]] = true;
    }
    bool said = count > 0;
    for (uint8_t axis = 1; axis <= ORR_TRAIN_AXIS_COUNT; axis++) {
        uint32_t degree = order_degree(plan, axis, axis == ORR_TRAIN_AXIS_EP);
        if (!seen[axis] && said && degree > 1) {
            return error_set(err, ORR_EINVAL, "parameter 'order': it says nothing of %s, of which there are %" PRIu32,
                             order_words[axis], degree);
        }
        if (!seen[axis]) {
            plan->order[count++] = axis;
        }
    }
    if (!order_has_shards(plan)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'fsdp-group': %" PRIu32 " ranks do not divide cp %" PRIu32 " and dp %" PRIu32
                         " where pp stands between them",
                         plan->fsdp_group, plan->cp, plan->dp);
    }
    return order_check_experts(plan, err);
}

const char *orr_train_order_text(const struct orr_train_plan *plan, bool whole, char text[ORR_TRAIN_ORDER_ROOM])
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < ORR_TRAIN_AXIS_COUNT && plan->order[i] <= ORR_TRAIN_AXIS_COUNT; i++) {
        enum orr_train_axis axis = plan->order[i];
        if (axis != ORR_TRAIN_AXIS_NONE && (whole || order_degree(plan, axis, axis == ORR_TRAIN_AXIS_EP) > 1)) {
            at += (size_t)snprintf(text + at, ORR_TRAIN_ORDER_ROOM - at, "%s%s", at > 0 ? "-" : "", order_words[axis]);
        }
    }
    return at > 0 ? text : "-";
}

bool orr_train_order_is_usual(const struct orr_train_plan *plan)
{
    enum orr_train_axis before = ORR_TRAIN_AXIS_NONE;
    for (int i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
        enum orr_train_axis axis = plan->order[i];
        if (order_degree(plan, axis, axis == ORR_TRAIN_AXIS_EP) > 1) {
            if (axis < before) {
                return false;
            }
            before = axis;
        }
    }
    return true;
}

/* ---- servers ---- */

/* Of `count` ranks `stride` apart, as many as a server has. */
static uint32_t order_fitting(uint32_t stride, uint32_t count, uint32_t server)
{
    uint32_t inside = stride >= server ? 1 : server / stride;
    return inside > count ? count : inside;
}

struct order_place order_place_of(const struct work_layout *group, uint32_t server)
{
    uint32_t inside = order_fitting(group->stride, group->count, server);
    uint32_t servers = (group->count + inside - 1) / inside;
    if (group->outer_count > 1) {
        uint32_t outer = order_fitting(group->outer_stride, group->outer_count, server);
        servers *= (group->outer_count + outer - 1) / outer;
        inside *= outer;
    }
    return (struct order_place){inside, servers, server / inside};
}

void order_places(const struct orr_train_plan *plan, uint32_t server, struct orr_train_place *places)
{
    static const enum order_kind kinds[] = {ORDER_TP, ORDER_CP, ORDER_EP, ORDER_DP};
    for (int i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
        bool stages = i + 1 == ORR_TRAIN_AXIS_PP;
        const struct work_layout group = stages ? order_stages(plan) : order_groups(plan, kinds[i]);
        struct order_place place = order_place_of(&group, server);
        places[i] = (struct orr_train_place){work_layout_size(&group), place.inside, place.servers};
    }
}

bool order_send_crosses(const struct orr_train_plan *plan, uint32_t stage, uint32_t server)
{
    uint64_t stride = order_stage_stride(plan), first = stage * stride;
    uint64_t last = ((stage + 1) % plan->pp + 1) * stride - 1;
    return first / server != last / server;
}

uint32_t order_shards_inside(const struct orr_train_plan *plan, uint32_t server)
{
    const struct work_layout group = order_groups(plan, ORDER_DP);
    uint32_t inner = order_fitting(group.stride, group.count, server);
    uint32_t outer = group.outer_count > 1 ? order_fitting(group.outer_stride, group.outer_count, server) : 1;
    while (group.count % inner != 0) {
        inner--;
    }
    while (group.outer_count > 1 && group.outer_count % outer != 0) {
        outer--;
    }
    return inner < group.count ? inner : inner * outer;
}
