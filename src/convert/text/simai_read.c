/* SPDX-License-Identifier: Apache-2.0 */
/* Keys are looked up in one table that also makes the list in the message about an unknown one. SimAI looks for each
 * key in the whole line and so never sees a word that is none; who converts a file wants to hear of it. */
#include "convert/text/simai_read.h"

#include <inttypes.h>
#include <string.h>

#include "io/kind.h"

const char *const simai_key_names[] = {
    "model_parallel_NPU_group:",
    "ep:",
    "cp:",
    "pp:",
    "vpp:",
    "ga:",
    "all_gpus:",
    "mode:",
    "pp_comm:",
    "DLRM_LAST_BOTTOM_LAYER:",
    "checkpoints:",
    "checkpoint_initiates:",
    NULL,
};

/* The first line by itself; `words` moves behind it. */
static struct text_words simai_read_first_line(struct text_words *words)
{
    struct text_words line = *words;
    const char *newline = memchr(words->at, '\n', (size_t)(words->end - words->at));
    line.end = newline != NULL ? newline : words->end;
    words->at = line.end;
    return line;
}

static bool simai_read_find_key(struct et_text word, unsigned *key)
{
    for (unsigned i = 0; simai_key_names[i] != NULL; i++) {
        if (text_word_is(word, simai_key_names[i])) {
            *key = i;
            return true;
        }
    }
    *key = SIMAI_PP_COMM;
    return text_word_is(word, "pp_comm"); /* AICB writes it both ways */
}

enum orr_status simai_detect(const char *path, struct mem *mem, bool *is_simai, struct orr_error *err)
{
    struct file_buffer file;
    file_buffer_init(&file, mem);
    enum orr_status status = text_load(path, &file, err);
    if (status == ORR_OK) {
        struct text_words words = {.path = path, .at = (const char *)file.bytes, .line = 1};
        words.end = words.at + file.size;
        struct text_words line = simai_read_first_line(&words);
        struct et_text word;
        bool found = false;
        while (text_word_next(&line, &word)) {
            unsigned key;
            found = found || (simai_read_find_key(word, &key) &&
                              ((key >= SIMAI_EP && key <= SIMAI_GPUS) || key == SIMAI_PP_COMM));
        }
        *is_simai = found;
    }
    file_buffer_free(&file);
    return status;
}

/* ---- header ---- */

static enum orr_status fail_key(const struct text_words *line, struct et_text word, struct orr_error *err)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*s", (int)(word.length < 63 ? word.length : 63), word.text);
    const char *nearest = error_nearest(text, simai_key_names);
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": unknown word \"%s\" in the header%s%s%s", line->path, line->line,
                     text, nearest != NULL ? "; did you mean \"" : "; known are keys such as ep:, pp:, all_gpus:",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

/* AICB divides in floating point and writes "8388608.0"; SimAI reads up to the point, whatever follows it. */
static void drop_fraction(struct et_text *word, bool lenient)
{
    const char *point = memchr(word->text, '.', word->length);
    bool zero = point != NULL && point + 2 == word->text + word->length && point[1] == '0';
    if (point != NULL && point > word->text && (zero || lenient)) {
        word->length = (size_t)(point - word->text);
    }
}

static enum orr_status simai_read_value(struct text_words *line, unsigned key, bool lenient, int64_t *value,
                                        struct orr_error *err)
{
    struct et_text word;
    if (!text_word_next(line, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s has no value", line->path, line->line,
                         simai_key_names[key]);
    }
    drop_fraction(&word, lenient);
    return text_word_count(line, word, simai_key_names[key], value, err);
}

enum orr_status simai_list_next(struct text_words *list, enum simai_key which, int64_t *value, struct orr_error *err)
{
    return simai_read_value(list, which, false, value, err);
}

static enum orr_status simai_read_key(struct text_words *line, bool lenient, struct simai_text *text,
                                      struct orr_error *err)
{
    struct et_text word;
    unsigned key;
    (void)text_word_next(line, &word);
    if (!simai_read_find_key(word, &key)) {
        return lenient ? ORR_OK : fail_key(line, word, err);
    }
    enum orr_status status = simai_read_value(line, key, lenient, &text->values[key], err);
    text->given[key] = status == ORR_OK;
    if (status == ORR_OK && (key == SIMAI_CHECKPOINTS || key == SIMAI_INITIATES)) {
        text->lists[key - SIMAI_CHECKPOINTS] = *line;
        for (int64_t i = 0, index; i < text->values[key] && status == ORR_OK; i++) {
            status = simai_read_value(line, key, lenient, &index, err);
        }
    }
    return status;
}

