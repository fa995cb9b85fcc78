/* SPDX-License-Identifier: Apache-2.0 */
/* What the packet network can do beyond the reference: packets on several ways, links that fail, credit from receivers.
 */
#include "tests/net/packet_machine.h"

/* Hosts 0 to 3 on leaf 8, 4 to 7 on leaf 9, four spines 10 to 13. */
static const struct machine_link leaf_spine[] = {{0, 8},  {1, 8},  {2, 8},  {3, 8},  {4, 9},  {5, 9},
                                                 {6, 9},  {7, 9},  {8, 10}, {8, 11}, {8, 12}, {8, 13},
                                                 {9, 10}, {9, 11}, {9, 12}, {9, 13}};

static void make_leaf_spine(struct machine *m)
{
    make_wired(m, 8, 14, leaf_spine, COUNT_OF(leaf_spine));
    m->config.timeouts = true;
}

/* Host i of the first leaf to host i of the second, all at once; when the last has arrived. */
static uint64_t permutation(struct machine *m, uint64_t bytes)
{
    open_machine(m);
    for (uint32_t i = 0; i < 4; i++) {
        net_send(&m->net, i, i, 4 + i, bytes, 1);
    }
    run_machine(m);
    uint64_t end = 0;
    for (uint32_t i = 0; i < m->flow_count; i++) {
        uint64_t one = m->flows[i].start_ns + m->flows[i].duration_ns;
        end = one > end ? one : end;
    }
    return end;
}

static void spraying_and_adaptive_routing_use_all_ways(void **state)
{
    (void)state;
    static const enum packet_routing routings[] = {PACKET_ROUTING_ECMP, PACKET_ROUTING_SPRAY, PACKET_ROUTING_ADAPTIVE};
    uint64_t end[3] = {0};
    for (size_t i = 0; i < COUNT_OF(routings); i++) {
        struct machine m;
        make_leaf_spine(&m);
        m.config.routing = routings[i];
        end[i] = permutation(&m, 1 << 20);
        CHECK_U64(m.arrived, 4, "all arrive");
        CHECK_U64(packet_counts(&m.net)->nacks, 0, "packets that overtake others are not taken for losses");
        CHECK_U64(packet_counts(&m.net)->timeouts, 0, "nothing is sent twice");
        close_machine(&m);
    }
    CHECK(end[1] < end[0] && end[2] < end[0], "%d and %d ns, against %d where hashes collide", (int)end[1], (int)end[2],
          (int)end[0]);
}

static void sprayed_messages_survive_losses(void **state)
{
    (void)state;
    struct machine m;
    make_leaf_spine(&m);
    m.config.routing = PACKET_ROUTING_SPRAY;
    m.config.error_rate = 0.01;
    (void)permutation(&m, 100000);
    CHECK_U64(m.arrived, 4, "all arrive");
    CHECK(packet_counts(&m.net)->losses > 0, "something was lost");
    close_machine(&m);
}

static void ways_found_hop_by_hop_are_those_found_at_once(void **state)
{
    (void)state;
    static const struct packet_link_change never = {.time_ns = UINT64_C(5000000000), .link = 0, .down = true};
    uint64_t end[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct machine m;
        make_leaf_spine(&m);
        m.config.link_changes = &never;
        m.config.link_change_count = i;
        end[i] = permutation(&m, 1 << 20);
        close_machine(&m);
    }
    CHECK_U64(end[1], end[0], "a link that fails after all is over changes nothing");
}

/* A spine's link fails in the middle: what was on it is lost and goes by the others. */
static void messages_go_round_a_link_that_fails(void **state)
{
    (void)state;
    for (uint32_t spine = 0; spine < 4; spine++) {
        struct machine m;
        const struct packet_link_change down = {.time_ns = 20000, .link = 8 + spine, .down = true};
        make_leaf_spine(&m);
        m.config.link_changes = &down;
        m.config.link_change_count = 1;
        (void)permutation(&m, 1 << 20);
        CHECK_U64(m.arrived, 4, "all arrive without spine %u", spine);
        close_machine(&m);
    }
}

/* A host's only link: its messages wait, those that begin meanwhile too, and go on when it is back. */
static void messages_wait_for_a_link_that_comes_back(void **state)
{
    (void)state;
    struct machine m;
    const struct packet_link_change changes[] = {{.time_ns = 20000, .link = 0, .down = true},
                                                 {.time_ns = 3000000, .link = 0, .down = false}};
    make_leaf_spine(&m);
    m.config.link_changes = changes;
    m.config.link_change_count = 2;
    uint64_t end = permutation(&m, 1 << 20);
    CHECK_U64(m.arrived, 4, "all arrive");
    CHECK(end > 3000000, "after the link has come back, not at %d ns", (int)end);
    close_machine(&m);
    const struct packet_link_change at_once[] = {{.time_ns = 0, .link = 0, .down = true},
                                                 {.time_ns = 3000000, .link = 0, .down = false}};
    make_leaf_spine(&m);
    m.config.link_changes = at_once;
    m.config.link_change_count = 2;
    open_machine(&m);
    struct event event;
    CHECK(event_queue_pop(&m.queue, &event), "the link goes down first");
    (void)net_handle(&m.net, &event);
    net_send(&m.net, 0, 0, 4, 1000, 1);
    run_machine(&m);
    CHECK_U64(m.flows[0].start_ns, 3000000, "a message without a way begins when there is one");
    close_machine(&m);
}

