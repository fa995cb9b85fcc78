/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When messages end, as a heap: most ends change before they come. Those of one time come in the order in which their
 * messages were sent, so that it does not matter who else is under way.
 */
#include "base/heap.h"
#include "net/flow/engine.h"

static bool is_before(const struct flow_net *network, const uint32_t *a, const uint32_t *b)
{
    const struct flow *x = &network->flows.at[*a];
    const struct flow *y = &network->flows.at[*b];
    return x->ends_ns < y->ends_ns || (x->ends_ns <= y->ends_ns && x->number < y->number);
}

static void ends_put(struct flow_net *network, uint32_t *ends, uint32_t place, uint32_t flow)
{
    ends[place] = flow;
    network->flows.at[flow].place = place + 1;
}

HEAP_DEFINE(ends_heap, uint32_t, struct flow_net *, is_before, ends_put);

void flow_ends_set(struct flow_net *network, uint32_t flow)
{
    uint32_t place = network->flows.at[flow].place;
    if (place == 0) {
        if (!mem_reserve(network->net->mem, (void **)&network->ends, &network->end_capacity,
                         (uint64_t)network->end_count + 1, sizeof *network->ends)) {
            network->net->queue->failed = true;
            return;
        }
        place = ++network->end_count;
    }
    ends_heap_move(network, network->ends, network->end_count, place - 1, flow);
}

void flow_ends_drop(struct flow_net *network, uint32_t flow)
{
    uint32_t place = network->flows.at[flow].place;
    if (place != 0) {
        network->flows.at[flow].place = 0;
        uint32_t last = network->ends[--network->end_count];
        if (last != flow) {
            ends_heap_move(network, network->ends, network->end_count, place - 1, last);
        }
    }
}
