/* SPDX-License-Identifier: Apache-2.0 */
/* A step as the library predicts it: what must hold whatever the constants are. */
#include "tests/check.h"
#include "tests/folder.h"

#include <stdlib.h>

static struct orr_error err;

static struct orr_train_options asked(const char *model, const char *machine, uint32_t gpus)
{
    struct orr_train_options options;
    orr_train_options_init(&options);
    options.model = model;
    options.machine = machine;
    options.plan.gpus = gpus;
    return options;
}

static struct orr_train_result answered(const struct orr_train_options *options)
{
    struct orr_train_result result;
    CHECK_OK(orr_train_step(options, &result, &err), &err);
    return result;
}

/* Names and values in turn, in `room` as long as the options are used. */
static void set_words(struct orr_train_options *options, char room[256], const char *text)
{
    char *rest = NULL;
    (void)snprintf(room, 256, "%s", text);
    for (char *name = strtok_r(room, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        CHECK_OK(orr_train_set(options, name, strtok_r(NULL, " ", &rest), &err), &err);
    }
}

static void the_parts_of_a_step_add_up_to_it(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t gpus, tp, pp, ep, cp;
    } jobs[] = {{"gpt2", 1, 1, 1, 1, 1},
                {"llama3-8b", 32, 2, 2, 1, 2},
                {"mixtral-8x7b", 64, 2, 4, 8, 1},
                {"llama3-70b", 128, 8, 4, 1, 1},
                {"deepseek-v3", 256, 1, 16, 16, 1}};
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct orr_train_options options = asked(jobs[i].model, "dgx-h100:64", jobs[i].gpus);
        options.plan.tp = jobs[i].tp, options.plan.pp = jobs[i].pp;
        options.plan.ep = jobs[i].ep, options.plan.cp = jobs[i].cp;
        struct orr_train_result r = answered(&options);
        CHECK_U64(r.exposed_comm_ns,
                  r.exposed_tp_ns + r.exposed_cp_ns + r.exposed_ep_ns + r.exposed_pp_ns + r.exposed_dp_ns, "%s",
                  jobs[i].model);
        CHECK_U64(r.step_ns,
                  r.forward_ns + r.backward_ns + r.exposed_comm_ns + r.bubble_ns + r.launch_ns + r.optimizer_ns, "%s",
                  jobs[i].model);
        CHECK_U64(r.memory.total,
                  r.memory.weights + r.memory.gradients + r.memory.optimizer + r.memory.activations + r.memory.buffers +
                      r.memory.fragmentation,
                  "%s", jobs[i].model);
        CHECK(r.mfu > 0.01 && r.mfu < 0.9, "%s: MFU %g", jobs[i].model, r.mfu);
        CHECK(r.bound_by[0] != '\0', "%s", jobs[i].model);
    }
}

static void one_model_by_three_names_gives_one_answer(void **state)
{
    (void)state;
    const char *path = folder_path("config.json");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    (void)fputs("{\"model_type\": \"llama\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, \"intermediate_size\": "
                "14336, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"vocab_size\": 128256, "
                "\"max_position_embeddings\": 8192, \"tie_word_embeddings\": false}",
                file);
    (void)fclose(file);
    struct orr_train_options preset = asked("llama3-8b", "dgx-h100:2", 16);
    struct orr_train_options config = asked(path, "dgx-h100:2", 16);
    struct orr_train_options shape = asked(NULL, "dgx-h100:2", 16);
    shape.shape = (struct orr_train_model){.family = ORR_TRAIN_LLAMA,
                                           .layers = 32,
                                           .hidden = 4096,
                                           .ffn = 14336,
                                           .heads = 32,
                                           .kv_heads = 8,
                                           .vocab = 128256};
    shape.plan.seq = 8192;
    struct orr_train_result a = answered(&preset), b = answered(&config), c = answered(&shape);
    CHECK_U64(a.step_ns, b.step_ns, "a config.json");
    CHECK_U64(a.step_ns, c.step_ns, "a shape");
    CHECK_U64(a.memory.total, b.memory.total, "a config.json");
    CHECK_U64(a.memory.total, c.memory.total, "a shape");
}

