/* SPDX-License-Identifier: Apache-2.0 */
/* Times are counted from when the first member begins, so that equal phases at different times have equal content: one
 * array of numbers, which is hashed and compared as it stands. Each array in it has an entry a place. */
#include "sim/ring_links.h"

#include <string.h>
#include <xxhash.h>

#include "sim/engine.h"

enum { MEMOS = 1 << 12, MEMO_MOST_BYTES = 64 << 20, HEADER = 6, TELL_EVERY = 1 << 26 };

struct sim_ring_link {
    uint64_t last_ns; /* when the last message began to wait for it or to cross it */
    uint64_t free_ns;
};

/* A phase that was walked: what it began with and what came of it. */
struct links_memo {
    uint64_t queued;
    uint32_t asked, found; /* how many numbers each has */
    uint64_t at[];
};

struct sim_ring_links {
    struct sim_ring_link *at; /* by link */
    uint32_t capacity;
    struct links_memo *memos[MEMOS];
    size_t memo_bytes;
    uint64_t *room; /* scratch, see struct links_walk */
    uint32_t room_capacity;
};

/* A phase that is being walked. */
struct links_walk {
    const struct sim_ring_walk *of;
    uint32_t hops, dim;
    uint64_t base_ns, queued;
    uint32_t asked_count, found_count;
    uint64_t *asked; /* header, begins, and of each hop: when its links are free, what a message takes there */
    uint64_t *begins, *free[NET_OWN_HOPS], *busy[NET_OWN_HOPS], *cross[NET_OWN_HOPS];
    uint64_t *found; /* ends, and of each hop: when its first and last message came, when its links are free then */
    uint64_t *ends, *first[NET_OWN_HOPS], *last[NET_OWN_HOPS], *then_free[NET_OWN_HOPS];
    uint64_t *between, *arrivals; /* messages at the switch; at the next place, [0] being the last place's */
    uint64_t *links;              /* by hop and place */
};

struct sim_ring_links *sim_ring_links_make(struct mem *mem)
{
    return mem_zalloc(mem, sizeof(struct sim_ring_links));
}

static size_t memo_size(uint32_t asked, uint32_t found)
{
    return sizeof(struct links_memo) + ((size_t)asked + found) * sizeof(uint64_t);
}

static void ring_links_forget(struct sim *sim, struct sim_ring_links *links, struct links_memo **memo)
{
    if (*memo != NULL) {
        size_t bytes = memo_size((*memo)->asked, (*memo)->found);
        links->memo_bytes -= bytes;
        mem_free(sim->mem, *memo, bytes);
        *memo = NULL;
    }
}

void sim_ring_links_free(struct sim *sim, struct sim_ring_links *links)
{
    if (links == NULL) {
        return;
    }
    for (uint32_t i = 0; i < MEMOS; i++) {
        ring_links_forget(sim, links, &links->memos[i]);
    }
    mem_free(sim->mem, links->at, (size_t)links->capacity * sizeof *links->at);
    mem_free(sim->mem, links->room, (size_t)links->room_capacity * sizeof *links->room);
    mem_free(sim->mem, links, sizeof *links);
}

/* ---- what a phase begins with ---- */

static uint64_t *take_array(uint64_t **room, uint32_t count)
{
    uint64_t *taken = *room;
    *room += count;
    return taken;
}

static bool ring_links_lay_out(struct sim *sim, struct sim_ring_links *links, struct links_walk *walk)
{
    uint32_t size = walk->of->size;
    uint64_t most = HEADER + UINT64_C(10) * NET_OWN_HOPS * size;
    if (!mem_reserve(sim->mem, (void **)&links->room, &links->room_capacity, most, sizeof *links->room)) {
        sim_fail_memory(sim);
        return false;
    }
    uint64_t *room = links->room;
    walk->asked = take_array(&room, HEADER);
    walk->begins = take_array(&room, size);
    for (uint32_t hop = 0; hop < walk->hops; hop++) {
        walk->free[hop] = take_array(&room, size);
        walk->busy[hop] = take_array(&room, size);
        walk->cross[hop] = take_array(&room, size);
    }
    walk->asked_count = (uint32_t)(room - walk->asked);
    walk->found = walk->ends = take_array(&room, size);
    for (uint32_t hop = 0; hop < walk->hops; hop++) {
        walk->first[hop] = take_array(&room, size);
        walk->last[hop] = take_array(&room, size);
        walk->then_free[hop] = take_array(&room, size);
    }
    walk->found_count = (uint32_t)(room - walk->found);
    walk->between = take_array(&room, size);
    walk->arrivals = take_array(&room, size + 1);
    walk->links = take_array(&room, size * walk->hops);
    return true;
}

