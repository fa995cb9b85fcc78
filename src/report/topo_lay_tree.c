/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes in boxes. A machine falls into parts when its upper switches are taken away: first the highest level, then the
 * next, down to servers and single GPUs. Put together from below: hosts and the switches inside servers give servers;
 * servers and the switches of level 1 what hangs together on that level; and so on to the whole. A part is drawn as a
 * frame with its own switches in a row on top (a server's own below its GPUs) and its parts side by side beneath. Of
 * parts that are alike, as far as counts and links go, as many are drawn as the page's width has room for.
 */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/sets.h"
#include "report/number.h"
#include "report/topo_lay.h"

enum {
    NONE = UINT32_MAX,
    STAGES = 6, /* servers, and the levels of switches told apart */
    HOSTS_ROOM = 8,
    OWN_ROOM = 8,
    CLASSES = 6, /* of parts that differ, in one part; the rest is one more */
    PAD = 10,
    LABEL = 20,
    GAP = 84,
    INNER_GAP = 46,
    ROW = 24,
    GHOST = 100,
    APART = 12,
};

struct part {
    uint64_t likeness;
    uint64_t rate_least, rate_most; /* of links from its own switches down; 0: none */
    uint32_t links;                 /* of those */
    uint32_t first;                 /* host, of a part that is one */
    uint32_t child, last, next, children;
    uint32_t own, own_count; /* switches, a list by `next_own` */
    uint32_t hosts, nodes;
    uint8_t stage;
    bool is_host;
};

struct tree {
    struct topo_drawing *drawing;
    struct part *parts;
    uint32_t part_count, part_room;
    uint32_t *above;           /* by node: union-find, the least node of a set is its name */
    uint32_t *top;             /* by node that names a set: its part; NONE */
    uint32_t *next_own;        /* by node */
    uint32_t *part_of;         /* by switch: whose own it is */
    uint8_t *stage_of;         /* by node: from which stage on it counts */
    uint32_t room[STAGES + 1]; /* parts alike drawn, by their stage */
    uint32_t root;
};

/* ---- which parts there are ---- */

/* A switch inside a server: all its links are to hosts, of which each has none faster and one that is slower. */
static bool is_inner(const struct topo_graph *graph, uint32_t node)
{
    if (graph->kinds[node] == TOPO_NODE_NVSWITCH) {
        return true;
    }
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint32_t host = graph->ports[graph->ports[port].peer].node;
        uint64_t rate = graph->links[graph->ports[port].link].rate_bps;
        bool has_slower = false;
        if (graph->kinds[host] != TOPO_NODE_HOST) {
            return false;
        }
        for (uint32_t i = graph->port_start[host]; i < graph->port_start[host + 1]; i++) {
            uint64_t other = graph->links[graph->ports[i].link].rate_bps;
            has_slower = has_slower || other < rate;
            if (other > rate) {
                return false;
            }
        }
        if (!has_slower) {
            return false;
        }
    }
    return graph->port_start[node + 1] > graph->port_start[node];
}

static void tree_find_stages(struct tree *tree)
{
    const struct topo_graph *graph = tree->drawing->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint8_t level = tree->drawing->level[node];
        bool low = graph->kinds[node] == TOPO_NODE_HOST || is_inner(graph, node);
        tree->stage_of[node] = low ? 0 : level >= STAGES ? STAGES - 1 : level == 0 ? 1 : level;
    }
}

static uint32_t new_part(struct tree *tree, uint8_t stage)
{
    if (!MEM_GROW(tree->drawing->mem, tree->parts, tree->part_room, tree->part_count)) {
        return NONE;
    }
    tree->parts[tree->part_count] =
        (struct part){.child = NONE, .last = NONE, .next = NONE, .own = NONE, .stage = stage};
    return tree->part_count++;
}

static void adopt(struct tree *tree, uint32_t parent, uint32_t child)
{
    struct part *part = &tree->parts[parent];
    if (part->last == NONE) {
        part->child = child;
    } else {
        tree->parts[part->last].next = child;
    }
    part->last = child;
    part->children++;
    part->hosts += tree->parts[child].hosts;
    part->nodes += tree->parts[child].nodes;
}

