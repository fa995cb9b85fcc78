/* SPDX-License-Identifier: Apache-2.0 */
/* A ranked table never mixes networks: what a sweep chooses for all its points, what it refuses, and what it leaves
 * unranked. */
#include "io/database.h"
#include "tests/cli/program.h"

#define RUN_OPTIONS " -- --workload w/ar --system system.json --network network.yml"

static void prepare(void)
{
    program_enter();
    if (!program_exists("w/ar.0.et")) {
        program_write_machine(8, 4);
        CHECK_EXIT(program_run("gen collective --npus 8 -o w/ar"), 0);
    }
}

static void a_ranked_table_is_of_one_network_that_all_points_can_run_on(void **state)
{
    (void)state;
    prepare();
    static const char lab[] = " -- lab run --workload w/ar --bandwidth 65 --latency 14";
    char line[300];
    (void)snprintf(line, sizeof line, "sweep -q --store n1.db --csv n.csv --vary topology=ring,torus2d,switch%s", lab);
    CHECK_EXIT(program_run(line), 0);
    CHECK_CONTAINS(program_read("n.csv", NULL), "1,ring,done,3,");
    CHECK_CONTAINS(program_read("n.csv", NULL), ",8,unaware,\n");
    (void)snprintf(line, sizeof line, "sweep -q --store n2.db --csv n.csv --vary topology=ring,fattree,switch%s", lab);
    CHECK_EXIT(program_run(line), 0);
    CHECK(strstr(program_read("n.csv", NULL), "unaware") == NULL, "a ring beside a fat tree is on wires too");
    CHECK_CONTAINS(program_read("n.csv", NULL), ",8,flow,\n");
    (void)snprintf(line, sizeof line, "sweep -q --store n2.db --vary topology=ring,fattree,switch%s", lab);
    CHECK_CONTAINS(program_run(line)->out, "3 of them from the store\nAll ranked on the flow network.\n");
    (void)snprintf(line, sizeof line, "sweep -q --store n3.db --vary topology=ring,fattree%s --backend aware", lab);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--backend aware sees the machine of point 1 and not that of point 2 (fattree)");
    (void)snprintf(line, sizeof line, "sweep -q --store n3.db --vary topology=network.yml,fattree%s",
                   " -- lab run --workload w/ar");
    result = program_run(line);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "point 2 (fattree) needs a network of wires, point 1 (network.yml) one of dimensions");
}

static void networks_that_are_compared_on_purpose_are_ranked_apart(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("sweep -q --store v.db --csv v.csv --vary backend=unaware,aware --vary "
                           "network.bandwidth=10,20" RUN_OPTIONS),
               0);
    const char *table = program_read("v.csv", NULL);
    CHECK_CONTAINS(table, "1,unaware,10,done,2,");
    CHECK_CONTAINS(table, "2,unaware,20,done,1,");
    CHECK_CONTAINS(table, "3,aware,10,done,2,");
    CHECK_CONTAINS(table, "4,aware,20,done,1,");
    const struct program_result *result =
        program_run("sweep -q --store v.db --vary backend=unaware,aware --vary network.bandwidth=10,20" RUN_OPTIONS);
    CHECK_CONTAINS(result->out, "rank  point  network");
    CHECK_CONTAINS(result->out, "Each network is ranked by itself.\n");
}

static void a_stored_point_of_another_network_is_marked_and_not_ranked(void **state)
{
    (void)state;
    prepare();
    static const char line[] = "sweep -q -j 1 --store s.db --csv s.csv --vary network.bandwidth=10,20" RUN_OPTIONS;
    CHECK_EXIT(program_run(line), 0);
    struct io_database *database = NULL;
    struct orr_error err = {0};
    CHECK_OK(io_database_open("s.db", IO_DATABASE_WRITE, &database, &err), &err);
    CHECK_OK(io_database_run(database, "UPDATE run SET backend = 'flow' WHERE id = 1", &err), &err);
    io_database_close(database);
    CHECK_EXIT(program_run(line), 0);
    CHECK_CONTAINS(program_read("s.csv", NULL), "1,10,done,,");
    CHECK_CONTAINS(program_read("s.csv", NULL), "2,20,done,1,");
    static const char shown[] = "sweep -q --store s.db --vary network.bandwidth=10,20" RUN_OPTIONS;
    const struct program_result *result = program_run(shown);
    CHECK_CONTAINS(result->out, "Not ranked: in the store from another network; --fresh runs them again\n"
                                "  point 1 (network.bandwidth=10): ");
    CHECK_CONTAINS(result->out, " on flow\n");
}

static void one_point_of_nccl_puts_all_on_a_network_whose_links_are_shared(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result =
        program_run("sweep --no-progress --store c.db --vary system.all-reduce-implementation=ring,nccl" RUN_OPTIONS);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "All ranked on the aware network.\n");
    CHECK_CONTAINS(result->err, "no --backend was given: aware, because");
}

TEST_MAIN(a_ranked_table_is_of_one_network_that_all_points_can_run_on,
          networks_that_are_compared_on_purpose_are_ranked_apart,
          a_stored_point_of_another_network_is_marked_and_not_ranked,
          one_point_of_nccl_puts_all_on_a_network_whose_links_are_shared)
