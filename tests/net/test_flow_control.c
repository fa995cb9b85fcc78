/* SPDX-License-Identifier: Apache-2.0 */
/* Congestion control in the flow network: incasts against the packet network, and where it must change nothing. */
#include "net/flow/control.h"
#include "net/flow/flow.h"
#include "tests/check.h"
#include "tests/net/wired_bench.h"

enum { SENDERS_MOST = 16 };

struct incast {
    const char *name;
    enum packet_cc control;
    uint32_t senders;
    uint64_t bytes;
    double kmin_bytes, kmax_bytes, pmax;
    bool no_window;
    double percent; /* from the packet network, at most */
    struct incast_machine {
        /* 0: one switch, 100 Gbit/s, 1 us, payload 1000, 32 MiB. */
        uint32_t leaves, spines;
        uint64_t gbps, delay_ns;
        uint32_t payload, buffer_mib;
        bool multi_rate, fixed_window;
        uint64_t apart_ns; /* from one start to the next */
    } on;
};

static uint64_t last_of(const uint64_t *times, uint32_t count)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        last = times[i] > last ? times[i] : last;
    }
    return last;
}

static uint64_t or_else(uint64_t value, uint64_t usual)
{
    return value == 0 ? usual : value;
}

static uint64_t run_incast(const struct incast *incast, const struct net_ops *ops, enum packet_cc control)
{
    struct wired_bench bench;
    struct wired_send sends[SENDERS_MOST];
    uint64_t ends[SENDERS_MOST];
    uint64_t gbps = or_else(incast->on.gbps, 100);
    wired_bench_open(&bench, SENDERS_MOST + 1, (uint32_t)or_else(incast->on.leaves, 1), incast->on.spines, gbps, gbps,
                     or_else(incast->on.delay_ns, 1000));
    bench.config.cc_mode = control;
    bench.config.has_window = !incast->no_window;
    bench.config.var_window = !incast->on.fixed_window;
    bench.config.multi_rate = incast->on.multi_rate;
    bench.config.payload_bytes = (uint32_t)or_else(incast->on.payload, 1000);
    bench.config.enable_qcn = true;
    bench.config.alpha_resume_us = 1;
    bench.config.fast_recovery_times = 1;
    bench.config.ewma_gain = 1.0 / 256;
    bench.config.buffer_bytes = or_else(incast->on.buffer_mib, 32) << 20;
    bench.config.mark_count = 1;
    bench.config.marks[0] =
        (struct packet_mark){gbps * 1000000000, incast->kmin_bytes, incast->kmax_bytes, incast->pmax};
    for (uint32_t i = 0; i < incast->senders; i++) {
        sends[i] = (struct wired_send){i * incast->on.apart_ns, i + 1, 0, incast->bytes};
    }
    (void)wired_bench_run(&bench, ops, sends, incast->senders, ends);
    wired_bench_close(&bench);
    return last_of(ends, incast->senders);
}

static double percent_off(const struct incast *incast)
{
    double flow = (double)run_incast(incast, &net_shares, incast->control);
    double packet = (double)run_incast(incast, &net_packet, incast->control);
    return 100 * (flow - packet) / packet;
}

