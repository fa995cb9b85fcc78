/* SPDX-License-Identifier: Apache-2.0 */
/* The source goes into a nameless temporary file first, because Graphviz reads it from its own process; the drawing
 * goes straight into the output's temporary. The escapes and quotes are those of Chakra and of Python's graphviz
 * package. */
#include "compat/chakra/visualizer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/scan.h"
#include "io/outfile.h"
#include "trace/record.h"

/* ---- Graphviz source ---- */

static bool visualizer_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* [-] . digits, or [-] digits [. digits]: what Graphviz takes for a number without quotes. */
static bool is_numeral(const char *text, size_t length)
{
    size_t i = length > 0 && text[0] == '-';
    size_t whole = 0;
    size_t fraction = 0;
    for (; i < length && scan_is_digit(text[i]); i++) {
        whole++;
    }
    bool point = i < length && text[i] == '.';
    for (i += point; i < length && scan_is_digit(text[i]); i++) {
        fraction++;
    }
    return i == length && (whole > 0 || fraction > 0) && (whole > 0 || point);
}

static bool is_keyword(const char *text, size_t length)
{
    static const char *const words[] = {"node", "edge", "graph", "digraph", "subgraph", "strict"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool needs_quotes(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (visualizer_is_letter(text[i]) || (i > 0 && scan_is_digit(text[i])))) {
        i++;
    }
    bool is_name = length > 0 && i == length;
    return is_name ? is_keyword(text, length) : !is_numeral(text, length);
}

/* Chakra puts a backslash before what a record's label would take for structure, which is never a name's letter; so the
 * text needs quotes before and after it alike. A quote mark gets one too unless it is escaped already. */
static void put_label(FILE *stream, struct record_text name)
{
    bool quoted = needs_quotes(name.text, name.length) || name.text[0] == '-';
    bool odd = false; /* an odd number of backslashes precedes */
    (void)fputs(quoted ? "\"" : "", stream);
    for (size_t i = 0; i < name.length; i++) {
        char c = name.text[i];
        if (strchr("{}()<>[]|&-", c) != NULL && c != '\0') {
            (void)fputc('\\', stream);
        } else if (c == '"' && !odd) {
            (void)fputc('\\', stream);
        }
        (void)fputc(c, stream);
        odd = c == '\\' && !odd;
    }
    (void)fputs(quoted ? "\"" : "", stream);
}

static void visualizer_put_edges(FILE *stream, const struct record_ids *from, uint64_t to, const char *arrowhead)
{
    for (uint32_t i = 0; i < from->count; i++) {
        (void)fprintf(stream, "\t%" PRIu64 " -> %" PRIu64 " [arrowhead=%s]\n", from->ids[i], to, arrowhead);
    }
}

static void visualizer_put_node(FILE *stream, const struct record_facts *node)
{
    (void)fprintf(stream, "\t%" PRIu64 " [label=", node->id);
    put_label(stream, node->name);
    (void)fprintf(stream, " id=%" PRIu64 " shape=record]\n", node->id);
    visualizer_put_edges(stream, &node->data, node->id, "normal");
    visualizer_put_edges(stream, &node->ctrl, node->id, "tee");
}

enum orr_status visualizer_dot(const char *input, FILE *stream, struct mem *mem, struct orr_error *err)
{
    struct record_reader reader;
    struct record_facts node;
    enum orr_status status = record_reader_open(&reader, input, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    record_facts_init(&node);
    (void)fputs("digraph {\n", stream);
    bool more = true;
    for (uint64_t count = 0; status == ORR_OK && more; count++) {
        struct record record;
        status = record_reader_next(&reader, &record, &more, err);
        if (status != ORR_OK || !more || (record.size == 0 && count > 0)) {
            break; /* a record of length 0 ends the file for Chakra's readers */
        }
        if (count > 0) {
            status = record_scan(&reader, &record, &node, err);
            if (status == ORR_OK) {
                visualizer_put_node(stream, &node);
            }
        }
    }
    (void)fputs("}\n", stream);
    record_facts_free(&node, mem);
    record_reader_close(&reader);
    return status;
}

/* ---- files ---- */

enum visual { VISUAL_DOT, VISUAL_PDF, VISUAL_GRAPHML, VISUAL_UNKNOWN };

static enum visual visual_of(const char *output)
{
    static const char *const suffixes[] = {".dot", ".pdf", ".graphml"};
    size_t length = strlen(output);
    for (unsigned i = 0; i < VISUAL_UNKNOWN; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length >= suffix && strcmp(output + length - suffix, suffixes[i]) == 0) {
            return (enum visual)i;
        }
    }
    return VISUAL_UNKNOWN;
}

static enum orr_status visualizer_copy(FILE *from, FILE *to, struct orr_error *err)
{
    char part[65536];
    rewind(from);
    for (size_t got; (got = fread(part, 1, sizeof part, from)) > 0;) {
        (void)fwrite(part, 1, got, to);
    }
    return ferror(from) == 0 ? ORR_OK : error_set(err, ORR_EIO, "a temporary file cannot be read again");
}

static enum orr_status visualizer_draw(const char *input, const char *format, FILE *drawing, struct mem *mem,
                                       struct notes *notes, struct orr_error *err)
{
    FILE *source = tmpfile();
    if (source == NULL) {
        return error_system(err, errno, "no temporary file can be made");
    }
    bool found = false;
    enum orr_status status = visualizer_dot(input, source, mem, err);
    if (status == ORR_OK) {
        status = error_of_stream(source, "a temporary file", err);
    }
    status = status == ORR_OK ? visualizer_lay_out(source, format, drawing, &found, err) : status;
    if (status == ORR_OK && !found && strcmp(format, "dot") == 0) {
        status = notes_add(notes, err, "Graphviz's program dot is not installed: the .dot file is not laid out");
        status = status == ORR_OK ? visualizer_copy(source, drawing, err) : status;
    } else if (status == ORR_OK && !found) {
        status = error_set(err, ORR_EFAIL,
                           "a .%s is drawn by Graphviz's program dot, which is not installed; .dot and .graphml need "
                           "none",
                           format);
    }
    (void)fclose(source);
    return status;
}

enum orr_status visualizer_write(const char *input, const char *output, bool source, struct mem *mem,
                                 struct notes *notes, struct orr_error *err)
{
    enum visual visual = visual_of(output);
    struct io_outfile *file = NULL;
    if (visual == VISUAL_UNKNOWN) {
        return error_set(err, ORR_EINVAL, "%s: the name must end in .dot, .pdf or .graphml", output);
    }
    if (source && visual != VISUAL_DOT) {
        return error_set(err, ORR_EINVAL, "%s: only a .dot file can be Graphviz source", output);
    }
    enum orr_status status = io_outfile_open(output, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    FILE *stream = io_outfile_stream(file);
    if (visual == VISUAL_GRAPHML) {
        status = visualizer_graphml(input, stream, mem, err);
    } else if (source) {
        status = visualizer_dot(input, stream, mem, err);
    } else {
        status = visualizer_draw(input, visual == VISUAL_DOT ? "dot" : "pdf", stream, mem, notes, err);
    }
    if (status == ORR_OK) {
        return io_outfile_commit(file, err);
    }
    io_outfile_abort(file);
    return status;
}
