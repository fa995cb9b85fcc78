/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When messages end, as a heap: most ends change before they come. Those of one time come in the order in which their
 * messages were sent, so that it does not matter who else is under way.
 */
#include "net/flow/engine.h"

static bool is_before(const struct flow_net *network, uint32_t a, uint32_t b)
{
    const struct flow *x = &network->flows.at[a];
    const struct flow *y = &network->flows.at[b];
    return x->ends_ns < y->ends_ns || (x->ends_ns <= y->ends_ns && x->number < y->number);
}

static void ends_put(struct flow_net *network, uint32_t place, uint32_t flow)
{
    network->ends[place] = flow;
    network->flows.at[flow].place = place;
}

/* Moves a flow from a place of the heap to where its end belongs. */
static void ends_move(struct flow_net *network, uint32_t place, uint32_t flow)
{
    while (place > 1 && is_before(network, flow, network->ends[place / 2])) {
        ends_put(network, place, network->ends[place / 2]);
        place /= 2;
    }
    for (;;) {
        uint32_t child = 2 * place;
        if (child > network->end_count) {
            break;
        }
        if (child < network->end_count && is_before(network, network->ends[child + 1], network->ends[child])) {
            child++;
        }
        if (!is_before(network, network->ends[child], flow)) {
            break;
        }
        ends_put(network, place, network->ends[child]);
        place = child;
    }
    ends_put(network, place, flow);
}

void flow_ends_set(struct flow_net *network, uint32_t flow)
{
    uint32_t place = network->flows.at[flow].place;
    if (place == 0) {
        if (!mem_reserve(network->net->mem, (void **)&network->ends, &network->end_capacity,
                         (uint64_t)network->end_count + 2, sizeof *network->ends)) {
            network->net->queue->failed = true;
            return;
        }
        place = ++network->end_count;
    }
    ends_move(network, place, flow);
}

void flow_ends_drop(struct flow_net *network, uint32_t flow)
{
    uint32_t place = network->flows.at[flow].place;
    if (place != 0) {
        network->flows.at[flow].place = 0;
        uint32_t last = network->ends[network->end_count--];
        if (last != flow) {
            ends_move(network, place, last);
        }
    }
}