static void an_incast_under_congestion_control_ends_near_where_packets_end(void **state)
{
    (void)state;
    static const struct incast incasts[] = {
        {"DCQCN, thresholds beyond the windows", PACKET_CC_DCQCN, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 0.01, {0}},
        {"DCQCN, low thresholds", PACKET_CC_DCQCN, 8, 4 << 20, 40e3, 160e3, 0.2, false, 0.01, {0}},
        {"DCQCN, one threshold", PACKET_CC_DCQCN, 8, 1 << 20, 20e3, 21e3, 1, false, 2, {0}},
        {"DCQCN, no window", PACKET_CC_DCQCN, 4, 4 << 20, 400e3, 1600e3, 0.2, true, 0.01, {0}},
        {"DCQCN, no window, pauses", PACKET_CC_DCQCN, 8, 4 << 20, 400e3, 1600e3, 0.2, true, 3, {.buffer_mib = 2}},
        {"DCQCN, two levels", PACKET_CC_DCQCN, 12, 1 << 20, 10e3, 40e3, 0.5, false, 5, {.leaves = 4, .spines = 2}},
        {"HPCC", PACKET_CC_HPCC, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 2, {0}},
        {"HPCC, two", PACKET_CC_HPCC, 2, 4 << 20, 400e3, 1600e3, 0.2, false, 2, {0}},
        {"HPCC, sixteen", PACKET_CC_HPCC, 16, 1 << 20, 400e3, 1600e3, 0.2, false, 2, {0}},
        {"HPCC, a rate for every hop",
         PACKET_CC_HPCC,
         15,
         1 << 18,
         400e3,
         1600e3,
         0.2,
         false,
         3,
         {.leaves = 4, .spines = 2, .multi_rate = true}},
        {"HPCC, hundreds of packets on their way",
         PACKET_CC_HPCC,
         8,
         4 << 20,
         400e3,
         1600e3,
         0.2,
         false,
         2,
         {.gbps = 400, .delay_ns = 10000}},
        {"PINT", PACKET_CC_PINT, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 3, {0}},
        {"TIMELY", PACKET_CC_TIMELY, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 0.01, {0}},
        {"Swift", PACKET_CC_SWIFT, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 3, {0}},
        {"Swift, no window", PACKET_CC_SWIFT, 8, 4 << 20, 400e3, 1600e3, 0.2, true, 3, {0}},
        {"Swift, two levels", PACKET_CC_SWIFT, 12, 1 << 20, 400e3, 1600e3, 0.2, true, 5, {.leaves = 4, .spines = 2}},
        {"TIMELY, no window", PACKET_CC_TIMELY, 8, 4 << 20, 400e3, 1600e3, 0.2, true, 1, {0}},
        {"HPCC, no window", PACKET_CC_HPCC, 8, 4 << 20, 400e3, 1600e3, 0.2, true, 1, {0}},
        {"HPCC, two, no window", PACKET_CC_HPCC, 2, 4 << 20, 400e3, 1600e3, 0.2, true, 1, {0}},
        {"PINT, no window", PACKET_CC_PINT, 8, 4 << 20, 400e3, 1600e3, 0.2, true, 1, {0}},
        {"DCTCP, no window", PACKET_CC_DCTCP, 8, 4 << 20, 30e3, 120e3, 0.2, true, 0.01, {0}},
        {"a fixed rate, no window", PACKET_CC_NONE, 8, 4 << 20, 30e3, 120e3, 0.2, true, 0.01, {0}},
        {"DCTCP", PACKET_CC_DCTCP, 8, 4 << 20, 30e3, 120e3, 0.2, false, 0.01, {0}},
        {"fixed windows, near and far",
         PACKET_CC_NONE,
         12,
         1 << 16,
         400e3,
         1600e3,
         0.2,
         false,
         1,
         {.leaves = 4, .spines = 2}},
        {"one after the other", PACKET_CC_DCQCN, 8, 1 << 20, 40e3, 160e3, 0.2, false, 5, {.apart_ns = 7777}},
    };
    for (size_t i = 0; i < COUNT_OF(incasts); i++) {
        double off = percent_off(&incasts[i]);
        CHECK(off <= incasts[i].percent && off >= -incasts[i].percent, "%s: flow is off by %.3f %%", incasts[i].name,
              off);
    }
}

/* Numbers below `range`, the same on every machine. */
static uint32_t draw(uint64_t *state, uint32_t range)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % range;
}

/* Any that the flow network lets contend. */
static enum packet_cc draw_law(uint64_t *state)
{
    uint32_t laws = 0;
    while (cc_law_at(laws) != NULL) {
        laws++;
    }
    const struct cc_law *law = cc_law_at(draw(state, laws));
    while (!law->is_fluid) {
        law = cc_law_at(draw(state, laws));
    }
    return (enum packet_cc)law->number;
}

