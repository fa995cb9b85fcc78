/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options are checked, the steps are run in order, and files appear one after the other, each complete. Stages are made
 * and written one at a time: what is in memory is one stage's nodes and image, however many ranks there are.
 */
#include "model/stg/stg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/outfile.h"
#include "model/stg/family.h"
#include "model/stg/groups.h"
#include "model/stg/image.h"
#include "model/stg/vram.h"

enum { PATH_BYTES = 4096, RANKS_MAX = 1 << 20, DIMENSION_MAX = 1 << 30 };

struct generating {
    const struct orr_stg_options *options;
    struct mem *mem;
    struct notes *notes;
    struct orr_stg_result *result;
    struct orr_error *err;
    struct stg_config config;
    char sheets[PATH_BYTES];
    struct stg_model model;
    struct stg_facts facts;
    struct stg_stages stages;
    struct stg_form form;
    struct stg_mapping mapping;
};

/* ---- options ---- */

static enum orr_status stg_check_numbers(const struct orr_stg_options *options, struct orr_error *err)
{
    const struct {
        const char *name;
        uint32_t value;
    } numbers[] = {
        {"dp", options->dp},
        {"tp", options->tp},
        {"pp", options->pp},
        {"sp", options->sp},
        {"ep", options->ep},
        {"dvocal", options->vocabulary},
        {"dmodel", options->hidden},
        {"dff", options->ffn},
        {"batch", options->batch},
        {"seq", options->seq},
        {"head", options->heads},
        {"kvhead", options->kv_heads},
        {"num_stacks", options->layers},
        {"experts", options->experts},
        {"kexperts", options->top_k},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].value == 0 || numbers[i].value > DIMENSION_MAX) {
            return error_set(err, ORR_ERANGE, "%s is %" PRIu32 "; it must be between 1 and %d", numbers[i].name,
                             numbers[i].value, DIMENSION_MAX);
        }
    }
    return ORR_OK;
}

static enum orr_status divides(const char *part, uint64_t divisor, const char *whole, uint64_t dividend,
                               struct orr_error *err)
{
    return dividend % divisor == 0 ? ORR_OK
                                   : error_set(err, ORR_EINVAL, "%s %" PRIu64 " does not divide %s %" PRIu64, part,
                                               divisor, whole, dividend);
}

static enum orr_status check_shapes(const struct orr_stg_options *options, struct orr_error *err)
{
    uint64_t micro_batch = options->micro_batch == 0 ? options->batch : options->micro_batch;
    bool experts = options->model == ORR_STG_MOE;
    uint64_t ranks = (uint64_t)options->dp * options->tp;
    if (__builtin_mul_overflow(ranks, options->pp, &ranks) || __builtin_mul_overflow(ranks, options->sp, &ranks) ||
        __builtin_mul_overflow(ranks, options->ep, &ranks) || ranks > RANKS_MAX) {
        return error_set(err, ORR_ERANGE, "dp x tp x pp x sp x ep is more than %d ranks", RANKS_MAX);
    }
    if (options->pp > options->layers) {
        return error_set(err, ORR_EINVAL, "pp %" PRIu32 " is more than num_stacks %" PRIu32 ": a stage needs a layer",
                         options->pp, options->layers);
    }
    enum orr_status status = divides("micro_batch", micro_batch, "batch", options->batch, err);
    if (status == ORR_OK && experts) {
        status = divides("ep", options->ep, "experts", options->experts, err);
    }
    if (status == ORR_OK && experts && options->top_k > options->experts) {
        status = error_set(err, ORR_EINVAL, "kexperts %" PRIu32 " is more than experts %" PRIu32, options->top_k,
                           options->experts);
    }
    if (status != ORR_OK || options->compat) {
        return status; /* the original looks at no other rule; fractions are cut */
    }
    status = divides("head", options->heads, "dmodel", options->hidden, err);
    if (status == ORR_OK && options->model != ORR_STG_GPT) {
        status = divides("kvhead", options->kv_heads, "head", options->heads, err);
    }
    return status;
}

