/* SPDX-License-Identifier: Apache-2.0 */
/* A step as a workload: what must hold of its nodes, files and simulation, whatever the plan. */
#include "tests/check.h"
#include "tests/folder.h"
#include "tests/prng.h"

#include "train/roles.h"
#include "train/trace.h"

static struct orr_error err;

/* ---- plans ---- */

/* A small model with experts or without, of more layers than any plan below has chunks. */
static struct orr_train_options small_job(bool with_experts)
{
    struct orr_train_options options;
    orr_train_options_init(&options);
    options.without_neighbours = true;
    options.machine = "dgx-h100";
    options.shape = (struct orr_train_model){
        .family = ORR_TRAIN_LLAMA, .layers = 9, .hidden = 512, .ffn = 1024, .heads = 8, .kv_heads = 8, .vocab = 4096};
    if (with_experts) {
        options.shape.experts = 8;
        options.shape.topk = 2;
        options.shape.expert_ffn = 512;
        options.shape.dense_layers = 2;
    }
    options.plan.seq = 512;
    return options;
}

static uint32_t one_of(struct prng *prng, const uint32_t *list, uint32_t count)
{
    return list[prng_below(prng, count)];
}

/* Ranks in the usual order, or in any other; with experts stages are last, which is always legal. */
static void shuffle_order(struct prng *prng, struct orr_train_plan *plan)
{
    uint32_t moving = plan->ep > 1 ? ORR_TRAIN_AXIS_COUNT - 1 : ORR_TRAIN_AXIS_COUNT;
    if (prng_below(prng, 2) == 0) {
        return;
    }
    for (uint8_t i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
        uint32_t other = i < moving ? prng_below(prng, i + 1u) : i;
        plan->order[i] = plan->order[other];
        plan->order[other] = i + 1;
    }
}

/* Any plan that is legal, of at most 32 GPUs. */
static struct orr_train_options any_job(uint64_t seed)
{
    static const uint32_t powers[] = {1, 2, 4}, stages[] = {1, 2, 3, 4};
    struct prng prng = {seed};
    bool with_experts = prng_below(&prng, 3) == 0;
    struct orr_train_options options = small_job(with_experts);
    struct orr_train_plan *plan = &options.plan;
    do {
        plan->tp = one_of(&prng, powers, 3), plan->cp = one_of(&prng, powers, 2), plan->dp = one_of(&prng, powers, 3);
        plan->pp = one_of(&prng, stages, 4);
    } while (plan->tp * plan->cp * plan->dp * plan->pp > 32);
    plan->ep = with_experts && plan->dp * plan->cp * plan->tp % 4 == 0 ? one_of(&prng, powers, 3) : 1;
    plan->sp = plan->tp > 1 && prng_below(&prng, 2) == 0;
    plan->vpp = plan->pp > 1 && prng_below(&prng, 3) == 0 ? 2 : 1;
    plan->zero = prng_below(&prng, 4);
    plan->sharding = plan->zero == 0 ? (enum orr_train_sharding)prng_below(&prng, 3) : ORR_TRAIN_SHARDING_NONE;
    plan->overlap = prng_below(&prng, 16);
    plan->schedule = (enum orr_train_schedule)prng_below(&prng, ORR_TRAIN_SCHEDULE_DUALPIPE);
    plan->recompute = (enum orr_train_recompute)prng_below(&prng, ORR_TRAIN_RECOMPUTE_COUNT);
    plan->global_batch = plan->dp * (1 + prng_below(&prng, 2 * plan->pp + 1));
    static const char *const frameworks[] = {"megatron", "fsdp", "nanotron"};
    options.framework = frameworks[prng_below(&prng, 3)];
    shuffle_order(&prng, plan);
    return options;
}

