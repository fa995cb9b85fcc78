/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node lines of a golden case turned into the bytes of one rank's ET file. Reads the case's lines, writes through
 * et_bytes, and knows the attribute table of case_file.h; nothing of files.
 */
#ifndef ORR_TESTS_GOLDEN_CASE_TRACE_H
#define ORR_TESTS_GOLDEN_CASE_TRACE_H

#include "tests/golden/case_file.h"

/* A `trace` or `custom` block: its node lines [first, end). */
struct case_block {
    size_t first, end;
};

/* Whether the line at `index` is a node of the block before it. */
bool case_line_is_node(const struct case_file *file, size_t index);

/* Replaces `out` by the whole ET file of `rank`, the `position`-th of the block. */
ORR_MUST_CHECK enum orr_status case_trace_encode(const struct case_file *file, const struct golden_case *one,
                                                 struct case_block block, uint32_t rank, uint32_t position,
                                                 struct et_bytes *out, struct orr_error *err);

#endif
