/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL schedules: what each statement becomes, which schedules are refused and with which words. */
#include "convert/goal.h"
#include "tests/convert/converting.h"

static const char pair[] = "num_ranks 2\n"
                           "/* made up\n   for this test */\n"
                           "rank 0 {\n"
                           "l1: calc 1500 cpu 0\n"
                           "l2: send 1024b to 1 tag 7\n"
                           "l2 requires l1\n"
                           "}\n"
                           "rank 1 {\r\n"
                           "l1 : recv 1024 b from 0 tag 7 cpu 0 nic 0 // the other end\r\n"
                           "l2: calc 700\r\n"
                           "l2 requires l1\r\n"
                           "}\r\n";

static void every_statement_becomes_its_node(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "pair.goal");
    CHECK_OK(converting_run(&one, &goal_converter, pair), &one.err);
    CHECK_U64(one.summary.files, 2, "a file a rank");
    CHECK_U64(one.summary.nodes, 4, "nodes");
    CHECK_U64(one.summary.sends + one.summary.recvs, 2, "messages");
    CHECK_U64(one.notes.count, 0, "nothing was inferred");
    CHECK(simulate(&one, 2) > 1000, "it runs");
    check_rank(&one, 0, " calc l1/1 send l2>1#7:1024(0)");
    check_rank(&one, 1, " recv l1<0#7:1024 calc l2/0(0)");
    converting_end(&one);
}

static void nanoseconds_are_carried_from_calc_to_calc_of_a_cpu(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "carry.goal");
    CHECK_OK(converting_run(&one, &goal_converter,
                            "num_ranks 1 rank 0 { calc 700 calc 700 calc 700 cpu 1 calc 600 calc 700 cpu 1 }"),
             &one.err);
    check_rank(&one, 0, " calc/0 calc/1 calc/0 calc/1 calc/1");
    CHECK(converting_has_note(&one, "several cpus"), "it is said that cpus are shared");
    converting_end(&one);
}

static void irequires_waits_for_a_node_that_marks_the_start(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "start.goal");
    CHECK_OK(converting_run(&one, &goal_converter,
                            "num_ranks 1\nrank 0 {\na: calc 1000\nb: calc 5000\nb requires a\nc: calc 2000\n"
                            "c irequires b\nd: calc 3000\nd requires b\n}\n"),
             &one.err);
    check_rank(&one, 0, " calc a/1 start~/0(0) calc b/5(1) calc c/2(1) calc d/3(2)");
    CHECK(converting_has_note(&one, "1 start node"), "the added node is told");
    converting_end(&one);
}

static void a_wildcard_with_one_possible_sender_is_resolved(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "any.goal");
    CHECK_OK(converting_run(&one, &goal_converter,
                            "num_ranks 3\nrank 0 { send 8b to 2 tag 1 }\nrank 1 { send 9b to 2 tag 2 }\n"
                            "rank 2 { recv 8b from -1 tag 1 recv 9b from -1 tag -1 }\n"),
             &one.err);
    check_rank(&one, 2, " recv<0#1:8 recv<1#2:9");
    converting_end(&one);
}

static void a_receive_takes_the_size_of_what_is_sent(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "size.goal");
    CHECK_OK(converting_run(&one, &goal_converter, "num_ranks 2 rank 0 { send 8b to 1 } rank 1 { recv 64b from 0 }"),
             &one.err);
    check_rank(&one, 1, " recv<0#0:8");
    CHECK(converting_has_note(&one, "1 recv is of another size"), "and it is told");
    converting_end(&one);
}

static void a_message_of_no_bytes_is_sent_as_one(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "empty.goal");
    CHECK_OK(converting_run(&one, &goal_converter, "num_ranks 2 rank 0 { send 0b to 1 } rank 1 { recv 0b from 0 }"),
             &one.err);
    CHECK(converting_has_note(&one, "1 message of 0 bytes sent as 1 byte"), "it is told");
    CHECK(simulate(&one, 2) > 0, "it runs");
    check_rank(&one, 0, " send>1#0:1");
    check_rank(&one, 1, " recv<0#0:1");
    converting_end(&one);
}

