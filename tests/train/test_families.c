/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of every family on one GPU and over data: what is computed, what is kept, and how near it is to what was
 * measured (data/h200-steps.csv). */
#include "tests/check.h"

#include <math.h>

static struct orr_error err;

static struct orr_train_options asked(const char *model, uint32_t batch)
{
    struct orr_train_options options;
    orr_train_options_init(&options);
    options.model = model;
    options.gpu = "h200";
    options.plan.micro_batch = batch;
    options.without_neighbours = true;
    return options;
}

static struct orr_train_result answered(const struct orr_train_options *options)
{
    struct orr_train_result result;
    CHECK_OK(orr_train_step(options, &result, &err), &err);
    return result;
}

static double seconds(const struct orr_train_options *options)
{
    return (double)answered(options).step_ns * 1e-9;
}

static void multiplications_of_well_known_networks_are_what_their_papers_say(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        double giga; /* multiplications and additions of one picture, forwards */
    } known[] = {{"resnet18", 1.814}, {"resnet34", 3.664},  {"resnet50", 4.089},
                 {"resnet101", 7.80}, {"resnet152", 11.51}, {"vgg16", 15.47},
                 {"vit-b16", 17.56},  {"resnet20", 0.0408}, {"resnet56", 0.1255}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        struct orr_train_options options = asked(known[i].model, 2);
        double giga = answered(&options).model_flops / 6 / 2 * 1e-9;
        CHECK(fabs(giga / known[i].giga - 1) < 0.01, "%s: %g", known[i].model, giga);
    }
}

static void weights_of_a_step_are_the_models_parameters(void **state)
{
    (void)state;
    static const char *const models[] = {"gpt2",      "llama3.2-1b", "bert-base", "vit-l16",  "t5-base",     "resnet50",
                                         "resnet110", "vgg16",       "mlp",       "resnet18", "mixtral-8x7b"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct orr_train_options options = asked(models[i], 1);
        struct orr_train_result r = answered(&options);
        double ratio = (double)r.memory.weights / 2 / (double)r.parameters.total;
        CHECK(fabs(ratio - 1) < 0.001, "%s: %g", models[i], ratio);
    }
}

static void every_family_takes_longer_for_more_samples_and_no_longer_compiled(void **state)
{
    (void)state;
    static const char *const models[] = {"gpt2",     "llama3.2-1b", "bert-base", "t5-small", "vit-b16", "resnet50",
                                         "resnet32", "vgg16",       "mlp",       "dlrm",     "resnet18"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        double before = 0;
        for (uint32_t batch = 4; batch <= 256; batch *= 4) {
            struct orr_train_options options = asked(models[i], batch);
            struct orr_train_result eager = answered(&options);
            options.plan.compile = true;
            struct orr_train_result compiled = answered(&options);
            CHECK((double)eager.step_ns >= 0.97 * before, /* products of few rows are known to 3 % */
                  "%s of %u", models[i], batch);
            CHECK(compiled.step_ns <= eager.step_ns + 5, /* each part is rounded */ "%s of %u", models[i], batch);
            CHECK(compiled.memory.total <= eager.memory.total + (UINT64_C(1) << 20), "%s of %u", models[i], batch);
            before = (double)eager.step_ns;
        }
    }
}

static void small_steps_are_bound_by_launches_and_large_ones_are_not(void **state)
{
    (void)state;
    struct orr_train_options options = asked("resnet152", 4);
    struct orr_train_result small = answered(&options);
    CHECK_TEXT(small.bound_by, "launch");
    options.plan.micro_batch = 256;
    struct orr_train_result large = answered(&options);
    CHECK_TEXT(large.bound_by, "compute");
    CHECK(large.launch_ns * 50 < large.step_ns, "%g", (double)large.launch_ns);
}

static void recompute_takes_longer_and_holds_less(void **state)
{
    (void)state;
    struct orr_train_options options = asked("llama3.2-1b", 2);
    struct orr_train_result all = answered(&options);
    options.plan.recompute = ORR_TRAIN_RECOMPUTE_FULL;
    struct orr_train_result again = answered(&options);
    double ratio = (double)again.step_ns / (double)all.step_ns;
    CHECK(ratio > 1.1 && ratio < 1.34, "%g", ratio);
    CHECK(again.memory.activations < all.memory.activations, "%g", (double)again.memory.activations);
}

