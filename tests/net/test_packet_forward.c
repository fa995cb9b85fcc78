/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast-forward against the plain engine: the same machines and messages with and without it, and everything that can be
 * told of a run must be the same. Machines, settings and messages are drawn from a seed; `test_net_packet_forward FIRST
 * COUNT SCALE` runs other seeds than the usual ones, with messages so many times as long.
 */
#include <stdlib.h>
#include <string.h>

#include "net/packet/engine.h"
#include "tests/check.h"
#include "tests/prng.h"

enum { HOSTS_MOST = 12, MESSAGES_MOST = 256, TRIALS = 160, EVENT_SEND = NET_EVENT_KINDS, EVENT_NOTHING, EVENT_LAST };
enum { LAST_NS = 20000000 };

struct message {
    uint32_t src, dst, after; /* the message whose arrival sends it, or UINT32_MAX */
    uint64_t bytes, at_ns;
};

/* What a run can tell. */
struct told {
    struct packet_flow flows[MESSAGES_MOST];
    uint64_t arrived_ns[MESSAGES_MOST];
    uint32_t flow_count;
    uint64_t pauses, pause_sum; /* a sum over all their words */
    uint64_t end_ns, handled;
    struct packet_counts counts;
    struct net_figures figures;
    struct net_link links[128];
};

struct trial {
    struct topo_graph graph;
    struct packet_config config;
    struct packet_link_change changes[2];
    struct topo_dims dims;
    uint32_t hosts;
    bool watches_pauses;
    bool never_ends; /* runs beyond LAST_NS */
    struct message messages[MESSAGES_MOST];
    uint32_t message_count;
    uint64_t nothing_at[8];
    uint32_t nothing_count;
    /* Of one run. */
    struct mem mem;
    struct event_queue queue;
    struct net net;
    struct told *told;
};

/* ---- running ---- */

static void flow_done(void *context, const struct packet_flow *flow)
{
    struct trial *trial = context;
    trial->told->flows[trial->told->flow_count++] = *flow;
}

static void pause_seen(void *context, uint64_t time_ns, uint32_t node, bool is_switch, uint32_t port_index, bool pause)
{
    struct trial *trial = context;
    trial->told->pauses++;
    uint64_t words[] = {time_ns, node, port_index, is_switch, pause};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        trial->told->pause_sum = trial->told->pause_sum * 31 + words[i];
    }
}

static void send(struct trial *trial, uint32_t index)
{
    const struct message *message = &trial->messages[index];
    net_send(&trial->net, index, message->src, message->dst, message->bytes, 1);
}

static void arrived(void *context, uint32_t index)
{
    struct trial *trial = context;
    trial->told->arrived_ns[index] = trial->queue.now;
    for (uint32_t i = 0; i < trial->message_count; i++) {
        if (trial->messages[i].after == index) {
            send(trial, i);
        }
    }
}

static void drive(struct trial *trial)
{
    struct event event;
    /* A message that never ends (there are settings for that) may leave timers that go on for ever. */
    if (!trial->never_ends) {
        (void)event_queue_push(&trial->queue, LAST_NS, EVENT_LAST, 0, 0);
    }
    while (event_queue_pop(&trial->queue, &event) && event.kind != EVENT_LAST) {
        if (event.kind == EVENT_SEND) {
            send(trial, event.a);
        } else if (event.kind != EVENT_NOTHING) {
            (void)net_handle(&trial->net, &event);
        }
        CHECK(!trial->queue.failed, "memory is given");
    }
}

static void tell(struct trial *trial)
{
    struct told *told = trial->told;
    struct arena arena;
    arena_init(&arena, &trial->mem);
    told->end_ns = trial->queue.now;
    told->handled = trial->queue.handled;
    told->counts = *packet_counts(&trial->net);
    CHECK(trial->net.ops->figures(&trial->net, &arena, &told->figures), "memory is given");
    CHECK(told->figures.link_count <= COUNT_OF(told->links), "room for links");
    memcpy(told->links, told->figures.links, told->figures.link_count * sizeof *told->links);
    told->figures.links = NULL;
    arena_free(&arena);
}

