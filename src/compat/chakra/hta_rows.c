/* SPDX-License-Identifier: Apache-2.0 */
/* Which events count, which call belongs to which kernel, and what the first step is (spec chakra §7, 1 to 3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compat/chakra/hta_parts.h"

bool hta_fail(struct hta *hta, const char *why)
{
    hta->failed = why;
    return false;
}

bool hta_no_memory(struct hta *hta)
{
    hta->no_memory = true;
    return false;
}

static const struct {
    const char *name;
    uint16_t says;
} known_names[] = {
    {"cudaLaunchKernel", HTA_LAUNCH},        {"cudaLaunchKernelExC", HTA_LAUNCH},
    {"cuLaunchKernel", HTA_LAUNCH},          {"cudaMemcpyAsync", HTA_LAUNCH | HTA_BLOCKING},
    {"cudaMemsetAsync", HTA_LAUNCH},         {"cudaDeviceSynchronize", HTA_BLOCKING},
    {"cudaStreamSynchronize", HTA_BLOCKING}, {"cudaEventQuery", HTA_BLOCKING},
    {"cudaEventSynchronize", HTA_BLOCKING},  {"cudaMemcpy", HTA_BLOCKING},
    {"cudaEventRecord", HTA_EVENT_RECORD},   {"cudaStreamWaitEvent", HTA_STREAM_WAIT_CALL},
    {"Context Sync", HTA_CONTEXT_SYNC},      {"Stream Sync", HTA_STREAM_SYNC},
    {"Event Sync", HTA_EVENT_SYNC},          {"Stream Wait Event", HTA_STREAM_WAIT},
};

static bool hta_rows_describe_names(struct hta *hta)
{
    const struct intern *names = &hta->trace->names;
    uint32_t count = intern_count(names);
    hta->names = mem_zalloc(hta->mem, count * sizeof *hta->names);
    if (hta->names == NULL) {
        return hta_no_memory(hta);
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = intern_text(names, i);
        for (size_t k = 0; k < sizeof known_names / sizeof known_names[0]; k++) {
            if (strcmp(name, known_names[k].name) == 0) {
                hta->names[i] = known_names[k].says;
            }
        }
        if (strstr(name, "ProfilerStep") != NULL) {
            hta->names[i] |= HTA_PROFILER_STEP;
        }
    }
    return true;
}

/* ---- rows ---- */

static int64_t hta_rows_whole(double us)
{
    return us >= 9e18 ? INT64_MAX / 4 : us <= -9e18 ? INT64_MIN / 4 : (int64_t)us;
}

static void fill_row(struct hta *hta, uint32_t event, struct hta_row *row)
{
    const struct kineto_event *from = &hta->trace->events[event];
    bool alias = (from->has & KINETO_IS_ALIAS) != 0;
    *row = (struct hta_row){
        .ts = hta_rows_whole(ceil(from->ts_us)),
        .end = hta_rows_whole(floor(from->ts_us + from->dur_us)),
        .stream = from->stream,
        .event = event,
        .partner = HTA_NONE,
        .name = hta->names[from->name],
        .cuda = from->correlation != -1,
        .kept = true,
        .is_call = !alias && (from->cat == KINETO_CPU_OP || from->cat == KINETO_RUNTIME || from->cat == KINETO_DRIVER),
        .is_sync = !alias && from->cat == KINETO_SYNC,
    };
}

static int hta_rows_compare_rows(const void *left, const void *right, void *context)
{
    const struct kineto_event *events = context;
    uint32_t a = events[((const struct hta_row *)left)->event].index;
    uint32_t b = events[((const struct hta_row *)right)->event].index;
    return a < b ? -1 : a > b;
}

static bool hta_rows_fill_rows(struct hta *hta)
{
    const struct kineto_trace *trace = hta->trace;
    hta->rows = mem_alloc(hta->mem, trace->event_count * sizeof *hta->rows);
    if (hta->rows == NULL) {
        return hta_no_memory(hta);
    }
    bool runtime = false;
    bool step = false;
    for (uint32_t i = 0; i < trace->event_count; i++) {
        const struct kineto_event *event = &trace->events[i];
        if ((event->has & KINETO_HAS_DUR) == 0) {
            continue;
        }
        if ((event->has & KINETO_STREAM_IS_TEXT) != 0) {
            return hta_fail(hta, "a stream is a text and no number");
        }
        runtime = runtime || (event->cat == KINETO_RUNTIME && (event->has & KINETO_IS_ALIAS) == 0);
        fill_row(hta, i, &hta->rows[hta->row_count++]);
        step = step || (hta->rows[hta->row_count - 1].name & HTA_PROFILER_STEP) != 0;
    }
    qsort_r(hta->rows, hta->row_count, sizeof *hta->rows, hta_rows_compare_rows, trace->events);
    if (!step) {
        return hta_fail(hta, "no ProfilerStep in the device trace");
    }
    return runtime || hta_fail(hta, "no cuda_runtime event in the device trace");
}

/* ---- pairs ---- */

