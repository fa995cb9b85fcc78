/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes without is_cpu_op under the reading that gives them to the CPU. */
#include "tests/check.h"
#include "tests/folder.h"
#include "tests/trace/bytes.h"

#include "io/file.h"
#include "trace/unmarked.h"

enum { UNMARKED = -1 };

/* What is in the file, and what becomes of it. */
static const struct node {
    uint32_t type;
    uint32_t duration_us;
    int mark; /* is_cpu_op, or UNMARKED */
    uint32_t becomes;
    bool on_cpu;
} nodes[] = {
    {TRACE_COMP, 7, UNMARKED, TRACE_COMP, true},
    {TRACE_COMP, 0, UNMARKED, TRACE_INVALID, true},
    {TRACE_COLL, 0, UNMARKED, TRACE_INVALID, true},
    {TRACE_SEND, 9, UNMARKED, TRACE_COMP, true},
    {TRACE_MEM_LOAD, 0, UNMARKED, TRACE_MEM_LOAD, true},
    {TRACE_COMP, 7, 0, TRACE_COMP, false},
    {TRACE_COLL, 0, 0, TRACE_COLL, false},
    {TRACE_COMP, 0, 1, TRACE_COMP, true},
};

static void write_trace(const char *prefix)
{
    struct bytes file;
    char path[64];
    struct orr_error err = {0};
    bytes_begin(&file);
    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        struct bytes node = {.size = 0};
        bytes_number(&node, 1, i);
        bytes_number(&node, 3, nodes[i].type);
        bytes_number(&node, 7, nodes[i].duration_us);
        if (nodes[i].mark != UNMARKED) {
            bytes_integer(&node, "is_cpu_op", 27, (uint64_t)nodes[i].mark);
        }
        bytes_record(&file, &node);
    }
    (void)snprintf(path, sizeof path, "%s.0.et", prefix);
    CHECK_OK(file_write(path, file.at, file.size, &err), &err);
}

static void nodes_that_do_not_say_go_to_the_cpu_and_the_others_stay(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct trace_set *set = NULL;
    uint64_t changed = 0;
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "%s/t", folder);
    write_trace(prefix);
    notes_init(&notes, &mem, false);
    CHECK_OK(trace_set_load(prefix, 1, false, &mem, &notes, &set, &err), &err);
    CHECK_OK(trace_set_unmarked_to_cpu(set, &changed, &err), &err);
    CHECK_U64(changed, 5, "nodes without the attribute");
    const struct trace_graph *graph = set->graphs[0];
    uint32_t others = 0;
    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        CHECK_U64(graph->nodes[i].type, nodes[i].becomes, "type of node %zu", i);
        CHECK_U64(graph->nodes[i].is_cpu_op, nodes[i].on_cpu, "place of node %zu", i);
        if (nodes[i].becomes != TRACE_COMP) {
            CHECK(others < graph->other_count && graph->others[others] == i, "node %zu is listed", i);
            others++;
        }
    }
    CHECK_U64(graph->other_count, others, "nodes that do not compute");
    trace_set_free(set);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_that_do_not_say_go_to_the_cpu_and_the_others_stay)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
