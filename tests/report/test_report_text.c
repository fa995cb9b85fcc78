/* SPDX-License-Identifier: Apache-2.0 */
/* What a person reads first: the lines must be right, few, and honest about a run that did not end. */
#include "tests/report/fixture.h"

#include "report/bound.h"
#include "report/number.h"
#include "report/summary.h"

static void numbers_are_in_the_unit_a_person_would_choose(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *want;
    } times[] = {{0, "0 ns"},          {518, "518 ns"},      {518.25, "518.2 ns"}, {999.97, "1.000 us"},
                 {117780, "117.8 us"}, {9999.6, "10.00 us"}, {999960, "1.000 ms"}, {46129156, "46.13 ms"},
                 {2.5e9, "2.500 s"},   {1234.56e9, "1235 s"}};
    static const struct {
        double bytes;
        const char *want;
    } sizes[] = {
        {0, "0 B"}, {1000, "1000 B"}, {1048576, "1 MiB"}, {1000003, "976.6 KiB"}, {1.5 * 1073741824, "1.50 GiB"}};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        CHECK_TEXT(report_time(times[i].ns).text, times[i].want);
    }
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CHECK_TEXT(report_bytes(sizes[i].bytes).text, sizes[i].want);
    }
    CHECK_TEXT(report_time_long(405520).text, "405.520 us");
    CHECK_TEXT(report_time_long(46129156).text, "46.129156 ms");
    CHECK_TEXT(report_time_long(1234567890).text, "1.234567 s");
    CHECK_TEXT(report_short(12.5).text, "12.5");
    CHECK_TEXT(report_short(0).text, "0");
    CHECK_TEXT(report_fixed(-0.0 / 0.0, 3).text, "nan");
}

static void the_step_time_the_parts_and_the_bandwidths_are_shown(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    static const char *const parts[] = {
        "Step time  405.520 us  (405520 ns)\n",
        "Machine    8 ranks, Ring 8, congestion-unaware network\n",
        "Work       24 nodes, 672 messages, 5000 events\n",
        "  compute                50.00 us  12.3%   all  50.00 us  12.3%  50.00 us  12.3%   all\n",
        "  exposed communication  355.5 us  87.7%   all  355.5 us  87.7%  355.5 us  87.7%   all\n",
        "  all-reduce, 1 MiB      8      1  1 MiB  117.8 us  117.8 us  117.8 us      8.90     15.58\n",
        /* 8 * 2 MiB / 287740 ns, and 7/8 of that */
        "  all-gather, 2 MiB      8      1  2 MiB  287.7 us  287.7 us  287.7 us     58.31     51.02\n",
        "  0: Ring 8     50   500 ns     16       672  126 MiB       37.9%\n",
        "Bound by communication (bandwidth): 87.7% of the step is exposed communication, mostly all-gather\n",
        "dimension 0 (Ring 8) is busiest, at 37.9% of what its",
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        CHECK_CONTAINS(text, parts[i]);
    }
    CHECK(strstr(text, "queued") == NULL, "the unaware network has no queues");
    CHECK(strstr(text, "memory and CPU") == NULL, "there was none");
    free(text);
}

static void a_congestion_aware_run_shows_its_queues(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.config.backend = ORR_BACKEND_AWARE;
    f.result.dims[0].queued = 77;
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "congestion-aware network");
    CHECK_CONTAINS(text, "links busy  queued\n");
    CHECK_CONTAINS(text, "37.9%      77\n");
    free(text);
}

static void links_carrying_more_than_they_can_are_pointed_out(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK(strstr(text, "Above 100%") == NULL, "they do not: %s", text);
    free(text);
    f.result.dims[0].busy_ns = 3 * 16 * f.result.end_ns;
    text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "300.0%\n  Above 100%: messages do not wait for each other");
    free(text);
}

