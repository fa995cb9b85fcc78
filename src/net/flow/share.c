/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates are max-min fair when each flow has a bottleneck: a full link on which nobody has more, or its own ceiling. So
 * a change is settled from where it happened. The flows that joined are filled into what the others leave; then the
 * links they changed are looked over, and a flow that has lost its bottleneck, or has more than one that is held there,
 * is filled anew with them, until there is none. Usually the change dies out within a few links; what it cannot have
 * reached is never read. After a few rounds whole links are taken in at once, so that the end is near in any case.
 *
 * Filling is progressive: all rates rise together until a link is full or a flow has reached its ceiling; those flows
 * keep what they have and the rest goes on rising. A link's bound never falls while others settle below it, so the heap
 * of bounds may be stale: an entry is reckoned anew when it comes up, and sinks if it has risen.
 *
 * Users of a link are an array, with each use knowing its place: leaving is a swap with the last. Orders depend on who
 * came when, and so on the run alone.
 */
#include "net/flow/share.h"

#include <math.h>

#include "base/heap.h"

enum { ROUNDS_WITH_CARE = 6 };

bool share_init(struct share *share, uint32_t links, uint32_t room, double tolerance, struct mem *mem)
{
    *share = (struct share){.link_count = links, .room = room, .tolerance = tolerance, .mem = mem};
    share->links = mem_zalloc(mem, (size_t)links * sizeof *share->links);
    return share->links != NULL;
}

void share_free(struct share *share)
{
    struct mem *mem = share->mem;
    if (mem == NULL) {
        return;
    }
    for (uint32_t i = 0; share->links != NULL && i < share->link_count; i++) {
        mem_free(mem, share->links[i].users, (size_t)share->links[i].capacity * sizeof *share->links[i].users);
    }
    mem_free(mem, share->links, (size_t)share->link_count * sizeof *share->links);
    mem_free(mem, share->flows, (size_t)share->flow_capacity * sizeof *share->flows);
    mem_free(mem, share->uses, (size_t)share->use_capacity * sizeof *share->uses);
    struct share_list *lists[] = {&share->fresh, &share->dirty, &share->found, &share->met};
    for (uint32_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        mem_free(mem, lists[i]->at, (size_t)lists[i]->capacity * sizeof *lists[i]->at);
    }
    mem_free(mem, share->bounds.at, (size_t)share->bounds.capacity * sizeof *share->bounds.at);
    mem_free(mem, share->ceilings.at, (size_t)share->ceilings.capacity * sizeof *share->ceilings.at);
    *share = (struct share){0};
}

/* Room for `need` items; remembers a refusal. */
static bool flow_share_reserve(struct share *share, void **items, uint32_t *capacity, uint64_t need, size_t item_bytes)
{
    if (need > *capacity && !mem_reserve(share->mem, items, capacity, need, item_bytes)) {
        share->failed = true;
        return false;
    }
    return true;
}

static void list_add(struct share *share, struct share_list *list, uint32_t item)
{
    if (flow_share_reserve(share, (void **)&list->at, &list->capacity, (uint64_t)list->count + 1, sizeof *list->at)) {
        list->at[list->count++] = item;
    }
}

/* ---- who uses what ---- */

void share_flow_start(struct share *share, uint32_t flow, double ceiling)
{
    uint32_t known = share->flow_capacity;
    if (!flow_share_reserve(share, (void **)&share->flows, &share->flow_capacity, (uint64_t)flow + 1,
                            sizeof *share->flows) ||
        !flow_share_reserve(share, (void **)&share->uses, &share->use_capacity, ((uint64_t)flow + 1) * share->room,
                            sizeof *share->uses)) {
        return;
    }
    for (uint32_t i = known; i < share->flow_capacity; i++) {
        share->flows[i] = (struct share_flow){0};
    }
    struct share_flow *started = &share->flows[flow];
    *started = (struct share_flow){
        .ceiling = ceiling, .bottleneck = SHARE_NONE, .mark = started->mark, .is_fresh = started->is_fresh};
    for (uint32_t i = 0; i < share->room; i++) {
        share_uses(share, flow)[i] = (struct share_use){.place = SHARE_NONE};
    }
}

void share_set(struct share *share, uint32_t flow, uint32_t i, uint32_t link, double cost)
{
    share_uses(share, flow)[i] = (struct share_use){.link = link, .place = SHARE_NONE, .cost = cost};
}

