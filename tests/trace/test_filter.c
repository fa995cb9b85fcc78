/* SPDX-License-Identifier: Apache-2.0 */
/* A trace cut down to the nodes one looks at: by name, kind and start, with the order that is left. */
#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "trace/filter.h"
#include "trace/graph.h"

static void add_node(struct bytes *file, uint64_t id, const char *name, uint32_t type, bool cpu, uint64_t start_us,
                     uint64_t parent, uint64_t other)
{
    struct bytes node = {.size = 0};
    bytes_number(&node, 1, id);
    bytes_text(&node, 2, name);
    bytes_number(&node, 3, type);
    if (parent != 0) {
        bytes_number(&node, 4, parent); /* control */
    }
    if (other != 0) {
        bytes_number(&node, 5, other); /* data */
    }
    bytes_number(&node, 6, start_us);
    bytes_number(&node, 7, 1);
    bytes_integer(&node, "is_cpu_op", 27, cpu);
    if (type == TRACE_COLL) {
        bytes_integer(&node, "comm_type", 9, 0);
    }
    bytes_record(file, &node);
}

/* op 1 launches kernel 2, op 3 kernel 4 behind it, and both end in the all-reduce 5, for which op 6 waits. */
static struct trace_document *sample(struct mem *mem)
{
    struct bytes file;
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    bytes_begin(&file);
    add_node(&file, 1, "aten::mm", TRACE_COMP, true, 1000, 0, 0);
    add_node(&file, 2, "gemm", TRACE_COMP, false, 1010, 1, 0);
    add_node(&file, 3, "aten::add", TRACE_COMP, true, 1020, 1, 0);
    add_node(&file, 4, "elementwise", TRACE_COMP, false, 1030, 3, 2);
    add_node(&file, 5, "nccl:all_reduce", TRACE_COLL, false, 1040, 4, 0);
    add_node(&file, 6, "aten::item", TRACE_COMP, true, 1050, 3, 5);
    CHECK_OK(trace_document_parse(file.at, file.size, "f.et", mem, &document, &err), &err);
    return document;
}

static void expect(const struct trace_filter *filter, const char *want)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_filtered filtered = {0};
    struct trace_document *document = sample(&mem);
    char got[200] = "";
    size_t used = 0;
    CHECK_OK(trace_filter(document, filter, &mem, &filtered, &err), &err);
    for (uint32_t i = 0; i < document->node_count; i++) {
        const Chakra__Node *node = document->nodes[i];
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%d", i == 0 ? "" : " ", (int)node->id);
        for (size_t d = 0; d < node->n_data_deps + node->n_ctrl_deps; d++) {
            uint64_t id = d < node->n_data_deps ? node->data_deps[d] : node->ctrl_deps[d - node->n_data_deps];
            used += (size_t)snprintf(got + used, sizeof got - used, "<%d", (int)id);
        }
    }
    CHECK_TEXT(got, want);
    CHECK_U64(filtered.kept, document->node_count, "told");
    CHECK_U64(filtered.of, 6, "of all");
    trace_document_free(document);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void without_a_wish_everything_stays_as_it_is(void **state)
{
    (void)state;
    expect(&(struct trace_filter){.to_us = UINT64_MAX}, "1 2<1 3<1 4<2<3 5<4 6<5<3");
}

static void what_is_left_waits_for_the_nearest_that_is_left(void **state)
{
    (void)state;
    expect(&(struct trace_filter){.kinds = 1u << TRACE_KIND_GPU, .to_us = UINT64_MAX}, "2 4<2");
    expect(&(struct trace_filter){.kinds = 1u << TRACE_KIND_CPU, .to_us = UINT64_MAX}, "1 3<1 6<1<3");
    expect(&(struct trace_filter){.collectives = 1u << 0, .kinds = 1u << TRACE_KIND_CPU, .to_us = UINT64_MAX},
           "1 3<1 5<1<3 6<5<3");
    expect(&(struct trace_filter){.collectives = 1u << 6, .to_us = UINT64_MAX}, "");
}

static void names_are_patterns_and_starts_count_from_the_first(void **state)
{
    (void)state;
    expect(&(struct trace_filter){.name = "aten::*", .to_us = UINT64_MAX}, "1 3<1 6<1<3");
    expect(&(struct trace_filter){.name = "/reduce|gemm/", .to_us = UINT64_MAX}, "2 5<2");
    expect(&(struct trace_filter){.from_us = 20, .to_us = 50}, "3 4<3 5<4");
}

static void a_pattern_that_is_none_changes_nothing(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_filtered filtered = {0};
    struct trace_document *document = sample(&mem);
    CHECK_STATUS(trace_filter(document, &(struct trace_filter){.name = "/(/"}, &mem, &filtered, &err), ORR_EINVAL);
    CHECK_U64(document->node_count, 6, "all nodes");
    trace_document_free(document);
}

TEST_MAIN(without_a_wish_everything_stays_as_it_is, what_is_left_waits_for_the_nearest_that_is_left,
          names_are_patterns_and_starts_count_from_the_first, a_pattern_that_is_none_changes_nothing)
