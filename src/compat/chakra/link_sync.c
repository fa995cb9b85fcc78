/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for which kernel (spec chakra §6.5 and the second half of §6.9): pairs of external ids from the critical
 * path become pairs of a kernel and the first operator after the one that waited, and these, through the ids that nodes
 * have at the moment the original looks, lists of kernels by node. Ids old and new are mixed there (spec, bug L9); so
 * they are here.
 */
#include <stdlib.h>

#include "compat/chakra/link_parts.h"

/* ---- pairs of a kernel and an operator, §6.5 ---- */

/* Pairs by the external id of their end. */
struct ends {
    struct number_map firsts;
    uint32_t *next;
};

static bool group_pairs(const struct hta_result *found, struct ends *ends)
{
    for (uint32_t i = found->count; i-- > 0;) {
        uint32_t first = COMPAT_NONE;
        (void)number_map_get(&ends->firsts, found->pairs[i].end, &first);
        ends->next[i] = first;
        if (!number_map_put(&ends->firsts, found->pairs[i].end, i)) {
            return false;
        }
    }
    return true;
}

static bool link_sync_add_sync(struct compat_plan *plan, uint32_t event, uint32_t op)
{
    uint32_t first = COMPAT_NONE;
    (void)number_map_get(&plan->sync_firsts, event, &first);
    for (uint32_t at = first; at != COMPAT_NONE; at = plan->syncs[at].next) {
        if (plan->syncs[at].op == op) {
            return true; /* duplicates vanish at output anyway */
        }
    }
    if (!MEM_GROW(plan->compat.mem, plan->syncs, plan->sync_capacity, plan->sync_count)) {
        return false;
    }
    plan->syncs[plan->sync_count] = (struct compat_sync){.op = op, .next = first};
    return number_map_put(&plan->sync_firsts, event, plan->sync_count++);
}

/* `last` is external id → the last event that has it. Only kernels' lists reach the output, so only they are kept; the
 * original's test for a circle can never hold for them. */
static bool apply_pairs(struct compat_plan *plan, const struct hta_result *found, const struct ends *ends,
                        const struct number_map *last)
{
    const struct kineto_trace *device = plan->compat.device;
    for (uint32_t i = 0; i < device->event_count; i++) {
        uint32_t pair = COMPAT_NONE;
        if (!number_map_get(&ends->firsts, link_compat_external_id(&device->events[i]), &pair)) {
            continue;
        }
        uint32_t op = link_compat_find_op(&plan->compat, device->events[i].ts_us, true);
        for (; pair != COMPAT_NONE && op < plan->compat.op_count; pair = ends->next[pair]) {
            uint32_t event = 0;
            if (number_map_get(last, found->pairs[pair].start, &event) &&
                link_compat_event_is_gpu(&device->events[event]) && !link_sync_add_sync(plan, event, op)) {
                return false;
            }
        }
    }
    return true;
}

static bool link_pairs(struct compat_plan *plan, const struct hta_result *found)
{
    const struct kineto_trace *device = plan->compat.device;
    struct mem *mem = plan->compat.mem;
    struct number_map last;
    struct ends ends = {.next = mem_alloc(mem, found->count * sizeof *ends.next)};
    number_map_init(&last, mem);
    number_map_init(&ends.firsts, mem);
    bool done = ends.next != NULL && group_pairs(found, &ends);
    for (uint32_t i = 0; done && i < device->event_count; i++) {
        done = number_map_put(&last, link_compat_external_id(&device->events[i]), i);
    }
    done = done && apply_pairs(plan, found, &ends, &last);
    number_map_free(&last);
    number_map_free(&ends.firsts);
    mem_free(mem, ends.next, found->count * sizeof *ends.next);
    return done;
}

