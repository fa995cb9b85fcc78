/* SPDX-License-Identifier: Apache-2.0 */
/* Time is counted in nanoseconds, one clock a thread and a stream; an op is written when it ends, as the observer does,
 * so that children precede their parents in the host trace. Ids of both traces come from one counter: rf_id is what
 * ties them together. */
#include "tests/convert/make_recording.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAIN_THREAD, BACKWARD_THREAD, THREADS };
enum { COMPUTE_STREAM = 7, COMM_STREAM = 20, STREAMS = 32 };
enum { DEEPEST = 8, FIRST_US = 1000000 };

/* What a communication says of itself, whoever is asked. */
struct made_comm {
    const char *word;       /* "Collective name" */
    const char *op;         /* c10d:: */
    const char *annotation; /* nccl: */
    const char *kernel;     /* NVIDIA's */
    char split[64];
    uint64_t in, out; /* elements */
    uint32_t group;   /* 0 = all, 1 = the pair of neighbours */
    int64_t member;   /* root, peer or own place, as record_param_comms has it */
    int64_t src, dst; /* global; -1 = none */
};

struct made_op {
    char name[96];
    uint64_t id, parent, rf_id, start;
    uint64_t tensor_in, tensor_out; /* elements; 0 = none */
    const struct made_comm *comm;   /* only of record_param_comms */
    const char *text;               /* the values of its inputs as JSON: one text; else NULL */
    bool is_annotation;
};

struct maker {
    const struct make_recording *options;
    struct made_recording *made;
    FILE *host, *device;
    struct made_op ops[THREADS][DEEPEST];
    uint32_t depth[THREADS];
    uint64_t clock[THREADS], stream_free[STREAMS];
    uint64_t next_id, next_rf, next_correlation, launches;
    bool host_has_one, device_has_one;
};

