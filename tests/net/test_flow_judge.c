/* SPDX-License-Identifier: Apache-2.0 */
/* Which network carries a job that is given to `flow` or `auto`, and how far its end is from the packet network's. */
#include "base/arena.h"
#include "net/flow/flow.h"
#include "tests/check.h"
#include "tests/net/wired_bench.h"

enum { SENDS_MOST = 512 };

static uint64_t last_of(const uint64_t *times, uint32_t count)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        last = times[i] > last ? times[i] : last;
    }
    return last;
}

/* Percent that the job's end is off the packet network's. */
static double off_percent(struct wired_bench *bench, const struct net_ops *ops, const struct wired_send *sends,
                          uint32_t count)
{
    static uint64_t packets[SENDS_MOST];
    static uint64_t judged[SENDS_MOST];
    (void)wired_bench_run(bench, &net_packet, sends, count, packets);
    (void)wired_bench_run(bench, ops, sends, count, judged);
    double by_packets = (double)last_of(packets, count);
    return 100 * ((double)last_of(judged, count) - by_packets) / by_packets;
}

static void check_carrier(struct wired_bench *bench, const struct net_ops *ops, const struct wired_send *sends,
                          uint32_t count, const struct net_ops *carrier, const char *what)
{
    uint64_t arrived[SENDS_MOST];
    (void)wired_bench_run(bench, ops, sends, count, arrived);
    CHECK(bench->carrier == carrier, "%s: %s is carried by %s", what, ops->name, bench->carrier->name);
}

static uint32_t ring(struct wired_send *sends, uint32_t hosts, uint64_t bytes)
{
    for (uint32_t i = 0; i < hosts; i++) {
        sends[i] = (struct wired_send){0, i, (i + 1) % hosts, bytes};
    }
    return hosts;
}

static uint32_t incast(struct wired_send *sends, uint32_t senders, uint64_t at_ns, uint64_t bytes)
{
    for (uint32_t i = 0; i < senders; i++) {
        sends[i] = (struct wired_send){at_ns, i + 1, 0, bytes};
    }
    return senders;
}

static void messages_that_never_meet_stay_fluid(void **state)
{
    (void)state;
    struct wired_bench bench;
    wired_bench_open(&bench, 8, 1, 0, 100, 100, 1000);
    const struct wired_send sends[] = {{0, 0, 1, 1000000}, {100, 2, 3, 500000}, {5000, 4, 5, 70000}, {200000, 0, 1, 5}};
    check_carrier(&bench, &net_flow, sends, 4, &net_flow, "pairs");
    check_carrier(&bench, &net_auto, sends, 4, &net_auto, "pairs");
    wired_bench_close(&bench);
}

static void a_ring_with_room_in_its_windows_stays_fluid_and_one_without_does_not(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct wired_send sends[8];
    wired_bench_open(&bench, 8, 1, 0, 400, 400, 500);
    uint32_t count = ring(sends, 8, 1 << 20);
    check_carrier(&bench, &net_auto, sends, count, &net_auto, "a window of a round trip and some packets");
    bench.config.payload_bytes = 9000;
    check_carrier(&bench, &net_auto, sends, count, &net_packet, "a window of three packets");
    bench.config.has_window = false;
    check_carrier(&bench, &net_auto, sends, count, &net_auto, "no window");
    wired_bench_close(&bench);
}

static void an_incast_is_for_packets(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct wired_send sends[8];
    wired_bench_open(&bench, 9, 1, 0, 100, 100, 1000);
    uint32_t count = incast(sends, 8, 0, 262144);
    check_carrier(&bench, &net_flow, sends, count, &net_packet, "incast");
    check_carrier(&bench, &net_auto, sends, count, &net_packet, "incast");
    wired_bench_close(&bench);
}

static void a_hundredth_of_the_run_may_be_anything(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct wired_send sends[8] = {{0, 5, 6, 100000000}};
    wired_bench_open(&bench, 8, 1, 0, 100, 100, 1000);
    bench.expected_bytes = 100000000;
    uint32_t count = 1 + incast(sends + 1, 3, 4000000, 200000); /* some 50 us of 8.3 ms */
    check_carrier(&bench, &net_auto, sends, count, &net_auto, "a short incast beside a long message");
    double off = off_percent(&bench, &net_auto, sends, count);
    CHECK(fabs(off) < 1, "%.3f %%", off);
    wired_bench_close(&bench);
}