static void options_say_all_that_a_preset_says(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *options; /* names and values */
    } same[] = {
        {"gpt2", "family gpt layers 12 hidden 768 heads 12 vocab 50257 seq 1024 positions 1024 tied true"},
        {"qwen2.5-0.5b",
         "family llama layers 24 hidden 896 ffn 4864 heads 14 kv-heads 2 vocab 151936 seq 8192 tied true "
         "qkv-bias true"},
        {"gpt-oss-120b",
         "family moe layers 36 hidden 2880 ffn 2880 heads 64 kv-heads 8 head-dim 64 vocab 201088 seq 8192 "
         "experts 128 topk 4 window 128 window-every 2 bias true"},
        {"nemotron4-15b", "family gpt layers 32 hidden 6144 heads 48 kv-heads 8 vocab 256000 seq 4096 bias false"},
        {"t5-base", "family t5 layers 12 hidden 768 heads 12 vocab 32128 seq 512 tied true"},
        {"dlrm-mlperf", "family dlrm hidden 128 vocab 7000000 tables 26"},
        {"resnet50", "model resnet18 layers 50"},
    };
    struct orr_trainer *trainer = NULL;
    CHECK_OK(orr_trainer_open(&trainer, &err), &err);
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct orr_train_options preset = asked(same[i].preset, "dgx-h100:1", 1);
        struct orr_train_options shape = asked(NULL, "dgx-h100:1", 1);
        struct orr_train_result a, b;
        char words[256];
        preset.without_neighbours = shape.without_neighbours = true;
        set_words(&shape, words, same[i].options);
        CHECK_OK(orr_trainer_step(trainer, &preset, &a, &err), &err);
        CHECK_OK(orr_trainer_step(trainer, &shape, &b, &err), &err);
        CHECK_U64(b.parameters.total, a.parameters.total, "%s", same[i].preset);
        CHECK_U64(b.step_ns, a.step_ns, "%s", same[i].preset);
        CHECK_U64(b.memory.total, a.memory.total, "%s", same[i].preset);
    }
    orr_trainer_close(trainer);
}

