/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives as NCCL lays them out, carried out by the engine: they end, all that is in the list is sent, and a rank
 * that is missing is found. */
#include "coll/nccl.h"
#include "tests/sim/random_work.h"

static void use_nccl(struct bench *bench, enum coll_nccl all_reduce, uint32_t per_server)
{
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        struct sim_implementation *implementation = &bench->config.system.implementation[native];
        implementation->count = 1;
        implementation->list[0] = (struct coll_impl){
            .algo = COLL_NCCL, .one = true, .nccl = native == SIM_ALL_REDUCE ? all_reduce : COLL_NCCL_AUTO};
    }
    bench->config.system.nccl_gpus_per_server = per_server;
}

static uint64_t flows_of(struct nccl_job job, const uint32_t *ranks, uint32_t count, enum coll_type type,
                         uint64_t bytes)
{
    struct mem mem = {0};
    struct arena arena;
    struct orr_error err = {0};
    struct nccl_group group = {.type = NCCL_GROUP_TP};
    struct nccl_channels channels;
    struct nccl_flows list;
    arena_init(&arena, &mem);
    CHECK_OK(nccl_group_build(&job, ranks, count, &arena, &group, &err), &err);
    CHECK_OK(nccl_channels_build(&job, &group, &arena, &channels, &err), &err);
    struct nccl_choice choice = nccl_choose(&job, &group, type, bytes);
    CHECK_OK(nccl_flows_build(&job, &group, &channels, &choice, type, bytes, &arena, &list, &err), &err);
    arena_free(&arena);
    return list.count;
}

static void a_group_has_channels_of_its_own(void **state)
{
    (void)state;
    static const uint32_t members[] = {9, 1, 8, 0, 4}; /* two, one and two of three servers */
    static const struct {
        enum coll_type type;
        uint64_t factor; /* an all-gather's size is what one rank gives */
    } cases[] = {{COLL_ALL_REDUCE, 1}, {COLL_ALL_GATHER, 5}, {COLL_REDUCE_SCATTER, 1}, {COLL_ALL_TO_ALL, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench, "ring:4 switch:3");
        use_nccl(&bench, COLL_NCCL_AUTO, 0);
        bench_add_group(&bench, 1, COUNT_OF(members), members);
        for (uint32_t m = 0; m < COUNT_OF(members); m++) {
            work_collective(&bench.work, members[m], 1, (int32_t)cases[i].type, 65536)->group = 1;
        }
        for (uint32_t rank = 0; rank < 12; rank++) {
            work_compute(&bench.work, rank, 2, 1);
        }
        (void)bench_completes(&bench);
        struct nccl_job job = {.gpus = 12, .gpus_per_server = 4, .tp = 12, .ep = 1, .as_nccl = true};
        uint64_t flows = flows_of(job, members, COUNT_OF(members), cases[i].type, 65536 * cases[i].factor);
        CHECK_U64(bench.result->messages, flows, "%s", coll_type_name((int32_t)cases[i].type));
        bench_close(&bench);
    }
}

static void any_program_ends_and_ends_alike_again(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:8", "switch:6", "full:5",           "ring:4 ring:2",
                                           "ring:2", "switch:7", "switch:4 switch:2"};
    static const enum coll_nccl algos[] = {COLL_NCCL_AUTO, COLL_NCCL_TREE, COLL_NCCL_RING, COLL_NCCL_NVLS,
                                           COLL_NCCL_NVLS};
    for (uint64_t seed = 1; seed <= 90; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t ranks[16];
        bench_open(&bench, machines[seed % COUNT_OF(machines)]);
        random_work(&bench, &prng, 30, ranks);
        use_nccl(&bench, algos[seed % COUNT_OF(algos)], (uint32_t)(seed % 4));
        bench.config.backend = seed % 2 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
        bench.config.rendezvous = seed % 5 == 0;
        bench.config.jitter = seed % 7 == 0 ? 0.5 : 0.0;
        CHECK_OK(bench_run(&bench), &bench.err);
        uint64_t first = bench_fingerprint(&bench);
        CHECK_OK(bench_run(&bench), &bench.err);
        CHECK_U64(bench_fingerprint(&bench), first, "seed %" PRIu64, seed);
        bench_close(&bench);
    }
}

static void a_rank_that_never_comes_is_found(void **state)
{
    (void)state;
    static const enum coll_nccl algos[] = {COLL_NCCL_RING, COLL_NCCL_TREE};
    for (size_t i = 0; i < COUNT_OF(algos); i++) {
        struct bench bench;
        bench_open(&bench, "ring:8");
        use_nccl(&bench, algos[i], 4);
        for (uint32_t rank = 0; rank < 8; rank++) {
            if (rank != 5) {
                work_collective(&bench.work, rank, 1, COLL_ALL_REDUCE, 65536);
            }
        }
        work_compute(&bench.work, 5, 1, 1);
        const struct sim_stall *stall = bench_stalls(&bench);
        bool named = false;
        for (uint32_t f = 0; f < stall->finding_count; f++) {
            named = named || (strstr(stall->findings[f].text, "rank 5") != NULL &&
                              strstr(stall->findings[f].text, "finished") != NULL);
        }
        CHECK(named, "algorithm %zu: rank 5 has finished without it; told: %s", i, stall->findings[0].text);
        bench_close(&bench);
    }
}

static void dimensions_cannot_be_left_out(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4 ring:2");
    use_nccl(&bench, COLL_NCCL_AUTO, 0);
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 65536)->dims = "10";
    CHECK_STATUS(bench_run(&bench), ORR_EINVAL);
    CHECK_CONTAINS(bench.err.text, "involved_dim leaves out a dimension");
    bench_close(&bench);
}

static void memory_that_is_refused_ends_the_run_and_comes_back(void **state)
{
    (void)state;
    for (uint64_t limit = 1 << 14; limit < 1 << 21; limit += limit / 2) {
        struct bench bench;
        bench_open(&bench, "ring:8");
        use_nccl(&bench, COLL_NCCL_AUTO, 4);
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 65536);
        bench.mem.limit = limit;
        enum orr_status status = bench_run(&bench);
        CHECK(status == ORR_OK || status == ORR_ENOMEM, "limit %" PRIu64 ": %s", limit, bench.err.text);
        bench_close(&bench);
    }
}

TEST_MAIN(a_group_has_channels_of_its_own, any_program_ends_and_ends_alike_again, a_rank_that_never_comes_is_found,
          dimensions_cannot_be_left_out, memory_that_is_refused_ends_the_run_and_comes_back)
