/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block's modules are copied into one graph, joined, their weights fused; then come the two ends. Batch is replaced
 * by MicroBatch and fsdp by dp or 1 while copying, not afterwards: the template is what one micro-batch of one layer
 * does. For each weight two more tensors follow that exist once a layer: the gradient summed over micro-batches and the
 * updated weight.
 */
#include "model/stg/model.h"

#include <stdio.h>
#include <string.h>

#include "model/stg/family.h"
#include "model/stg/sheet.h"

enum { PATH_BYTES = 4096 };

struct building {
    const struct stg_config *config;
    const struct stg_family *family;
    struct stg_model *model;
    struct orr_error *err;
};

static enum orr_status stg_model_no_memory(const struct building *building)
{
    return stg_space_error(&building->model->space, building->err);
}

/* ---- sheets into the graph ---- */

static enum orr_status add_rules(const struct building *building, const struct stg_rule rules[STG_RULES_MAX],
                                 uint32_t to[STG_SYMBOL_COUNT])
{
    struct stg_exprs *exprs = &building->model->space.exprs;
    for (unsigned i = 0; i < STG_RULES_MAX && rules[i].to != NULL; i++) {
        uint32_t expr = STG_NO_EXPR;
        enum orr_status status =
            stg_expr_parse(exprs, rules[i].to, 1, rules[i].to, strlen(rules[i].to), &expr, building->err);
        if (status != ORR_OK) {
            return status;
        }
        to[rules[i].from] = expr;
    }
    return ORR_OK;
}

/* The user's file for a sheet, or NULL; the last one named counts. */
static const char *own_sheet(const struct stg_config *config, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = config->own_sheet_count; i > 0; i--) {
        const char *own = config->own_sheets[i - 1];
        if (strncmp(own, name, length) == 0 && own[length] == '=') {
            return own + length + 1;
        }
    }
    return NULL;
}

/* FILE.csv, and FILE.json beside it. */
static enum orr_status load_own(const struct building *building, const char *table, struct stg_graph *sheet)
{
    char ports[PATH_BYTES];
    size_t length = strlen(table);
    size_t stem = length > 4 && strcmp(table + length - 4, ".csv") == 0 ? length - 4 : length;
    int made = snprintf(ports, sizeof ports, "%.*s.json", (int)stem, table);
    if (length >= PATH_BYTES || made < 0 || (size_t)made >= sizeof ports) {
        return error_set(building->err, ORR_EINVAL, "parameter 'sheet': the path is too long");
    }
    return stg_sheet_read(table, ports, sheet, building->err);
}

static enum orr_status load_module(const struct building *building, const struct stg_module *module,
                                   struct stg_graph *sheet)
{
    const char *own = own_sheet(building->config, module->sheet);
    if (own != NULL) {
        return load_own(building, own, sheet);
    }
    if (building->config->sheets == NULL) {
        return stg_sheet_builtin(module->sheet, sheet, building->err);
    }
    char table[PATH_BYTES];
    char ports[PATH_BYTES];
    const char *folder = module->folder != NULL ? module->folder : building->family->folder;
    int length = snprintf(ports, sizeof ports, "%s/%s/%s.json", building->config->sheets, folder, module->sheet);
    (void)snprintf(table, sizeof table, "%s/%s/%s.csv", building->config->sheets, folder, module->sheet);
    if (length < 0 || (size_t)length >= sizeof ports) {
        return error_set(building->err, ORR_EINVAL, "parameter 'sheets': the path is too long");
    }
    return stg_sheet_read(table, ports, sheet, building->err);
}