static void sgd_holds_one_state_less_and_takes_less(void **state)
{
    (void)state;
    struct orr_train_options options = asked("resnet50", 8);
    struct orr_train_result adam = answered(&options);
    options.plan.optimizer = ORR_TRAIN_OPTIMIZER_SGD;
    struct orr_train_result sgd = answered(&options);
    CHECK(sgd.memory.optimizer * 2 == adam.memory.optimizer, "%g", (double)sgd.memory.optimizer);
    CHECK(sgd.optimizer_ns < adam.optimizer_ns, "%g", (double)sgd.optimizer_ns);
}

static void data_parallel_networks_sum_their_gradients_and_tables_exchange_rows(void **state)
{
    (void)state;
    struct orr_train_options options = asked("resnet50", 64);
    options.gpu = NULL;
    options.machine = "dgx-h100:2";
    options.plan.gpus = 16;
    struct orr_train_result r = answered(&options);
    CHECK(r.exposed_dp_ns > 0, "%g", (double)r.exposed_dp_ns);
    CHECK_TEXT(r.framework, "torch");
    options.model = "dlrm";
    options.plan.micro_batch = 4096;
    struct orr_train_result tables = answered(&options);
    CHECK(tables.exposed_ep_ns > 0, "%g", (double)tables.exposed_ep_ns);
    options.plan.gpus = 1;
    struct orr_train_result whole = answered(&options);
    CHECK(tables.memory.weights < whole.memory.weights / 10, "%g", (double)tables.memory.weights);
    CHECK(!whole.memory.fits || (double)whole.memory.total < 80e9, "%g", (double)whole.memory.total);
}

static void t5_has_attention_across_and_twice_the_layers(void **state)
{
    (void)state;
    struct orr_train_options t5 = asked("t5-base", 8), bert = asked("bert-base", 8);
    double ratio = answered(&t5).model_flops / answered(&bert).model_flops;
    CHECK(ratio > 2 && ratio < 3, "%g", ratio);
    t5.framework = "megatron";
    CHECK(seconds(&t5) > 0, "megatron");
}

static void attention_over_a_window_takes_less_and_in_half_of_the_layers_half_as_much_less(void **state)
{
    (void)state;
    static const uint32_t windows[][2] = {{0, 0}, {1024, 2}, {1024, 0}, {65536, 0}};
    double took[COUNT_OF(windows)];
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        struct orr_train_options options = asked("llama3.2-1b", 1);
        options.plan.seq = 32768;
        options.shape.window = windows[i][0], options.shape.window_every = windows[i][1];
        took[i] = seconds(&options);
    }
    CHECK(took[2] < 0.8 * took[0], "%g s over a window, %g over all tokens", took[2], took[0]);
    CHECK_NEAR(took[1], (took[0] + took[2]) / 2, 0.01);
    CHECK(took[3] == took[0], "a window of more than all: %g and %g s", took[3], took[0]);
}

