/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses have texts and exit codes; a wrong word gets the right one proposed, or none. */
#include "base/error.h"
#include "tests/check.h"

static void exit_codes_are_those_of_the_manual(void **state)
{
    (void)state;
    static const struct {
        enum orr_status status;
        int exit_code;
    } codes[] = {{ORR_OK, 0},     {ORR_EFAIL, 1}, {ORR_EINTR, 1},  {ORR_EINVAL, 2},
                 {ORR_ERANGE, 2}, {ORR_EIO, 2},   {ORR_ENOMEM, 3}, {ORR_ESTALL, 4}};
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        CHECK_U64(orr_status_exit_code(codes[i].status), codes[i].exit_code, "%s", orr_status_text(codes[i].status));
        CHECK(strlen(orr_status_text(codes[i].status)) > 0, "every status has a text");
    }
    CHECK_TEXT(orr_status_text((enum orr_status)99), "unknown status");
    CHECK_U64(orr_status_exit_code((enum orr_status)99), 1, "an unknown status is a failure");
}

static void an_error_holds_the_sentence_and_is_cut_not_overrun(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_STATUS(error_set(&err, ORR_EINVAL, "%s:%d: bad", "file", 3), ORR_EINVAL);
    CHECK_TEXT(err.text, "file:3: bad");
    char large[4096];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    CHECK_STATUS(error_set(&err, ORR_EIO, "%s", large), ORR_EIO);
    CHECK_U64(strlen(err.text), sizeof err.text - 1, "cut to the buffer");
    CHECK_STATUS(error_set(NULL, ORR_EIO, "nobody listens"), ORR_EIO);
}

static void the_nearest_word_is_proposed_only_when_it_is_near(void **state)
{
    (void)state;
    static const char *const known[] = {"ring", "direct", "halvingDoubling", "doubleBinaryTree", NULL};
    static const struct {
        const char *word, *nearest;
    } words[] = {
        {"rnig", "ring"}, {"driect", "direct"}, {"Ring", "ring"}, {"halvingdoubling", "halvingDoubling"},
        {"tree", NULL},   {"", NULL},           {"xyz", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const char *got = error_nearest(words[i].word, known);
        CHECK((got == NULL) == (words[i].nearest == NULL), "\"%s\" proposes \"%s\"", words[i].word,
              got != NULL ? got : "nothing");
        if (got != NULL) {
            CHECK_TEXT(got, words[i].nearest);
        }
    }
    char large[1000];
    memset(large, 'r', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    CHECK(error_nearest(large, known) == NULL, "a very long word is near nothing");
}

static void an_unknown_word_is_answered_with_the_nearest_or_with_all(void **state)
{
    (void)state;
    static const char *const known[] = {"ring", "direct", NULL};
    const char *many[101] = {NULL};
    struct orr_error err = {0};
    CHECK_STATUS(error_unknown("algorithm", "rnig", known, &err), ORR_EINVAL);
    CHECK_TEXT(err.text, "unknown algorithm \"rnig\"; did you mean \"ring\"?");
    CHECK_STATUS(error_unknown("algorithm", "zebra", known, &err), ORR_EINVAL);
    CHECK_TEXT(err.text, "unknown algorithm \"zebra\"; accepted: ring, direct");
    for (size_t i = 0; i < 100; i++) {
        many[i] = "direct";
    }
    CHECK_STATUS(error_unknown("algorithm", "zebra", many, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "direct, direct, …");
}

TEST_MAIN(exit_codes_are_those_of_the_manual, an_error_holds_the_sentence_and_is_cut_not_overrun,
          the_nearest_word_is_proposed_only_when_it_is_near, an_unknown_word_is_answered_with_the_nearest_or_with_all)
