/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs programs read: JSON, CSV and the timeline, parsed back; and what is left behind when writing fails. */
#include "tests/report/fixture.h"

#include <dirent.h>
#include <jansson.h>
#include <locale.h>
#include <zlib.h>

static json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    CHECK(root != NULL, "line %d: %s", error.line, error.text);
    return root;
}

static uint64_t member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    CHECK(json_is_integer(value), "%s is not an integer", key);
    return (uint64_t)json_integer_value(value);
}

static void the_json_document_holds_the_result(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.ranks[3].gpu_busy_ns = f.ranks[3].finish_ns + 7;
    char *text = fixture_written(&f, ORR_OUTPUT_JSON);
    json_t *root = parsed(text);
    CHECK_U64(member(root, "schema_version"), 1, "the first");
    CHECK_U64(member(root, "time_ns"), 405520, "the step");
    CHECK_TEXT(json_string_value(json_object_get(root, "state")), "finished");
    CHECK_TEXT(json_string_value(json_object_get(json_object_get(root, "bound"), "by")),
               "bandwidth-bound communication");
    assert_true(json_is_null(json_object_get(root, "stall")));
    json_t *ranks = json_object_get(root, "per_rank");
    CHECK_U64(json_array_size(ranks), 8, "one a rank");
    CHECK_U64(member(json_array_get(ranks, 5), "exposed_comm_ns"), 355520, "rank 5");
    CHECK(json_integer_value(json_object_get(json_array_get(ranks, 3), "astra_exposed_comm_ns")) == -7,
          "compute counted twice makes it negative");
    json_t *gather = json_array_get(json_object_get(root, "collectives"), 1);
    CHECK_TEXT(json_string_value(json_object_get(gather, "type")), "all-gather");
    CHECK_U64(member(gather, "bytes"), 2097152, "as in the trace");
    double bus = json_real_value(json_object_get(gather, "bus_bandwidth_gbytes_per_s"));
    CHECK(bus > 51.018 && bus < 51.019, "7 * 2 MiB / 287740 ns, not %f", bus);
    json_t *dim = json_array_get(json_object_get(root, "dimensions"), 0);
    CHECK_U64(member(dim, "links"), 16, "both directions");
    json_decref(root);
    free(text);
}

static void a_stall_is_in_the_json_document_with_its_numbers(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    static const uint32_t ranks[] = {5, 6};
    static const uint64_t nodes[] = {7, 9007199254740993u};
    const struct sim_stall_finding findings[] = {
        {SIM_STALL_UNMATCHED_RECV, "a \"quoted\" \\ name\x01\xff\xc3\xa9", NULL, ranks, 2, nodes, 2}};
    const struct sim_stall_wait waits[] = {{.rank = 5, .peer = UINT32_MAX, .node = 7, .text = "rank 5 waits"}};
    f.result.stall = (struct sim_stall){SIM_STALL_UNMATCHED_RECV, findings, 1, waits, 1, 900};
    char *text = fixture_written(&f, ORR_OUTPUT_JSON);
    json_t *root = parsed(text);
    CHECK_TEXT(json_string_value(json_object_get(root, "state")), "stalled");
    json_t *stall = json_object_get(root, "stall");
    json_t *finding = json_array_get(json_object_get(stall, "findings"), 0);
    CHECK_TEXT(json_string_value(json_object_get(stall, "kind")), "unmatched receive");
    CHECK_TEXT(json_string_value(json_object_get(finding, "text")), "a \"quoted\" \\ name\x01\xef\xbf\xbd\xc3\xa9");
    assert_true(json_is_null(json_object_get(finding, "fix")));
    CHECK_U64(json_integer_value(json_array_get(json_object_get(finding, "ranks"), 1)), 6, "second rank");
    CHECK_U64(json_integer_value(json_array_get(json_object_get(finding, "nodes"), 1)), 9007199254740993u, "exactly");
    CHECK_U64(member(stall, "waits_in_all"), 900, "also those not listed");
    json_decref(root);
    free(text);
}

