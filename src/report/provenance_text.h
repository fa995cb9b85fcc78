/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a trace's communication was known, for people as tables and for programs as members of a JSON object that the
 * caller has open. Whether the stream took it is for the caller to ask.
 */
#ifndef ORR_REPORT_PROVENANCE_TEXT_H
#define ORR_REPORT_PROVENANCE_TEXT_H

#include <stdio.h>

#include "io/json_write.h"
#include "trace/provenance.h"

void provenance_text_show(const struct trace_provenance *table, FILE *stream);
void provenance_text_json(const struct trace_provenance *table, struct json_writer *json); /* a member "provenance" */

#endif
