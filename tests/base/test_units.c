/* SPDX-License-Identifier: Apache-2.0 */
/* What units_parse promises, one fact a test; the table keeps each fact on a line that reads like the sentence. */
#include "base/units.h"
#include "tests/check.h"

static const struct {
    const char *text;
    enum units_kind kind;
    const char *bare;
    uint64_t want;
} good[] = {
    {"400Gbps", UNITS_RATE, "Gbps", 400000000000u},
    {"50 GB/s", UNITS_RATE, "Gbps", 400000000000u},
    {"25", UNITS_RATE, "Gbps", 25000000000u},
    {"0.5us", UNITS_TIME, "us", 500u},
    {"1MiB", UNITS_SIZE, "B", 1048576u},
    {"0", UNITS_SIZE, "GiB", 0u},
    {"0.1us", UNITS_TIME, "ns", 100u},
    {"  1.50 ms ", UNITS_TIME, "ns", 1500000u},
    {"+3KB", UNITS_SIZE, "B", 3000u},
    {".5KiB", UNITS_SIZE, "B", 512u},
    {"1.us", UNITS_TIME, "ns", 1000u},
    {"1e3", UNITS_SIZE, "B", 1000u},
    {"2.5e-1KiB", UNITS_SIZE, "B", 256u},
    {"0.000000000931322574615478515625GiB", UNITS_SIZE, "B", 1u},
    {"18446744073709551615B", UNITS_SIZE, "B", UINT64_MAX},
    {"0e99", UNITS_SIZE, "GiB", 0u},
};

static void a_quantity_is_read_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct orr_error err = {0};
        uint64_t got = 0;
        CHECK_OK(units_parse(good[i].text, good[i].kind, good[i].bare, &got, &err), &err);
        CHECK_U64(got, good[i].want, "%s", good[i].text);
    }
}

static void an_unknown_suffix_names_the_nearest_one(void **state)
{
    (void)state;
    struct orr_error err = {0};
    uint64_t untouched = 7;
    CHECK_STATUS(units_parse("400Gpbs", UNITS_RATE, "Gbps", &untouched, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "unknown unit \"Gpbs\"; did you mean \"Gbps\"?");
    CHECK_U64(untouched, 7, "an output is written only on success");
}

static void a_fraction_of_a_byte_is_refused_not_rounded(void **state)
{
    (void)state;
    struct orr_error err = {0};
    uint64_t v = 0;
    CHECK_STATUS(units_parse("1.5B", UNITS_SIZE, "B", &v, &err), ORR_EINVAL);
    CHECK_STATUS(units_parse("99999999999GiB", UNITS_SIZE, "B", &v, &err), ORR_ERANGE);
}

static const struct {
    const char *text;
    enum units_kind kind;
    enum orr_status status;
    const char *part;
} bad[] = {
    {"", UNITS_SIZE, ORR_EINVAL, "\"\" is not a number with a unit, such as \"64MiB\" or \"1.5GB\""},
    {"soon", UNITS_TIME, ORR_EINVAL, "\"soon\" is not a number with a unit, such as \"1.5us\""},
    {"fast", UNITS_RATE, ORR_EINVAL, "\"fast\" is not a number with a unit, such as \"400Gbps\" or \"50GB/s\""},
    {"GiB", UNITS_SIZE, ORR_EINVAL, "is not a number with a unit"},
    {".", UNITS_SIZE, ORR_EINVAL, "is not a number with a unit"},
    {"-1KB", UNITS_SIZE, ORR_EINVAL, "is negative"},
    {"5 quux", UNITS_SIZE, ORR_EINVAL, "unknown unit \"quux\"; accepted: B, KB, KiB"},
    {"5ns", UNITS_SIZE, ORR_EINVAL, "\"ns\" is the unit of a time, where a size is wanted; accepted: B, KB"},
    {"5e", UNITS_SIZE, ORR_EINVAL, "unknown unit \"e\""},
    {"1e100", UNITS_SIZE, ORR_ERANGE, "exponent"},
    {"1e20B", UNITS_SIZE, ORR_ERANGE, "64 bits"},
    {"1e-1B", UNITS_SIZE, ORR_EINVAL, "not a whole number"},
    {"18446744073709551616B", UNITS_SIZE, ORR_ERANGE, "64 bits"},
    {"99999999999999999999999999999999999999999999999", UNITS_SIZE, ORR_ERANGE, "64 bits"},
    {"0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
     UNITS_SIZE, ORR_EINVAL, "more digits"},
    {"1 B B", UNITS_SIZE, ORR_EINVAL, "unknown unit \"B B\""},
};

static void what_is_no_quantity_is_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct orr_error err = {0};
        uint64_t untouched = 7;
        CHECK_STATUS(units_parse(bad[i].text, bad[i].kind, "B", &untouched, &err), bad[i].status);
        CHECK_CONTAINS(err.text, bad[i].part);
        CHECK_U64(untouched, 7, "%s", bad[i].text);
    }
}

TEST_MAIN(a_quantity_is_read_exactly, an_unknown_suffix_names_the_nearest_one,
          a_fraction_of_a_byte_is_refused_not_rounded, what_is_no_quantity_is_refused_with_the_reason)