static enum orr_status check_modes(const struct generating *work)
{
    const struct orr_stg_options *options = work->options;
    bool split_only = options->model == ORR_STG_MOE || (options->model != ORR_STG_GPT && !options->compat);
    if (split_only && !options->tpsp && options->sheets != NULL) {
        return error_set(work->err, ORR_EINVAL, "STG has no sheets of this model without tpsp; our own can do without");
    }
    if (options->compat && options->sheets == NULL) {
        return error_set(work->err, ORR_EINVAL,
                         "parameter 'compat' stg needs parameter 'sheets', the folder of STG's spreadsheets");
    }
    if (options->merge_comms && !options->compat) {
        return error_set(
            work->err, ORR_EINVAL,
            "merging collectives loses data that must be sent; it is done under parameter 'compat' stg only");
    }
    if (options->model == ORR_STG_MOE && options->fold_micro_batches) {
        return error_set(work->err, ORR_EINVAL, "micro-batches cannot be folded in model moe");
    }
    if (options->compat && options->element_bytes > 1) {
        return error_set(work->err, ORR_EINVAL,
                         "sizes are elements under parameter 'compat' stg; leave out the element's bytes");
    }
    return options->compat && options->activation_recompute
               ? notes_add(work->notes, work->err,
                           "activation_recompute has no effect under parameter 'compat' stg, as in the original")
               : ORR_OK;
}

static void set_values(struct generating *work)
{
    const struct orr_stg_options *options = work->options;
    struct stg_config *config = &work->config;
    uint32_t micro_batch = options->micro_batch == 0 ? options->batch : options->micro_batch;
    bool experts = options->model == ORR_STG_MOE;
    const struct {
        enum stg_symbol symbol;
        uint64_t value;
    } values[] = {
        {STG_BATCH, options->batch},
        {STG_MICRO_BATCH, micro_batch},
        {STG_SEQ, options->seq},
        {STG_DMODEL, options->hidden},
        {STG_DFF, options->ffn},
        {STG_HEAD, options->heads},
        {STG_KV_HEAD, options->kv_heads},
        {STG_DVOCAL, options->vocabulary},
        {STG_EXPERTS, options->experts},
        {STG_K_EXPERTS, options->top_k},
        {STG_DP, options->dp},
        {STG_TP, experts ? options->tp : (uint64_t)options->tp * options->ep},
        {STG_CP, options->sp},
        {STG_EP, experts ? options->ep : 1},
        {STG_PP, options->pp},
    };
    for (unsigned i = 0; i < STG_SYMBOL_COUNT; i++) {
        config->values[i] = 1;
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        config->values[values[i].symbol] = values[i].value;
    }
    config->layers = options->layers;
    config->micro_batches = options->batch / micro_batch;
}

/* Without mixed precision the original takes the GPT sheets for LLaMA too. */
static enum stg_kind stg_kind_of(const struct orr_stg_options *options)
{
    if (options->model == ORR_STG_MOE) {
        return STG_KIND_MOE;
    }
    bool gpt = options->model == ORR_STG_GPT || (options->compat && !options->mixed_precision);
    return gpt ? STG_KIND_GPT : STG_KIND_LLAMA;
}

static enum orr_status find_sheets(struct generating *work)
{
    static const char *const roots[] = {"", "/module3", "/sharding_spreadsheets/module3"};
    const struct orr_stg_options *options = work->options;
    if (options->sheets == NULL) {
        return ORR_OK;
    }
    work->config.sheets = work->sheets;
    const char *folder = stg_family_find(&work->config)->folder;
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        char first[PATH_BYTES + 64];
        int length = snprintf(work->sheets, sizeof work->sheets, "%s%s", options->sheets, roots[i]);
        (void)snprintf(first, sizeof first, "%s/%s", work->sheets, folder);
        if (length > 0 && (size_t)length < sizeof work->sheets && file_exists(first)) {
            return ORR_OK;
        }
    }
    return error_set(work->err, ORR_EIO,
                     "%.400s: there is no folder \"%s\" here, in module3 or in sharding_spreadsheets", options->sheets,
                     folder);
}

