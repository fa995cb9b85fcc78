/* SPDX-License-Identifier: Apache-2.0 */
/* Generated traces: their shape, the names that are accepted, and what is refused. The cycle counts they give on the
 * tutorials' network are tested where a simulation is run. */
#include <stdlib.h>
#include <unistd.h>

#include "model/gen.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/graph.h"

static struct trace_set *generate(const struct orr_gen_options *options, struct mem *mem, struct notes *notes)
{
    struct orr_error err = {0};
    struct trace_set *set = NULL;
    CHECK_OK(orr_gen(options, &err), &err);
    CHECK_OK(trace_set_load(options->prefix, UINT32_MAX, true, mem, notes, &set, &err), &err);
    CHECK_U64(set->rank_count, options->npus, "files");
    CHECK_U64(set->graph_count, 1, "all ranks are the same");
    return set;
}

static void three_nodes_are_an_all_reduce_before_an_all_gather_and_compute(void **state)
{
    (void)state;
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, "%s/deep/three", folder);
    struct orr_gen_options options = {
        .pattern = ORR_PATTERN_THREE_NODE, .bytes = 1048576, .compute_us = 50, .npus = 8, .prefix = prefix};
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    struct trace_set *set = generate(&options, &mem, &notes);
    const struct trace_node *nodes = set->graphs[0]->nodes;
    CHECK_U64(set->graphs[0]->node_count, 3, "nodes");
    CHECK_U64(nodes[0].id, 1, "first id");
    CHECK_U64(nodes[0].comm_type, 0, "all-reduce");
    CHECK_U64(nodes[0].comm_bytes, 1048576, "its bytes");
    CHECK_U64(nodes[0].child_count, 2, "both others wait for it");
    CHECK_U64(nodes[1].comm_type, 2, "all-gather");
    CHECK_U64(nodes[1].comm_bytes, 2097152, "its bytes");
    CHECK_U64(nodes[2].type, TRACE_COMP, "compute");
    CHECK_U64(nodes[2].duration_us, 50, "its time");
    CHECK_U64(nodes[0].is_cpu_op + nodes[1].is_cpu_op + nodes[2].is_cpu_op, 0, "all on the GPU");
    trace_set_free(set);
    notes_free(&notes);
}

static const struct {
    const char *name;
    int32_t type;
} spellings[] = {{"all-reduce", 0},     {"ALL_REDUCE", 0},
                 {"AllReduce", 0},      {"allreduce", 0},
                 {"reduce", 1},         {"allgather", 2},
                 {"gather", 3},         {"SCATTER", 4},
                 {"Broadcast", 5},      {"all-to-all", 6},
                 {"ALL_TO_ALL", 6},     {"alltoall", 6},
                 {"reduce scatter", 7}, {"REDUCE_SCATTER_BLOCK", 8},
                 {"barrier", 9}};

static void every_collective_is_known_by_all_its_spellings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        char prefix[64];
        (void)snprintf(prefix, sizeof prefix, "%s/c%zu", folder, i);
        struct orr_gen_options options = {
            .pattern = ORR_PATTERN_COLLECTIVE, .type = spellings[i].name, .bytes = 4096, .npus = 2, .prefix = prefix};
        struct mem mem = {0};
        struct notes notes;
        notes_init(&notes, &mem, false);
        struct trace_set *set = generate(&options, &mem, &notes);
        CHECK_U64(set->graphs[0]->node_count, 1, "nodes");
        CHECK_U64(set->graphs[0]->nodes[0].type, TRACE_COLL, "type");
        CHECK_U64(set->graphs[0]->nodes[0].comm_type, spellings[i].type, "%s", spellings[i].name);
        CHECK_U64(set->graphs[0]->nodes[0].comm_bytes, 4096, "%s", spellings[i].name);
        trace_set_free(set);
        notes_free(&notes);
    }
}

static const struct {
    struct orr_gen_options options;
    enum orr_status status;
    const char *says;
} refused[] = {
    {{.type = "all-recude", .bytes = 1, .npus = 2, .prefix = "x"}, ORR_EINVAL, "did you mean \"all-reduce\"?"},
    {{.type = "ALL_GATHR", .bytes = 1, .npus = 2, .prefix = "x"}, ORR_EINVAL, "did you mean \"all-gather\"?"},
    {{.type = "frobnicate", .bytes = 1, .npus = 2, .prefix = "x"}, ORR_EINVAL, "accepted: all-reduce, reduce, "},
    {{.bytes = 1, .npus = 2, .prefix = "x"}, ORR_EINVAL, "type is needed"},
    {{.type = "all-reduce", .npus = 2, .prefix = "x"}, ORR_EINVAL, "0 bytes"},
    {{.type = "all-reduce", .bytes = 1, .prefix = "x"}, ORR_EINVAL, "0 NPUs"},
    {{.type = "all-reduce", .bytes = 1, .npus = 2, .prefix = "folder/"}, ORR_EINVAL, "names no file"},
    {{.type = "all-reduce", .bytes = 1, .npus = 2}, ORR_EINVAL, "names no file"},
    {{.type = "all-reduce", .bytes = UINT64_MAX, .npus = 2, .prefix = "x"}, ORR_ERANGE, "at most 9223372036854775807"},
    {{.pattern = ORR_PATTERN_THREE_NODE, .npus = 2, .prefix = "x"}, ORR_EINVAL, "0 bytes"},
    {{.pattern = ORR_PATTERN_THREE_NODE, .bytes = INT64_MAX, .npus = 2, .prefix = "x"}, ORR_ERANGE, "at most"},
    {{.type = "all-reduce", .bytes = 1, .npus = 2, .prefix = "/dev/null/x"}, ORR_EIO, "/dev/null"},
};

static void what_makes_no_trace_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct orr_error err = {0};
        CHECK_STATUS(orr_gen(&refused[i].options, &err), refused[i].status);
        CHECK_CONTAINS(err.text, refused[i].says);
        CHECK(access("x.0.et", F_OK) != 0, "case %zu wrote a file", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(three_nodes_are_an_all_reduce_before_an_all_gather_and_compute,
                                                 every_collective_is_known_by_all_its_spellings,
                                                 what_makes_no_trace_is_refused_and_writes_nothing)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
