/* SPDX-License-Identifier: Apache-2.0 */
/* One rank of a class for all of it on the flow network, held against every rank by itself; and what NCCL's collectives
 * must not depend on. */
#include <stdlib.h>

#include "tests/cli/program.h"

/* What a run prints as one document, without how many events it took. */
static const char *document(const char *options, char *text, size_t room)
{
    char line[256];
    (void)snprintf(line, sizeof line, "run -q %s --json -", options);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    CHECK(strlen(result->out) < room, "%zu bytes", strlen(result->out));
    (void)snprintf(text, room, "%s", result->out);
    char *events = strstr(text, "\"events\": ");
    CHECK(events != NULL, "events in %s", text);
    for (char *at = events + 10; *at >= '0' && *at <= '9'; at++) {
        *at = '-';
    }
    return events + strcspn(events, "\n");
}

static double number_in(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    CHECK(at != NULL, "%s in %s", key, text);
    return strtod(at + strlen(key), NULL);
}

static double alike_step_ns(const char *options)
{
    static char text[1 << 18];
    (void)document(options, text, sizeof text);
    return number_in(text, "\"time_ns\": ");
}

static void generate(const char *type, const char *bytes, unsigned ranks, const char *prefix)
{
    char line[256];
    (void)snprintf(line, sizeof line, "gen collective --type %s --bytes %s --ranks %u -o %s", type, bytes, ranks,
                   prefix);
    CHECK_EXIT(program_run(line), 0);
}

static void one_rank_of_a_class_tells_what_all_ranks_tell(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *type;
        unsigned ranks, classes;
    } cases[] = {{"dgx-h100:4", "all-reduce", 32, 2}, {"dgx-h100:6", "reduce-scatter", 48, 2},
                 {"dgx-a100:4", "all-gather", 32, 2}, {"dgx-h100:4", "all-to-all", 32, 2},
                 {"mi300x-8:4", "all-reduce", 32, 2}, {"mi250x:4", "all-reduce", 32, 32},
                 {"gpu:16", "all-reduce", 16, 2}};
    static char one[1 << 18], all[1 << 18];
    program_enter();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char options[128], prefix[32];
        (void)snprintf(prefix, sizeof prefix, "w/c%u", cases[i].ranks);
        generate(cases[i].type, "4GiB", cases[i].ranks, prefix);
        (void)snprintf(options, sizeof options, "-w %s --machine %s", prefix, cases[i].machine);
        const char *rest_of_one = document(options, one, sizeof one);
        (void)snprintf(options, sizeof options, "-w %s --machine %s --no-symmetry", prefix, cases[i].machine);
        const char *rest_of_all = document(options, all, sizeof all);
        CHECK_NEAR(number_in(one, "\"time_ns\": "), number_in(all, "\"time_ns\": "), 1e-6);
        CHECK_U64((uint64_t)number_in(one, "\"messages\": "), (uint64_t)number_in(all, "\"messages\": "), "%s, %s",
                  cases[i].machine, cases[i].type);
        bool no_choice = strncmp(cases[i].machine, "dgx", 3) == 0; /* of ways, so that no wire is one of several */
        CHECK(!no_choice || strcmp(rest_of_one, rest_of_all) == 0, "%s, %s:\n%s\n%s", cases[i].machine, cases[i].type,
              rest_of_one, rest_of_all);
        (void)snprintf(options, sizeof options, "-w %s --machine %s --explain-symmetry", prefix, cases[i].machine);
        (void)document(options, one, sizeof one);
        CHECK_U64((uint64_t)number_in(one, "\"ranks_carried_out\": "), cases[i].classes, "%s", cases[i].machine);
    }
}

/* Their rings change rails on the way back, which only a run of every rank shows; a job too large for that is taken
 * for one between its even neighbours. */
static void an_odd_number_of_servers_is_carried_out_whole_where_it_can_be(void **state)
{
    (void)state;
    program_enter();
    generate("all-reduce", "4GiB", 40, "w/five");
    CHECK_CONTAINS(program_run("run -w w/five --machine dgx-h100:5 --explain-symmetry")->out,
                   "rings over an odd number of servers change rails");
    double ns[3];
    for (unsigned i = 0; i < 3; i++) {
        char options[128], prefix[32];
        (void)snprintf(prefix, sizeof prefix, "w/o%u", i);
        generate("all-reduce", "4GiB", 8 * (20 + i), prefix);
        (void)snprintf(options, sizeof options, "-w %s --machine dgx-h100:%u", prefix, 20 + i);
        ns[i] = alike_step_ns(options);
    }
    CHECK_NEAR(ns[1], (ns[0] + ns[2]) / 2, 0.02);
}

