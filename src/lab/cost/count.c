/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cables are found by sorting: the links of a pair of nodes lie together, those from the lower to the higher number
 * before the others, and there are as many cables as the more frequent direction has links. Alike cables and alike
 * switches are then counted by sorting again.
 */
#include "lab/cost/count.h"
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    uint32_t low, high;
    bool up; /* listed as low to high */
    uint64_t rate_bps;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    int order = compare_u64((uint64_t)x->low << 32 | x->high, (uint64_t)y->low << 32 | y->high);
    order = order != 0 ? order : compare_u64(x->rate_bps, y->rate_bps);
    return order != 0 ? order : (int)x->up - (int)y->up;
}

static int by_rate(const void *a, const void *b)
{
    return compare_u64(((const struct cost_cables *)a)->rate_bps, ((const struct cost_cables *)b)->rate_bps);
}

static int by_level(const void *a, const void *b)
{
    const struct cost_boxes *x = a;
    const struct cost_boxes *y = b;
    return x->leaf != y->leaf ? (int)y->leaf - (int)x->leaf : compare_u64(x->ports, y->ports);
}

/* What counting needs of every node. */
struct work {
    const struct topo_graph *graph;
    uint32_t *hosts;  /* on a switch */
    uint64_t *cables; /* at a node */
    bool own;         /* switches with a GPU are the GPUs' own */
};

/* Of two ends, one is the host and the other a switch that is no NVSwitch. */
static bool joins_host(const struct topo_graph *graph, const struct topo_link *link, uint32_t *to)
{
    bool a = graph->kinds[link->a] == TOPO_NODE_HOST;
    bool b = graph->kinds[link->b] == TOPO_NODE_HOST;
    *to = a ? link->b : link->a;
    return a != b && graph->kinds[*to] == TOPO_NODE_SWITCH;
}

/* Cables of hosts to their own switches and to NVSwitches are inside servers. */
static bool is_inside(const struct work *work, const struct topo_link *link)
{
    const uint8_t *kinds = work->graph->kinds;
    uint32_t to = 0;
    return kinds[link->a] == TOPO_NODE_NVSWITCH || kinds[link->b] == TOPO_NODE_NVSWITCH ||
           (work->own && joins_host(work->graph, link, &to));
}

/* Different hosts on each switch: pairs (switch, host), sorted, each counted once. */
static bool cost_count_hosts(struct work *work, struct arena *arena, struct cost_count *count)
{
    const struct topo_graph *graph = work->graph;
    uint64_t *pairs = arena_alloc(arena, (size_t)graph->link_count * sizeof *pairs);
    size_t found = 0;
    uint64_t with_hosts = 0;
    bool one_each = true;
    for (uint32_t i = 0; i < graph->link_count && pairs != NULL; i++) {
        const struct topo_link *link = &graph->links[i];
        uint32_t to = 0;
        if (joins_host(graph, link, &to)) {
            pairs[found++] = (uint64_t)to << 32 | (to == link->a ? link->b : link->a);
        }
    }
    if (pairs == NULL) {
        return false;
    }
    qsort(pairs, found, sizeof *pairs, numbers_order_u64);
    for (size_t i = 0; i < found; i++) {
        work->hosts[pairs[i] >> 32] += i == 0 || pairs[i] != pairs[i - 1];
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        count->gpus += graph->kinds[node] == TOPO_NODE_HOST;
        count->nvswitches += graph->kinds[node] == TOPO_NODE_NVSWITCH;
        with_hosts += work->hosts[node] > 0;
        one_each = one_each && work->hosts[node] <= 1;
    }
    work->own = one_each && count->gpus > 1 && with_hosts == count->gpus;
    count->own_switches = work->own ? with_hosts : 0;
    return true;
}

static bool count_cables(struct work *work, struct arena *arena, struct cost_count *count)
{
    const struct topo_graph *graph = work->graph;
    size_t links = graph->link_count;
    struct pair *pairs = arena_alloc(arena, links * sizeof *pairs);
    count->cables = arena_alloc(arena, links * sizeof *count->cables);
    if (pairs == NULL || count->cables == NULL) {
        return false;
    }
    size_t found = 0;
    for (size_t i = 0; i < links; i++) {
        const struct topo_link *link = &graph->links[i];
        if (!is_inside(work, link)) {
            bool up = link->a < link->b;
            pairs[found++] = (struct pair){up ? link->a : link->b, up ? link->b : link->a, up, link->rate_bps};
        }
    }
    qsort(pairs, found, sizeof *pairs, by_pair);
    uint32_t kinds = 0;
    for (size_t i = 0; i < found;) {
        uint64_t ways[2] = {0, 0};
        const struct pair *first = &pairs[i];
        for (; i < found && pairs[i].low == first->low && pairs[i].high == first->high &&
               pairs[i].rate_bps == first->rate_bps;
             i++) {
            ways[pairs[i].up]++;
        }
        uint64_t cables = ways[0] > ways[1] ? ways[0] : ways[1];
        work->cables[first->low] += cables;
        work->cables[first->high] += cables;
        count->cables[kinds++] = (struct cost_cables){first->rate_bps, cables};
    }
    qsort(count->cables, kinds, sizeof *count->cables, by_rate);
    for (uint32_t i = 0; i < kinds; i++) {
        if (count->cable_count > 0 && count->cables[count->cable_count - 1].rate_bps == count->cables[i].rate_bps) {
            count->cables[count->cable_count - 1].count += count->cables[i].count;
        } else {
            count->cables[count->cable_count++] = count->cables[i];
        }
    }
    return true;
}

static bool count_boxes(const struct work *work, struct arena *arena, struct cost_count *count)
{
    const struct topo_graph *graph = work->graph;
    uint32_t kinds = 0;
    count->boxes = arena_alloc(arena, graph->node_count * sizeof *count->boxes);
    if (count->boxes == NULL) {
        return false;
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        bool own = work->own && work->hosts[node] > 0;
        if (graph->kinds[node] == TOPO_NODE_SWITCH && !own) {
            count->boxes[kinds++] = (struct cost_boxes){work->hosts[node] > 0, work->cables[node], 1};
        }
    }
    qsort(count->boxes, kinds, sizeof *count->boxes, by_level);
    for (uint32_t i = 0; i < kinds; i++) {
        struct cost_boxes *last = count->box_count == 0 ? NULL : &count->boxes[count->box_count - 1];
        if (last != NULL && by_level(last, &count->boxes[i]) == 0) {
            last->count++;
        } else {
            count->boxes[count->box_count++] = count->boxes[i];
        }
    }
    return true;
}

enum orr_status cost_count_graph(const struct topo_graph *graph, struct arena *arena, struct cost_count *count,
                                 struct orr_error *err)
{
    struct cost_count made = {0};
    struct work work = {.graph = graph,
                        .hosts = arena_zalloc(arena, graph->node_count * sizeof *work.hosts),
                        .cables = arena_zalloc(arena, graph->node_count * sizeof *work.cables)};
    if (work.hosts == NULL || work.cables == NULL || !cost_count_hosts(&work, arena, &made) ||
        !count_cables(&work, arena, &made) || !count_boxes(&work, arena, &made)) {
        return mem_error(arena->mem, "the parts of a machine", err);
    }
    *count = made;
    return ORR_OK;
}
