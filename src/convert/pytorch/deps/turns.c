/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of collectives that workers of a library carry out (gloo, MPI, UCC). The workers take them from one queue,
 * as they were asked for; which worker is free is chance, and differs from rank to rank. A thread's own order alone
 * would let a rank begin with the second where its fellows begin with the first as soon as times are not the recorded
 * ones, and neither would ever end. So each waits for the one asked for before it, or, where the two overlapped in the
 * recording, for all that one waited for: it then starts no sooner, and they run side by side.
 *
 * Sends and receives are left alone: one may well have to wait for what was asked for after it.
 */
#include "convert/comm_name.h"
#include "convert/pytorch/link/work.h"

static bool takes_turns(const struct link_work *work, uint32_t op)
{
    const struct linked_node *node = &work->out->nodes[op];
    return node->kind == LINKED_COMM_OP &&
           comm_kind_is_collective(comm_name_op(intern_text(&work->out->names, node->name)));
}

/* By the number that it got when it was asked for, which is the same order on all ranks; by start where one has none.
 */
static uint32_t list_turns(const struct link_work *work, struct link_key *turns)
{
    uint32_t count = 0;
    bool numbered = true;
    for (uint32_t op = 0; op < work->op_total; op++) {
        if (takes_turns(work, op)) {
            turns[count++] = (struct link_key){.key = work->out->nodes[op].rf_id, .value = op};
            numbered = numbered && work->out->nodes[op].rf_id > 0;
        }
    }
    for (uint32_t i = 0; i < count && !numbered; i++) {
        turns[i].key = work->out->nodes[turns[i].value].start_ns;
    }
    return count;
}

/* `next` starts no sooner than `node`: it waits for what that one waits for. `edges`: how many there were before. */
static void start_behind(struct link_work *work, const struct link_key *by_target, uint32_t edges, uint32_t node,
                         uint32_t next)
{
    for (uint32_t at = link_keys_find(by_target, edges, node); at < edges && by_target[at].key == node; at++) {
        link_edge_add(work, next, work->edges[by_target[at].value].from);
    }
}

/* The edges by what they lead to. */
static struct link_key *list_targets(struct link_work *work, uint32_t edges)
{
    struct link_key *keys = link_alloc(work, edges, sizeof *keys);
    for (uint32_t i = 0; i < edges && keys != NULL; i++) {
        keys[i] = (struct link_key){.key = work->edges[i].to, .value = i};
    }
    if (keys != NULL) {
        link_keys_sort(keys, edges);
    }
    return keys;
}

void link_turns(struct link_work *work)
{
    struct link_key *turns = link_alloc(work, work->op_total, sizeof *turns);
    uint32_t count = work->refused ? 0 : list_turns(work, turns);
    uint32_t edges = work->edge_count;
    const struct link_key *by_target = count > 1 ? list_targets(work, edges) : NULL;
    link_keys_sort(turns, count);
    for (uint32_t i = 1; i < count && !work->refused; i++) {
        struct linked_node *node = &work->out->nodes[turns[i].value];
        int64_t before_ns = work->out->nodes[turns[i - 1].value].start_ns;
        if (node->start_ns <= before_ns && before_ns + 1 < work->ends[turns[i].value]) {
            node->start_ns = before_ns + 1; /* its input was there sooner */
        }
        if (node->start_ns <= before_ns) {
            continue;
        }
        if (node->start_ns >= work->ends[turns[i - 1].value]) {
            link_edge_add(work, turns[i].value, turns[i - 1].value);
        } else {
            start_behind(work, by_target, edges, turns[i - 1].value, turns[i].value);
        }
    }
}
