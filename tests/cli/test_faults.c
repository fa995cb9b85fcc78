/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters as they are, through the program: ranks that differ (docs/faults.md). What changes nothing changes nothing
 * to the integer, and what can be said in two ways ends the same. */
#include "tests/cli/cluster.h"

static void factors_of_one_change_nothing(void **state)
{
    (void)state;
    prepare();
    program_write_text("ones.csv", "ranks,compute_factor,link_factor\n0-2,1,1\n3-5,1.0,\n7,,1\n");
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *plain = run_lines(networks[i].options, "");
        CHECK_TEXT(run_lines(networks[i].options, "--devices ones.csv"), plain);
        CHECK_TEXT(run_lines(networks[i].options, "--devices 0-2=x1:linkx1,3-5=x1,7=linkx1"), plain);
    }
}

static void all_links_at_half_their_rate_are_a_network_of_half_the_rate(void **state)
{
    (void)state;
    prepare();
    program_write_text("half.csv", "ranks,link_factor\n0-7,0.5\n");
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *half = run_lines(networks[i].half, "");
        CHECK_TEXT(run_lines(networks[i].options, "--devices half.csv"), half);
        CHECK_TEXT(run_lines(networks[i].options, "--devices half.csv --no-symmetry --no-memo"), half);
    }
}

static void one_slow_link_is_waited_for_by_all(void **state)
{
    (void)state;
    prepare();
    program_write_text("one.json", "[{\"ranks\": 3, \"link_factor\": 0.25, \"compute_factor\": 1.5}]\n");
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *plain = run_lines(networks[i].options, "");
        const char *slow = run_lines(networks[i].options, "--devices one.json");
        CHECK(strcmp(plain, slow) != 0, "%s: a slow link shows", networks[i].name);
        const char *listed = run_lines(networks[i].options, "--devices 3=linkx0.25:x1.5");
        CHECK_TEXT(listed, slow);
        CHECK_TEXT(run_lines(networks[i].options, "--no-symmetry --no-memo --devices one.json"), listed);
    }
}

static void a_file_of_devices_that_is_wrong_is_told_with_its_line(void **state)
{
    (void)state;
    prepare();
    program_write_text("bad.csv", "ranks,device\n0-3,h100\n4-8,a100\n");
    const struct program_result *result = program_run("run -w w/three -s system.json -n network.yml --devices bad.csv");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "bad.csv:3: there is no rank 8; the machine has ranks 0 to 7");
    result = program_run("run -w w/three -s system.json -n network.yml --devices none.csv");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "\"none.csv\" is not RANKS=DEVICE, as in 4-7=mi300x, nor a file");
}

static void jitter_of_nothing_changes_nothing(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *plain = run_lines(networks[i].options, "");
        CHECK_TEXT(run_lines(networks[i].options, "--jitter normal:0% --seed 5"), plain);
        CHECK_TEXT(run_lines(networks[i].options, "--stragglers 3:1x --jitter lognormal:0:rank"), plain);
    }
}

static void a_named_straggler_is_a_device_of_that_factor(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *device = run_lines(networks[i].options, "--devices 2-3=x9");
        CHECK_TEXT(run_lines(networks[i].options, "--stragglers ranks=2-3:9x"), device);
    }
}

#define NOISY "run --no-progress -w w/three -s system.json -n network.yml --jitter lognormal:3 --stragglers 1:4x "

static void many_seeds_give_the_same_figures_on_any_number_of_threads(void **state)
{
    (void)state;
    prepare();
    static char first[1 << 16];
    (void)snprintf(first, sizeof first, "%.60000s", program_run(NOISY "--seed 3 --repeat 24 -j 1 --json -")->out);
    CHECK_TEXT(program_run(NOISY "--seed 3 --repeat 24 -j 3 --json -")->out, first);
    uint64_t worst = figure(first, "\"worst_ns\"");
    CHECK(worst > figure(first, "\"plain_ns\""), "some seed is slower than none");
    CHECK(figure(first, "\"p50_ns\"") <= figure(first, "\"p99_ns\""), "percentiles ascend");
    char line[300];
    (void)snprintf(line, sizeof line, NOISY "--seed %" PRIu64 " --json -", figure(first, "\"worst_seed\""));
    const struct program_result *one = program_run(line);
    CHECK_EXIT(one, 0);
    CHECK_U64(figure(one->out, "\"time_ns\""), worst, "the worst seed by itself");
}

