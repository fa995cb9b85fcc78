/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The export goes part by part from json_stream to the output. The jsonizer's texts are no JSON document together, so
 * they are read whole and commas put where one text ends and the next begins: then they are an array.
 */
#include "convert/et_json.h"

#include <inttypes.h>
#include <string.h>

#include "convert/et_json_record.h"
#include "convert/rank_path.h"
#include "io/outfile.h"
#include "io/stream.h"
#include "io/value.h"
#include "trace/graph.h"

enum { READ_BYTES = 64 << 10 };

struct conversion {
    const struct convert_request *request;
    struct convert_summary sum;
    struct json_stream *stream;
    struct io_outfile *file;
    struct et_json_encoder encoder;
    bool has_metadata;
};

static enum orr_status write_record(struct conversion *conversion)
{
    FILE *out = io_outfile_stream(conversion->file);
    uint64_t length = conversion->encoder.record.size;
    for (; length >= 0x80; length >>= 7) {
        (void)fputc((int)(length & 0x7f) | 0x80, out);
    }
    (void)fputc((int)length, out);
    if (conversion->encoder.record.size > 0) {
        (void)fwrite(conversion->encoder.record.data, 1, conversion->encoder.record.size, out);
    }
    return ORR_OK; /* write errors are the commit's */
}

static enum orr_status fail_part(struct conversion *conversion, const struct json_part *part, struct orr_error *err)
{
    if (conversion->encoder.problem[0] == '\0') {
        return mem_error(conversion->request->mem, "encoding a trace", err);
    }
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s", conversion->request->input,
                     json_stream_line(conversion->stream, part->offset), conversion->encoder.problem);
}

static enum orr_status take_metadata(struct conversion *conversion, const struct json_part *part, struct orr_error *err)
{
    if (conversion->has_metadata) {
        return error_set(err, ORR_EINVAL, "%s: the metadata must stand once, before the nodes",
                         conversion->request->input);
    }
    conversion->has_metadata = true;
    return et_json_encode_metadata(&conversion->encoder, part->item) ? write_record(conversion)
                                                                     : fail_part(conversion, part, err);
}

static enum orr_status et_json_take_node(struct conversion *conversion, const struct json_part *part,
                                         struct orr_error *err)
{
    if (!et_json_encode_node(&conversion->encoder, part->item)) {
        return fail_part(conversion, part, err);
    }
    uint64_t type = conversion->encoder.type;
    conversion->sum.nodes++;
    conversion->sum.compute += type == TRACE_COMP;
    conversion->sum.collectives += type == TRACE_COLL;
    conversion->sum.sends += type == TRACE_SEND;
    conversion->sum.recvs += type == TRACE_RECV;
    conversion->sum.comm_bytes +=
        type == TRACE_COLL || type == TRACE_SEND || type == TRACE_RECV ? conversion->encoder.comm_bytes : 0;
    return write_record(conversion);
}

/* A record of the default metadata, where the document has none. */
static enum orr_status need_metadata(struct conversion *conversion)
{
    if (conversion->has_metadata) {
        return ORR_OK;
    }
    conversion->has_metadata = true;
    conversion->encoder.record.size = 0;
    return write_record(conversion);
}

static enum orr_status take_export_part(struct conversion *conversion, const struct json_part *part,
                                        struct orr_error *err)
{
    const char *input = conversion->request->input;
    if (strcmp(part->key, "nodes") == 0 && (part->is_element || part->is_empty)) {
        enum orr_status status = need_metadata(conversion);
        return status == ORR_OK && part->is_element ? et_json_take_node(conversion, part, err) : status;
    }
    if (strcmp(part->key, "metadata") == 0) {
        return take_metadata(conversion, part, err);
    }
    if (strcmp(part->key, "format") == 0) {
        return ORR_OK; /* what brought us here */
    }
    if (strcmp(part->key, "version") == 0) {
        bool known = part->item->kind == JSON_ITEM_INT && part->item->value.integer == 1;
        return known ? ORR_OK
                     : error_set(err, ORR_EINVAL, "%s: \"version\" of the format is not 1, the one there is", input);
    }
    char shown[64];
    return error_set(err, ORR_EINVAL, "%s: unknown key \"%s\"; an orrery-trace has format, version, metadata, nodes",
                     input, io_text_printable(part->key, shown, sizeof shown));
}

static enum orr_status take_jsonized_part(struct conversion *conversion, const struct json_part *part,
                                          struct orr_error *err)
{
    if (!part->is_element) {
        return ORR_OK;
    }
    return part->index == 0 ? take_metadata(conversion, part, err) : et_json_take_node(conversion, part, err);
}

static enum orr_status take_parts(struct conversion *conversion,
                                  enum orr_status (*take)(struct conversion *, const struct json_part *,
                                                          struct orr_error *),
                                  struct orr_error *err)
{
    struct json_part part;
    bool more = true;
    enum orr_status status = json_stream_next(conversion->stream, &part, &more, err);
    while (status == ORR_OK && more) {
        status = take(conversion, &part, err);
        if (status == ORR_OK) {
            status = json_stream_next(conversion->stream, &part, &more, err);
        }
    }
    return status == ORR_OK ? need_metadata(conversion) : status;
}

