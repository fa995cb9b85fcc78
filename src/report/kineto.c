/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls take a nanosecond each and follow each other in the order in which kernels start, so that who was launched
 * before whom is told by times, as it is in a recording. They come from the last operator of the host that launches
 * anything, at its end; in a trace without operators of the host from one thread that launches everything at the
 * beginning.
 */
#include "report/kineto.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_map.h"
#include "io/json_write.h"
#include "io/outfile.h"
#include "report/events.h"
#include "report/rows.h"

enum { NODE_NAME = 64 };

struct kineto_rank {
    const struct sim_result *result;
    const struct report_events *events;
    struct json_writer json;
    uint32_t rank;
    const struct trace_graph *graph;
    uint32_t from, to; /* its places */
    uint32_t *device;  /* those on the device, by start */
    uint32_t device_count;
    uint32_t *stream;     /* by place - from: the thread, or another where it overlaps what is there */
    uint64_t *record;     /* by place - from: the correlation of the event behind it; 0: none */
    struct number_map at; /* node: place */
    uint64_t next_correlation;
    uint32_t main_thread; /* the first one that has operators of the host, or one of its own */
    uint32_t launcher;    /* the thread that launches now, and until when it has */
    uint64_t launched_ns;
    bool has_host;
};

/* ---- events ---- */

static const struct sim_interval *kineto_interval(const struct kineto_rank *rank, uint32_t place)
{
    return &rank->result->intervals[rank->events->waits.order[place]];
}

static const struct trace_node *kineto_node(const struct kineto_rank *rank, uint32_t place)
{
    return &rank->graph->nodes[kineto_interval(rank, place)->node];
}

/* The host's process is the rank's number and 1, the device's 0, as in a recording. */
static void kineto_begin(struct kineto_rank *rank, const char *category, const char *name, bool device, uint32_t thread,
                         uint64_t start_ns, uint64_t lasts_ns)
{
    struct json_writer *json = &rank->json;
    json_write_object(json, true);
    json_write_member_string(json, "ph", "X");
    json_write_member_string(json, "cat", category);
    json_write_member_string(json, "name", name);
    json_write_member_u64(json, "pid", device ? 0 : rank->rank + UINT64_C(1));
    json_write_member_u64(json, "tid", thread);
    json_write_key(json, "ts");
    json_write_ns_as_us(json, start_ns);
    json_write_key(json, "dur");
    json_write_ns_as_us(json, lasts_ns);
    json_write_member_object(json, "args", true);
}

static void kineto_end(struct kineto_rank *rank)
{
    json_write_object_end(&rank->json);
    json_write_object_end(&rank->json);
}

/* A call of the runtime; gives its correlation. */
static uint64_t kineto_call(struct kineto_rank *rank, const char *name, uint32_t thread, uint64_t *time_ns,
                            uint64_t lasts_ns)
{
    uint64_t correlation = rank->next_correlation++;
    kineto_begin(rank, "cuda_runtime", name, false, thread, *time_ns, lasts_ns);
    json_write_member_u64(&rank->json, "correlation", correlation);
    kineto_end(rank);
    *time_ns += lasts_ns;
    return correlation;
}

/* "all-reduce": "ncclKernel_AllReduce", which every version of HTA takes for communication. */
static void kineto_kernel_name(const struct trace_node *node, char name[NODE_NAME])
{
    const char *word = node->type == TRACE_COLL ? report_node_word(node) : "send-recv";
    bool upper = true;
    size_t at = (size_t)snprintf(name, NODE_NAME, "ncclKernel_");
    for (; *word != '\0' && at + 1 < NODE_NAME; word++) {
        if (isalnum((unsigned char)*word)) {
            name[at++] = (char)(upper ? toupper((unsigned char)*word) : *word);
        }
        upper = !isalnum((unsigned char)*word);
    }
    name[at] = '\0';
}

/* With underscores, as PyTorch writes them. */
static void kineto_collective_name(const struct trace_node *node, char name[NODE_NAME])
{
    const char *word = node->type == TRACE_RECV ? "recv" : report_node_word(node);
    (void)snprintf(name, NODE_NAME, "%s", word);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '-' || *c == ' ' ? '_' : *c;
    }
}

/* Elements are bytes. What ranks of a gather put in and those of a scatter take out is a share that need not be whole,
 * so that the other side is told (docs/collectives.md). */
