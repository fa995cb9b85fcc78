/* SPDX-License-Identifier: Apache-2.0 */
/* What the Kineto reader keeps of a device trace, one fact a test, on traces a few events long. */
#include "convert/pytorch/kineto/kineto.h"

#include "tests/check.h"
#include "tests/folder.h"

static struct mem mem;
static struct notes notes;

static enum orr_status read_text(const char *text, struct kineto_trace **trace, struct orr_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s/device.json", folder);
    FILE *out = fopen(path, "w");
    CHECK(out != NULL, "%s can be written", path);
    fputs(text, out);
    fclose(out);
    notes_free(&notes);
    mem = (struct mem){0};
    notes_init(&notes, &mem, false);
    return kineto_read(path, &mem, &notes, trace, err);
}

static struct kineto_trace *read_events(const char *events)
{
    static char text[8192];
    struct kineto_trace *trace = NULL;
    struct orr_error err = {0};
    snprintf(text, sizeof text, "{\"traceEvents\": [%s]}", events);
    CHECK_OK(read_text(text, &trace, &err), &err);
    return trace;
}

static void done(struct kineto_trace *trace)
{
    kineto_free(trace);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void events_come_by_time_and_equal_ones_as_in_the_file(void **state)
{
    (void)state;
    struct kineto_trace *trace = read_events("{\"cat\":\"cpu_op\",\"name\":\"c\",\"ts\":3.5,\"dur\":1},"
                                             "{\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":1},"
                                             "{\"cat\":\"cpu_op\",\"name\":\"b\",\"ts\":1,\"dur\":9}");
    CHECK_U64(trace->event_count, 3, "all are kept");
    CHECK_TEXT(intern_text(&trace->names, trace->events[0].name), "a");
    CHECK_TEXT(intern_text(&trace->names, trace->events[1].name), "b");
    CHECK_TEXT(intern_text(&trace->names, trace->events[2].name), "c");
    CHECK_U64(trace->events[2].index, 0, "the place in the file is remembered");
    CHECK((trace->events[0].has & KINETO_TS_IS_INT) != 0, "1 was written without a point");
    CHECK((trace->events[2].has & KINETO_TS_IS_INT) == 0, "3.5 was not");
    CHECK(trace->first_ts_us == 1 && trace->last_end_us == 10, "from %f to %f", trace->first_ts_us, trace->last_end_us);
    done(trace);
}

static const struct {
    const char *cat;
    enum kineto_cat want;
    bool alias;
} cats[] = {
    {"cpu_op", KINETO_CPU_OP, false},
    {"user_annotation", KINETO_USER_ANNOTATION, false},
    {"cuda_runtime", KINETO_RUNTIME, false},
    {"hip_runtime", KINETO_RUNTIME, true},
    {"cuda_driver", KINETO_DRIVER, false},
    {"kernel", KINETO_KERNEL, false},
    {"Kernel", KINETO_KERNEL, true},
    {"gpu_memcpy", KINETO_MEMCPY, false},
    {"gpu_memset", KINETO_MEMSET, false},
    {"cuda_sync", KINETO_SYNC, false},
    {"gpu_user_annotation", KINETO_GPU_ANNOTATION, false},
};

static void both_vendors_categories_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cats); i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"cat\":\"%s\",\"name\":\"x\",\"ts\":1,\"dur\":1}", cats[i].cat);
        struct kineto_trace *trace = read_events(text);
        CHECK_U64(trace->event_count, 1, "%s", cats[i].cat);
        CHECK_U64(trace->events[0].cat, cats[i].want, "%s", cats[i].cat);
        CHECK_U64((trace->events[0].has & KINETO_IS_ALIAS) != 0, cats[i].alias, "%s", cats[i].cat);
        done(trace);
    }
}

