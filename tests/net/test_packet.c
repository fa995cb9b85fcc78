/* SPDX-License-Identifier: Apache-2.0 */
/* The packet network from below: its arithmetic against known values, and small machines whose outcome can be worked
 * out by hand. What it does as a whole is held against the reference by tests/golden. */
#include <stdlib.h>

#include "net/packet/buffer.h"
#include "net/packet/engine.h"
#include "net/packet/wire.h"
#include "tests/net/packet_machine.h"
#include "topo/way.h"

/* ---- arithmetic ---- */

static void serialisation_rounds_to_the_nearest_or_down(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes, gbps, nearest, down;
    } cases[] = {
        {1036, 25, 332, 331}, {1036, 100, 83, 82}, {1036, 200, 41, 41}, {1036, 400, 21, 20},
        {1036, 65, 128, 127}, {48, 400, 1, 0},     {31, 100, 2, 2},     {9036, 2400, 30, 30},
    };
    struct packet_config config = PACKET_CONFIG_DEFAULT;
    struct packet_net network = {.config = &config};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t rate = cases[i].gbps * UINT64_C(1000000000);
        config.round_down = false;
        CHECK_U64(packet_sending_ns(&network, cases[i].bytes, rate), cases[i].nearest, "case %zu", i);
        config.round_down = true;
        CHECK_U64(packet_sending_ns(&network, cases[i].bytes, rate), cases[i].down, "case %zu", i);
    }
}

/* Against the definition itself: seconds with 64 bits after the point, cut off, a billion times, to the nearest. */
static void halves_round_down_and_what_fixed_point_cannot_tell_from_them_too(void **state)
{
    (void)state;
    struct packet_config config = PACKET_CONFIG_DEFAULT;
    CHECK_U64(wire_sending_ns(&config, 75, UINT64_C(400000000000)), 1, "1.5 ns");
    CHECK_U64(wire_sending_ns(&config, 125, UINT64_C(400000000000)), 2, "2.5 ns");
    CHECK_U64(wire_sending_ns(&config, 1030, UINT64_C(160000000000)), 51, "51.5 ns");
    CHECK_U64(wire_sending_ns(&config, 76, UINT64_C(400000000000)), 2, "1.52 ns");
    CHECK_U64(wire_sending_ns(&config, 1000000, UINT64_C(8192000000)), 976562 + 1,
              "2^-10 s, which has no bits to lose");
    CHECK_U64(wire_sending_ns(&config, 48, UINT64_C(10000000000000)), 0, "0.04 ns");
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 200000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bytes = 1 + (seed >> 40) % 9100;
        uint64_t half = 2 * (1 + (seed >> 20) % 1000) + 1; /* of nanoseconds */
        uint64_t near = 16 * bytes * UINT64_C(1000000000) / half;
        for (uint64_t rate = near - 1; near > 1000000 && rate <= near + 1; rate++) {
            unsigned __int128 seconds = ((unsigned __int128)(8 * bytes) << 64) / rate;
            uint64_t want = (uint64_t)((seconds * 1000000000 + (UINT64_C(1) << 63)) >> 64);
            if (wire_sending_ns(&config, bytes, rate) != want) {
                CHECK_U64(wire_sending_ns(&config, bytes, rate), want, "%d B", (int)bytes);
            }
        }
    }
}

/* The first numbers from the seed of the author's own example. */
static void the_generator_gives_the_published_numbers(void **state)
{
    (void)state;
    struct mrg32k3a ones = {.s = {12345, 12345, 12345, 12345, 12345, 12345}};
    double first = mrg32k3a_uniform(&ones);
    double second = mrg32k3a_uniform(&ones);
    CHECK(first > 0.127011122 && first < 0.127011123, "0.1270111220, not %.10f", first);
    CHECK(second > 0.318527565 && second < 0.318527566, "0.3185275654, not %.10f", second);
}