static void csv_tables_have_a_header_with_units_and_a_line_a_record(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct orr_error err = {0};
    const char *folder = fixture_folder();
    char deep[128];
    (void)snprintf(deep, sizeof deep, "%s/a/b", folder);
    CHECK_OK(report_write(&f.result, ORR_OUTPUT_CSV, deep, NULL, &err), &err);
    char *ranks = fixture_read(deep, "ranks.csv");
    CHECK_CONTAINS(ranks, "rank,finished,finish_ns,compute_ns,exposed_comm_ns,");
    CHECK_CONTAINS(ranks, "\n7,1,405520,50000,355520,0,0,50000,355520,3\n");
    CHECK_U64(fixture_lines(ranks), 9, "header and ranks");
    char *collectives = fixture_read(deep, "collectives.csv");
    CHECK_CONTAINS(collectives,
                   "\nall-reduce,8,1048576,8,1,942240,117780.000,117780,117780,0,117780,8.902836,15.579963\n");
    char *dimensions = fixture_read(deep, "dimensions.csv");
    CHECK_CONTAINS(dimensions, "\n0,Ring,8,50,500,16,672,132120576,2460920,0.379285,0\n");
    free(ranks);
    free(collectives);
    free(dimensions);
    fixture_remove(folder);
}

static json_t *events_of(json_t *root)
{
    json_t *events = json_object_get(root, "traceEvents");
    assert_true(json_is_array(events));
    return events;
}

static void a_timeline_has_an_event_per_interval(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct orr_error err = {0};
    const char *folder = fixture_folder();
    char path[128];
    (void)snprintf(path, sizeof path, "%s/t.json", folder);
    CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), &err);
    char *text = fixture_read(folder, "t.json");
    CHECK_CONTAINS(text, "\"ts\": 117.780, \"dur\": 287.740,");
    CHECK_CONTAINS(text, "\"args\": {\"name\": \"communication\"}");
    json_t *root = parsed(text);
    uint32_t complete = 0;
    size_t i;
    json_t *event;
    json_array_foreach(events_of(root), i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0) {
            continue;
        }
        if (++complete == 6) {
            CHECK_TEXT(json_string_value(json_object_get(event, "name")), "ag");
            CHECK_U64(member(event, "pid"), 1, "the rank");
            json_t *args = json_object_get(event, "args");
            CHECK_U64(member(args, "node_id"), 103, "as in the file");
            CHECK_U64(member(args, "bytes"), 2097152, "as in the trace");
            CHECK_TEXT(json_string_value(json_object_get(args, "Collective name")), "all-gather");
        }
    }
    CHECK_U64(complete, 24, "three nodes on eight ranks");
    json_decref(root);
    free(text);
    fixture_remove(folder);
}

static void receives_that_overlap_get_threads_of_their_own(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    static const struct {
        uint64_t start, end, tid;
    } rows[] = {{100, 200, 4}, {0, 300, 3}, {200, 400, 4}, {300, 500, 3}, {350, 600, 5}};
    f.nodes[1].type = TRACE_RECV;
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        f.intervals[i] = (struct sim_interval){
            .rank = 2, .node = 1, .start_ns = rows[i].start, .end_ns = rows[i].end, .slot = SIM_SLOT_NONE};
    }
    f.result.interval_count = COUNT_OF(rows);
    struct orr_error err = {0};
    const char *folder = fixture_folder();
    char path[128];
    (void)snprintf(path, sizeof path, "%s/t.json", folder);
    CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), &err);
    char *text = fixture_read(folder, "t.json");
    json_t *root = parsed(text);
    size_t i;
    json_t *event;
    size_t seen = 0;
    json_array_foreach(events_of(root), i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") == 0) {
            CHECK_U64(member(event, "tid"), rows[seen].tid, "receive %zu", seen);
            seen++;
        }
    }
    CHECK_U64(seen, COUNT_OF(rows), "all are there");
    CHECK_CONTAINS(text, "\"receive 3\"");
    json_decref(root);
    free(text);
    fixture_remove(folder);
}

static void a_gz_timeline_holds_the_same_bytes_compressed(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct orr_error err = {0};
    const char *folder = fixture_folder();
    char plain[128], packed[128];
    (void)snprintf(plain, sizeof plain, "%s/t.json", folder);
    (void)snprintf(packed, sizeof packed, "%s/t.json.gz", folder);
    CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, plain, NULL, &err), &err);
    CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, packed, NULL, &err), &err);
    char *text = fixture_read(folder, "t.json");
    gzFile gz = gzopen(packed, "rb");
    assert_non_null(gz);
    assert_false(gzdirect(gz));
    char *back = calloc(1, strlen(text) + 16);
    int got = gzread(gz, back, (unsigned int)strlen(text) + 15);
    CHECK_U64(got, strlen(text), "as long");
    CHECK(strcmp(back, text) == 0, "the bytes differ");
    assert_int_equal(gzclose(gz), Z_OK);
    free(back);
    free(text);
    fixture_remove(folder);
}

