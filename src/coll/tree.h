/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two trees of the double binary tree all-reduce (spec analytical §9.5), for any number of members. Members are
 * numbered in the order of an in-order walk. A root has one child, the top of a balanced tree over all others; in the
 * first tree the root is the last member, in the second the first, so that (for powers of two) leaves of one are inner
 * nodes of the other.
 */
#ifndef ORR_COLL_TREE_H
#define ORR_COLL_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum { COLL_TREE_NONE = UINT32_MAX };

struct coll_tree_place {
    uint32_t parent;      /* COLL_TREE_NONE for the root */
    uint32_t child[2];    /* left, right; filled from the front */
    uint32_t child_count; /* 0, 1 or 2 */
};

/* Where member `index` of `size` (at least 2) stands in the tree whose root is the last (`root_last`) or first member.
 */
struct coll_tree_place coll_tree_place(uint32_t size, bool root_last, uint32_t index);

#endif
