/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are counted in the order of the file, because SimAI's sums are doubles that do not commute; what a phase is
 * called (forward, input gradient, weight gradient) differs from the order it is reported in (forward, weight, input).
 * How SimAI itself counts is compat/simai's, but for what the header's zeros mean.
 */
#include "model/simai/analytical.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/simai/original.h"
#include "model/simai/stages.h"

static const double NS_PER_US = 1000.0;
enum { MISSING_ROWS = 1 << 20 };

static const enum text_phase reported[TEXT_PHASES] = {TEXT_FWD, TEXT_WG, TEXT_IG};

struct device {
    const char *name;
    float bandwidth;
};

/* The first five are SimAI's. The others are half of what the data sheet gives for both directions, times the share of
 * it that SimAI takes for H100 (0.824), and for AMD's the share that RCCL reaches (docs/simai.md has the sheets). */
static const struct device gpus[] = {{"A100", 240.0F},   {"A800", 160.0F},  {"H100", 370.8F}, {"H800", 164.8F},
                                     {"H20", 370.8F},    {"H200", 370.8F},  {"B200", 741.6F}, {"GB200", 741.6F},
                                     {"MI300X", 294.0F}, {"MI355X", 352.8F}};
static const struct device nics[] = {{"cx6", 23.5F}, {"cx7", 48.5F}, {"bf3", 48.5F}};

static float find_device(const struct device *devices, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(devices[i].name, type) == 0) {
            return devices[i].bandwidth;
        }
    }
    return 0;
}

float simai_gpu_nvlink(const char *type)
{
    return find_device(gpus, sizeof gpus / sizeof gpus[0], type);
}

float simai_nic_bandwidth(const char *type)
{
    return find_device(nics, sizeof nics / sizeof nics[0], type);
}

void simai_gpu_names(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0] && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", gpus[i].name);
    }
}

struct count {
    const struct simai_machine *machine;
    const struct simai_text *text;
    struct simai_analysis *analysis;
    struct notes *notes;
    struct orr_error *err;
    uint64_t unknown_words;
};

bool simai_is_transformer(enum text_strategy strategy)
{
    return strategy == TEXT_HYBRID_TRANSFORMER || strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
}

/* ---- how the ranks are divided ---- */

static int32_t header_value(const struct simai_text *text, enum simai_key key)
{
    return (int32_t)(text->values[key] < INT32_MAX ? text->values[key] : INT32_MAX);
}

/* SimAI reads the degrees of the transformer policies only; what is missing is 0 for it, and 1 where it is meant. */
static enum orr_status divide_ranks(struct count *count)
{
    struct simai_analysis *analysis = count->analysis;
    const struct simai_text *text = count->text;
    int32_t *degrees[] = {&analysis->tp, &analysis->ep, &analysis->cp, &analysis->pp, &analysis->vpp, &analysis->ga};
    static const enum simai_key keys[] = {SIMAI_TP, SIMAI_EP, SIMAI_CP, SIMAI_PP, SIMAI_VPP, SIMAI_GA};
    bool compat = count->machine->original != NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int32_t value = simai_is_transformer(text->workload.strategy) || !compat ? header_value(text, keys[i]) : 0;
        *degrees[i] = value == 0 && !compat ? 1 : value;
    }
    analysis->cp = compat ? 1 : analysis->cp; /* SimAI has no such key */
    int64_t stage = (int64_t)analysis->tp * analysis->pp;
    analysis->dp = stage == 0 ? 0 : (int32_t)(count->machine->gpus / stage);
    if (compat) {
        return text->values[SIMAI_PP_COMM] <= INT32_MAX
                   ? ORR_OK
                   : error_set(count->err, ORR_ERANGE,
                               "%s:1: pp_comm: %" PRId64 " is above 2147483647, where SimAI ends; without "
                               "parameter 'compat' simai it is counted",
                               text->workload.path, text->values[SIMAI_PP_COMM]);
    }
    if (count->machine->gpus % stage != 0) {
        return error_set(count->err, ORR_EINVAL,
                         "%s:1: %" PRId32 " GPUs (parameter 'gpus') do not divide into TP %" PRId32
                         " times PP %" PRId32,
                         text->workload.path, count->machine->gpus, analysis->tp, analysis->pp);
    }
    /* AICB's inference spreads experts over all GPUs, stages included; more there are not. */
    if (count->machine->gpus % analysis->ep != 0) {
        return error_set(count->err, ORR_EINVAL,
                         "%s:1: %" PRId32 " GPUs (parameter 'gpus') do not divide into EP %" PRId32,
                         text->workload.path, count->machine->gpus, analysis->ep);
    }
    if (analysis->dp % analysis->cp != 0) {
        return error_set(count->err, ORR_EINVAL,
                         "%s:1: context parallelism of %" PRId32 " does not divide the %" PRId32
                         " ranks that TP and PP leave (%" PRId32 " GPUs / TP %" PRId32 " / PP %" PRId32 ")",
                         text->workload.path, analysis->cp, analysis->dp, count->machine->gpus, analysis->tp,
                         analysis->pp);
    }
    if (text->given[SIMAI_GPUS] && text->values[SIMAI_GPUS] != count->machine->gpus) {
        return notes_add(count->notes, count->err,
                         "%s:1: all_gpus: is %" PRId64 "; counted with the %" PRId32 " of parameter 'gpus'",
                         text->workload.path, text->values[SIMAI_GPUS], count->machine->gpus);
    }
    return ORR_OK;
}

