/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scan.h"
#include "tests/check.h"

static void a_number_ends_where_its_digits_do(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length, digits;
        uint64_t value;
    } cases[] = {
        {"", SIZE_MAX, 0, 0},
        {"x1", SIZE_MAX, 0, 0},
        {"-1", SIZE_MAX, 0, 0},
        {"0", SIZE_MAX, 1, 0},
        {"007,8", SIZE_MAX, 3, 7},
        {"1234", 2, 2, 12},
        {"18446744073709551615", SIZE_MAX, 20, UINT64_MAX},
        {"18446744073709551616 ", SIZE_MAX, 20, UINT64_MAX},
        {"99999999999999999999999x", SIZE_MAX, 23, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t value = 5;
        CHECK_U64(scan_digits(cases[i].text, cases[i].length, &value), cases[i].digits, "%s", cases[i].text);
        CHECK_U64(value, cases[i].value, "%s", cases[i].text);
    }
}

static void a_whole_number_is_digits_alone_within_its_bound(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t most;
        bool good;
    } cases[] = {
        {"", 9, false},
        {"0", 0, true},
        {"1", 0, false},
        {"9", 8, false},
        {"10", 10, true},
        {"11", 10, false},
        {"1 ", 10, false},
        {"+1", 10, false},
        {"18446744073709551615", UINT64_MAX, true},
        {"18446744073709551616", UINT64_MAX, false},
        {"2147483648", INT32_MAX, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t value = 77;
        CHECK(scan_whole(cases[i].text, strlen(cases[i].text), cases[i].most, &value) == cases[i].good, "\"%s\"",
              cases[i].text);
        CHECK(cases[i].good || value == 77, "\"%s\" leaves the value alone", cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_ends_where_its_digits_do),
        cmocka_unit_test(a_whole_number_is_digits_alone_within_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
