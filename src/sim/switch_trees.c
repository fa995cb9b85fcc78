/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search over switches from each of a channel's leaves gives every switch its distance to the farthest and to all of
 * them; one from the root then gives the switch above each. Searches visit ports in the graph's order, so that leaves
 * that can share a switch on their way up do.
 */
#include "sim/switch_trees.h"

#include <string.h>

enum { NOWHERE = UINT32_MAX, LEAVES_SEARCHED = 256 };

struct finder {
    const struct topo_graph *graph;
    const struct nccl_group *group;
    struct arena *arena;
    uint8_t *adds; /* by node: a switch of the network */
    uint32_t heads, rails, servers;
    uint32_t *first;                     /* of each server in group.ranks; one more at the end */
    uint32_t *line, *hops, *up;          /* of the present search: nodes in the order met; by node */
    uint32_t *farthest, *all, *searches; /* by node, of a channel's searches */
    uint32_t *place;                     /* by node, in the present tree; NOWHERE: not in it */
    uint32_t *leaves;                    /* of the channel, each once */
    uint32_t leaf_count;
    uint32_t switch_count; /* of the tree: the first in line */
};

static bool take_u32(struct finder *finder, uint32_t **array, size_t count)
{
    *array = arena_zalloc(finder->arena, count * sizeof **array);
    return *array != NULL;
}

static bool finder_open(struct finder *finder, const struct sim_servers *servers, const struct nccl_job *job)
{
    const struct topo_graph *graph = finder->graph;
    const struct nccl_group *group = finder->group;
    size_t nodes = graph->node_count;
    uint32_t **by_node[] = {&finder->line, &finder->hops,     &finder->up,    &finder->farthest,
                            &finder->all,  &finder->searches, &finder->place, &finder->leaves};
    finder->adds = arena_zalloc(finder->arena, nodes);
    bool taken = finder->adds != NULL && take_u32(finder, &finder->first, group->rank_count + UINT64_C(1));
    for (size_t i = 0; i < sizeof by_node / sizeof by_node[0]; i++) {
        taken = taken && take_u32(finder, by_node[i], nodes);
    }
    if (!taken) {
        return false;
    }
    for (size_t node = 0; node < nodes; node++) {
        finder->adds[node] = graph->kinds[node] == TOPO_NODE_SWITCH;
    }
    for (uint32_t i = 0;
         i < servers->switches_each * ((job->gpus - 1) / servers->ranks_each + 1) && job->switches_per_server > 0;
         i++) {
        finder->adds[servers->switches[i]] = 0;
    }
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        if (i == 0 || group->ranks[i] / job->gpus_per_server != group->ranks[i - 1] / job->gpus_per_server) {
            uint32_t run = finder->servers == 0 ? UINT32_MAX : i - finder->first[finder->servers - 1];
            fewest = run < fewest ? run : fewest;
            finder->first[finder->servers++] = i;
        }
    }
    finder->first[finder->servers] = group->rank_count;
    uint32_t run = group->rank_count - finder->first[finder->servers - 1];
    fewest = run < fewest ? run : fewest;
    finder->heads = fewest < NCCL_MAX_CHANNELS ? fewest : NCCL_MAX_CHANNELS;
    return true;
}

static uint32_t peer_of(const struct topo_graph *graph, uint32_t port)
{
    return graph->ports[graph->ports[port].peer].node;
}

/* The `wanted`-th different switch of the network that a host hangs on, and how many there are. */
static uint32_t switch_beside(const struct finder *finder, uint32_t host, uint32_t wanted, uint32_t *count)
{
    const struct topo_graph *graph = finder->graph;
    uint32_t start = graph->port_start[host];
    uint32_t found = NOWHERE;
    *count = 0;
    for (uint32_t port = start; port < graph->port_start[host + 1]; port++) {
        uint32_t node = peer_of(graph, port);
        bool again = false;
        for (uint32_t before = start; before < port && !again; before++) {
            again = peer_of(graph, before) == node;
        }
        if (finder->adds[node] != 0 && !again) {
            found = *count == wanted ? node : found;
            ++*count;
        }
    }
    return found;
}

/* Switches that every member which may be a head hangs on, at least. */
static void count_rails(struct finder *finder)
{
    uint32_t fewest = NCCL_MAX_CHANNELS / finder->heads;
    for (uint32_t s = 0; s < finder->servers; s++) {
        for (uint32_t h = 0; h < finder->heads; h++) {
            uint32_t count = 0;
            (void)switch_beside(finder, finder->group->ranks[finder->first[s] + h], 0, &count);
            fewest = count < fewest ? count : fewest;
        }
    }
    finder->rails = fewest;
}

