/* SPDX-License-Identifier: Apache-2.0 */
/* Both readers point into the file as it was read; nothing is copied but the layers' numbers. The compatible one works
 * line by line because Chakra's does, and so refuses what Chakra's refuses; ours takes words as they come, as the
 * program the format was made for does. */
#include <inttypes.h>
#include <string.h>

#include "convert/text/text.h"
#include "io/stream.h"
#include "io/wire.h"

const char *const text_strategy_names[] = {
#define TEXT_X(name, forward, weights) #name,
    TEXT_STRATEGIES(TEXT_X)
#undef TEXT_X
        NULL,
};

enum { LAYER_WORDS = 12, SHOWN = 60, FIRST_ROOM = 4096 };

/* ---- words ---- */

static bool text_parse_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

bool text_word_next(struct text_words *words, struct et_text *word)
{
    for (; words->at < words->end && text_parse_is_blank(*words->at); words->at++) {
        words->line += *words->at == '\n';
    }
    word->text = words->at;
    while (words->at < words->end && !text_parse_is_blank(*words->at)) {
        words->at++;
    }
    word->length = (size_t)(words->at - word->text);
    return word->length > 0;
}

bool text_word_is(struct et_text word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

static int text_parse_shown(struct et_text word)
{
    return (int)(word.length < SHOWN ? word.length : SHOWN);
}

/* Python's int() of a word: a sign, digits, single underscores between them. */
static enum orr_status text_word_integer(const struct text_words *words, struct et_text word, const char *what,
                                         int64_t *value, struct orr_error *err)
{
    size_t i = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+');
    bool negative = i == 1 && word.text[0] == '-';
    int64_t number = 0;
    bool good = i < word.length;
    bool fits = true;
    for (bool digit_before = false; i < word.length && good; i++) {
        char c = word.text[i];
        if (c == '_') {
            good = digit_before && i + 1 < word.length && word.text[i + 1] != '_';
            continue;
        }
        digit_before = true;
        good = c >= '0' && c <= '9';
        int64_t digit = negative ? '0' - c : c - '0';
        fits = good && fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, digit, &number);
    }
    if (!good) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s must be a whole number, not \"%.*s\"", words->path,
                         words->line, what, text_parse_shown(word), word.text);
    }
    if (!fits) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": %s %.*s does not fit 64 bits", words->path, words->line,
                         what, text_parse_shown(word), word.text);
    }
    *value = number;
    return ORR_OK;
}

enum orr_status text_word_count(const struct text_words *words, struct et_text word, const char *what, int64_t *value,
                                struct orr_error *err)
{
    int64_t number = 0;
    enum orr_status status = text_word_integer(words, word, what, &number, err);
    if (status == ORR_OK && number < 0) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": %s is negative: %" PRId64, words->path, words->line, what,
                         number);
    }
    if (status == ORR_OK) {
        *value = number;
    }
    return status;
}

/* The unpacked text, with a NUL behind it. */
static enum orr_status text_parse_read_all(struct io_stream *stream, struct file_buffer *file, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (size_t got = 1; got > 0 && status == ORR_OK; file->size += got) {
        if (file->capacity - file->size < 2) {
            size_t wider = file->capacity == 0 ? FIRST_ROOM : file->capacity * 2;
            uint8_t *grown = mem_resize(file->mem, file->bytes, file->capacity, wider);
            if (grown == NULL) {
                return mem_error(file->mem, "a workload's text", err);
            }
            file->bytes = grown;
            file->capacity = wider;
        }
        got = 0;
        status = io_stream_read(stream, file->bytes + file->size, file->capacity - file->size - 1, &got, err);
    }
    if (status == ORR_OK) {
        file->bytes[file->size] = '\0';
    }
    return status;
}