static const char *plan_text(const struct orr_train_plan *plan)
{
    static char text[160];
    (void)snprintf(text, sizeof text,
                   "tp %u cp %u dp %u pp %u ep %u vpp %u sp %d zero %u sharding %d overlap %u schedule %d batch %u",
                   plan->tp, plan->cp, plan->dp, plan->pp, plan->ep, plan->vpp, plan->sp, plan->zero,
                   (int)plan->sharding, plan->overlap, (int)plan->schedule, plan->global_batch);
    return text;
}

/* ---- simulated ---- */

static void every_legal_plan_runs_to_its_end_and_its_parts_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct orr_train_options options = any_job(seed);
        struct orr_train_result result;
        options.simulates = true;
        options.backend = seed % 2 == 0 ? ORR_BACKEND_UNAWARE : ORR_BACKEND_AWARE;
        options.collective_times = seed % 3 == 0 ? ORR_COLLECTIVES_MODEL : ORR_COLLECTIVES_SIMULATED;
        enum orr_status status = orr_train_step(&options, &result, &err);
        CHECK(status == ORR_OK, "seed %" PRIu64 ", %s: %s", seed, plan_text(&options.plan), err.text);
        const struct orr_train_simulated *s = &result.simulated;
        CHECK_U64(s->exposed_comm_ns,
                  s->exposed_tp_ns + s->exposed_cp_ns + s->exposed_ep_ns + s->exposed_pp_ns + s->exposed_dp_ns,
                  "seed %" PRIu64, seed);
        CHECK_U64(s->step_ns,
                  s->forward_ns + s->backward_ns + s->exposed_comm_ns + s->bubble_ns + s->launch_ns + s->optimizer_ns,
                  "seed %" PRIu64, seed);
        CHECK(s->step_ns > 0 && s->nodes > 0, "seed %" PRIu64, seed);
        /* Kernels are the prediction's, to what whole microseconds lose; the last one of a pass may be told a pass
         * later. */
        double forward = (double)s->forward_ns - (double)result.forward_ns;
        double backward = (double)s->backward_ns - (double)result.backward_ns;
        CHECK(fabs(forward + backward) < 3000, "seed %" PRIu64 ": %+.0f ns", seed, forward + backward);
        CHECK(fabs(forward) < 1000.0 * plan_micro_batches(&result.plan) * result.plan.vpp + 1000,
              "seed %" PRIu64 ": forward %+.0f ns", seed, forward);
    }
}