static void put(FILE *stream, bool *has_one, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* One element of an array. */
static void put(FILE *stream, bool *has_one, const char *fmt, ...)
{
    va_list arguments;
    (void)fputs(*has_one ? ",\n" : "\n", stream);
    *has_one = true;
    va_start(arguments, fmt);
    (void)vfprintf(stream, fmt, arguments);
    va_end(arguments);
}

#define US     "%" PRIu64 ".%03u"
#define NS(ns) (ns) / 1000, (unsigned)((ns) % 1000)

/* ---- groups ---- */

static uint32_t pair_of(const struct maker *maker)
{
    return maker->options->rank / 2;
}

static const char *group_name(const struct maker *maker, uint32_t group, char name[16])
{
    if (group == 0) {
        return "0";
    }
    (void)snprintf(name, 16, maker->options->group_names ? "tp_%" PRIu32 : "%" PRIu32,
                   pair_of(maker) + (maker->options->group_names ? 0 : 1));
    return name;
}

static uint32_t group_size(const struct maker *maker, uint32_t group)
{
    return group == 0 ? maker->options->ranks : 2;
}

static uint32_t group_first(const struct maker *maker, uint32_t group)
{
    return group == 0 ? 0 : pair_of(maker) * 2;
}

static void put_ranks(const struct maker *maker, uint32_t group, FILE *stream)
{
    for (uint32_t i = 0; i < group_size(maker, group); i++) {
        (void)fprintf(stream, "%s%" PRIu32, i == 0 ? "[" : ", ", group_first(maker, group) + i);
    }
    (void)fputc(']', stream);
}

/* ---- ops ---- */

static void put_comm_args(const struct maker *maker, const struct made_comm *comm)
{
    char name[16];
    FILE *stream = maker->device;
    (void)fprintf(stream,
                  ", \"Collective name\": \"%s\", \"In msg nelems\": %" PRIu64 ", \"Out msg nelems\": %" PRIu64
                  ", \"Group size\": %" PRIu32 ", \"dtype\": \"Float\", \"In split size\": \"%s\", \"Out split size\": "
                  "\"[]\", \"Process Group Name\": \"%s\", \"Process Group Description\": \"%s\", \"Process Group "
                  "Ranks\": \"",
                  comm->word, comm->in, comm->out, group_size(maker, comm->group), comm->split,
                  group_name(maker, comm->group, name), comm->group == 0 ? "default_pg" : "tp");
    put_ranks(maker, comm->group, stream);
    (void)fputs("\"", stream);
    if (comm->src >= 0) {
        (void)fprintf(stream, ", \"Src Rank\": %" PRId64, comm->src);
    }
    if (comm->dst >= 0) {
        (void)fprintf(stream, ", \"Dst Rank\": %" PRId64, comm->dst);
    }
}

static void begin(struct maker *maker, uint32_t thread, const char *name, bool is_annotation)
{
    struct made_op *op = &maker->ops[thread][maker->depth[thread]++];
    *op = (struct made_op){.id = maker->next_id++,
                           .parent = maker->depth[thread] == 1 ? 2 + thread : op[-1].id,
                           .rf_id = maker->next_rf++,
                           .start = maker->clock[thread],
                           .is_annotation = is_annotation};
    (void)snprintf(op->name, sizeof op->name, "%s", name);
    maker->clock[thread] += 1500;
}

static void put_tensors(const struct maker *maker, const char *key, uint64_t elements, FILE *stream)
{
    const char *strides = maker->options->without_attrs ? "" : ", \"strides\": []";
    if (elements == 0) {
        (void)fprintf(stream, ", \"%s\": {\"values\": [], \"shapes\": [], \"types\": []%s}", key, strides);
        return;
    }
    (void)fprintf(stream,
                  ", \"%s\": {\"values\": [[[5, 6, 0, %" PRIu64 ", 4, \"cuda:0\"]]], \"shapes\": [[[%" PRIu64
                  "]]], \"types\": [\"GenericList[Tensor(float)]\"]%s}",
                  key, elements, elements, strides);
}

/* record_param_comms(tensors, sequence, group, rank, word, …): spec chakra §4. */
static void put_comm_inputs(const struct maker *maker, const struct made_comm *comm, FILE *stream)
{
    char name[16];
    bool old = maker->options->without_attrs;
    (void)fprintf(stream,
                  ", \"inputs\": {\"values\": [[[5, 6, 0, %" PRIu64 ", 4, \"cuda:0\"]], 64, %s%s%s, %" PRId64
                  ", \"%s\", [], []], \"shapes\": [[[%" PRIu64 "]], [], [], [], [], [], []], \"types\": "
                  "[\"GenericList[Tensor(float)]\", \"Int\", \"%s\", \"Int\", \"String\", \"GenericList[]\", "
                  "\"GenericList[]\"]%s}",
                  comm->in, old ? "9" : "[\"", old ? "" : group_name(maker, comm->group, name),
                  old ? "" : "\", \"desc\"]", comm->member, comm->word, comm->in, old ? "Int" : "Tuple[String,String]",
                  old ? "" : ", \"strides\": []");
}

static void put_comm_attrs(const struct maker *maker, const struct made_comm *comm, FILE *stream)
{
    char name[16];
    (void)fprintf(stream,
                  ", {\"name\": \"collective_name\", \"type\": \"string\", \"value\": \"%s\"}, {\"name\": \"dtype\", "
                  "\"type\": \"string\", \"value\": \"Float\"}, {\"name\": \"in_msg_nelems\", \"type\": \"uint64\", "
                  "\"value\": %" PRIu64 "}, {\"name\": \"out_msg_nelems\", \"type\": \"uint64\", \"value\": %" PRIu64
                  "}, {\"name\": \"in_split_size\", \"type\": \"string\", \"value\": \"%s\"}, {\"name\": \"pg_name\", "
                  "\"type\": \"string\", \"value\": \"%s\"}, {\"name\": \"pg_size\", \"type\": \"uint64\", \"value\": "
                  "%" PRIu32 "}",
                  comm->word, comm->in, comm->out, comm->split, group_name(maker, comm->group, name),
                  group_size(maker, comm->group));
}

static void put_host_node(struct maker *maker, uint32_t thread, const struct made_op *op)
{
    FILE *stream = maker->host;
    put(stream, &maker->host_has_one, "{\"id\": %" PRIu64 ", \"name\": \"%s\", \"ctrl_deps\": %" PRIu64, op->id,
        op->name, op->parent);
    if (op->comm != NULL) {
        put_comm_inputs(maker, op->comm, stream);
    } else if (op->text != NULL) {
        (void)fprintf(stream,
                      ", \"inputs\": {\"values\": %s, \"shapes\": [[]], \"types\": [\"String\"], \"strides\": [[]]}",
                      op->text);
    } else {
        put_tensors(maker, "inputs", op->tensor_in, stream);
    }
    put_tensors(maker, "outputs", op->tensor_out, stream);
    (void)fprintf(stream,
                  ", \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": %" PRIu64
                  "}, {\"name\": \"fw_parent\", \"type\": \"uint64\", \"value\": 0}, {\"name\": \"seq_id\", \"type\": "
                  "\"int64\", \"value\": -1}, {\"name\": \"scope\", \"type\": \"uint64\", \"value\": %d}, {\"name\": "
                  "\"tid\", \"type\": \"uint64\", \"value\": %" PRIu32
                  "}, {\"name\": \"fw_tid\", \"type\": \"uint64\", "
                  "\"value\": 0}, {\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"\"}",
                  op->rf_id, op->is_annotation ? 7 : 0, thread + 1);
    if (op->comm != NULL && !maker->options->without_attrs) {
        put_comm_attrs(maker, op->comm, stream);
    }
    (void)fputs("]}", stream);
}

/* ProfilerStep has no node in a host trace of ours to match: it is the profiler's own. */
static void end(struct maker *maker, uint32_t thread)
{
    struct made_op *op = &maker->ops[thread][--maker->depth[thread]];
    maker->clock[thread] += 1000;
    put(maker->device, &maker->device_has_one,
        "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"ts\": " US
        ", \"dur\": " US ", \"args\": {\"External id\": %" PRIu64 ", \"Record function id\": %" PRIu64,
        op->is_annotation ? "user_annotation" : "cpu_op", op->name, 4000 + maker->options->rank,
        4000 + maker->options->rank + thread, NS(op->start), NS(maker->clock[thread] - op->start), op->rf_id,
        op->rf_id);
    if (op->comm != NULL && !maker->options->without_args) {
        put_comm_args(maker, op->comm);
    }
    (void)fputs("}}", maker->device);
    put_host_node(maker, thread, op);
    maker->clock[thread] += 500;
}

/* ---- work on the device ---- */

static uint64_t current_op(const struct maker *maker, uint32_t thread)
{
    return maker->depth[thread] == 0 ? 0 : maker->ops[thread][maker->depth[thread] - 1].rf_id;
}

static uint64_t call(struct maker *maker, uint32_t thread, const char *name, uint64_t duration)
{
    uint64_t correlation = maker->next_correlation++;
    put(maker->device, &maker->device_has_one,
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32
        ", \"ts\": " US ", \"dur\": " US ", \"args\": {\"External id\": %" PRIu64 ", %s\"correlation\": %" PRIu64 "}}",
        name, 4000 + maker->options->rank, 4000 + maker->options->rank + thread, NS(maker->clock[thread]), NS(duration),
        current_op(maker, thread), maker->options->hip ? "\"cid\": 1, \"stream\": \"0x0\", " : "\"cbid\": 1, ",
        correlation);
    maker->clock[thread] += duration;
    return correlation;
}

struct work {
    const char *call, *category, *name;
    uint32_t stream;
    uint64_t duration;
    const struct made_comm *comm;
};

static void launch(struct maker *maker, uint32_t thread, const struct work *work)
{
    uint64_t external = current_op(maker, thread);
    uint64_t correlation = call(maker, thread, work->call, 2000);
    uint64_t *ready = &maker->stream_free[work->stream];
    uint64_t start = *ready > maker->clock[thread] ? *ready : maker->clock[thread] + 800;
    put(maker->device, &maker->device_has_one,
        "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 0, \"tid\": %" PRIu32 ", \"ts\": " US
        ", \"dur\": " US ", \"args\": {\"External id\": %" PRIu64 ", \"device\": 0, \"stream\": %" PRIu32
        ", \"correlation\": %" PRIu64,
        work->category, work->name, work->stream, NS(start), NS(work->duration), external, work->stream, correlation);
    if (work->comm != NULL && !maker->options->without_args) {
        put_comm_args(maker, work->comm);
    }
    (void)fputs("}}", maker->device);
    *ready = start + work->duration + 100;
    maker->made->device_work++;
}

/* `waiting` does not go on before what `stream` has to do now. */
static void wait_stream(struct maker *maker, uint32_t thread, uint32_t waiting, uint32_t stream)
{
    bool hip = maker->options->hip;
    uint64_t record = call(maker, thread, hip ? "hipEventRecord" : "cudaEventRecord", 700);
    uint64_t start = maker->clock[thread];
    uint64_t wait = call(maker, thread, hip ? "hipStreamWaitEvent" : "cudaStreamWaitEvent", 600);
    if (!hip) {
        put(maker->device, &maker->device_has_one,
            "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"pid\": 0, \"tid\": %" PRIu32
            ", \"ts\": " US ", \"dur\": 0.5, \"args\": {\"cuda_sync_kind\": \"Stream Wait Event\", \"wait_on_stream\": "
            "%" PRIu32 ", \"wait_on_cuda_event_record_corr_id\": %" PRIu64 ", \"wait_on_cuda_event_id\": 1, "
            "\"stream\": %" PRIu32 ", \"correlation\": %" PRIu64 ", \"device\": 0, \"context\": 1}}",
            waiting, NS(start), stream, record, waiting, wait);
    }
    if (maker->stream_free[waiting] < maker->stream_free[stream]) {
        maker->stream_free[waiting] = maker->stream_free[stream];
    }
}

static void synchronize(struct maker *maker, uint32_t thread)
{
    uint64_t latest = maker->clock[thread] + 1000;
    for (uint32_t i = 0; i < STREAMS; i++) {
        latest = maker->stream_free[i] > latest ? maker->stream_free[i] : latest;
    }
    (void)call(maker, thread, maker->options->hip ? "hipDeviceSynchronize" : "cudaDeviceSynchronize",
               latest - maker->clock[thread]);
}

static void compute(struct maker *maker, uint32_t thread, const char *op, uint64_t duration)
{
    static const struct work cuda[] = {
        {"cudaLaunchKernel", "kernel", "void at::native::vectorized_elementwise_kernel<4>(int)", COMPUTE_STREAM, 0,
         NULL},
        {"cuLaunchKernel", "kernel", "sm90_xmma_gemm_f32f32_tn_n", COMPUTE_STREAM, 0, NULL},
        {"cudaLaunchKernelExC", "kernel", "void cutlass::device_kernel<int>(int)", COMPUTE_STREAM, 0, NULL},
        {"cudaMemsetAsync", "gpu_memset", "Memset (Device)", COMPUTE_STREAM, 0, NULL},
    };
    static const struct work hip[] = {
        {"hipLaunchKernel", "kernel", "void at::native::vectorized_elementwise_kernel<4>(int)", COMPUTE_STREAM, 0,
         NULL},
        {"hipExtModuleLaunchKernel", "kernel", "Cijk_Alik_Bljk_SB_Bias_AS_SAV", COMPUTE_STREAM, 0, NULL},
        {"hipModuleLaunchKernel", "kernel", "miopenSp3AsmConv_v30_3_1", COMPUTE_STREAM, 0, NULL},
        {"hipMemcpyAsync", "gpu_memcpy", "Memcpy DtoD (Device -> Device)", COMPUTE_STREAM, 0, NULL},
    };
    struct work work = (maker->options->hip ? hip : cuda)[maker->launches++ % 4];
    work.duration = duration;
    begin(maker, thread, op, false);
    launch(maker, thread, &work);
    end(maker, thread);
}

/* The op, record_param_comms in it, the library's annotation in that, the launch in that; the annotation has a copy on
 * the device's side. */
static void communicate(struct maker *maker, uint32_t thread, const struct made_comm *comm, uint64_t duration)
{
    bool mute = maker->options->without_clues;
    struct work work = {maker->options->hip ? "hipExtLaunchKernel" : "cudaLaunchKernelExC",
                        "kernel",
                        comm->kernel,
                        COMM_STREAM,
                        duration,
                        comm};
    if (maker->options->hip) {
        work.name = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)";
    }
    wait_stream(maker, thread, COMM_STREAM, COMPUTE_STREAM);
    begin(maker, thread, mute ? "aten::detach" : comm->op, false);
    if (!mute) {
        struct made_op *op = &maker->ops[thread][maker->depth[thread] - 1];
        bool in_place = comm->in == comm->out;
        op->tensor_in = in_place ? comm->in : comm->in + comm->out;
        op->tensor_out = comm->out;
        begin(maker, thread, "record_param_comms", false);
        maker->ops[thread][maker->depth[thread] - 1].comm = comm;
        maker->ops[thread][maker->depth[thread] - 1].tensor_out = comm->out;
        begin(maker, thread, comm->annotation, true);
        maker->ops[thread][maker->depth[thread] - 1].tensor_in = comm->in;
    }
    launch(maker, thread, &work);
    for (uint32_t i = mute ? 1 : 3; i > 0; i--) {
        end(maker, thread);
    }
    bool is_send = strcmp(comm->word, "send") == 0;
    bool is_recv = strcmp(comm->word, "recv") == 0;
    *(is_send ? &maker->made->sends : is_recv ? &maker->made->recvs : &maker->made->collectives) += 1;
}

