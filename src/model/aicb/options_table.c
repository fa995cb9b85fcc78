/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of AICB's options: two parsers upstream (training with the "physical" generators; inference with Vidur),
 * one table here, in which a mask says whose parser takes a row and whose file it changes (spec simai §13). Ranges are
 * ours: what AICB would crash on or loop over is refused where it is read.
 */
#include "model/aicb/options.h"

static const char *const frames[] = {"Megatron", "DeepSpeed", "collective_test", "DeepSeek", NULL};
static const char *const phases[] = {"decode", "prefill", NULL};
static const char *const routings[] = {"RoundRobin", "UniformRandom", NULL};
static const char *const time_sources[] = {"given", "model", NULL};
static const char *const norms[] = {"LayerNorm", "RMSNorm", NULL};
static const char *const positions[] = {"learned_absolute", "rope", NULL};

enum {
    T = AICB_TRAINING,
    M = AICB_MEGATRON,
    Z = AICB_ZERO,
    C = AICB_COLLECTIVE,
    I = AICB_INFERENCE,
    V = AICB_VIDUR,
    TRAIN = T | M | Z | C, /* one parser */
    INFER = I | V,         /* the other */
};

#define SMALL (INT64_C(1) << 31)
#define LARGE INT64_MAX

#define FIELD(field) .offset = offsetof(struct aicb_options, field)
#define INT(option, field, by, on, standard, low, high, words)                                                         \
    {                                                                                                                  \
        .name = (option), .kind = AICB_INT, .taken_by = (by), .affects = (on), FIELD(field), .fallback = (standard),   \
        .least = (low), .most = (high), .help = (words)                                                                \
    }
#define NONE(option, field, by, on, mine, words)                                                                       \
    {                                                                                                                  \
        .name = (option), .kind = AICB_INT, .taken_by = (by), .affects = (on), FIELD(field), .no_default = true,       \
        .ours = (mine), .least = 1, .most = SMALL, .help = (words)                                                     \
    }
#define FLAG(option, field, by, on, words)                                                                             \
    {                                                                                                                  \
        .name = (option), .kind = AICB_FLAG, .taken_by = (by), .affects = (on), FIELD(field), .help = (words)          \
    }
#define TEXT(option, field, by, on, standard, words)                                                                   \
    {                                                                                                                  \
        .name = (option), .kind = AICB_TEXT, .taken_by = (by), .affects = (on), FIELD(field), .text = (standard),      \
        .help = (words)                                                                                                \
    }
#define CHOICE(option, field, by, on, list, mine, words)                                                               \
    {                                                                                                                  \
        .name = (option), .kind = AICB_CHOICE, .taken_by = (by), .affects = (on), FIELD(field), .choices = (list),     \
        .ours = (mine), .help = (words)                                                                                \
    }