static void streams_are_reached_one_by_one_or_at_once(void **state)
{
    (void)state;
    struct mrg32k3a_streams walked;
    mrg32k3a_streams_init(&walked, 0);
    for (uint64_t number = 0; number < 40; number++) {
        struct mrg32k3a one = mrg32k3a_streams_take(&walked);
        struct mrg32k3a other = mrg32k3a_stream(number);
        CHECK(mrg32k3a_uniform(&one) == mrg32k3a_uniform(&other), "stream %d", (int)number);
    }
}

static void the_c_library_s_numbers_are_its_own(void **state)
{
    (void)state;
    static const uint32_t published[] = {1804289383, 846930886, 1681692777, 1714636915, 1957747793};
    struct c_random random;
    c_random_init(&random);
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        CHECK_U64(c_random_next(&random), published[i], "number %zu of an unseeded rand()", i);
    }
}

static void percentiles_are_right_within_a_class(void **state)
{
    (void)state;
    static struct histogram_fine fine;
    struct histogram_coarse coarse = {0};
    for (uint64_t value = 1; value <= 100000; value++) {
        histogram_fine_add(&fine, value, 1);
        histogram_coarse_add(&coarse, value);
    }
    uint64_t p50 = histogram_fine_at(&fine, 0.5);
    CHECK(p50 >= 50000 && p50 <= 50000 + 50000 / 32, "p50 is %d", (int)p50);
    uint64_t p99 = histogram_coarse_at(&coarse, 0.99, 100000);
    CHECK(p99 >= 99000 && p99 <= 100000, "p99 is %d", (int)p99);
    CHECK_U64(histogram_fine_at(&fine, 1), 100000, "the largest is exact");
    for (uint64_t value = 1; value < UINT64_C(1) << 40; value = value * 3 + 1) {
        CHECK(histogram_value(histogram_class(value, 5), 5) >= value, "a class holds its values");
        CHECK(histogram_value(histogram_class(value, 5) - 1, 5) < value, "and the one below does not");
    }
}

/* ---- the buffer's account ---- */

static void a_buffer_pauses_and_resumes_where_it_should(void **state)
{
    (void)state;
    struct packet_config config = PACKET_CONFIG_DEFAULT;
    struct packet_switch account = {.port_count = 2, .total_headroom = 20000};
    struct packet_net network = {.config = &config, .switches = &account};
    struct packet_port port = {.shift = 3, .headroom = 10000};
    config.buffer_bytes = 20000 + 2 * BUFFER_RESERVE + 80000; /* 80000 to share */
    buffer_add(&network, &port, 4000);
    CHECK_U64(account.shared_used, 0, "a port's reserve is its own");
    buffer_add(&network, &port, 1000);
    CHECK_U64(account.shared_used, 904, "what is above it is shared");
    CHECK(!buffer_must_pause(&network, &port), "far from the threshold");
    while (!buffer_must_pause(&network, &port)) {
        CHECK(buffer_admits(&network, &port, 1000), "there is room until the pause");
        buffer_add(&network, &port, 1000);
    }
    /* sh >= (80000 - sh) / 8 first holds at 8904 = 904 + 8 * 1000 + ...: 8889 is the exact place. */
    CHECK_U64(port.ingress_bytes, 13000, "paused with 8904 B shared");
    port.peer_paused = 1;
    for (int i = 0; i < 11; i++) {
        buffer_add(&network, &port, 1000);
    }
    CHECK(port.headroom_used > 0, "what comes after goes to the headroom");
    CHECK(!buffer_admits(&network, &port, 1000), "and a full headroom drops");
    uint64_t held = port.ingress_bytes + port.headroom_used;
    while (!buffer_may_resume(&network, &port)) {
        buffer_remove(&network, &port, 1000);
        held -= 1000;
    }
    CHECK_U64(port.headroom_used, 0, "the headroom is empty first");
    CHECK(buffer_shared(&port) + BUFFER_RESUME_OFFSET <= buffer_threshold(&network, &account, &port), "3072 B below");
    CHECK_U64(port.ingress_bytes, held, "every byte is accounted for");
}

/* ---- small machines ---- */

/* Everybody sends `bytes` to host 0. */
static void incast(struct machine *m, uint64_t bytes)
{
    open_machine(m);
    for (uint32_t i = 1; i < m->dims.ranks; i++) {
        net_send(&m->net, i, i, 0, bytes, 1);
    }
    run_machine(m);
}

