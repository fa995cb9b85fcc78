/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of spec chakra §8 in their order. Everything that can be refused is refused before the output is opened,
 * but for faults in a node's own fields, which the second pass finds; then the output is given up. */
#include "compat/chakra/convert.h"

#include <inttypes.h>

#include "base/plain.h"
#include "compat/chakra/convert_parts.h"
#include "convert/pytorch/host/fields.h"

enum orr_status compat_fail(const struct compat *compat, uint32_t node, struct orr_error *err, const char *fmt, ...)
{
    char what[512];
    char name[120];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    (void)snprintf(name, sizeof name, "%s", compat_name(compat, node));
    host_text_clean(name);
    host_text_clean(what);
    struct json_stream *stream = compat->trace->stream;
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": node %" PRIu64 " (%s): %s", json_stream_path(stream),
                     json_stream_line(stream, compat_host(compat, node)->offset), compat->nodes[node].id, name, what);
}

/* Those that Chakra's converter reads; it lists one more, 1.1.1-chakra.1.0.0, and fails on it (bug C4). */
static const char *const schemas[] = {"1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4",
                                      "1.1.1-chakra.0.0.4", NULL};

static enum orr_status check_document(const struct host_trace *trace, struct orr_error *err)
{
    char word[80];
    const char *path = json_stream_path(trace->stream);
    const char *missing = trace->schema[0] == '\0' ? "schema"
                          : !trace->has_pid        ? "pid"
                          : trace->time[0] == '\0' ? "time"
                          : !trace->has_start_ts   ? "start_ts"
                          : !trace->has_finish_ts  ? "finish_ts"
                                                   : NULL;
    if (missing != NULL) {
        return error_set(err, ORR_EINVAL, "%s: no usable \"%s\"; schema, pid, time, start_ts and finish_ts are needed",
                         path, missing);
    }
    for (size_t i = 0; schemas[i] != NULL; i++) {
        if (strcmp(trace->schema, schemas[i]) == 0) {
            return ORR_OK;
        }
    }
    (void)snprintf(word, sizeof word, "%s", trace->schema);
    host_text_clean(word);
    return error_set(err, ORR_EINVAL,
                     "%s: schema \"%s\"; Chakra's converter reads 1.0.2, 1.0.3, 1.1.0 and 1.1.1, each with "
                     "-chakra.0.0.4; orrery trace convert reads this one without parameter 'compat' chakra",
                     path, word);
}

static enum orr_status compat_open(struct compat *compat, const struct convert_request *request, struct orr_error *err)
{
    enum orr_status status = host_read(request->input, request->mem, request->notes, &compat->trace, err);
    if (status == ORR_OK) {
        status = check_document(compat->trace, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    size_t count = compat->trace->node_count;
    compat->capacity = compat->trace->node_count;
    compat->nodes = mem_alloc(compat->mem, count * sizeof *compat->nodes);
    compat->by_id = mem_alloc(compat->mem, count * sizeof *compat->by_id);
    compat->order = mem_alloc(compat->mem, count * sizeof *compat->order);
    if (compat->nodes == NULL || compat->by_id == NULL || compat->order == NULL) {
        return mem_error(compat->mem, "the nodes to convert", err);
    }
    return ORR_OK;
}

static void compat_close(struct compat *compat)
{
    size_t count = compat->capacity;
    mem_free(compat->mem, compat->nodes, compat->nodes == NULL ? 0 : count * sizeof *compat->nodes);
    mem_free(compat->mem, compat->by_id, compat->by_id == NULL ? 0 : count * sizeof *compat->by_id);
    mem_free(compat->mem, compat->order, compat->order == NULL ? 0 : count * sizeof *compat->order);
    host_free(compat->trace);
}

static enum orr_status find_graph(struct compat *compat, struct orr_error *err)
{
    enum orr_status status = compat_nodes_collect(compat, err);
    if (status == ORR_OK) {
        status = compat_nodes_make(compat, err);
    }
    if (status == ORR_OK) {
        status = compat_deps_find(compat, err);
    }
    return status == ORR_OK ? compat_deps_check(compat, err) : status;
}

static enum orr_status chakra_convert_write_file(struct compat *compat, const char *path,
                                                 struct convert_summary *summary, struct orr_error *err)
{
    struct et_writer *writer = NULL;
    enum orr_status status = et_writer_open(path, compat->mem, &writer, err);
    if (status != ORR_OK) {
        return status;
    }
    status = compat_write(compat, writer, summary, err);
    if (status != ORR_OK) {
        et_writer_abort(writer);
        return status;
    }
    return et_writer_commit(writer, err);
}

enum orr_status pytorch_convert_compat(const struct convert_request *request, struct convert_summary *summary,
                                       struct orr_error *err)
{
    struct compat compat = {.mem = request->mem};
    struct convert_summary made = {0};
    enum orr_status status = compat_open(&compat, request, err);
    if (status == ORR_OK) {
        status = find_graph(&compat, err);
    }
    if (status == ORR_OK) {
        status = chakra_convert_write_file(&compat, request->output, &made, err);
    }
    if (status == ORR_OK && request->replay != NULL) {
        status = compat_replay(&compat, request->replay, err);
    }
    compat_close(&compat);
    if (status == ORR_OK) {
        *summary = made;
    }
    return status;
}