static void what_cannot_be_divided_is_refused_with_the_rule(void **state)
{
    (void)state;
    static const struct {
        uint32_t gpus, tp, pp, dp, cp, ep, vpp, batch;
        const char *reason;
    } wrong[] = {
        {16, 3, 1, 0, 1, 1, 1, 0, "'gpus': 16 are not a multiple"},
        {48, 6, 1, 0, 1, 1, 1, 0, "'tp': 6 does not divide the heads, 32; the nearest that do are 4 and 8"},
        {16, 1, 1, 3, 1, 1, 1, 0, "'dp': 3, but 16 GPUs"},
        {16, 1, 1, 0, 1, 2, 1, 0, "has no experts"},
        {64, 64, 1, 0, 1, 1, 1, 0, "'tp': 64 does not divide the heads, 32; the nearest that does is 32"},
        {64, 1, 64, 0, 1, 1, 1, 0,
         "64 stages of 1 chunks are more than 32 layers, the embedding and the head; with 1 "
         "chunks the nearest is 34"},
        {16, 1, 1, 0, 1, 1, 2, 0, "'vpp'"},
        {16, 1, 1, 0, 1, 1, 1, 40, "'global-batch': 40 is not a multiple of micro-batch x dp = 16; the nearest are 32"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct orr_train_options options = asked("llama3-8b", "dgx-h100:8", wrong[i].gpus);
        struct orr_train_result result;
        options.plan.tp = wrong[i].tp, options.plan.pp = wrong[i].pp, options.plan.dp = wrong[i].dp;
        options.plan.cp = wrong[i].cp, options.plan.ep = wrong[i].ep, options.plan.vpp = wrong[i].vpp;
        options.plan.global_batch = wrong[i].batch;
        CHECK(orr_train_step(&options, &result, &err) == ORR_EINVAL, "case %zu", i);
        CHECK(strstr(err.text, wrong[i].reason) != NULL, "%s", err.text);
    }
}

static void rules_of_experts_and_schedules_name_the_nearest_values(void **state)
{
    (void)state;
    static const struct {
        const char *model, *options, *reason;
    } wrong[] = {
        {"mixtral-8x7b", "ep 16", "'ep': 16 does not divide the experts, 8; the nearest that does is 8"},
        {"mixtral-8x7b", "etp 3 ep 2",
         "'etp': 3 does not divide the ranks it lies across, dp x cp x tp = 16; the nearest"},
        {"llama3-8b", "etp 2", "'etp': model 'llama3-8b' has no experts"},
        {"nemotron4-15b", "tp 16 kv-heads 6", "nor is a multiple of them, 6; the nearest that does is 6"},
        {"llama3-8b", "tp 4 sp true seq 6", "'tp': 4 does not divide with sp a rank's part of the sequence, 6"},
        {"llama3-8b", "pp 4 schedule dualpipe global-batch 24",
         "at least 2 x pp = 8, and there are 6; the nearest global batch is 32"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct orr_train_options options = asked(wrong[i].model, "dgx-h100:2", 16);
        struct orr_train_plan plan;
        struct orr_train_model model;
        char words[256];
        set_words(&options, words, wrong[i].options);
        CHECK_OK(orr_train_model_find(wrong[i].model, &model, &err), &err);
        plan = options.plan;
        model.kv_heads = options.shape.kv_heads != 0 ? options.shape.kv_heads : model.kv_heads;
        plan.seq = plan.seq != 0 ? plan.seq : model.seq;
        CHECK(orr_train_plan_settle(&model, &plan, &err) == ORR_EINVAL, "%s %s", wrong[i].model, wrong[i].options);
        CHECK(strstr(err.text, wrong[i].reason) != NULL, "%s", err.text);
    }
}

static void an_interleaved_schedule_has_chunks_to_interleave(void **state)
{
    (void)state;
    struct orr_train_model model;
    struct orr_train_plan plan = {.gpus = 16, .pp = 4, .schedule = ORR_TRAIN_SCHEDULE_INTERLEAVED}, one = plan;
    one.vpp = 1;
    CHECK_OK(orr_train_model_find("llama3-8b", &model, &err), &err);
    CHECK_OK(orr_train_plan_settle(&model, &plan, &err), &err);
    CHECK_OK(orr_train_plan_settle(&model, &one, &err), &err);
    CHECK_U64(plan.vpp, 2, "where nobody says");
    CHECK_U64(one.vpp, 1, "where somebody says");
}

static void what_is_not_there_is_named(void **state)
{
    (void)state;
    struct orr_train_result result;
    struct orr_train_options options = asked(NULL, "dgx-h100:1", 8);
    CHECK(orr_train_step(&options, &result, &err) == ORR_EINVAL, "no model");
    CHECK(strstr(err.text, "no model: parameter 'model' names one") != NULL, "%s", err.text);
    options = asked("llama3-8b", "dgx-a100:1", 8);
    options.plan.dtype = ORR_TRAIN_DTYPE_FP8;
    CHECK(orr_train_step(&options, &result, &err) == ORR_EINVAL, "no fp8");
    CHECK(strstr(err.text, "a100 has no units for fp8") != NULL, "%s", err.text);
    options = asked("llama3-8b", "dgx-h100:1", 8);
    options.framework = "foo";
    CHECK(orr_train_step(&options, &result, &err) == ORR_EINVAL, "no such framework");
    CHECK(strstr(err.text, "there are torch, megatron, nemo") != NULL, "%s", err.text);
}

static void more_of_the_same_takes_longer(void **state)
{
    (void)state;
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:8", 64);
    options.plan.global_batch = 64;
    uint64_t before = answered(&options).step_ns;
    options.plan.global_batch = 128;
    uint64_t twice = answered(&options).step_ns;
    CHECK(twice > before && twice <= 2 * before, "%" PRIu64 " and %" PRIu64, before, twice);
    options.plan.recompute = ORR_TRAIN_RECOMPUTE_FULL;
    struct orr_train_result again = answered(&options);
    CHECK(again.step_ns > twice, "%" PRIu64 " and %" PRIu64, again.step_ns, twice);
    options.plan.recompute = ORR_TRAIN_RECOMPUTE_NONE;
    CHECK(again.memory.activations < answered(&options).memory.activations, "recomputed activations are not held");
}

static void sharding_takes_memory_off_a_gpu(void **state)
{
    (void)state;
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:2", 16);
    uint64_t before = UINT64_MAX;
    for (uint32_t zero = 0; zero <= 3; zero++) {
        options.plan.zero = zero;
        uint64_t total = answered(&options).memory.total;
        CHECK(zero == 0 || total < before || zero == 2, "ZeRO %u", zero);
        CHECK(total <= before, "ZeRO %u", zero);
        before = total;
    }
}

static void less_power_takes_longer(void **state)
{
    (void)state;
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:2", 16);
    uint64_t before = answered(&options).step_ns;
    options.power_watts = 700;
    CHECK_U64(answered(&options).step_ns, before, "700 W are what an H100 takes");
    options.power_watts = 500;
    uint64_t slower = answered(&options).step_ns;
    CHECK((double)slower > 1.04 * (double)before && (double)slower < 1.15 * (double)before, "%" PRIu64 " and %" PRIu64,
          slower, before);
}

static void latent_attention_without_ranks_has_deepseeks(void **state)
{
    (void)state;
    struct orr_train_options preset = asked("deepseek-v3", "dgx-h100:32", 256), shape = asked(NULL, "dgx-h100:32", 256);
    preset.plan.pp = shape.plan.pp = 16, preset.plan.ep = shape.plan.ep = 16;
    preset.plan.seq = shape.plan.seq = 4096;
    shape.latent = true;
    shape.shape = (struct orr_train_model){.family = ORR_TRAIN_LLAMA,
                                           .layers = 61,
                                           .hidden = 7168,
                                           .ffn = 18432,
                                           .heads = 128,
                                           .vocab = 129280,
                                           .experts = 256,
                                           .topk = 8,
                                           .expert_ffn = 2048,
                                           .shared_experts = 1,
                                           .dense_layers = 3};
    struct orr_train_result a = answered(&preset), b = answered(&shape);
    CHECK_U64(a.parameters.total, b.parameters.total, "parameters");
    CHECK_U64(a.step_ns, b.step_ns, "a step");
}

static void a_machine_says_how_many_gpus_there_are(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        uint32_t tp, gpus;
    } jobs[] = {{"dgx-h100:4", 2, 32},
                {"dgx-h100:16 > rail:400Gbps > spine:8", 1, 128},
                {"dgx-h100", 2, 8},
                {"dgx-h100", 16, 16}};
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct orr_train_options options = asked("llama3-8b", jobs[i].machine, 0);
        options.plan.tp = jobs[i].tp;
        CHECK_U64(answered(&options).plan.gpus, jobs[i].gpus, "%s", jobs[i].machine);
    }
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:4", 64);
    struct orr_train_result result;
    CHECK(orr_train_step(&options, &result, &err) == ORR_EINVAL, "more than there are");
    CHECK(strstr(err.text, "the job has 64 GPUs, machine 'dgx-h100:4' has 32") != NULL, "%s", err.text);
}