/* One packet of 1036 B: 83 ns on each of two links and 1 us twice; its ACK of 48 B: 4 ns each and 1 us twice. */
static void a_message_takes_its_way_there_and_its_ack_s_way_back(void **state)
{
    (void)state;
    struct machine m;
    make_machine(&m, 2);
    open_machine(&m);
    net_send(&m.net, 7, 0, 1, 1000, 1);
    run_machine(&m);
    CHECK_U64(m.flow_count, 1, "it arrives");
    CHECK_U64(m.flows[0].duration_ns, 2 * 83 + 2 * 1000 + 2 * 4 + 2 * 1000, "there and back");
    CHECK_U64(m.flows[0].port, 10000, "the first source port of the pair");
    CHECK_U64(packet_counts(&m.net)->transmissions, 4, "a packet and an ACK over two links each");
    close_machine(&m);
}

/* Equal ways are listed from the switch with the highest number down, and the hash picks one for each source port. */
static void equal_ways_are_picked_by_hash(void **state)
{
    (void)state;
    struct machine m;
    struct orr_error err = {0};
    m = (struct machine){.config = PACKET_CONFIG_DEFAULT};
    CHECK_OK(topo_graph_init(&m.graph, 8, 8, &m.mem, &err), &err); /* hosts 0 1, leaves 2 3, spines 4 to 7 */
    for (uint32_t node = 2; node < 8; node++) {
        m.graph.kinds[node] = TOPO_NODE_SWITCH;
    }
    static const uint32_t ends[8][2] = {{0, 2}, {1, 3}, {2, 4}, {2, 5}, {2, 6}, {3, 4}, {3, 5}, {3, 6}};
    for (uint32_t i = 0; i < 8; i++) {
        m.graph.links[i] =
            (struct topo_link){.a = ends[i][0], .b = ends[i][1], .rate_bps = UINT64_C(100000000000), .delay_ns = 1000};
    }
    m.graph.node_count = 8;
    CHECK_OK(topo_graph_finish(&m.graph, &err), &err);
    struct topo_routes routes;
    uint32_t ports[8];
    CHECK_OK(topo_routes_init(&routes, &m.graph, 1000, false, &m.mem, &err), &err);
    CHECK_U64(topo_routes_next(&routes, 2, 1, ports, 8), 3, "three spines");
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_U64(m.graph.ports[m.graph.ports[ports[i]].peer].node, 6 - i, "descending numbers");
    }
    topo_routes_set_down(&routes, 4, true);
    CHECK_U64(topo_routes_next(&routes, 2, 1, ports, 8), 2, "a link that is down is no way");
    topo_routes_free(&routes);
    topo_graph_free(&m.graph);
    CHECK_U64(m.mem.used, 0, "all memory is given back");
    /* MurmurHash3 of twelve bytes, worked out apart from this program. */
    CHECK_U64(topo_way_hash(1, 2, 3, 0), 0xe9d78ad6, "words 1 2 3");
    CHECK_U64(topo_way_hash(0x6c6c6548, 0x77202c6f, 0x646c726f, 1234), 0x584d5953, "\"Hello, world\", seed 1234");
}

/* Hosts 0 and 1 beside one switch; hosts 2 and 3, which they cannot reach, five switches apart. */
static void ways_are_as_long_as_they_need_to_be_on_an_island(void **state)
{
    (void)state;
    static const struct machine_link islands[] = {{0, 4}, {1, 4}, {2, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 3}};
    struct machine m;
    struct arena arena;
    struct net_stuck stuck[4];
    make_wired(&m, 4, 10, islands, COUNT_OF(islands));
    open_machine(&m);
    net_send(&m.net, 0, 2, 3, 1000, 1);
    net_send(&m.net, 1, 1, 3, 1000, 1);
    run_machine(&m);
    CHECK_U64(m.arrived, 1, "what has a way arrives");
    CHECK_U64(m.flows[0].duration_ns, 6 * (83 + 1000) + 6 * (4 + 1000), "over six links and back");
    arena_init(&arena, &m.mem);
    CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 4), 1, "the other is explained");
    CHECK_CONTAINS(stuck[0].text, "no way leads from host 1 to host 3 (a message of 1000 B");
    arena_free(&arena);
    close_machine(&m);
}

