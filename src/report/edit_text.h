/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tools on traces did, for people: a few lines or a table each. Writes to the stream it is given; whether that
 * worked is for the caller to ask the stream.
 */
#ifndef ORR_REPORT_EDIT_TEXT_H
#define ORR_REPORT_EDIT_TEXT_H

#include <stdio.h>

#include "trace/cut.h"
#include "trace/diff.h"
#include "trace/fix.h"
#include "trace/merge.h"
#include "trace/rewrite.h"
#include "trace/scale.h"
#include "trace/simplify.h"

void edit_text_fix(const struct fix_counts *counts, size_t files, FILE *stream);
void edit_text_simplify(const struct simplify_counts *counts, size_t files, FILE *stream);
void edit_text_scale(const struct scale_counts *counts, const struct scale_options *options, FILE *stream);
void edit_text_rewrite(const struct rewrite_counts *counts, FILE *stream);
void edit_text_cut(const struct cut_counts *counts, size_t files, FILE *stream);
void edit_text_merge(const struct merge_counts *counts, FILE *stream);
void edit_text_measure(uint64_t before_ns, uint64_t after_ns, FILE *stream);

/* Differences as they come; as text or as the members of one JSON object. */
struct diff_text {
    FILE *stream;
    uint64_t limit; /* 0 = none */
    uint64_t told;
    bool json;
    uint64_t last_id; /* whose differences were told last, */
    enum diff_kind last_kind;
    bool any; /* if one was */
};

void diff_text_begin(struct diff_text *text, const char *before, const char *after);
void diff_text_item(void *context, const struct diff_item *item);
void diff_text_end(struct diff_text *text, const struct diff_counts *counts);

#endif
