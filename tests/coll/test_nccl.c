/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What coll/nccl.h promises of groups, channels and flows, whatever the network. The flows are checked by what they
 * must achieve: everybody's data reaches whom it must, no byte is lost, nothing is sent before it is there. The text of
 * SimAI's own lists is in tests/report/test_coll.c.
 */
#include "coll/nccl.h"
#include "tests/check.h"
#include "tests/prng.h"

enum { MOST_RANKS = 64 };

struct bench {
    struct mem mem;
    struct arena arena;
    struct nccl_job job;
    struct nccl_group group;
    struct nccl_channels channels;
    struct nccl_choice choice;
    struct nccl_flows flows;
};

static void bench_open(struct bench *bench, struct nccl_job job)
{
    *bench = (struct bench){.job = job};
    arena_init(&bench->arena, &bench->mem);
}

static void bench_close(struct bench *bench)
{
    arena_free(&bench->arena);
    CHECK_U64(bench->mem.used, 0, "all memory given back");
}

/* The first `count` ranks of the job as one group. */
static void bench_group(struct bench *bench, uint32_t count)
{
    uint32_t ranks[MOST_RANKS];
    struct orr_error err = {0};
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = count - 1 - i; /* in any order */
    }
    CHECK_OK(nccl_group_build(&bench->job, ranks, count, &bench->arena, &bench->group, &err), &err);
    CHECK_OK(nccl_channels_build(&bench->job, &bench->group, &bench->arena, &bench->channels, &err), &err);
}

static void bench_flows(struct bench *bench, enum coll_type type, uint64_t bytes)
{
    struct orr_error err = {0};
    CHECK_OK(nccl_flows_build(&bench->job, &bench->group, &bench->channels, &bench->choice, type, bytes, &bench->arena,
                              &bench->flows, &err),
             &err);
}

static struct nccl_job job_of(uint32_t gpus, uint32_t per_server)
{
    return (struct nccl_job){.gpus = gpus,
                             .gpus_per_server = per_server,
                             .switches_per_server = 1,
                             .tp = gpus,
                             .ep = 1,
                             .has_nvls = true,
                             .as_nccl = true};
}

/* Bits of the ranks whose data a flow may carry, by its parents. */
static uint64_t carried[1 << 20];
/* What each rank has got in each channel, and which channels there are; of the list checked last. */
static uint64_t seen[MOST_RANKS][4 * NCCL_MAX_CHANNELS];
static bool used[4 * NCCL_MAX_CHANNELS];

static void check_order(const struct bench *bench, const char *what)
{
    const struct nccl_flows *flows = &bench->flows;
    uint64_t total = 0;
    memset(seen, 0, sizeof seen);
    memset(used, 0, sizeof used);
    CHECK(flows->count <= COUNT_OF(carried), "%s: %u flows", what, flows->count);
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct nccl_flow *flow = &flows->flows[i];
        total += flow->bytes;
        carried[i] = flow->src < bench->job.gpus ? UINT64_C(1) << (flow->src % 64) : 0;
        for (uint32_t k = 0; k < flow->parent_count; k++) {
            uint32_t parent = flows->links[flow->parents + k];
            CHECK(parent < i, "%s: flow %u waits for %u, a later one", what, i, parent);
            CHECK_U64(flows->flows[parent].dst, flow->src, "%s: flow %u waits for one that goes elsewhere", what, i);
            carried[i] |= carried[parent];
        }
        used[flow->channel] = true;
        if (flow->dst < MOST_RANKS) {
            seen[flow->dst][flow->channel] |= carried[i];
        }
        for (uint32_t k = 0; k < flow->child_count; k++) {
            const struct nccl_flow *child = &flows->flows[flows->links[flow->children + k]];
            bool known = false;
            for (uint32_t p = 0; p < child->parent_count; p++) {
                known = known || flows->links[child->parents + p] == i;
            }
            CHECK(known, "%s: flow %u is not a parent of its child", what, i);
        }
        CHECK(flow->bytes > 0 && flow->chunk < flow->chunk_count, "%s: flow %u", what, i);
    }
    CHECK_U64(flows->total_bytes, total, "%s", what);
}

/* Whether rank `to` ends with data of rank `from` in each channel that carries any. */
static bool reaches(uint32_t from, uint32_t to)
{
    for (uint32_t c = 0; c < COUNT_OF(used); c++) {
        if (used[c] && (seen[to][c] >> (from % 64) & 1) == 0) {
            return false;
        }
    }
    return true;
}