/* The part of the set at this stage, which is a new one around what was there; NONE when memory is refused. */
static uint32_t part_at(struct tree *tree, uint32_t set, uint8_t stage)
{
    uint32_t old = tree->top[set];
    if (old != NONE && !tree->parts[old].is_host && tree->parts[old].stage == stage) {
        return old;
    }
    uint32_t part = new_part(tree, stage);
    if (part != NONE && old != NONE) {
        adopt(tree, part, old);
    }
    if (part != NONE) {
        tree->top[set] = part;
    }
    return part;
}

/* Sets grow by the links of this stage. Their parts so far, in `tops` by their least node, become parts of one. */
static bool join_stage(struct tree *tree, uint8_t stage)
{
    const struct topo_graph *graph = tree->drawing->graph;
    uint32_t *before = mem_alloc(tree->drawing->mem, (size_t)graph->node_count * sizeof *before);
    if (before == NULL) {
        return false;
    }
    memcpy(before, tree->top, (size_t)graph->node_count * sizeof *before);
    memset(tree->top, 0xff, (size_t)graph->node_count * sizeof *before);
    for (uint32_t i = 0; i < graph->link_count; i++) {
        const struct topo_link *link = &graph->links[i];
        if (tree->stage_of[link->a] <= stage && tree->stage_of[link->b] <= stage) {
            uint32_t a = sets_find(tree->above, link->a);
            uint32_t b = sets_find(tree->above, link->b);
            tree->above[a > b ? a : b] = a > b ? b : a;
        }
    }
    bool enough = true;
    for (uint32_t node = 0; enough && node < graph->node_count; node++) {
        uint32_t set = sets_find(tree->above, node);
        if (before[node] != NONE && tree->top[set] == NONE) {
            tree->top[set] = before[node]; /* alone so far: it stays what it is */
        } else if (before[node] != NONE) {
            uint32_t part = part_at(tree, set, stage);
            enough = part != NONE;
            if (enough) {
                adopt(tree, part, before[node]);
            }
        }
    }
    for (uint32_t node = graph->node_count; enough && node-- > 0;) { /* backwards: lists begin with the least */
        if (graph->kinds[node] != TOPO_NODE_HOST && tree->stage_of[node] == stage) {
            uint32_t part = part_at(tree, sets_find(tree->above, node), stage);
            enough = part != NONE;
            if (enough) {
                tree->next_own[node] = tree->parts[part].own;
                tree->parts[part].own = node;
                tree->parts[part].own_count++;
                tree->parts[part].nodes++;
                tree->part_of[node] = part;
            }
        }
    }
    mem_free(tree->drawing->mem, before, (size_t)graph->node_count * sizeof *before);
    return enough;
}

/* All sets that are left, side by side. */
static bool tree_find_root(struct tree *tree)
{
    uint32_t nodes = tree->drawing->graph->node_count;
    uint32_t found = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        if (tree->top[node] != NONE) {
            tree->root = tree->top[node];
            found++;
        }
    }
    if (found == 1 && !tree->parts[tree->root].is_host) {
        return true;
    }
    tree->root = new_part(tree, STAGES);
    for (uint32_t node = 0; tree->root != NONE && node < nodes; node++) {
        if (tree->top[node] != NONE) {
            adopt(tree, tree->root, tree->top[node]);
        }
    }
    return tree->root != NONE;
}

static bool tree_find_parts(struct tree *tree)
{
    const struct topo_graph *graph = tree->drawing->graph;
    tree_find_stages(tree);
    memset(tree->top, 0xff, (size_t)graph->node_count * sizeof *tree->top);
    memset(tree->part_of, 0xff, (size_t)graph->node_count * sizeof *tree->part_of);
    for (uint32_t node = 0; node < graph->node_count; node++) {
        tree->above[node] = node;
        if (graph->kinds[node] == TOPO_NODE_HOST) {
            uint32_t part = new_part(tree, 0);
            if (part == NONE) {
                return false;
            }
            tree->parts[part].is_host = true;
            tree->parts[part].first = node;
            tree->parts[part].hosts = tree->parts[part].nodes = 1;
            tree->top[node] = part;
        }
    }
    for (uint8_t stage = 0; stage < STAGES; stage++) {
        if (!join_stage(tree, stage)) {
            return false;
        }
    }
    return tree_find_root(tree);
}

