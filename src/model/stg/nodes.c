/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks over the items: the first makes nodes, the second connects them, since an input may stand further down.
 * Which collectives an input needs is asked for every item but worked out once a pair of template tensors. */
#include "model/stg/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct making {
    const struct stg_stages *stages;
    struct stg_model *model;
    const struct stg_facts *facts;
    struct stg_numbering *numbering;
    struct stg_nodes *nodes; /* NULL while only counting */
    uint32_t stage;
    struct known *known; /* by tensor and input */
    struct orr_error *err;
};

/* The last answer for an input; nearly always there is only one producer. */
struct known {
    uint32_t producer;
    struct stg_comms comms;
};

static enum orr_status stg_nodes_no_memory(const struct making *making)
{
    return mem_error(making->stages->mem, "the nodes of a stage", making->err);
}

static enum orr_status find_comms(struct making *making, const struct stg_item *item, int slot,
                                  const struct stg_comms **comms)
{
    static const struct stg_comms none = {.count = 0};
    const struct stg_graph *graph = &making->model->graph;
    *comms = &none;
    if (item->x[slot] == STG_NONE || item->shadow) {
        return ORR_OK;
    }
    uint32_t producer = making->stages->list[making->stage].items[item->x[slot]].tensor;
    struct known *known = &making->known[item->tensor * 2 + (uint32_t)slot];
    if (known->producer != producer) {
        const struct stg_tensor *consumer = &graph->tensors[item->tensor];
        const struct stg_tensor *from = &graph->tensors[producer];
        char where[700];
        (void)snprintf(where, sizeof where, "%.400s: \"%.200s\" (x%d)",
                       stg_space_name(&making->model->space, consumer->place),
                       stg_space_name(&making->model->space, consumer->name), slot + 1);
        enum orr_status status = stg_comms_find(
            &making->model->space, &making->numbering->rules, (struct stg_layout){from->y_shape, from->y_hidden},
            (struct stg_layout){consumer->shape[slot], consumer->hidden[slot]}, where, &known->comms, making->err);
        if (status != ORR_OK) {
            return status;
        }
        known->producer = producer;
    }
    *comms = &known->comms;
    return ORR_OK;
}

static struct stg_node *stg_nodes_make(struct making *making, uint32_t item, enum stg_node_kind kind, uint32_t id)
{
    struct stg_nodes *nodes = making->nodes;
    if (!MEM_GROW(nodes->mem, nodes->list, nodes->capacity, nodes->count)) {
        return NULL;
    }
    struct stg_node *made = &nodes->list[nodes->count++];
    *made = (struct stg_node){.item = item, .id = id, .kind = kind, .pair = STG_NONE};
    return made;
}

/* Sizes after a collective of a chain: under compat they stay as before the first. */
static uint64_t stg_nodes_size_after(const struct making *making, enum stg_coll type, enum stg_symbol symbol,
                                     uint64_t size)
{
    uint32_t degree = stg_degree(making->stages->config, symbol);
    if (making->stages->config->compat || degree == 0) {
        return size;
    }
    return type == STG_ALL_GATHER ? size * degree : type == STG_REDUCE_SCATTER ? size / degree : size;
}

static enum orr_status make_comms(struct making *making, uint32_t index, int slot, uint32_t comp)
{
    struct stg_nodes *nodes = making->nodes;
    const struct stg_item *item = &making->stages->list[making->stage].items[index];
    const struct stg_comms *comms = NULL;
    enum orr_status status = find_comms(making, item, slot, &comms);
    if (status != ORR_OK || comms->count + comms->sliced == 0) {
        return status;
    }
    uint32_t producer = making->stages->list[making->stage].items[item->x[slot]].tensor;
    uint64_t size = making->facts->list[producer].size;
    making->numbering->sliced += comms->sliced;
    for (uint32_t i = 0; i < comms->count; i++) {
        struct stg_node *made = stg_nodes_make(making, index, STG_NODE_COLL, making->numbering->next_id++);
        if (made == NULL) {
            return stg_nodes_no_memory(making);
        }
        made->coll = comms->list[i].type;
        made->symbol = comms->list[i].symbol;
        made->slot = (uint8_t)slot;
        made->size = size;
        size = stg_nodes_size_after(making, made->coll, made->symbol, size);
        if (i > 0 && !stg_node_depend(nodes, nodes->count - 1, nodes->count - 2)) {
            return stg_nodes_no_memory(making);
        }
    }
    nodes->list[comp].before[slot] = (uint8_t)comms->count;
    if (comms->count > 0 && !stg_node_depend(nodes, comp, nodes->count - 1)) {
        return stg_nodes_no_memory(making);
    }
    return ORR_OK;
}

