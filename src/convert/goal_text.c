/* SPDX-License-Identifier: Apache-2.0 */
/* One byte of look-ahead is all the format needs: only '/' is not decided by its first byte. */
#include "convert/goal_text.h"

#include <inttypes.h>

#include "base/scan.h"
#include "io/stream.h"

enum { GOAL_BUFFER = 64 << 10, AT_END = -1 };

struct goal_text {
    struct mem *mem;
    struct io_stream *stream;
    uint8_t *buffer;
    size_t at, size;
    uint64_t line;
    int byte; /* the next one, or AT_END */
};

static enum orr_status goal_text_advance(struct goal_text *text, struct orr_error *err)
{
    text->line += text->byte == '\n';
    if (text->at == text->size) {
        enum orr_status status = io_stream_read(text->stream, text->buffer, GOAL_BUFFER, &text->size, err);
        if (status != ORR_OK) {
            return status;
        }
        text->at = 0;
    }
    text->byte = text->size == 0 ? AT_END : text->buffer[text->at++];
    return ORR_OK;
}

enum orr_status goal_text_open(const char *path, struct mem *mem, struct goal_text **text, struct orr_error *err)
{
    struct goal_text *made = mem_zalloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "reading a GOAL file", err);
    }
    made->mem = mem;
    made->line = 1;
    made->buffer = mem_alloc(mem, GOAL_BUFFER);
    if (made->buffer == NULL) {
        goal_text_close(made);
        return mem_error(mem, "reading a GOAL file", err);
    }
    enum orr_status status = io_stream_open(path, mem, &made->stream, err);
    if (status == ORR_OK) {
        status = goal_text_advance(made, err);
    }
    if (status != ORR_OK) {
        goal_text_close(made);
        return status;
    }
    *text = made;
    return ORR_OK;
}

void goal_text_close(struct goal_text *text)
{
    if (text == NULL) {
        return;
    }
    io_stream_close(text->stream);
    if (text->buffer != NULL) {
        mem_free(text->mem, text->buffer, GOAL_BUFFER);
    }
    mem_free(text->mem, text, sizeof *text);
}

static bool goal_text_is_blank(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool goal_text_is_letter(int byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/* Behind the first '/', which only a comment can be. */
static enum orr_status skip_comment(struct goal_text *text, struct orr_error *err)
{
    uint64_t line = text->line;
    enum orr_status status = goal_text_advance(text, err);
    if (status != ORR_OK) {
        return status;
    }
    int kind = text->byte;
    if (kind != '/' && kind != '*') {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a '/' that starts no comment", io_stream_path(text->stream),
                         line);
    }
    int before = 0;
    status = goal_text_advance(text, err);
    while (status == ORR_OK && text->byte != AT_END) {
        int byte = text->byte;
        if (kind == '/' && byte == '\n') {
            return ORR_OK;
        }
        status = goal_text_advance(text, err);
        if (kind == '*' && before == '*' && byte == '/') {
            return status;
        }
        before = byte;
    }
    if (status == ORR_OK && kind == '*') {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a comment that is never closed",
                         io_stream_path(text->stream), line);
    }
    return status;
}

static enum orr_status goal_text_read_word(struct goal_text *text, struct goal_token *token, struct orr_error *err)
{
    bool number = token->kind == GOAL_NUMBER;
    while (scan_is_digit(text->byte) || (!number && goal_text_is_letter(text->byte))) {
        bool overflow = number && (__builtin_mul_overflow(token->number, 10u, &token->number) ||
                                   __builtin_add_overflow(token->number, (uint64_t)(text->byte - '0'), &token->number));
        if (overflow || token->length == GOAL_WORD_MAX) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a %s", io_stream_path(text->stream), text->line,
                             number ? "number beyond 64 bits" : "word of more than 255 letters");
        }
        token->text[token->length++] = (char)text->byte;
        enum orr_status status = goal_text_advance(text, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    token->text[token->length] = '\0';
    return ORR_OK;
}

enum orr_status goal_text_next(struct goal_text *text, struct goal_token *token, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && (goal_text_is_blank(text->byte) || text->byte == '/')) {
        status = text->byte == '/' ? skip_comment(text, err) : goal_text_advance(text, err);
    }
    token->line = text->line;
    token->length = 0;
    token->number = 0;
    token->text[0] = '\0';
    if (status != ORR_OK) {
        return status;
    }
    if (text->byte == AT_END) {
        token->kind = GOAL_END;
        return ORR_OK;
    }
    if (goal_text_is_letter(text->byte) || scan_is_digit(text->byte)) {
        token->kind = scan_is_digit(text->byte) ? GOAL_NUMBER : GOAL_WORD;
        return goal_text_read_word(text, token, err);
    }
    if (text->byte != ':' && text->byte != '{' && text->byte != '}' && text->byte != '-') {
        char shown[8];
        bool printable = text->byte > 0x20 && text->byte < 0x7f;
        (void)snprintf(shown, sizeof shown, printable ? "'%c'" : "0x%02x", (unsigned)text->byte);
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s has no place in a GOAL file",
                         io_stream_path(text->stream), text->line, shown);
    }
    token->kind = GOAL_MARK;
    token->text[0] = (char)text->byte;
    token->text[1] = '\0';
    token->length = 1;
    return goal_text_advance(text, err);
}
