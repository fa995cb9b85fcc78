/* SPDX-License-Identifier: Apache-2.0 */
/* Kept runs as text and as documents: what is the same, what differs, and texts of users that stay on their line. */
#include "report/store_text.h"

#include <math.h>

#include "tests/report/printed.h"

static const struct store_collective collectives[] = {{"all-reduce", 8, 1 << 20, 8, 800000, 90000, 110000},
                                                      {"all-gather", 8, 2 << 20, 8, 400000, 50000, 50000}};
static const struct store_setting settings[] = {{"backend", "flow"}, {"seed", "1"}};
static const struct store_input inputs[] = {{"system", "system.json", "12ab", 345, STORE_INPUT_CHANGED}};

static struct store_view view_of(int64_t id)
{
    struct store_view view = {.run = {.id = id,
                                      .state = "done",
                                      .kind = "run",
                                      .started = "2026-01-02 03:04:05",
                                      .ended = "2026-01-02 03:04:06",
                                      .version = "0.1.0",
                                      .command = "orrery run",
                                      .folder = "",
                                      .tag = "first",
                                      .backend = "flow",
                                      .topology = "ring:8",
                                      .dims = "8",
                                      .comm_scale = "",
                                      .fingerprint = "77",
                                      .error = "",
                                      .world = 8,
                                      .source_world = 8,
                                      .has_results = true,
                                      .total_ns = 1200000,
                                      .steps = 1,
                                      .comm_ns = 900000,
                                      .compute_ns = 300000,
                                      .wall_ms = 12,
                                      .events = 5000,
                                      .messages = 600,
                                      .peak_bytes = 1 << 20},
                              .inputs = inputs,
                              .settings = settings,
                              .collectives = collectives,
                              .input_count = 1,
                              .setting_count = 2,
                              .collective_count = 2,
                              .rank_count = 8,
                              .finished_count = 8};
    static const char *const names[STORE_SPREADS] = {"finish", "compute", "communication", "exposed", "idle"};
    for (int i = 0; i < STORE_SPREADS; i++) {
        view.spreads[i] = (struct store_spread){names[i], 100000, 200000, 300000};
    }
    return view;
}

static void what_the_computer_took_is_no_difference_of_results(void **state)
{
    (void)state;
    struct store_view before = view_of(1);
    struct store_view after = view_of(2);
    after.run.wall_ms = 99999;
    after.run.peak_bytes = 7;
    after.run.events = 1; /* another network model may need fewer */
    after.run.tag = "second";
    assert_true(store_same_results(&before, &after));
    store_text_diff(&before, &after, printed_begin());
    CHECK_CONTAINS(printed_end(), "The simulated results are the same.\n");
}

static void every_simulated_figure_that_differs_makes_results_differ(void **state)
{
    (void)state;
    struct store_view before = view_of(1);
    struct store_collective slower[2] = {collectives[0], collectives[1]};
    slower[1].total_ns++;
    for (int which = 0; which < 8; which++) {
        struct store_view after = view_of(2);
        after.run.total_ns += which == 0;
        after.run.comm_ns += which == 1;
        after.run.compute_ns += which == 2;
        after.run.state = which == 3 ? "stalled" : "done";
        after.finished_count -= which == 4;
        after.spreads[4].median_ns += which == 5;
        after.collectives = which == 6 ? slower : collectives;
        after.collective_count -= which == 7;
        CHECK(!store_same_results(&before, &after), "difference %d is not seen", which);
    }
    struct store_view after = view_of(2);
    after.run.total_ns *= 2;
    store_text_diff(&before, &after, printed_begin());
    CHECK_CONTAINS(printed_end(), "The simulated results differ.\n");
}

static void a_setting_of_one_run_alone_is_told(void **state)
{
    (void)state;
    static const struct store_setting others[] = {{"backend", "packet"}, {"strict", "true"}};
    struct store_view before = view_of(1);
    struct store_view after = view_of(2);
    after.settings = others;
    store_text_diff(&before, &after, printed_begin());
    const char *text = printed_end();
    CHECK_CONTAINS(text, "packet");
    CHECK_CONTAINS(text, "seed");
    CHECK_CONTAINS(text, "strict");
}

static void a_users_text_stays_on_its_line(void **state)
{
    (void)state;
    store_text_put("two\nlines\tand \x1b[31mred\x7f", printed_begin());
    CHECK_TEXT(printed_end(), "two?lines?and ?[31mred?");
    struct store_run run = view_of(1).run;
    run.tag = "evil\ntag";
    store_text_list(&run, 1, printed_begin());
    const char *text = printed_end();
    CHECK(strstr(text, "evil\n") == NULL, "%s", text);
}

static void an_input_says_what_became_of_it(void **state)
{
    (void)state;
    struct store_view view = view_of(1);
    store_text_show(&view, printed_begin());
    const char *text = printed_end();
    CHECK_CONTAINS(text, "system.json");
    CHECK_CONTAINS(text, store_input_word(STORE_INPUT_CHANGED));
    CHECK(strcmp(store_input_word(STORE_INPUT_SAME), store_input_word(STORE_INPUT_GONE)) != 0, "words differ");
}

static void documents_are_json_whatever_users_write(void **state)
{
    (void)state;
    struct store_view view = view_of(3);
    struct store_view other = view_of(4);
    view.run.tag = "a \"tag\"\n\\ and \x01";
    const struct store_calibration calibration = {.id = 1,
                                                  .run = 3,
                                                  .made = "now",
                                                  .version = "",
                                                  .tag = "x",
                                                  .topology = "",
                                                  .source = "",
                                                  .flags = "",
                                                  .notes = "",
                                                  .alpha_us = 1.5,
                                                  .alpha_comm_us = (double)NAN,
                                                  .alpha_gpu_us = (double)INFINITY,
                                                  .accepted = true};
    view.calibrations = &calibration;
    view.calibration_count = 1;
    store_json_show(&view, printed_begin());
    json_decref(printed_json());
    store_json_diff(&view, &other, printed_begin());
    json_t *document = printed_json();
    assert_true(json_is_true(printed_at(document, "same")));
    json_decref(document);
    store_json_list(&view.run, 1, printed_begin());
    json_decref(printed_json());
    struct store_json all;
    store_json_all_begin(&all, printed_begin());
    store_json_all_run(&all, &view);
    store_json_all_run(&all, &other);
    store_json_all_calibration(&all, &calibration);
    store_json_all_end(&all);
    document = printed_json();
    CHECK_U64(json_array_size(printed_at(document, "runs")), 2, "runs");
    CHECK_U64(json_array_size(printed_at(document, "calibrations")), 1, "calibrations");
    json_decref(document);
}

TEST_MAIN(what_the_computer_took_is_no_difference_of_results, every_simulated_figure_that_differs_makes_results_differ,
          a_setting_of_one_run_alone_is_told, a_users_text_stays_on_its_line, an_input_says_what_became_of_it,
          documents_are_json_whatever_users_write)
