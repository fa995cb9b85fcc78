/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that follow others like them, against every group by itself, on fair shares: whatever a run leaves behind is
 * the same, to the nanosecond and the byte. */
#include "net/flow/flow.h"
#include "run/session.h"
#include "tests/prng.h"
#include "tests/sim/simai_bench.h"

struct twins_case {
    char workload[2048];
    char hosts[16], per_leaf[16], spines[16];
    const char *machine;
};

/* Its files, read. */
static struct orr_run *open_case(const struct twins_case *one)
{
    char text[128];
    char machine[128];
    char config[128];
    struct orr_error err = {0};
    struct orr_simai_simulation options = bench_options();
    struct orr_topo *topo = NULL;
    struct orr_run *run = NULL;
    const struct orr_topo_setting settings[] = {
        {"hosts", one->hosts}, {"per-leaf", one->per_leaf}, {"spines", one->spines}, {"leaves-per-spine", "64"}};
    bench_write("workload.txt", one->workload, text);
    bench_write("SimAI.conf", bench_config, config);
    snprintf(machine, sizeof machine, "%s/topology", folder);
    CHECK_OK(orr_topo_make(one->machine, settings, COUNT_OF(settings), NULL, &topo, &err), &err);
    CHECK_OK(orr_topo_write(topo, machine, &(struct orr_topo_write_options){.form = ORR_TOPO_SIMAI}, &err), &err);
    orr_topo_close(topo);
    options.run.backend = ORR_BACKEND_FLOW;
    options.run.workload = text;
    options.topology = machine;
    options.config = config;
    CHECK_OK(orr_simai_open(&options, &run, &err), &err);
    return run;
}

struct twins_run {
    struct mem mem;
    struct notes notes;
    struct simai_config config;
    struct simai *simai;
    const struct sim_result *result;
};

static void run_case(struct twins_run *run, struct orr_run *files, bool every_group)
{
    struct orr_error err = {0};
    *run = (struct twins_run){.config = files->rows.config};
    notes_init(&run->notes, &run->mem, false);
    run->config.network = &net_shares;
    run->config.every_group = every_group;
    run->config.recall_ranks = 1;
    CHECK_OK(simai_open(&run->config, &run->mem, &run->notes, &run->simai, &err), &err);
    CHECK_OK(simai_run(run->simai, NULL, NULL, &err), &err);
    run->result = simai_result(run->simai);
}

static void free_run(struct twins_run *run)
{
    simai_close(run->simai);
    notes_free(&run->notes);
    CHECK_U64(run->mem.used, 0, "all memory is given back");
}

/* What was sent, and over which wires. */
static void compare_traffic(const struct twins_case *one, const struct sim_result *a, const struct sim_result *b)
{
    const char *what = one->workload;
    CHECK_U64(a->simai->collectives, b->simai->collectives, "%s", what);
    CHECK_U64(a->collective_count, b->collective_count, "%s", what);
    for (uint32_t i = 0; i < a->collective_count; i++) {
        CHECK_U64(a->collectives[i].count, b->collectives[i].count, "%s", what);
    }
    CHECK_U64(a->messages, b->messages, "%s", what);
    CHECK_U64(a->simai->flow_bytes, b->simai->flow_bytes, "%s", what);
    CHECK_U64(a->network.flows, b->network.flows, "%s", what);
    for (uint32_t i = 0; i < a->network.link_count; i++) {
        CHECK_U64(a->network.links[i].bytes, b->network.links[i].bytes, "%s", what);
        CHECK_U64(a->network.links[i].busy_ns, b->network.links[i].busy_ns, "%s", what);
    }
}

static void compare(const struct twins_case *one, const struct sim_result *a, const struct sim_result *b)
{
    const char *what = one->workload;
    for (uint32_t rank = 0; rank < a->rank_count; rank++) {
        CHECK(memcmp(&a->rows[rank], &b->rows[rank], sizeof a->rows[rank]) == 0,
              "%s of %s GPUs, %s a leaf, %s spines, %s\nrank %" PRIu32 ": %" PRIu64 " against %" PRIu64, one->machine,
              one->hosts, one->per_leaf, one->spines, what, rank, a->rows[rank].finish_ns, b->rows[rank].finish_ns);
    }
    CHECK(memcmp(a->simai->rows, b->simai->rows, a->simai->program->row_count * sizeof *a->simai->rows) == 0,
          "rows of %s", what);
    for (uint32_t i = 0; i < a->collective_count; i++) {
        CHECK_U64(a->collectives[i].total_ns, b->collectives[i].total_ns, "%s", what);
    }
    CHECK_U64(a->simai->last_flow_ns, b->simai->last_flow_ns, "%s", what);
    CHECK(memcmp(&a->network.duration_ns, &b->network.duration_ns, sizeof a->network.duration_ns) == 0, "%s", what);
    compare_traffic(one, a, b);
}

/* How many collectives followed others. */
static uint64_t check_same(const struct twins_case *one)
{
    struct orr_run *files = open_case(one);
    struct twins_run together;
    struct twins_run apart;
    run_case(&together, files, false);
    run_case(&apart, files, true);
    compare(one, together.result, apart.result);
    uint64_t followed = together.result->simai->followed;
    CHECK_U64(apart.result->simai->followed, 0, "every group by itself");
    free_run(&together);
    free_run(&apart);
    orr_run_close(files);
    return followed;
}

