/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model spread over layers, micro-batches and pipeline stages: for each stage the list of tensors it makes, in the
 * original's order, which decides the order and ids of nodes. An item is a tensor of the template in one layer and one
 * micro-batch; all that is the same in every layer stays in the template. What comes from another stage is a shadow at
 * the end of the list, paired with the item it stands for. All ranks of a stage share its list.
 */
#ifndef ORR_MODEL_STG_STAGE_H
#define ORR_MODEL_STG_STAGE_H

#include "model/stg/model.h"

struct stg_item {
    uint32_t tensor; /* of the template */
    uint32_t x[2];   /* items of the same stage, or STG_NONE */
    uint32_t layer;  /* STG_NONE at the ends */
    uint32_t batch;  /* micro-batch; STG_NONE for what exists once */
    bool shadow;
};

/* Something made on one stage and used on another: a message, whose tag is the pair's number. */
struct stg_pair {
    uint32_t from_stage, from_item, to_stage, to_item;
};

struct stg_stage {
    struct stg_item *items;
    uint32_t count, capacity;
    uint32_t first_layer, layer_count;
    bool has_first, has_last;
    uint32_t batch_items;              /* of one micro-batch */
    uint32_t merged, weights, updated; /* first items of these; updated ends before the shadows */
};

struct stg_stages {
    const struct stg_config *config;
    const struct stg_model *model;
    struct mem *mem;
    struct stg_stage *list;
    uint32_t count;
    uint32_t batches;    /* micro-batches that are spelled out: 1 when folded */
    bool folded;         /* weights stay in their place, micro-batches are copies of nodes */
    uint32_t *order;     /* by tensor: its place in its part, without weights unless folded */
    uint32_t *weight_of; /* by tensor: index in the model's weights, or STG_NONE */
    uint32_t part_items[STG_PART_COUNT], part_weights[STG_PART_COUNT];
    struct stg_pair *pairs;
    uint32_t pair_count, pair_capacity;
};

/* `model` and `config` are borrowed. ORR_ERANGE when there are too many items for 32 bits. */
ORR_MUST_CHECK enum orr_status stg_stages_build(const struct stg_config *config, const struct stg_model *model,
                                                bool folded, struct mem *mem, struct stg_stages *stages,
                                                struct orr_error *err);
void stg_stages_free(struct stg_stages *stages);

/* How many dependencies beyond x1 and x2 an item has, and the item of each. */
uint32_t stg_item_dep_count(const struct stg_stages *stages, const struct stg_item *item);
uint32_t stg_item_dep(const struct stg_stages *stages, uint32_t stage, const struct stg_item *item, uint32_t at);

#endif
