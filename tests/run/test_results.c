/* SPDX-License-Identifier: Apache-2.0 */
/* What a run left behind, asked of the library row by row; the tables it writes say the same. */
#include "tests/check.h"
#include "tests/folder.h"

#include <stdlib.h>

static struct orr_run *open_job(const char *machine, const char *backend, unsigned keep)
{
    struct orr_error err = {0};
    struct orr_run *run = NULL;
    const char *prefix = folder_path("job");
    const struct orr_gen_options job = {
        .pattern = ORR_PATTERN_THREE_NODE, .bytes = 1 << 20, .compute_us = 50, .npus = 8, .prefix = prefix};
    struct orr_run_options *options = orr_run_options_new();
    assert_non_null(options);
    CHECK_OK(orr_gen(&job, &err), &err);
    CHECK_OK(orr_run_set(options, "workload", prefix, &err), &err);
    CHECK_OK(orr_run_set(options, "machine", machine, &err), &err);
    if (backend != NULL) {
        CHECK_OK(orr_run_set(options, "backend", backend, &err), &err);
    }
    orr_run_keep(options, keep);
    CHECK_OK(orr_run_open(options, &run, &err), &err);
    orr_run_options_delete(options);
    return run;
}

static void the_machine_chooses_the_network_where_nobody_does(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *backend;
        enum orr_backend network;
    } cases[] = {{"dgx-h100", NULL, ORR_BACKEND_FLOW},
                 {"ring8", NULL, ORR_BACKEND_UNAWARE},
                 {"dgx-h100", "unaware", ORR_BACKEND_UNAWARE},
                 {"dgx-h100", "packet", ORR_BACKEND_PACKET}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_run *run = open_job(cases[i].machine, cases[i].backend, 0);
        CHECK(orr_run_backend(run) == cases[i].network, "%s on %d", cases[i].machine, (int)orr_run_backend(run));
        orr_run_close(run);
    }
}

/* Time of an all-reduce on a ring, with a key of a file set before anybody knows which files there are. */
static uint64_t time_with(const char *set)
{
    struct orr_error err = {0};
    struct orr_run *run = NULL;
    const char *prefix = folder_path("set");
    const struct orr_gen_options job = {.type = "all-reduce", .bytes = 1 << 20, .npus = 4, .prefix = prefix};
    const char *words[][2] = {
        {"workload", prefix}, {"machine", "ring"}, {"bandwidth", "400"}, {"latency", "1"}, {"set", set}};
    struct orr_run_options *options = orr_run_options_new();
    assert_non_null(options);
    CHECK_OK(orr_gen(&job, &err), &err);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        CHECK_OK(orr_run_set(options, words[i][0], words[i][1], &err), &err);
    }
    CHECK_OK(orr_run_open(options, &run, &err), &err);
    orr_run_options_delete(options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    uint64_t time_ns = orr_run_time_ns(run);
    orr_run_close(run);
    return time_ns;
}

static void a_key_is_set_on_a_machine_that_makes_its_own_files(void **state)
{
    (void)state;
    uint64_t short_ns = time_with("endpoint-delay=0");
    uint64_t long_ns = time_with("system.endpoint-delay=1000");
    CHECK(long_ns > short_ns, "%llu ns and %llu ns", (unsigned long long)short_ns, (unsigned long long)long_ns);
}

static void nothing_is_told_of_a_run_that_was_not_executed(void **state)
{
    (void)state;
    struct orr_run *run = open_job("ring8", "aware", 0);
    struct orr_rank_result rank;
    struct orr_dimension_result dimension;
    struct orr_wait wait;
    CHECK(!orr_run_rank(run, 0, &rank) && rank.finish_ns == 0, "no rank");
    CHECK(!orr_run_dimension(run, 0, &dimension) && dimension.kind == NULL, "no dimension");
    CHECK(!orr_run_wait(run, 0, &wait) && orr_run_finding_count(run) == 0, "no stall");
    orr_run_close(run);
}

static void dimensions_and_intervals_are_rows(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_run *run = open_job("ring8", "aware", ORR_KEEP_INTERVALS);
    CHECK_OK(orr_run_execute(run, &err), &err);
    struct orr_dimension_result dimension;
    CHECK_U64(orr_run_dimension_count(run), 1, "one ring");
    CHECK(orr_run_dimension(run, 0, &dimension), "it is there");
    CHECK_TEXT(dimension.kind, "Ring");
    CHECK(dimension.size == 8 && dimension.messages > 0 && dimension.utilisation > 0, "with what crossed it");
    CHECK(!orr_run_dimension(run, 1, &dimension) && dimension.size == 0, "and no other");
    CHECK(orr_run_link_count(run) == 0, "it has no wires");
    CHECK_U64(orr_run_interval_count(run), 8 * 3, "three nodes a rank");
    uint64_t computed[8] = {0};
    uint64_t last_ns = 0;
    struct orr_interval_result interval;
    for (uint32_t i = 0; orr_run_interval(run, i, &interval); i++) {
        bool compute = strcmp(interval.type, "compute") == 0;
        CHECK(compute != interval.is_communication, "%s", interval.type);
        CHECK(interval.end_ns >= last_ns, "in order of their ends");
        CHECK(compute || interval.bytes >= 1 << 20, "%s of %" PRIu64 " B", interval.type, interval.bytes);
        computed[interval.rank] += compute ? interval.end_ns - interval.start_ns : 0;
        last_ns = interval.end_ns;
    }
    CHECK_U64(last_ns, orr_run_time_ns(run), "the last ends with the run");
    for (uint32_t i = 0; i < 8; i++) {
        struct orr_rank_result rank;
        CHECK(orr_run_rank(run, i, &rank) && rank.rank == i && rank.nodes_done == 3, "rank %" PRIu32, i);
        CHECK_U64(rank.sum_gpu_ns, computed[i], "rank %" PRIu32, i);
    }
    orr_run_close(run);
}

