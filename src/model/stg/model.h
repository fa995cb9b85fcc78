/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model put together from sheets: the template of one decoder block, the two ends (embedding; head and loss), and for
 * every weight its gradient, what sums that over micro-batches and the updated weight. Layers and micro-batches are not
 * copied here: stage.h counts them. How the modules of a family are named and joined is a table (family.c); there is
 * one for STG's public sheets and one for our own.
 *
 * Owns its space and graph. Knows no rank.
 */
#ifndef ORR_MODEL_STG_MODEL_H
#define ORR_MODEL_STG_MODEL_H

#include "model/stg/graph.h"

enum stg_kind { STG_KIND_GPT, STG_KIND_LLAMA, STG_KIND_MOE };

/* What is asked for, already checked. */
struct stg_config {
    enum stg_kind kind;
    bool compat; /* as the original does it, errors and all */
    bool tpsp;   /* tensor parallelism splits the sequence between blocks */
    bool weight_sharded;
    bool mixed_precision;
    bool recompute;
    bool last_head;                /* the head on the last stage, not on stage (layers - 1) mod pp */
    const char *sheets;            /* folder of STG's sheets; NULL: our own */
    const char *const *own_sheets; /* "NAME=FILE.csv" in place of the sheet NAME */
    size_t own_sheet_count;
    uint32_t layers, micro_batches;
    uint32_t element_bytes;            /* 1 under compat: sizes are elements */
    uint64_t values[STG_SYMBOL_COUNT]; /* degrees and dimensions */
};

/* Degree of a parallel symbol. */
static inline uint32_t stg_degree(const struct stg_config *config, enum stg_symbol symbol)
{
    return (uint32_t)config->values[symbol];
}

/* The parts of the template, in the order of their tensors. */
enum stg_part { STG_PART_BLOCK, STG_PART_FIRST, STG_PART_LAST, STG_PART_COUNT };

struct stg_weight {
    uint32_t weight, grad;    /* placeholder, and its gradient in one micro-batch */
    uint32_t merged, updated; /* made here: behind the parts in the graph */
    enum stg_part part;
};

struct stg_model {
    struct stg_space space;
    struct stg_graph graph;
    uint32_t end[STG_PART_COUNT]; /* tensors of a part are [end of the one before, end) */
    const char *layer_prefix;     /* "transformer." */
    /* The template's tensors that join layers to each other and to the ends. */
    uint32_t block_in, block_out, block_dout, block_din;
    uint32_t first_out, first_dout, last_in, last_din;
    struct stg_weight *weights; /* block, first, last, each in tensor order */
    uint32_t weight_count, weight_capacity;
};

ORR_MUST_CHECK enum orr_status stg_model_build(const struct stg_config *config, struct mem *mem,
                                               struct stg_model *model, struct orr_error *err);
void stg_model_free(struct stg_model *model);

static inline uint32_t stg_part_begin(const struct stg_model *model, enum stg_part part)
{
    return part == STG_PART_BLOCK ? 0 : model->end[part - 1];
}

/* ---- passes over one part (fuse.c, recompute.c) ---- */

/*
 * Gathers the weights of the tensors from `begin` on into one sharded weight, assembled before use, forward and
 * backward, whose gradient is gathered and scattered likewise (spec simai §12.2). Weights whose gradients are partial
 * sums over different ranks cannot share: each such set gets its own, except under compat, where all go into one.
 * `part` begins the names of what is made. With `each_batch` the gradient is scattered in every micro-batch, as FSDP
 * does and the original always; otherwise once, after they have been summed.
 */
ORR_MUST_CHECK enum orr_status stg_fuse_weights(struct stg_graph *graph, uint32_t begin, const char *part, bool compat,
                                                bool each_batch, struct orr_error *err);

/* Gives the backward tensors of a block recomputed copies of the forward ones, made when the gradient arrives. */
ORR_MUST_CHECK enum orr_status stg_recompute(struct stg_graph *graph, uint32_t begin, uint32_t arrives,
                                             struct orr_error *err);

#endif
