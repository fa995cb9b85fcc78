/* SPDX-License-Identifier: Apache-2.0 */
/* The role that grows is found from the number of ranks the machine has: all other roles keep their size, so the new
 * size is what is left, and a machine for which that is no whole number is refused. */
#include "run/growth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/complete.h"
#include "trace/roles.h"

enum { ALL_TO_ALL = 6 }; /* Chakra's number */

/* ---- how the job is split ---- */

/* The ranks of the job that the traces are of: more than there are traces, where a group names more. The last member of
 * a group stands for as many ranks as lie between two of them. */
static uint32_t ranks_of_job(const struct trace_set *source, const struct sim_group *groups, uint32_t count)
{
    uint64_t ranks = source->rank_count;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t m = 0; m < groups[i].count; m++) {
            uint32_t rank = groups[i].ranks[m];
            uint64_t apart = m > 0 && rank > groups[i].ranks[m - 1] ? rank - groups[i].ranks[m - 1] : 1;
            ranks = rank >= source->rank_count && rank + apart > ranks ? rank + apart : ranks;
        }
    }
    return ranks > INT32_MAX ? INT32_MAX : (uint32_t)ranks;
}

/* How often each group of rank 0 is used, and whom it sends to. */
static void count_uses(const struct trace_graph *graph, const struct sim_group *groups, uint32_t count,
                       struct trace_role_group *uses, uint32_t *peers, uint32_t *peer_count)
{
    for (uint32_t i = 0; i < graph->other_count; i++) {
        const struct trace_node *node = &graph->nodes[graph->others[i]];
        if (node->type == TRACE_SEND || node->type == TRACE_RECV) {
            int32_t peer = node->type == TRACE_SEND ? node->comm_dst : node->comm_src;
            if (peer >= 0) {
                peers[(*peer_count)++] = (uint32_t)peer;
            }
            continue;
        }
        char *end = NULL;
        const char *text = graph->strings + node->group;
        long id = strtol(text, &end, 10);
        for (uint32_t k = 0; node->type == TRACE_COLL && end != text && k < count; k++) {
            if (groups[k].id == id) {
                uses[k].collectives++;
                uses[k].exchanges = uses[k].exchanges || node->comm_type == ALL_TO_ALL;
            }
        }
    }
}

