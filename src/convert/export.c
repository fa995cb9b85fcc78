/* SPDX-License-Identifier: Apache-2.0 */
/* One walk for the formats that say a node at a time. */
#include "convert/export.h"

#include <stdlib.h>

#include "convert/export_parts.h"
#include "trace/record_edit.h"

static bool convert_export_begin(enum export_format format, const struct record *metadata, FILE *stream)
{
    switch (format) {
    case EXPORT_JSON:
        return export_json_metadata(stream, metadata);
    case EXPORT_DOT:
        export_dot_begin(stream);
        return true;
    case EXPORT_GRAPHML:
        export_graphml_begin(stream);
        return true;
    }
    return false;
}

static bool convert_export_put_node(enum export_format format, const struct record_pass *pass, bool first, FILE *stream)
{
    switch (format) {
    case EXPORT_JSON:
        return export_json_node(stream, &pass->record, &pass->facts, first);
    case EXPORT_DOT:
        export_dot_node(stream, &pass->facts);
        return true;
    case EXPORT_GRAPHML:
        export_graphml_node(stream, &pass->facts);
        return true;
    }
    return false;
}

static void convert_export_finish(enum export_format format, FILE *stream)
{
    switch (format) {
    case EXPORT_JSON:
        export_json_end(stream);
        break;
    case EXPORT_DOT:
        export_dot_end(stream);
        break;
    case EXPORT_GRAPHML:
        export_graphml_end(stream);
        break;
    }
}

static enum orr_status put_nodes(struct record_reader *reader, enum export_format format, FILE *stream, struct mem *mem,
                                 struct orr_error *err)
{
    struct record_pass pass;
    bool first = true;
    enum orr_status status = record_pass_open(&pass, reader, NULL, mem, err);
    while (status == ORR_OK && pass.more) {
        if (!convert_export_put_node(format, &pass, first, stream)) {
            status =
                record_error(reader, &pass.record, pass.record.bytes, "a list of an attribute is not well-formed", err);
            break;
        }
        first = false;
        status = record_pass_next(&pass, err);
    }
    record_pass_close(&pass);
    return status;
}

enum orr_status export_trace(const char *path, enum export_format format, FILE *stream, struct mem *mem,
                             struct orr_error *err)
{
    struct record_reader reader;
    struct record metadata;
    bool more = false;
    enum orr_status status = record_reader_open(&reader, path, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    status = record_reader_next(&reader, &metadata, &more, err);
    if (status == ORR_OK && !convert_export_begin(format, &metadata, stream)) {
        status = record_error(&reader, &metadata, metadata.bytes, "the metadata is not well-formed", err);
    }
    status = status != ORR_OK ? status : put_nodes(&reader, format, stream, mem, err);
    if (status == ORR_OK) {
        convert_export_finish(format, stream);
    }
    record_reader_close(&reader);
    return status;
}
