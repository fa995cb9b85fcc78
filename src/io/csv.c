/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is gathered byte by byte into one growing text, fields terminated in place; the pointers are made when the row
 * is complete, because the text moves while it grows. The separator is decided before the header is split, by looking
 * ahead in the first buffer.
 */
#include "io/csv.h"

#include <inttypes.h>
#include <string.h>

#include "io/stream.h"

enum { CSV_BUFFER = 64 << 10 };

struct csv_lines {
    struct csv_row row;
    struct csv_field *fields;
    uint32_t *starts; /* of each field in `text` */
    char *text;
    uint32_t field_capacity, start_capacity, text_capacity;
    uint32_t text_size;
};

struct csv_reader {
    struct mem *mem;
    struct io_stream *stream; /* NULL: the text at hand is all there is */
    const char *name;
    struct csv_lines header, row;
    uint8_t *buffer;
    const uint8_t *bytes; /* the buffer, or the text at hand */
    size_t at, size;
    uint64_t line;
    uint64_t line_start; /* bytes before this line */
    uint64_t offset;     /* bytes taken */
    char separator;
    bool at_end;
};

enum { CSV_END = -1 };

static enum orr_status refill(struct csv_reader *reader, struct orr_error *err)
{
    if (reader->stream == NULL) {
        reader->at_end = reader->at == reader->size;
        return ORR_OK;
    }
    reader->at = 0;
    enum orr_status status = io_stream_read(reader->stream, reader->buffer, CSV_BUFFER, &reader->size, err);
    reader->at_end = status == ORR_OK && reader->size == 0;
    return status;
}

