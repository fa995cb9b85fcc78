/* SPDX-License-Identifier: Apache-2.0 */
/* The lines ASTRA-sim prints, byte by byte; the golden cases check the same on whole runs. */
#include "tests/report/fixture.h"

#include <math.h>

#define RING "[system::topology::RingTopology] [info] ring of node 0, id: 0 dimension: local total nodes in ring: "

static void set_lists(struct fixture *f, const char *const names[SIM_NATIVE_COUNT][TOPO_MAX_DIMS])
{
    for (int native = 0; native < SIM_NATIVE_COUNT; native++) {
        struct sim_implementation *to = &f->config.system.implementation[native];
        for (to->count = 0; names[native][to->count] != NULL; to->count++) {
            assert_true(coll_impl_parse(names[native][to->count], &to->list[to->count]));
        }
    }
}

static void rings_are_listed_by_type_and_dimension(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.config.dims.count = 2;
    f.config.dims.ranks = 32;
    f.config.dims.dim[1] = (struct topo_dim){.kind = TOPO_SWITCH, .size = 4, .stride = 8};
    /* A tree has no ring; "one…" is one ring of all and ends the list; a list may be shorter; a custom one is empty. */
    static const char *const names[SIM_NATIVE_COUNT][TOPO_MAX_DIMS] = {
        {"halvingDoubling", "doubleBinaryTree"}, {"oneDirect2", "ring"}, {NULL}, {"direct", "direct3"}};
    set_lists(&f, names);
    f.result.log_count = 0;
    char *text = fixture_written(&f, ORR_OUTPUT_ASTRA);
    CHECK_TEXT(text, RING "8 index in ring: 0 offset: 1 total nodes in ring: 8\n" RING
                          "32 index in ring: 0 offset: 1 total nodes in ring: 32\n" RING
                          "8 index in ring: 0 offset: 1 total nodes in ring: 8\n" RING
                          "4 index in ring: 0 offset: 8 total nodes in ring: 4\n"
                          "[system] [warning] Exiting\n");
    free(text);
}

static void a_finished_rank_prints_its_statistics(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.log[0].rank = 4;
    f.result.log_count = 1;
    char *text = fixture_written(&f, ORR_OUTPUT_ASTRA);
    CHECK_CONTAINS(text, "total nodes in ring: 8\n"
                         "[workload] [info] sys[4] finished, 405520 cycles, exposed communication 355520 cycles.\n"
                         "[statistics] [info] sys[4]. Post statistics processing start.\n"
                         "[statistics] [info] sys[4]. Post statistics processing end.\n"
                         "[statistics] [info] sys[4], Wall time: 405520\n"
                         "[statistics] [info] sys[4], GPU time: 50000\n"
                         "[statistics] [info] sys[4], Comm time: 405520\n"
                         "[statistics] [info] sys[4], Total compute-communication overlap: 50000\n"
                         "[system] [warning] Exiting\n");
    free(text);
}

static void without_the_issue_order_types_come_in_the_order_of_their_enumeration(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.ranks[0].kind_order_count = 0;
    f.ranks[0].union_ns[SIM_OP_COMM] = 355520; /* no overlap: no such line */
    f.result.log_count = 1;
    char *text = fixture_written(&f, ORR_OUTPUT_ASTRA);
    CHECK_CONTAINS(text, "sys[0], GPU time: 50000\n"
                         "[statistics] [info] sys[0], Comm time: 355520\n"
                         "[system] [warning] Exiting\n");
    free(text);
}

static void roofline_averages_have_three_decimals(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.config.system.roofline_enabled = true;
    /* 1111111 ns of one compute node with an intensity of 10^6; the weight started at 1. */
    f.ranks[0].roofline_weight = 1111112;
    f.ranks[0].compute_bound = 1111111;
    f.ranks[0].compute_utilization = 1111111;
    f.ranks[0].memory_utilization = NAN;
    f.ranks[0].operation_intensity = 1111111e6;
    f.result.log_count = 1;
    char *text = fixture_written(&f, ORR_OUTPUT_ASTRA);
    CHECK_CONTAINS(text, "overlap: 50000\n"
                         "[statistics] [info] sys[0], Compute bound percentage: 100.000%\n"
                         "[statistics] [info] sys[0], Average compute utilization: 100.000%\n"
                         "[statistics] [info] sys[0], Average memory utilization: nan%\n"
                         "[statistics] [info] sys[0], Average operation intensity: 999999.100\n"
                         "[system] [warning] Exiting\n");
    free(text);
}

static void failed_statistics_and_group_rings_are_printed_in_log_order(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.ranks[2].statistics_failed = true;
    f.ranks[2].gpu_busy_ns = 405521;
    f.log[0] = (struct sim_log_entry){SIM_LOG_GROUP_RING, 3, 4, 1};
    f.log[1] = (struct sim_log_entry){SIM_LOG_FINISH, 2, 0, 0};
    f.log[2] = (struct sim_log_entry){SIM_LOG_GROUP_RING, 5, 4, 2};
    f.result.log_count = 3;
    char *text = fixture_written(&f, ORR_OUTPUT_ASTRA);
    CHECK_CONTAINS(text,
                   "[system::topology::RingTopology] [info] custom ring, id: 3, dimension: local total nodes in ring: "
                   "4 index in ring: 1 total nodes in ring 4\n"
                   "[workload] [info] sys[2] finished, 405520 cycles, exposed communication 18446744073709551615 "
                   "cycles.\n"
                   "[statistics] [info] sys[2]. Post statistics processing start.\n"
                   "[system] [critical] warning! a callable is removed before call Only GPU and COMM types are "
                   "supported for overlap extraction\n"
                   "[system::topology::RingTopology] [info] custom ring, id: 5, dimension: local total nodes in ring: "
                   "4 index in ring: 2 total nodes in ring 4\n"
                   "[system] [warning] Exiting\n");
    free(text);
}

static void slots_still_held_are_listed_with_the_ids_of_the_file(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.ranks[1].unreleased[SIM_SLOT_COMM] = 2;
    f.ranks[6].unreleased[SIM_SLOT_COMP] = 1;
    f.ranks[6].unreleased[SIM_SLOT_COMM] = 0;
    f.result.log_count = 0;
    char *text = fixture_written(&f, ORR_OUTPUT_ASTRA);
    CHECK_CONTAINS(text, "[HardwareResource] [critical] !!!Hardware Resource sys.id=1 has unreleased nodes!!!\n"
                         "[HardwareResource] [critical] GPU comm node id: 103\n"
                         "[HardwareResource] [critical] !!!Hardware Resource sys.id=6 has unreleased nodes!!!\n"
                         "[HardwareResource] [critical] GPU comp node id: 602\n"
                         "[HardwareResource] [critical] GPU comm node id: 601\n"
                         "[system] [warning] Exiting\n");
    free(text);
}

TEST_MAIN(rings_are_listed_by_type_and_dimension, a_finished_rank_prints_its_statistics,
          without_the_issue_order_types_come_in_the_order_of_their_enumeration, roofline_averages_have_three_decimals,
          failed_statistics_and_group_rings_are_printed_in_log_order,
          slots_still_held_are_listed_with_the_ids_of_the_file)
