/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of measurements is small, so it is held whole and words point into it. Letters are compared in ASCII only, so
 * that no locale changes what is read.
 */
#include "calib/read_text.h"

#include <string.h>

#include "base/scan.h"
#include "coll/impl.h"
#include "io/stream.h"
#include "io/value.h"
#include "run/type_word.h"

enum { TEXT_PIECE = 64 << 10 };

enum orr_status calib_text_read(struct calib_text *text, const char *path, struct mem *mem, struct orr_error *err)
{
    struct io_stream *stream = NULL;
    *text = (struct calib_text){.path = path, .mem = mem};
    enum orr_status status = io_stream_open(path, mem, &stream, err);
    for (size_t got = 1; status == ORR_OK && got > 0;) {
        if (!mem_reserve_bytes(mem, (void **)&text->bytes, &text->capacity, text->size, TEXT_PIECE + 1)) {
            status = mem_error(mem, path, err);
            break;
        }
        status = io_stream_read(stream, text->bytes + text->size, TEXT_PIECE, &got, err);
        text->size += status == ORR_OK ? got : 0;
    }
    io_stream_close(stream);
    if (status == ORR_OK && text->size > UINT32_MAX) {
        status = error_set(err, ORR_EINVAL, "%s: more than 4 GiB; a file of measurements is small", path);
    }
    if (status != ORR_OK) {
        calib_text_free(text);
        return status;
    }
    text->bytes[text->size] = '\0';
    return ORR_OK;
}

void calib_text_free(struct calib_text *text)
{
    mem_free(text->mem, text->bytes, text->capacity);
    text->bytes = NULL;
}

/* ---- lines ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static struct calib_word calib_read_text_trimmed(struct calib_word word)
{
    while (word.length > 0 && is_space(*word.at)) {
        word.at++;
        word.length--;
    }
    while (word.length > 0 && is_space(word.at[word.length - 1])) {
        word.length--;
    }
    return word;
}

static uint32_t digits_at(struct calib_word line, uint32_t from)
{
    uint32_t at = from;
    while (at < line.length && scan_is_digit(line.at[at])) {
        at++;
    }
    return at - from;
}

/* "[1,0]<stdout>:", "[1,0]<stderr>: " */
static uint32_t mpirun_label(struct calib_word line)
{
    static const char *const streams[] = {"]<stdout>", "]<stderr>"};
    if (line.length == 0 || line.at[0] != '[') {
        return 0;
    }
    uint32_t at = 1 + digits_at(line, 1);
    if (at == 1 || at >= line.length || line.at[at] != ',') {
        return 0;
    }
    at++;
    uint32_t digits = digits_at(line, at);
    at += digits;
    for (size_t i = 0; digits > 0 && i < sizeof streams / sizeof streams[0]; i++) {
        uint32_t length = (uint32_t)strlen(streams[i]);
        if (line.length - at >= length && memcmp(line.at + at, streams[i], length) == 0) {
            at += length;
            return at + (at < line.length && line.at[at] == ':');
        }
    }
    return 0;
}

/* "0: " and "12: ", before a comment or a row; a YAML map of numbers is not mistaken for it: its values are not. */
static uint32_t srun_label(struct calib_word line)
{
    uint32_t start = 0;
    while (start < line.length && line.at[start] == ' ') {
        start++;
    }
    uint32_t digits = digits_at(line, start);
    uint32_t at = start + digits;
    if (digits == 0 || line.length - at < 2 || line.at[at] != ':' || line.at[at + 1] != ' ') {
        return 0;
    }
    struct calib_word rest = calib_read_text_trimmed((struct calib_word){line.at + at + 1, line.length - at - 1});
    return rest.length > 0 && (rest.at[0] == '#' || scan_is_digit(rest.at[0])) ? at + 2 : 0;
}

bool calib_lines_next(const struct calib_text *text, struct calib_lines *lines)
{
    const char *end = text->bytes + text->size;
    if (lines->next >= end) {
        return false;
    }
    const char *stop = memchr(lines->next, '\n', (size_t)(end - lines->next));
    stop = stop != NULL ? stop : end;
    lines->line = (struct calib_word){lines->next, (uint32_t)(stop - lines->next)};
    static const char mark[] = "\xef\xbb\xbf";
    if (lines->number == 0 && lines->line.length >= 3 && memcmp(lines->line.at, mark, 3) == 0) {
        lines->line.at += 3;
        lines->line.length -= 3;
    }
    uint32_t label = mpirun_label(lines->line);
    label = label > 0 ? label : srun_label(lines->line);
    lines->line = calib_read_text_trimmed((struct calib_word){lines->line.at + label, lines->line.length - label});
    lines->next = stop + 1;
    lines->number++;
    return true;
}

/* ---- words ---- */

uint32_t calib_words_split(struct calib_word line, struct calib_word words[CALIB_WORDS_MAX])
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < line.length;) {
        if (is_space(line.at[at])) {
            at++;
            continue;
        }
        uint32_t start = at;
        while (at < line.length && !is_space(line.at[at])) {
            at++;
        }
        if (count == CALIB_WORDS_MAX) {
            return UINT32_MAX;
        }
        words[count++] = (struct calib_word){line.at + start, at - start};
    }
    return count;
}

