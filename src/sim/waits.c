/* SPDX-License-Identifier: Apache-2.0 */
/* Streams tell what they wait for through the lanes and messages that name them; so the tables of lanes and messages
 * are walked, and the streams for those that wait for a slot. */
#include "sim/waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool sim_waits_add(struct sim *sim, struct sim_waits *waits, struct sim_wait wait)
{
    if (!mem_reserve(sim->mem, (void **)&waits->at, &waits->capacity, (uint64_t)waits->count + 1, sizeof *waits->at)) {
        return false;
    }
    waits->at[waits->count++] = wait;
    return true;
}

static uint32_t node_of_stream(const struct sim *sim, uint32_t stream)
{
    return sim->operations.at[sim->streams.at[stream].operation].node;
}

static bool collect_lanes(struct sim *sim, struct sim_waits *waits)
{
    for (uint32_t bucket = 0; bucket <= sim->lane_routes.mask; bucket++) {
        for (uint32_t i = sim->lane_routes.buckets[bucket]; i != 0; i = sim->lanes.at[i].route.chain) {
            const struct sim_lane *lane = &sim->lanes.at[i];
            if (lane->waiting > 0 && !sim_waits_add(sim, waits,
                                                    (struct sim_wait){.kind = SIM_STALL_WHAT_MESSAGE,
                                                                      .rank = lane->route.dst,
                                                                      .node = node_of_stream(sim, lane->receiver),
                                                                      .stream = lane->receiver,
                                                                      .peer = lane->route.src,
                                                                      .bytes = lane->route.bytes,
                                                                      .tag = lane->route.tag})) {
                return false;
            }
        }
    }
    return true;
}

/* A receive that nothing was sent for. */
static bool collect_receive(struct sim *sim, struct sim_waits *waits, const struct sim_channel *channel,
                            const struct sim_party *party)
{
    struct sim_wait wait = {.kind = SIM_STALL_WHAT_RECV,
                            .rank = channel->route.dst,
                            .peer = channel->route.src,
                            .bytes = channel->route.bytes,
                            .tag = channel->route.tag};
    switch ((enum sim_party_kind)party->kind) {
    case SIM_PARTY_NODE:
        wait.node = party->a;
        break;
    case SIM_PARTY_STREAM:
    case SIM_PARTY_FLOW:
        wait.kind = SIM_STALL_WHAT_MESSAGE;
        wait.stream = party->a;
        wait.node = node_of_stream(sim, party->a);
        if (party->kind == SIM_PARTY_FLOW) { /* of a switch: those who act for it */
            wait.rank = sim->streams.at[party->a].rank;
            wait.peer = sim_flows_sender(sim, party->a, party->b);
        }
        break;
    case SIM_PARTY_CUSTOM:
        wait.stream = party->a;
        wait.node = node_of_stream(sim, party->a);
        break;
    case SIM_PARTY_START_SEND: {
        const struct sim_deferred *deferred = &sim->deferreds.at[party->a];
        wait.kind = SIM_STALL_WHAT_SEND;
        wait.bytes = deferred->bytes;
        wait.tag = deferred->tag;
        if (deferred->party.kind == SIM_PARTY_NOBODY) {
            return true; /* a stream's: its receive says the same */
        }
        wait.stream = deferred->party.kind == SIM_PARTY_CUSTOM ? deferred->party.a : 0;
        wait.node = wait.stream != 0 ? node_of_stream(sim, wait.stream) : deferred->party.a;
        break;
    }
    default:
        return true;
    }
    return sim_waits_add(sim, waits, wait);
}