void share_join(struct share *share, uint32_t flow, uint32_t first, uint32_t end)
{
    uint32_t start = flow * share->room;
    for (uint32_t i = start + first; i < start + end; i++) {
        struct share_link *link = &share->links[share->uses[i].link];
        if (share->uses[i].cost <= 0) {
            continue; /* what costs nothing fills nothing */
        }
        if (!flow_share_reserve(share, (void **)&link->users, &link->capacity, (uint64_t)link->count + 1,
                                sizeof *link->users)) {
            return;
        }
        share->uses[i].place = link->count;
        link->users[link->count++] = i;
        link->load += share->flows[flow].rate * share->uses[i].cost;
    }
    if (!share->flows[flow].is_fresh) {
        share->flows[flow].is_fresh = true;
        list_add(share, &share->fresh, flow);
    }
}

void share_leave(struct share *share, uint32_t flow, uint32_t first, uint32_t end)
{
    uint32_t start = flow * share->room;
    for (uint32_t i = start + first; i < start + end; i++) {
        struct share_use *use = &share->uses[i];
        if (use->place == SHARE_NONE) {
            continue;
        }
        struct share_link *link = &share->links[use->link];
        uint32_t moved = link->users[--link->count];
        link->users[use->place] = moved;
        share->uses[moved].place = use->place;
        use->place = SHARE_NONE;
        /* A link that falls idle forgets what rounding has left. */
        link->load = link->count == 0 ? 0 : link->load - share->flows[flow].rate * use->cost;
        if (!link->is_dirty && link->count > 0) {
            link->is_dirty = true;
            list_add(share, &share->dirty, use->link);
        }
    }
}

void share_set_ceiling(struct share *share, uint32_t flow, double ceiling)
{
    share->flows[flow].ceiling = ceiling;
    if (!share->flows[flow].is_fresh) {
        share->flows[flow].is_fresh = true;
        list_add(share, &share->fresh, flow);
    }
}

void share_hold(struct share *share, uint32_t flow)
{
    share->flows[flow].ceiling = share->flows[flow].rate;
    share->flows[flow].bottleneck = SHARE_NONE;
}

/* ---- taking flows in ---- */

static void meet_link(struct share *share, uint32_t index)
{
    struct share_link *link = &share->links[index];
    if (link->mark != share->settling) {
        link->mark = share->settling;
        link->fixed = link->load;
        link->raised_count = 0;
        link->raised_cost = 0;
        link->room = 1 - link->load;
        link->is_full = false;
        link->is_changed = false;
        link->top = 0;
        link->looked = 0;
        list_add(share, &share->met, index);
    }
}

static void take_in(struct share *share, uint32_t index)
{
    struct share_flow *flow = &share->flows[index];
    if (flow->mark == share->settling) {
        return;
    }
    flow->mark = share->settling;
    flow->before = flow->rate;
    flow->held_before = flow->bottleneck;
    list_add(share, &share->found, index);
    const struct share_use *uses = share_uses(share, index);
    for (uint32_t i = 0; i < share->room; i++) {
        if (uses[i].place != SHARE_NONE) {
            struct share_link *link = &share->links[uses[i].link];
            meet_link(share, uses[i].link);
            link->fixed -= flow->rate * uses[i].cost;
            link->raised_cost += uses[i].cost;
            link->raised_count++;
        }
    }
}

static void flow_share_begin(struct share *share)
{
    if (++share->settling == 0) {
        for (uint32_t i = 0; i < share->link_count; i++) {
            share->links[i].mark = 0;
        }
        for (uint32_t i = 0; i < share->flow_capacity; i++) {
            share->flows[i].mark = 0;
        }
        share->settling = 1;
    }
    share->found.count = 0;
    share->met.count = 0;
    for (uint32_t i = 0; i < share->fresh.count; i++) {
        share->flows[share->fresh.at[i]].is_fresh = false;
        take_in(share, share->fresh.at[i]);
    }
    for (uint32_t i = 0; i < share->dirty.count; i++) {
        share->links[share->dirty.at[i]].is_dirty = false;
        meet_link(share, share->dirty.at[i]);
    }
    for (uint32_t i = 0; i < share->met.count; i++) {
        share->links[share->met.at[i]].is_changed = true;
    }
    share->fresh.count = 0;
    share->dirty.count = 0;
}

