/* SPDX-License-Identifier: Apache-2.0 */
/* The flow network where it cannot go on, and where it must: pauses in a circle, and inputs at the edge. */
#include "base/arena.h"
#include "net/flow/contest.h"
#include "net/flow/flow.h"
#include "tests/net/packet_machine.h"

enum { SWITCHES = 5, HOSTS = 2 * SWITCHES };

static void open_with(struct machine *m, const struct net_ops *ops)
{
    struct orr_error err = {0};
    m->machine = (struct packet_machine){.graph = &m->graph, .config = &m->config};
    CHECK(event_queue_init(&m->queue, &m->mem), "memory is given");
    CHECK_OK(net_init_machine(&m->net, ops, &m->dims, &m->machine, arrived, m, &m->queue, &m->mem, &err), &err);
}

/* Five switches in a ring, two hosts on each. */
static void make_ring(struct machine *m)
{
    struct machine_link links[HOSTS + SWITCHES];
    for (uint32_t i = 0; i < SWITCHES; i++) {
        links[i] = (struct machine_link){i, HOSTS + i};
        links[SWITCHES + i] = (struct machine_link){SWITCHES + i, HOSTS + i};
        links[HOSTS + i] = (struct machine_link){HOSTS + i, HOSTS + (i + 1) % SWITCHES};
    }
    make_wired(m, HOSTS, HOSTS + SWITCHES, links, HOSTS + SWITCHES);
    m->config.has_window = false;
    m->config.enable_qcn = true;
    m->config.cc_mode = PACKET_CC_DCQCN;
    m->config.buffer_bytes = 1 << 20;
    m->config.marks[0] = (struct packet_mark){UINT64_C(100000000000), 1e9, 2e9, 0.2};
}

/* Everybody to two switches further on: each waits for room at the next. */
static void send_round(struct machine *m)
{
    for (uint32_t i = 0; i < SWITCHES; i++) {
        net_send(&m->net, i, i, (i + 2) % SWITCHES, 20 << 20, 1);
        net_send(&m->net, SWITCHES + i, SWITCHES + i, SWITCHES + (i + 2) % SWITCHES, 20 << 20, 1);
    }
}

static void a_cycle_of_pauses_ends_the_run_and_is_explained_as_packets_explain_it(void **state)
{
    (void)state;
    static const struct net_ops *const networks[] = {&net_shares, &net_packet};
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        struct machine m;
        struct arena arena;
        struct net_stuck stuck[4];
        make_ring(&m);
        open_with(&m, networks[i]);
        send_round(&m);
        run_machine(&m);
        CHECK(m.arrived < HOSTS, "%s: they block each other", networks[i]->name);
        arena_init(&arena, &m.mem);
        CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 4), 1, "%s: one reason", networks[i]->name);
        CHECK_CONTAINS(stuck[0].text, "a cycle of 5 pauses: node 1");
        CHECK_CONTAINS(stuck[0].text, "each has a full buffer that only the next could empty");
        CHECK_CONTAINS(stuck[0].fix, "BUFFER_SIZE");
        CHECK_U64(m.net.ops->explain(&m.net, &arena, stuck, 0), 0, "%s: no room, no reason", networks[i]->name);
        arena_free(&arena);
        close_machine(&m);
    }
}

static void what_does_not_meet_the_stuck_ones_still_arrives(void **state)
{
    (void)state;
    struct machine m;
    make_ring(&m);
    open_with(&m, &net_shares);
    send_round(&m);
    run_machine(&m);
    uint32_t before = m.arrived;
    net_send(&m.net, 100, 0, SWITCHES, 1 << 20, 1); /* two hosts of one switch */
    run_machine(&m);
    CHECK_U64(m.arrived, before + 1, "it has its own way");
    close_machine(&m);
}

static void the_same_ring_without_pauses_or_with_room_goes_on(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct machine m;
        make_ring(&m);
        m.config.pfc_enabled = i != 0;
        m.config.buffer_bytes = i != 0 ? UINT32_C(1) << 30 : m.config.buffer_bytes;
        open_with(&m, &net_shares);
        send_round(&m);
        run_machine(&m);
        CHECK_U64(m.arrived, HOSTS, "%s", i != 0 ? "a large buffer" : "no pauses");
        close_machine(&m);
    }
}

/* ---- edges ---- */

struct edge {
    const char *name;
    enum packet_cc control;
    uint64_t slow_bps; /* the receiver's link; 0: as the others */
    uint64_t delay_ns; /* of all; 0: a microsecond */
    uint64_t bytes;
    uint32_t each; /* messages of each sender */
    double kmin_bytes;
};

static void run_edge(const struct edge *edge)
{
    enum { SENDERS = 8 };
    struct machine m;
    make_machine(&m, SENDERS + 1);
    m.config.cc_mode = edge->control;
    m.config.enable_qcn = true;
    m.config.marks[0].kmin_bytes = edge->kmin_bytes;
    m.config.marks[0].kmax_bytes = edge->kmin_bytes * 4;
    for (uint32_t i = 0; i < m.graph.link_count; i++) {
        struct topo_link *link = &m.graph.links[i];
        bool is_last = m.graph.kinds[link->a] == TOPO_NODE_HOST ? link->a == 0 : link->b == 0;
        link->rate_bps = is_last && edge->slow_bps > 0 ? edge->slow_bps : link->rate_bps;
        link->delay_ns = edge->delay_ns > 0 ? edge->delay_ns : link->delay_ns;
    }
    open_with(&m, &net_shares);
    for (uint32_t i = 0; i < SENDERS * edge->each; i++) {
        net_send(&m.net, i, 1 + i % SENDERS, 0, edge->bytes, 1);
    }
    run_machine(&m);
    CHECK_U64(m.arrived, SENDERS * edge->each, "%s", edge->name);
    close_machine(&m);
}