uint32_t calib_fields_split(struct calib_word line, char separator, struct calib_word fields[CALIB_WORDS_MAX])
{
    uint32_t count = 0;
    bool quoted = false;
    for (uint32_t at = 0, start = 0; at <= line.length; at++) {
        if (at < line.length && line.at[at] == '"') {
            quoted = !quoted;
        }
        if (at < line.length && (quoted || line.at[at] != separator)) {
            continue;
        }
        struct calib_word field = calib_read_text_trimmed((struct calib_word){line.at + start, at - start});
        if (field.length >= 2 && field.at[0] == '"' && field.at[field.length - 1] == '"') {
            field = calib_read_text_trimmed((struct calib_word){field.at + 1, field.length - 2});
        }
        if (count == CALIB_WORDS_MAX) {
            return UINT32_MAX;
        }
        fields[count++] = field;
        start = at + 1;
    }
    return count;
}

bool calib_word_is(struct calib_word word, const char *text)
{
    for (uint32_t i = 0; i < word.length; i++) {
        if (text[i] == '\0' || lower(word.at[i]) != lower(text[i])) {
            return false;
        }
    }
    return text[word.length] == '\0';
}

const char *calib_word_find(struct calib_word line, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    for (uint32_t at = 0; at + length <= line.length; at++) {
        if (calib_word_is((struct calib_word){line.at + at, length}, text)) {
            return line.at + at;
        }
    }
    return NULL;
}

static bool number_parse(struct calib_word word, struct io_value *number)
{
    char text[CALIB_WORD_TEXT];
    if (word.length == 0 || word.length >= sizeof text || memchr(word.at, '\0', word.length) != NULL) {
        return false;
    }
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    return io_number_parse(text, number);
}

bool calib_word_count(struct calib_word word, uint32_t *count)
{
    struct io_value number = {0};
    if (!number_parse(word, &number) || number.kind != IO_INTEGER || number.integer < 0 ||
        number.integer > UINT32_MAX) {
        return false;
    }
    *count = (uint32_t)number.integer;
    return true;
}

bool calib_word_number(struct calib_word word, double *number)
{
    struct io_value value = {0};
    if (!number_parse(word, &value)) {
        return false;
    }
    *number = value.kind == IO_INTEGER ? (double)value.integer : value.real;
    return true;
}

const char *calib_word_text(struct calib_word word, char text[CALIB_WORD_TEXT])
{
    char whole[CALIB_WORD_TEXT];
    uint32_t length = word.length < sizeof whole - 1 ? word.length : (uint32_t)sizeof whole - 1;
    while (length > 0 && length < word.length && ((unsigned char)word.at[length] & 0xc0u) == 0x80u) {
        length--; /* not inside a UTF-8 character */
    }
    memcpy(whole, word.at, length);
    whole[length] = '\0';
    return io_text_printable(whole, text, CALIB_WORD_TEXT);
}

/* ---- collectives by name ---- */

int32_t calib_type_of(struct calib_word word)
{
    char text[CALIB_WORD_TEXT];
    int32_t type = CALIB_TYPE_UNKNOWN;
    struct orr_error ignored = {0};
    if (word.length == 0 || word.length >= sizeof text) {
        return CALIB_TYPE_UNKNOWN;
    }
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    return type_word_parse(text, &type, &ignored) == ORR_OK ? type : CALIB_TYPE_UNKNOWN;
}

int32_t calib_program_type(struct calib_word line)
{
    static const char end[] = "_perf";
    const char *found = calib_word_find(line, end);
    if (found == NULL) {
        return CALIB_TYPE_UNKNOWN;
    }
    const char *start = found;
    while (start > line.at && (start[-1] == '_' || (lower(start[-1]) >= 'a' && lower(start[-1]) <= 'z'))) {
        start--;
    }
    if (start == found) {
        return CALIB_TYPE_UNKNOWN;
    }
    int32_t type = calib_type_of((struct calib_word){start, (uint32_t)(found - start)});
    return type != CALIB_TYPE_UNKNOWN ? type : CALIB_TYPE_OTHER;
}

int32_t calib_type_within(const char *text)
{
    /* Longer names first where one is part of another: "reduce" alone is no sign of a reduce. */
    static const struct {
        const char *name;
        int32_t type;
    } names[] = {{"allreduce", COLL_ALL_REDUCE}, {"allgather", COLL_ALL_GATHER}, {"reducescatter", COLL_REDUCE_SCATTER},
                 {"alltoall", COLL_ALL_TO_ALL},  {"all2all", COLL_ALL_TO_ALL},   {"broadcast", COLL_BROADCAST}};
    char plain[1024];
    uint32_t length = 0;
    for (; *text != '\0' && length < sizeof plain; text++) {
        if (strchr("-_ ", *text) == NULL) {
            plain[length++] = *text;
        }
    }
    int32_t found = CALIB_TYPE_UNKNOWN;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (calib_word_find((struct calib_word){plain, length}, names[i].name) == NULL) {
            continue;
        }
        if (found != CALIB_TYPE_UNKNOWN && found != names[i].type) {
            return CALIB_TYPE_UNKNOWN;
        }
        found = names[i].type;
    }
    return found;
}
