/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host nodes matched to operators and ids given anew (spec chakra §6.1, §6.8, §6.9).
 *
 * The original builds the whole document in memory, patches it in several passes and dumps it. All that the passes
 * change can be known beforehand from ids alone: a host node's new id is its rank among host nodes and the kernels
 * before it, and who waits for whom is a list of numbers. So everything is planned first, in a few dozen bytes a node,
 * and the nodes then go from the host file to the output one by one.
 */
#include "compat/chakra/link.h"

#include <stdlib.h>

#include "compat/chakra/link_parts.h"

/* ---- host nodes in order ---- */

static int chakra_link_compare_places(const void *left, const void *right)
{
    const struct compat_place *a = left;
    const struct compat_place *b = right;
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

static enum orr_status order_host(struct compat_plan *plan)
{
    struct compat *compat = &plan->compat;
    const struct host_trace *host = compat->host;
    plan->places = mem_alloc(compat->mem, host->node_count * sizeof *plan->places);
    if (plan->places == NULL) {
        return link_compat_no_memory(compat);
    }
    for (uint32_t i = 0; i < host->node_count; i++) {
        plan->places[i] = (struct compat_place){.id = host->nodes[i].id, .node = i, .op = COMPAT_NONE};
    }
    qsort(plan->places, host->node_count, sizeof *plan->places, chakra_link_compare_places);
    for (uint32_t i = 0; i < host->node_count; i++) {
        uint32_t first = i;
        if (!number_map_add(&plan->by_id, (int64_t)plan->places[i].id, &first)) {
            return link_compat_no_memory(compat);
        }
    }
    return ORR_OK;
}

enum { PROCESS_ID = 1 };

/* The place of a node's parent, or COMPAT_NONE. */
static uint32_t parent_of(const struct compat_plan *plan, uint32_t at)
{
    const struct host_node *node = &plan->compat.host->nodes[plan->places[at].node];
    uint32_t parent = COMPAT_NONE;
    if ((node->has & HOST_HAS_PARENT) != 0 && !number_map_get(&plan->by_id, (int64_t)node->parent, &parent)) {
        return COMPAT_NONE;
    }
    return parent;
}

/* §6.1: only descendants of the process node are matched. Each walk up ends at the first node already decided, so that
 * all of them together are linear; a node met again on its own walk is on a cycle and reaches nothing. */
static enum orr_status find_reachable(struct compat_plan *plan)
{
    struct compat *compat = &plan->compat;
    uint32_t count = compat->host->node_count;
    uint32_t root = COMPAT_NONE;
    if (!number_map_get(&plan->by_id, PROCESS_ID, &root)) {
        return error_set(compat->err, ORR_EINVAL,
                         "%s: no node with id 1; Chakra's linker needs the process node, the root of all",
                         json_stream_path(compat->host->stream));
    }
    uint32_t *walk = mem_zalloc(compat->mem, count * sizeof *walk); /* 0 = not met, else the walk that met it */
    if (walk == NULL) {
        return link_compat_no_memory(compat);
    }
    plan->places[root].reachable = true;
    walk[root] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        while (at != COMPAT_NONE && walk[at] == 0) {
            walk[at] = i + 1;
            at = parent_of(plan, at);
        }
        bool reachable = at != COMPAT_NONE && plan->places[at].reachable;
        for (at = i; reachable && !plan->places[at].reachable; at = parent_of(plan, at)) {
            plan->places[at].reachable = true;
        }
    }
    mem_free(compat->mem, walk, count * sizeof *walk);
    return ORR_OK;
}

/* ---- matching, §6.8 ---- */

static void chakra_link_match_host(struct compat_plan *plan)
{
    struct compat *compat = &plan->compat;
    for (uint32_t i = 0; i < compat->host->node_count; i++) {
        struct compat_place *place = &plan->places[i];
        const struct host_node *node = &compat->host->nodes[place->node];
        uint32_t op = 0;
        uint32_t dep = 0;
        if (!place->reachable || (node->has & HOST_HAS_RF_ID) == 0 ||
            !number_map_get(&compat->rf_ops, node->rf_id, &op)) {
            continue;
        }
        place->op = op;
        compat->ops[op].host = place->id;
        compat->ops[op].has_host = true;
        if (compat->ops[op].dep_rf != 0 && number_map_get(&compat->rf_ops, compat->ops[op].dep_rf, &dep) &&
            compat->ops[dep].has_host) {
            place->has_dep = true;
            place->dep = compat->ops[dep].host;
        }
        plan->summary.matched++;
    }
}

/* ---- ids, §6.9 ---- */

uint32_t link_compat_first_gpu(const struct compat_plan *plan, const struct compat_place *place)
{
    const struct compat *compat = &plan->compat;
    uint32_t gpu = COMPAT_NONE;
    if (place->op != COMPAT_NONE) {
        (void)number_map_get(&compat->groups,
                             link_compat_external_id(&compat->device->events[compat->ops[place->op].event]), &gpu);
    }
    return gpu;
}