static void a_control_that_always_reacts_is_for_packets_beyond_a_round_trip(void **state)
{
    (void)state;
    struct wired_bench bench;
    wired_bench_open(&bench, 4, 1, 0, 100, 100, 1000);
    static const enum packet_cc controls[] = {PACKET_CC_HPCC, PACKET_CC_TIMELY, PACKET_CC_PINT, PACKET_CC_SWIFT};
    for (size_t i = 0; i < COUNT_OF(controls); i++) {
        bench.config.cc_mode = controls[i];
        const struct wired_send longer = {0, 0, 1, 1000000};
        const struct wired_send shorter = {0, 0, 1, 10000};
        check_carrier(&bench, &net_auto, &longer, 1, &net_packet, "a long message");
        check_carrier(&bench, &net_auto, &shorter, 1, &net_auto, "one that is sent before it is acknowledged");
    }
    wired_bench_close(&bench);
}

static void short_messages_that_take_turns_at_a_host_are_for_packets(void **state)
{
    (void)state;
    struct wired_bench bench;
    wired_bench_open(&bench, 4, 1, 0, 100, 100, 1000);
    const struct wired_send shorter[] = {{0, 0, 1, 100000}, {0, 0, 2, 100000}};
    const struct wired_send longer[] = {{0, 0, 1, 10000000}, {0, 0, 2, 10000000}};
    check_carrier(&bench, &net_auto, shorter, 2, &net_packet, "25 round trips");
    check_carrier(&bench, &net_auto, longer, 2, &net_auto, "a thousand");
    double off = off_percent(&bench, &net_auto, longer, 2);
    CHECK(fabs(off) < 0.5, "%.3f %%", off);
    wired_bench_close(&bench);
}

static void what_only_packets_can_tell_is_for_packets(void **state)
{
    (void)state;
    const struct wired_send send = {0, 0, 1, 100000};
    for (uint32_t i = 0; i < 4; i++) {
        struct wired_bench bench;
        wired_bench_open(&bench, 4, 1, 0, 100, 100, 1000);
        bench.config.timeouts = true;
        bench.graph.links[3].error_rate = i == 0 ? 0.001 : 0;
        bench.config.ack_interval = i == 1 ? 4000 : 1;
        bench.config.routing = i == 2 ? PACKET_ROUTING_SPRAY : PACKET_ROUTING_ECMP;
        bench.config.nic_total_pause = i == 3 ? 3 : 0;
        check_carrier(&bench, &net_auto, &send, 1, &net_packet, "losses, few acknowledgements, ways, pauses");
        check_carrier(&bench, &net_flow, &send, 1, &net_packet, "losses, few acknowledgements, ways, pauses");
        wired_bench_close(&bench);
    }
}

static void jobs_of_very_many_packets_stay_fluid_on_flow_alone(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct wired_send sends[8];
    wired_bench_open(&bench, 9, 1, 0, 100, 100, 1000);
    uint32_t count = incast(sends, 8, 0, UINT64_C(2500000000)); /* 20 million packets */
    bench.expected_bytes = 2e10;
    check_carrier(&bench, &net_flow, sends, count, &net_flow, "fixed windows");
    bench.config.cc_mode = PACKET_CC_DCQCN;
    bench.config.marks[bench.config.mark_count++] = (struct packet_mark){100000000000, 40000000, 60000000, 0.5};
    count = incast(sends, 8, 0, 262144);
    check_carrier(&bench, &net_auto, sends, count, &net_packet, "whatever it costs");
    wired_bench_close(&bench);
}

