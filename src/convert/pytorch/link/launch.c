/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The third part of linking: which call launched each device node, on which stream it ran after what. A launch is found
 * by its correlation; a graph's launch has many kernels. Where no call was recorded the External id names an op; a node
 * with neither keeps its place on its stream.
 *
 * The library may run a collective without a kernel (a group of one) or the device may not have been recorded at all:
 * such collectives become nodes of their own, on a lane of their own, at the time their inputs were ready.
 */
#include <inttypes.h>

#include "base/number_map.h"
#include "convert/comm_name.h"
#include "convert/pytorch/link/work.h"

/* ---- lanes ---- */

uint32_t link_lane_add(struct link_work *work, uint32_t text, int64_t stream)
{
    struct linked_trace *out = work->out;
    if (!MEM_GROW(work->mem, out->lanes, out->lane_capacity, out->lane_count)) {
        work->refused = true;
        return 0;
    }
    out->lanes[out->lane_count] = (struct linked_lane){.text = text, .stream = stream, .is_device = true};
    return out->lane_count++;
}

/* `lanes` has the numbers, + 1, of those met so far. */
static uint32_t find_lane(struct link_work *work, struct number_map *lanes, const struct kineto_event *event)
{
    uint32_t text = link_name(work, event->pid);
    int64_t stream = (event->has & KINETO_HAS_STREAM) != 0 ? event->stream : -1;
    uint32_t *lane = number_map_at(lanes, text, stream);
    if (lane == NULL) {
        work->refused = true;
        return 0;
    }
    *lane = *lane == 0 ? link_lane_add(work, text, stream) + 1 : *lane;
    return *lane - 1;
}

/* ---- launches ---- */

static void list_correlations(struct link_work *work)
{
    work->by_correlation = link_alloc(work, work->call_count, sizeof *work->by_correlation);
    if (work->refused) {
        return;
    }
    for (uint32_t i = 0; i < work->call_count; i++) {
        if (work->calls[i].correlation > 0) {
            work->by_correlation[work->correlation_count++] =
                (struct link_key){.key = work->calls[i].correlation, .value = i};
        }
    }
    link_keys_sort(work->by_correlation, work->correlation_count);
}

/* Numbers may come again in a long recording: the latest call that began before the node. */
uint32_t link_call_of(const struct link_work *work, int64_t correlation, int64_t time_ns)
{
    uint32_t count = work->correlation_count;
    uint32_t best = LINKED_NONE;
    if (correlation <= 0) {
        return LINKED_NONE;
    }
    for (uint32_t at = link_keys_find(work->by_correlation, count, correlation);
         at < count && work->by_correlation[at].key == correlation; at++) {
        uint32_t call = work->by_correlation[at].value;
        bool before = work->calls[call].start_ns <= time_ns;
        if (best == LINKED_NONE || (before && (work->calls[best].start_ns > time_ns ||
                                               work->calls[call].start_ns > work->calls[best].start_ns))) {
            best = call;
        }
    }
    return best;
}

/* The latest op of this External id that began before the node: a list made only when some node needs it. */
static uint32_t find_external(struct link_work *work, struct link_key **keys, int64_t external_id, int64_t start_ns)
{
    uint32_t best = LINKED_NONE;
    if (external_id <= 0) {
        return LINKED_NONE;
    }
    if (*keys == NULL) {
        *keys = link_alloc(work, work->op_total, sizeof **keys);
        for (uint32_t i = 0; i < work->op_total && *keys != NULL; i++) {
            (*keys)[i] = (struct link_key){.key = work->kineto->events[work->events[i]].external_id, .value = i};
        }
        if (*keys == NULL) {
            return LINKED_NONE;
        }
        link_keys_sort(*keys, work->op_total);
    }
    for (uint32_t at = link_keys_find(*keys, work->op_total, external_id);
         at < work->op_total && (*keys)[at].key == external_id; at++) {
        if (work->out->nodes[(*keys)[at].value].start_ns <= start_ns) {
            best = (*keys)[at].value;
        }
    }
    return best;
}

