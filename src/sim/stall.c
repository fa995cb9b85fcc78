/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From every stuck rank the chain of who waits for whom is followed to its end. It ends where something will never come
 * (a rank that has finished, a message nobody will send, ranks that disagree), or it comes round: then it is a cycle.
 * Either is a finding, told once however many ranks wait behind it.
 */
#include <inttypes.h>
#include <string.h>

#include "sim/waits.h"

enum { MAX_FINDINGS = 12, MAX_WAITS_TOLD = 256, MAX_CYCLE_TOLD = 64 };

const char *sim_stall_kind_name(enum sim_stall_kind kind)
{
    static const char *const names[] = {
#define SIM_STALL_X(name, text) text,
        SIM_STALL_KINDS(SIM_STALL_X)
#undef SIM_STALL_X
    };
    return names[kind];
}

const char *sim_stall_what_name(enum sim_stall_what what)
{
    static const char *const names[] = {
#define SIM_STALL_X(name, text) text,
        SIM_STALL_WHATS(SIM_STALL_X)
#undef SIM_STALL_X
    };
    return names[what];
}

struct diagnosis {
    struct sim *sim;
    struct sim_waits waits;
    struct sim_stall_finding *findings;
    uint32_t finding_count;
    uint32_t *walk; /* by wait: number of the walk that came by, 0 = none */
};

static uint64_t node_id(const struct sim *sim, uint32_t rank, uint32_t node)
{
    return trace_rank_node_id(&sim->config->traces->ranks[rank], node);
}

/* Keeps a finding; ranks and nodes (as many or fewer) are copied. Texts live in the arena. */
static void sim_stall_tell(struct diagnosis *d, enum sim_stall_kind kind, const char *text, const char *fix,
                           const uint32_t *ranks, uint32_t rank_count, const uint64_t *nodes, uint32_t node_count)
{
    if (d->finding_count == MAX_FINDINGS || text == NULL) {
        return;
    }
    for (uint32_t i = 0; i < d->finding_count; i++) {
        if (strcmp(d->findings[i].text, text) == 0) {
            return;
        }
    }
    uint32_t *own_ranks = arena_alloc(&d->sim->arena, rank_count * sizeof *own_ranks);
    uint64_t *own_nodes = arena_alloc(&d->sim->arena, node_count * sizeof *own_nodes);
    if (own_ranks == NULL || own_nodes == NULL) {
        return;
    }
    if (rank_count > 0) {
        memcpy(own_ranks, ranks, rank_count * sizeof *own_ranks);
    }
    if (node_count > 0) {
        memcpy(own_nodes, nodes, node_count * sizeof *own_nodes);
    }
    d->findings[d->finding_count++] = (struct sim_stall_finding){.kind = kind,
                                                                 .text = text,
                                                                 .fix = fix,
                                                                 .ranks = own_ranks,
                                                                 .rank_count = rank_count,
                                                                 .nodes = own_nodes,
                                                                 .node_count = node_count};
}

static void tell_pair(struct diagnosis *d, enum sim_stall_kind kind, const struct sim_wait *wait, uint32_t other_node,
                      const char *text, const char *fix)
{
    uint32_t ranks[2] = {wait->rank, wait->peer};
    uint64_t nodes[2] = {node_id(d->sim, wait->rank, wait->node)};
    if (other_node != SIM_NONE) {
        nodes[1] = node_id(d->sim, wait->peer, other_node);
    }
    sim_stall_tell(d, kind, text, fix, ranks, 2, nodes, other_node == SIM_NONE ? 1 : 2);
}

/* ---- point to point ------------------------------------------------------------------------------------------- */

/* A message from `wait`'s peer that arrived and was never received: the nearest thing to what the rank waits for. */
static const struct sim_channel *unclaimed_message(const struct sim *sim, const struct sim_wait *wait, uint32_t *node)
{
    for (uint32_t bucket = 0; bucket <= sim->channel_routes.mask; bucket++) {
        for (uint32_t c = sim->channel_routes.buckets[bucket]; c != 0; c = sim->channels.at[c].route.chain) {
            const struct sim_channel *channel = &sim->channels.at[c];
            if (channel->route.src != wait->peer || channel->route.dst != wait->rank || channel->head == 0 ||
                channel->lead <= 0) {
                continue;
            }
            const struct sim_message *message = &sim->messages.at[channel->half];
            if (message->sender.kind == SIM_PARTY_NODE) {
                *node = message->sender.a;
                return channel;
            }
        }
    }
    return NULL;
}