static void run(struct trial *trial, bool forward, struct told *told)
{
    struct orr_error err = {0};
    struct packet_machine machine = {
        .graph = &trial->graph, .config = &trial->config, .flow_done = flow_done, .context = trial};
    machine.pause_seen = trial->watches_pauses ? pause_seen : NULL;
    memset(told, 0, sizeof *told);
    trial->told = told;
    trial->config.no_fast_forward = !forward;
    CHECK(event_queue_init(&trial->queue, &trial->mem), "memory is given");
    CHECK_OK(net_init_machine(&trial->net, &net_packet, &trial->dims, &machine, arrived, trial, &trial->queue,
                              &trial->mem, &err),
             &err);
    for (uint32_t i = 0; i < trial->message_count; i++) {
        if (trial->messages[i].after == UINT32_MAX) {
            (void)event_queue_push(&trial->queue, trial->messages[i].at_ns, EVENT_SEND, i, 0);
        }
    }
    for (uint32_t i = 0; i < trial->nothing_count; i++) {
        (void)event_queue_push(&trial->queue, trial->nothing_at[i], EVENT_NOTHING, i, 0);
    }
    drive(trial);
    tell(trial);
    net_free(&trial->net);
    event_queue_free(&trial->queue);
}

/* ---- comparing ---- */

