/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks are numbers in a mixed radix, one digit a role, so that everything is arithmetic on digits: the source of a
 * rank of the larger job has the same digits with the growing one modulo its old size; `replica` is what that modulo
 * leaves out. A graph is made new only where something in it changes, and then once for each replica (and source rank,
 * where it names other ranks).
 */
#include "trace/replicate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "trace/digits.h"
#include "trace/replicate_graph.h"

/* ---- layouts ---- */

enum orr_status trace_layout_parse(const char *option, const char *text, struct trace_layout *layout,
                                   struct orr_error *err)
{
    struct trace_layout made = {0};
    const char *at = text;
    do {
        size_t length = strcspn(at, ":,");
        char *end = NULL;
        unsigned long size = at[length] == ':' && at[length + 1] >= '0' && at[length + 1] <= '9'
                                 ? strtoul(at + length + 1, &end, 10)
                                 : 0;
        if (length == 0 || length >= TRACE_ROLE_NAME || size == 0 || size > 1u << 24 || (*end != ',' && *end != '\0') ||
            made.role_count == TRACE_ROLES_MAX) {
            return error_set(err, ORR_EINVAL,
                             "%s: \"%.60s\" is not a list of roles and sizes, fastest first, at most %d; "
                             "tp:2,pp:2,dp:4 is",
                             option, text, TRACE_ROLES_MAX);
        }
        struct trace_role *role = &made.roles[made.role_count++];
        memcpy(role->name, at, length);
        role->size = (uint32_t)size;
        if (trace_layout_find(&made, role->name) + 1 != made.role_count) {
            return error_set(err, ORR_EINVAL, "%s: \"%.60s\" has the role %s twice", option, text, role->name);
        }
        at = *end == ',' ? end + 1 : end;
    } while (*at != '\0');
    if (trace_layout_ranks(&made) > UINT32_MAX) {
        return error_set(err, ORR_ERANGE, "%s: \"%.60s\" is more than %" PRIu32 " ranks", option, text, UINT32_MAX);
    }
    *layout = made;
    return ORR_OK;
}

uint64_t trace_layout_ranks(const struct trace_layout *layout)
{
    uint64_t ranks = 1;
    for (uint32_t i = 0; i < layout->role_count; i++) {
        if (__builtin_mul_overflow(ranks, (uint64_t)layout->roles[i].size, &ranks)) {
            return UINT64_MAX;
        }
    }
    return ranks;
}