/* A node the peer has left that would serve this receive (or send), or SIM_NONE. */
static uint32_t peer_partner(const struct sim *sim, const struct sim_wait *wait)
{
    const struct sim_rank *peer = &sim->ranks[wait->peer];
    bool wants_send = wait->kind == SIM_STALL_WHAT_RECV;
    for (uint32_t i = 0; i < peer->graph->node_count; i++) {
        const struct trace_node *node = &peer->graph->nodes[i];
        int32_t other = wants_send ? node->comm_dst : node->comm_src;
        if (node->type == (wants_send ? TRACE_SEND : TRACE_RECV) && other == (int32_t)wait->rank &&
            node->comm_bytes == wait->bytes && sim_tag_native(node->comm_tag) == wait->tag &&
            sim_node_to_come(peer, i)) {
            return i;
        }
    }
    return SIM_NONE;
}

static void tell_unmatched(struct diagnosis *d, const struct sim_wait *wait)
{
    struct sim *sim = d->sim;
    bool receives = wait->kind == SIM_STALL_WHAT_RECV;
    const char *says = sim_say_wait(sim, wait);
    uint32_t sent_node = SIM_NONE;
    const struct sim_channel *near = receives ? unclaimed_message(sim, wait, &sent_node) : NULL;
    enum sim_stall_kind kind = receives ? SIM_STALL_UNMATCHED_RECV : SIM_STALL_UNMATCHED_SEND;
    if (near != NULL) {
        tell_pair(d, kind, wait, sent_node,
                  arena_printf(&sim->arena, "%s, but rank %u sent it %" PRIu64 " B with tag %d (%s): %s", says,
                               wait->peer, near->route.bytes, (int)near->route.tag,
                               sim_say_node(sim, wait->peer, sent_node),
                               near->route.tag != wait->tag ? "the tags differ" : "the sizes differ"),
                  "give the send and the receive the same comm_size and comm_tag");
        return;
    }
    const char *state = sim->ranks[wait->peer].finished ? "has finished" : "has nothing left that matches";
    tell_pair(d, kind, wait, SIM_NONE, arena_printf(&sim->arena, "%s, and rank %u %s", says, wait->peer, state),
              receives ? "add the missing send to that rank's trace, or remove the receive"
                       : "add the missing receive to that rank's trace, or remove the send");
}

/* ---- collectives ---------------------------------------------------------------------------------------------- */

/* The first collective of the same group that the peer has to come, or SIM_NONE. */
static uint32_t peer_may_join(const struct sim *sim, const struct sim_wait *wait)
{
    const struct sim_rank *peer = &sim->ranks[wait->peer];
    uint32_t group = sim_graph_group(sim->rank_graph[wait->rank], wait->node);
    for (uint32_t i = 0; i < peer->graph->node_count; i++) {
        if (peer->graph->nodes[i].type == TRACE_COLL && sim_graph_group(sim->rank_graph[wait->peer], i) == group &&
            sim_node_to_come(peer, i)) {
            return i;
        }
    }
    return SIM_NONE;
}

/* A collective the rank is in, of the same group as the wait's if there is one such; SIM_NONE. Under policy streams
 * there may be one on each stream. */
static uint32_t collective_in_flight(const struct sim *sim, const struct sim_waits *waits, const struct sim_wait *wait)
{
    uint32_t group = sim_graph_group(sim->rank_graph[wait->rank], wait->node);
    uint32_t found = SIM_NONE;
    for (uint32_t i = sim_waits_first_stream(sim, waits, wait->peer, INT32_MIN); i < waits->stream_count; i++) {
        const struct sim_stream *stream = &sim->streams.at[waits->streams[i]];
        if (stream->rank != wait->peer) {
            break;
        }
        const struct sim_operation *operation = &sim->operations.at[stream->operation];
        if (operation->group == group) {
            return operation->node;
        }
        found = operation->node;
    }
    return found;
}

static bool same_collective(const struct sim *sim, const struct sim_wait *wait, uint32_t stream)
{
    const struct sim_operation *mine = &sim->operations.at[sim->streams.at[wait->stream].operation];
    const struct sim_operation *theirs = &sim->operations.at[sim->streams.at[stream].operation];
    return mine->plan == theirs->plan && mine->custom == theirs->custom;
}