static int32_t group_ranks(const struct simai_analysis *analysis, enum simai_group group)
{
    int32_t between = analysis->dp / analysis->ep;
    switch (group) {
    case SIMAI_GROUP_TP:
        return analysis->tp;
    case SIMAI_GROUP_EP:
        return analysis->ep;
    case SIMAI_GROUP_CP:
        return analysis->cp;
    case SIMAI_GROUP_DP_EP:
        return between > 1 ? between : 1;
    default:
        return analysis->dp;
    }
}

/* ---- one phase of a row ---- */

static bool computes(enum text_strategy strategy, enum text_phase phase)
{
    return strategy != TEXT_MICRO && (strategy != TEXT_DISTRIBUTED_INFERENCE || phase == TEXT_FWD);
}

static enum orr_status report_trouble(struct count *count, const struct text_layer *layer,
                                      const struct simai_collective *collective)
{
    return error_set(count->err, ORR_EINVAL,
                     "%s:%" PRIu64
                     ": row \"%.*s\" needs the bandwidth of %s in group %s; the file of parameter 'busbw' has none "
                     "(section %s, key %s), and parameter 'nvlink', parameter 'nic', parameter 'nics-per-server' and "
                     "parameter 'gpus-per-server', from which it could be told, are not all given",
                     count->text->workload.path, layer->line, (int)(layer->name.length < 40 ? layer->name.length : 40),
                     layer->name.text, simai_op_names[collective->op], simai_group_names[collective->group],
                     simai_group_names[collective->group], simai_op_names[collective->op]);
}

static enum orr_status count_phase(struct count *count, const struct text_layer *layer, enum text_phase phase,
                                   struct simai_cost *cost)
{
    const struct text_cell *cell = &layer->cells[phase];
    const struct simai_machine *machine = count->machine;
    const struct simai_original *original = machine->original;
    struct simai_collective *collective = &cost->collective;
    enum text_strategy strategy = count->text->workload.strategy;
    simai_word_read(cell->comm.text, cell->comm.length, phase == TEXT_WG ? SIMAI_GROUP_DP : SIMAI_GROUP_TP,
                    &collective->op, &collective->group);
    if (original != NULL && collective->group == SIMAI_GROUP_CP) {
        collective->group = SIMAI_GROUP_NONE;
    }
    bool known = collective->op != SIMAI_OP_NONE ? collective->group != SIMAI_GROUP_NONE
                                                 : cell->comm.length == 0 || text_word_is(cell->comm, "NONE");
    count->unknown_words += !known;
    collective->bytes = original != NULL ? original->bytes(strategy, phase, cell->bytes) : (uint64_t)cell->bytes;
    collective->ranks = original != NULL ? original->group_ranks(count->analysis, phase, collective->group)
                                         : group_ranks(count->analysis, collective->group);
    collective->tp = count->analysis->tp;
    collective->ep = count->analysis->ep;
    uint64_t time = original != NULL ? original->number(cell->time) : (uint64_t)cell->time;
    cost->compute = computes(strategy, phase) ? time : 0;
    enum simai_trouble trouble = simai_collective_time(machine, collective, &cost->comm);
    if (trouble == SIMAI_NO_BANDWIDTH) {
        return report_trouble(count, layer, collective);
    }
    count->analysis->given_up = count->analysis->given_up || trouble == SIMAI_BEYOND_TABLE;
    simai_collective_rates(machine, collective, cost->comm, &cost->algorithm_rate, &cost->bus_rate);
    return ORR_OK;
}

