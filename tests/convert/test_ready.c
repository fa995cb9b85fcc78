/* SPDX-License-Identifier: Apache-2.0 */
/* What a look at a recording promises: its counts are what the recording holds, what import would refuse is a fault,
 * and every fault names what to record again with. */
#include <stdlib.h>
#include <sys/stat.h>

#include "convert/pytorch/ready/ready.h"
#include "tests/check.h"
#include "tests/convert/make_recording.h"
#include "tests/folder.h"

enum { PATH_ROOM = 512, STEPS = 3 };

static struct orr_error err;

static void path_in(char path[PATH_ROOM], const char *name)
{
    (void)snprintf(path, PATH_ROOM, "%s/%s", folder, name);
    (void)mkdir(path, 0777);
}

static void make_in(const char *name, uint32_t ranks, struct make_recording options, struct made_recording *made)
{
    char path[PATH_ROOM];
    path_in(path, name);
    options.folder = path;
    options.ranks = ranks;
    options.steps = STEPS;
    options.kernels = 20;
    for (options.rank = 0; options.rank < ranks; options.rank++) {
        CHECK(make_recording(&options, made), "rank %u", options.rank);
    }
}

static void put_in(const char *name, const char *file, const char *text)
{
    char path[PATH_ROOM + 64];
    char in[PATH_ROOM];
    path_in(in, name);
    (void)snprintf(path, sizeof path, "%s/%s", in, file);
    FILE *stream = fopen(path, "wb");
    CHECK(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0, "%s", path);
}

static void remove_in(const char *name, const char *file)
{
    char path[PATH_ROOM + 64];
    (void)snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    CHECK(remove(path) == 0, "%s", path);
}

/* A run looked at, and all memory given back at its end. */
struct look {
    struct mem mem;
    struct arena arena;
    struct ready_run run;
};

/* `rank` above all: every one that is there. */
static void look_at_rank(struct look *look, const char *name, uint32_t rank)
{
    static char path[PATH_ROOM];
    struct import_pair *pairs = NULL;
    uint32_t count = 0;
    path_in(path, name);
    memset(look, 0, sizeof *look);
    arena_init(&look->arena, &look->mem);
    bool chosen = rank != UINT32_MAX;
    CHECK_OK(import_find(path, NULL, &rank, chosen ? 1 : 0, &look->arena, &pairs, &count, &err), &err);
    struct ready_request request = {.place = path, .tag = "", .pairs = pairs, .pair_count = count, .chosen = chosen};
    CHECK_OK(ready_check(&request, &look->mem, &look->run, &err), &err);
}

static void look_begin(struct look *look, const char *name)
{
    look_at_rank(look, name, UINT32_MAX);
}

static void look_end(struct look *look)
{
    ready_run_free(&look->run);
    arena_free(&look->arena);
    CHECK_U64(look->mem.used, 0, "all memory is given back");
}

static const struct ready_finding *find(const struct ready_run *run, const char *part)
{
    for (uint32_t i = 0; i < run->finding_count; i++) {
        if (strstr(run->findings[i].text, part) != NULL) {
            return &run->findings[i];
        }
    }
    return NULL;
}

static void check_fault(const struct ready_run *run, const char *text, const char *advice)
{
    const struct ready_finding *finding = find(run, text);
    CHECK(finding != NULL, "no finding says \"%s\"; the first of %u: %s", text, run->finding_count,
          run->finding_count == 0 ? "" : run->findings[0].text);
    CHECK(finding != NULL && finding->weight == READY_FAULT && !run->usable, "%s is a fault", text);
    CHECK_CONTAINS(finding == NULL ? "" : finding->advice, advice);
}

static void check_advice(const struct ready_run *run, const char *text, const char *advice)
{
    const struct ready_finding *finding = find(run, text);
    CHECK(finding != NULL && finding->weight == READY_ADVICE, "%s is advice", text);
    CHECK_CONTAINS(finding == NULL ? "" : finding->advice, advice);
}

