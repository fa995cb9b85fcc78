/* SPDX-License-Identifier: Apache-2.0 */
/* Ids grow with the order in which things are put down, so a rank's last communication is all that has to be kept. */
#include "tests/sim/random_work.h"

enum { MOST_RANKS = 64 };

struct writer {
    struct bench *bench;
    struct prng *prng;
    uint64_t next_id;
    uint64_t last_comm[MOST_RANKS]; /* 0 = none yet */
    uint64_t last_any[MOST_RANKS];
};

static void follow_on(struct writer *writer, uint32_t rank, uint64_t id, bool communicates)
{
    struct work *work = &writer->bench->work;
    uint64_t comm = writer->last_comm[rank];
    uint64_t any = writer->last_any[rank];
    if (comm != 0 && (communicates || prng_below(writer->prng, 2) == 0)) {
        work_after(work, comm);
    }
    if (any != 0 && any != comm && prng_below(writer->prng, 2) == 0) {
        work_after(work, any);
    }
    writer->last_any[rank] = id;
    if (communicates) {
        writer->last_comm[rank] = id;
    }
}

static void put_collective(struct writer *writer, const uint32_t *ranks, uint32_t count, int32_t group)
{
    static const int32_t types[] = {
        COLL_ALL_REDUCE,          COLL_ALL_REDUCE, COLL_ALL_GATHER, COLL_REDUCE_SCATTER, COLL_ALL_TO_ALL,
        COLL_BROADCAST,           COLL_REDUCE,     COLL_GATHER,     COLL_SCATTER,        COLL_BARRIER,
        COLL_REDUCE_SCATTER_BLOCK};
    int32_t type = types[prng_below(writer->prng, COUNT_OF(types))];
    uint64_t bytes = 1 + prng_below(writer->prng, 300000);
    uint32_t root = ranks[prng_below(writer->prng, count)];
    uint64_t id = writer->next_id++;
    for (uint32_t i = 0; i < count; i++) {
        struct work_node *node = work_collective(&writer->bench->work, ranks[i], id, type, bytes);
        node->group = group;
        node->root = root;
        node->has_root = type == COLL_BROADCAST || type == COLL_REDUCE || type == COLL_GATHER || type == COLL_SCATTER;
        follow_on(writer, ranks[i], id, true);
    }
}

static void put_message(struct writer *writer, uint32_t ranks)
{
    uint32_t src = prng_below(writer->prng, ranks);
    uint32_t dst = (src + 1 + prng_below(writer->prng, ranks - 1)) % ranks;
    uint64_t bytes = 1 + prng_below(writer->prng, 100000);
    int32_t tag = (int32_t)prng_below(writer->prng, 3);
    uint64_t id = writer->next_id++;
    work_send(&writer->bench->work, src, id, dst, bytes, tag);
    follow_on(writer, src, id, true);
    work_recv(&writer->bench->work, dst, id, src, bytes, tag);
    follow_on(writer, dst, id, true);
}

static void put_local(struct writer *writer, uint32_t ranks)
{
    uint32_t rank = prng_below(writer->prng, ranks);
    uint64_t id = writer->next_id++;
    switch (prng_below(writer->prng, 5)) {
    case 0:
        work_add(&writer->bench->work, rank, id, TRACE_INVALID);
        break;
    case 1:
        work_add(&writer->bench->work, rank, id, TRACE_METADATA);
        break;
    case 2:
        work_add(&writer->bench->work, rank, id, TRACE_MEM_LOAD)->bytes = 5000;
        break;
    case 3:
        work_compute(&writer->bench->work, rank, id, prng_below(writer->prng, 20))->cpu = true;
        break;
    default:
        work_compute(&writer->bench->work, rank, id, prng_below(writer->prng, 40));
        break;
    }
    follow_on(writer, rank, id, false);
}

void random_work(struct bench *bench, struct prng *prng, uint32_t steps, uint32_t *members)
{
    struct writer writer = {.bench = bench, .prng = prng, .next_id = 1};
    uint32_t ranks = bench->config.dims.ranks;
    uint32_t all[MOST_RANKS];
    uint32_t shuffled[MOST_RANKS];
    CHECK(ranks <= MOST_RANKS, "the machine is small");
    for (uint32_t i = 0; i < ranks; i++) {
        all[i] = i;
    }
    prng_shuffle(prng, shuffled, ranks);
    uint32_t count = 1 + prng_below(prng, ranks - 1 < 16 ? ranks - 1 : 16);
    memcpy(members, shuffled, count * sizeof *members);
    bench_add_group(bench, 3, count, members);
    bench->config.policy = ORR_POLICY_SAFE;
    bench->config.broadcast = ORR_BROADCAST_SIMULATE;
    bench->config.memory = (struct sim_memory){.kind = SIM_MEMORY_POOL, .latency_ns = 300, .bandwidth_gbps = 10};
    bench->config.system.preferred_dataset_splits = 1 + prng_below(prng, 4);
    bench->config.system.active_chunks_per_dimension = 1 + prng_below(prng, 3);
    bench->config.queues_per_dim = 1 + prng_below(prng, 2);
    for (uint32_t step = 0; step < steps; step++) {
        switch (prng_below(prng, 4)) {
        case 0:
            put_collective(&writer, all, ranks, 0);
            break;
        case 1:
            put_collective(&writer, members, count, 3);
            break;
        case 2:
            put_message(&writer, ranks);
            break;
        default:
            put_local(&writer, ranks);
            break;
        }
    }
}
