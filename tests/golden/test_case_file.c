/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle's own oracle: what the golden cases' text means, byte for byte where it matters. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/golden/case_text.h"
#include "tests/golden/case_trace.h"
#include "tests/golden/golden_run.h"

#define SLICE(text) ((struct case_slice){(text), strlen(text)})

static const char text[] = "# a comment\n"
                           "default\n"
                           "system algorithm=ring,direct endpoint-delay=10 \\\n"
                           "    local-mem-bw=50\n"
                           "case first\n"
                           "network Ring 4 50.0 500 | Switch 2 12.5 0\n"
                           "system endpoint-delay=- all-to-all-implementation=direct peak-perf=0.5\n"
                           "group 3 4-7 0\n"
                           "option --injection-scale=0.5\n"
                           "trace 0-3\n"
                           "  send 1 data=3,300 us=2 src=r dst=(r+1)%4 size=64 tag=5\n"
                           "trace 4-7\n"
                           "both OK #00000000000000ff 7*6 9/1 8\n"
                           "case second\n"
                           "unreliable reads freed memory\n"
                           "network FullyConnected 2 1 1\n"
                           "trace 0-1\n"
                           "  coll 0 cpu=- type=A2A size=8 dims=101\n"
                           "  comp 9 cpu=1\n"
                           "unaware SIGNAL 6 statistics - 5\n"
                           "aware EXIT 255 several-dimensions\n";

static struct case_file parse(const char *source)
{
    struct case_file file;
    struct orr_error err = {0};
    CHECK_OK(case_file_parse("text", source, &file, &err), &err);
    return file;
}

static void cases_and_their_lines_are_found(void **state)
{
    (void)state;
    struct case_file file = parse(text);
    CHECK_U64(file.case_count, 2, "cases");
    CHECK_TEXT(file.cases[0].name, "first");
    CHECK_U64(file.cases[0].ranks, 8, "4 times 2");
    CHECK(!file.cases[0].unreliable && file.cases[1].unreliable, "only the second is unreliable");
    CHECK_U64(file.lines[file.cases[0].first].number, 6, "a continued line counts as two");
    CHECK(slice_is(case_option(&file, &file.cases[0], "--injection-scale"), "0.5"), "the option's value");
    CHECK(case_has(&file, &file.cases[0], "group") && !case_has(&file, &file.cases[1], "group"), "groups");
    case_file_close(&file);
}

static void outcomes_keep_every_rank(void **state)
{
    (void)state;
    struct case_file file = parse(text);
    struct orr_error err = {0};
    struct case_outcome outcome;
    CHECK_OK(case_outcome_read(&file, &file.cases[0], ORR_BACKEND_AWARE, &outcome, &err), &err);
    CHECK(outcome.kind == CASE_OK && outcome.has_hash, "the kind and a hash");
    CHECK_U64(outcome.hash, 255, "the hash");
    CHECK_U64(outcome.ranks[5].exposed, 7, "a single number is both");
    CHECK_U64(outcome.ranks[6].exposed, 1, "after the slash");
    CHECK_U64(outcome.ranks[7].finish, 8, "the last rank");
    case_outcome_free(&outcome);
    CHECK_OK(case_outcome_read(&file, &file.cases[1], ORR_BACKEND_UNAWARE, &outcome, &err), &err);
    CHECK(outcome.kind == CASE_SIGNAL && outcome.code == 6, "kind and code");
    CHECK_TEXT(outcome.reason, "statistics");
    CHECK(!outcome.ranks[0].finished && outcome.ranks[1].finished, "a dash is a rank that did not finish");
    case_outcome_free(&outcome);
    case_file_close(&file);
}

static const struct {
    const char *value;
    uint32_t rank, position;
    int64_t want;
} values[] = {
    {"7", 3, 3, 7},         {"r", 3, 0, 3},       {"r-1", 3, 0, 2},     {"(r+6)%8", 3, 0, 1},   {"r/4+1", 9, 0, 3},
    {"(r*7)%5+2", 3, 0, 3}, {"{5,6*3}", 0, 0, 5}, {"{5,6*3}", 0, 3, 6}, {"{1*2,9}", 100, 2, 9},
};

static void a_value_may_depend_on_the_rank_or_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        int64_t got = -1;
        CHECK(rank_value(SLICE(values[i].value), values[i].rank, values[i].position, &got), "%s", values[i].value);
        CHECK_U64(got, values[i].want, "%s", values[i].value);
    }
}

static void a_value_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "x", "1x", "r+", "r/0", "r%0", "{", "{}", "{1}", "{1,}", "99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int64_t got = 0;
        CHECK(!rank_value(SLICE(bad[i]), 0, 1, &got), "%s", bad[i]);
    }
}

static void lists_of_ranks_keep_their_order(void **state)
{
    (void)state;
    struct rank_list list;
    const uint32_t want[] = {9, 0, 1, 2, 4, 8, 12};
    CHECK(rank_list_read(SLICE("9 0-2 4-12:4"), &list), "three kinds of items");
    CHECK_U64(list.count, COUNT_OF(want), "ranks");
    for (uint32_t i = 0; i < list.count; i++)
        CHECK_U64(list.ranks[i], want[i], "item %u", i);
    free(list.ranks);
    CHECK(!rank_list_read(SLICE("0-"), &list) && !rank_list_read(SLICE("3-1"), &list), "no end, or before its start");
}

