/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operator a kernel or copy belongs to (spec chakra §6.6, §6.7). The original walks back from the launch over all
 * operators before it, looking for one of the same thread and external id and, when there is none, taking the nearest
 * of the thread. Here two sorted indices answer the same: one by thread and external id, one by thread.
 *
 * Operators named "nccl:coalesced" do not count for NCCL kernels. They stand apart in the indices, so that skipping
 * them costs nothing.
 */
#include <stdlib.h>

#include "compat/chakra/link_parts.h"

struct index_key {
    int64_t external_id;
    uint32_t thread;
    uint32_t op;
    bool coalesced;
};

struct index {
    struct index_key *keys;
    uint32_t count;
};

static int link_parent_compare_keys(const void *left, const void *right)
{
    const struct index_key *a = left;
    const struct index_key *b = right;
    if (a->coalesced != b->coalesced) {
        return a->coalesced ? 1 : -1;
    }
    if (a->thread != b->thread) {
        return a->thread < b->thread ? -1 : 1;
    }
    if (a->external_id != b->external_id) {
        return a->external_id < b->external_id ? -1 : 1;
    }
    return a->op < b->op ? -1 : a->op > b->op;
}

/* With `by_id` false all external ids are taken as one. */
static bool make_index(const struct compat *compat, bool by_id, struct index *index)
{
    index->count = compat->op_count;
    index->keys = mem_alloc(compat->mem, index->count * sizeof *index->keys);
    if (index->keys == NULL) {
        return false;
    }
    for (uint32_t op = 0; op < compat->op_count; op++) {
        const struct kineto_event *event = &compat->device->events[compat->ops[op].event];
        index->keys[op] = (struct index_key){
            .external_id = by_id ? link_compat_external_id(event) : 0,
            .thread = event->tid,
            .op = op,
            .coalesced = (compat->names[event->name] & COMPAT_COALESCED) != 0,
        };
    }
    qsort(index->keys, index->count, sizeof *index->keys, link_parent_compare_keys);
    return true;
}

