/* SPDX-License-Identifier: Apache-2.0 */
/* Times of collectives as the program tells them: a range of sizes, a table, the comparison, the fit. */
#include <stdlib.h>

#include "tests/cli/program.h"

static const char *thinned(void)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/../collectives/thinned.csv", getenv("ORRERY_DATA"));
    return path;
}

static void run_with_table(const char *command, const char *options, int want)
{
    char line[4096];
    (void)snprintf(line, sizeof line, "%s %s %s", command, thinned(), options);
    CHECK_EXIT(program_run(line), want);
}

static void a_range_of_sizes_stands_beside_what_was_measured(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result =
        program_run("coll time --machine dgx-h100 --op all-reduce --bytes 1MiB..4MiB --nccl-version 2.29.2");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "all-reduce on 1 x 8 h100");
    CHECK_CONTAINS(result->out, "aiconfigurator");
    CHECK_CONTAINS(result->out, "4194304");
    result = program_run("coll time --machine dgx-h100:4 --bytes 1GiB --json -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\"nodes\": 4");
    CHECK_CONTAINS(result->out, "\"algorithm\": \"nvls-tree\"");
}

static void every_row_of_a_table_has_a_time_or_a_reason(void **state)
{
    (void)state;
    program_enter();
    program_write_text("in.csv", "source,gpu,nccl,nodes,gpus_per_node,op,bytes,note\n"
                                 "mine,h200_sxm,2.29.2,1,8,all-reduce,1048576,\"a, b\"\n"
                                 "mine,vic20,,1,8,all-reduce,1048576,\n"
                                 "mine,h100,,2,8,all-reduced,1048576,\n"
                                 "mine,h100,,0,8,all-reduce,1048576,\n"
                                 "aws,NVIDIA H100 80GB HBM3,,16,8,all-gather,1048576,\n");
    const struct program_result *result = program_run("coll time --table in.csv -o out.csv");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "3 not predicted");
    size_t size = 0;
    const char *out = program_read("out.csv", &size);
    CHECK_CONTAINS(out, "note,predicted_us,algorithm,protocol,method,status\n");
    CHECK_CONTAINS(out, "\"a, b\",25.4,");
    CHECK_CONTAINS(out, "relative,ok\n");
    CHECK_CONTAINS(out, "unknown GPU \"\"vic20\"\"");
    CHECK_CONTAINS(out, "did you mean \"\"all-reduce\"\"?");
    CHECK_CONTAINS(out, "nodes \"\"0\"\" is not a whole number");
    CHECK_CONTAINS(out, "model,ok\n");
}

static void a_bad_row_does_not_end_a_table(void **state)
{
    (void)state;
    program_enter();
    program_write_text("in.csv", "# from the cluster\n#\nnodes,gpus_per_node,op,bytes\n1,8,all-reduce,1048576\n"
                                 "1,8\n1,8,all-reduce,1048576,9,9\n2,8,all-gather,1048576\n");
    const struct program_result *result = program_run("coll time --table in.csv --gpu h100 -o -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "nodes,gpus_per_node,op,bytes,predicted_us,");
    CHECK_CONTAINS(result->out, "1,8,,,,,,,\"2 fields, where the header has 4\"\n");
    CHECK_CONTAINS(result->out, "1,8,all-reduce,1048576,,,,,\"6 fields");
    CHECK_CONTAINS(result->out, "2,8,all-gather,1048576,");
    CHECK(!program_exists("-"), "standard output is no file");
}

static void a_line_of_machines_is_read_as_machine_show_reads_it(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result =
        program_run("coll time --machine dgx-h100:2>rail:200Gbps>spine:4 --bytes 1GiB");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "on 2 x 8 h100");
    char *line = strdup(result->out);
    CHECK_TEXT(program_run("coll time --machine dgx-h100:2 --nic 25 --bytes 1GiB")->out, line);
    free(line);
    static const char *const bad[] = {"dgx-h100:x", "dgx-h100:", "dgx-h100:2:3", "dgx-h100:2>rial"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "coll time --machine %s --bytes 8", bad[i]);
        result = program_run(text);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
    }
}