static void set_machine(struct twins_case *one, const char *machine, uint32_t hosts, uint32_t per_leaf, uint32_t spines)
{
    one->machine = machine;
    snprintf(one->hosts, sizeof one->hosts, "%" PRIu32, hosts);
    snprintf(one->per_leaf, sizeof one->per_leaf, "%" PRIu32, per_leaf);
    snprintf(one->spines, sizeof one->spines, "%" PRIu32, spines);
}

static int header(char *text, size_t room, uint32_t tp, uint32_t ep, uint32_t pp, uint32_t gpus, uint32_t rows)
{
    return snprintf(text, room,
                    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %" PRIu32 " ep: %" PRIu32 " pp: %" PRIu32
                    " vpp: 1 ga: 1 all_gpus: %" PRIu32 " checkpoints: 0 checkpoint_initiates: 0 pp_comm: 1048576\n"
                    "%" PRIu32 "\n",
                    tp, ep, pp, gpus, rows);
}

/* Servers are alike, rails are alike; the ring over two segments has hops that are longer than others, so that ranks
 * end and begin at different times. */
static void rails_and_servers_follow_the_first(void **state)
{
    (void)state;
    struct twins_case one;
    set_machine(&one, "Spectrum-X", 64, 4, 2);
    int at = header(one.workload, sizeof one.workload, 8, 1, 1, 64, 3);
    snprintf(one.workload + at, sizeof one.workload - (size_t)at,
             "gather -1 1 NONE 0 1 NONE 0 1 ALLGATHER 67108864 100\n"
             "scatter -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 67108864 100\n"
             "layer -1 1000 ALLREDUCE 16777216 1000 ALLREDUCE 16777216 1 NONE 0 1\n");
    CHECK_U64(check_same(&one), 2 * 7 + 2 * 7, "of 8 rails 7 follow in two collectives, and so do 7 of 8 servers");
}

static const char *const comms[] = {"NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL", "ALLTOALL_EP"};

static uint32_t one_of(struct prng *prng, const uint32_t *values, uint32_t count)
{
    return values[prng_below(prng, count)];
}

static uint64_t random_bytes(struct prng *prng)
{
    uint64_t bytes = (UINT64_C(1) << 20) << prng_below(prng, 6);
    return prng_below(prng, 4) == 0 ? bytes + prng_below(prng, 4096) : bytes;
}

static void random_case(struct prng *prng, struct twins_case *one, uint32_t stages)
{
    static const uint32_t sizes[] = {16, 32, 64};
    static const uint32_t powers[] = {1, 2, 4, 8};
    static const char *const machines[] = {"Spectrum-X", "Spectrum-X", "Spectrum-X", "DCN+"};
    uint32_t gpus = one_of(prng, sizes, COUNT_OF(sizes));
    uint32_t tp = one_of(prng, powers + prng_below(prng, 3), 2);
    uint32_t ep = prng_below(prng, 3) == 0 ? 2 : 1;
    uint32_t pp = gpus / tp >= 2 * stages ? stages : 1;
    uint32_t rows = 1 + prng_below(prng, 4);
    set_machine(one, machines[prng_below(prng, COUNT_OF(machines))], gpus, one_of(prng, powers + 1, 3),
                one_of(prng, powers, 3));
    int at = header(one->workload, sizeof one->workload, tp, ep, pp, gpus, rows);
    for (uint32_t row = 0; row < rows; row++) {
        at += snprintf(one->workload + at, sizeof one->workload - (size_t)at, "row%" PRIu32 " -1", row);
        for (unsigned phase = 0; phase < 3; phase++) {
            const char *comm = comms[prng_below(prng, ep > 1 ? COUNT_OF(comms) : COUNT_OF(comms) - 2)];
            at += snprintf(one->workload + at, sizeof one->workload - (size_t)at, " %" PRIu32 " %s %" PRIu64,
                           1 + prng_below(prng, 3) * 1000, comm, comm[0] == 'N' ? 0 : random_bytes(prng));
        }
        at += snprintf(one->workload + at, sizeof one->workload - (size_t)at, " 100\n");
    }
}

static void whoever_follows_changes_nothing(void **state)
{
    (void)state;
    uint64_t followed = 0;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct prng prng = {seed};
        struct twins_case one;
        random_case(&prng, &one, 1);
        followed += check_same(&one);
    }
    CHECK(followed > 50, "only %" PRIu64 " collectives followed others", followed);
}

/* Stages come to the same at other times, and what their servers did before they do again. */
static void what_was_carried_out_before_need_not_be_again(void **state)
{
    (void)state;
    uint64_t recalled = 0;
    for (uint32_t seed = 1; seed <= 24; seed++) {
        struct prng prng = {seed};
        struct twins_case one;
        random_case(&prng, &one, 2 + 2 * (seed % 2));
        recalled += check_same(&one);
    }
    CHECK(recalled > 50, "only %" PRIu64 " collectives were those of before", recalled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(rails_and_servers_follow_the_first, whoever_follows_changes_nothing,
                                                 what_was_carried_out_before_need_not_be_again)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