/* ---- which are alike ---- */

/* Links from a part's own switches down are told in its frame. */
static void count_links(struct tree *tree)
{
    const struct topo_graph *graph = tree->drawing->graph;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        const struct topo_link *link = &graph->links[i];
        bool a_above = tree->stage_of[link->a] > tree->stage_of[link->b] ||
                       (graph->kinds[link->a] != TOPO_NODE_HOST && graph->kinds[link->b] == TOPO_NODE_HOST);
        uint32_t upper = a_above ? link->a : link->b;
        uint32_t lower = a_above ? link->b : link->a;
        if (tree->part_of[upper] == NONE || tree->part_of[upper] == tree->part_of[lower]) {
            continue; /* between hosts, or between switches of one row */
        }
        struct part *part = &tree->parts[tree->part_of[upper]];
        part->links++;
        part->rate_least =
            part->rate_least == 0 || link->rate_bps < part->rate_least ? link->rate_bps : part->rate_least;
        part->rate_most = link->rate_bps > part->rate_most ? link->rate_bps : part->rate_most;
    }
}

/* Parts come before the ones they are in. */
static void find_likenesses(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->part_count; i++) {
        struct part *part = &tree->parts[i];
        uint64_t sum = map_mix(part->stage + 1u) + map_mix(part->own_count + UINT64_C(1000)) + map_mix(part->links) +
                       map_mix(part->rate_least) + map_mix(part->rate_most ^ 1);
        for (uint32_t child = part->child; child != NONE; child = tree->parts[child].next) {
            sum += map_mix(tree->parts[child].likeness);
        }
        part->likeness = map_mix(sum);
    }
}

/* ---- how large they are ---- */

struct extent {
    int32_t width, height;
};

/* Goes through the parts of a part: which are drawn, and after the last that is of its kind, how many are not. */
struct walk {
    uint64_t likeness[CLASSES];
    uint32_t seen[CLASSES + 1];
    uint32_t classes;
};

static uint32_t tree_class_of(struct walk *walk, uint64_t likeness)
{
    uint32_t class = 0;
    while (class < walk->classes && walk->likeness[class] != likeness) {
        class ++;
    }
    if (class == walk->classes && class < CLASSES) {
        walk->likeness[walk->classes++] = likeness;
    }
    return class;
}

static uint32_t room_for(const struct tree *tree, const struct part *child, uint32_t siblings)
{
    if (child->is_host) {
        return siblings <= 2 * HOSTS_ROOM ? siblings : HOSTS_ROOM;
    }
    return tree->room[child->stage];
}

static uint32_t own_slots(const struct part *part)
{
    return report_slots(part->own_count, OWN_ROOM);
}

static struct extent measure_part(const struct tree *tree, uint32_t at);

/* The parts side by side, with a place for those that are left out. */
static struct extent measure_children(const struct tree *tree, const struct part *part)
{
    struct walk walk = {.classes = 0};
    struct extent row = {0, 0};
    bool left_out = false;
    for (uint32_t child = part->child; child != NONE; child = tree->parts[child].next) {
        uint32_t class = tree_class_of(&walk, tree->parts[child].likeness);
        if (walk.seen[class]++ >= room_for(tree, &tree->parts[child], part->children)) {
            left_out = true;
            continue;
        }
        struct extent size = measure_part(tree, child);
        row.width += size.width + (tree->parts[child].is_host ? 0 : APART);
        row.height = size.height > row.height ? size.height : row.height;
    }
    row.width += left_out ? GHOST : 0;
    row.height = left_out && row.height < ROW ? ROW : row.height;
    return row;
}

static int32_t gap_of(const struct part *part)
{
    return part->own_count == 0 || part->children == 0 ? 0 : part->stage == 0 ? INNER_GAP : GAP;
}

