/* SPDX-License-Identifier: Apache-2.0 */
/* Machines whose shape one knows by sight: circles, grids, groups on a circle. */
#include <inttypes.h>
#include <math.h>

#include "report/topo_lay.h"

enum {
    CIRCLE_ROOM = 40,
    GRID_ROOM = 12,  /* along a dimension, in two dimensions */
    CUBE_ROOM = 6,   /* in three */
    BLOCK_ROOM = 4,  /* blocks along a dimension beyond the third */
    GROUP_ROOM = 16, /* groups on their circle */
    ROUTER_ROOM = 4,
    STEP = 56,
    DEEP_X = 30, /* one step into the third dimension */
    DEEP_Y = 22,
    BLOCK_GAP = 60,
    GROUP_HEIGHT = 100,
};

/* A host's own switch is in its box. */
static void add_switch(struct topo_drawing *drawing, uint32_t host, uint32_t hosts)
{
    if (drawing->graph->node_count > hosts) {
        drawing->box_of[host + hosts] = drawing->box_of[host];
    }
}

/* The place `slot` of `slots` on a circle, the first on top. Rounded past ties, which the last bit would decide. */
static void on_circle(uint32_t slot, uint32_t slots, double radius, int32_t centre[2], int32_t at[2])
{
    double angle = 2 * 3.14159265358979323846 * ((double)slot + (slots == 8 ? 0.5 : 0)) / (double)slots;
    at[0] = centre[0] + (int32_t)floor(radius * sin(angle) + 0.500001);
    at[1] = centre[1] - (int32_t)floor(radius * cos(angle) + 0.500001);
}

bool topo_lay_circle(struct topo_drawing *drawing, uint32_t hosts)
{
    uint32_t slots = report_slots(hosts, CIRCLE_ROOM);
    double radius = slots < 8 ? 80 : (double)slots * 46 / 6.283;
    int32_t middle = (int32_t)radius + TOPO_LAY_MARGIN + TOPO_LAY_GPU;
    int32_t centre[2] = {middle < 240 ? 240 : middle, TOPO_LAY_HEAD + (int32_t)radius + TOPO_LAY_GPU / 2};
    for (uint32_t host = 0; host < hosts; host++) {
        uint32_t slot = report_slot(host, hosts, CIRCLE_ROOM);
        int32_t at[2];
        if (host > 0 && drawing->box_count > slot) {
            topo_lay_into(drawing, host, slot);
        } else {
            on_circle(slot, slots, radius, centre, at);
            (void)topo_lay_box(drawing, host, at[0], at[1]);
        }
        add_switch(drawing, host, hosts);
    }
    return true;
}

/* ---- grids ---- */

static uint32_t room_of(const struct topo_drawing *drawing, uint32_t dim)
{
    return dim >= 3 ? BLOCK_ROOM : drawing->dim_count == 2 ? GRID_ROOM : CUBE_ROOM;
}

/* What one step along each dimension is in the picture. The third goes back and to the right, so steps along the others
 * leave room for it; from the fourth on whole blocks stand beside and below each other. */