/* Two ranks that give the collective of this wait, or one before it, different sizes; false when they do not. What is
 * left over when the chunks do not come out even looks like anything but that. */
static bool tell_sizes(struct diagnosis *d, const struct sim_wait *wait)
{
    struct sim *sim = d->sim;
    if (wait->stream == 0) {
        return false;
    }
    const struct sim_operation *operation = &sim->operations.at[sim->streams.at[wait->stream].operation];
    const struct sim_agreement *odds = sim_agree_at_odds(sim, operation, wait->peer);
    if (odds == NULL) {
        return false;
    }
    const struct sim_issued *first = &odds->first;
    const struct sim_issued *other = &odds->other;
    uint32_t ranks[] = {first->rank, other->rank};
    uint64_t nodes[] = {node_id(sim, first->rank, first->node), node_id(sim, other->rank, other->node)};
    const char *text = arena_printf(&sim->arena, "rank %u has %s where rank %u has %s: the sizes differ", first->rank,
                                    sim_say_node(sim, first->rank, first->node), other->rank,
                                    sim_say_node(sim, other->rank, other->node));
    sim_stall_tell(d, SIM_STALL_SIZES_DIFFER, text, "give the collective the same comm_size on all ranks", ranks, 2,
                   nodes, 2);
    return true;
}

static void tell_disagreement(struct diagnosis *d, const struct sim_wait *wait, uint32_t other_node)
{
    struct sim *sim = d->sim;
    if (tell_sizes(d, wait)) {
        return;
    }
    tell_pair(d, SIM_STALL_ORDER_DIFFERS, wait, other_node,
              arena_printf(&sim->arena, "rank %u is in %s while rank %u is in %s: they are not at the same collective",
                           wait->rank, sim_say_node(sim, wait->rank, wait->node), wait->peer,
                           sim_say_node(sim, wait->peer, other_node)),
              "let all ranks issue their collectives in the same order (dependencies between them fix it)");
}

static void tell_never_joins(struct diagnosis *d, const struct sim_wait *wait)
{
    if (tell_sizes(d, wait)) {
        return;
    }
    struct sim *sim = d->sim;
    const char *state = sim->ranks[wait->peer].finished ? "has finished without it" : "has no such collective to come";
    tell_pair(d, SIM_STALL_RANK_NEVER_JOINS, wait, SIM_NONE,
              arena_printf(&sim->arena, "rank %u never joins %s, in which rank %u waits for it: it %s", wait->peer,
                           sim_say_node(sim, wait->rank, wait->node), wait->rank, state),
              "add the collective to that rank's trace, or take the rank out of the group");
}

/* ---- following ------------------------------------------------------------------------------------------------ */

/* The running stream that holds a place in the queue this stream stands in line for, or 0. */
static uint32_t holder_of_slot(const struct sim *sim, const struct sim_waits *waits, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    for (uint32_t i = sim_waits_first_stream(sim, waits, stream->rank, INT32_MIN); i < waits->stream_count; i++) {
        const struct sim_stream *other = &sim->streams.at[waits->streams[i]];
        if (other->rank != stream->rank) {
            break;
        }
        if (other->queue == stream->queue && other->running) {
            return waits->streams[i];
        }
    }
    return 0;
}

static uint32_t wait_of_node(const struct sim_waits *waits, uint32_t rank, uint32_t node)
{
    for (uint32_t i = waits->first_of_rank[rank]; i < waits->first_of_rank[rank + 1]; i++) {
        if (waits->at[i].node == node) {
            return i;
        }
    }
    return SIM_NONE;
}

/* Why a node to come does not come: the wait of an ancestor in flight, or of the node that has its slot. SIM_NONE when
 * its ancestors wait for each other: that is told on its own. */
