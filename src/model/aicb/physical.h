/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's "physical" workloads (spec simai §5): every collective, send and matrix product of a job as a row of a CSV,
 * one rank's view, for the program that replays them on a cluster. Three families, by frame: Megatron and DeepSeek;
 * DeepSpeed's ZeRO 1, 2 and 3 (--stage); a sweep of one collective (collective_test).
 *
 * With options->compat the bytes are AICB's; else what AICB_PHYSICAL_FIXES lists is put right, besides the fixes of
 * fixes.h that are about the model.
 */
#ifndef ORR_MODEL_AICB_PHYSICAL_H
#define ORR_MODEL_AICB_PHYSICAL_H

#include <stdio.h>

#include "model/aicb/options.h"

/* name, what AICB does, what is done instead; docs/differences.md goes through the same list */
#define AICB_PHYSICAL_FIXES(X)                                                                                         \
    X(step_once, "runs the optimizer step twice with a pipeline, its parameters divided by the stages a second time",  \
      "once, with the parameters of the stage")                                                                        \
    X(norm_reduce, "reduces 0 bytes of the normalisations' gradients",                                                 \
      "4 bytes a parameter, with sequence "                                                                            \
      "parallelism")                                                                                                   \
    X(expert_rows, "writes nothing for the backward pass of experts, and no products of theirs",                       \
      "the exchanges of the forward pass in reverse, and the products of a rank's experts")                            \
    X(expert_gradients_apart, "reduces experts' gradients in the DP group", "in CommGroup.ep_dp_group")                \
    X(final_rows, "never runs the output layer", "on the last stage, before the loss")                                 \
    X(stage_view,                                                                                                      \
      "writes the first stage only, sends in a group of 1 rank, receives before it sends, and has no loss "            \
      "with a pipeline",                                                                                               \
      "the stage parameter 'pp_rank' names (default 0), in a group of all stages; sends first; the loss on the last "  \
      "stage")                                                                                                         \
    X(gathered_tokens, "multiplies the tokens of a column's product by TP with sequence parallelism",                  \
      "seq_length tokens, which is what was gathered")                                                                 \
    X(backward_order, "runs the parts of a layer in forward order in its backward pass", "in reverse")                 \
    X(linear_gradient, "has no input gradient of a linear layer that is not divided", "has one")                       \
    X(row_names, "leaves out the dot before the name of a row's product", "has it")                                    \
    X(data_broadcast, "broadcasts 8 x (world_size + tokens) bytes of input",                                           \
      "8 x (seq_length + 1) x micro_batch, which are the tokens and the labels")                                       \
    X(group_sizes, "prints None for the size of experts' groups", "their size")                                        \
    X(dispatch_bytes, "prints the bytes of DeepSeek's dispatch as a fraction (138682368.0)", "whole bytes")            \
    X(zero_degrees, "writes no forward and backward pass for ZeRO with a pipeline, and ignores TP", "an error")        \
    X(zero_amp, "crashes with amp_enabled in ZeRO 1 and 2", "no broadcast of the weights, as in ZeRO 3")               \
    X(zero_barrier, "gives a barrier the bytes of the last parameter", "0 bytes")                                      \
    X(zero_bucket,                                                                                                     \
      "carries a bucket of gradients into the next micro-batch (where sizes can be negative), and "                    \
      "reduces empty ones",                                                                                            \
      "empties it after every backward pass; nothing for an empty one")                                                \
    X(zero_products,                                                                                                   \
      "prints the forward product for the input's gradient, and in ZeRO 3 products where parameters are "              \
      "gathered, or not at all",                                                                                       \
      "the transposed product; where the parameter is used")

struct aicb_physical_fixes {
#define AICB_X(name, aicb, ours) bool name;
    AICB_PHYSICAL_FIXES(AICB_X)
#undef AICB_X
};

/* Which generator's options count. */
enum aicb_generator aicb_physical_family(const struct aicb_options *options);

/* AICB's own file name, cut to `size`. */
void aicb_physical_name(const struct aicb_options *options, char *name, size_t size);

/* Fails with ORR_EINVAL (degrees that do not divide, an unknown collective), ORR_ERANGE (sizes above 64 bits, more than
 * 2^25 rows), ORR_ENOMEM; before the first row is written. What cannot be written is seen by who owns the stream. */
ORR_MUST_CHECK enum orr_status aicb_physical_write(const struct aicb_options *options, struct mem *mem,
                                                   struct notes *notes, FILE *stream, struct orr_error *err);

#endif
