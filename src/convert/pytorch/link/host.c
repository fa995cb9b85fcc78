/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linking from one file. A trace that another linker has been over already (Chakra's HDT) holds host ops with times and
 * device nodes below the ops that launched them; a bare host trace holds ops in order and no times. Both are told again
 * as the events a profiler would have recorded, a launching call for each device node included, and linked as always.
 * What the other linker says of dependencies on the device is taken over; its order between threads is not, since ours
 * needs no threshold of a millisecond.
 */
#include <math.h>
#include <stdlib.h>

#include "convert/pytorch/link/link.h"
#include "convert/pytorch/link/work.h"

struct retell {
    struct host_trace *host;
    struct kineto_trace made;
    struct mem *mem;
    struct arena arena;
    struct link_key *by_id; /* host nodes */
    uint32_t by_id_count;
    struct link_edge *stated;
    uint32_t stated_count, stated_capacity;
    uint32_t launch_name;
    uint32_t *position;  /* by host node: its place in the order of ids */
    uint32_t *order_end; /* by host node, of a bare trace: the last place inside it */
    bool refused;
    bool has_times;
};

static uint32_t link_host_add_name(struct retell *retell, struct intern *names, const char *text)
{
    uint32_t number = 0;
    retell->refused = !intern_add(names, text, strlen(text), &number) || retell->refused;
    return number;
}

static void link_host_add_event(struct retell *retell, struct kineto_event event)
{
    struct kineto_trace *made = &retell->made;
    if (retell->refused || !MEM_GROW(retell->mem, made->events, made->event_capacity, made->event_count)) {
        retell->refused = true;
        return;
    }
    event.ph = 'X';
    event.has |= KINETO_HAS_DUR;
    event.comm = event.extra = KINETO_NONE;
    event.external_id = -1;
    made->events[made->event_count++] = event;
}

static uint32_t find_node(const struct retell *retell, uint64_t id)
{
    uint32_t at =
        id > INT64_MAX ? retell->by_id_count : link_keys_find(retell->by_id, retell->by_id_count, (int64_t)id);
    return at == retell->by_id_count ? HOST_NONE : retell->by_id[at].value;
}

static const struct host_link *link_host_link_of(const struct retell *retell, const struct host_node *node)
{
    return node->linked == HOST_NONE ? NULL : &retell->host->links[node->linked];
}

static uint32_t link_host_thread_of(struct retell *retell, const struct host_node *node)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (node->has & HOST_HAS_TID) != 0 ? (long long)node->tid : 0LL);
    uint32_t number = link_host_add_name(retell, &retell->made.threads, text);
    uint32_t count = intern_count(&retell->made.threads) - 1;
    retell->made.thread_count = count;
    return number == 0 ? 0 : number - 1;
}

static bool link_host_is_frame(const struct retell *retell, const struct host_node *node)
{
    return strncmp(intern_text(&retell->host->names, node->name), "[pytorch|profiler|", 18) == 0;
}

static bool link_host_is_time(double us)
{
    return isfinite(us) && fabs(us) < 2.2e15; /* as link_is_timed has it */
}

/* ---- an op ---- */

static void tell_op(struct retell *retell, uint32_t index)
{
    const struct host_node *node = &retell->host->nodes[index];
    const struct host_link *link = link_host_link_of(retell, node);
    const char *name = intern_text(&retell->host->names, node->name);
    struct kineto_event event = {.index = index, .correlation = -1, .stream = -1, .cat = KINETO_CPU_OP};
    if (link_host_is_frame(retell, node)) {
        return;
    }
    if (retell->has_times) {
        if (link == NULL || (node->has & HOST_HAS_TS) == 0 || !link_host_is_time(link->ts_us) ||
            !link_host_is_time(link->inclusive_us)) {
            return;
        }
        event.ts_us = link->ts_us;
        event.dur_us = link->inclusive_us;
    } else {
        event.ts_us = retell->position[index] * 0.001;
        event.dur_us = (retell->order_end[index] - retell->position[index]) * 0.001 + 0.0005;
    }
    /* Chakra does not say which ops are annotations; the names of those that matter do. */
    if (strncmp(name, "ProfilerStep", 12) == 0 || strstr(name, "process_group:init") != NULL ||
        strncmp(name, "Optimizer.", 10) == 0 || strncmp(name, "DistributedDataParallel.", 24) == 0) {
        event.cat = KINETO_USER_ANNOTATION;
    }
    event.rf_id = (node->has & HOST_HAS_RF_ID) != 0 ? node->rf_id : -1;
    event.has = event.rf_id >= 0 ? KINETO_HAS_RF_ID : 0;
    event.name = link_host_add_name(retell, &retell->made.names, name);
    event.tid = link_host_thread_of(retell, node);
    link_host_add_event(retell, event);
}