static void other_categories_are_kept_for_their_external_id_only(void **state)
{
    (void)state;
    struct kineto_trace *trace =
        read_events("{\"cat\":\"python_function\",\"name\":\"f\",\"ts\":1,\"dur\":1,\"args\":{\"Python id\":1}},"
                    "{\"cat\":\"overhead\",\"name\":\"g\",\"ts\":2,\"dur\":1,\"args\":{\"External id\":7}},"
                    "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"ts\":3},"
                    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}}");
    CHECK_U64(trace->event_count, 1, "one of them");
    CHECK_U64(trace->event_total, 4, "all are counted");
    CHECK_U64(trace->events[0].external_id, 7, "its external id");
    CHECK_U64(notes.count, 0, "names without a time are nothing to warn of");
    done(trace);
}

static void ids_may_be_texts_and_streams_hexadecimal(void **state)
{
    (void)state;
    struct kineto_trace *trace =
        read_events("{\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":\"stream 7\",\"ts\":1,\"dur\":1,\"args\":"
                    "{\"External id\":\"12\",\"stream\":\"0x1f\",\"correlation\":5}},"
                    "{\"cat\":\"kernel\",\"name\":\"k\",\"tid\":4,\"ts\":2,\"dur\":1,\"args\":{\"stream\":null}}");
    const struct kineto_event *text = &trace->events[0];
    CHECK_U64(text->external_id, 12, "a text that is a number");
    CHECK_U64(text->stream, 31, "0x1f");
    CHECK((text->has & KINETO_STREAM_IS_TEXT) != 0, "and it was a text");
    CHECK_TEXT(intern_text(&trace->names, text->stream_text), "0x1f");
    CHECK_TEXT(intern_text(&trace->threads, text->tid + 1), "stream 7");
    CHECK(trace->events[1].stream == -1 && (trace->events[1].has & KINETO_STREAM_IS_NULL) != 0, "null is no stream");
    CHECK_U64(trace->thread_count, 2, "two rows of the picture");
    done(trace);
}

static void events_without_a_time_are_counted_and_skipped(void **state)
{
    (void)state;
    struct kineto_trace *trace = read_events("{\"cat\":\"cpu_op\",\"name\":\"a\"},"
                                             "{\"cat\":\"cpu_op\",\"name\":\"b\",\"ts\":\"late\"},"
                                             "{\"cat\":\"cpu_op\",\"name\":\"c\",\"ts\":1},5");
    CHECK_U64(trace->event_count, 1, "only c has a time");
    CHECK_U64(notes.count, 2, "both losses are told");
    CHECK_CONTAINS(notes.lines[0], "2 events without a usable \"ts\" skipped");
    CHECK_CONTAINS(notes.lines[1], "1 elements of \"traceEvents\" are no objects");
    done(trace);
}

static void a_collective_says_what_it_is(void **state)
{
    (void)state;
    struct kineto_trace *trace = read_events(
        "{\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"ts\":1,\"dur\":1,\"args\":{\"Collective name\":"
        "\"allreduce\",\"In msg nelems\":1024,\"Out msg nelems\":1024,\"Group size\":2,\"dtype\":\"Float\","
        "\"Process Group Name\":\"0\",\"Process Group Description\":\"default_pg\",\"Process Group Ranks\":\"[0, "
        "1]\"}},"
        "{\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"ts\":2,\"dur\":1,\"args\":{\"Input Dims\":[[4, "
        "8],[],[2]],"
        "\"Input type\":[\"float\",\"Scalar\",\"c10::Half\"]}},"
        "{\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":3,\"dur\":1,\"args\":{\"Input Dims\":[[4, 8]],\"Input type\":"
        "[\"float\"]}}");
    const struct kineto_comm *comm = &trace->comms[trace->events[0].comm];
    CHECK_TEXT(intern_text(&trace->names, comm->collective), "allreduce");
    CHECK_TEXT(intern_text(&trace->names, comm->group_ranks), "[0, 1]");
    CHECK_TEXT(intern_text(&trace->names, trace->events[0].pg_name), "0");
    CHECK_U64(comm->in_elements, 1024, "In msg nelems");
    CHECK_U64(comm->group_size, 2, "Group size");
    CHECK_U64(trace->comms[trace->events[1].comm].input_bytes, 4 * 8 * 4 + 2 * 2, "two tensors and a scalar");
    CHECK_U64(trace->events[2].comm, KINETO_NONE, "a product of matrices is no communication");
    done(trace);
}

