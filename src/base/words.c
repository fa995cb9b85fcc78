/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include <string.h>
#include <strings.h>

bool words_have(const char *words, const char *word, size_t length, bool any_case)
{
    for (const char *at = words; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && (any_case ? strncasecmp(at, word, length) : memcmp(at, word, length)) == 0) {
            return true;
        }
        at += size;
    }
    return false;
}
