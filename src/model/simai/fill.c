/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's own texts differ from ours in three places (spec simai §2.3): the loss stands there once a step instead of
 * once a micro-batch, the optimizer has no row that computes, and without sequence parallelism the output layer has
 * none.
 */
#include "model/simai/fill.h"

#include <inttypes.h>

struct filling {
    struct simai_text *text;
    const struct aicb_part_times *times;
    uint32_t losses;     /* rows of the loss */
    bool updates, final; /* whether there are rows of the optimizer's time, of the output layer */
    uint32_t filled, kept;
};

static enum aicb_part fill_part_of(const struct text_layer *row, enum aicb_part before)
{
    return aicb_part_of(row->name.text, row->name.length, before);
}

static void look_round(struct filling *f)
{
    enum aicb_part part = AICB_PART_NONE;
    for (uint32_t i = 0; i < f->text->workload.layer_count; i++) {
        part = fill_part_of(&f->text->workload.layers[i], part);
        f->losses += part == AICB_PART_LOSS;
        f->updates = f->updates || part == AICB_PART_UPDATE;
        f->final = f->final || part == AICB_PART_FINAL;
    }
}

static void fill_cell(struct filling *f, struct text_cell *cell, int64_t ns)
{
    f->kept += cell->time > 1 && ns > 0;
    f->filled += cell->time <= 1 && ns > 0;
    cell->time = cell->time <= 1 && ns > 0 ? ns : cell->time;
}

static void fill_layer(struct filling *f, struct text_layer *row, enum aicb_part part)
{
    struct aicb_part_time time = f->times->of[part];
    int64_t batches = f->text->values[SIMAI_GA] > 0 ? f->text->values[SIMAI_GA] : 1;
    if (part == AICB_PART_LOSS && f->losses < batches) {
        double share = (double)batches / f->losses;
        time.forward = (int64_t)((double)time.forward * share);
        time.input_gradient = (int64_t)((double)time.input_gradient * share);
    }
    if (part == AICB_PART_UPDATE) { /* told as forward; the row has it in its second pass */
        time = (struct aicb_part_time){.input_gradient = time.forward};
    }
    fill_cell(f, &row->cells[TEXT_FWD], time.forward);
    fill_cell(f, &row->cells[TEXT_IG], time.input_gradient);
    fill_cell(f, &row->cells[TEXT_WG], time.weight_gradient);
}

enum orr_status simai_fill_times(struct simai_text *text, const struct aicb_part_times *times, struct notes *notes,
                                 struct orr_error *err)
{
    struct filling f = {.text = text, .times = times};
    const char *path = text->workload.path;
    enum aicb_part part = AICB_PART_NONE;
    look_round(&f);
    for (uint32_t i = 0; i < text->workload.layer_count; i++) {
        struct text_layer *row = &text->workload.layers[i];
        enum aicb_part before = part;
        part = fill_part_of(row, before);
        if (part != AICB_PART_EXPERTS || before != AICB_PART_EXPERTS) { /* the first of five computes */
            fill_layer(&f, row, part);
        }
        if (!f.updates && text_word_is(row->name, "optimizer1")) {
            fill_cell(&f, &row->cells[TEXT_FWD], times->of[AICB_PART_UPDATE].forward);
        }
    }
    if (f.filled == 0 && f.kept == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: parameter 'compute-times' model: no row has a name of AICB's (attention_column, mlp_row "
                         "…), so that what they compute is not known",
                         path);
    }
    enum orr_status status = ORR_OK;
    if (f.kept > 0) {
        status =
            notes_add(notes, err, "%s: %" PRIu32 " compute times are there already and stay as they are", path, f.kept);
    }
    if (status == ORR_OK && !f.final) {
        status = notes_add(notes, err, "%s: no row final_column: the output layer's time is nowhere", path);
    }
    return status;
}

enum orr_status simai_note_untimed(const struct simai_text *text, struct notes *notes, struct orr_error *err)
{
    const struct text_workload *workload = &text->workload;
    bool has_rows = false;
    for (uint32_t i = 0; i < workload->layer_count; i++) {
        const struct text_layer *row = &workload->layers[i];
        for (uint32_t phase = 0; phase < TEXT_PHASES; phase++) {
            has_rows = has_rows || row->cells[phase].time == 1;
            if (row->cells[phase].time > 1) {
                return ORR_OK;
            }
        }
    }
    return !has_rows || workload->strategy == TEXT_MICRO
               ? ORR_OK
               : notes_add(notes, err,
                           "%s: no row has a compute time (1 ns each, as AICB writes them without a GPU): the time is "
                           "communication alone; parameter 'compute-times' model with parameter 'model' and parameter "
                           "'device' gives them",
                           workload->path);
}