static void check_all_reach_all(const struct bench *bench, const char *what)
{
    for (uint32_t a = 0; a < bench->group.rank_count; a++) {
        for (uint32_t b = 0; b < bench->group.rank_count; b++) {
            CHECK(a == b || reaches(bench->group.ranks[a], bench->group.ranks[b]),
                  "%s: what member %u has does not reach %u", what, a, b);
        }
    }
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

static void every_rank_has_one_group_of_each_type_that_has_two_members(void **state)
{
    (void)state;
    static const struct nccl_job jobs[] = {{.gpus = 16, .gpus_per_server = 8, .tp = 1, .ep = 4},
                                           {.gpus = 32, .gpus_per_server = 8, .tp = 2, .ep = 4},
                                           {.gpus = 24, .gpus_per_server = 8, .tp = 3, .ep = 2},
                                           {.gpus = 24, .gpus_per_server = 8, .tp = 2, .ep = 2, .cp = 3}};
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct bench bench;
        struct nccl_group *groups = NULL;
        uint32_t count = 0;
        struct orr_error err = {0};
        bench_open(&bench, jobs[i]);
        CHECK_OK(nccl_groups_build(&bench.job, &bench.arena, &groups, &count, &err), &err);
        for (uint32_t rank = 0; rank < jobs[i].gpus; rank++) {
            uint32_t dp = jobs[i].gpus / jobs[i].tp;
            uint32_t sizes[] = {jobs[i].tp, dp, jobs[i].ep, dp / jobs[i].ep, jobs[i].cp};
            for (uint32_t type = 0; type < NCCL_GROUP_TYPES; type++) {
                const struct nccl_group *found = nccl_group_find(groups, count, (enum nccl_group_type)type, rank);
                uint32_t members = 0;
                for (uint32_t g = 0; g < count; g++) {
                    for (uint32_t m = 0; m < groups[g].rank_count && groups[g].type == type; m++) {
                        members += groups[g].ranks[m] == rank;
                    }
                }
                CHECK(members == (sizes[type] > 1 ? 1 : 0), "job %zu rank %u type %u", i, rank, type);
                CHECK(found == NULL ? sizes[type] < 2 : found->rank_count == sizes[type], "job %zu rank %u", i, rank);
            }
        }
        bench_close(&bench);
    }
}

static void simai_has_no_expert_groups_without_tensor_parallelism(void **state)
{
    (void)state;
    struct bench bench;
    struct nccl_group *groups = NULL;
    uint32_t count = 0;
    struct orr_error err = {0};
    bench_open(&bench, (struct nccl_job){.gpus = 16, .gpus_per_server = 8, .tp = 1, .ep = 4, .compat = true});
    CHECK_OK(nccl_groups_build(&bench.job, &bench.arena, &groups, &count, &err), &err);
    CHECK(nccl_group_find(groups, count, NCCL_GROUP_EP, 0) == NULL, "tp 1");
    bench_close(&bench);
}

