/* SPDX-License-Identifier: Apache-2.0 */
/* The flow network against the packet network: a message alone, contention, order of magnitude of the work. */
#include "net/flow/flow.h"
#include "tests/check.h"
#include "tests/net/wired_bench.h"

enum { SENDS_MOST = 12000 };

static uint64_t last_of(const uint64_t *times, uint32_t count)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        last = times[i] > last ? times[i] : last;
    }
    return last;
}

static double off_percent(uint64_t flow, uint64_t packet)
{
    return 100.0 * ((double)flow - (double)packet) / (double)packet;
}

/* Both networks' last arrival; fails beyond `percent`. */
static void compare(struct wired_bench *bench, const struct wired_send *sends, uint32_t count, double percent,
                    const char *what)
{
    static uint64_t by_flow[SENDS_MOST];
    static uint64_t by_packet[SENDS_MOST];
    (void)wired_bench_run(bench, &net_shares, sends, count, by_flow);
    (void)wired_bench_run(bench, &net_packet, sends, count, by_packet);
    double off = off_percent(last_of(by_flow, count), last_of(by_packet, count));
    CHECK(off <= percent && off >= -percent, "%s: flow ends at %" PRIu64 ", packet at %" PRIu64 " (%.2f %%)", what,
          last_of(by_flow, count), last_of(by_packet, count), off);
}

static void a_message_alone_takes_what_packets_take_to_the_nanosecond(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1,    36,    999,    1000,    1001,    1500,   2000,
                                     4096, 65536, 131072, 1000000, 1048576, 4194305};
    static const struct {
        uint64_t host_gbps, spine_gbps, delay_ns;
        uint32_t payload;
        bool has_window;
    } machines[] = {
        {100, 100, 1000, 1000, true}, {200, 50, 500, 1000, true},   {400, 400, 25, 1000, true},
        {25, 100, 2000, 4096, true},  {65, 200, 5000, 256, true},   {100, 100, 0, 1000, true},
        {400, 25, 300, 9000, true},   {100, 100, 1000, 512, false},
    };
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        struct wired_bench bench;
        wired_bench_open(&bench, 4, 2, 2, machines[m].host_gbps, machines[m].spine_gbps, machines[m].delay_ns);
        bench.config.payload_bytes = machines[m].payload;
        bench.config.has_window = machines[m].has_window;
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            for (uint32_t dst = 1; dst < 4; dst += 2) {
                const struct wired_send send = {7, 0, dst, sizes[s]};
                uint64_t flow;
                uint64_t packet;
                (void)wired_bench_run(&bench, &net_shares, &send, 1, &flow);
                (void)wired_bench_run(&bench, &net_packet, &send, 1, &packet);
                CHECK_U64(flow, packet, "machine %zu, %" PRIu64 " bytes to host %" PRIu32, m, sizes[s], dst);
            }
        }
        wired_bench_close(&bench);
    }
}

static void a_message_that_meets_nobody_is_exact_beside_others(void **state)
{
    (void)state;
    struct wired_bench bench;
    wired_bench_open(&bench, 8, 1, 0, 100, 100, 1000);
    const struct wired_send sends[] = {{0, 0, 1, 1000000}, {100, 2, 3, 500000}, {5000, 4, 5, 70000}, {9, 6, 7, 1}};
    uint64_t flow[4];
    uint64_t packet[4];
    (void)wired_bench_run(&bench, &net_shares, sends, 4, flow);
    (void)wired_bench_run(&bench, &net_packet, sends, 4, packet);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_U64(flow[i], packet[i], "message %" PRIu32, i);
    }
    wired_bench_close(&bench);
}

static void an_incast_ends_when_its_last_packet_does(void **state)
{
    (void)state;
    for (uint32_t senders = 2; senders <= 15; senders++) {
        struct wired_bench bench;
        struct wired_send sends[15];
        wired_bench_open(&bench, 16, 1, 0, 100, 100, 1000);
        for (uint32_t i = 0; i < senders; i++) {
            sends[i] = (struct wired_send){0, i + 1, 0, 262144};
        }
        compare(&bench, sends, senders, 0.5, "incast");
        wired_bench_close(&bench);
    }
}

static void acknowledgements_of_the_other_direction_take_their_part(void **state)
{
    (void)state;
    struct wired_bench bench;
    wired_bench_open(&bench, 2, 1, 0, 200, 200, 500);
    const struct wired_send sends[] = {{0, 0, 1, 131072}, {0, 1, 0, 131072}};
    uint64_t flow[2];
    (void)wired_bench_run(&bench, &net_shares, sends, 2, flow);
    /* Spec packet A10: 7632 ns, of which the acknowledgements of the opposite direction are 212. */
    CHECK(flow[0] >= 7628 && flow[0] <= 7636, "%" PRIu64, flow[0]);
    CHECK_U64(flow[1], flow[0], "both directions are alike");
    compare(&bench, sends, 2, 0.1, "both directions");
    wired_bench_close(&bench);
}

static void a_message_that_joins_late_shares_from_then_on(void **state)
{
    (void)state;
    struct wired_bench bench;
    wired_bench_open(&bench, 4, 1, 0, 100, 100, 1000);
    const struct wired_send sends[] = {{0, 1, 0, 1000000}, {40000, 2, 0, 1000000}, {90000, 3, 0, 100000}};
    compare(&bench, sends, 3, 1, "late joiners");
    wired_bench_close(&bench);
}