static void a_slower_network_shows(void **state)
{
    (void)state;
    uint64_t before = 0;
    static const char *const machines[] = {"dgx-h100:16 > rail:400Gbps > spine:8", "dgx-h100:16 > leaf > spine:4:1",
                                           "dgx-h100:16 > rail:25Gbps"};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct orr_train_options options = asked("llama3-8b", machines[i], 0);
        uint64_t shown = answered(&options).exposed_dp_ns;
        CHECK(shown > before, "%s: %" PRIu64 " after %" PRIu64, machines[i], shown, before);
        before = shown;
    }
}

static void heads_of_odd_width_take_longer(void **state)
{
    (void)state;
    struct orr_train_options options = asked(NULL, "dgx-a100:1", 8);
    options.framework = "megatron-deepspeed";
    options.plan.tp = 8;
    options.shape = (struct orr_train_model){.layers = 8, .hidden = 14400, .heads = 96, .vocab = 250880};
    options.plan.seq = 2048;
    uint64_t odd = answered(&options).forward_ns;
    options.shape.hidden = 14592; /* heads of 152 */
    uint64_t even = answered(&options).forward_ns;
    CHECK((double)odd > 1.1 * (double)even, "%" PRIu64 " and %" PRIu64, odd, even);
}

static void a_table_goes_on_past_rows_that_cannot_be(void **state)
{
    (void)state;
    const char *path = folder_path("runs.csv");
    FILE *file = fopen(path, "w"), *out = tmpfile();
    char text[4096];
    struct orr_train_options defaults;
    struct orr_train_table_result sum;
    CHECK(file != NULL && out != NULL, "%s", path);
    (void)fputs("id,source,gpu,gpus,model,tp,step_s,colour\n"
                "a,x,H100,8,llama3-8b,1,1.5,red\n"
                "b,x,H100,8,llama3-8b,3,1.5,blue\n"
                "c,x,abacus,8,llama3-8b,1,,green\n"
                "d,x,NVIDIA A100-SXM4-80GB,8,gpt2,1,,\n"
                "e,x,H100,8\n"
                "f,x,H100,8,gpt2,1,,,9\n"
                "g,x,H100,8,gpt2,1,-1.5,\n",
                file);
    (void)fclose(file);
    orr_train_options_init(&defaults);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        struct orr_train_table table = {.input = path, .defaults = &defaults, .threads = threads};
        rewind(out);
        CHECK_OK(orr_train_predict_table(&table, out, NULL, &sum, &err), &err);
        CHECK_U64(sum.rows, 7, "rows");
        CHECK_U64(sum.predicted, 3, "rows that can be");
        CHECK_U64(sum.measured, 1, "rows with a time");
    }
    (void)fflush(out);
    rewind(out);
    size_t length = fread(text, 1, sizeof text - 1, out);
    text[length] = '\0';
    (void)fclose(out);
    CHECK(strstr(text, "colour,predicted_step_s,predicted_memory_gb,fits,bound_by,exposed_comm_s,bubble_s,launch_s,"
                       "expected_error,error,status\n") != NULL,
          "%s", text);
    CHECK(strstr(text, "red,") != NULL && strstr(text, ",ok\n") != NULL, "%s", text);
    CHECK(strstr(text, "blue,,,,,,,,,,") != NULL, "%s", text);
    CHECK(strstr(text, "abacus") != NULL, "%s", text);
    CHECK(strstr(text, "e,x,H100,8,,,,,,,,,,,,,,\"") != NULL, "%s", text);
    CHECK(strstr(text, "runs.csv:6: 4 fields, where the header has 8") != NULL, "%s", text);
    CHECK(strstr(text, "runs.csv:7: 9 fields, where the header has 8") != NULL, "%s", text);
}