static void degrees_that_do_not_divide_are_named(void **state)
{
    (void)state;
    static const struct {
        struct nccl_job job;
        const char *says;
    } bad[] = {
        {{.gpus = 16, .gpus_per_server = 8, .tp = 3, .ep = 1}, "TP 3 does not divide 16 GPUs"},
        {{.gpus = 16, .gpus_per_server = 8, .tp = 2, .ep = 3}, "EP 3 does not divide DP 8"},
        {{.gpus = 0, .gpus_per_server = 8, .tp = 1, .ep = 1}, "must be at least 1"},
        {{.gpus = 12, .gpus_per_server = 8, .tp = 1, .ep = 1, .compat = true}, "12 GPUs do not fill servers of 8"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct bench bench;
        struct nccl_group *groups = NULL;
        uint32_t count = 7;
        struct orr_error err = {0};
        bench_open(&bench, bad[i].job);
        CHECK_STATUS(nccl_groups_build(&bench.job, &bench.arena, &groups, &count, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].says);
        CHECK_U64(count, 7, "an output is written only on success");
        bench_close(&bench);
    }
}

/* ---- channels ------------------------------------------------------------------------------------------------- */

static const struct {
    uint32_t gpus, per_server, ranks;
} shapes[] = {{2, 8, 2}, {8, 8, 8},   {16, 8, 16}, {12, 8, 12}, {24, 8, 24}, {20, 4, 20},
              {5, 1, 5}, {64, 8, 64}, {9, 2, 9},   {40, 8, 33}, {33, 4, 33}, {48, 16, 48}};

static void a_ring_visits_every_rank_once_and_every_tree_hangs_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        struct bench bench;
        bench_open(&bench, job_of(shapes[i].gpus, shapes[i].per_server));
        bench_group(&bench, shapes[i].ranks);
        uint32_t n = bench.channels.ring_size;
        CHECK_U64(n, shapes[i].ranks, "shape %zu", i);
        for (uint32_t c = 0; c < bench.channels.ring_count; c++) {
            const struct nccl_ring_place *ring = bench.channels.rings + (size_t)c * n;
            uint32_t at = 0;
            uint64_t visited = 0;
            for (uint32_t k = 0; k < n; k++) {
                visited |= UINT64_C(1) << ring[at].rank;
                CHECK_U64(ring[ring[at].next].prev, ring[at].rank, "shape %zu ring %u", i, c);
                at = ring[at].next;
            }
            CHECK(at == 0 && visited == (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1), "shape %zu ring %u", i, c);
        }
        for (uint32_t c = 0; c < bench.channels.tree_count; c++) {
            const struct nccl_tree_place *tree = bench.channels.trees + (size_t)c * n;
            uint32_t roots = 0;
            for (uint32_t k = 0; k < n; k++) {
                roots += tree[k].up < 0;
                for (uint32_t d = 0; d < tree[k].down_count; d++) {
                    CHECK(tree[tree[k].down[d]].up == (int64_t)k, "shape %zu tree %u rank %u", i, c, k);
                }
            }
            CHECK_U64(roots, 1, "shape %zu tree %u", i, c);
        }
        bench_close(&bench);
    }
}

static void a_server_has_children_in_one_of_the_two_trees_only(void **state)
{
    (void)state;
    for (uint32_t servers = 2; servers <= 64; servers += 2) {
        struct bench bench;
        bench_open(&bench, job_of(servers, 1));
        bench_group(&bench, servers);
        const struct nccl_tree_place *trees = bench.channels.trees;
        for (uint32_t i = 0; i < servers; i++) {
            CHECK(trees[i].down_count == 0 || trees[servers + i].down_count == 0, "%u of %u", i, servers);
        }
        bench_close(&bench);
    }
}

/* ---- flows ---------------------------------------------------------------------------------------------------- */

static const uint64_t sizes[] = {1048576, 1000003, 4097, 7, 1};

static void an_all_reduce_brings_everything_to_everybody(void **state)
{
    (void)state;
    static const enum nccl_algo algos[] = {NCCL_RING, NCCL_TREE, NCCL_NVLS_TREE, NCCL_NVLS, NCCL_COLLNET};
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        for (size_t a = 0; a < COUNT_OF(algos) * 2; a++) {
            for (size_t s = 0; s < COUNT_OF(sizes); s++) {
                struct bench bench;
                char what[96];
                bench_open(&bench, job_of(shapes[i].gpus, shapes[i].per_server));
                bench_group(&bench, shapes[i].ranks);
                bench.choice = nccl_choose(&bench.job, &bench.group, COLL_ALL_REDUCE, sizes[s]);
                bench.choice.algo = algos[a / 2];
                bench.choice.pxn = a % 2 == 1;
                bool fits = bench.choice.algo != NCCL_NVLS || bench.group.node_count == 1;
                if (fits) {
                    (void)snprintf(what, sizeof what, "%u ranks by %u, algorithm %d, %" PRIu64 " B", shapes[i].ranks,
                                   shapes[i].per_server, (int)bench.choice.algo, sizes[s]);
                    bench_flows(&bench, COLL_ALL_REDUCE, sizes[s]);
                    check_order(&bench, what);
                    check_all_reach_all(&bench, what);
                }
                bench_close(&bench);
            }
        }
    }
}