/* ---- the job ---- */

#define KERNEL(name) "ncclDevKernel_" name "(ncclDevKernelArgsStorage<4096ul>)"

static uint64_t rows_to(uint32_t rank, uint32_t peer)
{
    return MADE_ROWS * (1 + (uint64_t)(rank + peer) % 3);
}

static struct made_comm exchange(const struct maker *maker)
{
    struct made_comm comm = {.word = "all_to_allv",
                             .op = "c10d::alltoall_base_",
                             .annotation = "nccl:all_to_all",
                             .kernel = KERNEL("SendRecv"),
                             .split = "[",
                             .member = maker->options->rank,
                             .src = -1,
                             .dst = -1};
    for (uint32_t peer = 0; peer < maker->options->ranks; peer++) {
        size_t used = strlen(comm.split);
        (void)snprintf(comm.split + used, sizeof comm.split - used, "%s%" PRIu64, peer == 0 ? "" : ", ",
                       rows_to(maker->options->rank, peer));
        comm.in += rows_to(maker->options->rank, peer) * MADE_ROW;
        comm.out += rows_to(peer, maker->options->rank) * MADE_ROW;
    }
    (void)snprintf(comm.split + strlen(comm.split), sizeof comm.split - strlen(comm.split), "]");
    return comm;
}