static void compare_links(const struct told *plain, const struct told *forward, uint64_t seed)
{
    for (uint32_t i = 0; i < plain->figures.link_count; i++) {
        const struct net_link *a = &plain->links[i];
        const struct net_link *b = &forward->links[i];
        CHECK_U64(b->bytes, a->bytes, "bytes of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->busy_ns, a->busy_ns, "busy time of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->marks, a->marks, "marks of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->drops, a->drops, "drops of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->pauses, a->pauses, "pauses of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->losses, a->losses, "losses of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->queue_p50, a->queue_p50, "median queue of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->queue_p95, a->queue_p95, "p95 queue of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->queue_p99, a->queue_p99, "p99 queue of link %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->queue_most, a->queue_most, "longest queue of link %u, seed %" PRIu64, i, seed);
    }
}

static void compare(struct told *plain, struct told *forward, uint64_t seed)
{
    CHECK_U64(forward->end_ns, plain->end_ns, "the end, seed %" PRIu64, seed);
    CHECK_U64(forward->flow_count, plain->flow_count, "messages that arrive, seed %" PRIu64, seed);
    for (uint32_t i = 0; i < plain->flow_count; i++) {
        const struct packet_flow *a = &plain->flows[i];
        const struct packet_flow *b = &forward->flows[i];
        CHECK(a->src == b->src && a->dst == b->dst && a->port == b->port, "message %u is the same, seed %" PRIu64, i,
              seed);
        CHECK_U64(b->start_ns, a->start_ns, "start of message %u, seed %" PRIu64, i, seed);
        CHECK_U64(b->duration_ns, a->duration_ns, "duration of message %u, seed %" PRIu64, i, seed);
    }
    for (uint32_t i = 0; i < MESSAGES_MOST; i++) {
        CHECK_U64(forward->arrived_ns[i], plain->arrived_ns[i], "arrival of %u, seed %" PRIu64, i, seed);
    }
    CHECK_U64(forward->handled, plain->handled, "events, seed %" PRIu64, seed);
    CHECK_U64(forward->pauses, plain->pauses, "pauses told, seed %" PRIu64, seed);
    CHECK_U64(forward->pause_sum, plain->pause_sum, "each of them, seed %" PRIu64, seed);
    compare_links(plain, forward, seed);
    CHECK_U64(plain->counts.jumps, 0, "the plain engine does not jump");
    forward->counts.jumps = forward->counts.skipped = 0;
    CHECK(memcmp(&plain->counts, &forward->counts, sizeof plain->counts) == 0, "all counts, seed %" PRIu64, seed);
    CHECK(memcmp(&plain->figures.duration_ns, &forward->figures.duration_ns, sizeof plain->figures.duration_ns) == 0 &&
              memcmp(&plain->figures.slowdown_permille, &forward->figures.slowdown_permille,
                     sizeof plain->figures.slowdown_permille) == 0,
          "percentiles, seed %" PRIu64, seed);
    CHECK_U64(forward->figures.flows, plain->figures.flows, "messages counted, seed %" PRIu64, seed);
}

/* ---- machines ---- */

static struct topo_link draw_link(struct prng *prng, uint32_t a, uint32_t b, bool alike)
{
    static const uint64_t gbps[] = {100, 400, 200, 25, 100};
    static const uint64_t delays[] = {1000, 500, 1, 2500, 7000, 137};
    uint64_t rate = gbps[alike ? 0 : prng_below(prng, COUNT_OF(gbps))];
    return (struct topo_link){.a = a,
                              .b = b,
                              .rate_bps = rate * UINT64_C(1000000000),
                              .delay_ns = delays[alike ? 0 : prng_below(prng, COUNT_OF(delays))]};
}

/* Hosts on one switch, on two with several links between them, or on two leaves with spines above. */
static void draw_graph(struct trial *trial, struct prng *prng)
{
    struct orr_error err = {0};
    uint32_t shape = prng_below(prng, 3);
    uint32_t hosts = 2 + prng_below(prng, HOSTS_MOST - 1);
    uint32_t spines = shape == 2 ? 1 + prng_below(prng, 3) : 0;
    uint32_t switches = shape == 0 ? 1 : 2 + spines;
    uint32_t links = hosts + (shape == 1 ? 1 : 2 * spines);
    bool alike = prng_below(prng, 2) == 0;
    CHECK_OK(topo_graph_init(&trial->graph, hosts + switches, links, &trial->mem, &err), &err);
    uint32_t count = 0;
    for (uint32_t i = 0; i < hosts; i++) {
        trial->graph.links[count++] = draw_link(prng, i, hosts + (shape == 0 ? 0 : i % 2), alike);
    }
    if (shape == 1) {
        trial->graph.links[count++] = draw_link(prng, hosts, hosts + 1, alike);
    }
    for (uint32_t i = 0; i < 2 * spines; i++) {
        trial->graph.links[count++] = draw_link(prng, hosts + i % 2, hosts + 2 + i / 2, alike);
    }
    for (uint32_t node = hosts; node < hosts + switches; node++) {
        trial->graph.kinds[node] = TOPO_NODE_SWITCH;
    }
    CHECK_OK(topo_graph_finish(&trial->graph, &err), &err);
    trial->hosts = hosts;
    trial->dims = (struct topo_dims){.count = 1, .dim = {{.kind = TOPO_SWITCH, .size = hosts}}};
    CHECK(topo_dims_finish(&trial->dims), "small enough");
}

static bool one_in(struct prng *prng, uint32_t n)
{
    return prng_below(prng, n) == 0;
}

static void draw_control(struct packet_config *config, struct prng *prng)
{
    uint32_t laws = 0;
    while (cc_law_at(laws) != NULL) {
        laws++;
    }
    config->cc_mode = one_in(prng, 3) ? PACKET_CC_NONE : cc_law_at(prng_below(prng, laws))->number;
    config->alpha_resume_us = one_in(prng, 2) ? 1 : 55;
    config->clamp_target_rate = one_in(prng, 2);
    config->ewma_gain = 0.00390625;
    config->fast_recovery_times = 1 + prng_below(prng, 5);
    config->rp_timer_us = one_in(prng, 2) ? 900 : 30;
    config->fast_react = one_in(prng, 2);
    config->multi_rate = one_in(prng, 2);
    config->sample_feedback = one_in(prng, 4);
    config->mi_thresh = prng_below(prng, 6);
    config->enable_qcn = !one_in(prng, 3);
    static const uint64_t gbps[] = {25, 100, 200, 400};
    bool tight = one_in(prng, 2);
    for (uint32_t i = 0; i < COUNT_OF(gbps); i++) {
        config->marks[config->mark_count++] =
            (struct packet_mark){.rate_bps = gbps[i] * UINT64_C(1000000000),
                                 .kmin_bytes = tight ? 20000 : 4000000,
                                 .kmax_bytes = tight ? (one_in(prng, 4) ? 20000 : 100000) : 16000000,
                                 .pmax = 0.2};
    }
}

static void draw_config(struct trial *trial, struct prng *prng)
{
    static const uint32_t payloads[] = {1000, 4096, 9000};
    static const uint64_t buffers[] = {32u << 20, 2u << 20, 1u << 20};
    struct packet_config *config = &trial->config;
    *config = (struct packet_config)PACKET_CONFIG_DEFAULT;
    draw_control(config, prng);
    config->payload_bytes = payloads[prng_below(prng, COUNT_OF(payloads))];
    config->ack_interval = one_in(prng, 8) ? 1 << 20 : 1;
    config->chunk_bytes = 4 * config->payload_bytes;
    config->back_to_zero = one_in(prng, 12);
    config->has_window = !one_in(prng, 4);
    config->global_t = one_in(prng, 2);
    config->var_window = one_in(prng, 2);
    config->rate_bound = !one_in(prng, 4);
    config->ack_high_prio = one_in(prng, 3);
    config->buffer_bytes = buffers[prng_below(prng, COUNT_OF(buffers))];
    config->pfc_enabled = !one_in(prng, 4);
    config->timeouts = !one_in(prng, 4);
    config->nic_total_pause = one_in(prng, 12) ? 3 : 0;
    config->error_rate = one_in(prng, 10) ? 0.0001 : 0;
    config->int_sizes = false;
    config->round_down = one_in(prng, 4);
    config->link_header_bytes = one_in(prng, 4) ? 14 : 2;
    config->routing = one_in(prng, 10) ? PACKET_ROUTING_SPRAY : PACKET_ROUTING_ECMP;
    if (one_in(prng, 8)) {
        uint32_t link = prng_below(prng, (uint32_t)trial->graph.link_count);
        trial->changes[0] =
            (struct packet_link_change){.time_ns = 20000 + prng_below(prng, 100000), .link = link, .down = true};
        trial->changes[1] = (struct packet_link_change){.time_ns = 200000, .link = link};
        config->link_changes = trial->changes;
        config->link_change_count = 2;
    }
    trial->watches_pauses = one_in(prng, 2);
}

static void add_message(struct trial *trial, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t at, uint32_t after)
{
    trial->messages[trial->message_count++] = (struct message){src, dst, after, bytes, at};
}

/* Rounds of a ring, each message sent when the one before it from the left has come. */
static void draw_ring(struct trial *trial, uint64_t bytes)
{
    uint32_t hosts = trial->hosts;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < hosts; i++) {
            uint32_t after = round == 0 ? UINT32_MAX : (round - 1) * hosts + (i + hosts - 1) % hosts;
            add_message(trial, i, (i + 1) % hosts, bytes, 0, after);
        }
    }
}

