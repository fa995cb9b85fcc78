/* Both engines in one run, against packets alone: who is carried by which, and how far off the end is. */
#include "net/flow/flow.h"
#include "tests/check.h"
#include "tests/net/wired_bench.h"

enum { SENDS_MOST = 256 };

struct outcome {
    uint64_t mixed[SENDS_MOST], packets[SENDS_MOST];
    struct flow_counts counts;
};

static void keep_counts(void *context, const struct net *net)
{
    struct outcome *outcome = context;
    outcome->counts = flow_counts(net);
}

static void run_both(struct wired_bench *bench, const struct wired_send *sends, uint32_t count, struct outcome *outcome)
{
    (void)wired_bench_run_and_look(bench, &net_auto, sends, count, outcome->mixed, keep_counts, outcome);
    (void)wired_bench_run(bench, &net_packet, sends, count, outcome->packets);
}

static void check_near(const struct outcome *outcome, uint32_t i, double percent, const char *what)
{
    double off = 100 * ((double)outcome->mixed[i] - (double)outcome->packets[i]) / (double)outcome->packets[i];
    CHECK(off <= percent && off >= -percent,
          "%s: message %" PRIu32 " at %" PRIu64 ", with packets %" PRIu64 " (%.3f %%)", what, i, outcome->mixed[i],
          outcome->packets[i], off);
}

static void messages_that_never_meet_are_all_fluid_and_exact(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct outcome outcome = {0};
    wired_bench_open(&bench, 8, 1, 0, 100, 100, 1000);
    const struct wired_send sends[] = {{0, 0, 1, 1000000}, {100, 2, 3, 500000}, {5000, 4, 5, 70000}, {200000, 0, 1, 5}};
    run_both(&bench, sends, 4, &outcome);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_U64(outcome.mixed[i], outcome.packets[i], "message %" PRIu32, i);
    }
    CHECK_U64(outcome.counts.by_packets, 0, "no packets");
    wired_bench_close(&bench);
}

static void an_incast_is_all_packets_and_exact(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct outcome outcome = {0};
    struct wired_send sends[8];
    wired_bench_open(&bench, 9, 1, 0, 100, 100, 1000);
    bench.config.cc_mode = PACKET_CC_DCQCN;
    bench.config.ewma_gain = 1.0 / 256;
    bench.config.marks[bench.config.mark_count++] = (struct packet_mark){100000000000, 20000, 60000, 0.5};
    for (uint32_t i = 0; i < 8; i++) {
        sends[i] = (struct wired_send){0, i + 1, 0, 262144};
    }
    run_both(&bench, sends, 8, &outcome);
    CHECK_U64(outcome.counts.by_packets, 8, "all are packets");
    for (uint32_t i = 0; i < 8; i++) {
        check_near(&outcome, i, 1, "incast under DCQCN");
    }
    wired_bench_close(&bench);
}

static void both_engines_live_together_come_near_packets_alone(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct outcome outcome = {0};
    struct wired_send sends[12];
    wired_bench_open(&bench, 16, 1, 0, 100, 100, 1000);
    for (uint32_t i = 0; i < 4; i++) {
        sends[i] = (struct wired_send){0, i + 1, 0, 400000};                       /* an incast: packets */
        sends[4 + i] = (struct wired_send){i * 700, 5 + 2 * i, 6 + 2 * i, 600000}; /* pairs: fluid */
        sends[8 + i] = (struct wired_send){100000, i, i + 1, 50000};               /* a ring in the incast's wake */
    }
    sends[11] = (struct wired_send){300000, 13, 14, 1000};
    run_both(&bench, sends, 12, &outcome);
    CHECK(outcome.counts.by_packets >= 4 && outcome.counts.by_packets <= 8, "%" PRIu64, outcome.counts.by_packets);
    for (uint32_t i = 0; i < 12; i++) {
        check_near(&outcome, i, 1, "both engines");
    }
    for (uint32_t i = 4; i < 8; i++) {
        CHECK_U64(outcome.mixed[i], outcome.packets[i], "pairs that meet nobody, message %" PRIu32, i);
    }
    wired_bench_close(&bench);
}

static void a_message_met_on_its_way_goes_on_as_packets(void **state)
{
    (void)state;
    static const struct {
        uint64_t host_gbps, spine_gbps, at_ns, bytes;
    } cases[] = {{100, 100, 40000, 1000000}, {100, 100, 500, 300000},    {400, 100, 9000, 500000},
                 {25, 100, 90000, 700000},   {100, 100, 79000, 1000000}, {200, 50, 33333, 800001}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct wired_bench bench;
        struct outcome outcome = {0};
        wired_bench_open(&bench, 4, 2, 1, cases[k].host_gbps, cases[k].spine_gbps, 1000);
        const struct wired_send sends[] = {{0, 0, 3, cases[k].bytes}, {cases[k].at_ns, 1, 3, 200000}};
        run_both(&bench, sends, 2, &outcome);
        CHECK_U64(outcome.counts.converted, 1, "case %zu: the first was fluid until then", k);
        CHECK_U64(outcome.counts.by_packets, 2, "case %zu", k);
        check_near(&outcome, 0, 1, "met on its way");
        check_near(&outcome, 1, 1, "the one that met it");
        wired_bench_close(&bench);
    }
}

static void what_meets_packets_becomes_packets_in_turn(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct outcome outcome = {0};
    wired_bench_open(&bench, 6, 1, 0, 100, 100, 1000);
    /* 1 to 2 meets the acknowledgements of 0 to 1, and so on: a chain that is fluid until data meet at its end. */
    const struct wired_send sends[] = {
        {0, 0, 1, 800000}, {0, 1, 2, 800000}, {0, 2, 3, 800000}, {30000, 4, 3, 100000}, {200000, 4, 5, 9000}};
    run_both(&bench, sends, 5, &outcome);
    CHECK_U64(outcome.counts.by_packets, 4, "the chain and the one that met it");
    CHECK_U64(outcome.counts.converted, 3, "the chain");
    for (uint32_t i = 0; i < 5; i++) {
        check_near(&outcome, i, 1, "chain");
    }
    wired_bench_close(&bench);
}

static void lossy_links_are_for_packets(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct outcome outcome = {0};
    wired_bench_open(&bench, 4, 1, 0, 100, 100, 1000);
    bench.graph.links[1].error_rate = 0.001;
    const struct wired_send sends[] = {{0, 0, 1, 1000}, {0, 2, 3, 1000}};
    run_both(&bench, sends, 2, &outcome);
    CHECK_U64(outcome.counts.by_packets, 1, "host 1 has a lossy link, hosts 2 and 3 have not");
    wired_bench_close(&bench);
}

TEST_MAIN(messages_that_never_meet_are_all_fluid_and_exact, an_incast_is_all_packets_and_exact,
          both_engines_live_together_come_near_packets_alone, a_message_met_on_its_way_goes_on_as_packets,
          what_meets_packets_becomes_packets_in_turn, lossy_links_are_for_packets)
