/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a stream's nodes. A stream does one thing after the other, and what it does next waits for what it did
 * last. Yet nodes of one stream are recorded side by side: the branches of a graph carry the stream it was launched on,
 * and a kernel may begin while the one before it ends (programmatic launches, rounded times).
 *
 * A kernel that began a little early still comes behind the other and keeps the time it took after it. One that ran
 * beside another goes to a side of the stream: a lane of its own that comes behind what had ended when it started. What
 * next runs on the stream itself waits for the sides that have ended by then.
 */
#include "convert/pytorch/link/work.h"

enum { SIDES_MOST = 64 };

struct side {
    uint32_t last, before; /* nodes, LINKED_NONE */
    bool joined;           /* the stream itself has waited for `last` */
};

/* A rounded microsecond, or less than half of what it took. */
static bool is_early_start(int64_t overlap_ns, int64_t duration_ns)
{
    enum { ROUNDED_NS = 1000 };
    return overlap_ns <= duration_ns && (overlap_ns <= ROUNDED_NS || overlap_ns <= duration_ns / 2);
}

static int64_t link_sides_end_of(const struct link_work *work, uint32_t node)
{
    return node == LINKED_NONE ? INT64_MIN : work->ends[node];
}

/* The side, from 1 on, that is free at a time; the last one where there are too many. */
static uint32_t free_side(const struct link_work *work, const struct side *sides, uint32_t *count, int64_t time_ns)
{
    for (uint32_t i = 1; i < *count; i++) {
        if (link_sides_end_of(work, sides[i].last) <= time_ns) {
            return i;
        }
    }
    *count += *count < SIDES_MOST;
    return *count - 1;
}

static void come_behind(struct link_work *work, uint32_t node, const struct side *sides, uint32_t count)
{
    uint32_t latest = LINKED_NONE;
    int64_t start = work->out->nodes[node].start_ns;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = link_sides_end_of(work, sides[i].last) <= start ? sides[i].last : sides[i].before;
        if (last != LINKED_NONE && work->ends[last] <= start && link_sides_end_of(work, latest) < work->ends[last]) {
            latest = last;
        }
    }
    link_edge_add(work, node, latest);
}

void link_order_lane(struct link_work *work, const uint32_t *nodes, uint32_t count)
{
    struct side sides[SIDES_MOST];
    uint32_t side_count = 1;
    for (uint32_t i = 0; i < SIDES_MOST; i++) {
        sides[i] = (struct side){.last = LINKED_NONE, .before = LINKED_NONE};
    }
    for (uint32_t n = 0; n < count && !work->refused; n++) {
        uint32_t at = nodes[n];
        struct linked_node *node = &work->out->nodes[at];
        int64_t overlap = sides[0].last == LINKED_NONE ? 0 : link_sides_end_of(work, sides[0].last) - node->start_ns;
        bool beside = overlap > 0 && !is_early_start(overlap, node->duration_ns);
        uint32_t side = beside ? free_side(work, sides, &side_count, node->start_ns) : 0;
        if (side > 0) {
            come_behind(work, at, sides, side_count);
            link_edge_add(work, at, sides[side].last);
        } else {
            link_edge_add(work, at, sides[0].last);
            for (uint32_t i = 1; i < side_count; i++) {
                if (!sides[i].joined && link_sides_end_of(work, sides[i].last) <= node->start_ns) {
                    link_edge_add(work, at, sides[i].last);
                    sides[i].joined = true;
                }
            }
            if (sides[0].last != LINKED_NONE && overlap > 0) {
                node->start_ns += overlap;
                node->duration_ns -= overlap < node->duration_ns ? overlap : node->duration_ns;
            }
        }
        sides[side] = (struct side){.last = at, .before = sides[side].last};
        work->sides[at - work->op_total] = side;
    }
}

/* Nodes on a side, by stream and side. */
static uint32_t list_sides(const struct link_work *work, struct link_key *keys)
{
    const struct linked_trace *out = work->out;
    uint32_t count = 0;
    for (uint32_t i = work->op_total; i < out->node_count; i++) {
        uint32_t side = link_is_device(work, i) ? work->sides[i - work->op_total] : 0;
        if (side > 0) {
            if (keys != NULL) {
                keys[count] = (struct link_key){.key = (int64_t)out->nodes[i].lane * SIDES_MOST + side, .value = i};
            }
            count++;
        }
    }
    return count;
}

void link_sides(struct link_work *work)
{
    struct linked_trace *out = work->out;
    uint32_t count = work->sides == NULL ? 0 : list_sides(work, NULL);
    struct link_key *keys = count == 0 ? NULL : link_alloc(work, count, sizeof *keys);
    if (keys == NULL) {
        return;
    }
    (void)list_sides(work, keys);
    link_keys_sort(keys, count);
    uint32_t lane = 0;
    for (uint32_t i = 0; i < count && !work->refused; i++) {
        struct linked_node *node = &out->nodes[keys[i].value];
        if (i == 0 || keys[i].key != keys[i - 1].key) {
            lane = link_lane_add(work, out->lanes[node->lane].text, out->lanes[node->lane].stream);
        }
        node->lane = lane;
    }
}