/* ---- sums ---- */

/* The group that a phase's exposed time is booked under, and whose share of overlap it has. */
static enum simai_group booked(const struct simai_machine *machine, const struct simai_row *row, enum text_phase phase)
{
    if (machine->original != NULL) {
        return machine->original->booked(row, phase);
    }
    enum simai_group own = row->costs[phase].collective.group;
    return own < SIMAI_GROUPS ? own : phase == TEXT_WG ? SIMAI_GROUP_DP : SIMAI_GROUP_TP;
}

static uint64_t expose(const struct simai_machine *machine, uint64_t ns, float overlap)
{
    return machine->original != NULL ? machine->original->expose(ns, overlap)
                                     : simai_ticks((double)ns * (1 - (double)overlap));
}

static void simai_analytical_add_row(struct count *count, struct simai_row *row)
{
    struct simai_sums *sums = &count->analysis->sums;
    const struct simai_machine *machine = count->machine;
    struct simai_cost *forward = &row->costs[TEXT_FWD];
    struct simai_cost *input = &row->costs[TEXT_IG];
    struct simai_cost *weight = &row->costs[TEXT_WG];
    if (!text_word_is(row->name, "embedding_layer")) {
        uint64_t stage = forward->comm + forward->compute + weight->compute + input->compute + input->comm;
        sums->bubble += (double)stage / NS_PER_US;
    }
    for (unsigned phase = 0; phase < TEXT_PHASES; phase++) {
        struct simai_cost *cost = &row->costs[phase];
        cost->exposed = expose(machine, cost->comm, machine->overlap[booked(machine, row, (enum text_phase)phase)]);
    }
    sums->exposed[booked(machine, row, TEXT_WG)] += (double)weight->exposed / NS_PER_US;
    if (machine->original != NULL) { /* one sum, which rounds otherwise than two */
        sums->exposed[booked(machine, row, TEXT_FWD)] += (double)(forward->exposed + input->exposed) / NS_PER_US;
    } else {
        sums->exposed[booked(machine, row, TEXT_FWD)] += (double)forward->exposed / NS_PER_US;
        sums->exposed[booked(machine, row, TEXT_IG)] += (double)input->exposed / NS_PER_US;
    }
    for (unsigned i = 0; i < TEXT_PHASES; i++) {
        sums->compute += (double)row->costs[reported[i]].compute / NS_PER_US;
    }
    sums->exposed_all += (double)forward->exposed / NS_PER_US;
    sums->exposed_all += (double)weight->exposed / NS_PER_US;
    sums->exposed_all += (double)input->exposed / NS_PER_US;
}

static enum orr_status simai_analytical_finish(struct count *count)
{
    struct simai_analysis *analysis = count->analysis;
    struct simai_sums *sums = &analysis->sums;
    enum orr_status status = ORR_OK;
    if (count->machine->original != NULL) {
        count->machine->original->pipeline(count->machine, count->text, analysis);
    } else {
        sums->bubble = 0;
        status = simai_stages_count(count->machine, count->text, analysis, count->notes, count->err);
    }
    sums->total = sums->compute + sums->exposed_all + sums->bubble + sums->pipeline;
    if (status == ORR_OK && count->unknown_words > 0 && count->machine->original == NULL) {
        status = notes_add(count->notes, count->err,
                           "%s: %" PRIu64 " collectives are of a kind SimAI does not count (BROADCAST, another suffix "
                           "than _EP, _DP_EP and _CP); they cost nothing here either",
                           count->text->workload.path, count->unknown_words);
    }
    return status;
}

