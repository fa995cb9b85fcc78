/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of trace/diff.h: two records of one node compared fact by fact. Private to the two halves. */
#ifndef ORR_TRACE_DIFF_RECORD_H
#define ORR_TRACE_DIFF_RECORD_H

#include "trace/diff.h"
#include "trace/record.h"

struct diff_pair {
    const struct record_reader *reader_a, *reader_b;
    struct record a, b;
    struct record_facts facts_a, facts_b;
    const struct diff_options *options;
    struct diff_counts *counts;
    struct diff_item item; /* kind, id and name are set; what, before and after are filled in for each difference */
    bool any;              /* a difference was told */
};

/* Tells every difference but those of id and dependencies. The records have been scanned into the facts. */
void diff_records(struct diff_pair *pair);

/* Whether durations differ by more than is tolerated. */
bool diff_duration(const struct diff_options *options, uint64_t a, uint64_t b);

/* Tells one difference. */
void diff_tell(struct diff_pair *pair, const char *what, const char *before, const char *after);

#endif
