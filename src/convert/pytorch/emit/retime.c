/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes come by their recorded start, and all they depend on before them: one pass plays the graph. */
#include "convert/pytorch/emit/retime.h"

#include "base/heap.h"

/* A start that is off by less is left so: it is made good where more has come together, so that no node is ever off by
 * more than this, and there are not more gaps than it takes. */
enum { OFF_NS = 2000 };

/* Work on the device that waited for longer than the first and started within the second of the end of work on another
 * stream waited for that: an event between streams that was not recorded, or whose record was not found. */
enum { LONG_NS = 20000, PROMPT_NS = 5000 };

struct player {
    const struct linked_trace *linked;
    struct emit_selection *selection;
    struct emit_gap *gaps;
    struct emit_counts *counts;
    int64_t *ends;     /* by node, as played */
    uint32_t *running; /* heap of nodes that end after the start reached, soonest first */
    uint32_t running_count;
    uint32_t ended; /* of those that have ended, the one that did last; LINKED_NONE */
    int64_t base_ns;
};

static int64_t recorded_start(const struct player *player, uint32_t node)
{
    return player->linked->nodes[node].start_ns - player->base_ns;
}

static int64_t duration(const struct player *player, uint32_t node)
{
    int64_t ns = player->linked->nodes[node].duration_ns;
    return ns > 0 ? ns : 0;
}

/* Whether the recording itself contradicts that `node` waited for `from`. A launch and the order of a lane are beyond
 * doubt: there it is the clocks that differ. */
static bool is_contradicted(const struct player *player, uint32_t node, uint32_t from)
{
    const struct linked_node *to = &player->linked->nodes[node];
    const struct linked_node *at = &player->linked->nodes[from];
    if (to->lane == at->lane || (!linked_kind_is_host(to->kind) && linked_kind_is_host(at->kind))) {
        return false;
    }
    int64_t end = recorded_start(player, from) + duration(player, from);
    return end > recorded_start(player, node) + OFF_NS && player->ends[from] > recorded_start(player, node) + OFF_NS;
}

static void drop_contradicted(struct player *player, uint32_t node)
{
    struct emit_selection *selection = player->selection;
    uint32_t *deps = selection->deps + selection->first[node];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < selection->counts[node]; i++) {
        if (is_contradicted(player, node, deps[i])) {
            player->counts->contradicted++;
        } else {
            deps[kept++] = deps[i];
        }
    }
    selection->counts[node] = kept;
}

/* The one that ends last of what a node depends on, as played. */
static uint32_t binding(const struct player *player, uint32_t node)
{
    const struct emit_selection *selection = player->selection;
    const uint32_t *deps = selection->deps + selection->first[node];
    uint32_t latest = LINKED_NONE;
    for (uint32_t i = 0; i < selection->counts[node]; i++) {
        if (latest == LINKED_NONE || player->ends[deps[i]] >= player->ends[latest]) {
            latest = deps[i];
        }
    }
    return latest;
}

static bool ends_before(const struct player *player, const uint32_t *a, const uint32_t *b)
{
    return player->ends[*a] < player->ends[*b];
}

HEAP_DEFINE(running_heap, uint32_t, const struct player *, ends_before, HEAP_PUT);

/* For a node that depends on nothing: what ended last before it started, on whatever lane. */
static uint32_t ended_before(struct player *player, int64_t start)
{
    while (player->running_count > 0 && player->ends[player->running[0]] <= start) {
        player->ended = running_heap_pop(player, player->running, &player->running_count);
    }
    return player->ended;
}

/* What a wait that nothing explains was for, by the times alone; LINKED_NONE. */
static uint32_t released_by(const struct player *player, uint32_t node, int64_t start, int64_t recorded)
{
    uint32_t ended = player->ended;
    if (ended == LINKED_NONE || recorded - start <= LONG_NS || recorded - player->ends[ended] > PROMPT_NS) {
        return LINKED_NONE;
    }
    const struct linked_node *at = &player->linked->nodes[ended];
    bool device = !linked_kind_is_host(at->kind) && !linked_kind_is_host(player->linked->nodes[node].kind);
    return device && at->lane != player->linked->nodes[node].lane ? ended : LINKED_NONE;
}

