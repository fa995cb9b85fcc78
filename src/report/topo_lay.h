/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a drawing is filled: the ways to lay a machine out, and what they share. For topo_drawing.c and the files of this
 * name alone.
 */
#ifndef ORR_REPORT_TOPO_LAY_H
#define ORR_REPORT_TOPO_LAY_H

#include "report/slots.h"
#include "report/topo_drawing.h"

enum {
    TOPO_LAY_MARGIN = 28,
    TOPO_LAY_HEAD = 84, /* title and legend */
    TOPO_LAY_GPU = 34,  /* from one GPU to the next */
    TOPO_LAY_SWITCH = 46,
};

/* A new box for the node, or one more node in the box `at`. */
uint32_t topo_lay_box(struct topo_drawing *drawing, uint32_t node, int32_t x, int32_t y);
void topo_lay_into(struct topo_drawing *drawing, uint32_t node, uint32_t at);
/* False when memory is refused. A NULL label is refused memory too. */
ORR_MUST_CHECK bool topo_lay_frame(struct topo_drawing *drawing, struct topo_frame frame);
ORR_MUST_CHECK bool topo_lay_words(struct topo_drawing *drawing, int32_t x, int32_t y, const char *text);

/* Each false when memory is refused. Hosts are the nodes 0 to `hosts` - 1, each alone or with node `hosts` + i as its
 * switch, with which it shares a box. */
ORR_MUST_CHECK bool topo_lay_circle(struct topo_drawing *drawing, uint32_t hosts);
ORR_MUST_CHECK bool topo_lay_grid(struct topo_drawing *drawing, uint32_t hosts);
/* Routers in groups, all with all in a group: whether the machine is one, and it laid out. */
ORR_MUST_CHECK bool topo_lay_groups(struct topo_drawing *drawing, const struct topo_neighbours *near, bool *laid);
ORR_MUST_CHECK bool topo_lay_tree(struct topo_drawing *drawing);

#endif
