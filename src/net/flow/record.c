/* SPDX-License-Identifier: Apache-2.0 */
/* Of thousands of classes of durations a collective fills a few, and thousands of records may be kept. */
#include "net/flow/record.h"

#include "net/flow/engine.h"
#include "net/flow/judge.h"

static bool take_classes(struct histogram_fine *from, struct flow_record_classes *to, struct mem *mem)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < HISTOGRAM_FINE; i++) {
        count += from->count[i] > 0 ? 1 : 0;
    }
    *to = (struct flow_record_classes){.count = count, .most = from->most};
    to->at = mem_alloc(mem, (size_t)count * sizeof *to->at);
    for (uint32_t i = 0, at = 0; to->at != NULL && i < HISTOGRAM_FINE; i++) {
        if (from->count[i] > 0) {
            to->at[at++] = (struct flow_record_class){i, (uint32_t)from->count[i]};
        }
    }
    *from = (struct histogram_fine){0};
    return to->at != NULL;
}

static void add_classes(struct histogram_fine *to, const struct flow_record_classes *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        to->count[from->at[i].class] += from->at[i].count;
        to->total += from->at[i].count;
    }
    to->most = from->most > to->most ? from->most : to->most;
}

bool flow_record_take(struct net *net, const uint32_t *ports, uint32_t places, struct flow_record *record)
{
    struct flow_net *network = net->state;
    *record = (struct flow_record){.places = places, .moved_bytes = net->moved_bytes};
    record->carried = mem_zalloc(net->mem, (size_t)places * sizeof *record->carried);
    bool taken = take_classes(&network->durations, &record->durations, net->mem);
    taken = take_classes(&network->slowdowns, &record->slowdowns, net->mem) && taken && record->carried != NULL;
    for (uint32_t i = 0; i < places; i++) {
        if (taken) {
            record->carried[i] = network->carried[ports[i]];
        }
        network->carried[ports[i]] = (struct net_carried){0};
    }
    net->moved_bytes = 0;
    return taken;
}

void flow_record_add(struct net *net, const uint32_t *ports, const struct flow_record *record)
{
    struct flow_net *network = net->state;
    for (uint32_t i = 0; i < record->places; i++) {
        network->carried[ports[i]].bytes += record->carried[i].bytes;
        network->carried[ports[i]].busy_ns += record->carried[i].busy_ns;
    }
    add_classes(&network->durations, &record->durations);
    add_classes(&network->slowdowns, &record->slowdowns);
    net->moved_bytes += record->moved_bytes;
}

void flow_record_free(struct flow_record *record, struct mem *mem)
{
    mem_free(mem, record->carried, (size_t)record->places * sizeof *record->carried);
    mem_free(mem, record->durations.at, (size_t)record->durations.count * sizeof *record->durations.at);
    mem_free(mem, record->slowdowns.at, (size_t)record->slowdowns.count * sizeof *record->slowdowns.at);
    *record = (struct flow_record){0};
}

void flow_record_doubt(struct net *net, const struct net *from)
{
    struct flow_net *network = net->state;
    if (network->judge != NULL && from->ops->doubtful != NULL && from->ops->doubtful(from)) {
        network->judge->queues = 1; /* which a silent judge takes for an answer */
    }
}
