/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of host traces promises: every schema, the linker's keys, files that hold several documents, and
 * errors that name the place. */
#include "convert/pytorch/host/host.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/convert/hdt.h"
#include "tests/folder.h"

#define SCHEMA "1.1.1-chakra.0.0.4"

struct reading {
    char path[64];
    struct mem mem;
    struct notes notes;
    struct orr_error err;
    struct host_trace *trace;
};

static void reading_begin(struct reading *reading, const char *name)
{
    *reading = (struct reading){0};
    snprintf(reading->path, sizeof reading->path, "%s/%s", folder, name);
    notes_init(&reading->notes, &reading->mem, false);
}

static void put(const struct reading *reading, const char *text)
{
    FILE *file = fopen(reading->path, "w");
    fputs(text, file);
    fclose(file);
}

static enum orr_status read_it(struct reading *reading)
{
    return host_read(reading->path, &reading->mem, &reading->notes, &reading->trace, &reading->err);
}

static void reading_end(struct reading *reading)
{
    host_free(reading->trace);
    notes_free(&reading->notes);
    CHECK_U64(reading->mem.used, 0, "all memory is given back");
}

static const char *name_of(const struct host_trace *trace, uint32_t number)
{
    return intern_text(&trace->names, number);
}

static void a_node_is_read_with_its_attributes(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, "plain.json");
    hdt_write(reading.path, SCHEMA, "5~aten::add~2\n1~PROCESS~0");
    CHECK_OK(read_it(&reading), &reading.err);
    const struct host_trace *trace = reading.trace;
    CHECK_U64(trace->node_count, 2, "nodes");
    CHECK_TEXT(trace->schema, SCHEMA);
    CHECK_TEXT(trace->time, "2024-01-02 03:04:05");
    CHECK(trace->has_pid && trace->pid == 7 && trace->start_ts == 11 && trace->finish_ts == 22, "the front");
    const struct host_node *node = &trace->nodes[0];
    CHECK_TEXT(name_of(trace, node->name), "aten::add");
    CHECK(node->id == 5 && node->parent == 2 && node->rf_id == 5 && node->seq_id == -1 && node->tid == 1, "fields");
    CHECK(node->comm == HOST_NONE && node->linked == HOST_NONE, "no communication, not linked");
    CHECK_U64(reading.notes.count, 0, "nothing to say");
    reading_end(&reading);
}

static void the_flat_form_of_schema_1_0_1_is_read(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, "flat.json");
    put(&reading,
        "{\"schema\": \"1.0.1\", \"pid\": 3, \"nodes\": [{\"name\": \"nccl:all_reduce\", \"id\": 8, \"rf_id\": 4, "
        "\"parent\": 2, \"fw_parent\": 0, \"seq_id\": 6, \"scope\": 0, \"tid\": 9, \"fw_tid\": 0, \"op_schema\": "
        "\"\", \"inputs\": [[1, 2, 0, 100, 4, \"cpu\"]], \"input_shapes\": [[100]], \"input_types\": "
        "[\"Tensor(float)\"], \"outputs\": [], \"output_shapes\": [], \"output_types\": []}]}");
    CHECK_OK(read_it(&reading), &reading.err);
    const struct host_node *node = &reading.trace->nodes[0];
    CHECK(node->id == 8 && node->parent == 2 && node->rf_id == 4 && node->seq_id == 6 && node->tid == 9, "fields");
    CHECK(node->comm != HOST_NONE, "speaks of communication");
    CHECK_U64(reading.trace->comms[node->comm].tensor_in_bytes, 400, "100 floats");
    CHECK_U64(reading.notes.count, 0, "nothing to say");
    reading_end(&reading);
}

static void the_keys_of_a_linker_are_read(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, "linked.json");
    hdt_write(reading.path, SCHEMA,
              "0~op~9~\"inclusive_dur\": 9, \"exclusive_dur\": 4.5, \"ts\": 100.25, \"inter_thread_dep\": null, "
              "\"sync_dep\": [3, 4]\n1~ncclDevKernel_AllReduce~0~\"ts\": 1, \"cat\": \"kernel\", \"stream\": 7, "
              "\"inter_thread_dep\": 12, \"pg_name\": \"5\"\n2~k~0~\"stream\": \"0x10\", \"cat\": \"kernel\"");
    CHECK_OK(read_it(&reading), &reading.err);
    const struct host_trace *trace = reading.trace;
    const struct host_link *op = &trace->links[trace->nodes[0].linked];
    CHECK(op->ts_us == 100.25 && op->inclusive_us == 9 && op->exclusive_us == 4.5, "times");
    CHECK(op->sync_count == 2 && trace->sync_ids[op->first_sync] == 3, "sync_dep");
    CHECK((trace->nodes[0].has & (HOST_HAS_TS | HOST_HAS_INTER_THREAD | HOST_HAS_CAT)) == HOST_HAS_TS, "flags");
    const struct host_link *kernel = &trace->links[trace->nodes[1].linked];
    CHECK(kernel->stream == 7 && kernel->inter_thread_dep == 12, "a kernel");
    CHECK_TEXT(name_of(trace, kernel->cat), "kernel");
    CHECK_TEXT(name_of(trace, kernel->pg_name), "5");
    CHECK((trace->nodes[2].has & HOST_STREAM_IS_TEXT) != 0, "a stream in text");
    CHECK_U64(trace->links[trace->nodes[2].linked].stream, 16, "0x10");
    reading_end(&reading);
}