static void many_messages_of_one_packet_are_for_packets_because_shares_are_dearer(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct wired_send sends[SENDS_MOST];
    wired_bench_open(&bench, 8, 1, 0, 100, 100, 1000);
    for (uint32_t i = 0; i < SENDS_MOST; i++) {
        sends[i] = (struct wired_send){(uint64_t)i * 10000, i % 4 * 2, i % 4 * 2 + 1, 1000};
    }
    check_carrier(&bench, &net_flow, sends, SENDS_MOST, &net_flow, "what the job will send is not known");
    bench.expected_bytes = 1000.0 * SENDS_MOST;
    check_carrier(&bench, &net_flow, sends, SENDS_MOST, &net_packet, "it is");
    wired_bench_close(&bench);
}

/* ---- rates ---- */

static void set_rate(struct wired_bench *bench, uint64_t bps)
{
    for (uint32_t i = 0; i < bench->graph.link_count; i++) {
        bench->graph.links[i].rate_bps = bps;
    }
}

struct busiest {
    uint64_t bytes, busy_ns;
};

static void find_busiest(void *context, const struct net *net)
{
    struct busiest *busiest = context;
    struct arena arena;
    struct net_figures figures;
    arena_init(&arena, net->mem);
    CHECK(net->ops->figures(net, &arena, &figures), "figures");
    for (uint32_t i = 0; i < figures.link_count; i++) {
        busiest->bytes = figures.links[i].bytes > busiest->bytes ? figures.links[i].bytes : busiest->bytes;
        busiest->busy_ns = figures.links[i].busy_ns > busiest->busy_ns ? figures.links[i].busy_ns : busiest->busy_ns;
    }
    arena_free(&arena);
}

static void rates_from_a_megabit_to_ten_terabits_are_those_of_packets(void **state)
{
    (void)state;
    static const uint64_t rates[] = {1000000,       10000000,      100000000,     1000000000,    25000000000,
                                     333000000000,  400000000000,  800000000000,  1600000000000, 2400000000000,
                                     3200000000000, 4800000000000, 6400000000000, 7200000000000, 8000000000000,
                                     9000000000000, 9999000000000, 10000000000000};
    static const uint32_t payloads[] = {64, 256, 1000, 4096, 9000};
    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        for (size_t p = 0; p < COUNT_OF(payloads) * 2; p++) {
            struct wired_bench bench;
            wired_bench_open(&bench, 4, 2, 1, 1, 1, 600);
            set_rate(&bench, rates[r]);
            bench.config.payload_bytes = payloads[p / 2];
            bench.config.has_window = p % 2 == 0;
            const struct wired_send sends[] = {{0, 0, 3, 300001}, {0, 3, 0, 300001}};
            uint64_t packets[2];
            uint64_t fluid[2];
            struct busiest by_packets = {0};
            struct busiest by_fluid = {0};
            (void)wired_bench_run_and_look(&bench, &net_packet, sends, 1, packets, find_busiest, &by_packets);
            (void)wired_bench_run_and_look(&bench, &net_shares, sends, 1, fluid, find_busiest, &by_fluid);
            CHECK_U64(fluid[0], packets[0], "alone at %" PRIu64 " b/s, payload %" PRIu32, rates[r], payloads[p / 2]);
            CHECK_NEAR((double)by_fluid.bytes, (double)by_packets.bytes, 0.01);
            CHECK(by_fluid.busy_ns <= fluid[0], "busy for %" PRIu64 " of %" PRIu64 " ns", by_fluid.busy_ns, fluid[0]);
            double off = off_percent(&bench, &net_flow, sends, 2);
            CHECK(fabs(off) < 1, "both ways at %" PRIu64 " b/s, payload %" PRIu32 ": %.3f %%", rates[r],
                  payloads[p / 2], off);
            wired_bench_close(&bench);
        }
    }
}

/* ---- at random ---- */

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33) % below;
}