static bool is_gpu_side(const struct hta_row *row)
{
    return row->stream > 0 || (row->name & (HTA_EVENT_SYNC | HTA_CONTEXT_SYNC)) != 0;
}

/* Of several on a side the last in the file is the partner. Event 0 cannot be one: HTA's mark for "no partner" is its
 * number. */
static bool pair_rows(struct hta *hta)
{
    struct number_map last[2];
    bool done = true;
    for (int side = 0; side < 2; side++) {
        number_map_init(&last[side], hta->mem);
    }
    for (uint32_t i = 0; i < hta->row_count && done; i++) {
        const struct hta_row *row = &hta->rows[i];
        bool gpu = is_gpu_side(row);
        if (row->cuda && (gpu || row->stream == -1)) {
            done = number_map_put(&last[gpu], hta_event(hta, i)->correlation, i);
        }
    }
    for (uint32_t i = 0; i < hta->row_count && done; i++) {
        struct hta_row *row = &hta->rows[i];
        bool gpu = is_gpu_side(row);
        uint32_t partner = HTA_NONE;
        if (row->cuda && (gpu || row->stream == -1) &&
            number_map_get(&last[!gpu], hta_event(hta, i)->correlation, &partner) &&
            hta_event(hta, partner)->index != 0) {
            row->partner = partner;
        }
    }
    number_map_free(&last[0]);
    number_map_free(&last[1]);
    return done || hta_no_memory(hta);
}

/* ---- steps ---- */

/* With two steps or more, what starts with the last one or after it is not looked at: the last step may be cut off. */
static bool cut_last_step(struct hta *hta)
{
    struct number_map steps;
    struct number_map correlations;
    int64_t last = INT64_MIN;
    bool done = true;
    number_map_init(&steps, hta->mem);
    number_map_init(&correlations, hta->mem);
    for (uint32_t i = 0; i < hta->row_count && done; i++) {
        if ((hta->rows[i].name & HTA_PROFILER_STEP) != 0) {
            done = number_map_put(&steps, hta_event(hta, i)->name, 0);
            last = hta->rows[i].stream == -1 && hta->rows[i].ts > last ? hta->rows[i].ts : last;
        }
    }
    bool several = steps.table.count >= 2;
    for (uint32_t i = 0; several && done && i < hta->row_count; i++) {
        struct hta_row *row = &hta->rows[i];
        if (row->stream == -1) {
            row->kept = row->ts < last;
            done = !row->kept || number_map_put(&correlations, hta_event(hta, i)->correlation, 0);
        }
    }
    for (uint32_t i = 0; several && done && i < hta->row_count; i++) {
        uint32_t unused;
        if (hta->rows[i].stream != -1) {
            hta->rows[i].kept = number_map_get(&correlations, hta_event(hta, i)->correlation, &unused);
        }
    }
    number_map_free(&steps);
    number_map_free(&correlations);
    return done || hta_no_memory(hta);
}

/* The first step in HTA's order: device rows before host rows once steps were cut, else by file. */
static bool find_window(const struct hta *hta, int64_t *start, int64_t *end)
{
    uint32_t found = HTA_NONE;
    bool cut = false;
    for (uint32_t i = 0; i < hta->row_count && !cut; i++) {
        cut = !hta->rows[i].kept;
    }
    for (uint32_t i = 0; i < hta->row_count; i++) {
        const struct hta_row *row = &hta->rows[i];
        if (!row->kept || (row->name & HTA_PROFILER_STEP) == 0) {
            continue;
        }
        if (found == HTA_NONE || (cut && row->stream != -1 && hta->rows[found].stream == -1)) {
            found = i;
        }
    }
    if (found == HTA_NONE) {
        return false;
    }
    *start = hta->rows[found].ts;
    *end = hta->rows[found].end;
    return true;
}

static bool in_window(const struct hta_row *row, int64_t start, int64_t end)
{
    return row->kept && row->stream == -1 && row->ts >= start && row->ts <= end && row->end > row->ts;
}

static bool clip(struct hta *hta)
{
    int64_t start = 0;
    int64_t end = 0;
    if (!find_window(hta, &start, &end)) {
        return hta_fail(hta, "no complete ProfilerStep in the device trace");
    }
    for (uint32_t i = 0; i < hta->row_count; i++) {
        struct hta_row *row = &hta->rows[i];
        if (row->stream == -1) {
            row->clipped = in_window(row, start, end);
            if (row->clipped && row->partner != HTA_NONE && hta->rows[row->partner].stream != -1) {
                hta->rows[row->partner].clipped = hta->rows[row->partner].kept;
            }
        } else if (row->kept && (row->name & HTA_STREAM_WAIT) != 0) {
            row->clipped = true;
        }
    }
    for (uint32_t i = 0; i < hta->row_count; i++) {
        struct hta_row *row = &hta->rows[i];
        row->has_nodes = row->clipped && (row->is_call || (row->stream != -1 && row->cuda));
    }
    return true;
}

bool hta_make_rows(struct hta *hta)
{
    return hta_rows_describe_names(hta) && hta_rows_fill_rows(hta) && pair_rows(hta) && cut_last_step(hta) && clip(hta);
}