static struct orr_train_options nanotron(uint32_t gpus, uint32_t tp, uint32_t pp, uint32_t zero)
{
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:64", gpus);
    options.framework = "nanotron";
    options.plan.tp = tp, options.plan.pp = pp, options.plan.zero = zero;
    options.plan.sp = tp > 1, options.plan.seq = 4096, options.plan.global_batch = 256;
    options.plan.overlap = ORR_TRAIN_OVERLAP_DP | ORR_TRAIN_OVERLAP_TP;
    return options;
}

static void tensor_parallelism_beyond_a_server_waits_for_the_ranks_outside(void **state)
{
    (void)state;
    struct orr_train_options inside = nanotron(64, 8, 1, 0), outside = nanotron(64, 16, 1, 0);
    struct orr_train_result a = answered(&inside), b = answered(&outside);
    CHECK(b.exposed_tp_ns > 2 * a.exposed_tp_ns, "%g and %g ms", (double)a.exposed_tp_ns * 1e-6,
          (double)b.exposed_tp_ns * 1e-6);
}

static void a_sharded_optimizer_of_ddp_shows_what_whole_gradients_hide(void **state)
{
    (void)state;
    struct orr_train_options whole = nanotron(64, 8, 1, 0), shared = nanotron(64, 8, 1, 1);
    whole.plan.micro_batch = shared.plan.micro_batch = 8;
    struct orr_train_result a = answered(&whole), b = answered(&shared);
    CHECK(b.exposed_dp_ns > 2 * a.exposed_dp_ns, "%g and %g ms", (double)a.exposed_dp_ns * 1e-6,
          (double)b.exposed_dp_ns * 1e-6);
    CHECK(b.optimizer_ns < a.optimizer_ns, "each rank updates its share");
}

static void a_framework_that_sends_on_the_side_shows_no_sends(void **state)
{
    (void)state;
    struct orr_train_options options = nanotron(16, 1, 4, 0);
    CHECK_U64(answered(&options).exposed_pp_ns, 0, "nanotron");
    options.framework = "megatron";
    CHECK(answered(&options).exposed_pp_ns > 0, "Megatron-LM without overlap");
}

static void a_pipeline_over_servers_costs_the_host_more_for_each_tensor_parallel_rank(void **state)
{
    (void)state;
    struct orr_train_options one = nanotron(8, 4, 2, 0), many = nanotron(16, 4, 2, 0);
    many.plan.global_batch = 512; /* as many micro-batches */
    struct orr_train_result a = answered(&one), b = answered(&many);
    CHECK(b.launch_ns > 2 * a.launch_ns, "%g and %g ms", (double)a.launch_ns * 1e-6, (double)b.launch_ns * 1e-6);
}

static void power_and_price_follow_from_the_parts(void **state)
{
    (void)state;
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:2", 16);
    struct orr_train_result free_of_charge = answered(&options);
    options.gpu_hour = 3.6;
    struct orr_train_result paid = answered(&options);
    double seconds = (double)paid.step_ns * 1e-9;
    CHECK(free_of_charge.cost == 0 && free_of_charge.joules > 0, "no price, no cost");
    CHECK_NEAR(paid.cost, seconds * 16 * 3.6 / 3600, 1e-9);
    CHECK_NEAR(paid.joules, paid.watts * seconds * 16, 1e-9);
    CHECK(paid.watts > 0.18 * 700 && paid.watts < 0.98 * 700, "%g W of an H100 that may take 700", paid.watts);
    options.power_watts = 350;
    CHECK(answered(&options).watts < 350, "no more than it may take");
}

