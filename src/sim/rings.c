/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step k of member r: s(r, k+1) = max(s(r-1, k) + d(r-1), s(r, k)) + c(k+1). The same c for all, so that with C the sum
 * of them s(r, k) = C(k) + the largest of s(r-j, 0) + (the way from r-j to r), j from 0 to k. Every ring phase has at
 * least as many steps as other members; of the rounds that a member's start can have made by then the last one counts.
 * With ways as differences of sums along the ring that is the largest of a window that slides along it, in one pass.
 *
 * That is where messages never wait for each other; where they may, steps are walked one by one (sim/ring_links.h).
 */
#include "sim/rings.h"

#include "sim/engine.h"
#include "sim/ring_links.h"

enum { BUCKETS = 1 << 12, LEAST_MEMBERS = 16 };

struct sim_ring_meeting {
    const struct sim_phase *phase;
    uint32_t chain; /* in its bucket, or next free */
    uint32_t first; /* the rank of member 0 */
    int32_t tag;
    bool clockwise; /* members that go round either way never meet, and the job stalls */
    uint32_t came;
    uint64_t *began;   /* by place on the way round */
    uint32_t *streams; /* the same */
};
POOL_DEFINE(sim_ring_meetings, struct sim_ring_meeting, chain);

struct sim_rings {
    struct sim_ring_meetings meetings;
    uint32_t buckets[BUCKETS];
    int64_t *sums;                /* scratch: the ring twice over */
    uint32_t *deque;              /* the same */
    int64_t *largest;             /* by place */
    uint32_t capacity;            /* members there is scratch for */
    uint32_t *ranks;              /* by place */
    struct sim_ring_links *links; /* NULL: messages never wait for each other */
    uint32_t events;              /* numbers given to what puts off calls; they may come round, long after */
};

static bool names_ranks(const struct sim *sim, const struct trace_graph *graph)
{
    for (uint32_t i = 0; i < graph->other_count; i++) {
        const struct trace_node *node = &graph->nodes[graph->others[i]];
        bool memory = node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE;
        if (node->type == TRACE_SEND || node->type == TRACE_RECV ||
            (memory && sim->config->memory.kind != SIM_MEMORY_PER_NPU)) {
            return true;
        }
    }
    return false;
}

bool sim_rings_fit(const struct sim *sim)
{
    const struct sim_config *config = sim->config;
    bool fits = !config->no_memo && (config->backend == ORR_BACKEND_UNAWARE || config->backend == ORR_BACKEND_AWARE) &&
                config->fault_count == 0 && sim->plain_rings && config->timing == NULL && sim->endpoint_ns > 0 &&
                !config->keep_intervals && !config->keep_issue_order && !config->system.replay_only;
    for (uint32_t i = 0; i < config->traces->graph_count && fits; i++) {
        fits = !names_ranks(sim, config->traces->graphs[i]);
    }
    return fits;
}

bool sim_rings_begin(struct sim *sim)
{
    sim->rings = mem_zalloc(sim->mem, sizeof *sim->rings);
    sim->order.watched = true;
    if (sim->rings != NULL && sim->net.contention) {
        sim->rings->links = sim_ring_links_make(sim->mem);
    }
    return sim->rings != NULL && (sim->rings->links != NULL || !sim->net.contention) &&
           sim_ring_meetings_init(&sim->rings->meetings, sim->mem) && event_queue_keep_causes(&sim->queue);
}

static void free_members(struct sim *sim, struct sim_ring_meeting *meeting)
{
    uint32_t size = meeting->phase->coll.ring.size;
    mem_free(sim->mem, meeting->began, size * sizeof *meeting->began);
    mem_free(sim->mem, meeting->streams, size * sizeof *meeting->streams);
}

