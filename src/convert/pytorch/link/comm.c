/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication in a linked trace: what speaks of each is collected while linking, and settled when the groups of all
 * ranks are known (collective.h). A kernel of the device's library is the communication; a host op only where there is
 * none, so that no collective counts twice.
 */
#include "convert/pytorch/link/link.h"

#include <inttypes.h>

#include "convert/pytorch/link/work.h"

enum { OPS_TOLD = 8 }; /* c10d::…, record_param_comms, nccl:…, and what a user puts around them */

static uint32_t host_comm_of(const struct link_work *work, uint32_t op)
{
    uint32_t host = work->out->nodes[op].host;
    return host == LINKED_NONE ? HOST_NONE : work->host->nodes[host].comm;
}

/* What `op` says, under the name of `named`. */
static void link_comm_add_op(struct link_work *work, struct linked_clue *clue, uint32_t op, uint32_t named)
{
    struct linked_trace *out = work->out;
    if (!MEM_GROW(work->mem, out->clue_ops, out->clue_op_capacity, out->clue_op_count)) {
        work->refused = true;
        return;
    }
    out->clue_ops[out->clue_op_count++] =
        (struct linked_clue_op){.name = out->nodes[named].name,
                                .host = host_comm_of(work, op),
                                .kineto = work->kineto->events[work->events[op]].comm};
    clue->op_count++;
}

static void link_comm_add_ops(struct link_work *work, struct linked_clue *clue, uint32_t op)
{
    for (; op != LINKED_NONE && clue->op_count < OPS_TOLD && !work->refused; op = work->out->nodes[op].parent) {
        link_comm_add_op(work, clue, op, op);
    }
}

static bool is_graph_launch(const struct link_work *work, uint32_t call)
{
    uint32_t event = work->calls[call].event;
    return event != KINETO_NONE && strstr(link_event_name(work, event), "GraphLaunch") != NULL;
}

static void add_clue(struct link_work *work, uint32_t node)
{
    struct linked_trace *out = work->out;
    const struct linked_node *at = &out->nodes[node];
    struct linked_clue clue = {.node = node,
                               .first_op = out->clue_op_count,
                               .device = KINETO_NONE,
                               .launch = KINETO_NONE,
                               .on_device = at->kind == LINKED_DEVICE};
    if (at->kind == LINKED_DEVICE) {
        uint32_t call = work->call_of[node - work->op_total];
        clue.device = work->kineto->events[work->events[node]].comm;
        clue.unlaunched = call == LINKED_NONE || is_graph_launch(work, call);
        if (call != LINKED_NONE && work->calls[call].event != KINETO_NONE) {
            clue.launch = work->kineto->events[work->calls[call].event].comm;
        }
        if (host_comm_of(work, node) != HOST_NONE) { /* it has the tensors of the op that launched it */
            link_comm_add_op(work, &clue, node, at->parent == LINKED_NONE ? node : at->parent);
        }
        link_comm_add_ops(work, &clue, out->nodes[node].parent);
    } else if (at->kind == LINKED_COMM_BARE) {
        link_comm_add_ops(work, &clue, at->parent);
    } else {
        link_comm_add_ops(work, &clue, node);
        link_comm_add_ops(work, &clue, link_creator(work, node));
    }
    if (work->refused || !MEM_GROW(work->mem, out->clues, out->clue_capacity, out->clue_count)) {
        work->refused = true;
        return;
    }
    out->clues[out->clue_count++] = clue;
}

void link_clues(struct link_work *work)
{
    for (uint32_t i = 0; i < work->out->node_count && !work->refused; i++) {
        uint8_t kind = work->out->nodes[i].kind;
        if (kind == LINKED_COMM_OP || kind == LINKED_COMM_BARE ||
            (kind == LINKED_DEVICE && (work->flags[i] & LINK_IS_COMM) != 0)) {
            add_clue(work, i);
        }
    }
}

/* ---- settling ---- */

