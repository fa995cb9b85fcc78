/* SPDX-License-Identifier: Apache-2.0 */
/* The public tools on traces. All that edit share one loop: read, work, write to a temporary; only when every file is
 * done are the temporaries given their names, so that a set of ranks changes together or not at all. */
#include <stdlib.h>

#include "base/error.h"
#include "base/notices.h"
#include "io/outfile.h"
#include "orrery.h"
#include "report/edit_text.h"
#include "run/type_word.h"

/* What is done to one file; `stream` is NULL where nothing is to be written. */
typedef enum orr_status (*edit_work)(void *context, struct record_reader *reader, FILE *stream, struct notes *notes,
                                     struct mem *mem, struct orr_error *err);

struct editing {
    const struct orr_edit *edits;
    size_t count;
    struct io_outfile **outputs; /* finished, waiting for their names; NULL where nothing is written */
    struct mem mem;
    struct notes notes;
};

static enum orr_status edit_file(struct editing *editing, size_t i, edit_work work, void *context,
                                 struct orr_error *err)
{
    const struct orr_edit *edit = &editing->edits[i];
    struct record_reader reader;
    FILE *stream = NULL;
    enum orr_status status = record_reader_open(&reader, edit->input, &editing->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    if (edit->output != NULL) {
        status = io_make_folder_above(edit->output, err);
        status = status != ORR_OK
                     ? status
                     : io_outfile_open(edit->output, io_outfile_form_of(edit->output), &editing->outputs[i], err);
        stream = status != ORR_OK ? NULL : io_outfile_stream(editing->outputs[i]);
    }
    status = status != ORR_OK ? status : work(context, &reader, stream, &editing->notes, &editing->mem, err);
    if (status == ORR_OK && stream != NULL) {
        status = io_outfile_finish(editing->outputs[i], err);
    }
    record_reader_close(&reader);
    return status;
}

static enum orr_status commit_all(struct editing *editing, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < editing->count; i++) {
        struct io_outfile *output = editing->outputs[i];
        editing->outputs[i] = NULL;
        status = output == NULL ? ORR_OK : io_outfile_commit(output, err);
    }
    return status;
}

static enum orr_status edit_all(const struct orr_edit *edits, size_t count, uint64_t memory_limit,
                                const struct orr_notices *notices, edit_work work, void *context, struct orr_error *err)
{
    struct editing editing = {.edits = edits, .count = count, .mem = {.limit = memory_limit}};
    editing.outputs = calloc(count + 1, sizeof(struct io_outfile *));
    if (editing.outputs == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    notices_begin(&editing.notes, &editing.mem, notices);
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < count; i++) {
        status = edit_file(&editing, i, work, context, err);
    }
    status = status != ORR_OK ? status : commit_all(&editing, err);
    for (size_t i = 0; i < count; i++) {
        io_outfile_abort(editing.outputs[i]);
    }
    notices_end(&editing.notes, notices);
    free((void *)editing.outputs);
    return status;
}

/* ---- fix ---- */

struct fix_work {
    struct fix_options options;
    struct fix_counts counts;
};

static enum orr_status fix_one(void *context, struct record_reader *reader, FILE *stream, struct notes *notes,
                               struct mem *mem, struct orr_error *err)
{
    struct fix_work *work = context;
    return fix_trace(reader, &work->options, stream, notes, &work->counts, mem, err);
}

enum orr_status orr_trace_fix(const struct orr_edit *edits, size_t count, const struct orr_fix_options *options,
                              const struct orr_notices *notices, FILE *stream, struct orr_error *err)
{
    static const enum fix_cpu cpu[] = {FIX_CPU_KEEP, FIX_CPU_DROP, FIX_CPU_MERGE};
    struct fix_work work = {.options = {.has_unknown_size = options->has_unknown_size,
                                        .unknown_size = options->unknown_size,
                                        .renumber = options->renumber}};
    if ((unsigned)options->cpu > ORR_FIX_CPU_MERGE) {
        return error_set(err, ORR_EINVAL, "unknown way to treat CPU nodes: number %d", (int)options->cpu);
    }
    if (options->has_unknown_size && options->unknown_size == 0) {
        return error_set(err, ORR_ERANGE, "an unknown size of 0 bytes moves nothing; give at least 1");
    }
    work.options.cpu = cpu[options->cpu];
    enum orr_status status = edit_all(edits, count, options->memory_limit, notices, fix_one, &work, err);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_fix(&work.counts, count, stream);
    return error_of_stream(stream, "the report", err);
}

/* ---- simplify ---- */

struct simplify_work {
    enum simplify_level level;
    struct simplify_counts counts;
};

static enum orr_status simplify_one(void *context, struct record_reader *reader, FILE *stream, struct notes *notes,
                                    struct mem *mem, struct orr_error *err)
{
    struct simplify_work *work = context;
    return simplify_trace(reader, work->level, stream, notes, &work->counts, mem, err);
}