static enum orr_status infer_layout(const struct trace_set *source, const struct sim_group *groups, uint32_t count,
                                    uint32_t ranks, struct arena *arena, struct trace_layout *layout,
                                    struct orr_error *err)
{
    const struct trace_graph *graph = source->ranks[0].graph;
    struct trace_role_group *uses = arena_zalloc(arena, ((size_t)count + 1) * sizeof *uses);
    uint32_t *peers = arena_alloc(arena, ((size_t)graph->other_count + 1) * sizeof *peers);
    struct trace_role_clues clues = {.groups = uses, .group_count = count, .peers = peers, .ranks = ranks};
    if (uses == NULL || peers == NULL) {
        return mem_error(arena->mem, "the roles of a job", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        uses[i].ranks = groups[i].ranks;
        uses[i].count = groups[i].count;
    }
    count_uses(graph, groups, count, uses, peers, &clues.peer_count);
    enum orr_status status = trace_roles_infer(&clues, layout, err);
    if (status == ORR_OK && trace_layout_find(layout, "dp") == UINT32_MAX && layout->role_count < TRACE_ROLES_MAX) {
        layout->roles[layout->role_count++] = (struct trace_role){.name = "dp", .size = 1};
    }
    return status;
}

static enum orr_status read_layout(const struct orr_growth *growth, const struct trace_layout *told,
                                   struct trace_growth *made, struct orr_error *err)
{
    const char *role = growth->role != NULL ? growth->role : "dp";
    made->layout = *told;
    made->grows = trace_layout_find(&made->layout, role);
    if (made->grows == UINT32_MAX) {
        char text[TRACE_LAYOUT_TEXT];
        return error_set(err, ORR_EINVAL,
                         "the role \"%.20s\", which should grow, is not in %s \"%.60s\"; "
                         "give it there, as in tp:2,%.7s:1",
                         role, "parameter 'parallel'",
                         growth->parallel == NULL ? trace_layout_text(told, text) : growth->parallel, role);
    }
    return ORR_OK;
}

/* The user's word, or what the groups say where they name ranks without a trace, or all data parallel. */
static enum orr_status find_layout(const struct orr_growth *growth, const struct trace_set *source,
                                   const struct sim_group *groups, uint32_t group_count, uint32_t ranks,
                                   struct arena *arena, struct trace_layout *layout, struct orr_error *err)
{
    if (growth->parallel != NULL) {
        return trace_layout_parse("parameter 'parallel'", growth->parallel, layout, err);
    }
    if (ranks > source->rank_count) {
        return infer_layout(source, groups, group_count, ranks, arena, layout, err);
    }
    *layout = (struct trace_layout){.roles = {{.name = "dp", .size = source->rank_count}}, .role_count = 1};
    return ORR_OK;
}

static enum orr_status find_size(const struct trace_set *source, uint32_t ranks, struct trace_growth *made,
                                 struct orr_error *err)
{
    uint64_t had = trace_layout_ranks(&made->layout);
    if (had != source->rank_count) {
        return error_set(err, ORR_EINVAL, "%s: has traces of %" PRIu32 " ranks, but the roles given make %" PRIu64,
                         source->prefix, source->rank_count, had);
    }
    uint32_t others = 1;
    for (uint32_t i = 0; i < made->layout.role_count; i++) {
        others *= i == made->grows ? 1 : made->layout.roles[i].size;
    }
    if (ranks % others != 0 || ranks < others) {
        return error_set(err, ORR_EINVAL,
                         "%s: %" PRIu32 " traces cannot be grown to a machine of %" PRIu32
                         " ranks: every replica has %" PRIu32 " ranks, so %" PRIu32 " or %" PRIu32 " would fit",
                         source->prefix, source->rank_count, ranks, others,
                         ranks < others ? others : ranks / others * others,
                         (ranks / others + (ranks < others ? 2 : 1)) * others);
    }
    made->to = ranks / others;
    return ORR_OK;
}

static struct trace_group *groups_of_traces(const struct sim_group *groups, uint32_t count, struct arena *arena)
{
    struct trace_group *made = arena_alloc(arena, (size_t)count * sizeof *made);
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        made[i] = (struct trace_group){.id = groups[i].id, .count = groups[i].count, .ranks = groups[i].ranks};
    }
    return made;
}

static struct sim_group *groups_of_simulation(const struct trace_grown *grown, struct arena *arena)
{
    struct sim_group *made = arena_alloc(arena, (size_t)grown->group_count * sizeof *made);
    for (uint32_t i = 0; made != NULL && i < grown->group_count; i++) {
        made[i] = (struct sim_group){
            .id = grown->groups[i].id, .count = grown->groups[i].count, .ranks = grown->groups[i].ranks};
    }
    return made;
}

static bool changes_nothing(const struct trace_growth *growth)
{
    const struct scale_factor *factors[] = {&growth->comm, &growth->inner, &growth->compute};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        if (factors[i]->over != factors[i]->under) {
            return false;
        }
    }
    return growth->to == growth->layout.roles[growth->grows].size;
}

/* ---- the whole job, then the larger one ---- */

static enum orr_status take_groups(const struct trace_grown *grown, struct arena *arena, struct mem *mem,
                                   const struct sim_group **groups, uint32_t *group_count, struct orr_error *err)
{
    const struct sim_group *made = groups_of_simulation(grown, arena);
    if (made == NULL) {
        return mem_error(mem, "the groups of the larger job", err);
    }
    *groups = made;
    *group_count = grown->group_count;
    return ORR_OK;
}