/* ---- rows ---- */

static enum orr_status simai_analytical_count_row(struct count *count, const struct text_layer *layer)
{
    struct simai_analysis *analysis = count->analysis;
    if (!MEM_GROW(analysis->mem, analysis->rows, analysis->row_capacity, analysis->row_count)) {
        return mem_error(analysis->mem, "the rows of a workload", count->err);
    }
    struct simai_row *row = &analysis->rows[analysis->row_count++];
    *row = (struct simai_row){.name = layer->name};
    enum orr_status status = ORR_OK;
    for (unsigned phase = 0; phase < TEXT_PHASES && status == ORR_OK; phase++) {
        status = count_phase(count, layer, (enum text_phase)phase, &row->costs[phase]);
    }
    if (status == ORR_OK) {
        simai_analytical_add_row(count, row);
    }
    return status;
}

static enum orr_status simai_analytical_check_rows(struct count *count)
{
    const struct text_workload *workload = &count->text->workload;
    struct text_words rest = count->text->rest;
    struct et_text word;
    if (workload->strategy == TEXT_HYBRID_CUSTOMIZED) {
        return error_set(count->err, ORR_EINVAL, "%s:1: HYBRID_CUSTOMIZED has no groups to count with", workload->path);
    }
    if (workload->written_count - workload->layer_count > MISSING_ROWS) {
        return error_set(count->err, ORR_ERANGE, "%s:2: %" PRId64 " rows are declared, the file has %" PRIu32,
                         workload->path, workload->written_count, workload->layer_count);
    }
    if (workload->layer_count < workload->written_count && count->machine->original == NULL) {
        return notes_add(count->notes, count->err,
                         "%s:2: %" PRId64 " rows are declared, the file has %" PRIu32 "; counted with those",
                         workload->path, workload->written_count, workload->layer_count);
    }
    if (text_word_next(&rest, &word) && count->machine->original == NULL) {
        return notes_add(count->notes, count->err,
                         "%s:%" PRIu64 ": the file goes on behind the %" PRId64 " rows it declares; what follows is "
                         "not counted",
                         workload->path, rest.line, workload->written_count);
    }
    return ORR_OK;
}

enum orr_status simai_analysis_make(const struct simai_machine *machine, const struct simai_text *text, struct mem *mem,
                                    struct notes *notes, struct simai_analysis *analysis, struct orr_error *err)
{
    const struct text_workload *workload = &text->workload;
    *analysis = (struct simai_analysis){.mem = mem, .chunks = 1};
    struct count count = {.machine = machine, .text = text, .analysis = analysis, .notes = notes, .err = err};
    enum orr_status status = simai_analytical_check_rows(&count);
    status = status == ORR_OK ? divide_ranks(&count) : status;
    for (uint32_t i = 0; i < workload->layer_count && status == ORR_OK; i++) {
        status = simai_analytical_count_row(&count, &workload->layers[i]);
    }
    if (machine->original != NULL) {
        struct text_layer stale = machine->original->missing_row(workload);
        for (int64_t i = workload->layer_count; i < workload->written_count && status == ORR_OK; i++) {
            status = simai_analytical_count_row(&count, &stale);
        }
    }
    status = status == ORR_OK ? simai_analytical_finish(&count) : status;
    if (status != ORR_OK) {
        simai_analysis_free(analysis);
    }
    return status;
}

void simai_analysis_free(struct simai_analysis *analysis)
{
    mem_free(analysis->mem, analysis->rows, analysis->row_capacity * sizeof *analysis->rows);
    *analysis = (struct simai_analysis){0};
}