static void a_run_tells_which_ranks_chance_has_made_slower(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result =
        program_run("run -w w/three -s system.json -n network.yml --stragglers 1:1.5x,ranks=2:4x --seed 3");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\nStragglers ");
    CHECK_CONTAINS(result->out, "2=x4");
    CHECK_CONTAINS(result->out, "=x1.5");
}

static void what_is_of_one_run_is_not_repeated(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run(NOISY "--repeat 2 --csv tables");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--csv is of one run; --repeat has text and --json");
    result = program_run(NOISY "--seed 18446744073709551615 --repeat 2");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--seed: there are no 2 seeds from 18446744073709551615 on");
    result = program_run(NOISY "-j 2");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--threads is for --repeat");
    result = program_run(NOISY "--jitter gauss:5%");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--jitter: \"gauss:5%\" is neither a number nor normal:5%");
    CHECK_EXIT(program_run(NOISY "--jitter uniform:101%"), 2);
    result = program_run("run -w w/three --replay --jitter normal:5%");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--jitter changes nothing in a replay");
}

/* ---- links that fail ---- */

static const struct {
    const char *options, *a, *b;
} with_links[] = {{"-n network.yml --backend aware", "2", "3"},
                  {"-n switch.yml --backend aware", "2", "switch"},
                  {"-n config.txt --backend packet", "2", "8"},
                  {"-n config.txt --backend flow", "2", "8"}};

static void write_fault(const char *a, const char *b, const char *rest)
{
    char text[200];
    (void)snprintf(text, sizeof text, "a,b,from,until,rate\n%s,%s,%s\n", a, b, rest);
    program_write_text("faults.csv", text);
}

static void prepare_links(void)
{
    prepare();
    program_write_text("switch.yml",
                       "topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
}

static void a_fault_that_is_none_changes_nothing(void **state)
{
    (void)state;
    prepare_links();
    for (size_t i = 0; i < COUNT_OF(with_links); i++) {
        const char *plain = run_lines(with_links[i].options, "");
        write_fault(with_links[i].a, with_links[i].b, "10us,1ms,1");
        CHECK_TEXT(run_lines(with_links[i].options, "--faults faults.csv"), plain);
        write_fault(with_links[i].a, with_links[i].b, "10s,11s,down"); /* the job is over by then */
        CHECK_TEXT(run_lines(with_links[i].options, "--faults faults.csv"), plain);
    }
}

static void a_link_that_is_slow_or_down_for_a_while_is_waited_for(void **state)
{
    (void)state;
    prepare_links();
    for (size_t i = 0; i < COUNT_OF(with_links); i++) {
        uint64_t plain = time_of(with_links[i].options, "");
        write_fault(with_links[i].a, with_links[i].b, "20us,300us,0.25");
        uint64_t slow = time_of(with_links[i].options, "--faults faults.csv");
        write_fault(with_links[i].a, with_links[i].b, "20us,2ms,down");
        uint64_t down = time_of(with_links[i].options, "--faults faults.csv");
        CHECK(slow > plain, "case %zu: %" PRIu64 " slow, %" PRIu64 " plain", i, slow, plain);
        CHECK(down > 2000000 && down > slow, "case %zu: nothing ends before the link is back: %" PRIu64, i, down);
    }
}

static void a_rate_from_the_beginning_for_good_is_another_network(void **state)
{
    (void)state;
    prepare_links();
    char text[600] = "a,b,from,rate\n";
    for (int i = 0; i < 8; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%d,%d,0us,0.5\n", i, (i + 1) % 8);
    }
    program_write_text("half-ring.csv", text);
    const char *half = run_lines(networks[1].half, "");
    CHECK_TEXT(run_lines(networks[1].options, "--faults half-ring.csv"), half);
}

static void a_table_of_faults_is_what_the_option_says(void **state)
{
    (void)state;
    prepare_links();
    program_write_text("faults.json",
                       "{\"faults\": [{\"a\": 8, \"b\": 2, \"from\": \"20us\", \"until\": \"900us\"}]}\n");
    for (size_t i = 2; i < COUNT_OF(with_links); i++) {
        const char *option = run_lines(with_links[i].options, "--link-down 2-8@20us..900us");
        CHECK_TEXT(run_lines(with_links[i].options, "--faults faults.json"), option);
    }
}

static void a_link_that_never_comes_back_is_a_stall_that_names_it(void **state)
{
    (void)state;
    prepare_links();
    write_fault("2", "3", "20us,,down");
    const struct program_result *result =
        program_run("run --no-progress -w w/three -s system.json -n network.yml --backend aware --faults faults.csv");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "the link between rank 2 and rank 3 is down since 20000 ns");
    CHECK_CONTAINS(result->err, "let the link come back");
    write_fault("2", "switch", "20us,,down");
    result =
        program_run("run --no-progress -w w/three -s system.json -n switch.yml --backend aware --faults faults.csv");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "between rank 2 and the switch of dimension 0 is down");
}