/* The links of one member's messages; false: they are not its own. */
static bool ask_member(struct sim *sim, struct sim_ring_links *links, struct links_walk *walk, uint32_t place)
{
    const struct sim_ring_walk *of = walk->of;
    struct net_hop hops[NET_OWN_HOPS];
    uint32_t next = of->ranks[place + 1 == of->size ? 0 : place + 1];
    uint32_t count = sim->net.ops->own_hops(&sim->net, of->ranks[place], next, of->bytes, hops);
    if (place == 0) {
        walk->hops = count;
        walk->dim = hops[0].dim;
        if (count == 0 || !ring_links_lay_out(sim, links, walk)) {
            return false;
        }
    }
    if (count != walk->hops || hops[0].dim != walk->dim) {
        return false;
    }
    walk->begins[place] = of->times[place] - walk->base_ns;
    for (uint32_t hop = 0; hop < count; hop++) {
        uint32_t known = links->capacity;
        if (!mem_reserve(sim->mem, (void **)&links->at, &links->capacity, (uint64_t)hops[hop].link + 1,
                         sizeof *links->at)) {
            sim_fail_memory(sim);
            return false;
        }
        memset(links->at + known, 0, (links->capacity - known) * sizeof *links->at);
        uint64_t free_ns = links->at[hops[hop].link].free_ns;
        walk->links[(size_t)hop * of->size + place] = hops[hop].link;
        walk->free[hop][place] = free_ns > walk->base_ns ? free_ns - walk->base_ns : 0;
        walk->busy[hop][place] = hops[hop].busy_ns;
        walk->cross[hop][place] = hops[hop].cross_ns;
    }
    return true;
}

static bool ask(struct sim *sim, struct sim_ring_links *links, struct links_walk *walk)
{
    const struct sim_ring_walk *of = walk->of;
    walk->base_ns = of->times[0];
    for (uint32_t place = 1; place < of->size; place++) {
        walk->base_ns = of->times[place] < walk->base_ns ? of->times[place] : walk->base_ns;
    }
    for (uint32_t place = 0; place < of->size; place++) {
        if (!ask_member(sim, links, walk, place)) {
            return false;
        }
    }
    const uint64_t header[HEADER] = {of->size, of->sends, of->reduced, of->endpoint_ns, of->memory_ns, walk->hops};
    memcpy(walk->asked, header, sizeof header);
    return true;
}

/* ---- the walk ---- */

/* Messages come to their links at `come`, and are at the far end at `there`. */
static void cross_links(struct links_walk *walk, uint32_t hop, const uint64_t *restrict come, uint64_t *restrict there)
{
    uint64_t *restrict free = walk->then_free[hop];
    const uint64_t *restrict busy = walk->busy[hop];
    const uint64_t *restrict cross = walk->cross[hop];
    uint64_t queued = 0;
    for (uint32_t place = 0; place < walk->of->size; place++) {
        uint64_t begins = come[place] > free[place] ? come[place] : free[place];
        queued += free[place] > come[place];
        free[place] = begins + busy[place];
        there[place] = begins + cross[place];
    }
    walk->queued += queued;
}

static void step(struct links_walk *walk, uint32_t number)
{
    uint32_t size = walk->of->size;
    const uint64_t *come = walk->ends;
    for (uint32_t hop = 0; hop < walk->hops; hop++) {
        if (number == 0) {
            memcpy(walk->first[hop], come, size * sizeof *come);
        }
        if (number + 1 == walk->of->sends) {
            memcpy(walk->last[hop], come, size * sizeof *come);
        }
        uint64_t *there = hop + 1 < walk->hops ? walk->between : walk->arrivals + 1;
        cross_links(walk, hop, come, there);
        come = there;
    }
    walk->arrivals[0] = walk->arrivals[size];
    uint64_t after = walk->of->endpoint_ns + (number < walk->of->reduced ? walk->of->memory_ns : 0);
    for (uint32_t place = 0; place < size; place++) {
        uint64_t sent = walk->ends[place];
        walk->ends[place] = (walk->arrivals[place] > sent ? walk->arrivals[place] : sent) + after;
    }
}

