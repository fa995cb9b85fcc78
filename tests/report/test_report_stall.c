/* SPDX-License-Identifier: Apache-2.0 */
/* The diagnosis as text: findings and fixes first, then the waits, cut with a count. */
#include "tests/report/fixture.h"

static void a_run_that_did_not_stall_has_no_diagnosis(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    char *text = fixture_written(&f, ORR_OUTPUT_STALL);
    CHECK_TEXT(text, "");
    free(text);
}

static void findings_come_first_with_their_fixes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    const struct sim_stall_finding findings[] = {
        {SIM_STALL_UNMATCHED_RECV, "rank 5 waits for a message nobody sends", "add the send", NULL, 0, NULL, 0},
        {SIM_STALL_RANK_NEVER_JOINS, "rank 6 never joins", NULL, NULL, 0, NULL, 0}};
    const struct sim_stall_wait waits[] = {
        {.rank = 5, .peer = 6, .node = 7, .text = "rank 5: node 7: waits for rank 6"}};
    f.result.stall = (struct sim_stall){SIM_STALL_UNMATCHED_RECV, findings, 2, waits, 1, 1};
    f.result.ranks_finished = 6;
    char *text = fixture_written(&f, ORR_OUTPUT_STALL);
    CHECK_TEXT(text, "The run stalled at 405.520 us (405520 ns): 6 of 8 ranks finished, 24 of 24 nodes done.\n"
                     "  rank 5 waits for a message nobody sends\n"
                     "    Fix: add the send\n"
                     "  rank 6 never joins\n"
                     "Who waits for what:\n"
                     "  rank 5: node 7: waits for rank 6\n");
    free(text);
}

static void long_diagnoses_are_cut_and_the_rest_counted(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    enum { MANY = 100 };
    static struct sim_stall_finding findings[MANY];
    static struct sim_stall_wait waits[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        findings[i] = (struct sim_stall_finding){
            .kind = SIM_STALL_WAITS,
            .text = "a sentence of more than a hundred characters, which is what a finding with all its names and "
                    "numbers easily comes to and which therefore takes two lines"};
        waits[i] = (struct sim_stall_wait){.rank = i, .node = i, .text = "waits"};
    }
    f.result.stall = (struct sim_stall){SIM_STALL_WAITS, findings, MANY, waits, MANY, 5000};
    char *text = fixture_written(&f, ORR_OUTPUT_STALL);
    CHECK(fixture_lines(text) <= 45, "%u lines", fixture_lines(text));
    CHECK_CONTAINS(text, "  and 86 more findings\n");
    CHECK_CONTAINS(text, "  and 4991 more waits\n");
    free(text);
    f.result.stall.finding_count = MANY - 85;
    f.result.stall.wait_count = 10;
    f.result.stall.wait_total = 10;
    text = fixture_written(&f, ORR_OUTPUT_STALL);
    CHECK_CONTAINS(text, "  and 1 more finding\n");
    CHECK_CONTAINS(text, "  and 1 more wait\n");
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        CHECK(strchr(line, '\n') - line <= 100, "longer than 100 columns: %.120s", line);
    }
    free(text);
}

TEST_MAIN(a_run_that_did_not_stall_has_no_diagnosis, findings_come_first_with_their_fixes,
          long_diagnoses_are_cut_and_the_rest_counted)