static void pauses_keep_a_small_buffer_from_dropping(void **state)
{
    (void)state;
    for (int off = 0; off < 2; off++) {
        struct machine m;
        make_machine(&m, 9);
        m.config.has_window = false;
        m.config.buffer_bytes = 2u << 20;
        m.config.pfc_enabled = off == 0;
        incast(&m, 1 << 20);
        CHECK_U64(m.arrived, 8, "all arrive");
        if (off == 0) {
            CHECK(m.pauses > 0, "somebody is paused");
            CHECK_U64(m.pauses, m.resumes, "and each pause ends");
            CHECK_U64(packet_counts(&m.net)->drops, 0, "nothing is dropped");
        } else {
            CHECK_U64(m.pauses, 0, "pauses are not heard");
            CHECK(packet_counts(&m.net)->drops > 0, "the buffer overflows");
            CHECK(packet_counts(&m.net)->nacks > 0, "and go-back-N repairs it");
        }
        close_machine(&m);
    }
}

/* A loss in the middle is told by a NACK; of the tail nobody tells, unless there is a timeout. */
static void what_is_lost_is_sent_again(void **state)
{
    (void)state;
    static const double rates[] = {0.001, 0.01, 0.1, 0.4};
    uint64_t timeouts = 0;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        struct machine m;
        make_machine(&m, 3);
        m.config.error_rate = rates[i];
        m.config.timeouts = true;
        open_machine(&m);
        for (uint32_t k = 0; k < 20; k++) {
            net_send(&m.net, k, k % 2, 2, 20000, 1);
        }
        run_machine(&m);
        CHECK_U64(m.arrived, 20, "all messages arrive at a loss of %g", rates[i]);
        timeouts += packet_counts(&m.net)->timeouts;
        close_machine(&m);
    }
    CHECK(timeouts > 0, "some tail was lost");
}

static void a_link_that_carries_nothing_is_given_up(void **state)
{
    (void)state;
    struct machine m;
    struct arena arena;
    struct net_stuck stuck[4];
    make_machine(&m, 2);
    m.config.error_rate = 1;
    m.config.timeouts = true;
    m.config.timeout_ns = 1000;
    open_machine(&m);
    net_send(&m.net, 0, 0, 1, 5000, 1);
    run_machine(&m);
    CHECK_U64(m.arrived, 0, "nothing arrives");
    CHECK_U64(packet_counts(&m.net)->timeouts, PACKET_TIMEOUTS_MOST, "sixteen attempts");
    arena_init(&arena, &m.mem);
    CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 4), 1, "one reason");
    CHECK_TEXT(stuck[0].text,
               "the queue pair from rank 0 to rank 1 (source port 10000) was given up after 16 timeouts in "
               "a row: 0 of 5000 B acknowledged, 0 received in order");
    arena_free(&arena);
    close_machine(&m);
}

/* Without a window the host goes on sending; nothing ever comes back. */
static void packets_that_get_nothing_through_are_a_livelock(void **state)
{
    (void)state;
    for (int timeouts = 0; timeouts < 2; timeouts++) {
        struct machine m;
        struct arena arena;
        struct net_stuck stuck[4];
        make_machine(&m, 2);
        m.config.error_rate = 1;
        m.config.has_window = false;
        m.config.int_sizes = false;
        m.config.timeouts = timeouts == 1;
        open_machine(&m);
        net_send(&m.net, 0, 0, 1, UINT64_C(1) << 40, 1);
        run_machine(&m);
        CHECK_U64(m.arrived, 0, "nothing arrives");
        CHECK(packet_counts(&m.net)->data_packets < UINT64_C(1) << 21, "it ends soon");
        arena_init(&arena, &m.mem);
        CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 4), 1, "one reason");
        CHECK_CONTAINS(stuck[0].text,
                       "a livelock: since 0 ns no payload was acknowledged for the first time, although ");
        CHECK_CONTAINS(stuck[0].text, " to rank 1 has 0 of 1099511627776 B through");
        arena_free(&arena);
        close_machine(&m);
    }
}

