/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording is cut once into literal pieces and numbers that move from copy to copy; writing a copy is then one
 * pass over the pieces. Numbers are found by their keys in the text, which is as PyTorch writes it: this is a tool for
 * one known pair and no JSON reader.
 */
#include "bench/trace_inputs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/stream.h"

/* How a number moves from one copy to the next. */
enum move {
    MOVE_TIME,    /* µs with three decimals */
    MOVE_COUNTER, /* by a fixed step, larger than any id of one copy */
    MOVE_NODE,    /* host node ids: the same, but the process and its threads stay */
    MOVE_STEP,    /* by one: ProfilerStep#N */
};

enum { COUNTER_STEP = 100000, SINGLE_LIMIT = 64, TIME_STEP_NS = 12000000 };

/* What marks a number that follows it; of the attributes in a host node the value follows a few words later. */
struct mark {
    const char *text;
    enum move move;
};

static const struct mark device_marks[] = {
    {"\"ts\": ", MOVE_TIME},
    {"\"External id\": ", MOVE_COUNTER},
    {"\"Record function id\": ", MOVE_COUNTER},
    {"\"correlation\": ", MOVE_COUNTER},
    {"\"Sequence number\": ", MOVE_COUNTER},
    {"\"ph\": \"s\", \"id\": ", MOVE_COUNTER},
    {"\"ph\": \"f\", \"id\": ", MOVE_COUNTER},
    {"\"ProfilerStep#", MOVE_STEP},
    {NULL, MOVE_TIME},
};

static const struct mark host_marks[] = {
    {"\"id\": ", MOVE_NODE},
    {"\"ctrl_deps\": ", MOVE_NODE},
    {"\"rf_id\", \"type\": \"uint64\", \"value\": ", MOVE_COUNTER},
    {"\"seq_id\", \"type\": \"int64\", \"value\": ", MOVE_COUNTER},
    {"\"fw_parent\", \"type\": \"uint64\", \"value\": ", MOVE_NODE},
    {"\"ProfilerStep#", MOVE_STEP},
    {NULL, MOVE_TIME},
};

struct piece {
    const char *text; /* literal in front of the number */
    size_t length;
    enum move move;
    int64_t value; /* in ns for MOVE_TIME; below 0: stays as it is */
};

struct pattern {
    char *text;              /* the whole file */
    const char *begin, *end; /* of what is repeated */
    struct piece *pieces;
    size_t count, capacity;
    int64_t singles[SINGLE_LIMIT]; /* host node ids that stay */
    size_t single_count;
};

static void pattern_free(struct pattern *pattern)
{
    free(pattern->text);
    free(pattern->pieces);
    *pattern = (struct pattern){0};
}

static char *read_text(const char *data, const char *name, struct orr_error *err)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", data, name);
    struct mem mem = {0};
    struct io_stream *stream = NULL;
    enum { ROOM = 64 << 20 };
    char *text = malloc(ROOM + 1);
    size_t size = 0;
    if (text == NULL) {
        (void)error_set(err, ORR_ENOMEM, "no memory for a recording");
        return NULL;
    }
    enum orr_status status = io_stream_open(path, &mem, &stream, err);
    if (status == ORR_OK) {
        status = io_stream_read(stream, text, ROOM, &size, err);
        io_stream_close(stream);
    }
    if (status != ORR_OK) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

static bool add_piece(struct pattern *pattern, struct piece piece)
{
    if (pattern->count == pattern->capacity) {
        size_t wider = pattern->capacity == 0 ? 1024 : pattern->capacity * 2;
        struct piece *moved = realloc(pattern->pieces, wider * sizeof *moved);
        if (moved == NULL) {
            return false;
        }
        pattern->pieces = moved;
        pattern->capacity = wider;
    }
    pattern->pieces[pattern->count++] = piece;
    return true;
}

/* The number at `*at`, which moves behind it. */
static int64_t number_read(const char **at, enum move move)
{
    int64_t value = strtoll(*at, NULL, 10);
    bool negative = **at == '-';
    *at += negative ? 1 : 0;
    while (isdigit((unsigned char)**at)) {
        (*at)++;
    }
    int64_t nanoseconds = 0;
    if (**at == '.') {
        int64_t unit = 100;
        for ((*at)++; isdigit((unsigned char)**at); (*at)++) {
            nanoseconds += (**at - '0') * unit;
            unit /= 10;
        }
    }
    return negative ? -1 : move == MOVE_TIME ? value * 1000 + nanoseconds : value;
}

static bool stays(const struct pattern *pattern, int64_t id)
{
    for (size_t i = 0; i < pattern->single_count; i++) {
        if (pattern->singles[i] == id) {
            return true;
        }
    }
    return id == 0;
}

/* Cuts the repeated part at its marks. A quote begins every mark, so only those are looked at. */
static bool cut(struct pattern *pattern, const struct mark *marks)
{
    const char *literal = pattern->begin;
    for (const char *at = pattern->begin; at < pattern->end; at++) {
        if (*at != '"') {
            continue;
        }
        for (const struct mark *mark = marks; mark->text != NULL; mark++) {
            size_t length = strlen(mark->text);
            if (strncmp(at, mark->text, length) != 0) {
                continue;
            }
            const char *number = at + length;
            const char *behind = number;
            struct piece piece = {.text = literal, .length = (size_t)(number - literal), .move = mark->move};
            piece.value = number_read(&behind, mark->move);
            if (mark->move == MOVE_NODE && stays(pattern, piece.value)) {
                piece.value = -1;
            }
            if (piece.value >= 0) {
                if (!add_piece(pattern, piece)) {
                    return false;
                }
                literal = behind;
            }
            at = behind - 1;
            break;
        }
    }
    return add_piece(pattern, (struct piece){.text = literal, .length = (size_t)(pattern->end - literal), .value = -1});
}