/* Replacements are not replaced again: Seq may become an expression of Seq. */
static enum orr_status append_module(const struct building *building, const struct stg_module *module,
                                     const char *prefix)
{
    struct stg_model *model = building->model;
    struct stg_exprs *exprs = &model->space.exprs;
    struct stg_graph sheet;
    uint32_t to[STG_SYMBOL_COUNT];
    for (unsigned i = 0; i < STG_SYMBOL_COUNT; i++) {
        to[i] = STG_NO_EXPR;
    }
    to[STG_BATCH] = stg_expr_symbol(exprs, STG_MICRO_BATCH);
    to[STG_SP] = building->config->tpsp ? stg_expr_symbol(exprs, STG_TP) : stg_expr_number(exprs, 1, 1);
    enum orr_status status = add_rules(building, building->family->rules, to);
    status = status == ORR_OK ? add_rules(building, module->rules, to) : status;
    if (status != ORR_OK) {
        return status;
    }
    stg_graph_init(&sheet, &model->space);
    status = load_module(building, module, &sheet);
    if (status == ORR_OK) {
        status = stg_graph_append(&model->graph, &sheet, prefix, to, building->err);
    }
    stg_graph_free(&sheet);
    return status;
}

static enum orr_status stg_model_join_all(const struct building *building, const struct stg_join *joins, size_t count)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < count && joins[i].from != NULL && status == ORR_OK; i++) {
        status = stg_graph_join(&building->model->graph, joins[i].from, joins[i].to, false, building->err);
    }
    return status;
}

/* ---- experts ---- */

static void expert_name(const struct building *building, unsigned expert, const char *name, char whole[160])
{
    (void)snprintf(whole, 160, "%s%u.%s", building->family->experts.prefix, expert, name);
}

static enum orr_status join_expert(const struct building *building, unsigned expert)
{
    const struct stg_experts *experts = &building->family->experts;
    struct stg_graph *graph = &building->model->graph;
    enum orr_status status = ORR_OK;
    char from[160];
    char to[160];
    for (size_t i = 0; experts->joins[i].from != NULL && status == ORR_OK; i++) {
        expert_name(building, expert, experts->joins[i].from, from);
        expert_name(building, expert, experts->joins[i].to, to);
        status = stg_graph_join(graph, from, to, false, building->err);
    }
    for (size_t i = 0; experts->scatter[i].from != NULL && status == ORR_OK; i++) {
        expert_name(building, expert, experts->scatter[i].to, to);
        status = stg_graph_join(graph, experts->scatter[i].from, to, true, building->err);
    }
    return status;
}

/* What all experts give is added in a chain, of which only the last step counts operations. */
static enum orr_status collect_port(const struct building *building, const struct stg_join *port, unsigned count)
{
    struct stg_model *model = building->model;
    struct stg_graph *graph = &model->graph;
    const char *amount = building->family->experts.last_amount;
    char name[160];
    expert_name(building, 0, port->from, name);
    uint32_t last = stg_graph_find(graph, name, strlen(name));
    if (last == STG_NONE) {
        return error_set(building->err, ORR_EINVAL, "the sheets have no output \"%s\"", name);
    }
    const struct stg_tensor first = graph->tensors[last];
    for (unsigned i = 1; i < count; i++) {
        uint32_t made_at = 0;
        expert_name(building, i, port->from, name);
        uint32_t other = stg_graph_find(graph, name, strlen(name));
        int length = snprintf(name, sizeof name, "%s_r%u", port->to, i);
        struct stg_tensor *made = stg_graph_add(graph, stg_space_text(&model->space, name, (size_t)length), &made_at);
        if (made == NULL || other == STG_NONE) {
            return stg_model_no_memory(building);
        }
        made->place = made->name;
        made->op = STG_OP_ELEMENT2;
        made->amount = stg_expr_number(&model->space.exprs, i + 1 == count && *amount == '1' ? 1 : 0, 1);
        made->x[0] = last;
        made->x[1] = other;
        made->shape[0] = made->shape[1] = first.y_shape;
        made->hidden[0] = made->hidden[1] = first.y_hidden;
        last = made_at;
    }
    uint32_t target = stg_graph_find(graph, port->to, strlen(port->to));
    if (target == STG_NONE || !graph->tensors[target].is_input) {
        return error_set(building->err, ORR_EINVAL, "the sheets have no input \"%s\"", port->to);
    }
    graph->tensors[target].op = STG_OP_IDENTITY;
    graph->tensors[target].x[0] = last;
    graph->tensors[target].is_input = false;
    return ORR_OK;
}

