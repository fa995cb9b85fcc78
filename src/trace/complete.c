/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each made rank is a copy of the recorded graph with other groups and peers (replicate_graph.h). What a stage has to
 * do beyond that takes the place of nodes that are there already, so that edges stay as they are: the receive of what
 * the stage before sends stands where the recorded rank goes on after its previous message, the send back where it is
 * about to wait for the next one. Messages of all stages then come in one order, that of the recorded rank's own, and
 * nobody waits for what is behind him.
 */
#include "trace/complete.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/digits.h"
#include "trace/replicate_graph.h"

#define NOWHERE UINT32_MAX

/* A send or receive of the recorded rank, in the order of its nodes. */
struct message {
    uint32_t node;
    uint32_t stand_in; /* the node that becomes its image's other half; NOWHERE */
    uint32_t peer;
    bool sends;
};

struct completing {
    const struct trace_set *source;
    const struct trace_group *groups;
    uint32_t group_count;
    const struct trace_layout *layout;
    bool (*varies)[TRACE_ROLES_MAX]; /* by group */
    uint32_t pipeline;               /* role that messages go along; NOWHERE: there are none */
    bool ring;                       /* messages go both ways: every stage does the same, round a ring */
    struct message *messages;
    uint32_t message_count;
    int32_t *ids; /* by group and rank: the id of its image there */
    uint32_t ranks;
    struct arena *arena;
    struct mem *mem;
    struct trace_grown *grown;
    struct trace_graph **made;
    uint32_t made_count, made_capacity;
    struct orr_error *err;
};

static enum orr_status complete_no_memory(const struct completing *c)
{
    return mem_error(c->mem, "the ranks of the whole job", c->err);
}

/* ---- groups ---- */

/* The rank that stands for all of its image of a group: the member with zeros where the group varies. */
static uint32_t home_of(const struct completing *c, uint32_t group, uint32_t rank)
{
    struct digits digits = digits_of(c->layout, rank);
    for (uint32_t role = 0; role < c->layout->role_count; role++) {
        digits.of[role] = c->varies[group][role] ? 0 : digits.of[role];
    }
    return rank_of(c->layout, &digits);
}

/* Members of a group's image: the group's own digits where it varies, those of `home` elsewhere. */
static enum orr_status add_image(struct completing *c, uint32_t group, uint32_t home, int32_t id)
{
    const struct trace_group *from = &c->groups[group];
    uint32_t *ranks = arena_alloc(c->arena, (size_t)from->count * sizeof *ranks);
    struct digits base = digits_of(c->layout, home);
    if (ranks == NULL) {
        return complete_no_memory(c);
    }
    for (uint32_t i = 0; i < from->count; i++) {
        struct digits digits = digits_of(c->layout, from->ranks[i]);
        for (uint32_t role = 0; role < c->layout->role_count; role++) {
            digits.of[role] = c->varies[group][role] ? digits.of[role] : base.of[role];
        }
        ranks[i] = rank_of(c->layout, &digits);
    }
    c->grown->groups[c->grown->group_count++] = (struct trace_group){.id = id, .count = from->count, .ranks = ranks};
    return ORR_OK;
}

static enum orr_status complete_check_group(const struct completing *c, uint32_t group)
{
    const struct trace_group *at = &c->groups[group];
    if (digits_vary(c->layout, at, c->varies[group])) {
        return ORR_OK;
    }
    return error_set(c->err, ORR_EINVAL,
                     "group %" PRId32 " (%" PRIu32 " ranks, the first %" PRIu32 ") does not lie along the roles of a "
                     "job of %" PRIu32
                     " ranks; say how it is split, fastest role first, as in parameter 'parallel' tp:2,dp:4",
                     at->id, at->count, at->ranks[0], c->ranks);
}