/* Every sheet of the user's takes the place of one that this model has. */
static enum orr_status check_own_sheets(const struct generating *work)
{
    const struct orr_stg_options *options = work->options;
    const char *names[STG_SHEET_NAMES_MAX];
    stg_family_sheets(stg_family_find(&work->config), names);
    for (size_t i = 0; i < options->own_sheet_count; i++) {
        const char *own = options->own_sheets[i];
        const char *equals = strchr(own, '=');
        char name[64];
        if (equals == NULL || equals == own || equals[1] == '\0' || (size_t)(equals - own) >= sizeof name) {
            return error_set(work->err, ORR_EINVAL, "parameter 'sheet': \"%.100s\" is not NAME=FILE.csv", own);
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - own), own);
        bool known = false;
        char all[400] = "";
        for (size_t n = 0, used = 0; names[n] != NULL; n++) {
            known = known || strcmp(name, names[n]) == 0;
            int more = snprintf(all + used, sizeof all - used, "%s%s", n == 0 ? "" : ", ", names[n]);
            used += more > 0 && (size_t)more < sizeof all - used ? (size_t)more : 0;
        }
        if (!known) {
            struct error_proposal near = error_propose(name, names);
            return error_set(work->err, ORR_EINVAL, "parameter 'sheet': this model has no sheet \"%s\"; it has %s%s",
                             name, all, near.text);
        }
    }
    return ORR_OK;
}

static enum orr_status stg_read_options(struct generating *work)
{
    const struct orr_stg_options *options = work->options;
    enum orr_status status = stg_check_numbers(options, work->err);
    status = status == ORR_OK ? check_shapes(options, work->err) : status;
    status = status == ORR_OK ? check_modes(work) : status;
    if (status != ORR_OK) {
        return status;
    }
    work->config = (struct stg_config){
        .kind = stg_kind_of(options),
        .compat = options->compat,
        .tpsp = options->tpsp,
        .weight_sharded = options->weight_sharded,
        .mixed_precision = options->mixed_precision,
        .recompute = options->activation_recompute && !options->compat,
        .last_head = !options->compat || options->mixed_precision,
        .element_bytes = options->compat               ? 1
                         : options->element_bytes != 0 ? options->element_bytes
                         : options->mixed_precision    ? 2
                                                       : 4,
    };
    set_values(work);
    work->form = (struct stg_form){.legacy = options->legacy_attr,
                                   .tag_base = options->tag_base,
                                   .copies = options->fold_micro_batches ? work->config.micro_batches : 1};
    stg_mapping_init(&work->mapping, &work->config);
    enum orr_status found = find_sheets(work);
    work->config.own_sheets = options->own_sheets;
    work->config.own_sheet_count = options->own_sheet_count;
    return found == ORR_OK ? check_own_sheets(work) : found;
}

/* ---- files ---- */

/* The rank in place of "%d"; `rank` STG_NONE gives the name of the groups' file. */
static enum orr_status make_path(const struct generating *work, uint32_t rank, char path[PATH_BYTES])
{
    const struct orr_stg_options *options = work->options;
    char name[PATH_BYTES];
    char number[16] = "";
    int length = snprintf(name, sizeof name, "%s%s", options->output_name,
                          strstr(options->output_name, "%d") == NULL ? ".%d.et" : "");
    char *hole = strstr(name, "%d");
    if (length < 0 || (size_t)length >= sizeof name || hole == NULL) {
        return error_set(work->err, ORR_EINVAL, "the output's name is too long");
    }
    if (rank != STG_NONE) {
        (void)snprintf(number, sizeof number, "%" PRIu32, rank);
    }
    *hole = '\0';
    const char *rest = hole + 2;
    size_t before = (size_t)(hole - name);
    if (rank == STG_NONE && before > 0 && name[before - 1] == '.') {
        name[--before] = '\0';
    }
    size_t end = strlen(rest);
    bool json = rank == STG_NONE && end >= 3 && strcmp(rest + end - 3, ".et") == 0;
    length = snprintf(path, PATH_BYTES, "%s/%s%s%.*s%s", options->output_dir, name, number, (int)(json ? end - 3 : end),
                      rest, json ? ".json" : "");
    return length > 0 && length < PATH_BYTES ? ORR_OK
                                             : error_set(work->err, ORR_EINVAL, "the output's name is too long");
}