enum orr_status text_load(const char *path, struct file_buffer *file, struct orr_error *err)
{
    struct io_stream *stream = NULL;
    enum orr_status status = io_stream_open(path, file->mem, &stream, err);
    if (status == ORR_OK) {
        status = text_parse_read_all(stream, file, err);
        io_stream_close(stream);
    }
    if (status != ORR_OK) {
        return status;
    }
    for (size_t i = 0; i < file->size; i++) {
        uint8_t c = file->bytes[i];
        if (c < ' ' && !text_parse_is_blank((char)c)) {
            return error_set(err, ORR_EINVAL, "%s: byte %zu: a control character (%d); a workload is text", path, i, c);
        }
    }
    if (!wire_utf8_valid(file->bytes, file->size)) {
        return error_set(err, ORR_EINVAL, "%s: the text is not UTF-8", path);
    }
    return ORR_OK;
}

/* ---- layers ---- */

static const char *const phase_names[TEXT_PHASES] = {"forward", "input gradient", "weight gradient"};

static enum orr_status text_parse_read_number(struct text_words *words, const char *phase, const char *what,
                                              bool may_be_negative, int64_t *value, struct orr_error *err)
{
    struct et_text word;
    char name[64];
    (void)snprintf(name, sizeof name, "the %s %s", phase, what);
    if (!text_word_next(words, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the layer ends before %s; a layer has %d words", words->path,
                         words->line, name, LAYER_WORDS);
    }
    return may_be_negative ? text_word_integer(words, word, name, value, err)
                           : text_word_count(words, word, name, value, err);
}

static enum orr_status text_parse_read_cells(struct text_words *words, struct text_layer *layer, bool may_be_negative,
                                             struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (unsigned phase = 0; phase < TEXT_PHASES && status == ORR_OK; phase++) {
        struct text_cell *cell = &layer->cells[phase];
        const char *name = phase_names[phase];
        status = text_parse_read_number(words, name, "time", may_be_negative, &cell->time, err);
        if (status == ORR_OK && !text_word_next(words, &cell->comm)) {
            status = error_set(err, ORR_EINVAL,
                               "%s:%" PRIu64 ": the layer ends before the %s communication; a layer has %d words",
                               words->path, words->line, name, LAYER_WORDS);
        }
        if (status == ORR_OK) {
            status = text_parse_read_number(words, name, "size", may_be_negative, &cell->bytes, err);
        }
    }
    return status;
}

enum orr_status text_layer_read(struct text_words *words, struct text_layer *layer, struct orr_error *err)
{
    struct et_text dependency;
    if (!text_word_next(words, &layer->name) || !text_word_next(words, &dependency)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends before a layer's name and dependency",
                         words->path, words->line);
    }
    layer->line = words->line;
    enum orr_status status = text_parse_read_cells(words, layer, false, err);
    return status == ORR_OK ? text_parse_read_number(words, "parameters'", "update time", false, &layer->update, err)
                            : status;
}

static enum orr_status text_parse_add_layer(struct text_workload *workload, const struct text_layer *layer,
                                            struct orr_error *err)
{
    if (workload->layer_count == UINT32_MAX - 1 ||
        !MEM_GROW(workload->mem, workload->layers, workload->layer_capacity, workload->layer_count)) {
        return mem_error(workload->mem, "a workload's layers", err);
    }
    workload->layers[workload->layer_count++] = *layer;
    return ORR_OK;
}

static enum orr_status read_strategy(const struct text_words *words, struct et_text word, bool compat, unsigned *found,
                                     struct orr_error *err)
{
    for (unsigned i = 0; text_strategy_names[i] != NULL; i++) {
        if (text_word_is(word, text_strategy_names[i]) && (!compat || i < TEXT_HYBRID_TRANSFORMER)) {
            *found = i;
            return ORR_OK;
        }
    }
    char text[SHOWN + 1];
    (void)snprintf(text, sizeof text, "%.*s", text_parse_shown(word), word.text);
    const char *nearest = error_nearest(text, text_strategy_names);
    if (nearest != NULL && strcmp(nearest, text) == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu64 ": Chakra's converter does not know the strategy %s; without "
                         "parameter 'compat' chakra it is converted",
                         words->path, words->line, text);
    }
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": unknown strategy \"%s\"%s%s%s", words->path, words->line, text,
                     nearest != NULL ? "; did you mean \"" : "; DATA, MODEL, HYBRID_DATA_MODEL … are known",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