static enum orr_status make_whole(const struct trace_set *source, const struct trace_layout *layout, uint32_t ranks,
                                  struct arena *arena, struct mem *mem, struct notes *notes,
                                  const struct sim_group **groups, uint32_t *group_count, struct run_grown *grown,
                                  struct orr_error *err)
{
    char text[TRACE_LAYOUT_TEXT];
    uint64_t told = trace_layout_ranks(layout);
    if (told != ranks) {
        return error_set(err, ORR_EINVAL,
                         "%s: the process groups name %" PRIu32 " ranks, but the roles given make %" PRIu64
                         " (parameter 'parallel' %s)",
                         source->prefix, ranks, told, trace_layout_text(layout, text));
    }
    struct trace_group *traced = groups_of_traces(*groups, *group_count, arena);
    struct trace_grown result = {0};
    if (traced == NULL) {
        return mem_error(mem, "the groups of the whole job", err);
    }
    enum orr_status status = trace_set_complete(source, traced, *group_count, layout, arena, mem, &result, err);
    if (status != ORR_OK) {
        return status;
    }
    grown->whole = result.set;
    status = take_groups(&result, arena, mem, groups, group_count, err);
    return status != ORR_OK ? status
                            : notes_add(notes, err,
                                        "%s: one rank of %" PRIu32 " was recorded; the others do what it did, each in "
                                        "its own groups, split as %s (parameter 'parallel' "
                                        "says otherwise)",
                                        source->prefix, ranks, trace_layout_text(layout, text));
}

static enum orr_status make_larger(const struct trace_set *source, const struct trace_growth *made, struct arena *arena,
                                   struct mem *mem, const struct sim_group **groups, uint32_t *group_count,
                                   struct run_grown *grown, struct orr_error *err)
{
    struct trace_group *traced = groups_of_traces(*groups, *group_count, arena);
    struct trace_grown result = {0};
    if (traced == NULL) {
        return mem_error(mem, "the groups of the larger job", err);
    }
    enum orr_status status = trace_set_replicate(source, traced, *group_count, made, arena, mem, &result, err);
    if (status != ORR_OK) {
        return status;
    }
    grown->larger = result.set;
    return take_groups(&result, arena, mem, groups, group_count, err);
}

enum orr_status run_grow(const struct orr_growth *growth, const struct trace_set *source, uint32_t ranks,
                         struct arena *arena, struct mem *mem, struct notes *notes, const struct sim_group **groups,
                         uint32_t *group_count, struct run_grown *grown, struct orr_error *err)
{
    struct trace_growth made = {.comm = {1, 1}, .inner = {1, 1}, .compute = {1, 1}};
    struct trace_layout layout = {.role_count = 0};
    uint32_t job = ranks_of_job(source, *groups, *group_count);
    enum orr_status status = find_layout(growth, source, *groups, *group_count, job, arena, &layout, err);
    status = status != ORR_OK ? status : read_layout(growth, &layout, &made, err);
    if (status == ORR_OK && job > source->rank_count) {
        status = make_whole(source, &layout, job, arena, mem, notes, groups, group_count, grown, err);
        source = grown->whole;
    }
    if (status == ORR_OK) {
        status = find_size(source, ranks, &made, err);
    }
    if (status == ORR_OK && growth->comm_scale != NULL) {
        status = scale_factor_parse("parameter 'comm-scale'", growth->comm_scale, &made.comm, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (growth->strong) {
        made.compute = (struct scale_factor){made.layout.roles[made.grows].size, made.to};
        made.inner = made.compute;
    }
    return changes_nothing(&made) ? ORR_OK : make_larger(source, &made, arena, mem, groups, group_count, grown, err);
}

void run_grown_free(struct run_grown *grown)
{
    trace_set_free(grown->larger);
    trace_set_free(grown->whole);
    *grown = (struct run_grown){0};
}
