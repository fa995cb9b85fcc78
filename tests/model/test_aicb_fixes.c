/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each counting error of AICB and its correction, one line a fix: everything as AICB has it but for that one flag. The
 * numbers are worked out by hand from small shapes; the arithmetic is beside them.
 */
#include <unistd.h>

#include "tests/folder.h"
#include "tests/model/aicb_maker.h"

/* h 8, 2 layers of 2 heads, vocabulary 256 (padded already for TP 2), 4 tokens: T = 2 * 4 * 8 = 64 bytes. */
#define SMALL "--hidden_size 8 --num_layers 2 --num_attention_heads 2 --vocab_size 256 --seq_length 4 "
#define TP2   "--world_size 4 --tensor_model_parallel_size 2 --global_batch 2 "
#define SP    "--enable_sequence_parallel "
#define MOE   SP "--moe_enable --num_experts 4 --moe_router_topk 2 "
#define MLA                                                                                                            \
    "--frame DeepSeek --moe_enable --num_experts 4 --moe_router_topk 2 --ffn_hidden_size 16 --n_dense_layers 1 "       \
    "--n_shared_expert 2 --q_lora_rank 4 --kv_lora_rank 6 --qk_rope_dim 2 --qk_nope_dim 4 --v_head_dim 4 " SP
#define TIMES "--aiob_enable --comp_filepath times.txt "

/* Attention 100 ns of which 40 in its kernel, mlp 60, embedding 7, output layer 33, gradients 5 and 9. */
static const char times[] = "train_iter:1\n"
                            "Emb:\n    time_gpu_avg: 0.007\n"
                            "atten_qkv:\n    time_gpu_avg: 0.06\n"
                            "atten_flash:\n    time_gpu_avg: 0.04\n"
                            "mlp_linear:\n    time_gpu_avg: 0.06\n"
                            "logit_time:\n    time_gpu_avg: 0.033\n"
                            "param_time:\n    time_gpu_min: 0.005\n    time_gpu_avg: 0.009\n";
/* Those of DeepSeek's attention layers. */
static const char mla_times[] = "train_iter:1\n"
                                "Emb:\n    time_gpu_avg: 0.007\n"
                                "attention_q_column:\n    time_gpu_avg: 0.05\n"
                                "mlp_linear:\n    time_gpu_avg: 0.06\n";
static const char served_times[] = "inference_term:decode\n"
                                   "atten_qkv:\n    time_gpu_avg: 0.06\n"
                                   "moe_route:\n    time_gpu_avg: 0.011\n";

#define FIX(name) offsetof(struct aicb_fixes, name), #name

