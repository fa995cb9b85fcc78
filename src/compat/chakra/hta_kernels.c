/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and synchronisations of HTA's graph (spec chakra §7.5), in order of time. A kernel follows its launch when
 * its stream was idle, else the kernel before it on the stream; a synchronisation adds the edges it stands for. Where
 * HTA would stop with an exception, so does this (hta_fail).
 */
#include <stdlib.h>
#include <string.h>

#include "compat/chakra/hta_parts.h"

/* A launch, as the events recorded before it and the waits after it look for it. */
struct launch {
    int64_t ts;
    int64_t stream;
    uint32_t gpu_pid;  /* of the device, as the kernel names it */
    uint32_t pid, tid; /* of the call */
    uint32_t row;
};

struct kernels {
    struct hta *hta;
    struct launch *by_device; /* by device, stream, time */
    struct launch *by_thread; /* by process, thread, stream, time */
    uint32_t launch_count;
    int32_t *queued; /* by row: launches on the stream that have not started; NOT_QUEUED where it does not apply */
    struct number_map records; /* correlation of a cudaEventRecord → row */
    struct number_map
        record_from; /* the same correlation → a row that waits for it, which names its stream and device */
    bool has_record_name, has_wait_names;
    struct number_map waits_for; /* row of a kernel → row of the kernel it waits for, or HTA_NONE once done */
    struct number_map streams;   /* stream → number in lasts */
    uint32_t *lasts;             /* end of the last kernel, by stream in order of appearance */
    uint32_t stream_count, stream_capacity;
};

enum { NOT_QUEUED = INT32_MIN };

static bool is_launch(const struct hta *hta, uint32_t row)
{
    const struct hta_row *at = &hta->rows[row];
    return at->kept && (at->name & HTA_LAUNCH) != 0 && at->partner != HTA_NONE;
}

/* ---- queue lengths ---- */

struct step {
    int64_t stream, ts;
    uint32_t row;
    bool is_gpu;
};

