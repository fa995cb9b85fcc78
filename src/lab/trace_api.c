/* The public functions on traces: each opens what it needs, lets the layers below do the work and turns a stream that
 * could not be written into a status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll/impl.h"
#include "model/gen.h"
#include "report/trace_text.h"
#include "trace/check.h"
#include "trace/document.h"
#include "trace/stat.h"

struct orr_trace {
    struct mem mem;
    struct trace_document *document;
};

enum orr_status orr_trace_open(const char *path, struct orr_trace **trace, struct orr_error *err)
{
    struct orr_trace *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", path);
    }
    enum orr_status status = trace_document_read(path, &made->mem, &made->document, err);
    if (status != ORR_OK) {
        free(made);
        return status;
    }
    *trace = made;
    return ORR_OK;
}

void orr_trace_close(struct orr_trace *trace)
{
    if (trace != NULL) {
        trace_document_free(trace->document);
        free(trace);
    }
}

static enum orr_status written(FILE *stream, struct orr_error *err)
{
    if (fflush(stream) != 0 || ferror(stream) != 0) {
        return error_set(err, ORR_EIO, "the output cannot be written: %s", strerror(errno));
    }
    return ORR_OK;
}

enum orr_status orr_trace_show(const struct orr_trace *trace, uint64_t limit, FILE *stream, struct orr_error *err)
{
    trace_text_show(trace->document, limit, stream);
    return written(stream, err);
}

enum orr_status orr_trace_stat(const struct orr_trace *trace, bool json, FILE *stream, struct orr_error *err)
{
    struct mem mem = {0};
    struct trace_stat stat;
    enum orr_status status = trace_stat(trace->document, &mem, &stat, err);
    if (status != ORR_OK) {
        return status;
    }
    (json ? trace_text_stat_json : trace_text_stat)(trace->document, &stat, stream);
    return written(stream, err);
}

enum orr_status orr_trace_check(const struct orr_trace *trace, FILE *stream, uint64_t *findings, struct orr_error *err)
{
    struct mem mem = {0};
    struct trace_findings found;
    enum orr_status status = trace_check(trace->document, &mem, &found, err);
    if (status != ORR_OK) {
        return status;
    }
    trace_text_findings(trace->document, &found, stream);
    uint64_t count = found.count;
    trace_findings_free(&found);
    status = written(stream, err);
    if (status == ORR_OK) {
        *findings = count;
    }
    return status;
}

enum orr_status orr_trace_write(const struct orr_trace *trace, const char *path, struct orr_error *err)
{
    return trace_document_write(trace->document, path, err);
}

/* ---- making traces ---- */

static const char *const type_names[] = {
#define COLL_X(name, number, text) text,
    COLL_TYPES(COLL_X)
#undef COLL_X
        NULL,
};

static const int32_t type_numbers[] = {
#define COLL_X(name, number, text) number,
    COLL_TYPES(COLL_X)
#undef COLL_X
};

enum { TYPE_WORD = 64 };

/* Letters in lower case, without what people put between words: ALL_REDUCE, all-reduce and AllReduce are one. False
 * when it is longer than any name. */
static bool simplify(const char *text, const char *between, char word[TYPE_WORD])
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (strchr("-_ ", c) != NULL) {
            if (*between == '\0') {
                continue;
            }
            c = *between;
        }
        if (used == TYPE_WORD - 1) {
            return false;
        }
        word[used++] = c;
    }
    word[used] = '\0';
    return true;
}

static bool find_type(const char *text, size_t *found)
{
    char word[TYPE_WORD];
    char known[TYPE_WORD];
    if (!simplify(text, "", word)) {
        return false;
    }
    for (size_t i = 0; type_names[i] != NULL; i++) {
        if (simplify(type_names[i], "", known) && strcmp(word, known) == 0) {
            *found = i;
            return true;
        }
    }
    return false;
}

static enum orr_status fail_type(const char *text, struct orr_error *err)
{
    char word[TYPE_WORD];
    const char *nearest = simplify(text, "-", word) ? error_nearest(word, type_names) : NULL;
    if (nearest != NULL) {
        return error_set(err, ORR_EINVAL, "unknown collective \"%.80s\"; did you mean \"%s\"?", text, nearest);
    }
    char all[512] = "";
    for (size_t i = 0, used = 0; type_names[i] != NULL; i++) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i == 0 ? "" : ", ", type_names[i]);
    }
    return error_set(err, ORR_EINVAL, "unknown collective \"%.80s\"; known are %s", text, all);
}

static enum orr_status read_collective(const struct orr_gen_options *options, struct model_gen *gen,
                                       struct orr_error *err)
{
    size_t found;
    if (options->type == NULL) {
        return error_set(err, ORR_EINVAL, "a collective's type is needed: \"all-reduce\", \"all-gather\", …");
    }
    if (!find_type(options->type, &found)) {
        return fail_type(options->type, err);
    }
    if (options->bytes == 0 && type_numbers[found] != COLL_BARRIER) {
        return error_set(err, ORR_EINVAL, "a collective of 0 bytes moves nothing; give a size");
    }
    gen->comm_type = type_numbers[found];
    gen->name = type_names[found];
    return ORR_OK;
}

enum orr_status orr_gen(const struct orr_gen_options *options, struct orr_error *err)
{
    struct mem mem = {0};
    struct model_gen gen = {.pattern = options->pattern, .bytes = options->bytes, .compute_us = options->compute_us};
    const char *prefix = options->prefix == NULL ? "" : options->prefix;
    if (options->npus == 0) {
        return error_set(err, ORR_EINVAL, "traces for 0 NPUs; at least 1 is needed");
    }
    if (prefix[0] == '\0' || prefix[strlen(prefix) - 1] == '/') {
        return error_set(err, ORR_EINVAL, "\"%.200s\" names no file; a prefix such as DIR/allreduce is needed", prefix);
    }
    if (options->pattern == ORR_PATTERN_COLLECTIVE) {
        enum orr_status status = read_collective(options, &gen, err);
        if (status != ORR_OK) {
            return status;
        }
    } else if (options->pattern != ORR_PATTERN_THREE_NODE) {
        return error_set(err, ORR_EINVAL, "unknown pattern number %d", (int)options->pattern);
    } else if (options->bytes == 0) {
        return error_set(err, ORR_EINVAL, "a collective of 0 bytes moves nothing; give a size");
    }
    return model_gen_write(&gen, prefix, options->npus, &mem, err);
}
