/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole result as one JSON document (ORR_OUTPUT_JSON) for programs: fixed key order, units in the key names, and a
 * schema_version that grows when a key changes its meaning or goes (new keys may appear without). Times are integers of
 * nanoseconds. Node ids are JSON integers of up to 64 bits, as in the trace files.
 */
#ifndef ORR_REPORT_JSON_H
#define ORR_REPORT_JSON_H

#include <stdio.h>

#include "sim/result.h"

enum { REPORT_JSON_SCHEMA_VERSION = 1 };

void report_json_write(const struct sim_result *result, FILE *stream);

#endif