static void any_run_fits_forty_lines(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.config.dims.count = TOPO_MAX_DIMS;
    for (uint32_t d = 1; d < TOPO_MAX_DIMS; d++) {
        f.config.dims.dim[d] = f.config.dims.dim[0];
    }
    f.ranks[3].exposed_other_ns = 17;
    f.result.dims[2] = (struct sim_dim_result){.links = 1, .busy_ns = 3 * f.result.end_ns};
    for (uint32_t i = 0; i < FIXTURE_COLLECTIVES; i++) {
        f.collectives[i] = fixture_collective((int32_t)(i / 5) - 2, 1000 + i, 8, 100 + i);
    }
    f.result.collective_count = FIXTURE_COLLECTIVES;
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK(fixture_lines(text) <= 40, "%u lines:\n%s", fixture_lines(text), text);
    CHECK_CONTAINS(text, "and 9 more dimensions\n");
    free(text);

    f.result.collective_count = 5;
    text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "receive, 5 sizes");
    free(text);
}

static void sizes_beyond_the_allowance_are_counted_not_dropped(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    for (uint32_t i = 0; i < 20; i++) {
        f.collectives[i] = fixture_collective(COLL_ALL_REDUCE, 1024 * (uint64_t)(i + 1), 16, 100 + i);
    }
    f.result.collective_count = 20;
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "  all-reduce, 20 sizes");
    CHECK_CONTAINS(text, "\n    20 KiB ");
    CHECK_CONTAINS(text, "\n    14 KiB ");
    CHECK_CONTAINS(text, "\n    and 13 more sizes\n");
    CHECK(strstr(text, "\n    13 KiB ") == NULL, "seven sizes and the count of the rest are shown");
    free(text);
}

static void a_run_that_did_not_end_says_so_at_the_top(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.ranks[5].finished = false;
    f.result.ranks_finished = 7;
    f.result.nodes_done = 22;
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK(strncmp(text, "INTERRUPTED at 405.520 us (405520 ns): 7 of 8 ranks finished, 22 of 24 nodes done.\n", 40) ==
              0,
          "%s", text);
    CHECK(strstr(text, "Step time") == NULL, "a step that did not end has no time");
    CHECK_CONTAINS(text, "The run did not end");
    free(text);

    static const uint32_t ranks[] = {5};
    const struct sim_stall_finding findings[] = {{SIM_STALL_UNMATCHED_RECV,
                                                  "rank 5: node 7 \"r\x1b\" waits for a message nobody sends",
                                                  "add the send", ranks, 1, NULL, 0}};
    f.result.stall = (struct sim_stall){.kind = SIM_STALL_UNMATCHED_RECV, .findings = findings, .finding_count = 1};
    text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "STALLED at 405.520 us");
    CHECK_CONTAINS(text, "  rank 5: node 7 \"r?\" waits for a message nobody sends\n  Fix: add the send\n");
    free(text);
}

static void no_communication_and_none_finished_are_told_apart(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.result.collective_count = 0;
    char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "\nCommunication  none\n");
    free(text);
    f.ranks[5].finished = false;
    f.result.ranks_finished = 7;
    text = fixture_written(&f, ORR_OUTPUT_TEXT);
    CHECK_CONTAINS(text, "\nCommunication  none finished\n");
    free(text);
}

static void the_findings_left_out_are_counted_as_one_says_it(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    static const struct sim_stall_finding findings[3] = {{.text = "a"}, {.text = "b"}, {.text = "c"}};
    static const char *const want[] = {"  (and 1 more finding)\n", "  (and 2 more findings)\n"};
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        f.result.stall = (struct sim_stall){.kind = SIM_STALL_WAITS, .findings = findings, .finding_count = i + 2};
        char *text = fixture_written(&f, ORR_OUTPUT_TEXT);
        CHECK_CONTAINS(text, want[i]);
        free(text);
    }
}

