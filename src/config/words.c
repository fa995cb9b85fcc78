/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are read with strtod from a terminated copy and must use the word up: what follows is a unit or a mistake. */
#include "config/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

void words_init(struct words *words, const char *name, const char *text, size_t size)
{
    *words = (struct words){.name = name, .at = text, .end = text + size, .line = 1};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

bool words_next(struct words *words, struct word *word)
{
    while (words->at < words->end && is_blank(*words->at)) {
        words->line += *words->at == '\n' ? 1 : 0;
        words->at++;
    }
    const char *first = words->at;
    while (words->at < words->end && !is_blank(*words->at)) {
        words->at++;
    }
    *word = (struct word){first, (size_t)(words->at - first), words->line};
    return word->length > 0;
}

enum orr_status words_need(struct words *words, const char *what, struct word *word, struct orr_error *err)
{
    if (words_next(words, word)) {
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends where %s is expected", words->name, words->line,
                     what);
}

bool word_is(const struct word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(word->text, text, word->length) == 0;
}

const char *word_text(const struct word *word, char room[WORD_ROOM])
{
    size_t length = word->length < WORD_ROOM - 1 ? word->length : WORD_ROOM - 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)word->text[i];
        room[i] = byte < 0x20 || byte == 0x7f ? '?' : word->text[i]; /* a message is one printable line */
    }
    room[length] = '\0';
    return room;
}

enum orr_status word_real(const struct words *words, const struct word *word, const char *what, double least,
                          double most, double *value, struct orr_error *err)
{
    char room[WORD_ROOM];
    char *end = NULL;
    const char *text = word_text(word, room);
    double read = plain_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(read) || word->length >= WORD_ROOM) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is \"%s\", not a number", words->name, word->line, what,
                         text);
    }
    if (read < least || read > most) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": %s is %s; it must lie between %g and %g", words->name,
                         word->line, what, text, least, most);
    }
    *value = read;
    return ORR_OK;
}

enum orr_status word_count(const struct words *words, const struct word *word, const char *what, uint64_t most,
                           uint64_t *value, struct orr_error *err)
{
    double read = 0;
    enum orr_status status = word_real(words, word, what, 0, (double)most, &read, err);
    if (status == ORR_OK && read != floor(read)) {
        char room[WORD_ROOM];
        status = error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is %s, not a whole number", words->name, word->line,
                           what, word_text(word, room));
    }
    if (status == ORR_OK) {
        *value = (uint64_t)read;
    }
    return status;
}

struct unit {
    const char *name;
    double factor;
};

static enum orr_status config_words_quantity(const struct words *words, const struct word *word, const char *what,
                                             const struct unit *units, const char *accepted, double most,
                                             uint64_t *value, struct orr_error *err)
{
    char room[WORD_ROOM];
    char *end = NULL;
    const char *text = word_text(word, room);
    double number = plain_strtod(text, &end);
    const struct unit *unit = units;
    while (unit->name != NULL && strcmp(unit->name, end) != 0) {
        unit++;
    }
    if (end == text || unit->name == NULL || !(number >= 0) || word->length >= WORD_ROOM) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is \"%s\"; accepted is a number with one of the units %s",
                         words->name, word->line, what, text, accepted);
    }
    double read = number * unit->factor;
    if (!(read <= most)) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": %s is %s, which is too large", words->name, word->line, what,
                         text);
    }
    *value = (uint64_t)(read + 0.5);
    return ORR_OK;
}

enum orr_status word_rate(const struct words *words, const struct word *word, const char *what, uint64_t *bps,
                          struct orr_error *err)
{
    static const struct unit units[] = {
        {"bps", 1},        {"b/s", 1},        {"Bps", 8},     {"B/s", 8},     {"kbps", 1e3},   {"Kbps", 1e3},
        {"kb/s", 1e3},     {"Kb/s", 1e3},     {"kBps", 8e3},  {"KBps", 8e3},  {"kB/s", 8e3},   {"KB/s", 8e3},
        {"Mbps", 1e6},     {"Mb/s", 1e6},     {"MBps", 8e6},  {"MB/s", 8e6},  {"Gbps", 1e9},   {"Gb/s", 1e9},
        {"GBps", 8e9},     {"GB/s", 8e9},     {"Tbps", 1e12}, {"Tb/s", 1e12}, {"Kib/s", 1024}, {"Mib/s", 1048576},
        {"Gib/s", 0x1p30}, {"GiB/s", 0x1p33}, {"", 1},        {NULL, 0},
    };
    return config_words_quantity(words, word, what, units, "bps, Kbps, Mbps, Gbps, Tbps, Mb/s, Gb/s, MB/s, GB/s", 1e18,
                                 bps, err);
}

enum orr_status word_time(const struct words *words, const struct word *word, const char *what, uint64_t *ns,
                          struct orr_error *err)
{
    static const struct unit units[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"ps", 1e-3}, {"min", 6e10}, {NULL, 0},
    };
    return config_words_quantity(words, word, what, units, "ns, us, ms, s", 9e18, ns, err);
}
