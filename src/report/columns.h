/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a run as a document for a page: what ran when as columns, tracks one after the other, each sorted by
 * start. A column is base64 of numbers, seven bits a byte and the lowest first; starts and node ids are differences
 * within a track. A million events are some ten megabytes, and unpacked in one pass (docs/report.md).
 *
 * With more events than a page can hold, ranks are left out evenly; the last to finish stays.
 */
#ifndef ORR_REPORT_COLUMNS_H
#define ORR_REPORT_COLUMNS_H

#include <stdio.h>

#include "sim/result.h"

enum { REPORT_COLUMNS_EVENTS = 1000000 };

/* Of a run with intervals; at most about `most` events. Memory is taken from the account of the run's traces and given
 * back. ORR_EINVAL without intervals, or ORR_ENOMEM; write errors stay with the stream. */
ORR_MUST_CHECK enum orr_status report_columns_write(const struct sim_result *result, uint32_t most, FILE *stream,
                                                    struct orr_error *err);

#endif