/* The engine's totals are modulo 2^64: eight times 5e18 ns arrive as 3.1e18. */
static void a_mean_lies_between_minimum_and_maximum_whatever_the_total(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.collectives[0] = fixture_collective(COLL_ALL_REDUCE, 1 << 20, 8, UINT64_C(5000000000000000000));
    f.collectives[1] = fixture_collective(COLL_ALL_REDUCE, 2 << 20, 8, UINT64_C(7000000000000000000));
    f.collectives[1].total_ns -= 8; /* a spread of times */
    f.collectives[1].min_ns -= 8;
    uint32_t row = 0;
    struct report_kind kind;
    CHECK(report_kind_next(&f.result, &row, &kind), "there is a kind");
    CHECK(kind.mean_ns == 6e18, "mean of the kind: %f", kind.mean_ns);
    CHECK(kind.algorithm_gbps > 0 && kind.algorithm_gbps < 1e-11, "bandwidth: %g", kind.algorithm_gbps);
    CHECK_U64(report_kind_total_ns(&kind), UINT64_MAX, "as large as 64 bits can say");
    kind = report_kind_of_row(&f.result, 1);
    CHECK(kind.mean_ns == 7e18, "mean of the row: %f", kind.mean_ns);
    f.collectives[0] = fixture_collective(COLL_ALL_REDUCE, 1 << 20, 8, 1000);
    kind = report_kind_of_row(&f.result, 0);
    CHECK(kind.mean_ns == 1000, "mean of a row that fits: %f", kind.mean_ns);
    CHECK_U64(report_kind_total_ns(&kind), 8000, "as it is");
}

static void set_parts(struct fixture *f, uint32_t rank, uint64_t compute, uint64_t comm, uint64_t other, uint64_t idle)
{
    f->ranks[rank].compute_ns = compute;
    f->ranks[rank].exposed_comm_ns = comm;
    f->ranks[rank].exposed_other_ns = other;
    f->ranks[rank].idle_ns = idle;
    f->result.end_ns = compute + comm + other + idle;
}

static void the_bound_is_the_largest_of_work_imbalance_and_the_rest(void **state)
{
    (void)state;
    static const struct {
        uint64_t all[4], rank5[4]; /* compute, communication, other, idle */
        int32_t kind;
        enum report_bound_kind want;
        uint32_t rank;
    } rows[] = {
        {{80, 20, 0, 0}, {90, 10, 0, 0}, COLL_ALL_REDUCE, REPORT_BOUND_COMPUTE, 5},
        {{5, 20, 70, 5}, {5, 20, 75, 0}, COLL_ALL_REDUCE, REPORT_BOUND_HOST, 5},
        /* The others wait for rank 5 inside the collective: that is imbalance, whatever it looks like. */
        {{10, 90, 0, 0}, {90, 10, 0, 0}, COLL_ALL_REDUCE, REPORT_BOUND_IMBALANCE, 5},
        {{10, 0, 0, 90}, {90, 0, 0, 10}, COLL_ALL_REDUCE, REPORT_BOUND_IMBALANCE, 5},
        {{10, 90, 0, 0}, {10, 90, 0, 0}, COLL_ALL_TO_ALL, REPORT_BOUND_BANDWIDTH, 0},
        {{10, 90, 0, 0}, {10, 90, 0, 0}, SIM_TYPE_RECV, REPORT_BOUND_RECEIVES, 0},
        {{10, 20, 0, 70}, {10, 20, 0, 70}, COLL_ALL_REDUCE, REPORT_BOUND_IDLE, 5},
        {{0, 0, 0, 0}, {0, 0, 0, 0}, COLL_ALL_REDUCE, REPORT_BOUND_NOTHING, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        fixture_make(&f);
        for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
            const uint64_t *p = rank == 5 ? rows[i].rank5 : rows[i].all;
            set_parts(&f, rank, p[0], p[1], p[2], p[3]);
        }
        f.ranks[5].finish_ns++;
        f.collectives[0].type = rows[i].kind;
        f.result.collective_count = 1;
        struct report_bound bound = report_bound_of(&f.result);
        CHECK(bound.kind == rows[i].want, "row %zu: %s, not %s", i, report_bound_name(bound.kind),
              report_bound_name(rows[i].want));
        CHECK_U64(bound.rank, rows[i].rank, "row %zu: %s", i, bound.sentence);
    }
}