static void launch_device(struct link_work *work, uint32_t node, struct link_key **external)
{
    struct linked_node *device = &work->out->nodes[node];
    const struct kineto_event *event = &work->kineto->events[work->events[node]];
    struct linked_counts *counts = &work->out->counts;
    bool has_correlation = (event->has & KINETO_HAS_CORRELATION) != 0;
    uint32_t call = link_call_of(work, has_correlation ? event->correlation : -1, device->start_ns);
    work->call_of[node - work->op_total] = call;
    if (call != LINKED_NONE) {
        struct link_call *made = &work->calls[call];
        made->call = KINETO_CALL_LAUNCH;
        made->first_device = made->first_device == LINKED_NONE ? node : made->first_device;
        made->last_device = node;
        device->parent = made->owner;
        counts->launched++;
        return; /* deps/host.c says which node of the thread was the last before the call */
    }
    uint32_t op = find_external(work, external, event->external_id, device->start_ns);
    device->parent = op;
    link_edge_add(work, node, op);
    counts->by_external_id += op != LINKED_NONE;
    counts->unlaunched += op == LINKED_NONE;
}

/* ---- collectives without a kernel ---- */

/* Whether the user says how many bytes what is launched in `op` carries: nccl:all_to_all|bytes=4096|pg=ep0. */
static bool link_launch_is_tagged(const struct link_work *work, uint32_t op)
{
    for (; op != LINKED_NONE; op = work->out->nodes[op].parent) {
        if (strstr(intern_text(&work->out->names, work->out->nodes[op].name), "|bytes=") != NULL) {
            return true;
        }
    }
    return false;
}

/* A kernel whose bytes no op tells: communication where the user does, else work of the time it took. */
static bool is_timed_only(struct link_work *work, uint32_t node)
{
    const struct linked_node *at = &work->out->nodes[node];
    enum comm_family family = comm_name_family(intern_text(&work->out->names, at->name));
    if (link_launch_is_tagged(work, at->parent)) {
        return false;
    }
    linked_count_timed(&work->out->counts, family, at->duration_ns);
    return true;
}

static bool mark_comm_kernels(struct link_work *work)
{
    uint32_t names = intern_count(&work->out->names);
    uint8_t *kinds = link_alloc(work, names, sizeof *kinds); /* enum comm_kind + 1; that of a timed one is the last */
    bool any = false;
    for (uint32_t i = work->op_total; i < work->op_total + work->device_total && !work->refused; i++) {
        const struct linked_node *node = &work->out->nodes[i];
        if (kinds[node->name] == 0) {
            const char *name = intern_text(&work->out->names, node->name);
            bool one_sided = comm_name_kernel(name) == COMM_NONE && comm_name_family(name) != COMM_FAMILY_LIBRARY;
            kinds[node->name] = (uint8_t)((one_sided ? COMM_KIND_COUNT : comm_name_kernel(name)) + 1);
        }
        if (kinds[node->name] - 1 == COMM_NONE ||
            (kinds[node->name] - 1 == COMM_KIND_COUNT && is_timed_only(work, i))) {
            continue;
        }
        any = true;
        work->flags[i] |= LINK_IS_COMM;
        for (uint32_t op = node->parent; op != LINKED_NONE && (work->flags[op] & LINK_HAS_COMM_KERNEL) == 0;
             op = work->out->nodes[op].parent) {
            work->flags[op] |= LINK_HAS_COMM_KERNEL;
        }
    }
    return any;
}

static const struct kineto_comm *comm_of(const struct link_work *work, uint32_t op)
{
    uint32_t comm = work->kineto->events[work->events[op]].comm;
    return comm == KINETO_NONE ? NULL : &work->kineto->comms[comm];
}

/* Whether the op itself or one around it says that its group has one member, and none says that it is no collective. */
static bool link_launch_is_alone(const struct link_work *work, uint32_t op)
{
    for (; op != LINKED_NONE && (work->flags[op] & LINK_IS_COMM) != 0; op = work->out->nodes[op].parent) {
        const struct kineto_comm *comm = comm_of(work, op);
        uint32_t host = work->out->nodes[op].host;
        if (comm != NULL && comm->group_size == 1) {
            return true;
        }
        if (host != LINKED_NONE && work->host->nodes[host].comm != HOST_NONE &&
            work->host->comms[work->host->nodes[host].comm].group_size == 1) {
            return true;
        }
    }
    return work->kineto->info.world_size == 1;
}

/* record_param_comms also speaks of waits and of the group's making. */
bool link_is_collective(const struct link_work *work, uint32_t op)
{
    const char *name = intern_text(&work->out->names, work->out->nodes[op].name);
    if (strcmp(name, "record_param_comms") != 0) {
        return true;
    }
    const struct kineto_comm *comm = comm_of(work, op);
    uint32_t host = work->out->nodes[op].host;
    const char *word = comm != NULL ? intern_text(&work->kineto->names, comm->collective) : "";
    if (word[0] == '\0' && host != LINKED_NONE && work->host->nodes[host].comm != HOST_NONE) {
        word = intern_text(&work->host->names, work->host->comms[work->host->nodes[host].comm].collective);
    }
    return word[0] == '\0' ? false : comm_name_word(word) != COMM_NONE;
}