static void draw_traffic(struct trial *trial, struct prng *prng, uint64_t scale)
{
    static const uint64_t sizes[] = {100000, 400000, 1500000, 4000000};
    uint64_t bytes = scale * sizes[prng_below(prng, COUNT_OF(sizes))];
    uint32_t hosts = trial->hosts;
    uint32_t kind = prng_below(prng, 5);
    uint32_t order[HOSTS_MOST + 1];
    prng_shuffle(prng, order, hosts);
    bool together = one_in(prng, 2);
    if (kind == 0) {
        draw_ring(trial, bytes / 2);
    }
    for (uint32_t i = 0; kind != 0 && i < hosts; i++) {
        uint64_t at = together ? 0 : prng_below(prng, 50000);
        uint64_t own = one_in(prng, 2) ? bytes : bytes + prng_below(prng, (uint32_t)bytes);
        if (kind == 1) { /* a permutation */
            add_message(trial, order[i], order[(i + 1) % hosts], own, at, UINT32_MAX);
        } else if (kind == 2 && i > 0) { /* incast */
            add_message(trial, order[i], order[0], own / 4, at, UINT32_MAX);
        } else if (kind == 3) { /* one long, several short beside and after it */
            add_message(trial, order[0], order[1], bytes, 0, UINT32_MAX);
            add_message(trial, order[i], order[(i + 1) % hosts], own / 20, at * 20, UINT32_MAX);
            return;
        } else if (kind == 4) { /* two to everybody */
            add_message(trial, order[i % 2], order[(i + 1) % hosts], own / 4, at, UINT32_MAX);
        }
    }
    trial->nothing_count = prng_below(prng, COUNT_OF(trial->nothing_at));
    for (uint32_t i = 0; i < trial->nothing_count; i++) {
        trial->nothing_at[i] = prng_below(prng, 400000);
    }
}