static enum orr_status make_folder_of(const char *path, struct orr_error *err)
{
    char folder[RANK_PATH_ROOM];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (length == 0 || length >= sizeof folder) {
        return ORR_OK;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    return io_make_folder(folder, err);
}

static enum orr_status open_output(struct conversion *conversion, struct orr_error *err)
{
    char path[RANK_PATH_ROOM];
    enum orr_status status = rank_path_make(conversion->request->output, 0, 1, path, err);
    status = status == ORR_OK ? make_folder_of(path, err) : status;
    return status == ORR_OK ? io_outfile_open(path, IO_OUTFILE_PLAIN, &conversion->file, err) : status;
}

/* With the stream open: everything else, and its closing. */
static enum orr_status convert_stream(struct conversion *conversion, bool protobuf_names,
                                      struct convert_summary *summary, struct orr_error *err)
{
    const struct convert_request *request = conversion->request;
    enum orr_status status = ORR_OK;
    if (request->ranks > 1) {
        status = error_set(err, ORR_EINVAL, "%s: it is one rank's trace, and %" PRIu32 " ranks were asked for",
                           request->input, request->ranks);
    }
    et_json_encoder_init(&conversion->encoder, request->mem, protobuf_names);
    if (status == ORR_OK) {
        status = open_output(conversion, err);
    }
    if (status == ORR_OK) {
        status = take_parts(conversion, protobuf_names ? take_jsonized_part : take_export_part, err);
    }
    status = io_outfile_end(conversion->file, status, err);
    et_json_encoder_free(&conversion->encoder);
    json_stream_close(conversion->stream);
    if (status == ORR_OK) {
        conversion->sum.files = 1;
        *summary = conversion->sum;
    }
    return status;
}

enum orr_status et_json_convert_export(const struct convert_request *request, struct convert_summary *summary,
                                       struct orr_error *err)
{
    static const char *const arrays[] = {"nodes", NULL};
    struct conversion conversion = {.request = request};
    enum orr_status status = json_stream_open(request->input, arrays, 0, request->mem, &conversion.stream, err);
    return status == ORR_OK ? convert_stream(&conversion, false, summary, err) : status;
}

/* ---- jsonized --------------------------------------------------------------------------------------------------- */

struct text {
    uint8_t *bytes;
    uint32_t size, capacity;
};

/* Where in a document the scan is. */
struct brackets {
    uint64_t depth;
    bool in_string, escaped, any;
};

static bool put_byte(struct text *text, uint8_t byte, struct mem *mem)
{
    if (!mem_reserve(mem, (void **)&text->bytes, &text->capacity, (uint64_t)text->size + 1, 1)) {
        return false;
    }
    text->bytes[text->size++] = byte;
    return true;
}

/* One byte of the input into the array that is made of it. */
static bool put_scanned(struct text *text, struct brackets *at, uint8_t byte, struct mem *mem)
{
    if (at->in_string) {
        at->in_string = byte != '"' || at->escaped;
        at->escaped = byte == '\\' && !at->escaped;
    } else if (byte == '{' || byte == '[') {
        if (at->depth == 0 && at->any && !put_byte(text, ',', mem)) {
            return false;
        }
        at->depth++;
        at->any = true;
    } else if (byte == '}' || byte == ']') {
        at->depth -= at->depth > 0;
    } else if (byte == '"') {
        at->in_string = true;
    }
    return put_byte(text, byte, mem);
}

static enum orr_status et_json_read_texts(const char *path, struct mem *mem, struct text *text, struct orr_error *err)
{
    struct io_stream *stream = NULL;
    struct brackets at = {0};
    uint8_t buffer[READ_BYTES];
    size_t size = 1;
    enum orr_status status = io_stream_open(path, mem, &stream, err);
    bool good = status != ORR_OK || put_byte(text, '[', mem);
    while (status == ORR_OK && good && size > 0) {
        status = io_stream_read(stream, buffer, sizeof buffer, &size, err);
        for (size_t i = 0; status == ORR_OK && good && i < size; i++) {
            good = put_scanned(text, &at, buffer[i], mem);
        }
    }
    io_stream_close(stream);
    good = good && (status != ORR_OK || put_byte(text, ']', mem));
    return good ? status : mem_error(mem, "reading a trace as JSON", err);
}

enum orr_status et_json_convert_jsonized(const struct convert_request *request, struct convert_summary *summary,
                                         struct orr_error *err)
{
    static const char *const arrays[] = {"", NULL};
    struct conversion conversion = {.request = request};
    struct text text = {0};
    enum orr_status status = et_json_read_texts(request->input, request->mem, &text, err);
    if (status == ORR_OK) {
        status = json_stream_open_bytes(text.bytes, text.size, request->input, arrays, 0, request->mem,
                                        &conversion.stream, err);
    }
    if (status == ORR_OK) {
        status = convert_stream(&conversion, true, summary, err);
    }
    mem_free(request->mem, text.bytes, text.capacity);
    return status;
}