static int hta_kernels_compare_steps(const void *left, const void *right)
{
    const struct step *a = left;
    const struct step *b = right;
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    if (a->ts != b->ts) {
        return a->ts < b->ts ? -1 : 1;
    }
    if (a->is_gpu != b->is_gpu) {
        return a->is_gpu ? 1 : -1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Every launch with the kernel of its correlation; two launches of one correlation are more than HTA can bear. */
static bool collect_steps(struct kernels *kernels, const struct number_map *launched, struct step *steps,
                          uint32_t *count)
{
    struct hta *hta = kernels->hta;
    for (uint32_t i = 0; i < hta->row_count; i++) {
        const struct hta_row *row = &hta->rows[i];
        uint32_t launch = 0;
        if (!row->kept || row->stream == -1 || !number_map_get(launched, hta_event(hta, i)->correlation, &launch)) {
            continue;
        }
        steps[(*count)++] = (struct step){row->stream, hta->rows[launch].ts, launch, false};
        steps[(*count)++] = (struct step){row->stream, row->ts, i, true};
    }
    return *count > 0 || hta_fail(hta, "no launch that HTA knows in the device trace");
}

static void count_queues(struct kernels *kernels, struct step *steps, uint32_t count)
{
    int32_t length = 0;
    qsort(steps, count, sizeof *steps, hta_kernels_compare_steps);
    for (uint32_t i = 0; i < count; i++) {
        length = i > 0 && steps[i].stream != steps[i - 1].stream ? 0 : length;
        length += steps[i].is_gpu ? -1 : 1;
        kernels->queued[steps[i].row] = length;
    }
}

static bool find_queues(struct kernels *kernels)
{
    struct hta *hta = kernels->hta;
    struct number_map launched;
    uint32_t count = 0;
    size_t bytes = 2 * (size_t)hta->row_count * sizeof(struct step);
    kernels->queued = mem_alloc(hta->mem, hta->row_count * sizeof *kernels->queued);
    struct step *steps = mem_alloc(hta->mem, bytes);
    bool done = kernels->queued != NULL && steps != NULL;
    number_map_init(&launched, hta->mem);
    for (uint32_t i = 0; done && i < hta->row_count; i++) {
        uint32_t there = i;
        kernels->queued[i] = NOT_QUEUED;
        done = !is_launch(hta, i) || number_map_add(&launched, hta_event(hta, i)->correlation, &there);
        if (done && there != i) {
            hta->failed = "two launches have one correlation";
        }
    }
    if (!done) {
        hta->no_memory = true;
    }
    done = done && hta->failed == NULL && collect_steps(kernels, &launched, steps, &count);
    if (done) {
        count_queues(kernels, steps, count);
    }
    number_map_free(&launched);
    mem_free(hta->mem, steps, bytes);
    return done;
}

/* ---- launches before a record and after a wait ---- */

static int compare_by_device(const void *left, const void *right)
{
    const struct launch *a = left;
    const struct launch *b = right;
    if (a->gpu_pid != b->gpu_pid) {
        return a->gpu_pid < b->gpu_pid ? -1 : 1;
    }
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    if (a->ts != b->ts) {
        return a->ts < b->ts ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

static int compare_by_thread(const void *left, const void *right)
{
    const struct launch *a = left;
    const struct launch *b = right;
    if (a->pid != b->pid) {
        return a->pid < b->pid ? -1 : 1;
    }
    if (a->tid != b->tid) {
        return a->tid < b->tid ? -1 : 1;
    }
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    if (a->ts != b->ts) {
        return a->ts < b->ts ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool collect_launches(struct kernels *kernels)
{
    struct hta *hta = kernels->hta;
    size_t bytes = hta->row_count * sizeof(struct launch);
    kernels->by_device = mem_alloc(hta->mem, bytes);
    kernels->by_thread = mem_alloc(hta->mem, bytes);
    if (kernels->by_device == NULL || kernels->by_thread == NULL) {
        return hta_no_memory(hta);
    }
    for (uint32_t i = 0; i < hta->row_count; i++) {
        const struct hta_row *row = &hta->rows[i];
        if (!is_launch(hta, i) || !hta->rows[row->partner].kept || hta->rows[row->partner].stream == -1) {
            continue;
        }
        kernels->by_device[kernels->launch_count++] = (struct launch){
            .ts = row->ts,
            .stream = hta->rows[row->partner].stream,
            .gpu_pid = hta_event(hta, row->partner)->pid,
            .pid = hta_event(hta, i)->pid,
            .tid = hta_event(hta, i)->tid,
            .row = i,
        };
    }
    memcpy(kernels->by_thread, kernels->by_device, kernels->launch_count * sizeof(struct launch));
    qsort(kernels->by_device, kernels->launch_count, sizeof(struct launch), compare_by_device);
    qsort(kernels->by_thread, kernels->launch_count, sizeof(struct launch), compare_by_thread);
    return true;
}

/* How many of the sorted launches come before the key. */
static uint32_t launches_before(const struct launch *launches, uint32_t count, const struct launch *key,
                                int (*compare)(const void *, const void *))
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&launches[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const struct kineto_sync *sync_of(const struct hta *hta, uint32_t row)
{
    const struct kineto_event *event = hta_event(hta, row);
    bool copies = event->cat == KINETO_MEMCPY || event->cat == KINETO_MEMSET;
    return copies || event->extra == KINETO_NONE ? NULL : &hta->trace->syncs[event->extra];
}

/* The stream and device of each recorded event, known only from those who wait for it. Two answers for one are too many
 * for HTA. */
static bool collect_records(struct kernels *kernels)
{
    struct hta *hta = kernels->hta;
    for (uint32_t i = 0; i < hta->row_count; i++) {
        const struct hta_row *row = &hta->rows[i];
        const struct kineto_sync *sync = sync_of(hta, i);
        uint32_t there = i;
        kernels->has_record_name = kernels->has_record_name || (row->name & HTA_EVENT_RECORD) != 0;
        if (row->kept && sync != NULL && sync->wait_stream > -1) {
            if (!number_map_add(&kernels->record_from, sync->wait_record_corr, &there)) {
                return hta_no_memory(hta);
            }
            if (sync_of(hta, there)->wait_stream != sync->wait_stream ||
                hta_event(hta, there)->pid != hta_event(hta, i)->pid) {
                hta->failed = "one cudaEventRecord is waited for on two streams";
            }
        }
        there = i;
        if (row->kept && (row->name & HTA_EVENT_RECORD) != 0) {
            if (!number_map_add(&kernels->records, hta_event(hta, i)->correlation, &there)) {
                return hta_no_memory(hta);
            }
            hta->failed = there != i ? "two cudaEventRecord calls have one correlation" : hta->failed;
        }
    }
    if (!kernels->has_record_name) {
        hta->failed = NULL; /* then nothing is joined */
    }
    return hta->failed == NULL;
}

/* The launch before the record that a synchronisation waits for; HTA_NONE when there is none. */
static uint32_t previous_launch(const struct kernels *kernels, uint32_t row)
{
    const struct hta *hta = kernels->hta;
    const struct kineto_sync *sync = sync_of(hta, row);
    uint32_t record = 0;
    uint32_t from = 0;
    if (sync == NULL || !number_map_get(&kernels->records, sync->wait_record_corr, &record) ||
        !number_map_get(&kernels->record_from, sync->wait_record_corr, &from)) {
        return HTA_NONE;
    }
    struct launch key = {
        .ts = hta->rows[record].ts,
        .stream = sync_of(hta, from)->wait_stream,
        .gpu_pid = hta_event(hta, from)->pid,
        .row = UINT32_MAX,
    };
    uint32_t at = launches_before(kernels->by_device, kernels->launch_count, &key, compare_by_device);
    if (at == 0) {
        return HTA_NONE;
    }
    const struct launch *found = &kernels->by_device[at - 1];
    return found->gpu_pid == key.gpu_pid && found->stream == key.stream ? found->row : HTA_NONE;
}

static bool is_wait_call(const struct hta *hta, uint32_t row)
{
    const struct hta_row *at = &hta->rows[row];
    return at->kept && (at->name & HTA_STREAM_WAIT_CALL) != 0 && at->partner != HTA_NONE &&
           hta->rows[at->partner].kept && hta->rows[at->partner].stream != -1;
}

/* The launch after a cudaStreamWaitEvent, by the same thread on the same stream; HTA_NONE when there is none. */
static uint32_t next_launch(const struct kernels *kernels, uint32_t call)
{
    const struct hta *hta = kernels->hta;
    struct launch key = {
        .ts = hta->rows[call].ts,
        .stream = hta->rows[hta->rows[call].partner].stream,
        .pid = hta_event(hta, call)->pid,
        .tid = hta_event(hta, call)->tid,
        .row = UINT32_MAX,
    };
    uint32_t at = launches_before(kernels->by_thread, kernels->launch_count, &key, compare_by_thread);
    if (at == kernels->launch_count) {
        return HTA_NONE;
    }
    const struct launch *found = &kernels->by_thread[at];
    bool same = found->pid == key.pid && found->tid == key.tid && found->stream == key.stream;
    return same ? found->row : HTA_NONE;
}

static bool check_waits(struct kernels *kernels)
{
    struct hta *hta = kernels->hta;
    bool call = false;
    bool event = false;
    bool paired = false;
    for (uint32_t i = 0; i < hta->row_count; i++) {
        call = call || (hta->rows[i].name & HTA_STREAM_WAIT_CALL) != 0;
        event = event || (hta->rows[i].name & HTA_STREAM_WAIT) != 0;
        paired = paired || is_wait_call(hta, i);
    }
    kernels->has_wait_names = call && event;
    return !kernels->has_wait_names || paired || hta_fail(hta, "no cudaStreamWaitEvent call has its event");
}

/* ---- synchronisations ---- */

static bool add_sync_edge(struct hta *hta, uint32_t gpu_end, uint32_t call)
{
    if (call == HTA_NONE || !hta->rows[call].has_nodes) {
        return hta_fail(hta, "the call of a synchronisation is not in the first step");
    }
    return hta_add_edge(hta, gpu_end, call * 2 + 1, 0, true);
}

static bool add_stream_wait(struct kernels *kernels, uint32_t row, uint32_t source)
{
    struct hta *hta = kernels->hta;
    uint32_t call = hta->rows[row].partner;
    if (!kernels->has_wait_names || call == HTA_NONE || !is_wait_call(hta, call)) {
        return hta_fail(hta, "a Stream Wait Event has no cudaStreamWaitEvent call");
    }
    uint32_t launch = next_launch(kernels, call);
    if (launch == HTA_NONE) {
        return true;
    }
    return number_map_put(&kernels->waits_for, hta->rows[launch].partner, source) || hta_no_memory(hta);
}

static bool hta_kernels_add_sync(struct kernels *kernels, uint32_t row)
{
    struct hta *hta = kernels->hta;
    const struct hta_row *at = &hta->rows[row];
    if ((at->name & (HTA_STREAM_WAIT | HTA_EVENT_SYNC)) != 0) {
        uint32_t launch = kernels->has_record_name ? previous_launch(kernels, row) : HTA_NONE;
        if (launch == HTA_NONE) {
            return true;
        }
        uint32_t source = hta->rows[launch].partner;
        if ((at->name & HTA_STREAM_WAIT) != 0) {
            return add_stream_wait(kernels, row, source);
        }
        return !hta->rows[source].has_nodes || add_sync_edge(hta, source * 2 + 1, at->partner);
    }
    if ((at->name & (HTA_STREAM_SYNC | HTA_CONTEXT_SYNC)) == 0) {
        return hta_fail(hta, "a cuda_sync event has a name that HTA does not know");
    }
    if ((at->name & HTA_STREAM_SYNC) != 0) {
        uint32_t stream = 0;
        return !number_map_get(&kernels->streams, at->stream, &stream) ||
               add_sync_edge(hta, kernels->lasts[stream], at->partner);
    }
    for (uint32_t i = 0; i < kernels->stream_count; i++) {
        if (!add_sync_edge(hta, kernels->lasts[i], at->partner)) {
            return false;
        }
    }
    return true;
}

/* ---- kernels ---- */

/* The end of the kernel that this one must wait for, or HTA_NONE. Asked once. */
static bool take_wait(struct kernels *kernels, uint32_t row, uint32_t *end)
{
    struct hta *hta = kernels->hta;
    uint32_t source = HTA_NONE;
    *end = HTA_NONE;
    if (!number_map_get(&kernels->waits_for, row, &source) || source == HTA_NONE) {
        return true;
    }
    if (!number_map_put(&kernels->waits_for, row, HTA_NONE)) {
        return hta_no_memory(hta);
    }
    if (!hta->rows[source].has_nodes) {
        return true;
    }
    *end = source * 2 + 1;
    return hta_add_edge(hta, *end, row * 2, 0, true);
}

static bool set_last(struct kernels *kernels, int64_t stream, uint32_t end)
{
    uint32_t number = kernels->stream_count;
    if (!number_map_add(&kernels->streams, stream, &number) ||
        !MEM_GROW(kernels->hta->mem, kernels->lasts, kernels->stream_capacity, number)) {
        return hta_no_memory(kernels->hta);
    }
    kernels->stream_count += number == kernels->stream_count;
    kernels->lasts[number] = end;
    return true;
}

/* The stream was idle when the kernel was launched and what it had to wait for was over. */
static bool follows_launch(const struct kernels *kernels, uint32_t row, uint32_t last, uint32_t waited)
{
    const struct hta *hta = kernels->hta;
    uint32_t launch = hta->rows[row].partner;
    if (launch == HTA_NONE || kernels->queued[launch] != 1 || kernels->queued[row] != 0) {
        return false;
    }
    int64_t launched = hta->rows[launch].ts;
    return (last == HTA_NONE || hta_node_ts(hta, last) < launched) &&
           (waited == HTA_NONE || hta_node_ts(hta, waited) < launched);
}

static bool hta_kernels_add_kernel(struct kernels *kernels, uint32_t row)
{
    struct hta *hta = kernels->hta;
    const struct hta_row *at = &hta->rows[row];
    uint32_t stream = 0;
    uint32_t waited = HTA_NONE;
    if (!at->has_nodes) {
        return hta_fail(hta, "a device event has no stream");
    }
    if (!hta_add_edge(hta, row * 2, row * 2 + 1, at->end - at->ts, false) || !take_wait(kernels, row, &waited)) {
        return false;
    }
    uint32_t last = number_map_get(&kernels->streams, at->stream, &stream) ? kernels->lasts[stream] : HTA_NONE;
    if (follows_launch(kernels, row, last, waited)) {
        if (!hta->rows[at->partner].has_nodes) {
            return hta_fail(hta, "the launch of a kernel is no call of the first step");
        }
        if (!hta_add_edge(hta, at->partner * 2, row * 2, at->ts - hta->rows[at->partner].ts, false)) {
            return false;
        }
    } else if (last != HTA_NONE && (waited == HTA_NONE || hta_node_ts(hta, waited) < hta_node_ts(hta, last))) {
        if (!hta_add_edge(hta, last, row * 2, at->ts - hta_node_ts(hta, last), false)) {
            return false;
        }
    }
    return set_last(kernels, at->stream, row * 2 + 1);
}

/* ---- all of them ---- */

struct turn {
    int64_t at;
    uint32_t row;
};

static int compare_turns(const void *left, const void *right)
{
    const struct turn *a = left;
    const struct turn *b = right;
    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool add_all(struct kernels *kernels)
{
    struct hta *hta = kernels->hta;
    uint32_t count = 0;
    size_t bytes = hta->row_count * sizeof(struct turn);
    struct turn *turns = mem_alloc(hta->mem, bytes);
    if (turns == NULL) {
        return hta_no_memory(hta);
    }
    for (uint32_t i = 0; i < hta->row_count; i++) {
        const struct hta_row *row = &hta->rows[i];
        if (row->clipped && row->cuda &&
            (row->stream != -1 || (row->name & (HTA_EVENT_SYNC | HTA_CONTEXT_SYNC)) != 0)) {
            turns[count++] = (struct turn){row->is_sync ? row->end : row->ts, i};
        }
    }
    qsort(turns, count, sizeof *turns, compare_turns);
    bool done = true;
    for (uint32_t i = 0; done && i < count; i++) {
        bool sync = hta->rows[turns[i].row].is_sync;
        done = sync ? hta_kernels_add_sync(kernels, turns[i].row) : hta_kernels_add_kernel(kernels, turns[i].row);
    }
    mem_free(hta->mem, turns, bytes);
    return done;
}

bool hta_add_kernels(struct hta *hta)
{
    struct kernels kernels = {.hta = hta};
    struct number_map *maps[] = {&kernels.records, &kernels.record_from, &kernels.waits_for, &kernels.streams};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        number_map_init(maps[i], hta->mem);
    }
    bool done = find_queues(&kernels) && collect_launches(&kernels) && collect_records(&kernels) &&
                check_waits(&kernels) && add_all(&kernels);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        number_map_free(maps[i]);
    }
    mem_free(hta->mem, kernels.by_device, hta->row_count * sizeof(struct launch));
    mem_free(hta->mem, kernels.by_thread, hta->row_count * sizeof(struct launch));
    mem_free(hta->mem, kernels.queued, hta->row_count * sizeof *kernels.queued);
    mem_free(hta->mem, kernels.lasts, kernels.stream_capacity * sizeof *kernels.lasts);
    return done;
}
