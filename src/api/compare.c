/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that look at traces without changing them: how two differ, what a simplification costs, and what
 * other programs read. */

#include "base/error.h"
#include "base/notices.h"
#include "config/config.h"
#include "convert/export.h"
#include "io/outfile.h"
#include "orrery.h"
#include "report/edit_text.h"
#include "report/goal.h"

/* ---- diff ---- */

enum orr_status orr_trace_diff(const char *before, const char *after, const struct orr_diff_options *options,
                               FILE *stream, bool *same, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct diff_text text = {.stream = stream, .limit = options->limit, .json = options->json};
    struct diff_counts counts = {0};
    struct diff_options diff = {.by = options->by_name ? DIFF_BY_NAME : DIFF_BY_ID,
                                .tolerance = options->tolerance,
                                .item = diff_text_item,
                                .context = &text};
    if (!(options->tolerance >= 0)) {
        return error_set(err, ORR_ERANGE, "a tolerance of %g; it must be at least 0", options->tolerance);
    }
    diff_text_begin(&text, before, after);
    enum orr_status status = diff_traces(before, after, &diff, &counts, &mem, err);
    if (status != ORR_OK) {
        return status;
    }
    diff_text_end(&text, &counts);
    status = error_of_stream(stream, "the output", err);
    if (status == ORR_OK) {
        *same = !diff_any(&counts);
    }
    return status;
}

/* ---- measure ---- */

static enum orr_status api_compare_time_of(const char *workload, const struct orr_run_options *machine,
                                           const struct orr_notices *notices, uint64_t *ns, struct orr_error *err)
{
    struct orr_run_options options = *machine;
    struct orr_run *run = NULL;
    options.workload = workload;
    enum orr_status status = orr_run_open(&options, &run, err);
    status = status != ORR_OK ? status : orr_run_execute(run, err);
    for (size_t i = 0; run != NULL && notices != NULL && notices->warn != NULL && i < orr_run_warning_count(run); i++) {
        notices->warn(notices->context, orr_run_warning(run, i));
    }
    if (status == ORR_OK) {
        *ns = orr_run_time_ns(run);
    }
    orr_run_close(run);
    return status;
}

enum orr_status orr_trace_measure(const char *before, const char *after, const struct orr_run_options *machine,
                                  const struct orr_notices *notices, FILE *stream, struct orr_error *err)
{
    uint64_t before_ns = 0;
    uint64_t after_ns = 0;
    enum orr_status status = api_compare_time_of(before, machine, notices, &before_ns, err);
    status = status != ORR_OK ? status : api_compare_time_of(after, machine, notices, &after_ns, err);
    if (status != ORR_OK) {
        return status;
    }
    edit_text_measure(before_ns, after_ns, stream);
    return error_of_stream(stream, "the output", err);
}

/* ---- export ---- */

static enum orr_status export_schedule(const struct orr_export_options *options, FILE *stream, struct mem *mem,
                                       struct notes *notes, struct orr_error *err)
{
    struct trace_set *traces = NULL;
    struct sim_group *groups = NULL;
    struct goal_group *plain = NULL;
    uint32_t count = 0;
    struct arena arena;
    arena_init(&arena, mem);
    enum orr_status status = trace_set_load(options->input, UINT32_MAX, true, mem, notes, &traces, err);
    if (status == ORR_OK && options->groups != NULL) {
        status = config_read_groups(options->groups, traces->rank_count, &arena, notes, &groups, &count, err);
    }
    if (status == ORR_OK) {
        plain = arena_alloc(&arena, (size_t)count * sizeof *plain + 1);
        status = plain == NULL ? mem_error(mem, "the groups", err) : ORR_OK;
    }
    for (uint32_t i = 0; plain != NULL && i < count; i++) {
        plain[i] = (struct goal_group){groups[i].id, groups[i].ranks, groups[i].count};
    }
    status = status != ORR_OK ? status : goal_write(traces, plain, count, stream, mem, err);
    trace_set_free(traces);
    arena_free(&arena);
    return status;
}

static enum orr_status api_compare_export_to(const struct orr_export_options *options, FILE *stream, struct mem *mem,
                                             struct notes *notes, struct orr_error *err)
{
    switch (options->format) {
    case ORR_EXPORT_JSON:
        return export_trace(options->input, EXPORT_JSON, stream, mem, err);
    case ORR_EXPORT_DOT:
        return export_trace(options->input, EXPORT_DOT, stream, mem, err);
    case ORR_EXPORT_GRAPHML:
        return export_trace(options->input, EXPORT_GRAPHML, stream, mem, err);
    case ORR_EXPORT_GOAL:
        return export_schedule(options, stream, mem, notes, err);
    }
    return error_set(err, ORR_EINVAL, "unknown format to export: number %d", (int)options->format);
}

static enum orr_status api_compare_export_file(const struct orr_export_options *options, struct mem *mem,
                                               struct notes *notes, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_make_folder_above(options->output, err);
    status =
        status != ORR_OK ? status : io_outfile_open(options->output, io_outfile_form_of(options->output), &file, err);
    status = status != ORR_OK ? status : api_compare_export_to(options, io_outfile_stream(file), mem, notes, err);
    return io_outfile_end(file, status, err);
}

enum orr_status orr_trace_export(const struct orr_export_options *options, const struct orr_notices *notices,
                                 FILE *stream, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct notes notes;
    notices_begin(&notes, &mem, notices);
    enum orr_status status = ORR_OK;
    if (options->output != NULL) {
        status = api_compare_export_file(options, &mem, &notes, err);
    } else {
        status = api_compare_export_to(options, stream, &mem, &notes, err);
        status = status != ORR_OK ? status : error_of_stream(stream, "the output", err);
    }
    notices_end(&notes, notices);
    return status;
}
