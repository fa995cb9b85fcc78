/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On fluid networks collectives begin by instants. Who comes to one is noted, and a nanosecond later, well before
 * anything of it has crossed the memory bus, all that came at that time are looked at together, in the order of their
 * groups: so nothing depends on which rank was called first. Of the collectives that begin then, those of groups that
 * are alike (twins.h) and whose same members have come follow the first of them.
 *
 * A follower keeps its members and nothing else. That each member comes when the leader's does is looked at each time;
 * if one does not, the run begins again, with only those following whose ranks all come at once. That is rare: those
 * who have done the same in the same time so far do the same next.
 */
#include <stdlib.h>

#include "sim/simai/engine.h"

void simai_part_ways(struct simai *simai)
{
    simai->parted = true;
    simai->queue.failed = true;
}

void simai_gather_later(struct simai *simai, uint32_t coll_index, uint32_t member)
{
    uint64_t now = simai->queue.now;
    const struct simai_coll *coll = &simai->colls.at[coll_index];
    if (!mem_reserve(simai->mem, (void **)&simai->starts, &simai->start_capacity, (uint64_t)simai->start_count + 1,
                     sizeof *simai->starts)) {
        simai->queue.failed = true;
        return;
    }
    if (simai->start_count == 0 || simai->starts[simai->start_count - 1].at_ns != now) {
        (void)event_queue_push(&simai->queue, now + 1, SIMAI_EVENT_GATHER, 0, 0);
    }
    simai->starts[simai->start_count++] =
        (struct simai_start){.at_ns = now, .coll = coll_index, .group = coll->group, .op = coll->op, .member = member};
}

static int in_order(const void *a, const void *b)
{
    const struct simai_start *x = a;
    const struct simai_start *y = b;
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    if (x->op != y->op) {
        return x->op < y->op ? -1 : 1;
    }
    return x->member < y->member ? -1 : x->member > y->member;
}

/* Takes those of the last instant out of the line, in order. */
static bool take_starts(struct simai *simai)
{
    uint32_t count = 0;
    while (count < simai->start_count && simai->starts[count].at_ns < simai->queue.now) {
        count++;
    }
    if (!mem_reserve(simai->mem, (void **)&simai->gathered, &simai->gathered_capacity, (uint64_t)count + 1,
                     sizeof *simai->gathered)) {
        simai->queue.failed = true;
        return false;
    }
    for (uint32_t i = 0; i < simai->start_count; i++) {
        if (i < count) {
            simai->gathered[i] = simai->starts[i];
        } else {
            simai->starts[i - count] = simai->starts[i];
        }
    }
    simai->start_count -= count;
    simai->gathered_count = count;
    qsort(simai->gathered, count, sizeof *simai->gathered, in_order);
    return true;
}

/* Which of the gathered are a collective's. */
static void find_runs(struct simai *simai)
{
    simai->gatherings++;
    for (uint32_t i = 0; i < simai->gathered_count; i++) {
        struct simai_coll *coll = &simai->colls.at[simai->gathered[i].coll];
        if (coll->came_at != simai->gatherings) {
            coll->came_at = simai->gatherings;
            coll->came = i;
            coll->came_count = 0;
        }
        coll->came_count++;
    }
}

static bool is_first_of_run(const struct simai *simai, uint32_t i)
{
    return i == 0 || simai->gathered[i].coll != simai->gathered[i - 1].coll;
}

/* Whether the same members have come to both, now. */
static bool came_alike(const struct simai *simai, const struct simai_coll *a, const struct simai_coll *b)
{
    bool alike = a->came_at == b->came_at && a->came_count == b->came_count;
    for (uint32_t i = 0; alike && i < a->came_count; i++) {
        alike = simai->gathered[a->came + i].member == simai->gathered[b->came + i].member;
    }
    return alike;
}

/* ---- following ---- */

