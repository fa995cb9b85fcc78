/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that are neither grids nor levels: all GPUs joined to all, and the dragonfly. */
#ifndef ORR_TOPO_MAKE_SHAPES_H
#define ORR_TOPO_MAKE_SHAPES_H

#include "topo/make/made.h"

/* Hosts, each pair by a link of its own. */
ORR_MUST_CHECK enum orr_status topo_fully_connected_make(const struct topo_settings *settings, struct topo_made *made,
                                                         struct mem *mem, struct orr_error *err);

/*
 * Groups of routers (Kim et al., ISCA 2008): routers A in a group, all joined to all; per-router P GPUs on each;
 * global-links H of each to other groups; groups G, at most A * H + 1, which is also what it is where nothing is
 * said. Where nothing is said P = H = A / 2.
 */
ORR_MUST_CHECK enum orr_status topo_dragonfly_make(const struct topo_settings *settings, struct topo_made *made,
                                                   struct mem *mem, struct orr_error *err);

#endif