static void synchronisations_say_what_they_wait_for_and_copies_how_much(void **state)
{
    (void)state;
    struct kineto_trace *trace =
        read_events("{\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"ts\":1,\"dur\":1,\"args\":{\"stream\":20,"
                    "\"wait_on_stream\":7,\"wait_on_cuda_event_record_corr_id\":91}},"
                    "{\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"ts\":2,\"dur\":1,\"args\":{\"bytes\":4096}}");
    CHECK_U64(trace->syncs[trace->events[0].extra].wait_stream, 7, "wait_on_stream");
    CHECK_U64(trace->syncs[trace->events[0].extra].wait_record_corr, 91, "the record's correlation");
    CHECK(trace->syncs[trace->events[0].extra].wait_event == -1, "not said");
    CHECK_U64(trace->copies[trace->events[1].extra].bytes, 4096, "bytes");
    done(trace);
}

static void what_is_said_of_the_whole_recording_is_read(void **state)
{
    (void)state;
    struct kineto_trace *trace = NULL;
    struct orr_error err = {0};
    CHECK_OK(
        read_text("{\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":1,\"world_size\":4,\"pg_config\":["
                  "{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[]},"
                  "{\"pg_name\":\"7\",\"pg_desc\":\"dp\",\"ranks\":[1, 3]},{\"pg_name\":\"8\",\"ranks\":\"[0, 2]\"}]},"
                  "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H200\"}],\"traceEvents\":[]}",
                  &trace, &err),
        &err);
    CHECK(trace->info.rank == 1 && trace->info.world_size == 4, "rank and size of the world");
    CHECK_TEXT(intern_text(&trace->names, trace->info.device), "NVIDIA H200");
    CHECK_U64(trace->info.group_count, 3, "three groups");
    CHECK_U64(trace->info.groups[0].rank_count, 0, "all of the world");
    CHECK_U64(trace->info.ranks[trace->info.groups[1].first + 1], 3, "of a list");
    CHECK_U64(trace->info.ranks[trace->info.groups[2].first + 1], 2, "of a text");
    done(trace);
}

static void a_bare_list_of_events_is_a_trace_too(void **state)
{
    (void)state;
    struct kineto_trace *trace = NULL;
    struct orr_error err = {0};
    CHECK_OK(read_text("[{\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1}]", &trace, &err), &err);
    CHECK_U64(trace->event_count, 1, "its event");
    done(trace);
}

static void a_recording_that_was_cut_off_is_read_to_the_cut(void **state)
{
    (void)state;
    struct kineto_trace *trace = NULL;
    struct orr_error err = {0};
    CHECK_OK(read_text("{\"traceEvents\":[{\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1},{\"cat\":\"cpu_op\",\"na",
                       &trace, &err),
             &err);
    CHECK_U64(trace->event_count, 1, "what is whole");
    CHECK_CONTAINS(notes.lines[0], "the file ends early");
    done(trace);
}

static const struct {
    const char *text, *part;
} bad[] = {
    {"{\"nodes\": []}", "no \"traceEvents\""},
    {"{\"traceEvents\": {}}", "\"traceEvents\" is no list"},
    {"{\"traceEvents\": [{]}", "device.json"},
    {"", "device.json"},
};

static void what_is_no_trace_is_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct kineto_trace *trace = NULL;
        struct orr_error err = {0};
        CHECK_STATUS(read_text(bad[i].text, &trace, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].part);
        CHECK(trace == NULL, "an output is written only on success");
    }
    notes_free(&notes);
}

static void times_become_nanoseconds(void **state)
{
    (void)state;
    struct kineto_event event = {.ts_us = 4203669604595.407, .dur_us = 340.024};
    CHECK(kineto_start_ns(&event) == 4203669604595407, "the start");
    CHECK(kineto_end_ns(&event) == 4203669604595407 + 340024, "the end");
    event.ts_us = 1e300;
    CHECK(kineto_end_ns(&event) > 0, "no overflow");
}