static void free_scratch(struct sim *sim)
{
    struct sim_rings *rings = sim->rings;
    mem_free(sim->mem, rings->sums, (size_t)rings->capacity * 2 * sizeof *rings->sums);
    mem_free(sim->mem, rings->deque, (size_t)rings->capacity * 2 * sizeof *rings->deque);
    mem_free(sim->mem, rings->largest, (size_t)rings->capacity * sizeof *rings->largest);
    mem_free(sim->mem, rings->ranks, (size_t)rings->capacity * sizeof *rings->ranks);
    rings->capacity = 0;
}

void sim_rings_free(struct sim *sim)
{
    struct sim_rings *rings = sim->rings;
    if (rings == NULL) {
        return;
    }
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        for (uint32_t i = rings->buckets[bucket]; i != 0; i = rings->meetings.at[i].chain) {
            free_members(sim, &rings->meetings.at[i]);
        }
    }
    free_scratch(sim);
    sim_ring_links_free(sim, rings->links);
    sim_ring_meetings_free(&rings->meetings, sim->mem);
    mem_free(sim->mem, rings, sizeof *rings);
    sim->rings = NULL;
}

static bool make_scratch(struct sim *sim, uint32_t members)
{
    struct sim_rings *rings = sim->rings;
    if (rings->capacity >= members) {
        return true;
    }
    free_scratch(sim);
    rings->capacity = members;
    rings->sums = mem_alloc(sim->mem, (size_t)members * 2 * sizeof *rings->sums);
    rings->deque = mem_alloc(sim->mem, (size_t)members * 2 * sizeof *rings->deque);
    rings->largest = mem_alloc(sim->mem, (size_t)members * sizeof *rings->largest);
    rings->ranks = mem_alloc(sim->mem, (size_t)members * sizeof *rings->ranks);
    return rings->sums != NULL && rings->deque != NULL && rings->largest != NULL && rings->ranks != NULL;
}

uint32_t sim_rings_next_event(struct sim *sim)
{
    return ++sim->rings->events;
}

void sim_rings_event(struct sim *sim)
{
    sim->queue.cause = sim_rings_cause(sim->queue.now, sim_rings_next_event(sim));
}

/* ---- members come ---- */

static uint32_t *bucket_of(struct sim_rings *rings, const struct sim_phase *phase, uint32_t first, int32_t tag)
{
    uint64_t mixed = map_mix(((uint64_t)(uint32_t)tag << 32 | first) ^ phase->coll.bytes << 7 ^ phase->coll.dim);
    return &rings->buckets[mixed % BUCKETS];
}

static uint32_t open_meeting(struct sim *sim, uint32_t *bucket, const struct sim_ring_meeting *key)
{
    struct sim_rings *rings = sim->rings;
    uint32_t size = key->phase->coll.ring.size;
    uint32_t index = sim_ring_meetings_take(&rings->meetings, sim->mem, &sim->queue.failed);
    struct sim_ring_meeting *meeting = &rings->meetings.at[index];
    uint64_t *began = mem_alloc(sim->mem, size * sizeof *meeting->began);
    uint32_t *streams = mem_alloc(sim->mem, size * sizeof *meeting->streams);
    if (index == 0 || began == NULL || streams == NULL) {
        mem_free(sim->mem, began, size * sizeof *meeting->began);
        mem_free(sim->mem, streams, size * sizeof *meeting->streams);
        sim_ring_meetings_give(&rings->meetings, index);
        sim_fail_memory(sim);
        return 0;
    }
    *meeting = *key;
    meeting->began = began;
    meeting->streams = streams;
    meeting->chain = *bucket;
    *bucket = index;
    return index;
}

static uint32_t find_meeting(struct sim *sim, uint32_t *bucket, const struct sim_ring_meeting *key)
{
    uint32_t index = *bucket;
    while (index != 0) {
        const struct sim_ring_meeting *meeting = &sim->rings->meetings.at[index];
        if (meeting->phase == key->phase && meeting->first == key->first && meeting->tag == key->tag &&
            meeting->clockwise == key->clockwise) {
            return index;
        }
        index = meeting->chain;
    }
    return open_meeting(sim, bucket, key);
}

