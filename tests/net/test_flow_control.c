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
};

static uint64_t last_of(const uint64_t *times, uint32_t count)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        last = times[i] > last ? times[i] : last;
    }
    return last;
}

static uint64_t run_incast(const struct incast *incast, const struct net_ops *ops, enum packet_cc control)
{
    struct wired_bench bench;
    struct wired_send sends[SENDERS_MOST];
    uint64_t ends[SENDERS_MOST];
    wired_bench_open(&bench, 17, 1, 0, 100, 100, 1000);
    bench.config.cc_mode = control;
    bench.config.has_window = !incast->no_window;
    bench.config.enable_qcn = true;
    bench.config.buffer_bytes = 32u << 20;
    bench.config.mark_count = 1;
    bench.config.marks[0] =
        (struct packet_mark){UINT64_C(100000000000), incast->kmin_bytes, incast->kmax_bytes, incast->pmax};
    for (uint32_t i = 0; i < incast->senders; i++) {
        sends[i] = (struct wired_send){0, i + 1, 0, incast->bytes};
    }
    (void)wired_bench_run(&bench, ops, sends, incast->senders, ends);
    wired_bench_close(&bench);
    return last_of(ends, incast->senders);
}

static void an_incast_under_congestion_control_ends_near_where_packets_end(void **state)
{
    (void)state;
    static const struct incast incasts[] = {
        {"DCQCN, thresholds beyond the windows", PACKET_CC_DCQCN, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 3},
        {"DCQCN, low thresholds", PACKET_CC_DCQCN, 8, 4 << 20, 40e3, 160e3, 0.2, false, 15},
        {"DCQCN, one threshold", PACKET_CC_DCQCN, 8, 1 << 20, 20e3, 21e3, 1, false, 15},
        {"DCQCN, no window", PACKET_CC_DCQCN, 4, 4 << 20, 400e3, 1600e3, 0.2, true, 15},
        {"HPCC", PACKET_CC_HPCC, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 10},
        {"HPCC, two", PACKET_CC_HPCC, 2, 4 << 20, 400e3, 1600e3, 0.2, false, 10},
        {"HPCC, sixteen", PACKET_CC_HPCC, 16, 1 << 20, 400e3, 1600e3, 0.2, false, 10},
        {"TIMELY", PACKET_CC_TIMELY, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 10},
        {"TIMELY, no window", PACKET_CC_TIMELY, 8, 4 << 20, 400e3, 1600e3, 0.2, true, 15},
        {"DCTCP", PACKET_CC_DCTCP, 8, 4 << 20, 30e3, 120e3, 0.2, false, 10},
    };
    for (size_t i = 0; i < COUNT_OF(incasts); i++) {
        uint64_t flow = run_incast(&incasts[i], &net_flow, incasts[i].control);
        uint64_t packet = run_incast(&incasts[i], &net_packet, incasts[i].control);
        double off = 100 * ((double)flow - (double)packet) / (double)packet;
        CHECK(off <= incasts[i].percent && off >= -incasts[i].percent,
              "%s: flow ends at %" PRIu64 ", packet at %" PRIu64 " (%.2f %%)", incasts[i].name, flow, packet, off);
    }
}

static void dcqcn_whose_windows_never_reach_the_threshold_changes_nothing(void **state)
{
    (void)state;
    const struct incast incast = {"", PACKET_CC_DCQCN, 8, 1 << 20, 400e3, 1600e3, 0.2, false, 0};
    CHECK_U64(run_incast(&incast, &net_flow, PACKET_CC_DCQCN), run_incast(&incast, &net_flow, PACKET_CC_NONE),
              "the same as without control");
}

static void two_runs_under_control_are_the_same_to_the_nanosecond(void **state)
{
    (void)state;
    const struct incast incast = {"", PACKET_CC_DCQCN, 8, 4 << 20, 40e3, 160e3, 0.2, false, 0};
    CHECK_U64(run_incast(&incast, &net_flow, PACKET_CC_DCQCN), run_incast(&incast, &net_flow, PACKET_CC_DCQCN),
              "chance is the network's own");
}

/* One sender and a queue that never changes. */
static struct control_sender after_steps(const struct packet_config *config, double waiting, uint32_t steps)
{
    struct control_queue queue = {.capacity = 12.5, .round_trip = 4000, .packet = 1036, .room = 1e9};
    struct control_sender sender = {.line = 12.5, .round_trip = 4000, .left = 1e9};
    struct mrg32k3a random = mrg32k3a_stream(1);
    queue.rule = control_rule(config, UINT64_C(100000000000));
    queue.flight = queue.capacity * queue.round_trip + waiting;
    queue.leaving = queue.capacity;
    control_sender_start(&sender, &queue, 8);
    for (uint32_t i = 0; i < steps; i++) {
        control_queue_step(&queue);
        control_sender_step(&sender, config, &queue, queue.capacity / 8, &random);
    }
    return sender;
}

static void dcqcn_halves_its_rate_while_everything_is_marked(void **state)
{
    (void)state;
    struct packet_config config = PACKET_CONFIG_DEFAULT;
    config.cc_mode = PACKET_CC_DCQCN;
    config.mark_count = 1;
    config.marks[0] = (struct packet_mark){UINT64_C(100000000000), 1000, 2000, 1};
    config.alpha_resume_us = 1;
    config.rate_decrease_us = 4;
    config.rp_timer_us = 900;
    config.ewma_gain = 1.0 / 256;
    config.min_rate_bps = 100000000;
    struct control_sender quiet = after_steps(&config, 500, 1000);
    CHECK(quiet.rate == quiet.line, "below the threshold nothing is cut: %g", quiet.rate);
    struct control_sender once = after_steps(&config, 5000, 10);
    CHECK(once.rate < 0.6 * once.line && once.rate > 0.2 * once.line, "one or two cuts in ten steps: %g", once.rate);
    struct control_sender least = after_steps(&config, 5000, 100);
    CHECK(least.rate == 0.0125, "the least rate after many: %g", least.rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_incast_under_congestion_control_ends_near_where_packets_end),
        cmocka_unit_test(dcqcn_whose_windows_never_reach_the_threshold_changes_nothing),
        cmocka_unit_test(two_runs_under_control_are_the_same_to_the_nanosecond),
        cmocka_unit_test(dcqcn_halves_its_rate_while_everything_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