static enum orr_status check_name(const struct generating *work)
{
    const char *name = work->options->output_name;
    const char *hole = strstr(name, "%d");
    const char *other = strchr(name, '%');
    if (name[0] == '\0' || (other != NULL && (other != hole || strchr(hole + 1, '%') != NULL))) {
        return error_set(work->err, ORR_EINVAL, "the output's name may have one %%d, for the rank, and no other %%");
    }
    char groups[PATH_BYTES];
    char trace[PATH_BYTES];
    enum orr_status status = make_path(work, STG_NONE, groups);
    status = status == ORR_OK ? make_path(work, 0, trace) : status;
    if (status == ORR_OK && strcmp(groups, trace) == 0) {
        status = error_set(work->err, ORR_EINVAL, "the groups' file would be a trace's: %.200s", groups);
    }
    return status;
}

/* Whether a sheet of the user's lies in the folder `out`. */
static bool holds_own_sheet(const struct generating *work, const char *out)
{
    bool holds = false;
    for (size_t i = 0; i < work->config.own_sheet_count && !holds; i++) {
        char *file = realpath(strchr(work->config.own_sheets[i], '=') + 1, NULL);
        char *slash = file == NULL ? NULL : strrchr(file, '/');
        if (slash != NULL) {
            slash[slash == file ? 1 : 0] = '\0';
            holds = strcmp(file, out) == 0;
        }
        free(file);
    }
    return holds;
}

/* A groups' file among the sheets could take the place of one. */
static enum orr_status check_place(const struct generating *work)
{
    char *out = realpath(work->options->output_dir, NULL);
    char *sheets = out == NULL || work->config.sheets == NULL ? NULL : realpath(work->config.sheets, NULL);
    size_t length = sheets == NULL ? 0 : strlen(sheets);
    bool inside = length > 0 && strncmp(out, sheets, length) == 0 && (out[length] == '/' || out[length] == '\0');
    inside = inside || (out != NULL && holds_own_sheet(work, out));
    free(out);
    free(sheets);
    return inside ? error_set(work->err, ORR_EINVAL, "%.400s lies among the sheets; write somewhere else",
                              work->options->output_dir)
                  : ORR_OK;
}

static enum orr_status stg_write_groups(const struct generating *work)
{
    char path[PATH_BYTES];
    struct stg_text text;
    stg_text_init(&text, work->mem);
    enum orr_status status = make_path(work, STG_NONE, path);
    if (status == ORR_OK) {
        work->result->groups = stg_mapping_print(&work->mapping, &text);
        status = text.refused ? mem_error(work->mem, "the groups' file", work->err)
                              : file_write(path, text.bytes, text.size, work->err);
    }
    stg_text_free(&text);
    return status;
}

static enum orr_status stg_write_ranks(const struct generating *work, uint32_t stage, const struct stg_image *image)
{
    struct stg_text file;
    stg_text_init(&file, work->mem);
    uint32_t size = work->mapping.stage_size;
    enum orr_status status = ORR_OK;
    for (uint32_t rank = stage * size; rank < (stage + 1) * size && status == ORR_OK; rank++) {
        struct stg_rank own;
        char path[PATH_BYTES];
        stg_mapping_rank(&work->mapping, rank, &own);
        stg_image_fill(image, &work->form, &own, &file);
        status = file.refused ? mem_error(work->mem, "a trace", work->err) : make_path(work, rank, path);
        status = status == ORR_OK ? file_write(path, file.bytes, file.size, work->err) : status;
        work->result->bytes += file.size;
        work->result->nodes += image->nodes;
    }
    stg_text_free(&file);
    return status;
}

