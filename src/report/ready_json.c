/* SPDX-License-Identifier: Apache-2.0 */
/* The same as JSON: every count by its name, bytes and times without units a person would choose. */
#include "io/json_write.h"
#include "report/ready_text.h"

static void write_times(struct json_writer *writer, const char *key, const struct ready_times *times)
{
    json_write_member_object(writer, key, true);
    json_write_member_u64(writer, "count", times->count);
    json_write_member_fixed(writer, "sum_us", times->sum_us, 3);
    json_write_member_fixed(writer, "median_us", times->median_us, 3);
    json_write_object_end(writer);
}

static void write_comms(struct json_writer *writer, const struct ready_device *device)
{
    json_write_member_array(writer, "communication", false);
    for (unsigned kind = 0; kind < COMM_NONE; kind++) {
        enum ready_level level = READY_KERNEL;
        uint64_t bytes = 0;
        uint64_t count = ready_comm_count(device, (enum comm_kind)kind, &level);
        if (count == 0) {
            continue;
        }
        json_write_object(writer, true);
        json_write_member_string(writer, "type", comm_kind_text((enum comm_kind)kind));
        json_write_member_u64(writer, "count", count);
        json_write_key(writer, "bytes");
        if (ready_comm_bytes(device, (enum comm_kind)kind, &bytes)) {
            json_write_u64(writer, bytes);
        } else {
            json_write_null(writer);
        }
        json_write_member_fixed(writer, "median_us", device->comms[level][kind].times.median_us, 3);
        json_write_member_string(writer, "known_from", ready_level_text(level));
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

/* Below 0: the recording does not say. */
static void write_told(struct json_writer *writer, const char *key, int64_t value)
{
    json_write_key(writer, key);
    if (value < 0) {
        json_write_null(writer);
    } else {
        json_write_u64(writer, (uint64_t)value);
    }
}

static void write_device(struct json_writer *writer, const struct ready_device *device)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        {"bytes", device->bytes},
        {"events", device->events},
        {"host_ops", device->host_ops},
        {"calls", device->calls},
        {"launches", device->launches},
        {"event_records", device->event_records},
        {"stream_waits", device->stream_waits},
        {"synchronises", device->synchronises},
        {"sync_events", device->sync_events},
        {"kernels", device->kernels},
        {"comm_kernels", device->comm_kernels},
        {"copies", device->copies},
        {"sets", device->sets},
        {"streams", device->stream_count},
        {"record_param_comms", device->param_comms},
    };
    json_write_object(writer, false);
    json_write_member_string(writer, "device", device->device);
    json_write_member_bool(writer, "amd", device->amd);
    write_told(writer, "rank", device->rank);
    write_told(writer, "world_size", device->world_size);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_write_member_u64(writer, counts[i].key, counts[i].value);
    }
    json_write_member_fixed(writer, "comm_kernel_us", device->comm_us, 3);
    json_write_member_fixed(writer, "compute_kernel_us", device->compute_us, 3);
    write_times(writer, "steps", ready_steps(device));
    write_comms(writer, device);
    json_write_object_end(writer);
}

static void report_ready_json_write_rank(struct json_writer *writer, const struct ready_rank *rank)
{
    json_write_object(writer, false);
    json_write_member_u64(writer, "rank", rank->pair->rank);
    json_write_key(writer, "host");
    if (rank->host.there) {
        json_write_object(writer, true);
        json_write_member_string(writer, "schema", rank->host.schema);
        json_write_member_u64(writer, "bytes", rank->host.bytes);
        json_write_member_u64(writer, "nodes", rank->host.nodes);
        json_write_member_u64(writer, "record_param_comms", rank->host.param_comms);
        json_write_object_end(writer);
    } else {
        json_write_null(writer);
    }
    if (rank->measure.done) {
        json_write_member_object(writer, "measure", true);
        json_write_member_i64(writer, "recorded_ns", rank->measure.recorded_ns);
        json_write_member_i64(writer, "simulated_ns", rank->measure.simulated_ns);
        json_write_member_i64(writer, "host_gap_ns", rank->measure.gap_ns[EMIT_GAP_HOST]);
        json_write_member_i64(writer, "launch_gap_ns", rank->measure.gap_ns[EMIT_GAP_LAUNCH]);
        json_write_member_i64(writer, "device_gap_ns", rank->measure.gap_ns[EMIT_GAP_DEVICE]);
        json_write_object_end(writer);
    }
    json_write_key(writer, "device");
    if (rank->device.there) {
        write_device(writer, &rank->device);
    } else {
        json_write_null(writer);
    }
    json_write_object_end(writer);
}

static void report_ready_json_write_finding(struct json_writer *writer, const struct ready_finding *finding)
{
    json_write_object(writer, true);
    json_write_member_string(writer, "weight", finding->weight == READY_FAULT ? "fault" : "advice");
    json_write_key(writer, "rank");
    if (finding->rank == READY_ALL_RANKS) {
        json_write_null(writer);
    } else {
        json_write_u64(writer, finding->rank);
    }
    json_write_member_string(writer, "text", finding->text);
    json_write_member_string(writer, "advice", finding->advice);
    json_write_object_end(writer);
}

static void write_run(struct json_writer *writer, const struct ready_run *run)
{
    json_write_object(writer, false);
    json_write_member_string(writer, "place", run->place);
    json_write_member_string(writer, "tag", run->tag);
    json_write_member_bool(writer, "usable", run->usable);
    json_write_member_string(writer, "mode", ready_mode_word(run->mode));
    json_write_member_string(writer, "split", run->split);
    json_write_member_bool(writer, "sends", run->pipeline);
    json_write_member_bool(writer, "all_to_alls", run->expert);
    json_write_member_string(writer, "network", ready_verdict_text(run->verdict));
    json_write_key(writer, "comm_over_compute");
    if (run->verdict == READY_NETWORK_UNKNOWN) {
        json_write_null(writer);
    } else {
        json_write_fixed(writer, run->comm_share, 6);
    }
    json_write_member_array(writer, "ranks", false);
    for (uint32_t i = 0; i < run->rank_count; i++) {
        report_ready_json_write_rank(writer, &run->ranks[i]);
    }
    json_write_array_end(writer);
    json_write_member_array(writer, "findings", false);
    for (uint32_t i = 0; i < run->finding_count; i++) {
        report_ready_json_write_finding(writer, &run->findings[i]);
    }
    json_write_array_end(writer);
    json_write_object_end(writer);
}

void ready_text_json(const char *place, const struct ready_run *runs, uint32_t count, const char *const *refusals,
                     uint32_t refusal_count, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "folder", place);
    json_write_member_array(&writer, "runs", false);
    for (uint32_t i = 0; i < count; i++) {
        write_run(&writer, &runs[i]);
    }
    json_write_array_end(&writer);
    if (refusal_count > 0) {
        json_write_member_array(&writer, "refused", false);
        for (uint32_t i = 0; i < refusal_count; i++) {
            json_write_string(&writer, refusals[i]);
        }
        json_write_array_end(&writer);
    }
    json_write_document_end(&writer);
}