static void a_host_with_two_links_changes_to_the_other(void **state)
{
    (void)state;
    static const struct machine_link dual[] = {{0, 2}, {0, 3}, {1, 2}, {1, 3}};
    for (uint32_t link = 0; link < 4; link++) {
        struct machine m;
        const struct packet_link_change down = {.time_ns = 20000, .link = link, .down = true};
        make_wired(&m, 2, 4, dual, COUNT_OF(dual));
        m.config.timeouts = true;
        m.config.link_changes = &down;
        m.config.link_change_count = 1;
        open_machine(&m);
        net_send(&m.net, 0, 0, 1, 1 << 20, 1);
        run_machine(&m);
        CHECK_U64(m.arrived, 1, "it arrives without link %u", link);
        close_machine(&m);
    }
}

static void parallel_links_are_ways_when_asked_for(void **state)
{
    (void)state;
    static const struct machine_link doubled[] = {{0, 4}, {1, 4}, {4, 5}, {4, 5}, {2, 5}, {3, 5}};
    for (int all = 0; all < 2; all++) {
        struct machine m;
        struct arena arena;
        struct net_figures figures;
        uint32_t used = 0;
        make_wired(&m, 4, 6, doubled, COUNT_OF(doubled));
        m.config.parallel_links = all == 1;
        open_machine(&m);
        for (uint32_t i = 0; i < 16; i++) {
            net_send(&m.net, i, i % 2, 2 + i % 2, 10000, 1);
        }
        run_machine(&m);
        arena_init(&arena, &m.mem);
        CHECK(m.net.ops->figures(&m.net, &arena, &figures), "memory is given");
        for (uint32_t i = 0; i < figures.link_count; i++) {
            used += figures.links[i].from == 4 && figures.links[i].to == 5 && figures.links[i].bytes > 5000 ? 1 : 0;
        }
        CHECK_U64(used, all == 1 ? 2 : 1, "links between the switches");
        arena_free(&arena);
        close_machine(&m);
    }
}

/* Receivers that give credit keep their link full, and no more than the senders' first windows in its queue. */
static void credit_keeps_the_last_link_full_and_its_queue_short(void **state)
{
    (void)state;
    struct machine m;
    struct arena arena;
    struct net_figures figures;
    uint64_t least = 0;
    make_machine(&m, 9);
    m.config.cc_mode = PACKET_CC_CREDIT;
    open_machine(&m);
    for (uint32_t i = 1; i < 9; i++) {
        net_send(&m.net, i, i, 0, 4 << 20, 1);
    }
    run_machine(&m);
    CHECK_U64(m.arrived, 8, "all arrive");
    arena_init(&arena, &m.mem);
    CHECK(m.net.ops->figures(&m.net, &arena, &figures), "memory is given");
    for (uint32_t i = 0; i < figures.link_count; i++) {
        if (figures.links[i].to == 0) {
            least = figures.links[i].busy_ns;
            CHECK(figures.links[i].queue_most <= 8 * (52000 + 1036), "the first windows, not %d B",
                  (int)figures.links[i].queue_most);
        }
    }
    CHECK(least > m.queue.now / 20 * 19, "the link is busy 95 %% of the time");
    arena_free(&arena);
    close_machine(&m);
}

static void lost_credit_is_asked_for_again(void **state)
{
    (void)state;
    struct machine m;
    make_machine(&m, 3);
    m.config.cc_mode = PACKET_CC_CREDIT;
    m.config.error_rate = 0.05;
    m.config.timeouts = true;
    open_machine(&m);
    net_send(&m.net, 0, 0, 2, 300000, 1);
    net_send(&m.net, 1, 1, 2, 300000, 1);
    run_machine(&m);
    CHECK_U64(m.arrived, 2, "both arrive");
    close_machine(&m);
}

/* What passes to a host and what the switch itself sends to it: both get on, at half the rate each. */
static void messages_end_and_start_at_a_switch_beside_what_passes(void **state)
{
    (void)state;
    enum { BYTES = 1000000, SWITCH = 3 };
    static const uint32_t laws[] = {PACKET_CC_NONE, PACKET_CC_DCQCN, PACKET_CC_HPCC, PACKET_CC_TIMELY, PACKET_CC_DCTCP};
    for (size_t i = 0; i < COUNT_OF(laws); i++) {
        struct machine m;
        make_machine(&m, SWITCH);
        m.config.cc_mode = laws[i];
        m.switches_end = true;
        open_machine(&m);
        net_send(&m.net, 0, 0, SWITCH, BYTES, 1);
        net_send(&m.net, 1, SWITCH, 2, BYTES, 1);
        net_send(&m.net, 2, 1, 2, BYTES, 1);
        run_machine(&m);
        CHECK_U64(m.arrived, 3, "law %u: all arrive", laws[i]);
        for (uint32_t f = 0; f < m.flow_count; f++) {
            double alone = BYTES * 8.0 / 100;
            double shares = m.flows[f].dst == SWITCH ? 1 : 2;
            CHECK((double)m.flows[f].duration_ns < 1.25 * shares * alone + 5000 || laws[i] != PACKET_CC_NONE,
                  "from %u to %u: %" PRIu64 " ns", m.flows[f].src, m.flows[f].dst, m.flows[f].duration_ns);
            CHECK((double)m.flows[f].duration_ns > 0.9 * shares * alone || laws[i] != PACKET_CC_NONE,
                  "from %u to %u: %" PRIu64 " ns", m.flows[f].src, m.flows[f].dst, m.flows[f].duration_ns);
        }
        close_machine(&m);
    }
}

TEST_MAIN(messages_end_and_start_at_a_switch_beside_what_passes, spraying_and_adaptive_routing_use_all_ways,
          sprayed_messages_survive_losses, ways_found_hop_by_hop_are_those_found_at_once,
          messages_go_round_a_link_that_fails, messages_wait_for_a_link_that_comes_back,
          a_host_with_two_links_changes_to_the_other, parallel_links_are_ways_when_asked_for,
          credit_keeps_the_last_link_full_and_its_queue_short, lost_credit_is_asked_for_again)
