/* SPDX-License-Identifier: Apache-2.0 */
/* One table for two kinds of entry: it knows where in an entry the route is, and nothing else of it. */
#include "sim/routes.h"

enum { FIRST_BUCKETS = 1024 };

static struct sim_route *route_at(const struct sim_routes *routes, void *pool, uint32_t index)
{
    return (struct sim_route *)((char *)pool + (size_t)index * routes->entry_bytes + routes->route_offset);
}

static uint32_t sim_routes_bucket_of(const struct sim_routes *routes, uint32_t src, uint32_t dst, int32_t tag,
                                     uint64_t bytes)
{
    uint64_t mixed = ((uint64_t)src << 32 | dst) * UINT64_C(0x9E3779B97F4A7C15);
    mixed ^= ((uint64_t)(uint32_t)tag << 32 ^ bytes) * UINT64_C(0xC2B2AE3D27D4EB4F);
    mixed ^= mixed >> 29;
    return (uint32_t)((mixed * UINT64_C(0x165667B19E3779F9)) >> 32) & routes->mask;
}

static uint32_t *bucket_at(const struct sim_routes *routes, const struct sim_route *route)
{
    return &routes->buckets[sim_routes_bucket_of(routes, route->src, route->dst, route->tag, route->bytes)];
}

bool sim_routes_init(struct sim_routes *routes, size_t entry_bytes, size_t route_offset, struct mem *mem)
{
    *routes = (struct sim_routes){.mask = FIRST_BUCKETS - 1, .entry_bytes = entry_bytes, .route_offset = route_offset};
    routes->buckets = mem_zalloc(mem, FIRST_BUCKETS * sizeof *routes->buckets);
    return routes->buckets != NULL;
}

void sim_routes_free(struct sim_routes *routes, struct mem *mem)
{
    mem_free(mem, routes->buckets, ((size_t)routes->mask + 1) * sizeof *routes->buckets);
    *routes = (struct sim_routes){0};
}

static bool widen(struct sim_routes *routes, void *pool, struct mem *mem)
{
    uint32_t old_count = routes->mask + 1;
    uint32_t *wider = mem_zalloc(mem, (size_t)old_count * 2 * sizeof *wider);
    if (wider == NULL) {
        return false;
    }
    uint32_t *old = routes->buckets;
    routes->buckets = wider;
    routes->mask = old_count * 2 - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        uint32_t index = old[i];
        while (index != 0) {
            struct sim_route *route = route_at(routes, pool, index);
            uint32_t following = route->chain;
            uint32_t *bucket = bucket_at(routes, route);
            route->chain = *bucket;
            *bucket = index;
            index = following;
        }
    }
    mem_free(mem, old, (size_t)old_count * sizeof *old);
    return true;
}

uint32_t sim_routes_find(const struct sim_routes *routes, void *pool, uint32_t src, uint32_t dst, int32_t tag,
                         uint64_t bytes)
{
    uint32_t index = routes->buckets[sim_routes_bucket_of(routes, src, dst, tag, bytes)];
    while (index != 0) {
        const struct sim_route *route = route_at(routes, pool, index);
        if (route->src == src && route->dst == dst && route->tag == tag && route->bytes == bytes) {
            return index;
        }
        index = route->chain;
    }
    return 0;
}

bool sim_routes_add(struct sim_routes *routes, void *pool, uint32_t index, const struct sim_route *added,
                    const struct net *net, struct mem *mem)
{
    struct sim_route *route = route_at(routes, pool, index);
    *route = *added;
    if (!net->contention) {
        struct net_path path = net_fixed_path(net, route->src, route->dst, route->bytes);
        route->delay_ns = path.delay_ns;
        route->serialise_ns = path.serialise_ns;
        route->dim = (uint16_t)path.dim;
        route->hops = (uint16_t)(path.hops < UINT16_MAX ? path.hops : UINT16_MAX);
    }
    uint32_t *bucket = bucket_at(routes, route);
    route->chain = *bucket;
    *bucket = index;
    return ++routes->count <= routes->mask || widen(routes, pool, mem);
}

/* On a network with contention the links keep the account. */
static void sim_routes_settle_one(struct sim_route *route, struct net *net)
{
    if (!net->contention) {
        struct net_dim_stats *stats = &net->stats[route->dim];
        stats->messages += route->sent;
        stats->bytes += route->sent * route->bytes * route->hops;
        stats->busy_ns += route->sent * route->serialise_ns * route->hops;
    }
    route->sent = 0;
}

void sim_routes_remove(struct sim_routes *routes, void *pool, uint32_t index, struct net *net)
{
    struct sim_route *route = route_at(routes, pool, index);
    sim_routes_settle_one(route, net);
    uint32_t *link = bucket_at(routes, route);
    while (*link != index) {
        link = &route_at(routes, pool, *link)->chain;
    }
    *link = route->chain;
    routes->count--;
}

void sim_routes_settle(struct sim_routes *routes, void *pool, struct net *net)
{
    for (uint32_t bucket = 0; bucket <= routes->mask; bucket++) {
        for (uint32_t index = routes->buckets[bucket]; index != 0; index = route_at(routes, pool, index)->chain) {
            sim_routes_settle_one(route_at(routes, pool, index), net);
        }
    }
}