static enum orr_status write_stage(struct generating *work, uint32_t stage, struct stg_numbering *numbering)
{
    struct stg_nodes nodes;
    struct stg_image image;
    enum orr_status status = stg_nodes_build(&work->stages, &work->model, &work->facts, stage,
                                             work->options->merge_comms, numbering, &nodes, work->err);
    if (status != ORR_OK) {
        return status;
    }
    status = stg_image_build(&nodes, &work->model, &work->form, &image, work->err);
    stg_nodes_free(&nodes);
    if (status == ORR_OK) {
        status = stg_write_ranks(work, stage, &image);
        stg_image_free(&image);
    }
    return status;
}

static enum orr_status stg_write_all(struct generating *work)
{
    struct stg_numbering numbering;
    enum orr_status status = stg_numbering_begin(&work->stages, &work->model, &numbering, work->err);
    status = status == ORR_OK ? stg_write_groups(work) : status;
    for (uint32_t stage = 0; stage < work->stages.count && status == ORR_OK; stage++) {
        status = write_stage(work, stage, &numbering);
        if (status == ORR_OK) {
            stg_vram_stage(&work->config, &work->model, &work->facts, &work->stages, stage,
                           &work->result->memory[stage]);
        }
    }
    if (status == ORR_OK && numbering.sliced > 0) {
        status = notes_add(work->notes, work->err,
                           "%" PRIu64 " inputs are cut from tensors that every rank has whole; the sheets' sharding "
                           "wastes work there",
                           numbering.sliced);
    }
    return status;
}

/* ---- the whole ---- */

static enum orr_status model_stg_stg_generate(struct generating *work)
{
    enum orr_status status = stg_model_build(&work->config, work->mem, &work->model, work->err);
    if (status != ORR_OK) {
        return status;
    }
    status = stg_facts_build(&work->config, &work->model, work->mem, &work->facts, work->err);
    if (status == ORR_OK) {
        status = stg_stages_build(&work->config, &work->model, work->options->fold_micro_batches, work->mem,
                                  &work->stages, work->err);
        if (status == ORR_OK) {
            status = stg_write_all(work);
            stg_stages_free(&work->stages);
        }
        stg_facts_free(&work->facts);
    }
    stg_model_free(&work->model);
    return status;
}

enum orr_status stg_generate(const struct orr_stg_options *options, struct mem *mem, struct notes *notes,
                             struct orr_stg_result *result, struct orr_error *err)
{
    struct generating *work = mem_zalloc(mem, sizeof *work);
    struct orr_stg_result made = {0};
    if (work == NULL) {
        return mem_error(mem, "a symbolic tensor graph", err);
    }
    work->options = options;
    work->mem = mem;
    work->notes = notes;
    work->result = &made;
    work->err = err;
    enum orr_status status = stg_read_options(work);
    status = status == ORR_OK ? check_name(work) : status;
    status = status == ORR_OK ? io_make_folder(options->output_dir, err) : status;
    status = status == ORR_OK ? check_place(work) : status;
    if (status == ORR_OK) {
        made.stages = options->pp;
        made.ranks = work->mapping.stage_size * options->pp;
        made.memory = calloc(options->pp, sizeof *made.memory);
        status = made.memory == NULL ? error_set(err, ORR_ENOMEM, "out of memory") : model_stg_stg_generate(work);
    }
    mem_free(mem, work, sizeof *work);
    if (status != ORR_OK) {
        free(made.memory);
        return status;
    }
    *result = made;
    return ORR_OK;
}