static void the_counts_are_what_the_recording_holds(void **state)
{
    (void)state;
    for (int hip = 0; hip < 2; hip++) {
        struct look look;
        struct made_recording made;
        uint64_t bytes = 0;
        make_in(hip == 0 ? "nvidia" : "amd", 2, (struct make_recording){.hip = hip == 1}, &made);
        look_begin(&look, hip == 0 ? "nvidia" : "amd");
        const struct ready_device *device = &look.run.ranks[1].device;
        enum ready_level level;
        CHECK(look.run.usable, "%s", look.run.finding_count == 0 ? "" : look.run.findings[0].text);
        CHECK_U64(device->kernels + device->copies + device->sets, made.device_work, "device work");
        CHECK_U64(ready_steps(device)->count, STEPS, "steps");
        CHECK_U64(ready_comm_count(device, COMM_ALL_REDUCE, &level), 2 * STEPS, "two buckets a step");
        CHECK(ready_comm_bytes(device, COMM_ALL_REDUCE, &bytes), "sizes are told");
        CHECK_U64(bytes, STEPS * made.all_reduce_bytes, "bytes of all-reduces");
        CHECK_U64(ready_comm_count(device, COMM_SEND, &level) + ready_comm_count(device, COMM_RECV, &level),
                  made.sends + made.recvs, "sends and receives");
        CHECK(device->amd == (hip == 1) && device->launches > 0, "vendor, launches");
        CHECK(device->event_records > 0 && device->stream_waits > 0, "hip and cuda calls alike");
        CHECK(look.run.mode == READY_MODE_TP_DDP && look.run.pipeline && look.run.expert, "mode");
        CHECK(look.run.verdict != READY_NETWORK_UNKNOWN, "verdict");
        look_end(&look);
    }
}

#define HEAD "{\"schemaVersion\":1,\"deviceProperties\":[{\"name\":\"%s\"}],\"traceEvents\":["
#define TAIL "],\"displayTimeUnit\":\"ms\"}"
#define STEP                                                                                                           \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":900}"
#define OP "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}"
#define CALL                                                                                                           \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"      \
    "\"args\":{\"correlation\":1}}"
#define KERNEL                                                                                                         \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":100,\"args\":{"           \
    "\"correlation\":1,\"stream\":7}}"
#define GENERIC                                                                                                        \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic_4(ncclDevKernelArgs)\",\"pid\":0,"              \
    "\"tid\":9,\"ts\":6,\"dur\":60,\"args\":{\"correlation\":1,\"stream\":9}}"
#define PYTHON "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}"

/* events, device, what is said, what to do, whether an import is possible all the same. */
static const struct {
    const char *events, *device, *fault, *advice;
    bool usable;
} broken[] = {
    {STEP "," PYTHON, "AMD Radeon RX 9070 XT", "the device trace is empty: 2 events",
     "parameter 'trace-wait' and parameter 'trace-steps'", false},
    {STEP "," PYTHON, "AMD Radeon RX 9070 XT", "(an AMD device)", "parameter 'inject-sync-hack'", false},
    {"", "NVIDIA H200", "the device trace is empty: 0 events", "prof.step()", false},
    {STEP "," OP "," CALL, "AMD Instinct MI300X", "no kernel, copy or set ran on AMD Instinct MI300X", "roctracer",
     true},
    {STEP "," OP, "NVIDIA H200", "no kernel, copy or set ran on NVIDIA H200", "ProfilerActivity.CUDA", true},
    {STEP "," OP "," CALL "," KERNEL "," GENERIC, "AMD", "nothing says which collective", "record the host trace",
     false},
    {STEP "," OP "," CALL "," KERNEL, "NVIDIA", "there is no recording", NULL, true},
};

static void what_cannot_be_used_says_how_to_record_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        char text[4096];
        char name[32];
        struct look look;
        (void)snprintf(name, sizeof name, "broken%zu", i);
        (void)snprintf(text, sizeof text, HEAD "%s" TAIL, broken[i].device, broken[i].events);
        put_in(name, "device_rank_0.json", text);
        look_begin(&look, name);
        CHECK(look.run.usable == broken[i].usable, "%s", broken[i].fault);
        if (broken[i].usable && broken[i].advice != NULL) {
            check_advice(&look.run, broken[i].fault, broken[i].advice);
        } else if (broken[i].advice != NULL) {
            check_fault(&look.run, broken[i].fault, broken[i].advice);
        }
        look_end(&look);
    }
}

