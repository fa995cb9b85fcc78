/* SPDX-License-Identifier: Apache-2.0 */
/* Charts: bars are as long as what they show, texts cannot break the picture, points lie inside it. */
#include "report/chart.h"

#include <stdlib.h>
#include <string.h>

#include "tests/report/printed.h"

static void bars_are_as_long_as_what_they_show(void **state)
{
    (void)state;
    static const struct chart_bar bars[] = {{"all", 0, {30, 10}, "40"}, {"half", 10, {20}, "20"}};
    const struct chart_bars chart = {"t", {"a", "b"}, bars, 2};
    chart_bars_put(&chart, printed_begin());
    const char *text = printed_end();
    CHECK_CONTAINS(text, "width=\"337.5\"");   /* three quarters of 450 */
    CHECK_CONTAINS(text, "width=\"112.5\"");   /* the rest of it */
    CHECK_CONTAINS(text, "width=\"225.0\"");   /* half */
    CHECK_CONTAINS(text, "<rect x=\"412.5\""); /* which begins a quarter to the right of 300 */
    CHECK_CONTAINS(text, "</svg>");
}

static void names_cannot_break_a_chart(void **state)
{
    (void)state;
    static const struct chart_bar bars[] = {{"<b> & \"c\"", 0, {0}, "</text>"}};
    static const struct chart_point points[] = {{1, 2, "<script>", false, true}};
    const struct chart_bars lying = {"<t>", {NULL}, bars, 1};
    const struct chart_points spread = {"<t>", "<x>", "<y>", points, 1};
    chart_bars_put(&lying, printed_begin());
    const char *text = printed_end();
    CHECK_CONTAINS(text, "&lt;b&gt; &amp; ");
    CHECK(strstr(text, "nan") == NULL && strstr(text, "inf") == NULL, "%s", text);
    chart_points_put(&spread, printed_begin());
    text = printed_end();
    CHECK_CONTAINS(text, "&lt;script&gt;");
    CHECK(strstr(text, "<script>") == NULL && strstr(text, "<x>") == NULL, "%s", text);
}

/* All near each other, all the same, none at all: no division by nothing. */
static void points_lie_between_the_axes(void **state)
{
    (void)state;
    static const struct chart_point near[] = {{70, 54000, "a", true, true}, {74, 58000, "b", true, true}};
    static const struct chart_point same[] = {{5, 5, "a", false, false}, {5, 5, "b", false, false}};
    static const struct chart_point none[] = {{0, 0, "a", false, false}};
    const struct chart_points charts[] = {{"near", "x", "y", near, 2},
                                          {"same", "x", "y", same, 2},
                                          {"zero", "x", "y", none, 1},
                                          {"empty", "x", "y", none, 0}};
    for (size_t i = 0; i < COUNT_OF(charts); i++) {
        chart_points_put(&charts[i], printed_begin());
        const char *text = printed_end();
        CHECK(strstr(text, "nan") == NULL && strstr(text, "inf") == NULL, "%s: %s", charts[i].title, text);
        for (const char *at = strstr(text, "cx=\""); at != NULL; at = strstr(at + 1, "cx=\"")) {
            double x = strtod(at + 4, NULL);
            CHECK(x >= 70 && x <= 830, "%s: a point at %g", charts[i].title, x);
        }
    }
}

TEST_MAIN(bars_are_as_long_as_what_they_show, names_cannot_break_a_chart, points_lie_between_the_axes)