static void pass_on(struct maker *maker)
{
    uint32_t half = maker->options->ranks / 2;
    uint32_t rank = maker->options->rank;
    bool sends = rank < half;
    uint32_t peer = sends ? rank + half : rank - half;
    char annotation[48];
    (void)snprintf(annotation, sizeof annotation,
                   sends ? "nccl:send %" PRIu32 "->%" PRIu32 : "nccl:recv %" PRIu32 "<-%" PRIu32, rank, peer);
    struct made_comm comm = {.word = sends ? "send" : "recv",
                             .op = sends ? "c10d::send" : "c10d::recv_",
                             .annotation = annotation,
                             .kernel = KERNEL("SendRecv"),
                             .split = "[]",
                             .in = MADE_MESSAGE,
                             .out = MADE_MESSAGE,
                             .member = peer,
                             .src = sends ? -1 : (int64_t)peer,
                             .dst = sends ? (int64_t)peer : -1};
    communicate(maker, MAIN_THREAD, &comm, 9000);
}

static void forward(struct maker *maker)
{
    int64_t rank = maker->options->rank;
    struct made_comm buffers = {"broadcast",
                                "c10d::broadcast_",
                                "nccl:broadcast",
                                KERNEL("Broadcast_RING_LL"),
                                "[]",
                                MADE_BUFFERS,
                                MADE_BUFFERS,
                                0,
                                0,
                                -1,
                                -1};
    struct made_comm shards = {"_allgather_base",
                               "c10d::_allgather_base_",
                               "nccl:_all_gather_base",
                               KERNEL("AllGather_RING_LL"),
                               "[]",
                               MADE_SHARD,
                               2 * MADE_SHARD,
                               1,
                               rank % 2,
                               -1,
                               -1};
    struct made_comm tokens = exchange(maker);
    struct work copy = {maker->options->hip ? "hipMemcpyAsync" : "cudaMemcpyAsync",
                        "gpu_memcpy",
                        "Memcpy HtoD (Pinned -> Device)",
                        COMPUTE_STREAM,
                        12000,
                        NULL};
    begin(maker, MAIN_THREAD, "aten::to", false);
    launch(maker, MAIN_THREAD, &copy);
    end(maker, MAIN_THREAD);
    begin(maker, MAIN_THREAD, "DistributedDataParallel.forward", true);
    communicate(maker, MAIN_THREAD, &buffers, 8000);
    communicate(maker, MAIN_THREAD, &shards, 10000);
    wait_stream(maker, MAIN_THREAD, COMPUTE_STREAM, COMM_STREAM);
    for (uint32_t i = 0; i < maker->options->kernels; i++) {
        compute(maker, MAIN_THREAD, "aten::linear", 15000);
    }
    communicate(maker, MAIN_THREAD, &tokens, 20000);
    pass_on(maker);
    end(maker, MAIN_THREAD);
    maker->made->all_to_all_bytes = tokens.in * 4;
}