/* ---- filling ---- */

/* Equal bounds come up by their numbers, so that what some flows get does not depend on others they never meet. */
static bool flow_share_comes_before(const void *context, const struct share_bound *a, const struct share_bound *b)
{
    (void)context;
    return a->level < b->level || (a->level <= b->level && a->index < b->index);
}

HEAP_DEFINE(share_heap, struct share_bound, const void *, flow_share_comes_before, HEAP_PUT);

static void drop_top(struct share_heap *heap)
{
    (void)share_heap_pop(NULL, heap->at, &heap->count);
}

static double link_level(const struct share_link *link)
{
    return link->room <= 0 ? 0 : link->room / link->cost;
}

static bool flow_share_prepare(struct share *share)
{
    struct share_heap *bounds = &share->bounds;
    struct share_heap *ceilings = &share->ceilings;
    if (!flow_share_reserve(share, (void **)&bounds->at, &bounds->capacity, share->met.count, sizeof *bounds->at) ||
        !flow_share_reserve(share, (void **)&ceilings->at, &ceilings->capacity, share->found.count,
                            sizeof *ceilings->at)) {
        return false;
    }
    bounds->count = 0;
    ceilings->count = 0;
    for (uint32_t i = 0; i < share->met.count; i++) {
        struct share_link *link = &share->links[share->met.at[i]];
        link->rising = link->raised_count;
        link->room = 1 - link->fixed;
        link->cost = link->raised_cost;
        link->is_full = false;
        link->top = 0;
        if (link->rising > 0) {
            bounds->at[bounds->count++] = (struct share_bound){link_level(link), share->met.at[i]};
        }
    }
    for (uint32_t i = 0; i < share->found.count; i++) {
        struct share_flow *flow = &share->flows[share->found.at[i]];
        flow->settled = false;
        if (flow->ceiling < INFINITY) {
            ceilings->at[ceilings->count++] = (struct share_bound){flow->ceiling, share->found.at[i]};
        }
    }
    share_heap_make(NULL, bounds->at, bounds->count);
    share_heap_make(NULL, ceilings->at, ceilings->count);
    return true;
}

static bool near(const struct share *share, double a, double b)
{
    return fabs(a - b) <= share->tolerance * fmax(a, b);
}

static void settle_flow(struct share *share, uint32_t index, double rate, uint32_t bottleneck)
{
    struct share_flow *flow = &share->flows[index];
    bool changed = !near(share, rate, flow->before);
    if (bottleneck != SHARE_NONE && bottleneck != flow->held_before) {
        share->links[bottleneck].is_changed = true; /* others may have more there, even if nothing moved */
    }
    flow->rate = rate;
    flow->bottleneck = bottleneck;
    flow->settled = true;
    const struct share_use *uses = share_uses(share, index);
    for (uint32_t i = 0; i < share->room; i++) {
        if (uses[i].place != SHARE_NONE) {
            struct share_link *link = &share->links[uses[i].link];
            link->room -= rate * uses[i].cost;
            link->cost -= uses[i].cost;
            link->rising--;
            link->top = rate > link->top ? rate : link->top;
            link->is_changed |= changed;
        }
    }
}

static void settle_link(struct share *share, uint32_t index, double level)
{
    struct share_link *link = &share->links[index];
    link->is_full = true;
    link->level = level;
    for (uint32_t u = 0; u < link->count; u++) {
        uint32_t flow = link->users[u] / share->room;
        if (share->flows[flow].mark == share->settling && !share->flows[flow].settled) {
            settle_flow(share, flow, level, index);
        }
    }
}

static void flow_share_fill(struct share *share)
{
    if (!flow_share_prepare(share)) {
        return;
    }
    while (share->bounds.count > 0) {
        struct share_bound *top = &share->bounds.at[0];
        const struct share_link *link = &share->links[top->index];
        if (link->rising == 0) {
            drop_top(&share->bounds);
            continue;
        }
        double level = link_level(link);
        if (level > top->level) {
            top->level = level;
            share_heap_sink(NULL, share->bounds.at, share->bounds.count, 0, share->bounds.at[0]);
            continue;
        }
        if (share->ceilings.count > 0 && share->ceilings.at[0].level <= level) {
            uint32_t flow = share->ceilings.at[0].index;
            if (!share->flows[flow].settled) {
                settle_flow(share, flow, share->flows[flow].ceiling, SHARE_NONE);
            }
            drop_top(&share->ceilings);
            continue;
        }
        settle_link(share, top->index, level);
        drop_top(&share->bounds);
    }
    for (; share->ceilings.count > 0; drop_top(&share->ceilings)) {
        uint32_t flow = share->ceilings.at[0].index;
        if (!share->flows[flow].settled) {
            settle_flow(share, flow, share->flows[flow].ceiling, SHARE_NONE); /* it uses links that cost nothing */
        }
    }
}

