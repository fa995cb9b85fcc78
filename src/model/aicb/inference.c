/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer is a few parts, each with a time and a size, in AICB's order; SimAI's text has a row a part, Vidur's table
 * adds them up to attention and mlp or moe. So the parts of a layer are made once, and two writers walk them.
 */
#include "model/aicb/inference.h"

#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "model/aicb/compute_file.h"
#include "model/aicb/rows.h"

enum group { GROUP_ATTENTION, GROUP_MLP, GROUP_MOE };

struct part {
    const char *name;
    const char *comm;
    int64_t ns, bytes;
    enum group group;
    bool moe;     /* carries 1 in the gradients' columns, as AICB has it */
    bool untimed; /* its time is a stand-in that a sum leaves out */
};

enum { PARTS_MAX = 8 };

struct inference {
    const struct aicb_options *o;
    struct aicb_inference_model model;
    struct aicb_inference_times times; /* AICB_NO_TIME where not known */
    int64_t tokens;
    int64_t reduced, dispatched, combined; /* bytes: TP all-reduce, to the experts, back */
    int64_t layers;                        /* to write */
};

static struct part make_part(const char *name, enum group group, int64_t ns)
{
    return (struct part){.name = name, .group = group, .ns = ns == AICB_NO_TIME ? 1 : ns};
}

static struct part reduced_part(const struct inference *run, const char *name, enum group group, int64_t ns)
{
    struct part part = make_part(name, group, ns);
    if (run->o->tp > 1) {
        part.comm = AICB_ALLREDUCE;
        part.bytes = run->reduced;
    }
    return part;
}

static struct part routed_part(const struct inference *run, const char *name, int64_t ns, int64_t bytes)
{
    struct part part = make_part(name, GROUP_MOE, ns);
    part.moe = true;
    if (run->o->ep > 1 || !run->o->fix.lone_groups) {
        part.comm = AICB_ALLTOALL_EP;
        part.bytes = bytes;
    }
    return part;
}

static struct part shared_part(const struct inference *run)
{
    int64_t ns = run->times.shared > 0 ? run->times.shared : run->times.mlp; /* a profile has none of its own */
    return make_part("shared_experts", GROUP_MOE, ns);
}

/* All but the shared experts, of which there may be many; `*shared_at` is where they go. */
static unsigned deepseek_parts(const struct inference *run, int64_t layer, struct part *parts, unsigned *shared_at)
{
    const struct aicb_inference_times *times = &run->times;
    parts[0] = reduced_part(run, "attention_layer", GROUP_ATTENTION, times->attention_layer);
    if (layer < run->model.dense_layers) {
        parts[1] = reduced_part(run, "dense_mlp", GROUP_MLP, times->mlp);
        return 2;
    }
    *shared_at = 1;
    int64_t route = run->o->fix.route_time ? times->moe_route : AICB_NO_TIME;
    parts[1] = routed_part(run, "moe_route", route, run->dispatched);
    parts[1].untimed = !run->o->fix.route_time;
    parts[2] = routed_part(run, "moe_expert", times->moe_expert, run->combined);
    return 3;
}

static unsigned qwen_parts(const struct inference *run, int64_t layer, struct part *parts)
{
    const struct aicb_inference_times *times = &run->times;
    bool linear = run->model.family == AICB_FAMILY_QWEN3_NEXT && (layer + 1) % run->model.full_attention_interval != 0;
    parts[0] = make_part("attention_norm", GROUP_ATTENTION, times->attention_norm);
    parts[1] = linear ? reduced_part(run, "attention_gdn", GROUP_ATTENTION, times->attention_gdn)
                      : reduced_part(run, "attention_layer", GROUP_ATTENTION, times->attention_layer);
    parts[2] = make_part("moe_norm", GROUP_MOE, times->moe_norm);
    parts[3] = routed_part(run, "moe_route", times->moe_route, run->dispatched);
    parts[4] = routed_part(run, "moe_expert", times->moe_expert, run->combined);
    return 5;
}

/* The parts of a layer; `*shared_at` is the index before which `model.shared` shared experts stand, or PARTS_MAX. */
static unsigned layer_parts(const struct inference *run, int64_t layer, struct part *parts, unsigned *shared_at)
{
    *shared_at = PARTS_MAX;
    return run->model.family == AICB_FAMILY_DEEPSEEK ? deepseek_parts(run, layer, parts, shared_at)
                                                     : qwen_parts(run, layer, parts);
}

/* ---- sizes and times ------------------------------------------------------------------------------------------- */