static void topo_shapes_find_steps(const struct topo_drawing *drawing, int32_t steps[][2])
{
    uint32_t slots[TOPO_DRAWING_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (uint32_t d = 0; d < drawing->dim_count; d++) {
        slots[d] = report_slots(drawing->dims[d], room_of(drawing, d));
    }
    int32_t deep = drawing->dim_count > 2 ? (int32_t)slots[2] : 0;
    int32_t step[2] = {deep > 0 ? DEEP_X * deep + 20 : STEP, deep > 0 ? DEEP_Y * deep + 20 : STEP};
    for (uint32_t d = 0; d < drawing->dim_count; d++) {
        if (d == 2) {
            steps[d][0] = DEEP_X;
            steps[d][1] = -DEEP_Y;
            continue;
        }
        uint32_t axis = d < 2 ? d : (d - 3) % 2;
        steps[d][axis] = step[axis];
        steps[d][1 - axis] = 0;
        step[axis] = step[axis] * (int32_t)slots[d] + (d < 2 ? BLOCK_GAP : BLOCK_GAP / 2);
    }
}

/* Boxes are made when the first node of a place comes; `box_at` is by place. */
static void place_grid(struct topo_drawing *drawing, uint32_t hosts, int32_t steps[][2], uint32_t *box_at)
{
    int32_t origin[2] = {TOPO_LAY_MARGIN + TOPO_LAY_GPU, TOPO_LAY_HEAD + TOPO_LAY_GPU};
    if (drawing->dim_count > 2) {
        origin[1] += DEEP_Y * (int32_t)(report_slots(drawing->dims[2], CUBE_ROOM) - 1);
    }
    for (uint32_t node = 0; node < hosts; node++) {
        int32_t at[2] = {origin[0], origin[1]};
        uint32_t rest = node;
        uint32_t place = 0;
        uint32_t stride = 1;
        for (uint32_t d = 0; d < drawing->dim_count; d++) {
            uint32_t size = drawing->dims[d];
            uint32_t slot = report_slot(rest % size, size, room_of(drawing, d));
            at[0] += (int32_t)slot * steps[d][0];
            at[1] += (int32_t)slot * steps[d][1];
            place += slot * stride;
            stride *= report_slots(size, room_of(drawing, d));
            rest /= size;
        }
        if (box_at[place] == TOPO_NOT_DRAWN) {
            box_at[place] = topo_lay_box(drawing, node, at[0], at[1]);
        } else {
            topo_lay_into(drawing, node, box_at[place]);
        }
        add_switch(drawing, node, hosts);
    }
}

bool topo_lay_grid(struct topo_drawing *drawing, uint32_t hosts)
{
    int32_t steps[TOPO_DRAWING_DIMS][2] = {{0}};
    uint32_t places = 1;
    for (uint32_t d = 0; d < drawing->dim_count; d++) {
        places *= report_slots(drawing->dims[d], room_of(drawing, d)); /* no more than there are hosts */
    }
    uint32_t *box_at = mem_alloc(drawing->mem, (size_t)places * sizeof *box_at);
    if (box_at == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < places; i++) {
        box_at[i] = TOPO_NOT_DRAWN;
    }
    topo_shapes_find_steps(drawing, steps);
    drawing->near_x = steps[0][0];
    drawing->near_y = steps[1][1];
    drawing->near_deep = DEEP_X;
    place_grid(drawing, hosts, steps, box_at);
    mem_free(drawing->mem, box_at, (size_t)places * sizeof *box_at);
    return true;
}

/* ---- groups of routers ---- */

static bool are_joined(const struct topo_neighbours *near, uint32_t a, uint32_t b)
{
    for (uint32_t i = near->start[a]; i < near->start[a + 1]; i++) {
        if (near->node[i] == b) {
            return true;
        }
    }
    return false;
}

/* Routers in a group, when the machine is nothing but groups of as many, each joined all with all, and hosts before
 * them; 0 when it is not. A machine of one group is none. */
static uint32_t topo_shapes_group_size(const struct topo_drawing *drawing, const struct topo_neighbours *near,
                                       uint32_t hosts)
{
    const struct topo_graph *graph = drawing->graph;
    uint32_t routers = graph->node_count - hosts;
    uint32_t size = 1;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if ((graph->kinds[node] == TOPO_NODE_HOST) != (node < hosts) || drawing->level[node] > 1) {
            return 0; /* a switch that no host is on, or an order of nodes that is not a generator's */
        }
    }
    while (size < routers && are_joined(near, hosts, hosts + size)) {
        size++;
    }
    if (size < 2 || routers % size != 0 || routers / size < 3) {
        return 0;
    }
    for (uint32_t router = 0; router < routers; router++) {
        for (uint32_t other = router + 1; other < routers && other < (router / size + 1) * size; other++) {
            if (!are_joined(near, hosts + router, hosts + other)) {
                return 0;
            }
        }
    }
    return size;
}

