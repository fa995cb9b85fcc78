/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a GOAL file, one after the other, with the line each stands in. Blanks, line ends and comments are
 * passed over wherever they stand; what the words mean is for goal.c. Reads the file in pieces, so that memory does not
 * grow with it.
 */
#ifndef ORR_CONVERT_GOAL_TEXT_H
#define ORR_CONVERT_GOAL_TEXT_H

#include "base/mem.h"

enum goal_token_kind {
    GOAL_END,
    GOAL_WORD,   /* a letter, then letters, digits and '_': text */
    GOAL_NUMBER, /* decimal digits: number */
    GOAL_MARK,   /* one of : { } - */
};

enum { GOAL_WORD_MAX = 255 };

struct goal_token {
    enum goal_token_kind kind;
    uint64_t number;
    uint64_t line;
    uint32_t length;
    char text[GOAL_WORD_MAX + 1]; /* as written, terminated */
};

struct goal_text;

ORR_MUST_CHECK enum orr_status goal_text_open(const char *path, struct mem *mem, struct goal_text **text,
                                              struct orr_error *err);
void goal_text_close(struct goal_text *text); /* NULL is fine */

/* ORR_EINVAL for a byte no GOAL file has, a word or number that is too long, a comment without an end. */
ORR_MUST_CHECK enum orr_status goal_text_next(struct goal_text *text, struct goal_token *token, struct orr_error *err);

#endif