static struct trial *draw(uint64_t seed, uint64_t scale)
{
    struct prng prng = {seed * 7919 + 17};
    struct trial *trial = calloc(1, sizeof *trial);
    CHECK(trial != NULL, "memory is given");
    draw_graph(trial, &prng);
    draw_config(trial, &prng);
    draw_traffic(trial, &prng, scale);
    return trial;
}

static void discard(struct trial *trial)
{
    topo_graph_free(&trial->graph);
    CHECK_U64(trial->mem.used, 0, "all memory is given back");
    free(trial);
}

/* ---- the facts ---- */

/* How many transmissions were skipped. */
static uint64_t check_seed(uint64_t seed, uint64_t scale, bool talks)
{
    static struct told plain, forward;
    struct trial *trial = draw(seed, scale);
    run(trial, false, &plain);
    run(trial, true, &forward);
    struct packet_counts counts = forward.counts;
    if (talks) {
        const struct packet_config *config = &trial->config;
        printf("seed %" PRIu64 ": control %" PRIu32 ", %" PRIu64 " transmissions, %" PRIu64 " jumps over %" PRIu64
               "; hosts %" PRIu32 ", messages %" PRIu32 ", window %d, pfc %d, errors %d, routing %d, end %" PRIu64
               ", marks %" PRIu64 ", pauses %" PRIu64 ", drops %" PRIu64 "\n",
               seed, config->cc_mode, counts.transmissions, counts.jumps, counts.skipped, trial->hosts,
               trial->message_count, config->has_window, config->pfc_enabled, config->error_rate > 0,
               (int)config->routing, forward.end_ns, counts.marks, counts.pauses, counts.drops);
    }
    compare(&plain, &forward, seed);
    discard(trial);
    return counts.skipped;
}

static void whatever_the_traffic_the_results_are_the_same(void **state)
{
    (void)state;
    uint64_t skipped = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        skipped += check_seed(seed, seed % 8 == 0 ? 8 : 1, false);
    }
    CHECK(skipped > 0, "some of it repeated itself");
}

/* Everybody to the next on one switch; the caller may change the settings. */
static struct trial *make_ring(uint32_t hosts, uint64_t bytes)
{
    struct orr_error err = {0};
    struct trial *trial = calloc(1, sizeof *trial);
    CHECK(trial != NULL, "memory is given");
    CHECK_OK(topo_graph_init(&trial->graph, hosts + 1, hosts, &trial->mem, &err), &err);
    for (uint32_t i = 0; i < hosts; i++) {
        trial->graph.links[i] =
            (struct topo_link){.a = i, .b = hosts, .rate_bps = UINT64_C(400000000000), .delay_ns = 500};
    }
    trial->graph.kinds[hosts] = TOPO_NODE_SWITCH;
    CHECK_OK(topo_graph_finish(&trial->graph, &err), &err);
    trial->hosts = hosts;
    trial->dims = (struct topo_dims){.count = 1, .dim = {{.kind = TOPO_SWITCH, .size = hosts}}};
    CHECK(topo_dims_finish(&trial->dims), "small enough");
    trial->config = (struct packet_config)PACKET_CONFIG_DEFAULT;
    trial->config.ack_interval = 1;
    trial->config.chunk_bytes = 4000;
    trial->config.int_sizes = false;
    draw_ring(trial, bytes);
    return trial;
}

