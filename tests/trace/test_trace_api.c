/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on trace files, through orrery.h alone. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/folder.h"
#include "tests/trace/bytes.h"

static struct orr_trace *open_trace(const struct bytes *file, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->at, 1, file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
    struct orr_error err = {0};
    struct orr_trace *trace = NULL;
    CHECK_OK(orr_trace_open(path, &trace, &err), &err);
    return trace;
}

static void make_sample(struct bytes *file)
{
    struct bytes node = {.size = 0}, value = {.size = 0};
    bytes_begin(file);
    bytes_number(&node, 1, 7);
    bytes_text(&node, 2, "a \"name\"\nof two lines");
    bytes_number(&node, 3, 7);
    bytes_number(&node, 5, 7);
    bytes_number(&node, 7, 12);
    bytes_integer(&node, "comm_type", 9, 2);
    bytes_integer(&node, "comm_size", 9, 2048);
    bytes_span(&value, 28, "\x0a\x02\x01\x00", 4);
    bytes_attribute(&node, "involved_dim", &value);
    bytes_number(&node, 40, 3);
    bytes_record(file, &node);
}

static void show_prints_every_attribute_with_its_type(void **state)
{
    (void)state;
    struct bytes file;
    make_sample(&file);
    struct orr_trace *trace = open_trace(&file, "show.et");
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_trace_show(trace, 0, stream, &err), &err);
    (void)fclose(stream);
    static const char *const parts[] = {"node 7 \"a \\\"name\\\"\\nof two lines\" COMM_COLL\n",
                                        "    duration 12 us\n",
                                        "    data dependencies 7\n",
                                        "    \"comm_type\" int64 2 (all-gather)\n",
                                        "    \"comm_size\" int64 2048\n",
                                        "    \"involved_dim\" bool list [true, false]\n",
                                        "    unknown field 40 (wire type 0, 1 bytes) \"\\x03\"\n"};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        CHECK_CONTAINS(text, parts[i]);
    }
    free(text);
    orr_trace_close(trace);
}

static void stat_prints_text_or_one_json_object(void **state)
{
    (void)state;
    struct bytes file;
    make_sample(&file);
    struct orr_trace *trace = open_trace(&file, "stat.et");
    struct orr_error err = {0};
    for (int json = 0; json < 2; json++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        CHECK_OK(orr_trace_stat(trace, json == 1 ? ORR_STAT_JSON : 0, stream, &err), &err);
        (void)fclose(stream);
        CHECK_CONTAINS(text, json == 1 ? "\"all-gather\": {\"count\": 1, \"bytes\": 2048}" : "2048 B (2 KiB)");
        CHECK_CONTAINS(text, json == 1 ? "\"nodes_without_order\": 1" : "1 nodes on or behind dependency cycles");
        free(text);
    }
    orr_trace_close(trace);
}

static void check_counts_what_it_prints(void **state)
{
    (void)state;
    struct bytes file;
    make_sample(&file);
    struct orr_trace *trace = open_trace(&file, "check.et");
    struct orr_error err = {0};
    uint64_t findings = 99;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_trace_check(trace, stream, &findings, &err), &err);
    (void)fclose(stream);
    CHECK_U64(findings, 1, "findings");
    CHECK_CONTAINS(text, "check.et: node 7: data dependency on itself\n");
    free(text);
    stream = fopen("/dev/full", "w");
    if (stream != NULL) {
        CHECK_STATUS(orr_trace_check(trace, stream, &findings, &err), ORR_EFAIL);
        (void)fclose(stream);
    }
    orr_trace_close(trace);
}

static void write_gives_the_file_back(void **state)
{
    (void)state;
    struct bytes file;
    make_sample(&file);
    struct orr_trace *trace = open_trace(&file, "from.et");
    struct orr_error err = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "%s/new/to.et", folder);
    CHECK_OK(orr_trace_write(trace, path, &err), &err);
    orr_trace_close(trace);
    uint8_t again[sizeof file.at];
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t size = fread(again, 1, sizeof again, stream);
    (void)fclose(stream);
    /* The dependency comes back packed: two bytes became three, and the record's length shows it. */
    CHECK_U64(size, file.size + 1, "size");
    CHECK_STATUS(orr_trace_open("no/such/file.et", &trace, &err), ORR_EIO);
    CHECK_STATUS(orr_trace_open(folder, &trace, &err), ORR_EIO);
    CHECK_STATUS(orr_trace_open("/dev/zero", &trace, &err), ORR_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(show_prints_every_attribute_with_its_type,
                                                 stat_prints_text_or_one_json_object, check_counts_what_it_prints,
                                                 write_gives_the_file_back)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