static void a_trace_is_encoded_as_protobuf_would(void **state)
{
    (void)state;
    /* Worked out by hand from the wire format. */
    static const char want[] = "\x07\x0a\x05"
                               "0.0.4"
                               "\x5b"
                               "\x08\x01"                              /* id */
                               "\x12\x05send1"                         /* name */
                               "\x18\x05"                              /* type */
                               "\x2a\x03\x03\xac\x02"                  /* data parents, packed */
                               "\x38\x02"                              /* micros */
                               "\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00" /* bool */
                               "\x52\x0c\x0a\x08"
                               "comm_src\x38\x03" /* int32 */
                               "\x52\x0c\x0a\x08"
                               "comm_dst\x38\x00"
                               "\x52\x0d\x0a\x09"
                               "comm_size\x48\x40" /* int64 */
                               "\x52\x0c\x0a\x08"
                               "comm_tag\x38\x05";
    struct case_file file = parse(text);
    struct orr_error err = {0};
    struct et_bytes out = {0};
    size_t node = 0;
    while (!case_line_is_node(&file, node))
        node++;
    CHECK_OK(case_trace_encode(&file, &file.cases[0], (struct case_block){node, node + 1}, 3, 3, &out, &err), &err);
    CHECK_U64(out.length, sizeof want - 1, "bytes");
    assert_memory_equal(out.data, want, sizeof want - 1);
    et_bytes_free(&out);
    case_file_close(&file);
}

static void lists_of_flags_and_absent_fields_are_encoded(void **state)
{
    (void)state;
    static const char want[] = "\x12\x05"
                               "coll0\x18\x07"
                               "\x52\x0d\x0a\x09"
                               "comm_type\x48\x06"
                               "\x52\x0d\x0a\x09"
                               "comm_size\x48\x08"
                               "\x52\x16\x0a\x0cinvolved_dim\xe2\x01\x05\x0a\x03\x01\x00\x01";
    struct case_file file = parse(text);
    struct orr_error err = {0};
    struct et_bytes out = {0};
    size_t node = file.cases[1].first;
    while (!case_line_is_node(&file, node))
        node++;
    CHECK_OK(case_trace_encode(&file, &file.cases[1], (struct case_block){node, node + 1}, 0, 0, &out, &err), &err);
    CHECK_U64(out.length, 9 + sizeof want - 1, "metadata, length and node");
    assert_memory_equal(out.data + 9, want, sizeof want - 1);
    et_bytes_free(&out);
    case_file_close(&file);
}

static void read_back(const char *folder, const char *name, char *contents, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    CHECK(stream != NULL, "%s", path);
    contents[fread(contents, 1, size - 1, stream)] = '\0';
    fclose(stream);
}

static void the_files_of_a_case_say_what_its_lines_say(void **state)
{
    (void)state;
    struct case_file file = parse(text);
    struct orr_error err = {0};
    char folder[512];
    char contents[1024];
    golden_folder_make(folder, sizeof folder);
    CHECK_OK(case_write(&file, &file.cases[0], folder, &err), &err);
    read_back(folder, "network.yml", contents, sizeof contents);
    CHECK_TEXT(contents, "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 12.5 ]\n"
                         "latency: [ 500, 0 ]\n");
    read_back(folder, "system.json", contents, sizeof contents);
    CHECK_TEXT(contents, "{\n  \"all-reduce-implementation\": [\"ring\", \"direct\"],\n"
                         "  \"all-gather-implementation\": [\"ring\", \"direct\"],\n"
                         "  \"reduce-scatter-implementation\": [\"ring\", \"direct\"],\n"
                         "  \"all-to-all-implementation\": [\"direct\"],\n"
                         "  \"local-mem-bw\": 50,\n  \"peak-perf\": 0.5\n}\n");
    read_back(folder, "comm_group.json", contents, sizeof contents);
    CHECK_TEXT(contents, "{\n \"3\": [4, 5, 6, 7, 0]\n}\n");
    read_back(folder, "memory.json", contents, sizeof contents);
    CHECK_TEXT(contents, "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n");
    read_back(folder, "workload/w.7.et", contents, sizeof contents);
    CHECK_TEXT(contents, "\x07\x0a\x05"
                         "0.0.4");
    golden_folder_remove(folder);
    CHECK(access(folder, F_OK) != 0, "the folder is gone");
    case_file_close(&file);
}

static void a_mistake_is_named_by_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        const char *want;
    } bad[] = {
        {"case x\nnetwork Ring\n", "bad:2: a dimension is"},
        {"case x\ntrace 0\n", "bad:1: case x has no network"},
        {"case\n", "bad:1: a case needs a name"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct case_file file;
        struct orr_error err = {0};
        CHECK_STATUS(case_file_parse("bad", bad[i].source, &file, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].want);
    }
}

TEST_MAIN(cases_and_their_lines_are_found, outcomes_keep_every_rank, a_value_may_depend_on_the_rank_or_its_place,
          a_value_that_is_none_is_refused, lists_of_ranks_keep_their_order, a_trace_is_encoded_as_protobuf_would,
          lists_of_flags_and_absent_fields_are_encoded, the_files_of_a_case_say_what_its_lines_say,
          a_mistake_is_named_by_its_line)