static const struct aicb_option rows[] = {
    {.name = "model",
     .kind = AICB_TEXT,
     .taken_by = TRAIN | INFER,
     .affects = TRAIN | INFER,
     .ours = true,
     FIELD(model),
     .help = "A preset's shape for every option not given: gpt-7b, llama-405b, deepseek-v3 and more (parameter "
             "'list-models')"},
    CHOICE("frame", frame, TRAIN, T | M | Z | C, frames, false, "Framework, and with it the model's layers"),
    TEXT("gpu_type", gpu_type, TRAIN, T, NULL, "Part of AICB's file name"),
    TEXT("model_name", model_name, TRAIN | INFER, TRAIN | INFER, NULL,
         "Part of AICB's file name; inference: the family (DeepSeek, Qwen3-Moe, Qwen3-Next)"),
    INT("world_size", world_size, TRAIN | INFER, TRAIN | INFER, 1, 1, SMALL, "Ranks of the job"),
    INT("tensor_model_parallel_size", tp, TRAIN | INFER, TRAIN | INFER, 1, 1, SMALL, "Degree of tensor parallelism"),
    INT("pipeline_model_parallel", pp, TRAIN | INFER, TRAIN | INFER, 1, 1, SMALL, "Pipeline stages"),
    INT("context-parallel-size", cp, TRAIN, T | M | Z, 1, 1, SMALL, "Degree of context parallelism; AICB ignores it"),
    INT("expert_model_parallel_size", ep, TRAIN | INFER, T | M | INFER, 1, 1, SMALL, "Degree of expert parallelism"),
    INT("pp_rank", pp_rank, TRAIN, M, -1, -1, SMALL, "Stage to write; matters where it is the last"),
    INT("global_batch", global_batch, TRAIN, T | M | Z, 4, 1, LARGE, "Sequences a step, over all ranks"),
    INT("micro_batch", micro_batch, TRAIN | INFER, T | M | Z | INFER, 1, 1, SMALL,
        "Sequences a micro-batch; inference: sequences at once"),
    INT("epoch_num", epoch_num, TRAIN, M | Z | C, 1, 0, SMALL, "Iterations"),
    FLAG("computation_enable", computation_enable, TRAIN, M | Z, "Compute rows too"),
    TEXT("dtype", dtype, TRAIN, TRAIN, "bfloat16",
         "Type of the weights: only checked against experts and grouped GEMM"),
    NONE("ffn_hidden_size", ffn_hidden_size, TRAIN, T | M | Z, false,
         "Width of the MLP. Default: 4 hidden_size; with parameter 'swiglu' two thirds of it, in steps of 64"),
    FLAG("enable_visual", enable_visual, TRAIN, 0, "An HTML page beside AICB's file; not made here"),
    FLAG("workload_only", workload_only, TRAIN, M, "Needed by AICB's Megatron CSV with a pipeline"),
    INT("hidden_size", hidden_size, TRAIN, T | M | Z, 1024, 1, SMALL, "Width of the model"),
    INT("num_layers", num_layers, TRAIN, T | M | Z, 24, 1, 1 << 20, "Transformer layers, over all stages"),
    INT("seq_length", seq_length, TRAIN, T | M | Z, 2048, 1, SMALL, "Tokens a sequence"),
    INT("seq_length", seq_length, INFER, INFER, 1, 1, SMALL, "Tokens a sequence"),
    NONE("num_attention_heads", num_attention_heads, TRAIN, T | M | Z, false, "Attention heads. Default: num_layers"),
    INT("vocab_size", vocab_size, TRAIN, T | M | Z, 32000, 1, SMALL, "Vocabulary before padding"),
    INT("max_position_embeddings", max_position_embeddings, TRAIN, T | M, 4096, 1, SMALL,
        "Rows of the learned position embedding; AICB counts seq_length"),
    FLAG("add_bias_linear", add_bias_linear, TRAIN, T | M, "Linear layers have a bias"),
    FLAG("use_flash_attn", use_flash_attn, TRAIN, T, "Part of AICB's file name"),
    FLAG("swiglu", swiglu, TRAIN, T | M | Z, "Gated MLP: three matrices instead of two; in AICB only ffn's default"),
    INT("stage", stage, TRAIN, Z, 3, 1, 3, "ZeRO stage"),
    FLAG("amp_enabled", amp_enabled, TRAIN, Z, "Automatic mixed precision"),
    INT("reduce_bucket_size", reduce_bucket_size, TRAIN, Z, 500000000, 1, LARGE, "Elements a gradient bucket"),
    INT("allgather_bucket_size", allgather_bucket_size, TRAIN, Z, 500000000, 1, LARGE, "Elements; ZeRO-1 and 2"),
    FLAG("contiguous_gradients", contiguous_gradients, TRAIN, Z, "ZeRO-2: reduce to each owner"),
    INT("param_persistence_threshold", param_persistence_threshold, TRAIN, Z, 100000, 0, LARGE,
        "Elements up to which a parameter stays; ZeRO-3"),
    INT("model_persistence_threshold", model_persistence_threshold, TRAIN, Z, INT64_MAX, 0, LARGE,
        "Elements of all such parameters; ZeRO-3"),
    INT("max_live_parameters", max_live_parameters, TRAIN, Z, 1000000000, 0, LARGE, "Elements; ZeRO-3"),
    INT("prefetch_bucket_size", prefetch_bucket_size, TRAIN, Z, 1000000000, 0, LARGE, "Elements; ZeRO-3"),
    FLAG("enable_sequence_parallel", enable_sequence_parallel, TRAIN, T | M, "Sequence parallelism in the TP group"),
    FLAG("use-distributed-optimizer", use_distributed_optimizer, TRAIN, M, "Distributed optimizer"),
    INT("make_vocab_size_divisible_by", make_vocab_size_divisible_by, TRAIN, T | M, 128, 1, SMALL,
        "The vocabulary is padded to a multiple of this times TP"),
    FLAG("overlap_grad_reduce", overlap_grad_reduce, TRAIN, 0, "No effect in AICB either"),
    INT("begin_size", begin_size, TRAIN, C, 1048576, 1, LARGE, "First size, bytes"),
    INT("end_size", end_size, TRAIN, C, 1048576, 0, LARGE, "Last size, bytes"),
    TEXT("test_comm", test_comm, TRAIN, C, "all_reduce", "Collective to test"),
    INT("iter_num", iter_num, TRAIN, C, 500, 0, SMALL, "Repetitions of a size"),
    INT("multi_all_reduce_enable", multi_all_reduce_enable, TRAIN, C, 0, -SMALL, SMALL, "Not 0: in the PP group"),
    FLAG("moe_enable", moe_enable, TRAIN, T | M, "Experts instead of the MLP (Megatron)"),
    {.name = "moe_enable",
     .kind = AICB_FLAG,
     .taken_by = INFER,
     FIELD(moe_enable),
     .fallback = 1,
     .help = "Always on, as in AICB"},
    INT("num_experts", num_experts, TRAIN, T | M, 1, 1, 1 << 20, "Experts a layer, over all ranks"),
    INT("moe_router_topk", moe_router_topk, TRAIN, T | M, 1, 1, 1 << 20, "Experts a token goes to"),
    FLAG("moe_grouped_gemm", moe_grouped_gemm, TRAIN, T, "Part of AICB's file name; needs bfloat16"),
    TEXT("activation_func", activation_func, TRAIN, 0, NULL, "No effect in AICB either"),
    FLAG("overlap_version", overlap_version, TRAIN, 0, "No effect in AICB either"),
    FLAG("aiob_enable", aiob_enable, TRAIN | INFER, T | M | Z,
         "Compute times from parameter 'comp_filepath'. AICB would else measure on a GPU"),
    TEXT("comp_filepath", comp_filepath, TRAIN | INFER, T | INFER, NULL, "File of compute times as AIOB writes it, us"),
    TEXT("gated_linear_unit", gated_linear_unit, TRAIN, 0, NULL, "Only for measuring on a GPU"),
    FLAG("bias_gelu_fusion", bias_gelu_fusion, TRAIN, 0, "Only for measuring on a GPU"),
    FLAG("openai_gelu", openai_gelu, TRAIN, 0, "Only for measuring on a GPU"),
    FLAG("onnx_safe", onnx_safe, TRAIN, 0, "Only for measuring on a GPU"),
    FLAG("squared_relu", squared_relu, TRAIN, 0, "Only for measuring on a GPU"),
    FLAG("recompute_activations", recompute_activations, TRAIN, T, "Selective recomputation of attention"),
    INT("n_dense_layers", n_dense_layers, TRAIN, T | M, 3, 0, 1 << 20, "DeepSeek: leading layers without experts"),
    INT("n_shared_expert", n_shared_expert, TRAIN, T | M, 2, 0, 1 << 20, "DeepSeek: experts every token goes to"),
    INT("qk_rope_dim", qk_rope_dim, TRAIN, T | M, 64, 0, SMALL, "DeepSeek: rotated values a head"),
    INT("qk_nope_dim", qk_nope_dim, TRAIN, T | M, 128, 1, SMALL, "DeepSeek: other query and key values a head"),
    INT("q_lora_rank", q_lora_rank, TRAIN, T | M, 1536, 0, SMALL, "DeepSeek: 0 is a query projection in one piece"),
    INT("kv_lora_rank", kv_lora_rank, TRAIN, T | M, 512, 1, SMALL, "DeepSeek: width of compressed keys and values"),
    INT("v_head_dim", v_head_dim, TRAIN, T | M, 128, 1, SMALL, "DeepSeek: values of V a head"),
    NONE("num_query_groups", num_query_groups, TRAIN, T | M | Z, true, "Key/value heads. Default: as many as heads"),
    NONE("kv_channels", kv_channels, TRAIN, T | M | Z, true,
         "Values a head. Default: hidden_size / num_attention_heads"),
    NONE("moe_ffn_hidden_size", moe_ffn_hidden_size, TRAIN, T | M, true,
         "Width of an expert. Default: ffn_hidden_size"),
    CHOICE("normalization", normalization, TRAIN, T | M, norms, true,
           "LayerNorm has a weight and a bias, RMSNorm a weight"),
    CHOICE("position_embedding_type", position_embedding_type, TRAIN, T | M, positions, true,
           "Only a learned position embedding has parameters"),
    {.name = "untie_embeddings_and_output_weights",
     .kind = AICB_FLAG,
     .taken_by = TRAIN,
     .affects = T | M,
     .ours = true,
     FIELD(untie_embeddings_and_output_weights),
     .help = "The output layer has weights of its own"},
    CHOICE("compute-times", compute_times, T | INFER, T | INFER, time_sources, true,
           "Where compute times come from. given: from parameter 'comp_filepath', else 1 ns a row; model: from the "
           "operator model, by each row's shapes on parameter 'device'"),
    {.name = "device",
     .kind = AICB_TEXT,
     .taken_by = T | INFER,
     .affects = T | INFER,
     .ours = true,
     FIELD(device),
     .help = "Whose compute times parameter 'compute-times' model takes: h100, mi300x and more (orrery op list). "
             "Default: gpu_type"},
    CHOICE("phase", phase, INFER, INFER, phases, false, "A token a sequence, or whole sequences"),
    TEXT("config_file", config_file, INFER, INFER, NULL, "JSON with the model's shape. Default: the family's preset"),
    TEXT("result_dir", result_dir, INFER, INFER, NULL, "Where AICB writes; here where -o is not given"),
    INT("aiob_forward_loops", aiob_forward_loops, INFER, 0, 1, 0, SMALL, "Only for measuring on a GPU"),
    CHOICE("moe_routing_strategy", moe_routing_strategy, I, 0, routings, false, "Only for measuring on a GPU"),
};

_Static_assert(sizeof rows / sizeof rows[0] <= AICB_OPTIONS_MAX, "aicb_options.given has room for every row");

const struct aicb_option *aicb_option_row(unsigned index)
{
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}
