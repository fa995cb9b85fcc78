/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings, meshes and tori of any dimension, twisted or not. Every GPU has a switch of its own, because hosts do not
 * forward on any network of the field; with direct they are joined without one, and only neighbours can then talk on
 * packet networks.
 *
 * A GPU's number is its coordinates with dimension 0 varying fastest (spec rocm §1.8), and its switch has that number
 * plus the number of GPUs. Links come GPU by GPU: its own switch, then the dimensions from the last to the first, each
 * towards the higher neighbour. A dimension of two has one link, not two.
 */
#ifndef ORR_TOPO_MAKE_GRID_H
#define ORR_TOPO_MAKE_GRID_H

#include "topo/make/made.h"

enum topo_grid { TOPO_GRID_RING, TOPO_GRID_MESH, TOPO_GRID_TORUS, TOPO_GRID_TWISTED };

/*
 * A twist D:E:S of dimension D: the link that leaves its last coordinate arrives at its first one, moved by S along
 * dimension E. Where nothing is said, a twisted torus has 0:1:1.
 */
ORR_MUST_CHECK enum orr_status topo_grid_make(enum topo_grid grid, const struct topo_settings *settings,
                                              struct topo_made *made, struct mem *mem, struct orr_error *err);

/* "4x4x8": at most TOPO_MAX_DIMS sizes of at least 1, whose product is at most TOPO_NODES_MOST. `what` begins the
 * message of an error. */
ORR_MUST_CHECK enum orr_status topo_dims_read(const char *what, const char *text, uint32_t *dims, uint32_t *count,
                                              struct orr_error *err);

#endif