enum orr_status orr_trace_simplify(const struct orr_edit *edits, size_t count, enum orr_simplify level,
                                   uint64_t memory_limit, const struct orr_notices *notices, FILE *stream,
                                   struct orr_error *err)
{
    static const enum simplify_level levels[] = {SIMPLIFY_COMM, SIMPLIFY_STEP, SIMPLIFY_MERGE};
    struct simplify_work work = {0};
    if ((unsigned)level > ORR_SIMPLIFY_MERGE) {
        return error_set(err, ORR_EINVAL, "unknown level: number %d", (int)level);
    }
    work.level = levels[level];
    enum orr_status status = edit_all(edits, count, memory_limit, notices, simplify_one, &work, err);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_simplify(&work.counts, count, stream);
    return error_of_stream(stream, "the report", err);
}

/* ---- scale ---- */

struct scale_work {
    struct scale_options options;
    struct scale_counts counts;
};

static enum orr_status scale_one(void *context, struct record_reader *reader, FILE *stream, struct notes *notes,
                                 struct mem *mem, struct orr_error *err)
{
    struct scale_work *work = context;
    return scale_trace(reader, &work->options, stream, notes, &work->counts, mem, err);
}

enum orr_status orr_trace_scale(const struct orr_edit *edits, size_t count, const struct orr_scale_options *options,
                                const struct orr_notices *notices, FILE *stream, struct orr_error *err)
{
    struct scale_work work = {.options = {.compute = {1, 1}, .comm = {1, 1}}};
    struct pattern match;
    enum orr_status status = ORR_OK;
    if (options->compute != NULL) {
        status = scale_factor_parse("parameter 'compute'", options->compute, &work.options.compute, err);
    }
    if (status == ORR_OK && options->comm != NULL) {
        status = scale_factor_parse("parameter 'comm'", options->comm, &work.options.comm, err);
    }
    status = status != ORR_OK ? status : pattern_open(&match, "parameter 'match'", options->match, err);
    if (status != ORR_OK) {
        return status;
    }
    work.options.match = &match;
    status = edit_all(edits, count, options->memory_limit, notices, scale_one, &work, err);
    pattern_close(&match);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_scale(&work.counts, &work.options, stream);
    return error_of_stream(stream, "the report", err);
}

/* ---- rewrite ---- */

struct rewrite_work {
    struct rewrite_options options;
    struct rewrite_counts counts;
};

static enum orr_status rewrite_one(void *context, struct record_reader *reader, FILE *stream, struct notes *notes,
                                   struct mem *mem, struct orr_error *err)
{
    struct rewrite_work *work = context;
    (void)notes;
    return rewrite_trace(reader, &work->options, stream, &work->counts, mem, err);
}

enum orr_status orr_trace_rewrite(const struct orr_edit *edits, size_t count, const struct orr_rewrite_options *options,
                                  const struct orr_notices *notices, FILE *stream, struct orr_error *err)
{
    struct rewrite_work work = {.options = {.from_type = REWRITE_ANY_TYPE,
                                            .to_type = REWRITE_ANY_TYPE,
                                            .set_bytes = options->set_bytes,
                                            .bytes = options->bytes,
                                            .group = options->group}};
    struct pattern match;
    enum orr_status status = ORR_OK;
    if (options->from_type != NULL) {
        status = type_word_parse(options->from_type, &work.options.from_type, err);
    }
    if (status == ORR_OK && options->type != NULL) {
        status = type_word_parse(options->type, &work.options.to_type, err);
    }
    status = status != ORR_OK ? status : pattern_open(&match, "parameter 'match'", options->match, err);
    if (status != ORR_OK) {
        return status;
    }
    work.options.match = &match;
    status = edit_all(edits, count, options->memory_limit, notices, rewrite_one, &work, err);
    pattern_close(&match);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_rewrite(&work.counts, stream);
    return error_of_stream(stream, "the report", err);
}

/* ---- cut ---- */

struct cut_work {
    struct cut_options options;
    struct cut_counts counts;
};

static enum orr_status cut_one(void *context, struct record_reader *reader, FILE *stream, struct notes *notes,
                               struct mem *mem, struct orr_error *err)
{
    struct cut_work *work = context;
    (void)notes;
    return cut_trace(reader, &work->options, stream, &work->counts, mem, err);
}

enum orr_status orr_trace_cut(const struct orr_edit *edits, size_t count, int64_t first, int64_t last,
                              uint64_t memory_limit, const struct orr_notices *notices, FILE *stream,
                              struct orr_error *err)
{
    struct cut_work work = {.options = {first, last}};
    enum orr_status status = edit_all(edits, count, memory_limit, notices, cut_one, &work, err);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_cut(&work.counts, count, stream);
    return error_of_stream(stream, "the report", err);
}

/* ---- merge ---- */

enum orr_status orr_trace_merge(const char *const *inputs, size_t count, const char *output, bool parallel,
                                uint64_t memory_limit, const struct orr_notices *notices, FILE *stream,
                                struct orr_error *err)
{
    struct mem mem = {.limit = memory_limit};
    struct merge_counts counts = {0};
    struct io_outfile *file = NULL;
    struct notes notes;
    enum orr_status status = io_make_folder_above(output, err);
    status = status != ORR_OK ? status : io_outfile_open(output, io_outfile_form_of(output), &file, err);
    if (status != ORR_OK) {
        return status;
    }
    notices_begin(&notes, &mem, notices);
    status = merge_traces(inputs, count, parallel, io_outfile_stream(file), &notes, &counts, &mem, err);
    status = io_outfile_end(file, status, err);
    notices_end(&notes, notices);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_merge(&counts, stream);
    return error_of_stream(stream, "the report", err);
}
