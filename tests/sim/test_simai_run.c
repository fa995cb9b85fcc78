/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of SimAI workloads: golden ones restated (machine, rows, when rank 0 and the last message ended in SimAI 1.6
 * with AS_SEND_LAT=3), and what ours do that SimAI does not. */
#include "run/session.h"
#include "tests/sim/simai_bench.h"

static const struct {
    const char *gpus, *workload;
    uint64_t flows, last_ns, rank_ns;
} golden[] = {
    {"8", BENCH_HEADER("8", "1", "1", "1", "8") "1\nlayer -1 1000 ALLREDUCE 65536 1 NONE 0 1 NONE 0 1\n", 896, 44610,
     44616},
    {"8", BENCH_HEADER("8", "1", "1", "1", "8") "1\nlayer -1 1000 REDUCESCATTER 1048576 1 NONE 0 1 NONE 0 1\n", 448,
     24985, 24991},
    {"16", BENCH_HEADER("8", "1", "1", "1", "16") "1\nlayer -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 1048576 1\n", 32, 32610,
     32611},
    {"16", BENCH_HEADER("8", "2", "1", "1", "16") "1\nlayer -1 1000 ALLTOALL_EP 1048576 1 NONE 0 1 NONE 0 1\n", 16,
     16788, 16794},
    {"32",
     BENCH_HEADER("8", "1", "1", "1", "32") "2\n"
                                            "l0 -1 5000 ALLREDUCE 1048576 3000 ALLREDUCE 1048576 2000 ALLREDUCE "
                                            "4194304 100\n"
                                            "l1 -1 5000 ALLGATHER 1048576 3000 REDUCESCATTER 1048576 2000 NONE 0 100\n",
     10944, 321625, 321725},
};

/* Of rank 0; UINT64_MAX: it never ended. */
static uint64_t finish_of(const struct orr_run *run)
{
    struct orr_rank_result rank;
    orr_run_rank(run, 0, &rank);
    return rank.finished ? rank.finish_ns : UINT64_MAX;
}

static void a_run_ends_when_simais_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        for (int compat = 0; compat < 2; compat++) {
            struct orr_simai_simulation options = bench_options();
            struct orr_error err = {0};
            options.compat = compat == 1;
            struct orr_run *run = bench_open(golden[i].gpus, golden[i].workload, options);
            CHECK_OK(orr_run_execute(run, &err), &err);
            CHECK_U64(orr_run_message_count(run), golden[i].flows, "case %zu", i);
            CHECK_U64(session_result(run)->simai->last_flow_ns, golden[i].last_ns, "case %zu", i);
            CHECK_U64(finish_of(run), golden[i].rank_ns, "case %zu", i);
            orr_run_close(run);
        }
    }
}