static void count_gap(struct player *player, uint32_t node, const struct emit_gap *gap)
{
    bool host = linked_kind_is_host(player->linked->nodes[node].kind);
    enum emit_gap_kind kind = host ? EMIT_GAP_HOST : gap->holds ? EMIT_GAP_DEVICE : EMIT_GAP_LAUNCH;
    player->counts->gap_count[kind]++;
    player->counts->gap_ns[kind] += (uint64_t)gap->ns;
}

static void emit_retime_play(struct player *player, uint32_t node)
{
    const struct linked_node *at = &player->linked->nodes[node];
    int64_t recorded = recorded_start(player, node);
    drop_contradicted(player, node);
    uint32_t after = binding(player, node);
    uint32_t ended = ended_before(player, recorded);
    after = after == LINKED_NONE && recorded > OFF_NS ? ended : after;
    int64_t start = after == LINKED_NONE ? 0 : player->ends[after];
    uint32_t releaser = released_by(player, node, start, recorded);
    if (releaser != LINKED_NONE) {
        after = releaser;
        start = player->ends[releaser];
        player->counts->released++;
    }
    if (recorded - start > OFF_NS || releaser != LINKED_NONE) {
        bool same_lane = after != LINKED_NONE && player->linked->nodes[after].lane == at->lane;
        struct emit_gap gap = {.start_ns = start + player->base_ns,
                               .ns = recorded > start ? recorded - start : 1,
                               .after = after,
                               .holds = same_lane || linked_kind_is_host(at->kind)};
        player->gaps[node] = gap;
        count_gap(player, node, &gap);
        start = recorded;
    }
    player->ends[node] = start + duration(player, node);
    running_heap_push(player, player->running, &player->running_count, node);
    int64_t end = recorded + duration(player, node);
    player->counts->recorded_ns = end > player->counts->recorded_ns ? end : player->counts->recorded_ns;
    player->counts->played_ns =
        player->ends[node] > player->counts->played_ns ? player->ends[node] : player->counts->played_ns;
}

static int64_t emit_retime_first_start(const struct linked_trace *linked, const struct emit_selection *selection)
{
    for (uint32_t i = 0; i < linked->node_count; i++) {
        if (selection->ids[i] != LINKED_NONE) {
            return linked->nodes[i].start_ns;
        }
    }
    return 0;
}

static bool play_all(struct player *player)
{
    const struct linked_trace *linked = player->linked;
    struct mem *mem = linked->mem;
    size_t end_bytes = ((size_t)linked->node_count + 1) * sizeof *player->ends;
    size_t running_bytes = ((size_t)linked->node_count + 1) * sizeof *player->running;
    player->ends = mem_zalloc(mem, end_bytes);
    player->running = mem_alloc(mem, running_bytes);
    bool fine = player->ends != NULL && player->running != NULL;
    for (uint32_t i = 0; fine && i < linked->node_count; i++) {
        if (player->selection->ids[i] != LINKED_NONE) {
            emit_retime_play(player, i);
        }
    }
    mem_free(mem, player->ends, end_bytes);
    mem_free(mem, player->running, running_bytes);
    return fine;
}

bool emit_retime(struct emit_retiming *retiming, struct emit_selection *selection, const struct linked_trace *linked,
                 const struct emit_options *options, uint32_t first_id, struct emit_counts *counts)
{
    *retiming = (struct emit_retiming){.mem = linked->mem, .count = (uint64_t)linked->node_count + 1};
    if (linked->has_times && !options->drop_gaps && !options->drop_cpu) {
        retiming->gaps = mem_zalloc(linked->mem, (size_t)retiming->count * sizeof *retiming->gaps);
        struct player player = {.linked = linked,
                                .selection = selection,
                                .gaps = retiming->gaps,
                                .counts = counts,
                                .ended = LINKED_NONE,
                                .base_ns =
                                    options->step_pair_count == 0 ? 0 : emit_retime_first_start(linked, selection)};
        if (retiming->gaps == NULL || !play_all(&player)) {
            return false;
        }
    }
    uint32_t next = first_id;
    for (uint32_t i = 0; i < linked->node_count; i++) {
        if (selection->ids[i] == LINKED_NONE) {
            continue;
        }
        if (retiming->gaps != NULL && retiming->gaps[i].ns > 0) {
            retiming->gaps[i].id = next++;
        }
        selection->ids[i] = next++;
    }
    return true;
}

void emit_retiming_free(struct emit_retiming *retiming)
{
    mem_free(retiming->mem, retiming->gaps, (size_t)retiming->count * sizeof *retiming->gaps);
    retiming->gaps = NULL;
}