/* Sends and receives of an item, by the pairs that name it. */
static enum orr_status make_messages(struct making *making, uint32_t index, uint32_t pair)
{
    const struct stg_pair *own = &making->stages->pairs[pair];
    const struct stg_item *item = &making->stages->list[making->stage].items[index];
    bool sends = own->from_stage == making->stage && own->from_item == index;
    struct stg_node *made = stg_nodes_make(making, index, sends ? STG_NODE_SEND : STG_NODE_RECV,
                                           making->numbering->message_ids + pair * 2 + (sends ? 0 : 1));
    if (made == NULL) {
        return stg_nodes_no_memory(making);
    }
    made->pair = pair;
    made->size = making->facts->list[item->tensor].size;
    return ORR_OK;
}

/* By item: the pair that it is an end of, or STG_NONE. An output feeds one input, so there is at most one. */
static uint32_t *find_pairs(const struct making *making)
{
    const struct stg_stage *stage = &making->stages->list[making->stage];
    uint32_t *pair_of = mem_alloc(making->stages->mem, stage->count * sizeof *pair_of);
    for (uint32_t i = 0; pair_of != NULL && i < stage->count; i++) {
        pair_of[i] = STG_NONE;
    }
    for (uint32_t p = 0; pair_of != NULL && p < making->stages->pair_count; p++) {
        const struct stg_pair *pair = &making->stages->pairs[p];
        if (pair->from_stage == making->stage) {
            pair_of[pair->from_item] = p;
        }
        if (pair->to_stage == making->stage) {
            pair_of[pair->to_item] = p;
        }
    }
    return pair_of;
}

static enum orr_status make_all(struct making *making, const uint32_t *pair_of)
{
    const struct stg_stage *stage = &making->stages->list[making->stage];
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < stage->count && status == ORR_OK; i++) {
        uint32_t comp = making->nodes->count;
        if (stg_nodes_make(making, i, STG_NODE_COMP, making->numbering->next_id++) == NULL) {
            return stg_nodes_no_memory(making);
        }
        making->nodes->first[i] = comp;
        status = make_comms(making, i, 0, comp);
        status = status == ORR_OK ? make_comms(making, i, 1, comp) : status;
        if (status == ORR_OK && pair_of[i] != STG_NONE) {
            status = make_messages(making, i, pair_of[i]);
        }
    }
    return status;
}

/* ---- connecting ---- */

bool stg_node_depend(struct stg_nodes *nodes, uint32_t node, uint32_t on)
{
    struct stg_node *own = &nodes->list[node];
    if (own->dep_count == own->dep_capacity) {
        uint32_t wanted = own->dep_capacity == 0 ? 2 : own->dep_capacity * 2;
        if (!MEM_RESERVE(nodes->mem, nodes->deps, nodes->dep_capacity, (uint64_t)nodes->dep_count + wanted)) {
            return false;
        }
        if (own->dep_count > 0) {
            memcpy(nodes->deps + nodes->dep_count, nodes->deps + own->first_dep, own->dep_count * sizeof *nodes->deps);
        }
        own->first_dep = nodes->dep_count;
        own->dep_capacity = wanted;
        nodes->dep_count += wanted;
    }
    nodes->deps[own->first_dep + own->dep_count++] = on;
    return true;
}

/* The node after which an item is there. */
static uint32_t output_of(const struct stg_nodes *nodes, uint32_t item)
{
    uint32_t comp = nodes->first[item];
    bool shadow = nodes->stages->list[nodes->stage].items[item].shadow;
    return shadow ? comp + 1 : comp; /* a shadow has a computation and a receive */
}

static bool connect_item(struct stg_nodes *nodes, uint32_t index)
{
    const struct stg_item *item = &nodes->stages->list[nodes->stage].items[index];
    uint32_t comp = nodes->first[index];
    const struct stg_node *own = &nodes->list[comp];
    uint32_t end = comp + 1 + own->before[0] + own->before[1];
    for (int slot = 0; slot < 2; slot++) {
        if (item->x[slot] == STG_NONE || item->shadow) {
            continue;
        }
        uint32_t first = comp + 1 + (slot == 1 ? nodes->list[comp].before[0] : 0);
        uint32_t input = nodes->list[comp].before[slot] > 0 ? first : comp;
        if (!stg_node_depend(nodes, input, output_of(nodes, item->x[slot]))) {
            return false;
        }
    }
    uint32_t deps = stg_item_dep_count(nodes->stages, item);
    /* An identity computes nothing: what must come before it must come before its collective. */
    bool identity = nodes->stages->model->graph.tensors[item->tensor].op == STG_OP_IDENTITY;
    uint32_t target = identity && nodes->list[comp].before[0] > 0 ? comp + 1 : comp;
    for (uint32_t d = 0; d < deps; d++) {
        uint32_t from = stg_item_dep(nodes->stages, nodes->stage, item, d);
        if (!stg_node_depend(nodes, target, output_of(nodes, from))) {
            return false;
        }
    }
    bool sends = end < nodes->count && nodes->list[end].item == index && nodes->list[end].kind == STG_NODE_SEND;
    return !sends || stg_node_depend(nodes, end, comp);
}

