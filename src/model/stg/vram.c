/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the items of a stage. The original's rules go by the names of tensors (spec simai §12.3); ours follow
 * the graph: an activation is kept when a backward tensor has it as an input. */
#include "model/stg/vram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

struct counting {
    const struct stg_config *config;
    const struct stg_model *model;
    const struct stg_facts *facts;
    const struct stg_stages *stages;
    const struct stg_stage *stage;
    uint32_t number; /* of the stage */
    struct orr_stg_memory *memory;
};

/* ---- the original's count ---- */

static double compat_size(const struct counting *count, const struct stg_item *item)
{
    const struct stg_fact *fact = &count->facts->list[item->tensor];
    if (!item->shadow && count->model->graph.tensors[item->tensor].op == STG_OP_IDENTITY && item->x[0] != STG_NONE) {
        fact = &count->facts->list[count->stage->items[item->x[0]].tensor];
    }
    char digits[40] = "";
    uint32_t length = fact->io_size_length < sizeof digits - 1 ? fact->io_size_length : (uint32_t)sizeof digits - 1;
    memcpy(digits, count->facts->texts.bytes + fact->io_size, length);
    return plain_strtod(digits, NULL);
}

static void stg_vram_count_compat(const struct counting *count, const struct stg_item *item)
{
    const struct stg_tensor *tensor = &count->model->graph.tensors[item->tensor];
    const char *name = stg_space_name(&count->model->space, tensor->name);
    double elements = (double)count->facts->list[item->tensor].size;
    struct orr_stg_memory *memory = count->memory;
    if (strstr(name, "_assembled_weight") != NULL || strstr(name, "_assembled_grad") != NULL) {
        return;
    }
    if (tensor->require_grads && !item->shadow) {
        memory->weights += count->config->mixed_precision ? floor(elements * 1.5) * 4 : elements * 4;
        memory->optimizer += elements * 4;
    } else if (tensor->grad_of != STG_NONE && !item->shadow && strstr(name, "_sharded_grad") != NULL) {
        memory->gradients += compat_size(count, item);
    } else if (strstr(name, "_backward") == NULL && !stg_tensor_is_backward(&count->model->space, tensor)) {
        memory->activations += compat_size(count, item);
    }
}

/* ---- our own ---- */

/* Through identities and views to what holds the data. */
static uint32_t holder_of(const struct counting *count, uint32_t item)
{
    for (;;) {
        const struct stg_item *own = &count->stage->items[item];
        enum stg_op op = count->model->graph.tensors[own->tensor].op;
        bool view = op == STG_OP_IDENTITY || (op == STG_OP_CUSTOM && count->facts->list[own->tensor].ops == 0);
        if (own->shadow || !view || own->x[0] == STG_NONE) {
            return item;
        }
        item = own->x[0];
    }
}

static void stg_vram_keep(const struct counting *count, uint32_t item, bool *kept)
{
    uint32_t holder = holder_of(count, item);
    const struct stg_item *own = &count->stage->items[holder];
    const struct stg_tensor *tensor = &count->model->graph.tensors[own->tensor];
    const char *name = stg_space_name(&count->model->space, tensor->name);
    bool counts = own->batch != STG_NONE && !kept[holder] && !tensor->require_grads &&
                  !stg_tensor_is_backward(&count->model->space, tensor);
    /* Recomputed copies live for one layer at a time. */
    if (counts && strstr(name, ".re.") != NULL && own->layer != count->stage->first_layer) {
        counts = false;
    }
    if (counts) {
        kept[holder] = true;
        count->memory->activations += (double)count->facts->list[own->tensor].size;
    }
}

static void count_activations(const struct counting *count, bool *kept)
{
    for (uint32_t i = 0; i < count->stage->count; i++) {
        const struct stg_item *item = &count->stage->items[i];
        const struct stg_tensor *tensor = &count->model->graph.tensors[item->tensor];
        bool first = item->batch == 0 && !item->shadow; /* micro-batches are alike */
        if (!first || !stg_tensor_is_backward(&count->model->space, tensor)) {
            continue;
        }
        for (int x = 0; x < 2; x++) {
            if (item->x[x] != STG_NONE) {
                stg_vram_keep(count, item->x[x], kept);
            }
        }
        for (uint32_t d = 0; d < stg_item_dep_count(count->stages, item); d++) {
            stg_vram_keep(count, stg_item_dep(count->stages, count->number, item, d), kept);
        }
    }
}

static void count_own(const struct counting *count)
{
    double parameters = 0;
    for (uint32_t i = 0; i < count->stage->count; i++) {
        const struct stg_item *item = &count->stage->items[i];
        if (!item->shadow && count->stages->weight_of[item->tensor] != STG_NONE) {
            parameters += (double)count->facts->list[item->tensor].size / count->config->element_bytes;
        }
    }
    uint32_t in_flight = stg_degree(count->config, STG_PP) - count->number;
    in_flight = in_flight < count->config->micro_batches ? in_flight : count->config->micro_batches;
    bool *kept = calloc((size_t)count->stage->count + 1, sizeof *kept);
    if (kept != NULL) { /* a report, not the result: without memory it has no activations */
        count_activations(count, kept);
        free(kept);
    }
    count->memory->activations *= in_flight;
    count->memory->weights = parameters * (count->config->element_bytes + (count->config->mixed_precision ? 4.0 : 0));
    count->memory->gradients = parameters * count->config->element_bytes;
    count->memory->optimizer = parameters * 8;
}

void stg_vram_stage(const struct stg_config *config, const struct stg_model *model, const struct stg_facts *facts,
                    const struct stg_stages *stages, uint32_t stage, struct orr_stg_memory *memory)
{
    struct counting count = {config, model, facts, stages, &stages->list[stage], stage, memory};
    *memory = (struct orr_stg_memory){0};
    if (!config->compat) {
        count_own(&count);
        return;
    }
    for (uint32_t i = 0; i < count.stage->count; i++) {
        stg_vram_count_compat(&count, &count.stage->items[i]);
    }
}