static void write_copy(FILE *out, const struct pattern *pattern, uint64_t copy)
{
    int64_t k = (int64_t)copy;
    for (size_t i = 0; i < pattern->count; i++) {
        const struct piece *piece = &pattern->pieces[i];
        (void)fwrite(piece->text, 1, piece->length, out);
        if (piece->value < 0) {
            continue;
        }
        int64_t value = piece->value;
        switch (piece->move) {
        case MOVE_TIME:
            value += k * TIME_STEP_NS;
            (void)fprintf(out, "%" PRId64 ".%03" PRId64, value / 1000, value % 1000);
            break;
        case MOVE_STEP:
            (void)fprintf(out, "%" PRId64, value + k);
            break;
        case MOVE_COUNTER:
        case MOVE_NODE:
            (void)fprintf(out, "%" PRId64, value + k * COUNTER_STEP);
            break;
        }
    }
}

/* Finds the array named by `key`; what is repeated lies between its brackets. */
static bool find_array(struct pattern *pattern, const char *key)
{
    const char *found = strstr(pattern->text, key);
    const char *last = found == NULL ? NULL : strrchr(found, ']');
    if (last == NULL) {
        return false;
    }
    pattern->begin = found + strlen(key);
    pattern->end = last;
    while (pattern->end > pattern->begin && isspace((unsigned char)pattern->end[-1])) {
        pattern->end--;
    }
    return true;
}

/*
 * Moves the nodes that are to stay single (the process and its threads) out of the repeated part: they are written to
 * `out` at once, each behind a comma, and blanked in the text.
 */
static bool take_singles(struct pattern *pattern, FILE *out)
{
    char *text = pattern->text;
    char *begin = text + (pattern->begin - text);
    char *end = text + (pattern->end - text);
    static const char opening[] = "\n      {\n";
    for (char *node = strstr(begin, opening); node != NULL && node < end;) {
        char *next = strstr(node + 1, opening);
        char *stop = next == NULL || next > end ? end : next;
        const char *name = strstr(node, "\"name\": \"[pytorch|profiler|execution_trace|");
        if (name != NULL && name < stop) {
            if (pattern->single_count == SINGLE_LIMIT) {
                return false;
            }
            char *brace = stop;
            while (brace[-1] != '}') {
                brace--;
            }
            pattern->singles[pattern->single_count++] = strtoll(strstr(node, "\"id\": ") + 6, NULL, 10);
            (void)fwrite(node, 1, (size_t)(brace - node), out);
            (void)fputc(',', out);
            memset(node, ' ', (size_t)(stop - node));
        }
        node = next;
    }
    /* The last node may be blank now: a comma must not be the last thing. */
    while (end > begin && (isspace((unsigned char)end[-1]) || end[-1] == ',')) {
        end--;
    }
    pattern->end = end;
    return pattern->single_count > 0;
}

static uint64_t count_of(const char *text, const char *what)
{
    uint64_t count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

/* The file behind the repeated part, as it was. */
static bool write_file(const char *folder, const char *name, struct pattern *pattern, const struct mark *marks,
                       bool singles, uint64_t least_bytes, uint64_t *copies, uint64_t *bytes, struct orr_error *err)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        (void)error_set(err, ORR_EIO, "%s: cannot be written", path);
        return false;
    }
    const char *tail = strrchr(pattern->text, ']');
    (void)fwrite(pattern->text, 1, (size_t)(pattern->begin - pattern->text), out);
    bool good = (!singles || take_singles(pattern, out)) && cut(pattern, marks);
    uint64_t wanted = *copies;
    for (uint64_t i = 0; good && (wanted != 0 ? i < wanted : (uint64_t)ftello(out) < least_bytes); i++) {
        if (i > 0) {
            (void)fputc(',', out);
        }
        write_copy(out, pattern, i);
        *copies = i + 1;
    }
    (void)fprintf(out, "\n  %s", tail);
    *bytes = (uint64_t)ftello(out);
    good = fclose(out) == 0 && good;
    if (!good) {
        (void)error_set(err, ORR_EIO, "%s: cannot be made from the recording", path);
    }
    return good;
}

bool bench_write_recording(const char *data, const char *folder, uint64_t megabytes, struct bench_recording *recording,
                           struct orr_error *err)
{
    struct pattern device = {.text = read_text(data, "device_0.json.gz", err)};
    struct pattern host = {.text = device.text == NULL ? NULL : read_text(data, "host_0.json.gz", err)};
    bool good = host.text != NULL;
    if (good && (!find_array(&device, "\"traceEvents\": [") || !find_array(&host, "\"nodes\": ["))) {
        (void)error_set(err, ORR_EINVAL, "%s: no recording of PyTorch's", data);
        good = false;
    }
    struct bench_recording made = {0};
    good = good &&
           write_file(folder, "device_0.json", &device, device_marks, false, megabytes * 1000000, &made.copies,
                      &made.device_bytes, err) &&
           write_file(folder, "host_0.json", &host, host_marks, true, 0, &made.copies, &made.host_bytes, err);
    if (good) {
        made.kernels = made.copies * count_of(device.text, "\"cat\": \"kernel\"");
        *recording = made;
    }
    pattern_free(&device);
    pattern_free(&host);
    return good;
}

void bench_remove_recording(const char *folder)
{
    static const char *const names[] = {"device_0.json", "host_0.json", "trace.0.et", "trace.groups.json"};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}