/* ---- a device node ---- */

static uint8_t link_host_cat_of(const char *cat)
{
    return strcmp(cat, "gpu_memcpy") == 0   ? KINETO_MEMCPY
           : strcmp(cat, "gpu_memset") == 0 ? KINETO_MEMSET
                                            : KINETO_KERNEL;
}

static void tell_launch(struct retell *retell, const struct host_node *node, int64_t correlation)
{
    uint32_t parent = find_node(retell, node->parent);
    const struct host_node *op = parent == HOST_NONE ? NULL : &retell->host->nodes[parent];
    const struct host_link *link = op == NULL ? NULL : link_host_link_of(retell, op);
    if (link == NULL || (op->has & HOST_HAS_TS) == 0 || (op->has & HOST_HAS_CAT) != 0 ||
        !link_host_is_time(link->ts_us)) {
        return;
    }
    link_host_add_event(retell, (struct kineto_event){.ts_us = link->ts_us,
                                                      .correlation = correlation,
                                                      .rf_id = -1,
                                                      .stream = -1,
                                                      .index = retell->host->node_count,
                                                      .name = retell->launch_name,
                                                      .tid = link_host_thread_of(retell, op),
                                                      .has = KINETO_HAS_CORRELATION,
                                                      .cat = KINETO_RUNTIME});
}

static void tell_device(struct retell *retell, uint32_t index)
{
    const struct host_node *node = &retell->host->nodes[index];
    const struct host_link *link = link_host_link_of(retell, node);
    if (link == NULL || (node->has & HOST_HAS_TS) == 0 || !link_host_is_time(link->ts_us) ||
        !link_host_is_time(link->inclusive_us)) {
        return;
    }
    tell_launch(retell, node, (int64_t)index + 1);
    link_host_add_event(retell,
                        (struct kineto_event){.ts_us = link->ts_us,
                                              .dur_us = link->inclusive_us,
                                              .correlation = (int64_t)index + 1,
                                              .rf_id = -1,
                                              .stream = (node->has & HOST_HAS_STREAM) != 0 ? link->stream : -1,
                                              .index = index,
                                              .name = link_host_add_name(retell, &retell->made.names,
                                                                         intern_text(&retell->host->names, node->name)),
                                              .has = KINETO_HAS_CORRELATION | KINETO_HAS_STREAM,
                                              .cat = link_host_cat_of(intern_text(&retell->host->names, link->cat))});
}

static void tell_stated(struct retell *retell, uint32_t index)
{
    const struct host_link *link = link_host_link_of(retell, &retell->host->nodes[index]);
    for (uint32_t i = 0; link != NULL && i < link->sync_count && !retell->refused; i++) {
        uint32_t from = find_node(retell, retell->host->sync_ids[link->first_sync + i]);
        if (from == HOST_NONE) {
            continue;
        }
        if (!MEM_GROW(retell->mem, retell->stated, retell->stated_capacity, retell->stated_count)) {
            retell->refused = true;
            return;
        }
        retell->stated[retell->stated_count++] = (struct link_edge){.to = index, .from = from};
    }
}

/* ---- all of it ---- */

/* Ids are given when an op starts, so an op's own come before those inside it: the last position inside each. */
static void order_ops(struct retell *retell)
{
    uint32_t count = retell->host->node_count;
    for (uint32_t i = 0; i < count; i++) {
        retell->order_end[retell->by_id[i].value] = i;
    }
    for (uint32_t i = count; i > 0; i--) {
        uint32_t child = retell->by_id[i - 1].value;
        uint32_t parent = find_node(retell, retell->host->nodes[child].parent);
        if (parent != HOST_NONE && retell->position[parent] < i - 1 &&
            !link_host_is_frame(retell, &retell->host->nodes[parent]) &&
            retell->order_end[parent] < retell->order_end[child]) {
            retell->order_end[parent] = retell->order_end[child];
        }
    }
}