static void prediction_and_simulation_agree_where_nothing_contends(void **state)
{
    (void)state;
    static const struct {
        const char *model, *machine, *framework;
        struct orr_train_plan plan;
    } jobs[] = {
        {"gpt2", "dgx-h100", "torch", {.gpus = 1, .micro_batch = 8}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 8, .tp = 8, .sp = true, .global_batch = 8}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 8, .tp = 8, .global_batch = 8, .overlap = ORR_TRAIN_OVERLAP_TP}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 32, .tp = 2, .pp = 4, .global_batch = 64}},
        {"llama3-8b",
         "dgx-h100",
         NULL,
         {.gpus = 16, .tp = 2, .pp = 4, .vpp = 2, .global_batch = 32, .overlap = ORR_TRAIN_OVERLAP_PP}},
        {"llama3-8b",
         "dgx-h100",
         NULL,
         {.gpus = 16, .tp = 2, .pp = 4, .global_batch = 32, .schedule = ORR_TRAIN_SCHEDULE_ZERO_BUBBLE}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 16, .tp = 2, .cp = 4, .seq = 32768, .global_batch = 8}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 32, .zero = 1, .global_batch = 64, .overlap = ORR_TRAIN_OVERLAP_DP}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 32, .zero = 3, .global_batch = 64}},
        {"llama3-8b", "dgx-h100", "fsdp", {.gpus = 32, .sharding = ORR_TRAIN_SHARDING_FULL, .global_batch = 64}},
        {"llama3-8b", "dgx-h100", "fsdp", {.gpus = 32, .sharding = ORR_TRAIN_SHARDING_HYBRID, .global_batch = 64}},
        {"llama2-7b",
         "dgx-a100",
         "fsdp",
         {.gpus = 16, .sharding = ORR_TRAIN_SHARDING_HYBRID, .fsdp_group = 4, .global_batch = 32, .seq = 2048}},
        {"mixtral-8x7b", "dgx-h100", NULL, {.gpus = 32, .tp = 2, .ep = 8, .global_batch = 64}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 32, .tp = 2, .pp = 4, .global_batch = 64, .order = {1, 2, 3, 5, 4}}},
        {"llama3-8b", "dgx-h100", NULL, {.gpus = 32, .tp = 4, .pp = 4, .global_batch = 64, .order = {4, 5, 1, 2, 3}}},
        {"mixtral-8x7b",
         "dgx-h100",
         NULL,
         {.gpus = 32, .tp = 2, .ep = 8, .global_batch = 64, .order = {4, 2, 3, 1, 5}}},
    };
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct orr_train_options options;
        struct orr_train_result result;
        orr_train_options_init(&options);
        options.without_neighbours = true;
        options.model = jobs[i].model;
        options.machine = jobs[i].machine;
        options.framework = jobs[i].framework;
        options.plan = jobs[i].plan;
        options.simulates = true;
        options.collective_times = ORR_COLLECTIVES_MODEL;
        CHECK_OK(orr_train_step(&options, &result, &err), &err);
        double off = (double)result.simulated.step_ns / (double)result.step_ns - 1;
        CHECK(fabs(off) < 0.02, "job %zu: %+.2f %%", i, 100 * off);
    }
}

static void a_machine_that_is_larger_than_the_job_has_idle_ranks(void **state)
{
    (void)state;
    struct orr_train_options options = small_job(false);
    struct orr_train_result one, two;
    options.plan.tp = 2, options.plan.dp = 2;
    options.simulates = true;
    CHECK_OK(orr_train_step(&options, &one, &err), &err);
    CHECK_TEXT(one.simulated.machine, "dgx-h100:1");
    CHECK_U64(one.simulated.idle, 4, "of 8 GPUs");
    options.machine = "dgx-h100:4";
    CHECK_OK(orr_train_step(&options, &two, &err), &err);
    CHECK_U64(two.simulated.idle, 28, "of 32 GPUs");
    CHECK_NEAR((double)two.simulated.step_ns, (double)one.simulated.step_ns, 0.01);
    options.machine = "dgx-h100:1";
    options.plan.dp = 8;
    CHECK_STATUS(orr_train_step(&options, &two, &err), ORR_EINVAL);
    CHECK(strstr(err.text, "the job has 16 GPUs, machine 'dgx-h100:1' has 8") != NULL, "%s", err.text);
}

/* ---- nodes ---- */

struct stage_sums {
    double bytes[ROLE_PARTS]; /* as the lists count them */
    double us[ROLE_PARTS];
    uint64_t sends, receives;
};

static struct stage_sums sums_of(const struct work *work)
{
    enum { ALL_GATHER = 2 };
    struct stage_sums sums = {{0}, {0}, 0, 0};
    for (uint32_t i = 0; i < work->node_count; i++) {
        const struct work_node *node = &work->nodes[i];
        double whole = node->comm_type == ALL_GATHER ? work_layout_size(&work->layouts[node->group]) : 1;
        sums.us[node->mark] += (double)node->duration_us;
        sums.bytes[node->mark] += node->type == TRACE_COLL ? whole * (double)node->comm_bytes : 0;
        sums.sends += node->type == TRACE_SEND;
        sums.receives += node->type == TRACE_RECV;
        for (uint32_t k = 0; k < node->dep_count; k++) {
            CHECK(work->deps[node->first_dep + k] < i, "node %u waits for a later one", i);
        }
    }
    return sums;
}