static void kineto_communication(struct kineto_rank *rank, const struct sim_interval *one,
                                 const struct trace_node *node)
{
    struct json_writer *json = &rank->json;
    const char *group = rank->graph->strings + node->group;
    char name[NODE_NAME];
    kineto_collective_name(node, name);
    json_write_member_string(json, "Collective name", name);
    if (strcmp(name, "gather") != 0) {
        json_write_member_u64(json, "In msg nelems", node->comm_bytes);
    }
    if (strcmp(name, "scatter") != 0) {
        json_write_member_u64(json, "Out msg nelems", node->comm_bytes);
    }
    json_write_member_string(json, "dtype", "Byte");
    if (node->type == TRACE_SEND) {
        json_write_member_i64(json, "Src Rank", rank->rank);
        json_write_member_i64(json, "Dst Rank", node->comm_dst);
    } else if (node->type == TRACE_RECV) {
        json_write_member_i64(json, "Src Rank", node->comm_src);
        json_write_member_i64(json, "Dst Rank", rank->rank);
    } else {
        json_write_member_string(json, "Process Group Name", group[0] != '\0' ? group : "0");
        json_write_member_u64(json, "Group size", report_group_size(rank->result, rank->graph, one->node));
    }
}

static void kineto_device_event(struct kineto_rank *rank, uint32_t place, uint64_t correlation)
{
    const struct sim_interval *one = kineto_interval(rank, place);
    const struct trace_node *node = kineto_node(rank, place);
    uint32_t stream = rank->stream[place - rank->from];
    bool copies = node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE;
    struct report_slice slice;
    char kernel[NODE_NAME];
    report_slice_of(rank->result, one, stream, &slice);
    kineto_kernel_name(node, kernel);
    kineto_begin(rank, copies ? "gpu_memcpy" : "kernel",
                 copies                     ? node->type == TRACE_MEM_LOAD ? "Memcpy HtoD" : "Memcpy DtoH"
                 : node->type >= TRACE_SEND ? kernel
                                            : slice.name,
                 true, stream, one->start_ns, one->end_ns - one->start_ns);
    json_write_member_u64(&rank->json, "device", 0);
    json_write_member_u64(&rank->json, "stream", stream);
    json_write_member_u64(&rank->json, "correlation", correlation);
    json_write_member_string(&rank->json, "node", slice.name);
    if (copies) {
        json_write_member_u64(&rank->json, "bytes", node->tensor_bytes);
    } else if (node->type >= TRACE_SEND) {
        kineto_communication(rank, one, node);
    }
    kineto_end(rank);
}

/* ---- who is launched by whom, and waits for whom ---- */

/* The parent at `index` where it ran on another stream of the device; REPORT_NO_WAIT: not. */
static int64_t kineto_other_stream(const struct kineto_rank *rank, uint32_t place, uint32_t index)
{
    uint32_t node = kineto_interval(rank, place)->node;
    uint32_t parent = 0;
    bool found = number_map_get(&rank->at, rank->graph->parents[rank->graph->parent_start[node] + index], &parent);
    bool other = found && rank->stream[parent - rank->from] != rank->stream[place - rank->from] &&
                 !kineto_node(rank, parent)->is_cpu_op;
    return other ? (int64_t)parent : REPORT_NO_WAIT;
}

static uint32_t kineto_parents(const struct kineto_rank *rank, uint32_t place)
{
    bool edges = rank->result->simai == NULL && rank->graph->parents != NULL;
    return edges ? rank->graph->parent_written[kineto_interval(rank, place)->node] : 0;
}

/* Marks what streams wait for: an event is recorded behind it. */
static void kineto_mark_records(struct kineto_rank *rank)
{
    for (uint32_t i = 0; i < rank->device_count; i++) {
        for (uint32_t k = 0; k < kineto_parents(rank, rank->device[i]); k++) {
            int64_t parent = kineto_other_stream(rank, rank->device[i], k);
            if (parent != REPORT_NO_WAIT) {
                rank->record[parent - rank->from] = UINT64_MAX;
            }
        }
    }
}

static void kineto_stream_wait(struct kineto_rank *rank, uint32_t place, uint32_t parent, uint32_t thread,
                               uint64_t *time_ns)
{
    uint32_t stream = rank->stream[place - rank->from];
    uint64_t correlation = kineto_call(rank, "cudaStreamWaitEvent", thread, time_ns, 1);
    kineto_begin(rank, "cuda_sync", "Stream Wait Event", true, stream, kineto_interval(rank, place)->start_ns, 0);
    json_write_member_u64(&rank->json, "device", 0);
    json_write_member_u64(&rank->json, "stream", stream);
    json_write_member_u64(&rank->json, "correlation", correlation);
    json_write_member_u64(&rank->json, "wait_on_stream", rank->stream[parent - rank->from]);
    json_write_member_u64(&rank->json, "wait_on_cuda_event_record_corr_id", rank->record[parent - rank->from]);
    json_write_member_u64(&rank->json, "wait_on_cuda_event_id", rank->record[parent - rank->from]);
    kineto_end(rank);
}

