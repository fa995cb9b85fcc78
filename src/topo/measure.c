/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One breadth-first search from a host gives its distances and its numbers of ways. Hosts that are on the same switches
 * are alike, so one of them is searched from and counted for all: a fat tree of 16384 GPUs needs 512 searches.
 */
#include "topo/measure.h"
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- neighbours ---- */

bool topo_neighbours_make(const struct topo_graph *graph, struct mem *mem, struct topo_neighbours *neighbours)
{
    struct topo_neighbours made = {.node_count = graph->node_count, .room = graph->port_count, .mem = mem};
    made.start = mem_alloc(mem, ((size_t)made.node_count + 1) * sizeof *made.start);
    made.node = mem_alloc(mem, (size_t)made.room * sizeof *made.node);
    if (made.start == NULL || made.node == NULL) {
        topo_neighbours_free(&made);
        return false;
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t first = made.count;
        made.start[node] = first;
        for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
            made.node[made.count++] = graph->ports[graph->ports[port].peer].node;
        }
        qsort(made.node + first, made.count - first, sizeof *made.node, numbers_order_u32);
        uint32_t kept = first;
        for (uint32_t i = first; i < made.count; i++) {
            if (i == first || made.node[i] != made.node[i - 1]) {
                made.node[kept++] = made.node[i];
            }
        }
        made.count = kept;
    }
    made.start[graph->node_count] = made.count;
    *neighbours = made;
    return true;
}

void topo_neighbours_free(struct topo_neighbours *neighbours)
{
    if (neighbours->mem != NULL) {
        mem_free(neighbours->mem, neighbours->start, ((size_t)neighbours->node_count + 1) * sizeof *neighbours->start);
        mem_free(neighbours->mem, neighbours->node, (size_t)neighbours->room * sizeof *neighbours->node);
    }
    *neighbours = (struct topo_neighbours){0};
}

/* ---- searches ---- */

enum { UNSEEN = UINT32_MAX };

struct search {
    const struct topo_graph *graph;
    const struct topo_neighbours *near;
    bool forwarding;    /* hosts pass on */
    bool switches_only; /* hosts are not there at all */
    uint32_t *hops;     /* by node */
    double *ways;       /* by node */
    uint32_t *line;     /* nodes in the order met */
};

/* What the searches from all sources add up to. */
struct sums {
    double hops, ways, pairs, unreached;
    uint32_t diameter;
    double ways_least, ways_most;
};

static bool passes_on(const struct search *search, uint32_t node)
{
    return search->forwarding || search->graph->kinds[node] != TOPO_NODE_HOST;
}

static bool is_target(const struct search *search, uint32_t node)
{
    return (search->graph->kinds[node] == TOPO_NODE_HOST) != search->switches_only;
}

static void search_from(struct search *search, uint32_t source)
{
    uint32_t nodes = search->graph->node_count;
    memset(search->hops, 0xff, (size_t)nodes * sizeof *search->hops);
    search->hops[source] = 0;
    search->ways[source] = 1;
    search->line[0] = source;
    uint32_t count = 1;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = search->line[at];
        if (node != source && !passes_on(search, node)) {
            continue;
        }
        for (uint32_t i = search->near->start[node]; i < search->near->start[node + 1]; i++) {
            uint32_t next = search->near->node[i];
            if (search->hops[next] == UNSEEN && !(search->switches_only && !is_target(search, next))) {
                search->hops[next] = search->hops[node] + 1;
                search->ways[next] = 0;
                search->line[count++] = next;
            }
            if (search->hops[next] == search->hops[node] + 1) {
                search->ways[next] += search->ways[node];
            }
        }
    }
}

/* Adds what the last search found, `weight` sources being like this one. */
static void topo_measure_add_up(const struct search *search, uint32_t source, double weight, struct sums *sums)
{
    for (uint32_t node = 0; node < search->graph->node_count; node++) {
        if (node == source || !is_target(search, node)) {
            continue;
        }
        if (search->hops[node] == UNSEEN) {
            sums->unreached += weight;
            continue;
        }
        sums->hops += weight * search->hops[node];
        sums->ways += weight * search->ways[node];
        sums->diameter = search->hops[node] > sums->diameter ? search->hops[node] : sums->diameter;
        bool first = sums->pairs == 0;
        sums->ways_least = first || search->ways[node] < sums->ways_least ? search->ways[node] : sums->ways_least;
        sums->ways_most = first || search->ways[node] > sums->ways_most ? search->ways[node] : sums->ways_most;
        sums->pairs += weight;
    }
}

