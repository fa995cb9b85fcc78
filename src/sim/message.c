/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages with the same tag, source, destination and size match in order, so they share a channel: an ordered list of
 * which at most the tail has only one side. Whether the next send meets a waiting receive, or the other way round, is
 * then one look at `half`, never a search. Channels are found by hash; a ring phase, whose messages all use the same
 * two channels, holds on to them.
 */
#include <inttypes.h>

#include "sim/engine.h"

static const uint64_t rendezvous_bytes = 8192;

static uint32_t channel_get(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes)
{
    uint32_t index = sim_routes_find(&sim->channel_routes, sim->channels.at, src, dst, tag, bytes);
    if (index != 0) {
        return index;
    }
    index = sim_channels_take(&sim->channels, sim->mem, &sim->queue.failed);
    sim->channels.at[index] = (struct sim_channel){0};
    struct sim_route route = {.src = src, .dst = dst, .tag = tag, .bytes = bytes};
    if (index != 0 && !sim_routes_add(&sim->channel_routes, sim->channels.at, index, &route, &sim->net, sim->mem)) {
        sim_fail_memory(sim);
    }
    return index;
}

static void channel_close_if_idle(struct sim *sim, uint32_t index)
{
    if (index == 0 || sim->channels.at[index].head != 0) {
        return;
    }
    sim_routes_remove(&sim->channel_routes, sim->channels.at, index, &sim->net);
    sim_channels_give(&sim->channels, index);
}

enum orr_status sim_messages_warn_unclaimed(struct sim *sim, struct orr_error *err)
{
    uint64_t count = 0;
    const struct sim_channel *example = NULL;
    for (uint32_t bucket = 0; bucket <= sim->channel_routes.mask; bucket++) {
        for (uint32_t index = sim->channel_routes.buckets[bucket]; index != 0;
             index = sim->channels.at[index].route.chain) {
            const struct sim_channel *channel = &sim->channels.at[index];
            count += channel->lead > 0 ? (uint64_t)channel->lead : 0;
            bool first = example == NULL || channel->route.src < example->route.src ||
                         (channel->route.src == example->route.src && channel->route.dst < example->route.dst);
            example = channel->lead > 0 && first ? channel : example;
        }
    }
    if (example == NULL) {
        return ORR_OK;
    }
    return notes_add(sim->notes, err,
                     "%" PRIu64 " message%s sent and never received, such as %" PRIu64
                     " B with tag %d from rank %u to rank %u",
                     count, count == 1 ? " was" : "s were", example->route.bytes, (int)example->route.tag,
                     example->route.src, example->route.dst);
}

/* A new message at the end of the channel, with nothing known yet. */
static uint32_t message_append(struct sim *sim, uint32_t channel_index)
{
    uint32_t index = sim_messages_take(&sim->messages, sim->mem, &sim->queue.failed);
    struct sim_channel *channel = &sim->channels.at[channel_index];
    struct sim_message *message = &sim->messages.at[index];
    message->next = 0;
    message->prev = channel->tail;
    message->channel = channel_index;
    message->flags = 0;
    if (channel->tail == 0) {
        channel->head = index;
    } else {
        sim->messages.at[channel->tail].next = index;
    }
    channel->tail = index;
    return index;
}

static void message_remove(struct sim *sim, uint32_t index)
{
    const struct sim_message *message = &sim->messages.at[index];
    struct sim_channel *channel = &sim->channels.at[message->channel];
    if (message->prev == 0) {
        channel->head = message->next;
    } else {
        sim->messages.at[message->prev].next = message->next;
    }
    if (message->next == 0) {
        channel->tail = message->prev;
    } else {
        sim->messages.at[message->next].prev = message->prev;
    }
    sim_messages_give(&sim->messages, index);
}

static void channel_send(struct sim *sim, uint32_t channel_index, struct sim_party sender)
{
    struct sim_channel *channel = &sim->channels.at[channel_index];
    uint32_t index;
    if (channel->lead < 0) {
        index = channel->half;
        channel->half = sim->messages.at[index].next;
    } else {
        index = message_append(sim, channel_index);
        if (channel->lead == 0) {
            channel->half = index;
        }
    }
    channel->lead++;
    channel->route.sent++;
    struct sim_message *message = &sim->messages.at[index];
    message->flags |= SIM_MESSAGE_SENT;
    message->sender = sender;
    sim->result.messages++;
    bool jitters = sim->config->jitter > 0.0;
    double stretch = jitters ? sim_jitter_stretch(sim, channel->route.src, channel->route.dst) : 1.0;
    if (sim->net.contention) {
        net_send(&sim->net, index, channel->route.src, channel->route.dst, channel->route.bytes, stretch);
        return;
    }
    uint64_t delay = jitters ? ticks_from_double((double)channel->route.delay_ns * stretch) : channel->route.delay_ns;
    (void)event_queue_push(&sim->queue, sim->queue.now + delay, SIM_EVENT_ARRIVAL, index, 0);
}