static void the_table_of_rows_is_simais(void **state)
{
    (void)state;
    struct orr_simai_simulation options = bench_options();
    struct orr_error err = {0};
    options.compat = true;
    struct orr_run *run = bench_open(golden[4].gpus, golden[4].workload, options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    char *table = bench_output(run, ORR_OUTPUT_SIMAI_CSV);
    CHECK_CONTAINS(table, "test1, 159 (49.27%), 0 (0.00%), 143 (44.51%), 0 (0.00%), 0 (0.00%), 0 (0.00%), 20 (6.22%), "
                          "302 (93.78%), 322\n");
    CHECK_CONTAINS(table, "l0,test1,5.000000,2.000000,3.000000,47.600000,158.529000,47.600000,47.600000,20.516020,"
                          "35.903034,158.530000,24.640446,36.960670,47.600000,20.516020,35.903034,321.725000\n");
    CHECK_CONTAINS(table, "l1,test1,5.000000,2.000000,3.000000,23.905000,0.000000,24.085000,23.905000,40.851810,"
                          "35.745335,0.000000,nan,0.000000,24.085000,40.546501,35.478188,321.725000\n");
    CHECK_CONTAINS(table, "total exposed comm,301.725000,total comp,20.000000,total time,321.725000\n");
    free(table);
    char *use = bench_output(run, ORR_OUTPUT_SIMAI_UTILIZATION);
    CHECK_CONTAINS(use, " time (us) ,dim1 util,dim2 util,\n10.000000,50.000000,0.000000,\n20.000000,100.000000,");
    free(use);
    char *log = bench_output(run, ORR_OUTPUT_SIMAI_LOG);
    CHECK_CONTAINS(log, "pass: 0 finished at time: 163195\n");
    CHECK_CONTAINS(log, "all passes finished at time: 321725, id of first layer: l0\n");
    free(log);
    orr_run_close(run);
}

/* Each of 32 ranks computes 20 us, and what it waits for is the rest; 8 ranks of a server and 4 of a rail communicate.
 */
static void the_result_is_that_of_any_run(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_simai_simulation options = bench_options();
    options.run.keep_intervals = true;
    struct orr_run *run = bench_open(golden[4].gpus, golden[4].workload, options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    for (uint32_t rank = 0; rank < orr_run_rank_count(run); rank++) {
        struct orr_rank_result one;
        orr_run_rank(run, rank, &one);
        CHECK_U64(one.compute_ns, 20000, "rank %" PRIu32, rank);
        CHECK_U64(one.compute_ns + one.exposed_comm_ns + one.exposed_other_ns + one.idle_ns, orr_run_time_ns(run),
                  "each nanosecond is counted once");
        CHECK(one.busy_comm_ns >= one.exposed_comm_ns, "hidden communication counts as busy");
    }
    static const struct {
        const char *type;
        uint32_t group_size;
        uint64_t bytes, count;
    } want[] = {{"all-gather", 8, 1048576 / 8, 32}, /* one rank's part, as in a trace */
                {"reduce-scatter", 8, 1048576, 32},
                {"all-reduce", 4, 4194304, 32},
                {"all-reduce", 8, 1048576, 64}};
    CHECK_U64(orr_run_collective_count(run), COUNT_OF(want), "kinds of collectives");
    for (uint32_t i = 0; i < orr_run_collective_count(run); i++) {
        struct orr_collective_result one;
        bool found = false;
        orr_run_collective(run, i, &one);
        for (size_t j = 0; j < COUNT_OF(want); j++) {
            found = found || (strcmp(one.type, want[j].type) == 0 && one.group_size == want[j].group_size &&
                              one.bytes == want[j].bytes && one.count == want[j].count);
        }
        CHECK(found, "%s of %" PRIu64 " B in groups of %" PRIu32 ", %" PRIu64 " times", one.type, one.bytes,
              one.group_size, one.count);
    }
    char *json = bench_output(run, ORR_OUTPUT_JSON);
    CHECK_CONTAINS(json, "\"state\": \"finished\"");
    CHECK_CONTAINS(json, "\"per_rank\": [");
    CHECK_CONTAINS(json, "\"simai\": {");
    free(json);
    char *timeline = bench_output(run, ORR_OUTPUT_TIMELINE);
    CHECK_CONTAINS(timeline, "\"name\": \"weight gradient\"");
    CHECK_CONTAINS(timeline, "\"Collective name\": \"all-reduce\", \"bytes\": 4194304, "
                             "\"Process Group Name\": \"dp\", \"Group size\": 4");
    free(timeline);
    char *intervals = bench_output(run, ORR_OUTPUT_COMM_INTERVALS);
    CHECK_CONTAINS(intervals, "\"l0\",all-reduce,4194304,");
    free(intervals);
    CHECK_STATUS(orr_run_write(run, ORR_OUTPUT_ASTRA, "never.txt", NULL, &err), ORR_EINVAL);
    orr_run_close(run);
}

/* 4,608,000 B over 8 ranks and 8 channels are messages of 72,000 B: eight full packets, and no shorter one behind. */
static void whole_packets_end_here_and_stall_simai(void **state)
{
    (void)state;
    static const char workload[] =
        BENCH_HEADER("8", "1", "1", "1", "8") "1\nlayer -1 1000 ALLREDUCE 4608000 1 NONE 0 1 NONE 0 1\n";
    struct orr_simai_simulation options = bench_options();
    struct orr_error err = {0};
    struct orr_run *run = bench_open("8", workload, options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    orr_run_close(run);
    options.compat = true;
    run = bench_open("8", workload, options);
    CHECK_STATUS(orr_run_execute(run, &err), ORR_ESTALL);
    char *why = bench_output(run, ORR_OUTPUT_STALL);
    CHECK_CONTAINS(why, "counts a message as sent when a packet of 61 to 8999 B leaves");
    CHECK_CONTAINS(why, "rank 0: row \"layer\", forward, all-reduce of 4608000 B: 112 messages to send, 0 to receive");
    free(why);
    CHECK(finish_of(run) == UINT64_MAX, "rank 0 never ends");
    orr_run_close(run);
}

static void experts_talk_without_tensor_parallelism(void **state)
{
    (void)state;
    static const char workload[] =
        BENCH_HEADER("1", "16", "1", "1", "16") "1\nlayer -1 1000 ALLTOALL_EP 1048576 1 NONE 0 1 NONE 0 1\n";
    struct orr_simai_simulation options = bench_options();
    struct orr_error err = {0};
    struct orr_run *run = bench_open("16", workload, options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    CHECK_U64(orr_run_message_count(run), 16 * 15, "all pairs");
    orr_run_close(run);
    options.compat = true;
    run = bench_open("16", workload, options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    CHECK_U64(orr_run_message_count(run), 0, "SimAI has no such group");
    CHECK_U64(finish_of(run), 1005, "and goes on");
    orr_run_close(run);
}

static uint64_t time_of(const char *gpus, const char *workload, struct orr_simai_simulation options, uint64_t *flows)
{
    struct orr_error err = {0};
    struct orr_run *run = bench_open(gpus, workload, options);
    CHECK_OK(orr_run_execute(run, &err), &err);
    uint64_t ns = orr_run_time_ns(run);
    *flows = orr_run_message_count(run);
    orr_run_close(run);
    return ns;
}

/* Four micro-batches of 300 us forward and back: alone 1.2 ms, on two stages one more and the messages. */
#define BATCH   "embedding_layer -1 100000 NONE 0 100000 NONE 0 100000 NONE 0 0\n"
#define BATCHES "4\n" BATCH BATCH BATCH BATCH

static void a_pipeline_of_two_stages_takes_one_more_micro_batch(void **state)
{
    (void)state;
    struct orr_simai_simulation options = bench_options();
    uint64_t flows = 0;
    uint64_t alone = time_of("8", BENCH_HEADER("8", "1", "1", "4", "8") BATCHES, options, &flows);
    CHECK_U64(flows, 0, "one stage sends nothing");
    uint64_t piped = time_of("16", BENCH_HEADER("8", "1", "2", "4", "16") BATCHES, options, &flows);
    CHECK_U64(flows, 4 * 2 * 8, "a message forward and back for each micro-batch and rank");
    CHECK(alone > 1200000 && alone < 1200100, "%" PRIu64, alone);
    CHECK(piped > 1500000 && piped < 1700000, "%" PRIu64, piped);
    options.compat = true;
    uint64_t original = time_of("16", BENCH_HEADER("8", "1", "2", "4", "16") BATCHES, options, &flows);
    CHECK_U64(original, alone, "SimAI has no pipeline");
}

static void switches_reduce_where_they_are_asked_to(void **state)
{
    (void)state;
    static const char workload[] =
        BENCH_HEADER("8", "1", "1", "1", "8") "1\nlayer -1 1000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1\n";
    struct orr_simai_simulation options = bench_options();
    uint64_t flows = 0;
    uint64_t rings = time_of("8", workload, options, &flows);
    options.nvls = true;
    uint64_t switches = time_of("8", workload, options, &flows);
    CHECK_U64(flows, 4 * 2 * 8, "four chunks up and down");
    CHECK(switches < rings * 2 / 3, "%" PRIu64 " against %" PRIu64, switches, rings);
}

/* But for channels inside a server, which are one message where messages are fluid, unless shortcuts are off. */
static void every_network_runs_the_same_messages(void **state)
{
    (void)state;
    static const enum orr_backend backends[] = {ORR_BACKEND_FLOW, ORR_BACKEND_AUTO};
    struct orr_simai_simulation options = bench_options();
    uint64_t flows = 0;
    uint64_t packets = time_of(golden[4].gpus, golden[4].workload, options, &flows);
    for (size_t i = 0; i < COUNT_OF(backends); i++) {
        uint64_t same = 0;
        options.run.backend = backends[i];
        uint64_t ns = time_of(golden[4].gpus, golden[4].workload, options, &same);
        CHECK(backends[i] == ORR_BACKEND_FLOW ? same <= flows : same == flows, "backend %zu: %" PRIu64 " of %" PRIu64,
              i, same, flows);
        CHECK(ns > packets * 95 / 100 && ns < packets * 105 / 100, "%" PRIu64 " against %" PRIu64, ns, packets);
    }
    uint64_t whole = 0;
    options.run.backend = ORR_BACKEND_FLOW;
    options.run.no_fast_forward = true;
    uint64_t ns = time_of(golden[4].gpus, golden[4].workload, options, &whole);
    CHECK_U64(whole, flows, "every channel by itself");
    CHECK(ns > packets * 95 / 100 && ns < packets * 105 / 100, "%" PRIu64 " against %" PRIu64, ns, packets);
}

static const struct {
    const char *workload, *message;
} bad[] = {
    {BENCH_HEADER("3", "1", "1", "1", "8") "1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "8 GPUs do not divide into TP 3"},
    {BENCH_HEADER("4", "3", "1", "1", "8") "1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
     "expert parallelism of 3 does not divide data parallelism of 2"},
    {BENCH_HEADER("8", "1", "1", "1", "8") "1\nl -1 1 ALLREDUCES 9 1 NONE 0 1 NONE 0 1\n",
     "workload.txt:3: unknown communication \"ALLREDUCES\"; did you mean \"ALLREDUCE\"?"},
    {BENCH_HEADER("8", "1", "1", "1", "8") "1\nl -1 -5 NONE 0 1 NONE 0 1 NONE 0 1\n",
     "workload.txt:3: the forward time is negative"},
    {"HYBRID_DATA_MODEL ep: 1\n1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "policy HYBRID_DATA_MODEL divides the ranks"},
};

static void bad_workloads_are_refused_with_the_place(void **state)
{
    (void)state;
    char text[128];
    char config[128];
    char machine[128];
    orr_run_close(bench_open("8", golden[0].workload, bench_options())); /* for its files */
    bench_write("SimAI.conf", bench_config, config);
    snprintf(machine, sizeof machine, "%s/topology", folder);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct orr_simai_simulation options = bench_options();
        struct orr_error err = {0};
        struct orr_run *run = NULL;
        bench_write("workload.txt", bad[i].workload, text);
        options.run.workload = text;
        options.topology = machine;
        options.config = config;
        CHECK(orr_simai_open(&options, &run, &err) != ORR_OK, "case %zu", i);
        CHECK_CONTAINS(err.text, bad[i].message);
        CHECK(run == NULL, "nothing is opened");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(a_run_ends_when_simais_does, the_table_of_rows_is_simais, the_result_is_that_of_any_run,
                  whole_packets_end_here_and_stall_simai, experts_talk_without_tensor_parallelism,
                  a_pipeline_of_two_stages_takes_one_more_micro_batch, switches_reduce_where_they_are_asked_to,
                  every_network_runs_the_same_messages, bad_workloads_are_refused_with_the_place)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
