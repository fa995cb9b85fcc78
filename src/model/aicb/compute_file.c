/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines are split once, and a sink gets every average (and param_time's minimum) with its section: which sums they
 * enter differs between training and inference, how they are read does not. Sums are of doubles in the file's order
 * and rounded once, because that is how AICB's last digit comes about.
 */
#include "model/aicb/compute_file.h"

#include <math.h>
#include <string.h>

#include "base/scan.h"
#include "io/file.h"
#include "io/value.h"

enum { NUMBER_BYTES = 64, SECTION_BYTES = 128, SECTIONS_MAX = 4096 };

/* What a line of a section says; ns as read, not rounded. */
struct sample {
    const char *section;
    bool minimum; /* else the average */
    double ns;
};

struct sums {
    const struct aicb_compute_reading *reading;
    struct arena *arena;
    double attention, flash, mlp, grad_forward, grad_backward;
    double kinds[7]; /* of inference, in the order of their struct */
    struct aicb_times *times;
};

typedef enum orr_status sink(struct sums *sums, const struct sample *sample, struct orr_error *err);

struct line {
    const char *path;
    uint32_t number;
    const char *text;
    size_t length;
};

static enum orr_status aicb_compute_file_refuse(const struct line *line, struct orr_error *err)
{
    char shown[60];
    char cut[61];
    size_t length = line->length < 60 ? line->length : 60;
    memcpy(cut, line->text, length);
    cut[length] = '\0';
    return error_set(err, ORR_EINVAL,
                     "%s:%u: \"%s\" is neither a section (\"name:\") nor \"time_gpu_max:\", \"time_gpu_min:\" or "
                     "\"time_gpu_avg:\" with microseconds",
                     line->path, line->number, io_text_printable(cut, shown, sizeof shown));
}

static bool is_word(char c)
{
    return scan_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool aicb_compute_file_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Digits with at most one point between digits; how far they go, 0 when there are none. */
static size_t number_length(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && scan_is_digit(text[i])) {
        i++;
    }
    if (i > 0 && i + 1 < length && text[i] == '.' && scan_is_digit(text[i + 1])) {
        i++;
        while (i < length && scan_is_digit(text[i])) {
            i++;
        }
    }
    return i;
}

static bool aicb_compute_file_read_number(const char *text, size_t length, double *value)
{
    char digits[NUMBER_BYTES];
    while (length > 1 && text[0] == '0' && scan_is_digit(text[1])) {
        text++; /* which the reader of numbers takes for octal */
        length--;
    }
    if (length >= sizeof digits) {
        return false;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    struct io_value number = {0};
    if (!io_number_parse(digits, &number)) {
        return false;
    }
    *value = number.kind == IO_INTEGER ? (double)number.integer : number.real;
    return true;
}

/* "key" and blanks and a number, anywhere in the line; false when there is none. `end` is where the number stops. */
static bool find_number(const struct line *line, const char *key, double *value, size_t *end)
{
    size_t key_length = strlen(key);
    for (size_t at = 0; at + key_length < line->length; at++) {
        if (memcmp(line->text + at, key, key_length) != 0) {
            continue;
        }
        size_t start = at + key_length;
        while (start < line->length && aicb_compute_file_is_blank(line->text[start])) {
            start++;
        }
        size_t length = start > at + key_length ? number_length(line->text + start, line->length - start) : 0;
        if (length > 0 && aicb_compute_file_read_number(line->text + start, length, value)) {
            *end = start + length;
            return true;
        }
    }
    return false;
}

static size_t section_length(const struct line *line)
{
    size_t i = 0;
    while (i < line->length && is_word(line->text[i])) {
        i++;
    }
    return i > 0 && i < line->length && line->text[i] == ':' && i < SECTION_BYTES ? i : 0;
}

static bool rest_is_blank(const struct line *line, size_t from)
{
    while (from < line->length && aicb_compute_file_is_blank(line->text[from])) {
        from++;
    }
    return from == line->length;
}

static enum orr_status aicb_compute_file_read_line(struct sums *sums, const struct line *line, char *section,
                                                   sink *take, struct orr_error *err)
{
    static const char *const keys[] = {"time_gpu_avg:", "time_gpu_min:", "time_gpu_max:"};
    size_t name = section_length(line);
    bool known = rest_is_blank(line, 0);
    if (name > 0) {
        memcpy(section, line->text, name);
        section[name] = '\0';
        known = line->number == 1 || rest_is_blank(line, name + 1);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        double us = 0;
        size_t end = 0;
        if (!find_number(line, keys[i], &us, &end)) {
            continue;
        }
        known |= rest_is_blank(line, end) && section[0] != '\0';
        struct sample sample = {.section = section, .minimum = i == 1, .ns = us * 1000};
        if (i < 2 && section[0] != '\0') {
            enum orr_status status = take(sums, &sample, err);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    return known || sums->reading->compat ? ORR_OK : aicb_compute_file_refuse(line, err);
}

static enum orr_status read_lines(struct sums *sums, sink *take, struct orr_error *err)
{
    struct file_buffer buffer;
    char section[SECTION_BYTES] = "";
    file_buffer_init(&buffer, sums->arena->mem);
    enum orr_status status = file_buffer_read(&buffer, sums->reading->path, err);
    struct line line = {.path = sums->reading->path, .text = (const char *)buffer.bytes};
    const char *end = status == ORR_OK && buffer.size > 0 ? line.text + buffer.size : line.text;
    while (status == ORR_OK && line.text < end) {
        const char *stop = memchr(line.text, '\n', (size_t)(end - line.text));
        stop = stop == NULL ? end : stop;
        line.length = (size_t)(stop - line.text);
        line.number++;
        status = aicb_compute_file_read_line(sums, &line, section, take, err);
        line.text = stop + 1;
    }
    file_buffer_free(&buffer);
    return status;
}

/* Half to even, as Python's round; a double holds every whole number up to 2^53. */
static enum orr_status round_ns(const struct sums *sums, double ns, int64_t *rounded, struct orr_error *err)
{
    if (!(ns < 9007199254740992.0)) {
        return error_set(err, ORR_ERANGE, "%s: a sum of times is above 2^53 ns", sums->reading->path);
    }
    *rounded = (int64_t)rint(ns);
    return ORR_OK;
}

/* ---- training ------------------------------------------------------------------------------------------------- */

static const char *const deepseek_layers[] = {"attention_linear_q_lora", "attention_q_column",
                                              "attention_linear_kv_lora", "attention_kv_column", "attention_o_row"};
enum { DEEPSEEK_LAYERS = sizeof deepseek_layers / sizeof deepseek_layers[0] };

static enum orr_status aicb_compute_file_keep(struct sums *sums, const char *name, double ns, struct orr_error *err)
{
    struct aicb_times *times = sums->times;
    int64_t rounded = 0;
    enum orr_status status = round_ns(sums, ns, &rounded, err);
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < times->other_count; i++) {
        if (strcmp(times->others[i].name, name) == 0) {
            times->others[i].ns = rounded;
            return ORR_OK;
        }
    }
    if (times->other_count == SECTIONS_MAX) {
        return error_set(err, ORR_ERANGE, "%s: more than %d sections", sums->reading->path, SECTIONS_MAX);
    }
    if (times->other_count == times->other_capacity) { /* few sections: a copy in the arena each time it doubles */
        uint32_t capacity = times->other_capacity == 0 ? 16 : 2 * times->other_capacity;
        struct aicb_time *grown = arena_alloc(sums->arena, capacity * sizeof *grown);
        if (grown == NULL) {
            return mem_error(sums->arena->mem, "compute times", err);
        }
        if (times->other_count > 0) {
            memcpy(grown, times->others, times->other_count * sizeof *grown);
        }
        times->others = grown;
        times->other_capacity = capacity;
    }
    char *copy = arena_strndup(sums->arena, name, strlen(name));
    if (copy == NULL) {
        return mem_error(sums->arena->mem, "compute times", err);
    }
    times->others[times->other_count++] = (struct aicb_time){copy, rounded};
    return ORR_OK;
}

static enum orr_status take_training(struct sums *sums, const struct sample *sample, struct orr_error *err)
{
    const char *section = sample->section;
    if (strcmp(section, "param_time") == 0) {
        *(sample->minimum ? &sums->grad_forward : &sums->grad_backward) = sample->ns;
        return ORR_OK;
    }
    if (sample->minimum) {
        return ORR_OK;
    }
    enum orr_status status = ORR_OK;
    if (strstr(section, "atten") != NULL || strcmp(section, "layernorm") == 0) {
        bool flash = strstr(section, "flash") != NULL;
        sums->flash += flash ? sample->ns : 0;
        sums->attention += flash && sums->reading->recompute ? sample->ns * 2 : sample->ns;
    } else if (strstr(section, "mlp") != NULL || strcmp(section, "layernorm2") == 0) {
        sums->mlp += sample->ns;
    } else {
        status = aicb_compute_file_keep(sums, section, sample->ns, err);
    }
    for (size_t i = 0; status == ORR_OK && i < DEEPSEEK_LAYERS; i++) {
        if (strcmp(section, deepseek_layers[i]) == 0) {
            status = aicb_compute_file_keep(sums, section, sample->ns, err);
        }
    }
    return status;
}

static enum orr_status close_training(struct sums *sums, struct orr_error *err)
{
    struct aicb_times *times = sums->times;
    const struct {
        double ns;
        int64_t *place;
    } rounded[] = {{sums->attention, &times->attention},
                   {sums->flash, &times->flash},
                   {sums->mlp, &times->mlp},
                   {sums->grad_forward, &times->grad_forward},
                   {sums->grad_backward, &times->grad_backward}};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < sizeof rounded / sizeof rounded[0]; i++) {
        status = round_ns(sums, rounded[i].ns, rounded[i].place, err);
    }
    for (size_t i = 0; status == ORR_OK && i < DEEPSEEK_LAYERS; i++) {
        if (aicb_times_find(times, deepseek_layers[i]) == AICB_NO_TIME) {
            status = aicb_compute_file_keep(sums, deepseek_layers[i], 0, err);
        }
    }
    return status;
}

enum orr_status aicb_times_read(const struct aicb_compute_reading *reading, struct arena *arena,
                                struct aicb_times *times, struct orr_error *err)
{
    struct aicb_times read = {0};
    struct sums sums = {.reading = reading, .arena = arena, .times = &read};
    enum orr_status status = read_lines(&sums, take_training, err);
    if (status == ORR_OK) {
        status = close_training(&sums, err);
    }
    if (status == ORR_OK) {
        *times = read;
    }
    return status;
}

int64_t aicb_times_find(const struct aicb_times *times, const char *name)
{
    for (uint32_t i = 0; i < times->other_count; i++) {
        if (strcmp(times->others[i].name, name) == 0) {
            return times->others[i].ns;
        }
    }
    return AICB_NO_TIME;
}

/* ---- inference ------------------------------------------------------------------------------------------------ */

static enum orr_status take_inference(struct sums *sums, const struct sample *sample, struct orr_error *err)
{
    static const struct {
        const char *part;
        unsigned kind;
    } kinds[] = {{"atten_norm", 0}, {"gdn", 1},       {"atten", 2}, {"mlp", 3},
                 {"moe_norm", 4},   {"moe_route", 5}, {"moe", 6}}; /* the first that fits */
    (void)err;
    for (size_t i = 0; !sample->minimum && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(sample->section, kinds[i].part) != NULL) {
            sums->kinds[kinds[i].kind] += sample->ns;
            break;
        }
    }
    return ORR_OK;
}

enum orr_status aicb_inference_times_read(const struct aicb_compute_reading *reading, struct arena *arena,
                                          struct aicb_inference_times *times, struct orr_error *err)
{
    struct aicb_inference_times read = {0};
    struct sums sums = {.reading = reading, .arena = arena};
    int64_t *const places[] = {&read.attention_norm, &read.attention_gdn, &read.attention_layer, &read.mlp,
                               &read.moe_norm,       &read.moe_route,     &read.moe_expert};
    enum orr_status status = read_lines(&sums, take_inference, err);
    for (size_t i = 0; status == ORR_OK && i < sizeof places / sizeof places[0]; i++) {
        status = round_ns(&sums, sums.kinds[i], places[i], err);
        *places[i] = *places[i] == 0 ? AICB_NO_TIME : *places[i];
    }
    if (status == ORR_OK) {
        *times = read;
    }
    return status;
}
