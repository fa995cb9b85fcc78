/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduces added up by the switches of a wired machine: the trees found in it, and what they take on flow and
 * packets. */
#include <math.h>

#include "sim/switch_trees.h"
#include "tests/net/packet_machine.h"
#include "tests/sim/random_work.h"

enum { LINKS_MOST = 1024, RATE_GBPS = 100 };

/* ---- machines ------------------------------------------------------------------------------------------------- */

/* Servers of so many GPUs (1: none), joined inside by a switch or by links of each to each; GPUs hang on leaves, every
 * GPU of one place in its server on the same `rails` of them where there are more than one; leaves on spines. */
struct shape {
    uint32_t hosts, per_server;
    uint32_t leaves, per_leaf; /* leaves per rail; servers on one leaf */
    uint32_t spines;
    bool meshed;
    uint32_t planes; /* leaves that each GPU hangs on; 0: one */
};

struct wires {
    struct machine_link links[LINKS_MOST];
    uint32_t count;
};

static void wire(struct wires *wires, uint32_t a, uint32_t b)
{
    CHECK(wires->count < LINKS_MOST, "room for links");
    wires->links[wires->count++] = (struct machine_link){a, b};
}

static void make_shape(struct machine *m, const struct shape *shape)
{
    static struct wires wires;
    uint32_t servers = (shape->hosts - 1) / shape->per_server + 1;
    bool switched = shape->per_server > 1 && !shape->meshed;
    uint32_t first_leaf = shape->hosts + (switched ? servers : 0);
    uint32_t planes = shape->planes > 1 ? shape->planes : 1;
    uint32_t all_leaves = shape->leaves * shape->per_server * planes;
    uint32_t first_spine = first_leaf + all_leaves;
    wires.count = 0;
    for (uint32_t host = 0; host < shape->hosts; host++) {
        uint32_t server = host / shape->per_server;
        for (uint32_t p = 0; p < planes; p++) {
            uint32_t rail = p * shape->per_server + host % shape->per_server;
            wire(&wires, host, first_leaf + rail * shape->leaves + server / shape->per_leaf);
        }
        for (uint32_t other = host + 1; shape->meshed && other / shape->per_server == server; other++) {
            if (other < shape->hosts) {
                wire(&wires, host, other);
            }
        }
        if (switched) {
            wire(&wires, host, shape->hosts + server);
        }
    }
    for (uint32_t leaf = first_leaf; leaf < first_spine; leaf++) {
        for (uint32_t s = 0; s < shape->spines; s++) {
            wire(&wires, leaf, first_spine + s);
        }
    }
    make_wired(m, shape->hosts, first_spine + shape->spines, wires.links, wires.count);
    m->config.payload_bytes = 8000; /* so that headers and acknowledgements are one percent */
    m->machine = (struct packet_machine){.graph = &m->graph, .config = &m->config, .switches_end = true};
}

static void free_shape(struct machine *m)
{
    topo_graph_free(&m->graph);
    CHECK_U64(m->mem.used, 0, "all memory is given back");
}

static void open_on(struct bench *bench, struct machine *m, const struct shape *shape, enum orr_backend backend,
                    enum coll_nccl algo)
{
    char dims[32];
    (void)snprintf(dims, sizeof dims, "switch:%" PRIu32, shape->hosts);
    make_shape(m, shape);
    bench_open(bench, dims);
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        bench->config.system.implementation[native].count = 1;
        bench->config.system.implementation[native].list[0] = (struct coll_impl){
            .algo = COLL_NCCL, .one = true, .nccl = native == SIM_ALL_REDUCE ? algo : COLL_NCCL_AUTO};
    }
    bench->config.system.nccl_nvls_efficiency = 1;
    bench->config.system.preferred_dataset_splits = 1;
    bench->config.system.endpoint_delay_ns = 0;
    bench->config.system.local_mem_bw_gbps = 0;
    bench->config.gpus_per_server = shape->per_server;
    bench->config.backend = backend;
    bench->config.packet = &m->machine;
}

