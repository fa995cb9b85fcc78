/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a name: numbers, words, quantities with units. None of it depends on the locale. */
#include "param/param.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/units.h"

enum orr_status param_parse_count(const char *where, const char *text, uint64_t least, uint64_t most, uint64_t *value,
                                  struct orr_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (end == NULL || *end != '\0') {
        return error_set(err, ORR_EINVAL, "%s: \"%.100s\" is not a whole number", where, text);
    }
    if (errno == ERANGE || number < least || number > most) {
        return error_set(err, ORR_ERANGE, "%s: %.100s is not between %" PRIu64 " and %" PRIu64, where, text, least,
                         most);
    }
    *value = number;
    return ORR_OK;
}

enum orr_status param_parse_real(const char *where, const char *text, double *value, struct orr_error *err)
{
    char *end = NULL;
    double number = plain_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number)) {
        return error_set(err, ORR_EINVAL, "%s: \"%.100s\" is not a number", where, text);
    }
    if (number < 0) {
        return error_set(err, ORR_ERANGE, "%s: %.100s is negative; it must be at least 0", where, text);
    }
    *value = number;
    return ORR_OK;
}

enum orr_status param_parse_rate(const char *where, const char *text, const char *unit, double *value,
                                 struct orr_error *err)
{
    char one[32];
    uint64_t bps = 0;
    uint64_t each = 0;
    struct orr_error reason = {0};
    if (text[strspn(text, "+-.0123456789eE")] == '\0') {
        return param_parse_real(where, text, value, err);
    }
    (void)snprintf(one, sizeof one, "1%s", unit);
    enum orr_status status = units_parse(text, UNITS_RATE, unit, &bps, &reason);
    status = status == ORR_OK ? units_parse(one, UNITS_RATE, unit, &each, &reason) : status;
    if (status != ORR_OK) {
        return error_set(err, status, "%s: %s", where, reason.text);
    }
    *value = (double)bps / (double)each;
    return ORR_OK;
}

/* The words of ASTRA-sim's option library, and the two a person would try besides. */
enum orr_status param_parse_bool(const char *where, const char *text, bool *value, struct orr_error *err)
{
    static const char *const words[] = {"true", "True", "t", "T", "1", "yes", "false", "False", "f", "F", "0", "no"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i < 6;
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL, "%s: \"%.100s\" is neither true nor false", where, text);
}

enum orr_status param_parse_size(const char *where, const char *text, uint64_t *bytes, struct orr_error *err)
{
    char spelled[64];
    size_t length = strnlen(text, sizeof spelled);
    if (length + 3 > sizeof spelled) {
        return error_set(err, ORR_EINVAL, "%s: \"%.60s…\" is not a size", where, text);
    }
    bool power = length > 0 && strchr("KMG", text[length - 1]) != NULL;
    (void)snprintf(spelled, sizeof spelled, "%s%s", text, power ? "iB" : "");
    struct orr_error reason = {0};
    enum orr_status status = units_parse(spelled, UNITS_SIZE, "B", bytes, &reason);
    return status == ORR_OK ? ORR_OK : error_set(err, status, "%s: %s", where, reason.text);
}

enum orr_status param_parse_time(const char *where, const char *text, const char *bare, uint64_t *ns,
                                 struct orr_error *err)
{
    struct orr_error reason = {0};
    enum orr_status status = units_parse(text, UNITS_TIME, bare, ns, &reason);
    return status == ORR_OK ? ORR_OK : error_set(err, status, "%s: %s", where, reason.text);
}

/* Whether two words are one but for capitals, hyphens and underscores: NVLSTree is nvls-tree. */
static bool is_spelled(const char *word, const char *text)
{
    for (;; word++, text++) {
        word += strspn(word, "-_");
        text += strspn(text, "-_");
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (c != *word || c == '\0') {
            return c == *word;
        }
    }
}

enum orr_status param_parse_word(const char *where, const char *text, const char *const *words, unsigned *index,
                                 struct orr_error *err)
{
    char list[256] = "";
    size_t used = 0;
    for (unsigned i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0 || is_spelled(words[i], text)) {
            *index = i;
            return ORR_OK;
        }
        if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
        }
    }
    return error_set(err, ORR_EINVAL, "%s: \"%.100s\" is not one of %s%s", where, text, list,
                     error_propose(text, words).text);
}
