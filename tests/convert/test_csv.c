/* SPDX-License-Identifier: Apache-2.0 */
/* A user's table: which columns mean what, in which unit, and which tables are refused. */
#include "convert/csv.h"
#include "tests/convert/converting.h"

static const struct {
    const char *map, *text, *want;
} good[] = {
    {NULL, "id,name,duration_us,comm,bytes,deps\na,fwd,1500,,,\nb,grad,,all-reduce,4MiB,a\nc,opt,2.5,none,,a b\n",
     " fwd/1500 grad=0:4194304(0) opt/2(0,1)"},
    {"duration=3,deps=after,comm=coll",
     "id,op,time (ms),after,coll,size\n1,fwd,1.5,,,\n2,\"b, \"\"q\"\"\",2.75,1,,\n"
     "3,grad,,2|1,ALL_GATHER,1KB\n",
     " fwd/1500 b, \"q\"/2750(0) grad=2:1000(0,1)"},
    {"duration_ns=t", "t\n700\n700\n", " compute_1/0 compute_2/1(0)"},
    {NULL, "id;duration_ms;deps\r\n2;0,5;1\r\n1;1;\r\n", " compute_2/1000 compute_1/500(0)"},
    {NULL, "name\tduration\tstream\n a\t5\t1\nb\t6\t2\nc\t7\t1\n", " a/5 b/6 c/7(0)"},
    {NULL, "\xEF\xBB\xBFid,duration\n\nx,3us\n\ny,1ms\n", " compute_1/3 compute_2/1000(0)"},
    {NULL, "name,type,bytes,duration,num_ops\nl,load,64,,\nk,comp,32,,1000\ns,MEM_STORE_NODE,64,1,\n",
     " l! k/0(0) s!(1)"},
};

static void a_table_becomes_the_graph_it_means(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct converting one;
        converting_begin(&one, "table.csv");
        one.request.map = good[i].map;
        CHECK_OK(converting_run(&one, &csv_converter, good[i].text), &one.err);
        check_rank(&one, 0, good[i].want);
        converting_end(&one);
    }
}

static void a_slip_of_the_header_is_noted(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "slip.csv");
    CHECK_OK(converting_run(&one, &csv_converter, "duration,stpe\n1,2\n"), &one.err);
    CHECK(converting_has_note(&one, "the column \"stpe\" is not used; did you mean \"step\"?"), "no note");
    check_rank(&one, 0, " compute_1/1");
    converting_end(&one);
}

static void ranks_talk_to_each_other_and_simulate(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "ranks.csv");
    CHECK_OK(converting_run(&one, &csv_converter,
                            "rank,id,name,comm,peer,tag,bytes,duration_us,deps\n0,1,s,send,1,3,1MiB,,2\n0,2,k,,,,,10,\n"
                            "1,1,r,recv,0,3,1MiB,,\n1,2,g,AllReduce,,,8,,1\n0,3,g,nccl_all_reduce,,,8,,1\n"),
             &one.err);
    CHECK_U64(one.summary.comm_bytes, 2 * 1048576 + 16, "bytes");
    CHECK(simulate(&one, 2) > 10000, "it runs");
    check_rank(&one, 0, " k/10 s>1#3:1048576(0) g=0:8(1)");
    check_rank(&one, 1, " r<0#3:1048576 g=0:8(0)");
    converting_end(&one);
}

static void one_rank_can_be_copied_and_a_single_file_named(void **state)
{
    (void)state;
    struct converting one;
    char path[96];
    converting_begin(&one, "copy.csv");
    one.request.ranks = 3;
    CHECK_OK(converting_run(&one, &csv_converter, "name,comm,bytes\ng,all-reduce,8\n"), &one.err);
    CHECK_U64(one.summary.files, 3, "files");
    for (uint32_t r = 0; r < 3; r++)
        check_rank(&one, r, " g=0:8");
    snprintf(path, sizeof path, "%s/single.et", folder);
    one.request.output = path;
    one.request.ranks = 0;
    CHECK_OK(converting_run(&one, &csv_converter, "name,comm,bytes\ng,all-reduce,8\n"), &one.err);
    char *got = describe(path);
    CHECK_TEXT(got, " g=0:8");
    free(got);
    converting_end(&one);
}

