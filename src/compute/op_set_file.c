/* SPDX-License-Identifier: Apache-2.0 */
/* The file of compute/op_set.h. The head is read line by line with the line's number at hand for messages; the cells
 * behind it are numbers of two bytes, least byte first, whatever the machine's order is. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "compute/op_set.h"
#include "io/outfile.h"
#include "io/stream.h"

enum { LINE_MOST = 2000 };

struct reading {
    const char *name;
    const char *at, *end;
    uint32_t line;
    struct orr_error *err;
    char text[LINE_MOST]; /* the line at hand */
};

static enum orr_status compute_op_set_file_refuse(const struct reading *r, const char *what)
{
    return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": %s, found \"%.60s\"", r->name, r->line, what, r->text);
}

static bool compute_op_set_file_next_line(struct reading *r)
{
    const char *newline = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    size_t length = newline != NULL ? (size_t)(newline - r->at) : 0;
    r->line++;
    if (newline == NULL || length >= sizeof r->text) {
        r->text[0] = '\0';
        return false;
    }
    memcpy(r->text, r->at, length);
    r->text[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        r->text[i] = r->text[i] == '\0' || (unsigned char)r->text[i] < ' ' ? '?' : r->text[i];
    }
    r->at = newline + 1;
    return true;
}

/* The text behind a line's first word, or NULL when that is another. */
static char *behind(struct reading *r, const char *word)
{
    size_t length = strlen(word);
    return strncmp(r->text, word, length) == 0 && r->text[length] == ' ' ? r->text + length + 1 : NULL;
}

static bool is_sound(double value)
{
    return isfinite(value) && fabs(value) < 1e15;
}

/* "rows N median X p90 X" */
static enum orr_status read_errors(struct reading *r, struct op_set *set)
{
    const char *rest = compute_op_set_file_next_line(r) ? behind(r, "rows") : NULL;
    char median[32];
    char p90[32];
    bool is_read = rest != NULL && sscanf(rest, "%9" SCNu32 " median %31s p90 %31s", &set->rows, median, p90) == 3;
    set->median = is_read ? plain_strtod(median, NULL) : 0;
    set->p90 = is_read ? plain_strtod(p90, NULL) : 0;
    return is_read && is_sound(set->median) && is_sound(set->p90)
               ? ORR_OK
               : compute_op_set_file_refuse(r, "accepted: \"rows N median X p90 X\"");
}

static enum orr_status read_head(struct reading *r, struct op_set *set)
{
    char kind[32];
    char dtype[32];
    char stack[32];
    char device[64];
    const char *rest = behind(r, "set");
    if (rest == NULL || sscanf(rest, "%31s %31s %31s %63s", kind, dtype, stack, device) != 4) {
        return compute_op_set_file_refuse(r, "accepted: \"set OPERATOR DTYPE STACK DEVICE\" or \"end\"");
    }
    struct orr_error why = {0};
    if (orr_op_kind_find(kind, &set->kind, &why) != ORR_OK || orr_op_dtype_find(dtype, &set->dtype, &why) != ORR_OK ||
        orr_op_stack_find(stack, &set->stack, &why) != ORR_OK || device_named(device, &set->device, &why) != ORR_OK) {
        return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": %s", r->name, r->line, why.text);
    }
    rest = compute_op_set_file_next_line(r) ? behind(r, "source") : NULL;
    if (rest == NULL) {
        return compute_op_set_file_refuse(r, "accepted: \"source TEXT\"");
    }
    (void)snprintf(set->source, sizeof set->source, "%.*s", OP_SOURCE_MOST - 1, rest);
    return read_errors(r, set);
}

static enum orr_status read_constants(struct reading *r, struct op_set *set)
{
    const struct op_family_row *family = &op_families[op_set_family(set->stack, set->kind)];
    char *at = compute_op_set_file_next_line(r) ? behind(r, "constants") : NULL;
    for (uint32_t i = 0; i < family->count; i++) {
        const struct op_constant *row = &family->constants[i];
        size_t length = strlen(row->name);
        char *end = NULL;
        if (at == NULL || strncmp(at, row->name, length) != 0 || at[length] != '=') {
            return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": accepted: constants with \"%s=\" as number %" PRIu32,
                             r->name, r->line, row->name, i + 1);
        }
        set->constants[i] = plain_strtod(at + length + 1, &end);
        if (end == at + length + 1 || !is_sound(set->constants[i]) || set->constants[i] < row->least ||
            set->constants[i] > row->most) {
            return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": constant %s is outside of %g to %g", r->name, r->line,
                             row->name, row->least, row->most);
        }
        at = *end == ' ' ? end + 1 : end;
    }
    return *at == '\0' ? ORR_OK : compute_op_set_file_refuse(r, "accepted: no constants beside those of the operator");
}

static enum orr_status read_axes(struct reading *r, struct op_set *set)
{
    const struct orr_op like = {.kind = set->kind};
    set->axis_count = op_coordinates(&like, (double[OP_AXES]){0});
    bool is_attention = op_family_of(set->kind) == OP_FAMILY_ATTENTION;
    for (uint32_t i = 0; i < set->axis_count; i++) {
        struct op_axis *axis = &set->axes[i];
        char *at = compute_op_set_file_next_line(r) ? behind(r, "axis") : NULL;
        double least = is_attention && i == OP_KV_AXIS ? 0 : 1;
        for (char *end = at; at != NULL && *at != '\0'; at = end) {
            double level = plain_strtod(at, &end);
            bool is_above = axis->count == 0 || level > axis->levels[axis->count - 1];
            if (end == at || axis->count == OP_LEVELS || !is_sound(level) || level < least || !is_above ||
                level > 9e12) {
                return compute_op_set_file_refuse(r, "accepted: \"axis\" and at most 64 ascending levels");
            }
            axis->levels[axis->count++] = level;
        }
        if (axis->count == 0) {
            return compute_op_set_file_refuse(r, "accepted: \"axis\" and at most 64 ascending levels");
        }
    }
    return op_set_lay(set) ? ORR_OK : compute_op_set_file_refuse(r, "the grid has too many cells");
}