static struct incast draw_incast(uint64_t *state)
{
    static const double marks[][3] = {{400e3, 1600e3, 0.2}, {40e3, 160e3, 0.2}, {20e3, 21e3, 1}, {5e3, 200e3, 0.5}};
    static const uint32_t bytes[] = {20000, 65536, 100003, 300000, 1 << 20};
    static const uint32_t gbps[] = {25, 100, 200, 400}, delays[] = {300, 1000, 2000}, payloads[] = {1000, 1500, 4096};
    const double *mark = marks[draw(state, COUNT_OF(marks))];
    struct incast drawn = {.kmin_bytes = mark[0], .kmax_bytes = mark[1], .pmax = mark[2]};
    drawn.control = draw_law(state);
    drawn.senders = 2 + draw(state, SENDERS_MOST - 1);
    drawn.bytes = bytes[draw(state, COUNT_OF(bytes))];
    drawn.on.leaves = draw(state, 2) == 0 ? 1 : 4;
    drawn.on.spines = drawn.on.leaves == 1 ? 0 : 2;
    drawn.on.gbps = gbps[draw(state, COUNT_OF(gbps))];
    drawn.on.delay_ns = delays[draw(state, COUNT_OF(delays))];
    drawn.on.payload = payloads[draw(state, COUNT_OF(payloads))];
    drawn.on.multi_rate = draw(state, 3) == 0;
    drawn.on.fixed_window = draw(state, 3) == 0;
    drawn.no_window = draw(state, 2) == 0;
    return drawn;
}

static void random_incasts_end_within_15_percent_and_nine_in_ten_within_3(void **state)
{
    (void)state;
    enum { CASES = 80 };
    uint64_t random = 1;
    uint32_t near = 0;
    for (uint32_t i = 0; i < CASES; i++) {
        struct incast incast = draw_incast(&random);
        double off = percent_off(&incast);
        CHECK(off > -15 && off < 15, "case %u: control %u, %u senders of %" PRIu64 " bytes: off by %.2f %%", i,
              (unsigned)incast.control, incast.senders, incast.bytes, off);
        near += off > -3 && off < 3 ? 1 : 0;
    }
    CHECK(near >= CASES * 9 / 10, "%u of %u within 3 %%", near, (unsigned)CASES);
}

/* Everybody sends to everybody: messages of one host wait for each other, and each meets others at several ports. */
static void messages_that_meet_at_many_ports_are_one_contest(void **state)
{
    (void)state;
    enum { HOSTS = 8, MESSAGES = HOSTS * (HOSTS - 1) };
    static const enum packet_cc controls[] = {PACKET_CC_DCQCN, PACKET_CC_HPCC, PACKET_CC_TIMELY};
    struct wired_send sends[MESSAGES];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t from = i / (HOSTS - 1);
        sends[i] = (struct wired_send){0, from, (from + 1 + i % (HOSTS - 1)) % HOSTS, 200000};
    }
    for (size_t c = 0; c < COUNT_OF(controls); c++) {
        uint64_t last[2];
        for (uint32_t n = 0; n < 2; n++) {
            struct wired_bench bench;
            uint64_t ends[MESSAGES];
            wired_bench_open(&bench, HOSTS, 4, 2, 100, 100, 500);
            bench.config.cc_mode = controls[c];
            bench.config.enable_qcn = true;
            bench.config.var_window = true;
            bench.config.mark_count = 1;
            bench.config.marks[0] = (struct packet_mark){UINT64_C(100000000000), 10e3, 40e3, 0.2};
            (void)wired_bench_run(&bench, n == 0 ? &net_shares : &net_packet, sends, MESSAGES, ends);
            wired_bench_close(&bench);
            last[n] = last_of(ends, MESSAGES);
        }
        double off = 100 * ((double)last[0] - (double)last[1]) / (double)last[1];
        CHECK(off > -10 && off < 10, "control %u: flow %" PRIu64 ", packet %" PRIu64 " (%.2f %%)",
              (unsigned)controls[c], last[0], last[1], off);
    }
}