/* A tree of up to `most` switches at random for each channel; servers hang anywhere in it. */
static struct nccl_switch_trees random_trees(struct bench *bench, struct prng *prng, uint32_t most)
{
    uint32_t channels = bench->choice.channels;
    uint32_t servers = bench->group.node_count;
    uint32_t *first = arena_alloc(&bench->arena, (channels + 1) * sizeof *first);
    uint32_t *up = arena_alloc(&bench->arena, (size_t)channels * most * sizeof *up);
    uint32_t *leaf = arena_alloc(&bench->arena, (size_t)channels * servers * sizeof *leaf);
    CHECK(first != NULL && up != NULL && leaf != NULL, "memory is given");
    first[0] = 0;
    for (uint32_t c = 0; c < channels; c++) {
        uint32_t count = 1 + prng_below(prng, most);
        first[c + 1] = first[c] + count;
        for (uint32_t i = 0; i < count; i++) {
            up[first[c] + i] = first[c] + (i == 0 ? 0 : prng_below(prng, i));
        }
        for (uint32_t s = 0; s < servers; s++) {
            /* None has nothing below it: each has one of the first servers. */
            leaf[c * servers + s] = first[c] + (s < count ? count - 1 - s : prng_below(prng, count));
        }
    }
    return (struct nccl_switch_trees){.first = first, .up = up, .leaf = leaf};
}

static void any_tree_of_switches_brings_everything_to_everybody(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        char what[64];
        uint32_t ranks[MOST_RANKS];
        uint32_t count = 0;
        struct orr_error err = {0};
        uint32_t per_server = 1 + prng_below(&prng, 8);
        struct nccl_job job = job_of(2 + prng_below(&prng, 38), per_server);
        job.switches_per_server = prng_below(&prng, 3);
        for (uint32_t rank = 0; rank < job.gpus; rank++) { /* the two last at least */
            if (rank + 2 >= job.gpus || prng_below(&prng, 3) != 0) {
                ranks[count++] = rank;
            }
        }
        bench_open(&bench, job);
        CHECK_OK(nccl_group_build(&bench.job, ranks, count, &bench.arena, &bench.group, &err), &err);
        CHECK_OK(nccl_channels_build(&bench.job, &bench.group, &bench.arena, &bench.channels, &err), &err);
        uint64_t bytes = 1 + prng_next(&prng) % 100000;
        bench.choice = nccl_choose(&bench.job, &bench.group, COLL_ALL_REDUCE, bytes);
        bench.choice.algo = NCCL_COLLNET;
        bench.choice.chunk_bytes = 1 + prng_next(&prng) % 20000 + bytes / 16;
        struct nccl_switch_trees trees = random_trees(&bench, &prng, bench.group.node_count);
        bench.choice.trees = &trees;
        bench_flows(&bench, COLL_ALL_REDUCE, bytes);
        (void)snprintf(what, sizeof what, "seed %" PRIu64, seed);
        check_order(&bench, what);
        check_all_reach_all(&bench, what);
        bench_close(&bench);
    }
}

static void no_byte_is_lost_to_a_division(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            struct bench bench;
            uint64_t n = shapes[i].ranks;
            bench_open(&bench, job_of(shapes[i].gpus, shapes[i].per_server));
            bench_group(&bench, shapes[i].ranks);
            bench.choice = nccl_choose(&bench.job, &bench.group, COLL_ALL_REDUCE, sizes[s]);
            bench_flows(&bench, COLL_ALL_REDUCE, sizes[s]);
            CHECK_U64(bench.flows.total_bytes, 2 * (n - 1) * sizes[s], "all-reduce on shape %zu", i);
            bench_flows(&bench, COLL_ALL_GATHER, sizes[s]);
            CHECK_U64(bench.flows.total_bytes, (n - 1) * sizes[s], "all-gather on shape %zu", i);
            bench_flows(&bench, COLL_REDUCE_SCATTER, sizes[s]);
            CHECK_U64(bench.flows.total_bytes, (n - 1) * sizes[s], "reduce-scatter on shape %zu", i);
            bench_flows(&bench, COLL_ALL_TO_ALL, sizes[s]);
            CHECK_U64(bench.flows.total_bytes, (n - 1) * sizes[s], "all-to-all on shape %zu", i);
            bench_flows(&bench, COLL_BROADCAST, sizes[s]);
            CHECK_U64(bench.flows.total_bytes, (n - 1) * sizes[s], "broadcast on shape %zu", i);
            bench.choice.algo = NCCL_TREE;
            bench_flows(&bench, COLL_ALL_REDUCE, sizes[s]);
            CHECK_U64(bench.flows.total_bytes, 2 * (n - 1) * sizes[s], "tree on shape %zu", i);
            bench_close(&bench);
        }
    }
}