static enum orr_status compute_op_set_file_read_cells(struct reading *r, struct op_sets *sets, uint32_t first)
{
    for (uint32_t i = first; i < sets->count; i++) {
        struct op_set *set = sets->list[i];
        if ((size_t)(r->end - r->at) < 2 * (size_t)set->cell_count) {
            return error_set(r->err, ORR_EINVAL, "%s: ends inside the cells of set %" PRIu32, r->name, i - first + 1);
        }
        /* Pointers of their own, so that the compiler may take many cells at once. */
        const unsigned char *restrict from = (const unsigned char *)r->at;
        int16_t *restrict cells = set->cells;
        for (uint32_t cell = 0; cell < set->cell_count; cell++) {
            int value = (int)(from[2 * (size_t)cell] | (unsigned)from[2 * (size_t)cell + 1] << 8);
            cells[cell] = (int16_t)(value >= 32768 ? value - 65536 : value);
        }
        r->at += 2 * (size_t)set->cell_count;
    }
    return r->at == r->end ? ORR_OK : error_set(r->err, ORR_EINVAL, "%s: goes on behind its cells", r->name);
}

enum orr_status op_sets_parse(struct op_sets *sets, const char *name, const char *bytes, size_t size,
                              struct orr_error *err)
{
    struct reading r = {.name = name, .at = bytes, .end = bytes + size, .err = err};
    uint32_t first = sets->count;
    if (!compute_op_set_file_next_line(&r) || strcmp(r.text, "orrery-ops 1") != 0) {
        return error_set(err, ORR_EINVAL, "%s: is no data of operators: it does not begin with \"orrery-ops 1\"", name);
    }
    while (compute_op_set_file_next_line(&r) && strcmp(r.text, "end") != 0) {
        struct op_set set = {.rows = 0};
        enum orr_status status = read_head(&r, &set);
        status = status != ORR_OK ? status : read_constants(&r, &set);
        status = status != ORR_OK ? status : read_axes(&r, &set);
        if (status == ORR_OK && op_sets_add(sets, &set) == NULL) {
            status = mem_error(&sets->mem, name, err);
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    return strcmp(r.text, "end") == 0 ? compute_op_set_file_read_cells(&r, sets, first)
                                      : compute_op_set_file_refuse(&r, "accepted: \"end\" behind the sets");
}

enum orr_status op_sets_read(struct op_sets *sets, const char *path, struct orr_error *err)
{
    struct io_stream *stream = NULL;
    void *bytes = NULL;
    size_t capacity = 0;
    size_t size = 0;
    size_t got = 1;
    enum orr_status status = io_stream_open(path, &sets->mem, &stream, err);
    while (status == ORR_OK && got > 0) {
        if (!mem_reserve_bytes(&sets->mem, &bytes, &capacity, size, 65536)) {
            status = mem_error(&sets->mem, path, err);
            break;
        }
        status = io_stream_read(stream, (char *)bytes + size, capacity - size, &got, err);
        size += status == ORR_OK ? got : 0;
    }
    status = status != ORR_OK ? status : op_sets_parse(sets, path, bytes, size, err);
    io_stream_close(stream);
    mem_free(&sets->mem, bytes, capacity);
    return status;
}

static void compute_op_set_file_write_head(const struct op_set *set, FILE *stream)
{
    const struct op_family_row *family = &op_families[op_set_family(set->stack, set->kind)];
    (void)plain_fprintf(stream, "set %s %s %s %s\nsource %s\nrows %" PRIu32 " median %.4f p90 %.4f\nconstants",
                        op_kind_name(set->kind), op_dtype_name(set->dtype), op_stack_name(set->stack),
                        device_rows[set->device].name, set->source, set->rows, set->median, set->p90);
    for (uint32_t i = 0; i < family->count; i++) {
        (void)plain_fprintf(stream, " %s=%.6g", family->constants[i].name, set->constants[i]);
    }
    for (uint32_t i = 0; i < set->axis_count; i++) {
        (void)fputs("\naxis", stream);
        for (uint32_t level = 0; level < set->axes[i].count; level++) {
            (void)plain_fprintf(stream, " %.0f", set->axes[i].levels[level]);
        }
    }
    (void)fputc('\n', stream);
}

static void write_cells(const struct op_set *set, FILE *stream)
{
    for (uint32_t cell = 0; cell < set->cell_count; cell++) {
        unsigned value = (unsigned)set->cells[cell] & 0xffff;
        (void)fputc((int)(value & 0xff), stream);
        (void)fputc((int)(value >> 8), stream);
    }
}

enum orr_status op_sets_write(const struct op_sets *sets, uint32_t first, uint32_t device, const char *path,
                              struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, io_outfile_form_of(path), &file, err);
    if (status != ORR_OK) {
        return status;
    }
    FILE *stream = io_outfile_stream(file);
    void (*const passes[])(const struct op_set *set, FILE *out) = {compute_op_set_file_write_head, write_cells};
    (void)fputs("orrery-ops 1\n", stream);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = first; i < sets->count; i++) {
            const struct op_set *set = sets->list[i];
            if (device == device_count || set->device == device) {
                passes[pass](set, stream);
            }
        }
        (void)fputs(pass == 0 ? "end\n" : "", stream);
    }
    return io_outfile_commit(file, err);
}