/* Two pairs on links of their own, equal in everything but what those lose. */
static void lossy_links_lose_in_step_for_astra_alone(void **state)
{
    (void)state;
    static const struct machine_link two[] = {{0, 4}, {1, 4}, {2, 5}, {3, 5}};
    uint64_t took[3][2];
    for (uint32_t round = 0; round < 3; round++) {
        struct machine m;
        make_wired(&m, 4, 6, two, COUNT_OF(two));
        m.graph.links[1].error_rate = 0.02;
        m.graph.links[3].error_rate = 0.02;
        m.config.timeouts = true;
        m.config.own_losses = round > 0;
        m.config.loss_seed = round;
        open_machine(&m);
        net_send(&m.net, 0, 0, 1, 1 << 20, 1);
        net_send(&m.net, 1, 2, 3, 1 << 20, 1);
        run_machine(&m);
        CHECK_U64(m.arrived, 2, "both arrive");
        for (uint32_t i = 0; i < 2; i++) {
            took[round][m.flows[i].src / 2] = m.flows[i].duration_ns;
        }
        close_machine(&m);
    }
    CHECK_U64(took[0][0], took[0][1], "the reference draws the same numbers for both");
    CHECK(took[1][0] != took[1][1], "each link has its own numbers");
    CHECK(took[1][0] != took[2][0], "another seed, other numbers");
}

/* Chunks and packets that do not begin together. */
static void going_back_to_a_chunk_s_start_ends(void **state)
{
    (void)state;
    struct machine m;
    make_machine(&m, 3);
    m.config.payload_bytes = 1500;
    m.config.back_to_zero = true;
    m.config.error_rate = 0.02;
    m.config.timeouts = true;
    open_machine(&m);
    net_send(&m.net, 0, 0, 2, 4 << 20, 1);
    net_send(&m.net, 1, 1, 2, (4 << 20) + 1, 1);
    run_machine(&m);
    CHECK_U64(m.arrived, 2, "both arrive");
    CHECK(packet_counts(&m.net)->losses > 0, "something was lost");
    close_machine(&m);
}

static void without_a_timeout_a_lost_tail_is_explained(void **state)
{
    (void)state;
    struct machine m;
    struct arena arena;
    struct net_stuck stuck[4];
    make_machine(&m, 2);
    m.config.error_rate = 1;
    open_machine(&m);
    net_send(&m.net, 0, 0, 1, 5000, 1);
    run_machine(&m);
    arena_init(&arena, &m.mem);
    CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 4), 1, "one reason");
    CHECK_CONTAINS(stuck[0].text, "waits for a packet that was lost: 0 of 5000 B acknowledged");
    CHECK_CONTAINS(stuck[0].fix, "parameter 'rto'");
    CHECK_U64(stuck[0].rank_count, 2, "both ranks are named");
    arena_free(&arena);
    close_machine(&m);
}

/* Marks from the first byte on start the control's timers; losses then leave messages without an answer. */
static void timers_of_stuck_messages_do_not_keep_a_run_going(void **state)
{
    (void)state;
    for (int timeouts = 0; timeouts < 2; timeouts++) {
        struct machine m;
        make_machine(&m, 8);
        m.config.cc_mode = PACKET_CC_DCQCN;
        m.config.marks[0].kmin_bytes = 0;
        m.config.marks[0].kmax_bytes = 1;
        m.config.timeouts = timeouts == 1;
        m.config.error_rate = timeouts == 1 ? 0.5 : 0.02;
        open_machine(&m);
        for (uint32_t k = 1; k < 8; k++) {
            net_send(&m.net, k, k, 0, 1 << 20, 1);
        }
        struct event event;
        uint64_t events = 0;
        while (event_queue_pop(&m.queue, &event)) {
            (void)net_handle(&m.net, &event);
            CHECK(++events < 20000000, "the run ends (%d)", timeouts);
        }
        CHECK(packet_counts(&m.net)->marks > 0, "timers were started");
        CHECK(m.arrived < 7, "somebody is stuck (%d)", timeouts);
        close_machine(&m);
    }
}

