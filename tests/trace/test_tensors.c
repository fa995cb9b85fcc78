/* SPDX-License-Identifier: Apache-2.0 */
/* What trace/tensors.h reads of a file, and what it refuses. */
#include "tests/check.h"
#include "tests/trace/tensor_lists.h"
#include "trace/tensors.h"

static void tensors_are_read_in_the_order_of_the_lists(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct bytes file;
    struct trace_tensors *tensors = NULL;
    bytes_begin(&file);
    tensor_node(&file, 7, "w 100 x 20.0", "y 8");
    tensor_node(&file, 3, "y 8 none 0", "");
    tensor_node(&file, 5, NULL, "z 1");
    tensor_node(&file, 6, "", "");
    CHECK_OK(trace_tensors_parse(file.at, file.size, "t.et", &mem, &tensors, &err), &err);
    CHECK_U64(tensors->node_count, 3, "node 6 names none");
    CHECK_U64(tensors->untold, 1, "node 5 has no inputs");
    const struct trace_tensor_node *node = trace_tensors_find(tensors, 7);
    CHECK(node != NULL && node->inputs == 2 && node->outputs == 1, "two read, one written");
    const struct trace_tensor_use *use = &tensors->uses[node->first];
    CHECK_TEXT(intern_text(&tensors->names, use[1].tensor), "x");
    CHECK_U64(use[1].bytes, 20, "a fraction is passed over");
    CHECK_U64(use[2].tensor, tensors->uses[trace_tensors_find(tensors, 3)->first].tensor, "y is y");
    CHECK_U64(trace_tensors_find(tensors, 3)->inputs, 1, "a tensor without bytes is none");
    CHECK(trace_tensors_find(tensors, 6) == NULL && trace_tensors_find(tensors, 99) == NULL, "no such node");
    trace_tensors_free(tensors);
    CHECK_U64(mem.used, 0, "everything is given back");
}

static void lists_that_make_no_pairs_are_refused_with_their_node(void **state)
{
    (void)state;
    static const struct {
        const char *inputs, *outputs, *says;
    } cases[] = {
        {"w", "", "node 4: attribute inputs has an odd number of texts; it must be a list in which"},
        {"", "w 1 x", "node 4: attribute outputs has an odd number of texts"},
        {"w big", "", "node 4: attribute inputs has the bytes \"big\""},
        {"w -1", "", "has the bytes \"-1\""},
        {"w 12x", "", "has the bytes \"12x\""},
        {"w 18446744073709551616", "", "has the bytes \"18446744073709551616\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct bytes file;
        struct trace_tensors *tensors = NULL;
        bytes_begin(&file);
        tensor_node(&file, 4, cases[i].inputs, cases[i].outputs);
        CHECK_STATUS(trace_tensors_parse(file.at, file.size, "t.et", &mem, &tensors, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK_U64(mem.used, 0, "nothing is left of it");
    }
}

static void attributes_of_another_kind_name_no_tensors(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct bytes file;
    struct bytes node = {.size = 0};
    struct trace_tensors *tensors = NULL;
    bytes_begin(&file);
    bytes_number(&node, 1, 1);
    bytes_integer(&node, "inputs", 9, 5);
    bytes_integer(&node, "outputs", 9, 5);
    bytes_record(&file, &node);
    CHECK_OK(trace_tensors_parse(file.at, file.size, "t.et", &mem, &tensors, &err), &err);
    CHECK_U64(tensors->use_count + tensors->untold, 0, "there, and no list");
    trace_tensors_free(tensors);
}

static void sets_are_equal_that_say_the_same(void **state)
{
    (void)state;
    static const char *const lists[] = {"w 100 x 20", "w 100 x 21", "w 100 y 20", "w 100", "w 100 x 20"};
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_tensors *sets[COUNT_OF(lists)] = {NULL};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct bytes file;
        bytes_begin(&file);
        tensor_node(&file, 1, lists[i], "");
        CHECK_OK(trace_tensors_parse(file.at, file.size, "t.et", &mem, &sets[i], &err), &err);
    }
    for (size_t i = 1; i < COUNT_OF(lists); i++) {
        CHECK(trace_tensors_equal(sets[0], sets[i]) == (i == 4), "\"%s\"", lists[i]);
    }
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        trace_tensors_free(sets[i]);
    }
    CHECK_U64(mem.used, 0, "everything is given back");
}

TEST_MAIN(tensors_are_read_in_the_order_of_the_lists, lists_that_make_no_pairs_are_refused_with_their_node,
          attributes_of_another_kind_name_no_tensors, sets_are_equal_that_say_the_same)