/* How many calls a kernel takes: waits for other streams, the launch, an event behind it. */
static uint32_t kineto_calls(const struct kineto_rank *rank, uint32_t place)
{
    uint32_t calls = rank->record[place - rank->from] != 0 ? 2 : 1;
    for (uint32_t k = 0; k < kineto_parents(rank, place); k++) {
        calls += kineto_other_stream(rank, place, k) != REPORT_NO_WAIT ? 1 : 0;
    }
    return calls;
}

/* Of the kernels from `index` on those that one operator launches: its calls end where it ends, if it lasts long
 * enough. */
static void kineto_launcher(struct kineto_rank *rank, uint32_t index)
{
    int64_t op = rank->events->waits.launch[rank->device[index]];
    uint64_t calls = 0;
    if (op == REPORT_NO_WAIT) {
        return;
    }
    for (uint32_t i = index; i < rank->device_count; i++) {
        int64_t other = rank->events->waits.launch[rank->device[i]];
        if (other != REPORT_NO_WAIT && other != op) {
            break;
        }
        calls += kineto_calls(rank, rank->device[i]);
    }
    const struct sim_interval *host = kineto_interval(rank, (uint32_t)op);
    uint64_t late = host->end_ns - host->start_ns > calls ? host->end_ns - calls : host->start_ns;
    rank->launcher = rank->events->waits.thread[op];
    rank->launched_ns = late > rank->launched_ns ? late : rank->launched_ns;
}

static void kineto_launch(struct kineto_rank *rank, uint32_t place)
{
    const struct trace_node *node = kineto_node(rank, place);
    uint64_t start_ns = kineto_interval(rank, place)->start_ns;
    uint64_t *time_ns = &rank->launched_ns;
    *time_ns = *time_ns > start_ns ? start_ns : *time_ns; /* never behind the kernel */
    for (uint32_t k = 0; k < kineto_parents(rank, place); k++) {
        int64_t parent = kineto_other_stream(rank, place, k);
        if (parent != REPORT_NO_WAIT && rank->record[parent - rank->from] != UINT64_MAX) {
            kineto_stream_wait(rank, place, (uint32_t)parent, rank->launcher, time_ns);
        }
    }
    bool copies = node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE;
    kineto_device_event(rank, place,
                        kineto_call(rank, copies ? "cudaMemcpyAsync" : "cudaLaunchKernel", rank->launcher, time_ns, 1));
    if (rank->record[place - rank->from] == UINT64_MAX) {
        rank->record[place - rank->from] = kineto_call(rank, "cudaEventRecord", rank->launcher, time_ns, 1);
    }
}

/* ---- the host ---- */

static void kineto_host(struct kineto_rank *rank)
{
    const struct report_waits *waits = &rank->events->waits;
    for (uint32_t place = rank->from; place < rank->to; place++) {
        const struct sim_interval *one = kineto_interval(rank, place);
        if (!kineto_node(rank, place)->is_cpu_op) {
            continue;
        }
        int64_t cause = waits->own[place];
        bool first = place == rank->from || waits->thread[place - 1] != waits->thread[place];
        uint64_t free_ns = first ? 0 : kineto_interval(rank, place - 1)->end_ns;
        if (cause != REPORT_NO_WAIT && !kineto_node(rank, (uint32_t)cause)->is_cpu_op && free_ns < one->start_ns) {
            (void)kineto_call(rank, "cudaDeviceSynchronize", waits->thread[place], &free_ns, one->start_ns - free_ns);
        }
        struct report_slice slice;
        report_slice_of(rank->result, one, waits->thread[place], &slice);
        kineto_begin(rank, "cpu_op", slice.name, false, waits->thread[place], one->start_ns,
                     one->end_ns - one->start_ns);
        json_write_member_u64(&rank->json, "External id", place - rank->from + UINT64_C(1));
        kineto_end(rank);
    }
}