static void a_timeout_changes_nothing_where_nothing_is_lost(void **state)
{
    (void)state;
    struct packet_flow before[8];
    for (int with = 0; with < 2; with++) {
        struct machine m;
        make_machine(&m, 9);
        m.config.has_window = false;
        m.config.buffer_bytes = 2u << 20;
        m.config.timeouts = with == 1;
        m.config.timeout_ns = with == 1 ? 1 : 0;
        incast(&m, 500000);
        for (uint32_t i = 0; i < 8; i++) {
            before[i] = with == 0 ? m.flows[i] : before[i];
            CHECK_U64(m.flows[i].duration_ns, before[i].duration_ns, "flow %u", i);
        }
        CHECK_U64(packet_counts(&m.net)->timeouts, 0, "no timeout");
        close_machine(&m);
    }
}

static void a_message_of_many_gigabytes_arrives_unless_sizes_are_ints(void **state)
{
    (void)state;
    for (int ints = 0; ints < 2; ints++) {
        struct machine m;
        struct arena arena;
        struct net_stuck stuck[4];
        make_machine(&m, 2);
        m.config.payload_bytes = 1 << 20;
        m.config.int_sizes = ints == 1;
        open_machine(&m);
        net_send(&m.net, 0, 0, 1, UINT64_C(5000000000), 1);
        run_machine(&m);
        CHECK_U64(m.arrived, ints == 1 ? 0 : 1, "5 GB");
        arena_init(&arena, &m.mem);
        CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 4), ints == 1 ? 1 : 0, "reasons");
        if (ints == 1) {
            CHECK_CONTAINS(stuck[0].text, "the message of 5000000000 B from rank 0 to rank 1 has 2 GiB or more");
        }
        arena_free(&arena);
        close_machine(&m);
    }
}

/* Five switches in a ring, everybody sending two switches further on: each waits for room at the next. */
static void a_cycle_of_pauses_is_found_and_not_kept_going_by_timeouts(void **state)
{
    (void)state;
    struct machine_link links[15];
    struct machine m;
    struct arena arena;
    struct net_stuck stuck[4];
    for (uint32_t i = 0; i < 5; i++) {
        links[i] = (struct machine_link){i, 10 + i};
        links[5 + i] = (struct machine_link){5 + i, 10 + i};
        links[10 + i] = (struct machine_link){10 + i, 10 + (i + 1) % 5};
    }
    make_wired(&m, 10, 15, links, 15);
    m.config.has_window = false;
    m.config.timeouts = true;
    m.config.buffer_bytes = 1 << 20;
    open_machine(&m);
    for (uint32_t i = 0; i < 5; i++) {
        net_send(&m.net, i, i, (i + 2) % 5, 20 << 20, 1);
        net_send(&m.net, 5 + i, 5 + i, 5 + (i + 2) % 5, 20 << 20, 1);
    }
    run_machine(&m);
    CHECK(m.arrived < 10, "they block each other");
    arena_init(&arena, &m.mem);
    CHECK(m.net.ops->explain(&m.net, &arena, stuck, 4) > 0, "and it is explained");
    CHECK_CONTAINS(stuck[0].text, "a cycle of 5 pauses: node 1");
    CHECK_CONTAINS(stuck[0].fix, "BUFFER_SIZE");
    arena_free(&arena);
    close_machine(&m);
}