/* A node in the box of its place, which is made for the first of them. */
static void place_at(struct topo_drawing *drawing, uint32_t node, uint32_t *box, int32_t x, int32_t y)
{
    if (*box == TOPO_NOT_DRAWN) {
        *box = topo_lay_box(drawing, node, x, y);
    } else {
        topo_lay_into(drawing, node, *box);
    }
}

/* One group: its routers in a row, their hosts below. Groups that are left out share the boxes of one. */
static void topo_shapes_place_group(struct topo_drawing *drawing, const struct topo_neighbours *near, uint32_t first,
                                    uint32_t size, const int32_t at[2], uint32_t boxes[ROUTER_ROOM][2])
{
    uint32_t slots = report_slots(size, ROUTER_ROOM);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t slot = report_slot(i, size, ROUTER_ROOM);
        int32_t x = at[0] + (2 * (int32_t)slot - (int32_t)(slots - 1)) * TOPO_LAY_SWITCH / 2;
        place_at(drawing, first + i, &boxes[slot][0], x, at[1] - 8);
        for (uint32_t n = near->start[first + i]; n < near->start[first + i + 1]; n++) {
            uint32_t host = near->node[n];
            if (drawing->graph->kinds[host] == TOPO_NODE_HOST && drawing->box_of[host] == TOPO_NOT_DRAWN) {
                place_at(drawing, host, &boxes[slot][1], x, at[1] + 26);
            }
        }
    }
}

static bool frame_group(struct topo_drawing *drawing, uint32_t group, uint32_t folded, const int32_t at[2],
                        uint32_t slots)
{
    int32_t width = (int32_t)(slots < 3 ? 3 : slots) * TOPO_LAY_SWITCH + 12;
    const char *label = folded > 1 ? arena_printf(&drawing->arena, "%" PRIu32 " more groups", folded)
                                   : arena_printf(&drawing->arena, "group %" PRIu32, group);
    struct topo_frame frame = {at[0] - width / 2, at[1] - GROUP_HEIGHT / 2 + 4, width, GROUP_HEIGHT, label};
    return topo_lay_frame(drawing, frame);
}

bool topo_lay_groups(struct topo_drawing *drawing, const struct topo_neighbours *near, bool *laid)
{
    uint32_t hosts = 0;
    while (hosts < drawing->graph->node_count && drawing->graph->kinds[hosts] == TOPO_NODE_HOST) {
        hosts++;
    }
    uint32_t size = hosts < drawing->graph->node_count ? topo_shapes_group_size(drawing, near, hosts) : 0;
    *laid = size > 0;
    if (size == 0) {
        return true;
    }
    uint32_t groups = (drawing->graph->node_count - hosts) / size;
    uint32_t slots = report_slots(groups, GROUP_ROOM);
    uint32_t row = report_slots(size, ROUTER_ROOM);
    double radius = (double)slots * (double)((row < 3 ? 3 : row) * TOPO_LAY_SWITCH + 30) / 6.283;
    radius = radius < 170 ? 170 : radius;
    int32_t centre[2] = {(int32_t)radius + TOPO_LAY_MARGIN + 110, TOPO_LAY_HEAD + (int32_t)radius + GROUP_HEIGHT / 2};
    for (uint32_t group = 0; group < groups;) {
        uint32_t slot = report_slot(group, groups, GROUP_ROOM);
        uint32_t boxes[ROUTER_ROOM][2];
        uint32_t end = group + 1;
        int32_t at[2];
        for (uint32_t i = 0; i < ROUTER_ROOM; i++) {
            boxes[i][0] = boxes[i][1] = TOPO_NOT_DRAWN;
        }
        while (end < groups && report_slot(end, groups, GROUP_ROOM) == slot) {
            end++;
        }
        on_circle(slot, slots, radius, centre, at);
        for (uint32_t g = group; g < end; g++) {
            topo_shapes_place_group(drawing, near, hosts + g * size, size, at, boxes);
        }
        if (!frame_group(drawing, group, end - group, at, row)) {
            return false;
        }
        group = end;
    }
    return true;
}