static void channel_recv(struct sim *sim, uint32_t channel_index, struct sim_party receiver)
{
    struct sim_channel *channel = &sim->channels.at[channel_index];
    uint32_t index;
    if (channel->lead > 0) {
        index = channel->half;
        channel->half = sim->messages.at[index].next;
    } else {
        index = message_append(sim, channel_index);
        if (channel->lead == 0) {
            channel->half = index;
        }
    }
    channel->lead--;
    struct sim_message *message = &sim->messages.at[index];
    message->flags |= SIM_MESSAGE_POSTED;
    message->receiver = receiver;
    if (message->flags & SIM_MESSAGE_ARRIVED) {
        (void)event_queue_push(&sim->queue, sim->queue.now, SIM_EVENT_LATE_RECV, index, 0);
    }
}

static void sim_message_tell(struct sim *sim, struct sim_party party, uint32_t rank)
{
    switch ((enum sim_party_kind)party.kind) {
    case SIM_PARTY_NOBODY:
    case SIM_PARTY_FLOW: /* tell_receiver */
        break;
    case SIM_PARTY_STREAM:
        sim_phase_received(sim, party.a);
        break;
    case SIM_PARTY_FLOW_SENT:
        sim_flows_arrived(sim, party.a, party.b);
        break;
    case SIM_PARTY_NODE:
        sim_workload_node_done(sim, rank, party.a);
        break;
    case SIM_PARTY_CUSTOM:
        sim_custom_node_done(sim, party.a, party.b);
        break;
    case SIM_PARTY_START_SEND:
    case SIM_PARTY_START_RECV: {
        struct sim_deferred wait = sim->deferreds.at[party.a];
        sim_deferreds_give(&sim->deferreds, party.a);
        uint32_t channel = channel_get(sim, wait.src, wait.dst, wait.tag, wait.bytes);
        if (party.kind == SIM_PARTY_START_SEND) {
            channel_send(sim, channel, wait.party);
        } else {
            channel_recv(sim, channel, wait.party);
        }
        break;
    }
    }
}

/* A receive of an NCCL collective takes whichever message of its kind comes first, and hears which one it was. */
static void tell_receiver(struct sim *sim, struct sim_party receiver, struct sim_party sender, uint32_t rank)
{
    if (receiver.kind == SIM_PARTY_FLOW) {
        sim_flows_received(sim, receiver.a, receiver.b, sender.b);
    } else {
        sim_message_tell(sim, receiver, rank);
    }
}

void sim_message_arrived(struct sim *sim, uint32_t index)
{
    struct sim_message *message = &sim->messages.at[index];
    struct sim_party sender = message->sender;
    struct sim_party receiver = message->receiver;
    uint32_t channel = message->channel;
    uint32_t src = sim->channels.at[channel].route.src;
    uint32_t dst = sim->channels.at[channel].route.dst;
    bool posted = (message->flags & SIM_MESSAGE_POSTED) != 0;
    if (!posted) {
        message->flags |= SIM_MESSAGE_ARRIVED;
        sim_message_tell(sim, sender, src);
        return;
    }
    message_remove(sim, index);
    channel_close_if_idle(sim, channel);
    if (sender.kind != SIM_PARTY_NOBODY) {
        sim_message_tell(sim, sender, src);
    }
    tell_receiver(sim, receiver, sender, dst);
}

void sim_message_late_recv(struct sim *sim, uint32_t index)
{
    struct sim_party receiver = sim->messages.at[index].receiver;
    struct sim_party sender = sim->messages.at[index].sender;
    uint32_t channel = sim->messages.at[index].channel;
    uint32_t dst = sim->channels.at[channel].route.dst;
    message_remove(sim, index);
    channel_close_if_idle(sim, channel);
    tell_receiver(sim, receiver, sender, dst);
}

static uint32_t defer(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes, struct sim_party party)
{
    uint32_t index = sim_deferreds_take(&sim->deferreds, sim->mem, &sim->queue.failed);
    sim->deferreds.at[index] =
        (struct sim_deferred){.src = src, .dst = dst, .tag = tag, .bytes = bytes, .party = party};
    return index;
}

void sim_send(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes, struct sim_party sender)
{
    if (!sim->config->rendezvous) {
        channel_send(sim, channel_get(sim, src, dst, tag, bytes), sender);
        return;
    }
    struct sim_party starter = {.kind = SIM_PARTY_START_SEND, .a = defer(sim, src, dst, tag, bytes, sender)};
    channel_recv(sim, channel_get(sim, dst, src, tag + SIM_TAG_RENDEZVOUS, rendezvous_bytes), starter);
}

void sim_recv(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes, struct sim_party receiver)
{
    if (!sim->config->rendezvous) {
        channel_recv(sim, channel_get(sim, src, dst, tag, bytes), receiver);
        return;
    }
    struct sim_party starter = {.kind = SIM_PARTY_START_RECV, .a = defer(sim, src, dst, tag, bytes, receiver)};
    channel_send(sim, channel_get(sim, dst, src, tag + SIM_TAG_RENDEZVOUS, rendezvous_bytes), starter);
}