static uint32_t what_holds_up(const struct sim *sim, const struct sim_waits *waits, uint32_t rank, uint32_t node)
{
    const struct sim_rank *state = &sim->ranks[rank];
    const struct trace_graph *graph = state->graph;
    for (uint32_t steps = 0; steps <= graph->node_count && state->parents_left[node] > 0; steps++) {
        const uint32_t *parents = graph->parents + graph->parent_start[node];
        uint32_t behind = SIM_NONE;
        for (uint32_t i = 0; i < graph->parent_written[node]; i++) {
            uint32_t wait = wait_of_node(waits, rank, parents[i]);
            if (wait != SIM_NONE) {
                return wait;
            }
            behind = behind == SIM_NONE && sim_node_to_come(state, parents[i]) ? parents[i] : behind;
        }
        if (behind == SIM_NONE) {
            return SIM_NONE;
        }
        node = behind;
    }
    uint32_t holder = state->parents_left[node] == 0 ? sim_slots_holder(state, node) : SIM_NONE;
    return holder != SIM_NONE ? wait_of_node(waits, rank, holder) : SIM_NONE;
}

/* Whether the peer has been in the collective of this wait, or is. */
static bool peer_joined(const struct sim *sim, const struct sim_wait *wait)
{
    const struct sim_stream *stream = &sim->streams.at[wait->stream];
    uint32_t group = sim->operations.at[stream->operation].group;
    if (group == SIM_NONE) {
        return sim->ranks[wait->peer].stream_counter > stream->id;
    }
    return sim->groups[group].next_stream[sim_group_place(sim, group, wait->peer)] > stream->id;
}

/* A message of a custom collective: the peer waits in the same one, is not there yet, or has not got it in its trace.
 */
static uint32_t follow_custom(struct diagnosis *d, const struct sim_wait *wait)
{
    const struct sim *sim = d->sim;
    uint32_t stream = sim_waits_find_stream(sim, &d->waits, wait->peer, sim->streams.at[wait->stream].tag);
    uint32_t next = stream == 0 ? SIM_NONE : sim_waits_of_stream(&d->waits, sim, stream);
    if (next != SIM_NONE) {
        return next;
    }
    if (peer_joined(sim, wait)) {
        tell_unmatched(d, wait);
        return SIM_NONE;
    }
    uint32_t joining = peer_may_join(sim, wait);
    if (joining != SIM_NONE) {
        return what_holds_up(sim, &d->waits, wait->peer, joining);
    }
    tell_never_joins(d, wait);
    return SIM_NONE;
}

/* Where the chain goes from here: the next wait, or SIM_NONE where it ends (and the reason has been told). */
static uint32_t sim_stall_follow(struct diagnosis *d, uint32_t index)
{
    const struct sim *sim = d->sim;
    const struct sim_waits *waits = &d->waits;
    const struct sim_wait *wait = &waits->at[index];
    switch (wait->kind) {
    case SIM_STALL_WHAT_SLOT: {
        uint32_t holder = holder_of_slot(sim, waits, wait->stream);
        return holder == 0 ? SIM_NONE : sim_waits_of_stream(waits, sim, holder);
    }
    case SIM_STALL_WHAT_MESSAGE: {
        uint32_t stream = sim_waits_find_stream(sim, waits, wait->peer, wait->tag);
        if (stream != 0 && same_collective(sim, wait, stream)) {
            return sim_waits_of_stream(waits, sim, stream);
        }
        if (stream != 0) {
            tell_disagreement(d, wait, sim->operations.at[sim->streams.at[stream].operation].node);
            return SIM_NONE;
        }
        uint32_t joining = peer_may_join(sim, wait);
        if (joining != SIM_NONE) {
            return what_holds_up(sim, waits, wait->peer, joining);
        }
        uint32_t other = collective_in_flight(sim, waits, wait);
        if (other != SIM_NONE && sim_graph_group(sim->rank_graph[wait->peer], other) ==
                                     sim_graph_group(sim->rank_graph[wait->rank], wait->node)) {
            tell_disagreement(d, wait, other);
        } else {
            tell_never_joins(d, wait);
        }
        return SIM_NONE;
    }
    case SIM_STALL_WHAT_COLLECTIVE: {
        uint32_t joining = peer_may_join(sim, wait);
        if (joining != SIM_NONE) {
            return what_holds_up(sim, waits, wait->peer, joining);
        }
        tell_never_joins(d, wait);
        return SIM_NONE;
    }
    case SIM_STALL_WHAT_RECV:
    case SIM_STALL_WHAT_SEND:
        break;
    }
    if (wait->stream != 0) {
        return follow_custom(d, wait);
    }
    uint32_t partner = peer_partner(sim, wait);
    if (partner == SIM_NONE) {
        tell_unmatched(d, wait);
        return SIM_NONE;
    }
    return what_holds_up(sim, waits, wait->peer, partner);
}