/* One step from the beginning to the rank's end, the last of which the host waits for the device. */
static void kineto_step(struct kineto_rank *rank)
{
    uint64_t end_ns = sim_result_rank(rank->result, rank->rank)->last_end_ns,
             wait_ns = rank->has_host ? 0 : rank->launched_ns;
    for (uint32_t place = rank->from; place < rank->to; place++) {
        const struct sim_interval *one = kineto_interval(rank, place);
        bool is_main = rank->events->waits.thread[place] == rank->main_thread && rank->has_host;
        end_ns = one->end_ns > end_ns ? one->end_ns : end_ns;
        wait_ns = is_main && one->end_ns > wait_ns ? one->end_ns : wait_ns;
    }
    if (wait_ns < end_ns) {
        (void)kineto_call(rank, "cudaDeviceSynchronize", rank->main_thread, &wait_ns, end_ns - wait_ns);
    }
    kineto_begin(rank, "user_annotation", "ProfilerStep#0", false, rank->main_thread, 0,
                 end_ns > wait_ns ? end_ns : wait_ns);
    kineto_end(rank);
}

/* ---- a file ---- */

static int kineto_by_start(const void *a, const void *b, void *context)
{
    const struct kineto_rank *rank = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct sim_interval *one = kineto_interval(rank, x), *other = kineto_interval(rank, y);
    if (one->start_ns != other->start_ns) {
        return one->start_ns < other->start_ns ? -1 : 1;
    }
    return one < other ? -1 : one > other; /* kept in the order of their ends */
}

/* A stream does one thing after the other, and a receive, which keeps nobody from going on, has one of its own. Streams
 * beyond the threads are numbered from `next` on. False where memory is refused. */
static bool kineto_spread(struct kineto_rank *rank, struct arena *arena, uint32_t next)
{
    struct kineto_stream {
        uint32_t thread, stream;
        bool receives;
        uint64_t free_ns;
    } *list = arena_alloc(arena, ((size_t)rank->to - rank->from + 1) * sizeof *list);
    uint32_t count = 0, first = 0;
    for (uint32_t place = rank->from; place < rank->to && list != NULL; place++) {
        const struct sim_interval *one = kineto_interval(rank, place);
        uint32_t thread = rank->events->waits.thread[place];
        bool receives = kineto_node(rank, place)->type == TRACE_RECV, fresh = true;
        first = count > first && list[first].thread != thread ? count : first;
        uint32_t at = first;
        for (; at < count && (list[at].receives != receives || list[at].free_ns > one->start_ns); at++) {
            fresh = fresh && list[at].receives;
        }
        if (at == count) {
            list[count++] = (struct kineto_stream){
                .thread = thread, .receives = receives, .stream = fresh && !receives ? thread : next++};
        }
        list[at].free_ns = one->end_ns;
        rank->stream[place - rank->from] = list[at].stream;
    }
    return list != NULL;
}

static enum orr_status kineto_order(struct kineto_rank *rank, struct arena *arena, struct orr_error *err)
{
    uint32_t count = rank->to - rank->from, threads = 1;
    for (uint32_t place = rank->from; place < rank->to; place++) {
        uint32_t thread = rank->events->waits.thread[place];
        bool host = kineto_node(rank, place)->is_cpu_op;
        rank->main_thread = host && !rank->has_host ? thread : rank->main_thread;
        rank->has_host = rank->has_host || host;
        threads = thread >= threads ? thread + 1 : threads;
    }
    rank->device = arena_zalloc(arena, ((size_t)count + 1) * sizeof *rank->device);
    rank->record = arena_zalloc(arena, ((size_t)count + 1) * sizeof *rank->record);
    rank->launcher = rank->main_thread = rank->has_host ? rank->main_thread : threads;
    rank->stream = arena_zalloc(arena, ((size_t)count + 1) * sizeof *rank->stream);
    bool room =
        rank->device != NULL && rank->record != NULL && rank->stream != NULL && kineto_spread(rank, arena, threads + 1);
    for (uint32_t place = rank->from; place < rank->to && room; place++) {
        room = number_map_put(&rank->at, kineto_interval(rank, place)->node, place);
        if (!kineto_node(rank, place)->is_cpu_op) {
            rank->device[rank->device_count++] = place;
        }
    }
    if (!room) {
        return mem_error(arena->mem, "the files of ranks", err);
    }
    qsort_r(rank->device, rank->device_count, sizeof *rank->device, kineto_by_start, rank);
    return ORR_OK;
}