/* From `start` over switches; returns how many were met. */
static uint32_t finder_search(struct finder *finder, uint32_t start)
{
    const struct topo_graph *graph = finder->graph;
    uint32_t count = 1;
    memset(finder->hops, 0xff, graph->node_count * sizeof *finder->hops);
    finder->line[0] = start;
    finder->hops[start] = 0;
    finder->up[start] = start;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = finder->line[i];
        for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
            uint32_t next = peer_of(graph, port);
            if (finder->adds[next] != 0 && finder->hops[next] == NOWHERE) {
                finder->hops[next] = finder->hops[node] + 1;
                finder->up[next] = node;
                finder->line[count++] = next;
            }
        }
    }
    return count;
}

static void search_from_leaves(struct finder *finder, uint32_t *done)
{
    size_t bytes = finder->graph->node_count * sizeof(uint32_t);
    memset(finder->farthest, 0, bytes);
    memset(finder->all, 0, bytes);
    memset(finder->searches, 0, bytes);
    *done = 0;
    for (uint32_t i = 0; i < finder->leaf_count; i += finder->leaf_count / LEAVES_SEARCHED + 1) {
        uint32_t met = finder_search(finder, finder->leaves[i]);
        for (uint32_t k = 0; k < met; k++) {
            uint32_t node = finder->line[k];
            finder->farthest[node] =
                finder->hops[node] > finder->farthest[node] ? finder->hops[node] : finder->farthest[node];
            finder->all[node] += finder->hops[node];
            finder->searches[node]++;
        }
        ++*done;
    }
}

/* The switch that is best as root, of equals the `turn`-th; NOWHERE when none reaches all leaves. */
static uint32_t best_root(struct finder *finder, uint32_t turn)
{
    uint32_t done = 0;
    uint32_t equals = 0;
    uint32_t best = NOWHERE;
    search_from_leaves(finder, &done);
    for (uint32_t node = 0; node < finder->graph->node_count; node++) {
        if (finder->searches[node] != done) {
            continue;
        }
        bool nearer = best == NOWHERE || finder->farthest[node] < finder->farthest[best] ||
                      (finder->farthest[node] == finder->farthest[best] && finder->all[node] < finder->all[best]);
        bool equal =
            !nearer && finder->farthest[node] == finder->farthest[best] && finder->all[node] == finder->all[best];
        best = nearer ? node : best;
        equals = nearer ? 1 : equals + equal;
    }
    uint32_t left = equals == 0 ? 0 : turn % equals;
    for (uint32_t node = best; best != NOWHERE; node++) {
        bool equal = finder->searches[node] == done && finder->farthest[node] == finder->farthest[best] &&
                     finder->all[node] == finder->all[best];
        if (equal && left-- == 0) {
            return node;
        }
    }
    return NOWHERE;
}

/* The switch that the head of a server hangs on in a channel. */
static uint32_t leaf_of(const struct finder *finder, uint32_t channel, uint32_t server)
{
    uint32_t lo = finder->first[server];
    uint32_t head = finder->group->ranks[lo + channel % (finder->first[server + 1] - lo)];
    uint32_t count = 0;
    uint32_t found = switch_beside(finder, head, channel / finder->heads, &count);
    return found != NOWHERE || count == 0 ? found
                                          : switch_beside(finder, head, channel / finder->heads % count, &count);
}

static bool finder_find_leaves(struct finder *finder, uint32_t channel)
{
    memset(finder->place, 0xff, finder->graph->node_count * sizeof *finder->place);
    finder->leaf_count = 0;
    for (uint32_t s = 0; s < finder->servers; s++) {
        uint32_t leaf = leaf_of(finder, channel, s);
        if (leaf == NOWHERE) {
            return false;
        }
        if (finder->place[leaf] == NOWHERE) {
            finder->place[leaf] = 0;
            finder->leaves[finder->leaf_count++] = leaf;
        }
    }
    return true;
}

/* Marks what lies between the leaves and the root; false when a leaf does not reach it. */
static bool mark_ways(struct finder *finder, uint32_t root)
{
    uint32_t met = finder_search(finder, root);
    for (uint32_t i = 0; i < finder->leaf_count; i++) {
        if (finder->hops[finder->leaves[i]] == NOWHERE) {
            return false;
        }
        for (uint32_t node = finder->up[finder->leaves[i]]; finder->place[node] == NOWHERE; node = finder->up[node]) {
            finder->place[node] = 0;
        }
    }
    finder->place[root] = 0;
    uint32_t kept = 0; /* the order met, without what no way uses: the root first, each after the one above it */
    for (uint32_t i = 0; i < met; i++) {
        if (finder->place[finder->line[i]] != NOWHERE) {
            finder->line[kept++] = finder->line[i];
        }
    }
    finder->switch_count = kept;
    return true;
}

