/* SPDX-License-Identifier: Apache-2.0 */
/* Which pieces of a model the stages of a pipeline have. */
#include "tests/check.h"
#include "train/plan.h"

static struct orr_train_model shape(uint32_t layers, uint32_t hidden, uint32_t ffn, uint32_t vocab)
{
    return (struct orr_train_model){.family = ORR_TRAIN_LLAMA,
                                    .layers = layers,
                                    .hidden = hidden,
                                    .ffn = ffn,
                                    .heads = 32,
                                    .head_dim = hidden / 32,
                                    .vocab = vocab,
                                    .gated = true};
}

static void stages_have_every_layer_once_and_one_of_each_end(void **state)
{
    (void)state;
    static const uint32_t vocabularies[] = {1000, 131072, 2000000};
    for (size_t v = 0; v < COUNT_OF(vocabularies); v++) {
        for (uint32_t layers = 1; layers <= 40; layers++) {
            for (uint32_t pp = 1; pp <= 24; pp++) {
                struct orr_train_model model = shape(layers, 2048, 8192, vocabularies[v]);
                struct orr_train_plan plan = {.pp = pp, .vpp = 1};
                for (int by_cost = 0; by_cost <= 1; by_cost++) {
                    uint32_t next = 0, ends = 0;
                    for (uint32_t i = 0; i < pp; i++) {
                        struct plan_chunk has = plan_chunk_of(&model, &plan, by_cost != 0, i);
                        CHECK_U64(has.layers == 0 ? next : has.first, next, "%u layers, stage %u of %u", layers, i, pp);
                        next += has.layers;
                        ends += has.embedding + has.head * 10U + has.loss * 100U;
                    }
                    CHECK_U64(next, layers, "%u layers on %u stages", layers, pp);
                    CHECK_U64(ends, 111, "%u layers on %u stages", layers, pp);
                }
            }
        }
    }
}

/* The head of a small model weighs as much as four of its layers. */
static void stages_by_cost_count_the_head_as_the_layers_it_weighs(void **state)
{
    (void)state;
    struct orr_train_model model = shape(16, 2048, 8192, 131072);
    struct orr_train_plan plan = {.pp = 2, .vpp = 1};
    CHECK_U64(plan_chunk_of(&model, &plan, true, 0).layers, 11, "a stage is filled beyond its half of 20");
    CHECK_U64(plan_chunk_of(&model, &plan, true, 1).layers, 5, "and the head");
    plan.pp = 4;
    CHECK_U64(plan_chunk_of(&model, &plan, true, 3).layers, 0, "the head alone");
    CHECK(plan_chunk_of(&model, &plan, true, 3).head, "the head alone");
    plan.pp = 8;
    CHECK(plan_chunk_of(&model, &plan, true, 6).head && !plan_chunk_of(&model, &plan, true, 6).loss, "logits sent on");
    CHECK(plan_chunk_of(&model, &plan, true, 7).loss, "the loss alone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_have_every_layer_once_and_one_of_each_end),
        cmocka_unit_test(stages_by_cost_count_the_head_as_the_layers_it_weighs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
