/* SPDX-License-Identifier: Apache-2.0 */
/* Each question is one pass over nodes or links. Reaching is asked by joining: switches that are linked form sets, and
 * two hosts reach each other when they are on a common set or linked directly. */
#include "topo/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sets.h"

struct checker {
    const struct topo_graph *graph;
    const char *name;
    struct notes *notes;
    struct mem *mem;
};

static uint64_t topo_check_bandwidth(const struct topo_graph *graph, uint32_t node)
{
    uint64_t bps = 0;
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint64_t rate = graph->links[graph->ports[port].link].rate_bps;
        bps = rate > UINT64_MAX - bps ? UINT64_MAX : bps + rate;
    }
    return bps;
}

/* ---- numbers ---- */

static enum orr_status check_numbers(struct checker *checker, struct orr_error *err)
{
    const struct topo_graph *graph = checker->graph;
    uint32_t hosts = 0;
    uint32_t first_switch = UINT32_MAX;
    uint32_t last_host = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->kinds[node] == TOPO_NODE_HOST) {
            hosts++;
            last_host = node;
        } else if (first_switch == UINT32_MAX) {
            first_switch = node;
        }
    }
    return last_host < first_switch ? ORR_OK
                                    : notes_add(checker->notes, err,
                                                "%s: node %" PRIu32 " is a switch and node %" PRIu32
                                                " a host: rank r runs on node r, so that "
                                                "only the hosts below %" PRIu32 " of the %" PRIu32 " can have ranks",
                                                checker->name, first_switch, last_host, first_switch, hosts);
}

/* ---- bandwidth ---- */

static enum orr_status check_hosts(struct checker *checker, struct orr_error *err)
{
    const struct topo_graph *graph = checker->graph;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    uint32_t poorest = 0;
    uint32_t richest = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->kinds[node] != TOPO_NODE_HOST) {
            continue;
        }
        uint64_t bps = topo_check_bandwidth(graph, node);
        poorest = bps < least ? node : poorest;
        least = bps < least ? bps : least;
        richest = bps > most ? node : richest;
        most = bps > most ? bps : most;
    }
    return least >= most ? ORR_OK
                         : notes_add(checker->notes, err,
                                     "%s: hosts do not have the same bandwidth: host %" PRIu32 " has %" PRIu64
                                     " b/s, host %" PRIu32 " has %" PRIu64 " b/s",
                                     checker->name, poorest, least, richest, most);
}

/* A switch by the hosts on it and the rate they have there; only switches of one rate are compared. */
struct filled {
    uint64_t rate_bps;
    uint32_t hosts, node;
};

static int compare_filled(const void *a, const void *b)
{
    const struct filled *x = a;
    const struct filled *y = b;
    if (x->rate_bps != y->rate_bps) {
        return x->rate_bps < y->rate_bps ? -1 : 1;
    }
    if (x->hosts != y->hosts) {
        return x->hosts < y->hosts ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

static uint32_t topo_check_fill(const struct topo_graph *graph, struct filled *filled)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        struct filled one = {.node = node};
        for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
            if (graph->kinds[graph->ports[graph->ports[port].peer].node] == TOPO_NODE_HOST) {
                one.hosts++;
                one.rate_bps = graph->links[graph->ports[port].link].rate_bps;
            }
        }
        if (graph->kinds[node] != TOPO_NODE_HOST && one.hosts > 0) {
            filled[count++] = one;
        }
    }
    return count;
}

static enum orr_status check_filling(struct checker *checker, struct orr_error *err)
{
    size_t bytes = (size_t)checker->graph->node_count * sizeof(struct filled);
    struct filled *filled = mem_alloc(checker->mem, bytes);
    if (filled == NULL) {
        return mem_error(checker->mem, "the check", err);
    }
    uint32_t count = topo_check_fill(checker->graph, filled);
    enum orr_status status = ORR_OK;
    qsort(filled, count, sizeof *filled, compare_filled);
    for (uint32_t first = 0, end = 0; first < count && status == ORR_OK; first = end) {
        while (end < count && filled[end].rate_bps == filled[first].rate_bps) {
            end++;
        }
        if (filled[first].hosts != filled[end - 1].hosts) {
            status = notes_add(checker->notes, err,
                               "%s: switches at %" PRIu64 " b/s do not have the same number of hosts: switch %" PRIu32
                               " has %" PRIu32 ", switch %" PRIu32 " has %" PRIu32,
                               checker->name, filled[first].rate_bps, filled[first].node, filled[first].hosts,
                               filled[end - 1].node, filled[end - 1].hosts);
        }
    }
    mem_free(checker->mem, filled, bytes);
    return status;
}

static enum orr_status check_switches(struct checker *checker, struct orr_error *err)
{
    const struct topo_graph *graph = checker->graph;
    uint32_t idle = 0;
    uint32_t example = 0;
    for (uint32_t node = graph->node_count; node-- > 0;) {
        uint32_t degree = graph->port_start[node + 1] - graph->port_start[node];
        if (graph->kinds[node] != TOPO_NODE_HOST && degree < 2) {
            idle++;
            example = node;
        }
    }
    return idle == 0
               ? ORR_OK
               : notes_add(checker->notes, err,
                           "%s: %" PRIu32 " switch%s fewer than two links, so that nothing passes through: switch "
                           "%" PRIu32,
                           checker->name, idle, idle == 1 ? " has" : "es have", example);
}

