/* SPDX-License-Identifier: Apache-2.0 */
/* `trace ready` and `trace compose` as their users meet them: a recording looked at, a tensor-parallel trace composed,
 * and the result run by itself, grown in memory, and written out, which all agree. */
#include <stdlib.h>

#include "tests/cli/program.h"

/* A tensor-parallel job of `ranks`, two layers: text workloads name their phases. */
static void make_tensor_parallel(unsigned ranks)
{
    char line[120];
    program_enter();
    program_write_text("tp.txt", "MODEL\n2\n"
                                 "a -1 100000 ALLREDUCE 65536 200000 ALLREDUCE 65536 100000 NONE 0 10\n"
                                 "b -1 100000 ALLREDUCE 65536 200000 ALLREDUCE 65536 100000 NONE 0 10\n");
    (void)snprintf(line, sizeof line, "trace convert --from text tp.txt --ranks %u -o tp", ranks);
    CHECK_EXIT(program_run(line), 0);
}

static void run_line(char line[256], const char *prefix, const char *more)
{
    (void)snprintf(line, 256, "run -w %s -s system.json -n network.yml --groups %s.groups.json %s", prefix, prefix,
                   more);
}

/* "Step time  9.602002 ms  (9602002 ns)" */
static uint64_t step_ns(const struct program_result *result)
{
    CHECK_EXIT(result, 0);
    const char *at = strchr(result->out, '(');
    CHECK(at != NULL, "%s", result->out);
    return strtoull(at + 1, NULL, 10);
}

static void a_composed_job_runs_the_same_grown_and_written_out(void **state)
{
    (void)state;
    char line[256];
    make_tensor_parallel(2);
    program_write_machine(8, 4);
    CHECK_EXIT(program_run("trace compose tp --tp 2 --dp 4 --params 1000001 --bucket-size 1MiB -o c/job"), 0);
    CHECK_EXIT(program_run("trace compose tp --tp 2 --dp 4 --params 1000001 --bucket-size 1MiB --write-all -o all/job"),
               0);
    CHECK(program_exists("c/job.1.et") && !program_exists("c/job.2.et"), "one replica");
    CHECK(program_exists("all/job.7.et") && !program_exists("all/job.8.et"), "all ranks");
    CHECK_TEXT(program_read("c/job.groups.json", NULL), "{\n \"1\": [0, 1],\n \"2\": [0],\n \"3\": [1]\n}\n");
    CHECK_TEXT(program_read("all/job.groups.json", NULL),
               "{\n \"1\": [0, 1],\n \"2\": [2, 3],\n \"3\": [4, 5],\n \"4\": [6, 7],\n \"5\": [0, 2, 4, 6],\n"
               " \"6\": [1, 3, 5, 7]\n}\n");
    CHECK_EXIT(program_run("trace check c/job.0.et c/job.1.et all/job.7.et"), 0);
    run_line(line, "c/job", "--grow=tp:2,dp:1");
    uint64_t grown = step_ns(program_run(line));
    run_line(line, "all/job", "");
    CHECK_U64(step_ns(program_run(line)), grown, "files or memory, it is the same job");
    program_write_machine(2, 4);
    run_line(line, "c/job", "");
    CHECK(step_ns(program_run(line)) < grown, "one replica alone reduces nothing");
}

static void a_composed_job_grows_to_128_ranks_in_the_lab(void **state)
{
    (void)state;
    make_tensor_parallel(2);
    const struct program_result *result =
        program_run("trace compose tp --tp 8 --dp 16 --params 494032768 --dtype bf16 -o big/job");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "tp 8 x dp 16 = 128 ranks");
    CHECK_CONTAINS(result->out, "123508192 bytes"); /* 494032768 x 2 / 8 */
    CHECK_CONTAINS(result->out, "--parallel tp:8,dp:1 --world-size 128");
    result = program_run("lab run --workload big/job --parallel tp:8,dp:1 --world-size 128 --output-dir runs");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "8 -> 128 ranks");
}

static void buckets_beside_the_backward_pass_cost_less_than_behind_it(void **state)
{
    (void)state;
    char line[256];
    make_tensor_parallel(2);
    program_write_machine(8, 4);
    CHECK_EXIT(program_run("trace compose tp --tp 2 --dp 4 --params 1000000 --buckets 4 -o beside/job"), 0);
    CHECK_EXIT(program_run("trace compose tp --tp 2 --dp 4 --params 1000000 --buckets 4 --no-overlap -o behind/job"),
               0);
    run_line(line, "beside/job", "--grow=tp:2,dp:1");
    uint64_t beside = step_ns(program_run(line));
    run_line(line, "behind/job", "--grow=tp:2,dp:1");
    CHECK(beside < step_ns(program_run(line)), "overlap helps");
}