static void faults_that_cannot_be_are_refused(void **state)
{
    (void)state;
    prepare_links();
    static const struct {
        const char *network, *a, *b, *rest, *says;
    } cases[] = {
        {"-n network.yml --backend unaware", "2", "3", "1us,2us,0", "--faults needs a network with links"},
        {"-n network.yml --backend aware", "2", "4", "1us,2us,0", "faults.csv:2: no link joins ranks 2 and 4"},
        {"-n network.yml --backend aware", "2", "switch", "1us,2us,0", "faults.csv:2: no such switch joins rank 2"},
        {"-n network.yml --backend aware", "2", "9", "1us,2us,0", "faults.csv:2: there is no rank 9"},
        {"-n config.txt --backend packet", "2", "3", "1us,2us,0", "faults.csv:2: no link joins nodes 2 and 3"},
        {"-n config.txt --backend packet", "2", "switch", "1us,2us,0",
         "faults.csv:2: a switch is a node with a number"},
        {"-n network.yml --backend aware", "2", "3", "2us,1us,0", "faults.csv:2: it is over before it begins"},
        {"-n network.yml --backend aware", "2", "3", "soon,1us,0", "faults.csv:2: from \"soon\" is not a time"},
        {"-n network.yml --backend aware", "2", "3", "1us,2us,fast",
         "faults.csv:2: rate \"fast\" is not down or a factor"},
        {"-n network.yml --backend aware", "2", "2", "1us,2us,0",
         "faults.csv:2: b \"2\" is not the number of another node"},
        {"-n network.yml --backend aware", "2", "3", "1us,5us,0\n3,2,4us,8us,0",
         "faults.csv:3: the link has another fault"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[300];
        write_fault(cases[i].a, cases[i].b, cases[i].rest);
        (void)snprintf(line, sizeof line, "run --no-progress -w w/three -s system.json %s --faults faults.csv",
                       cases[i].network);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, cases[i].says);
    }
}

TEST_MAIN(a_fault_that_is_none_changes_nothing, a_link_that_is_slow_or_down_for_a_while_is_waited_for,
          a_rate_from_the_beginning_for_good_is_another_network, a_table_of_faults_is_what_the_option_says,
          a_link_that_never_comes_back_is_a_stall_that_names_it, faults_that_cannot_be_are_refused,
          jitter_of_nothing_changes_nothing, a_named_straggler_is_a_device_of_that_factor,
          many_seeds_give_the_same_figures_on_any_number_of_threads, a_run_tells_which_ranks_chance_has_made_slower,
          what_is_of_one_run_is_not_repeated, factors_of_one_change_nothing,
          all_links_at_half_their_rate_are_a_network_of_half_the_rate, one_slow_link_is_waited_for_by_all,
          a_file_of_devices_that_is_wrong_is_told_with_its_line)