static void graphs_of_whole_steps_leave_the_host_nothing_to_launch(void **state)
{
    (void)state;
    struct orr_train_options options = asked("mixtral-8x7b", "dgx-h100:8", 64);
    options.plan.ep = 8;
    options.without_neighbours = true;
    struct orr_train_result launched = answered(&options);
    options.plan.cuda_graphs = true;
    struct orr_train_result graphs = answered(&options);
    CHECK(launched.launch_ns > 0 && graphs.launch_ns == 0, "%" PRIu64 " ns, with graphs %" PRIu64, launched.launch_ns,
          graphs.launch_ns);
    CHECK_U64(graphs.forward_ns, launched.forward_ns, "kernels are the same");
}

static void older_releases_take_longer_where_runs_show_it(void **state)
{
    (void)state;
    static const char *const releases[] = {"24.01", "25.11", "26.02.01", "26.04", "27.12", NULL};
    struct orr_train_options options = asked("llama3-70b", "dgx-h100:8", 64);
    options.plan.tp = 8;
    options.without_neighbours = true;
    uint64_t steps[COUNT_OF(releases)];
    for (size_t i = 0; i < COUNT_OF(releases); i++) {
        options.release = releases[i];
        steps[i] = answered(&options).step_ns;
    }
    CHECK_U64(steps[0], steps[1], "before the first that is known: as that");
    CHECK(steps[1] > steps[2] && steps[2] > steps[3], "%" PRIu64 ", %" PRIu64 ", %" PRIu64, steps[1], steps[2],
          steps[3]);
    CHECK_U64(steps[4], steps[3], "after the last that is known: as that");
    CHECK_U64(steps[5], steps[3], "not said: the newest");
    static const char *const wrong[] = {"", "new", "26.", "26.04-rc1", "1.2.3.4", "26..4"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct orr_train_result result;
        options.release = wrong[i];
        CHECK(orr_train_step(&options, &result, &err) == ORR_EINVAL, "\"%s\"", wrong[i]);
    }
}

/* Seconds that a table of one row predicts, which stand behind `columns` others. */
static double table_seconds(const char *head, const char *row, int columns)
{
    const char *path = folder_path("row.csv");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    (void)fprintf(file, "%s\n%s\n", head, row);
    (void)fclose(file);
    struct orr_train_options defaults;
    struct orr_train_table table = {.input = path, .defaults = &defaults, .threads = 1};
    struct orr_train_table_result sum;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK(stream != NULL, "no memory");
    orr_train_options_init(&defaults);
    defaults.without_neighbours = true;
    CHECK_OK(orr_train_predict_table(&table, stream, NULL, &sum, &err), &err);
    (void)fclose(stream);
    const char *status = strrchr(text, ',');
    double seconds = -1;
    if (sum.predicted == 1) {
        const char *at = strchr(text, '\n') + 1;
        bool quoted = false;
        for (; columns > 0; at++) {
            quoted = *at == '"' ? !quoted : quoted;
            columns -= *at == ',' && !quoted;
        }
        seconds = strtod(at, NULL);
    } else {
        (void)snprintf(err.text, sizeof err.text, "%s", status);
    }
    free(text);
    return seconds;
}

/* What NVIDIA's recipes say in words, and in columns. */
static void notes_of_a_table_say_what_its_columns_would(void **state)
{
    (void)state;
    static const char head[] = "model,gpu,gpus,ep,framework,notes,cuda_graphs,overlap_ep,release";
    static const char *const rows[] = {
        "mixtral-8x7b,h100,64,8,megatron,NeMo 26.08 | cuda_graph_impl=full_iteration;moe_a2a_overlap=True,,,",
        "mixtral-8x7b,h100,64,8,megatron,,1,1,26.08", "mixtral-8x7b,h100,64,8,megatron,,,,",
        "mixtral-8x7b,h100,64,8,megatron,moe_a2a_overlap=True,,,",
        "mixtral-8x7b,h100,64,8,megatron,NeMo 25.; NeMo 1.2.3.4 and whatever people write,,,"};
    double steps[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        steps[i] = table_seconds(head, rows[i], 9);
    }
    CHECK(steps[0] > 0 && steps[0] == steps[1], "%g s by notes, %g by columns", steps[0], steps[1]);
    CHECK(steps[0] < steps[2], "%g s, without any of it %g", steps[0], steps[2]);
    CHECK(steps[2] == steps[4], "what is no release in a note is none: %g and %g s", steps[2], steps[4]);
    CHECK(steps[2] == steps[3], "all-to-alls hide in graphs alone: %g and %g s", steps[2], steps[3]);
}

