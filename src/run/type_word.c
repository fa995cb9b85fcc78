/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides are brought to one spelling and then compared; a guess at what was meant is made with the words kept
 * apart, as the names have them. */
#include "run/type_word.h"

#include <stdio.h>
#include <string.h>

#include "coll/impl.h"

static const char *const names[] = {
#define COLL_X(name, number, text) text,
    COLL_TYPES(COLL_X)
#undef COLL_X
        NULL,
};

static const int32_t numbers[] = {
#define COLL_X(name, number, text) number,
    COLL_TYPES(COLL_X)
#undef COLL_X
};

enum { WORD = 64 };

/* In lower case, with `between` (one character or none) for what people put between words. False when it is longer
 * than any name. */
static bool simplify(const char *text, const char *between, char word[WORD])
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (strchr("-_ ", c) != NULL) {
            if (*between == '\0') {
                continue;
            }
            c = *between;
        }
        if (used == WORD - 1) {
            return false;
        }
        word[used++] = c;
    }
    word[used] = '\0';
    return true;
}

enum orr_status type_word_parse(const char *text, int32_t *type, struct orr_error *err)
{
    char word[WORD];
    char known[WORD];
    bool fits = simplify(text, "", word);
    for (size_t i = 0; fits && names[i] != NULL; i++) {
        if (simplify(names[i], "", known) && strcmp(word, known) == 0) {
            *type = numbers[i];
            return ORR_OK;
        }
    }
    return error_unknown("collective", simplify(text, "-", word) ? word : text, names, err);
}
