/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded times of a trace as Chrome trace events: rows, names, and what is left out. */
#include <stdlib.h>

#include "io/file.h"
#include "report/recorded_timeline.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/et_write.h"

static void add_node(struct et_writer *writer, uint64_t id, const char *name, uint64_t start_us, uint64_t duration_us,
                     bool host, int64_t row)
{
    struct orr_error err = {0};
    et_node_begin(writer, id, et_text(name), TRACE_COMP);
    et_node_times(writer, start_us, duration_us);
    et_attr_bool(writer, "is_cpu_op", host);
    et_attr_int64(writer, host ? "tid" : "stream", row);
    CHECK_OK(et_record_end(writer, &err), &err);
}

static const char *write_trace(bool with_times)
{
    static char path[64];
    struct mem mem = {0};
    struct orr_error err = {0};
    struct et_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/t.0.et", folder);
    CHECK_OK(et_writer_open(path, &mem, &writer, &err), &err);
    et_metadata_begin(writer, et_text("0.0.4"));
    CHECK_OK(et_record_end(writer, &err), &err);
    add_node(writer, 0, "never", 0, 0, true, 1);
    if (with_times) {
        add_node(writer, 1, "kernel \"k\"", 12, 5, false, 7);
        add_node(writer, 2, "launch", 10, 3, true, 33);
    }
    CHECK_OK(et_writer_commit(writer, &err), &err);
    return path;
}

static void every_recorded_node_is_an_event_in_its_row(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct file_buffer text;
    char path[64];
    const char *trace = write_trace(true);
    snprintf(path, sizeof path, "%s/t.json", folder);
    CHECK_OK(orr_trace_timeline((const char *const[]){trace, trace}, 2, path, &err), &err);
    file_buffer_init(&text, &mem);
    CHECK_OK(file_buffer_read(&text, path, &err), &err);
    const char *got = (const char *)text.bytes;
    CHECK_CONTAINS(got, "\"name\": \"thread_name\", \"pid\": 0, \"tid\": 0, \"args\": {\"name\": \"host thread 33\"}");
    CHECK_CONTAINS(got, "\"name\": \"thread_name\", \"pid\": 0, \"tid\": 1, \"args\": {\"name\": \"stream 7\"}");
    CHECK_CONTAINS(
        got, "\"ph\": \"X\", \"name\": \"kernel \\\"k\\\"\", \"cat\": \"COMP\", \"pid\": 1, \"tid\": 1, \"ts\": 12, "
             "\"dur\": 5, \"args\": {\"id\": 1}");
    CHECK(strstr(got, "never") == NULL, "a node without times is no event");
    file_buffer_free(&text);
}

static void a_trace_without_times_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    struct orr_error err = {0};
    char path[64];
    const char *trace = write_trace(false);
    snprintf(path, sizeof path, "%s/none.json", folder);
    CHECK_STATUS(orr_trace_timeline((const char *const[]){trace}, 1, path, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no node has a start or a duration");
    CHECK(!file_exists(path), "it was written");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_node_is_an_event_in_its_row),
        cmocka_unit_test(a_trace_without_times_is_refused_and_writes_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