static void a_rank_that_does_nothing_gets_a_file_that_runs(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "idle.goal");
    CHECK_OK(converting_run(&one, &goal_converter, "num_ranks 2 rank 1 { calc 5000 } rank 0 { }"), &one.err);
    CHECK_U64(simulate(&one, 2), 5000, "the other rank's calc");
    check_rank(&one, 0, " idle/0");
    converting_end(&one);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "the file ends where \"num_ranks\" is needed"},
    {"num_ranks 0", "num_ranks is 0"},
    {"num_ranks 99999999999999999999", "beyond 64 bits"},
    {"num_ranks 2 rank 0 { calc 1 }", "rank 1 has no block"},
    {"num_ranks 1 rank 0 { calc 1 } rank 0 { calc 1 }", "a second block of rank 0"},
    {"num_ranks 1 rank 1 { calc 1 }", "a rank is 1; at most 0"},
    {"num_ranks 1\nrank 0 {\ncalc x\n}", ".goal:3: \"x\" where a time is needed"},
    {"num_ranks 1\nrank 0 {\na: calc 1\nb requires a\n}", ".goal:4: no operation above in rank 0 has the label \"b\""},
    {"num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n}", ".goal:4: the label \"a\" is defined in line 3 already"},
    {"num_ranks 1 rank 0 { a: calc 1 b: calc 1 a requires b b requires a }", "2 operations in a circle"},
    {"num_ranks 1 rank 0 { send 1b to 0 }", "sends to itself"},
    {"num_ranks 1 rank 0 { calc 1 } /* open", "a comment that is never closed"},
    {"num_ranks 1 rank 0 { calc 1; }", "';' has no place in a GOAL file"},
    {"num_ranks 2\nrank 0 {\nsend 1b to 1 tag 3\n}\nrank 1 {\ncalc 1\n}",
     ".goal:3: a send without its recv: rank 0 sends 1 message with tag 3 to rank 1, which receives 0"},
    {"num_ranks 2\nrank 0 {\ncalc 1\n}\nrank 1 {\nrecv 1b from 0\n}", ".goal:6: a recv without its send"},
    {"num_ranks 2 rank 0 { calc 1 } rank 1 { recv 1b from -1 }", "no send is left for it"},
    {"num_ranks 3 rank 0 { send 1b to 2 } rank 1 { send 1b to 2 } rank 2 { recv 1b from -1 recv 1b from 1 recv 1b from "
     "-1 }",
     "no send is left for it"},
    {"num_ranks 3 rank 0 { send 1b to 2 } rank 1 { send 1b to 2 } rank 2 { recv 1b from -1 recv 1b from -1 }",
     "who comes first is not in the file: rank 0 with tag 0 or rank 1 with tag 0"},
    {"num_ranks 1 rank 0 { recv 1b from -2 }", "only -1 (any) is accepted"},
    {"num_ranks 1 rank 0 { calc 1 cpu 256 }", "a cpu is 256; at most 255"},
};

static void a_bad_schedule_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct converting one;
        converting_begin(&one, "bad.goal");
        check_refused(&one, &goal_converter, bad[i].text, bad[i].message);
        converting_end(&one);
    }
}

static void asking_for_another_number_of_ranks_is_refused(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "ranks.goal");
    one.request.ranks = 4;
    check_refused(&one, &goal_converter, pair, "4 ranks were asked for, and there are 2");
    converting_end(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_becomes_its_node),
        cmocka_unit_test(nanoseconds_are_carried_from_calc_to_calc_of_a_cpu),
        cmocka_unit_test(irequires_waits_for_a_node_that_marks_the_start),
        cmocka_unit_test(a_wildcard_with_one_possible_sender_is_resolved),
        cmocka_unit_test(a_receive_takes_the_size_of_what_is_sent),
        cmocka_unit_test(a_message_of_no_bytes_is_sent_as_one),
        cmocka_unit_test(a_rank_that_does_nothing_gets_a_file_that_runs),
        cmocka_unit_test(a_bad_schedule_is_refused_with_its_line),
        cmocka_unit_test(asking_for_another_number_of_ranks_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
