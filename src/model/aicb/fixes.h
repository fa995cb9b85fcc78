/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What AICB counts wrongly and is put right, one flag each: all are on by default and off under compat aicb. The
 * sentences say what AICB does and what happens instead; docs/differences.md and the tests go through the same list.
 */
#ifndef ORR_MODEL_AICB_FIXES_H
#define ORR_MODEL_AICB_FIXES_H

#include <stdbool.h>

/* name, what AICB does, what is done instead */
#define AICB_FIXES(X)                                                                                                  \
    /* parameters */                                                                                                   \
    X(embedding_count, "counts the word embedding four times and seq_length position embeddings",                      \
      "once, and max_position_embeddings where positions are learned")                                                 \
    X(gated_mlp, "counts two matrices a gated MLP (parameter 'swiglu', experts, DeepSeek's dense layers)", "three")    \
    X(attention_shape, "counts as many key and value heads as query heads",                                            \
      "parameter 'num_query_groups' and parameter 'kv_channels', where given")                                         \
    X(norm_count, "counts one normalisation a layer and none at the end; without sequence parallelism none",           \
      "two a layer, one at the end")                                                                                   \
    X(query_projection, "counts no query projection with q_lora_rank 0", "hidden_size x heads x head")                 \
    X(expert_width, "gives DeepSeek's dense layers the width of an expert",                                            \
      "parameter 'ffn_hidden_size' to dense layers, parameter 'moe_ffn_hidden_size' to experts")                       \
    X(shared_experts, "adds one shared MLP whatever n_shared_expert is, and counts it twice",                          \
      "one MLP of n_shared_expert times the width, counted once")                                                      \
    X(router_count, "does not count the router",                                                                       \
      "hidden_size x num_experts a layer, reduced with the dense gradients")                                           \
    X(tied_embeddings,                                                                                                 \
      "counts an output layer of its own, and reduces the unpadded embedding's gradient every "                        \
      "micro-batch (embedding_norm)",                                                                                  \
      "tied to the embedding unless parameter 'untie_embeddings_and_output_weights': then its padded shard is "        \
      "reduced once a "                                                                                                \
      "step, where there is a pipeline")                                                                               \
    /* degrees */                                                                                                      \
    X(stage_layers, "drops the layers that remain when num_layers is divided by the stages",                           \
      "the stage with one layer more is written")                                                                      \
    X(context_parallel, "ignores context parallelism",                                                                 \
      "it divides the ranks and the tokens of each, which exchange keys and values")                                   \
    X(whole_batches, "drops what remains of global_batch / (micro_batch x DP)", "an error")                            \
    X(pp_comm_whole, "writes pp_comm as a fraction with sequence parallelism (8388608.0)", "whole bytes")              \
    /* rows */                                                                                                         \
    X(one_row_set,                                                                                                     \
      "writes other rows without a compute file than with one: sizes without an operation, doubled "                   \
      "sizes with recomputation, the parameters gathered in the TP group, experts' gradients reduced "                 \
      "twice; DeepSeek crashes",                                                                                       \
      "the same rows and sizes with and without compute times")                                                        \
    X(final_layer, "has no output layer without sequence parallelism, and gives it the time of attention",             \
      "it is there, with the measured logit_time")                                                                     \
    X(backward_exchange,                                                                                               \
      "writes 0 bytes for the reduce-scatter of a column's input gradient, and nothing without "                       \
      "sequence parallelism",                                                                                          \
      "as many bytes as the forward pass has")                                                                         \
    X(embedding_exchange, "reduces the embedding whole with sequence parallelism, and its gradient once a step",       \
      "reduce-scatter, and all-gather of the gradient, every micro-batch")                                             \
    X(latent_exchange, "gathers hidden_size values a token before DeepSeek's up-projections", "the compressed ones")   \
    X(embedding_backward, "gives the embedding's backward pass the time of the row timed last", "the embedding's own") \
    X(layer_times, "halves the time of a layer that was measured by itself", "uses it whole")                          \
    X(recompute, "doubles the forward pass of attention with recomputation",                                           \
      "the measured attention kernel is added to the backward pass")                                                   \
    X(expert_backward, "gives experts no time for the gradient of their weights", "as much as for the input's")        \
    X(expert_metadata, "gathers the experts' token counts in the TP group", "in the EP group, where there is one")     \
    X(expert_gradients, "writes rows for experts' gradients without experts", "only where there are some")             \
    X(norm_gradients, "reduces all gradients in the TP group without sequence parallelism, 2 bytes each",              \
      "those of the normalisations with it, where Megatron-LM does, 4 bytes each")                                     \
    X(loss_rows, "writes the loss once a step", "once a micro-batch")                                                  \
    X(lone_groups, "writes collectives of one rank", "NONE and 0 bytes")                                               \
    /* inference */                                                                                                    \
    X(prefill_tokens,                                                                                                  \
      "prefills one sequence whatever micro_batch is, and sends whole sequences between stages when "                  \
      "decoding",                                                                                                      \
      "micro_batch x seq_length tokens when prefilling, micro_batch when decoding, in all sizes")                      \
    X(stage_rows, "writes the layers of all stages", "those of one stage")                                             \
    X(route_time, "takes no time for DeepSeek's router", "that of the compute file")

struct aicb_fixes {
#define AICB_X(name, aicb, ours) bool name;
    AICB_FIXES(AICB_X)
#undef AICB_X
};

static inline struct aicb_fixes aicb_fixes_all(bool on)
{
    return (struct aicb_fixes){
#define AICB_X(name, aicb, ours) .name = on,
        AICB_FIXES(AICB_X)
#undef AICB_X
    };
}

#endif
