/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own table of operations turned into ET files: one row an operation, one file a rank. Which column means what
 * is told by the header line or by a map ("duration_us=time,deps=after"): convert/csv_columns.h. Rows may stand in any
 * order. The syntax of the table is io/csv.h's business.
 */
#ifndef ORR_CONVERT_CSV_H
#define ORR_CONVERT_CSV_H

#include "convert/convert.h"
#include "convert/workload.h"

/* Fills a workload that was initialised. */
ORR_MUST_CHECK enum orr_status csv_read(const struct convert_request *request, struct workload *workload,
                                        struct orr_error *err);

#endif