static void a_smaller_chunk_means_more_messages_of_the_same_bytes(void **state)
{
    (void)state;
    static const struct {
        enum coll_type type;
        enum nccl_algo algo;
        uint32_t ranks;
    } cases[] = {{COLL_ALL_REDUCE, NCCL_RING, 16},   {COLL_ALL_REDUCE, NCCL_TREE, 16},
                 {COLL_BROADCAST, NCCL_RING, 16},    {COLL_ALL_REDUCE, NCCL_NVLS_TREE, 16},
                 {COLL_ALL_REDUCE, NCCL_NVLS, 8},    {COLL_ALL_GATHER, NCCL_NVLS, 8},
                 {COLL_ALL_REDUCE, NCCL_COLLNET, 16}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench, job_of(16, 8));
        bench_group(&bench, cases[i].ranks);
        bench.choice = nccl_choose(&bench.job, &bench.group, cases[i].type, 1000003);
        bench.choice.algo = cases[i].algo;
        bench.choice.chunk_bytes = 1u << 20;
        bench_flows(&bench, cases[i].type, 1000003);
        uint32_t few = bench.flows.count;
        uint64_t total = bench.flows.total_bytes;
        bench.choice.chunk_bytes = 1000;
        bench_flows(&bench, cases[i].type, 1000003);
        check_order(&bench, "small chunks");
        CHECK(bench.flows.count > few, "case %zu", i);
        CHECK_U64(bench.flows.total_bytes, total, "case %zu", i);
        for (uint32_t f = 0; f < bench.flows.count; f++) {
            CHECK(bench.flows.flows[f].bytes <= 1000, "case %zu flow %u", i, f);
        }
        bench_close(&bench);
    }
}

static void a_broadcast_comes_from_the_root_and_a_reduce_ends_there(void **state)
{
    (void)state;
    for (uint32_t root = 0; root < 12; root += 5) {
        for (uint32_t pxn = 0; pxn < 2; pxn++) {
            struct bench bench;
            bench_open(&bench, job_of(12, 4));
            bench_group(&bench, 12);
            bench.choice = nccl_choose(&bench.job, &bench.group, COLL_BROADCAST, 3000000);
            bench.choice.root = root;
            bench.choice.pxn = pxn == 1;
            bench_flows(&bench, COLL_BROADCAST, 3000000);
            check_order(&bench, "broadcast");
            for (uint32_t i = 0; i < 12; i++) {
                CHECK(i == root || reaches(root, i), "broadcast from %u to %u", root, i);
            }
            bench_flows(&bench, COLL_REDUCE, 3000000);
            check_order(&bench, "reduce");
            for (uint32_t i = 0; i < 12; i++) {
                CHECK(i == root || reaches(i, root), "reduce from %u to %u", i, root);
            }
            bench_close(&bench);
        }
    }
}

/* Messages between servers of 8 that change rails, in the collective over `gpus` of them. */
static uint32_t changes_of_rail(enum coll_type type, uint32_t gpus, bool pxn)
{
    struct bench bench;
    uint32_t changes = 0;
    bench_open(&bench, job_of(gpus, 8));
    bench_group(&bench, gpus);
    bench.choice = nccl_choose(&bench.job, &bench.group, type, 1000003);
    bench.choice.pxn = pxn;
    bench_flows(&bench, type, 1000003);
    check_order(&bench, "rails");
    for (uint32_t f = 0; f < bench.flows.count; f++) {
        const struct nccl_flow *flow = &bench.flows.flows[f];
        changes += flow->src / 8 != flow->dst / 8 && flow->src % 8 != flow->dst % 8;
    }
    bench_close(&bench);
    return changes;
}

static void with_pxn_no_message_leaves_its_rail(void **state)
{
    (void)state;
    static const enum coll_type types[] = {COLL_ALL_REDUCE, COLL_ALL_GATHER, COLL_REDUCE_SCATTER, COLL_ALL_TO_ALL,
                                           COLL_BROADCAST,  COLL_SCATTER,    COLL_GATHER};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        for (uint32_t gpus = 16; gpus <= 40; gpus += 8) {
            CHECK_U64(changes_of_rail(types[i], gpus, true), 0, "%s over %u", coll_type_name((int32_t)types[i]), gpus);
        }
    }
}

static void a_ring_over_an_even_number_of_servers_stays_on_its_rails(void **state)
{
    (void)state;
    for (uint32_t gpus = 16; gpus <= 64; gpus += 16) {
        CHECK_U64(changes_of_rail(COLL_ALL_REDUCE, gpus, false), 0, "%u GPUs", gpus);
    }
    /* From the last of three servers to the first, once in each of 8 channels and 46 steps. */
    CHECK_U64(changes_of_rail(COLL_ALL_REDUCE, 24, false), 8 * 46, "an odd number of servers");
}

