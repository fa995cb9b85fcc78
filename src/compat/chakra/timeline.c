/* SPDX-License-Identifier: Apache-2.0 */
/* An event is known when its callback comes, so events stand in the order of callbacks and only what is under way has
 * to be remembered. */
#include "compat/chakra/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/number_map.h"
#include "compat/chakra/ascii_json.h"
#include "io/json_stream.h"
#include "io/outfile.h"
#include "io/stream.h"
#include "io/wire.h"

enum { COLUMNS = 5, FIRST_LINE_ROOM = 4096 };

struct issued {
    int64_t cycle;
    uint32_t name; /* in names */
    bool open;     /* its callback has not come */
};

struct work_log {
    const struct timeline *timeline;
    struct mem *mem;
    struct orr_error *err;
    struct intern names;
    struct number_map places; /* in issued, by rank and node id */
    struct issued *issued;
    uint32_t issued_count, issued_capacity;
    FILE *stream;
    uint64_t line;
    bool filled;
};

struct log_event {
    bool is_issue;
    int64_t npu, cycle, node;
    const char *name;
    size_t name_length;
};

/* ---- one line ---- */

static bool chakra_timeline_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool chakra_timeline_contains(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

/* What stands between the first and the second '=' of a column. */
static bool chakra_timeline_value_of(const char *column, size_t length, const char **value, size_t *value_length)
{
    const char *equals = memchr(column, '=', length);
    if (equals == NULL) {
        return false;
    }
    *value = equals + 1;
    size_t left = length - (size_t)(*value - column);
    const char *second = memchr(*value, '=', left);
    *value_length = second != NULL ? (size_t)(second - *value) : left;
    return true;
}

static bool chakra_timeline_integer_of(const char *column, size_t length, int64_t *number)
{
    const char *text;
    size_t left;
    if (!chakra_timeline_value_of(column, length, &text, &left)) {
        return false;
    }
    for (; left > 0 && chakra_timeline_is_blank(text[left - 1]); left--) {
    }
    for (; left > 0 && chakra_timeline_is_blank(text[0]); left--) {
        text++;
    }
    size_t i = left > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = i == 1 && text[0] == '-';
    bool good = i < left;
    *number = 0;
    for (; i < left && good; i++) {
        good = text[i] >= '0' && text[i] <= '9' && !__builtin_mul_overflow(*number, 10, number) &&
               !__builtin_add_overflow(*number, negative ? '0' - text[i] : text[i] - '0', number);
    }
    return good;
}

static enum orr_status fail_line(const struct work_log *log, const char *what)
{
    return error_set(log->err, ORR_EINVAL,
                     "%s:%" PRIu64 ": %s; a line is \"issue|callback,…=NPU,…=CYCLE,…=NODE,…=NAME\"",
                     log->timeline->input, log->line, what);
}

static enum orr_status parse_line(const struct work_log *log, const char *text, size_t length, struct log_event *event)
{
    const char *columns[COLUMNS] = {NULL};
    size_t lengths[COLUMNS] = {0};
    unsigned count = 0;
    for (; length > 0 && chakra_timeline_is_blank(text[length - 1]); length--) {
    }
    for (; length > 0 && chakra_timeline_is_blank(text[0]); length--) {
        text++;
    }
    for (const char *end = text + length; count < COLUMNS; count++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        columns[count] = text;
        lengths[count] = (size_t)((comma != NULL ? comma : end) - text);
        if (comma == NULL) {
            count++;
            break;
        }
        text = comma + 1;
    }
    if (count < COLUMNS) {
        return fail_line(log, "fewer than five columns");
    }
    event->is_issue = lengths[0] == 5 && memcmp(columns[0], "issue", 5) == 0;
    if (!event->is_issue && (lengths[0] != 8 || memcmp(columns[0], "callback", 8) != 0)) {
        return fail_line(log, "neither issue nor callback");
    }
    if (!chakra_timeline_integer_of(columns[1], lengths[1], &event->npu) ||
        !chakra_timeline_integer_of(columns[2], lengths[2], &event->cycle) ||
        !chakra_timeline_integer_of(columns[3], lengths[3], &event->node)) {
        return fail_line(log, "a column is no whole number behind its \"=\"");
    }
    if (!chakra_timeline_value_of(columns[4], lengths[4], &event->name, &event->name_length)) {
        return fail_line(log, "no name behind \"=\"");
    }
    if (!wire_utf8_valid((const uint8_t *)event->name, event->name_length)) {
        return fail_line(log, "the name is not UTF-8");
    }
    return ORR_OK;
}

/* ---- events ---- */

/* The viewer's rows: local memory, remote memory, compute, communication; 0 = the name tells nothing. */
static unsigned chakra_timeline_row_of(const char *name)
{
    bool memory = strstr(name, "MEM_LOAD_NODE") != NULL || strstr(name, "MEM_STORE_NODE") != NULL;
    if (memory && strstr(name, "LOCAL_MEMORY") != NULL) {
        return 1;
    }
    if (memory && strstr(name, "REMOTE_MEMORY") != NULL) {
        return 2;
    }
    if (strstr(name, "COMP_NODE") != NULL) {
        return 3;
    }
    bool comm = strstr(name, "COMM_SEND_NODE") != NULL || strstr(name, "COMM_RECV_NODE") != NULL ||
                strstr(name, "COMM_COLL_NODE") != NULL;
    return comm ? 4 : 0;
}

static enum orr_status chakra_timeline_remember(struct work_log *log, const struct log_event *event)
{
    uint32_t name;
    uint32_t place = log->issued_count;
    if (!intern_add(&log->names, event->name, event->name_length, &name)) {
        return mem_error(log->mem, "the nodes of a timeline", log->err);
    }
    if (!MEM_GROW(log->mem, log->issued, log->issued_capacity, place) ||
        !number_map_add_of(&log->places, (uint32_t)event->npu, event->node, &place)) {
        return mem_error(log->mem, "the nodes of a timeline", log->err);
    }
    log->issued_count += place == log->issued_count;
    log->issued[place] = (struct issued){.cycle = event->cycle, .name = name, .open = true};
    return ORR_OK;
}

static enum orr_status fail_name(const struct work_log *log, const char *name)
{
    char shown[80];
    size_t length = strnlen(name, sizeof shown - 1);
    for (size_t i = 0; i < length; i++) {
        shown[i] = (unsigned char)name[i] < ' ' ? '?' : name[i];
    }
    shown[length] = '\0';
    return error_set(log->err, ORR_EINVAL,
                     "%s:%" PRIu64 ": the name \"%s\" does not tell the node's type (COMP_NODE, COMM_COLL_NODE, …)",
                     log->timeline->input, log->line, shown);
}

static enum orr_status put_event(struct work_log *log, const struct log_event *event)
{
    uint32_t place = 0;
    if (!number_map_get_of(&log->places, (uint32_t)event->npu, event->node, &place) || !log->issued[place].open) {
        return error_set(log->err, ORR_EINVAL,
                         "%s:%" PRIu64 ": node %" PRId64 " of NPU %" PRId64 " calls back but was not issued",
                         log->timeline->input, log->line, event->node, event->npu);
    }
    struct issued *issued = &log->issued[place];
    const char *name = intern_text(&log->names, issued->name);
    unsigned row = chakra_timeline_row_of(name);
    if (row == 0) {
        return fail_name(log, name);
    }
    int64_t cycles;
    if (__builtin_sub_overflow(event->cycle, issued->cycle, &cycles)) {
        return fail_line(log, "the duration does not fit 64 bits");
    }
    double frequency = (double)log->timeline->frequency_mhz;
    char start[JSON_REAL_ROOM];
    char duration[JSON_REAL_ROOM];
    (void)json_real_repr((double)issued->cycle / frequency / 1000.0, start);
    (void)json_real_repr((double)cycles / (frequency * 1000.0), duration);
    (void)fprintf(log->stream,
                  "%s{\"pid\": %" PRId64 ", \"tid\": %u, \"ts\": %s, \"dur\": %s, \"ph\": \"X\", \"name\": ",
                  log->filled ? ", " : "", event->npu, row, start, duration);
    ascii_json_string(log->stream, name, strlen(name));
    (void)fprintf(log->stream, ", \"args\": {\"ms\": %s}}", duration);
    log->filled = true;
    issued->open = false;
    return ORR_OK;
}

static enum orr_status take_line(struct work_log *log, const char *text, size_t length)
{
    struct log_event event = {0};
    log->line++;
    if (!chakra_timeline_contains(text, length, "issue") && !chakra_timeline_contains(text, length, "callback")) {
        return ORR_OK;
    }
    enum orr_status status = parse_line(log, text, length, &event);
    if (status != ORR_OK) {
        return status;
    }
    if (event.npu < 0 || event.npu >= (int64_t)log->timeline->npus) {
        return error_set(log->err, ORR_ERANGE, "%s:%" PRIu64 ": NPU %" PRId64 " of %" PRIu32 ", counted from 0",
                         log->timeline->input, log->line, event.npu, log->timeline->npus);
    }
    return event.is_issue ? chakra_timeline_remember(log, &event) : put_event(log, &event);
}

/* ---- the file ---- */

struct lines {
    struct io_stream *stream;
    char *bytes;
    size_t size, capacity;
};

/* Hands over every complete line at hand and keeps the rest; the last line needs no end. */
static enum orr_status take_lines(struct work_log *log, struct lines *lines, bool last)
{
    size_t used = 0;
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && used < lines->size) {
        const char *end = memchr(lines->bytes + used, '\n', lines->size - used);
        if (end == NULL && !last) {
            break;
        }
        size_t length = end != NULL ? (size_t)(end - lines->bytes) - used : lines->size - used;
        status = take_line(log, lines->bytes + used, length);
        used += length + (end != NULL);
    }
    memmove(lines->bytes, lines->bytes + used, lines->size - used);
    lines->size -= used;
    return status;
}