/* Whether two hosts are alike: on the same nodes, all of them switches. */
static bool topo_measure_is_alike(const struct search *search, uint32_t a, uint32_t b)
{
    const struct topo_neighbours *near = search->near;
    uint32_t degree = near->start[a + 1] - near->start[a];
    if (search->graph->kinds[a] != TOPO_NODE_HOST || search->graph->kinds[b] != TOPO_NODE_HOST ||
        degree != near->start[b + 1] - near->start[b]) {
        return false;
    }
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t node = near->node[near->start[a] + i];
        if (node != near->node[near->start[b] + i] || search->graph->kinds[node] == TOPO_NODE_HOST) {
            return false;
        }
    }
    return true;
}

/* Fills `sources` with one of each set of hosts that are alike and `weights` with the set's size. Alike hosts share
 * their first neighbour, so they are looked for among its neighbours. */
static uint32_t choose_sources(const struct search *search, uint32_t *sources, uint32_t *weights, uint8_t *taken)
{
    const struct topo_neighbours *near = search->near;
    uint32_t count = 0;
    for (uint32_t node = 0; node < search->graph->node_count; node++) {
        if (!is_target(search, node) || taken[node]) {
            continue;
        }
        uint32_t like = 1;
        uint32_t first = near->start[node] < near->start[node + 1] ? near->node[near->start[node]] : UNSEEN;
        bool alone = search->switches_only || search->forwarding || first == UNSEEN;
        for (uint32_t i = alone ? 0 : near->start[first]; i < (alone ? 0 : near->start[first + 1]); i++) {
            uint32_t other = near->node[i];
            if (other > node && !taken[other] && topo_measure_is_alike(search, node, other)) {
                taken[other] = 1;
                like++;
            }
        }
        sources[count] = node;
        weights[count++] = like;
    }
    return count;
}

static void topo_measure_finish(const struct sums *sums, struct topo_distances *distances)
{
    double pairs = sums->pairs > 0 ? sums->pairs : 1;
    distances->diameter = sums->diameter;
    distances->average = sums->hops / pairs;
    distances->ways_least = sums->ways_least;
    distances->ways_average = sums->ways / pairs;
    distances->ways_most = sums->ways_most;
    distances->unreached_pairs = (uint64_t)sums->unreached;
}

/* All searches, or as many as the work allows. */
static void search_all(struct search *search, const uint32_t *sources, const uint32_t *weights, uint32_t count,
                       struct topo_distances *distances)
{
    struct sums sums = {0};
    uint64_t step = (uint64_t)search->near->count + search->graph->node_count;
    uint64_t affordable = MEASURE_WORK / (step == 0 ? 1 : step) + 16;
    uint64_t searches = count < affordable ? count : affordable;
    for (uint64_t i = 0; i < searches; i++) {
        uint32_t at = (uint32_t)(i * count / searches);
        search_from(search, sources[at]);
        topo_measure_add_up(search, sources[at], weights[at], &sums);
    }
    *distances = (struct topo_distances){.sampled = searches < count ? (uint32_t)searches : 0};
    topo_measure_finish(&sums, distances);
}

