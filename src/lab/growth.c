/* The role that grows is found from the number of ranks the machine has: all other roles keep their size, so the new
 * size is what is left, and a machine for which that is no whole number is refused. */
#include "lab/growth.h"

#include <inttypes.h>
#include <string.h>

static enum orr_status read_layout(const struct orr_growth *growth, const struct trace_set *source,
                                   struct trace_growth *made, struct orr_error *err)
{
    const char *role = growth->role != NULL ? growth->role : "dp";
    if (growth->parallel == NULL) {
        made->layout = (struct trace_layout){.roles = {{.name = "dp", .size = source->rank_count}}, .role_count = 1};
    } else {
        enum orr_status status = trace_layout_parse("--parallel", growth->parallel, &made->layout, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    made->grows = trace_layout_find(&made->layout, role);
    if (made->grows == UINT32_MAX) {
        return error_set(err, ORR_EINVAL,
                         "the role \"%.20s\", which should grow, is not in --parallel \"%.60s\"; "
                         "give it there, as in tp:2,%.7s:1",
                         role, growth->parallel == NULL ? "dp" : growth->parallel, role);
    }
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

enum orr_status lab_grow(const struct orr_growth *growth, const struct trace_set *source, uint32_t ranks,
                         struct arena *arena, struct mem *mem, const struct sim_group **groups, uint32_t *group_count,
                         struct trace_set **grown, struct orr_error *err)
{
    struct trace_growth made = {.comm = {1, 1}, .inner = {1, 1}, .compute = {1, 1}};
    enum orr_status status = read_layout(growth, source, &made, err);
    if (status == ORR_OK) {
        status = find_size(source, ranks, &made, err);
    }
    if (status == ORR_OK && growth->comm_scale != NULL) {
        status = scale_factor_parse("--comm-scale", growth->comm_scale, &made.comm, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (growth->strong) {
        made.compute = (struct scale_factor){made.layout.roles[made.grows].size, made.to};
        made.inner = made.compute;
    }
    if (changes_nothing(&made)) {
        *grown = NULL;
        return ORR_OK;
    }
    struct trace_group *source_groups = groups_of_traces(*groups, *group_count, arena);
    if (source_groups == NULL) {
        return mem_error(mem, "the groups of the larger job", err);
    }
    struct trace_grown result = {0};
    status = trace_set_replicate(source, source_groups, *group_count, &made, arena, mem, &result, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct sim_group *larger = groups_of_simulation(&result, arena);
    if (larger == NULL) {
        trace_set_free(result.set);
        return mem_error(mem, "the groups of the larger job", err);
    }
    *groups = larger;
    *group_count = result.group_count;
    *grown = result.set;
    return ORR_OK;
}
