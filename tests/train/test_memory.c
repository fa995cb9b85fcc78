/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU holds, against what was measured, and what must hold whatever the numbers are. */
#include "tests/check.h"

static struct orr_error err;

static struct orr_train_result answered(const struct orr_train_options *options)
{
    struct orr_train_result result;
    CHECK_OK(orr_train_step(options, &result, &err), &err);
    return result;
}

static struct orr_train_options alone(const char *gpu, const char *framework)
{
    struct orr_train_options options;
    orr_train_options_init(&options);
    options.gpu = gpu;
    options.framework = framework;
    options.without_neighbours = true;
    return options;
}

/* Llama shapes of nanotron's sweep on H100s: 131,072 words, every head with keys of its own, 256 sequences of 4,096
 * tokens. Figures restated from the Ultra-Scale Playbook's chart of runs (Hugging Face, Apache-2.0). */
struct sweep {
    uint32_t layers, hidden, ffn, gpus, tp, pp, zero, micro_batch;
    double gb;
};

static struct orr_train_options swept(const struct sweep *run)
{
    struct orr_train_options options = alone("h100", "nanotron");
    options.shape = (struct orr_train_model){.family = ORR_TRAIN_LLAMA,
                                             .layers = run->layers,
                                             .hidden = run->hidden,
                                             .ffn = run->ffn,
                                             .heads = 32,
                                             .kv_heads = 32,
                                             .vocab = 131072};
    options.gated = 1;
    options.tied = run->hidden < 4096;
    options.plan = (struct orr_train_plan){.gpus = run->gpus,
                                           .tp = run->tp,
                                           .pp = run->pp,
                                           .sp = run->tp > 1,
                                           .zero = run->zero,
                                           .micro_batch = run->micro_batch,
                                           .global_batch = 256,
                                           .seq = 4096,
                                           .overlap = ORR_TRAIN_OVERLAP_DP | ORR_TRAIN_OVERLAP_TP};
    return options;
}

static void memory_of_the_sweep_is_within_a_tenth(void **state)
{
    (void)state;
    static const struct sweep runs[] = {
        {16, 2048, 8192, 32, 1, 1, 0, 1, 36.66},    {16, 2048, 8192, 32, 2, 1, 1, 1, 12.09},
        {28, 3072, 8192, 8, 1, 2, 0, 1, 59.66},     {28, 3072, 8192, 8, 1, 8, 0, 1, 32.66},
        {32, 4096, 14336, 128, 4, 1, 0, 2, 61.18},  {32, 4096, 14336, 128, 4, 1, 1, 2, 35.89},
        {32, 4096, 14336, 128, 16, 1, 1, 1, 8.55},  {32, 4096, 14336, 256, 8, 1, 1, 8, 48.73},
        {32, 4096, 14336, 128, 1, 16, 1, 1, 50.81}, {32, 4096, 14336, 256, 2, 8, 1, 1, 25.45},
    };
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct orr_train_options options = swept(&runs[i]);
        struct orr_train_result result = answered(&options);
        double off = (double)result.memory.total * 1e-9 / runs[i].gb - 1;
        CHECK(off > -0.1 && off < 0.1, "run %zu: %.2f GB, off by %+.1f %%", i, (double)result.memory.total * 1e-9,
              100 * off);
        CHECK(result.memory.fits, "run %zu ran", i);
    }
}

/* The same sweep's runs that failed, where weights and activations alone are more than a device has. */
static void what_failed_in_the_sweep_does_not_fit(void **state)
{
    (void)state;
    static const struct sweep runs[] = {{16, 2048, 8192, 32, 1, 1, 0, 8, 0},
                                        {32, 4096, 14336, 128, 8, 1, 0, 16, 0},
                                        {32, 4096, 14336, 32, 1, 4, 0, 2, 0},
                                        {28, 3072, 8192, 8, 8, 1, 0, 32, 0}};
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct orr_train_options options = swept(&runs[i]);
        struct orr_train_result result = answered(&options);
        CHECK(!result.memory.fits, "run %zu: %.2f GB", i, (double)result.memory.total * 1e-9);
    }
}

/* Measured by SimuMax's authors on eight B200 with Megatron-LM (MooreThreads/SimuMax, Apache-2.0): four layers of Llama
 * 3.1 405B with 16 heads of keys, twelve of Llama 3 70B. */