/* PINT draws a number for every packet, HPCC goes on changing rates in their last digits, and receivers here give out
 * credit a little faster than it is used; each other control leaves a ring alone once it has seen, sooner or later,
 * that nobody is in its way. */
static void steady_traffic_is_skipped(void **state)
{
    (void)state;
    static const struct {
        enum packet_cc control;
        uint32_t percent; /* at least */
        uint64_t bytes;
    } cases[] = {{PACKET_CC_NONE, 95, 10000000}, {PACKET_CC_DCQCN, 95, 10000000}, {PACKET_CC_DCTCP, 90, 10000000},
                 {PACKET_CC_CREDIT, 0, 5000000}, {PACKET_CC_SWIFT, 25, 60000000}, {PACKET_CC_TIMELY, 25, 150000000},
                 {PACKET_CC_HPCC, 0, 5000000},   {PACKET_CC_PINT, 0, 5000000}};
    static struct told plain, forward;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trial *trial = make_ring(4, cases[i].bytes);
        trial->config.cc_mode = cases[i].control;
        trial->message_count = 8;
        run(trial, false, &plain);
        run(trial, true, &forward);
        uint64_t percent = 100 * forward.counts.skipped / forward.counts.transmissions;
        CHECK(percent >= cases[i].percent, "%d %% skipped under control %d", (int)percent, (int)cases[i].control);
        CHECK_U64(forward.flow_count, 8, "all arrive");
        compare(&plain, &forward, i);
        discard(trial);
    }
}

/* A message a hundred times as long takes no hundred times as many events. */
static void a_message_of_terabytes_is_no_work(void **state)
{
    (void)state;
    static struct told forward;
    struct trial *trial = make_ring(2, UINT64_C(2000000000000));
    trial->config.cc_mode = PACKET_CC_NONE;
    trial->message_count = 2;
    trial->never_ends = true;
    run(trial, true, &forward);
    CHECK_U64(forward.flow_count, 2, "both arrive");
    CHECK_U64(forward.counts.data_packets, UINT64_C(4000000000), "every packet is counted");
    CHECK(forward.counts.transmissions - forward.counts.skipped < 1000000, "few are sent");
    CHECK_U64(forward.links[0].bytes, UINT64_C(2000000000) * (1036 + 48), "and so is every byte");
    discard(trial);
}

/* What is written down as it happens is not skipped: each pause has its line. */
static void pauses_that_are_told_are_not_skipped(void **state)
{
    (void)state;
    static struct told plain, forward;
    uint64_t skipped[2] = {0};
    for (int told = 0; told < 2; told++) {
        struct trial *trial = make_ring(5, 0);
        trial->message_count = 0;
        for (uint32_t i = 1; i < 5; i++) {
            add_message(trial, i, 0, 40000000, 0, UINT32_MAX);
        }
        trial->config.cc_mode = PACKET_CC_NONE;
        trial->config.has_window = false;
        trial->config.enable_qcn = false;
        trial->config.buffer_bytes = 2 << 20;
        trial->watches_pauses = told == 1;
        run(trial, false, &plain);
        run(trial, true, &forward);
        CHECK(forward.counts.pauses > 100, "the switch pauses its hosts");
        skipped[told] = forward.counts.skipped;
        compare(&plain, &forward, (uint64_t)told);
        discard(trial);
    }
    CHECK(skipped[0] > 0, "pauses come round too");
    CHECK_U64(skipped[1], 0, "but not when somebody writes them down");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_traffic_is_skipped),
        cmocka_unit_test(a_message_of_terabytes_is_no_work),
        cmocka_unit_test(pauses_that_are_told_are_not_skipped),
        cmocka_unit_test(whatever_the_traffic_the_results_are_the_same),
    };
    if (argc == 4) {
        uint64_t first = strtoull(argv[1], NULL, 10);
        for (uint64_t i = 0; i < strtoull(argv[2], NULL, 10); i++) {
            (void)check_seed(first + i, strtoull(argv[3], NULL, 10), true);
        }
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