static void a_timeline_without_intervals_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct orr_error err = {0};
    CHECK_STATUS(report_write(&f.result, ORR_OUTPUT_CSV, NULL, stdout, &err), ORR_EINVAL);
    f.config.keep_intervals = false;
    const char *folder = fixture_folder();
    char path[128];
    (void)snprintf(path, sizeof path, "%s/t.json", folder);
    CHECK_STATUS(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "keep_intervals");
    CHECK(access(path, F_OK) != 0, "nothing may be left behind");
    fixture_remove(folder);
}

static void a_timeline_keeps_to_the_memory_limit_of_the_run(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct orr_error err = {0};
    const char *folder = fixture_folder();
    char path[128];
    (void)snprintf(path, sizeof path, "%s/t.json", folder);
    f.mem = (struct mem){.limit = 1000, .used = 999};
    CHECK_STATUS(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), ORR_ENOMEM);
    CHECK_CONTAINS(err.text, "ordering the intervals of the timeline");
    CHECK_CONTAINS(err.text, "999 in use; the limit is 1000 bytes");
    CHECK(access(path, F_OK) != 0, "nothing may be left behind");
    f.mem.limit = 1 << 20;
    CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), &err);
    CHECK_U64(f.mem.used, 999, "all memory is given back");
    fixture_remove(folder);
}

/* The fixture's one group name is "1"; node 2 gets it, and names that only begin like it. */
static void intervals_of_communication_come_by_rank_and_start_with_their_union(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.result.interval_count = 0;
    static char strings[] = "\0a \"b\"\0work\0ag";
    f.graph.strings = strings;
    f.nodes[0].name = 1;
    f.nodes[2].name = 12;
    static const struct sim_interval rows[] = {
        {.rank = 1, .node = 0, .start_ns = 5, .end_ns = 25, .slot = SIM_SLOT_COMM},
        {.rank = 0, .node = 2, .start_ns = 20, .end_ns = 50, .slot = SIM_SLOT_COMM},
        {.rank = 0, .node = 1, .start_ns = 0, .end_ns = 60, .slot = SIM_SLOT_COMP},
        {.rank = 0, .node = 0, .start_ns = 10, .end_ns = 30, .slot = SIM_SLOT_COMM},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        f.intervals[f.result.interval_count++] = rows[i];
    }
    char *text = fixture_written(&f, ORR_OUTPUT_COMM_INTERVALS);
    CHECK_TEXT(text, "rank,node,name,type,bytes,start_ns,end_ns,duration_ns\n"
                     "0,1,\"a \"\"b\"\"\",all-reduce,1048576,10,30,20\n"
                     "0,3,\"ag\",all-gather,2097152,20,50,30\n"
                     "# rank 0: 2 intervals, 50 ns in all, 40 ns with at least one\n"
                     "1,101,\"a \"\"b\"\"\",all-reduce,1048576,5,25,20\n"
                     "# rank 1: 1 intervals, 20 ns in all, 20 ns with at least one\n");
    free(text);
    f.config.keep_intervals = false;
    struct orr_error err = {0};
    CHECK_STATUS(report_write(&f.result, ORR_OUTPUT_COMM_INTERVALS, NULL, stdout, &err), ORR_EINVAL);
}

static void a_group_is_found_by_its_whole_name(void **state)
{
    (void)state;
    static const struct {
        char name[8];
        uint64_t size;
    } cases[] = {{"1", 3}, {"", 8}, {"0", 8}, {"1x", 8}, {"1.5", 8}, {"2", 8}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        fixture_make(&f);
        struct sim_group group = {.id = 1, .count = 3};
        char strings[16] = "";
        memcpy(strings + 1, cases[i].name, sizeof cases[i].name);
        f.config.groups = &group;
        f.config.group_count = 1;
        f.graph.strings = strings;
        for (int node = 0; node < FIXTURE_NODES; node++) {
            f.nodes[node].name = 0;
        }
        f.nodes[2].group = 1;
        f.result.interval_count = 3;
        struct orr_error err = {0};
        const char *folder = fixture_folder();
        char path[128], want[192];
        (void)snprintf(path, sizeof path, "%s/t.json", folder);
        CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), &err);
        char *text = fixture_read(folder, "t.json");
        (void)snprintf(want, sizeof want, "\"bytes\": 2097152, \"Process Group Name\": \"%s\", \"Group size\": %u}",
                       cases[i].name[0] == '\0' ? "0" : cases[i].name, (unsigned)cases[i].size);
        CHECK_CONTAINS(text, want);
        free(text);
        fixture_remove(folder);
    }
}

