/* SPDX-License-Identifier: Apache-2.0 */
/* The same library without the program: what a caller of orr_run_* is promised. */
#include "tests/cli/program.h"

#include <math.h>
#include <stdlib.h>

static struct orr_run_options prepare(void)
{
    program_enter();
    program_write_machine(8, 4);
    struct orr_error err = {0};
    CHECK_OK(
        orr_gen(
            &(struct orr_gen_options){
                .pattern = ORR_PATTERN_THREE_NODE, .bytes = 1 << 20, .compute_us = 50, .npus = 8, .prefix = "w/three"},
            &err),
        &err);
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = "w/three";
    options.system = "system.json";
    options.network = "network.yml";
    return options;
}

static void what_is_needed_is_asked_for(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    options.network = NULL;
    CHECK_STATUS(orr_run_open(&options, &run, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "network file");
    options = prepare();
    options.queues_per_dim = 0;
    CHECK_STATUS(orr_run_open(&options, &run, &err), ORR_ERANGE);
    options = prepare();
    options.jitter = -1;
    CHECK_STATUS(orr_run_open(&options, &run, &err), ORR_ERANGE);
    CHECK(run == NULL, "an output is written only on success");
}

static bool remember(void *context, const struct orr_progress *now)
{
    *(struct orr_progress *)context = *now;
    return true;
}

static void a_run_gives_its_figures_and_its_last_progress(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    struct orr_progress last = {0};
    options.progress = remember;
    options.progress_context = &last;
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    CHECK_U64(orr_run_rank_count(run), 8, "ranks");
    CHECK_U64(orr_run_time_ns(run), 405520, "the tutorial's second number");
    CHECK(orr_run_event_count(run) > 0 && orr_run_message_count(run) > 0, "counted");
    struct orr_rank_result rank;
    orr_run_rank(run, 7, &rank);
    CHECK(rank.finished, "rank 7 finished");
    CHECK_U64(rank.finish_ns, 405520, "finish");
    CHECK_U64(rank.exposed_ns, 355520, "exposed communication");
    CHECK_U64(rank.compute_ns + rank.exposed_comm_ns + rank.exposed_other_ns + rank.idle_ns, 405520,
              "each nanosecond is counted once");
    orr_run_rank(run, 8, &rank);
    CHECK(!rank.finished && rank.finish_ns == 0, "there is no rank 8");
    CHECK_U64(last.time_ns, 405520, "the last progress is the end");
    CHECK_U64(last.nodes_done, 24, "all nodes");
    CHECK_U64(last.ranks_finished, 8, "all ranks");
    CHECK(last.done == 1.0, "%g of the work is done", last.done);
    orr_run_close(run);
}

static void a_run_is_executed_once_and_written_afterwards(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_STATUS(orr_run_write(run, ORR_OUTPUT_JSON, "r.json", NULL, &err), ORR_EINVAL);
    CHECK_OK(orr_run_execute(run, &err), &err);
    CHECK_STATUS(orr_run_execute(run, &err), ORR_EINVAL);
    CHECK_STATUS(orr_run_write(run, ORR_OUTPUT_CSV, NULL, stdout, &err), ORR_EINVAL);
    CHECK_STATUS(orr_run_write(run, ORR_OUTPUT_TIMELINE, "t.json", NULL, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "keep_intervals");
    CHECK_STATUS(orr_run_write(run, ORR_OUTPUT_ASTRA, "a.txt", NULL, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "keep_issue_order");
    CHECK(!program_exists("r.json") && !program_exists("t.json") && !program_exists("a.txt"), "nothing was written");
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_JSON, "r.json", NULL, &err), &err);
    orr_run_close(run);
    orr_run_close(NULL);
}

static void two_runs_at_once_do_not_meet(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    struct orr_run *runs[2] = {NULL, NULL};
    struct orr_error err = {0};
    CHECK_OK(orr_run_open(&options, &runs[0], &err), &err);
    options.backend = ORR_BACKEND_AWARE;
    CHECK_OK(orr_run_open(&options, &runs[1], &err), &err);
    CHECK_OK(orr_run_execute(runs[1], &err), &err);
    CHECK_OK(orr_run_execute(runs[0], &err), &err);
    CHECK_U64(orr_run_time_ns(runs[0]), orr_run_time_ns(runs[1]), "one ring, no congestion");
    orr_run_close(runs[0]);
    orr_run_close(runs[1]);
}

static bool refuse(void *context, const struct orr_progress *now)
{
    (void)context;
    (void)now;
    return false;
}

static void a_warning_can_be_read_and_is_an_error_when_strict(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    program_write_text("odd.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n"
                                  "latnecy: [ 1 ]\n");
    options.network = "odd.yml";
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_U64(orr_run_warning_count(run), 1, "warnings");
    CHECK_CONTAINS(orr_run_warning(run, 0), "latnecy");
    CHECK(orr_run_warning(run, 1) == NULL, "there is no second");
    orr_run_close(run);
    options.strict = true;
    CHECK_STATUS(orr_run_open(&options, &run, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "latnecy");
}

static void a_progress_function_that_says_no_ends_a_long_run(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    program_write_machine(8, 65536);
    options.progress = refuse;
    options.no_symmetry = true;
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_STATUS(orr_run_execute(run, &err), ORR_EINTR);
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_JSON, "r.json", NULL, &err), &err);
    CHECK_CONTAINS(program_read("r.json", NULL), "interrupted");
    orr_run_close(run);
}