static uint64_t time_on(const struct shape *shape, enum orr_backend backend, enum coll_nccl algo, uint64_t bytes)
{
    struct bench bench;
    struct machine m;
    open_on(&bench, &m, shape, backend, algo);
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, bytes);
    uint64_t time = bench_completes(&bench);
    bench_close(&bench);
    free_shape(&m);
    return time;
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

static bool are_joined(const struct topo_graph *graph, uint32_t a, uint32_t b)
{
    for (uint32_t port = graph->port_start[a]; port < graph->port_start[a + 1]; port++) {
        if (graph->ports[graph->ports[port].peer].node == b) {
            return true;
        }
    }
    return false;
}

static void check_tree(const struct machine *m, const struct nccl_group *group, const uint32_t *first, uint32_t servers,
                       const struct sim_switch_trees *trees, uint32_t channel)
{
    const struct nccl_switch_trees *list = &trees->list;
    uint32_t below[256];
    for (uint32_t i = list->first[channel]; i < list->first[channel + 1]; i++) {
        bool root = i == list->first[channel];
        CHECK(root ? list->up[i] == i : list->up[i] < i && list->up[i] >= list->first[channel],
              "channel %u: switch %u is above %u", channel, list->up[i], i);
        CHECK(root || are_joined(&m->graph, trees->nodes[i], trees->nodes[list->up[i]]), "channel %u", channel);
        CHECK_U64(m->graph.kinds[trees->nodes[i]], TOPO_NODE_SWITCH, "channel %u", channel);
        below[i - list->first[channel]] = UINT32_MAX;
    }
    for (uint32_t s = 0; s < servers; s++) {
        uint32_t leaf = list->leaf[(size_t)channel * servers + s];
        uint32_t head = group->ranks[first[s] + channel % (first[s + 1] - first[s])];
        CHECK(are_joined(&m->graph, trees->nodes[leaf], head), "channel %u: head %u hangs on its switch", channel,
              head);
        for (uint32_t i = leaf;; i = list->up[i]) {
            uint32_t *lowest = &below[i - list->first[channel]];
            *lowest = first[s] < *lowest ? first[s] : *lowest;
            if (i == list->first[channel]) {
                break;
            }
        }
    }
    for (uint32_t i = list->first[channel]; i < list->first[channel + 1]; i++) {
        CHECK_U64(trees->lowest[i], below[i - list->first[channel]], "channel %u: who acts for switch %u", channel, i);
    }
}

/* Finds the trees of a group and checks them; 0 where there are none. Tells the switches of the first and the root of
 * the last. */
static uint32_t find_trees(const struct shape *shape, const uint32_t *ranks, uint32_t count, uint32_t *switches,
                           uint32_t *last_root)
{
    struct machine m;
    struct orr_error err = {0};
    struct mem mem = {0};
    struct arena arena;
    make_shape(&m, shape);
    arena_init(&arena, &mem);
    bool switched = shape->per_server > 1 && !shape->meshed;
    struct nccl_job job = {.gpus = shape->hosts, .gpus_per_server = shape->per_server, .tp = shape->hosts, .ep = 1};
    uint32_t inside[64];
    for (uint32_t i = 0; i < COUNT_OF(inside); i++) {
        inside[i] = shape->hosts + i;
    }
    struct sim_servers servers = {
        .ranks_each = shape->per_server, .switches_each = switched ? 1 : 0, .switches = inside, .told = true};
    job.switches_per_server = servers.switches_each;
    struct nccl_group group = {.type = NCCL_GROUP_TP};
    struct sim_switch_trees trees;
    CHECK_OK(nccl_group_build(&job, ranks, count, &arena, &group, &err), &err);
    CHECK_OK(sim_switch_trees_find(&m.graph, &servers, &job, &group, &arena, &trees), &err);
    uint32_t first[65] = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || group.ranks[i] / shape->per_server != group.ranks[i - 1] / shape->per_server) {
            first[found++] = i;
        }
    }
    first[found] = count;
    for (uint32_t c = 0; c < trees.channels; c++) {
        check_tree(&m, &group, first, found, &trees, c);
    }
    uint32_t channels = trees.channels;
    *switches = channels == 0 ? 0 : trees.list.first[1];
    *last_root = channels == 0 ? 0 : trees.nodes[trees.list.first[channels - 1]];
    arena_free(&arena);
    free_shape(&m);
    return channels;
}