/* ---- the whole ---- */

static void find_rules(const struct stg_config *config, struct stg_rules *rules)
{
    static const enum stg_symbol symbols[] = {STG_DP, STG_TP, STG_CP, STG_EP};
    *rules = (struct stg_rules){.count = 0};
    for (size_t i = 0; i < STG_PARALLEL_MAX; i++) {
        bool own = symbols[i] != STG_EP || config->kind == STG_KIND_MOE;
        if (own && stg_degree(config, symbols[i]) > 1) {
            rules->symbols[rules->count++] = symbols[i];
        }
    }
}

static struct known *known_alloc(const struct stg_stages *stages)
{
    uint32_t count = stages->model->graph.count * 2;
    struct known *known = mem_alloc(stages->mem, count * sizeof *known);
    for (uint32_t i = 0; known != NULL && i < count; i++) {
        known[i].producer = STG_NONE;
    }
    return known;
}

static void known_free(const struct stg_stages *stages, struct known *known)
{
    mem_free(stages->mem, known, (size_t)stages->model->graph.count * 2 * sizeof *known);
}

enum orr_status stg_numbering_begin(const struct stg_stages *stages, struct stg_model *model,
                                    struct stg_numbering *numbering, struct orr_error *err)
{
    *numbering = (struct stg_numbering){.next_id = 1};
    find_rules(stages->config, &numbering->rules);
    struct making making = {.stages = stages, .model = model, .numbering = numbering, .err = err};
    making.known = known_alloc(stages);
    if (making.known == NULL) {
        return stg_nodes_no_memory(&making);
    }
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    for (making.stage = 0; making.stage < stages->count && status == ORR_OK; making.stage++) {
        const struct stg_stage *stage = &stages->list[making.stage];
        for (uint32_t i = 0; i < stage->count && status == ORR_OK; i++) {
            const struct stg_comms *comms[2] = {NULL, NULL};
            status = find_comms(&making, &stage->items[i], 0, &comms[0]);
            status = status == ORR_OK ? find_comms(&making, &stage->items[i], 1, &comms[1]) : status;
            count += status == ORR_OK ? 1 + comms[0]->count + comms[1]->count : 0;
        }
    }
    known_free(stages, making.known);
    if (status == ORR_OK && count + 2 * (uint64_t)stages->pair_count > INT32_MAX) {
        status = error_set(err, ORR_ERANGE, "%" PRIu64 " nodes; at most %d can be numbered", count, INT32_MAX);
    }
    numbering->message_ids = (uint32_t)count + 1;
    return status;
}

static enum orr_status make_and_connect(struct making *making, const uint32_t *pair_of)
{
    enum orr_status status = make_all(making, pair_of);
    for (uint32_t i = 0; i < making->stages->list[making->stage].count && status == ORR_OK; i++) {
        status = connect_item(making->nodes, i) ? ORR_OK : stg_nodes_no_memory(making);
    }
    return status;
}

enum orr_status stg_nodes_build(const struct stg_stages *stages, struct stg_model *model, const struct stg_facts *facts,
                                uint32_t stage, bool merge, struct stg_numbering *numbering, struct stg_nodes *nodes,
                                struct orr_error *err)
{
    uint32_t items = stages->list[stage].count;
    *nodes = (struct stg_nodes){.mem = stages->mem, .stages = stages, .facts = facts, .stage = stage};
    struct making making = {.stages = stages,
                            .model = model,
                            .facts = facts,
                            .numbering = numbering,
                            .nodes = nodes,
                            .stage = stage,
                            .err = err};
    nodes->first = mem_alloc(stages->mem, items * sizeof *nodes->first);
    making.known = known_alloc(stages);
    uint32_t *pair_of = find_pairs(&making);
    enum orr_status status = nodes->first == NULL || making.known == NULL || pair_of == NULL
                                 ? stg_nodes_no_memory(&making)
                                 : make_and_connect(&making, pair_of);
    mem_free(stages->mem, pair_of, items * sizeof *pair_of);
    known_free(stages, making.known);
    status = status == ORR_OK ? stg_nodes_prune(nodes, err) : status;
    status = status == ORR_OK && merge ? stg_nodes_merge(nodes, err) : status;
    if (status != ORR_OK) {
        stg_nodes_free(nodes);
    }
    return status;
}

void stg_nodes_free(struct stg_nodes *nodes)
{
    uint32_t items = nodes->stages->list[nodes->stage].count;
    mem_free(nodes->mem, nodes->list, nodes->capacity * sizeof *nodes->list);
    mem_free(nodes->mem, nodes->deps, nodes->dep_capacity * sizeof *nodes->deps);
    mem_free(nodes->mem, nodes->first, items * sizeof *nodes->first);
    nodes->list = NULL;
    nodes->deps = NULL;
    nodes->first = NULL;
    nodes->capacity = nodes->dep_capacity = 0;
}