struct settle {
    struct linked_trace *linked;
    const struct kineto_trace *kineto;
    const struct host_trace *host;
    const struct comm_groups *groups;
    const char *name;
};

static const struct kineto_comm *kineto_comm_at(const struct settle *settle, uint32_t index)
{
    return settle->kineto == NULL || index == KINETO_NONE ? NULL : &settle->kineto->comms[index];
}

static enum orr_status settle_one(const struct settle *settle, const struct linked_clue *clue, struct comm_fact *fact,
                                  struct orr_error *err)
{
    const struct linked_trace *linked = settle->linked;
    const struct linked_node *node = &linked->nodes[clue->node];
    struct comm_op ops[2 * OPS_TOLD];
    char place[512];
    for (uint32_t i = 0; i < clue->op_count; i++) {
        const struct linked_clue_op *op = &linked->clue_ops[clue->first_op + i];
        ops[i] = (struct comm_op){
            .name = intern_text(&linked->names, op->name),
            .host = settle->host == NULL || op->host == HOST_NONE ? NULL : &settle->host->comms[op->host],
            .kineto = kineto_comm_at(settle, op->kineto),
        };
    }
    (void)snprintf(place, sizeof place, "%.200s: node %u \"%.200s\"", settle->name, clue->node,
                   intern_text(&linked->names, node->name));
    return comm_resolve(
        &(struct comm_clue){.node = place,
                            .device_name = clue->on_device ? intern_text(&linked->names, node->name) : "",
                            .device = kineto_comm_at(settle, clue->device),
                            .launch = kineto_comm_at(settle, clue->launch),
                            .ops = ops,
                            .op_count = clue->op_count,
                            .host_names = settle->host == NULL ? NULL : &settle->host->names,
                            .kineto_names = settle->kineto == NULL ? NULL : &settle->kineto->names,
                            .groups = settle->groups,
                            .rank = linked->rank,
                            .has_unknown_size = true},
        fact, err);
}

/* What was taken for communication by its name but is none, such as a wait. */
static void link_comm_make_plain(struct linked_node *node)
{
    node->kind = node->kind == LINKED_COMM_OP ? LINKED_OP : LINKED_DEVICE;
}

/* The innermost op around that speaks of communication, by which the kernels of one collective are known. */
static uint32_t anchor_of(const struct linked_trace *linked, const struct linked_clue *clue)
{
    uint32_t op = clue->on_device ? linked->nodes[clue->node].parent : LINKED_NONE;
    for (uint32_t i = 0; op != LINKED_NONE && i < OPS_TOLD; op = linked->nodes[op].parent, i++) {
        if (comm_name_op(intern_text(&linked->names, linked->nodes[op].name)) != COMM_NONE) {
            return op;
        }
    }
    return LINKED_NONE;
}

/* Kernels of one collective share its bytes. `keys`: anchors by clue, sorted. */
static void link_comm_share(struct linked_trace *linked, const struct link_key *keys, uint32_t count)
{
    for (uint32_t first = 0, next = 0; first < count; first = next) {
        for (next = first + 1; next < count && keys[next].key == keys[first].key;) {
            next++;
        }
        for (uint32_t i = first; i < next && next - first > 1; i++) {
            uint32_t comm = linked->nodes[linked->clues[keys[i].value].node].comm;
            linked->comms[comm] = comm_fact_share(&linked->comms[comm], next - first, i - first);
        }
    }
}