static void trees_follow_the_wires(void **state)
{
    (void)state;
    static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint32_t some[] = {1, 2, 3, 8, 15};
    static const uint32_t near[] = {0, 4};
    static const struct {
        struct shape shape;
        const uint32_t *ranks;
        uint32_t count, channels, switches;
    } cases[] = {{{16, 1, 1, 16, 0, false, 0}, all, 16, 1, 1}, {{16, 1, 4, 4, 3, false, 0}, all, 16, 1, 5},
                 {{16, 1, 4, 4, 3, false, 0}, some, 5, 1, 4},  {{16, 1, 4, 4, 3, false, 0}, all, 3, 1, 1},
                 {{16, 4, 1, 4, 0, false, 0}, all, 16, 4, 1},  {{16, 4, 2, 2, 2, false, 0}, all, 16, 4, 3},
                 {{16, 4, 2, 2, 2, false, 0}, some, 5, 1, 4},  {{16, 4, 2, 2, 2, true, 0}, all, 16, 4, 3},
                 {{16, 4, 2, 2, 2, false, 0}, near, 2, 1, 1},  {{16, 1, 4, 4, 2, false, 2}, all, 16, 2, 5},
                 {{16, 1, 4, 4, 0, false, 0}, all, 16, 0, 0},  {{16, 1, 4, 4, 0, false, 0}, all, 4, 1, 1},
                 {{16, 4, 2, 2, 0, false, 0}, some, 5, 0, 0},  {{15, 4, 2, 2, 2, false, 0}, all, 15, 3, 3}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t switches = 0;
        uint32_t root = 0;
        CHECK_U64(find_trees(&cases[i].shape, cases[i].ranks, cases[i].count, &switches, &root), cases[i].channels,
                  "case %zu", i);
        CHECK_U64(switches, cases[i].switches, "case %zu", i);
    }
}

static void channels_and_groups_take_spines_in_turn(void **state)
{
    (void)state;
    static const struct shape shape = {16, 1, 4, 4, 3, false, 0};
    bool used[3] = {false};
    for (uint32_t lowest = 0; lowest < 3; lowest++) {
        uint32_t ranks[] = {lowest, 15};
        uint32_t switches = 0;
        uint32_t root = 0;
        CHECK_U64(find_trees(&shape, ranks, 2, &switches, &root), 1, "one channel");
        used[root - 20] = true;
    }
    CHECK(used[0] && used[1] && used[2], "all three");
}

/* ---- runs ----------------------------------------------------------------------------------------------------- */

/* What S bytes take at the rate of a link: sent once in 64 chunks, of which two more are on their way for each switch
 * they stop at, with headers and acknowledgements; and the links' delay once for each two chunks. */
static double foreseen_ns(uint64_t bytes, uint32_t switches)
{
    double once = (double)bytes * 8 / RATE_GBPS * (8000 + 36 + 48) / 8000;
    return once * (1 + 2 * switches / 64.0) + 1000.0 * 32;
}

static void the_time_is_that_of_one_pass_however_many_take_part(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        uint32_t switches;
    } cases[] = {{{4, 1, 1, 4, 0, false, 0}, 1},
                 {{64, 1, 1, 64, 0, false, 0}, 1},
                 {{256, 1, 1, 256, 0, false, 0}, 1},
                 {{32, 1, 4, 8, 2, false, 0}, 3}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t bytes = UINT64_C(16) << 20;
        double want = foreseen_ns(bytes, cases[i].switches);
        double got = (double)time_on(&cases[i].shape, ORR_BACKEND_FLOW, COLL_NCCL_COLLNET, bytes);
        CHECK(fabs(got / want - 1) < 0.02, "case %zu: %.0f ns, foreseen %.0f", i, got, want);
    }
}