/* The next byte without taking it, or CSV_END. */
static enum orr_status csv_peek(struct csv_reader *reader, int *byte, struct orr_error *err)
{
    if (reader->at == reader->size && !reader->at_end) {
        enum orr_status status = refill(reader, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    *byte = reader->at_end ? CSV_END : reader->bytes[reader->at];
    return ORR_OK;
}

static void csv_take(struct csv_reader *reader)
{
    if (reader->bytes[reader->at] == '\n') {
        reader->line++;
        reader->line_start = reader->offset + 1;
    }
    reader->offset++;
    reader->at++;
}

static uint32_t csv_column_of(const struct csv_reader *reader)
{
    uint64_t column = reader->offset - reader->line_start + 1;
    return column > UINT32_MAX ? UINT32_MAX : (uint32_t)column;
}

static enum orr_status csv_fail(const struct csv_reader *reader, uint64_t line, uint32_t column, const char *what,
                                struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ":%" PRIu32 ": %s", reader->name, line, column, what);
}

static enum orr_status csv_put(struct csv_reader *reader, struct csv_lines *lines, char byte, struct orr_error *err)
{
    if (!mem_reserve(reader->mem, (void **)&lines->text, &lines->text_capacity, (uint64_t)lines->text_size + 1, 1)) {
        return mem_error(reader->mem, "a row of a table", err);
    }
    lines->text[lines->text_size++] = byte;
    return ORR_OK;
}

static enum orr_status begin_field(struct csv_reader *reader, struct csv_lines *lines, struct orr_error *err)
{
    uint64_t need = (uint64_t)lines->row.count + 1;
    if (!MEM_RESERVE(reader->mem, lines->fields, lines->field_capacity, need) ||
        !MEM_RESERVE(reader->mem, lines->starts, lines->start_capacity, need)) {
        return mem_error(reader->mem, "a row of a table", err);
    }
    lines->starts[lines->row.count] = lines->text_size;
    lines->fields[lines->row.count++] = (struct csv_field){.column = csv_column_of(reader)};
    return ORR_OK;
}

/* Behind the opening quote, up to and with the closing one. */
static enum orr_status read_quoted(struct csv_reader *reader, struct csv_lines *lines, struct orr_error *err)
{
    uint64_t line = reader->line;
    uint32_t column = csv_column_of(reader);
    for (csv_take(reader);;) {
        int byte = 0;
        enum orr_status status = csv_peek(reader, &byte, err);
        if (status == ORR_OK && byte == CSV_END) {
            return csv_fail(reader, line, column, "a quote that is never closed", err);
        }
        if (status == ORR_OK && byte == '\0') {
            return csv_fail(reader, reader->line, csv_column_of(reader), "a NUL byte; this is no text", err);
        }
        if (status != ORR_OK) {
            return status;
        }
        csv_take(reader);
        if (byte == '"') {
            int next = 0;
            status = csv_peek(reader, &next, err);
            if (status != ORR_OK || next != '"') {
                return status;
            }
            csv_take(reader);
        }
        status = csv_put(reader, lines, (char)byte, err);
        if (status != ORR_OK) {
            return status;
        }
    }
}

/* One field; what ended it (separator, '\n' or CSV_END) is still to be taken. */
static enum orr_status read_field(struct csv_reader *reader, struct csv_lines *lines, int *ended, struct orr_error *err)
{
    bool quoted = false;
    bool empty = true;
    enum orr_status status = begin_field(reader, lines, err);
    while (status == ORR_OK) {
        int byte = 0;
        status = csv_peek(reader, &byte, err);
        if (status != ORR_OK || byte == CSV_END || byte == '\n' || byte == reader->separator) {
            *ended = byte;
            break;
        }
        if (byte == '"' && empty) {
            quoted = true;
            status = read_quoted(reader, lines, err);
        } else if (byte == '\0') {
            return csv_fail(reader, reader->line, csv_column_of(reader), "a NUL byte; this is no text", err);
        } else if (byte == '\r') {
            csv_take(reader);
            status = csv_peek(reader, ended, err);
            if (status == ORR_OK && *ended != '\n' && *ended != CSV_END) {
                return csv_fail(reader, reader->line, csv_column_of(reader), "a carriage return inside a line", err);
            }
        } else if (quoted && byte != ' ') {
            return csv_fail(reader, reader->line, csv_column_of(reader), "text behind a closing quote", err);
        } else {
            csv_take(reader);
            status = quoted ? ORR_OK : csv_put(reader, lines, (char)byte, err);
        }
        empty = false;
    }
    return status == ORR_OK ? csv_put(reader, lines, '\0', err) : status;
}

static void set_pointers(struct csv_lines *lines)
{
    for (uint32_t i = 0; i < lines->row.count; i++) {
        uint32_t end = i + 1 < lines->row.count ? lines->starts[i + 1] : lines->text_size;
        lines->fields[i].text = lines->text + lines->starts[i];
        lines->fields[i].length = end - lines->starts[i] - 1;
    }
    lines->row.fields = lines->fields;
}

/* The next row that is not an empty line. */
static enum orr_status csv_read_row(struct csv_reader *reader, struct csv_lines *lines, bool *more,
                                    struct orr_error *err)
{
    for (;;) {
        int ended = 0;
        lines->row = (struct csv_row){.line = reader->line};
        lines->text_size = 0;
        do {
            enum orr_status status = read_field(reader, lines, &ended, err);
            if (status != ORR_OK) {
                return status;
            }
            if (ended != CSV_END) {
                csv_take(reader);
            }
        } while (ended == reader->separator);
        bool blank = lines->row.count == 1 && lines->text_size == 1;
        if (!blank || ended == CSV_END) {
            set_pointers(lines);
            *more = !blank;
            return ORR_OK;
        }
    }
}

/* What the first line that is not empty has most of; a comma when it has none. A header longer than the buffer is
 * judged by its beginning. */
static void find_separator(struct csv_reader *reader)
{
    static const char known[] = {',', ';', '\t'};
    uint32_t counts[sizeof known] = {0};
    bool quoted = false;
    bool blank = true;
    for (size_t i = reader->at; i < reader->size; i++) {
        char byte = (char)reader->bytes[i];
        if (byte == '\n' && !quoted && !blank) {
            break;
        }
        blank = blank && (byte == '\n' || byte == '\r');
        quoted = byte == '"' ? !quoted : quoted;
        for (size_t k = 0; k < sizeof known && !quoted; k++) {
            counts[k] += byte == known[k];
        }
    }
    size_t best = 0;
    for (size_t k = 1; k < sizeof known; k++) {
        best = counts[k] > counts[best] ? k : best;
    }
    reader->separator = known[best];
}

static enum orr_status pass_comments(struct csv_reader *reader, struct orr_error *err)
{
    int byte = CSV_END;
    enum orr_status status = csv_peek(reader, &byte, err);
    bool inside = false;
    while (status == ORR_OK && byte != CSV_END && (inside || byte == '#')) {
        inside = byte != '\n';
        csv_take(reader);
        status = csv_peek(reader, &byte, err);
    }
    return status;
}

static enum orr_status csv_read_header(struct csv_reader *reader, struct orr_error *err)
{
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    bool more = false;
    enum orr_status status = refill(reader, err);
    if (status != ORR_OK) {
        return status;
    }
    if (reader->size >= sizeof mark && memcmp(reader->bytes, mark, sizeof mark) == 0) {
        reader->at = sizeof mark;
    }
    status = pass_comments(reader, err);
    if (status != ORR_OK) {
        return status;
    }
    find_separator(reader);
    status = csv_read_row(reader, &reader->header, &more, err);
    if (status == ORR_OK && !more) {
        return error_set(err, ORR_EINVAL, "%s: no header line; the first line names the columns", reader->name);
    }
    return status;
}

static struct csv_reader *csv_reader_make(struct mem *mem)
{
    struct csv_reader *made = mem_zalloc(mem, sizeof *made);
    if (made != NULL) {
        made->mem = mem;
        made->line = 1;
    }
    return made;
}

static enum orr_status csv_reader_begin(struct csv_reader *made, struct csv_reader **reader, struct orr_error *err)
{
    enum orr_status status = csv_read_header(made, err);
    if (status != ORR_OK) {
        csv_reader_close(made);
        return status;
    }
    *reader = made;
    return ORR_OK;
}

enum orr_status csv_reader_open(const char *path, struct mem *mem, struct csv_reader **reader, struct orr_error *err)
{
    struct csv_reader *made = csv_reader_make(mem);
    uint8_t *buffer = mem_alloc(mem, CSV_BUFFER);
    if (made == NULL || buffer == NULL) {
        mem_free(mem, buffer, CSV_BUFFER);
        mem_free(mem, made, sizeof *made);
        return mem_error(mem, "reading a table", err);
    }
    made->bytes = made->buffer = buffer;
    enum orr_status status = io_stream_open(path, mem, &made->stream, err);
    if (status != ORR_OK) {
        csv_reader_close(made);
        return status;
    }
    made->name = io_stream_path(made->stream);
    return csv_reader_begin(made, reader, err);
}

enum orr_status csv_reader_open_text(const char *name, const char *text, size_t size, struct mem *mem,
                                     struct csv_reader **reader, struct orr_error *err)
{
    struct csv_reader *made = csv_reader_make(mem);
    if (made == NULL) {
        return mem_error(mem, "reading a table", err);
    }
    made->name = name;
    made->bytes = (const uint8_t *)text;
    made->size = size;
    return csv_reader_begin(made, reader, err);
}

static void lines_free(struct csv_lines *lines, struct mem *mem)
{
    mem_free(mem, lines->fields, lines->field_capacity * sizeof *lines->fields);
    mem_free(mem, lines->starts, lines->start_capacity * sizeof *lines->starts);
    mem_free(mem, lines->text, lines->text_capacity);
}

void csv_reader_close(struct csv_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    io_stream_close(reader->stream);
    lines_free(&reader->header, reader->mem);
    lines_free(&reader->row, reader->mem);
    if (reader->buffer != NULL) {
        mem_free(reader->mem, reader->buffer, CSV_BUFFER);
    }
    mem_free(reader->mem, reader, sizeof *reader);
}

const struct csv_row *csv_reader_header(const struct csv_reader *reader)
{
    return &reader->header.row;
}

char csv_reader_separator(const struct csv_reader *reader)
{
    return reader->separator;
}

enum orr_status csv_reader_next(struct csv_reader *reader, struct csv_row *row, bool *more, struct orr_error *err)
{
    bool found = false;
    enum orr_status status = csv_read_row(reader, &reader->row, &found, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct csv_row *got = &reader->row.row;
    *row = *got;
    *more = found;
    if (found && got->count != reader->header.row.count) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %" PRIu32 " fields, where the header has %" PRIu32,
                         reader->name, got->line, got->count, reader->header.row.count);
    }
    return ORR_OK;
}

void csv_write_field(const char *text, FILE *stream)
{
    if (strpbrk(text, ",;\t\"\n\r") == NULL) {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '"' ? "\"" : "", stream);
        (void)fputc(*text, stream);
    }
    (void)fputc('"', stream);
}

bool csv_is_added(const char *column, const char *const added[])
{
    for (size_t i = 0; added[i] != NULL; i++) {
        if (strcmp(column, added[i]) == 0) {
            return true;
        }
    }
    return false;
}

void csv_write_kept(const struct csv_row *header, const struct csv_row *row, const char *const added[], char separator,
                    FILE *stream)
{
    for (uint32_t i = 0; i < header->count; i++) {
        if (!csv_is_added(header->fields[i].text, added)) {
            csv_write_field(i < row->count ? row->fields[i].text : "", stream);
            (void)fputc(separator, stream);
        }
    }
}

void csv_write_added(const char *const added[], char separator, FILE *stream)
{
    for (size_t i = 0; added[i] != NULL; i++) {
        (void)fprintf(stream, "%s%c", added[i], added[i + 1] != NULL ? separator : '\n');
    }
}