static void a_network_is_known_by_its_depth_or_by_its_blocks(void **state)
{
    (void)state;
    struct orr_train_options named = asked("resnet50", 32), depth = asked(NULL, 32), blocks = asked("resnet50", 32);
    depth.shape.family = ORR_TRAIN_RESNET;
    depth.shape.layers = 50;
    blocks.shape.blocks[0] = 3, blocks.shape.blocks[1] = 4, blocks.shape.blocks[2] = 6, blocks.shape.blocks[3] = 3;
    CHECK_NEAR(seconds(&depth), seconds(&named), 1e-12);
    CHECK_NEAR(seconds(&blocks), seconds(&named), 1e-12);
    depth.shape.layers = 51;
    struct orr_train_result result;
    CHECK_STATUS(orr_train_step(&depth, &result, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no resnet of 51 layers is known");
}

/* Rows of data/h200-steps.csv. */
static void steps_measured_on_an_h200_are_met_within_a_sixth_and_their_memory_within_a_twentieth(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        enum orr_train_family family;
        uint32_t layers, hidden, ffn, heads, kv_heads, vocab, seq, batch, experts, topk;
        bool compile, again;
        double ms, gigabytes;
        enum orr_train_optimizer optimizer;
    } steps[] = {{NULL, ORR_TRAIN_GPT, 24, 2048, 8192, 16, 16, 50304, 2048, 4, 0, 0, false, false, 136.6, 26.496,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {NULL, ORR_TRAIN_GPT, 24, 1024, 4096, 16, 16, 50304, 1024, 16, 0, 0, false, true, 111.6, 13.271,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {NULL, ORR_TRAIN_LLAMA, 4, 4096, 14336, 32, 8, 128256, 8192, 1, 0, 0, false, false, 146.0, 29.860,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {NULL, ORR_TRAIN_LLAMA, 8, 4096, 11008, 32, 32, 32000, 4096, 2, 0, 0, true, false, 158.4, 20.911,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {NULL, ORR_TRAIN_LLAMA, 16, 2048, 8192, 32, 8, 128256, 32768, 1, 0, 0, false, true, 1316.5, 61.922,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {NULL, ORR_TRAIN_LLAMA, 6, 1024, 2048, 16, 4, 32000, 2048, 8, 32, 4, false, false, 68.1, 24.365,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {NULL, ORR_TRAIN_BERT, 24, 1024, 4096, 16, 16, 30522, 512, 32, 0, 0, false, false, 92.2, 21.249,
                  ORR_TRAIN_OPTIMIZER_ADAMW},
                 {"vit-b16", 0, 0, 0, 0, 0, 0, 0, 0, 256, 0, 0, false, false, 72.1, 16.140, ORR_TRAIN_OPTIMIZER_ADAMW},
                 {"resnet101", 0, 0, 0, 0, 0, 0, 0, 0, 128, 0, 0, false, false, 44.4, 8.607, ORR_TRAIN_OPTIMIZER_SGD},
                 {"vgg16", 0, 0, 0, 0, 0, 0, 0, 0, 128, 0, 0, false, false, 35.6, 6.438, ORR_TRAIN_OPTIMIZER_SGD}};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct orr_train_options options = asked(steps[i].model, steps[i].batch);
        struct orr_train_model *shape = &options.shape;
        if (steps[i].model == NULL) {
            shape->family = steps[i].family, shape->layers = steps[i].layers, shape->hidden = steps[i].hidden;
            shape->ffn = steps[i].ffn, shape->heads = steps[i].heads, shape->kv_heads = steps[i].kv_heads;
            shape->vocab = steps[i].vocab, shape->experts = steps[i].experts, shape->topk = steps[i].topk;
        }
        options.plan.seq = steps[i].seq, options.plan.compile = steps[i].compile;
        options.plan.recompute = steps[i].again ? ORR_TRAIN_RECOMPUTE_FULL : ORR_TRAIN_RECOMPUTE_NONE;
        options.plan.optimizer = steps[i].optimizer;
        struct orr_train_result r = answered(&options);
        double time = (double)r.step_ns * 1e-6 / steps[i].ms,
               memory = (double)r.memory.total * 1e-9 / steps[i].gigabytes;
        CHECK(fabs(time - 1) < 0.16, "step %zu: %g of what was measured", i, time);
        CHECK(fabs(memory - 1) < 0.05, "step %zu: %g of the memory measured", i, memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplications_of_well_known_networks_are_what_their_papers_say),
        cmocka_unit_test(weights_of_a_step_are_the_models_parameters),
        cmocka_unit_test(every_family_takes_longer_for_more_samples_and_no_longer_compiled),
        cmocka_unit_test(small_steps_are_bound_by_launches_and_large_ones_are_not),
        cmocka_unit_test(recompute_takes_longer_and_holds_less),
        cmocka_unit_test(sgd_holds_one_state_less_and_takes_less),
        cmocka_unit_test(data_parallel_networks_sum_their_gradients_and_tables_exchange_rows),
        cmocka_unit_test(t5_has_attention_across_and_twice_the_layers),
        cmocka_unit_test(attention_over_a_window_takes_less_and_in_half_of_the_layers_half_as_much_less),
        cmocka_unit_test(a_network_is_known_by_its_depth_or_by_its_blocks),
        cmocka_unit_test(steps_measured_on_an_h200_are_met_within_a_sixth_and_their_memory_within_a_twentieth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