static enum orr_status measure_distances(const struct topo_graph *graph, const struct topo_neighbours *near,
                                         struct mem *mem, struct topo_measure *measure, struct orr_error *err)
{
    uint32_t nodes = graph->node_count;
    struct search search = {.graph = graph, .near = near};
    uint32_t *words = mem_alloc(mem, (size_t)nodes * 4 * sizeof *words);
    search.ways = mem_alloc(mem, (size_t)nodes * sizeof *search.ways);
    uint8_t *taken = mem_zalloc(mem, nodes);
    enum orr_status status = ORR_OK;
    if (words == NULL || search.ways == NULL || taken == NULL) {
        status = mem_error(mem, "the machine's distances", err);
    } else {
        search.hops = words;
        search.line = words + nodes;
        uint32_t *sources = words + 2 * (size_t)nodes;
        uint32_t *weights = words + 3 * (size_t)nodes;
        uint32_t count = choose_sources(&search, sources, weights, taken);
        search_all(&search, sources, weights, count, &measure->between_hosts);
        if (measure->between_hosts.unreached_pairs > 0) {
            search.forwarding = measure->forwarding = true;
            memset(taken, 0, nodes);
            count = choose_sources(&search, sources, weights, taken);
            search_all(&search, sources, weights, count, &measure->between_hosts);
        }
        search.switches_only = true;
        memset(taken, 0, nodes);
        count = choose_sources(&search, sources, weights, taken);
        search_all(&search, sources, weights, count, &measure->between_switches);
        measure->switches_joined = count > 1 && measure->between_switches.unreached_pairs == 0;
    }
    mem_free(mem, words, (size_t)nodes * 4 * sizeof *words);
    mem_free(mem, search.ways, (size_t)nodes * sizeof *search.ways);
    mem_free(mem, taken, nodes);
    return status;
}

/* ---- counts ---- */

static void measure_links(const struct topo_graph *graph, struct topo_measure *measure)
{
    for (uint32_t i = 0; i < graph->link_count; i++) {
        uint8_t a = graph->kinds[graph->links[i].a];
        uint8_t b = graph->kinds[graph->links[i].b];
        if (a == TOPO_NODE_NVSWITCH || b == TOPO_NODE_NVSWITCH) {
            measure->nvswitch_links++;
        } else if (a == TOPO_NODE_SWITCH && b == TOPO_NODE_SWITCH) {
            measure->switch_links++;
        } else {
            measure->host_links++;
        }
    }
}

static void measure_nodes(const struct topo_graph *graph, const struct topo_neighbours *near,
                          struct topo_measure *measure)
{
    measure->host_degree_least = measure->switch_degree_least = UINT32_MAX;
    measure->host_bps_least = UINT64_MAX;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t degree = graph->port_start[node + 1] - graph->port_start[node];
        bool host = graph->kinds[node] == TOPO_NODE_HOST;
        uint32_t *least = host ? &measure->host_degree_least : &measure->switch_degree_least;
        uint32_t *most = host ? &measure->host_degree_most : &measure->switch_degree_most;
        uint64_t bps = 0;
        *least = degree < *least ? degree : *least;
        *most = degree > *most ? degree : *most;
        measure->parallel_links += degree - (near->start[node + 1] - near->start[node]);
        measure->hosts += host ? 1 : 0;
        measure->nvswitches += graph->kinds[node] == TOPO_NODE_NVSWITCH ? 1 : 0;
        measure->switches += graph->kinds[node] == TOPO_NODE_SWITCH ? 1 : 0;
        for (uint32_t port = graph->port_start[node]; host && port < graph->port_start[node + 1]; port++) {
            uint64_t rate = graph->links[graph->ports[port].link].rate_bps;
            bps = rate > UINT64_MAX - bps ? UINT64_MAX : bps + rate;
        }
        if (host) {
            measure->host_bps_least = bps < measure->host_bps_least ? bps : measure->host_bps_least;
            measure->host_bps_most = bps > measure->host_bps_most ? bps : measure->host_bps_most;
        }
    }
    measure->parallel_links /= 2; /* seen from both ends */
    if (measure->switch_degree_least == UINT32_MAX) {
        measure->switch_degree_least = 0;
    }
}

enum orr_status topo_measure(const struct topo_graph *graph, struct mem *mem, struct topo_measure *measure,
                             struct orr_error *err)
{
    struct topo_measure found = {.links = graph->link_count};
    struct topo_neighbours near = {0};
    if (!topo_neighbours_make(graph, mem, &near)) {
        return mem_error(mem, "the machine's neighbours", err);
    }
    measure_links(graph, &found);
    measure_nodes(graph, &near, &found);
    enum orr_status status = measure_distances(graph, &near, mem, &found, err);
    topo_neighbours_free(&near);
    if (status == ORR_OK) {
        status = topo_bisection(graph, mem, &found.bisection_bps, &found.has_bisection, err);
    }
    if (status == ORR_OK) {
        *measure = found;
    }
    return status;
}