/* ---- cycles --------------------------------------------------------------------------------------------------- */

/* What kind of cycle it is: all of one collective's streams, collectives at odds, or messages. */
static enum sim_stall_kind cycle_kind(const struct diagnosis *d, const uint32_t *cycle, uint32_t length)
{
    bool slots = false;
    bool messages = false;
    for (uint32_t i = 0; i < length; i++) {
        enum sim_stall_what kind = d->waits.at[cycle[i]].kind;
        slots = slots || kind == SIM_STALL_WHAT_SLOT;
        messages = messages || kind == SIM_STALL_WHAT_MESSAGE;
    }
    if (slots) {
        return SIM_STALL_ADMISSION_CYCLE;
    }
    return messages ? SIM_STALL_ORDER_DIFFERS : SIM_STALL_MESSAGE_CYCLE;
}

static const char *cycle_fix(enum sim_stall_kind kind)
{
    switch (kind) {
    case SIM_STALL_ADMISSION_CYCLE:
        return "raise active-chunks-per-dimension to the number of chunks, or use parameter 'policy' safe";
    case SIM_STALL_ORDER_DIFFERS:
        return "let all ranks issue their collectives and messages in the same order";
    default:
        return "let one of these ranks send before it receives";
    }
}

static void tell_cycle(struct diagnosis *d, const uint32_t *cycle, uint32_t length)
{
    struct sim *sim = d->sim;
    enum sim_stall_kind kind = cycle_kind(d, cycle, length);
    uint32_t told = length < MAX_CYCLE_TOLD ? length : MAX_CYCLE_TOLD;
    for (uint32_t i = 0; i < told; i++) {
        if (tell_sizes(d, &d->waits.at[cycle[i]])) {
            return;
        }
    }
    uint32_t ranks[MAX_CYCLE_TOLD];
    uint64_t nodes[MAX_CYCLE_TOLD];
    const char *text = arena_printf(&sim->arena, "a cycle of %u: ", length);
    for (uint32_t i = 0; i < told && text != NULL; i++) {
        const struct sim_wait *wait = &d->waits.at[cycle[i]];
        ranks[i] = wait->rank;
        nodes[i] = node_id(sim, wait->rank, wait->node);
        text = arena_printf(&sim->arena, "%s%s%s", text, i == 0 ? "" : "; ", sim_say_wait(sim, wait));
    }
    text = text == NULL ? NULL : arena_printf(&sim->arena, "%s; and round again", text);
    sim_stall_tell(d, kind, text, cycle_fix(kind), ranks, told, nodes, told);
}

/* Follows the chain from `start`; numbers are walks, so that a wait seen in this walk closes a cycle and one seen in an
 * earlier walk has been told. */
static void walk_from(struct diagnosis *d, uint32_t start, uint32_t number)
{
    uint32_t at = start;
    while (at != SIM_NONE && d->walk[at] == 0) {
        d->walk[at] = number;
        at = sim_stall_follow(d, at);
    }
    if (at == SIM_NONE || d->walk[at] != number) {
        return;
    }
    uint32_t cycle[MAX_CYCLE_TOLD];
    uint32_t length = 0;
    uint32_t first = at;
    do {
        if (length < MAX_CYCLE_TOLD) {
            cycle[length] = at;
        }
        length++;
        at = sim_stall_follow(d, at);
    } while (at != first);
    tell_cycle(d, cycle, length);
}

/* ---- dependency cycles ---------------------------------------------------------------------------------------- */

static void tell_dependency_cycle(struct diagnosis *d, uint32_t rank)
{
    struct sim *sim = d->sim;
    uint32_t cycle[MAX_CYCLE_TOLD];
    uint32_t ranks[MAX_CYCLE_TOLD];
    uint64_t nodes[MAX_CYCLE_TOLD];
    uint32_t length = sim_find_dependency_cycle(sim, rank, cycle, MAX_CYCLE_TOLD);
    if (length == 0) {
        return;
    }
    uint32_t told = length < MAX_CYCLE_TOLD ? length : MAX_CYCLE_TOLD;
    const struct trace_set *traces = sim->config->traces;
    const char *text =
        arena_printf(&sim->arena, "%s.%u.et: dependency cycle: ", traces->prefix, traces->ranks[rank].file);
    for (uint32_t i = 0; i < told && text != NULL; i++) {
        ranks[i] = rank;
        nodes[i] = node_id(sim, rank, cycle[i]);
        text = arena_printf(&sim->arena, "%snode %" PRIu64 " waits for ", text, nodes[i]);
    }
    text = text == NULL ? NULL : arena_printf(&sim->arena, "%snode %" PRIu64, text, nodes[0]);
    sim_stall_tell(d, SIM_STALL_DEPENDENCY_CYCLE, text, "remove one of these dependencies", ranks, told, nodes, told);
}

