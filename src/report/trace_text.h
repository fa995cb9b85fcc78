/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace for people and for other programs: its nodes one block each, its figures as a table or as one JSON object,
 * its faults one line each. Writes to the stream it is given; whether that worked is for the caller to ask the stream.
 */
#ifndef ORR_REPORT_TRACE_TEXT_H
#define ORR_REPORT_TRACE_TEXT_H

#include <stdio.h>

#include "trace/check.h"
#include "trace/document.h"
#include "trace/provenance.h"
#include "trace/stat.h"

/* `limit` 0 means all nodes. */
void trace_text_show(const struct trace_document *document, uint64_t limit, FILE *stream);
/* `provenance` may be NULL. */
void trace_text_stat(const struct trace_document *document, const struct trace_stat *stat,
                     const struct trace_provenance *provenance, FILE *stream);
void trace_text_stat_json(const struct trace_document *document, const struct trace_stat *stat,
                          const struct trace_provenance *provenance, FILE *stream);
/* "FILE: sentence", one a line; nothing when there is no finding. */
void trace_text_findings(const struct trace_document *document, const struct trace_findings *findings, FILE *stream);

#endif