static enum orr_status aicb_inference_check(const struct aicb_options *o, struct orr_error *err)
{
    if (o->world_size < o->tp || o->world_size < o->ep) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'world_size' %" PRId64 " is less than TP %" PRId64 " or EP %" PRId64, o->world_size,
                         o->tp, o->ep);
    }
    bool overflow = false;
    int64_t ranks = aicb_mul(o->tp, o->pp, &overflow);
    if (!o->compat && (overflow || o->world_size % ranks != 0)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'world_size' %" PRId64 " is not a multiple of TP x PP = %" PRId64 " x %" PRId64,
                         o->world_size, o->tp, o->pp);
    }
    return ORR_OK;
}

static enum orr_status make_sizes(struct inference *run, struct orr_error *err)
{
    const struct aicb_options *o = run->o;
    bool overflow = false;
    bool prefill = o->phase == AICB_PHASE_PREFILL;
    run->tokens = !prefill                ? o->micro_batch
                  : o->fix.prefill_tokens ? aicb_mul(o->micro_batch, o->seq_length, &overflow)
                                          : o->seq_length;
    run->reduced = aicb_mul(2 * run->model.hidden, run->tokens, &overflow);
    run->combined = aicb_mul(run->reduced, run->model.topk, &overflow) / o->tp;
    run->dispatched = aicb_mul(run->combined, 33, &overflow) / 64; /* FP8 and a 4-byte scale every 128 values */
    if (overflow) {
        return error_set(err, ORR_ERANGE, "a size of this workload does not fit 64 bits");
    }
    return ORR_OK;
}

/* Where AICB looks: the profiler's output folder below the working folder. */
static const char *aicb_path(const struct inference *run, struct arena *arena)
{
    const struct aicb_options *o = run->o;
    return arena_printf(arena,
                        "results/aiob_outputs/%s-world_size%" PRId64 "-tp%" PRId64 "-pp%" PRId64 "-ep%" PRId64
                        "-bpg%" PRId64 "-seq%" PRId64 "-%s.txt",
                        run->model.name, o->world_size, o->tp, o->pp, o->ep, o->micro_batch, o->seq_length,
                        o->phase == AICB_PHASE_PREFILL ? "prefill" : "decode");
}

static enum orr_status aicb_inference_read_times(struct inference *run, struct arena *arena, struct orr_error *err)
{
    const struct aicb_options *o = run->o;
    enum { N = AICB_NO_TIME };
    run->times = (struct aicb_inference_times){N, N, N, N, N, N, N, N};
    const char *path = o->comp_filepath;
    if (o->inference_times != NULL && (path != NULL || o->aiob_enable)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'compute-times' model and parameter 'comp_filepath' both say compute times; one is "
                         "needed");
    }
    if (o->inference_times != NULL) {
        run->times = *o->inference_times;
        return ORR_OK;
    }
    if (path == NULL && o->aiob_enable) {
        return error_set(
            err, ORR_EINVAL,
            "parameter 'aiob_enable' needs parameter 'comp_filepath' FILE: times are read, not measured on a GPU");
    }
    if (path == NULL && o->compat) {
        path = aicb_path(run, arena);
        if (path == NULL) {
            return mem_error(arena->mem, "a path", err);
        }
        path = file_exists(path) ? path : NULL;
    }
    struct aicb_compute_reading reading = {.path = path, .compat = o->compat};
    return path == NULL ? ORR_OK : aicb_inference_times_read(&reading, arena, &run->times, err);
}

static enum orr_status aicb_inference_prepare(struct inference *run, const struct aicb_options *o, bool by_stage,
                                              struct arena *arena, struct orr_error *err)
{
    *run = (struct inference){.o = o};
    enum orr_status status = aicb_inference_check(o, err);
    if (status == ORR_OK) {
        status = aicb_inference_model_read(o, arena, &run->model, err);
    }
    if (status == ORR_OK) {
        status = make_sizes(run, err);
    }
    if (status == ORR_OK) {
        status = aicb_inference_read_times(run, arena, err);
    }
    int64_t stages = by_stage && o->fix.stage_rows ? o->pp : 1;
    run->layers = (run->model.layers + stages - 1) / stages;
    return status;
}

/* ---- SimAI's text ----------------------------------------------------------------------------------------------- */

static enum orr_status add_part(struct aicb_rows *rows, const struct part *part, struct orr_error *err)
{
    return aicb_rows_add(
        rows,
        (struct aicb_row){part->name, {part->ns, part->comm, part->bytes}, {part->moe, NULL, 0}, {part->moe, NULL, 0}},
        err);
}

