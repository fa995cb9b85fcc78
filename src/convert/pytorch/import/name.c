/* SPDX-License-Identifier: Apache-2.0 */
/* Ours first, since their tags are exact; then others', from which only what they have in common can be learnt. */
#include "convert/pytorch/import/name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"

static bool import_name_ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length > size && memcmp(text + length - size, end, size) == 0;
}

/* The number at `text`, up to nine digits; -1 when there is none or it is longer. */
static int64_t number_at(const char *text, size_t *digits)
{
    uint64_t value = 0;
    *digits = scan_digits(text, 10, &value);
    return *digits == 0 || *digits > 9 ? -1 : (int64_t)value;
}

static void import_name_copy(char into[IMPORT_NAME_ROOM], const char *text, size_t length)
{
    (void)snprintf(into, IMPORT_NAME_ROOM, "%.*s", (int)(length < IMPORT_NAME_ROOM ? length : IMPORT_NAME_ROOM - 1),
                   text);
}

/* ---- ours ---- */

/* "0", "12_resnet50": the rank and the tag behind a prefix. */
static bool read_ours(struct import_name *parsed, const char *rest)
{
    size_t digits = 0;
    int64_t rank = number_at(rest, &digits);
    if (rank < 0 || (rest[digits] != '\0' && rest[digits] != '_') ||
        (rest[digits] == '_' && rest[digits + 1] == '\0')) {
        return false;
    }
    parsed->is_ours = true;
    parsed->rank = rank;
    import_name_copy(parsed->tag, rest[digits] == '_' ? rest + digits + 1 : "", IMPORT_NAME_ROOM);
    return true;
}

static bool is_ours(struct import_name *parsed)
{
    static const char *const prefixes[] = {"host_rank_", "host_",   "pytorch_et_", "device_rank_",
                                           "device_",    "kineto_", "trace_rank_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(parsed->stem, prefixes[i], length) == 0) {
            return read_ours(parsed, parsed->stem + length);
        }
    }
    return false;
}

/* ---- others' ---- */

/* Where "rank-0", "rank_12", "worker3" stand in the stem; false when nowhere. */
static bool find_rank(const char *stem, const char *word, size_t *begin, size_t *end, int64_t *rank)
{
    size_t length = strlen(word);
    for (const char *at = strcasestr(stem, word); at != NULL; at = strcasestr(at + 1, word)) {
        const char *digits = at + length;
        size_t count = 0;
        digits += *digits == '-' || *digits == '_' || *digits == '.' || *digits == '=' || *digits == ' ';
        int64_t number = number_at(digits, &count);
        if (number >= 0 && (at == stem || !isalpha((unsigned char)at[-1]))) {
            *begin = (size_t)(at - stem);
            *end = (size_t)(digits - stem) + count;
            *rank = number;
            return true;
        }
    }
    return false;
}

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ' ' || c == '=' || c == '(' || c == ')' || c == ':';
}

/* Without digits, and without separators at its ends or two in a row. */
static void take_letters(char into[IMPORT_NAME_ROOM], const char *text)
{
    size_t length = 0;
    for (; *text != '\0'; text++) {
        bool between = scan_is_digit(*text) || is_separator(*text);
        if (!between) {
            into[length++] = *text;
        } else if (length > 0 && into[length - 1] != '_') {
            into[length++] = '_';
        }
    }
    length -= length > 0 && into[length - 1] == '_';
    into[length] = '\0';
}

static void read_others(struct import_name *parsed)
{
    const char *stem = parsed->stem;
    size_t begin = 0;
    size_t end = 0;
    if (find_rank(stem, "rank", &begin, &end, &parsed->rank) ||
        find_rank(stem, "worker", &begin, &end, &parsed->rank)) {
        begin -= begin > 0 && is_separator(stem[begin - 1]) && stem[end] == '\0';
        end += is_separator(stem[end]);
        (void)snprintf(parsed->stamp, IMPORT_NAME_ROOM, "%.*s%s", (int)begin, stem, stem + end);
    } else {
        size_t length = strlen(stem);
        size_t first = length;
        size_t digits = 0;
        while (first > 0 && scan_is_digit(stem[first - 1])) {
            first--;
        }
        bool apart = first == 0 || is_separator(stem[first - 1]);
        parsed->number = apart && length - first <= 5 ? number_at(stem + first, &digits) : -1;
        import_name_copy(parsed->stamp, stem, length);
    }
    take_letters(parsed->tag, parsed->stamp);
}

void import_name_read(const char *name, struct import_name *parsed)
{
    static const char *const endings[] = {".gz", ".zst", ".json", ".trace", ".pt", ".chrome_trace", ".pb", ".xplane"};
    size_t length = strlen(name);
    *parsed = (struct import_name){.rank = -1, .number = -1};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        length -= import_name_ends_with(name, length, endings[i]) ? strlen(endings[i]) : 0;
    }
    import_name_copy(parsed->stem, name, length);
    if (!is_ours(parsed)) {
        read_others(parsed);
    }
}

bool import_name_is_candidate(const char *name)
{
    static const char *const endings[] = {".json",     ".gz",    ".zst",     ".pb",      ".db",
                                          ".sqlite",   ".csv",   ".pickle",  ".pkl",     ".trace",
                                          ".nsys-rep", ".qdrep", ".pftrace", ".ncu-rep", ".qdstrm"};
    for (size_t i = 0; name[0] != '.' && i < sizeof endings / sizeof endings[0]; i++) {
        if (import_name_ends_with(name, strlen(name), endings[i])) {
            return true;
        }
    }
    return false;
}

int import_stamp_compare(const char *left, const char *right)
{
    for (const char *a = left, *b = right;;) {
        a += strcspn(a, "0123456789");
        b += strcspn(b, "0123456789");
        size_t size_a = strspn(a, "0123456789");
        size_t size_b = strspn(b, "0123456789");
        int order = size_a != size_b ? (size_a < size_b ? -1 : 1) : memcmp(a, b, size_a);
        if (order != 0 || size_a == 0) {
            return order != 0 ? order : strcmp(left, right);
        }
        a += size_a;
        b += size_b;
    }
}