static void kineto_groups(struct kineto_rank *rank)
{
    const struct sim_config *config = rank->result->config;
    struct json_writer *json = &rank->json;
    json_write_member_array(json, "pg_config", true);
    for (uint32_t i = 0; i <= config->group_count; i++) {
        const struct sim_group *group = i == 0 ? NULL : &config->groups[i - 1];
        char name[16];
        (void)snprintf(name, sizeof name, "%d", group == NULL ? 0 : group->id);
        json_write_object(json, true);
        json_write_member_string(json, "pg_name", name);
        json_write_member_string(json, "pg_desc", group == NULL ? "default_pg" : "undefined");
        json_write_member_string(json, "backend_config", "cuda:nccl");
        json_write_member_array(json, "ranks", true);
        for (uint32_t k = 0; k < (group == NULL ? rank->result->rank_count : group->count); k++) {
            json_write_u64(json, group == NULL ? k : group->ranks[k]);
        }
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void kineto_document(struct kineto_rank *rank)
{
    struct json_writer *json = &rank->json;
    json_write_object(json, false);
    json_write_member_u64(json, "schemaVersion", 1);
    json_write_member_array(json, "deviceProperties", true);
    json_write_object(json, true);
    json_write_member_u64(json, "id", 0);
    json_write_member_string(json, "name", "simulated by orrery");
    json_write_object_end(json);
    json_write_array_end(json);
    json_write_member_object(json, "distributedInfo", true);
    json_write_member_string(json, "backend", "nccl");
    json_write_member_u64(json, "rank", rank->rank);
    json_write_member_u64(json, "world_size", rank->result->rank_count);
    kineto_groups(rank);
    json_write_object_end(json);
    json_write_member_string(json, "displayTimeUnit", "ms");
    json_write_member_u64(json, "baseTimeNanoseconds", 0);
    json_write_member_array(json, "traceEvents", false);
    kineto_mark_records(rank);
    kineto_host(rank);
    for (uint32_t i = 0; i < rank->device_count; i++) {
        bool begins =
            i == 0 || rank->events->waits.launch[rank->device[i]] != rank->events->waits.launch[rank->device[i - 1]];
        if (begins) {
            kineto_launcher(rank, i);
        }
        kineto_launch(rank, rank->device[i]);
    }
    kineto_step(rank);
    json_write_array_end(json);
    json_write_object_end(json);
}

static enum orr_status kineto_file(const struct sim_result *result, const struct report_events *events, uint32_t number,
                                   uint32_t *place, struct io_outfile *file, struct orr_error *err)
{
    struct mem *mem = result->config->traces->mem;
    struct kineto_rank rank = {.result = result,
                               .events = events,
                               .rank = number,
                               .graph = result->config->traces->ranks[number].graph,
                               .from = *place,
                               .to = *place,
                               .next_correlation = 1};
    while (rank.to < events->waits.count && result->intervals[events->waits.order[rank.to]].rank == number) {
        rank.to++;
    }
    *place = rank.to;
    struct arena arena;
    arena_init(&arena, mem);
    number_map_init(&rank.at, mem);
    enum orr_status status = kineto_order(&rank, &arena, err);
    if (status == ORR_OK) {
        json_write_begin(&rank.json, io_outfile_stream(file));
        kineto_document(&rank);
        json_write_end(&rank.json);
        status = io_outfile_finish(file, err);
    }
    number_map_free(&rank.at);
    arena_free(&arena);
    return status;
}

static enum orr_status kineto_files(const struct sim_result *result, const struct report_events *events,
                                    const char *folder, struct io_outfile **files, struct orr_error *err)
{
    uint32_t place = 0;
    enum orr_status status = ORR_OK;
    for (uint32_t rank = 0; rank < result->rank_count && status == ORR_OK; rank++) {
        char *path = NULL;
        if (asprintf(&path, "%s/rank_%u.json.gz", folder, rank) < 0) {
            return error_set(err, ORR_ENOMEM, "out of memory for the name of a file");
        }
        status = io_outfile_open(path, IO_OUTFILE_GZIP, &files[rank], err);
        free(path);
        status = status == ORR_OK ? kineto_file(result, events, rank, &place, files[rank], err) : status;
    }
    return status;
}

enum orr_status report_kineto_write(const struct sim_result *result, const char *folder, struct orr_error *err)
{
    struct report_events events;
    enum orr_status status = report_events_make(result, &events, err);
    if (status != ORR_OK) {
        return status;
    }
    struct mem *mem = result->config->traces->mem;
    size_t bytes = result->rank_count * sizeof(struct io_outfile *);
    struct io_outfile **files = mem_zalloc(mem, bytes);
    status = files == NULL ? mem_error(mem, "the files of ranks", err) : io_make_folder(folder, err);
    status = status == ORR_OK ? kineto_files(result, &events, folder, files, err) : status;
    for (uint32_t rank = 0; files != NULL && rank < result->rank_count; rank++) {
        status = io_outfile_end(files[rank], status, err);
    }
    mem_free(mem, files, bytes);
    report_events_free(&events);
    return status;
}