static void draw_machine(uint64_t *random, struct wired_bench *bench)
{
    static const uint64_t rates[] = {25, 50, 100, 200, 400, 800, 1600};
    static const uint64_t delays[] = {100, 500, 1000, 5000, 20000};
    static const uint32_t payloads[] = {256, 1000, 1000, 4096, 9000};
    static const enum packet_cc controls[] = {PACKET_CC_NONE,   PACKET_CC_NONE,  PACKET_CC_DCQCN, PACKET_CC_HPCC,
                                              PACKET_CC_TIMELY, PACKET_CC_DCTCP, PACKET_CC_PINT};
    uint32_t leaves = 1 + draw(random, 3);
    uint32_t spines = leaves == 1 ? 0 : 1 + draw(random, 2);
    uint64_t rate = rates[draw(random, COUNT_OF(rates))];
    uint64_t spine_rate = draw(random, 3) == 0 ? 2 * rate : rate;
    wired_bench_open(bench, leaves * (2 + draw(random, 4)), leaves, spines, rate, spine_rate,
                     delays[draw(random, COUNT_OF(delays))]);
    if (draw(random, 4) == 0) {
        bench->graph.links[0].rate_bps /= 2; /* a host that is slower than the others */
    }
    struct packet_config *config = &bench->config;
    config->payload_bytes = payloads[draw(random, COUNT_OF(payloads))];
    config->cc_mode = controls[draw(random, COUNT_OF(controls))];
    config->has_window = draw(random, 4) != 0;
    config->var_window = draw(random, 2) != 0;
    config->global_t = draw(random, 3) == 0;
    config->ewma_gain = 1.0 / 256;
    config->rate_ai_bps = 50000000;
    config->rate_hai_bps = 100000000;
    double kmin = 5000 * (double)(1 + draw(random, 40));
    for (uint64_t half = 1; half <= 4; half *= 2) {
        config->marks[config->mark_count++] = (struct packet_mark){rate * half * 500000000, kmin, 4 * kmin, 0.2};
    }
}

static uint32_t draw_job(uint64_t *random, uint32_t hosts, struct wired_send *sends)
{
    uint64_t bytes = UINT64_C(1000) << draw(random, 10);
    uint32_t kind = draw(random, 4);
    uint32_t count = kind == 3 ? 4 + draw(random, 30) : hosts;
    uint32_t shift = 1 + draw(random, hosts - 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t src = i % hosts;
        uint32_t dst = kind == 0   ? (src + 1) % hosts
                       : kind == 1 ? (src + shift) % hosts
                       : kind == 2 ? 0
                                   : draw(random, hosts);
        src = src == dst ? (dst + 1) % hosts : src;
        sends[i] = (struct wired_send){kind == 3 ? draw(random, 100000) : 0, src, dst,
                                       kind == 3 ? 1 + draw(random, (uint32_t)bytes) : bytes};
    }
    return count;
}

static void random_jobs_on_random_machines_end_within_a_fiftieth_of_packets(void **state)
{
    (void)state;
    enum { JOBS = 400 };
    uint64_t random = 20261115;
    uint32_t fluid = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        struct wired_bench bench;
        struct wired_send sends[SENDS_MOST];
        draw_machine(&random, &bench);
        uint32_t count = draw_job(&random, bench.dims.ranks, sends);
        const struct net_ops *ops = i % 2 == 0 ? &net_flow : &net_auto;
        double off = off_percent(&bench, ops, sends, count);
        CHECK(fabs(off) <= 2, "job %" PRIu32 ", carried by %s: %.2f %%", i, bench.carrier->name, off);
        fluid += bench.carrier == ops ? 1 : 0;
        wired_bench_close(&bench);
    }
    CHECK(fluid >= JOBS / 8, "only %" PRIu32 " of %d are fluid", fluid, JOBS);
}

TEST_MAIN(messages_that_never_meet_stay_fluid, a_ring_with_room_in_its_windows_stays_fluid_and_one_without_does_not,
          an_incast_is_for_packets, a_hundredth_of_the_run_may_be_anything,
          a_control_that_always_reacts_is_for_packets_beyond_a_round_trip,
          short_messages_that_take_turns_at_a_host_are_for_packets, what_only_packets_can_tell_is_for_packets,
          jobs_of_very_many_packets_stay_fluid_on_flow_alone,
          many_messages_of_one_packet_are_for_packets_because_shares_are_dearer,
          rates_from_a_megabit_to_ten_terabits_are_those_of_packets,
          random_jobs_on_random_machines_end_within_a_fiftieth_of_packets)