static void communication_is_bound_by_what_its_messages_spend_longest_on(void **state)
{
    (void)state;
    static const struct {
        double bytes, latency_ns, endpoint_ns;
        enum report_bound_kind want;
    } rows[] = {
        {1e6, 500, 10, REPORT_BOUND_BANDWIDTH},
        {100, 500, 10, REPORT_BOUND_LATENCY},
        {100, 500, 501, REPORT_BOUND_ENDPOINTS},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        fixture_make(&f);
        for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
            set_parts(&f, rank, 10, 90, 0, 0);
        }
        f.collectives[0].type = COLL_ALL_GATHER;
        f.result.collective_count = 1;
        f.config.dims.dim[0].bytes_per_ns = 50;
        f.config.dims.dim[0].latency_ns = rows[i].latency_ns;
        f.config.system.endpoint_delay_ns = (uint64_t)rows[i].endpoint_ns;
        f.result.dims[0] = (struct sim_dim_result){
            .messages = 10, .bytes = (uint64_t)(10 * rows[i].bytes), .busy_ns = 100, .links = 8};
        struct report_bound bound = report_bound_of(&f.result);
        CHECK(bound.kind == rows[i].want, "row %zu: %s", i, bound.sentence);
    }
}

static void work_is_named_for_what_it_waits_for(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        set_parts(&f, rank, 90, 10, 0, 0);
        f.ranks[rank].roofline_weight = 91;
        f.ranks[rank].compute_bound = 20;
    }
    CHECK(report_bound_of(&f.result).kind == REPORT_BOUND_MEMORY, "%s", report_bound_of(&f.result).sentence);
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        f.ranks[rank].compute_bound = 70;
    }
    CHECK(report_bound_of(&f.result).kind == REPORT_BOUND_COMPUTE, "%s", report_bound_of(&f.result).sentence);
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        set_parts(&f, rank, 5, 10, 85, 0);
        f.ranks[rank].union_ns[SIM_OP_CPU] = 5;
        f.ranks[rank].union_ns[SIM_OP_REMOTE_MEM] = 80;
    }
    CHECK_CONTAINS(report_bound_of(&f.result).sentence, "Bound by remote memory");
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        f.ranks[rank].union_ns[SIM_OP_CPU] = 81;
    }
    CHECK(strstr(report_bound_of(&f.result).sentence, "profiler") == NULL, "no recording, no profiler");
    f.config.policy = ORR_POLICY_STREAMS;
    CHECK_CONTAINS(report_bound_of(&f.result).sentence, "the profiler's own work");
    f.config.tuning.host_scale = 0.5;
    CHECK(strstr(report_bound_of(&f.result).sentence, "profiler") == NULL, "the host was corrected");
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        set_parts(&f, rank, 10, 90, 0, 0);
        f.ranks[rank].nodes_of[SIM_OP_COMM] = 4;
    }
    f.config.tuning.launch_ns = 20;
    CHECK(report_bound_of(&f.result).kind == REPORT_BOUND_LAUNCH, "%s", report_bound_of(&f.result).sentence);
}

static void an_unwritable_stream_is_an_error(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct orr_error err = {0};
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        skip();
    }
    CHECK_STATUS(report_write(&f.result, ORR_OUTPUT_TEXT, NULL, full, &err), ORR_EFAIL);
    CHECK_CONTAINS(err.text, "No space left on device");
    (void)fclose(full);
}

TEST_MAIN(numbers_are_in_the_unit_a_person_would_choose, the_step_time_the_parts_and_the_bandwidths_are_shown,
          a_congestion_aware_run_shows_its_queues, links_carrying_more_than_they_can_are_pointed_out,
          any_run_fits_forty_lines, sizes_beyond_the_allowance_are_counted_not_dropped,
          a_run_that_did_not_end_says_so_at_the_top, no_communication_and_none_finished_are_told_apart,
          the_findings_left_out_are_counted_as_one_says_it, a_mean_lies_between_minimum_and_maximum_whatever_the_total,
          the_bound_is_the_largest_of_work_imbalance_and_the_rest,
          communication_is_bound_by_what_its_messages_spend_longest_on, work_is_named_for_what_it_waits_for,
          an_unwritable_stream_is_an_error)