static void composing_refuses_what_it_cannot_do_and_leaves_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } bad[] = {
        {"trace compose tp --dp 4 --params 10 -o x/job", "missing --tp N"},
        {"trace compose tp --tp 2 --params 10 -o x/job", "missing --dp N"},
        {"trace compose tp --tp 2 --dp 4 -o x/job", "neither is given"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --gradient-bytes 40 -o x/job", "both are given"},
        {"trace compose tp --tp 2 --dp 4 --params 10", "missing -o PREFIX"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --dtype fp23 -o x/job", "did you mean fp32"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --buckets 2 --bucket-size 1MiB -o x/job", "give one"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --buckets 9 -o x/job", "9 buckets of 5 gradient elements"},
        {"trace compose tp --tp 1 --dp 4 --params 10 -o x/job", "nobody to communicate with"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --trace-tp 1 -o x/job", "more than a tensor-parallel group of 1"},
        {"trace compose tp --tp 2 --dp 4 --params 10 -o tp", "the output would replace the input tp.0.et"},
        {"trace compose none --tp 2 --dp 4 --params 10 -o x/job", "no such file"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --backward /[/ -o x/job", "--backward"},
        {"trace compose tp --tp 2 --dp 4 --gradient-bytes 41 --dtype fp32 -o x/job", "no whole number of fp32"},
        {"trace compose tp --tp 2 --dp 4 --params 10 --backward nothing --strict -o x/job", "no backward work"},
    };
    make_tensor_parallel(2);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const struct program_result *result = program_run(bad[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, bad[i].says);
        CHECK(!program_exists("x/job.0.et") && !program_exists("x/job.groups.json"), "%s leaves a file", bad[i].line);
    }
    CHECK_EXIT(program_run("trace compose tp --tp 2 --dp 4 --params 10 --dry-run"), 0);
}

static void a_model_file_beside_the_traces_says_what_was_not_given(void **state)
{
    (void)state;
    make_tensor_parallel(2);
    CHECK(system("mkdir -p m && cp tp.0.et m/et.qwen15b_tp.0.et") == 0, "a copy");
    program_write_text("m/model_info_qwen15b_tp.json",
                       "{\"model_name\": \"Q\", \"n_params\": 1000001, \"param_dtype_bytes\": 2, \"tp_degree\": 2}");
    const struct program_result *result = program_run("trace compose m/et.qwen15b_tp --tp 4 --dp 2 --dry-run");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "500000 to 500002 bytes"); /* 250000 and 250001 parameters of 2 bytes */
    CHECK_CONTAINS(result->out, "1 of a group of 2");
    CHECK_CONTAINS(result->out, "The model is that of m/model_info_qwen15b_tp.json: 1000001 parameters of 2 bytes, "
                                "traced with a tensor-parallel degree of 2.\n");
    result = program_run("trace compose m --tp 4 --dp 2 --dry-run --dtype fp32 --trace-tp 4");
    CHECK_CONTAINS(result->out, "1000000 to 1000004 bytes");
    CHECK_CONTAINS(result->out, "1 of a group of 4");
    result = program_run("trace compose m --tp 4 --dp 2 --dry-run --params 4");
    CHECK_CONTAINS(result->out, " 4 bytes\n");
    CHECK(strstr(result->out, "The model is") == NULL, "what is given goes first");
    program_write_text("m/model_info_other.json", "{\"n_params\": 7}");
    CHECK_CONTAINS(program_run("trace compose m --tp 4 --dp 2 --dry-run")->out, "1000001 parameters");
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{}", "m/model_info_qwen15b_tp.json:1: no \"n_params\""},
        {"[]", "not an object"},
        {"{\"n_params\": 1.5e9}", "expected a whole number from 1"},
        {"{\"n_params\": 5, \"param_dtype_bytes\": 3}", "expected 1, 2, 4 or 8"},
        {"{\n\"n_params\": \"5\"}", "m/model_info_qwen15b_tp.json:2: \"n_params\" is \"5\""},
        {"{\"n_params\": 5, \"tp_degree\": 0}", "\"tp_degree\" is 0"},
        {"{", "m/model_info_qwen15b_tp.json:1"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        program_write_text("m/model_info_qwen15b_tp.json", bad[i].text);
        result = program_run("trace compose m --tp 4 --dp 2 --dry-run");
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, bad[i].says);
    }
    CHECK(system("mv m/et.qwen15b_tp.0.et m/job.0.et") == 0, "another name");
    result = program_run("trace compose m --tp 4 --dp 2 --dry-run");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "both model_info_other.json and model_info_qwen15b_tp.json could be of the model");
}

static void the_largest_bucket_may_be_the_last_of_two(void **state)
{
    (void)state;
    make_tensor_parallel(2);
    const struct program_result *result =
        program_run("trace compose tp --tp 2 --dp 2 --gradient-bytes 5MiB --first-bucket 1MiB --dry-run");
    CHECK_EXIT(result, 0);
    const char *largest = strstr(result->out, "the largest");
    CHECK(largest != NULL, "%s", result->out);
    CHECK(strstr(largest, " 4 MiB") != NULL && strstr(largest, " 4 MiB") < strchr(largest, '\n'), "%s", largest);
}

