/* SPDX-License-Identifier: Apache-2.0 */
/* Axes are permuted in lexicographic order, so that of orders that are alike the one that is nearest to the usual is
 * kept, whoever asks. */
#include "planner/orders.h"

#include <string.h>

#include "train/order.h"

/* What a step's time depends on. */
struct orders_shape {
    struct order_place groups[ORDER_KINDS];
    uint32_t stage_stride; /* up to a server's ranks */
};

static struct orders_shape orders_shape_of(const struct orr_train_plan *plan, uint32_t server)
{
    struct orders_shape shape = {0};
    for (int kind = 0; kind < ORDER_KINDS; kind++) {
        const struct work_layout group = order_groups(plan, (enum order_kind)kind);
        if (work_layout_size(&group) > 1) {
            shape.groups[kind] = order_place_of(&group, server);
        }
    }
    uint32_t stride = plan->pp > 1 ? order_stage_stride(plan) : 0;
    shape.stage_stride = stride < server ? stride : server;
    return shape;
}

static bool orders_are_alike(const struct orders_shape *a, const struct orders_shape *b)
{
    for (int kind = 0; kind < ORDER_KINDS; kind++) {
        const struct order_place *x = &a->groups[kind], *y = &b->groups[kind];
        if (x->inside != y->inside || x->servers != y->servers || x->groups != y->groups) {
            return false;
        }
    }
    return a->stage_stride == b->stage_stride;
}

/* The next permutation; false behind the last. */
static bool orders_next(uint8_t order[], uint32_t count)
{
    uint32_t i = count;
    while (i > 1 && order[i - 2] >= order[i - 1]) {
        i--;
    }
    if (i <= 1) {
        return false;
    }
    uint32_t k = count;
    while (order[k - 1] <= order[i - 2]) {
        k--;
    }
    uint8_t swapped = order[i - 2];
    order[i - 2] = order[k - 1];
    order[k - 1] = swapped;
    for (uint32_t low = i - 1, high = count - 1; low < high; low++, high--) {
        swapped = order[low];
        order[low] = order[high];
        order[high] = swapped;
    }
    return true;
}

uint32_t orders_list(const struct orr_train_plan *plan, uint32_t server,
                     uint8_t orders[ORDERS_MOST][ORR_TRAIN_AXIS_COUNT])
{
    const uint32_t degrees[] = {plan->tp, plan->cp, plan->ep, plan->dp, plan->pp};
    struct orders_shape kept[ORDERS_MOST];
    uint8_t axes[ORR_TRAIN_AXIS_COUNT], places[ORR_TRAIN_AXIS_COUNT]; /* places in the usual order that they fill */
    uint32_t moving = 0, count = 0;
    for (uint8_t i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
        if (degrees[i] > 1 || (i + 1 == ORR_TRAIN_AXIS_DP && plan->ep > 1)) { /* experts have their own dp */
            places[moving] = i;
            axes[moving++] = i + 1;
        }
    }
    do {
        struct orr_train_plan ordered = *plan;
        struct orr_error err;
        for (uint8_t i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
            ordered.order[i] = i + 1;
        }
        for (uint32_t i = 0; i < moving; i++) {
            ordered.order[places[i]] = axes[i];
        }
        if (order_settle(&ordered, &err) != ORR_OK) {
            continue;
        }
        kept[count] = orders_shape_of(&ordered, server);
        uint32_t like = 0;
        while (!orders_are_alike(&kept[like], &kept[count])) {
            like++;
        }
        if (like == count) {
            memcpy(orders[count++], ordered.order, sizeof ordered.order);
        }
    } while (orders_next(axes, moving));
    return count;
}
