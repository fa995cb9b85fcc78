/* SPDX-License-Identifier: Apache-2.0 */
/* Order: the header's degrees against the machine, then the rows, then the micro-batches, which only a pipeline needs.
 */
#include "run/simai_program.h"

#include <inttypes.h>
#include <string.h>

#include "convert/text/simai_batches.h"
#include "model/simai/collective.h"
#include "model/simai/fill.h"

struct program_reader {
    const char *path;
    struct simai_text text;
    struct arena *arena;
    struct notes *notes;
    struct run_simai_program *made;
    const struct aicb_part_times *times;
    uint32_t gpus;
    bool compat, interleaved;
};

/* ---- degrees ---- */

static enum orr_status read_degree(const struct program_reader *reader, enum simai_key key, uint32_t *value,
                                   struct orr_error *err)
{
    int64_t written = reader->text.values[key];
    if (written < 0 || written > INT32_MAX) {
        return error_set(err, ORR_ERANGE, "%s:1: %s %" PRId64 " is not between 1 and 2^31 - 1", reader->path,
                         simai_key_names[key], written);
    }
    *value = written == 0 ? 1 : (uint32_t)written;
    return ORR_OK;
}

static enum orr_status note_gpus(const struct program_reader *reader, struct orr_error *err)
{
    int64_t written = reader->text.values[SIMAI_GPUS];
    return written == 0 || written == (int64_t)reader->gpus
               ? ORR_OK
               : notes_add(reader->notes, err,
                           "%s:1: all_gpus: is %" PRId64 ", and the machine has %" PRIu32 ": all of them run the rows",
                           reader->path, written, reader->gpus);
}

static enum orr_status run_simai_program_check_degrees(const struct program_reader *reader, struct orr_error *err)
{
    const struct run_simai_program *made = reader->made;
    uint32_t stages = made->program.stages;
    uint64_t split = (uint64_t)made->tp * stages;
    if (split > reader->gpus || reader->gpus % split != 0) {
        return error_set(err, ORR_EINVAL, "%s:1: %" PRIu32 " GPUs do not divide into TP %" PRIu32 " times PP %" PRIu32,
                         reader->path, reader->gpus, made->tp, stages);
    }
    uint64_t dp = reader->gpus / split;
    if (dp % made->ep != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: expert parallelism of %" PRIu32 " does not divide data parallelism of %" PRIu64
                         " (%" PRIu32 " GPUs / TP %" PRIu32 " / PP %" PRIu32 ")",
                         reader->path, made->ep, dp, reader->gpus, made->tp, stages);
    }
    if (dp % made->cp != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: context parallelism of %" PRIu32 " does not divide the %" PRIu64
                         " ranks that TP and PP leave (%" PRIu32 " GPUs / TP %" PRIu32 " / PP %" PRIu32 ")",
                         reader->path, made->cp, dp, reader->gpus, made->tp, stages);
    }
    return note_gpus(reader, err);
}

/* Which group a plain word means, and how the rows are run, is the policy's. */
static enum orr_status read_policy(struct program_reader *reader, struct orr_error *err)
{
    struct run_simai_program *made = reader->made;
    enum text_strategy strategy = reader->text.workload.strategy;
    switch (strategy) {
    case TEXT_HYBRID_TRANSFORMER:
    case TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD:
        made->program.order = SIMAI_ORDER_TRANSFORMER;
        return ORR_OK;
    case TEXT_MICRO:
    case TEXT_DATA:
        made->program.order = strategy == TEXT_MICRO ? SIMAI_ORDER_MICRO : SIMAI_ORDER_DATA;
        made->tp = 1; /* everything is data parallelism */
        return ORR_OK;
    case TEXT_MODEL:
    case TEXT_DISTRIBUTED_INFERENCE:
        made->program.order = strategy == TEXT_MODEL ? SIMAI_ORDER_MODEL : SIMAI_ORDER_INFERENCE;
        made->tp = reader->gpus;
        return ORR_OK;
    default:
        return error_set(err, ORR_EINVAL,
                         "%s:1: policy %s divides the ranks by network dimensions, which this machine does not have; "
                         "known here are HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER, MICRO, DATA, MODEL and "
                         "DISTRIBUTED_INFERENCE",
                         reader->path, text_strategy_names[strategy]);
    }
}

static enum orr_status read_degrees(struct program_reader *reader, struct orr_error *err)
{
    struct run_simai_program *made = reader->made;
    enum orr_status status = read_degree(reader, SIMAI_TP, &made->tp, err);
    status = status == ORR_OK ? read_degree(reader, SIMAI_EP, &made->ep, err) : status;
    status = status == ORR_OK ? read_degree(reader, SIMAI_CP, &made->cp, err) : status;
    made->cp = reader->compat ? 1 : made->cp; /* SimAI has no such key */
    status = status == ORR_OK ? read_degree(reader, SIMAI_PP, &made->program.pp, err) : status;
    status = status == ORR_OK ? read_degree(reader, SIMAI_VPP, &made->program.vpp, err) : status;
    status = status == ORR_OK ? read_degree(reader, SIMAI_GA, &made->program.ga, err) : status;
    status = status == ORR_OK ? read_policy(reader, err) : status;
    bool piped = made->program.order == SIMAI_ORDER_TRANSFORMER && !reader->compat;
    made->program.stages = piped ? made->program.pp : 1;
    made->program.chunks = 1;
    made->program.stage_bytes =
        (uint64_t)(reader->text.values[SIMAI_PP_COMM] > 0 ? reader->text.values[SIMAI_PP_COMM] : 0);
    return status == ORR_OK ? run_simai_program_check_degrees(reader, err) : status;
}

