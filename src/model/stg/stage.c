/* SPDX-License-Identifier: Apache-2.0 */
/* Where an item stands follows from its layer, micro-batch and tensor by arithmetic, so that references are computed
 * and never searched for; a stage's list is filled from front to back. */
#include "model/stg/stage.h"

#include <inttypes.h>
#include <string.h>

static void count_parts(struct stg_stages *stages)
{
    const struct stg_model *model = stages->model;
    for (uint32_t i = 0; i < model->graph.count; i++) {
        stages->weight_of[i] = STG_NONE;
        stages->order[i] = STG_NONE;
    }
    for (uint32_t i = 0; i < model->weight_count; i++) {
        stages->weight_of[model->weights[i].weight] = i;
        stages->part_weights[model->weights[i].part]++;
    }
    for (unsigned part = 0; part < STG_PART_COUNT; part++) {
        for (uint32_t i = stg_part_begin(model, (enum stg_part)part); i < model->end[part]; i++) {
            if (stages->folded || stages->weight_of[i] == STG_NONE) {
                stages->order[i] = stages->part_items[part]++;
            }
        }
    }
}

static uint32_t stage_of_layer(const struct stg_stages *stages, uint32_t layer)
{
    uint32_t stage = 0;
    while (layer >= stages->list[stage].first_layer + stages->list[stage].layer_count) {
        stage++;
    }
    return stage;
}

/* Layers evenly, the remainder to the first stages; the head on the last stage, or where the original puts it. */
static enum orr_status stg_stage_divide(struct stg_stages *stages, struct orr_error *err)
{
    const struct stg_config *config = stages->config;
    uint32_t head = config->last_head ? stages->count - 1 : (config->layers - 1) % stages->count;
    uint32_t layer = 0;
    for (uint32_t s = 0; s < stages->count; s++) {
        struct stg_stage *stage = &stages->list[s];
        stage->first_layer = layer;
        stage->layer_count = config->layers / stages->count + (s < config->layers % stages->count);
        layer += stage->layer_count;
        stage->has_first = s == 0;
        stage->has_last = s == head;
        uint64_t batch = (uint64_t)stage->layer_count * stages->part_items[STG_PART_BLOCK] +
                         (stage->has_first ? stages->part_items[STG_PART_FIRST] : 0) +
                         (stage->has_last ? stages->part_items[STG_PART_LAST] : 0);
        uint64_t weights = (uint64_t)stage->layer_count * stages->part_weights[STG_PART_BLOCK] +
                           (stage->has_first ? stages->part_weights[STG_PART_FIRST] : 0) +
                           (stage->has_last ? stages->part_weights[STG_PART_LAST] : 0);
        uint64_t total = batch * stages->batches + weights * 3;
        if (total > UINT32_MAX / 8) {
            return error_set(err, ORR_ERANGE, "a stage of %" PRIu64 " tensors; at most %" PRIu32 " can be written",
                             total, UINT32_MAX / 8);
        }
        stage->batch_items = (uint32_t)batch;
        stage->merged = (uint32_t)(batch * stages->batches);
        stage->weights = stage->merged + (stages->folded ? 0 : (uint32_t)weights);
        stage->updated = stage->weights + (stages->folded ? 0 : (uint32_t)weights);
    }
    return ORR_OK;
}

static enum stg_part stg_stage_part_of(const struct stg_model *model, uint32_t tensor)
{
    return tensor < model->end[STG_PART_BLOCK]   ? STG_PART_BLOCK
           : tensor < model->end[STG_PART_FIRST] ? STG_PART_FIRST
                                                 : STG_PART_LAST;
}

/* Where the weight numbered `weight` of a layer stands among the stage's weights. */
static uint32_t weight_place(const struct stg_stages *stages, const struct stg_stage *stage, uint32_t weight,
                             uint32_t layer)
{
    const struct stg_weight *own = &stages->model->weights[weight];
    if (own->part == STG_PART_BLOCK) {
        return (layer - stage->first_layer) * stages->part_weights[STG_PART_BLOCK] + weight;
    }
    uint32_t before = stage->layer_count * stages->part_weights[STG_PART_BLOCK];
    uint32_t among = weight - stages->part_weights[STG_PART_BLOCK];
    if (own->part == STG_PART_LAST) {
        among -= stages->part_weights[STG_PART_FIRST];
        before += stage->has_first ? stages->part_weights[STG_PART_FIRST] : 0;
    }
    return before + among;
}

