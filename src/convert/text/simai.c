/* Keys are looked up in one table that also makes the list in the message about an unknown one. A key that says nothing
 * about the graph (vpp, ga, mode: AICB has unrolled them into the rows) is checked and otherwise not needed. */
#include "convert/text/simai.h"

#include <inttypes.h>
#include <string.h>

enum simai_key {
    KEY_TP,
    KEY_EP,
    KEY_PP,
    KEY_VPP,
    KEY_GA,
    KEY_GPUS,
    KEY_MODE,
    KEY_PP_COMM,
    KEY_DLRM,
    KEY_CHECKPOINTS,
    KEY_INITIATES,
    KEY_COUNT
};

static const char *const key_names[] = {
    "model_parallel_NPU_group:",
    "ep:",
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

struct simai {
    struct text_workload workload;
    int64_t values[KEY_COUNT];
    struct text_words lists[2]; /* behind checkpoints: and checkpoint_initiates: */
};

/* The first line by itself; `words` moves behind it. */
static struct text_words first_line(struct text_words *words)
{
    struct text_words line = *words;
    const char *newline = memchr(words->at, '\n', (size_t)(words->end - words->at));
    line.end = newline != NULL ? newline : words->end;
    words->at = line.end;
    return line;
}

static bool find_key(struct et_text word, unsigned *key)
{
    for (unsigned i = 0; key_names[i] != NULL; i++) {
        if (text_word_is(word, key_names[i])) {
            *key = i;
            return true;
        }
    }
    *key = KEY_PP_COMM;
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
        struct text_words line = first_line(&words);
        struct et_text word;
        bool found = false;
        while (text_word_next(&line, &word)) {
            unsigned key;
            found = found || (find_key(word, &key) && ((key >= KEY_EP && key <= KEY_GPUS) || key == KEY_PP_COMM));
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
    const char *nearest = error_nearest(text, key_names);
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": unknown word \"%s\" in the header%s%s%s", line->path, line->line,
                     text, nearest != NULL ? "; did you mean \"" : "; known are keys such as ep:, pp:, all_gpus:",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

/* AICB divides in floating point and writes "8388608.0". */
static void drop_zero_fraction(struct et_text *word)
{
    if (word->length > 2 && memcmp(word->text + word->length - 2, ".0", 2) == 0) {
        word->length -= 2;
    }
}

static enum orr_status read_value(struct text_words *line, unsigned key, int64_t *value, struct orr_error *err)
{
    struct et_text word;
    if (!text_word_next(line, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s has no value", line->path, line->line, key_names[key]);
    }
    drop_zero_fraction(&word);
    return text_word_count(line, word, key_names[key], value, err);
}

static enum orr_status read_key(struct text_words *line, struct simai *simai, struct orr_error *err)
{
    struct et_text word;
    unsigned key;
    if (!text_word_next(line, &word) || !find_key(word, &key)) {
        return fail_key(line, word, err);
    }
    enum orr_status status = read_value(line, key, &simai->values[key], err);
    if (status == ORR_OK && (key == KEY_CHECKPOINTS || key == KEY_INITIATES)) {
        simai->lists[key - KEY_CHECKPOINTS] = *line;
        for (int64_t i = 0, index; i < simai->values[key] && status == ORR_OK; i++) {
            status = read_value(line, key, &index, err);
        }
    }
    return status;
}

static enum orr_status read_header(struct text_words *words, struct simai *simai, struct orr_error *err)
{
    struct text_words line = first_line(words);
    struct et_text word;
    struct et_text next;
    (void)text_word_next(&line, &word);
    unsigned strategy = 0;
    while (text_strategy_names[strategy] != NULL && !text_word_is(word, text_strategy_names[strategy])) {
        strategy++;
    }
    if (strategy == TEXT_STRATEGY_COUNT) {
        char text[64];
        (void)snprintf(text, sizeof text, "%.*s", (int)(word.length < 63 ? word.length : 63), word.text);
        const char *nearest = error_nearest(text, text_strategy_names);
        return error_set(err, ORR_EINVAL, "%s:1: unknown policy \"%s\"; did you mean \"%s\"?", words->path, text,
                         nearest != NULL ? nearest : text_strategy_names[TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD]);
    }
    simai->workload.strategy = (enum text_strategy)strategy;
    enum orr_status status = ORR_OK;
    for (struct text_words ahead = line; status == ORR_OK && text_word_next(&ahead, &next); ahead = line) {
        status = read_key(&line, simai, err);
    }
    return status;
}

/* ---- rows ---- */

static enum orr_status read_rows(struct text_words *words, struct simai *simai, struct orr_error *err)
{
    struct text_workload *workload = &simai->workload;
    struct et_text word;
    if (!text_word_next(words, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends before the number of rows", words->path,
                         words->line);
    }
    enum orr_status status = text_word_count(words, word, "the number of rows", &workload->written_count, err);
    for (int64_t i = 0; i < workload->written_count && status == ORR_OK; i++) {
        struct text_layer layer = {.strategy = (uint8_t)workload->strategy};
        status = text_layer_read(words, &layer, err);
        if (status == ORR_OK && !mem_reserve(workload->mem, (void **)&workload->layers, &workload->layer_capacity,
                                             (uint64_t)workload->layer_count + 1, sizeof layer)) {
            status = mem_error(workload->mem, "a workload's rows", err);
        }
        if (status == ORR_OK) {
            workload->layers[workload->layer_count++] = layer;
        }
    }
    if (status == ORR_OK && text_word_next(words, &word)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%.*s\" stands behind the last of %" PRId64 " rows",
                         words->path, words->line, (int)(word.length < 60 ? word.length : 60), word.text,
                         workload->written_count);
    }
    return status;
}

static enum orr_status mark_checkpoints(struct simai *simai, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (unsigned which = 0; which < 2; which++) {
        struct text_words list = simai->lists[which];
        for (int64_t i = 0; i < simai->values[KEY_CHECKPOINTS + which] && status == ORR_OK; i++) {
            int64_t index = 0;
            status = read_value(&list, KEY_CHECKPOINTS + which, &index, err);
            if (status == ORR_OK && index >= (int64_t)simai->workload.layer_count) {
                return error_set(err, ORR_ERANGE, "%s:1: row %" PRId64 " of %" PRIu32 ", counted from 0", list.path,
                                 index, simai->workload.layer_count);
            }
            if (status == ORR_OK) {
                struct text_layer *layer = &simai->workload.layers[index];
                layer->is_checkpoint = layer->is_checkpoint || which == 0;
                layer->is_initiate = layer->is_initiate || which == 1;
            }
        }
    }
    return status == ORR_OK ? text_check_initiates(&simai->workload, err) : status;
}

static enum orr_status read_simai(const struct convert_request *request, struct simai *simai, struct orr_error *err)
{
    simai->workload = (struct text_workload){.path = request->input, .mem = request->mem, .by_suffix = true};
    file_buffer_init(&simai->workload.file, request->mem);
    enum orr_status status = text_load(request->input, &simai->workload.file, err);
    struct text_words words = {.path = request->input, .line = 1};
    if (status == ORR_OK) {
        words.at = (const char *)simai->workload.file.bytes;
        words.end = words.at + simai->workload.file.size;
        status = read_header(&words, simai, err);
    }
    status = status == ORR_OK ? read_rows(&words, simai, err) : status;
    status = status == ORR_OK ? mark_checkpoints(simai, err) : status;
    if (status == ORR_OK && simai->workload.strategy == TEXT_HYBRID_CUSTOMIZED) {
        status = error_set(err, ORR_EINVAL,
                           "%s:1: HYBRID_CUSTOMIZED with SimAI's header keys; the two do not go "
                           "together",
                           request->input);
    }
    simai->workload.last_bottom_layer = simai->values[KEY_DLRM];
    if (status == ORR_OK && simai->workload.last_bottom_layer >= (int64_t)simai->workload.layer_count &&
        simai->workload.layer_count > 0) {
        status = error_set(err, ORR_ERANGE, "%s:1: %s %" PRId64 " of %" PRIu32 " rows, counted from 0", request->input,
                           key_names[KEY_DLRM], simai->workload.last_bottom_layer, simai->workload.layer_count);
    }
    if (status != ORR_OK) {
        text_free(&simai->workload);
    }
    return status;
}

/* ---- ranks ---- */

static uint64_t degree(const struct simai *simai, enum simai_key key)
{
    return simai->values[key] > 0 ? (uint64_t)simai->values[key] : 1;
}

static enum orr_status count_ranks(const struct convert_request *request, const struct simai *simai, uint32_t *ranks,
                                   struct orr_error *err)
{
    int64_t written = simai->values[KEY_GPUS];
    if (request->ranks == 0 && (written < 1 || written > UINT32_MAX)) {
        return error_set(err, written == 0 ? ORR_EINVAL : ORR_ERANGE,
                         "%s:1: all_gpus: is %" PRId64 "; give the number of ranks there or as --ranks N",
                         request->input, written);
    }
    *ranks = request->ranks != 0 ? request->ranks : (uint32_t)written;
    if (request->ranks != 0 && written != 0 && written != (int64_t)request->ranks) {
        return notes_add(request->notes, err, "%s:1: all_gpus: is %" PRId64 ", but %" PRIu32 " ranks were asked for",
                         request->input, written, request->ranks);
    }
    return ORR_OK;
}

static enum orr_status lay_out(const struct convert_request *request, const struct simai *simai, uint32_t ranks,
                               struct work *work, struct orr_error *err)
{
    uint64_t tp = degree(simai, KEY_TP);
    uint64_t pp = degree(simai, KEY_PP);
    uint64_t ep = degree(simai, KEY_EP);
    if (tp > ranks || pp > ranks || ranks % (tp * pp) != 0) {
        return error_set(err, ORR_EINVAL, "%s:1: %" PRIu32 " ranks do not divide into TP %" PRIu64 " times PP %" PRIu64,
                         request->input, ranks, tp, pp);
    }
    uint64_t dp = ranks / (tp * pp);
    uint64_t around = dp % ep == 0 ? dp : ranks / tp; /* as SimAI itself: expert groups may reach over stages */
    if (ep > ranks || around % ep != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: expert parallelism of %" PRIu64 " does not divide data parallelism of %" PRIu64
                         " (%" PRIu32 " ranks / TP %" PRIu64 " / PP %" PRIu64 ")",
                         request->input, ep, dp, ranks, tp, pp);
    }
    work->layouts[WORK_TP] = (struct work_layout){.stride = 1, .count = (uint32_t)tp};
    work->layouts[WORK_DP] = (struct work_layout){.stride = (uint32_t)tp, .count = (uint32_t)dp};
    work->layouts[WORK_EP] = (struct work_layout){.stride = (uint32_t)tp, .count = (uint32_t)ep};
    work->layouts[WORK_DP_EP] = (struct work_layout){.stride = (uint32_t)(tp * ep), .count = (uint32_t)(around / ep)};
    if (around != dp) {
        return notes_add(request->notes, err,
                         "%s:1: expert parallelism of %" PRIu64 " does not fit a stage's %" PRIu64
                         " data-parallel ranks; its groups reach over the pipeline stages",
                         request->input, ep, dp);
    }
    return ORR_OK;
}

static enum orr_status note_pipeline(const struct convert_request *request, const struct simai *simai,
                                     struct orr_error *err)
{
    if (simai->values[KEY_PP] <= 1) {
        return ORR_OK;
    }
    return notes_add(request->notes, err,
                     "%s:1: pp: is %" PRId64 ": the rows are the program of one stage and every rank runs them; what "
                     "stages send each other (pp_comm: %" PRId64 " bytes) is not in the trace",
                     request->input, simai->values[KEY_PP], simai->values[KEY_PP_COMM]);
}

enum orr_status simai_graph(const struct convert_request *request, struct work *work, uint32_t *ranks,
                            struct orr_error *err)
{
    struct simai simai = {0};
    enum orr_status status = read_simai(request, &simai, err);
    if (status != ORR_OK) {
        return status;
    }
    status = count_ranks(request, &simai, ranks, err);
    status = status == ORR_OK ? lay_out(request, &simai, *ranks, work, err) : status;
    status = status == ORR_OK ? note_pipeline(request, &simai, err) : status;
    if (status == ORR_OK) {
        status = text_graph(&simai.workload, *ranks, request->passes, work, request->notes, err);
    }
    text_free(&simai.workload);
    return status;
}

enum orr_status simai_convert(const struct convert_request *request, struct convert_summary *summary,
                              struct orr_error *err)
{
    struct work work;
    uint32_t ranks = 0;
    if (request->compat) {
        return error_set(err, ORR_EINVAL, "%s: Chakra has no converter for SimAI's workloads; leave --compat out",
                         request->input);
    }
    work_init(&work, request->mem);
    enum orr_status status = simai_graph(request, &work, &ranks, err);
    if (status == ORR_OK) {
        status = work_write(&work, request->output, ranks, summary, err);
    }
    work_free(&work);
    return status;
}