static enum orr_status chakra_link_assign_ids(struct compat_plan *plan)
{
    struct compat *compat = &plan->compat;
    uint64_t next = 0;
    for (uint32_t i = 0; i < compat->host->node_count; i++) {
        struct compat_place *place = &plan->places[i];
        bool again = i > 0 && plan->places[i - 1].id == place->id;
        place->new_id = again ? plan->places[i - 1].new_id : (uint32_t)next;
        next += !again;
        place->first_gpu = (uint32_t)next;
        for (uint32_t gpu = link_compat_first_gpu(plan, place); gpu != COMPAT_NONE; gpu = compat->gpus[gpu].next) {
            next++;
            plan->summary.device_nodes++;
        }
        if (next >= INT32_MAX) {
            return error_set(compat->err, ORR_ERANGE, "%s: the linked trace would have more than %d nodes",
                             json_stream_path(compat->host->stream), INT32_MAX);
        }
    }
    plan->next_id = (uint32_t)next;
    return ORR_OK;
}

uint64_t link_compat_renamed(const struct compat_plan *plan, uint64_t id)
{
    uint32_t place = 0;
    return number_map_get(&plan->by_id, (int64_t)id, &place) ? plan->places[place].new_id : id;
}

uint64_t link_compat_renamed_so_far(const struct compat_plan *plan, uint64_t id, uint64_t now)
{
    return id <= now ? link_compat_renamed(plan, id) : id;
}

/* ---- the whole ---- */

static enum orr_status chakra_link_make_plan(struct compat_plan *plan)
{
    enum orr_status status = link_compat_order_ops(&plan->compat);
    if (status == ORR_OK) {
        status = link_compat_attach_gpus(&plan->compat);
    }
    if (status == ORR_OK) {
        status = order_host(plan);
    }
    if (status == ORR_OK) {
        status = find_reachable(plan);
    }
    if (status == ORR_OK) {
        chakra_link_match_host(plan);
        status = chakra_link_assign_ids(plan);
    }
    if (status == ORR_OK) {
        status = link_compat_find_syncs(plan);
    }
    if (status == ORR_OK && plan->compat.orphans > 0) {
        status = notes_add(plan->compat.notes, plan->compat.err,
                           "%llu kernels or copies dropped: no launching call of theirs that Chakra's linker knows",
                           (unsigned long long)plan->compat.orphans);
    }
    return status;
}

static void free_plan(struct compat_plan *plan)
{
    struct compat *compat = &plan->compat;
    struct mem *mem = compat->mem;
    mem_free(mem, compat->names, intern_count(&compat->device->names));
    mem_free(mem, compat->ops, compat->op_count * sizeof *compat->ops);
    mem_free(mem, compat->gpus, compat->gpu_count * sizeof *compat->gpus);
    mem_free(mem, compat->by_thread, compat->op_count * sizeof *compat->by_thread);
    mem_free(mem, compat->thread_starts, (compat->device->thread_count + 1u) * sizeof *compat->thread_starts);
    number_map_free(&compat->rf_ops);
    number_map_free(&compat->launchers);
    number_map_free(&compat->groups);
    mem_free(mem, plan->places, compat->host->node_count * sizeof *plan->places);
    number_map_free(&plan->by_id);
    number_map_free(&plan->fresh);
    number_map_free(&plan->sync_firsts);
    mem_free(mem, plan->syncs, plan->sync_capacity * sizeof *plan->syncs);
    number_map_free(&plan->target_of);
    mem_free(mem, plan->targets, plan->target_capacity * sizeof *plan->targets);
    mem_free(mem, plan->ids, plan->id_count * sizeof *plan->ids);
}

enum orr_status link_compat(struct host_trace *host, const struct kineto_trace *device, const char *path,
                            enum io_outfile_form form, struct notes *notes, struct link_compat_summary *summary,
                            struct orr_error *err)
{
    struct mem *mem = host->mem;
    struct compat_plan plan = {.compat = {.host = host, .device = device, .mem = mem, .notes = notes, .err = err}};
    struct number_map *maps[] = {&plan.compat.rf_ops, &plan.compat.launchers, &plan.compat.groups, &plan.by_id,
                                 &plan.fresh,         &plan.sync_firsts,      &plan.target_of};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        number_map_init(maps[i], mem);
    }
    enum orr_status status = chakra_link_make_plan(&plan);
    if (status == ORR_OK) {
        status = link_compat_write(&plan, path, form);
    }
    if (status == ORR_OK) {
        plan.summary.host_nodes = host->node_count;
        plan.summary.orphans = plan.compat.orphans;
        plan.summary.sync_nodes = plan.target_count;
        *summary = plan.summary;
    }
    free_plan(&plan);
    return status;
}
