/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that draw a trace: the output's ending says what is made. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "api/trace_filter.h"
#include "convert/export.h"
#include "io/outfile.h"
#include "report/view.h"

/* What a file of this ending holds. */
enum view_form { FORM_SVG, FORM_HTML, FORM_PDF, FORM_DOT, FORM_GRAPHML, FORM_COUNT };

static const char *const endings[] = {".svg", ".html", ".pdf", ".dot", ".graphml"};

static enum orr_status find_form(const char *path, enum view_form *form, struct orr_error *err)
{
    size_t length = strlen(path);
    for (unsigned i = 0; i < FORM_COUNT; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcasecmp(path + length - ending, endings[i]) == 0) {
            *form = (enum view_form)i;
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL, "%s: the ending says what is drawn; accepted: .svg, .html, .pdf, .dot, .graphml",
                     path);
}

static enum orr_status api_view_draw(const char *trace, enum view_form form, const struct orr_view_options *options,
                                     struct mem *mem, FILE *stream, struct orr_error *err)
{
    struct trace_document *document = NULL;
    enum orr_status status = trace_document_read(trace, mem, &document, err);
    if (status != ORR_OK) {
        return status;
    }
    struct view view;
    struct view_options asked = {.limit = options->limit, .unfolded = options->unfolded};
    if (options->filter != NULL) {
        status = lab_trace_filter(document, options->filter, mem, NULL, err);
    }
    status = status != ORR_OK ? status : view_make(document, &asked, mem, &view, err);
    if (status == ORR_OK) {
        if (form == FORM_PDF) {
            status = view_write_pdf(&view, stream, err);
        } else {
            (form == FORM_SVG ? view_write_svg : view_write_html)(&view, stream);
        }
        view_free(&view);
    }
    trace_document_free(document);
    return status;
}

enum orr_status orr_trace_view(const char *trace, const struct orr_view_options *options, const char *path,
                               struct orr_error *err)
{
    enum view_form form = FORM_SVG;
    struct io_outfile *file = NULL;
    struct mem mem = {0};
    enum orr_status status = find_form(path, &form, err);
    if (status == ORR_OK && options->filter != NULL && (form == FORM_DOT || form == FORM_GRAPHML)) {
        status = error_set(err, ORR_EINVAL, "%s: %s holds every node; a choice of them is drawn as .svg, .html or .pdf",
                           path, endings[form]);
    }
    if (status == ORR_OK) {
        status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    FILE *stream = io_outfile_stream(file);
    if (form == FORM_DOT || form == FORM_GRAPHML) {
        status = export_trace(trace, form == FORM_DOT ? EXPORT_DOT : EXPORT_GRAPHML, stream, &mem, err);
    } else {
        status = api_view_draw(trace, form, options, &mem, stream, err);
    }
    return io_outfile_end(file, status, err);
}
