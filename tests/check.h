/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary of our tests on top of cmocka: statuses, numbers and texts compared with a sentence that says what was
 * expected of what. A test file ends with TEST_MAIN(names…); a test's name is a fact that can be false.
 */
#ifndef ORR_TESTS_CHECK_H
#define ORR_TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "orrery.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Which sanitizers are built in: gcc says it with macros, clang with features. A test that cannot hold under one of
 * them prints why it is not tried. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN 1
#endif

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            print_error("%s:%d: not true: %s: ", __FILE__, __LINE__, #condition);                                      \
            print_error(__VA_ARGS__);                                                                                  \
            print_error("\n");                                                                                         \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* Within `share` of what is wanted. */
#define CHECK_NEAR(got, want, share)                                                                                   \
    do {                                                                                                               \
        double near_got = (got);                                                                                       \
        double near_want = (want);                                                                                     \
        CHECK(fabs(near_got - near_want) <= (share)*fabs(near_want), "%s is %.9g, not %.9g", #got, near_got,           \
              near_want);                                                                                              \
    } while (0)

#define CHECK_STATUS(call, want)                                                                                       \
    do {                                                                                                               \
        enum orr_status check_got = (call);                                                                            \
        CHECK(check_got == (want), "status is \"%s\", not \"%s\"", orr_status_text(check_got), orr_status_text(want)); \
    } while (0)

#define CHECK_OK(call, err)                                                                                            \
    do {                                                                                                               \
        enum orr_status check_got = (call);                                                                            \
        CHECK(check_got == ORR_OK, "%s: %s", orr_status_text(check_got), (err)->text);                                 \
    } while (0)

#define CHECK_U64(got, want, ...)                                                                                      \
    do {                                                                                                               \
        uint64_t check_got = (uint64_t)(got);                                                                          \
        uint64_t check_want = (uint64_t)(want);                                                                        \
        if (check_got != check_want) {                                                                                 \
            print_error("%s:%d: %s is %" PRIu64 ", not %" PRIu64 ": ", __FILE__, __LINE__, #got, check_got,            \
                        check_want);                                                                                   \
            print_error(__VA_ARGS__);                                                                                  \
            print_error("\n");                                                                                         \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

#define CHECK_CONTAINS(text, part)                                                                                     \
    do {                                                                                                               \
        const char *check_text = (text);                                                                               \
        CHECK(strstr(check_text, (part)) != NULL, "\"%s\" does not contain \"%s\"", check_text, (part));               \
    } while (0)

#define CHECK_TEXT(got, want)                                                                                          \
    do {                                                                                                               \
        const char *check_text = (got);                                                                                \
        CHECK(strcmp(check_text, (want)) == 0, "\"%s\" is not \"%s\"", check_text, (want));                            \
    } while (0)

#define CHECK_MAP_1(f)                                                                                        cmocka_unit_test(f)
#define CHECK_MAP_2(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_1(__VA_ARGS__)
#define CHECK_MAP_3(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_2(__VA_ARGS__)
#define CHECK_MAP_4(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_3(__VA_ARGS__)
#define CHECK_MAP_5(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_4(__VA_ARGS__)
#define CHECK_MAP_6(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_5(__VA_ARGS__)
#define CHECK_MAP_7(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_6(__VA_ARGS__)
#define CHECK_MAP_8(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_7(__VA_ARGS__)
#define CHECK_MAP_9(f, ...)                                                                                   cmocka_unit_test(f), CHECK_MAP_8(__VA_ARGS__)
#define CHECK_MAP_10(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_9(__VA_ARGS__)
#define CHECK_MAP_11(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_10(__VA_ARGS__)
#define CHECK_MAP_12(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_11(__VA_ARGS__)
#define CHECK_MAP_13(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_12(__VA_ARGS__)
#define CHECK_MAP_14(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_13(__VA_ARGS__)
#define CHECK_MAP_15(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_14(__VA_ARGS__)
#define CHECK_MAP_16(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_15(__VA_ARGS__)
#define CHECK_MAP_17(f, ...)                                                                                  cmocka_unit_test(f), CHECK_MAP_16(__VA_ARGS__)
#define CHECK_MAP_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, name, ...) name
#define CHECK_MAP(...)                                                                                                 \
    CHECK_MAP_PICK(__VA_ARGS__, CHECK_MAP_17, CHECK_MAP_16, CHECK_MAP_15, CHECK_MAP_14, CHECK_MAP_13, CHECK_MAP_12,    \
                   CHECK_MAP_11, CHECK_MAP_10, CHECK_MAP_9, CHECK_MAP_8, CHECK_MAP_7, CHECK_MAP_6, CHECK_MAP_5,        \
                   CHECK_MAP_4, CHECK_MAP_3, CHECK_MAP_2, CHECK_MAP_1, )                                               \
    (__VA_ARGS__)

#define TEST_MAIN(...)                                                                                                 \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const struct CMUnitTest tests[] = {CHECK_MAP(__VA_ARGS__)};                                                    \
        return cmocka_run_group_tests(tests, NULL, NULL);                                                              \
    }

#endif