static const struct {
    size_t offset;
    const char *name;
    enum aicb_generator generator;
    const char *options;
    const char *aicb;  /* part of the text without the fix; NULL: refused */
    const char *fixed; /* with it; NULL: refused */
} cases[] = {
    /* Layer: 8*24 + 8*8 + norm 16 + 8*32 + 32*8 = 784; output 8*256 = 2048. Embedding 4*256*8 + 4*8 = 8224, right
     * 256*8 + 64*8 = 2560. Sums 11840 and 6176; fp16 2 bytes, fp32 4. */
    {FIX(embedding_count), AICB_TRAINING, SMALL SP "--max_position_embeddings 64",
     "grad_norm\t-1\t1\tALLGATHER\t23680\t1\tNONE\t0\t1\tREDUCESCATTER\t47360\t100\n",
     "grad_norm\t-1\t1\tALLGATHER\t12352\t1\tNONE\t0\t1\tREDUCESCATTER\t24704\t100\n"},
    /* mlp_column 8*2*32: 256 more a layer, 512 in all: 2*(11840 + 512). */
    {FIX(gated_mlp), AICB_TRAINING, SMALL SP "--swiglu --ffn_hidden_size 32", "\tALLGATHER\t23680\t",
     "\tALLGATHER\t24704\t"},
    /* One key and value head of 4 values: the column is 8*4*(2+2) = 128 instead of 192. 2*(11840 - 2*64). */
    {FIX(attention_shape), AICB_TRAINING, SMALL SP "--num_query_groups 1", "\tALLGATHER\t23680\t",
     "\tALLGATHER\t23424\t"},
    /* A second norm of 16 a layer, and one at the end: 2*(11840 + 48). */
    {FIX(norm_count), AICB_TRAINING, SMALL SP, "\tALLGATHER\t23680\t", "\tALLGATHER\t23776\t"},
    /* Keys, values and output 8*8 + 12 + 6*16 + 8*8, norm 16: 252 a layer; dense MLP 256, shared expert 256; with 8224
     * and 2048 it is 11288. Two queries of 4+2 values: 8*12 = 96 more a layer. */
    {FIX(query_projection), AICB_TRAINING, SMALL MLA TIMES "--q_lora_rank 0", "\tALLGATHER\t22576\t",
     "\tALLGATHER\t22960\t"},
    /* One MLP of two experts' width, 2*8*32 = 512, and 3*8*64 = 1536 of experts: counted with them 1792 before. */
    {FIX(shared_experts), AICB_TRAINING, SMALL MLA TIMES "--world_size 2", "ALLGATHER_DP_EP\t3584\t",
     "ALLGATHER_DP_EP\t3072\t"},
    /* Experts of width 12: 3*8*48 + 2*8*12 = 1344, not 1792. */
    {FIX(expert_width), AICB_TRAINING, SMALL MLA TIMES "--world_size 2 --moe_ffn_hidden_size 12",
     "ALLGATHER_DP_EP\t3584\t", "ALLGATHER_DP_EP\t2688\t"},
    {FIX(stage_layers), AICB_TRAINING, SMALL "--num_layers 5 --world_size 2 --pipeline_model_parallel 2", " vpp: 2 ",
     " vpp: 3 "},
    {FIX(context_parallel), AICB_TRAINING, SMALL "--world_size 2 --context-parallel-size 2 --global_batch 2",
     "ALLREDUCE\t64\t", "ALLREDUCE\t32\t"},
    {FIX(whole_batches), AICB_TRAINING, SMALL "--world_size 2 --global_batch 3", " ga: 1 ", NULL},
    {FIX(pp_comm_whole), AICB_TRAINING, SMALL SP TP2 "--pipeline_model_parallel 2 --global_batch 1", "pp_comm: 32.0\n",
     "pp_comm: 32\n"},
    /* 256*8 values of 2 bytes each micro-batch; with a pipeline the rank's half of them, once. */
    {FIX(tied_embeddings), AICB_TRAINING, SMALL SP TP2 "--pipeline_model_parallel 2 --global_batch 1",
     "embedding_norm\t-1\t1\tALLREDUCE\t4096\t", "embedding_norm\t-1\t1\tALLREDUCE\t2048\t"},
    {FIX(one_row_set), AICB_TRAINING, SMALL SP TP2 "--recompute_activations",
     "attention_column\t-1\t1\tALLGATHER\t128\t1\tNONE\t0\t1\tNONE\t0\t100\n",
     "attention_column\t-1\t1\tALLGATHER\t64\t1\tREDUCESCATTER\t0\t1\tNONE\t0\t100\n"},
    {FIX(final_layer), AICB_TRAINING, SMALL SP TP2 TIMES, "final_column\t-1\t50\t", "final_column\t-1\t16\t"},
    {FIX(backward_exchange), AICB_TRAINING, SMALL SP TP2 TIMES,
     "mlp_column\t-1\t30\tALLGATHER\t64\t30\tREDUCESCATTER\t0\t30\t",
     "mlp_column\t-1\t30\tALLGATHER\t64\t30\tREDUCESCATTER\t64\t30\t"},
    {FIX(embedding_exchange), AICB_TRAINING, SMALL SP TP2 TIMES, "embedding_layer\t-1\t7\tALLREDUCE\t64\t1\tNONE\t0\t",
     "embedding_layer\t-1\t7\tREDUCESCATTER\t64\t1\tALLGATHER\t64\t"},
    /* 4 compressed values of 4 tokens instead of 8. */
    {FIX(latent_exchange), AICB_TRAINING, SMALL MLA TP2 TIMES, "attention_q_column\t-1\t0\tALLGATHER\t64\t",
     "attention_q_column\t-1\t0\tALLGATHER\t32\t"},
    {FIX(embedding_backward), AICB_TRAINING, SMALL SP TP2 TIMES,
     "embedding_layer\t-1\t7\tALLREDUCE\t64\t1\tNONE\t0\t9\tNONE\t0\t100\n",
     "embedding_layer\t-1\t7\tALLREDUCE\t64\t1\tNONE\t0\t7\tNONE\t0\t100\n"},
    {FIX(layer_times), AICB_TRAINING, SMALL MLA "--aiob_enable --comp_filepath mla.txt",
     "attention_q_column\t-1\t25\tNONE\t0\t25\t", "attention_q_column\t-1\t50\tNONE\t0\t50\t"},
    /* AICB: kernel twice in the sum, 140, then forward twice, then half. Right: 100/2; backward (100 + 40)/2. */
    {FIX(recompute), AICB_TRAINING, SMALL SP TIMES "--recompute_activations",
     "attention_row\t-1\t140\tNONE\t0\t70\tNONE\t0\t70\t", "attention_row\t-1\t50\tNONE\t0\t70\tNONE\t0\t50\t"},
    {FIX(expert_backward), AICB_TRAINING, SMALL MOE TIMES, "mlp_moelayer\t-1\t60\tNONE\t0\t60\tNONE\t0\t1\t",
     "mlp_moelayer\t-1\t60\tNONE\t0\t60\tNONE\t0\t60\t"},
    {FIX(expert_metadata), AICB_TRAINING,
     SMALL MOE TIMES "--world_size 4 --global_batch 4 --expert_model_parallel_size 4",
     "mlp_moelayer\t-1\t60\tALLGATHER\t32\t", "mlp_moelayer\t-1\t60\tALLGATHER_EP\t32\t"},
    {FIX(loss_rows), AICB_TRAINING, SMALL "--global_batch 2",
     "ga: 2 all_gpus: 1 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n21\n",
     "ga: 2 all_gpus: 1 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n24\n"},
    {FIX(lone_groups), AICB_TRAINING, SMALL TIMES, "cross_entropy1\t-1\t0\tALLREDUCE\t16\t",
     "cross_entropy1\t-1\t0\tNONE\t0\t"},
    /* Norms: 16 a layer, 4 bytes each. */
    {FIX(norm_gradients), AICB_TRAINING, SMALL SP TP2 TIMES,
     "grad_param_compute\t-1\t1\tNONE\t0\t14\tNONE\t0\t1\tNONE\t0\t100\nembedding_grads",
     "layernorm\t-1\t1\tNONE\t0\t1\tALLREDUCE\t128\t"},
    {FIX(router_count), AICB_TRAINING, SMALL MOE TIMES "--world_size 2 --global_batch 2",
     /* embedding 8224, two layers of 192 + 64 + 16, output 2048: 10816; routers 2*8*4 = 64 */
     "grad_gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t21632\t",
     "grad_gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t21760\t"},
    {FIX(expert_gradients), AICB_TRAINING, SMALL "--world_size 2", "moe_grad_norm1", "grad_norm"},
    {FIX(prefill_tokens), AICB_INFERENCE,
     "--model_name DeepSeek --config_file model.json --phase prefill --seq_length 4 --micro_batch 3 --world_size 2 "
     "--tensor_model_parallel_size 2",
     "attention_layer\t-1\t1\tALLREDUCE\t64\t", "attention_layer\t-1\t1\tALLREDUCE\t192\t"},
    {FIX(stage_rows), AICB_INFERENCE,
     "--model_name DeepSeek --config_file model.json --world_size 2 --pipeline_model_parallel 2", "pp_comm: 16\n10\n",
     "pp_comm: 16\n6\n"},
    {FIX(route_time), AICB_INFERENCE, "--model_name DeepSeek --config_file model.json --comp_filepath served.txt",
     "moe_route\t-1\t1\t", "moe_route\t-1\t11\t"},
};