/* ---- rows ---- */

/* SimAI multiplies every time and size by a float, which keeps 24 bits of it (spec simai §1). */
static uint64_t rounded(const struct program_reader *reader, int64_t value)
{
    uint64_t whole = value > 0 ? (uint64_t)value : 0;
    return reader->compat ? (uint64_t)(float)whole : whole;
}

static enum orr_status run_simai_program_read_word(const struct program_reader *reader, const struct text_layer *layer,
                                                   enum simai_phase phase, struct simai_cell *cell,
                                                   struct orr_error *err)
{
    static const int32_t types[SIMAI_OPS] = {[SIMAI_OP_NONE] = SIMAI_NO_COMM,
                                             [SIMAI_OP_ALLREDUCE] = COLL_ALL_REDUCE,
                                             [SIMAI_OP_ALLGATHER] = COLL_ALL_GATHER,
                                             [SIMAI_OP_REDUCESCATTER] = COLL_REDUCE_SCATTER,
                                             [SIMAI_OP_ALLTOALL] = COLL_ALL_TO_ALL};
    static const enum nccl_group_type groups[SIMAI_GROUPS] = {[SIMAI_GROUP_TP] = NCCL_GROUP_TP,
                                                              [SIMAI_GROUP_DP] = NCCL_GROUP_DP,
                                                              [SIMAI_GROUP_EP] = NCCL_GROUP_EP,
                                                              [SIMAI_GROUP_DP_EP] = NCCL_GROUP_DP_EP,
                                                              [SIMAI_GROUP_CP] = NCCL_GROUP_CP};
    static const char *const known[] = {"NONE",
                                        "ALLREDUCE",
                                        "ALLGATHER",
                                        "REDUCESCATTER",
                                        "ALLTOALL",
                                        "ALLREDUCE_EP",
                                        "ALLGATHER_EP",
                                        "REDUCESCATTER_EP",
                                        "ALLTOALL_EP",
                                        "ALLREDUCE_DP_EP",
                                        "ALLGATHER_DP_EP",
                                        "REDUCESCATTER_DP_EP",
                                        "ALLTOALL_DP_EP",
                                        "ALLREDUCE_CP",
                                        "ALLGATHER_CP",
                                        "REDUCESCATTER_CP",
                                        "ALLTOALL_CP",
                                        NULL};
    const struct et_text word = layer->cells[phase].comm;
    enum simai_op op = SIMAI_OP_NONE;
    enum simai_group group = SIMAI_GROUP_NONE;
    simai_word_read(word.text, word.length, phase == SIMAI_WG ? SIMAI_GROUP_DP : SIMAI_GROUP_TP, &op, &group);
    if (reader->compat && group == SIMAI_GROUP_CP) {
        group = SIMAI_GROUP_NONE;
    }
    bool is_none = word.length == 4 && memcmp(word.text, "NONE", 4) == 0;
    if (!is_none && (op == SIMAI_OP_NONE || group == SIMAI_GROUP_NONE) && !reader->compat) {
        char text[64];
        (void)snprintf(text, sizeof text, "%.*s", (int)(word.length < 63 ? word.length : 63), word.text);
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": unknown communication \"%s\"%s", reader->path, layer->line,
                         text, error_propose(text, known).text);
    }
    bool sends = op != SIMAI_OP_NONE && group != SIMAI_GROUP_NONE;
    cell->type = sends ? types[op] : SIMAI_NO_COMM;
    cell->group = sends ? groups[group] : NCCL_GROUP_TP;
    return ORR_OK;
}

static enum orr_status read_cell(const struct program_reader *reader, const struct text_layer *layer,
                                 enum simai_phase phase, struct simai_cell *cell, struct orr_error *err)
{
    const struct text_cell *from = &layer->cells[phase];
    enum { LEAST_BYTES = 4096 };
    cell->compute_ns = rounded(reader, from->time);
    cell->bytes = rounded(reader, from->bytes);
    bool raised = phase == SIMAI_FWD && reader->text.workload.strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
    if (raised && cell->bytes > 0 && cell->bytes < LEAST_BYTES) {
        cell->bytes = LEAST_BYTES;
    }
    return run_simai_program_read_word(reader, layer, phase, cell, err);
}