static void a_missing_or_damaged_half_of_a_pair_is_named(void **state)
{
    (void)state;
    struct look look;
    struct made_recording made;
    make_in("halves", 2, (struct make_recording){0}, &made);
    remove_in("halves", "device_0.json");
    put_in("halves", "host_1.json", "{\"schema\": \"1.1.1\", \"nodes\": 3}");
    look_begin(&look, "halves");
    check_advice(&look.run, "there is no device trace", "export_chrome_trace");
    check_fault(&look.run, "no \"nodes\" in it", "unregister_callback");
    CHECK_U64(find(&look.run, "there is no device trace")->rank, 0, "rank 0");
    look_end(&look);
    put_in("halves", "device_0.json", "this is no JSON");
    remove_in("halves", "host_1.json");
    look_begin(&look, "halves");
    check_fault(&look.run, "device_0.json", "record again");
    CHECK(find(&look.run, "there is no host trace")->weight == READY_ADVICE, "the device trace alone will do");
    look_end(&look);
}

static void ranks_that_do_not_fit_together_are_told(void **state)
{
    (void)state;
    struct look look;
    struct made_recording made;
    make_in("row", 4, (struct make_recording){0}, &made);
    remove_in("row", "device_1.json");
    remove_in("row", "host_1.json");
    look_begin(&look, "row");
    check_advice(&look.run, "rank 1 has no recording, rank 2 has", "one folder");
    look_end(&look);
    make_in("world", 4, (struct make_recording){0}, &made);
    for (int rank = 2; rank < 4; rank++) {
        char file[32];
        (void)snprintf(file, sizeof file, "device_%d.json", rank);
        remove_in("world", file);
        (void)snprintf(file, sizeof file, "host_%d.json", rank);
        remove_in("world", file);
    }
    look_begin(&look, "world");
    CHECK(look.run.usable && find(&look.run, "2 of 4 ranks are recorded") != NULL, "advice only");
    look_end(&look);
}

static void a_rank_asked_for_by_itself_is_no_gap_in_the_row(void **state)
{
    (void)state;
    struct look look;
    struct made_recording made;
    make_in("alone", 2, (struct make_recording){0}, &made);
    look_at_rank(&look, "alone", 1);
    CHECK_U64(look.run.rank_count, 1, "only that");
    CHECK(look.run.usable, "%s", look.run.finding_count == 0 ? "" : look.run.findings[0].text);
    CHECK(find(&look.run, "ranks are recorded") == NULL, "the other is there");
    look_end(&look);
}

/* A histogram for each rank and collective would be gigabytes in a job of thousands. */
static void a_rank_that_has_been_read_leaves_a_few_kilobytes(void **state)
{
    (void)state;
    struct look look;
    struct made_recording made;
    make_in("few", 8, (struct make_recording){0}, &made);
    look_begin(&look, "few");
    CHECK(look.mem.used < 8 * (16 << 10), "%" PRIu64 " bytes for 8 ranks", look.mem.used);
    look_end(&look);
}