static enum orr_status stg_model_add_experts(const struct building *building)
{
    const struct stg_experts *experts = &building->family->experts;
    struct stg_graph *graph = &building->model->graph;
    unsigned count = (unsigned)(building->config->values[STG_EXPERTS] / building->config->values[STG_EP]);
    enum orr_status status = ORR_OK;
    for (unsigned i = 0; i < count && status == ORR_OK; i++) {
        for (size_t m = 0; experts->modules[m].prefix != NULL && status == ORR_OK; m++) {
            char prefix[160];
            expert_name(building, i, experts->modules[m].prefix, prefix);
            status = append_module(building, &experts->modules[m], prefix);
        }
        status = status == ORR_OK ? join_expert(building, i) : status;
    }
    for (uint32_t i = 0; i < graph->count && status == ORR_OK; i++) {
        status = stg_tensor_solve(&building->model->space, &graph->tensors[i], building->err);
    }
    for (size_t i = 0; experts->collect[i].from != NULL && status == ORR_OK; i++) {
        status = collect_port(building, &experts->collect[i], count);
    }
    return status;
}

/* ---- parts ---- */

static enum orr_status add_modules(const struct building *building, const struct stg_module *modules, size_t most)
{
    const char *behind = building->family->experts.behind;
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < most && modules[i].prefix != NULL && status == ORR_OK; i++) {
        status = append_module(building, &modules[i], modules[i].prefix);
        if (status == ORR_OK && behind != NULL && strcmp(behind, modules[i].prefix) == 0) {
            status = stg_model_add_experts(building);
        }
    }
    return status;
}

/* A placeholder becomes the sum of two gradients that arrive at the same tensor. */
static enum orr_status add_sum(const struct building *building, const struct stg_gather *gather)
{
    struct stg_graph *graph = &building->model->graph;
    const char *names[] = {gather->target, gather->first, gather->second};
    uint32_t found[3];
    for (size_t i = 0; i < 3; i++) {
        found[i] = stg_graph_find(graph, names[i], strlen(names[i]));
        if (found[i] == STG_NONE) {
            return error_set(building->err, ORR_EINVAL, "the sheets have no \"%s\"", names[i]);
        }
    }
    struct stg_tensor *target = &graph->tensors[found[0]];
    if (target->op != STG_OP_PLACEHOLDER) {
        return error_set(building->err, ORR_EINVAL, "%s: \"%s\" is no placeholder",
                         stg_space_name(&building->model->space, target->place), gather->target);
    }
    target->op = STG_OP_ADD;
    target->x[0] = found[1];
    target->x[1] = found[2];
    target->shape[1] = target->shape[0];
    target->hidden[1] = target->hidden[0];
    target->is_input = false;
    return ORR_OK;
}

static enum orr_status solve_all(const struct building *building, uint32_t begin)
{
    struct stg_model *model = building->model;
    enum orr_status status = ORR_OK;
    for (uint32_t i = begin; i < model->graph.count && status == ORR_OK; i++) {
        status = stg_tensor_solve(&model->space, &model->graph.tensors[i], building->err);
    }
    return status;
}

static enum orr_status build_block(const struct building *building)
{
    const struct stg_family *family = building->family;
    struct stg_model *model = building->model;
    bool compat = building->config->compat;
    bool sharded = building->config->weight_sharded;
    enum orr_status status = add_modules(building, family->block, STG_MODULES_MAX);
    status = status == ORR_OK ? stg_model_join_all(building, family->block_joins, STG_JOINS_MAX) : status;
    for (size_t i = 0; family->block_sums[i].target != NULL && status == ORR_OK; i++) {
        status = add_sum(building, &family->block_sums[i]);
    }
    status = status == ORR_OK ? solve_all(building, 0) : status;
    if (status == ORR_OK && building->config->recompute) {
        uint32_t arrives = stg_graph_find(&model->graph, family->block_dout, strlen(family->block_dout));
        status = stg_recompute(&model->graph, 0, arrives, building->err);
    }
    status =
        status == ORR_OK ? stg_fuse_weights(&model->graph, 0, "", compat, compat || sharded, building->err) : status;
    model->end[STG_PART_BLOCK] = model->graph.count;
    return status;
}