/* Each control must deliver everything, and keep the queue below what a bare window leaves. */
static void every_control_tames_an_incast(void **state)
{
    (void)state;
    static const enum packet_cc controls[] = {PACKET_CC_NONE,  PACKET_CC_DCQCN, PACKET_CC_HPCC,  PACKET_CC_TIMELY,
                                              PACKET_CC_DCTCP, PACKET_CC_PINT,  PACKET_CC_SWIFT, PACKET_CC_CREDIT};
    uint64_t bare = 0;
    for (size_t i = 0; i < COUNT_OF(controls); i++) {
        struct machine m;
        struct net_figures figures;
        struct arena arena;
        make_machine(&m, 9);
        m.config.cc_mode = controls[i];
        m.config.marks[0].kmin_bytes = 20000;
        m.config.marks[0].kmax_bytes = 100000;
        incast(&m, 4 << 20);
        arena_init(&arena, &m.mem);
        CHECK(m.net.ops->figures(&m.net, &arena, &figures), "memory is given");
        uint64_t queue = 0;
        for (uint32_t k = 0; k < figures.link_count; k++) {
            bool hot = figures.links[k].to == 0;
            queue = hot ? figures.links[k].queue_p50 : queue;
        }
        bare = i == 0 ? queue : bare;
        CHECK_U64(m.arrived, 8, "all arrive under control %d", (int)controls[i]);
        CHECK(queue <= bare + bare / 50, "control %d leaves a queue of %d B, none at all %d B", (int)controls[i],
              (int)queue, (int)bare);
        CHECK_U64(figures.flows, 8, "messages counted");
        CHECK(figures.slowdown_permille.most >= 1000, "nobody is faster than alone");
        arena_free(&arena);
        close_machine(&m);
    }
}

/* The reference divides by the window; without one there is still a rate, and the same one on every machine. */
static void hpcc_without_a_window_holds_an_incast(void **state)
{
    (void)state;
    uint64_t ends[2];
    for (int window = 0; window < 2; window++) {
        struct machine m;
        make_machine(&m, 9);
        m.config.cc_mode = PACKET_CC_HPCC;
        m.config.has_window = window == 1;
        open_machine(&m);
        for (uint32_t i = 0; i < 8; i++) {
            net_send(&m.net, i, 1 + i, 0, 4 << 20, 1);
        }
        run_machine(&m);
        CHECK_U64(m.arrived, 8, "all arrive");
        ends[window] = m.queue.now;
        close_machine(&m);
    }
    CHECK(ends[0] < ends[1] + ends[1] / 5 && ends[1] < ends[0] + ends[0] / 5, "%d ns, with a window %d ns",
          (int)ends[0], (int)ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serialisation_rounds_to_the_nearest_or_down),
        cmocka_unit_test(halves_round_down_and_what_fixed_point_cannot_tell_from_them_too),
        cmocka_unit_test(the_generator_gives_the_published_numbers),
        cmocka_unit_test(streams_are_reached_one_by_one_or_at_once),
        cmocka_unit_test(the_c_library_s_numbers_are_its_own),
        cmocka_unit_test(percentiles_are_right_within_a_class),
        cmocka_unit_test(a_buffer_pauses_and_resumes_where_it_should),
        cmocka_unit_test(a_message_takes_its_way_there_and_its_ack_s_way_back),
        cmocka_unit_test(equal_ways_are_picked_by_hash),
        cmocka_unit_test(ways_are_as_long_as_they_need_to_be_on_an_island),
        cmocka_unit_test(pauses_keep_a_small_buffer_from_dropping),
        cmocka_unit_test(what_is_lost_is_sent_again),
        cmocka_unit_test(a_link_that_carries_nothing_is_given_up),
        cmocka_unit_test(packets_that_get_nothing_through_are_a_livelock),
        cmocka_unit_test(lossy_links_lose_in_step_for_astra_alone),
        cmocka_unit_test(going_back_to_a_chunk_s_start_ends),
        cmocka_unit_test(without_a_timeout_a_lost_tail_is_explained),
        cmocka_unit_test(timers_of_stuck_messages_do_not_keep_a_run_going),
        cmocka_unit_test(a_timeout_changes_nothing_where_nothing_is_lost),
        cmocka_unit_test(a_message_of_many_gigabytes_arrives_unless_sizes_are_ints),
        cmocka_unit_test(a_cycle_of_pauses_is_found_and_not_kept_going_by_timeouts),
        cmocka_unit_test(every_control_tames_an_incast),
        cmocka_unit_test(hpcc_without_a_window_holds_an_incast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