static const struct {
    const char *name;
    enum kineto_call want;
} calls[] = {
    {"cudaLaunchKernel", KINETO_CALL_LAUNCH},
    {"cudaLaunchKernelExC", KINETO_CALL_LAUNCH},
    {"cuLaunchKernelEx", KINETO_CALL_LAUNCH},
    {"cudaLaunchCooperativeKernel", KINETO_CALL_LAUNCH},
    {"cudaGraphLaunch", KINETO_CALL_LAUNCH},
    {"hipGraphLaunch", KINETO_CALL_LAUNCH},
    {"hipLaunchKernel", KINETO_CALL_LAUNCH},
    {"hipExtLaunchKernel", KINETO_CALL_LAUNCH},
    {"hipExtModuleLaunchKernel", KINETO_CALL_LAUNCH},
    {"hipModuleLaunchKernel", KINETO_CALL_LAUNCH},
    {"hipMemcpy", KINETO_CALL_LAUNCH},
    {"hipMemcpyWithStream", KINETO_CALL_LAUNCH},
    {"cudaMemcpy2DAsync", KINETO_CALL_LAUNCH},
    {"cudaMemcpyPeerAsync", KINETO_CALL_LAUNCH},
    {"cuMemcpyHtoD_v2", KINETO_CALL_LAUNCH},
    {"hipMemsetD8Async", KINETO_CALL_LAUNCH},
    {"hipLaunchKernel_spt", KINETO_CALL_LAUNCH},
    {"cudaEventRecordWithFlags", KINETO_CALL_EVENT_RECORD},
    {"hipEventRecord", KINETO_CALL_EVENT_RECORD},
    {"cuStreamWaitEvent", KINETO_CALL_STREAM_WAIT},
    {"hipEventSynchronize", KINETO_CALL_EVENT_SYNC},
    {"cudaStreamSynchronize", KINETO_CALL_STREAM_SYNC},
    {"hipDeviceSynchronize", KINETO_CALL_DEVICE_SYNC},
    {"cuCtxSynchronize", KINETO_CALL_DEVICE_SYNC},
    {"cudaEventQuery", KINETO_CALL_OTHER},
    {"cudaLaunchHostFunc", KINETO_CALL_OTHER},
    {"cudaMalloc", KINETO_CALL_OTHER},
    {"cudnnLaunchKernel", KINETO_CALL_OTHER},
    {"LaunchKernel", KINETO_CALL_OTHER},
    {"", KINETO_CALL_OTHER},
};

static void calls_are_told_by_their_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        CHECK_U64(kineto_call_of(calls[i].name), calls[i].want, "%s", calls[i].name);
        CHECK_U64(kineto_is_launch(calls[i].name), calls[i].want == KINETO_CALL_LAUNCH, "%s", calls[i].name);
    }
}

static int begin(void **state)
{
    notes_init(&notes, &mem, false);
    return make_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_by_time_and_equal_ones_as_in_the_file),
        cmocka_unit_test(both_vendors_categories_are_known),
        cmocka_unit_test(other_categories_are_kept_for_their_external_id_only),
        cmocka_unit_test(ids_may_be_texts_and_streams_hexadecimal),
        cmocka_unit_test(events_without_a_time_are_counted_and_skipped),
        cmocka_unit_test(a_collective_says_what_it_is),
        cmocka_unit_test(synchronisations_say_what_they_wait_for_and_copies_how_much),
        cmocka_unit_test(what_is_said_of_the_whole_recording_is_read),
        cmocka_unit_test(a_bare_list_of_events_is_a_trace_too),
        cmocka_unit_test(a_recording_that_was_cut_off_is_read_to_the_cut),
        cmocka_unit_test(what_is_no_trace_is_refused_with_a_reason),
        cmocka_unit_test(times_become_nanoseconds),
        cmocka_unit_test(calls_are_told_by_their_names),
    };
    return cmocka_run_group_tests(tests, begin, remove_folder);
}