static void how_it_was_known_is_kept(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "unknown.csv");
    check_refused(
        &one, &csv_converter, "name,comm\ng,all-reduce\nb,barrier\n",
        "unknown.csv:2: the size of \"g\" is not in the table; give the bytes to take with parameter 'unknown-size'");
    one.request.has_unknown_size = true;
    one.request.unknown_size = 512;
    CHECK_OK(converting_run(&one, &csv_converter, "name,comm,step,group\ng,all-reduce,7,3\nb,barrier,8,\n"), &one.err);
    struct trace_document *document = converting_open(rank_path(&one, 0));
    CHECK_TEXT(named(document->nodes[0], "size_from")->string_val, "given");
    CHECK_TEXT(named(document->nodes[0], "type_from")->string_val, "column");
    CHECK_TEXT(named(document->nodes[0], "pg_name")->string_val, "3");
    CHECK_TEXT(named(document->nodes[1], "size_from")->string_val, "needs-none");
    CHECK_U64(named(document->nodes[1], "step")->int64_val, 8, "step");
    trace_document_free(document);
    check_rank(&one, 0, " g=0:512 b=9:0(0)");
    converting_end(&one);
}

static const struct {
    const char *map, *text, *message;
} bad[] = {
    {NULL, "", "no header line"},
    {NULL, "id,duration\n", "no row below the header"},
    {NULL, "a,b\n1,2\n", ":1: none of the columns is a duration, a comm or a type"},
    {NULL, "id,duration\n1\n", ":2: 1 fields, where the header has 2"},
    {NULL, "id,duration\n1,x\n", ":2:3: duration is \"x\"; a time of at least 0"},
    {NULL, "id,duration\n1,-1\n", ":2:3: duration is \"-1\""},
    {NULL, "id,duration\n1,\n", ":2: a compute operation without a duration"},
    {NULL, "id,comm,bytes\n1,all-redcue,8\n", ":2:3: comm is \"all-redcue\"; did you mean \"allreduce\"?"},
    {NULL, "id,comm,bytes\n1,all-reduce,1.5\n", ":2:14: bytes is \"1.5\"; a whole number of bytes"},
    {NULL, "id,duration,deps\n1,1,1 7\n", ":2:7: no row of rank 0 has the id \"7\""},
    {NULL, "id,duration\n1,1\n1,1\n", ":3:1: id is \"1\"; line 2 has the same id on the same rank"},
    {NULL, "id,duration,deps\na,1,b\nb,1,a\n",
     "2 operations in a circle, each waiting for the next: \"compute_1\" (line 2)"},
    {NULL, "comm,bytes\nall-reduce,0\n", ":2:12: bytes is \"0\"; communication has at least one byte"},
    {NULL, "comm,bytes,rank\nsend,8,0\n", ":2: a send without a peer"},
    {NULL, "comm,bytes,rank,peer\nsend,8,0,5\n", ":2: rank 0's peer is rank 5"},
    {NULL, "duration,rank\n1,1\n", "rank 0 of 2 has no operation"},
    {NULL, "duration,type\n1,foo\n", ":2:3: type is \"foo\"; comp, collective"},
    {NULL, "type,comm,bytes\ncomp,all-reduce,3\n", "which is not what the column comm says"},
    {NULL, "duration,name\n1,\"x\n", ":2:3: a quote that is never closed"},
    {NULL, "duration,name\n1,\"x\"y\n", ":2:6: text behind a closing quote"},
    {"duration=time", "t\n1\n", "the map names the column \"time\""},
    {"duraton=t", "t\n1\n", "\"duraton\" is no meaning of a column; did you mean \"duration\"?"},
    {"duration", "t\n1\n", "\"duration\" is no pair MEANING=COLUMN"},
};

static void a_bad_table_is_refused_with_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct converting one;
        converting_begin(&one, "bad.csv");
        one.request.map = bad[i].map;
        check_refused(&one, &csv_converter, bad[i].text, bad[i].message);
        converting_end(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_becomes_the_graph_it_means),
        cmocka_unit_test(a_slip_of_the_header_is_noted),
        cmocka_unit_test(ranks_talk_to_each_other_and_simulate),
        cmocka_unit_test(one_rank_can_be_copied_and_a_single_file_named),
        cmocka_unit_test(how_it_was_known_is_kept),
        cmocka_unit_test(a_bad_table_is_refused_with_line_and_column),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