static int compare_times(const void *left, const void *right)
{
    const struct kineto_event *a = left;
    const struct kineto_event *b = right;
    if (a->ts_us != b->ts_us) {
        return a->ts_us < b->ts_us ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

static void link_host_tell_all(struct retell *retell)
{
    struct host_trace *host = retell->host;
    retell->by_id = arena_alloc(&retell->arena, ((size_t)host->node_count + 1) * sizeof *retell->by_id);
    retell->order_end = arena_zalloc(&retell->arena, ((size_t)host->node_count + 1) * sizeof *retell->order_end);
    retell->position = arena_zalloc(&retell->arena, ((size_t)host->node_count + 1) * sizeof *retell->position);
    if (retell->by_id == NULL || retell->order_end == NULL || retell->position == NULL) {
        retell->refused = true;
        return;
    }
    for (uint32_t i = 0; i < host->node_count; i++) {
        int64_t id = host->nodes[i].id > INT64_MAX ? INT64_MAX : (int64_t)host->nodes[i].id;
        retell->by_id[retell->by_id_count++] = (struct link_key){.key = id, .value = i};
        retell->has_times = retell->has_times || (host->nodes[i].has & HOST_HAS_TS) != 0;
    }
    link_keys_sort(retell->by_id, retell->by_id_count);
    for (uint32_t i = 0; i < host->node_count; i++) {
        retell->position[retell->by_id[i].value] = i;
    }
    retell->launch_name = link_host_add_name(retell, &retell->made.names, "launch");
    if (!retell->has_times) {
        order_ops(retell);
    }
    for (uint32_t i = 0; i < host->node_count && !retell->refused; i++) {
        if ((host->nodes[i].has & HOST_HAS_CAT) != 0) {
            tell_device(retell, i);
        } else {
            tell_op(retell, i);
        }
        tell_stated(retell, i);
    }
    if (retell->made.event_count > 1) {
        qsort(retell->made.events, retell->made.event_count, sizeof *retell->made.events, compare_times);
    }
}

void link_stated(struct link_work *work)
{
    uint32_t positions = work->stated_count == 0 ? 0 : work->host->node_count + 1;
    uint32_t *nodes = positions == 0 ? NULL : link_alloc(work, positions, sizeof *nodes); /* node + 1 */
    for (uint32_t i = 0; i < work->op_total + work->device_total && nodes != NULL; i++) {
        nodes[work->kineto->events[work->events[i]].index] = i + 1;
    }
    for (uint32_t i = 0; i < work->stated_count && nodes != NULL; i++) {
        uint32_t to = nodes[work->stated[i].to];
        uint32_t from = nodes[work->stated[i].from];
        if (to != 0 && from != 0) {
            link_edge_add(work, to - 1, from - 1);
            work->out->counts.waits_recorded++;
        }
    }
}

enum orr_status link_build_host(struct host_trace *host, struct mem *mem, struct notes *notes,
                                struct linked_trace *linked, struct orr_error *err)
{
    struct retell retell = {.host = host, .mem = mem};
    enum orr_status status = ORR_OK;
    arena_init(&retell.arena, mem);
    intern_init(&retell.made.names, mem);
    intern_init(&retell.made.threads, mem);
    retell.made.info = (struct kineto_info){.rank = -1, .world_size = -1};
    link_host_tell_all(&retell);
    if (retell.refused) {
        status = mem_error(mem, "the trace's events", err);
    } else {
        struct link_work work = {.kineto = &retell.made,
                                 .host = host,
                                 .out = linked,
                                 .mem = mem,
                                 .notes = notes,
                                 .stated = retell.stated,
                                 .stated_count = retell.stated_count,
                                 .retold = true};
        status = link_work_run(&work, err);
        linked->has_times = retell.has_times;
    }
    mem_free(mem, retell.made.events, (size_t)retell.made.event_capacity * sizeof *retell.made.events);
    mem_free(mem, retell.stated, (size_t)retell.stated_capacity * sizeof *retell.stated);
    intern_free(&retell.made.names);
    intern_free(&retell.made.threads);
    arena_free(&retell.arena);
    return status;
}
