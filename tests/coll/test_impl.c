/* SPDX-License-Identifier: Apache-2.0 */
/* The names of algorithms and collectives, as system files and traces spell them. */
#include "coll/impl.h"
#include "tests/check.h"

static void every_accepted_name_means_its_algorithm(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct coll_impl want;
    } names[] = {
        {"ring", {COLL_RING, false, 0, COLL_NCCL_AUTO}},
        {"oneRing", {COLL_RING, true, 0, COLL_NCCL_AUTO}},
        {"direct", {COLL_DIRECT, false, 0, COLL_NCCL_AUTO}},
        {"direct1", {COLL_DIRECT, false, 1, COLL_NCCL_AUTO}},
        {"direct2147483647", {COLL_DIRECT, false, INT32_MAX, COLL_NCCL_AUTO}},
        {"oneDirect", {COLL_DIRECT, true, 0, COLL_NCCL_AUTO}},
        {"oneDirect12", {COLL_DIRECT, true, 12, COLL_NCCL_AUTO}},
        {"halvingDoubling", {COLL_HALVING_DOUBLING, false, 0, COLL_NCCL_AUTO}},
        {"oneHalvingDoubling", {COLL_HALVING_DOUBLING, true, 0, COLL_NCCL_AUTO}},
        {"doubleBinaryTree", {COLL_DOUBLE_BINARY_TREE, false, 0, COLL_NCCL_AUTO}},
        {"nccl", {COLL_NCCL, true, 0, COLL_NCCL_AUTO}},
        {"ncclRing", {COLL_NCCL, true, 0, COLL_NCCL_RING}},
        {"ncclTree", {COLL_NCCL, true, 0, COLL_NCCL_TREE}},
        {"ncclNvls", {COLL_NCCL, true, 0, COLL_NCCL_NVLS}},
        {"ncclCollnet", {COLL_NCCL, true, 0, COLL_NCCL_COLLNET}},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct coll_impl got = {0};
        CHECK(coll_impl_parse(names[i].text, &got), "%s", names[i].text);
        CHECK_U64(got.algo, names[i].want.algo, "%s", names[i].text);
        CHECK_U64(got.one, names[i].want.one, "%s", names[i].text);
        CHECK_U64(got.window, names[i].want.window, "%s", names[i].text);
        CHECK_U64(got.nccl, names[i].want.nccl, "%s", names[i].text);
    }
}

static void anything_else_is_refused_and_leaves_the_output(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "Ring",
                                        "ring ",
                                        "ring2",
                                        "direct0",
                                        "direct-1",
                                        "directx",
                                        "direct1x",
                                        "direct99999999999",
                                        "oneDoubleBinaryTree"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct coll_impl untouched = {.window = 7};
        CHECK(!coll_impl_parse(names[i], &untouched), "\"%s\"", names[i]);
        CHECK_U64(untouched.window, 7, "\"%s\"", names[i]);
    }
}

static void every_name_offered_in_messages_is_accepted(void **state)
{
    (void)state;
    size_t count = 0;
    for (; coll_impl_names[count] != NULL; count++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s", coll_impl_names[count]);
        char *window = strstr(name, "<W>");
        if (window != NULL) {
            memcpy(window, "4", 2);
        }
        struct coll_impl impl;
        CHECK(coll_impl_parse(name, &impl), "%s", name);
    }
    CHECK(count > 0, "there are names");
}

static void collective_types_have_chakras_numbers(void **state)
{
    (void)state;
    CHECK_TEXT(coll_type_name(0), "all-reduce");
    CHECK_TEXT(coll_type_name(7), "reduce-scatter");
    CHECK_TEXT(coll_type_name(9), "barrier");
    CHECK(coll_type_name(10) == NULL && coll_type_name(-1) == NULL, "other numbers are no collective");
}

TEST_MAIN(every_accepted_name_means_its_algorithm, anything_else_is_refused_and_leaves_the_output,
          every_name_offered_in_messages_is_accepted, collective_types_have_chakras_numbers)
