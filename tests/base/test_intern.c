/* SPDX-License-Identifier: Apache-2.0 */
/* Texts named by numbers: once each, in the order they came. */
#include "base/intern.h"
#include "tests/check.h"

static uint32_t add(struct intern *intern, const char *text)
{
    uint32_t number = UINT32_MAX;
    CHECK(intern_add(intern, text, strlen(text), &number), "memory is given");
    return number;
}

static void a_text_has_one_number_and_numbers_count_up(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct intern intern;
    intern_init(&intern, &mem);
    CHECK_U64(intern_count(&intern), 1, "the empty text is there at once");
    CHECK_TEXT(intern_text(&intern, 0), "");
    CHECK_U64(add(&intern, ""), 0, "and is number 0");
    CHECK_U64(add(&intern, "aten::add"), 1, "the first");
    CHECK_U64(add(&intern, "aten::mul"), 2, "the second");
    CHECK_U64(add(&intern, "aten::add"), 1, "the first again");
    CHECK_U64(intern_find(&intern, "aten::mul", 9), 2, "found");
    CHECK_U64(intern_find(&intern, "aten::mu", 8), UINT32_MAX, "a beginning is another text");
    CHECK_U64(intern_length(&intern, 2), 9, "its length");
    CHECK_U64(mem.used > 0, 1, "the memory is accounted");
    intern_free(&intern);
    CHECK_U64(mem.used, 0, "and given back");
    CHECK_U64(intern_find(&intern, "aten::mul", 9), UINT32_MAX, "freed means empty");
}

static void a_nul_cuts_the_text(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct intern intern;
    intern_init(&intern, &mem);
    uint32_t number = 7;
    CHECK(intern_add(&intern, "ab\0cd", 5, &number), "memory is given");
    CHECK_U64(number, add(&intern, "ab"), "the same text");
    CHECK(intern_add(&intern, "\0x", 2, &number), "memory is given");
    CHECK_U64(number, 0, "nothing is left of it");
    CHECK(intern_add(&intern, NULL, 0, &number), "no bytes need no pointer");
    intern_free(&intern);
}

static void a_hundred_thousand_texts_keep_their_numbers(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct intern intern;
    intern_init(&intern, &mem);
    char text[32];
    for (uint32_t i = 0; i < 100000; i++) {
        (void)snprintf(text, sizeof text, "kernel_%u", i);
        CHECK_U64(add(&intern, text), i + 1, "%s", text);
    }
    for (uint32_t i = 0; i < 100000; i++) {
        (void)snprintf(text, sizeof text, "kernel_%u", i);
        CHECK_U64(intern_find(&intern, text, strlen(text)), i + 1, "%s", text);
        CHECK_TEXT(intern_text(&intern, i + 1), text);
    }
    intern_free(&intern);
    CHECK_U64(mem.used, 0, "all given back");
}

static void a_refused_text_changes_nothing(void **state)
{
    (void)state;
    struct mem mem = {.limit = 4000};
    struct intern intern;
    intern_init(&intern, &mem);
    char text[32];
    uint32_t number = 0;
    uint32_t count = 0;
    do {
        (void)snprintf(text, sizeof text, "name %u", count++);
    } while (intern_add(&intern, text, strlen(text), &number));
    CHECK_U64(intern_count(&intern), count, "those before it");
    CHECK_U64(number, count - 1, "the number is that of the last one taken");
    CHECK_U64(intern_find(&intern, text, strlen(text)), UINT32_MAX, "the refused one is not there");
    CHECK_U64(intern_find(&intern, "name 0", 6), 1, "the others are");
    intern_free(&intern);
    CHECK_U64(mem.used, 0, "all given back");
}

TEST_MAIN(a_text_has_one_number_and_numbers_count_up, a_nul_cuts_the_text, a_hundred_thousand_texts_keep_their_numbers,
          a_refused_text_changes_nothing)