/* The original leaves the weights of the ends as they are. */
static enum orr_status build_ends(const struct building *building)
{
    const struct stg_family *family = building->family;
    struct stg_model *model = building->model;
    bool fuse = !building->config->compat;
    bool sharded = building->config->weight_sharded;
    enum orr_status status = add_modules(building, family->first, 2);
    uint32_t begin = model->end[STG_PART_BLOCK];
    status = status == ORR_OK ? solve_all(building, begin) : status;
    status = status == ORR_OK && fuse
                 ? stg_fuse_weights(&model->graph, begin, family->first[0].prefix, false, sharded, building->err)
                 : status;
    model->end[STG_PART_FIRST] = model->graph.count;
    status = status == ORR_OK ? add_modules(building, family->last, 4) : status;
    status = status == ORR_OK ? stg_model_join_all(building, family->last_joins, 5) : status;
    begin = model->end[STG_PART_FIRST];
    status = status == ORR_OK ? solve_all(building, begin) : status;
    status = status == ORR_OK && fuse ? stg_fuse_weights(&model->graph, begin, "head.", false, sharded, building->err)
                                      : status;
    model->end[STG_PART_LAST] = model->graph.count;
    return status;
}

/* ---- what joins layers, and weights ---- */

static enum orr_status find_ports(const struct building *building)
{
    struct stg_model *model = building->model;
    const struct stg_family *family = building->family;
    const struct {
        const char *name;
        uint32_t *port;
        bool joined; /* a placeholder that becomes an identity here */
    } ports[] = {
        {family->block_in, &model->block_in, true},     {family->block_out, &model->block_out, false},
        {family->block_dout, &model->block_dout, true}, {family->block_din, &model->block_din, false},
        {family->first_out, &model->first_out, false},  {family->first_dout, &model->first_dout, true},
        {family->last_in, &model->last_in, true},       {family->last_din, &model->last_din, false},
    };
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        uint32_t found = stg_graph_find(&model->graph, ports[i].name, strlen(ports[i].name));
        if (found == STG_NONE || (ports[i].joined && model->graph.tensors[found].op != STG_OP_PLACEHOLDER)) {
            return error_set(building->err, ORR_EINVAL, "the sheets have no %s \"%s\"",
                             ports[i].joined ? "placeholder" : "tensor", ports[i].name);
        }
        if (ports[i].joined) {
            model->graph.tensors[found].op = STG_OP_IDENTITY;
        }
        *ports[i].port = found;
    }
    return ORR_OK;
}

static enum stg_part stg_model_part_of(const struct stg_model *model, uint32_t tensor)
{
    return tensor < model->end[STG_PART_BLOCK]   ? STG_PART_BLOCK
           : tensor < model->end[STG_PART_FIRST] ? STG_PART_FIRST
                                                 : STG_PART_LAST;
}

/* The gradient summed over micro-batches, and weight@1. */
static enum orr_status add_update(const struct building *building, uint32_t weight, uint32_t grad)
{
    struct stg_model *model = building->model;
    struct stg_graph *graph = &model->graph;
    struct stg_weight made = {.weight = weight, .grad = grad, .part = stg_model_part_of(model, weight)};
    struct stg_tensor *merged = stg_graph_add(graph, graph->tensors[grad].name, &made.merged);
    if (merged == NULL || !MEM_GROW(model->space.mem, model->weights, model->weight_capacity, model->weight_count)) {
        return stg_model_no_memory(building);
    }
    const struct stg_tensor *each = &graph->tensors[grad];
    merged->place = each->place;
    merged->op = STG_OP_CUSTOM;
    merged->amount = stg_shape_size(&model->space, each->y_shape);
    merged->shape[0] = merged->shape[1] = each->y_shape;
    merged->hidden[0] = merged->hidden[1] = each->y_hidden;
    struct stg_tensor *updated = stg_graph_add(graph, graph->tensors[weight].name, &made.updated);
    if (updated == NULL || graph->tensors[made.merged].amount == STG_NO_EXPR) {
        return stg_model_no_memory(building);
    }
    const struct stg_tensor *old = &graph->tensors[weight];
    updated->place = old->place;
    updated->op = STG_OP_ADD;
    updated->revision = old->revision + 1;
    updated->require_grads = true;
    updated->shape[0] = updated->shape[1] = old->y_shape;
    updated->hidden[0] = updated->hidden[1] = old->y_hidden;
    enum orr_status status = stg_tensor_solve(&model->space, &graph->tensors[made.merged], building->err);
    status = status == ORR_OK ? stg_tensor_solve(&model->space, &graph->tensors[made.updated], building->err) : status;
    model->weights[model->weight_count++] = made;
    return status;
}