static bool is_dlrm(enum text_strategy strategy)
{
    return strategy == TEXT_HYBRID_DLRM || strategy == TEXT_HYBRID_DLRM_ENHANCED;
}

/* ---- as Chakra's converter reads ---- */

/* The next line as words of its own; lines end with \n, \r\n or \r. False at the end of the file. */
static bool text_parse_next_line(struct text_words *file, struct text_words *line)
{
    if (file->at == file->end) {
        return false;
    }
    *line = *file;
    line->line = file->line + 1;
    while (file->at < file->end && *file->at != '\n' && *file->at != '\r') {
        file->at++;
    }
    line->end = file->at;
    bool pair = file->end - file->at >= 2 && file->at[0] == '\r' && file->at[1] == '\n';
    file->at += file->at == file->end ? 0 : pair ? 2 : 1;
    file->line++;
    return true;
}

static enum orr_status read_compat_header(struct text_words *file, struct text_workload *workload,
                                          struct orr_error *err)
{
    struct text_words line;
    struct et_text word;
    struct et_text extra = {0};
    unsigned strategy = 0;
    if (!text_parse_next_line(file, &line) || !text_word_next(&line, &word)) {
        return error_set(err, ORR_EINVAL, "%s:1: the first line must name the strategy", file->path);
    }
    struct text_words first = line;
    bool has_extra = text_word_next(&line, &extra);
    if (!text_parse_next_line(file, &line)) {
        return error_set(err, ORR_EINVAL, "%s:2: the file ends before the number of layers", file->path);
    }
    struct et_text count = {0};
    struct et_text more;
    if (!text_word_next(&line, &count) || text_word_next(&line, &more)) {
        return error_set(err, ORR_EINVAL, "%s:2: the second line must be the number of layers alone", file->path);
    }
    enum orr_status status = text_word_integer(&line, count, "the number of layers", &workload->written_count, err);
    if (status == ORR_OK) {
        status = read_strategy(&first, word, true, &strategy, err);
    }
    workload->strategy = (enum text_strategy)strategy;
    if (status != ORR_OK || !is_dlrm(workload->strategy)) {
        return status;
    }
    if (!has_extra) {
        return error_set(err, ORR_EINVAL, "%s:1: %.*s needs the number of the last bottom layer after it", file->path,
                         (int)word.length, word.text);
    }
    return text_word_integer(&first, extra, "the last bottom layer", &workload->last_bottom_layer, err);
}

static enum orr_status read_compat_layer(struct text_words *line, struct text_workload *workload, struct orr_error *err)
{
    struct text_layer layer = {.strategy = (uint8_t)workload->strategy, .line = line->line};
    struct et_text word;
    if (!text_word_next(line, &layer.name)) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu64 ": a blank line; Chakra's converter takes every line for a layer, without "
                         "parameter 'compat' chakra blank lines are skipped",
                         line->path, line->line);
    }
    (void)text_word_next(line, &word); /* the dependency: never used */
    enum orr_status status = text_parse_read_cells(line, &layer, true, err);
    if (status == ORR_OK && !text_word_next(line, &word)) {
        status = error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a layer has %d words; the update time is missing",
                           line->path, line->line, LAYER_WORDS);
    }
    return status == ORR_OK ? text_parse_add_layer(workload, &layer, err) : status;
}

