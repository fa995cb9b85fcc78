/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on traces: each opens what it needs, lets the layers below do the work and turns a stream that
 * could not be written into a status. */
#include <stdlib.h>
#include <string.h>

#include "api/trace_filter.h"
#include "base/error.h"
#include "coll/impl.h"
#include "model/gen.h"
#include "report/trace_text.h"
#include "run/type_word.h"
#include "run/workload_shared.h"
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

enum orr_status orr_trace_keep(struct orr_trace *trace, const struct orr_trace_filter *filter, uint64_t *kept,
                               struct orr_error *err)
{
    return lab_trace_filter(trace->document, filter, &trace->mem, kept, err);
}

enum orr_status orr_trace_show(const struct orr_trace *trace, uint64_t limit, FILE *stream, struct orr_error *err)
{
    trace_text_show(trace->document, limit, stream);
    return error_of_stream(stream, "the output", err);
}

enum orr_status orr_trace_stat(const struct orr_trace *trace, unsigned what, FILE *stream, struct orr_error *err)
{
    struct mem mem = {0};
    struct trace_stat stat;
    struct trace_provenance provenance = {.mem = &mem};
    bool asked = (what & ORR_STAT_PROVENANCE) != 0;
    enum orr_status status = trace_stat(trace->document, &mem, &stat, err);
    if (status == ORR_OK && asked) {
        status = trace_provenance_count(trace->document, &mem, &provenance, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    bool json = (what & ORR_STAT_JSON) != 0;
    (json ? trace_text_stat_json : trace_text_stat)(trace->document, &stat, asked ? &provenance : NULL, stream);
    trace_provenance_free(&provenance);
    return error_of_stream(stream, "the output", err);
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
    status = error_of_stream(stream, "the output", err);
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

static enum orr_status read_collective(const struct orr_gen_options *options, struct model_gen *gen,
                                       struct orr_error *err)
{
    if (options->type == NULL) {
        return error_set(err, ORR_EINVAL, "a collective's type is needed: \"all-reduce\", \"all-gather\", …");
    }
    enum orr_status status = type_word_parse(options->type, &gen->comm_type, err);
    if (status != ORR_OK) {
        return status;
    }
    if (options->bytes == 0 && gen->comm_type != COLL_BARRIER) {
        return error_set(err, ORR_EINVAL, "a collective of 0 bytes moves nothing; give a size");
    }
    gen->name = coll_type_name(gen->comm_type);
    return ORR_OK;
}

/* What is asked for, checked. */
static enum orr_status read_pattern(const struct orr_gen_options *options, struct model_gen *gen, struct orr_error *err)
{
    *gen = (struct model_gen){.pattern = options->pattern, .bytes = options->bytes, .compute_us = options->compute_us};
    const char *prefix = options->prefix == NULL ? "" : options->prefix;
    if (options->npus == 0) {
        return error_set(err, ORR_EINVAL, "traces for 0 NPUs; at least 1 is needed");
    }
    if (prefix[0] == '\0' || prefix[strlen(prefix) - 1] == '/') {
        return error_set(err, ORR_EINVAL, "\"%.200s\" names no file; a prefix such as DIR/allreduce is needed", prefix);
    }
    if (options->pattern == ORR_PATTERN_COLLECTIVE) {
        return read_collective(options, gen, err);
    }
    if (options->pattern != ORR_PATTERN_THREE_NODE) {
        return error_set(err, ORR_EINVAL, "unknown pattern number %d", (int)options->pattern);
    }
    return options->bytes != 0 ? ORR_OK
                               : error_set(err, ORR_EINVAL, "a collective of 0 bytes moves nothing; give a size");
}

enum orr_status orr_gen(const struct orr_gen_options *options, struct orr_error *err)
{
    struct mem mem = {0};
    struct model_gen gen;
    enum orr_status status = read_pattern(options, &gen, err);
    return status == ORR_OK ? model_gen_write(&gen, options->prefix, options->npus, &mem, err) : status;
}

enum orr_status orr_gen_workload(const struct orr_gen_options *options, struct orr_workload **workload,
                                 struct orr_error *err)
{
    struct mem mem = {0};
    struct model_gen gen;
    struct orr_workload *made = NULL;
    struct trace_graph *graph = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum orr_status status = read_pattern(options, &gen, err);
    if (status == ORR_OK) {
        status = workload_make(options->prefix, options->npus, 1, 0, &made, err);
    }
    if (status == ORR_OK) {
        status = model_gen_encode(&gen, &mem, &bytes, &size, err);
    }
    if (status == ORR_OK) {
        status = trace_graph_parse(bytes, size, options->prefix, workload_mem(made), &graph, err);
    }
    mem_free(&mem, bytes, size);
    if (status != ORR_OK) {
        orr_workload_close(made);
        return status;
    }
    workload_give(made, 0, graph);
    for (uint32_t rank = 1; rank < options->npus; rank++) {
        workload_same(made, rank, 0);
    }
    *workload = made;
    return ORR_OK;
}