/* The collective to follow, 0 = none; whoever has none may be followed. */
static uint32_t find_leader(struct simai *simai, uint32_t index)
{
    const struct simai_coll *coll = &simai->colls.at[index];
    uint32_t kind = simai->twins.kin == NULL ? SIMAI_NO_KIND : simai->twins.kin[coll->group].kind;
    bool is_whole = coll->came_count == simai->groups[coll->group].nccl.rank_count;
    if (kind == SIMAI_NO_KIND || (simai->together == SIMAI_WHOLE && !is_whole)) {
        return 0;
    }
    uint32_t leader = simai->twins.leader[kind];
    const struct simai_coll *other = &simai->colls.at[leader];
    if (leader != 0 && simai->twins.led_at[kind] == simai->gatherings && other->op == coll->op &&
        came_alike(simai, coll, other)) {
        return leader;
    }
    simai->twins.leader[kind] = index;
    simai->twins.led_at[kind] = simai->gatherings;
    return 0;
}

static void open_or_follow(struct simai *simai, uint32_t index)
{
    uint32_t leader = find_leader(simai, index);
    struct simai_coll *coll = &simai->colls.at[index];
    if (leader == 0) {
        (void)simai_coll_open(simai, index);
        return;
    }
    struct simai_coll *other = &simai->colls.at[leader];
    coll->leader = leader;
    coll->next_follower = other->followers;
    other->followers = index;
    other->follower_count++;
    simai->result.followed++;
}

/* What the network is to know of a collective's followers. */
static void tell_twins(struct simai *simai, struct simai_coll *coll)
{
    const struct simai_kin *kin = &simai->twins.kin[coll->group];
    struct net_twins *twins = mem_zalloc(simai->mem, sizeof *twins);
    struct net_carried *carried = mem_zalloc(simai->mem, (size_t)kin->port_count * sizeof *carried);
    const uint32_t **ports = mem_zalloc(simai->mem, (size_t)coll->follower_count * sizeof *ports);
    if (twins == NULL || ports == NULL || carried == NULL) {
        mem_free(simai->mem, twins, sizeof *twins);
        mem_free(simai->mem, carried, (size_t)kin->port_count * sizeof *carried);
        mem_free(simai->mem, ports, (size_t)coll->follower_count * sizeof *ports);
        simai->queue.failed = true;
        return;
    }
    uint32_t at = coll->follower_count;
    for (uint32_t follower = coll->followers; follower != 0; follower = simai->colls.at[follower].next_follower) {
        ports[--at] = simai->twins.kin[simai->colls.at[follower].group].ports;
    }
    *twins = (struct net_twins){.count = coll->follower_count,
                                .places = kin->port_count,
                                .carried = carried,
                                .place = simai->twins.place,
                                .is_choice = simai->twins.is_choice,
                                .ports = ports};
    coll->twins = twins;
}

/* Leaders and followers are where the others are. */
static bool keep_together(const struct simai *simai, uint32_t index)
{
    const struct simai_coll *coll = &simai->colls.at[index];
    if (coll->leader != 0) {
        return came_alike(simai, coll, &simai->colls.at[coll->leader]);
    }
    for (uint32_t follower = coll->followers; follower != 0; follower = simai->colls.at[follower].next_follower) {
        if (!came_alike(simai, coll, &simai->colls.at[follower])) {
            return false;
        }
    }
    return true;
}

void simai_gather(struct simai *simai)
{
    if (!take_starts(simai)) {
        return;
    }
    find_runs(simai);
    for (uint32_t i = 0; i < simai->gathered_count && !simai->queue.failed; i++) {
        const struct simai_coll *coll = &simai->colls.at[simai->gathered[i].coll];
        if (is_first_of_run(simai, i) && coll->plan == NULL && coll->leader == 0) {
            open_or_follow(simai, simai->gathered[i].coll);
        }
    }
    for (uint32_t i = 0; i < simai->gathered_count && !simai->queue.failed; i++) {
        struct simai_coll *coll = &simai->colls.at[simai->gathered[i].coll];
        if (is_first_of_run(simai, i) && coll->followers != 0 && coll->twins == NULL) {
            tell_twins(simai, coll);
        }
        if (is_first_of_run(simai, i) && !keep_together(simai, simai->gathered[i].coll)) {
            simai_part_ways(simai);
        }
    }
    for (uint32_t i = 0; i < simai->gathered_count && !simai->queue.failed; i++) {
        const struct simai_start *start = &simai->gathered[i];
        if (simai->colls.at[start->coll].leader == 0) {
            simai_coll_begin(simai, start->coll, start->member, start->at_ns);
        }
    }
}