static void bad_tables_and_options_are_one_line(void **state)
{
    (void)state;
    program_enter();
    program_write_text("in.csv", "gpu,nodes,op,bytes\nh100,1,all-reduce,8\n");
    program_write_text("twice.csv", "gpu,gpu,nodes,gpus_per_node,op,bytes\n");
    program_write_text("two.csv", "bytes,us\n8,1\n1024,2\n");
    static const struct {
        const char *line, *part;
    } cases[] = {
        {"coll time --table in.csv -o out.csv", "in.csv:1: no column \"gpus_per_node\""},
        {"coll time --table in.csv", "--output"},
        {"coll time --table in.csv -o in.csv", "the table itself"},
        {"coll time --table in.csv -o out.csv --bytes 8", "--bytes is not for it"},
        {"coll time --table in.csv -o out.csv --op all-reduce", "--op is not for it"},
        {"coll time --table in.csv -o out.csv --json -", "--json is not for it"},
        {"coll time --table twice.csv -o out.csv", "\"gpu\" is there twice"},
        {"coll time --gpu h100 --measured two.csv", "columns collective and ranks"},
        {"coll time --gpu h100 --gpus-per-node 540", "at most 16"},
        {"coll time --machine dgx-h100 --groups 100", "a node of 8"},
        {"coll time --gpu h100 --nccl-version 9.9", "2.29.2"},
        {"coll time --gpu a100 --algo nvls --bytes 8", "NCCL does not use nvls for all-reduce on 1 x 8 a100"},
        {"coll time", "neither a machine nor a GPU"},
        {"coll time --gpu h10", "did you mean \"h100\""},
        {"coll time --gpu h100 --bytes 2KiB..1KiB", "goes down"},
        {"coll time --gpu h100 --algo rings", "ring"},
        {"coll time --gpu a100 --algo nvls --bytes 8", "nvls"},
        {"coll time --gpu h100 --nccl-version new", "2.29.2"},
        {"coll time --gpu h100 --fabric token-ring", "slingshot"},
        {"coll time --machine 8gpu_ring2d_4", "names no GPU"},
        {"coll time --gpu h100 --measured in.csv", "in.csv"},
        {"coll compare in.csv", "gpus_per_node"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, cases[i].part);
    }
}

static void a_users_own_log_is_used_at_once(void **state)
{
    (void)state;
    program_enter();
    program_write_text(
        "log.txt",
        "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20\n"
        "#                                                              out-of-place                       in-place\n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
        "#wrong\n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
        "(GB/s)\n"
        "     1048576        262144     float     sum      -1    77.00   13.62   23.83      0    77.00   13.62   23.83 "
        " "
        "    0\n"
        "     2097152        524288     float     sum      -1    99.00   21.18   37.07      0    99.00   21.18   37.07 "
        " "
        "    0\n");
    const struct program_result *result =
        program_run("coll time --machine dgx-h100 --measured log.txt --bytes 1MiB..2MiB");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "your measurements");
    CHECK_CONTAINS(result->out, " 77.00 ");
    CHECK_CONTAINS(result->out, " 99.00 ");
    CHECK(strstr(result->out, "warning") == NULL, "they are used");
    result = program_run("coll time --machine dgx-h100 --measured log.txt --op all-gather --bytes 1MiB");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "warning: no measurement that was given is of all-gather on 1 x 8");
}

static void write_traces(const char *type, uint64_t bytes, const char *prefix)
{
    struct orr_error err = {0};
    struct orr_gen_options options = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = type, .bytes = bytes, .npus = 16, .prefix = prefix};
    CHECK_OK(orr_gen(&options, &err), &err);
}

/* Nanoseconds of "Step time  346.040 us  (346040 ns)". */
static double step_ns(const char *line)
{
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    const char *at = strstr(result->out, "(");
    return at != NULL ? strtod(at + 1, NULL) : 0;
}