static void flow_takes_what_packets_take(void **state)
{
    (void)state;
    static const struct shape shapes[] = {{6, 1, 1, 6, 0, false, 0},  {16, 1, 4, 4, 2, false, 0},
                                          {16, 1, 4, 4, 2, false, 2}, {16, 4, 2, 2, 2, false, 0},
                                          {16, 4, 2, 2, 2, true, 0},  {15, 4, 2, 2, 2, false, 0}};
    static const uint64_t sizes[] = {1 << 20, 100003, 1};
    for (size_t i = 0; i < COUNT_OF(shapes) * COUNT_OF(sizes); i++) {
        const struct shape *shape = &shapes[i / COUNT_OF(sizes)];
        uint64_t bytes = sizes[i % COUNT_OF(sizes)];
        double flow = (double)time_on(shape, ORR_BACKEND_FLOW, COLL_NCCL_COLLNET, bytes);
        double packet = (double)time_on(shape, ORR_BACKEND_PACKET, COLL_NCCL_COLLNET, bytes);
        CHECK(fabs(flow / packet - 1) < 0.05, "shape %zu, %" PRIu64 " B: flow %.0f ns, packet %.0f",
              i / COUNT_OF(sizes), bytes, flow, packet);
    }
}

static void a_ring_takes_nearly_twice_as_long(void **state)
{
    (void)state;
    static const struct shape shape = {16, 1, 1, 16, 0, false, 0};
    double ring = (double)time_on(&shape, ORR_BACKEND_FLOW, COLL_NCCL_RING, 8 << 20);
    double switches = (double)time_on(&shape, ORR_BACKEND_FLOW, COLL_NCCL_COLLNET, 8 << 20);
    CHECK(ring / switches > 1.8, "%.3f; 2 (16 - 1) / 16 by bytes, and the ring has more steps", ring / switches);
}

static void odd_groups_and_other_traffic_end_on_both_networks(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {16, 4, 2, 2, 2, false, 0}, {16, 8, 1, 2, 1, true, 0}, {16, 1, 4, 4, 2, false, 0}};
    static const uint32_t first[] = {0, 1, 2, 5, 13};
    static const uint32_t second[] = {3, 4};
    static const uint32_t third[] = {6, 7, 8, 9, 10, 11, 12, 14, 15};
    for (size_t i = 0; i < 2 * COUNT_OF(shapes); i++) {
        struct bench bench;
        struct machine m;
        open_on(&bench, &m, &shapes[i / 2], i % 2 == 0 ? ORR_BACKEND_FLOW : ORR_BACKEND_PACKET, COLL_NCCL_COLLNET);
        bench_add_group(&bench, 1, COUNT_OF(first), first);
        bench_add_group(&bench, 2, COUNT_OF(second), second);
        bench_add_group(&bench, 3, COUNT_OF(third), third);
        static const uint8_t group_of[] = {1, 1, 1, 2, 2, 1, 3, 3, 3, 3, 3, 3, 3, 1, 3, 3};
        for (uint32_t rank = 0; rank < 16; rank++) {
            work_collective(&bench.work, rank, 1, COLL_ALL_REDUCE, 300007)->group = group_of[rank];
            work_collective(&bench.work, rank, 2, COLL_ALL_TO_ALL, 65536);
            work_collective(&bench.work, rank, 3, COLL_ALL_REDUCE, 65536);
        }
        (void)bench_completes(&bench);
        uint64_t once = bench_fingerprint(&bench);
        (void)bench_completes(&bench);
        CHECK_U64(bench_fingerprint(&bench), once, "case %zu ends alike again", i);
        bench_close(&bench);
        free_shape(&m);
    }
}