/* `inputs`: what the thread launched last, which the collective has to wait for. */
static void add_bare(struct link_work *work, uint32_t call, uint32_t lane, uint32_t inputs)
{
    uint32_t op = work->calls[call].owner;
    const struct linked_node *around = &work->out->nodes[op];
    int64_t start = around->start_ns;
    if (inputs != LINKED_NONE && work->ends[inputs] > start) {
        start = work->ends[inputs];
    }
    uint32_t node = link_node_add(work,
                                  &(struct linked_node){.start_ns = start,
                                                        .rf_id = around->rf_id,
                                                        .name = around->name,
                                                        .parent = op,
                                                        .lane = lane,
                                                        .comm = LINKED_NONE,
                                                        .host = around->host,
                                                        .step = -1,
                                                        .kind = LINKED_COMM_BARE},
                                  start, work->events[op], LINK_IS_COMM);
    if (node != LINKED_NONE) {
        work->calls[call].first_device = node;
        work->calls[call].last_device = node;
        link_edge_add(work, node, op);
        link_edge_add(work, node, inputs);
    }
}

/* Where a library runs collectives on the host, record_param_comms alone is no second one. */
static bool is_bare(const struct link_work *work, uint32_t op, bool any_kernel, bool any_host)
{
    if ((work->flags[op] & (LINK_HAS_COMM_CHILD | LINK_HAS_COMM_KERNEL)) != 0 || !link_is_collective(work, op)) {
        return false;
    }
    if (any_host && strcmp(intern_text(&work->out->names, work->out->nodes[op].name), "record_param_comms") == 0) {
        return false;
    }
    return !any_kernel || link_launch_is_alone(work, op);
}

static bool any_host_library(const struct link_work *work)
{
    for (uint32_t i = 0; i < work->op_total; i++) {
        if (work->out->nodes[i].kind == LINKED_COMM_OP) {
            return true;
        }
    }
    return false;
}

static void add_bare_collectives(struct link_work *work, bool any_kernel)
{
    uint32_t lane = LINKED_NONE;
    uint32_t last = LINKED_NONE;
    bool any_host = any_host_library(work);
    for (uint32_t i = 0; i < work->call_count && !work->refused; i++) {
        if (i == 0 || work->calls[i].thread != work->calls[i - 1].thread) {
            last = LINKED_NONE;
        }
        if (work->calls[i].event == KINETO_NONE && work->calls[i].owner != LINKED_NONE &&
            is_bare(work, work->calls[i].owner, any_kernel, any_host)) {
            lane = lane == LINKED_NONE ? link_lane_add(work, 0, -1) : lane;
            add_bare(work, i, lane, last);
        }
        last = work->calls[i].last_device != LINKED_NONE ? work->calls[i].last_device : last;
    }
}

/* What each call has before and behind it on its thread. */
static void link_launch_list_neighbours(struct link_work *work)
{
    uint32_t last = LINKED_NONE;
    work->before = link_alloc(work, work->call_count, sizeof *work->before);
    work->next = link_alloc(work, work->call_count, sizeof *work->next);
    if (work->refused) {
        return;
    }
    for (uint32_t i = 0; i < work->call_count; i++) {
        last = i == 0 || work->calls[i].thread != work->calls[i - 1].thread ? LINKED_NONE : last;
        work->before[i] = last;
        last = work->calls[i].last_device != LINKED_NONE ? work->calls[i].last_device : last;
    }
    for (uint32_t i = work->call_count; i > 0; i--) {
        const struct link_call *call = &work->calls[i - 1];
        last = i == work->call_count || call->thread != work->calls[i].thread ? LINKED_NONE : last;
        work->next[i - 1] = last;
        last = call->first_device != LINKED_NONE ? call->first_device : last;
    }
}

/* ---- streams ---- */

static int64_t launched_at(const struct link_work *work, uint32_t node)
{
    if (node < work->op_total + work->device_total) {
        uint32_t call = work->call_of[node - work->op_total];
        return call != LINKED_NONE ? work->calls[call].start_ns : work->out->nodes[node].start_ns;
    }
    return work->out->nodes[work->out->nodes[node].parent].start_ns; /* a collective without a kernel */
}