static void backward(struct maker *maker)
{
    int64_t rank = maker->options->rank;
    struct made_comm shards = {"_reduce_scatter_base",
                               "c10d::_reduce_scatter_base_",
                               "nccl:_reduce_scatter_base",
                               KERNEL("ReduceScatter_Sum_f32_RING_LL"),
                               "[]",
                               2 * MADE_SHARD,
                               MADE_SHARD,
                               1,
                               rank % 2,
                               -1,
                               -1};
    struct made_comm bucket = {"allreduce",
                               "c10d::allreduce_",
                               "nccl:all_reduce",
                               KERNEL("AllReduce_Sum_f32_RING_LL"),
                               "[]",
                               MADE_BUCKET_1,
                               MADE_BUCKET_1,
                               0,
                               rank,
                               -1,
                               -1};
    maker->clock[BACKWARD_THREAD] = maker->clock[MAIN_THREAD] + 3000;
    for (uint32_t i = 0; i < 2; i++) {
        begin(maker, BACKWARD_THREAD, "autograd::engine::evaluate_function: AddmmBackward0", false);
        compute(maker, BACKWARD_THREAD, "aten::mm", 30000);
        bucket.in = bucket.out = i == 0 ? MADE_BUCKET_1 : MADE_BUCKET_2;
        communicate(maker, BACKWARD_THREAD, &bucket, 25000);
        end(maker, BACKWARD_THREAD);
    }
    communicate(maker, BACKWARD_THREAD, &shards, 9000);
    maker->clock[MAIN_THREAD] = maker->clock[BACKWARD_THREAD] + 4000;
    maker->made->all_reduce_bytes = 4 * (MADE_BUCKET_1 + MADE_BUCKET_2);
}