/* The arrays as they grow. */
struct growing {
    uint32_t *first, *up, *leaf, *nodes, *lowest;
    uint32_t count, capacity;
};

static bool growing_room(struct finder *finder, struct growing *growing, uint32_t more)
{
    if (growing->count + more <= growing->capacity) {
        return true;
    }
    uint32_t capacity = 2 * (growing->count + more);
    uint32_t **arrays[] = {&growing->up, &growing->nodes, &growing->lowest};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        uint32_t *larger = NULL;
        if (!take_u32(finder, &larger, capacity)) {
            return false;
        }
        if (growing->count > 0) {
            memcpy(larger, *arrays[i], growing->count * sizeof *larger);
        }
        *arrays[i] = larger;
    }
    growing->capacity = capacity;
    return true;
}

static void growing_add_tree(struct finder *finder, struct growing *growing, uint32_t channel)
{
    uint32_t root = growing->count;
    for (uint32_t i = 0; i < finder->switch_count; i++) {
        uint32_t node = finder->line[i];
        finder->place[node] = growing->count;
        growing->nodes[growing->count] = node;
        growing->lowest[growing->count] = NOWHERE;
        growing->up[growing->count] = finder->place[finder->up[node]];
        growing->count++;
    }
    for (uint32_t s = 0; s < finder->servers; s++) {
        uint32_t place = finder->place[leaf_of(finder, channel, s)];
        growing->leaf[(size_t)channel * finder->servers + s] = place;
        growing->lowest[place] = finder->first[s] < growing->lowest[place] ? finder->first[s] : growing->lowest[place];
    }
    for (uint32_t place = growing->count; place-- > root;) {
        uint32_t above = growing->up[place];
        growing->lowest[above] =
            growing->lowest[place] < growing->lowest[above] ? growing->lowest[place] : growing->lowest[above];
    }
}

/* What is on the links between the switches of the last tree, and below its leaves. */
static uint64_t most_in_flight(const struct finder *finder)
{
    const struct topo_graph *graph = finder->graph;
    uint64_t most = 0;
    for (uint32_t i = 0; i < finder->switch_count; i++) {
        uint32_t node = finder->line[i];
        for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
            const struct topo_link *link = &graph->links[graph->ports[port].link];
            uint64_t bytes = (uint64_t)((double)link->rate_bps / 8e9 * (double)link->delay_ns);
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

enum orr_status sim_switch_trees_find(const struct topo_graph *graph, const struct sim_servers *servers,
                                      const struct nccl_job *job, const struct nccl_group *group, struct arena *arena,
                                      struct sim_switch_trees *trees)
{
    struct finder finder = {.graph = graph, .group = group, .arena = arena};
    struct growing growing = {0};
    *trees = (struct sim_switch_trees){0};
    if (!finder_open(&finder, servers, job)) {
        return ORR_ENOMEM;
    }
    count_rails(&finder);
    uint32_t channels = finder.heads * finder.rails;
    if (!take_u32(&finder, &growing.first, channels + UINT64_C(1)) ||
        !take_u32(&finder, &growing.leaf, (size_t)channels * finder.servers)) {
        return ORR_ENOMEM;
    }
    for (uint32_t c = 0; c < channels; c++) {
        uint32_t root = finder_find_leaves(&finder, c) ? best_root(&finder, c + group->ranks[0]) : NOWHERE;
        if (root == NOWHERE || !mark_ways(&finder, root)) {
            return ORR_OK;
        }
        if (!growing_room(&finder, &growing, finder.switch_count)) {
            return ORR_ENOMEM;
        }
        growing_add_tree(&finder, &growing, c);
        growing.first[c + 1] = growing.count;
        uint64_t in_flight = most_in_flight(&finder);
        trees->in_flight_bytes = in_flight > trees->in_flight_bytes ? in_flight : trees->in_flight_bytes;
    }
    trees->list = (struct nccl_switch_trees){.first = growing.first, .up = growing.up, .leaf = growing.leaf};
    trees->nodes = growing.nodes;
    trees->lowest = growing.lowest;
    trees->channels = channels;
    return ORR_OK;
}