static void who_comes_late_holds_up_the_others_by_as_much(void **state)
{
    (void)state;
    static const struct shape shape = {16, 1, 4, 4, 2, false, 0};
    uint64_t on_time = time_on(&shape, ORR_BACKEND_FLOW, COLL_NCCL_COLLNET, 1 << 20);
    for (uint32_t late = 0; late < 16; late += 5) { /* one that acts for switches, and ones that do not */
        struct bench bench;
        struct machine m;
        open_on(&bench, &m, &shape, ORR_BACKEND_FLOW, COLL_NCCL_COLLNET);
        for (uint32_t rank = 0; rank < 16; rank++) {
            if (rank == late) {
                work_compute(&bench.work, rank, 1, 1000);
            }
            work_collective(&bench.work, rank, 2, COLL_ALL_REDUCE, 1 << 20);
            if (rank == late) {
                work_after(&bench.work, 1);
            }
        }
        CHECK_U64(bench_completes(&bench), on_time + 1000000, "rank %u is a millisecond late", late);
        bench_close(&bench);
        free_shape(&m);
    }
}

static void a_rank_that_never_comes_is_told(void **state)
{
    (void)state;
    static const struct shape shape = {8, 4, 1, 2, 0, false, 0};
    for (int packet = 0; packet < 2; packet++) {
        struct bench bench;
        struct machine m;
        open_on(&bench, &m, &shape, packet == 0 ? ORR_BACKEND_FLOW : ORR_BACKEND_PACKET, COLL_NCCL_COLLNET);
        for (uint32_t rank = 0; rank < 8; rank++) {
            if (rank != 5) {
                work_collective(&bench.work, rank, 1, COLL_ALL_REDUCE, 65536);
            }
        }
        work_compute(&bench.work, 5, 1, 1);
        const struct sim_stall *stall = bench_stalls(&bench);
        bool named = false;
        for (uint32_t f = 0; f < stall->finding_count; f++) {
            named = named || strstr(stall->findings[f].text, "rank 5") != NULL;
        }
        CHECK(named, "rank 5 has finished without it; told: %s", stall->findings[0].text);
        bench_close(&bench);
        free_shape(&m);
    }
}

static void the_machine_that_cannot_uses_the_ring_and_says_so(void **state)
{
    (void)state;
    static const struct shape one_server = {8, 8, 1, 1, 0, true, 0};
    for (int wired = 0; wired < 2; wired++) {
        static const enum coll_nccl algos[] = {COLL_NCCL_COLLNET, COLL_NCCL_RING};
        uint64_t messages[COUNT_OF(algos)] = {0};
        for (size_t i = 0; i < COUNT_OF(algos); i++) {
            struct bench bench;
            struct machine m;
            open_on(&bench, &m, &one_server, ORR_BACKEND_FLOW, algos[i]);
            if (wired == 0) {
                bench.config.backend = ORR_BACKEND_AWARE;
                bench.config.packet = NULL;
            }
            work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 65536);
            (void)bench_completes(&bench);
            messages[i] = bench.result->messages;
            CHECK_U64(bench.notes.count, i == 0 ? 1 : 0, "a sentence");
            bench_close(&bench);
            free_shape(&m);
        }
        CHECK_U64(messages[0], messages[1], "those of the ring");
    }
}

static void memory_that_is_refused_ends_the_run_and_comes_back(void **state)
{
    (void)state;
    static const struct shape shape = {16, 4, 2, 2, 2, false, 0};
    for (uint64_t limit = 1 << 14; limit < 1 << 22; limit += limit / 2) {
        struct bench bench;
        struct machine m;
        open_on(&bench, &m, &shape, ORR_BACKEND_FLOW, COLL_NCCL_COLLNET);
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 65536);
        bench.mem.limit = limit;
        enum orr_status status = bench_run(&bench);
        CHECK(status == ORR_OK || status == ORR_ENOMEM, "limit %" PRIu64 ": %s", limit, bench.err.text);
        bench_close(&bench);
        free_shape(&m);
    }
}

TEST_MAIN(trees_follow_the_wires, channels_and_groups_take_spines_in_turn,
          the_time_is_that_of_one_pass_however_many_take_part, flow_takes_what_packets_take,
          a_ring_takes_nearly_twice_as_long, odd_groups_and_other_traffic_end_on_both_networks,
          who_comes_late_holds_up_the_others_by_as_much, a_rank_that_never_comes_is_told,
          the_machine_that_cannot_uses_the_ring_and_says_so, memory_that_is_refused_ends_the_run_and_comes_back)
