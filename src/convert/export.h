/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra trace for other programs: our JSON, which holds everything and comes back as the same bytes (orrery trace
 * convert from json), Graphviz and GraphML for drawing and graph libraries. Written record by record, so a file
 * of any size needs the memory of its largest record. Knows nothing of running a trace. (GOAL, which needs collectives
 * taken apart, is report/goal.h.)
 *
 * The JSON. Members stand in this order; those marked * are left out where the record does not have them (an empty
 * list, the number 0, an empty text, no message). Numbers are written in full, 64-bit ones too.
 *
 *   {"format": "orrery-trace", "version": 1,
 *    "metadata": {"version": TEXT, "attributes"*: [ATTR…], "unknown"*: HEX},
 *    "nodes": [NODE…]}                                            one node a line
 *   NODE: {"id": N, "name"*: TEXT, "type": TYPE, "ctrl_deps"*: [N…], "data_deps"*: [N…], "start_us"*: N,
 *          "duration_us"*: N, "inputs"*: IO, "outputs"*: IO, "attributes"*: [ATTR…], "unknown"*: HEX}
 *   TYPE: "INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL", or the number
 *         of a type that has no name
 *   IO:   {"values"*: TEXT, "shapes"*: TEXT, "types"*: TEXT, "unknown"*: HEX}
 *   ATTR: {"name": TEXT, "doc"*: TEXT, "kind": KIND, "value": VALUE, "unknown"*: HEX}
 *   KIND: "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
 *         "sfixed32", "sfixed64", "bool", "string", "bytes"; each also as "KIND list"; "no value" (then no "value")
 *   VALUE: a number, true or false, TEXT, HEX for bytes; an array of these for a list. Reals that are no numbers are
 *         NaN, Infinity and -Infinity without quotes, as Python reads and writes them
 *   HEX:  text of two hexadecimal digits a byte. "unknown" holds fields of the message that no schema of ours has, as
 *         they stand on the wire, one after the other; they come last when the message is written again
 */
#ifndef ORR_CONVERT_EXPORT_H
#define ORR_CONVERT_EXPORT_H

#include <stdio.h>

#include "base/mem.h"

enum export_format { EXPORT_JSON, EXPORT_DOT, EXPORT_GRAPHML };

/* Write errors stay with the stream, where the caller looks for them. ORR_EIO, ORR_EINVAL (not a Chakra ET file) or
 * ORR_ENOMEM of the reading; what was written until then is of no use. */
ORR_MUST_CHECK enum orr_status export_trace(const char *path, enum export_format format, FILE *stream, struct mem *mem,
                                            struct orr_error *err);

#endif