static void groups_that_divide_weights_hold_as_many_times_less_of_them(void **state)
{
    (void)state;
    struct orr_train_options options;
    struct orr_train_result inside, four;
    orr_train_options_init(&options);
    options.model = "llama3-8b", options.machine = "dgx-h100:4", options.framework = "fsdp";
    options.plan.sharding = ORR_TRAIN_SHARDING_HYBRID;
    CHECK_OK(orr_train_step(&options, &inside, &err), &err);
    CHECK_U64(inside.plan.fsdp_group, 8, "a server's");
    options.plan.fsdp_group = 4;
    CHECK_OK(orr_train_step(&options, &four, &err), &err);
    CHECK_U64(four.memory.weights, 2 * inside.memory.weights, "weights of groups half as large");
    options.plan.fsdp_group = 5;
    CHECK_STATUS(orr_train_step(&options, &four, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text,
                   "parameter 'fsdp-group': 5 does not divide the data-parallel ranks, dp x cp = 32; the nearest "
                   "that do are 4 and 8");
}

/* Policies of MaxText that keep the projections alone: its tables call them selective. */
static void a_policy_that_keeps_projections_alone_runs_all_else_again(void **state)
{
    (void)state;
    static const char head[] = "model,gpu,gpus,framework,recompute,notes";
    static const char *const rows[] = {"llama2-70b,tpu-v6e,256,maxtext,selective,remat qkv_proj_offloaded",
                                       "llama2-70b,tpu-v6e,256,maxtext,full,",
                                       "llama2-70b,tpu-v6e,256,maxtext,selective,remat minimal"};
    double steps[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        steps[i] = table_seconds(head, rows[i], 6);
    }
    CHECK(steps[0] > 0 && steps[0] == steps[1], "%g s by notes, %g in full", steps[0], steps[1]);
    CHECK(steps[2] < 0.9 * steps[0], "%g s where products are kept", steps[2]);
}

/* As collect/bench_steps.py writes them: the shape is an object in one column. */
static void a_step_with_its_shape_in_one_column_is_that_of_many_columns(void **state)
{
    (void)state;
    static const char head[] = "gpu,kind,config,dtype,compile,recompute,optimizer";
    static const char columns[] = "gpu,model,family,layers,hidden,ffn,heads,kv_heads,vocab,seq,experts,topk,expert_ffn,"
                                  "image,patch,gated,tied,micro_batch,global_batch,dtype,compile,recompute,optimizer";
    static const struct {
        const char *step, *same;
    } rows[] = {
        {"h200,gpt,\"{\"\"layers\"\": 24, \"\"hidden\"\": 1024, \"\"ffn\"\": 4096, \"\"heads\"\": 16, \"\"vocab\"\": "
         "50304, "
         "\"\"seq\"\": 1024, \"\"mbs\"\": 8, \"\"experts\"\": 0}\",bf16,0,0,adamw",
         "h200,,gpt,24,1024,4096,16,,50304,1024,,,,,,0,0,8,8,bf16,0,none,adamw"},
        {"h200,moe,\"{\"\"layers\"\": 8, \"\"hidden\"\": 2048, \"\"ffn\"\": 5632, \"\"heads\"\": 16, \"\"kv_heads\"\": "
         "16, "
         "\"\"vocab\"\": 32000, \"\"seq\"\": 4096, \"\"mbs\"\": 2, \"\"experts\"\": 8, \"\"topk\"\": "
         "2}\",bf16,1,1,adamw",
         "h200,,llama,8,2048,,16,16,32000,4096,8,2,5632,,,1,0,2,2,bf16,1,full,adamw"},
        {"h200,cnn,\"{\"\"net\"\": \"\"resnet50\"\", \"\"layers\"\": [3, 4, 6, 3], \"\"image\"\": 224, \"\"mbs\"\": "
         "128}\",bf16,0,0,sgd",
         "h200,resnet50,,,,,,,,,,,,224,,,,128,128,bf16,0,none,sgd"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double step = table_seconds(head, rows[i].step, 7), same = table_seconds(columns, rows[i].same, 23);
        CHECK(step > 0 && step == same, "row %zu: %g and %g s", i, step, same);
    }
    CHECK(table_seconds(head, "h200,gpt,\"{layers\",bf16,0,0,adamw", 7) < 0, "no JSON");
    CHECK(table_seconds(head, "h200,cnn,\"{\"\"net\"\": \"\"lenet\"\"}\",bf16,0,0,sgd", 7) < 0, "no such network");
}

/* One machine more than there is room for at once: the first ones are forgotten, and asked again give the same. */
/* By what is told of them: the bytes between fields are anybody's. */
static void check_same(const struct orr_train_result *one, const struct orr_train_result *other, const char *why)
{
    char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        FILE *stream = open_memstream(&text[i], &size);
        CHECK_OK(orr_train_json(i == 0 ? one : other, stream, &err), &err);
        (void)fclose(stream);
    }
    CHECK(strcmp(text[0], text[1]) == 0, "%s: %s and %s", why, text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

static void a_trainer_answers_as_a_step_by_itself_does_however_often_it_is_asked(void **state)
{
    (void)state;
    struct orr_trainer *trainer = NULL;
    struct orr_train_result result, first = {0};
    char machine[64];
    CHECK_OK(orr_trainer_open(&trainer, &err), &err);
    for (unsigned i = 0; i <= 300; i++) {
        (void)snprintf(machine, sizeof machine, "dgx-h100:4 > rail:%uGbps", 100 + i % 300);
        struct orr_train_options options = asked("llama3-8b", machine, 32);
        CHECK_OK(orr_trainer_step(trainer, &options, &result, &err), &err);
        if (i == 0) {
            first = result;
            struct orr_train_result alone = answered(&options);
            check_same(&first, &alone, "asked alone");
        }
    }
    check_same(&first, &result, "asked again");
    struct orr_train_options unknown = asked("llama3-8b", "dgx-h100:4", 33);
    CHECK(orr_trainer_step(trainer, &unknown, &result, &err) == ORR_EINVAL, "32 GPUs are there");
    check_same(&first, &result, "a result is written on success only");
    orr_trainer_close(trainer);
}

static bool stop_at_once(void *context, const struct orr_progress *now)
{
    (void)now;
    ++*(unsigned *)context;
    return false;
}

static void a_simulated_step_can_be_stopped(void **state)
{
    (void)state;
    struct orr_train_options options = asked("llama3-8b", "dgx-h100:2", 16);
    struct orr_train_result result;
    unsigned calls = 0;
    options.simulates = true;
    options.backend = ORR_BACKEND_PACKET;
    options.progress = stop_at_once;
    options.progress_context = &calls;
    CHECK(orr_train_step(&options, &result, &err) == ORR_EINTR, "%s", err.text);
    CHECK(calls > 0, "it was asked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_a_step_add_up_to_it),
        cmocka_unit_test(one_model_by_three_names_gives_one_answer),
        cmocka_unit_test(options_say_all_that_a_preset_says),
        cmocka_unit_test(what_cannot_be_divided_is_refused_with_the_rule),
        cmocka_unit_test(rules_of_experts_and_schedules_name_the_nearest_values),
        cmocka_unit_test(an_interleaved_schedule_has_chunks_to_interleave),
        cmocka_unit_test(what_is_not_there_is_named),
        cmocka_unit_test(more_of_the_same_takes_longer),
        cmocka_unit_test(sharding_takes_memory_off_a_gpu),
        cmocka_unit_test(less_power_takes_longer),
        cmocka_unit_test(latent_attention_without_ranks_has_deepseeks),
        cmocka_unit_test(a_machine_says_how_many_gpus_there_are),
        cmocka_unit_test(a_slower_network_shows),
        cmocka_unit_test(heads_of_odd_width_take_longer),
        cmocka_unit_test(a_table_goes_on_past_rows_that_cannot_be),
        cmocka_unit_test(power_and_price_follow_from_the_parts),
        cmocka_unit_test(graphs_of_whole_steps_leave_the_host_nothing_to_launch),
        cmocka_unit_test(older_releases_take_longer_where_runs_show_it),
        cmocka_unit_test(notes_of_a_table_say_what_its_columns_would),
        cmocka_unit_test(a_policy_that_keeps_projections_alone_runs_all_else_again),
        cmocka_unit_test(groups_that_divide_weights_hold_as_many_times_less_of_them),
        cmocka_unit_test(a_step_with_its_shape_in_one_column_is_that_of_many_columns),
        cmocka_unit_test(a_trainer_answers_as_a_step_by_itself_does_however_often_it_is_asked),
        cmocka_unit_test(a_simulated_step_can_be_stopped),
        cmocka_unit_test(tensor_parallelism_beyond_a_server_waits_for_the_ranks_outside),
        cmocka_unit_test(a_sharded_optimizer_of_ddp_shows_what_whole_gradients_hide),
        cmocka_unit_test(a_framework_that_sends_on_the_side_shows_no_sends),
        cmocka_unit_test(a_pipeline_over_servers_costs_the_host_more_for_each_tensor_parallel_rank),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