static uint32_t stg_stage_place(const struct stg_stages *stages, const struct stg_stage *stage, uint32_t tensor,
                                uint32_t layer, uint32_t batch)
{
    enum stg_part part = stg_stage_part_of(stages->model, tensor);
    if (stages->order[tensor] == STG_NONE) {
        return stage->weights + weight_place(stages, stage, stages->weight_of[tensor], layer);
    }
    uint32_t at = batch * stage->batch_items;
    if (part == STG_PART_BLOCK) {
        at += (layer - stage->first_layer) * stages->part_items[STG_PART_BLOCK];
    } else {
        at += stage->layer_count * stages->part_items[STG_PART_BLOCK];
        at += part == STG_PART_LAST && stage->has_first ? stages->part_items[STG_PART_FIRST] : 0;
    }
    return at + stages->order[tensor];
}

/* The item that a dependency of `item`, tensor `tensor` of the template, is. */
static uint32_t stg_stage_dep(const struct stg_stages *stages, uint32_t stage, const struct stg_item *item,
                              uint32_t tensor)
{
    return stg_stage_place(stages, &stages->list[stage], tensor, item->layer,
                           item->batch == STG_NONE ? 0 : item->batch);
}

/* Whether the item is a gradient summed over micro-batches; `*weight` is whose. */
static bool is_merged(const struct stg_stages *stages, const struct stg_item *item, uint32_t *weight)
{
    const struct stg_model *model = stages->model;
    if (item->tensor < model->end[STG_PART_LAST] || item->shadow) {
        return false;
    }
    uint32_t made = item->tensor - model->end[STG_PART_LAST];
    *weight = made / 2;
    return made % 2 == 0;
}

uint32_t stg_item_dep_count(const struct stg_stages *stages, const struct stg_item *item)
{
    uint32_t weight = 0;
    if (item->shadow) {
        return 0;
    }
    return is_merged(stages, item, &weight) ? stages->batches - 1
                                            : stages->model->graph.tensors[item->tensor].dep_count;
}

uint32_t stg_item_dep(const struct stg_stages *stages, uint32_t stage, const struct stg_item *item, uint32_t at)
{
    uint32_t weight = 0;
    if (is_merged(stages, item, &weight)) {
        return stg_stage_place(stages, &stages->list[stage], stages->model->weights[weight].grad, item->layer, at + 1);
    }
    const struct stg_graph *graph = &stages->model->graph;
    return stg_stage_dep(stages, stage, item, graph->deps[graph->tensors[item->tensor].first_dep + at]);
}

/* ---- filling ---- */

struct filling {
    struct stg_stages *stages;
    uint32_t number; /* of the stage */
    struct stg_stage *stage;
    bool refused;
};

static void stg_stage_put(struct filling *filling, struct stg_item item)
{
    struct stg_stage *stage = filling->stage;
    if (!MEM_GROW(filling->stages->mem, stage->items, stage->capacity, stage->count)) {
        filling->refused = true;
        return;
    }
    stage->items[stage->count++] = item;
}

struct source {
    uint32_t tensor, layer, stage;
};

