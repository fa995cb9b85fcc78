/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for the collectives of a communicator group beyond who takes part. */
#include "tests/sim/bench_top.h"

/* Two all-reduces in group 1, one after the other, and a custom collective for the one with this id. */
static uint64_t time_with_custom_node(uint64_t custom_id)
{
    static const uint32_t members[] = {0, 1, 2};
    struct bench bench;
    bench_open(&bench, "ring:4");
    bench_add_group(&bench, 1, 3, members);
    for (uint32_t rank = 0; rank < 3; rank++) {
        work_send(&bench.custom, rank, 1, (rank + 1) % 3, 1000, 1);
        work_recv(&bench.custom, rank, 2, (rank + 2) % 3, 1000, 1);
        work_collective(&bench.work, rank, 1, COLL_ALL_REDUCE, 65536)->group = 1;
        work_collective(&bench.work, rank, 2, COLL_ALL_REDUCE, 65536)->group = 1;
        work_after(&bench.work, 1);
    }
    work_compute(&bench.work, 3, 1, 1);
    bench_use_custom(&bench, 3);
    bench.config.system.implementation[SIM_ALL_REDUCE].custom = NULL;
    struct sim_custom_node custom = {.node_id = custom_id, .custom = &bench.custom.set};
    bench.config.system.custom_nodes = &custom;
    bench.config.system.custom_node_count = custom_id == 0 ? 0 : 1;
    uint64_t time_ns = bench_completes(&bench);
    bench_close(&bench);
    return time_ns;
}

static void a_group_keeps_the_implementation_that_its_first_collective_chose(void **state)
{
    (void)state;
    uint64_t native = time_with_custom_node(0);
    uint64_t first_custom = time_with_custom_node(1);
    CHECK_U64(time_with_custom_node(2), native, "the first was native, so the second is");
    CHECK_U64(first_custom % 2, 0, "two custom collectives take twice as long as one");
    CHECK(first_custom < native / 2, "the first was custom, so the second is");
}

TEST_MAIN(a_group_keeps_the_implementation_that_its_first_collective_chose)