/* ---- all are there ---- */

static uint32_t rank_at(const struct sim *sim, const struct sim_ring_meeting *meeting, uint32_t place)
{
    return sim->streams.at[meeting->streams[place]].rank;
}

/* The ways from each place to the next, summed up along the ring; returns the whole way round. */
static int64_t sum_ways(struct sim *sim, const struct sim_ring_meeting *meeting)
{
    const struct coll_phase *phase = &meeting->phase->coll;
    uint32_t size = phase->ring.size;
    int64_t sum = 0;
    struct net_path path = {0};
    for (uint32_t place = 0; place < size; place++) {
        /* Every step of a grid's ring is as long, on links that are all alike. */
        if (place == 0 || phase->ring.members != NULL || sim->config->dims.link_factors != NULL) {
            path = net_fixed_path(&sim->net, rank_at(sim, meeting, place),
                                  rank_at(sim, meeting, place + 1 == size ? 0 : place + 1), phase->message_bytes);
        }
        uint64_t hops = path.hops < UINT16_MAX ? path.hops : UINT16_MAX;
        struct net_dim_stats *stats = &sim->net.stats[path.dim];
        stats->messages += phase->sends;
        stats->bytes += phase->sends * phase->message_bytes * hops;
        stats->busy_ns += phase->sends * path.serialise_ns * hops;
        sim->rings->sums[place] = sum;
        sum += (int64_t)path.delay_ns;
    }
    sim->result.messages += (uint64_t)phase->sends * size;
    return sum;
}

/* For each place the largest of `values` from `most` to `least` places back, with `more` added, where that is more than
 * what `largest` has; values[i + size - 1] is place i's, those before it a round earlier. */
static void slide(struct sim_rings *rings, const int64_t *values, uint32_t size, uint32_t least, uint32_t most,
                  int64_t more)
{
    uint32_t head = 0;
    uint32_t tail = 0;
    uint32_t next = size - 1 - most;
    for (uint32_t place = 0; place < size; place++) {
        for (; next <= place + size - 1 - least; next++) {
            while (tail > head && values[rings->deque[tail - 1]] <= values[next]) {
                tail--;
            }
            rings->deque[tail++] = next;
        }
        while (rings->deque[head] < place + size - 1 - most) {
            head++;
        }
        int64_t found = values[rings->deque[head]] + more;
        rings->largest[place] = found > rings->largest[place] ? found : rings->largest[place];
    }
}

/* When each begins, less the sum of ways up to it; a round earlier, that is more by a round. */
static void find_ends(struct sim *sim, const struct sim_ring_meeting *meeting, int64_t round)
{
    struct sim_rings *rings = sim->rings;
    const struct coll_phase *phase = &meeting->phase->coll;
    uint32_t size = phase->ring.size;
    for (uint32_t place = size; place-- > 0;) {
        int64_t ahead = (int64_t)meeting->began[place] - rings->sums[place];
        rings->largest[place] = rings->sums[place];
        rings->sums[place + size - 1] = ahead;
    }
    for (uint32_t place = 1; place < size; place++) {
        rings->sums[place - 1] = rings->sums[place + size - 1] + round;
    }
    int64_t *ways = rings->largest;
    for (uint32_t place = 0; place < size; place++) {
        meeting->began[place] = (uint64_t)ways[place];
        ways[place] = INT64_MIN;
    }
    uint32_t rounds = phase->sends / size;
    uint32_t rest = phase->sends % size;
    slide(rings, rings->sums, size, 0, rest, (int64_t)rounds * round);
    if (rest + 1 < size) {
        slide(rings, rings->sums, size, rest + 1, size - 1, ((int64_t)rounds - 1) * round);
    }
    for (uint32_t place = 0; place < size; place++) {
        meeting->began[place] += (uint64_t)rings->largest[place];
    }
}

