/* SPDX-License-Identifier: Apache-2.0 */
/* Slices go out in the order the engine kept them (by end), arrows and counters behind them. */
#include "report/timeline.h"

#include "io/json_write.h"
#include "report/events.h"

/* A Chrome metadata event up to its arguments. */
static void begin_metadata(struct json_writer *json, const char *name, uint32_t rank, uint32_t thread)
{
    json_write_object(json, true);
    json_write_member_string(json, "ph", "M");
    json_write_member_string(json, "name", name);
    json_write_member_u64(json, "pid", rank);
    json_write_member_u64(json, "tid", thread);
    json_write_member_object(json, "args", true);
}

static void end_metadata(struct json_writer *json)
{
    json_write_object_end(json);
    json_write_object_end(json);
}

static void write_process(struct json_writer *json, uint32_t process, const char *name)
{
    begin_metadata(json, "process_name", process, 0);
    json_write_member_string(json, "name", name);
    end_metadata(json);
    begin_metadata(json, "process_sort_index", process, 0);
    json_write_member_u64(json, "sort_index", process);
    end_metadata(json);
}

static void write_thread(struct json_writer *json, const struct sim_result *result, uint32_t rank, uint32_t thread)
{
    char name[REPORT_LANE_NAME];
    report_lanes_name(result, rank, thread, name);
    begin_metadata(json, "thread_name", rank, thread);
    json_write_member_string(json, "name", name);
    end_metadata(json);
    begin_metadata(json, "thread_sort_index", rank, thread);
    json_write_member_u64(json, "sort_index", thread);
    end_metadata(json);
}

static void report_timeline_write_rank(struct json_writer *json, uint32_t rank, const struct report_lanes *lanes,
                                       const struct sim_result *result)
{
    char name[32];
    (void)snprintf(name, sizeof name, "rank %u", rank);
    write_process(json, rank, name);
    for (uint32_t slot = 0; slot < SIM_SLOT_NONE; slot++) {
        if ((lanes->slots[rank] >> slot & 1) != 0) {
            write_thread(json, result, rank, slot);
        }
    }
    for (uint32_t lane = 0; lane < lanes->used[rank]; lane++) {
        write_thread(json, result, rank, SIM_SLOT_NONE + lane);
    }
    for (uint32_t i = 0; lanes->named && i < result->config->traces->ranks[rank].graph->lane_count; i++) {
        write_thread(json, result, rank, REPORT_FIRST_NAMED + i);
    }
}

static void write_interval(struct json_writer *json, const struct sim_result *result,
                           const struct sim_interval *interval, uint32_t thread)
{
    struct report_slice slice;
    report_slice_of(result, interval, thread, &slice);
    json_write_object(json, true);
    json_write_member_string(json, "ph", "X");
    json_write_member_string(json, "cat", slice.category);
    json_write_member_string(json, "name", slice.name);
    json_write_member_u64(json, "pid", interval->rank);
    json_write_member_u64(json, "tid", thread);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, interval->start_ns);
    json_write_key(json, "dur");
    json_write_ns_as_us(json, interval->end_ns - interval->start_ns);
    json_write_member_object(json, "args", true);
    for (uint32_t i = 0; i < slice.argument_count; i++) {
        const struct report_argument *one = &slice.arguments[i];
        if (one->text != NULL) {
            json_write_member_string(json, one->name, one->text);
        } else if (one->is_signed) {
            json_write_member_i64(json, one->name, (int64_t)one->number);
        } else {
            json_write_member_u64(json, one->name, one->number);
        }
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

/* ---- arrows and counters ---- */

/* One end of an arrow: "s" where it begins, "f" where it ends. */
static void write_flow_end(struct json_writer *json, const struct sim_result *result, const struct report_waits *waits,
                           uint32_t place, uint64_t time_ns, const char *phase, enum report_flow flow, uint64_t number)
{
    json_write_object(json, true);
    json_write_member_string(json, "ph", phase);
    json_write_member_string(json, "cat", "flow");
    json_write_member_string(json, "name", report_flow_names[flow]);
    json_write_member_u64(json, "id", number);
    json_write_member_u64(json, "pid", result->intervals[waits->order[place]].rank);
    json_write_member_u64(json, "tid", waits->thread[place]);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, time_ns);
    if (phase[0] == 'f') {
        json_write_member_string(json, "bp", "e"); /* the slice that is open then, not the next */
    }
    json_write_object_end(json);
}

/* A viewer closes a slice at its end before it looks for one that is open, hence the nanosecond. */
static void write_flow(struct json_writer *json, const struct sim_result *result, const struct report_events *events,
                       uint32_t place, bool launch)
{
    enum report_flow flow;
    int64_t from = report_flow_into(events, place, launch, &flow);
    if (from == REPORT_NO_WAIT) {
        return;
    }
    const struct report_waits *waits = &events->waits;
    const struct sim_interval *into = &result->intervals[waits->order[place]];
    bool at_start = launch || into->end_ns == into->start_ns;
    uint64_t number = report_flow_number(place, launch);
    write_flow_end(json, result, waits, (uint32_t)from, result->intervals[waits->order[from]].start_ns, "s", flow,
                   number);
    write_flow_end(json, result, waits, place, at_start ? into->start_ns : into->end_ns - 1, "f", flow, number);
}

struct timeline_counters {
    struct json_writer *json;
    uint32_t job; /* the process of what is of all ranks */
};

static void write_counter(void *context, uint32_t rank, enum report_counter counter, uint64_t time_ns, uint64_t value)
{
    const struct timeline_counters *counters = context;
    struct json_writer *json = counters->json;
    const struct report_counter_words *words = &report_counter_words[counter];
    json_write_object(json, true);
    json_write_member_string(json, "ph", "C");
    json_write_member_string(json, "name", words->name);
    json_write_member_u64(json, "pid", rank == REPORT_ALL_RANKS ? counters->job : rank);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, time_ns);
    json_write_member_object(json, "args", true);
    json_write_member_u64(json, words->unit[0] != '\0' ? words->unit : "count", value);
    json_write_object_end(json);
    json_write_object_end(json);
}

static enum orr_status timeline_write_events(struct json_writer *json, const struct sim_result *result,
                                             const struct report_events *events, struct orr_error *err)
{
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        report_timeline_write_rank(json, rank, &events->lanes, result);
    }
    write_process(json, result->rank_count, "all ranks");
    for (uint32_t i = 0; i < result->interval_count; i++) {
        write_interval(json, result, &result->intervals[i], report_lanes_thread(result, &events->lanes, i));
    }
    for (uint32_t place = 0; place < events->waits.count; place++) {
        write_flow(json, result, events, place, false);
        write_flow(json, result, events, place, true);
    }
    struct timeline_counters counters = {.json = json, .job = result->rank_count};
    return report_counters_walk(result, events, write_counter, &counters, err);
}

enum orr_status report_timeline_write(const struct sim_result *result, FILE *stream, struct orr_error *err)
{
    struct report_events events;
    enum orr_status status = report_events_make(result, &events, err);
    if (status != ORR_OK) {
        return status;
    }
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_u64(&json, "schemaVersion", 1);
    json_write_member_string(&json, "displayTimeUnit", "ns");
    json_write_member_object(&json, "distributedInfo", true);
    json_write_member_string(&json, "backend", "orrery");
    json_write_member_u64(&json, "world_size", result->rank_count);
    json_write_object_end(&json);
    json_write_member_array(&json, "traceEvents", false);
    status = timeline_write_events(&json, result, &events, err);
    json_write_array_end(&json);
    json_write_document_end(&json);
    report_events_free(&events);
    return status;
}