/* The last operator of the key's class, thread and id that comes before key.op. */
static uint32_t link_parent_find_before(const struct index *index, const struct index_key *key)
{
    uint32_t low = 0;
    uint32_t high = index->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (link_parent_compare_keys(&index->keys[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return COMPAT_NONE;
    }
    const struct index_key *found = &index->keys[low - 1];
    bool same =
        found->coalesced == key->coalesced && found->thread == key->thread && found->external_id == key->external_id;
    return same ? found->op : COMPAT_NONE;
}

static uint32_t link_parent_find_nearest(const struct index *index, struct index_key key, bool nccl)
{
    key.coalesced = false;
    uint32_t plain = link_parent_find_before(index, &key);
    key.coalesced = true;
    uint32_t coalesced = nccl ? COMPAT_NONE : link_parent_find_before(index, &key);
    if (plain == COMPAT_NONE || coalesced == COMPAT_NONE) {
        return plain == COMPAT_NONE ? coalesced : plain;
    }
    return plain > coalesced ? plain : coalesced;
}

/* ---- the pseudo-operators of thread 0, §6.6 ---- */

/* The process and every thread get one, at their first event; all are filed under thread 0 without an external id, so
 * that only launches of a thread 0 can meet them. */
struct parents {
    struct index by_id;
    struct index by_thread;
    double *pseudos; /* their starts, ascending; as many as there are threads, the process starting with one of them */
    uint32_t thread_zero; /* COMPAT_NONE when no event is of thread 0 */
};

static int compare_starts(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static bool sort_pseudos(const struct compat *compat, struct parents *parents)
{
    uint32_t count = compat->device->thread_count;
    parents->pseudos = mem_alloc(compat->mem, count * sizeof *parents->pseudos);
    if (parents->pseudos == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        parents->pseudos[i] = compat->device->thread_firsts[i].first_ts_us;
    }
    qsort(parents->pseudos, count, sizeof *parents->pseudos, compare_starts);
    return true;
}

/* The latest start before `ts_us`; false when there is none. */
static bool pseudo_before(const struct compat *compat, const struct parents *parents, double ts_us, double *start)
{
    uint32_t low = 0;
    uint32_t high = compat->device->thread_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (parents->pseudos[middle] < ts_us) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *start = low == 0 ? *start : parents->pseudos[low - 1];
    return low > 0;
}

/* The external id of the operator a kernel hangs on; false when it hangs on none. */
static bool find_parent(const struct compat *compat, const struct parents *parents, const struct kineto_event *gpu,
                        const struct kineto_event *launcher, int64_t *external_id)
{
    bool nccl = (compat->names[gpu->name] & COMPAT_NCCL) != 0;
    struct index_key key = {.external_id = link_compat_external_id(gpu),
                            .thread = launcher->tid,
                            .op = link_compat_find_op(compat, launcher->ts_us, false)};
    uint32_t op = link_parent_find_nearest(&parents->by_id, key, nccl);
    bool exact = op != COMPAT_NONE;
    if (!exact) {
        key.external_id = 0;
        op = link_parent_find_nearest(&parents->by_thread, key, nccl);
    }
    if (op != COMPAT_NONE) {
        *external_id = link_compat_external_id(&compat->device->events[compat->ops[op].event]);
    }
    double start = 0;
    if (!exact && launcher->tid == parents->thread_zero && pseudo_before(compat, parents, launcher->ts_us, &start) &&
        (op == COMPAT_NONE || link_compat_external_id(gpu) == -1 ||
         start > compat->device->events[compat->ops[op].event].ts_us)) {
        *external_id = -1;
        return true;
    }
    return op != COMPAT_NONE;
}

/* `last` holds, by the first kernel of a group, the last one so far. */
static bool add_to_group(struct compat *compat, uint32_t gpu, int64_t external_id, uint32_t *last)
{
    uint32_t first = gpu;
    if (!number_map_add(&compat->groups, external_id, &first)) {
        return false;
    }
    if (first != gpu) {
        compat->gpus[last[first]].next = gpu;
    }
    last[first] = gpu;
    return true;
}

static bool attach_all(struct compat *compat, const struct parents *parents, uint32_t *last)
{
    for (uint32_t i = 0; i < compat->gpu_count; i++) {
        const struct kineto_event *gpu = &compat->device->events[compat->gpus[i].event];
        uint32_t launcher = 0;
        int64_t external_id = -1;
        if (!number_map_get(&compat->launchers, gpu->correlation, &launcher) ||
            !find_parent(compat, parents, gpu, &compat->device->events[launcher], &external_id)) {
            compat->orphans++;
        } else if (!add_to_group(compat, i, external_id, last)) {
            return false;
        }
    }
    return true;
}

enum orr_status link_compat_attach_gpus(struct compat *compat)
{
    struct parents parents = {.thread_zero = intern_find(&compat->device->threads, "0", 1)};
    parents.thread_zero = parents.thread_zero == UINT32_MAX ? COMPAT_NONE : parents.thread_zero - 1;
    size_t bytes = compat->gpu_count * sizeof(uint32_t);
    uint32_t *last = mem_alloc(compat->mem, bytes);
    bool done = last != NULL && sort_pseudos(compat, &parents) && make_index(compat, true, &parents.by_id) &&
                make_index(compat, false, &parents.by_thread) && attach_all(compat, &parents, last);
    mem_free(compat->mem, parents.by_id.keys, parents.by_id.count * sizeof *parents.by_id.keys);
    mem_free(compat->mem, parents.by_thread.keys, parents.by_thread.count * sizeof *parents.by_thread.keys);
    mem_free(compat->mem, parents.pseudos, compat->device->thread_count * sizeof *parents.pseudos);
    mem_free(compat->mem, last, bytes);
    return done ? ORR_OK : link_compat_no_memory(compat);
}
