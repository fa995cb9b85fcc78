/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of predicted against measured: what is right lies on the diagonal, what is off the scale at its edge. */
#include "report/scatter.h"
#include "tests/check.h"

#include <stdlib.h>

/* Where the dot of a pair lies, from the left and from the top. */
static void place(double measured, double predicted, double *x, double *y)
{
    const struct scatter scatter = {.first = -2, .last = 3, .unit = "s"};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    scatter_begin(&scatter, stream);
    scatter_name(0, "runs", stream);
    scatter_dot(&scatter, 0, measured, predicted, stream);
    scatter_end(stream);
    (void)fclose(stream);
    const char *dot = strstr(text, "<circle cx=\"");
    CHECK(dot != NULL && sscanf(dot, "<circle cx=\"%lf\" cy=\"%lf\"", x, y) == 2, "%s", text);
    CHECK(strncmp(text, "<svg ", 5) == 0 && strcmp(text + size - 7, "</svg>\n") == 0, "%s", text);
    free(text);
}

static void what_is_right_lies_on_the_diagonal(void **state)
{
    (void)state;
    for (double value = 0.01; value < 2000; value *= 3) {
        double x, y;
        place(value, value, &x, &y);
        CHECK(fabs(x + y - 560) < 0.11, "%g: %g, %g", value, x, y);
    }
}

static void more_lies_further_to_the_right_and_upwards(void **state)
{
    (void)state;
    double x, y, right, up;
    place(1, 1, &x, &y);
    place(2, 3, &right, &up);
    CHECK(right > x && up < y, "%g, %g and %g, %g", x, y, right, up);
}

static void what_is_off_the_scale_is_drawn_at_its_edge(void **state)
{
    (void)state;
    double x, y;
    place(1e-9, 1e9, &x, &y);
    CHECK(fabs(x - 60) < 0.11 && fabs(y - 60) < 0.11, "%g, %g", x, y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_lies_on_the_diagonal),
        cmocka_unit_test(more_lies_further_to_the_right_and_upwards),
        cmocka_unit_test(what_is_off_the_scale_is_drawn_at_its_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
