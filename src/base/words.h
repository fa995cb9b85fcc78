/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words in one text, a blank between two, as presets have their synonyms. Knows nothing of what they name. */
#ifndef ORR_BASE_WORDS_H
#define ORR_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the `length` bytes at `word` are one of `words`, which may be NULL; `any_case`: whatever the case of
 * letters. */
bool words_have(const char *words, const char *word, size_t length, bool any_case);

#endif