static void what_nccl_cannot_do_is_a_named_error(void **state)
{
    (void)state;
    static const struct {
        enum coll_type type;
        enum nccl_algo algo;
        const char *says;
    } bad[] = {{COLL_ALL_GATHER, NCCL_TREE, "no tree for all-gather"},
               {COLL_ALL_TO_ALL, NCCL_NVLS, "no NVLS for all-to-all"},
               {COLL_ALL_REDUCE, NCCL_NVLS, "this group is on 2"},
               {COLL_ALL_GATHER, NCCL_COLLNET, "no reduction in the network's switches for all-gather"},
               {COLL_ALL_TO_ALL, NCCL_COLLNET, "no reduction in the network's switches for all-to-all"}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct bench bench;
        struct orr_error err = {0};
        bench_open(&bench, job_of(16, 8));
        bench_group(&bench, 16);
        bench.choice = nccl_choose(&bench.job, &bench.group, bad[i].type, 1);
        bench.choice.algo = bad[i].algo;
        CHECK_STATUS(nccl_flows_build(&bench.job, &bench.group, &bench.channels, &bench.choice, bad[i].type, 1,
                                      &bench.arena, &bench.flows, &err),
                     ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].says);
        bench_close(&bench);
    }
}

static void a_list_that_does_not_fit_memory_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    struct orr_error err = {0};
    bench_open(&bench, job_of(64, 8));
    bench_group(&bench, 64);
    bench.choice = nccl_choose(&bench.job, &bench.group, COLL_ALL_REDUCE, 1 << 20);
    bench.mem.limit = bench.mem.used + (1 << 20);
    CHECK_STATUS(nccl_flows_build(&bench.job, &bench.group, &bench.channels, &bench.choice, COLL_ALL_REDUCE, 1 << 20,
                                  &bench.arena, &bench.flows, &err),
                 ORR_ENOMEM);
    bench.choice.chunk_bytes = 1;
    bench.mem.limit = 0;
    CHECK_STATUS(nccl_flows_build(&bench.job, &bench.group, &bench.channels, &bench.choice, COLL_ALL_REDUCE,
                                  UINT64_C(1) << 40, &bench.arena, &bench.flows, &err),
                 ORR_ERANGE);
    bench_close(&bench);
}

static void sends_and_receives_become_one_message_a_pair(void **state)
{
    (void)state;
    static const struct nccl_pair pairs[] = {{0, 8, 100}, {1, 10, 200}, {3, 2, 300}};
    struct bench bench;
    struct orr_error err = {0};
    bench_open(&bench, job_of(16, 8));
    CHECK_OK(nccl_pairs_build(&bench.job, pairs, COUNT_OF(pairs), false, &bench.arena, &bench.flows, &err), &err);
    CHECK_U64(bench.flows.count, 3, "straight");
    CHECK_U64(bench.flows.total_bytes, 600, "straight");
    CHECK_OK(nccl_pairs_build(&bench.job, pairs, COUNT_OF(pairs), true, &bench.arena, &bench.flows, &err), &err);
    CHECK_U64(bench.flows.count, 4, "1 hands over to 2, which is on the rail of 10");
    CHECK_U64(bench.flows.flows[2].src, 2, "the hop across");
    static const struct nccl_pair bad[] = {{4, 4, 1}, {0, 16, 1}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CHECK_STATUS(nccl_pairs_build(&bench.job, &bad[i], 1, false, &bench.arena, &bench.flows, &err), ORR_EINVAL);
    }
    bench_close(&bench);
}

TEST_MAIN(any_tree_of_switches_brings_everything_to_everybody,
          every_rank_has_one_group_of_each_type_that_has_two_members,
          simai_has_no_expert_groups_without_tensor_parallelism, degrees_that_do_not_divide_are_named,
          a_ring_visits_every_rank_once_and_every_tree_hangs_together,
          a_server_has_children_in_one_of_the_two_trees_only, an_all_reduce_brings_everything_to_everybody,
          no_byte_is_lost_to_a_division, a_smaller_chunk_means_more_messages_of_the_same_bytes,
          a_broadcast_comes_from_the_root_and_a_reduce_ends_there, with_pxn_no_message_leaves_its_rail,
          a_ring_over_an_even_number_of_servers_stays_on_its_rails, what_nccl_cannot_do_is_a_named_error,
          a_list_that_does_not_fit_memory_is_refused, sends_and_receives_become_one_message_a_pair)