/* ---- looking over ---- */

/* Whether a flow that was left out must be filled anew because of what happened on this link. */
static bool is_upset(const struct share *share, const struct share_link *link, uint32_t index,
                     const struct share_flow *flow)
{
    if (link->is_full && flow->rate > link->level && !near(share, flow->rate, link->level)) {
        return true;
    }
    if (flow->bottleneck != index) {
        return false;
    }
    return link->room > share->tolerance || (flow->rate < link->top && !near(share, flow->rate, link->top));
}

/* Takes in those whom the last filling has upset; false when there are none. */
static bool look_over(struct share *share, bool with_care)
{
    uint32_t found = share->found.count;
    uint32_t met = share->met.count;
    for (uint32_t i = 0; i < met; i++) {
        uint32_t index = share->met.at[i];
        struct share_link *link = &share->links[index];
        if (!link->is_changed || link->raised_count == link->count) {
            continue;
        }
        bool upset = false;
        share->looked += link->count;
        link->looked += link->count;
        for (uint32_t u = 0; u < link->count; u++) {
            uint32_t flow = link->users[u] / share->room;
            if (share->flows[flow].mark != share->settling && is_upset(share, link, index, &share->flows[flow])) {
                upset = true;
                take_in(share, flow);
            }
        }
        for (uint32_t u = 0; upset && !with_care && u < link->count; u++) {
            take_in(share, link->users[u] / share->room);
        }
    }
    return share->found.count > found;
}

void share_settle(struct share *share)
{
    share->looked = 0;
    flow_share_begin(share);
    flow_share_fill(share);
    for (uint32_t round = 0; !share->failed && look_over(share, round < ROUNDS_WITH_CARE); round++) {
        flow_share_fill(share);
    }
    for (uint32_t i = 0; i < share->met.count; i++) {
        struct share_link *link = &share->links[share->met.at[i]];
        link->load = 1 - link->room;
    }
}

/* ---- what hangs together ---- */

static uint32_t flow_share_root_of(const struct share *share, uint32_t link)
{
    while (share->links[link].root != link) {
        share->links[link].root = share->links[share->links[link].root].root;
        link = share->links[link].root;
    }
    return link;
}

static uint32_t first_link(const struct share *share, uint32_t flow)
{
    const struct share_use *uses = share_uses(share, flow);
    for (uint32_t i = 0; i < share->room; i++) {
        if (uses[i].place != SHARE_NONE) {
            return uses[i].link;
        }
    }
    return SHARE_NONE;
}

void share_connect(struct share *share)
{
    for (uint32_t i = 0; i < share->met.count; i++) {
        share->links[share->met.at[i]].root = share->met.at[i];
    }
    for (uint32_t i = 0; i < share->found.count; i++) {
        const struct share_use *uses = share_uses(share, share->found.at[i]);
        uint32_t first = first_link(share, share->found.at[i]);
        for (uint32_t u = 0; u < share->room && first != SHARE_NONE; u++) {
            if (uses[u].place != SHARE_NONE) {
                share->links[flow_share_root_of(share, uses[u].link)].root = flow_share_root_of(share, first);
                share->links[uses[u].link].looked++;
            }
        }
    }
    for (uint32_t i = 0; i < share->met.count; i++) {
        uint32_t root = flow_share_root_of(share, share->met.at[i]);
        if (root != share->met.at[i]) {
            share->links[root].looked += share->links[share->met.at[i]].looked;
        }
    }
}

uint64_t share_connected_uses(const struct share *share, uint32_t flow)
{
    uint32_t first = first_link(share, flow);
    return first == SHARE_NONE ? 0 : share->links[flow_share_root_of(share, first)].looked;
}