static void chains_over_a_spine_with_collisions_stay_near(void **state)
{
    (void)state;
    struct wired_bench bench;
    struct wired_send sends[32];
    wired_bench_open(&bench, 16, 4, 2, 100, 100, 500);
    for (uint32_t i = 0; i < 32; i++) {
        sends[i] = (struct wired_send){(uint64_t)(i / 16) * 30000, i % 16, (i % 16 + 5 + i / 16) % 16, 500000};
    }
    compare(&bench, sends, 32, 8, "shifts over two spines");
    wired_bench_close(&bench);
}

static void messages_of_one_connection_leave_one_after_the_other(void **state)
{
    (void)state;
    enum { COUNT = 6, BYTES = 1000000 };
    /* Three of one connection at once and a fourth after a while, beside one of another connection over the same card;
     * and one that comes when the others are gone. */
    const struct wired_send sends[COUNT] = {{0, 0, 1, BYTES}, {0, 0, 1, BYTES},     {0, 0, 1, BYTES},
                                            {0, 0, 2, BYTES}, {30000, 0, 1, BYTES}, {900000, 0, 1, BYTES}};
    const uint32_t connections[COUNT] = {1, 1, 1, 1, 1, 1};
    uint64_t flow[COUNT];
    uint64_t packet[COUNT];
    struct wired_bench bench;
    wired_bench_open(&bench, 4, 1, 0, 100, 100, 1000);
    bench.connections = connections;
    (void)wired_bench_run(&bench, &net_shares, sends, COUNT, flow);
    (void)wired_bench_run(&bench, &net_packet, sends, COUNT, packet);
    for (uint32_t i = 0; i < COUNT; i++) {
        double off = off_percent(flow[i], packet[i]);
        CHECK(off < 0.2 && off > -0.2, "message %" PRIu32 ": %" PRIu64 " and %" PRIu64 " ns", i, flow[i], packet[i]);
    }
    /* The card is shared by two until the one to host 2 has left: then the connection has it alone. */
    const uint64_t alone = packet[5] - 900000;
    CHECK_NEAR((double)packet[0], 2.0 * (double)alone, 0.06);
    CHECK_NEAR((double)packet[3], 2.0 * (double)alone, 0.06);
    CHECK_NEAR((double)packet[1], 3.0 * (double)alone, 0.06);
    CHECK_NEAR((double)packet[2], 4.0 * (double)alone, 0.06);
    CHECK_NEAR((double)packet[4], 5.0 * (double)alone, 0.06);
    wired_bench_close(&bench);
}

/* Everybody to everybody, at once. */
static uint32_t all_to_all(struct wired_send *sends, uint32_t hosts, uint64_t bytes)
{
    uint32_t count = 0;
    for (uint32_t distance = 1; distance < hosts; distance++) {
        for (uint32_t host = 0; host < hosts; host++) {
            sends[count++] = (struct wired_send){10, host, (host + distance) % hosts, bytes};
        }
    }
    return count;
}

static void many_starts_at_one_time_are_settled_together(void **state)
{
    (void)state;
    static struct wired_send sends[SENDS_MOST];
    struct wired_bench bench;
    wired_bench_open(&bench, 16, 1, 0, 100, 100, 1000);
    uint32_t count = all_to_all(sends, 16, 65536);
    compare(&bench, sends, count, 3, "all to all");
    static uint64_t arrived[SENDS_MOST];
    uint64_t events = wired_bench_run(&bench, &net_shares, sends, count, arrived);
    CHECK(events < 10 * (uint64_t)count, "%" PRIu64 " events for %" PRIu32 " messages", events, count);
    wired_bench_close(&bench);
}

static void the_same_run_twice_is_the_same(void **state)
{
    (void)state;
    static struct wired_send sends[SENDS_MOST];
    static uint64_t first[SENDS_MOST];
    static uint64_t second[SENDS_MOST];
    struct wired_bench bench;
    wired_bench_open(&bench, 24, 4, 3, 100, 50, 700);
    uint32_t count = all_to_all(sends, 24, 30000);
    for (uint32_t i = 0; i < count; i++) {
        sends[i].at_ns += (uint64_t)(i * 2654435761u % 50000);
    }
    (void)wired_bench_run(&bench, &net_shares, sends, count, first);
    (void)wired_bench_run(&bench, &net_shares, sends, count, second);
    assert_memory_equal(first, second, count * sizeof *first);
    wired_bench_close(&bench);
}

static void ten_thousand_messages_at_once_arrive(void **state)
{
    (void)state;
    static struct wired_send sends[SENDS_MOST];
    static uint64_t arrived[SENDS_MOST];
    struct wired_bench bench;
    wired_bench_open(&bench, 104, 8, 4, 100, 100, 500);
    uint32_t count = all_to_all(sends, 104, 1000000);
    CHECK(count > 10000, "%" PRIu32, count);
    (void)wired_bench_run(&bench, &net_shares, sends, count, arrived);
    /* 91 of 103 messages of 13 hosts leave each leaf over 4 links: at least 13 * 91 * 1036 us of packets on 400 Gbit/s.
     */
    uint64_t least = 13u * 91u * 1036u * 8000u / 400u;
    CHECK(last_of(arrived, count) > least, "%" PRIu64 " is less than the links allow", last_of(arrived, count));
    wired_bench_close(&bench);
}

TEST_MAIN(a_message_alone_takes_what_packets_take_to_the_nanosecond, a_message_that_meets_nobody_is_exact_beside_others,
          an_incast_ends_when_its_last_packet_does, acknowledgements_of_the_other_direction_take_their_part,
          a_message_that_joins_late_shares_from_then_on, chains_over_a_spine_with_collisions_stay_near,
          messages_of_one_connection_leave_one_after_the_other, many_starts_at_one_time_are_settled_together,
          the_same_run_twice_is_the_same, ten_thousand_messages_at_once_arrive)