static void a_run_takes_what_the_model_says(void **state)
{
    (void)state;
    static const struct {
        const char *type, *prefix;
        enum orr_coll_op op;
        uint32_t parts; /* of the whole buffer that a trace's bytes are */
    } cases[] = {{"all-reduce", "w/r", ORR_COLL_OP_ALL_REDUCE, 1},
                 {"all-gather", "w/g", ORR_COLL_OP_ALL_GATHER, 16},
                 {"all-to-all", "w/a", ORR_COLL_OP_ALL_TO_ALL, 1}};
    program_enter();
    struct orr_coll_machine machine = {.machine = "dgx-h100:2"};
    struct orr_coll_timer *timer = NULL;
    struct orr_error err = {0};
    CHECK_OK(orr_coll_timer_open(&machine, &timer, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_traces(cases[i].type, 1 << 20, cases[i].prefix);
        struct orr_coll_question question = {
            .op = cases[i].op, .bytes = (1u << 20) * cases[i].parts, .nodes = 2, .gpus = 8};
        struct orr_coll_answer answer;
        CHECK_OK(orr_coll_time(timer, &question, &answer, &err), &err);
        char line[200];
        (void)snprintf(line, sizeof line, "run -w %s --machine dgx-h100:2 --collective-times model", cases[i].prefix);
        CHECK_NEAR(step_ns(line), answer.us * 1e3, 0.0001);
    }
    orr_coll_timer_close(timer);
}

/* Messages alone cost neither launch nor protocol; small collectives are far too fast like that. */
static void a_run_of_messages_says_what_the_library_would_take(void **state)
{
    (void)state;
    program_enter();
    write_traces("all-reduce", 8192, "w/small");
    const struct program_result *result = program_run("run -w w/small --machine dgx-h100:2");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "all-reduce, 8 KiB: NCCL takes ");
    CHECK_CONTAINS(result->out, "--collective-times model counts");
    result = program_run("run -w w/small --machine dgx-h100:2 --collective-times model");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->out, "NCCL takes") == NULL, "these are its times: %s", result->out);
    result = program_run("run -w w/small --machine ring:16");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->out, "NCCL takes") == NULL, "no GPU is known: %s", result->out);
    write_traces("all-reduce", 1 << 30, "w/large");
    result = program_run("run -w w/large --machine dgx-h100:2");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->out, "NCCL takes") == NULL, "wires are most of it: %s", result->out);
}

/* What a line says of the NICs is asked in both ways. */
static void a_line_of_slower_nics_is_as_slow_in_a_run_as_in_the_model(void **state)
{
    (void)state;
    static const char *const machines[] = {"dgx-h100:2>rail:400Gbps", "dgx-h100:2>rail:100Gbps"};
    double ns[2];
    program_enter();
    write_traces("all-reduce", 1 << 26, "w/l");
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct orr_coll_machine machine = {.machine = machines[i]};
        struct orr_coll_question question = {.op = ORR_COLL_OP_ALL_REDUCE, .bytes = 1 << 26, .nodes = 2, .gpus = 8};
        struct orr_coll_timer *timer = NULL;
        struct orr_coll_answer answer;
        struct orr_error err = {0};
        char line[200];
        CHECK_OK(orr_coll_timer_open(&machine, &timer, &err), &err);
        CHECK_OK(orr_coll_time(timer, &question, &answer, &err), &err);
        orr_coll_timer_close(timer);
        (void)snprintf(line, sizeof line, "run -w w/l --machine %s --collective-times model", machines[i]);
        ns[i] = step_ns(line);
        CHECK_NEAR(ns[i], answer.us * 1e3, 0.0001);
    }
    CHECK(ns[1] > 1.5 * ns[0], "%g and %g", ns[0], ns[1]);
}

static void a_run_without_a_known_gpu_is_refused(void **state)
{
    (void)state;
    program_enter();
    write_traces("all-reduce", 1 << 20, "w/r");
    const struct program_result *result = program_run("run -w w/r --machine 16gpu_ring --collective-times model");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--collective-gpu");
    CHECK_EXIT(program_run("run -w w/r --machine 16gpu_ring --collective-times model --collective-gpu a100"), 0);
    CHECK_EXIT(program_run("run -w w/r --machine 16gpu_ring --collective-times model --collective-gpu vic20"), 2);
}

static void a_rank_at_another_collective_is_a_stall_that_names_it(void **state)
{
    (void)state;
    program_enter();
    write_traces("all-reduce", 1 << 20, "w/s");
    write_traces("all-gather", 1 << 20, "w/o");
    size_t size = 0;
    const char *bytes = program_read("w/o.3.et", &size);
    program_write("w/s.3.et", bytes, size);
    const struct program_result *result = program_run("run -q -w w/s --machine dgx-h100:2 --collective-times model");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "rank 3 never joins");
}

/* DeepEP's own table, on H800 with 128 tokens of 7168 to 8 experts: EP 32 155 and 273 us, EP 8 77 and 114 us. It was
 * not fitted on. */