/* Device nodes are in order of start but for the collectives without a kernel behind them, which have a lane of their
 * own: these are put in order as they come, for their starts follow the launches nearly. */
static void order_streams(struct link_work *work)
{
    struct linked_trace *out = work->out;
    uint32_t total = out->node_count - work->op_total;
    uint32_t first = 0;
    struct link_key *keys = link_alloc(work, total, sizeof *keys);
    work->lanes = link_alloc(work, (uint64_t)out->lane_count + 1, sizeof *work->lanes);
    work->lane_nodes = link_alloc(work, total, sizeof *work->lane_nodes);
    work->lane_launched = link_alloc(work, total, sizeof *work->lane_launched);
    if (work->refused) {
        return;
    }
    for (uint32_t i = 0; i < total; i++) {
        keys[i] = (struct link_key){.key = out->nodes[work->op_total + i].start_ns, .value = work->op_total + i};
        work->lanes[out->nodes[work->op_total + i].lane].count++;
    }
    link_keys_sort(keys, total);
    for (uint32_t l = 0; l < out->lane_count; l++) {
        work->lanes[l].first = first;
        first += work->lanes[l].count;
        work->lanes[l].count = 0;
    }
    for (uint32_t i = 0; i < total; i++) {
        uint32_t node = keys[i].value;
        struct link_lane *lane = &work->lanes[out->nodes[node].lane];
        uint32_t at = lane->first + lane->count;
        int64_t launched = launched_at(work, node);
        if (lane->count > 0) {
            launched = launched > work->lane_launched[at - 1] ? launched : work->lane_launched[at - 1];
        }
        work->lane_nodes[at] = node;
        work->lane_launched[at] = launched;
        lane->count++;
    }
    work->sides = link_alloc(work, total, sizeof *work->sides);
    for (uint32_t l = 0; l < out->lane_count && !work->refused; l++) {
        link_order_lane(work, work->lane_nodes + work->lanes[l].first, work->lanes[l].count);
    }
}

/* How many nodes of the lane were launched before the time. */
static uint32_t launched_before(const struct link_work *work, uint32_t lane, int64_t time_ns)
{
    uint32_t low = 0;
    uint32_t high = work->lanes[lane].count;
    const int64_t *launched = work->lane_launched + work->lanes[lane].first;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (launched[middle] < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t link_lane_before(const struct link_work *work, uint32_t lane, int64_t time_ns)
{
    uint32_t count = launched_before(work, lane, time_ns);
    return count == 0 ? LINKED_NONE : work->lane_nodes[work->lanes[lane].first + count - 1];
}

uint32_t link_lane_after(const struct link_work *work, uint32_t lane, int64_t time_ns)
{
    uint32_t count = launched_before(work, lane, time_ns);
    return count == work->lanes[lane].count ? LINKED_NONE : work->lane_nodes[work->lanes[lane].first + count];
}

uint32_t link_lane_of_stream(const struct link_work *work, uint32_t like, int64_t stream)
{
    const struct linked_trace *out = work->out;
    for (uint32_t l = 0; l < out->lane_count; l++) {
        if (out->lanes[l].is_device && out->lanes[l].stream == stream &&
            (like == LINKED_NONE || out->lanes[out->nodes[like].lane].text == out->lanes[l].text)) {
            return l;
        }
    }
    return LINKED_NONE;
}

uint32_t link_recorded(const struct link_work *work, uint32_t record)
{
    uint32_t node = work->before[record];
    return node == LINKED_NONE ? LINKED_NONE
                               : link_lane_before(work, work->out->nodes[node].lane, work->calls[record].start_ns);
}

void link_launch(struct link_work *work)
{
    struct number_map lanes;
    struct link_key *external = NULL;
    work->call_of = link_alloc(work, work->device_total, sizeof *work->call_of);
    list_correlations(work);
    number_map_init(&lanes, work->mem);
    for (uint32_t i = work->op_total; i < work->op_total + work->device_total && !work->refused; i++) {
        work->out->nodes[i].lane = find_lane(work, &lanes, &work->kineto->events[work->events[i]]);
        launch_device(work, i, &external);
    }
    number_map_free(&lanes);
    if (!work->refused) {
        bool any_kernel = mark_comm_kernels(work);
        link_coalesced(work);
        add_bare_collectives(work, any_kernel);
    }
    if (!work->refused) {
        link_launch_list_neighbours(work);
    }
    if (!work->refused) {
        order_streams(work);
    }
}
