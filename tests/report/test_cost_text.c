/* SPDX-License-Identifier: Apache-2.0 */
/* Bills and their comparison: arithmetic one can do by hand, and what is said where a figure is not known. */
#include "report/cost_text.h"

#include <math.h>

#include "tests/report/printed.h"

static const struct cost_row rows[] = {
    {"GPU", 16, 25000000000, 1, 400000000000, 11200},
    {"cable", 24, 1500000, 10, 3600000, 0},
};

/* 400,003.60 of price; 45 an hour and 5 of power; a step of 72 ms. */
static struct cost_bill bill(const char *machine)
{
    return (struct cost_bill){.machine = machine,
                              .gpus = 16,
                              .servers = 2,
                              .switches = 1,
                              .cables = 24,
                              .rows = rows,
                              .row_count = COUNT_OF(rows),
                              .total = 400003600000,
                              .watts = 11200,
                              .hour_price = 45,
                              .hour_power = 5,
                              .step_ns = 72000000,
                              .run = 3};
}

static struct cost_report report_of(const struct cost_bill *bills, uint32_t count)
{
    return (struct cost_report){.currency = "EUR",
                                .prices = "a list",
                                .lifetime_years = 4,
                                .utilisation = 0.8,
                                .electricity = 0.2,
                                .pue = 1.25,
                                .bills = bills,
                                .bill_count = count};
}

static void a_step_costs_its_share_of_an_hour(void **state)
{
    (void)state;
    struct cost_bill one = bill("a");
    CHECK_NEAR(cost_of_step(&one), 50.0 / 3600 * 0.072, 1e-12);
    one.step_ns = 0;
    assert_true(isnan(cost_of_step(&one)));
    one = bill("a");
    one.hour_price = (double)NAN;
    assert_true(isnan(cost_of_step(&one)));
}

static void a_bill_counts_what_there_is_and_adds_up(void **state)
{
    (void)state;
    struct cost_bill one = bill("two servers");
    struct cost_report report = report_of(&one, 1);
    report.samples = 512;
    cost_text_put(&report, printed_begin());
    const char *text = printed_end();
    CHECK_TEXT(text, "Prices: a list, in EUR\n"
                     "Paid over 4 years at 80% use; a kWh is 0.2, and the building draws 1.25 W a watt\n"
                     "\n"
                     "two servers: 16 GPUs, 2 servers, 1 switch, 24 cables\n"
                     "  item   count       price      cost   share\n"
                     "  GPU       16       25000  400000.0  100.0%\n"
                     "  cable     24  1.5 for 10       3.6    0.0%\n"
                     "  total                EUR  400003.6\n"
                     "  25000.2 EUR a GPU; 11.2 kW\n"
                     "  an hour: 50 EUR (45 for the machine, 5 for power)\n"
                     "  a step of 72.000000 ms (run 3): 0.001 EUR; for 1 EUR: 1000 steps, 512000 samples\n"
                     "  for 1 EUR of the price: 2.99997 steps a day\n");
}

static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    struct cost_bill one = bill("two servers");
    struct cost_report report = report_of(&one, 1);
    one.hour_price = (double)NAN;
    one.step_ns = 0;
    one.watts = 0;
    report.lifetime_years = 0;
    cost_text_put(&report, printed_begin());
    const char *text = printed_end();
    static const char *const words[] = {"an hour", "a step", "Paid over", "kW", "nan"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        CHECK(strstr(text, words[i]) == NULL, "\"%s\" in\n%s", words[i], text);
    }
}

/* The second machine has half the price and twice the step: as dear a step, the same speed for its price. */
static void machines_are_compared_with_the_first(void **state)
{
    (void)state;
    struct cost_bill bills[2] = {bill("fast"), bill("slow")};
    struct cost_report report = report_of(bills, 2);
    bills[1].total /= 2;
    bills[1].step_ns *= 2;
    bills[1].hour_price /= 2;
    bills[1].hour_power /= 2;
    cost_text_put(&report, printed_begin());
    const char *text = strstr(printed_end(), "Beside the first");
    CHECK(text != NULL, "there is no comparison");
    CHECK_CONTAINS(text, "  fast     400003.6    100.0%   72.000000 ms    100.0%         0.001    100.0%"
                         "               100.0%\n"
                         "  slow     200001.8     50.0%  144.000000 ms    200.0%         0.001    100.0%"
                         "               100.0%\n");
}

static void the_document_has_the_figures_of_the_text_and_null_for_what_is_not_known(void **state)
{
    (void)state;
    struct cost_bill bills[2] = {bill("a \"quoted\" name"), bill("b")};
    struct cost_report report = report_of(bills, 2);
    bills[1].hour_price = (double)NAN;
    cost_json_put(&report, printed_begin());
    json_t *document = printed_json();
    CHECK_TEXT(json_string_value(printed_at(document, "machines.0.machine")), "a \"quoted\" name");
    CHECK_U64(json_integer_value(printed_at(document, "machines.0.items.0.count")), 16, "GPUs");
    CHECK_NEAR(json_number_value(printed_at(document, "machines.0.items.1.cost")), 3.6, 1e-9);
    CHECK_NEAR(json_number_value(printed_at(document, "machines.0.step_cost")), 0.001, 1e-9);
    assert_true(json_is_null(printed_at(document, "machines.1.step_cost")));
    json_decref(document);
}

TEST_MAIN(a_step_costs_its_share_of_an_hour, a_bill_counts_what_there_is_and_adds_up, what_is_not_known_is_left_out,
          machines_are_compared_with_the_first, the_document_has_the_figures_of_the_text_and_null_for_what_is_not_known)