/* When each is done, in place of when it began; false: it cannot be told. */
static bool ends_of(struct sim *sim, struct sim_ring_meeting *meeting)
{
    const struct sim_phase *phase = meeting->phase;
    uint32_t size = phase->coll.ring.size;
    bool reduces = phase->coll.type == COLL_REDUCE_SCATTER || phase->coll.type == COLL_ALL_REDUCE;
    struct sim_ring_walk walk = {.size = size,
                                 .sends = phase->coll.sends,
                                 .reduced = reduces ? size - 1 : 0,
                                 .endpoint_ns = sim_endpoint_delay(sim, &sim->streams.at[meeting->streams[0]]),
                                 .memory_ns = phase->memory_ns,
                                 .bytes = phase->coll.message_bytes,
                                 .ranks = sim->rings->ranks,
                                 .times = meeting->began};
    if (sim->rings->links != NULL) {
        for (uint32_t place = 0; place < size; place++) {
            sim->rings->ranks[place] = rank_at(sim, meeting, place);
        }
        return sim_ring_links_walk(sim, sim->rings->links, &walk);
    }
    find_ends(sim, meeting, sum_ways(sim, meeting));
    for (uint32_t place = 0; place < size; place++) {
        meeting->began[place] += (walk.sends + UINT64_C(1)) * walk.endpoint_ns + walk.reduced * walk.memory_ns;
    }
    return true;
}

static void settle(struct sim *sim, struct sim_ring_meeting *meeting)
{
    const struct sim_phase *phase = meeting->phase;
    uint64_t endpoint_ns = sim_endpoint_delay(sim, &sim->streams.at[meeting->streams[0]]);
    bool last_reduces = phase->coll.type == COLL_REDUCE_SCATTER;
    uint64_t ahead_ns = last_reduces && phase->memory_ns > 0 ? phase->memory_ns : endpoint_ns;
    uint32_t kind = last_reduces && phase->memory_ns == 0 ? SIM_CALL_RING_LAST : SIM_CALL_RING_END;
    if (!ends_of(sim, meeting)) {
        if (!sim->queue.failed) {
            sim_order_give_up(sim);
        }
        return;
    }
    sim->result.ring_phases++;
    for (uint32_t place = 0; place < phase->coll.ring.size && !sim->queue.failed; place++) {
        uint64_t end = meeting->began[place];
        struct event_cause now = sim->queue.cause;
        sim->queue.cause = sim_rings_cause(end - ahead_ns, sim_rings_next_event(sim));
        sim_call_after(sim, rank_at(sim, meeting, place), end - sim->queue.now, kind, meeting->streams[place], 0);
        sim->queue.cause = now;
    }
}

bool sim_rings_join(struct sim *sim, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    const struct coll_ring *ring = &stream->phase->coll.ring;
    if (ring->size < LEAST_MEMBERS && sim->rings->links == NULL) {
        return false;
    }
    if (!make_scratch(sim, ring->size)) {
        sim_fail_memory(sim);
        return true;
    }
    struct sim_ring_meeting key = {.phase = stream->phase,
                                   .first = coll_ring_rank(ring, stream->rank, stream->index, 0),
                                   .tag = stream->tag,
                                   .clockwise = stream->clockwise};
    uint32_t *bucket = bucket_of(sim->rings, key.phase, key.first, key.tag);
    uint32_t found = find_meeting(sim, bucket, &key);
    struct sim_ring_meeting *meeting = &sim->rings->meetings.at[found];
    if (found == 0) {
        return true;
    }
    uint32_t place = stream->clockwise || stream->index == 0 ? stream->index : ring->size - stream->index;
    meeting->began[place] = sim->queue.now;
    meeting->streams[place] = index;
    if (++meeting->came == ring->size) {
        settle(sim, meeting);
        uint32_t *link = bucket;
        while (*link != found) {
            link = &sim->rings->meetings.at[*link].chain;
        }
        *link = meeting->chain;
        free_members(sim, meeting);
        sim_ring_meetings_give(&sim->rings->meetings, found);
    }
    return true;
}