static bool walk_steps(struct sim *sim, struct links_walk *walk)
{
    const struct sim_ring_walk *of = walk->of;
    uint64_t since = 0;
    for (uint32_t place = 0; place < of->size; place++) {
        walk->ends[place] = walk->begins[place] + of->endpoint_ns;
    }
    for (uint32_t hop = 0; hop < walk->hops; hop++) {
        memcpy(walk->then_free[hop], walk->free[hop], of->size * sizeof *walk->free[hop]);
    }
    for (uint32_t number = 0; number < of->sends; number++) {
        step(walk, number);
        since += of->size;
        if (since > TELL_EVERY && !sim_keeps_going(sim)) {
            return false;
        }
        since = since > TELL_EVERY ? 0 : since;
    }
    return true;
}

/* ---- the same again ---- */

static bool remembered(struct links_walk *walk, const struct links_memo *memo)
{
    if (memo == NULL || memo->asked != walk->asked_count ||
        memcmp(memo->at, walk->asked, memo->asked * sizeof *memo->at) != 0) {
        return false;
    }
    memcpy(walk->found, memo->at + memo->asked, memo->found * sizeof *memo->at);
    walk->queued = memo->queued;
    return true;
}

/* Where there is no room for it, the next one is walked too. */
static void ring_links_remember(struct sim *sim, struct sim_ring_links *links, const struct links_walk *walk,
                                struct links_memo **memo)
{
    size_t bytes = memo_size(walk->asked_count, walk->found_count);
    uint64_t refused = sim->mem->refused;
    ring_links_forget(sim, links, memo);
    *memo = links->memo_bytes + bytes <= MEMO_MOST_BYTES ? mem_alloc(sim->mem, bytes) : NULL;
    sim->mem->refused = refused;
    if (*memo == NULL) {
        return;
    }
    links->memo_bytes += bytes;
    (*memo)->queued = walk->queued;
    (*memo)->asked = walk->asked_count;
    (*memo)->found = walk->found_count;
    memcpy((*memo)->at, walk->asked, walk->asked_count * sizeof *walk->asked);
    memcpy((*memo)->at + walk->asked_count, walk->found, walk->found_count * sizeof *walk->found);
}

/* ---- what comes of it ---- */

/* False: a message of another phase came to a link after the first of this one. */
static bool use_links(struct sim_ring_links *links, const struct links_walk *walk)
{
    uint32_t size = walk->of->size;
    bool alone = true;
    for (uint32_t hop = 0; hop < walk->hops; hop++) {
        for (uint32_t place = 0; place < size; place++) {
            struct sim_ring_link *link = &links->at[walk->links[(size_t)hop * size + place]];
            alone = alone && walk->base_ns + walk->first[hop][place] > link->last_ns;
            link->last_ns = walk->base_ns + walk->last[hop][place];
            link->free_ns = walk->base_ns + walk->then_free[hop][place];
        }
    }
    return alone;
}

static void count_traffic(struct sim *sim, const struct links_walk *walk)
{
    const struct sim_ring_walk *of = walk->of;
    struct net_dim_stats *stats = &sim->net.stats[walk->dim];
    uint64_t messages = (uint64_t)of->sends * of->size;
    sim->result.messages += messages;
    stats->messages += messages;
    stats->bytes += messages * of->bytes * walk->hops;
    stats->queued += walk->queued;
    sim->net.moved_bytes += (double)messages * (double)of->bytes;
    for (uint32_t hop = 0; hop < walk->hops; hop++) {
        for (uint32_t place = 0; place < of->size; place++) {
            stats->busy_ns += of->sends * walk->busy[hop][place];
        }
    }
}

bool sim_ring_links_walk(struct sim *sim, struct sim_ring_links *links, const struct sim_ring_walk *of)
{
    struct links_walk walk = {.of = of};
    if (!ask(sim, links, &walk)) {
        return false;
    }
    struct links_memo **memo = &links->memos[XXH3_64bits(walk.asked, walk.asked_count * sizeof *walk.asked) % MEMOS];
    bool alike = remembered(&walk, *memo);
    if (!alike && !walk_steps(sim, &walk)) {
        return false;
    }
    if (!alike) {
        ring_links_remember(sim, links, &walk, memo);
    }
    sim->result.ring_phases_alike += alike;
    if (!use_links(links, &walk)) {
        return false;
    }
    count_traffic(sim, &walk);
    for (uint32_t place = 0; place < of->size; place++) {
        of->times[place] = walk.base_ns + walk.ends[place];
    }
    return true;
}
