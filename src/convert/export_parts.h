/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of each export that convert/export.c puts together: what stands before the nodes, one node, what follows
 * them. Private to the export's files. A false return means that the record is not well-formed inside. */
#ifndef ORR_CONVERT_EXPORT_PARTS_H
#define ORR_CONVERT_EXPORT_PARTS_H

#include <stdio.h>

#include "trace/record.h"

bool export_json_metadata(FILE *stream, const struct record *record);
bool export_json_node(FILE *stream, const struct record *record, const struct record_facts *facts, bool first);
void export_json_end(FILE *stream);

void export_dot_begin(FILE *stream);
void export_dot_node(FILE *stream, const struct record_facts *facts);
void export_dot_end(FILE *stream);

void export_graphml_begin(FILE *stream);
void export_graphml_node(FILE *stream, const struct record_facts *facts);
void export_graphml_end(FILE *stream);

#endif