static struct extent measure_part(const struct tree *tree, uint32_t at)
{
    const struct part *part = &tree->parts[at];
    if (part->is_host) {
        return (struct extent){TOPO_LAY_GPU, ROW};
    }
    struct extent size = measure_children(tree, part);
    int32_t own = (int32_t)own_slots(part) * TOPO_LAY_SWITCH;
    size.width = size.width > own ? size.width : own;
    size.width = size.width < 190 ? 190 : size.width; /* room for the words */
    size.width += 2 * PAD;
    size.height += LABEL + PAD + gap_of(part) + (part->own_count > 0 ? ROW : 0);
    return size;
}

/* More of each stage, from the servers up and again, as long as the page has room. */
static void find_room(struct tree *tree)
{
    bool more = true;
    for (uint32_t i = 0; i <= STAGES; i++) {
        tree->room[i] = 1;
    }
    while (more) {
        more = false;
        for (uint32_t stage = 0; stage <= STAGES; stage++) {
            if (tree->room[stage] >= 2 * OWN_ROOM) {
                continue;
            }
            tree->room[stage]++;
            if (measure_part(tree, tree->root).width > TOPO_DRAWING_WIDTH - 2 * TOPO_LAY_MARGIN) {
                tree->room[stage]--;
            } else {
                more = true;
            }
        }
    }
}

/* ---- where they stand ---- */

/* "8 x 400 Gbps to each", or the total where they differ. */
static const char *links_text(struct tree *tree, const struct part *part)
{
    struct arena *arena = &tree->drawing->arena;
    struct report_number most = report_short((double)part->rate_most / 1e9);
    if (part->rate_least != part->rate_most) {
        return arena_printf(arena, "%" PRIu32 " links of %s to %s Gbps", part->links,
                            report_short((double)part->rate_least / 1e9).text, most.text);
    }
    if (part->children > 1 && part->links % part->children == 0) {
        return arena_printf(arena, "%" PRIu32 " x %s Gbps to each", part->links / part->children, most.text);
    }
    return arena_printf(arena, "%" PRIu32 " links of %s Gbps", part->links, most.text);
}

static const char *label_of(struct tree *tree, const struct part *part, uint32_t alike)
{
    struct arena *arena = &tree->drawing->arena;
    const char *name = part->stage > 0 ? (part->stage == 1 ? "block" : "pod") : part->hosts <= 16 ? "server" : "rack";
    const char *inside =
        part->stage > 0 || part->links == 0
            ? ""
            : arena_printf(arena, ", %s Gbps a link", report_short((double)part->rate_most / 1e9).text);
    if (inside == NULL) {
        return NULL;
    }
    return alike > 1
               ? arena_printf(arena, "%s (1 of %" PRIu32 "), %" PRIu32 " GPUs%s", name, alike, part->hosts, inside)
               : arena_printf(arena, "%s, %" PRIu32 " GPUs%s", name, part->hosts, inside);
}

/* Everything in a part is in one box. */
static void fold_part(struct tree *tree, uint32_t at, uint32_t *box, int32_t x, int32_t y)
{
    const struct part *part = &tree->parts[at];
    uint32_t node = part->is_host ? part->first : part->own;
    while (node != NONE) {
        if (*box == NONE) {
            *box = topo_lay_box(tree->drawing, node, x, y);
        } else {
            topo_lay_into(tree->drawing, node, *box);
        }
        node = part->is_host ? NONE : tree->next_own[node];
    }
    for (uint32_t child = part->child; child != NONE; child = tree->parts[child].next) {
        fold_part(tree, child, box, x, y);
    }
}

static void place_own(struct tree *tree, const struct part *part, int32_t left, int32_t width, int32_t y)
{
    uint32_t slots = own_slots(part);
    uint32_t index = 0;
    uint32_t last = NONE;
    uint32_t last_slot = NONE;
    for (uint32_t node = part->own; node != NONE; node = tree->next_own[node], index++) {
        uint32_t slot = report_slot(index, part->own_count, OWN_ROOM);
        int32_t x = left + width / 2 + (2 * (int32_t)slot - (int32_t)(slots - 1)) * TOPO_LAY_SWITCH / 2;
        if (slot == last_slot) {
            topo_lay_into(tree->drawing, node, last);
        } else {
            last = topo_lay_box(tree->drawing, node, x, y);
            last_slot = slot;
        }
    }
}

