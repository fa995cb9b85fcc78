/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer as AICB writes it without compute times (§2.3): everything takes 1, some sizes stand beside NONE, and
 * recomputation doubles what attention sends instead of what it computes. Only for compat aicb; the fix one_row_set
 * takes the other way.
 */
#include "model/aicb/training_rows.h"

#include <string.h>

static void add_split(struct training *t, struct aicb_rows *rows, const struct aicb_piece *piece, int64_t doubled)
{
    int64_t bytes = t->activations;
    struct aicb_row row = {piece->name, {1, NULL, 0}, {1, NULL, 0}, {1, NULL, 0}};
    switch (piece->kind) {
    case AICB_PIECE_EMBEDDING:
        row.forward.bytes = bytes;
        row.input_gradient.bytes = bytes;
        break;
    case AICB_PIECE_ROW:
        row.forward = (struct aicb_pass){1, AICB_REDUCESCATTER, doubled};
        row.input_gradient.bytes = bytes;
        break;
    case AICB_PIECE_COLUMN:
    case AICB_PIECE_FINAL:
        row.forward = (struct aicb_pass){1, AICB_ALLGATHER, doubled};
        break;
    case AICB_PIECE_EXPERTS:
        training_add_experts(t, rows, (struct aicb_part_time){1, 1, 1});
        return;
    case AICB_PIECE_LINEAR:
        if (t->status == ORR_OK) {
            t->status = error_set(t->err, ORR_EINVAL,
                                  "parameter 'frame' DeepSeek without parameter 'aiob_enable' parameter "
                                  "'comp_filepath' FILE: AICB crashes here; "
                                  "without parameter 'compat' aicb it works");
        }
        return;
    case AICB_PIECE_WHOLE:
    case AICB_PIECE_COUNTED:
        return;
    }
    training_add(t, rows, row);
}

void training_add_layers_plain(struct training *t, struct aicb_rows *rows)
{
    for (uint32_t i = 0; i < t->model.count && t->status == ORR_OK; i++) {
        const struct aicb_piece *piece = &t->model.pieces[i];
        bool twice = t->o->recompute_activations && piece->attention;
        int64_t doubled = aicb_mul(t->activations, twice ? 2 : 1, &t->overflow);
        if (t->model.split) {
            add_split(t, rows, piece, doubled);
        } else if (piece->kind != AICB_PIECE_COUNTED) {
            training_add(
                t, rows,
                (struct aicb_row){
                    piece->name, {1, AICB_ALLREDUCE, doubled}, {1, AICB_ALLREDUCE, t->activations}, {1, NULL, 0}});
        }
    }
}