static void step(struct maker *maker, uint32_t number)
{
    char name[32];
    (void)snprintf(name, sizeof name, "ProfilerStep#%" PRIu32, number);
    begin(maker, MAIN_THREAD, name, true);
    forward(maker);
    backward(maker);
    begin(maker, MAIN_THREAD, "Optimizer.step#SGD.step", true);
    wait_stream(maker, MAIN_THREAD, COMPUTE_STREAM, COMM_STREAM);
    compute(maker, MAIN_THREAD, "aten::_foreach_add_", 18000);
    end(maker, MAIN_THREAD);
    synchronize(maker, MAIN_THREAD);
    end(maker, MAIN_THREAD);
}

/* ---- files ---- */

static void put_device_front(const struct maker *maker)
{
    FILE *stream = maker->device;
    char name[16];
    (void)fprintf(stream, "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"%s\"}], ",
                  maker->options->hip ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3");
    if (!maker->options->without_groups) {
        (void)fprintf(stream,
                      "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRIu32 ", \"world_size\": %" PRIu32
                      ", \"pg_count\": 2, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
                      "\"backend_config\": \"cuda:nccl\", \"pg_size\": %" PRIu32 ", \"ranks\": ",
                      maker->options->rank, maker->options->ranks, maker->options->ranks);
        put_ranks(maker, 0, stream);
        (void)fprintf(stream,
                      "}, {\"pg_name\": \"%s\", \"pg_desc\": \"tp\", \"backend_config\": \"cuda:nccl\", \"pg_size\": "
                      "2, \"ranks\": ",
                      group_name(maker, 1, name));
        put_ranks(maker, 1, stream);
        (void)fputs("}]}, ", stream);
    }
    (void)fputs("\"traceEvents\": [", stream);
}

static void put_plain_node(struct maker *maker, uint64_t id, const char *name, uint64_t parent)
{
    struct made_op op = {.id = id, .parent = parent, .rf_id = 0, .is_annotation = true};
    (void)snprintf(op.name, sizeof op.name, "%s", name);
    put_host_node(maker, 0, &op);
}

/* The group of all has no list, as PyTorch writes it. */
static void put_groups_node(struct maker *maker)
{
    char name[16];
    char inputs[512];
    uint32_t first = group_first(maker, 1);
    (void)snprintf(inputs, sizeof inputs,
                   "[\"[{\\\"pg_name\\\": \\\"0\\\", \\\"pg_desc\\\": \\\"default_pg\\\", \\\"ranks\\\": [], "
                   "\\\"group_size\\\": %" PRIu32 "}, {\\\"pg_name\\\": \\\"%s\\\", \\\"pg_desc\\\": \\\"tp\\\", "
                   "\\\"ranks\\\": [%" PRIu32 ", %" PRIu32 "], \\\"group_size\\\": 2}]\"]",
                   maker->options->ranks, group_name(maker, 1, name), first, first + 1);
    struct made_op op = {
        .id = 4, .parent = 2, .rf_id = 1, .name = "## process_group:init ##", .text = inputs, .is_annotation = true};
    put_host_node(maker, 0, &op);
}

static void write_both(struct maker *maker)
{
    put_device_front(maker);
    (void)fprintf(maker->host,
                  "{\"schema\": \"%s\", \"pid\": %" PRIu32 ", \"time\": \"2025-01-01 00:00:00\", "
                  "\"start_ts\": 1000, \"nodes\": [",
                  maker->options->without_attrs ? "1.0.2-chakra.0.0.4" : "1.1.1-chakra.0.0.4",
                  4000 + maker->options->rank);
    if (!maker->options->without_attrs) {
        put_groups_node(maker);
    }
    for (uint32_t i = 1; i <= maker->options->steps; i++) {
        step(maker, i);
    }
    put_plain_node(maker, 2, "[pytorch|profiler|execution_trace|thread]", 1);
    put_plain_node(maker, 3, "[pytorch|profiler|execution_trace|thread]", 1);
    put_plain_node(maker, 1, "[pytorch|profiler|execution_trace|process]", 1);
    (void)fputs("\n], \"finish_ts\": 2000}\n", maker->host);
    (void)fputs("\n]}\n", maker->device);
}

static FILE *open_file(const struct make_recording *options, const char *kind)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s_%" PRIu32 ".json", options->folder, kind, options->rank);
    return fopen(path, "w");
}

bool make_recording(const struct make_recording *options, struct made_recording *made)
{
    *made = (struct made_recording){0};
    struct maker *maker = calloc(1, sizeof *maker);
    if (maker == NULL) {
        return false;
    }
    *maker = (struct maker){.options = options, .made = made, .next_id = 10, .next_rf = 2, .next_correlation = 1};
    maker->clock[MAIN_THREAD] = (FIRST_US + 7 * (uint64_t)options->rank) * 1000;
    maker->host = open_file(options, "host");
    maker->device = open_file(options, "device");
    bool ok = maker->host != NULL && maker->device != NULL;
    if (ok) {
        write_both(maker);
        ok = ferror(maker->host) == 0 && ferror(maker->device) == 0;
    }
    ok = (maker->host == NULL || fclose(maker->host) == 0) && ok;
    ok = (maker->device == NULL || fclose(maker->device) == 0) && ok;
    free(maker);
    return ok;
}
