/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of ASTRA-sim's track-local-mem, one a rank, for Perfetto: each read and write of a tensor, how long it was
 * held, and the sum as a counter, as Chrome trace events with its names and process numbers. There, tensors are
 * numbered and events ordered as hash tables give them out; here, by first use. A tensor that was never written is
 * "written" by the node UNDEFINED from 0 to 10 ns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/outfile.h"
#include "report/memory.h"
#include "trace/tensors.h"

/* Processes of the lifetimes and of the counter: the rank plus this. */
enum { LIFETIMES = 1000000, COUNTER = 2000000 };

struct trace_file {
    struct json_writer json;
    const struct sim_result *result;
    const struct trace_tensors *tensors;
    uint32_t rank;
};

struct activity {
    const char *category, *node_name;
    uint64_t node_id;
    uint64_t start_ns, end_ns;
};

/* What stands for the writing of a tensor that was there from the beginning. */
static const struct activity before_the_run = {
    .category = "tensorWrite", .node_name = "UNDEFINED", .node_id = UINT64_MAX, .start_ns = 0, .end_ns = 10};

static void begin_event(struct json_writer *json, const char *name, const char *category, const char *phase,
                        uint64_t time_ns, uint64_t process)
{
    json_write_object(json, true);
    json_write_member_string(json, "name", name);
    json_write_member_string(json, "cat", category);
    json_write_member_string(json, "ph", phase);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, time_ns);
    json_write_member_u64(json, "pid", process);
}

static void write_activity(struct trace_file *file, uint32_t tensor, uint64_t bytes, const struct activity *activity)
{
    for (int end = 0; end < 2; end++) {
        struct json_writer *json = &file->json;
        begin_event(json, intern_text(&file->tensors->names, tensor), activity->category, end == 0 ? "B" : "E",
                    end == 0 ? activity->start_ns : activity->end_ns, file->rank);
        json_write_member_u64(json, "tid", tensor);
        json_write_member_object(json, "args", true);
        json_write_member_u64(json, "node_id", activity->node_id);
        json_write_member_string(json, "node_name", activity->node_name);
        json_write_member_u64(json, "size", bytes);
        json_write_object_end(json);
        json_write_object_end(json);
    }
}

static void write_lifetime(struct trace_file *file, const struct sim_usage_span *span)
{
    struct json_writer *json = &file->json;
    for (int end = 0; end < (span->until_ns == UINT64_MAX ? 1 : 2); end++) {
        begin_event(json, span->name, "tensorLifetime", end == 0 ? "B" : "E",
                    end == 0 ? span->since_ns : span->until_ns, (uint64_t)file->rank + LIFETIMES);
        json_write_member_u64(json, "tid", span->tensor);
        json_write_member_object(json, "args", true);
        json_write_member_u64(json, "size", span->bytes);
        json_write_object_end(json);
        json_write_object_end(json);
    }
}

static void write_node(struct trace_file *file, const struct sim_interval *interval)
{
    const struct trace_rank *trace = &file->result->config->traces->ranks[file->rank];
    uint64_t id = trace_rank_node_id(trace, interval->node);
    const struct trace_tensor_node *uses = trace_tensors_find(file->tensors, id);
    if (uses == NULL) {
        return;
    }
    struct activity activity = {.category = "tensorRead",
                                .node_name = trace_graph_name(trace->graph, interval->node),
                                .node_id = id,
                                .start_ns = interval->start_ns,
                                .end_ns = interval->end_ns};
    const struct trace_tensor_use *use = &file->tensors->uses[uses->first];
    for (uint32_t i = 0; i < uses->inputs; i++) {
        write_activity(file, use[i].tensor, use[i].bytes, &activity);
    }
    activity.category = "tensorWrite";
    for (uint32_t i = uses->inputs; i < uses->inputs + uses->outputs; i++) {
        write_activity(file, use[i].tensor, use[i].bytes, &activity);
    }
}

static void write_curve(struct trace_file *file)
{
    const struct sim_usage_rank *row = &file->result->usage.ranks[file->rank];
    for (uint32_t i = 0; i < row->step_count; i++) {
        begin_event(&file->json, "GPU Memory Usage (MB)", "GPU Memory", "C", row->steps[i].time_ns,
                    (uint64_t)file->rank + COUNTER);
        json_write_member_object(&file->json, "args", true);
        json_write_member_fixed(&file->json, "Memory_MB", (double)row->steps[i].bytes / (1024.0 * 1024.0), 6);
        json_write_object_end(&file->json);
        json_write_object_end(&file->json);
    }
}

static void report_memory_trace_write_rank(struct trace_file *file, FILE *stream)
{
    const struct sim_usage *usage = &file->result->usage;
    const struct sim_usage_rank *row = &usage->ranks[file->rank];
    json_write_document(&file->json, stream);
    json_write_member_array(&file->json, "traceEvents", false);
    for (uint32_t i = usage->interval_start[file->rank]; i < usage->interval_start[file->rank + 1]; i++) {
        write_node(file, &file->result->intervals[usage->intervals[i]]);
    }
    for (uint32_t i = 0; i < row->span_count; i++) {
        if (row->spans[i].node == UINT32_MAX) {
            write_activity(file, row->spans[i].tensor, row->spans[i].bytes, &before_the_run);
        }
        write_lifetime(file, &row->spans[i]);
    }
    write_curve(file);
    json_write_array_end(&file->json);
    json_write_document_end(&file->json);
}

static enum orr_status report_memory_trace_write_file(struct trace_file *file, const char *prefix,
                                                      struct orr_error *err)
{
    size_t room = strlen(prefix) + 24;
    char *path = malloc(room);
    if (path == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory opening the file of rank %" PRIu32, prefix, file->rank);
    }
    (void)snprintf(path, room, "%s.%" PRIu32 ".json", prefix, file->rank);
    struct io_outfile *out = NULL;
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &out, err);
    free(path);
    if (status != ORR_OK) {
        return status;
    }
    report_memory_trace_write_rank(file, io_outfile_stream(out));
    return io_outfile_commit(out, err);
}

enum orr_status report_memory_files(const struct sim_result *result, const char *prefix, struct orr_error *err)
{
    if (!result->usage.tracked) {
        return error_set(err, ORR_EINVAL,
                         "what ranks hold in memory was not tracked: track-local-mem of the system "
                         "file, or a capacity, asks for it");
    }
    enum orr_status status = ORR_OK;
    for (uint32_t rank = 0; rank < result->rank_count && status == ORR_OK && result->usage.told; rank++) {
        struct trace_file file = {.result = result, .tensors = result->config->tensors[rank], .rank = rank};
        status = sim_result_rank(result, rank)->finished ? report_memory_trace_write_file(&file, prefix, err) : ORR_OK;
    }
    return status;
}
