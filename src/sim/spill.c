/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where what does not fit would go: into the host's memory of the rank's server first, as far as that goes, and from
 * there into the pool. Ranks of a server are over at different times, so their curves are walked together, in time;
 * only those of ranks that are over at all.
 */
#include <stdlib.h>

#include "sim/engine.h"

struct change {
    uint64_t time_ns;
    uint64_t bytes; /* more over its capacity, modulo 2^64 */
    uint32_t server;
};

struct walk {
    struct mem *mem;
    struct change *changes;
    uint32_t change_count, change_capacity;
    uint64_t *over; /* by server */
    uint64_t host_capacity;
    uint64_t total;  /* over in all servers */
    uint64_t beyond; /* of it, what the hosts do not take */
};

static bool sim_spill_add_rank(struct walk *walk, const struct sim_usage_rank *row, uint64_t capacity, uint32_t server)
{
    uint64_t over = 0;
    for (uint32_t i = 0; i < row->step_count; i++) {
        uint64_t now = row->steps[i].bytes > capacity ? row->steps[i].bytes - capacity : 0;
        if (now == over) {
            continue;
        }
        if (!mem_reserve(walk->mem, (void **)&walk->changes, &walk->change_capacity, (uint64_t)walk->change_count + 1,
                         sizeof *walk->changes)) {
            return false;
        }
        walk->changes[walk->change_count++] =
            (struct change){.time_ns = row->steps[i].time_ns, .bytes = now - over, .server = server};
        over = now;
    }
    return true;
}

static int sim_spill_compare_changes(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static uint64_t beyond_host(const struct walk *walk, uint32_t server)
{
    return walk->over[server] > walk->host_capacity ? walk->over[server] - walk->host_capacity : 0;
}

/* What is where after the changes `from` to before `until`, which are of one time. */
static void sim_spill_look(const struct walk *walk, uint32_t from, uint32_t until, uint64_t pool_capacity,
                           struct sim_spill *spill)
{
    for (uint32_t i = from; i < until; i++) {
        uint32_t server = walk->changes[i].server;
        uint64_t host = walk->over[server] - beyond_host(walk, server);
        if (host > spill->host_bytes) {
            spill->host_bytes = host;
            spill->host_server = server;
        }
    }
    uint64_t pool = walk->beyond < pool_capacity ? walk->beyond : pool_capacity;
    uint64_t nowhere = walk->beyond - pool;
    spill->total_bytes = walk->total > spill->total_bytes ? walk->total : spill->total_bytes;
    spill->pool_bytes = pool > spill->pool_bytes ? pool : spill->pool_bytes;
    if (nowhere > 0 && spill->nowhere_since_ns == UINT64_MAX) {
        spill->nowhere_since_ns = walk->changes[from].time_ns;
    }
    spill->nowhere_bytes = nowhere > spill->nowhere_bytes ? nowhere : spill->nowhere_bytes;
}

static void sim_spill_follow(struct walk *walk, uint64_t pool_capacity, struct sim_spill *spill)
{
    uint32_t from = 0;
    for (uint32_t i = 0; i < walk->change_count; i++) {
        const struct change *change = &walk->changes[i];
        walk->beyond -= beyond_host(walk, change->server);
        walk->over[change->server] += change->bytes;
        walk->total += change->bytes;
        walk->beyond += beyond_host(walk, change->server);
        if (i + 1 == walk->change_count || walk->changes[i + 1].time_ns != change->time_ns) {
            sim_spill_look(walk, from, i + 1, pool_capacity, spill);
            from = i + 1;
        }
    }
}

bool sim_spill_find(struct sim *sim, const struct sim_usage *usage, struct sim_spill *spill)
{
    const struct sim_capacity *capacity = &sim->config->system.capacity;
    struct walk walk = {.mem = sim->mem, .host_capacity = capacity->host};
    uint32_t each = sim->nccl_servers.ranks_each;
    size_t servers = (sim->rank_count - 1) / each + 1;
    *spill = (struct sim_spill){.server_ranks = each, .nowhere_since_ns = UINT64_MAX};
    for (uint32_t rank = 0; rank < usage->rank_count; rank++) {
        const struct sim_usage_rank *row = &usage->ranks[rank];
        if (row->over_bytes == 0) {
            continue;
        }
        if (spill->ranks == 0 || row->over_bytes > usage->ranks[spill->worst_rank].over_bytes) {
            spill->worst_rank = rank;
        }
        spill->since_ns =
            spill->ranks == 0 || row->over_since_ns < spill->since_ns ? row->over_since_ns : spill->since_ns;
        spill->ranks++;
        if (!sim_spill_add_rank(&walk, row, capacity->local, rank / each)) {
            mem_free(sim->mem, walk.changes, walk.change_capacity * sizeof *walk.changes);
            return false;
        }
    }
    walk.over = mem_zalloc(sim->mem, servers * sizeof *walk.over);
    if (walk.over != NULL && walk.change_count > 0) {
        qsort(walk.changes, walk.change_count, sizeof *walk.changes, sim_spill_compare_changes);
        sim_spill_follow(&walk, capacity->pool, spill);
    }
    bool fine = walk.over != NULL;
    mem_free(sim->mem, walk.over, servers * sizeof *walk.over);
    mem_free(sim->mem, walk.changes, walk.change_capacity * sizeof *walk.changes);
    return fine;
}