static void find_dependency_cycles(struct diagnosis *d)
{
    struct sim *sim = d->sim;
    for (uint32_t rank = 0; rank < sim->rank_count && d->finding_count < MAX_FINDINGS; rank++) {
        /* Ranks that share a trace share its cycles. */
        bool known = rank > 0 && sim->ranks[rank].graph == sim->ranks[rank - 1].graph;
        uint32_t done = sim->result.rows[rank].nodes_done;
        if (!known && done < sim->ranks[rank].graph->node_count) {
            tell_dependency_cycle(d, rank);
        }
    }
}

/* ---- putting it together -------------------------------------------------------------------------------------- */

static void tell_waits(struct diagnosis *d)
{
    struct sim_stall *stall = &d->sim->result.stall;
    uint32_t told = d->waits.count < MAX_WAITS_TOLD ? d->waits.count : MAX_WAITS_TOLD;
    struct sim_stall_wait *waits = arena_alloc(&d->sim->arena, told * sizeof *waits);
    if (waits == NULL) {
        return;
    }
    for (uint32_t i = 0; i < told; i++) {
        const struct sim_wait *wait = &d->waits.at[i];
        waits[i] = (struct sim_stall_wait){.rank = wait->rank,
                                           .peer = wait->peer,
                                           .node = node_id(d->sim, wait->rank, wait->node),
                                           .bytes = wait->bytes,
                                           .since_ns = sim_account_since(d->sim, wait->rank, wait->node),
                                           .what = wait->kind,
                                           .text = sim_say_wait(d->sim, wait)};
    }
    stall->waits = waits;
    stall->wait_count = told;
    stall->wait_total = d->waits.count;
}

/* What the network says of messages it has and will never hand over. */
static bool ask_network(struct diagnosis *d)
{
    struct sim *sim = d->sim;
    struct net_stuck stuck[MAX_FINDINGS];
    uint32_t count =
        sim->net.ops->explain == NULL ? 0 : sim->net.ops->explain(&sim->net, &sim->arena, stuck, MAX_FINDINGS);
    for (uint32_t i = 0; i < count; i++) {
        sim_stall_tell(d, SIM_STALL_NETWORK, stuck[i].text, stuck[i].fix, stuck[i].ranks, stuck[i].rank_count, NULL, 0);
    }
    return count > 0;
}

static void diagnose(struct diagnosis *d)
{
    find_dependency_cycles(d);
    /* A message that is stuck in the network looks to its receiver as if nobody sent it: then the network alone is
     * asked.
     */
    bool in_network = ask_network(d);
    for (uint32_t i = 0; !in_network && i < d->waits.count && d->finding_count < MAX_FINDINGS; i++) {
        if (d->walk[i] == 0) {
            walk_from(d, i, i + 1);
        }
    }
    tell_waits(d);
    struct sim_stall *stall = &d->sim->result.stall;
    stall->findings = d->findings;
    stall->finding_count = d->finding_count;
    if (d->finding_count > 0) {
        stall->kind = d->findings[0].kind;
    }
}

void sim_stall_diagnose(struct sim *sim)
{
    struct diagnosis d = {.sim = sim};
    sim->result.stall.kind = SIM_STALL_WAITS;
    d.findings = arena_zalloc(&sim->arena, MAX_FINDINGS * sizeof *d.findings);
    bool collected = sim_waits_collect(sim, &d.waits);
    d.walk = arena_zalloc(&sim->arena, (size_t)d.waits.count * sizeof *d.walk);
    if (collected && d.findings != NULL && d.walk != NULL) {
        diagnose(&d);
    }
    mem_free(sim->mem, d.waits.at, (size_t)d.waits.capacity * sizeof *d.waits.at);
}