static void a_message_left_alone_at_full_rate_costs_no_more_steps(void **state)
{
    (void)state;
    uint64_t events[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct wired_bench bench;
        uint64_t ends[2];
        const struct wired_send sends[] = {{0, 1, 0, i == 0 ? 1u << 22 : 1u << 28}, {0, 2, 0, 100000}};
        wired_bench_open(&bench, 3, 1, 0, 100, 100, 1000);
        bench.config.cc_mode = PACKET_CC_TIMELY;
        events[i] = wired_bench_run(&bench, &net_shares, sends, 2, ends);
        wired_bench_close(&bench);
    }
    CHECK(events[1] < 2 * events[0], "%" PRIu64 " events for 4 MiB, %" PRIu64 " for 256 MiB", events[0], events[1]);
}

static void dcqcn_whose_windows_never_reach_the_threshold_changes_nothing(void **state)
{
    (void)state;
    const struct incast incast = {"", PACKET_CC_DCQCN, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 0, {0}};
    CHECK_U64(run_incast(&incast, &net_shares, PACKET_CC_DCQCN), run_incast(&incast, &net_shares, PACKET_CC_NONE),
              "the same as without control");
}

static void two_runs_under_control_are_the_same_to_the_nanosecond(void **state)
{
    (void)state;
    const struct incast incast = {"", PACKET_CC_DCQCN, 8, 4 << 20, 40e3, 160e3, 0.2, false, 0, {0}};
    CHECK_U64(run_incast(&incast, &net_shares, PACKET_CC_DCQCN), run_incast(&incast, &net_shares, PACKET_CC_DCQCN),
              "chance is the network's own");
}

/* A sender of which one packet every `every_ns` is acknowledged, all of them marked. */
static struct control_sender after_marks(const struct packet_config *config, uint64_t every_ns, uint32_t count)
{
    struct control_sender sender = {.size = 1u << 30, .base_rtt_ns = 4000, .line_bps = UINT64_C(100000000000)};
    control_sender_start(&sender, &cc_dcqcn, config);
    for (uint32_t i = 1; i <= count; i++) {
        sender.sent = (i + 4) * UINT64_C(1000);
        control_sender_tick(&sender, &cc_dcqcn, config, i * every_ns, i * every_ns);
        const struct cc_ack ack = {.now_ns = i * every_ns, .acked = i * UINT64_C(1000), .marks = 1};
        control_sender_ack(&sender, &cc_dcqcn, config, &ack);
    }
    return sender;
}

static void dcqcn_halves_its_rate_while_everything_is_marked(void **state)
{
    (void)state;
    struct packet_config config = PACKET_CONFIG_DEFAULT;
    config.cc_mode = PACKET_CC_DCQCN;
    config.alpha_resume_us = 1;
    config.rate_decrease_us = 4;
    config.ewma_gain = 1.0 / 256;
    struct control_sender first = after_marks(&config, 1000, 4);
    CHECK_U64(first.rate_bps, first.line_bps, "the first mark only starts the timers");
    struct control_sender once = after_marks(&config, 1000, 6);
    CHECK(once.rate_bps < 51 * once.line_bps / 100 && once.rate_bps > 49 * once.line_bps / 100,
          "one cut after four microseconds: %" PRIu64, once.rate_bps);
    struct control_sender least = after_marks(&config, 1000, 100);
    CHECK_U64(least.rate_bps, config.min_rate_bps, "the least rate after many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_incast_under_congestion_control_ends_near_where_packets_end),
        cmocka_unit_test(random_incasts_end_within_15_percent_and_nine_in_ten_within_3),
        cmocka_unit_test(messages_that_meet_at_many_ports_are_one_contest),
        cmocka_unit_test(a_message_left_alone_at_full_rate_costs_no_more_steps),
        cmocka_unit_test(dcqcn_whose_windows_never_reach_the_threshold_changes_nothing),
        cmocka_unit_test(two_runs_under_control_are_the_same_to_the_nanosecond),
        cmocka_unit_test(dcqcn_halves_its_rate_while_everything_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