static uint32_t entries_in(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    uint32_t count = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(dir);
    return count;
}

static void a_failed_write_leaves_nothing_behind(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    const char *folder = fixture_folder();
    char in_missing[128], in_file[128], file[128], taken[128], csv_as_folder[128];
    (void)snprintf(in_missing, sizeof in_missing, "%s/no/such.json", folder);
    (void)snprintf(file, sizeof file, "%s/file", folder);
    (void)snprintf(in_file, sizeof in_file, "%s/file/x", folder);
    (void)snprintf(taken, sizeof taken, "%s/taken", folder);
    (void)snprintf(csv_as_folder, sizeof csv_as_folder, "%s/taken/dimensions.csv", folder);
    FILE *made = fopen(file, "w");
    assert_non_null(made);
    (void)fputs("before", made);
    (void)fclose(made);
    assert_int_equal(mkdir(taken, 0777), 0);
    assert_int_equal(mkdir(csv_as_folder, 0777), 0);
    const struct {
        enum orr_output output;
        const char *path, *says;
    } rows[] = {
        {ORR_OUTPUT_JSON, "/dev/full", "/dev/full: cannot be written: No space left on device"},
        {ORR_OUTPUT_TIMELINE, "/dev/full", "No space left on device"},
        {ORR_OUTPUT_JSON, in_missing, "No such file or directory"},
        {ORR_OUTPUT_JSON, folder, "Is a directory"},
        {ORR_OUTPUT_JSON, in_file, "Not a directory"},
        {ORR_OUTPUT_CSV, in_file, "Not a directory"},
        {ORR_OUTPUT_CSV, file, "Not a directory"},
        {ORR_OUTPUT_CSV, taken, "dimensions.csv: cannot be written: Is a directory"},
        {ORR_OUTPUT_CSV, "", "No such file or directory"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct orr_error err = {0};
        CHECK_STATUS(report_write(&f.result, rows[i].output, rows[i].path, NULL, &err),
                     strcmp(rows[i].path, "/dev/full") == 0 ? ORR_EFAIL : ORR_EIO);
        CHECK_CONTAINS(err.text, rows[i].says);
        CHECK_U64(entries_in(folder), 2, "row %zu left something", i);
        CHECK_U64(entries_in(taken), 1, "row %zu left something", i);
    }
    char *text = fixture_read(folder, "file");
    CHECK_TEXT(text, "before");
    free(text);
    fixture_remove(folder);
}

static void no_locale_changes_a_number(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "ps_AF.UTF-8"};
    struct fixture f;
    fixture_make(&f);
    f.config.system.roofline_enabled = true;
    static const enum orr_output outputs[] = {ORR_OUTPUT_TEXT, ORR_OUTPUT_ASTRA, ORR_OUTPUT_JSON};
    bool tried = false;
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        char *plain = fixture_written(&f, outputs[i]);
        for (size_t l = 0; l < COUNT_OF(commas); l++) {
            if (setlocale(LC_ALL, commas[l]) != NULL) {
                tried = true;
                char *text = fixture_written(&f, outputs[i]);
                (void)setlocale(LC_ALL, "C");
                CHECK(strcmp(text, plain) == 0, "%s changes output %zu", commas[l], i);
                free(text);
            }
        }
        free(plain);
    }
    if (!tried) {
        skip(); /* this machine has no locale with a decimal comma */
    }
}

TEST_MAIN(the_json_document_holds_the_result, a_stall_is_in_the_json_document_with_its_numbers,
          csv_tables_have_a_header_with_units_and_a_line_a_record, a_timeline_has_an_event_per_interval,
          receives_that_overlap_get_threads_of_their_own, a_gz_timeline_holds_the_same_bytes_compressed,
          a_timeline_without_intervals_is_refused, a_timeline_keeps_to_the_memory_limit_of_the_run,
          intervals_of_communication_come_by_rank_and_start_with_their_union, a_group_is_found_by_its_whole_name,
          a_failed_write_leaves_nothing_behind, no_locale_changes_a_number)