static enum orr_status simai_read_header(struct text_words *words, bool lenient, struct simai_text *text,
                                         struct orr_error *err)
{
    struct text_words line = simai_read_first_line(words);
    struct et_text word;
    struct et_text next;
    (void)text_word_next(&line, &word);
    unsigned strategy = 0;
    while (text_strategy_names[strategy] != NULL && !text_word_is(word, text_strategy_names[strategy])) {
        strategy++;
    }
    if (strategy == TEXT_STRATEGY_COUNT && file_kind_check(words->path, word.text, (size_t)(words->end - word.text),
                                                           FILE_KIND_WORKLOAD, NULL, err) != ORR_OK) {
        return err->status;
    }
    if (strategy == TEXT_STRATEGY_COUNT) {
        char found[64];
        (void)snprintf(found, sizeof found, "%.*s", (int)(word.length < 63 ? word.length : 63), word.text);
        struct error_proposal near = error_propose(found, text_strategy_names);
        return error_set(err, ORR_EINVAL, "%s:1: unknown policy \"%s\"%s", words->path, found,
                         near.text[0] != '\0' ? near.text : "; SimAI's is HYBRID_TRANSFORMER_FWD_IN_BCKWD");
    }
    text->workload.strategy = (enum text_strategy)strategy;
    enum orr_status status = ORR_OK;
    for (struct text_words ahead = line; status == ORR_OK && text_word_next(&ahead, &next); ahead = line) {
        status = simai_read_key(&line, lenient, text, err);
    }
    return status;
}

/* ---- rows ---- */

static enum orr_status simai_read_row(struct text_words *words, struct text_workload *workload, struct orr_error *err)
{
    struct text_layer layer = {.strategy = (uint8_t)workload->strategy};
    enum orr_status status = text_layer_read(words, &layer, err);
    if (status == ORR_OK && !mem_reserve(workload->mem, (void **)&workload->layers, &workload->layer_capacity,
                                         (uint64_t)workload->layer_count + 1, sizeof layer)) {
        status = mem_error(workload->mem, "a workload's rows", err);
    }
    if (status == ORR_OK) {
        workload->layers[workload->layer_count++] = layer;
    }
    return status;
}

static enum orr_status simai_read_rows(struct text_words *words, bool lenient, struct simai_text *text,
                                       struct orr_error *err)
{
    struct text_workload *workload = &text->workload;
    struct et_text word;
    if (!text_word_next(words, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends before the number of rows", words->path,
                         words->line);
    }
    enum orr_status status = text_word_count(words, word, "the number of rows", &workload->written_count, err);
    for (int64_t i = 0; i < workload->written_count && status == ORR_OK; i++) {
        struct text_words ahead = *words;
        if (lenient && !text_word_next(&ahead, &word)) {
            break;
        }
        status = simai_read_row(words, workload, err);
    }
    text->rest = *words;
    if (status == ORR_OK && !lenient && text_word_next(words, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%.*s\" stands behind the last of %" PRId64 " rows",
                         words->path, words->line, (int)(word.length < 60 ? word.length : 60), word.text,
                         workload->written_count);
    }
    return status;
}

enum orr_status simai_text_read(const char *path, struct mem *mem, bool lenient, struct simai_text *text,
                                struct orr_error *err)
{
    *text = (struct simai_text){.workload = {.path = path, .mem = mem, .by_suffix = true}};
    file_buffer_init(&text->workload.file, mem);
    enum orr_status status = text_load(path, &text->workload.file, err);
    struct text_words words = {.path = path, .line = 1};
    if (status == ORR_OK) {
        words.at = (const char *)text->workload.file.bytes;
        words.end = words.at + text->workload.file.size;
        status = simai_read_header(&words, lenient, text, err);
    }
    status = status == ORR_OK ? simai_read_rows(&words, lenient, text, err) : status;
    if (status != ORR_OK) {
        text_free(&text->workload);
    }
    return status;
}