static void memory_of_megatron_is_within_a_twentieth(void **state)
{
    (void)state;
    static const struct {
        uint32_t layers, hidden, ffn, heads, kv_heads, tp, pp, cp, seq, batch;
        double gb;
    } runs[] = {
        {12, 8192, 28672, 64, 8, 2, 1, 1, 4096, 16, 65.15},  {12, 8192, 28672, 64, 8, 8, 1, 1, 4096, 4, 30.38},
        {12, 8192, 28672, 64, 8, 1, 2, 1, 4096, 128, 71.46}, {4, 16384, 53248, 128, 16, 1, 2, 1, 4096, 16, 93.50},
        {4, 16384, 53248, 128, 16, 8, 1, 1, 4096, 4, 41.41}, {12, 8192, 28672, 64, 8, 1, 1, 8, 32768, 4, 112.2}};
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct orr_train_options options = alone("b200", "megatron");
        options.shape = (struct orr_train_model){.family = ORR_TRAIN_LLAMA,
                                                 .layers = runs[i].layers,
                                                 .hidden = runs[i].hidden,
                                                 .ffn = runs[i].ffn,
                                                 .heads = runs[i].heads,
                                                 .kv_heads = runs[i].kv_heads,
                                                 .vocab = 128256};
        options.gated = 1;
        options.plan = (struct orr_train_plan){.gpus = 8,
                                               .tp = runs[i].tp,
                                               .pp = runs[i].pp,
                                               .cp = runs[i].cp,
                                               .sp = runs[i].tp > 1,
                                               .zero = 1,
                                               .micro_batch = 1,
                                               .global_batch = runs[i].batch,
                                               .seq = runs[i].seq};
        struct orr_train_result result = answered(&options);
        double off = (double)result.memory.total * 1e-9 / runs[i].gb - 1;
        CHECK(off > -0.05 && off < 0.05, "run %zu: %.2f GB, off by %+.1f %%", i, (double)result.memory.total * 1e-9,
              100 * off);
    }
}

static void what_an_allocator_holds_without_need_does_not_keep_a_job_from_fitting(void **state)
{
    (void)state;
    struct sweep run = {32, 4096, 14336, 256, 16, 1, 1, 8, 33.73};
    struct orr_train_options options = swept(&run);
    struct orr_train_result result = answered(&options);
    CHECK(result.memory.fragmentation > 0, "the host is ahead of collectives between servers");
    run.micro_batch = 16, run.zero = 0; /* with it this would be more than tensors can have */
    options = swept(&run);
    result = answered(&options);
    CHECK(result.memory.fits, "%.2f GB", (double)result.memory.total * 1e-9);
    CHECK(result.memory.total <= result.memory.device, "%.2f GB", (double)result.memory.total * 1e-9);
}

static void the_first_stage_of_a_pipeline_holds_a_micro_batch_for_each_stage(void **state)
{
    (void)state;
    struct sweep run = {32, 4096, 14336, 128, 1, 4, 1, 1, 0};
    struct orr_train_options options = swept(&run);
    uint64_t few = answered(&options).memory.activations;
    options.plan.global_batch = 32; /* one micro-batch, so that one is in flight */
    uint64_t one = answered(&options).memory.activations;
    CHECK(few > one, "%g and %g GB", (double)few * 1e-9, (double)one * 1e-9);
}

static void what_products_read_is_kept_in_the_bits_they_read(void **state)
{
    (void)state;
    struct orr_train_options options = alone("h100", "nemo");
    options.model = "llama3-8b";
    options.plan.gpus = 8, options.plan.tp = 2;
    struct orr_train_memory wide = answered(&options).memory;
    options.plan.dtype = ORR_TRAIN_DTYPE_FP8;
    struct orr_train_memory narrow = answered(&options).memory;
    CHECK(narrow.activations < wide.activations, "%g and %g GB", (double)narrow.activations * 1e-9,
          (double)wide.activations * 1e-9);
    CHECK(2 * narrow.activations > wide.activations, "only what products read is narrower");
}

static void a_policy_that_keeps_inputs_alone_holds_less_and_tensor_parallel_ranks_divide_them(void **state)
{
    (void)state;
    struct orr_train_options options = alone("h100", "maxtext");
    options.model = "llama3-8b";
    options.plan.gpus = 8, options.plan.tp = 1, options.plan.micro_batch = 1;
    uint64_t all = answered(&options).memory.activations;
    options.plan.recompute = ORR_TRAIN_RECOMPUTE_SELECTIVE;
    uint64_t inputs = answered(&options).memory.activations;
    CHECK(2 * inputs < all, "%g and %g GB", (double)inputs * 1e-9, (double)all * 1e-9);
    options.plan.tp = 8;
    CHECK(4 * answered(&options).memory.activations < inputs, "of eight, each an eighth");
}

static void numbers_beyond_all_sense_add_up(void **state)
{
    (void)state;
    struct orr_train_options options = alone("h100", "nanotron");
    options.model = "llama3-70b";
    options.plan.gpus = 8, options.plan.tp = 8, options.plan.micro_batch = 64;
    options.framework_set =
        "usable=1e9,state_bytes=1e9,logit_bytes=1e9,kept_states=1e9,queued_states=1e9,workspace=1e9";
    struct orr_train_memory most = answered(&options).memory;
    CHECK_U64(most.total,
              most.weights + most.gradients + most.optimizer + most.activations + most.buffers + most.fragmentation,
              "the kinds");
    CHECK(most.total > most.weights, "and no more than a count holds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_sweep_is_within_a_tenth),
        cmocka_unit_test(what_failed_in_the_sweep_does_not_fit),
        cmocka_unit_test(memory_of_megatron_is_within_a_twentieth),
        cmocka_unit_test(what_an_allocator_holds_without_need_does_not_keep_a_job_from_fitting),
        cmocka_unit_test(the_first_stage_of_a_pipeline_holds_a_micro_batch_for_each_stage),
        cmocka_unit_test(what_products_read_is_kept_in_the_bits_they_read),
        cmocka_unit_test(a_policy_that_keeps_inputs_alone_holds_less_and_tensor_parallel_ranks_divide_them),
        cmocka_unit_test(numbers_beyond_all_sense_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