/* ---- links ---- */

static int compare_links(const void *a, const void *b)
{
    const struct topo_link *x = a;
    const struct topo_link *y = b;
    uint32_t x_low = x->a < x->b ? x->a : x->b;
    uint32_t y_low = y->a < y->b ? y->a : y->b;
    uint32_t x_high = x->a < x->b ? x->b : x->a;
    uint32_t y_high = y->a < y->b ? y->b : y->a;
    if (x_low != y_low) {
        return x_low < y_low ? -1 : 1;
    }
    return x_high < y_high ? -1 : x_high > y_high;
}

static enum orr_status check_twice(struct checker *checker, struct orr_error *err)
{
    const struct topo_graph *graph = checker->graph;
    size_t bytes = (size_t)graph->link_count * sizeof *graph->links;
    struct topo_link *sorted = mem_alloc(checker->mem, bytes);
    if (sorted == NULL) {
        return mem_error(checker->mem, "the check", err);
    }
    uint32_t reversed = 0;
    uint32_t example = 0;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        sorted[i] = graph->links[i];
    }
    qsort(sorted, graph->link_count, sizeof *sorted, compare_links);
    for (uint32_t i = graph->link_count; i-- > 1;) {
        if (compare_links(&sorted[i], &sorted[i - 1]) == 0 && sorted[i].a == sorted[i - 1].b) {
            reversed++;
            example = i;
        }
    }
    enum orr_status status = ORR_OK;
    if (reversed > 0) {
        status =
            notes_add(checker->notes, err,
                      "%s: %" PRIu32 " link%s also there the other way round, such as %" PRIu32 " - %" PRIu32
                      ": a link carries both directions, so that these are two links side by side",
                      checker->name, reversed, reversed == 1 ? " is" : "s are", sorted[example].a, sorted[example].b);
    }
    mem_free(checker->mem, sorted, bytes);
    return status;
}

/* ---- reaching ---- */

/* Whether hosts `a` and `b` have a way on which no host forwards. */
static bool has_way(const struct topo_graph *graph, uint32_t *set, uint32_t a, uint32_t b)
{
    for (uint32_t i = graph->port_start[a]; i < graph->port_start[a + 1]; i++) {
        uint32_t near = graph->ports[graph->ports[i].peer].node;
        for (uint32_t j = graph->port_start[b]; j < graph->port_start[b + 1]; j++) {
            uint32_t far = graph->ports[graph->ports[j].peer].node;
            bool switches = graph->kinds[near] != TOPO_NODE_HOST && graph->kinds[far] != TOPO_NODE_HOST;
            if (near == b || (switches && sets_find(set, near) == sets_find(set, far))) {
                return true;
            }
        }
    }
    return false;
}

/* One host against all others, for the first host and for the first it cannot reach: enough to find that some pair has
 * no way, since hosts in one set of switches all reach each other. */
static enum orr_status check_reach(struct checker *checker, struct orr_error *err)
{
    const struct topo_graph *graph = checker->graph;
    size_t bytes = (size_t)graph->node_count * sizeof(uint32_t);
    uint32_t *set = mem_alloc(checker->mem, bytes);
    if (set == NULL) {
        return mem_error(checker->mem, "the check", err);
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        set[node] = node;
    }
    for (uint32_t i = 0; i < graph->link_count; i++) {
        uint32_t a = graph->links[i].a;
        uint32_t b = graph->links[i].b;
        if (graph->kinds[a] != TOPO_NODE_HOST && graph->kinds[b] != TOPO_NODE_HOST) {
            set[sets_find(set, a)] = sets_find(set, b);
        }
    }
    uint32_t first = UINT32_MAX;
    uint32_t apart = 0;
    uint32_t example = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->kinds[node] != TOPO_NODE_HOST) {
            continue;
        }
        first = first == UINT32_MAX ? node : first;
        if (node != first && !has_way(graph, set, first, node)) {
            example = apart++ == 0 ? node : example;
        }
    }
    mem_free(checker->mem, set, bytes);
    return apart == 0 ? ORR_OK
                      : notes_add(checker->notes, err,
                                  "%s: host %" PRIu32 " has no way to %" PRIu32 " of the hosts, such as host %" PRIu32
                                  ": hosts do not forward, so that a message between them never arrives",
                                  checker->name, first, apart, example);
}

typedef enum orr_status check_fn(struct checker *checker, struct orr_error *err);

enum orr_status topo_check(const struct topo_graph *graph, const char *name, struct notes *notes, struct mem *mem,
                           struct orr_error *err)
{
    static check_fn *const checks[] = {check_numbers,  check_hosts, check_filling,
                                       check_switches, check_twice, check_reach};
    struct checker checker = {.graph = graph, .name = name, .notes = notes, .mem = mem};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && status == ORR_OK; i++) {
        status = checks[i](&checker, err);
    }
    return status;
}