static void experts_take_about_what_deepep_says(void **state)
{
    (void)state;
    struct orr_coll_experts experts = {.gpu = "h800", .nodes = 4, .tokens = 128, .topk = 8, .hidden = 7168};
    struct orr_coll_experts_time time;
    struct orr_error err = {0};
    CHECK_OK(orr_coll_experts_time(&experts, &time, &err), &err);
    CHECK_NEAR(time.dispatch_us, 155, 0.15);
    CHECK_NEAR(time.combine_us, 273, 0.15);
    double few = time.dispatch_us;
    experts.tokens = 256;
    CHECK_OK(orr_coll_experts_time(&experts, &time, &err), &err);
    CHECK(time.dispatch_us > few, "more tokens take longer");
    /* Of the normal kernels it tells rates: 153 and 158 GB/s on one node of H800, 58 and 57 over the NICs of four. */
    experts = (struct orr_coll_experts){
        .gpu = "h800", .nodes = 1, .tokens = 4096, .topk = 8, .hidden = 7168, .kernel = ORR_COLL_EXPERTS_NORMAL};
    double reached = 8 * (1 - pow(7.0 / 8, 8));
    CHECK_OK(orr_coll_experts_time(&experts, &time, &err), &err);
    CHECK(fabs(4096 * reached * 7168 * 2e-3 / time.combine_us / 158 - 1) < 0.05, "%g us", time.combine_us);
    experts.nodes = 4;
    CHECK_OK(orr_coll_experts_time(&experts, &time, &err), &err);
    CHECK(fabs(4096 * 4 * (1 - pow(0.75, 8)) * 7168 * 2e-3 / time.combine_us / 57 - 1) < 0.05, "%g us",
          time.combine_us);
    experts.gpu = "l40s";
    CHECK_STATUS(orr_coll_experts_time(&experts, &time, &err), ORR_EINVAL);
    experts.kernel = ORR_COLL_EXPERTS_LOW_LATENCY;
    experts.gpu = "mi300x";
    CHECK_STATUS(orr_coll_experts_time(&experts, &time, &err), ORR_EINVAL);
    experts.gpu = "h100";
    experts.topk = 0;
    CHECK_STATUS(orr_coll_experts_time(&experts, &time, &err), ORR_ERANGE);
    program_enter();
    CHECK_EXIT(program_run("coll experts --gpu gb200 --tokens 64"), 0);
    CHECK_EXIT(program_run("coll experts --gpu vic20"), 2);
    /* Names as NCCL spells them. */
    CHECK_CONTAINS(program_run("coll time --gpu h100 --nodes 4 --op AllReduce --algo NVLSTree --proto Simple")->out,
                   "nvls-tree simple");
}

/* The bars of the sets that are shipped: what a change of the model or of the data must not make worse. */
static void fitted_sets_are_within_four_percent(void **state)
{
    (void)state;
    program_enter();
    run_with_table("coll compare", "--worst 4 --page a.md --svg a.svg", 0);
    CHECK(program_exists("a.md") && program_exists("a.svg"), "page and picture are written");
    run_with_table("coll compare", "--worst 0.001", 1);
}

static void a_fit_gives_the_same_files_again_and_keeps_its_bar(void **state)
{
    (void)state;
    program_enter();
    run_with_table("coll fit", "--ship aiconfigurator -o one --worst 90", 0);
    run_with_table("coll fit", "--ship aiconfigurator -o two --worst 90", 0);
    size_t size = 0;
    static const char *const names[] = {"gpus.csv", "fabrics.csv", "curves.csv"};
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "one/%s", names[i]);
        char *first = strdup(program_read(path, &size));
        (void)snprintf(path, sizeof path, "two/%s", names[i]);
        CHECK_TEXT(program_read(path, &size), first);
        free(first);
    }
    CHECK(strstr(program_read("one/curves.csv", &size), "xxrjun") == NULL, "a source that is not shipped is");
    run_with_table("coll fit", "--worst 1", 1);
}

TEST_MAIN(a_bad_row_does_not_end_a_table, a_line_of_machines_is_read_as_machine_show_reads_it,
          a_range_of_sizes_stands_beside_what_was_measured, every_row_of_a_table_has_a_time_or_a_reason,
          bad_tables_and_options_are_one_line, a_users_own_log_is_used_at_once, experts_take_about_what_deepep_says,
          a_run_takes_what_the_model_says, a_run_of_messages_says_what_the_library_would_take,
          a_line_of_slower_nics_is_as_slow_in_a_run_as_in_the_model, a_run_without_a_known_gpu_is_refused,
          a_rank_at_another_collective_is_a_stall_that_names_it, fitted_sets_are_within_four_percent,
          a_fit_gives_the_same_files_again_and_keeps_its_bar)