static const struct {
    const char *name;
    const char *text;
} files[] = {{"times.txt", times},
             {"mla.txt", mla_times},
             {"served.txt", served_times},
             {"model.json", "{\"num_layers\": 3, \"dense_layer\": 1, \"hidden_size\": 8, \"shared_experts\": 1, "
                            "\"moe_router_topk\": 2}"}};

static int enter_folder(void **state)
{
    if (make_folder(state) != 0 || chdir(folder) != 0) {
        return -1;
    }
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        FILE *file = fopen(files[i].name, "w");
        if (file == NULL || fputs(files[i].text, file) < 0 || fclose(file) != 0) {
            return -1;
        }
    }
    return 0;
}

static int leave_folder(void **state)
{
    return chdir("..") != 0 ? -1 : remove_folder(state);
}

/* AICB's text has the one part, the fixed text the other and not the first. */
static void check_case(size_t i, bool on)
{
    struct aicb_fixes fix = aicb_fixes_all(false);
    struct aicb_made made;
    const char *want = on ? cases[i].fixed : cases[i].aicb;
    *(bool *)((char *)&fix + cases[i].offset) = on;
    aicb_make(cases[i].generator, false, &fix, cases[i].options, &made);
    CHECK((made.status == ORR_OK) == (want != NULL), "%s: %s", cases[i].name, made.err.text);
    if (want != NULL) {
        CHECK(strstr(made.text, want) != NULL, "%s: no \"%s\" in:\n%s", cases[i].name, want, made.text);
        CHECK(!on || strstr(made.text, cases[i].aicb) == NULL, "%s is still as AICB has it:\n%s", cases[i].name,
              made.text);
    }
    aicb_made_free(&made);
}