static void messages_at_the_edge_all_arrive(void **state)
{
    (void)state;
    static const uint64_t gbps = UINT64_C(1000000000);
    const struct edge edges[] = {
        {"no bytes", PACKET_CC_HPCC, 0, 0, 0, 4, 40e3},
        {"one byte", PACKET_CC_DCQCN, 0, 0, 1, 4, 0},
        {"one packet each, hundreds at once", PACKET_CC_DCQCN, 0, 0, 1000, 200, 5e3},
        {"a last packet of one byte", PACKET_CC_HPCC, 0, 0, 100001, 8, 40e3},
        {"a receiver a thousand times slower", PACKET_CC_DCQCN, gbps / 10, 0, 100000, 1, 40e3},
        {"a receiver a thousand times slower, HPCC", PACKET_CC_HPCC, gbps / 10, 0, 100000, 1, 40e3},
        {"a receiver a thousand times slower, TIMELY", PACKET_CC_TIMELY, gbps / 10, 0, 100000, 1, 40e3},
        {"windows of a quarter of a gigabyte", PACKET_CC_HPCC, 0, 10000000, 1 << 22, 1, 40e3},
        {"the same under DCQCN", PACKET_CC_DCQCN, 0, 10000000, 1 << 22, 1, 40e3},
        {"everything marked", PACKET_CC_DCTCP, 0, 0, 300000, 1, 0},
    };
    for (size_t i = 0; i < COUNT_OF(edges); i++) {
        run_edge(&edges[i]);
    }
}

/* ---- a contest by itself ---- */

/* Hosts 1 and up of one switch send to host 0. */
static struct contest_entry entry_from(const struct topo_graph *graph, uint32_t host, uint32_t *there, uint32_t *back)
{
    static const bool is_queue[] = {false, true};
    there[0] = graph->port_start[host];
    there[1] = graph->ports[graph->port_start[0]].peer;
    back[0] = graph->port_start[0];
    back[1] = graph->ports[graph->port_start[host]].peer;
    return (struct contest_entry){.there = there,
                                  .back = back,
                                  .hops_there = 2,
                                  .hops_back = 2,
                                  .is_queue = is_queue,
                                  .size = 3000000,
                                  .pace_ns = 100,
                                  .window = 104000,
                                  .base_rtt_ns = 8000};
}

/* Others had nearly all of the host's link when the second message joined, and none of it right after. */
static void packets_brought_along_are_not_overtaken_when_the_link_becomes_free(void **state)
{
    (void)state;
    struct machine m;
    uint32_t there[2], back[2];
    make_machine(&m, 3);
    m.config.cc_mode = PACKET_CC_DCQCN;
    struct mrg32k3a_streams streams;
    struct c_random random;
    mrg32k3a_streams_init(&streams, 0);
    c_random_init(&random);
    struct contest contest = {.graph = &m.graph,
                              .config = &m.config,
                              .streams = &streams,
                              .random = &random,
                              .mem = &m.mem,
                              .now_ns = 1000000,
                              .longest_rtt_ns = 8000,
                              .leg_room = 3};
    CHECK(contest_open(&contest), "memory is given");
    struct contest_entry entry = entry_from(&m.graph, 1, there, back);
    uint32_t first = contest_join(&contest, &entry);
    contest_set_part(&contest, contest.senders[first].link, 0.001);
    entry.sent = 50000;
    uint32_t second = contest_join(&contest, &entry);
    contest_set_part(&contest, contest.senders[first].link, 1);
    const struct contest_sender *sender = &contest.senders[second];
    for (uint64_t now = contest.now_ns, acked = 0; now < 100000000 && sender->done_ns == 0; now += 1000) {
        contest_advance(&contest, now);
        CHECK(sender->control.acked >= acked, "%d B were acknowledged, then %d", (int)acked,
              (int)sender->control.acked);
        acked = sender->control.acked;
    }
    contest_advance(&contest, 100000000);
    CHECK_U64(contest.senders[first].control.acked, entry.size, "all of the first");
    CHECK_U64(contest.senders[second].control.acked, entry.size, "and of the second");
    CHECK(sender->done_ns > 0 && sender->done_ns < 2000000, "soon: %d ns", (int)sender->done_ns);
    contest_close(&contest);
    topo_graph_free(&m.graph);
    CHECK_U64(m.mem.used, 0, "all memory is given back");
}

TEST_MAIN(a_cycle_of_pauses_ends_the_run_and_is_explained_as_packets_explain_it,
          what_does_not_meet_the_stuck_ones_still_arrives, the_same_ring_without_pauses_or_with_room_goes_on,
          messages_at_the_edge_all_arrive, packets_brought_along_are_not_overtaken_when_the_link_becomes_free)
