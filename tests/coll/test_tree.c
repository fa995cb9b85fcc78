/* SPDX-License-Identifier: Apache-2.0 */
/* The two trees, for every number of members; for powers of two, the shape of spec analytical §9.5 built the way the
 * spec says it. */
#include "coll/tree.h"
#include "tests/check.h"

enum { MOST = 64 };

static void a_parent_and_its_children_know_each_other(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= MOST; size++) {
        for (int last = 0; last <= 1; last++) {
            uint32_t edges = 0;
            for (uint32_t member = 0; member < size; member++) {
                struct coll_tree_place place = coll_tree_place(size, last != 0, member);
                CHECK(place.child_count <= 2, "member %u of %u has at most two children", member, size);
                edges += place.child_count;
                for (uint32_t i = 0; i < place.child_count; i++) {
                    CHECK(place.child[i] < size, "child %u of member %u of %u", place.child[i], member, size);
                    CHECK_U64(coll_tree_place(size, last != 0, place.child[i]).parent, member,
                              "the parent of member %u of %u", place.child[i], size);
                }
                CHECK(place.child_count < 2 || place.child[0] != place.child[1], "two children are two");
                for (uint32_t i = place.child_count; i < 2; i++) {
                    CHECK_U64(place.child[i], COLL_TREE_NONE, "no child is no member");
                }
            }
            CHECK_U64(edges, size - 1, "members with a parent among %u", size);
        }
    }
}

static void every_member_reaches_the_root(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= MOST; size++) {
        for (int last = 0; last <= 1; last++) {
            uint32_t root = last ? size - 1 : 0;
            uint32_t levels = 1;
            while (UINT32_C(1) << levels < size) {
                levels++;
            }
            for (uint32_t member = 0; member < size; member++) {
                uint32_t steps = 0;
                uint32_t at = member;
                while (at != root) {
                    at = coll_tree_place(size, last != 0, at).parent;
                    CHECK(at != COLL_TREE_NONE && ++steps <= levels, "member %u of %u is near the root", member, size);
                }
                CHECK_U64(coll_tree_place(size, last != 0, root).parent, COLL_TREE_NONE, "the root has no parent");
                CHECK_U64(coll_tree_place(size, last != 0, root).child_count, 1, "the root has one child");
            }
        }
    }
}

/* In order means: all of the left half, the node, all of the right half. */
static void children_stand_on_either_side_of_their_parent(void **state)
{
    (void)state;
    for (uint32_t size = 3; size <= MOST; size++) {
        for (uint32_t member = 1; member + 1 < size; member++) {
            struct coll_tree_place place = coll_tree_place(size, true, member);
            if (place.child_count == 2) {
                CHECK(place.child[0] < member && member < place.child[1], "member %u of %u", member, size);
            }
        }
    }
}

/* §9.5, word for word: a root with one perfect subtree, ids handed out by an in-order walk. */
struct shape {
    uint32_t parent[MOST];
    uint32_t left[MOST], right[MOST];
    uint32_t next_id;
};

static uint32_t walk_perfect(struct shape *shape, uint32_t levels)
{
    uint32_t left = levels > 1 ? walk_perfect(shape, levels - 1) : COLL_TREE_NONE;
    uint32_t id = shape->next_id++;
    uint32_t right = levels > 1 ? walk_perfect(shape, levels - 1) : COLL_TREE_NONE;
    shape->left[id] = left;
    shape->right[id] = right;
    if (levels > 1) {
        shape->parent[left] = id;
        shape->parent[right] = id;
    }
    return id;
}

static void build_shape(struct shape *shape, uint32_t size, bool root_max)
{
    uint32_t depth = 1;
    while (UINT32_C(1) << depth <= size) {
        depth++;
    }
    shape->next_id = 0;
    uint32_t root = root_max ? size - 1 : shape->next_id++;
    uint32_t top = walk_perfect(shape, depth - 1);
    shape->parent[top] = root;
    shape->parent[root] = COLL_TREE_NONE;
    shape->left[root] = top;
    shape->right[root] = COLL_TREE_NONE;
    CHECK_U64(shape->next_id + (root_max ? 1 : 0), size, "the shape has as many nodes as members");
}

static void a_power_of_two_has_the_shape_of_the_specification(void **state)
{
    (void)state;
    struct shape shape;
    for (uint32_t size = 2; size <= MOST; size *= 2) {
        for (int root_max = 0; root_max <= 1; root_max++) {
            build_shape(&shape, size, root_max != 0);
            for (uint32_t member = 0; member < size; member++) {
                struct coll_tree_place place = coll_tree_place(size, root_max != 0, member);
                CHECK_U64(place.parent, shape.parent[member], "parent of %u of %u", member, size);
                CHECK_U64(place.child[0], shape.left[member], "left child of %u of %u", member, size);
                CHECK_U64(place.child[1], shape.right[member], "right child of %u of %u", member, size);
            }
        }
    }
}

/* Other sizes are ours to choose; results depend on the choice, so it is written down. */
static void other_sizes_have_the_middle_of_their_members_on_top(void **state)
{
    (void)state;
    static const struct {
        uint32_t size;
        uint32_t first[7], second[7]; /* parents in the tree whose root is last, and first */
    } rows[] = {
        {3, {2, 0, COLL_TREE_NONE}, {COLL_TREE_NONE, 0, 1}},
        {5, {1, 4, 1, 2, COLL_TREE_NONE}, {COLL_TREE_NONE, 2, 0, 2, 3}},
        {6, {2, 0, 5, 2, 3, COLL_TREE_NONE}, {COLL_TREE_NONE, 3, 1, 0, 3, 4}},
        {7, {2, 0, 6, 4, 2, 4, COLL_TREE_NONE}, {COLL_TREE_NONE, 3, 1, 0, 5, 3, 5}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (uint32_t member = 0; member < rows[i].size; member++) {
            CHECK_U64(coll_tree_place(rows[i].size, true, member).parent, rows[i].first[member],
                      "first tree of %u, member %u", rows[i].size, member);
            CHECK_U64(coll_tree_place(rows[i].size, false, member).parent, rows[i].second[member],
                      "second tree of %u, member %u", rows[i].size, member);
        }
    }
}

static void leaves_of_one_tree_are_inner_nodes_of_the_other(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= MOST; size *= 2) {
        for (uint32_t member = 0; member < size; member++) {
            bool leaf = coll_tree_place(size, true, member).child_count == 0;
            bool other = coll_tree_place(size, false, member).child_count == 0;
            CHECK(leaf != other, "member %u of %u is a leaf in exactly one tree", member, size);
        }
    }
}

TEST_MAIN(a_parent_and_its_children_know_each_other, every_member_reaches_the_root,
          children_stand_on_either_side_of_their_parent, a_power_of_two_has_the_shape_of_the_specification,
          other_sizes_have_the_middle_of_their_members_on_top, leaves_of_one_tree_are_inner_nodes_of_the_other)