/* What the lists of a micro-batch say of one kind of communication. */
static double listed_bytes(const struct work_piece *piece, enum work_comm first, enum work_comm last, double factor)
{
    double bytes = 0;
    for (uint32_t i = 0; i < piece->forward.count; i++) {
        const struct work_item *item = &piece->forward.items[i];
        bytes += item->comm >= first && item->comm <= last ? item->bytes * factor * (1 + piece->again) : 0;
    }
    for (uint32_t i = 0; i < piece->backward.count; i++) {
        const struct work_item *item = &piece->backward.items[i];
        bytes += item->comm >= first && item->comm <= last ? item->bytes * factor : 0;
    }
    return bytes;
}

/* Of all pieces of a stage. */
static void count_stage(const struct predict_job *job, uint32_t stage, double count[STEP_PIECES])
{
    for (uint32_t c = 0; c < job->plan.vpp; c++) {
        struct plan_chunk has =
            plan_chunk_of(&job->model, &job->plan, job->framework.stages_by_cost, c * job->plan.pp + stage);
        for (uint32_t i = 0; i < has.layers; i++) {
            count[step_has_experts(&job->model, has.first + i) ? STEP_SPARSE : STEP_DENSE]++;
        }
        count[STEP_EMBEDDING] += has.embedding, count[STEP_HEAD] += has.head, count[STEP_LOSS] += has.loss;
    }
}

static void check_stage(const struct predict_job *job, const struct step_layout *layout, uint32_t stage,
                        const struct work *work, uint64_t seed)
{
    double count[STEP_PIECES] = {0}, want[ROLE_PARTS] = {0}, us = 0, micro = plan_micro_batches(&job->plan);
    struct stage_sums sums = sums_of(work);
    count_stage(job, stage, count);
    for (uint32_t i = 0; i < STEP_PIECES; i++) {
        const struct work_piece *piece = &layout->piece[i];
        double many = micro * count[i];
        want[ROLE_TP] += many * listed_bytes(piece, WORK_TP_GATHER, WORK_TP_REDUCE, 1);
        want[ROLE_CP] += many * listed_bytes(piece, WORK_CP_SHIFT, WORK_CP_SHIFT, job->plan.cp);
        want[ROLE_EP] += many * listed_bytes(piece, WORK_EP_DISPATCH, WORK_EP_COMBINE, 1);
        us += many * (layout->cost[i].forward.compute + layout->cost[i].backward.compute);
    }
    for (uint32_t part = ROLE_TP; part <= ROLE_EP; part++) {
        CHECK(fabs(sums.bytes[part] - want[part]) <= 1e-6 * want[part] + 64 * micro,
              "seed %" PRIu64 " stage %u part %u: %.0f bytes, listed %.0f", seed, stage, part, sums.bytes[part],
              want[part]);
    }
    CHECK(fabs(sums.us[ROLE_FORWARD] + sums.us[ROLE_BACKWARD] - us) < 2, "seed %" PRIu64 ": %.0f us, costed %.0f", seed,
          sums.us[ROLE_FORWARD] + sums.us[ROLE_BACKWARD], us);
    CHECK_U64(sums.sends, sums.receives, "seed %" PRIu64 " stage %u", seed, stage);
}