/* ---- ready ---- */

static void take_recording(void)
{
    char line[600];
    program_enter();
    (void)snprintf(line, sizeof line, "rm -rf rec && cp -r '%s/cifar10_gloo' rec && chmod -R u+w rec",
                   getenv("ORRERY_DATA"));
    CHECK(system(line) == 0, "%s", line);
}

static void a_usable_recording_ends_with_0_and_a_useless_one_with_1(void **state)
{
    (void)state;
    take_recording();
    const struct program_result *result = program_run("trace ready rec");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "data parallel (DDP)");
    CHECK_CONTAINS(result->out, "2180392");
    CHECK_CONTAINS(result->out, "Usable  yes");
    program_write_text("rec/device_1.json", "{\"hip_driver_version\": 1, \"traceEvents\": []}");
    CHECK(remove("rec/device_1.json.gz") == 0, "the other goes");
    result = program_run("trace ready rec");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "FAULT   rank 1: the device trace is empty");
    CHECK_CONTAINS(result->out, "--trace-steps");
    CHECK_EXIT(program_run("trace ready rec --rank 0"), 0);
    result = program_run("trace ready rec --smoke-only --json -");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "\"weight\": \"fault\"");
    CHECK_EXIT(program_run("trace ready rec --json out.json"), 1);
    CHECK_CONTAINS(program_read("out.json", NULL), "\"usable\": false");
    CHECK_EXIT(program_run("trace ready none"), 2);
    CHECK_EXIT(program_run("trace ready rec --tag zebra"), 2);
}

static void a_report_replaces_no_recording(void **state)
{
    (void)state;
    take_recording();
    const struct program_result *result = program_run("trace ready rec --json rec/device_1.json.gz");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "the report would replace the recording rec/device_1.json.gz");
    CHECK_EXIT(program_run("trace ready rec --rank 1 --json rec/ready.json"), 0);
    CHECK_EXIT(program_run("trace ready rec --rank 1 --json rec/ready.json"), 0);
}

static void runs_of_a_folder_stand_side_by_side(void **state)
{
    (void)state;
    take_recording();
    CHECK(system("cd rec && for t in a b c; do for r in 0 1; do cp device_$r.json.gz device_${r}_$t.json.gz && "
                 "cp host_$r.json.gz host_${r}_$t.json.gz; done; done && rm device_?.json.gz host_?.json.gz") == 0,
          "copies");
    const struct program_result *result = program_run("trace ready rec --compare a c");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "rec, tag c: 2 ranks");
    CHECK(strstr(result->out, "tag b") == NULL, "only those named");
    result = program_run("trace ready --traces-dir rec --ranks auto --all");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "all-reduce a step               2         2         2");
    result = program_run("trace ready rec --model-tag b");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "rec, tag b: 2 ranks, NVIDIA H200");
}

/* ---- export ---- */

static void an_export_takes_its_form_from_the_name(void **state)
{
    (void)state;
    make_tensor_parallel(2);
    static const struct {
        const char *line, *file, *begins;
    } cases[] = {
        {"trace export tp.0.et -o tp.dot", "tp.dot", "digraph"},
        {"trace export tp.0.et -o tp.gv", "tp.gv", "digraph"},
        {"trace export tp.0.et -o tp.graphml", "tp.graphml", "<?xml"},
        {"trace export tp.0.et -o tp.json", "tp.json", "{\"format\""},
        {"trace export tp -o tp.goal", "tp.goal", "num_ranks 2"},
        {"trace export --to dot tp.0.et -o tp.json2", "tp.json2", "digraph"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CHECK_EXIT(program_run(cases[i].line), 0);
        CHECK(strncmp(program_read(cases[i].file, NULL), cases[i].begins, strlen(cases[i].begins)) == 0, "%s",
              cases[i].line);
    }
    const struct program_result *result = program_run("trace export tp.0.et -o tp.picture");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "missing --to json, dot, graphml or goal, which the name behind -o does not end in");
}

TEST_MAIN(a_composed_job_runs_the_same_grown_and_written_out, a_composed_job_grows_to_128_ranks_in_the_lab,
          buckets_beside_the_backward_pass_cost_less_than_behind_it,
          composing_refuses_what_it_cannot_do_and_leaves_nothing,
          a_model_file_beside_the_traces_says_what_was_not_given, the_largest_bucket_may_be_the_last_of_two,
          a_usable_recording_ends_with_0_and_a_useless_one_with_1, a_report_replaces_no_recording,
          runs_of_a_folder_stand_side_by_side, an_export_takes_its_form_from_the_name)
