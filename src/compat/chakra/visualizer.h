/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's visualizer (spec chakra §12): the graph of an ET file as Graphviz source, as that source laid out by
 * Graphviz (.dot, .pdf), or as GraphML. Source and layout pass record by record; GraphML, whose edges are grouped by
 * where they start, keeps names and edges. For readable drawings of large traces there is `orrery trace view`.
 */
#ifndef ORR_COMPAT_CHAKRA_VISUALIZER_H
#define ORR_COMPAT_CHAKRA_VISUALIZER_H

#include <stdio.h>

#include "base/mem.h"
#include "base/notes.h"

/* By the suffix of `output`: .dot, .pdf or .graphml. With `source`, a .dot is the source and nothing is laid out; so it
 * is, with a note, where there is no Graphviz. ORR_EINVAL for another suffix, ORR_EFAIL when Graphviz fails or is not
 * there for a .pdf, ORR_EIO, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status visualizer_write(const char *input, const char *output, bool source, struct mem *mem,
                                                struct notes *notes, struct orr_error *err);

/* ---- parts ---- */

ORR_MUST_CHECK enum orr_status visualizer_dot(const char *input, FILE *stream, struct mem *mem, struct orr_error *err);
ORR_MUST_CHECK enum orr_status visualizer_graphml(const char *input, FILE *stream, struct mem *mem,
                                                  struct orr_error *err);

/*
 * Runs Graphviz's `dot -T<format>` on the source, from its first byte, and puts what it makes into `drawing`; both must
 * have descriptors. `*found` is false, with ORR_OK, when there is no program of that name.
 */
ORR_MUST_CHECK enum orr_status visualizer_lay_out(FILE *source, const char *format, FILE *drawing, bool *found,
                                                  struct orr_error *err);

#endif