uint32_t trace_layout_find(const struct trace_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->role_count; i++) {
        if (strcmp(layout->roles[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* ---- groups ---- */

struct growing {
    const struct trace_set *source;
    const struct trace_group *groups;
    uint32_t group_count;
    const struct trace_growth *growth;
    struct trace_layout larger;
    uint32_t from;     /* old size of the growing role */
    uint32_t replicas; /* times the old size fits, rounded up */
    bool *spans;       /* by group: the growing role varies in it */
    int32_t *ids;      /* by group and replica: its id there; 0 where there is none */
    struct arena *arena;
    struct mem *mem;
    struct trace_grown *grown;
    struct trace_graph **made; /* graphs, not yet the set's */
    uint32_t made_count, made_capacity;
    bool *used; /* by graph of the source: some rank of the larger job has it as it is */
    struct orr_error *err;
};

static enum orr_status replicate_no_memory(const struct growing *g)
{
    return mem_error(g->mem, "the ranks of the larger job", g->err);
}

static enum orr_status replicate_check_group(const struct growing *g, const struct trace_group *group, bool *spans)
{
    bool varies[TRACE_ROLES_MAX];
    if (!digits_vary(&g->growth->layout, group, varies)) {
        return error_set(
            g->err, ORR_EINVAL,
            "group %" PRId32 " (%" PRIu32 " ranks, the first %" PRIu32 ") does not lie along the roles of a "
            "job of %" PRIu32 " ranks; say how it is split, fastest role first, as in parameter 'parallel' tp:2,dp:4",
            group->id, group->count, group->ranks[0], g->source->rank_count);
    }
    /* Of a role that has one rank so far, a group of one is all there is to see. */
    *spans = varies[g->growth->grows] || (g->from == 1 && group->count == 1);
    return ORR_OK;
}

static bool is_ascending(const struct trace_group *group)
{
    for (uint32_t i = 1; i < group->count; i++) {
        if (group->ranks[i] < group->ranks[i - 1]) {
            return false;
        }
    }
    return true;
}

/* The members of `group` in replicas `first` to `last`. */
static enum orr_status add_group(struct growing *g, const struct trace_group *group, int32_t id, uint32_t first,
                                 uint32_t last)
{
    uint32_t grows = g->growth->grows;
    uint32_t *ranks = arena_alloc(g->arena, (size_t)group->count * (last - first + 1) * sizeof *ranks);
    if (ranks == NULL) {
        return replicate_no_memory(g);
    }
    uint32_t count = 0;
    for (uint32_t replica = first; replica <= last; replica++) {
        for (uint32_t i = 0; i < group->count; i++) {
            struct digits digits = digits_of(&g->growth->layout, group->ranks[i]);
            digits.of[grows] += replica * g->from;
            if (digits.of[grows] < g->growth->to) {
                ranks[count++] = rank_of(&g->larger, &digits);
            }
        }
    }
    if (is_ascending(group)) {
        qsort(ranks, count, sizeof *ranks, numbers_order_u32);
    }
    g->grown->groups[g->grown->group_count++] = (struct trace_group){.id = id, .count = count, .ranks = ranks};
    return ORR_OK;
}

/* Whether a group that does not grow is there in a replica: not where the new size ends before it. */
static bool is_in_replica(const struct growing *g, const struct trace_group *group, uint32_t replica)
{
    uint32_t digit = digits_of(&g->growth->layout, group->ranks[0]).of[g->growth->grows];
    return digit + replica * g->from < g->growth->to;
}

static int replicate_compare_groups(const void *left, const void *right)
{
    const struct trace_group *a = left;
    const struct trace_group *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static enum orr_status grow_groups(struct growing *g)
{
    int32_t next = 1;
    uint64_t room = 0;
    g->spans = arena_zalloc(g->arena, (size_t)g->group_count * sizeof *g->spans);
    g->ids = arena_zalloc(g->arena, (size_t)g->group_count * g->replicas * sizeof *g->ids);
    if (g->spans == NULL || g->ids == NULL) {
        return replicate_no_memory(g);
    }
    for (uint32_t i = 0; i < g->group_count; i++) {
        enum orr_status status = replicate_check_group(g, &g->groups[i], &g->spans[i]);
        if (status != ORR_OK) {
            return status;
        }
        next = g->groups[i].id >= next ? g->groups[i].id + 1 : next;
        room += g->spans[i] ? 1 : g->replicas;
    }
    if (room > INT32_MAX || room + (uint64_t)next > INT32_MAX) {
        return error_set(g->err, ORR_ERANGE, "the larger job would have %" PRIu64 " groups; at most %d can be named",
                         room, INT32_MAX);
    }
    g->grown->groups = arena_alloc(g->arena, (size_t)room * sizeof *g->grown->groups);
    if (g->grown->groups == NULL) {
        return replicate_no_memory(g);
    }
    for (uint32_t i = 0; i < g->group_count; i++) {
        const struct trace_group *group = &g->groups[i];
        enum orr_status status = ORR_OK;
        if (g->spans[i]) {
            status = add_group(g, group, group->id, 0, g->replicas - 1);
        }
        for (uint32_t replica = 0; status == ORR_OK && replica < g->replicas; replica++) {
            int32_t *id = &g->ids[(size_t)i * g->replicas + replica];
            *id = group->id;
            if (!g->spans[i] && is_in_replica(g, group, replica)) {
                *id = replica == 0 ? group->id : next++;
                status = add_group(g, group, *id, replica, replica);
            }
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    qsort(g->grown->groups, g->grown->group_count, sizeof *g->grown->groups, replicate_compare_groups);
    return ORR_OK;
}

/* ---- ranks ---- */

struct place {
    const struct growing *g;
    struct digits source, larger;
};

/* The digits in which a peer differs are its own, all others this rank's. */
static uint32_t replicate_find_peer(const void *context, uint32_t peer)
{
    const struct place *place = context;
    const struct growing *g = place->g;
    if (peer >= g->source->rank_count) {
        return UINT32_MAX;
    }
    struct digits digits = digits_of(&g->growth->layout, peer);
    uint32_t grows = g->growth->grows;
    if (digits.of[grows] != place->source.of[grows]) {
        return UINT32_MAX;
    }
    digits.of[grows] = place->larger.of[grows];
    return rank_of(&g->larger, &digits);
}

static int replicate_compare_from(const void *left, const void *right)
{
    const struct replica_group *a = left;
    const struct replica_group *b = right;
    return a->from < b->from ? -1 : a->from > b->from;
}

static struct replica_group *groups_of_replica(const struct growing *g, uint32_t replica)
{
    struct replica_group *groups = arena_alloc(g->arena, (size_t)g->group_count * sizeof *groups);
    for (uint32_t i = 0; groups != NULL && i < g->group_count; i++) {
        groups[i] = (struct replica_group){.from = g->groups[i].id,
                                           .to = g->ids[(size_t)i * g->replicas + replica],
                                           .grows = g->spans[i],
                                           .share = {g->from, g->growth->to}};
    }
    if (groups != NULL) {
        qsort(groups, g->group_count, sizeof *groups, replicate_compare_from);
    }
    return groups;
}

static enum orr_status replicate_keep_graph(struct growing *g, struct trace_graph *graph)
{
    void *made = (void *)g->made;
    if (!mem_reserve(g->mem, &made, &g->made_capacity, (uint64_t)g->made_count + 1, sizeof(graph))) {
        trace_graph_free(graph);
        return replicate_no_memory(g);
    }
    g->made = made;
    g->made[g->made_count++] = graph;
    return ORR_OK;
}

static void use_graph(struct growing *g, const struct trace_graph *graph)
{
    for (uint32_t i = 0; i < g->source->graph_count; i++) {
        if (g->source->graphs[i] == graph) {
            g->used[i] = true;
            return;
        }
    }
}

/* Graphs made for one replica, by the source's graph (and rank): few, so they are looked through. */
struct made {
    const struct trace_graph *source;
    uint32_t rank; /* UINT32_MAX: any */
    struct trace_graph *graph;
};

struct replica {
    struct replica_view view;
    struct made *made; /* room for every source rank */
    uint32_t made_count;
};

static enum orr_status replicate_make_rank(struct growing *g, struct replica *replica, uint32_t source,
                                           const struct place *place, struct trace_rank *rank)
{
    *rank = g->source->ranks[source];
    replica->view.context = place;
    if (!replica_graph_changes(rank->graph, &replica->view)) {
        use_graph(g, rank->graph);
        return ORR_OK;
    }
    uint32_t key = replica_graph_names_ranks(rank->graph) ? source : UINT32_MAX;
    for (uint32_t i = 0; i < replica->made_count; i++) {
        if (replica->made[i].source == rank->graph && replica->made[i].rank == key) {
            rank->graph = replica->made[i].graph;
            return ORR_OK;
        }
    }
    char name[512];
    (void)snprintf(name, sizeof name, "%.480s.%" PRIu32 ".et", g->source->prefix, source);
    struct trace_graph *graph = NULL;
    enum orr_status status = replica_graph_make(rank->graph, &replica->view, name, g->mem, &graph, g->err);
    if (status == ORR_OK) {
        status = replicate_keep_graph(g, graph);
    }
    if (status == ORR_OK) {
        replica->made[replica->made_count++] = (struct made){rank->graph, key, graph};
        rank->graph = graph;
    }
    return status;
}

static enum orr_status grow_replica(struct growing *g, uint32_t number)
{
    const struct trace_growth *growth = g->growth;
    struct replica replica = {
        .view = {.groups = groups_of_replica(g, number),
                 .group_count = g->group_count,
                 .whole_share = {g->from, growth->to},
                 .comm = growth->comm,
                 .inner = growth->inner,
                 .compute = growth->compute,
                 .peer = replicate_find_peer},
        .made = arena_alloc(g->arena, (size_t)g->source->rank_count * sizeof *replica.made),
    };
    if (replica.view.groups == NULL || replica.made == NULL) {
        return replicate_no_memory(g);
    }
    for (uint32_t source = 0; source < g->source->rank_count; source++) {
        struct place place = {.g = g, .source = digits_of(&growth->layout, source)};
        place.larger = place.source;
        place.larger.of[growth->grows] += number * g->from;
        if (place.larger.of[growth->grows] >= growth->to) {
            continue;
        }
        uint32_t rank = rank_of(&g->larger, &place.larger);
        enum orr_status status = replicate_make_rank(g, &replica, source, &place, &g->grown->set->ranks[rank]);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static struct trace_set *replicate_new_set(const struct growing *g, uint32_t ranks)
{
    struct trace_set *set = mem_zalloc(g->mem, sizeof *set);
    if (set == NULL) {
        return NULL;
    }
    set->mem = g->mem;
    set->ranks = mem_zalloc(g->mem, (size_t)ranks * sizeof *set->ranks);
    set->rank_count = set->ranks == NULL ? 0 : ranks;
    set->prefix = mem_alloc(g->mem, strlen(g->source->prefix) + 1);
    if (set->ranks == NULL || set->prefix == NULL) {
        trace_set_free(set);
        return NULL;
    }
    memcpy(set->prefix, g->source->prefix, strlen(g->source->prefix) + 1);
    return set;
}

/* Hands all graphs over to the set: the source's first, which it does not own. */
static enum orr_status replicate_hand_over(struct growing *g)
{
    struct trace_set *set = g->grown->set;
    size_t room = (size_t)g->source->graph_count + g->made_count;
    struct trace_graph **graphs = mem_alloc(g->mem, room * sizeof *graphs);
    if (graphs == NULL) {
        return replicate_no_memory(g);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->source->graph_count; i++) {
        if (g->used[i]) {
            graphs[count++] = g->source->graphs[i];
        }
    }
    uint32_t borrowed = count;
    for (uint32_t i = 0; i < g->made_count; i++) {
        graphs[count++] = g->made[i];
    }
    void *trimmed = mem_resize(g->mem, (void *)graphs, room * sizeof *graphs, count * sizeof *graphs);
    if (trimmed == NULL) {
        mem_free(g->mem, (void *)graphs, room * sizeof *graphs);
        return replicate_no_memory(g);
    }
    set->graphs = trimmed;
    set->graph_count = count;
    set->borrowed = borrowed;
    g->made_count = 0;
    return ORR_OK;
}

static void drop_made(struct growing *g)
{
    for (uint32_t i = 0; i < g->made_count; i++) {
        trace_graph_free(g->made[i]);
    }
    mem_free(g->mem, (void *)g->made, (size_t)g->made_capacity * sizeof *g->made);
}

static enum orr_status grow_all(struct growing *g)
{
    enum orr_status status = grow_groups(g);
    for (uint32_t replica = 0; status == ORR_OK && replica < g->replicas; replica++) {
        status = grow_replica(g, replica);
    }
    return status == ORR_OK ? replicate_hand_over(g) : status;
}

enum orr_status trace_set_replicate(const struct trace_set *source, const struct trace_group *groups,
                                    uint32_t group_count, const struct trace_growth *growth, struct arena *arena,
                                    struct mem *mem, struct trace_grown *grown, struct orr_error *err)
{
    uint64_t ranks = trace_layout_ranks(&growth->layout);
    if (ranks != source->rank_count) {
        return error_set(err, ORR_EINVAL, "%s: has traces of %" PRIu32 " ranks, but the roles given make %" PRIu64,
                         source->prefix, source->rank_count, ranks);
    }
    struct trace_grown made = {0};
    struct growing g = {.source = source,
                        .groups = groups,
                        .group_count = group_count,
                        .growth = growth,
                        .larger = growth->layout,
                        .from = growth->layout.roles[growth->grows].size,
                        .arena = arena,
                        .mem = mem,
                        .grown = &made,
                        .err = err};
    g.replicas = (growth->to - 1) / g.from + 1;
    g.larger.roles[growth->grows].size = growth->to;
    uint64_t larger = trace_layout_ranks(&g.larger);
    if (larger > INT32_MAX) {
        return error_set(err, ORR_ERANGE, "the larger job would have %" PRIu64 " ranks", larger);
    }
    g.used = arena_zalloc(arena, source->graph_count * sizeof *g.used);
    made.set = replicate_new_set(&g, (uint32_t)larger);
    if (g.used == NULL || made.set == NULL) {
        trace_set_free(made.set);
        return replicate_no_memory(&g);
    }
    enum orr_status status = grow_all(&g);
    drop_made(&g);
    if (status != ORR_OK) {
        trace_set_free(made.set);
        return status;
    }
    *grown = made;
    return ORR_OK;
}