static void a_thousand_ranks_are_as_many_as_they_are(void **state)
{
    (void)state;
    static char text[1 << 18];
    program_enter();
    generate("all-reduce", "1GiB", 1024, "w/many");
    const struct program_result *result = program_run("run -w w/many --machine dgx-h100:128 --explain-symmetry");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Work       1024 nodes, 67043328 messages");
    CHECK_CONTAINS(result->out, "2 classes of ranks: one rank of each was carried out for all 1024");
    (void)document("-w w/many --machine dgx-h100:128", text, sizeof text);
    CHECK_U64((uint64_t)number_in(text, "\"ranks_finished\": "), 1024, "ranks");
}

static void what_is_not_alike_is_carried_out_by_itself(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"run -w w/few --machine dgx-h100:4 --no-symmetry", "it was asked that every rank be carried out"},
        {"run -w w/few --machine dgx-h100:4 --devices 3=x1.5", "ranks compute on different devices"},
        {"run -w w/few --machine dgx-h100:4 --set system.all-reduce-implementation=[\"ncclTree\"]",
         "another algorithm than NCCL's rings"},
        {"run -w w/small --machine dgx-h100:4", "small enough to be moved by packets"},
        {"run -w w/routers --machine dragonfly --no-packets --set system.all-gather-implementation=[\"ncclRing\"]",
         "the servers of the machine are not wired alike"},
    };
    program_enter();
    generate("all-reduce", "4GiB", 32, "w/few");
    generate("all-reduce", "1MiB", 32, "w/small");
    generate("all-gather", "16KiB", 72, "w/routers");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "%s --explain-symmetry", cases[i][0]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, cases[i][1]);
    }
}

static void without_packets_a_small_job_keeps_its_shares(void **state)
{
    (void)state;
    program_enter();
    generate("all-to-all", "64KiB", 16, "w/meet");
    CHECK_CONTAINS(program_run("run -w w/meet --machine dgx-h100:2 --backend flow")->out, "flow network, by packets");
    const struct program_result *result = program_run("run -w w/meet --machine dgx-h100:2 --backend flow --no-packets");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->out, "by packets") == NULL, "%s", result->out);
    result = program_run("run -w w/meet --machine dgx-h100:2 --backend packet --no-packets");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--no-packets needs --backend flow");
}

/* Of a few messages that choose among several ways some meet, which a wire that stands for all does not show. */
static void an_all_to_all_of_few_messages_takes_the_ways_that_are_its_own(void **state)
{
    (void)state;
    program_enter();
    generate("all-to-all", "1MiB", 16, "w/ways");
    double one = alike_step_ns("-w w/ways --machine mi300x-8:2 --backend flow --no-packets");
    double all = alike_step_ns("-w w/ways --machine mi300x-8:2 --backend flow --no-packets --no-symmetry");
    double packet = alike_step_ns("-w w/ways --machine mi300x-8:2 --backend packet");
    CHECK_NEAR(one, all, 1e-9);
    CHECK_NEAR(one, packet, 0.05);
}

static void a_collective_that_does_not_divide_into_chunks_has_no_chunk_more(void **state)
{
    (void)state;
    program_enter();
    generate("reduce-scatter", "4194304", 24, "w/four");
    generate("reduce-scatter", "4194305", 24, "w/more");
    double four = alike_step_ns("-w w/four --machine dgx-h100:3");
    double more = alike_step_ns("-w w/more --machine dgx-h100:3");
    CHECK_NEAR(more, four, 0.01);
}

/* What a rank hands on for others would otherwise wait until all that come before in the list have sent to it. */
static void an_all_to_all_over_pxn_keeps_the_cards_busy(void **state)
{
    (void)state;
    program_enter();
    generate("all-to-all", "8GiB", 64, "w/pairs");
    double bound_ns = 8.0 * (1 << 30) * 56 / 64 / 50; /* to other servers, at 50 GB/s */
    double step = alike_step_ns("-w w/pairs --machine dgx-h100:8 --no-symmetry --backend flow");
    CHECK(step > bound_ns && step < 1.15 * bound_ns, "%.0f ns, cards alone %.0f ns", step, bound_ns);
}

static void a_few_bytes_more_take_no_longer(void **state)
{
    (void)state;
    program_enter();
    generate("all-reduce", "4294967296", 32, "w/even");
    generate("all-reduce", "4294967372", 32, "w/uneven");
    double even = alike_step_ns("-w w/even --machine dgx-h100:4 --no-symmetry");
    double uneven = alike_step_ns("-w w/uneven --machine dgx-h100:4 --no-symmetry");
    CHECK_NEAR(uneven, even, 0.01);
}

TEST_MAIN(one_rank_of_a_class_tells_what_all_ranks_tell, an_odd_number_of_servers_is_carried_out_whole_where_it_can_be,
          a_thousand_ranks_are_as_many_as_they_are, what_is_not_alike_is_carried_out_by_itself,
          without_packets_a_small_job_keeps_its_shares, an_all_to_all_of_few_messages_takes_the_ways_that_are_its_own,
          a_collective_that_does_not_divide_into_chunks_has_no_chunk_more, an_all_to_all_over_pxn_keeps_the_cards_busy,
          a_few_bytes_more_take_no_longer)