static int complete_compare_groups(const void *left, const void *right)
{
    const struct trace_group *a = left;
    const struct trace_group *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static enum orr_status complete_make_groups(struct completing *c)
{
    int32_t next = 1;
    uint64_t room = 0;
    c->varies = arena_zalloc(c->arena, ((size_t)c->group_count + 1) * sizeof *c->varies);
    c->ids = arena_zalloc(c->arena, ((size_t)c->group_count * c->ranks + 1) * sizeof *c->ids);
    if (c->varies == NULL || c->ids == NULL) {
        return complete_no_memory(c);
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        enum orr_status status = complete_check_group(c, i);
        if (status != ORR_OK) {
            return status;
        }
        next = c->groups[i].id >= next ? c->groups[i].id + 1 : next;
        room += c->ranks / c->groups[i].count;
    }
    c->grown->groups = arena_alloc(c->arena, ((size_t)room + 1) * sizeof *c->grown->groups);
    if (c->grown->groups == NULL || room + (uint64_t)next > INT32_MAX) {
        return complete_no_memory(c);
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t recorded = home_of(c, i, c->groups[i].ranks[0]);
        int32_t *ids = &c->ids[(size_t)i * c->ranks];
        for (uint32_t rank = 0; rank < c->ranks; rank++) {
            uint32_t home = home_of(c, i, rank);
            if (home != rank) {
                ids[rank] = ids[home]; /* which is lower, and has been given one */
                continue;
            }
            ids[rank] = home == recorded ? c->groups[i].id : next++;
            enum orr_status status = add_image(c, i, home, ids[rank]);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    qsort(c->grown->groups, c->grown->group_count, sizeof *c->grown->groups, complete_compare_groups);
    return ORR_OK;
}

/* ---- messages ---- */

static const struct trace_graph *recorded_graph(const struct completing *c)
{
    return c->source->ranks[0].graph;
}

static enum orr_status refuse_message(const struct completing *c, const struct trace_node *node, const char *why)
{
    return error_set(c->err, ORR_EINVAL, "%s.0.et: node %" PRIu64 " \"%.80s\": %s", c->source->prefix, node->id,
                     recorded_graph(c)->strings + node->name, why);
}

/* Along which role a message goes: the only digit that the peer has not zero. */
static uint32_t role_of(const struct completing *c, uint32_t peer)
{
    struct digits digits = digits_of(c->layout, peer);
    uint32_t found = NOWHERE;
    for (uint32_t role = 0; role < c->layout->role_count; role++) {
        if (digits.of[role] != 0) {
            if (found != NOWHERE) {
                return NOWHERE;
            }
            found = role;
        }
    }
    return found;
}

static enum orr_status take_message(struct completing *c, uint32_t index)
{
    const struct trace_node *node = &recorded_graph(c)->nodes[index];
    bool sends = node->type == TRACE_SEND;
    int32_t peer = sends ? node->comm_dst : node->comm_src;
    uint32_t role = peer <= 0 || (uint32_t)peer >= c->ranks ? NOWHERE : role_of(c, (uint32_t)peer);
    if (role == NOWHERE || (c->pipeline != NOWHERE && c->pipeline != role)) {
        return refuse_message(c, node,
                              "its peer lies along no single role, so that the other ranks' messages cannot be told; "
                              "say how the job is split (parameter 'parallel'), or record all ranks");
    }
    c->pipeline = role;
    c->messages[c->message_count++] =
        (struct message){.node = index, .stand_in = NOWHERE, .peer = (uint32_t)peer, .sends = sends};
    return ORR_OK;
}

static uint32_t stage_of(const struct completing *c, uint32_t rank)
{
    return digits_of(c->layout, rank).of[c->pipeline];
}

/* Of two stages the next is also the one before: then there is a first and a last. */
static bool complete_is_before(const struct completing *c, const struct message *message)
{
    uint32_t stages = c->layout->roles[c->pipeline].size;
    return stages > 2 && stage_of(c, message->peer) == stages - 1;
}

/* In a ring of equal stages, what comes from behind must have been sent before: the k-th send forward stands before the
 * k-th receive from behind, and likewise the other way round. */
static enum orr_status check_ring(struct completing *c)
{
    int64_t ahead[2] = {0, 0}; /* sends less receives, forward and backward */
    for (uint32_t i = 0; i < c->message_count; i++) {
        const struct message *message = &c->messages[i];
        unsigned way = complete_is_before(c, message) == message->sends;
        ahead[way] += message->sends ? 1 : -1;
        if (ahead[way] < 0) {
            return refuse_message(c, &recorded_graph(c)->nodes[message->node],
                                  "it waits for a stage that waits for it in turn; one rank of each stage has to be "
                                  "recorded");
        }
    }
    return ORR_OK;
}

static enum orr_status find_messages(struct completing *c)
{
    const struct trace_graph *graph = recorded_graph(c);
    bool before = false;
    bool after = false;
    c->pipeline = NOWHERE;
    c->messages = arena_alloc(c->arena, ((size_t)graph->other_count + 1) * sizeof *c->messages);
    if (c->messages == NULL) {
        return complete_no_memory(c);
    }
    for (uint32_t i = 0; i < graph->other_count; i++) {
        uint8_t type = graph->nodes[graph->others[i]].type;
        enum orr_status status = type == TRACE_SEND || type == TRACE_RECV ? take_message(c, graph->others[i]) : ORR_OK;
        if (status != ORR_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; i < c->message_count; i++) {
        uint32_t stage = stage_of(c, c->messages[i].peer);
        if (stage != 1 && !complete_is_before(c, &c->messages[i])) {
            return refuse_message(c, &recorded_graph(c)->nodes[c->messages[i].node],
                                  "it goes neither to the next stage nor to the one before; one rank of each stage has "
                                  "to be recorded");
        }
        before = before || complete_is_before(c, &c->messages[i]);
        after = after || !complete_is_before(c, &c->messages[i]);
    }
    c->ring = before && after;
    return c->ring ? check_ring(c) : ORR_OK;
}

/* ---- where a stage receives from the one before, and sends back to it ---- */

static bool is_free(const struct trace_graph *graph, const bool *taken, uint32_t node)
{
    return graph->nodes[node].type == TRACE_COMP && !taken[node];
}

/* A compute node among those that follow `node`. */
static uint32_t follower(const struct trace_graph *graph, const bool *taken, uint32_t node)
{
    const struct trace_node *at = &graph->nodes[node];
    for (uint32_t i = 0; i < at->child_count; i++) {
        uint32_t child = graph->children[at->first_child + i];
        if (child > node && is_free(graph, taken, child)) {
            return child;
        }
    }
    return NOWHERE;
}

/* A compute node among those that `node` waits for, behind `after`. */
static uint32_t leader(const struct trace_graph *graph, const bool *taken, uint32_t node, uint32_t after)
{
    uint32_t found = NOWHERE;
    for (uint32_t i = 0; i < graph->parent_written[node]; i++) {
        uint32_t parent = graph->parents[graph->parent_start[node] + i];
        if (parent < node && (after == NOWHERE || parent > after) && is_free(graph, taken, parent)) {
            found = found == NOWHERE || parent > found ? parent : found;
        }
    }
    return found;
}

/* A receive belongs where the work on what it brings begins, a send back where that work ends. Where a message of the
 * other direction lies between, and with it the turn from backward to forward, close to the recorded message. */
static uint32_t complete_find_place(const struct completing *c, const bool *taken, uint32_t index)
{
    const struct trace_graph *graph = recorded_graph(c);
    const struct message *at = &c->messages[index];
    const struct message *last = index == 0 ? NULL : at - 1;
    const struct message *next = index + 1 < c->message_count ? at + 1 : NULL;
    uint32_t place = NOWHERE;
    if (at->sends) {
        place = last != NULL && last->sends ? follower(graph, taken, last->node) : NOWHERE;
        return place != NOWHERE && place < at->node
                   ? place
                   : leader(graph, taken, at->node, last == NULL ? NOWHERE : last->node);
    }
    place = next != NULL && !next->sends ? leader(graph, taken, next->node, at->node) : NOWHERE;
    return place != NOWHERE ? place : follower(graph, taken, at->node);
}

static enum orr_status find_places(struct completing *c)
{
    const struct trace_graph *graph = recorded_graph(c);
    bool *taken = arena_zalloc(c->arena, (size_t)graph->node_count + 1);
    if (taken == NULL) {
        return complete_no_memory(c);
    }
    for (uint32_t i = 0; i < c->message_count && !c->ring; i++) {
        uint32_t place = complete_find_place(c, taken, i);
        c->messages[i].stand_in = place;
        if (place != NOWHERE) {
            taken[place] = true;
        } else if (c->layout->roles[c->pipeline].size > 2) {
            return refuse_message(c, &graph->nodes[c->messages[i].node],
                                  "nothing beside it can stand for what the stages that were not recorded receive and "
                                  "send; one rank of each stage has to be recorded");
        }
    }
    return ORR_OK;
}

/* ---- ranks ---- */

struct place {
    const struct completing *c;
    uint32_t rank;
};

/* The image of a peer: one stage further along than the rank, as the recorded one's was. */
static uint32_t complete_find_peer(const void *context, uint32_t peer)
{
    const struct place *place = context;
    const struct completing *c = place->c;
    struct digits digits = digits_of(c->layout, place->rank);
    struct digits theirs = digits_of(c->layout, peer);
    for (uint32_t role = 0; role < c->layout->role_count; role++) {
        digits.of[role] = (digits.of[role] + theirs.of[role]) % c->layout->roles[role].size;
    }
    return rank_of(c->layout, &digits);
}

/* A root is a member of its group: that of the image with the same digits. */
static uint32_t complete_find_root(const void *context, int32_t group, uint32_t root)
{
    const struct place *place = context;
    const struct completing *c = place->c;
    struct digits digits = digits_of(c->layout, place->rank);
    struct digits theirs = digits_of(c->layout, root);
    for (uint32_t i = 0; i < c->group_count; i++) {
        for (uint32_t role = 0; c->groups[i].id == group && role < c->layout->role_count; role++) {
            digits.of[role] = c->varies[i][role] ? theirs.of[role] : digits.of[role];
        }
    }
    return group == 0 ? root : rank_of(c->layout, &digits);
}

static int complete_compare_from(const void *left, const void *right)
{
    const struct replica_group *a = left;
    const struct replica_group *b = right;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Turns a node into a message; `like` tells size and tag. */
static void make_message(struct trace_node *node, const struct trace_node *like, bool sends, uint32_t src, uint32_t dst)
{
    node->type = sends ? TRACE_SEND : TRACE_RECV;
    node->duration_us = 0;
    node->comm_bytes = like->comm_bytes;
    node->comm_tag = like->comm_tag;
    node->group = like->group;
    node->comm_src = (int32_t)src;
    node->comm_dst = (int32_t)dst;
    node->is_cpu_op = like->is_cpu_op;
    node->has = like->has | TRACE_HAS_COMM_SRC | TRACE_HAS_COMM_DST;
    node->num_ops = node->tensor_bytes = 0;
}

/* What it was stays in the graph, without time. */
static void make_nothing(struct trace_node *node)
{
    node->type = TRACE_COMP;
    node->duration_us = 0;
    node->comm_bytes = 0;
    node->group = 0;
    node->is_cpu_op = 1;
    node->has = TRACE_HAS_IS_CPU_OP;
}

/* The messages of a stage that was not recorded, in a graph whose own are translated already. */
static void set_stage(const struct completing *c, uint32_t rank, struct trace_graph *graph)
{
    uint32_t stages = c->layout->roles[c->pipeline].size;
    struct digits digits = digits_of(c->layout, rank);
    uint32_t stage = digits.of[c->pipeline];
    digits.of[c->pipeline] = stage - 1;
    uint32_t before = rank_of(c->layout, &digits);
    for (uint32_t i = 0; i < c->message_count; i++) {
        const struct message *message = &c->messages[i];
        const struct trace_node like = graph->nodes[message->node];
        uint32_t src = message->sends ? before : rank;
        uint32_t dst = message->sends ? rank : before;
        if (stage + 1 == stages) {
            make_nothing(&graph->nodes[message->node]);
        }
        uint32_t at = message->stand_in == NOWHERE ? message->node : message->stand_in;
        make_message(&graph->nodes[at], &like, !message->sends, src, dst);
    }
}

/* `others` again: some nodes have become messages, some have ceased to be. */
static bool complete_list_others(struct trace_graph *graph)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        count += graph->nodes[i].type != TRACE_COMP;
    }
    graph->others = arena_alloc(&graph->arena, ((size_t)count + 1) * sizeof *graph->others);
    graph->other_count = 0;
    for (uint32_t i = 0; i < graph->node_count && graph->others != NULL; i++) {
        if (graph->nodes[i].type != TRACE_COMP) {
            graph->others[graph->other_count++] = i;
        }
    }
    return graph->others != NULL;
}

static enum orr_status complete_keep_graph(struct completing *c, struct trace_graph *graph)
{
    void *made = (void *)c->made;
    if (!mem_reserve(c->mem, &made, &c->made_capacity, (uint64_t)c->made_count + 1, sizeof(graph))) {
        trace_graph_free(graph);
        return complete_no_memory(c);
    }
    c->made = made;
    c->made[c->made_count++] = graph;
    return ORR_OK;
}

static enum orr_status complete_make_rank(struct completing *c, uint32_t rank)
{
    struct replica_group *groups = arena_alloc(c->arena, ((size_t)c->group_count + 1) * sizeof *groups);
    struct place place = {.c = c, .rank = rank};
    struct trace_graph *graph = NULL;
    char name[512];
    if (groups == NULL) {
        return complete_no_memory(c);
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        groups[i] =
            (struct replica_group){.from = c->groups[i].id, .to = c->ids[(size_t)i * c->ranks + rank], .share = {1, 1}};
    }
    qsort(groups, c->group_count, sizeof *groups, complete_compare_from);
    struct replica_view view = {.groups = groups,
                                .group_count = c->group_count,
                                .whole_share = {1, 1},
                                .comm = {1, 1},
                                .inner = {1, 1},
                                .compute = {1, 1},
                                .peer = complete_find_peer,
                                .root = complete_find_root,
                                .context = &place};
    (void)snprintf(name, sizeof name, "%.480s.0.et", c->source->prefix);
    enum orr_status status = replica_graph_make(recorded_graph(c), &view, name, c->mem, &graph, c->err);
    if (status != ORR_OK) {
        return status;
    }
    if (c->pipeline != NOWHERE && !c->ring && stage_of(c, rank) > 0) {
        set_stage(c, rank, graph);
    }
    c->grown->set->ranks[rank] = c->source->ranks[0];
    c->grown->set->ranks[rank].graph = graph;
    status = complete_keep_graph(c, graph);
    return status == ORR_OK && !complete_list_others(graph) ? complete_no_memory(c) : status;
}

static struct trace_set *complete_new_set(const struct completing *c)
{
    struct trace_set *set = mem_zalloc(c->mem, sizeof *set);
    if (set == NULL) {
        return NULL;
    }
    size_t length = strlen(c->source->prefix) + 1;
    set->mem = c->mem;
    set->ranks = mem_zalloc(c->mem, (size_t)c->ranks * sizeof *set->ranks);
    set->rank_count = set->ranks == NULL ? 0 : c->ranks;
    set->prefix = mem_alloc(c->mem, length);
    if (set->ranks == NULL || set->prefix == NULL) {
        trace_set_free(set);
        return NULL;
    }
    memcpy(set->prefix, c->source->prefix, length);
    return set;
}

/* The recorded rank has its graph as it is; the set frees the others. */
static enum orr_status complete_hand_over(struct completing *c)
{
    struct trace_set *set = c->grown->set;
    struct trace_graph **graphs = mem_alloc(c->mem, ((size_t)c->made_count + 1) * sizeof *graphs);
    if (graphs == NULL) {
        return complete_no_memory(c);
    }
    graphs[0] = c->source->graphs[0];
    for (uint32_t i = 0; i < c->made_count; i++) {
        graphs[i + 1] = c->made[i];
    }
    set->graphs = graphs;
    set->graph_count = c->made_count + 1;
    set->borrowed = 1;
    set->ranks[0] = c->source->ranks[0];
    c->made_count = 0;
    return ORR_OK;
}

static enum orr_status complete_complete(struct completing *c)
{
    enum orr_status status = complete_make_groups(c);
    status = status != ORR_OK ? status : find_messages(c);
    status = status != ORR_OK ? status : find_places(c);
    for (uint32_t rank = 1; rank < c->ranks && status == ORR_OK; rank++) {
        status = complete_make_rank(c, rank);
    }
    return status == ORR_OK ? complete_hand_over(c) : status;
}

enum orr_status trace_set_complete(const struct trace_set *source, const struct trace_group *groups,
                                   uint32_t group_count, const struct trace_layout *layout, struct arena *arena,
                                   struct mem *mem, struct trace_grown *grown, struct orr_error *err)
{
    struct trace_grown made = {0};
    uint64_t ranks = trace_layout_ranks(layout);
    if (source->rank_count != 1 || ranks > INT32_MAX) {
        return error_set(err, ORR_EINVAL,
                         "%s: has traces of %" PRIu32 " ranks of a job of %" PRIu64
                         "; a whole job is made of the trace of rank 0 alone, or of all",
                         source->prefix, source->rank_count, ranks);
    }
    struct completing c = {.source = source,
                           .groups = groups,
                           .group_count = group_count,
                           .layout = layout,
                           .ranks = (uint32_t)ranks,
                           .arena = arena,
                           .mem = mem,
                           .grown = &made,
                           .err = err};
    made.set = complete_new_set(&c);
    enum orr_status status = made.set == NULL ? complete_no_memory(&c) : complete_complete(&c);
    for (uint32_t i = 0; i < c.made_count; i++) {
        trace_graph_free(c.made[i]);
    }
    mem_free(mem, (void *)c.made, (size_t)c.made_capacity * sizeof *c.made);
    if (status != ORR_OK) {
        trace_set_free(made.set);
        return status;
    }
    *grown = made;
    return ORR_OK;
}