/* Gradients of every weight are summed: once, or with divided weights once for each micro-batch. */
static void check_gradients(const struct predict_job *job, const struct step_layout *layout, uint32_t stage,
                            const struct work *work, uint64_t seed)
{
    enum { ALL_GATHER = 2 };
    double count[STEP_PIECES] = {0}, weights = 0, summed = 0, gathered = 0;
    bool sharded = job->plan.zero == 3 || job->plan.sharding != ORR_TRAIN_SHARDING_NONE;
    count_stage(job, stage, count);
    for (uint32_t i = 0; i < STEP_PIECES; i++) {
        weights += count[i] * layout->piece[i].parameters;
    }
    for (uint32_t i = 0; i < work->node_count; i++) {
        const struct work_node *node = &work->nodes[i];
        bool dense = node->type == TRACE_COLL && (node->group == WORK_DP || node->group == WORK_SHARD);
        summed += dense && node->comm_type != ALL_GATHER ? (double)node->comm_bytes : 0;
        gathered += dense && node->comm_type == ALL_GATHER
                        ? (double)node->comm_bytes * work_layout_size(&work->layouts[node->group])
                        : 0;
    }
    enum work_group group = job->plan.sharding == ORR_TRAIN_SHARDING_HYBRID ? WORK_SHARD : WORK_DP;
    double times = sharded ? plan_micro_batches(&job->plan) : 1, grouped = work_layout_size(&work->layouts[group]) > 1;
    double gathers = sharded ? 2 * times : plan_optimizer_shards(&job->plan) > 1 ? 1 : 0;
    CHECK(fabs(summed - grouped * times * weights * job->framework.gradient_bytes) <= 1e-4 * summed + 64,
          "seed %" PRIu64 " stage %u: %.0f bytes summed of %.0f weights", seed, stage, summed, weights);
    CHECK(fabs(gathered - grouped * gathers * weights * 2) <= 1e-4 * gathered + 4096,
          "seed %" PRIu64 " stage %u: %.0f bytes gathered of %.0f weights", seed, stage, gathered, weights);
}

static void nodes_carry_what_the_lists_say(void **state)
{
    (void)state;
    struct predict_data *data = NULL;
    struct mem mem = {0};
    CHECK_OK(predict_open(&data, &err), &err);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct orr_train_options options = any_job(seed);
        struct predict_job job;
        struct step_layout *layout = NULL;
        CHECK_OK(predict_settle(data, &options, &job, &err), &err);
        CHECK_OK(step_layout_make(&job.cost, &job.job, &mem, &layout, &err), &err);
        for (uint32_t stage = 0; stage < job.plan.pp; stage++) {
            for (int merged = 0; merged < 2; merged++) {
                struct role_request request = {&job.job, layout, &job.cost, merged != 0};
                struct work work;
                work_init(&work, &mem);
                CHECK_OK(role_build(&request, stage, &work, &err), &err);
                check_stage(&job, layout, stage, &work, seed);
                check_gradients(&job, layout, stage, &work, seed);
                work_free(&work);
            }
        }
        step_layout_free(layout, &mem);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
    predict_close(data);
}

/* ---- files ---- */

static uint64_t run_files(const char *prefix, enum orr_backend backend, enum orr_policy policy, bool rendezvous,
                          uint64_t seed)
{
    struct orr_run_options options;
    struct orr_run *run = NULL;
    orr_run_options_init(&options);
    options.workload = prefix;
    options.machine = "dgx-h100";
    options.backend = backend;
    options.backend_open = false;
    options.policy = policy;
    options.rendezvous = rendezvous;
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    enum orr_status status = orr_run_execute(run, &err);
    CHECK(status == ORR_OK, "seed %" PRIu64 ", policy %d: %s", seed, (int)policy, err.text);
    uint64_t ns = orr_run_time_ns(run);
    orr_run_close(run);
    orr_run_options_free(&options);
    return ns;
}

static void check_file(const char *prefix, uint32_t rank, uint64_t seed)
{
    char path[160];
    struct orr_trace *trace = NULL;
    uint64_t findings = 0;
    (void)snprintf(path, sizeof path, "%s.%u.et", prefix, rank);
    FILE *nowhere = fopen("/dev/null", "w");
    CHECK(nowhere != NULL, "/dev/null");
    CHECK_OK(orr_trace_open(path, &trace, &err), &err);
    CHECK_OK(orr_trace_check(trace, nowhere, &findings, &err), &err);
    (void)fclose(nowhere);
    CHECK_U64(findings, 0, "seed %" PRIu64 " rank %u", seed, rank);
    orr_trace_close(trace);
}

