/* SPDX-License-Identifier: Apache-2.0 */
/* The last micro-batch ends where one as long as the first would; a single one before the rows of loss and optimizer,
 * which are known by name. */
#include "convert/text/simai_batches.h"

#include <inttypes.h>
#include <string.h>

static bool starts_with(struct et_text name, const char *word)
{
    size_t length = strlen(word);
    return name.length >= length && memcmp(name.text, word, length) == 0;
}

static uint32_t end_of_single(const struct text_workload *workload, uint32_t first)
{
    uint32_t row = first;
    while (row < workload->layer_count && !starts_with(workload->layers[row].name, "cross_entropy") &&
           !starts_with(workload->layers[row].name, "optimizer")) {
        row++;
    }
    return row;
}

static uint32_t count_batches(const struct text_workload *workload)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < workload->layer_count; row++) {
        count += text_word_is(workload->layers[row].name, "embedding_layer") ? 1 : 0;
    }
    return count;
}

enum orr_status simai_batches_find(const struct simai_text *text, struct arena *arena, struct notes *notes,
                                   const uint32_t **start, uint32_t *count, struct orr_error *err)
{
    const struct text_workload *workload = &text->workload;
    uint32_t found = count_batches(workload);
    uint32_t *made = arena_zalloc(arena, ((size_t)found + 2) * sizeof *made);
    if (made == NULL) {
        return mem_error(arena->mem, "the workload's micro-batches", err);
    }
    uint32_t batch = 0;
    for (uint32_t row = 0; row < workload->layer_count; row++) {
        if (text_word_is(workload->layers[row].name, "embedding_layer")) {
            made[batch++] = row;
        }
    }
    uint32_t last = found == 0 ? 0 : made[found - 1];
    uint32_t end = found < 2 ? end_of_single(workload, last) : last + (made[1] - made[0]);
    *count = found == 0 ? 1 : found;
    made[*count] = end < workload->layer_count ? end : workload->layer_count;
    *start = made;
    int64_t said = text->values[SIMAI_GA];
    return said == 0 || said == (int64_t)*count
               ? ORR_OK
               : notes_add(notes, err,
                           "%s:1: ga: is %" PRId64 ", and the rows hold %" PRIu32
                           " micro-batches (rows named embedding_layer): as many go through the pipeline",
                           workload->path, said, *count);
}

enum orr_status simai_checkpoints_mark(struct simai_text *text, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (unsigned which = 0; which < 2; which++) {
        struct text_words list = text->lists[which];
        for (int64_t i = 0; i < text->values[SIMAI_CHECKPOINTS + which] && status == ORR_OK; i++) {
            int64_t index = 0;
            status = simai_list_next(&list, (enum simai_key)(SIMAI_CHECKPOINTS + which), &index, err);
            if (status == ORR_OK && (index < 0 || index >= (int64_t)text->workload.layer_count)) {
                return error_set(err, ORR_ERANGE, "%s:1: row %" PRId64 " of %" PRIu32 ", counted from 0", list.path,
                                 index, text->workload.layer_count);
            }
            if (status == ORR_OK) {
                struct text_layer *layer = &text->workload.layers[index];
                layer->is_checkpoint = layer->is_checkpoint || which == 0;
                layer->is_initiate = layer->is_initiate || which == 1;
            }
        }
    }
    return status == ORR_OK ? text_check_initiates(&text->workload, err) : status;
}