/* Where a tensor that joins layers or ends takes its input from; false for all others. */
static bool joined(const struct stg_stages *stages, uint32_t tensor, uint32_t layer, struct source *source)
{
    const struct stg_model *model = stages->model;
    uint32_t last = stages->config->layers - 1;
    uint32_t head = 0;
    while (!stages->list[head].has_last) {
        head++;
    }
    if (tensor == model->block_in) {
        *source = layer == 0 ? (struct source){model->first_out, STG_NONE, 0}
                             : (struct source){model->block_out, layer - 1, stage_of_layer(stages, layer - 1)};
    } else if (tensor == model->block_dout) {
        *source = layer == last ? (struct source){model->last_din, STG_NONE, head}
                                : (struct source){model->block_din, layer + 1, stage_of_layer(stages, layer + 1)};
    } else if (tensor == model->first_dout) {
        *source = (struct source){model->block_din, 0, 0};
    } else if (tensor == model->last_in) {
        *source = (struct source){model->block_out, last, stage_of_layer(stages, last)};
    } else {
        return false;
    }
    return true;
}

static void put_tensor(struct filling *filling, uint32_t tensor, uint32_t layer, uint32_t batch)
{
    const struct stg_stages *stages = filling->stages;
    const struct stg_tensor *row = &stages->model->graph.tensors[tensor];
    struct stg_item item = {.tensor = tensor, .x = {STG_NONE, STG_NONE}, .layer = layer, .batch = batch};
    for (int x = 0; x < 2; x++) {
        item.x[x] = row->x[x] == STG_NONE ? STG_NONE : stg_stage_place(stages, filling->stage, row->x[x], layer, batch);
    }
    struct source source;
    if (joined(stages, tensor, layer, &source) && source.stage == filling->number) {
        item.x[0] = stg_stage_place(stages, filling->stage, source.tensor, source.layer, batch);
    }
    stg_stage_put(filling, item);
}

static void stg_stage_put_part(struct filling *filling, enum stg_part part, uint32_t layer, uint32_t batch)
{
    const struct stg_stages *stages = filling->stages;
    for (uint32_t i = stg_part_begin(stages->model, part); i < stages->model->end[part]; i++) {
        if (stages->order[i] != STG_NONE) {
            put_tensor(filling, i, layer, batch);
        }
    }
}

enum once { ONCE_MERGED, ONCE_WEIGHT, ONCE_UPDATED };

static void put_once(struct filling *filling, enum once once, uint32_t weight, uint32_t layer)
{
    const struct stg_stages *stages = filling->stages;
    const struct stg_weight *own = &stages->model->weights[weight];
    const struct stg_stage *stage = filling->stage;
    struct stg_item item = {.tensor = own->weight, .x = {STG_NONE, STG_NONE}, .layer = layer, .batch = STG_NONE};
    if (once == ONCE_MERGED) {
        item.tensor = own->merged;
        item.x[0] = stg_stage_place(stages, stage, own->grad, layer, 0);
    } else if (once == ONCE_UPDATED) {
        item.tensor = own->updated;
        item.x[0] = stg_stage_place(stages, stage, own->weight, layer, 0);
        item.x[1] = stages->folded ? stg_stage_place(stages, stage, own->grad, layer, 0)
                                   : stage->merged + weight_place(stages, stage, weight, layer);
    }
    stg_stage_put(filling, item);
}

static void put_all_once(struct filling *filling, enum once once)
{
    const struct stg_stages *stages = filling->stages;
    const struct stg_stage *stage = filling->stage;
    for (uint32_t layer = stage->first_layer; layer < stage->first_layer + stage->layer_count; layer++) {
        for (uint32_t w = 0; w < stages->part_weights[STG_PART_BLOCK]; w++) {
            put_once(filling, once, w, layer);
        }
    }
    for (uint32_t w = stages->part_weights[STG_PART_BLOCK]; w < stages->model->weight_count; w++) {
        enum stg_part part = stages->model->weights[w].part;
        if (part == STG_PART_FIRST ? stage->has_first : stage->has_last) {
            put_once(filling, once, w, STG_NONE);
        }
    }
}