enum orr_status text_read_compat(const char *path, struct mem *mem, struct text_workload *workload,
                                 struct orr_error *err)
{
    *workload = (struct text_workload){.path = path, .mem = mem};
    file_buffer_init(&workload->file, mem);
    enum orr_status status = text_load(path, &workload->file, err);
    struct text_words file = {.path = path};
    if (status == ORR_OK) {
        file.at = (const char *)workload->file.bytes;
        file.end = file.at + workload->file.size;
        status = read_compat_header(&file, workload, err);
    }
    for (struct text_words line; status == ORR_OK && text_parse_next_line(&file, &line);) {
        status = read_compat_layer(&line, workload, err);
    }
    if (status != ORR_OK) {
        text_free(workload);
    }
    return status;
}

/* ---- as the format means it ---- */

static enum orr_status text_parse_need(struct text_words *words, const char *what, struct et_text *word,
                                       struct orr_error *err)
{
    if (!text_word_next(words, word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends before %s", words->path, words->line, what);
    }
    return ORR_OK;
}

static enum orr_status need_count(struct text_words *words, const char *what, int64_t *value, struct orr_error *err)
{
    struct et_text word;
    enum orr_status status = text_parse_need(words, what, &word, err);
    if (status == ORR_OK && word.text[word.length - 1] == ':') { /* a key: extras go by their place, not by name */
        status = text_parse_need(words, what, &word, err);
    }
    return status == ORR_OK ? text_word_count(words, word, what, value, err) : status;
}

/* "n i1 … in": indices of layers, which come later in the file; kept as places in the text until then. */
static enum orr_status skip_list(struct text_words *words, const char *what, struct text_words *list, int64_t *count,
                                 struct orr_error *err)
{
    enum orr_status status = need_count(words, what, count, err);
    *list = *words;
    for (int64_t i = 0, index = 0; i < *count && status == ORR_OK; i++) {
        status = need_count(words, what, &index, err);
    }
    return status;
}

static enum orr_status mark_layers(struct text_words list, int64_t count, bool initiates,
                                   struct text_workload *workload, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (int64_t i = 0; i < count && status == ORR_OK; i++) {
        int64_t index = 0;
        status = need_count(&list, "a layer's index", &index, err);
        if (status == ORR_OK && index >= (int64_t)workload->layer_count) {
            return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": layer %" PRId64 " of %" PRIu32 ", counted from 0",
                             list.path, list.line, index, workload->layer_count);
        }
        if (status == ORR_OK) {
            struct text_layer *layer = &workload->layers[index];
            layer->is_initiate = layer->is_initiate || initiates;
            layer->is_checkpoint = layer->is_checkpoint || !initiates;
        }
    }
    return status;
}

enum orr_status text_check_initiates(const struct text_workload *workload, struct orr_error *err)
{
    bool seen = false;
    for (uint32_t i = 0; i < workload->layer_count; i++) {
        seen = seen || workload->layers[i].is_checkpoint;
        if (workload->layers[i].is_initiate && !seen) {
            return error_set(err, ORR_EINVAL,
                             "%s:1: layer %" PRIu32 " repeats the forward pass, but no checkpoint is at or before it",
                             workload->path, i);
        }
    }
    return ORR_OK;
}

struct text_extras {
    struct text_words lists[2]; /* checkpoints, checkpoint_initiates */
    int64_t counts[2];
};

static enum orr_status text_parse_read_extras(struct text_words *words, struct text_workload *workload,
                                              struct text_extras *extras, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (is_dlrm(workload->strategy)) {
        return need_count(words, "the last bottom layer", &workload->last_bottom_layer, err);
    }
    if (workload->strategy == TEXT_HYBRID_TRANSFORMER || workload->strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD) {
        int64_t group = 0;
        status = need_count(words, "the size of the model-parallel group", &group, err);
        if (status == ORR_OK && (group < 1 || group > UINT32_MAX)) {
            return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": a model-parallel group of %" PRId64 " ranks",
                             words->path, words->line, group);
        }
        workload->model_group = (uint32_t)group;
    }
    if (workload->strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD) {
        static const char *const what[2] = {"the checkpoints", "the layers that initiate a checkpoint"};
        for (unsigned i = 0; i < 2 && status == ORR_OK; i++) {
            status = skip_list(words, what[i], &extras->lists[i], &extras->counts[i], err);
        }
    }
    return status;
}