static void the_report_says_which_ranks_were_carried_out_when_asked(void **state)
{
    (void)state;
    struct orr_run_options options = prepare();
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    struct orr_symmetry symmetry;
    for (int plain = 0; plain < 2; plain++) {
        options.no_symmetry = plain != 0;
        CHECK_OK(orr_run_open(&options, &run, &err), &err);
        CHECK_OK(orr_run_execute(run, &err), &err);
        orr_run_symmetry(run, &symmetry);
        CHECK_U64(symmetry.carried_out, plain ? 8 : 1, "ranks");
        CHECK((symmetry.because != NULL) == (plain != 0), "a reason where there is one");
        orr_run_close(run);
    }
    const struct program_result *result =
        program_run("run -w w/three -s system.json -n network.yml --explain-symmetry");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\nSymmetry   1 class of ranks: rank 0 was carried out for all 8\n");
    result = program_run("run -w w/three -s system.json -n network.yml --explain-symmetry --no-symmetry");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\nSymmetry   every rank was carried out: ");
    result = program_run("run -w w/three -s system.json -n network.yml --explain-symmetry --format json");
    CHECK_CONTAINS(result->out, "\"ranks_carried_out\": 1,");
    result = program_run("run -w w/three -s system.json -n network.yml");
    CHECK(strstr(result->out, "Symmetry") == NULL, "nobody asked: %s", result->out);
}

static void the_step_time_of_several_steps_is_that_of_one(void **state)
{
    (void)state;
    program_enter();
    CHECK_EXIT(program_run("gen ddp --params 1000000 --steps 4 --forward 1ms --backward 2ms --ranks 2 -o w/ddp"), 0);
    const struct program_result *result = program_run("run -w w/ddp -m ring --json all.json");
    CHECK_EXIT(result, 0);
    const char *told = strstr(result->out, "  (");
    CHECK(told != NULL, "%s", result->out);
    double all = strtod(told + 3, NULL) / 1e6;
    CHECK(fabs(strtod(result->out + strlen("Step time"), NULL) - all / 4) < 1e-3, "%s", result->out);
    CHECK_CONTAINS(result->out, " ms, the mean of 4 steps in ");
    CHECK_CONTAINS(program_read("all.json", NULL), "\"steps\": 4,");
}

/* ---- compute that nobody timed ---- */

#define MACHINE " --system system.json --network network.yml "

static void a_step_time_without_compute_says_so(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(4, 1);
    CHECK_EXIT(
        program_run("gen stg -o w/untimed --model_type gpt --batch 4 --num_stacks 1 --dmodel 256 --dff 512 --head 4 "
                    "--dp 2 --tp 2"),
        0);
    const struct program_result *result = program_run("run -w w/untimed" MACHINE);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "the step time is communication alone; --comp-source roofline");
    CHECK_CONTAINS(result->err, "--devices 0-3=h100");
    CHECK_CONTAINS(result->out, "Compute    none: no compute node has a time");
    CHECK_CONTAINS(program_run("run -w w/untimed" MACHINE "--json -")->out, "\"compute_nodes_without_time\": ");
    static const char *const timed[] = {"run -w w/untimed" MACHINE "--comp-source roofline --devices 0-3=h100",
                                        "run -w w/untimed" MACHINE "--comp-source forced --force-avg-kernel-ns 5000"};
    for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++) {
        result = program_run(timed[i]);
        CHECK_EXIT(result, 0);
        CHECK(strstr(result->err, "communication alone") == NULL && strstr(result->out, "Compute    none") == NULL,
              "%s: %s", timed[i], result->err);
    }
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 4 -o w/alone"), 0);
    CHECK_TEXT(program_run("run -w w/alone" MACHINE)->err, "");
}

static void rows_without_compute_times_are_told_of(void **state)
{
    (void)state;
    program_enter();
    program_write_text("w.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1\n1\n"
                                "mlp -1 500 ALLREDUCE 1048576 1 NONE 0 1 NONE 0 100\n");
    static const struct {
        const char *line;
        bool told;
    } cases[] = {{"simai analytical -w ep1.txt -g 128 -nv 360 -nic 48.5 -n_p_s 8 -g_p_s 8", true},
                 {"simai analytical -w w.txt -g 128 -nv 360 -nic 48.5 -n_p_s 8 -g_p_s 8", false},
                 {"simai analytical -w ep1.txt -g 128 -nv 360 -nic 48.5 -n_p_s 8 -g_p_s 8 --compat simai", false},
                 {"simai simulate -w ep1.txt --machine dgx-h100:1", true}};
    program_write_text("ep1.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1\n1\n"
                                  "mlp -1 1 ALLREDUCE 1048576 1 NONE 0 1 NONE 0 100\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK_EXIT(result, 0);
        bool told = strstr(result->err, "communication alone; --compute-times model with --model and --device") != NULL;
        CHECK(told == cases[i].told, "%s: %s", cases[i].line, result->err);
    }
}

TEST_MAIN(a_step_time_without_compute_says_so, rows_without_compute_times_are_told_of,
          the_step_time_of_several_steps_is_that_of_one, what_is_needed_is_asked_for,
          a_run_gives_its_figures_and_its_last_progress, a_run_is_executed_once_and_written_afterwards,
          two_runs_at_once_do_not_meet, a_warning_can_be_read_and_is_an_error_when_strict,
          a_progress_function_that_says_no_ends_a_long_run, the_report_says_which_ranks_were_carried_out_when_asked)