static enum orr_status chakra_timeline_read_lines(struct work_log *log, struct lines *lines)
{
    for (bool last = false; !last;) {
        if (lines->size == lines->capacity) {
            size_t wider = lines->capacity == 0 ? FIRST_LINE_ROOM : lines->capacity * 2;
            char *grown = mem_resize(log->mem, lines->bytes, lines->capacity, wider);
            if (grown == NULL) {
                return mem_error(log->mem, "a line of a timeline", log->err);
            }
            lines->bytes = grown;
            lines->capacity = wider;
        }
        size_t got = 0;
        enum orr_status status =
            io_stream_read(lines->stream, lines->bytes + lines->size, lines->capacity - lines->size, &got, log->err);
        lines->size += got;
        last = got == 0;
        status = status == ORR_OK ? take_lines(log, lines, last) : status;
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status write_events(struct work_log *log)
{
    struct lines lines = {0};
    struct io_outfile *file = NULL;
    enum orr_status status = io_stream_open(log->timeline->input, log->mem, &lines.stream, log->err);
    if (status != ORR_OK) {
        return status;
    }
    status = io_outfile_open(log->timeline->output, IO_OUTFILE_PLAIN, &file, log->err);
    if (status == ORR_OK) {
        log->stream = io_outfile_stream(file);
        (void)fputs("{\"meta_user\": \"aras\", \"traceEvents\": [", log->stream);
        status = chakra_timeline_read_lines(log, &lines);
        (void)fprintf(log->stream, "], \"meta_cpu_count\": %" PRIu32 "}", log->timeline->npus);
        if (status == ORR_OK) {
            status = io_outfile_commit(file, log->err);
        } else {
            io_outfile_abort(file);
        }
    }
    mem_free(log->mem, lines.bytes, lines.capacity);
    io_stream_close(lines.stream);
    return status;
}

enum orr_status timeline_write(const struct timeline *timeline, struct mem *mem, struct orr_error *err)
{
    struct work_log log = {.timeline = timeline, .mem = mem, .err = err};
    intern_init(&log.names, mem);
    number_map_init(&log.places, mem);
    enum orr_status status = write_events(&log);
    mem_free(mem, log.issued, log.issued_capacity * sizeof *log.issued);
    number_map_free(&log.places);
    intern_free(&log.names);
    return status;
}