static enum orr_status find_weights(const struct building *building)
{
    struct stg_model *model = building->model;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < model->end[STG_PART_LAST] && status == ORR_OK; i++) {
        const struct stg_tensor *tensor = &model->graph.tensors[i];
        if (tensor->op != STG_OP_PLACEHOLDER || !tensor->require_grads) {
            continue;
        }
        uint32_t grad = 0;
        while (grad < model->end[STG_PART_LAST] && model->graph.tensors[grad].grad_of != i) {
            grad++;
        }
        if (grad == model->end[STG_PART_LAST]) {
            return error_set(building->err, ORR_EINVAL,
                             "%s: the weight \"%s\" (require_grads Y) has no gradient (grad_of)",
                             stg_space_name(&model->space, tensor->place), stg_space_name(&model->space, tensor->name));
        }
        status = add_update(building, i, grad);
    }
    return status;
}

/* fsdp is dp or 1, for all tensors at once. */
static enum orr_status settle_sharding(const struct building *building)
{
    struct stg_model *model = building->model;
    struct stg_space *space = &model->space;
    uint32_t to[STG_SYMBOL_COUNT];
    for (unsigned i = 0; i < STG_SYMBOL_COUNT; i++) {
        to[i] = STG_NO_EXPR;
    }
    to[STG_FSDP] = building->config->weight_sharded ? stg_expr_symbol(&space->exprs, STG_DP)
                                                    : stg_expr_number(&space->exprs, 1, 1);
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < model->graph.count && status == ORR_OK; i++) {
        struct stg_tensor *tensor = &model->graph.tensors[i];
        for (int x = 0; x < 2; x++) {
            tensor->shape[x] = stg_shape_substitute(space, tensor->shape[x], to);
            tensor->hidden[x] = stg_shape_substitute(space, tensor->hidden[x], to);
        }
        if (tensor->amount != STG_NO_EXPR) {
            tensor->amount = stg_expr_substitute(&space->exprs, tensor->amount, to);
        }
        if (space->exprs.fault != STG_FAULT_NONE) {
            return stg_exprs_error(&space->exprs, stg_space_name(space, tensor->place), building->err);
        }
        status = stg_tensor_solve(space, tensor, building->err);
    }
    return status;
}

enum orr_status stg_model_build(const struct stg_config *config, struct mem *mem, struct stg_model *model,
                                struct orr_error *err)
{
    struct building building = {config, stg_family_find(config), model, err};
    *model = (struct stg_model){.layer_prefix = building.family->layer_prefix};
    stg_space_init(&model->space, mem);
    stg_graph_init(&model->graph, &model->space);
    enum orr_status status = build_block(&building);
    status = status == ORR_OK ? build_ends(&building) : status;
    status = status == ORR_OK ? find_ports(&building) : status;
    status = status == ORR_OK ? find_weights(&building) : status;
    status = status == ORR_OK ? settle_sharding(&building) : status;
    if (status != ORR_OK) {
        stg_model_free(model);
    }
    return status;
}

void stg_model_free(struct stg_model *model)
{
    mem_free(model->space.mem, model->weights, model->weight_capacity * sizeof *model->weights);
    stg_graph_free(&model->graph);
    stg_space_free(&model->space);
    *model = (struct stg_model){0};
}
