/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What physical workloads say where AICB is put right: one fact a test, with numbers worked out by hand. The model is
 * small on purpose: hidden size 64, 4 heads, MLP of 256, 2 layers, a vocabulary of 512, sequences of 32 tokens.
 */
#include "tests/folder.h"
#include "tests/model/aicb_line.h"

#define SMALL                                                                                                          \
    "--hidden_size 64 --num_attention_heads 4 --num_layers 2 --ffn_hidden_size 256 --vocab_size 512 --seq_length 32 "  \
    "--max_position_embeddings 32 "

static char *made; /* the last file */

static const char *make(bool compat, const char *line)
{
    struct orr_error err = {0};
    char path[64];
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%s/made.csv", folder);
    CHECK_OK(aicb_line_write(ORR_AICB_PHYSICAL, compat, line, path, &err), &err);
    free(made);
    made = aicb_line_read(path, &size);
    CHECK(made != NULL, "a file for %s", line);
    return made;
}

static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        found++;
    }
    return found;
}

static void check_refused(const char *line, const char *reason)
{
    struct orr_error err = {0};
    char path[64];
    (void)snprintf(path, sizeof path, "%s/refused.csv", folder);
    CHECK_STATUS(aicb_line_write(ORR_AICB_PHYSICAL, false, line, path, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, reason);
    FILE *left = fopen(path, "r");
    CHECK(left == NULL, "nothing is written for %s", line);
}

/* Stage of 1 layer: attention 64*192 + 64*64, MLP 2*64*256, two normalisations of 128; the first stage also has the
 * embedding (512 + 32 positions) * 64. 4 bytes a gradient. */
static void a_step_of_a_pipeline_comes_once_with_the_parameters_of_its_stage(void **state)
{
    (void)state;
    const char *line = SMALL
        "--world_size 4 --pipeline_model_parallel 2 --global_batch 4 --workload_only --make_vocab_size_divisible_by 1";
    int64_t layer = 64 * 192 + 64 * 64 + 2 * 64 * 256 + 2 * 128;
    int64_t stage = layer + (512 + 32) * 64 + 128; /* and the last normalisation, which every stage counts */
    char want[120];
    const char *text = make(false, line);
    (void)snprintf(want, sizeof want, "CommType.all_reduce,CommGroup.dp_group,2,%" PRId64 ",step.finish_grad_sync,",
                   4 * stage);
    CHECK_CONTAINS(text, want);
    CHECK_U64(count(text, "step.finish_grad_sync"), 1, "one step");
    text = make(true, line);
    CHECK_U64(count(text, "step.finish_grad_sync"), 2, "two steps in AICB");
}

static void the_gradients_of_normalisations_are_reduced_with_sequence_parallelism(void **state)
{
    (void)state;
    const char *line = SMALL "--world_size 2 --tensor_model_parallel_size 2 --global_batch 1 ";
    /* Five normalisations of 2 * 64 parameters, 4 bytes each. */
    const char *text = make(false, SMALL "--world_size 2 --tensor_model_parallel_size 2 --global_batch 1 "
                                         "--enable_sequence_parallel");
    CHECK_CONTAINS(text, "CommGroup.tp_group,2,2560,step._allreduce_layernorm_grads,");
    text = make(false, line);
    CHECK_U64(count(text, "layernorm"), 0, "whole sequences: every rank has the same");
    text = make(true, line);
    CHECK_CONTAINS(text, "CommGroup.tp_group,2,0,step._allreduce_layernorm_grads,");
}

#define EXPERTS                                                                                                        \
    SMALL "--world_size 4 --tensor_model_parallel_size 2 --global_batch 2 --enable_sequence_parallel --moe_enable "    \
          "--num_experts 4 --moe_router_topk 2 --expert_model_parallel_size 2 "

static void experts_exchange_in_the_backward_pass_what_they_did_forwards(void **state)
{
    (void)state;
    const char *text = make(false, EXPERTS);
    /* 32 tokens * 2 experts * 64 values * 2 bytes = 8192; a TP rank sends half of it. */
    CHECK_U64(count(text, "all_to_all,CommGroup.ep_group,2,4096,forward.MoE.dispatch,"), 2, "a layer each");
    CHECK_U64(count(text, "all_to_all,CommGroup.ep_group,2,4096,backward.MoE.combine,"), 2, "the other way round");
    CHECK_U64(count(text, "all_gather,CommGroup.tp_group,2,8192,backward.MoE.unpermutation,"), 2, "what was scattered");
    CHECK_U64(count(text, "reduce_scatter,CommGroup.tp_group,2,8192,backward.MoE.permutation,"), 2,
              "what was gathered");
    CHECK_U64(count(make(true, EXPERTS), "backward.MoE"), 0, "AICB has none");
}

static void a_rank_computes_its_experts(void **state)
{
    (void)state;
    const char *text = make(false, EXPERTS "--computation_enable");
    /* 64 copies of tokens, experts of 256 / 2 values. */
    CHECK_U64(count(text, "((64 64) (64 128)),forward.MoE.mlp_experts,"), 2, "up");
    CHECK_U64(count(text, "((64 128) (128 64)),forward.MoE.mlp_experts,"), 2, "down");
    CHECK_U64(count(text, "backward.MoE.mlp_experts,"), 8, "four products a layer");
}

/* Experts: 2 on a rank, 2 matrices of 64 * 256 / 2 each, in 2 layers. DP 2, of which EP takes 2: one rank is left. */
static void gradients_of_experts_are_reduced_between_their_copies(void **state)
{
    (void)state;
    const char *text = make(false, SMALL "--world_size 8 --tensor_model_parallel_size 2 --global_batch 4 "
                                         "--enable_sequence_parallel --moe_enable --num_experts 4 --moe_router_topk 2 "
                                         "--expert_model_parallel_size 2");
    char want[120];
    (void)snprintf(want, sizeof want, "all_reduce,CommGroup.ep_dp_group,2,%d,step.finish_grad_sync,",
                   4 * 2 * 2 * (2 * 64 * 256 / 2));
    CHECK_CONTAINS(text, want);
}

static void the_output_layer_runs_before_the_loss(void **state)
{
    (void)state;
    const char *text = make(false, SMALL "--world_size 1 --global_batch 1 --computation_enable");
    const char *product = strstr(text, "((32 1 64) (64 512)),forward.MegatronColumnLinear.final_column,");
    CHECK(product != NULL, "logits of 512 words");
    CHECK(strstr(product, "backward.MegatronColumnLinear.final_column") != NULL, "and their gradients");
    CHECK_U64(count(make(true, SMALL "--world_size 1 --global_batch 1 --computation_enable"), "final"), 0, "AICB");
}

static void a_pipeline_is_seen_from_the_stage_that_is_asked_for(void **state)
{
    (void)state;
    const char *line = SMALL "--world_size 2 --pipeline_model_parallel 2 --global_batch 3 --workload_only ";
    const char *text = make(false, line);
    /* 2 bytes * 64 values * 32 tokens */
    CHECK_U64(count(text, "CommType.isend,CommGroup.pp_group,2,4096,forward_step,None,None,send_next,"), 3, "sends");
    CHECK_U64(count(text, "CommType.irecv,CommGroup.pp_group,2,4096,backward_step,None,None,recv_next,"), 3,
              "gets back");
    text = make(false, SMALL "--world_size 2 --pipeline_model_parallel 2 --global_batch 3 --pp_rank 1");
    CHECK_U64(count(text, "irecv,CommGroup.pp_group,2,4096,forward_step,None,None,recv_prev,"), 3, "the last stage");
    CHECK_U64(count(text, "isend,CommGroup.pp_group,2,4096,backward_step,None,None,send_prev,"), 3, "sends back");
    const char *receive = strstr(text, "recv_prev");
    CHECK(receive != NULL && strstr(receive, "recv_prev") < strstr(receive, "send_prev"), "after receiving");
    text = make(true, line);
    CHECK_CONTAINS(text, "irecv,CommGroup.pp_group,1,4096,forward_step,None,None,recv_next,");
}

static void a_gathered_sequence_has_its_length_and_not_more(void **state)
{
    (void)state;
    const char *line = SMALL "--world_size 2 --tensor_model_parallel_size 2 --global_batch 1 "
                             "--enable_sequence_parallel --computation_enable";
    CHECK_CONTAINS(make(false, line), "((32 1 64) (64 128)),forward.MegatronColumnLinear.mlp_column,");
    CHECK_CONTAINS(make(true, line), "((64 1 64) (64 128)),forward.MegatronColumnLinear.mlp_column,");
}

static void a_layer_runs_backwards_in_the_backward_pass(void **state)
{
    (void)state;
    const char *line = SMALL "--world_size 1 --global_batch 1 --computation_enable";
    const char *text = make(false, line);
    CHECK(strstr(text, "backward.MegatronRowLinear.mlp_row") < strstr(text, "backward.MegatronRowLinear.attention_row"),
          "the MLP comes first");
    text = make(true, line);
    CHECK(strstr(text, "backward.MegatronRowLinearattention_row") < strstr(text, "backward.MegatronRowLinearmlp_row"),
          "AICB: and no dot");
}

static void the_data_that_is_broadcast_are_tokens_and_labels(void **state)
{
    (void)state;
    const char *line = SMALL "--world_size 2 --tensor_model_parallel_size 2 --global_batch 1";
    CHECK_CONTAINS(make(false, line), "broadcast,CommGroup.tp_group,2,264,forward_step,None,0,"); /* 8 * 33 */
    CHECK_CONTAINS(make(true, line), "broadcast,CommGroup.tp_group,2,272,forward_step,None,0,");  /* 8 * (2 + 32) */
}

static void a_group_of_one_rank_has_no_collective(void **state)
{
    (void)state;
    const char *line = SMALL "--world_size 1 --global_batch 1";
    CHECK_U64(count(make(false, line), "CommGroup"), 0, "nobody to talk to");
    CHECK(count(make(true, line), "CommGroup") > 10, "AICB talks to itself");
}

static void deepseek_sends_whole_bytes_to_its_experts(void **state)
{
    (void)state;
    const char *line = "--frame DeepSeek --hidden_size 64 --num_attention_heads 4 --num_layers 1 --n_dense_layers 0 "
                       "--ffn_hidden_size 32 --vocab_size 512 --seq_length 32 --world_size 2 --global_batch 2 "
                       "--num_experts 4 --moe_router_topk 3 --expert_model_parallel_size 2 --q_lora_rank 16 "
                       "--kv_lora_rank 16 --qk_rope_dim 8 --qk_nope_dim 8 --v_head_dim 8 --computation_enable";
    /* 32 * 64 * 3 values, 2 bytes, 33/64 of them */
    const char *text = make(false, line);
    CHECK_CONTAINS(text, "all_to_all,CommGroup.ep_group,2,6336,forward.MoE.dispatch,");
    CHECK_CONTAINS(text, "((32 1 16) (16 64)),backward.Linear.attention_linear_q_lora,");
    text = make(true, line);
    CHECK_CONTAINS(text, "all_to_all,CommGroup.ep_group,None,6336.0,forward.MoE.dispatch,");
    CHECK_U64(count(text, "backward.Linear.attention_linear_q_lora,"), 1, "AICB: the weight's gradient alone");
}

#define ZERO SMALL "--frame DeepSpeed --world_size 2 --global_batch 4 "

static void zero_has_no_tensor_or_pipeline_parallelism(void **state)
{
    (void)state;
    check_refused(SMALL "--frame DeepSpeed --world_size 4 --global_batch 4 --pipeline_model_parallel 2", "ZeRO alone");
    check_refused(SMALL "--frame DeepSpeed --world_size 4 --global_batch 4 --tensor_model_parallel_size 2", "ZeRO");
}

static void mixed_precision_has_no_broadcast_in_any_stage_of_zero(void **state)
{
    (void)state;
    CHECK_U64(count(make(false, ZERO "--stage 1 --amp_enabled"), "CommType.broadcast"), 0, "stage 1");
    CHECK_U64(count(make(false, ZERO "--stage 3 --amp_enabled"), "CommType.broadcast"), 0, "stage 3");
    CHECK_CONTAINS(make(false, ZERO "--stage 1"), "CommType.barrier,CommGroup.all,2,0,init.__init__,");
    CHECK_CONTAINS(make(true, ZERO "--stage 1"), "CommType.barrier,CommGroup.all,2,65536,init.__init__,");
}

/* All parameters: 2 * 512 * 64 + 64 + 2 * (4 * 64 * 64 + 2 * 64 + 3 * 64 * 256). */
static void a_bucket_of_gradients_ends_with_its_micro_batch(void **state)
{
    (void)state;
    int64_t all = 2 * 512 * 64 + 64 + 2 * (4 * 64 * 64 + 2 * 64 + 3 * 64 * 256);
    char want[100];
    (void)snprintf(want, sizeof want, "all_reduce,CommGroup.dp_group,2,%" PRId64 ",backward.allreduce_bucket,",
                   2 * all);
    CHECK_U64(count(make(false, ZERO "--stage 1"), want), 2, "two micro-batches");
    (void)snprintf(want, sizeof want, "all_reduce,CommGroup.dp_group,2,%" PRId64 ",step.allreduce_bucket,", 4 * all);
    CHECK_U64(count(make(true, ZERO "--stage 1"), want), 1, "AICB: both at once");
    (void)snprintf(want, sizeof want, "reduce,CommGroup.dp_group,2,%" PRId64 ",backward.average_tensor,1,", all);
    CHECK_U64(count(make(false, ZERO "--stage 2 --contiguous_gradients"), want), 2, "a rank's half each");
}

static void products_of_zero_stand_where_the_parameter_is_used(void **state)
{
    (void)state;
    const char *text = make(false, ZERO "--stage 3 --computation_enable");
    /* 2 layers of 7 matrices and two of the vocabulary, twice. */
    CHECK_U64(count(text, "forward.computation,"), 2 * 16, "every matrix once a micro-batch");
    CHECK_U64(count(text, "backward.computation,"), 2 * 2 * 16, "and twice backwards");
    CHECK_CONTAINS(text, "((1 32 256) (256 64)),backward.computation,");
    CHECK(count(make(true, ZERO "--stage 3 --computation_enable"), "forward.computation,") != 2 * 16, "AICB");
}

static void a_sweep_doubles_its_size(void **state)
{
    (void)state;
    const char *text = make(false, "--frame collective_test --world_size 16 --test_comm all_gather --begin_size 1024 "
                                   "--end_size 4096 --iter_num 2");
    CHECK_U64(count(text, "CommType.all_gather,CommGroup.dp_group,16,1024,test_step,"), 2, "the first");
    CHECK_U64(count(text, "CommType.all_gather,CommGroup.dp_group,16,4096,test_step,"), 2, "the last");
    check_refused("--frame collective_test --world_size 16 --test_comm allreduce", "did you mean \"all_reduce\"?");
}

static void what_does_not_fit_is_refused_before_a_file_is_made(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_STATUS(aicb_line_write(ORR_AICB_PHYSICAL, false,
                                 "--frame collective_test --world_size 2 --iter_num 2000000000 --begin_size 1",
                                 "never.csv", &err),
                 ORR_ERANGE);
    CHECK_CONTAINS(err.text, "2^25 rows");
    check_refused(SMALL "--world_size 3 --tensor_model_parallel_size 3 --global_batch 1", "3");
}

/* One rank has no collective, so that no row would ever end them. */
static void micro_batches_without_a_row_are_bounded_too(void **state)
{
    static const char *const lines[] = {
        SMALL "--global_batch 1000000000000",
        SMALL "--global_batch 100000 --num_layers 1000000",
        SMALL "--frame DeepSpeed --global_batch 1000000000000",
        SMALL "--world_size 2 --pipeline_model_parallel 2 --num_layers 1000000 --global_batch 1000000",
        "--frame collective_test --iter_num 2000000000 --begin_size 1",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct orr_error err = {0};
        CHECK_STATUS(aicb_line_write(ORR_AICB_PHYSICAL, false, lines[i], "never.csv", &err), ORR_ERANGE);
        CHECK_CONTAINS(err.text, "2^25 rows");
    }
}

/* 3 layers on 4 stages: AICB has none on any, and 3 * 21 * 3 values of queries, keys and values do not divide. */
static void a_stage_without_layers_has_no_width_to_divide(void **state)
{
    (void)state;
    const char *text = make(true, "--hidden_size 64 --num_layers 3 --world_size 8 --tensor_model_parallel_size 2 "
                                  "--pipeline_model_parallel 4 --global_batch 1 --workload_only");
    CHECK_U64(count(text, "ColumnLinear"), 0, "no layer");
    CHECK_U64(count(text, "MegatronEmbedding"), 2, "a micro-batch");
}

static int end(void **state)
{
    free(made);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_a_pipeline_comes_once_with_the_parameters_of_its_stage),
        cmocka_unit_test(the_gradients_of_normalisations_are_reduced_with_sequence_parallelism),
        cmocka_unit_test(experts_exchange_in_the_backward_pass_what_they_did_forwards),
        cmocka_unit_test(a_rank_computes_its_experts),
        cmocka_unit_test(gradients_of_experts_are_reduced_between_their_copies),
        cmocka_unit_test(the_output_layer_runs_before_the_loss),
        cmocka_unit_test(a_pipeline_is_seen_from_the_stage_that_is_asked_for),
        cmocka_unit_test(a_gathered_sequence_has_its_length_and_not_more),
        cmocka_unit_test(a_layer_runs_backwards_in_the_backward_pass),
        cmocka_unit_test(the_data_that_is_broadcast_are_tokens_and_labels),
        cmocka_unit_test(a_group_of_one_rank_has_no_collective),
        cmocka_unit_test(deepseek_sends_whole_bytes_to_its_experts),
        cmocka_unit_test(zero_has_no_tensor_or_pipeline_parallelism),
        cmocka_unit_test(mixed_precision_has_no_broadcast_in_any_stage_of_zero),
        cmocka_unit_test(a_bucket_of_gradients_ends_with_its_micro_batch),
        cmocka_unit_test(products_of_zero_stand_where_the_parameter_is_used),
        cmocka_unit_test(a_sweep_doubles_its_size),
        cmocka_unit_test(what_does_not_fit_is_refused_before_a_file_is_made),
        cmocka_unit_test(micro_batches_without_a_row_are_bounded_too),
        cmocka_unit_test(a_stage_without_layers_has_no_width_to_divide),
    };
    return cmocka_run_group_tests(tests, make_folder, end);
}