static bool place_part(struct tree *tree, uint32_t at, int32_t x, int32_t y, uint32_t alike);

/* How many of the parts are like each, for the words in their frames. */
static void count_classes(const struct tree *tree, const struct part *part, struct walk *walk)
{
    for (uint32_t child = part->child; child != NONE; child = tree->parts[child].next) {
        walk->seen[tree_class_of(walk, tree->parts[child].likeness)]++;
    }
}

static bool place_children(struct tree *tree, uint32_t parent, int32_t x, int32_t y)
{
    struct part *part = &tree->parts[parent];
    struct walk all = {.classes = 0};
    struct walk walk = {.classes = 0};
    struct extent row = measure_children(tree, part);
    uint32_t box = NONE;
    uint32_t folded = 0;
    int32_t ghost[2] = {x + row.width - GHOST / 2, y + (row.height < 120 ? row.height / 2 : 60)};
    bool enough = true;
    count_classes(tree, part, &all);
    for (uint32_t child = part->child; enough && child != NONE; child = tree->parts[child].next) {
        uint32_t class = tree_class_of(&walk, tree->parts[child].likeness);
        if (walk.seen[class]++ >= room_for(tree, &tree->parts[child], part->children)) {
            fold_part(tree, child, &box, ghost[0], ghost[1]);
            folded++;
            continue;
        }
        struct extent size = measure_part(tree, child);
        enough = place_part(tree, child, x, y, walk.seen[class] == 1 ? all.seen[class] : 1);
        x += size.width + (tree->parts[child].is_host ? 0 : APART);
    }
    if (enough && folded > 0 && !tree->parts[part->child].is_host) {
        enough = topo_lay_words(tree->drawing, ghost[0] - 36, ghost[1] + ROW,
                                arena_printf(&tree->drawing->arena, "and %" PRIu32 " more", folded));
    }
    return enough;
}

static bool place_part(struct tree *tree, uint32_t at, int32_t x, int32_t y, uint32_t alike)
{
    struct part *part = &tree->parts[at];
    struct extent size = measure_part(tree, at);
    if (part->is_host) {
        (void)topo_lay_box(tree->drawing, part->first, x + TOPO_LAY_GPU / 2, y + ROW / 2);
        return true;
    }
    struct extent row = measure_children(tree, part);
    int32_t inner = x + (size.width - row.width) / 2;
    int32_t top = y + LABEL;
    bool is_server = part->stage == 0;
    int32_t own = is_server ? top + row.height + gap_of(part) + ROW / 2 : top + ROW / 2;
    if (part->own_count > 0) {
        place_own(tree, part, x, size.width, own);
    }
    if (at != tree->root && !topo_lay_frame(tree->drawing, (struct topo_frame){x, y, size.width, size.height,
                                                                               label_of(tree, part, alike)})) {
        return false;
    }
    if (!is_server && part->links > 0 &&
        !topo_lay_words(tree->drawing, x + PAD, own + ROW / 2 + 14, links_text(tree, part))) {
        return false;
    }
    return place_children(tree, at, inner, is_server || part->own_count == 0 ? top : top + ROW + gap_of(part));
}

bool topo_lay_tree(struct topo_drawing *drawing)
{
    size_t nodes = drawing->graph->node_count;
    struct tree tree = {.drawing = drawing};
    uint32_t **lists[] = {&tree.above, &tree.top, &tree.next_own, &tree.part_of};
    bool enough = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = mem_alloc(drawing->mem, nodes * sizeof **lists[i]);
        enough = enough && *lists[i] != NULL;
    }
    tree.stage_of = mem_alloc(drawing->mem, nodes);
    enough = enough && tree.stage_of != NULL && tree_find_parts(&tree);
    if (enough) {
        count_links(&tree);
        find_likenesses(&tree);
        find_room(&tree);
        enough = place_part(&tree, tree.root, TOPO_LAY_MARGIN, TOPO_LAY_HEAD - LABEL, 1);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        mem_free(drawing->mem, *lists[i], nodes * sizeof **lists[i]);
    }
    mem_free(drawing->mem, tree.stage_of, nodes);
    mem_free(drawing->mem, tree.parts, tree.part_room * sizeof *tree.parts);
    return enough;
}
