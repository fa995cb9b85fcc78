/* SPDX-License-Identifier: Apache-2.0 */
/* rocprofv3's JSON is a device trace: its kernels, copies and calls come out with their names, streams and launches. */
#include "convert/pytorch/kineto/rocprof.h"

#include <unistd.h>

#include "orrery.h"
#include "tests/check.h"
#include "tests/folder.h"

static struct orr_error err;

#define STRINGS                                                                                                        \
    "\"strings\": {\"buffer_records\": [{\"kind\": \"NONE\", \"operations\": []}, {\"kind\": \"HIP_RUNTIME_API\", "    \
    "\"operations\": [\"hipLaunchKernel\", \"hipDeviceSynchronize\"]}, {\"kind\": \"MEMORY_COPY\", \"operations\": "   \
    "[\"NONE\", \"HOST_TO_DEVICE\"]}]}"
#define CALL(op, id, from, to)                                                                                         \
    "{\"kind\": 1, \"operation\": " #op ", \"thread_id\": 7, \"correlation_id\": {\"internal\": " #id                  \
    ", \"external\": 0}, \"start_timestamp\": " #from ", \"end_timestamp\": " #to "}"
#define KERNEL(kernel, queue, id, from, to)                                                                            \
    "{\"kind\": 9, \"operation\": 0, \"thread_id\": 7, \"correlation_id\": {\"internal\": " #id                        \
    ", \"external\": 0}, \"start_timestamp\": " #from ", \"end_timestamp\": " #to                                      \
    ", \"dispatch_info\": {\"agent_id\": {\"handle\": 1}, \"queue_id\": {\"handle\": " #queue                          \
    "}, \"kernel_id\": " #kernel ", \"dispatch_id\": 1}}"

static const char recording[] =
    "{\"rocprofiler-sdk-tool\": [{\"metadata\": {\"pid\": 12}, " STRINGS ", \"kernel_symbols\": [{\"kernel_id\": 0, "
    "\"kernel_name\": \"\"}, {\"kernel_id\": 3, \"kernel_name\": \"_Z4gemm.kd\", \"formatted_kernel_name\": "
    "\"gemm(float*)\"}], \"buffer_records\": {\"hip_api\": [" CALL(0, 11, 1000000, 1005000) ", " CALL(
        0, 12, 1006000,
        1010000) ", " CALL(1, 13, 1011000,
                           1300000) "], \"kernel_dispatch\": [" KERNEL(3, 5, 11, 1008000,
                                                                       1108000) ", " KERNEL(4, 6, 12, 1012000,
                                                                                            1212000) "], "
                                                                                                     "\"memory_copy\": "
                                                                                                     "[{\"kind\": 2, "
                                                                                                     "\"operation\": "
                                                                                                     "1, "
                                                                                                     "\"correlation_"
                                                                                                     "id\": "
                                                                                                     "{\"internal\": "
                                                                                                     "14}, "
                                                                                                     "\"start_"
                                                                                                     "timestamp\": "
                                                                                                     "1100000, "
                                                                                                     "\"end_"
                                                                                                     "timestamp\": "
                                                                                                     "1101500, "
                                                                                                     "\"bytes\": 64}, "
                                                                                                     "{\"kind\": "
                                                                                                     "2}]}}]}";

static const char *write_text(const char *name, const char *text)
{
    const char *path = folder_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
    return path;
}

static void kernels_copies_and_calls_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum kineto_cat cat;
        double ts_us, dur_us;
        int64_t correlation;
    } want[] = {
        {"hipLaunchKernel", KINETO_RUNTIME, 1000, 5, 11}, {"hipLaunchKernel", KINETO_RUNTIME, 1006, 4, 12},
        {"gemm(float*)", KINETO_KERNEL, 1008, 100, 11},   {"hipDeviceSynchronize", KINETO_RUNTIME, 1011, 289, 13},
        {"kernel", KINETO_KERNEL, 1012, 200, 12}, /* of a symbol that is not told */
        {"HOST_TO_DEVICE", KINETO_MEMCPY, 1100, 1.5, 14},
    };
    struct mem mem = {0};
    struct notes notes;
    struct kineto_trace *trace = NULL;
    const char *path = write_text("rocprof.json", recording);
    notes_init(&notes, &mem, false);
    CHECK_OK(rocprof_read(path, &mem, &notes, &trace, &err), &err);
    CHECK_U64(trace->event_count, COUNT_OF(want), "events");
    for (uint32_t i = 0; i < trace->event_count; i++) {
        const struct kineto_event *event = &trace->events[i];
        CHECK_TEXT(intern_text(&trace->names, event->name), want[i].name);
        CHECK(event->cat == want[i].cat && event->ts_us == want[i].ts_us && event->dur_us == want[i].dur_us &&
                  event->correlation == want[i].correlation,
              "event %u", i);
    }
    CHECK_U64(notes.count, 1, "the record without times is counted");
    kineto_free(trace);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "everything is given back");
}

static void such_a_trace_is_judged_and_imported(void **state)
{
    (void)state;
    char prefix[128];
    char written[160];
    bool usable = false;
    const char *path = write_text("rank.json", recording);
    (void)snprintf(prefix, sizeof prefix, "%s/out/rocprof", folder);
    struct orr_ready_options ready = {.folder = path};
    CHECK_OK(orr_trace_ready(&ready, NULL, &usable, &err), &err);
    CHECK(usable, "usable");
    struct orr_import_options import = {.folder = path, .prefix = prefix};
    CHECK_OK(orr_trace_import(&import, NULL, NULL, &err), &err);
    (void)snprintf(written, sizeof written, "%s.0.et", prefix);
    CHECK(access(written, F_OK) == 0, "%s", written);
}

static void a_file_without_kernels_or_calls_says_how_to_record(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"rocprofiler-sdk-tool\": []}",
        "{\"rocprofiler-sdk-tool\": [{\"buffer_records\": {}}]}",
        "{\"rocprofiler-sdk-tool\": [{\"buffer_records\": {\"kernel_dispatch\": [1, {\"start_timestamp\": 5}]}}]}",
        "{\"rocprofiler-sdk-tool\": 3}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct mem mem = {0};
        struct notes notes;
        struct kineto_trace *trace = NULL;
        notes_init(&notes, &mem, false);
        CHECK_STATUS(rocprof_read(write_text("empty.json", texts[i]), &mem, &notes, &trace, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, "--hip-trace --kernel-trace");
        notes_free(&notes);
        CHECK_U64(mem.used, 0, "everything is given back");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(kernels_copies_and_calls_are_read, such_a_trace_is_judged_and_imported,
                                                 a_file_without_kernels_or_calls_says_how_to_record)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