static enum orr_status apply_hta(struct compat_plan *plan)
{
    struct compat *compat = &plan->compat;
    struct hta_result found = {0};
    enum orr_status status = hta_sync(compat->device, &found, compat->err);
    if (status == ORR_OK && found.failed != NULL) {
        status =
            notes_add(compat->notes, compat->err,
                      "linked without sync dependencies: %s, where HTA and with it Chakra's linker stop", found.failed);
    }
    if (status == ORR_OK && found.count > 0 && !link_pairs(plan, &found)) {
        status = link_compat_no_memory(compat);
    }
    hta_free(&found, compat->mem);
    return status;
}

/* ---- who waits for which kernel ---- */

/* A kernel of the output that someone waits for. */
struct wait {
    uint64_t key; /* of the one that waits: a new id or an old one, as the original mixes them (spec, bug L9) */
    uint32_t gpu;
    uint32_t number; /* in the order found */
};

struct waits {
    struct wait *items;
    uint32_t count, capacity;
};

static bool link_sync_add_wait(struct compat_plan *plan, struct waits *waits, uint32_t from, uint64_t key, uint32_t gpu)
{
    for (uint32_t i = from; i < waits->count; i++) {
        if (waits->items[i].key == key) {
            return true;
        }
    }
    if (!MEM_GROW(plan->compat.mem, waits->items, waits->capacity, waits->count)) {
        return false;
    }
    waits->items[waits->count] = (struct wait){.key = key, .gpu = gpu, .number = waits->count};
    waits->count++;
    return true;
}

static bool collect_waits(struct compat_plan *plan, struct waits *waits)
{
    const struct compat *compat = &plan->compat;
    for (uint32_t i = 0; i < compat->host->node_count; i++) {
        const struct compat_place *place = &plan->places[i];
        uint32_t id = place->first_gpu;
        for (uint32_t gpu = link_compat_first_gpu(plan, place); gpu != COMPAT_NONE;
             gpu = compat->gpus[gpu].next, id++) {
            uint32_t from = waits->count;
            uint32_t link = COMPAT_NONE;
            (void)number_map_get(&plan->sync_firsts, compat->gpus[gpu].event, &link);
            for (; link != COMPAT_NONE; link = plan->syncs[link].next) {
                const struct compat_op *op = &compat->ops[plan->syncs[link].op];
                if (op->has_host &&
                    !link_sync_add_wait(plan, waits, from, link_compat_renamed_so_far(plan, op->host, place->id), id)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static int link_sync_compare_waits(const void *left, const void *right)
{
    const struct wait *a = left;
    const struct wait *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A key is looked up as if it were an old id still, whether it is or not: that too is the original's. */
static bool make_targets(struct compat_plan *plan, struct waits *waits)
{
    struct mem *mem = plan->compat.mem;
    qsort(waits->items, waits->count, sizeof *waits->items, link_sync_compare_waits);
    plan->ids = mem_alloc(mem, waits->count * sizeof *plan->ids);
    plan->id_count = waits->count;
    if (plan->ids == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < waits->count; i++) {
        plan->ids[i] = waits->items[i].gpu;
        if (i > 0 && waits->items[i].key == waits->items[i - 1].key) {
            plan->targets[plan->target_count - 1].count++;
            continue;
        }
        if (!MEM_GROW(mem, plan->targets, plan->target_capacity, plan->target_count) ||
            !number_map_put(&plan->target_of, (int64_t)link_compat_renamed(plan, waits->items[i].key),
                            plan->target_count)) {
            return false;
        }
        plan->targets[plan->target_count++] = (struct compat_target){.first = i, .count = 1};
    }
    return true;
}

enum orr_status link_compat_find_syncs(struct compat_plan *plan)
{
    enum orr_status status = apply_hta(plan);
    if (status != ORR_OK || plan->sync_count == 0) {
        return status;
    }
    struct waits waits = {0};
    bool done = collect_waits(plan, &waits) && (waits.count == 0 || make_targets(plan, &waits));
    mem_free(plan->compat.mem, waits.items, waits.capacity * sizeof *waits.items);
    return done ? ORR_OK : link_compat_no_memory(&plan->compat);
}