static char *read_file(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

static void the_table_of_links_says_what_the_rows_say(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_run *run = open_job("dgx-h100", "packet", 0);
    CHECK_OK(orr_run_execute(run, &err), &err);
    struct orr_network_result network;
    CHECK(orr_run_network(run, &network) && network.messages > 0 && network.transmissions > 0, "packets were sent");
    CHECK(network.message_time_ns.p50 > 0 && network.message_time_ns.p50 <= network.message_time_ns.max, "a spread");
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_CSV, folder_path("tables"), NULL, &err), &err);
    const char *line = strchr(read_file(folder_path("tables/links.csv")), '\n');
    uint32_t rows = 0;
    struct orr_link_result link;
    for (; orr_run_link(run, rows, &link) && line != NULL; rows++) {
        char want[200];
        snprintf(want, sizeof want, "\n%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", link.from,
                 link.to, link.rate_bps, link.bytes, link.busy_ns);
        CHECK(strncmp(line, want, strlen(want)) == 0, "row %" PRIu32 " is not %s", rows, want);
        line = strchr(line + 1, '\n');
    }
    CHECK_U64(rows, orr_run_link_count(run), "a line each");
    CHECK(rows > 8, "eight GPUs and their switches");
    orr_run_close(run);
}

/* Rank 1 sends nothing. Rank 0 computes 5 us, and then waits for it. */
static void a_stall_says_who_waits_for_whom_since_when(void **state)
{
    (void)state;
    struct orr_error err = {0};
    const uint64_t first = 0;
    const struct orr_node compute = {.id = 0, .kind = ORR_NODE_COMPUTE, .name = "forward", .duration_us = 5};
    const struct orr_node receive = {.id = 7,
                                     .kind = ORR_NODE_RECEIVE,
                                     .name = "halo",
                                     .bytes = 4096,
                                     .peer = 1,
                                     .tag = 3,
                                     .after = &first,
                                     .after_count = 1};
    for (uint32_t rank = 0; rank < 2; rank++) {
        char path[128];
        struct orr_trace_maker *maker = NULL;
        snprintf(path, sizeof path, "%s.%" PRIu32 ".et", folder_path("stall"), rank);
        CHECK_OK(orr_trace_make(path, rank, &maker, &err), &err);
        CHECK_OK(orr_trace_add(maker, &compute, &err), &err);
        if (rank == 0) {
            CHECK_OK(orr_trace_add(maker, &receive, &err), &err);
        }
        CHECK_OK(orr_trace_end(maker, true, &err), &err);
    }
    struct orr_run_options *options = orr_run_options_new();
    struct orr_run *run = NULL;
    const char *prefix = folder_path("stall");
    CHECK_OK(orr_run_set(options, "workload", prefix, &err), &err);
    CHECK_OK(orr_run_set(options, "machine", "ring:2", &err), &err);
    CHECK_OK(orr_run_set(options, "bandwidth", "50GB/s", &err), &err);
    CHECK_OK(orr_run_open(options, &run, &err), &err);
    orr_run_options_delete(options);
    CHECK_STATUS(orr_run_execute(run, &err), ORR_ESTALL);
    struct orr_wait wait;
    CHECK_U64(orr_run_wait_count(run), 1, "one wait");
    CHECK(orr_run_wait(run, 0, &wait), "it is there");
    CHECK(wait.rank == 0 && wait.peer == 1 && wait.node == 7, "rank %" PRIu32 " for %" PRIu32, wait.rank, wait.peer);
    CHECK_TEXT(wait.what, "receive");
    CHECK_U64(wait.bytes, 4096, "as much");
    CHECK_U64(wait.since_ns, 5000, "when the compute was over");
    struct orr_finding finding;
    CHECK_U64(orr_run_finding_count(run), 1, "one finding");
    CHECK(orr_run_finding(run, 0, &finding), "it is there");
    CHECK_TEXT(finding.kind, "unmatched receive");
    CHECK(finding.rank_count == 2 && finding.ranks[0] == 0 && finding.ranks[1] == 1, "both ranks");
    CHECK(finding.node_count == 1 && finding.nodes[0] == 7, "the node");
    CHECK(finding.fix != NULL && finding.text != NULL, "with what to change");
    orr_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(the_machine_chooses_the_network_where_nobody_does, nothing_is_told_of_a_run_that_was_not_executed,
                  dimensions_and_intervals_are_rows, a_key_is_set_on_a_machine_that_makes_its_own_files,
                  the_table_of_links_says_what_the_rows_say, a_stall_says_who_waits_for_whom_since_when)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
