/* SPDX-License-Identifier: Apache-2.0 */
/* The public function that shows a recording's times: one document of all the traces named. */
#include "io/outfile.h"
#include "orrery.h"
#include "report/recorded_timeline.h"

static enum orr_status add_trace(struct recorded_timeline *timeline, const char *path, struct mem *mem,
                                 struct orr_error *err)
{
    struct trace_document *document = NULL;
    enum orr_status status = trace_document_read(path, mem, &document, err);
    if (status == ORR_OK) {
        status = recorded_timeline_add(timeline, document, err);
        trace_document_free(document);
    }
    return status;
}

enum orr_status orr_trace_timeline(const char *const *traces, size_t count, const char *path, struct orr_error *err)
{
    struct mem mem = {0};
    struct io_outfile *file = NULL;
    struct recorded_timeline *timeline = NULL;
    enum orr_status status = io_outfile_open(path, io_outfile_form_of(path), &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = recorded_timeline_begin(io_outfile_stream(file), &mem, &timeline, err);
    for (size_t i = 0; status == ORR_OK && i < count; i++) {
        status = add_trace(timeline, traces[i], &mem, err);
    }
    if (status == ORR_OK) {
        recorded_timeline_end(timeline);
        return io_outfile_commit(file, err);
    }
    recorded_timeline_end(timeline);
    io_outfile_abort(file);
    return status;
}