static enum orr_status add_layer(const struct inference *run, int64_t layer, struct aicb_rows *rows,
                                 struct orr_error *err)
{
    struct part parts[PARTS_MAX];
    unsigned shared_at = PARTS_MAX;
    unsigned count = layer_parts(run, layer, parts, &shared_at);
    struct part shared = shared_part(run);
    enum orr_status status = ORR_OK;
    for (unsigned i = 0; i < count && status == ORR_OK; i++) {
        for (int64_t k = 0; i == shared_at && k < run->model.shared && status == ORR_OK; k++) {
            status = add_part(rows, &shared, err);
        }
        if (status == ORR_OK) {
            status = add_part(rows, &parts[i], err);
        }
    }
    return status;
}

static int64_t aicb_inference_pipeline_bytes(const struct inference *run, bool *overflow)
{
    const struct aicb_options *o = run->o;
    int64_t tokens = o->fix.prefill_tokens ? run->tokens : aicb_mul(o->micro_batch, o->seq_length, overflow);
    return o->pp > 1 ? aicb_mul(2 * run->model.hidden, tokens, overflow) : 0;
}

static enum orr_status write_text(const struct inference *run, struct arena *arena, FILE *stream, struct orr_error *err)
{
    const struct aicb_options *o = run->o;
    bool overflow = false;
    struct aicb_text text = {.lead.arena = arena};
    int64_t pp_comm = aicb_inference_pipeline_bytes(run, &overflow);
    if (overflow) {
        return error_set(err, ORR_ERANGE, "a size of this workload does not fit 64 bits");
    }
    text.header = arena_printf(arena,
                               "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %" PRId64 " ep: %" PRId64
                               " pp: %" PRId64 " all_gpus: %" PRId64
                               " mode: 1 vpp: 1 ga: 1 checkpoints: 0 checkpoint_initiates: 0 pp_comm: %" PRId64,
                               o->tp, o->ep, o->pp, o->world_size, pp_comm);
    if (text.header == NULL) {
        return mem_error(arena->mem, "header of a workload", err);
    }
    for (int64_t layer = 0; layer < run->layers; layer++) {
        enum orr_status status = add_layer(run, layer, &text.lead, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return aicb_text_write(&text, stream, err);
}

enum orr_status aicb_inference_write(const struct aicb_options *options, struct mem *mem, FILE *stream,
                                     struct orr_error *err)
{
    struct arena arena;
    struct inference run;
    arena_init(&arena, mem);
    enum orr_status status = aicb_inference_prepare(&run, options, true, &arena, err);
    if (status == ORR_OK) {
        status = write_text(&run, &arena, stream, err);
    }
    arena_free(&arena);
    return status;
}

/* ---- Vidur's table ---------------------------------------------------------------------------------------------- */

/* A line for what of a layer is in `group`, if anything is. */
static void aicb_inference_write_group(const struct inference *run, int64_t layer, enum group group, FILE *stream,
                                       bool *overflow)
{
    static const char *const names[] = {"attention", "mlp", "moe"};
    struct part parts[PARTS_MAX];
    unsigned shared_at = PARTS_MAX;
    unsigned count = layer_parts(run, layer, parts, &shared_at);
    int64_t ns = 0;
    int64_t bytes = 0;
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].group == group) {
            ns += parts[i].untimed ? 0 : parts[i].ns;
            bytes = aicb_add(bytes, parts[i].bytes, overflow);
            found++;
        }
    }
    if (group == GROUP_MOE && shared_at < PARTS_MAX) {
        int64_t each = shared_part(run).ns;
        ns = aicb_add(ns, aicb_mul(run->model.shared, each, overflow), overflow);
    }
    if (found > 0) {
        (void)fprintf(stream, "%" PRId64 "\t%s\t%" PRId64 "\t%" PRId64 "\n", layer, names[group], ns, bytes);
    }
}

/* Vidur divides the layers among the stages by itself: all of them are in the table. */
enum orr_status aicb_vidur_write(const struct aicb_options *options, struct mem *mem, FILE *stream,
                                 struct orr_error *err)
{
    struct arena arena;
    struct inference run;
    bool overflow = false;
    arena_init(&arena, mem);
    enum orr_status status = aicb_inference_prepare(&run, options, false, &arena, err);
    if (status == ORR_OK) {
        (void)fprintf(stream, "layer_id\tlayer_name\tcomp_time\tcomm_size\n");
    }
    for (int64_t layer = 0; status == ORR_OK && layer < run.layers; layer++) {
        aicb_inference_write_group(&run, layer, GROUP_ATTENTION, stream, &overflow);
        aicb_inference_write_group(&run, layer, GROUP_MLP, stream, &overflow);
        aicb_inference_write_group(&run, layer, GROUP_MOE, stream, &overflow);
    }
    if (status == ORR_OK && overflow) {
        status = error_set(err, ORR_ERANGE, "a sum of this table does not fit 64 bits");
    }
    arena_free(&arena);
    return status;
}