static enum orr_status run_simai_program_read_row(const struct program_reader *reader, const struct text_layer *layer,
                                                  struct simai_row *row, struct orr_error *err)
{
    row->name = arena_strndup(reader->arena, layer->name.text, layer->name.length);
    if (row->name == NULL) {
        return mem_error(reader->arena->mem, "the workload's rows", err);
    }
    row->update_ns = layer->update > 0 ? (uint64_t)layer->update : 0;
    row->is_checkpoint = layer->is_checkpoint;
    row->is_initiate = layer->is_initiate;
    enum orr_status status = ORR_OK;
    for (unsigned phase = 0; phase < SIMAI_PHASES && status == ORR_OK; phase++) {
        status = read_cell(reader, layer, (enum simai_phase)phase, &row->cells[phase], err);
    }
    return status;
}

static enum orr_status run_simai_program_read_rows(struct program_reader *reader, struct orr_error *err)
{
    const struct text_workload *workload = &reader->text.workload;
    struct simai_program *program = &reader->made->program;
    struct simai_row *rows = arena_zalloc(reader->arena, ((size_t)workload->layer_count + 1) * sizeof *rows);
    if (rows == NULL) {
        return mem_error(reader->arena->mem, "the workload's rows", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < workload->layer_count && status == ORR_OK; i++) {
        status = run_simai_program_read_row(reader, &workload->layers[i], &rows[i], err);
    }
    if (status == ORR_OK && workload->layer_count == 0) {
        status = error_set(err, ORR_EINVAL, "%s:2: a workload of no rows", reader->path);
    }
    program->rows = rows;
    program->row_count = workload->layer_count;
    return status;
}

/* ---- micro-batches ---- */

/* As many as vpp: says, and as the shortest micro-batch has rows for. */
static enum orr_status cut_chunks(struct program_reader *reader, struct orr_error *err)
{
    struct simai_program *program = &reader->made->program;
    uint32_t chunks = program->vpp;
    for (uint32_t batch = 0; batch < program->batch_count; batch++) {
        uint32_t rows = program->batch_start[batch + 1] - program->batch_start[batch];
        chunks = rows < chunks ? rows : chunks;
    }
    program->chunks = chunks > 0 ? chunks : 1;
    return program->chunks == program->vpp
               ? ORR_OK
               : notes_add(reader->notes, err,
                           "%s:1: vpp: is %" PRIu32 ", and a micro-batch has %" PRIu32 " rows: interleaved in as many",
                           reader->path, program->vpp, program->chunks);
}

static enum orr_status read_batches(struct program_reader *reader, struct orr_error *err)
{
    struct simai_program *program = &reader->made->program;
    if (program->stages == 1) {
        return ORR_OK;
    }
    enum orr_status status = simai_batches_find(&reader->text, reader->arena, reader->notes, &program->batch_start,
                                                &program->batch_count, err);
    if (status == ORR_OK && program->stage_bytes == 0) {
        status =
            notes_add(reader->notes, err, "%s:1: pp: is %" PRIu32 " without pp_comm: stages send each other one byte",
                      reader->path, program->stages);
    }
    return status == ORR_OK && reader->interleaved ? cut_chunks(reader, err) : status;
}

static enum orr_status run_simai_program_read_text(struct program_reader *reader, struct mem *mem,
                                                   struct orr_error *err)
{
    enum orr_status status = simai_text_read(reader->path, mem, reader->compat, &reader->text, err);
    if (status != ORR_OK) {
        return status;
    }
    if (!reader->compat) { /* SimAI reads the lists so that they have no effect (spec simai §1) */
        status = simai_checkpoints_mark(&reader->text, err);
    }
    if (status == ORR_OK && reader->text.workload.layer_count < reader->text.workload.written_count) {
        status = notes_add(reader->notes, err, "%s: %" PRIu32 " rows where the second line says %" PRId64, reader->path,
                           reader->text.workload.layer_count, reader->text.workload.written_count);
    }
    if (status == ORR_OK && reader->times != NULL) {
        status = simai_fill_times(&reader->text, reader->times, reader->notes, err);
    }
    if (status == ORR_OK && !reader->compat) {
        status = simai_note_untimed(&reader->text, reader->notes, err);
    }
    status = status == ORR_OK ? read_degrees(reader, err) : status;
    status = status == ORR_OK ? run_simai_program_read_rows(reader, err) : status;
    status = status == ORR_OK ? read_batches(reader, err) : status;
    text_free(&reader->text.workload);
    return status;
}

enum orr_status run_simai_program_read(const struct run_simai_reading *reading, struct arena *arena,
                                       struct notes *notes, struct run_simai_program *made, struct orr_error *err)
{
    struct run_simai_program filled = {.tp = 1};
    struct program_reader reader = {.path = reading->path,
                                    .arena = arena,
                                    .notes = notes,
                                    .made = &filled,
                                    .times = reading->times,
                                    .gpus = reading->gpus,
                                    .compat = reading->compat,
                                    .interleaved = reading->interleaved};
    enum orr_status status = run_simai_program_read_text(&reader, arena->mem, err);
    if (status == ORR_OK) {
        *made = filled;
    }
    return status;
}
