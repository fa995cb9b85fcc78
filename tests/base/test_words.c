/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a list. */
#include "base/words.h"
#include "tests/check.h"

static void only_whole_words_of_the_list_are_in_it(void **state)
{
    (void)state;
    static const struct {
        const char *words, *word;
        bool exact, any_case;
    } cases[] = {
        {"a100 a100-80g", "a100", true, true},
        {"a100 a100-80g", "a100-80g", true, true},
        {"a100 a100-80g", "a100-80", false, false},
        {"a100 a100-80g", "A100", false, true},
        {"a  b", "b", true, true},
        {"a b", "", false, false},
        {"", "a", false, false},
        {NULL, "a", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t length = strlen(cases[i].word);
        CHECK(words_have(cases[i].words, cases[i].word, length, false) == cases[i].exact, "\"%s\"", cases[i].word);
        CHECK(words_have(cases[i].words, cases[i].word, length, true) == cases[i].any_case, "\"%s\"", cases[i].word);
    }
    CHECK(words_have("ring mesh", "ring:8", 4, false), "a word may be cut out of a text");
}

TEST_MAIN(only_whole_words_of_the_list_are_in_it)
