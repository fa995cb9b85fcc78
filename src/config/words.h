/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text files that are words between blanks, with the line each word stands on: what the packet network's files are.
 * Reads only between two pointers; a word points into the text and is not terminated. Only config/ includes it.
 */
#ifndef ORR_CONFIG_WORDS_H
#define ORR_CONFIG_WORDS_H

#include "base/error.h"

struct words {
    const char *name; /* of the file, for messages */
    const char *at, *end;
    uint64_t line; /* of `at`, from 1 */
};

struct word {
    const char *text;
    size_t length;
    uint64_t line;
};

enum { WORD_ROOM = 128 };

void words_init(struct words *words, const char *name, const char *text, size_t size);
/* False at the end. */
bool words_next(struct words *words, struct word *word);
/* The next word, or an error that says what was expected. */
ORR_MUST_CHECK enum orr_status words_need(struct words *words, const char *what, struct word *word,
                                          struct orr_error *err);
bool word_is(const struct word *word, const char *text);
/* A terminated copy, cut to fit and with `?` for control characters: for messages and for parsers of C strings. */
const char *word_text(const struct word *word, char room[WORD_ROOM]);

/* The word as a value; `what` names it in the error. Rates in bits a second with ns-3's units (Gbps, Mb/s, GBps …),
 * times in ns with ns-3's (ms, us, ns, s …), rounded to whole ones. */
ORR_MUST_CHECK enum orr_status word_count(const struct words *words, const struct word *word, const char *what,
                                          uint64_t most, uint64_t *value, struct orr_error *err);
ORR_MUST_CHECK enum orr_status word_real(const struct words *words, const struct word *word, const char *what,
                                         double least, double most, double *value, struct orr_error *err);
ORR_MUST_CHECK enum orr_status word_rate(const struct words *words, const struct word *word, const char *what,
                                         uint64_t *bps, struct orr_error *err);
ORR_MUST_CHECK enum orr_status word_time(const struct words *words, const struct word *word, const char *what,
                                         uint64_t *ns, struct orr_error *err);

#endif