static void each_fix_changes_its_number_and_is_off_without_its_flag(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_case(i, false);
        check_case(i, true);
    }
}

static void every_fix_has_a_case(void **state)
{
    (void)state;
    static const char *const names[] = {
#define AICB_X(name, aicb, ours) #name,
        AICB_FIXES(AICB_X)
#undef AICB_X
    };
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        bool found = false;
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            found |= strcmp(cases[i].name, names[k]) == 0;
        }
        CHECK(found, "%s has no case", names[k]);
    }
}

/* DeepSeek without compute times crashes AICB. */
static void deepseek_needs_no_compute_file(void **state)
{
    (void)state;
    struct aicb_made made;
    aicb_make(AICB_TRAINING, false, NULL,
              "--model deepseek-v3 --world_size 8 --expert_model_parallel_size 8 "
              "--global_batch 8",
              &made);
    CHECK_OK(made.status, &made.err);
    CHECK_CONTAINS(made.text, "attention_linear_q_lora\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tNONE\t0\t100\n");
    aicb_made_free(&made);
    aicb_make(AICB_TRAINING, true, NULL, "--frame DeepSeek --enable_sequence_parallel --moe_enable", &made);
    CHECK_STATUS(made.status, ORR_EINVAL);
    CHECK_CONTAINS(made.err.text, "AICB crashes here");
    aicb_made_free(&made);
}

#define CP2 "--context-parallel-size 2 --global_batch 8 --seq_length 64 --micro_batch 2 --world_size 4 "

/* By hand: 2 micro-batches of 64 tokens, K and V of the rank's heads, 2 B a value. */
static void ranks_of_a_sequence_exchange_its_keys_and_values(void **state)
{
    static const struct {
        const char *options, *bytes;
    } shapes[] = {
        {CP2 "--hidden_size 128 --num_attention_heads 8", "65536"}, /* 2 x 8 heads of 16 */
        {CP2 "--hidden_size 128 --num_attention_heads 8 --num_query_groups 2 --tensor_model_parallel_size 2", "8192"},
        /* A key/value head for each TP rank, however few there are. */
        {CP2 "--hidden_size 128 --num_attention_heads 8 --num_query_groups 1 --tensor_model_parallel_size 2", "8192"},
        {CP2 "--hidden_size 128 --num_attention_heads 8 --num_query_groups 2 --tensor_model_parallel_size 2 "
             "--enable_sequence_parallel",
         "8192"},
        /* 8 heads of 4 + 2 for K and 3 for V. */
        {CP2
         "--frame DeepSeek --hidden_size 128 --num_attention_heads 8 --qk_nope_dim 4 --qk_rope_dim 2 --v_head_dim 3",
         "18432"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct aicb_made made;
        char rows[256];
        aicb_make(AICB_TRAINING, false, NULL, shapes[i].options, &made);
        CHECK_OK(made.status, &made.err);
        CHECK_U64(made.notes, 0, "notes");
        CHECK_CONTAINS(made.text, " ep: 1 cp: 2 pp: 1 ");
        (void)snprintf(rows, sizeof rows,
                       "attention_kv_exchange\t-1\t0\tALLGATHER_CP\t%s\t0\tREDUCESCATTER_CP\t%s\t0\tNONE\t0\t100\n"
                       "attention_kv_again\t-1\t0\tNONE\t0\t0\tALLGATHER_CP\t%s\t0\tNONE\t0\t100\nattention_",
                       shapes[i].bytes, shapes[i].bytes, shapes[i].bytes);
        CHECK_CONTAINS(made.text, rows);
        aicb_made_free(&made);
    }
}

static void aicb_has_no_context_parallelism_in_its_text(void **state)
{
    (void)state;
    struct aicb_made made;
    aicb_make(AICB_TRAINING, true, NULL, CP2 "--hidden_size 128 --num_attention_heads 8", &made);
    CHECK_OK(made.status, &made.err);
    CHECK(strstr(made.text, "cp:") == NULL && strstr(made.text, "_CP") == NULL, "as AICB writes it");
    aicb_made_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        each_fix_changes_its_number_and_is_off_without_its_flag, every_fix_has_a_case, deepseek_needs_no_compute_file,
        ranks_of_a_sequence_exchange_its_keys_and_values, aicb_has_no_context_parallelism_in_its_text)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
