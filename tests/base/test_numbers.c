/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in order, and quantiles between them. */
#include "base/numbers.h"
#include "tests/check.h"

static void numbers_are_put_in_order_and_none_need_no_list(void **state)
{
    (void)state;
    double values[] = {3, -1, 2, 2, -7};
    numbers_sort(values, COUNT_OF(values));
    for (size_t i = 1; i < COUNT_OF(values); i++) {
        CHECK(values[i - 1] <= values[i], "%g stands before %g", values[i - 1], values[i]);
    }
    numbers_sort(NULL, 0);
}

static void a_quantile_lies_between_its_neighbours_by_proportion(void **state)
{
    (void)state;
    static const double sorted[] = {1, 2, 4, 8};
    static const struct {
        double share, value;
    } cases[] = {{0, 1}, {0.25, 1.75}, {0.5, 3}, {0.75, 5}, {1, 8}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double value = numbers_quantile(sorted, COUNT_OF(sorted), cases[i].share);
        CHECK(fabs(value - cases[i].value) < 1e-12, "%g at %g", value, cases[i].share);
    }
    CHECK(fabs(numbers_quantile(sorted, 1, 0.5) - 1) < 1e-12, "one value is its own median");
}

TEST_MAIN(numbers_are_put_in_order_and_none_need_no_list, a_quantile_lies_between_its_neighbours_by_proportion)
