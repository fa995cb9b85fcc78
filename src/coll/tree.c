/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The balanced tree over members lo..hi has its top in the middle, (lo+hi)/2, and the halves below it. For 2^k - 1
 * members that is the perfect tree that ASTRA-sim builds; for any other number it is the same tree with some last-level
 * nodes missing, where ASTRA-sim runs off its arrays. Found by descent, so no tree is ever stored.
 */
#include "coll/tree.h"

static uint32_t tree_middle(uint32_t lo, uint32_t hi)
{
    return lo + (hi - lo) / 2;
}

struct coll_tree_place coll_tree_place(uint32_t size, bool root_last, uint32_t index)
{
    uint32_t root = root_last ? size - 1 : 0;
    uint32_t lo = root_last ? 0 : 1;
    uint32_t hi = root_last ? size - 2 : size - 1; /* members below the root: lo..hi, never empty */
    struct coll_tree_place place = {.parent = COLL_TREE_NONE, .child = {COLL_TREE_NONE, COLL_TREE_NONE}};
    if (index == root) {
        place.child[place.child_count++] = tree_middle(lo, hi);
        return place;
    }
    uint32_t parent = root;
    for (;;) {
        uint32_t top = tree_middle(lo, hi);
        if (top == index) {
            place.parent = parent;
            if (top > lo) {
                place.child[place.child_count++] = tree_middle(lo, top - 1);
            }
            if (top < hi) {
                place.child[place.child_count++] = tree_middle(top + 1, hi);
            }
            return place;
        }
        parent = top;
        if (index < top) {
            hi = top - 1;
        } else {
            lo = top + 1;
        }
    }
}