/* A shadow for every input that another stage makes, in the order of those who want them. */
static void put_shadows(struct filling *filling)
{
    struct stg_stages *stages = filling->stages;
    struct stg_stage *stage = filling->stage;
    uint32_t count = stage->count;
    for (uint32_t i = 0; i < count && !filling->refused; i++) {
        struct source source;
        const struct stg_item item = stage->items[i];
        if (item.batch == STG_NONE || !joined(stages, item.tensor, item.layer, &source) ||
            source.stage == filling->number) {
            continue;
        }
        uint32_t from = stg_stage_place(stages, &stages->list[source.stage], source.tensor, source.layer, item.batch);
        stage->items[i].x[0] = stage->count;
        if (!MEM_GROW(stages->mem, stages->pairs, stages->pair_capacity, stages->pair_count)) {
            filling->refused = true;
            return;
        }
        stages->pairs[stages->pair_count++] = (struct stg_pair){source.stage, from, filling->number, stage->count};
        stg_stage_put(filling, (struct stg_item){.tensor = source.tensor,
                                                 .x = {STG_NONE, STG_NONE},
                                                 .layer = source.layer,
                                                 .batch = item.batch,
                                                 .shadow = true});
    }
}

static bool stg_stage_fill(struct stg_stages *stages, uint32_t number)
{
    struct filling filling = {.stages = stages, .number = number, .stage = &stages->list[number]};
    const struct stg_stage *stage = filling.stage;
    for (uint32_t batch = 0; batch < stages->batches && !filling.refused; batch++) {
        for (uint32_t layer = 0; layer < stage->layer_count; layer++) {
            stg_stage_put_part(&filling, STG_PART_BLOCK, stage->first_layer + layer, batch);
        }
        if (stage->has_first) {
            stg_stage_put_part(&filling, STG_PART_FIRST, STG_NONE, batch);
        }
        if (stage->has_last) {
            stg_stage_put_part(&filling, STG_PART_LAST, STG_NONE, batch);
        }
    }
    if (!stages->folded) {
        put_all_once(&filling, ONCE_MERGED);
        put_all_once(&filling, ONCE_WEIGHT);
    }
    put_all_once(&filling, ONCE_UPDATED);
    put_shadows(&filling);
    return !filling.refused;
}

static enum orr_status divide_and_fill(struct stg_stages *stages, struct orr_error *err)
{
    count_parts(stages);
    enum orr_status status = stg_stage_divide(stages, err);
    for (uint32_t s = 0; s < stages->count && status == ORR_OK; s++) {
        status = stg_stage_fill(stages, s) ? ORR_OK : mem_error(stages->mem, "the tensors of a stage", err);
    }
    return status;
}

enum orr_status stg_stages_build(const struct stg_config *config, const struct stg_model *model, bool folded,
                                 struct mem *mem, struct stg_stages *stages, struct orr_error *err)
{
    uint32_t count = stg_degree(config, STG_PP);
    uint32_t tensors = model->graph.count;
    *stages = (struct stg_stages){.config = config,
                                  .model = model,
                                  .mem = mem,
                                  .count = count,
                                  .batches = folded ? 1 : config->micro_batches,
                                  .folded = folded};
    stages->list = mem_zalloc(mem, count * sizeof *stages->list);
    stages->order = mem_alloc(mem, tensors * sizeof *stages->order);
    stages->weight_of = mem_alloc(mem, tensors * sizeof *stages->weight_of);
    enum orr_status status = ORR_OK;
    if (stages->list == NULL || stages->order == NULL || stages->weight_of == NULL) {
        status = mem_error(mem, "the stages of a model", err);
    } else {
        status = divide_and_fill(stages, err);
    }
    if (status != ORR_OK) {
        stg_stages_free(stages);
    }
    return status;
}

void stg_stages_free(struct stg_stages *stages)
{
    struct mem *mem = stages->mem;
    uint32_t tensors = stages->model->graph.count;
    for (uint32_t s = 0; stages->list != NULL && s < stages->count; s++) {
        mem_free(mem, stages->list[s].items, stages->list[s].capacity * sizeof *stages->list[s].items);
    }
    mem_free(mem, stages->list, stages->count * sizeof *stages->list);
    mem_free(mem, stages->order, tensors * sizeof *stages->order);
    mem_free(mem, stages->weight_of, tensors * sizeof *stages->weight_of);
    mem_free(mem, stages->pairs, stages->pair_capacity * sizeof *stages->pairs);
}
