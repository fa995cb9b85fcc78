/* SPDX-License-Identifier: Apache-2.0 */
/* Named machines that are levels of switches over servers: what their settings mean in terms of topo/make/levels.h. */
#ifndef ORR_TOPO_MAKE_TREE_H
#define ORR_TOPO_MAKE_TREE_H

#include "topo/make/made.h"
#include "topo/make/server.h"

/* Nodes of one make; more than one are on rails below spines. */
ORR_MUST_CHECK enum orr_status topo_tree_servers(const struct topo_server *server, const struct topo_settings *settings,
                                                 struct topo_made *made, struct mem *mem, struct orr_error *err);
/* Rails without spines; GPUs forward, so that all reach all over their own server's NVSwitch. */
ORR_MUST_CHECK enum orr_status topo_tree_rail_only(const struct topo_settings *settings, struct topo_made *made,
                                                   struct mem *mem, struct orr_error *err);
ORR_MUST_CHECK enum orr_status topo_tree_switch(const struct topo_settings *settings, struct topo_made *made,
                                                struct mem *mem, struct orr_error *err);
/*
 * Switches of arity K ports in levels L: K/2 down and K/2 up, at the top all down, 2 (K/2)^L GPUs; with
 * oversubscription R:1 the first level has R of R + 1 ports down. Fewer hosts leave the last groups unfilled. With
 * per-leaf, leaves or spines it is two levels of the switches named, each leaf on each spine.
 */
ORR_MUST_CHECK enum orr_status topo_tree_fat(const struct topo_settings *settings, struct topo_made *made,
                                             struct mem *mem, struct orr_error *err);
ORR_MUST_CHECK enum orr_status topo_tree_line(const char *line, const struct topo_settings *settings,
                                              struct topo_made *made, struct mem *mem, struct orr_error *err);

#endif
