/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a sweep, its CSV and its document, of points filled by hand. */
#include "report/sweep_text.h"

#include "tests/report/printed.h"

enum { POINTS = 4 };

static const char *const keys[] = {"ranks", "machine"};
static const char *const values[POINTS][2] = {{"8", "ring"}, {"8", "fat, tree"}, {"16", "ring"}, {"16", "say \"x\""}};

struct bench {
    struct report_sweep_row rows[POINTS];
    const struct report_sweep_row *ranked[POINTS];
    struct report_sweep sweep;
};

/* Points 2, 1 and 3 by time; point 4 failed. */
static void bench_fill(struct bench *bench)
{
    static const uint64_t times[POINTS] = {2000000, 1000000, 3000000, 0};
    static const uint64_t ranks[POINTS] = {2, 1, 3, 0};
    *bench = (struct bench){0};
    for (uint32_t i = 0; i < POINTS; i++) {
        bench->rows[i] =
            (struct report_sweep_row){.point = i + 1, .rank = ranks[i], .best = 1000000, .values = values[i]};
        bench->rows[i].result = (struct orr_sweep_result){.state = ORR_SWEEP_DONE,
                                                          .run = 10 - i,
                                                          .error = "",
                                                          .time_ns = times[i],
                                                          .comm_ns = times[i] / 2,
                                                          .compute_ns = times[i] / 4,
                                                          .exposed_comm_ns = times[i] / 8,
                                                          .world = 8,
                                                          .network = "flow"};
        if (ranks[i] > 0) {
            bench->ranked[ranks[i] - 1] = &bench->rows[i];
        }
    }
    bench->rows[3].result.state = ORR_SWEEP_FAILED;
    bench->rows[3].result.error = "no such machine";
    bench->rows[3].result.network = "";
    bench->sweep = (struct report_sweep){.name = "try",
                                         .keys = keys,
                                         .key_count = 2,
                                         .rows = bench->rows,
                                         .ranked = bench->ranked,
                                         .row_count = POINTS,
                                         .ranked_count = 3,
                                         .counts = {.points = 4, .done = 3, .failed = 1}};
}

static const char *text_of(const struct bench *bench, uint64_t best)
{
    report_sweep_text(&bench->sweep, best, printed_begin());
    return printed_end();
}

static void the_best_comes_first_and_the_others_are_measured_by_it(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    const char *text = text_of(&bench, 0);
    const char *first = strstr(text, "1.000x");
    const char *second = strstr(text, "2.000x");
    const char *third = strstr(text, "3.000x");
    CHECK(first != NULL && second != NULL && third != NULL, "%s", text);
    CHECK(first < second && second < third, "%s", text);
}

static void at_most_as_many_rows_are_shown_as_were_asked_for(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    const char *text = text_of(&bench, 1);
    CHECK(strstr(text, "1.000x") != NULL && strstr(text, "2.000x") == NULL, "%s", text);
}

static void what_failed_is_told_with_its_values_and_its_reason(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    CHECK_CONTAINS(text_of(&bench, 1), "Failed: 1\n  point 4 (ranks=16 machine=say \"x\"): no such machine\n");
}

static void the_column_of_steps_is_there_where_steps_are_known(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    CHECK(strstr(text_of(&bench, 0), "per step") == NULL, "nobody knows the steps");
    bench.rows[1].result.steps = 4;
    CHECK_CONTAINS(text_of(&bench, 0), "per step");
    CHECK_CONTAINS(text_of(&bench, 0), "250");
}

static void networks_are_named_where_there_are_several(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    CHECK_CONTAINS(text_of(&bench, 0), "\nAll ranked on the flow network.\n");
    CHECK(strstr(text_of(&bench, 0), "rank  point  network") == NULL, "no column says the same in every row");
    bench.rows[2].result.network = "packet";
    CHECK_CONTAINS(text_of(&bench, 0), "rank  point  network");
    CHECK_CONTAINS(text_of(&bench, 0), "\nEach network is ranked by itself.\n");
}

static void the_figure_is_the_one_ranked_by(void **state)
{
    (void)state;
    struct orr_sweep_result result = {.time_ns = 1, .exposed_comm_ns = 2, .comm_ns = 3, .compute_ns = 4};
    CHECK_U64(report_sweep_figure(&result, ORR_SWEEP_BY_TIME), 1, "time");
    CHECK_U64(report_sweep_figure(&result, ORR_SWEEP_BY_EXPOSED), 2, "exposed");
    CHECK_U64(report_sweep_figure(&result, ORR_SWEEP_BY_COMM), 3, "communication");
    CHECK_U64(report_sweep_figure(&result, ORR_SWEEP_BY_COMPUTE), 4, "compute");
}

/* Fields of a line, quoted ones counted as one. */
static unsigned fields_of(const char *line)
{
    unsigned fields = 1;
    bool quoted = false;
    for (; *line != '\n' && *line != '\0'; line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

static void every_line_of_the_csv_has_as_many_fields_whatever_stands_in_them(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    report_sweep_csv(&bench.sweep, printed_begin());
    const char *text = printed_end();
    unsigned lines = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        CHECK_U64(fields_of(line), fields_of(text), "line %u of\n%s", lines, text);
        lines++;
    }
    CHECK_U64(lines, POINTS + 1, "a row a point");
    CHECK_CONTAINS(text, "\"fat, tree\"");
    CHECK_CONTAINS(text, "\"say \"\"x\"\"\"");
}

static void the_document_has_every_point_in_its_own_order(void **state)
{
    (void)state;
    struct bench bench;
    bench_fill(&bench);
    report_sweep_json(&bench.sweep, printed_begin());
    json_t *document = printed_json();
    json_t *points = printed_at(document, "results");
    CHECK_U64(json_integer_value(printed_at(document, "points")), POINTS, "points");
    CHECK_U64(json_array_size(points), POINTS, "a result each");
    for (size_t i = 0; i < POINTS; i++) {
        CHECK_U64(json_integer_value(printed_at(json_array_get(points, i), "point")), i + 1, "its number");
    }
    json_decref(document);
}

TEST_MAIN(the_best_comes_first_and_the_others_are_measured_by_it, at_most_as_many_rows_are_shown_as_were_asked_for,
          what_failed_is_told_with_its_values_and_its_reason, the_column_of_steps_is_there_where_steps_are_known,
          networks_are_named_where_there_are_several, the_figure_is_the_one_ranked_by,
          every_line_of_the_csv_has_as_many_fields_whatever_stands_in_them,
          the_document_has_every_point_in_its_own_order)