static enum orr_status read_layers(struct text_words *words, struct text_workload *workload, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    struct et_text word;
    for (int64_t i = 0; i < workload->written_count && status == ORR_OK; i++) {
        struct text_layer layer = {.strategy = (uint8_t)workload->strategy};
        struct text_words before = *words;
        if (!text_word_next(&before, &word)) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends after %" PRId64 " of %" PRId64 " layers",
                             words->path, words->line, i, workload->written_count);
        }
        status = text_layer_read(words, &layer, err);
        if (status == ORR_OK && workload->strategy == TEXT_HYBRID_CUSTOMIZED) {
            unsigned strategy = 0;
            status = text_parse_need(words, "the layer's own strategy", &word, err);
            status = status == ORR_OK ? read_strategy(words, word, false, &strategy, err) : status;
            if (status == ORR_OK && (strategy < TEXT_DATA || strategy > TEXT_HYBRID_MODEL_DATA)) {
                status = error_set(err, ORR_EINVAL,
                                   "%s:%" PRIu64 ": a layer's own strategy is DATA, MODEL, "
                                   "HYBRID_DATA_MODEL or HYBRID_MODEL_DATA, not %s",
                                   words->path, words->line, text_strategy_names[strategy]);
            }
            layer.strategy = (uint8_t)strategy;
        }
        status = status == ORR_OK ? text_parse_add_layer(workload, &layer, err) : status;
    }
    if (status == ORR_OK && text_word_next(words, &word)) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu64 ": \"%.*s\" stands behind the last of %" PRId64 " layers; a layer has %d words",
                         words->path, words->line, text_parse_shown(word), word.text, workload->written_count,
                         LAYER_WORDS + (workload->strategy == TEXT_HYBRID_CUSTOMIZED));
    }
    return status;
}

static enum orr_status text_parse_read_words(struct text_words *words, struct text_workload *workload,
                                             struct orr_error *err)
{
    struct et_text word;
    struct text_extras extras = {0};
    unsigned strategy = 0;
    enum orr_status status = text_parse_need(words, "the strategy's name", &word, err);
    status = status == ORR_OK ? read_strategy(words, word, false, &strategy, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    workload->strategy = (enum text_strategy)strategy;
    status = text_parse_read_extras(words, workload, &extras, err);
    status = status == ORR_OK ? need_count(words, "the number of layers", &workload->written_count, err) : status;
    status = status == ORR_OK ? read_layers(words, workload, err) : status;
    for (unsigned i = 0; i < 2 && status == ORR_OK; i++) {
        status = mark_layers(extras.lists[i], extras.counts[i], i == 1, workload, err);
    }
    if (status == ORR_OK && is_dlrm(workload->strategy) &&
        workload->last_bottom_layer >= (int64_t)workload->layer_count) {
        return error_set(err, ORR_ERANGE, "%s:1: last bottom layer %" PRId64 " of %" PRIu32 " layers, counted from 0",
                         words->path, workload->last_bottom_layer, workload->layer_count);
    }
    return status == ORR_OK ? text_check_initiates(workload, err) : status;
}

enum orr_status text_read(const char *path, struct mem *mem, struct text_workload *workload, struct orr_error *err)
{
    *workload = (struct text_workload){.path = path, .mem = mem};
    file_buffer_init(&workload->file, mem);
    enum orr_status status = text_load(path, &workload->file, err);
    struct text_words words = {.path = path, .line = 1};
    if (status == ORR_OK) {
        words.at = (const char *)workload->file.bytes;
        words.end = words.at + workload->file.size;
        status = text_parse_read_words(&words, workload, err);
    }
    if (status != ORR_OK) {
        text_free(workload);
    }
    return status;
}

void text_free(struct text_workload *workload)
{
    mem_free(workload->mem, workload->layers, workload->layer_capacity * sizeof *workload->layers);
    file_buffer_free(&workload->file);
}