static enum orr_status settle_all(const struct settle *settle, struct link_key *keys, uint32_t *key_count,
                                  struct orr_error *err)
{
    struct linked_trace *linked = settle->linked;
    for (uint32_t i = 0; i < linked->clue_count; i++) {
        struct comm_fact fact = {0};
        struct linked_node *node = &linked->nodes[linked->clues[i].node];
        enum orr_status status = settle_one(settle, &linked->clues[i], &fact, err);
        if (linked->clues[i].unlaunched && (status == ORR_EINVAL || fact.size_from == PROVENANCE_GIVEN)) {
            enum comm_family family = comm_name_family(intern_text(&linked->names, node->name));
            linked_count_timed(&linked->counts, family, node->duration_ns);
            link_comm_make_plain(node);
            continue;
        }
        if (status != ORR_OK) {
            return status;
        }
        if (fact.kind == COMM_NONE) {
            link_comm_make_plain(node);
            continue;
        }
        node->comm = linked->comm_count;
        linked->comms[linked->comm_count++] = fact;
        uint32_t anchor = anchor_of(linked, &linked->clues[i]);
        if (anchor != LINKED_NONE) {
            keys[(*key_count)++] = (struct link_key){.key = anchor, .value = i};
        }
    }
    return ORR_OK;
}

enum orr_status link_resolve(struct linked_trace *linked, const struct kineto_trace *kineto,
                             const struct host_trace *host, const struct comm_groups *groups, const char *name,
                             struct orr_error *err)
{
    struct settle settle = {.linked = linked, .kineto = kineto, .host = host, .groups = groups, .name = name};
    size_t bytes = (size_t)linked->clue_count * sizeof(struct link_key);
    uint32_t key_count = 0;
    struct link_key *keys = mem_alloc(linked->mem, bytes);
    if (keys == NULL || !MEM_RESERVE(linked->mem, linked->comms, linked->comm_capacity, linked->clue_count)) {
        mem_free(linked->mem, keys, bytes);
        return mem_error(linked->mem, "communications", err);
    }
    enum orr_status status = settle_all(&settle, keys, &key_count, err);
    if (status == ORR_OK) {
        link_keys_sort(keys, key_count);
        link_comm_share(linked, keys, key_count);
    }
    mem_free(linked->mem, keys, bytes);
    return status;
}

/* ---- what is timed as it was recorded ---- */

void link_time_unsized(struct linked_trace *linked)
{
    for (uint32_t i = 0; i < linked->node_count; i++) {
        struct linked_node *node = &linked->nodes[i];
        if (node->comm == LINKED_NONE || node->kind != LINKED_DEVICE ||
            linked->comms[node->comm].size_from != PROVENANCE_GIVEN) {
            continue;
        }
        enum comm_family family = comm_name_family(intern_text(&linked->names, node->name));
        if (family != COMM_FAMILY_LIBRARY) {
            linked_count_timed(&linked->counts, family, node->duration_ns);
            node->comm = LINKED_NONE;
        }
    }
}

/* First start to last end of all that ran. */
static int64_t link_comm_span_of(const struct linked_trace *linked)
{
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < linked->node_count; i++) {
        const struct linked_node *node = &linked->nodes[i];
        first = node->start_ns < first ? node->start_ns : first;
        last = node->start_ns + node->duration_ns > last ? node->start_ns + node->duration_ns : last;
    }
    return last > first ? last - first : 0;
}

enum orr_status link_note_timed(const struct linked_trace *linked, struct notes *notes, struct orr_error *err)
{
    char list[400] = "";
    size_t used = 0;
    uint64_t total = 0;
    for (int family = 0; family < COMM_FAMILY_COUNT; family++) {
        uint64_t count = linked->counts.timed_comms[family];
        if (count > 0 && used < sizeof list) {
            int wrote = snprintf(list + used, sizeof list - used, "%s%s %" PRIu64, total > 0 ? ", " : "",
                                 comm_family_text((enum comm_family)family), count);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
        total += count;
    }
    int64_t span = link_comm_span_of(linked);
    if (total == 0) {
        return ORR_OK;
    }
    return notes_add(notes, err,
                     "%" PRIu64 " kernels communicate but tell no size (%s): simulated as long as they were recorded, "
                     "whatever the network, %.1f%% of the recorded time; an annotation like "
                     "nccl:all_to_all|bytes=N|pg=NAME around them makes them messages",
                     total, list, span > 0 ? 100.0 * (double)linked->counts.timed_ns / (double)span : 0.0);
}
