/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small change of the golden cases' text: words, numbers, lists of ranks and values that depend on the rank. Pure
 * functions over slices; the caller names the line in its error.
 */
#ifndef ORR_TESTS_GOLDEN_CASE_TEXT_H
#define ORR_TESTS_GOLDEN_CASE_TEXT_H

#include "tests/golden/case_file.h"

/* Cuts the next word, up to a space, off the front of `rest`; false at the end. */
bool slice_word(struct case_slice *rest, struct case_slice *word);
/* Cuts the part before the first `separator` off the front of `rest`; false at the end. */
bool slice_part(struct case_slice *rest, char separator, struct case_slice *part);
/* Splits `word` at its first `separator`; false when it has none. */
bool slice_split(struct case_slice word, char separator, struct case_slice *before, struct case_slice *after);
bool slice_is(struct case_slice slice, const char *text);
/* The whole slice as a decimal number. */
bool slice_number(struct case_slice slice, uint64_t *value);

struct rank_list {
    uint32_t *ranks;
    uint32_t count;
};

/* Reads RANKS, separated by spaces; give it back with free(list.ranks). */
bool rank_list_read(struct case_slice text, struct rank_list *list);

/* A node line's number for `rank`, which is the `position`-th of its block. */
bool rank_value(struct case_slice text, uint32_t rank, uint32_t position, int64_t *value);

#endif