static bool collect_channels(struct sim *sim, struct sim_waits *waits)
{
    for (uint32_t bucket = 0; bucket <= sim->channel_routes.mask; bucket++) {
        for (uint32_t c = sim->channel_routes.buckets[bucket]; c != 0; c = sim->channels.at[c].route.chain) {
            const struct sim_channel *channel = &sim->channels.at[c];
            for (uint32_t m = channel->head; m != 0; m = sim->messages.at[m].next) {
                const struct sim_message *message = &sim->messages.at[m];
                if (message->flags == SIM_MESSAGE_POSTED && !collect_receive(sim, waits, channel, &message->receiver)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static int compare_waits(const void *left, const void *right)
{
    const struct sim_wait *a = left;
    const struct sim_wait *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    if (a->tag != b->tag) {
        return a->tag < b->tag ? -1 : 1;
    }
    if (a->peer != b->peer) {
        return a->peer < b->peer ? -1 : 1;
    }
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static int compare_streams(const void *left, const void *right, void *context)
{
    const struct sim *sim = context;
    const struct sim_stream *a = &sim->streams.at[*(const uint32_t *)left];
    const struct sim_stream *b = &sim->streams.at[*(const uint32_t *)right];
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static bool collect_streams(struct sim *sim, struct sim_waits *waits)
{
    waits->streams = arena_alloc(&sim->arena, (size_t)sim->streams.room.used * sizeof *waits->streams);
    if (waits->streams == NULL) {
        return false;
    }
    for (uint32_t i = 1; i < sim->streams.room.used; i++) {
        const struct sim_stream *stream = &sim->streams.at[i];
        if (!stream->live) {
            continue;
        }
        waits->streams[waits->stream_count++] = i;
        if (!stream->running && !sim_waits_add(sim, waits,
                                               (struct sim_wait){.kind = SIM_STALL_WHAT_SLOT,
                                                                 .rank = stream->rank,
                                                                 .node = node_of_stream(sim, i),
                                                                 .stream = i,
                                                                 .peer = stream->rank,
                                                                 .tag = stream->tag})) {
            return false;
        }
    }
    qsort_r(waits->streams, waits->stream_count, sizeof *waits->streams, compare_streams, sim);
    return true;
}

static bool collect_meetings(struct sim *sim, struct sim_waits *waits)
{
    uint32_t meeting = 0;
    uint32_t index = 0;
    uint32_t absent = 0;
    while (sim_timed_each(sim, &meeting, &index, &absent)) {
        const struct sim_operation *operation = &sim->operations.at[index];
        if (!sim_waits_add(
                sim, waits,
                (struct sim_wait){.kind = SIM_STALL_WHAT_COLLECTIVE,
                                  .rank = operation->rank,
                                  .node = operation->node,
                                  .peer = absent,
                                  .bytes = sim->ranks[operation->rank].graph->nodes[operation->node].comm_bytes})) {
            return false;
        }
    }
    return true;
}

bool sim_waits_collect(struct sim *sim, struct sim_waits *waits)
{
    *waits = (struct sim_waits){0};
    if (!collect_meetings(sim, waits) || !collect_lanes(sim, waits) || !collect_channels(sim, waits) ||
        !collect_streams(sim, waits)) {
        return false;
    }
    if (waits->count > 0) {
        qsort(waits->at, waits->count, sizeof *waits->at, compare_waits);
    }
    waits->first_of_rank = arena_alloc(&sim->arena, ((size_t)sim->rank_count + 1) * sizeof *waits->first_of_rank);
    if (waits->first_of_rank == NULL) {
        return false;
    }
    uint32_t at = 0;
    for (uint32_t rank = 0; rank <= sim->rank_count; rank++) {
        while (at < waits->count && waits->at[at].rank < rank) {
            at++;
        }
        waits->first_of_rank[rank] = at;
    }
    return true;
}

uint32_t sim_waits_first_stream(const struct sim *sim, const struct sim_waits *waits, uint32_t rank, int32_t tag)
{
    uint32_t lo = 0;
    uint32_t hi = waits->stream_count;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        const struct sim_stream *stream = &sim->streams.at[waits->streams[middle]];
        if (stream->rank < rank || (stream->rank == rank && stream->tag < tag)) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

uint32_t sim_waits_find_stream(const struct sim *sim, const struct sim_waits *waits, uint32_t rank, int32_t tag)
{
    uint32_t at = sim_waits_first_stream(sim, waits, rank, tag);
    if (at == waits->stream_count) {
        return 0;
    }
    const struct sim_stream *stream = &sim->streams.at[waits->streams[at]];
    return stream->rank == rank && stream->tag == tag ? waits->streams[at] : 0;
}

uint32_t sim_waits_of_stream(const struct sim_waits *waits, const struct sim *sim, uint32_t stream)
{
    uint32_t rank = sim->streams.at[stream].rank;
    for (uint32_t i = waits->first_of_rank[rank]; i < waits->first_of_rank[rank + 1]; i++) {
        if (waits->at[i].stream == stream) {
            return i;
        }
    }
    return SIM_NONE;
}

bool sim_node_to_come(const struct sim_rank *state, uint32_t node)
{
    if (state->parents_left[node] > 0) {
        return true;
    }
    return sim_slots_is_waiting(state, node);
}

/* ---- sentences ------------------------------------------------------------------------------------------------ */

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

const char *sim_say_node(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct trace_rank *trace = &sim->config->traces->ranks[rank];
    const struct trace_node *trace_node = &trace->graph->nodes[node];
    uint64_t id = trace_rank_node_id(trace, node);
    const char *name = trace_graph_name(trace->graph, node);
    const char *type = trace_node->type == TRACE_COLL ? coll_type_name(trace_node->comm_type) : NULL;
    if (type != NULL) {
        uint32_t group = sim_graph_group(sim->rank_graph[rank], node);
        if (group != SIM_NONE) {
            return or_empty(arena_printf(&sim->arena, "node %" PRIu64 " \"%.60s\" (%s of %" PRIu64 " B in group %d)",
                                         id, name, type, trace_node->comm_bytes, (int)sim->groups[group].group->id));
        }
        return or_empty(arena_printf(&sim->arena, "node %" PRIu64 " \"%.60s\" (%s of %" PRIu64 " B)", id, name, type,
                                     trace_node->comm_bytes));
    }
    return or_empty(arena_printf(&sim->arena, "node %" PRIu64 " \"%.60s\"", id, name));
}

/* "chunk 2 in phase 1 of 5 (reduce-scatter over dimension 0)" */
static const char *sim_say_stream(struct sim *sim, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_operation *operation = &sim->operations.at[stream->operation];
    if (operation->plan == NULL) {
        return "its custom algorithm";
    }
    const struct coll_phase *phase = &operation->plan->phases[stream->phase_index].coll;
    return or_empty(arena_printf(&sim->arena, "chunk %u of %u in phase %u of %u (%s over dimension %u)",
                                 stream->chunk + 1, operation->streams, stream->phase_index + 1,
                                 operation->plan->phase_count, coll_type_name((int32_t)phase->type), phase->dim));
}

const char *sim_say_wait(struct sim *sim, const struct sim_wait *wait)
{
    const char *node = sim_say_node(sim, wait->rank, wait->node);
    switch (wait->kind) {
    case SIM_STALL_WHAT_MESSAGE:
        return or_empty(arena_printf(&sim->arena, "rank %u: %s, %s: waits for %" PRIu64 " B from rank %u", wait->rank,
                                     node, sim_say_stream(sim, wait->stream), wait->bytes, wait->peer));
    case SIM_STALL_WHAT_SLOT:
        return or_empty(arena_printf(&sim->arena, "rank %u: %s, %s: waits for a slot of that dimension", wait->rank,
                                     node, sim_say_stream(sim, wait->stream)));
    case SIM_STALL_WHAT_RECV:
        return or_empty(arena_printf(
            &sim->arena, "rank %u: %s%s: waits to receive %" PRIu64 " B with tag %d from rank %u", wait->rank, node,
            wait->stream != 0 ? ", its custom algorithm" : "", wait->bytes, (int)wait->tag, wait->peer));
    case SIM_STALL_WHAT_COLLECTIVE:
        return or_empty(
            arena_printf(&sim->arena, "rank %u: %s: waits for rank %u to join it", wait->rank, node, wait->peer));
    case SIM_STALL_WHAT_SEND:
        break;
    }
    return or_empty(arena_printf(&sim->arena,
                                 "rank %u: %s: waits for rank %u to be ready for %" PRIu64 " B with tag %d", wait->rank,
                                 node, wait->peer, wait->bytes, (int)wait->tag));
}