/* The pair of schema 1.0.3, attributes of 1.1.0, and a rank that is the root of a broadcast. */
static void what_a_communication_says_is_kept(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, "comm.json");
    hdt_write(
        reading.path, SCHEMA,
        "1~record_param_comms~0~~[[1, 2, 0, 50, 4, \"cuda:0\"]], 33, [\"3\", \"tp\"], 2, \"broadcast\", [], []~"
        "\"GenericList[Tensor(float)]\", \"Int\", \"Tuple[String,String]\", \"Int\", \"String\"\n"
        "2~record_param_comms~0~~~~{\"name\": \"collective_name\", \"value\": \"allreduce\"}, {\"name\": \"dtype\", "
        "\"value\": \"Float\"}, {\"name\": \"in_msg_nelems\", \"value\": 53120}, {\"name\": \"pg_name\", \"value\": "
        "\"0\"}, {\"name\": \"pg_size\", \"value\": 2}, {\"name\": \"global_rank_stride\", \"value\": 1}\n"
        "3~## process_group:init ##~0~~\"[{\\\"pg_name\\\": \\\"0\\\"}]\"~\"String\"");
    CHECK_OK(read_it(&reading), &reading.err);
    const struct host_trace *trace = reading.trace;
    const struct host_comm *old = &trace->comms[trace->nodes[0].comm];
    CHECK_TEXT(name_of(trace, old->collective), "broadcast");
    CHECK_TEXT(name_of(trace, old->group_name), "3");
    CHECK_TEXT(name_of(trace, old->group_text), "tp");
    CHECK(old->root_or_peer == 2 && old->tensor_in_bytes == 200 && old->in_elements == UINT64_MAX, "old");
    const struct host_comm *young = &trace->comms[trace->nodes[1].comm];
    CHECK_TEXT(name_of(trace, young->collective), "allreduce");
    CHECK_TEXT(name_of(trace, young->dtype), "Float");
    CHECK(young->in_elements == 53120 && young->group_size == 2 && young->rank_stride == 1, "attributes");
    CHECK(young->root_or_peer == -1 && young->out_elements == UINT64_MAX, "what is not said");
    CHECK_TEXT(trace->process_groups, "[{\"pg_name\": \"0\"}]");
    reading_end(&reading);
}

static void a_node_can_be_read_again(void **state)
{
    (void)state;
    struct reading reading;
    const struct json_item *item = NULL;
    reading_begin(&reading, "again.json");
    hdt_write(reading.path, SCHEMA, "4~a~1\n5~b~1\n6~c~1");
    CHECK_OK(read_it(&reading), &reading.err);
    for (uint32_t i = 3; i-- > 0;) {
        CHECK_OK(host_node_json(reading.trace, i, &item, &reading.err), &reading.err);
        CHECK_U64(json_item_member(item, "id")->value.integer, 4 + i, "node %u", (unsigned)i);
    }
    reading_end(&reading);
}

/* ---- several documents in one file ---- */

static const struct {
    const char *what;
    const char *fronts[3]; /* start_ts of each document, or NULL */
    const char *nodes[3];
    size_t cut; /* bytes taken off the end */
    uint64_t nodes_taken, start_ts;
    const char *note;
} repairs[] = {
    {"the one with most nodes is taken",
     {"1", "2", NULL},
     {"1~a~0\n2~b~1", "1~a~0"},
     0,
     2,
     1,
     "holds 2 documents; number 1"},
    {"of equals the one that started last", {"1", "3", "2"}, {"1~a~0", "1~b~0", "1~c~0"}, 0, 1, 3, "number 2"},
    {"one that is cut off in its last node counts with the others",
     {"1", "2", NULL},
     {"1~a~0", "1~b~0\n2~c~1\n3~d~1"},
     40,
     2,
     2,
     "number 2"},
    {"a single one that is cut off is used up to there",
     {"1", NULL, NULL},
     {"1~a~0\n2~b~1"},
     20,
     2,
     1,
     "cut off at its end; the 2 nodes before that are used"},
};