static void many_all_reduces_a_step_are_tensor_parallel_and_few_are_not(void **state)
{
    (void)state;
    static const struct {
        int reduces;
        enum ready_mode mode;
        double share;
        enum ready_verdict verdict;
    } cases[] = {
        {5, READY_MODE_DDP, 50.0 / 100, READY_NETWORK_MAY_MATTER},
        {20, READY_MODE_DDP, 200.0 / 100, READY_NETWORK_MATTERS},
        {21, READY_MODE_TP, 210.0 / 100, READY_NETWORK_MATTERS},
        {1, READY_MODE_DDP, 10.0 / 100, READY_NETWORK_MINIMAL},
        {0, READY_MODE_NONE, 0, READY_NETWORK_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *text = NULL;
        size_t size = 0;
        char name[32];
        struct look look;
        FILE *stream = open_memstream(&text, &size);
        (void)fprintf(stream, HEAD STEP "," KERNEL, "NVIDIA");
        for (int r = 0; r < cases[i].reduces; r++) {
            (void)fprintf(
                stream,
                ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32_RING_LL\",\"pid\":0,"
                "\"tid\":9,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":1,\"stream\":9,\"In msg nelems\":256,"
                "\"dtype\":\"Float\"}}",
                10 * r,
                r % 2 == 0 && cases[i].reduces % 2 == 0 ? 9
                : cases[i].reduces % 2 == 0             ? 11
                                                        : 10);
        }
        (void)fputs(TAIL, stream);
        (void)fclose(stream);
        (void)snprintf(name, sizeof name, "mode%zu", i);
        put_in(name, "device_0.json", text);
        free(text);
        look_begin(&look, name);
        const struct ready_comm *comm = &look.run.ranks[0].device.comms[READY_KERNEL][COMM_ALL_REDUCE];
        CHECK(look.run.mode == cases[i].mode, "%d all-reduces: %s", cases[i].reduces, ready_mode_text(look.run.mode));
        CHECK(look.run.verdict == cases[i].verdict, "%s", ready_verdict_text(look.run.verdict));
        CHECK(look.run.comm_share > cases[i].share - 1e-9 && look.run.comm_share < cases[i].share + 1e-9, "share");
        CHECK_U64(comm->bytes, (uint64_t)cases[i].reduces * 1024, "bytes");
        CHECK(cases[i].reduces == 0 || comm->times.median_us == 10, "median %f", comm->times.median_us);
        look_end(&look);
    }
}

static void a_long_recording_takes_no_more_memory_than_a_short_one(void **state)
{
    (void)state;
    uint64_t peaks[2];
    for (int i = 0; i < 2; i++) {
        struct made_recording made;
        struct look look;
        char path[PATH_ROOM];
        const char *name = i == 0 ? "short" : "long";
        path_in(path, name);
        struct make_recording options = {.folder = path, .ranks = 2, .steps = i == 0 ? 40 : 200, .kernels = 200};
        CHECK(make_recording(&options, &made), "%s", name);
        look_begin(&look, name);
        CHECK_U64(look.run.ranks[0].device.kernels > 0, 1, "counted");
        peaks[i] = look.mem.peak;
        look_end(&look);
    }
    CHECK(peaks[1] < peaks[0] + (64 << 10), "%" PRIu64 " bytes for 40 steps, %" PRIu64 " for 200", peaks[0], peaks[1]);
}

/* gloo carries a reduce-scatter out as an all-reduce, and FSDP says that it is FSDP. */
static void a_collective_is_counted_once_as_an_import_counts_it(void **state)
{
    (void)state;
    struct look look;
    enum ready_level level;
    uint64_t bytes = 0;
    put_in("sharded", "device_0.json",
           "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 4, \"pg_config\": ["
           "{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [0, 1, 2, 3]}, "
           "{\"pg_name\": \"1\", \"pg_desc\": \"mesh_tp\", \"ranks\": [0, 1]}]}, \"traceEvents\": [\n"
           "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 1, \"tid\": 1, "
           "\"ts\": 0, \"dur\": 1000, \"args\": {}},\n"
           "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"FSDP::post_backward_reduce\", \"pid\": 1, "
           "\"tid\": 1, \"ts\": 1, \"dur\": 90, \"args\": {}},\n"
           "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"c10d::_reduce_scatter_base_\", \"pid\": 1, \"tid\": 1, "
           "\"ts\": 2, \"dur\": 50, \"args\": {\"Record function id\": 1, \"Input Dims\": [[512], [1024]], "
           "\"Input type\": [\"float\", \"float\"]}},\n"
           "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"gloo:all_reduce\", \"pid\": 1, \"tid\": 2, "
           "\"ts\": 60, \"dur\": 500, \"args\": {\"Record function id\": 2, \"Input Dims\": [[1024]], "
           "\"Input type\": [\"float\"]}}\n]}\n");
    look_begin(&look, "sharded");
    const struct ready_device *device = &look.run.ranks[0].device;
    CHECK(look.run.usable, "it is imported");
    CHECK_U64(ready_comm_count(device, COMM_REDUCE_SCATTER, &level), 1, "a reduce-scatter");
    CHECK_U64(ready_comm_count(device, COMM_ALL_REDUCE, &level), 0, "and no all-reduce");
    CHECK(ready_comm_bytes(device, COMM_REDUCE_SCATTER, &bytes), "its bytes are known");
    CHECK_U64(bytes, 4096, "the whole input");
    CHECK(look.run.mode == READY_MODE_FSDP, "%s", ready_mode_text(look.run.mode));
    CHECK_TEXT(look.run.split, "tp:2,dp:2");
    look_end(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counts_are_what_the_recording_holds),
        cmocka_unit_test(what_cannot_be_used_says_how_to_record_again),
        cmocka_unit_test(a_missing_or_damaged_half_of_a_pair_is_named),
        cmocka_unit_test(ranks_that_do_not_fit_together_are_told),
        cmocka_unit_test(a_rank_asked_for_by_itself_is_no_gap_in_the_row),
        cmocka_unit_test(a_rank_that_has_been_read_leaves_a_few_kilobytes),
        cmocka_unit_test(a_collective_is_counted_once_as_an_import_counts_it),
        cmocka_unit_test(many_all_reduces_a_step_are_tensor_parallel_and_few_are_not),
        cmocka_unit_test(a_long_recording_takes_no_more_memory_than_a_short_one),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