static void written_traces_run_as_the_step_in_memory_does(void **state)
{
    (void)state;
    uint32_t tried = 0;
    for (uint64_t seed = 1000; tried < 24; seed++) {
        struct orr_train_options options = any_job(seed);
        struct orr_train_result result;
        struct orr_train_written written;
        char prefix[96];
        uint32_t ranks = options.plan.tp * options.plan.cp * options.plan.dp * options.plan.pp;
        if (ranks % 8 != 0) { /* whole servers, so that no rank of the machine is idle */
            continue;
        }
        tried++;
        (void)snprintf(prefix, sizeof prefix, "%s/s%" PRIu64, folder, seed);
        options.simulates = true;
        options.backend = seed % 2 == 0 ? ORR_BACKEND_UNAWARE : ORR_BACKEND_AWARE;
        options.merge_kernels = true;
        CHECK_OK(orr_train_step(&options, &result, &err), &err);
        CHECK_OK(orr_train_write(&options, prefix, &written, &err), &err);
        CHECK_U64(written.files, ranks, "seed %" PRIu64, seed);
        CHECK_U64(written.nodes, result.simulated.nodes, "seed %" PRIu64, seed);
        CHECK_U64(run_files(prefix, options.backend, ORR_POLICY_AUTO, false, seed), result.simulated.step_ns,
                  "seed %" PRIu64 ": %s", seed, plan_text(&options.plan));
        (void)run_files(prefix, options.backend, ORR_POLICY_ASTRA, false, seed);
        (void)run_files(prefix, options.backend, ORR_POLICY_STREAMS, true, seed);
        check_file(prefix, 0, seed);
        check_file(prefix, ranks - 1, seed);
        /* Kernel by kernel it takes as long, to what whole microseconds lose. */
        options.merge_kernels = false;
        CHECK_OK(orr_train_write(&options, prefix, &written, &err), &err);
        uint64_t ns = run_files(prefix, options.backend, ORR_POLICY_AUTO, false, seed);
        CHECK_NEAR((double)ns, (double)result.simulated.step_ns, 0.01);
    }
}

static void what_has_no_nodes_is_refused(void **state)
{
    (void)state;
    struct orr_train_options options = small_job(false);
    struct orr_train_result result;
    struct orr_train_written written;
    options.plan.pp = 2;
    options.plan.schedule = ORR_TRAIN_SCHEDULE_DUALPIPE;
    CHECK_STATUS(orr_train_write(&options, folder_path("dual"), &written, &err), ORR_EINVAL);
    CHECK(strstr(err.text, "'schedule': dualpipe") != NULL, "%s", err.text);
    options.simulates = true;
    CHECK_STATUS(orr_train_step(&options, &result, &err), ORR_EINVAL);
    options.plan.schedule = ORR_TRAIN_SCHEDULE_ONE_F_ONE_B;
    CHECK_STATUS(orr_train_write(&options, "folder/", &written, &err), ORR_EINVAL);
    CHECK_STATUS(orr_train_write(&options, "", &written, &err), ORR_EINVAL);
    options.plan.dp = 16384, options.plan.global_batch = 16384 * 512;
    CHECK_STATUS(orr_train_write(&options, folder_path("large"), &written, &err), ORR_ERANGE);
    CHECK(strstr(err.text, "32768 traces of about") != NULL, "%s", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_legal_plan_runs_to_its_end_and_its_parts_add_up),
        cmocka_unit_test(prediction_and_simulation_agree_where_nothing_contends),
        cmocka_unit_test(a_machine_that_is_larger_than_the_job_has_idle_ranks),
        cmocka_unit_test(nodes_carry_what_the_lists_say),
        cmocka_unit_test(written_traces_run_as_the_step_in_memory_does),
        cmocka_unit_test(what_has_no_nodes_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