static void put_documents(const struct reading *reading, size_t index)
{
    char front[64];
    FILE *file = fopen(reading->path, "w");
    for (size_t i = 0; i < 3 && repairs[index].fronts[i] != NULL; i++) {
        snprintf(front, sizeof front, "\"start_ts\": %s", repairs[index].fronts[i]);
        hdt_put(file, SCHEMA, repairs[index].nodes[i], front);
    }
    CHECK(fflush(file) == 0 && ftruncate(fileno(file), ftell(file) - (long)repairs[index].cut) == 0, "truncate");
    fclose(file);
}

static void of_several_documents_the_fullest_is_read_and_a_note_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(repairs); i++) {
        struct reading reading;
        reading_begin(&reading, "several.json");
        put_documents(&reading, i);
        CHECK_OK(read_it(&reading), &reading.err);
        CHECK_U64(reading.trace->node_count, repairs[i].nodes_taken, "%s", repairs[i].what);
        CHECK_U64(reading.trace->start_ts, repairs[i].start_ts, "%s", repairs[i].what);
        CHECK_U64(reading.notes.count, 1, "%s: one note", repairs[i].what);
        CHECK_CONTAINS(reading.notes.lines[0], repairs[i].note);
        reading_end(&reading);
    }
}

static void a_repair_is_an_error_in_strict_mode(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, "strict.json");
    reading.notes.strict = true;
    put_documents(&reading, 0);
    CHECK_STATUS(read_it(&reading), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "holds 2 documents");
    reading_end(&reading);
}

/* ---- errors ---- */

#define HEAD "{\"schema\": \"" SCHEMA "\",\n\"nodes\": [\n"

static const struct {
    const char *text, *want;
} faults[] = {
    {"{\"schema\": \"1.0.1\"}", "no list \"nodes\""},
    {"{\"schema\": \"1.0.1\",\n \"nodes\": 7}", ".json:2: \"nodes\" is a number; a list is needed"},
    {HEAD "7]}", ".json:3: node number 1: no object"},
    {HEAD "{\"name\": \"a\"}]}", ".json:3: node number 1: no \"id\"; a whole number is needed"},
    {HEAD "{\"id\": \"x\", \"name\": \"a\"}]}", "\"id\" is a text; a whole number is needed"},
    {HEAD "{\"id\": 4}]}", ".json:3: node 4: no \"name\""},
    {HEAD "{\"id\": 4, \"name\": \"a\"}]}", ".json:3: node 4: no \"ctrl_deps\""},
    {HEAD "{\"id\": 4, \"name\": \"a\", \"ctrl_deps\": [1]}]}", "\"ctrl_deps\" is a list; the parent's id is needed"},
    {HEAD "{\"id\": 4, \"name\": \"a\", \"ctrl_deps\": 1}]}", "no \"inputs\""},
    {HEAD "{\"id\": 4, \"name\": \"a\", \"ctrl_deps\": 1, \"inputs\": {}}]}", "no \"outputs\""},
    {HEAD "{\"id\": 4, \"name\": \"a\", \"ctrl_deps\": 1, \"inputs\": {}, \"outputs\": {}, \"ts\": \"x\"}]}",
     "\"ts\" is a text; a number of us is needed"},
    {HEAD "{\"id\": 4, \"name\": \"a\", \"ctrl_deps\": 1, \"inputs\": {}, \"outputs\": {}, \"sync_dep\": 3}]}",
     "\"sync_dep\" is a number; a list of node ids is needed"},
    {"not json", ".json:1: "},
    {"", ".json"},
};

static void a_fault_names_line_node_and_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct reading reading;
        reading_begin(&reading, "fault.json");
        put(&reading, faults[i].text);
        CHECK(read_it(&reading) != ORR_OK, "%s", faults[i].text);
        CHECK_CONTAINS(reading.err.text, faults[i].want);
        reading_end(&reading);
    }
}

static void an_unknown_schema_is_read_with_a_note(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, "newer.json");
    hdt_write(reading.path, "1.9.0-chakra.0.0.9", "1~a~0");
    CHECK_OK(read_it(&reading), &reading.err);
    CHECK_U64(reading.notes.count, 1, "one note");
    CHECK_CONTAINS(reading.notes.lines[0], "schema \"1.9.0-chakra.0.0.9\" is not known");
    reading_end(&reading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_read_with_its_attributes),
        cmocka_unit_test(the_flat_form_of_schema_1_0_1_is_read),
        cmocka_unit_test(the_keys_of_a_linker_are_read),
        cmocka_unit_test(what_a_communication_says_is_kept),
        cmocka_unit_test(a_node_can_be_read_again),
        cmocka_unit_test(of_several_documents_the_fullest_is_read_and_a_note_says_so),
        cmocka_unit_test(a_repair_is_an_error_in_strict_mode),
        cmocka_unit_test(a_fault_names_line_node_and_key),
        cmocka_unit_test(an_unknown_schema_is_read_with_a_note),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
